r"""States at other times, from stored states alone.

cubic     r by cubic Hermite from r and v;  v, omega_bar and angles by a cubic spline through the samples
linear    all of them piecewise linear
p         by slerp, whichever
"""

from __future__ import annotations

import numpy as np

from haugmbd.algebra.euler import resample
from haugmbd.algebra.vec3 import Array
from haugmbd.errors import UsageError
from haugmbd.model.tables import WIDTH


def resample_states(t: Array, y: Array, n_bodies: int, t_new: Array, kind: str) -> Array:
    """States (k, ny) at `t_new` (k,) within [t[0], t[-1]], from y (nt, ny) at increasing t (nt,).

    Raises UsageError for times outside, fewer than two states, or an unknown kind.
    """
    if kind not in ("cubic", "linear"):
        raise UsageError(f"kind is {kind!r}: give 'cubic' or 'linear'.")
    if len(t) < 2:
        raise UsageError(f"there are {len(t)} states to interpolate between, and two are needed at least.")
    if not (t_new.ndim == 1 and np.all((t_new >= t[0]) & (t_new <= t[-1]))):
        raise UsageError(f"t_new must be times (k,) within {t[0]:g} .. {t[-1]:g} s; got {t_new.min():g} .. {t_new.max():g} s.")
    out = _interpolate(t, y, t_new, kind)
    bodies, new = (x[:, : WIDTH * n_bodies].reshape(len(x), n_bodies, WIDTH) for x in (y, out))
    new[..., 3:7] = resample(t, bodies[..., 3:7], t_new)
    if kind == "cubic":
        from scipy.interpolate import CubicHermiteSpline  # noqa: PLC0415  as below

        new[..., 0:3] = CubicHermiteSpline(t, bodies[..., 0:3], bodies[..., 7:10])(t_new)
    return out


def _interpolate(t: Array, y: Array, t_new: Array, kind: str) -> Array:
    """All columns at the new times."""
    if kind == "cubic":
        from scipy.interpolate import CubicSpline  # noqa: PLC0415  SciPy's splines are loaded where they are used

        smooth: Array = CubicSpline(t, y)(t_new)
        return smooth
    return np.stack([np.interp(t_new, t, column) for column in y.T], axis=1)
