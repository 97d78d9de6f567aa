"""What a user chooses, of a few values: flags, and texts such as a level or a side."""

from __future__ import annotations

from collections.abc import Container
from numbers import Integral
from typing import Any

import numpy as np

from haugmbd.errors import UsageError


def check_flags(**flags: Any) -> None:
    """Raise UsageError for a value that is neither True nor False."""
    for name, value in flags.items():
        if value is True or value is False:
            continue
        if not isinstance(value, bool | np.bool_):
            raise UsageError(f"{name} = {value!r} must be True or False.")


def is_one_of(given: Any, values: Container[Any]) -> bool:
    """Return whether what is given is one of these texts or whole numbers: an array, a list or an object of any other kind is none."""
    return isinstance(given, str | Integral | None) and not isinstance(given, bool) and given in values
