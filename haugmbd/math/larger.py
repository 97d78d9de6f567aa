"""The larger of two numbers where what is not a number must not be lost: the largest residual of an iteration, the worst pivot."""

from __future__ import annotations

from haugmbd.compiled.jit import inlined


@inlined
def larger(worst: float, x: float) -> float:
    """Return the larger number; what is not a number is kept.

    There is no branch in this, so that what is computed before it in a loop over components is vectorised.
    """
    return x if (not x <= worst) & (worst == worst) else worst
