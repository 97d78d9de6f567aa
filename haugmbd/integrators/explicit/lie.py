r"""Explicit Runge-Kutta methods on R^3 x SO(3): rotations as exponentials, velocities in a vector space.

    Munthe-Kaas       p_i = p exp(Theta_i),  Theta_i = h sum a_ij K_j,   K_j = dexpinv(Theta_j) omega_bar_j       one exponential a stage
    Crouch-Grossman   p_i = p exp(h a_i1 omega_bar_1) exp(h a_i2 omega_bar_2) ...                                one for each a_ij
    all else          x_i = x + h sum a_ij x'_j

    dexpinv(Theta) w = w + Theta x w / 2 + c Theta x (Theta x w),    c = (1 - (theta / 2) cot(theta / 2)) / theta^2,   theta = |Theta|

In body frames  Theta' = dexpinv(Theta) omega_bar  is  p' = G^T omega_bar / 2  with  p = p_0 exp(Theta), exactly (no series is truncated).
|p| = 1 holds within rounding, so that nothing is normalized.

RKMK4             the tableau of RK4:  p_1 = p_0 exp( h (K_1 + 2 K_2 + 2 K_3 + K_4) / 6 ).  Every tableau keeps its order with Munthe-Kaas.
CrouchGrossman3   p_1 = p_0 exp(h b_1 omega_bar_1) exp(h b_2 omega_bar_2) exp(h b_3 omega_bar_3).  Rotations do not commute, so that order
                  three needs one more condition: the tableau of RK3 would have order two.

Source: Munthe-Kaas, BIT 38 (1998) 92-111; Crouch, Grossman, J. Nonlinear Sci. 3 (1993) 1-33;
Hairer, Lubich, Wanner, Geometric Numerical Integration, sec. IV.8 (there in the global frame: Theta x w has the other sign).
"""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt, tan
from typing import Any, ClassVar, NamedTuple

from haugmbd.compiled.array_types import Array, Ints
from haugmbd.compiled.array_views import borrow_line
from haugmbd.compiled.jit import DirectCall, kernel, released
from haugmbd.compiled.status_codes import OK
from haugmbd.deprecated import public_class
from haugmbd.integrators.explicit.rk4 import RK4
from haugmbd.integrators.explicit.runge_kutta import Explicit
from haugmbd.integrators.explicit.tableau import Tableau, combine, tableau
from haugmbd.integrators.step_context import Dynamics, Options, Point, Problem, Steps, end_step, ends_batch, start_of
from haugmbd.integrators.watches.rank_watch import watch_stage
from haugmbd.math.euler_kernels import rotate_by
from haugmbd.math.vec3 import Vec, add, cross, scale
from haugmbd.model.generalized_forces import copy_line

SERIES = 0.1
"""[rad] Below this angle c is taken from its series, because the quotient would lose digits."""


@kernel
def turn(y: Array, at: int, x1: float, x2: float, x3: float) -> None:
    """Set p <- p exp(x) for the Euler parameters that begin at `at`."""
    x: Any = (x1, x2, x3)
    rotate_by(borrow_line(y, at, 4), x)


@kernel
def dexpinv(theta: Vec, w: Vec) -> Vec:
    """Return the rate of Theta when the body rotates with w."""
    square = theta[0] ** 2 + theta[1] ** 2 + theta[2] ** 2
    angle = sqrt(square)
    if angle < SERIES:
        c = 1.0 / 12.0 + square * (1.0 / 720.0 + square * (1.0 / 30240.0 + square / 1209600.0))
    else:
        c = (1.0 - 0.5 * angle / tan(0.5 * angle)) / square
    first = cross(theta, w)
    return add(w, add(scale(0.5, first), scale(c, cross(theta, first))))


@kernel
def put_rotations(weights: Array, h: float, y: Array, k: Array, spins: Ints, products: bool, stage: Array) -> None:
    """Write p_i of every body from its p, for a stage whose p_i is p + Theta_i so far; K_j takes the place of the rate of p."""
    for body in range(spins.shape[0]):
        p = spins[body, 0]
        x1, x2, x3 = stage[p] - y[p], stage[p + 1] - y[p + 1], stage[p + 2] - y[p + 2]
        for a in range(4):
            stage[p + a] = y[p + a]
        if not products:
            turn(stage, p, x1, x2, x3)
            continue
        for j in range(weights.size):
            if weights[j] != 0.0:
                ha = h * weights[j]
                turn(stage, p, ha * k[j, p], ha * k[j, p + 1], ha * k[j, p + 2])


@kernel
def put_turns(weights: Array, i: int, h: float, k: Array, spins: Ints, products: bool, stage: Array) -> None:
    """Write K_i in place of the rate of p: omega_bar of the stage, for Munthe-Kaas as a rate of Theta."""
    for body in range(spins.shape[0]):
        p, w = spins[body, 0], spins[body, 1]
        rate = (stage[w], stage[w + 1], stage[w + 2])
        if not products and i > 0:
            x1 = x2 = x3 = 0.0
            for j in range(i):
                ha = h * weights[j]
                x1 += ha * k[j, p]
                x2 += ha * k[j, p + 1]
                x3 += ha * k[j, p + 2]
            rate = dexpinv((x1, x2, x3), rate)
        k[i, p], k[i, p + 1], k[i, p + 2], k[i, p + 3] = rate[0], rate[1], rate[2], 0.0


class Group(NamedTuple):
    """How stages of rotations are composed.

    products: of exponentials (Crouch-Grossman), else a sum in the exponent (Munthe-Kaas)
    spins: (., 2) places of p and omega_bar of each body in y
    """

    products: bool
    spins: Ints


@released
def run_entry(
    dynamics: Dynamics, options: Options, tableau: Tableau, group: Group, t0: float, h: float, point: Point, k: Array, steps: Steps
) -> tuple[int, int]:
    """Advance the point from t0 by steps of h to the times in `steps`, or until a watch ends them; k: (s, ny) the stages.

    Return the code and the number of steps done.
    """
    (c, a, b), (products, spins), watch = tableau, group, dynamics.watch
    for step in range(steps.y.shape[0]):
        t, end, stage = start_of(step, t0, steps), steps.t[step], steps.y[step]
        copy_line(point.y_dot, k[0])
        put_turns(a[0], 0, h, k, spins, products, point.y)
        for i in range(1, c.size):
            combine(a[i], h, point.y, k[0], k[1:], stage)
            put_rotations(a[i], h, point.y, k, spins, products, stage)
            code = dynamics.rates(dynamics.pack, options, t + c[i] * h, stage, k[i])
            if code != OK:
                return code, step
            watch_stage(dynamics.pack, watch, c[i], t + c[i] * h, stage)
            put_turns(a[i], i, h, k, spins, products, stage)
        combine(b, h, point.y, k[0], k[1:], stage)
        put_rotations(b, h, point.y, k, spins, products, stage)
        code = end_step(dynamics, options, end, stage, point, steps.y_dot[step])
        if code != OK:
            return code, step
        if ends_batch(dynamics, end, h, point):
            return OK, step + 1
    return OK, steps.y.shape[0]


run = DirectCall(run_entry)


@dataclass(frozen=True)
class LieRungeKutta(Explicit):
    """A method on R^3 x SO(3): a subclass defines its `tableau`, its `order`, and whether it multiplies exponentials."""

    tableau: ClassVar[Tableau]
    products: ClassVar[bool] = False

    def steps(self, problem: Problem, t: float, h: float, k1: Array, steps: Steps) -> tuple[int, int]:
        k, group = problem.stages(self.tableau.b.size), Group(self.products, problem.state_space.places().spins)
        found: tuple[int, int] = run(problem.dynamics, problem.options, self.tableau, group, t, h, Point(problem.y, k1), k, steps)
        return found


@public_class
@dataclass(frozen=True)
class RKMK4(LieRungeKutta):
    """Runge-Kutta-Munthe-Kaas: four stages, order four, fixed step, rotations on SO(3).

    Parameters
    ----------
    h : float, optional
        Fixed step [s]; may be given to `simulate` instead.  The last step is shortened to end at t_end.
    h_first : float, optional
        First step [s], if it differs from `h`.

    Notes
    -----
    Source: Munthe-Kaas 1998, BIT 38, 92-111.
    """

    reference = "Munthe-Kaas 1998, BIT 38, 92-111"
    order = 4
    tableau = RK4.tableau


@public_class
@dataclass(frozen=True)
class CrouchGrossman3(LieRungeKutta):
    """Crouch-Grossman: three stages, order three, fixed step, rotations on SO(3).

    Parameters
    ----------
    h : float, optional
        Fixed step [s]; may be given to `simulate` instead.  The last step is shortened to end at t_end.
    h_first : float, optional
        First step [s], if it differs from `h`.

    Notes
    -----
    Source: Crouch and Grossman 1993, J. Nonlinear Sci. 3, 1-33.
    """

    reference = "Crouch and Grossman 1993, J. Nonlinear Sci. 3, 1-33"
    order = 3
    products = True
    tableau = tableau(
        (0.0,),
        (3 / 4, 3 / 4),
        (17 / 24, 119 / 216, 17 / 108),
        (13 / 51, -2 / 3, 24 / 17),
    )
