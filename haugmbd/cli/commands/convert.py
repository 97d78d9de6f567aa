r"""The command `haugmbd convert A B`: read a model of any format, and write it to a file of another one, by its ending.

Exit codes: 0 written, 1 the model has faults or holds what the format cannot hold, 2 the arguments are not valid.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path
from typing import Any

from haugmbd.cli.answers import OK
from haugmbd.cli.model_argument import with_model
from haugmbd.modelfile import save_model
from haugmbd.modelfile.asmt import write_asmt
from haugmbd.modelfile.exports import Export
from haugmbd.modelfile.mjcf import write_mjcf
from haugmbd.modelfile.urdf import write_urdf
from haugmbd.system.system import System
from haugmbd.viewer import to_gltf

WRITERS: dict[str, Callable[[System, Path, bool], Export]] = {
    ".json": lambda system, out, leave_out: Export((save_model(system, out),), ()),
    ".urdf": lambda system, out, leave_out: write_urdf(system, out, leave_out=leave_out),
    ".xml": lambda system, out, leave_out: write_mjcf(system, out, leave_out=leave_out),
    ".asmt": lambda system, out, leave_out: write_asmt(system, out, leave_out=leave_out),
    ".glb": lambda system, out, leave_out: Export(
        (to_gltf(system, out),), ("masses, joints, forces and velocities: a .glb is a picture of the modelled pose",)
    ),
}
"""Exporters by the ending of the file, `file_endings.EXPORTS`."""


def run_convert(arguments: argparse.Namespace) -> int:
    """Convert, print, and return the exit code."""
    return with_model(arguments, lambda system: _act(system, arguments.out, arguments.leave_out))


def _act(system: System, out: Path, leave_out: bool) -> tuple[int, dict[str, Any], str]:
    """Return exit code, data and text of the conversion."""
    report = system.import_report
    done = WRITERS[out.suffix](system, out, leave_out)
    said = [] if report is None else [str(report)]
    data = {"files": [str(path) for path in done.files], "left_out": list(done.left_out), "report": said}
    return OK, data, "\n".join([*said, str(done)])
