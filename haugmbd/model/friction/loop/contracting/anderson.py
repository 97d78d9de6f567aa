r"""Anderson's method for friction f = C(w(f)) where the loop contracts, with the last two steps.

It takes the step that is best for the residual r = C(w) - f by the differences q of r and p of f:
f <- f + r - sum c_i (p_i + q_i),   sum (q_i . q_j) c_j = q_i . r
Source: Anderson, Iterative procedures for nonlinear integral equations, J. ACM 12 (1965); Walker and Ni, SIAM J. Numer. Anal. 49 (2011).
"""

from __future__ import annotations

from haugmbd.compiled.array_types import Array
from haugmbd.compiled.jit import inlined, kernel
from haugmbd.model.friction.loop.sliding import ROUNDING

TOL = 1e-12
"""Relative to the largest friction: the residual that may be left; solutions of long chains differ by as much."""
HALF = 0.5
"""Slope of the loop along all steps of an iteration, by which it contracts where no bound proves it."""
COARSE = 1e-9
"""Relative to the largest friction: the slope along smaller steps is rounding."""
PARALLEL = 1e-10
"""Square of the sine of the angle between two differences, below which the earlier one is left out."""
LEFT = 2e-12
"""Relative to the largest friction: what the next step may leave, by the largest slope of the loop along the steps before."""
GOES_ON, NEXT_AGREES, AGREES, FAILS = 0, 1, 2, 3
"""How an iteration stands."""


@inlined
def forget(f_t: Array) -> None:
    """Clear what an iteration before has left."""
    for row in range(f_t.shape[0]):
        for k in range(f_t.shape[1]):
            f_t[row, k] = 0.0


@kernel
def advance(f_t: Array, count: int, before: float, slope: float, proved: bool) -> tuple[int, float, float]:
    """Compare the friction f_t[0] with C = f_t[1] by its reactions, and improve it.

    Return whether it continues, the residual, and the largest slope |change of C| / |change of f| so far.
    f_t: (6, n), of the iteration before f, r, p and q follow;  count: steps so far;  before, slope: as it was returned before, else 0
    proved: whether the loop is known to contract, otherwise it must along every step
    """
    left, size, step, change, r_r = 0.0, 1e-300, 0.0, 0.0, 0.0
    q1_q1 = q1_q2 = q2_q2 = q1_r = q2_r = 0.0
    for k in range(f_t.shape[1]):
        r = f_t[1, k] - f_t[0, k]
        p, q, q_2 = f_t[0, k] - f_t[2, k], r - f_t[3, k], f_t[5, k]
        q1_q1, q1_q2, q2_q2, q1_r, q2_r = q1_q1 + q * q, q1_q2 + q * q_2, q2_q2 + q_2 * q_2, q1_r + q * r, q2_r + q_2 * r
        larger = max(f_t[0, k], f_t[1, k])
        size, step, change = max(size, larger), max(step, abs(p)), max(change, abs(p + q))
        left, r_r = max(left, abs(r)), r_r + r * r
    if not r_r < 1e300:  # noqa: PLR2004  not finite: the columns tell why
        return FAILS, left, slope
    if left <= TOL * size or (left <= ROUNDING * size and count > 0 and left >= 0.5 * before):
        return AGREES, left, slope
    if count > 0 and step > COARSE * size:
        slope = max(slope, change / step)
        if not slope <= HALF and not proved:
            return FAILS, left, slope
    c_1, c_2 = 0.0, 0.0
    area = q1_q1 * q2_q2 - q1_q2 * q1_q2
    if count > 1 and area > PARALLEL * q1_q1 * q2_q2:
        c_1, c_2 = (q1_r * q2_q2 - q2_r * q1_q2) / area, (q2_r * q1_q1 - q1_r * q1_q2) / area
    elif count > 0 and q1_q1 > 0.0:
        c_1 = q1_r / q1_q1
    for k in range(f_t.shape[1]):
        f, r = f_t[0, k], f_t[1, k] - f_t[0, k]
        p, q = f - f_t[2, k], r - f_t[3, k]
        f_t[0, k] = f + r - c_1 * (p + q) - c_2 * (f_t[4, k] + f_t[5, k])
        f_t[2, k], f_t[3, k], f_t[4, k], f_t[5, k] = f, r, p, q
    return NEXT_AGREES if slope > 0.0 and slope * left <= LEFT * size else GOES_ON, left, slope
