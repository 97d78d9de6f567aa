r"""Build the engine:  python -m haugmbd.engine_build.build [TARGET ...]     (`make engine`)

    collect    every entry of the package is compiled once, in a process of its own, and its LLVM code is kept     engine.collect
    emit       an object and a library for each target                                                            engine.emit
    manifest   what each library is: size, digest, stamp of the sources, symbols that it takes from outside        engine.json

Everything goes to `haugmbd/engine/library`, which a wheel contains and git does not.  LLVM code is kept in build/engine, under the stamp
of the sources: a second build of the same sources emits only.  A build that is stopped leaves the libraries of before, or none: a
library and its line in the manifest are written to other names and renamed.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import pickle
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from haugmbd.compiled.cache_stamp import PACKAGE, files_of_entries
from haugmbd.compiled.engine_library import FOLDER, FORMAT, MANIFEST, V3, processor, stamp_of

WORK = PACKAGE.parent / "build" / "engine"
FIRST = ("exact", "linux_x86_64", "wasm32", "wasm32_blocks", "wasm32_rows", "wasm32_small", "fmu_linux_x86_64")
"""Targets of a build that names none."""


def main() -> int:
    """Build what the command line names."""
    parser = argparse.ArgumentParser(
        prog="python -m haugmbd.engine_build.build", description="Compile the engine of this source tree."
    )
    parser.add_argument("targets", nargs="*", help="exact, linux_x86_64, wasm32, ...; fmu for those of FMUs, all for every one")
    parser.add_argument("--work", type=Path, default=WORK, help="folder of intermediate files")
    parser.add_argument("--into", type=Path, default=FOLDER, help="folder of the libraries")
    given = parser.parse_args()
    kept = collected(given.work)
    from haugmbd.engine_build.emit import initialize, targets  # noqa: PLC0415  LLVM takes time to load

    initialize()
    known = targets()
    groups = {"all": list(known), "fmu": [name for name in known if name.startswith("fmu_")]}
    names = [name for each in given.targets or FIRST for name in groups.get(each, [each])]
    for name in names:
        if name not in known:
            parser.error(f"{name!r} is none of {', '.join(known)}")
    for name in names:
        build(name, known[name], kept, given.work, given.into)
    return 0


def collected(work: Path) -> Any:
    """Return the LLVM code of this source tree; it is made in a process of its own if it is not there."""
    work.mkdir(parents=True, exist_ok=True)
    file = work / f"{stamp_of(files_of_entries())}.pkl"
    if not file.exists():
        for old in work.glob("*.pkl"):
            old.unlink()
        with tempfile.TemporaryDirectory() as cache:
            more = {
                "NUMBA_CACHE_DIR": cache,
                "HAUGMBD_QUIET": "1",
                "HAUGMBD_ENGINE": "0",
                "OMP_NUM_THREADS": "1",
                "HAUGMBD_PLAIN_NUMBA": "",
            }
            command = [sys.executable, "-m", "haugmbd.engine_build.workload", str(file)]
            subprocess.run(command, check=True, env=os.environ | more)
    with file.open("rb") as content:
        return pickle.load(content)


def build(name: str, target: Any, kept: Any, work: Path, into: Path) -> None:
    """Emit, link and register one library."""
    from haugmbd.engine_build.emit import emit, link, names_header, selected  # noqa: PLC0415  LLVM takes time to load

    kept_here = selected(kept, target.parts)
    begun, stamp = time.process_time(), stamp_of(files_of_entries())
    emitted = emit(kept_here, target)
    (work / f"{name}.o").write_bytes(emitted.code)
    (work / "names.h").write_text(names_header(kept_here))
    library = link(work, name, target, stamp)
    into.mkdir(parents=True, exist_ok=True)
    final = into / f"{name}.{target.ending}"
    _replace(library, final)
    data = final.read_bytes()
    register(into, final.name, {
        "format": FORMAT, "stamp": stamp, "size": len(data), "sha256": hashlib.sha256(data).hexdigest(), "triple": target.triple,
        "mode": "exact" if target.exact else "whole", "needs": needs(name), "undefined": emitted.undefined, "traps": emitted.traps,
        "has": [*kept_here.routine_names, *(each.key for each in kept_here.entries)] if target.parts else [],
    }, kept)  # fmt: skip
    print(
        f"{final.name}: {len(data)} B, object {len(emitted.code)} B, {time.process_time() - begun:.1f} s; "
        f"from outside: {' '.join(emitted.undefined)}; traps left: {emitted.traps}",
        flush=True,
    )


def register(into: Path, library: str, line: dict[str, Any], kept: Any) -> None:
    """Write a library's line in the manifest, and the names of entries, which all libraries of these sources share."""
    file = into / MANIFEST
    known = json.loads(file.read_text()) if file.exists() else {}
    lines = {n: x for n, x in known.get("libraries", {}).items() if x["stamp"] == line["stamp"] and (into / n).exists()}
    for stale in set(known.get("libraries", {})) - set(lines) - {library}:
        (into / stale).unlink(missing_ok=True)
    content = {
        "libraries": lines | {library: line},
        "sources": files_of_entries(),
        "routines": kept.routine_names,
        "entries": [[each.name, each.arguments, each.result] for each in kept.entries],
        "signature_of_entries": kept.digest(),
    }
    new = file.with_name(f"{MANIFEST}.{os.getpid()}")
    new.write_text(json.dumps(content))
    os.replace(new, file)


def needs(name: str) -> list[str]:
    """Return what a processor must have for a library, in the words of Linux."""
    return sorted(processor()) if name == "exact" else sorted(V3) if name.endswith("_v3") else []


def _replace(source: Path, final: Path) -> None:
    """Put a file in its place at once."""
    new = final.with_name(f"{final.name}.{os.getpid()}")
    shutil.copyfile(source, new)
    os.replace(new, final)


if __name__ == "__main__":
    sys.exit(main())
