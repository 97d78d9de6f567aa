r"""The order of a method from errors at several steps, with its confidence, and without the points that something else limits.

    log e = c + p log h            p: order;  confidence: 95 % of Student's t with n - 2 degrees of freedom

Points that do not count, and their flags
    failed         no error: the run failed
    reference      e < 10 * uncertainty of the reference, which is then a tenth of e or more
    rounding       e < 4 eps * number of steps, which is what rounding may add up to
    stalled        e is not smaller than at the next larger step, or within a factor of ten of smaller steps for which it is not
    coarse         the largest steps, at most half of all, if the others lie closer to a line by a factor of three without them
Source: Hairer, Norsett and Wanner, Solving ODE I, sec. II.4 (the numerical order from a double logarithmic diagram).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from haugmbd.compiled.array_types import Array

FAILED, REFERENCE, ROUNDING, STALLED, COARSE = "failed", "reference", "rounding", "stalled", "coarse"
CLEAR_OF_REFERENCE = 10.0
"""An error counts if it exceeds the uncertainty of the reference by this."""
PER_STEP = 4.0 * float(np.finfo(np.float64).eps)
"""Rounding of a step, relative; it adds up to as much as this times the number of steps."""
STALLS = 0.9
"""An error that is more than this part of the one at the next larger step does not fall with h."""
CLOSER = 3.0
"""The largest steps are left out if the residual of the others is smaller without them by this factor."""
STRAIGHT = 0.02
"""Residual of log e below which points are a line: 2 % of e."""
FEWEST = 3
"""Least number of points for an order with a confidence."""
CONFIDENCE = 0.95


class Fitted(NamedTuple):
    """A fitted line of log error over log step.

    slope, offset: of the line;  half: half-width of the confidence interval of the slope;  residual: root mean square
    """

    slope: float
    offset: float
    half: float
    residual: float


class FittedOrder(float):
    """A fitted order: a number with its confidence and the flags of its points.

    Attributes
    ----------
    confidence : float
        Half-width of the 95 % confidence interval; NaN for fewer than three points.
    h, errors : ndarray, (n,)
        Steps [s], from the largest on, and errors.
    flags : tuple of str
        Of each point: "" if it counts, else "failed", "reference", "rounding", "stalled" or "coarse".
    local : ndarray, (n - 1,)
        Orders between neighbouring points.
    constant : float
        The error is constant * h^order.
    """

    confidence: float
    h: Array
    errors: Array
    flags: tuple[str, ...]
    local: Array
    constant: float

    @property
    def limits(self) -> tuple[str, ...]:
        """What limits points, each flag once: "reference", "rounding", ...; empty if all points count."""
        return tuple(dict.fromkeys(flag for flag in self.flags if flag))

    @property
    def points(self) -> int:
        """Number of points that count."""
        return self.flags.count("")

    def __repr__(self) -> str:
        """Return order, confidence, points and flags."""
        limits = f", limited by {', '.join(self.limits)}" if self.limits else ""
        return f"{float(self):.2f} +- {self.confidence:.2f} ({self.points} of {len(self.flags)} points{limits})"

    __str__ = __repr__


def fit_order(h: Array, errors: Array, uncertainty: float, steps: Array) -> FittedOrder:
    """Return the order of errors (n,) at steps h (n,);  uncertainty: of the reference, 0 if unknown;  steps: (n,) number of steps."""
    fall = np.argsort(-h, kind="stable")
    h, errors, steps = h[fall], errors[fall], steps[fall]
    flags = _flags(errors, uncertainty, steps)
    counting = [k for k, flag in enumerate(flags) if not flag]
    for k in counting[: _coarse(h, errors, counting)]:
        flags[k] = COARSE
    counting = [k for k, flag in enumerate(flags) if not flag]
    line = _line(h, errors, counting) if len(counting) > 1 else Fitted(np.nan, np.nan, np.nan, np.nan)
    fitted = FittedOrder(line.slope)
    fitted.confidence, fitted.constant = line.half, float(np.exp(line.offset))
    fitted.h, fitted.errors, fitted.flags = h, errors, tuple(flags)
    with np.errstate(all="ignore"):
        fitted.local = np.diff(np.log(errors)) / np.diff(np.log(h))
    return fitted


def slope_of(x: Array, y: Array) -> tuple[float, float]:
    """Return the slope of log y over log x, and the half-width of its 95 % confidence; NaN for fewer than three points."""
    if len(x) < FEWEST:
        return float("nan"), float("nan")
    line = _line(x, y, list(range(len(x))))
    return line.slope, line.half


def _flags(errors: Array, uncertainty: float, steps: Array) -> list[str]:
    """Return the flags of errors that are ordered from the largest step on."""
    flags, before = [], np.inf
    for error, n in zip(errors, steps, strict=True):
        if not np.isfinite(error):
            flags.append(FAILED)
        elif error < CLEAR_OF_REFERENCE * uncertainty:
            flags.append(REFERENCE)
        elif error < PER_STEP * n:
            flags.append(ROUNDING)
        else:
            flags.append(STALLED if error > STALLS * before else "")
            before = error
    return _with_floor(errors, flags)


def _with_floor(errors: Array, flags: list[str]) -> list[str]:
    """Return the flags; where the smallest steps stall, errors that are not clear of theirs do not count either."""
    measured = [k for k, flag in enumerate(flags) if flag in ("", STALLED)]
    stalled = []
    while measured and flags[measured[-1]] == STALLED:
        stalled.append(measured.pop())
    floor = max((float(errors[k]) for k in stalled), default=0.0)
    return [STALLED if not flag and error < CLEAR_OF_REFERENCE * floor else flag for flag, error in zip(flags, errors, strict=True)]


def _coarse(h: Array, errors: Array, counting: list[int]) -> int:
    """Return how many of the largest steps are left out: the fewest with which the others lie nearly as close to a line as they can."""
    most = len(counting) - max(FEWEST, (len(counting) + 1) // 2)
    if most <= 0:
        return 0
    residuals = [max(_line(h, errors, counting[k:]).residual, STRAIGHT) for k in range(most + 1)]
    return next(k for k, residual in enumerate(residuals) if residual <= CLOSER * min(residuals))


def _line(h: Array, errors: Array, at: list[int]) -> Fitted:
    """Return the least-squares line of log e over log h."""
    from scipy.stats import t as student  # noqa: PLC0415  imported only where orders are fitted

    x, y = np.log(h[at]), np.log(errors[at])
    dx = x - x.mean()
    slope = float(dx @ y / (dx @ dx))
    residual = y - y.mean() - slope * dx
    square, n = float(residual @ residual), len(at)
    half = float(student.ppf(0.5 + 0.5 * CONFIDENCE, n - 2) * np.sqrt(square / (n - 2) / (dx @ dx))) if n > 2 else float("nan")
    return Fitted(slope, float(y.mean() - slope * x.mean()), half, float(np.sqrt(square / n)))
