r"""The command `haugmbd convert A B`: read a model of any format, and write it to a file of another one.

Exit codes: 0 written, 1 the model has faults or holds what the format cannot hold, 2 the arguments are not valid.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path
from typing import Any

from haugmbd.cli.model_argument import OK, add_model, with_model
from haugmbd.modelfile import save_model
from haugmbd.system.system import System


def add_command(add_parser: Callable[..., argparse.ArgumentParser]) -> None:
    """Add the command to those of `haugmbd`."""
    command = add_parser("convert", help="read a model of any format, and write it as a model file")
    add_model(command)
    command.add_argument("out", type=Path, metavar="FILE", help="the file to write: .json")
    command.set_defaults(run=run_convert)


def run_convert(arguments: argparse.Namespace) -> int:
    """Convert, print, and return the exit code."""
    return with_model(arguments, lambda system: _act(system, arguments.out))


def _act(system: System, out: Path) -> tuple[int, dict[str, Any], str]:
    """Return exit code, data and text of the conversion."""
    report = system.import_report
    path = save_model(system, out)
    said = [] if report is None else [str(report)]
    return OK, {"files": [str(path)], "report": said}, "\n".join([*said, f"wrote {path}"])
