r"""The command `haugmbd convert A B`: read a model of any format, and write it to a file of another one, by its ending.

Exit codes: 0 written, 1 the model has faults or holds what the format cannot hold, 2 the arguments are not valid.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from haugmbd.cli.answers import OK
from haugmbd.cli.model_argument import with_model
from haugmbd.formats import write, writer_of
from haugmbd.modelfile.exports import Export
from haugmbd.system.system import System


def run_convert(arguments: argparse.Namespace) -> int:
    """Convert, print, and return the exit code."""
    return with_model(arguments, lambda system: _act(system, arguments.out, arguments.leave_out))


def _act(system: System, out: Path, leave_out: bool) -> tuple[int, dict[str, Any], str]:
    """Return exit code, data and text of the conversion."""
    report = system.import_report
    written_format = writer_of(out.suffix)
    assert written_format is not None  # the parser of the command takes no other ending
    done = write(written_format, system, out, leave_out=leave_out)
    done = done if isinstance(done, Export) else Export((done,), written_format.left_out)
    said = [] if report is None else [str(report)]
    data = {"files": [str(path) for path in done.files], "left_out": list(done.left_out), "report": said}
    return OK, data, "\n".join([*said, str(done)])
