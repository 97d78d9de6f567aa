r"""The command `haugmbd info`: versions, folders and threads; or the table of a mechanism; or the JSON Schema of model files.

Exit codes: 0 success, 1 the model has faults, 2 the arguments are not valid.
"""

from __future__ import annotations

import argparse
import os
import sys
from importlib import metadata
from typing import Any

from haugmbd import __version__
from haugmbd.cli.answers import OK, json_line
from haugmbd.cli.model_argument import with_model
from haugmbd.compiled.jit import LAYER
from haugmbd.compiled.numba_names import COMPILES, ENGINE, OFF
from haugmbd.integrators.explicit.runge_kutta import run_entry
from haugmbd.modelfile import json_schema
from haugmbd.modelfile.write import canonical
from haugmbd.system.system import System

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
    return {
        "haugmbd": __version__,
        "python": sys.version.split()[0],
        "executable": sys.executable,
        "packages": {package: _version(package) for package in PACKAGES},
        "compiler": compiler if ENGINE is None else f"not needed, engine {ENGINE.path.name} ({ENGINE.line['mode']})",
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


def _version(package: str) -> str:
    """Return the installed version of a package."""
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return "not installed"
