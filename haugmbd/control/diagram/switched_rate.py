r"""A rate that is e before the state x reaches a value s, and 0 beyond it, in an implicit step x = past + c x' with c > 0.

    x' = e               if past + c e is before s
    x' = 0               if past is at s or beyond it
    x' = (s - past) / c  otherwise:  x = s, and x' is between 0 and e

So the integral of a limited PID stays where its output is at the limit. Explicit steps jump between the two rates there.
Source: Filippov, Differential Equations with Discontinuous Righthand Sides, sec. 4 (solutions on a surface of discontinuity);
Acary, Brogliato, Numerical Methods for Nonsmooth Dynamical Systems, ch. 9 (implicit steps on it).
"""

from __future__ import annotations


def switched_rate(e: float, switch: float, past: float, c: float) -> float:
    """Return the rate x' of the implicit step."""
    distance = switch - past
    if not e * distance > 0.0:
        return 0.0
    if abs(c * e) <= abs(distance):
        return e
    return distance / c
