"""The C sources of the engine: every system's compiler takes them, and the header names what the library exports."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import haugmbd as mbd
from haugmbd.compiled.engine_library import FOLDER, MANIFEST

ENGINE = Path(mbd.__file__).parent / "engine"
NAMES = """enum { N_ROUTINES = 1, N_ENTRIES = 1 };
static const char *const ROUTINE_NAMES[] = {"a"};
static const char *const ENTRY_NAMES[] = {"b"};
"""


def test_every_function_of_the_header_is_defined_once():
    header = (ENGINE / "haugmbd.h").read_text()
    declared = re.findall(r"^HAUG_API .*?\b(haug_\w+)\(", header, flags=re.MULTILINE)
    assert len(declared) == len(set(declared))
    assert set(declared) == set(re.findall(r"\b(haug_\w+)\(", header.partition("#define HAUGMBD_H")[2]))
    sources = (ENGINE / "abi.c").read_text() + (ENGINE / "support.c").read_text()
    assert set(re.findall(r"^PUBLIC .*?\b(haug_\w+)\(", sources, flags=re.MULTILINE)) == set(declared)


@pytest.mark.slow
@pytest.mark.skipif(not (FOLDER / MANIFEST).exists(), reason="no engine is built: make engine")
def test_the_sources_compile_for_every_system(tmp_path):
    """Without a word of the compiler, by zig, which has the headers of all systems."""
    emit = pytest.importorskip("haugmbd.engine_build.emit")
    try:
        emit.zig_command()
    except RuntimeError:
        pytest.skip("zig is not there: pip install 'haugmbd[engine]'")
    (tmp_path / "names.h").write_text(NAMES)
    systems = {target.zig: target.ending for target in emit.targets().values()}
    for system, ending in systems.items():
        for source in ("abi.c", "support.c", *(() if ending == "wasm" else ("fmu.c",))):
            words = ("-target", system, "-c", "-o", tmp_path / "x.o", "-Wall", "-Wextra", "-Wno-unused-parameter", "-Werror")
            emit.compile_c(tmp_path, *words, '-DHAUG_STAMP="0123456789abcdef"', f"-I{ENGINE}", f"-I{tmp_path}", ENGINE / source)
