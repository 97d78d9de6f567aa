r"""Gauss collocation of the motion between two times, by Picard's iteration, stage after stage.

    Y_i = y_0 + h sum_j a_ij F_j        F_i = f(t_0 + c_i h, P(Y_i))        P: projection to Phi = 0, Phi_q u = nu

The first iterations approximate P by one Newton step, and f with the factor from before it: one factorization a stage.  Their error is of
the order of the step, so that they converge in the same way until the changes are small.  The last iterations project to rounding.
Source: Hairer, Norsett, Wanner, Solving ODE I, sec. II.7 (collocation).
"""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.polynomial import legendre

from haugmbd.compiled.array_types import Array
from haugmbd.compiled.jit import DirectCall, entry, kernel
from haugmbd.compiled.status_codes import NO_CONVERGENCE, OK
from haugmbd.formulations.newton_euler import factorize, finish, rates_at_hand, solve_system
from haugmbd.integrators.explicit.tableau import Tableau
from haugmbd.integrators.stabilization.projection import (
    add_displacement,
    add_velocity,
    put_position_residual,
    put_velocity_residual,
)
from haugmbd.integrators.step_context import Dynamics, Options, Point, normalize_euler
from haugmbd.math.euler_kernels import rotate_by
from haugmbd.model.body_kinematics import update_kinematics
from haugmbd.model.evaluate import prepare
from haugmbd.model.generalized_forces import copy_line
from haugmbd.workspace import accessors as ws
from haugmbd.workspace.layout import WIDTH, Pack

ITERATIONS = 60
"""Picard's iteration converges where the piece is short compared with the time constants; otherwise the piece is halved."""
TIGHT, ROUNDING, STALLED = 1e-15, 1e-7, 0.7
"""Relative to 1 + |y|.  TIGHT: the least change that ends the iteration.  A change below ROUNDING that is more than STALLED of the last one
is rounding of the accelerations, magnified by the smallest singular value.  The comparison of two curves shows its size."""
COARSE = 1e-6
"""Changes below this are those of exact projections."""


class Stages(NamedTuple):
    """Y: (s, ny) states, P: (s, ny) the same on the constraints, and F: (s, ny) rates of the stages;  known: whether Y is a guess already.

    units: (ny,) changes are measured by units + |y|
    """

    Y: Array
    P: Array
    F: Array
    units: Array
    known: bool


@kernel
def predict(P: Pack, t: float, tau: float, rates: Array, change: Array, y: Array) -> None:
    """Move y by tau, by a Taylor polynomial of third order;  change: (ny,) of the rates within tau."""
    m = update_kinematics(P, t, y)
    n, turn = WIDTH * m.bodies.shape[0], ws.solution(P)[0, 0:3]
    for k in range(WIDTH, n, WIDTH):
        body = m.bodies[k // WIDTH]
        for a in range(3):
            u_dot, w_dot = rates[k + 7 + a] + change[k + 7 + a] / 3.0, rates[k + 10 + a] + change[k + 10 + a] / 3.0
            body[a] += tau * (body[7 + a] + 0.5 * tau * u_dot)
            turn[a] = tau * (body[10 + a] + 0.5 * tau * w_dot)
        rotate_by(body[3:7], turn)
        for a in range(7, WIDTH):
            body[a] += tau * (rates[k + a] + 0.5 * change[k + a])
    for a in range(n, y.size):
        y[a] += tau * (rates[a] + 0.5 * change[a])


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
def predict_stage(P: Pack, c: Array, t0: float, h: float, i: int, start: Point, stages: Stages) -> None:
    """Write the prediction of stage i from the stage before, and the change of the rates since the stage before that."""
    Y, F, change = stages.Y, stages.F, stages.P[i]
    before = Y[i - 1] if i > 0 else start.y
    rates = F[i - 1] if i > 0 else start.y_dot
    earlier = F[i - 2] if i > 1 else start.y_dot
    tau = h * (c[i] - c[i - 1] if i > 0 else c[0])
    past = h * (c[i - 1] - c[i - 2] if i > 1 else c[0])
    for a in range(before.size):
        change[a] = tau / past * (rates[a] - earlier[a])
    copy_line(before, Y[i])
    predict(P, t0, tau, rates, change, Y[i])


@entry
def collocate_entry(
    dynamics: Dynamics, options: Options, method: Tableau, t0: float, h: float, start: Point, stages: Stages, limit: float
) -> int:
    """Iterate the stages and their rates from the guess in Y, or from a prediction stage after stage; return the code.

    limit: change that ends the iteration
    """
    (Y, on_constraints, F, units, known), (c, A, _), y0 = stages, method, start.y
    s, ny = Y.shape
    before, exact = 1e300, False
    for iteration in range(ITERATIONS):
        change = 0.0
        for i in range(s):
            stage = on_constraints[i]
            if iteration == 0 and not known:
                predict_stage(dynamics.pack, c, t0, h, i, start, stages)
            for a in range(ny):
                if iteration > 0:
                    z = y0[a]
                    for j in range(s):
                        z += h * A[i, j] * F[j, a]
                    moved = abs(z - Y[i, a]) / (units[a] + abs(z))
                    if not moved <= change:
                        change = moved
                    Y[i, a] = z
                stage[a] = Y[i, a]
            if exact:
                code = dynamics.post_step(dynamics.pack, options, t0 + c[i] * h, stage, F[i])
            else:
                code = rates_beside(dynamics.pack, options, t0 + c[i] * h, stage, F[i])
            if code != OK:
                return code
            if iteration == 0:
                copy_line(stage, Y[i])
        if iteration > 0:
            if exact and (change <= limit or (change <= ROUNDING and change > STALLED * before)):
                return OK
            if not change < 1e3:
                break
            exact = exact or change <= max(limit, COARSE) or (iteration > 1 and change**2 <= limit * before)
            before = change
    return NO_CONVERGENCE


collocate = DirectCall(collocate_entry)


@lru_cache(maxsize=8)
def gauss(s: int) -> tuple[Tableau, Array]:
    """Return Gauss' method of s stages, and the matrix (s + 1, s) of the Legendre coefficients of int_0^x l_j on [0, 1]."""
    x, weights = legendre.leggauss(s)
    coefficients = np.linalg.inv(legendre.legvander(x, s - 1))
    integrals: Array = legendre.legint(coefficients, lbnd=-1) / 2.0
    a = np.ascontiguousarray(legendre.legvander(x, s) @ integrals)
    return Tableau(0.5 * (x + 1.0), a, 0.5 * weights), integrals
