r"""The command `haugmbd assemble`: close the joints of a mechanism, say how far they were open, and write the closed model.

Exit codes: 0 all joints are closed, 1 the model has faults or cannot be assembled, 2 the arguments are not valid.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from haugmbd.analysis.assembly.assemble import assemble
from haugmbd.cli.answers import OK
from haugmbd.cli.model_argument import with_model
from haugmbd.modelfile import at_state, save_model
from haugmbd.system.system import System


def run_assemble(arguments: argparse.Namespace) -> int:
    """Assemble, write, print, and return the exit code."""
    return with_model(arguments, lambda system: _act(system, arguments.out))


def _act(system: System, out: Path | None) -> tuple[int, dict[str, Any], str]:
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
