r"""Gauss collocation of the motion between two times, by Picard's iteration, stage after stage.

    Y_i = y_0 + h sum_j a_ij F_j        F_i = f(t_0 + c_i h, P(Y_i))        P: projection to Phi = 0, Phi_q u = nu

The first guess extrapolates the accelerations of the stages before, one stage after the other.  Each iteration computes the velocities of
all stages before the positions, since q' = f_q(q, u) takes no evaluation of the model: it then gains two orders of h, not one.
The first iterations approximate P by one Newton step, and f with the factor from before it: one factorization a stage.  Their error is of
the order of the step, so that they converge in the same way until the changes are small.  The last iterations project to rounding.
Source: Hairer, Norsett, Wanner, Solving ODE I, sec. II.7 (collocation), II.14 (Nystrom's methods), III.1 (extrapolation).
"""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.polynomial import legendre

from haugmbd.compiled.array_types import Array
from haugmbd.compiled.array_views import borrow
from haugmbd.compiled.jit import DirectCall, entry, kernel
from haugmbd.compiled.status_codes import NO_CONVERGENCE, OK
from haugmbd.formulations.newton_euler import factorize, finish, rates_at_hand, solve_system
from haugmbd.integrators.stabilization.corrections import add_displacement, add_velocity
from haugmbd.integrators.stabilization.projection import put_position_residual, put_velocity_residual
from haugmbd.integrators.step_context import Dynamics, Options, Point, normalize_euler
from haugmbd.math.body_columns import EULER, OMEGA_BAR, VELOCITY
from haugmbd.math.euler_kernels import put_euler_rate, rotate_by
from haugmbd.model.evaluate import prepare
from haugmbd.model.generalized_forces import copy_line
from haugmbd.workspace import accessors as ws
from haugmbd.workspace.body_kinematics import update_kinematics
from haugmbd.workspace.layout import WIDTH, Pack

ITERATIONS = 60
"""Picard's iteration converges where the piece is short compared with the time constants; otherwise the piece is halved."""
TIGHT, ROUNDING, STALLED = 1e-15, 1e-7, 0.7
"""Relative to 1 + |y|.  TIGHT: the least change that ends the iteration.  A change below ROUNDING that is more than STALLED of the last one
is rounding of the accelerations, magnified by the smallest singular value.  The comparison of two curves shows its size."""
COARSE, EXPECTED = 1e-6, 0.01
"""Below a change of COARSE projections are exact.  EXPECTED: rate of convergence before it is known; the next change is the error left."""


EXTRAPOLATED = 5
"""Most stages before that predict the next one."""


class Nodes(NamedTuple):
    """Gauss' method: c (s,), A (s, s);  once, twice: (s, s + 1) weights of the prediction, see `extrapolation`."""

    c: Array
    A: Array
    once: Array
    twice: Array


class Stages(NamedTuple):
    """The stages of one collocation step.

    Y, F: (s, ny) states on the constraints, and rates of the stages;  known: whether Y is a guess already.
    stage: (ny,) the stage in work;  units: (ny,) changes are measured by units + |y|
    """

    Y: Array
    stage: Array
    F: Array
    units: Array
    known: bool


@kernel
def rates_beside(P: Pack, options: Options, t: float, y: Array, y_dot: Array) -> int:
    """Move y by one Newton step to the constraints, and write y_dot there, with the factor from before the step."""
    normalize_euler(P, options, y)
    bodies = update_kinematics(P, t, y).bodies
    code = prepare(P, t, y)
    if code != OK:
        return code
    put_position_residual(P, ws.row_weights(P))
    code = factorize(P)
    if code == OK:
        code = finish(P)
    if code != OK:
        return code
    add_displacement(P, bodies)
    put_velocity_residual(P, bodies, ws.row_weights(P))
    code = solve_system(P)
    add_velocity(P, bodies)
    if code == OK:
        code = prepare(P, t, y)
    return rates_at_hand(P, t, y, y_dot) if code == OK else code


@kernel
def predict_stage(P: Pack, nodes: Nodes, h: float, i: int, start: Point, stages: Stages) -> None:
    """Write the prediction of stage i, by the rates of the stages before."""
    y, turn = stages.Y[i], ws.solution(P)[0, 0:3]
    copy_line(stages.Y[i - 1] if i > 0 else start.y, y)
    n = ws.n_bodies(P)
    bodies = borrow(y, 0, n, WIDTH)
    tau = h * (nodes.c[i] - nodes.c[i - 1] if i > 0 else nodes.c[0])
    once, twice = nodes.once[i], nodes.twice[i]
    for k in range(1, n):
        for a in range(3):
            bodies[k, a] += tau * bodies[k, VELOCITY + a] + h * h * extrapolated(
                twice, i, WIDTH * k + VELOCITY + a, start, stages.F
            )
            turn[a] = tau * bodies[k, OMEGA_BAR + a] + h * h * extrapolated(twice, i, WIDTH * k + OMEGA_BAR + a, start, stages.F)
        rotate_by(bodies[k, EULER:VELOCITY], turn)
        for a in range(7, WIDTH):
            bodies[k, a] += h * extrapolated(once, i, WIDTH * k + a, start, stages.F)
    for a in range(WIDTH * n, y.size):
        y[a] += h * extrapolated(once, i, a, start, stages.F)


@kernel
def extrapolated(weights: Array, i: int, a: int, start: Point, F: Array) -> float:
    """Return the sum of the weights times rate a at the start and in the stages before i."""
    total: float = weights[0] * start.y_dot[a]
    for j in range(i):
        total += weights[1 + j] * F[j, a]
    return total


@kernel
def put_position_rates(P: Pack, nodes: Nodes, h: float, y0: Array, stages: Stages) -> None:
    """Replace q' in the rates of all stages by that of the velocities u_0 + h sum_j a_ij u'_j."""
    n = ws.n_bodies(P)
    bodies = borrow(stages.stage, 0, n, WIDTH)
    for i in range(stages.F.shape[0]):
        rates = borrow(stages.F[i], 0, n, WIDTH)
        copy_line(stages.Y[i], stages.stage)
        for k in range(1, n):
            for a in range(7, WIDTH):
                bodies[k, a] = iterated(nodes, h, i, WIDTH * k + a, y0, stages.F)
            for a in range(3):
                rates[k, a] = bodies[k, VELOCITY + a]
            put_euler_rate(bodies, rates, k)


@kernel
def iterated(nodes: Nodes, h: float, i: int, a: int, y0: Array, F: Array) -> float:
    """Return number a of y_0 + h sum_j a_ij F_j."""
    total: float = y0[a]
    for j in range(F.shape[0]):
        total += h * nodes.A[i, j] * F[j, a]
    return total


@entry
def collocate_entry(
    dynamics: Dynamics, options: Options, nodes: Nodes, t0: float, h: float, start: Point, stages: Stages, limit: float
) -> int:
    """Iterate the stages and their rates from the guess in Y, or from a prediction stage after stage; return the code.

    limit: error that ends the iteration
    """
    (Y, stage, F, units, known), c, y0 = stages, nodes.c, start.y
    P, before, exact = dynamics.pack, 0.0, False
    for iteration in range(ITERATIONS):
        change = 0.0
        if iteration > 0:
            put_position_rates(P, nodes, h, y0, stages)
        for i in range(c.size):
            if iteration == 0 and not known:
                predict_stage(P, nodes, h, i, start, stages)
            for a in range(y0.size):
                stage[a] = iterated(nodes, h, i, a, y0, F) if iteration > 0 else Y[i, a]
            if exact:
                code = dynamics.post_step(P, options, t0 + c[i] * h, stage, F[i])
            else:
                code = rates_beside(P, options, t0 + c[i] * h, stage, F[i])
            if code != OK:
                return code
            for a in range(y0.size):
                moved = abs(stage[a] - Y[i, a]) / (units[a] + abs(stage[a]))
                if not moved <= change:
                    change = moved
                Y[i, a] = stage[a]
        if iteration > 0:
            rate = change / before if iteration > 1 else EXPECTED
            if exact and (change * min(rate, 1.0) <= limit or (change <= ROUNDING and rate > STALLED)):
                return OK
            if not change < 1e3:
                break
            exact = exact or change <= COARSE or change * rate**2 <= limit
            before = change
    return NO_CONVERGENCE


collocate = DirectCall(collocate_entry)


@lru_cache(maxsize=8)
def gauss(s: int) -> tuple[Nodes, Array]:
    """Return Gauss' method of s stages, and the matrix (s + 1, s) of the Legendre coefficients of int_0^x l_j on [0, 1]."""
    x, _ = legendre.leggauss(s)
    coefficients = np.linalg.inv(legendre.legvander(x, s - 1))
    integrals: Array = legendre.legint(coefficients, lbnd=-1) / 2.0
    c, A = 0.5 * (x + 1.0), np.ascontiguousarray(legendre.legvander(x, s) @ integrals)
    return Nodes(c, A, *extrapolation(c)), integrals


def extrapolation(c: Array) -> tuple[Array, Array]:
    """Return the weights (s, s + 1) of the integral from each stage to the next of the polynomial through the stages before, and of twice.

    The first stage before is the start; at most EXTRAPOLATED stages are taken.
    """
    x = np.append(0.0, c)
    once, twice = np.zeros((len(c), len(x))), np.zeros((len(c), len(x)))
    for i, step in enumerate(np.diff(x)):
        first = max(0, i + 1 - EXTRAPOLATED)
        z, k = (x[first : i + 1] - x[i]) / step, np.arange(i + 1 - first)
        lagrange = np.linalg.inv(np.vander(z, increasing=True))  # coefficients of z^k in the columns
        once[i, first : i + 1] = step * (1.0 / (k + 1.0)) @ lagrange
        twice[i, first : i + 1] = step**2 * (1.0 / ((k + 1.0) * (k + 2.0))) @ lagrange
    return once, twice
