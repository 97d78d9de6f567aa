"""What a kernel chooses without a branch: the words of compiled code for numbers that decide differently side by side, see `wide`.

A branch runs one of two texts, for all that the numbers at hand stand for; `select` takes one of two numbers, for each of them.
"""

from __future__ import annotations

from typing import Any

from haugmbd.compiled.numba_names import COMPILES, Nothing, types

if COMPILES:
    from numba.extending import overload
else:
    overload = Nothing()


def select(condition: Any, x: Any, y: Any) -> Any:
    """Return x where a condition holds, y elsewhere.

    Whole numbers, which tell where something was found, are those of the first member: they are for words, not for decisions.
    """
    return x if condition else y


def somewhere(condition: Any) -> bool:
    """Return whether a condition holds, for some member of numbers of several."""
    return bool(condition)


@overload(select, strict=False)  # type: ignore[untyped-decorator]
def _select(condition: Any, x: Any, y: Any) -> Any:
    """Return the rule for one condition."""
    return (lambda condition, x, y: x if condition else y) if isinstance(condition, types.Boolean) else None


@overload(somewhere, strict=False)  # type: ignore[untyped-decorator]
def _somewhere(condition: Any) -> Any:
    """Return the rule for one condition."""
    return (lambda condition: condition) if isinstance(condition, types.Boolean) else None
