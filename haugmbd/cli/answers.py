"""What commands answer with: exit codes, JSON, and advice in the words of the command line."""

from __future__ import annotations

import json
import math
from typing import Any

OK, FAILED, NOT_VALID = 0, 1, 2
"""Exit codes."""

OPTIONS = {
    "project_velocity=True": "--project-velocity",
    "allow_code=True": "--allow-code",
    "leave_out=True": "--leave-out",
    "stabilization=None": '--method "... + None"',
    "store_every=": "--store-every",
    "formulation=": "--method",
    "integrator=": "--method",
    "stabilization=": "--method",
    "budget=": "--budget",
    "tolerance=": "--tolerance",
    "length=": "--length",
    "loops=": "--loops",
    "t_end=": "--t-end",
    "rtol=": "--rtol",
    "atol=": "--atol",
}
"""Arguments of functions that messages name, and the options of the commands that stand for them."""


class CommandError(Exception):
    """Error that makes a command impossible, in one sentence."""


def as_options(text: str) -> str:
    """Return a message of the package with the options of the command in place of arguments of functions."""
    for argument, option in OPTIONS.items():
        text = text.replace(argument, option if argument[-1] != "=" else f"{option} ")
    return text.replace("  ", " ")


def json_line(data: Any) -> str:
    """Return data as JSON, whose numbers are finite: null for others."""

    def finite(value: Any) -> Any:
        if isinstance(value, dict):
            return {key: finite(each) for key, each in value.items()}
        if isinstance(value, list | tuple):
            return [finite(each) for each in value]
        return None if isinstance(value, float) and not math.isfinite(value) else value

    return json.dumps(finite(data), allow_nan=False)
