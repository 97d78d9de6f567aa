r"""Half-explicit Runge-Kutta of order four: explicit in positions and velocities, implicit in the multipliers only (index 2).

    q_(i+1) = q + h sum_(j<=i) a_(i+1)j q'_j                  r' = v,  p' = G^T omega_bar / 2
    u_(i+1) = u + h sum_(j<=i) a_(i+1)j u'_j                  M u'_i + Phi_q(q_i)^T lam_i = Q(q_i, u_i)
    lam_i such that  Phi_q(q_(i+1)) u_(i+1) = nu              the last row contains the weights b of the end of the step

Velocities fulfil their constraints at every stage and at the end of the step.  Phi drifts with the error of the method unless `post_step`
projects it.  lam_i is solved with the factor of q_i, by the linearly convergent iteration (rate h |u|)
(u'_i, lam_i) <- (u'_i, lam_i) + K_i^-1 (0, (nu - Phi_q u_(i+1)) / (h a)).
Source: Brasey, Hairer, SIAM J. Numer. Anal. 30 (1993) 538-552 (HEM4); Hairer, Wanner, Solving ODE II, sec. VII.6.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt

from haugmbd.compiled.array_types import Array
from haugmbd.compiled.array_views import borrow
from haugmbd.compiled.jit import DirectCall, inlined, kernel, released
from haugmbd.compiled.status_codes import NO_CONVERGENCE, OK, report
from haugmbd.constraints.base import row_speed
from haugmbd.deprecated import public_class
from haugmbd.formulations.newton_euler import accelerate, put_rates, solve_once
from haugmbd.integrators.explicit.runge_kutta import OneStep
from haugmbd.integrators.explicit.tableau import Tableau, combine, tableau
from haugmbd.integrators.state_space import model_of
from haugmbd.integrators.step_context import Dynamics, Options, Point, Problem, Steps, check_finite, end_step, ends_batch, start_of
from haugmbd.integrators.watches.rank_watch import watch_stage
from haugmbd.math.body_columns import VELOCITY
from haugmbd.math.larger import larger
from haugmbd.model.evaluate import prepare
from haugmbd.model.generalized_forces import clear, copy_line
from haugmbd.workspace import accessors as ws
from haugmbd.workspace.layout import WIDTH, Pack

S6 = sqrt(6.0)
HEM4_METHOD = tableau(
    (0.0,),
    (0.3, 0.3),
    ((4 - S6) / 10, (1 + S6) / 30, (11 - 4 * S6) / 30),
    ((4 + S6) / 10, (-79 - 31 * S6) / 150, (-1 - 4 * S6) / 30, (24 + 11 * S6) / 25),
    (1.0, (14 + 5 * S6) / 6, (-8 + 7 * S6) / 6, (-9 - 7 * S6) / 4, (9 - S6) / 4),
    (0.0, 0.0, (16 - S6) / 36, (16 + S6) / 36, 1 / 9),
)

TOL, ITERATIONS, STALLED, ROUNDING = 1e-14, 40, 0.5, 1e-9
"""Relative to 1 + |u|: a correction below TOL ends the iteration.  A correction below ROUNDING that is more than STALLED of the last one is
rounding."""


@kernel
def put_velocity_gap(P: Pack, bodies: Array, scale: float) -> None:
    """Write b = (0, (nu - Phi_q u) / scale)."""
    b, level = ws.right_hand_side(P), ws.row_values(P)
    J, edges = ws.jacobian(P), ws.edges(P)
    clear(b)
    n, per_scale = bodies.shape[0], 1.0 / scale
    for e in range(edges.shape[0]):
        for a in range(6):
            b[n + e, a] = (level[6 * e + a, 1] - row_speed(edges, J, bodies, e, a)) * per_scale


@kernel
def take_stage(P: Pack, bodies: Array, rates: Array, scale: float) -> float:
    """Set u'_i <- u'_i + x,  u_(i+1) <- u_(i+1) + scale x; return the largest change, relative to 1 + |u|, lengths by the model's."""
    x, length = ws.solution(P), ws.length(P)
    largest = 0.0
    for k in range(1, bodies.shape[0]):
        for a in range(6):
            rates[k, VELOCITY + a] += x[k, a]
            bodies[k, VELOCITY + a] += scale * x[k, a]
            change = abs(scale * x[k, a]) / ((length if a < 3 else 1.0) + abs(bodies[k, VELOCITY + a]))
            largest = larger(largest, change)
    return largest


@inlined
def reach(P: Pack, options: Options, t: float, scale: float, stage: Array, rates: Array) -> int:
    """Solve for u'_i (in `rates`) so that the stage fulfils Phi_q u = nu; rows are evaluated there, with the factor of the stage before."""
    n = ws.n_bodies(P)
    bodies, own = borrow(stage, 0, n, WIDTH), borrow(rates, 0, n, WIDTH)
    code = prepare(P, t, stage)
    options.n_rates += 1
    error, before = 0.0, 1e300
    for _ in range(ITERATIONS):
        if code != OK:
            return code
        put_velocity_gap(P, bodies, scale)
        code = solve_once(P)
        error = take_stage(P, bodies, own, scale)
        if error <= TOL or (error <= ROUNDING and error > STALLED * before):
            return code
        before = error
    return report(ws.status(P), NO_CONVERGENCE, 0, error)


@released
def run_entry(
    dynamics: Dynamics, options: Options, tableau: Tableau, t0: float, h: float, point: Point, k: Array, steps: Steps
) -> tuple[int, int]:
    """Advance the point from t0 by steps of h to the times in `steps`, or until a watch ends them; k: (s, ny) the stages.

    Return the code and the number of steps done.
    """
    (c, a, b), P, watch = tableau, dynamics.pack, dynamics.watch
    stages = c.size
    for step in range(steps.y.shape[0]):
        t, end, stage = start_of(step, t0, steps), steps.t[step], steps.y[step]
        copy_line(point.y, stage)
        for i in range(stages):
            code = accelerate(P, t + c[i] * h, stage)
            options.n_rates += 1
            options.n_factorizations += 1
            if code != OK:
                return code, step
            watch_stage(P, watch, c[i], t + c[i] * h, stage)
            put_rates(P, t + c[i] * h, stage, k[i])
            last = i + 1 == stages
            weights = b if last else a[i + 1]
            combine(weights, h, point.y, k[0], k[1:], stage)
            code = check_finite(P, stage)
            if code == OK:
                code = reach(P, options, end if last else t + c[i + 1] * h, h * weights[i], stage, k[i])
            if code != OK:
                return code, step
        code = end_step(dynamics, options, end, stage, point, steps.y_dot[step])
        if code != OK:
            return code, step
        if ends_batch(dynamics, end, h, point):
            return OK, step + 1
    return OK, steps.y.shape[0]


run = DirectCall(run_entry)


@public_class
@dataclass(frozen=True)
class HEM4(OneStep):
    """The half-explicit method of Brasey and Hairer: five stages, order four, fixed step.

    Parameters
    ----------
    h : float, optional
        Fixed step [s]; may be given to `simulate` instead.  The last step is shortened to end at t_end.
    h_first : float, optional
        First step [s], if it differs from `h`.

    Notes
    -----
    Velocities fulfil their constraints.  With stabilization=None positions drift with the error of the method.
    Sources: Brasey and Hairer 1993; Hairer and Wanner, Solving ODE II, sec. VII.6.
    """

    reference = "Brasey and Hairer 1993; Hairer and Wanner, Solving ODE II, sec. VII.6"
    order = 4
    keeps_factor = True
    takes_friction = False

    def steps(self, problem: Problem, t: float, h: float, k1: Array, steps: Steps) -> tuple[int, int]:
        model_of(problem.state_space, type(self).__name__)
        k, point = problem.stages(HEM4_METHOD.b.size), Point(problem.y, k1)
        found: tuple[int, int] = run(problem.dynamics, problem.options, HEM4_METHOD, t, h, point, k, steps)
        return found
