"""The larger of two numbers where what is not a number must not be lost: the largest residual of an iteration, the worst pivot."""

from __future__ import annotations

from typing import Any

from haugmbd.compiled.jit import inlined
from haugmbd.compiled.selection import select


@inlined
def larger(worst: float, x: float) -> Any:
    """Return the larger number; what is not a number is kept.

    There is no branch in this, so that what is computed before it in a loop over components is vectorised.
    """
    return select((not x <= worst) & (worst == worst), x, worst)


@inlined
def weakest_of(worst: float, where: int, weak: float, node: int) -> tuple[Any, Any]:
    """Return the smaller of two pivots and its node: the first if they are equal, and what is not a number."""
    weaker = (not weak >= worst) & (worst == worst)
    return select(weaker, weak, worst), select(weaker, node, where)


@inlined
def worst_of(worst: float, where: int, ratio: float, node: int) -> tuple[Any, Any]:
    """Return the larger of two ratios and its node, in the same way."""
    worse = (not ratio <= worst) & (worst == worst)
    return select(worse, ratio, worst), select(worse, node, where)
