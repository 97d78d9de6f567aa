"""Implicit methods with their orders, the mechanisms that they are tried on, and converged solutions."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import NamedTuple

import numpy as np

import haugmbd as mbd
from haugmbd.gallery import double_pendulum, four_bar, heavy_top, slider_crank
from haugmbd.integrators.implicit.base import Implicit

ORDER_TOL = 0.15


class Case(NamedTuple):
    """A mechanism, an interval [s], and steps in it (then twice as many) for methods of order 1, 2, 3, 4, 5."""

    make: Callable[[], mbd.System]
    t_end: float
    steps: tuple[int, int, int, int, int]


CASES = {
    "double pendulum": Case(double_pendulum, 1.0, (4000, 1000, 500, 280, 200)),
    "heavy top": Case(heavy_top, 0.1, (1600, 400, 400, 280, 280)),
    "four-bar": Case(four_bar, 0.5, (500, 250, 200, 200, 100)),
    "slider-crank": Case(slider_crank, 0.22, (400, 400, 320, 160, 320)),
}

LEVELS = (mbd.Index3(), mbd.Index2(), mbd.GGL(), mbd.HillerAnantharaman())

FIXED: dict[str, tuple[int, Implicit]] = {
    **{f"GeneralizedAlpha, {type(level).__name__}": (2, mbd.GeneralizedAlpha(constraint_form=level)) for level in LEVELS},
    "GeneralizedAlpha, rho = 0": (2, mbd.GeneralizedAlpha(rho=0.0)),
    "GeneralizedAlphaR7": (2, mbd.GeneralizedAlphaR7()),
    "GeneralizedAlphaR7, rho = 1/2": (2, mbd.GeneralizedAlphaR7(rho=0.5)),
    "HHT, Index3": (2, mbd.HHT()),
    "HHT, GGL": (2, mbd.HHT(alpha=-0.1, constraint_form=mbd.GGL())),
    "Newmark, damped": (1, mbd.Newmark()),
    "Newmark, gamma = 1/2": (2, mbd.Newmark(beta=0.25, gamma=0.5, constraint_form=mbd.GGL())),
    "Trapezoidal": (2, mbd.Trapezoidal()),
    **{f"BDF{k}": (k, mbd.BDF(order=k, tol=1e-11)) for k in (1, 2, 3, 4, 5)},
    "RadauIIA": (5, mbd.RadauIIA(tol=1e-11)),
    "RadauIIA, Index2": (5, mbd.RadauIIA(constraint_form=mbd.Index2(), tol=1e-11)),
    "BDF2, Index2": (2, mbd.BDF(order=2, constraint_form=mbd.Index2())),
    "BDF2, Index3": (2, mbd.BDF(order=2, constraint_form=mbd.Index3(), tol=1e-12)),
    "GeneralizedAlpha with error control, held": (2, mbd.GeneralizedAlpha(rtol=1e12, atol=1e12)),
}
"""Order and method; the last is held to a fixed step by its largest, and by a tolerance that refuses nothing."""

ADAPTIVE = (
    (mbd.BDF, (1e-6, 1e-8, 1e-10)),
    (mbd.RadauIIA, (1e-5, 1e-7, 1e-9)),
    (mbd.GeneralizedAlpha, (1e-5, 1e-6, 1e-7)),
)
"""Methods and the tolerances at which their errors are compared; at 1e-10 those of Radau are rounding (2e-14 on the four-bar)."""


@cache
def exact(name: str) -> tuple[np.ndarray, ...]:
    case = CASES[name]
    result = mbd.simulate(case.make(), case.t_end, rtol=1e-13, atol=1e-13)
    return result.r[-1].ravel(), np.concatenate([result.v[-1], result.omega_bar[-1]], axis=1).ravel(), result.lam[-1]
