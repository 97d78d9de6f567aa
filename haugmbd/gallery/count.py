"""The check of the number of parts that a mechanism is built with."""

from __future__ import annotations

from numbers import Integral

from haugmbd.errors import UsageError


def check_count(builder: str, n: object, parts: str, *, least: int = 1, multiple: int = 1) -> None:
    """Raise UsageError unless n is a whole number of at least `least`, and a multiple of `multiple`;  parts: what is counted."""
    if isinstance(n, bool) or not isinstance(n, Integral) or n < least or n % multiple:
        kind = "whole number" if multiple == 1 else f"multiple of {multiple}"
        raise UsageError(f"{builder}({n!r}): give the number of {parts}, a {kind} of at least {least}.")
