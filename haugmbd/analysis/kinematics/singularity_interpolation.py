r"""The state in a gap around a singular configuration, by the quintic polynomial through r, p and their rates on both sides.

x(t_k), x_dot(t_k), x_ddot(t_k),  k = before, after         x = (r, p),   p_ddot = (p_dot (0, w) + p (0, w_dot)) / 2
error of x about width^6, of velocities width^5
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from haugmbd.analysis.initial_model import with_angles
from haugmbd.compiled.array_types import Array
from haugmbd.integrators.singularities.branch_selection import Selection
from haugmbd.math.body_columns import EULER, OMEGA_BAR, VELOCITY
from haugmbd.math.euler_parameters import normalized, omega_bar_from, p_dot_from, product
from haugmbd.model.model import Model
from haugmbd.model.state import State
from haugmbd.workspace.layout import WIDTH


class PathPoint(NamedTuple):
    """A state that fulfils the constraints: t [s], y and y_dot (ny,);  pivot: the smallest, relative to its scale: about sigma^2."""

    t: float
    y: Array
    y_dot: Array
    pivot: float


class Gap(NamedTuple):
    """A singular configuration, as the tests of its crossing have found it, and the points on both sides."""

    selected: Selection
    before: PathPoint
    after: PathPoint


def between(model: Model, gap: Gap, t: float) -> PathPoint:
    """Return the state at t in a gap, by the quintic polynomial through both sides: r, p, their rates and accelerations."""
    from scipy.interpolate import BPoly  # noqa: PLC0415  imported only where a singular position is passed

    n = model.nb + 1
    ends = [_derivatives(point, n) for point in (gap.before, gap.after)]
    order = [0, 1] if gap.before.t < gap.after.t else [1, 0]
    times = [(gap.before.t, gap.after.t)[k] for k in order]
    curve = BPoly.from_derivatives(times, [ends[k] for k in order])
    x, x_dot, x_ddot = (curve(t, nu=k).reshape(n, 7) for k in range(3))
    p = normalized(x[:, 3:])
    omega_bar = omega_bar_from(p, x_dot[:, 3:])
    y = np.concatenate([np.hstack([x[:, :3], p, x_dot[:, :3], omega_bar]).ravel(), gap.before.y[WIDTH * n :]])
    state = with_angles(model, State.from_y(t, y, n))
    u_dot = np.hstack([x_ddot[:, :3], omega_bar_from(p, x_ddot[:, 3:])])
    rates = np.hstack([x_dot[:, :3], p_dot_from(p, omega_bar), u_dot])
    return PathPoint(t, state.y, np.concatenate([rates.ravel(), gap.before.y_dot[WIDTH * n :]]), 0.0)


def _derivatives(point: PathPoint, n: int) -> list[Array]:
    """Return (r, p) and its first and second rate, (7 n,) each:  p_ddot = (p_dot (0, w) + p (0, w_dot)) / 2  in quaternion products."""
    y, rate = (x[: WIDTH * n].reshape(n, WIDTH) for x in (point.y, point.y_dot))
    w, w_dot = (np.hstack([np.zeros((n, 1)), x[:, OMEGA_BAR:]]) for x in (y, rate))
    p, p_dot = y[:, EULER:VELOCITY], rate[:, EULER:VELOCITY]
    p_ddot = 0.5 * (product(p_dot, w) + product(p, w_dot))
    return [
        np.hstack(parts).ravel()
        for parts in ((y[:, :3], p), (y[:, VELOCITY:OMEGA_BAR], p_dot), (rate[:, VELOCITY:OMEGA_BAR], p_ddot))
    ]
