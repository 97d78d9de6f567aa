"""SciPy's solvers, and the orders that are seen on each mechanism."""

from __future__ import annotations

SEEN = {
    "RK23": (3, {"double pendulum": (1.0, (160, 320)), "heavy top": (0.1, (640, 1280)), "slider-crank": (0.2, (160, 320))}),
    "RK45": (5, {"double pendulum": (2.0, (640, 1000)), "heavy top": (0.1, (160, 320)), "slider-crank": (0.35, (480, 800))}),
    "DOP853": (8, {"double pendulum": (0.42, (8, 12)), "heavy top": (0.1, (32, 40)), "slider-crank": (0.2, (12, 20))}),
}
"""By method: its order, and by mechanism the interval [s] and numbers of steps at which it shows, as in `test_explicit`.

SciPy's sums are rounded otherwise from one run to the next (BLAS), which an error of order eight, 1e-12, feels.
"""
