r"""QuinticSpline: the C4 piecewise quintic through a table (t_k, f_k); f'' is C2, so gamma is smooth.

Ends (Source: de Boor, A Practical Guide to Splines, ch. XIII): "not a knot" (the first three and the last three intervals are one
polynomial each), or f' and f'' given there, or both ends joined periodically.
"""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from haugmbd.bodies.validation import frozen, masked
from haugmbd.deprecated import public_class
from haugmbd.drivers.autodiff.tape_machine import Floats
from haugmbd.drivers.driver import Driver, is_real_scalar, shown
from haugmbd.drivers.program import PYTHON, SPLINE, Program, sample
from haugmbd.errors import Fault

DEGREE = 5
PERIOD_TOL = 1e-12  # f at both ends of a period, relative to the largest |f|: the same number, up to rounding


@public_class
@dataclass(frozen=True, eq=False)
class QuinticSpline(Driver):
    """Driver by the quintic spline through a table (t_k, f_k).

    Parameters
    ----------
    t : array_like, (n,)
        Times [s], increasing.
    f : array_like, (n,)
        Values at these times.
    start, end : (float, float), optional
        f' and f'' at the first and at the last time, such as (0, 0) for rest; by default "not a knot".
    periodic : bool
        Whether the table repeats with the period t[-1] - t[0]; f[-1] must equal f[0].

    Attributes
    ----------
    coefficients : ndarray, (n_pieces, 6)
        Coefficients of each piece in t - breakpoint, highest power first.
    breakpoints : ndarray, (n_pieces + 1,)
        Times [s] where pieces meet.

    Notes
    -----
    The spline has four continuous derivatives; f'' has two. Bad values are collected in `faults()`. A simulation that leaves the table
    is an error, except with `periodic`.
    Source: de Boor, A Practical Guide to Splines, ch. XIII (end conditions).
    """

    t: Floats
    f: Floats
    _: KW_ONLY
    start: tuple[float, float] | None = None
    end: tuple[float, float] | None = None
    periodic: bool = False
    coefficients: Floats = field(default_factory=lambda: np.zeros((0, 6)), init=False, repr=False)
    breakpoints: Floats = field(default_factory=lambda: np.zeros(0), init=False, repr=False)
    _program: Program = field(default=Program(PYTHON), init=False, repr=False)
    _faults: tuple[Fault, ...] = field(default=(), init=False, repr=False)

    def __post_init__(self) -> None:
        faults = (*_table_faults("t", self.t), *_table_faults("f", self.f), *_end_faults("start", self.start))
        faults = (*faults, *_end_faults("end", self.end))
        for name, given in (("t", self.t), ("f", self.f)):
            object.__setattr__(self, name, frozen(given if not _table_faults(name, given) else [np.nan]))
        if not faults:
            faults = tuple(self._shape_faults())
        if not faults:
            self._fit()
        object.__setattr__(self, "_faults", faults)

    def values(self, t: ArrayLike) -> Floats:
        """Return f, f', f'' at t, shape (..., 3)."""
        if self._faults:
            return np.full((*np.shape(t), 3), np.nan)
        return sample(self._program, np.asarray(t, dtype=np.float64))

    def faults(self) -> tuple[Fault, ...]:
        """Return the faults of the table and of its ends."""
        return self._faults

    def program(self) -> Program:
        """Return period, breakpoints and coefficients as a program."""
        return self._program

    @property
    def t_range(self) -> tuple[float, float]:
        """Return the first and last time [s] of the table; all times if it is periodic."""
        if self.periodic or self._faults:
            return -np.inf, np.inf
        return float(self.t[0]), float(self.t[-1])

    @property
    def t_min(self) -> float:
        """Return the first time [s] at which the spline is defined."""
        return self.t_range[0]

    @property
    def t_max(self) -> float:
        """Return the last time [s] at which the spline is defined."""
        return self.t_range[1]

    def _least(self) -> int:
        """Return the least number of points that determine the spline."""
        if self.periodic:
            return DEGREE + 1
        return 2 + 2 * (self.start is None) + 2 * (self.end is None)

    def _shape_faults(self) -> list[Fault]:
        t, f = self.t, self.f
        if t.shape != f.shape:
            return [Fault("driver", f"the table has {t.size} times and {f.size} values", "Give one value for each time.")]
        faults = []
        back = np.flatnonzero(np.diff(t) <= 0.0)
        if back.size:
            k = int(back[0])
            what = f"the times of the table do not increase: t[{k}] = {t[k]:.9g} s, t[{k + 1}] = {t[k + 1]:.9g} s"
            faults.append(Fault("driver", what, "Sort the table, and give each time once."))
        if t.size < self._least():
            what = f"the table has {t.size} points, a quintic spline with these ends needs at least {self._least()}"
            faults.append(Fault("driver", what, "Give more points, or f' and f'' at the ends (start=, end=)."))
        return faults if faults or not self.periodic else self._period_faults()

    def _period_faults(self) -> list[Fault]:
        faults = []
        if self.start is not None or self.end is not None:
            what = "a periodic table has start= or end= as well"
            faults.append(Fault("driver", what, "A period has no ends: leave out start and end, or periodic."))
        gap = abs(float(self.f[-1] - self.f[0]))
        if gap > PERIOD_TOL * float(np.max(np.abs(self.f))):
            what = f"the periodic table ends with f = {self.f[-1]:.9g} and begins with f = {self.f[0]:.9g} (gap {gap:.3g})"
            faults.append(Fault("driver", what, "Let the last value repeat the first one."))
        return faults

    def _fit(self) -> None:
        """Interpolate, and keep the pieces as polynomials in t - breakpoint, highest power first."""
        from scipy.interpolate import PPoly  # imported here, because it is slow and most programs do not need it

        spline = _periodic(self.t, self.f) if self.periodic else _clamped(self.t, self.f, self.start, self.end)
        pieces = PPoly.from_spline(spline)
        inside = (np.diff(pieces.x) > 0.0) & (pieces.x[:-1] >= self.t[0]) & (pieces.x[:-1] < self.t[-1])
        coefficients = np.ascontiguousarray(pieces.c[:, inside].T)
        breakpoints = np.append(pieces.x[:-1][inside], self.t[-1])
        period = self.t[-1] - self.t[0] if self.periodic else 0.0
        numbers = np.concatenate([[period], breakpoints, coefficients.reshape(-1)])
        for array in (coefficients, breakpoints, numbers):
            array.flags.writeable = False
        object.__setattr__(self, "coefficients", coefficients)
        object.__setattr__(self, "breakpoints", breakpoints)
        object.__setattr__(self, "_program", Program(SPLINE, numbers=numbers))


def _clamped(t: Floats, f: Floats, start: tuple[float, float] | None, end: tuple[float, float] | None) -> Any:
    """Return the spline with f', f'' given at an end, or without the two knots next to an end without them."""
    first = 3 if start is None else 1
    last = t.size - (3 if end is None else 1)
    from scipy.interpolate import make_interp_spline

    knots = np.concatenate([np.full(DEGREE + 1, t[0]), t[first:last], np.full(DEGREE + 1, t[-1])])
    left, right = ([(1, pair[0]), (2, pair[1])] if pair is not None else None for pair in (start, end))
    return make_interp_spline(t, f, k=DEGREE, t=knots, bc_type=(left, right))


def _periodic(t: Floats, f: Floats) -> Any:
    """Return the spline whose end joins its start with four derivatives."""
    from scipy.interpolate import make_interp_spline

    return make_interp_spline(t, np.append(f[:-1], f[0]), k=DEGREE, bc_type="periodic")


def _table_faults(name: str, given: Any) -> list[Fault]:
    remedy = f"Give {name} as a list or an array of finite numbers, shape (n,)."
    if masked(given):
        return [Fault("driver", f"{name} of the table has masked values", remedy)]
    try:
        array = np.asarray(given)
    except ValueError:  # a ragged list
        return [Fault("driver", f"{name} of the table is {shown(given)}, and ragged", remedy)]
    if array.ndim != 1 or array.dtype.kind not in "iuf":
        return [Fault("driver", f"{name} of the table is {shown(given)} with elements of type {array.dtype}", remedy)]
    wrong = np.flatnonzero(~np.isfinite(array))
    if wrong.size:
        k = int(wrong[0])
        return [Fault("driver", f"{name}[{k}] of the table is {array[k]} ({wrong.size} of {array.size} are not finite)", remedy)]
    return []


def _end_faults(name: str, given: Any) -> list[Fault]:
    is_pair = isinstance(given, tuple | list) and len(given) == 2 and all(is_real_scalar(x) and np.isfinite(x) for x in given)
    if given is None or is_pair:
        return []
    what = f"{name} is {shown(given)}, must be two finite numbers"
    return [Fault("driver", what, f"Give {name}=(f_dot, f_ddot), or leave it out.")]
