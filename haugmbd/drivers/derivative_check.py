r"""Comparison of functions of time with each other, once, when a driver is made.

A given f' is compared with differences of f: the eighth-order central difference, and sixth-order one-sided ones, because f' may jump
nearby. Several steps h are tried, because none fits all frequencies; the nearest difference counts.

    f'(t) = (4/5 (f_1 - f_-1) - 1/5 (f_2 - f_-2) + 4/105 (f_3 - f_-3) - 1/280 (f_4 - f_-4)) / h + O(h^8),   f_k = f(t + k h)

The differences are used for this comparison only.
Source: Fornberg, Math. Comp. 51 (1988) 699-706.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from haugmbd.drivers.autodiff.tape import Tape
from haugmbd.drivers.autodiff.tape_machine import Floats
from haugmbd.drivers.program import sample, tape_program
from haugmbd.drivers.user_function import row_or_nan
from haugmbd.errors import Fault

NAMES = ("f", "f_dot", "f_ddot")

# Times as parts of the interval that is checked.
REGULAR = np.linspace(0.0, 1.0, 5)
IRREGULAR = np.array([0.0137, 0.1873, 0.3719, 0.6131, 0.8917, 0.9871])  # unlikely to hit the seams of a piecewise function
BEYOND = np.array([-0.3183, 1.6183, 2.7182, 7.3891])  # compared where finite, because a branch may be taken only there

AGREEMENT_TOL = 1e-10  # tape against Python, relative to the largest of f, or f', or f'': rounding, with some cancellation
NOISE = 1e-13  # of the largest of f, f', f'' together: below this, one of them is rounding
DIFFERENCE_TOL = 1e-6  # f' given against f' by differences, relative to the largest f': truncation and rounding stay below 1e-8
DIFFERENCE_STEPS = (1e-2, 1e-3, 1e-4, 1e-5)  # of the interval: fit for frequencies up to some 1e4 rad per interval
ROUNDING = 16 * float(np.finfo(np.float64).eps)  # of f, divided by the step: what a difference cannot see

CENTRAL = np.array([1 / 280, -4 / 105, 1 / 5, -4 / 5, 4 / 5, -1 / 5, 4 / 105, -1 / 280])
ONE_SIDED = np.array([-49 / 20, 6, -15 / 2, 20 / 3, -15 / 4, 6 / 5, -1 / 6])
STENCILS = (
    (np.array([-4, -3, -2, -1, 1, 2, 3, 4]), CENTRAL),
    (np.arange(7), ONE_SIDED),
    (-np.arange(7), -ONE_SIDED),
)

Row = Callable[[float], Floats]


def times_inside(check: tuple[float, float]) -> Floats:
    """Return the times at which a function must be finite."""
    return np.sort(check[0] + (check[1] - check[0]) * np.concatenate([REGULAR, IRREGULAR]))


def times_beyond(check: tuple[float, float]) -> Floats:
    """Return times outside the interval."""
    return check[0] + (check[1] - check[0]) * BEYOND


def agreed(tape: Tape | None, row: Row, check: tuple[float, float]) -> Tape | None:
    """Return the tape if it gives the values of the Python function inside the interval and outside it; else None."""
    if tape is None:
        return None
    times = np.concatenate([times_inside(check), times_beyond(check)])
    python = np.array([row_or_nan(row, t) for t in times])
    finite = np.all(np.isfinite(python), axis=1)
    python, taped = python[finite], sample(tape_program(tape), times[finite])
    scale = np.max(np.abs(python), axis=0)
    allowed = AGREEMENT_TOL * scale + NOISE * np.max(scale)
    return tape if np.all(np.abs(taped - python) <= allowed) else None


def disagreements(
    sample: Row, check: tuple[float, float], *, within: tuple[float, float] = (-np.inf, np.inf), argument: str = "t = {:.9g} s"
) -> tuple[Fault, ...]:
    """Return a fault, with the worst time, if f_dot is not the derivative of f, or f_ddot not that of f_dot.

    within: the functions are called at no other times [s];  argument: how a time is written
    """

    def row(t: float) -> Floats:
        return sample(t) if within[0] <= t <= within[1] else np.full(3, np.nan)

    irregular = check[0] + (check[1] - check[0]) * IRREGULAR
    times = np.concatenate([irregular, times_beyond(check)])
    F = np.array([row_or_nan(row, t) for t in times])
    finite = np.all(np.isfinite(F), axis=1)
    times, F = times[finite], F[finite]
    if not len(times):
        return ()
    faults = []
    for k in (0, 1):
        scale = float(np.max(np.abs(F[:, k + 1])))
        near = [_nearest(row, k, t, f_dot, scale, check[1] - check[0]) for t, f_dot in zip(times, F[:, k + 1], strict=True)]
        worst = int(np.argmax([excess for excess, _ in near]))
        if near[worst][0] > 0.0:
            faults.append(_fault(k, argument.format(times[worst]), float(F[worst, k + 1]), near[worst][1], scale))
    return tuple(faults)


def _nearest(row: Row, k: int, t: float, given: float, scale: float, length: float) -> tuple[float, float]:
    """Return (excess over the allowed error, estimate) of the difference of column k that is nearest to the `given` derivative."""
    best = (np.inf, np.nan)
    for offsets, weights in STENCILS:
        for step in DIFFERENCE_STEPS:
            h = step * length
            f = np.array([row_or_nan(row, t + offset * h)[k] for offset in offsets])
            estimate = float(weights @ f) / h
            excess = abs(estimate - given) - DIFFERENCE_TOL * scale - ROUNDING * float(np.max(np.abs(f))) / h
            if excess <= 0.0:
                return 0.0, estimate
            if excess < best[0]:
                best = (excess, estimate)
    return best if np.isfinite(best[1]) else (0.0, best[1])  # nothing to compare with


def _fault(k: int, where: str, given: float, estimate: float, scale: float) -> Fault:
    what = (
        f"{NAMES[k + 1]} is {given:.9g} at {where}, and differences of {NAMES[k]} give {estimate:.9g}: "
        f"off by {abs(given - estimate):.3g} (allowed {DIFFERENCE_TOL:g} of {scale:.3g})"
    )
    return Fault("driver", what, f"Correct {NAMES[k]} or {NAMES[k + 1]}, or give f alone: its derivatives are then exact.")
