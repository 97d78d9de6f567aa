r"""Whether a joint of several rates that slows down stops or turns: its slowest speed, under a load and friction that do not change.

    s' = -A (f u + g),   u = s / |s|            s: sliding [m/s];  A: accelerations by friction;  f: friction of sliding;  g: needed at rest
    with d tau = f dt / |s|:     u' = -(1 - u u^T) A (u + n),     (ln |s|)' = -u^T A (u + n),     n = g / f

With |n| <= 1 friction stops it.  With |n| > 1 it does not, although friction at rest, up to mu_s, might hold it: a motion that meets the
load head on turns round at a speed that is not zero, unless it meets it exactly.  The speed is a factor of that at the beginning, and
depends on the angle alone, which steps follow as long as the speed is above what they can resolve.
Source: Haug (2021), friction and stiction; the equation in tau is that of the book with time measured by the speed.
"""

from __future__ import annotations

from math import exp, log

import numpy as np

from haugmbd.compiled.array_types import Array

STEP = 0.05
"""Of a step in tau, times |A| (1 + |n|): the slowest speed is that at the end of a step, within a part of 2e-3."""
MOST_STEPS = 20000
"""Steps in tau; a direction leaves its unstable equilibrium, from rounding, in about a thousand."""


def slowest_speed(s: Array, A: Array, need: Array, least: float) -> float:
    """Return the slowest speed [m/s] of a joint that slides with s (n,) [m/s]; 0 if it stops, or becomes slower than `least`.

    A: (n, n) [1/kg];  need: (n,) the friction needed to hold it, relative to that of sliding
    """
    start, size = float(np.linalg.norm(s)), float(np.linalg.norm(A, 2))
    if not (np.linalg.norm(need) > 1.0 and size > 0.0 and start > least):
        return 0.0
    u, fallen, A = s / start, 0.0, A / size
    h = STEP / (1.0 + float(np.linalg.norm(need)))
    for _ in range(MOST_STEPS):
        if -(u @ A @ (u + need)) >= 0.0:
            return start * exp(fallen)
        k1 = _rates(u, A, need)
        k2 = _rates(u + 0.5 * h * k1[1:], A, need)
        k3 = _rates(u + 0.5 * h * k2[1:], A, need)
        k4 = _rates(u + h * k3[1:], A, need)
        change = h / 6.0 * (k1 + 2.0 * k2 + 2.0 * k3 + k4)
        fallen += float(change[0])
        if fallen < log(least / start):
            return 0.0
        u = u + change[1:]
        u /= np.linalg.norm(u)
    return 0.0  # slower by a factor that is none of rounding: it stops


def _rates(u: Array, A: Array, need: Array) -> Array:
    """Return the rates of ln |s| and of u, (1 + n,)."""
    a = -A @ (u + need)
    along = u @ a
    return np.concatenate([[along], a - along * u])
