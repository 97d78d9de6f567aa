r"""RATTLE for rigid bodies: a symplectic method of order two that keeps positions and velocities on the constraints.

    kick     M (u_1/2 - u_n) + h/2 (Phi_q(q_n)^T lam - F(q_n)) = 0              F: forces and torques without the gyroscopic one
    drift    r_(n+1) = r_n + h v_1/2,   p_(n+1) = p_n o (1, f) / |.|            the free motion of each body, in discrete form:
             h J_bar omega_1/2 = 2 (J_bar f + f x J_bar f) / (1 + f.f)          solved for f, starting at h omega_1/2 / 2
             h J_bar omega_+   = 2 (J_bar f - f x J_bar f) / (1 + f.f)          so that  A_(n+1) J_bar omega_+ = A_n J_bar omega_1/2
             a rotation theta about a principal axis fulfils sin(theta) = h |omega|:  a step with h |omega| > 1 has no solution
    lam      such that  Phi(q_(n+1)) = 0
    kick     M (u_(n+1) - u_+) + h/2 (Phi_q^T mu - F)(q_(n+1)) = 0,   mu such that  Phi_q u_(n+1) = nu

The drift is the discrete motion of Moser and Veselov in Cayley form.  Kicks and drift are symplectic and symmetric, so that the energy
error stays bounded for conservative forces.  Forces that depend on velocities are averaged over both ends, which keeps order two.
A step needs one factorization, at q_(n+1).  It gives mu, and lam of the next step by iterating  u_1/2 <- u_1/2 - K_n^-1 (0, Phi / h).
Source: Andersen 1983; Moser, Veselov 1991; McLachlan, Scovel 1995;
Hairer, Lubich, Wanner, Geometric Numerical Integration, sec. VII.1 and VII.5.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import isfinite, sqrt
from typing import NamedTuple

import numpy as np

from haugmbd.compiled.array_types import Array
from haugmbd.compiled.array_views import borrow, borrow_line
from haugmbd.compiled.jit import DirectCall, inlined, kernel, released
from haugmbd.compiled.status_codes import NO_CONVERGENCE, NOT_FINITE, OK, TURNS_TOO_FAR, report
from haugmbd.deprecated import public_class
from haugmbd.errors import UsageError
from haugmbd.formulations.newton_euler import factorize, put_rates, put_right_hand_side, solve_once, solve_system
from haugmbd.integrators.explicit.runge_kutta import OneStep
from haugmbd.integrators.state_space import model_of
from haugmbd.integrators.step_batch import StepBatch
from haugmbd.integrators.step_context import (
    Dynamics,
    Options,
    Point,
    Problem,
    Steps,
    check_finite,
    ends_batch,
    fastest_velocity,
    steps_to,
)
from haugmbd.math.body_columns import EULER, OMEGA_BAR, VELOCITY
from haugmbd.math.euler_kernels import cayley_by
from haugmbd.math.vec3 import Vec, cross, dot
from haugmbd.model.evaluate import prepare
from haugmbd.model.generalized_forces import clear, copy_line
from haugmbd.model.inspection.length import SLOW
from haugmbd.workspace import accessors as ws
from haugmbd.workspace.internal_states import give_states, put_state_trapezoids
from haugmbd.workspace.layout import WIDTH, Pack

TOL, ITERATIONS, STALLED, ROUNDING = 1e-13, 60, 0.5, 1e-9
"""A correction of the displacement, in lengths of the model and rad, below TOL ends the iteration.  A correction below ROUNDING that is
more than STALLED of the last one is rounding."""
TURNS, TURNED = 50, 1e-15
"""Maximum number of iterations for f, and the relative correction at which they end; eight suffice where a solution exists."""
STILL_TURNED = 1e-12
"""A relative correction that is rounding, where the solution is nearly a double one."""
KICKS, KICKED = 40, 1e-10
"""Maximum number of iterations for forces at u_(n+1), and the change of u at which they end, relative to 1 + |u| with SLOW of the largest
u."""

THIN = 1e-12
"""Relative to the largest moment of inertia: a smaller one counts as zero."""


class HalfStep(NamedTuple):
    """The velocities and the rotations of one step.

    u: (n, 6) velocities between the kicks, u_1/2 and then u_+;  f: (n, 3) of the drift
    """

    u: Array
    f: Array


class Kicks(NamedTuple):
    """The solutions of the last kick of each step: lam = mu (n, 6 ne) by slots, and u' (n, 6 (nb + 1)) with M u' + Phi_q^T mu = Q."""

    lam: Array
    u_dot: Array


@kernel
def momentum(inertia: Array, k: int, w: Vec) -> Vec:
    """Return J_bar w of body k."""
    return (
        inertia[k, 1] * w[0] + inertia[k, 2] * w[1] + inertia[k, 3] * w[2],
        inertia[k, 4] * w[0] + inertia[k, 5] * w[1] + inertia[k, 6] * w[2],
        inertia[k, 7] * w[0] + inertia[k, 8] * w[1] + inertia[k, 9] * w[2],
    )


@kernel
def solve3(a: Vec, b: Vec, c: Vec, y: Vec) -> Vec:
    """Return x with  a x_0 + b x_1 + c x_2 = y  (columns), by Cramer's rule."""
    bc, ya = cross(b, c), cross(y, a)
    d = a[0] * bc[0] + a[1] * bc[1] + a[2] * bc[2]
    x0 = (y[0] * bc[0] + y[1] * bc[1] + y[2] * bc[2]) / d
    x1 = -(ya[0] * c[0] + ya[1] * c[1] + ya[2] * c[2]) / d
    x2 = (ya[0] * b[0] + ya[1] * b[1] + ya[2] * b[2]) / d
    return x0, x1, x2


@kernel
def find_turn(inertia: Array, k: int, c: Vec, f: Vec) -> tuple[Vec, bool]:
    """Solve  2 (J f + f x J f) = (1 + f.f) c  for f by Newton's method; return whether there is a solution that grows from f = 0 with c."""
    before = 1e300
    for _ in range(TURNS):
        h = momentum(inertia, k, f)
        g = cross(f, h)
        square = 1.0 + f[0] * f[0] + f[1] * f[1] + f[2] * f[2]
        gap = (
            square * c[0] - 2.0 * (h[0] + g[0]),
            square * c[1] - 2.0 * (h[1] + g[1]),
            square * c[2] - 2.0 * (h[2] + g[2]),
        )
        d0 = column(inertia, k, f, h, c, (1.0, 0.0, 0.0))
        d1 = column(inertia, k, f, h, c, (0.0, 1.0, 0.0))
        d2 = column(inertia, k, f, h, c, (0.0, 0.0, 1.0))
        x = solve3(d0, d1, d2, gap)
        f = (f[0] + x[0], f[1] + x[1], f[2] + x[2])
        change = abs(x[0]) + abs(x[1]) + abs(x[2])
        if change <= TURNED * square or (change <= STILL_TURNED * square and not change < before):
            return f, dot(d0, cross(d1, d2)) > 0.0  # zero where the solutions end, negative on the other branch of them
        before = change
    return f, False


@kernel
def column(inertia: Array, k: int, f: Vec, h: Vec, c: Vec, e: Vec) -> Vec:
    """Return the derivative of 2 (J f + f x J f) - (1 + f.f) c with respect to f along e, with h = J f."""
    Je, f_e = momentum(inertia, k, e), dot(f, e)
    eh, fJ = cross(e, h), cross(f, Je)
    return (
        2.0 * (Je[0] + eh[0] + fJ[0] - f_e * c[0]),
        2.0 * (Je[1] + eh[1] + fJ[1] - f_e * c[1]),
        2.0 * (Je[2] + eh[2] + fJ[2] - f_e * c[2]),
    )


@kernel
def put_forces(P: Pack, bodies: Array) -> None:
    """Write b = (F, gamma), with F without the gyroscopic torque of the velocities in `bodies`."""
    b, inertia = ws.right_hand_side(P), ws.inertia(P)
    put_right_hand_side(P)
    for k in range(1, bodies.shape[0]):
        w = (bodies[k, 10], bodies[k, 11], bodies[k, 12])
        spin = cross(w, momentum(inertia, k, w))
        for a in range(3):
            b[k, 3 + a] += spin[a]


@inlined
def put_last_kick(P: Pack, h: float, bodies: Array, half: HalfStep) -> None:
    """Write b = (M u_+ + h/2 F, nu) with F in b, and u_+ in `half`."""
    b, inertia = ws.right_hand_side(P), ws.inertia(P)
    level = ws.row_values(P)
    n = bodies.shape[0]
    for k in range(1, n):
        spin = momentum(inertia, k, (half.u[k, 3], half.u[k, 4], half.u[k, 5]))
        for a in range(3):
            b[k, a] = inertia[k, 0] * half.u[k, a] + 0.5 * h * b[k, a]
            b[k, 3 + a] = spin[a] + 0.5 * h * b[k, 3 + a]
    for e in range(b.shape[0] - n):
        for a in range(6):
            b[n + e, a] = level[6 * e + a, 1]


@inlined
def drift(P: Pack, h: float, y: Array, half: HalfStep, new: Array) -> int:
    """Write the pose after the drift with u_1/2; return TURNS_TOO_FAR if a body has none."""
    inertia = ws.inertia(P)
    n = inertia.shape[0]
    old, bodies = borrow(y, 0, n, WIDTH), borrow(new, 0, n, WIDTH)
    for k in range(1, n):
        w = (half.u[k, 3], half.u[k, 4], half.u[k, 5])
        c = momentum(inertia, k, w)
        f, found = find_turn(inertia, k, (h * c[0], h * c[1], h * c[2]), (0.5 * h * w[0], 0.5 * h * w[1], 0.5 * h * w[2]))
        if not found:
            status, angle = ws.status(P), h * sqrt(dot(w, w))
            status[3] = h
            return report(
                status, TURNS_TOO_FAR if isfinite(angle) else NOT_FINITE, k if isfinite(angle) else WIDTH * k + OMEGA_BAR, angle
            )
        for a in range(3):
            half.f[k, a] = f[a]
            bodies[k, a] = old[k, a] + h * half.u[k, a]
            bodies[k, VELOCITY + a] = half.u[k, a]
            bodies[k, OMEGA_BAR + a] = w[a]
        for a in range(4):
            bodies[k, 3 + a] = old[k, 3 + a]
        cayley_by(bodies[k, EULER:VELOCITY], 2.0 * f[0], 2.0 * f[1], 2.0 * f[2])
    return OK


@inlined
def end_drift(P: Pack, h: float, half: HalfStep, new: Array) -> None:
    """Replace omega_1/2 by omega_+."""
    inertia = ws.inertia(P)
    bodies = borrow(new, 0, inertia.shape[0], WIDTH)
    for k in range(1, bodies.shape[0]):
        f = (half.f[k, 0], half.f[k, 1], half.f[k, 2])
        Jf = momentum(inertia, k, f)
        g = cross(f, Jf)
        s = 2.0 / (h * (1.0 + f[0] * f[0] + f[1] * f[1] + f[2] * f[2]))
        columns = (
            momentum(inertia, k, (1.0, 0.0, 0.0)),
            momentum(inertia, k, (0.0, 1.0, 0.0)),
            momentum(inertia, k, (0.0, 0.0, 1.0)),
        )
        w = solve3(columns[0], columns[1], columns[2], (s * (Jf[0] - g[0]), s * (Jf[1] - g[1]), s * (Jf[2] - g[2])))
        for a in range(3):
            half.u[k, 3 + a] = w[a]
            bodies[k, OMEGA_BAR + a] = w[a]


@inlined
def move(P: Pack, options: Options, t: float, h: float, y: Array, half: HalfStep, new: Array) -> int:
    """Solve for the lam that leads from u_1/2 in `half` to Phi = 0; write the pose to `new`, with rows and forces there.

    The factor remains that of q_n.
    """
    n = ws.n_bodies(P)
    b, level, x = ws.right_hand_side(P), ws.row_values(P), ws.solution(P)
    before, error, length = 1e300, 0.0, ws.length(P)
    for _ in range(ITERATIONS):
        code = drift(P, h, y, half, new)
        if code == OK:
            code = prepare(P, t, new)
        options.n_rates += 1
        if code != OK:
            return code
        clear(b)
        for e in range(b.shape[0] - n):
            for a in range(6):
                b[n + e, a] = -level[6 * e + a, 0] / h
        code = solve_once(P)
        options.n_projections += 1
        error = 0.0
        for k in range(1, n):
            for a in range(6):
                change = h * abs(x[k, a]) / (length if a < 3 else 1.0)
                if not change <= error:
                    error = change
        if error <= TOL or (error <= ROUNDING and error > STALLED * before):
            return code
        for k in range(1, n):
            for a in range(6):
                half.u[k, a] += x[k, a]
        before = error
    return report(ws.status(P), NO_CONVERGENCE, 0, error)


@kernel
def gyroscopic_rate(inertia: Array, k: int, w: Vec) -> Vec:
    """Return J_bar^-1 (omega_bar x J_bar omega_bar) of body k: its rates under F are larger by this than those under Q."""
    columns = (momentum(inertia, k, (1.0, 0.0, 0.0)), momentum(inertia, k, (0.0, 1.0, 0.0)), momentum(inertia, k, (0.0, 0.0, 1.0)))
    return solve3(columns[0], columns[1], columns[2], cross(w, momentum(inertia, k, w)))


@inlined
def first_kick(P: Pack, h: float, y: Array, y_dot: Array, half: HalfStep) -> None:
    """Write u_1/2 with the lam of the accelerations, the first iterate:  F - Phi_q^T lam = M u' + omega x J omega."""
    inertia = ws.inertia(P)
    bodies, rates = borrow(y, 0, inertia.shape[0], WIDTH), borrow(y_dot, 0, inertia.shape[0], WIDTH)
    for k in range(1, bodies.shape[0]):
        spin = gyroscopic_rate(inertia, k, (bodies[k, 10], bodies[k, 11], bodies[k, 12]))
        for a in range(3):
            half.u[k, a] = bodies[k, VELOCITY + a] + 0.5 * h * rates[k, VELOCITY + a]
            half.u[k, 3 + a] = bodies[k, OMEGA_BAR + a] + 0.5 * h * (rates[k, OMEGA_BAR + a] + spin[a])


@inlined
def last_kick(P: Pack, options: Options, t: float, h: float, half: HalfStep, new: Array) -> int:
    """Write u_(n+1) for the forces in b, then for forces at u_(n+1) if they may depend on it; rows and factor are those of q_(n+1).

    Changes grow where a damper is stiff for this step: h c / (2 m) > 1.
    """
    n = ws.n_bodies(P)
    bodies, x = borrow(new, 0, n, WIDTH), ws.solution(P)
    code, before, change = OK, 1e300, 0.0
    for turn in range(KICKS):
        if turn > 0:
            put_forces(P, bodies)
        put_last_kick(P, h, bodies, half)
        if turn == 0:
            code = P.factorize(P, P.python_solver)
            options.n_factorizations += 1
        if code == OK:
            code = solve_once(P)
        before, change = change if turn > 1 else 1e300, 0.0
        at_least = 1.0 + SLOW * fastest_velocity(bodies, ws.length(P))
        for k in range(1, n):
            for a in range(6):
                moved = abs(x[k, a] - bodies[k, VELOCITY + a]) / ((ws.length(P) if a < 3 else 1.0) * at_least + abs(x[k, a]))
                if not moved <= change:
                    change = moved
                bodies[k, VELOCITY + a] = x[k, a]
        if code == OK and change > before and change > ROUNDING:
            return report(ws.status(P), NO_CONVERGENCE, 0, h * change)
        if code == OK:
            code = prepare(P, t, new)
            options.n_rates += 1
        if code != OK or ws.n_forces(P) == 0 or (turn > 0 and change <= KICKED):
            return code
    return report(ws.status(P), NO_CONVERGENCE, 0, h * change)


@inlined
def keep_kick(P: Pack, h: float, half: HalfStep, new: Array, lam: Array, u_dot: Array) -> None:
    """Write mu of the last kick, and its change of velocity over h / 2, less the gyroscopic part, which Q has and F has not."""
    n, x, inertia = ws.n_bodies(P), ws.solution(P), ws.inertia(P)
    bodies = borrow(new, 0, n, WIDTH)
    for s in range(lam.size):
        lam[s] = 2.0 / h * x[n + s // 6, s % 6]
    for k in range(1, n):
        for a in range(6):
            u_dot[6 * k + a] = 2.0 / h * (bodies[k, VELOCITY + a] - half.u[k, a])
        spin = gyroscopic_rate(inertia, k, (bodies[k, 10], bodies[k, 11], bodies[k, 12]))
        for a in range(3):
            u_dot[6 * k + 3 + a] -= spin[a]


@released
def run_entry(
    dynamics: Dynamics, options: Options, t0: float, h: float, point: Point, half: HalfStep, steps: Steps, kicks: Kicks
) -> tuple[int, int]:
    """Advance the point from t0 by steps of h to the times in `steps`, or until a watch ends them.

    Return the code and the number of steps done.
    """
    (y, y_dot), P = point, dynamics.pack
    code = prepare(P, t0, y)
    put_right_hand_side(P)
    if code == OK:
        code = factorize(P)
    bodies_end = WIDTH * ws.n_bodies(P)
    for step in range(steps.y.shape[0]):
        t, new = steps.t[step], steps.y[step]
        copy_line(y, new)
        put_state_trapezoids(P, h, y, borrow_line(y_dot, bodies_end, y.size - bodies_end))
        if code == OK:
            first_kick(P, h, y, y_dot, half)
            code = move(P, options, t, h, y, half, new)
        if code == OK:
            put_forces(P, borrow(new, 0, ws.n_bodies(P), WIDTH))  # before omega_1/2, that they were evaluated with, is gone
            end_drift(P, h, half, new)
            code = check_finite(P, new)
        if code == OK:
            code = last_kick(P, options, t, h, half, new)
        if code != OK:
            give_states(P)
            return code, step
        keep_kick(P, h, half, new, kicks.lam[step], kicks.u_dot[step])
        put_right_hand_side(P)
        code = solve_system(P)
        if code != OK:
            give_states(P)
            return code, step
        copy_line(y_dot, steps.y_dot[step])  # for the ground, which has no rates
        put_rates(P, t, new, steps.y_dot[step])
        for a in range(bodies_end, y.size):
            new[a] = y[a] + 0.5 * h * (y_dot[a] + steps.y_dot[step, a])
        copy_line(new, y)
        copy_line(steps.y_dot[step], y_dot)
        if ends_batch(dynamics, t, h, point):  # by the factor of this step
            give_states(P)
            return OK, step + 1
    give_states(P)
    return OK, steps.y.shape[0]


run = DirectCall(run_entry)


@public_class
@dataclass(frozen=True)
class RATTLE(OneStep):
    """RATTLE for rigid bodies: order two, symplectic, fixed step; for long simulations without friction.

    Parameters
    ----------
    h : float, optional
        Fixed step [s]; may be given to `simulate` instead.  The last step is shortened to end at t_end.
    h_first : float, optional
        First step [s], if it differs from `h`.

    Notes
    -----
    Positions and velocities fulfil the constraints.  Every body needs inertia about all axes.  A run raises SimulationError if a body would
    rotate by about a radian or more in a step; the error recommends a step.
    Sources: Andersen 1983; Moser and Veselov 1991; Hairer, Lubich and Wanner, Geometric Numerical Integration, ch. VII.
    """

    reference = "Andersen 1983; Moser and Veselov 1991; Hairer, Lubich and Wanner, Geometric Numerical Integration, ch. VII"
    order = 2
    solves_constraints = True
    takes_friction = False
    lam_at_steps = True

    def steps(self, problem: Problem, t: float, h: float, k1: Array, steps: Steps) -> tuple[int, int]:
        return self._steps(problem, t, h, k1, steps)[0]

    def _advance(self, problem: Problem, k1: Array, t: float, h: float, ends: Array) -> StepBatch:
        """Make steps of `h` from `t` to the times `ends`; lam and u' are those of the last kick of each step."""
        steps, model = steps_to(ends, problem.y.size), model_of(problem.state_space, type(self).__name__)
        (code, done), kicks = self._steps(problem, t, h, k1, steps)
        lam, u_dot = kicks.lam[:done, model.slot_of_row], kicks.u_dot[:done]
        t_stop, y, y_dot = float(ends[min(done, len(ends) - 1)]), steps.y[:done], steps.y_dot[:done]
        return StepBatch(steps.t[:done], y, y_dot, code, t_stop, done, 0, lam, u_dot=u_dot)

    def _steps(self, problem: Problem, t: float, h: float, k1: Array, steps: Steps) -> tuple[tuple[int, int], Kicks]:
        """Make steps of `h` from `t` to the times in `steps`; return the code and the number of steps done, and the last kicks."""
        model = model_of(problem.state_space, type(self).__name__)
        moments = np.linalg.eigvalsh(model.J_bar[1:])
        thin = [name for name, J in zip(model.body_names[1:], moments, strict=True) if J[0] <= THIN * J[2]]
        if thin:
            who = f"{', '.join(map(repr, thin))} {'has' if len(thin) == 1 else 'have'}"
            raise UsageError(f"RATTLE needs inertia about every axis of a body, and {who} no inertia about some axis: use RK4.")
        if len(model.velocity_rows):
            joints = ", ".join(dict.fromkeys(repr(model.labels[row].joint) for row in model.velocity_rows))
            raise UsageError(
                f"RATTLE keeps positions on Phi = 0, and {joints} restrict velocities only: use RK4, HEM4 or RadauIIA."
            )
        half, point = HalfStep(np.zeros((model.nb + 1, 6)), np.zeros((model.nb + 1, 3))), Point(problem.y, k1)
        n = len(steps.t)
        kicks = Kicks(np.zeros((n, 6 * len(model.tables["EDGES"]))), np.zeros((n, 6 * (model.nb + 1))))
        found: tuple[int, int] = run(problem.dynamics, problem.options, t, h, point, half, steps, kicks)
        return found, kicks
