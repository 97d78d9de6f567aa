"""The commands `check`, `assemble`, `convert` and `info`: what a mechanism is, before anything moves.

    check         its mobility report                         exit code 1: faults or contradictions,  2: there is nothing to check
    assemble      its joints are closed, how far they were open, and the closed model
    convert A B   a model of any format, written to a file of another one, by its ending
    info          versions, folders and threads; or the table of a mechanism; or the JSON Schema of model files

Exit codes: 0 success, 1 the model has faults, cannot be assembled, or holds what the format cannot hold, 2 the arguments are not valid.
"""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path
from typing import Any

from haugmbd import __version__
from haugmbd.analysis.assembly.assemble import assemble
from haugmbd.analysis.mobility.mobility import mobility
from haugmbd.cli.answers import FAILED, OK, json_line
from haugmbd.cli.model_argument import with_model
from haugmbd.compiled.jit import LAYER
from haugmbd.compiled.numba_names import COMPILES, ENGINE, OFF
from haugmbd.formats import write, writer_of
from haugmbd.integrators.explicit.runge_kutta import run_entry
from haugmbd.modelfile import at_state, json_schema, save_model
from haugmbd.modelfile.exports import Export
from haugmbd.modelfile.write import canonical
from haugmbd.simulation.results.study_data import installed_version
from haugmbd.system.system import System


def run_check(arguments: argparse.Namespace) -> int:
    """Print the report, and return the exit code."""
    return with_model(arguments, _report)


def _report(system: System) -> tuple[int, dict[str, Any], str]:
    """Return exit code, data and text of the report."""
    report = mobility(system)
    data = {
        "degrees_of_freedom": report.degrees_of_freedom,
        "rows": report.rows,
        "rank": report.rank,
        "gruebler": report.gruebler,
        "consistent": report.consistent,
        "faults": [str(fault) for fault in report.faults],
        "warnings": [str(fault) for fault in report.warnings],
    }
    return OK if report.ok else FAILED, data, str(report)


def run_assemble(arguments: argparse.Namespace) -> int:
    """Assemble, write, print, and return the exit code."""
    return with_model(arguments, lambda system: _assembled(system, arguments.out))


def _assembled(system: System, out: Path | None) -> tuple[int, dict[str, Any], str]:
    """Return exit code, data and text of the assembly."""
    found = assemble(system)
    written = [] if out is None else [str(save_model(at_state(system, found.state), out))]
    data = {
        "iterations": found.iterations,
        "before": found.before,
        "after": found.after,
        "gaps": {gap.joint: {"distance": gap.distance, "angle": gap.angle} for gap in found.gaps},
        "moved": {c.body: {"distance": c.distance, "angle": c.angle} for c in found.corrections},
        "files": written,
    }
    return OK, data, "\n".join([str(found), *(f"wrote {path}" for path in written)])


def run_convert(arguments: argparse.Namespace) -> int:
    """Convert, print, and return the exit code."""
    return with_model(arguments, lambda system: _converted(system, arguments.out, arguments.leave_out))


def _converted(system: System, out: Path, leave_out: bool) -> tuple[int, dict[str, Any], str]:
    """Return exit code, data and text of the conversion."""
    report = system.import_report
    written_format = writer_of(out.suffix)
    assert written_format is not None  # the parser of the command takes no other ending
    done = write(written_format, system, out, leave_out=leave_out)
    done = done if isinstance(done, Export) else Export((done,), written_format.left_out)
    said = [] if report is None else [str(report)]
    data = {"files": [str(path) for path in done.files], "left_out": list(done.left_out), "report": said}
    return OK, data, "\n".join([*said, str(done)])


PACKAGES = ("numpy", "scipy", "numba", "numpy-quaternion", "matplotlib", "h5netcdf", "xarray")


def run_info(arguments: argparse.Namespace) -> int:
    """Print what is asked for, and return the exit code."""
    if arguments.schema:
        print(canonical(json_schema()), end="")
        return OK
    if arguments.model is not None:
        return with_model(arguments, _table)
    data = _installation()
    if arguments.json:
        print(json_line({"ok": True, **data}))
        return OK
    print(f"haugmbd {data['haugmbd']}, Python {data['python']}, {data['executable']}")
    for package, version in data["packages"].items():
        print(f"  {package:<18}{version}")
    limits = ", ".join(f"{name}={os.environ[name]}" for name in ("OMP_NUM_THREADS", "NUMBA_NUM_THREADS") if name in os.environ)
    print(f"  compiler          {data['compiler']}\n  cache             {data['cache']}")
    print(f"  threads           1 used of {os.cpu_count()}{f' ({limits})' if limits else ''}; a run is serial")
    return OK


def _installation() -> dict[str, Any]:
    """Return versions, and the folder of compiled code."""
    place = run_entry.stats.cache_path if COMPILES and not OFF else None  # type: ignore[attr-defined]
    compiler = "off (NUMBA_DISABLE_JIT)" if OFF else f"on, {LAYER.name} layer"
    if ENGINE is not None:
        compiler = f"not needed, engine {ENGINE.path.name} ({ENGINE.line['mode']})"
    return {
        "haugmbd": __version__,
        "python": sys.version.split()[0],
        "executable": sys.executable,
        "packages": {package: installed_version(package) for package in PACKAGES},
        "compiler": compiler,
        "cache": str(place or "none"),
    }


def _table(system: System) -> tuple[int, dict[str, Any], str]:
    """Return exit code, data and text of a mechanism."""
    report = system.import_report
    data = {
        "name": system.name,
        "bodies": [body.name for body in system.bodies[1:]],
        "joints": {joint.name: type(joint).__name__ for joint in system.joints},
        "loads": {load.name: type(load).__name__ for load in system.loads},
        "parameters": dict(system.parameters),
        "rows": sum(joint.rows for joint in system.joints),
    }
    return OK, data, "\n".join([system.table(), *([] if report is None else [str(report)])])
