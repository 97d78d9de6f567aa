r"""Generalized-alpha on R^7: r and p are seven plain numbers per body, and |p| = 1 is an additional constraint with its multiplier.

    q_(n+1)  = q~  + c_q q''_(n+1)     c_q = h^2 beta kappa     q~  = q_n + h q'_n + h^2 ((1/2 - beta) a_n + beta a~)
    q'_(n+1) = q~' + c_u q''_(n+1)     c_u = h gamma kappa      q~' = q'_n + h ((1 - gamma) a_n + gamma a~)
    a_(n+1)  = a~  + kappa q''_(n+1)   kappa = (1 - alpha_f) / (1 - alpha_m)     a~ = (alpha_f q''_n - alpha_m a_n) / (1 - alpha_m)
    M_p q'' + Phi_p^T lam + P^T lam_p = b_p     Phi = 0     (p^T p - 1) / 2 = 0         Haug's r-p form, see `formulations.euler_parameters`

Only the constraint keeps p on the unit sphere, and p' is tangent to it within the error of the method only, as Phi_q u - nu is with
index 3.  The method keeps these radial parts from step to step; the method on the group (`generalized_alpha`) does not have them.  The two
differ by O(h^2).  The 7 + 1 numbers of a rotation reduce to three unknowns.  With |p| = 1, L = |p~| and s = c_q w' / L

    p  = p~ o (sqrt(1 - s.s / 4), s / 2) / L        w' = 2 G p'' = omega_bar'       is  p = p~ + c_q p''  without the radial part of p''
    w  = 2 G p' = 2 G(p) p~' + c_u w'               omega_bar;  G' p' = 0, so that w' is its rate

    J_bar w' + w x J_bar w + 2 (p^T p') J_bar w + PiBar^T lam = n_bar               G / 2 times the rows of p, where G P^T = 0
    lam_p = 2 w^T J_bar w                                                           p^T times them

The iteration of all implicit methods therefore solves it, with  u' = (v', w' + 2 (p^T p') w).
Source: Bruels, Cardona 2010; Bruels, Cardona, Arnold 2012 (both methods); Haug 2021, sec. 11.4 (r-p form).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from math import sqrt
from typing import ClassVar, NamedTuple

import numpy as np

from haugmbd.compiled.array_types import Array
from haugmbd.compiled.array_views import borrow
from haugmbd.compiled.function_pointers import Routine
from haugmbd.compiled.jit import inlined, kernel, routine
from haugmbd.compiled.status_codes import NO_CONVERGENCE, NOT_TANGENT, OK, report
from haugmbd.deprecated import public_class
from haugmbd.errors import UsageError
from haugmbd.integrators.implicit.base import NEWTON_TOL, ImplicitFixed, Rule
from haugmbd.integrators.implicit.constraint_form import ConstraintForm, Index3
from haugmbd.integrators.implicit.generalized_alpha import GROW, check_rho, of_rho, second_rate
from haugmbd.integrators.implicit.newton import PLACE_SIGNATURE, ModifiedNewton, stage_of, turn_by_trapezoids
from haugmbd.integrators.implicit.records import Control, Newton, Step
from haugmbd.integrators.implicit.step_control import CLOSE_SIGNATURE, PREDICT_SIGNATURE
from haugmbd.integrators.step_context import Problem
from haugmbd.math.body_columns import EULER, OMEGA_BAR, VELOCITY
from haugmbd.math.euler_kernels import cayley_by
from haugmbd.math.euler_parameters import p_dot_from
from haugmbd.workspace import accessors as ws
from haugmbd.workspace.layout import WIDTH, Pack, workspace_array

A_TILDE = 4
"""Column of a~ in the prediction, behind p~'."""


class R7Memory(NamedTuple):
    """Values kept from one step to the next, one row a body.

    p_dot: (n, 4);  a: (n, 7);  q_ddot, q_ddot_before: (n, 7), at this step and one before.
    """

    p_dot: Array
    a: Array
    q_ddot: Array
    q_ddot_before: Array


@inlined
def r7_memory(memory: Array) -> R7Memory:
    """Return the views of the method's memory (1, 25 n)."""
    n = memory.size // 25
    return R7Memory(
        borrow(memory, 0, n, 4), borrow(memory, 4 * n, n, 7), borrow(memory, 11 * n, n, 7), borrow(memory, 18 * n, n, 7)
    )


ASTRAY, NOTICED = 0.1, 1e-4
"""A run ends if p^T p' is more than this part of |p'| and changes p by more than NOTICED in a step.  Where a body reverses its rotation,
|p'| is as small as the error, and the second condition decides."""


@kernel
def scales(step: Step) -> tuple[float, float, float]:
    """Return kappa, c_q, c_u."""
    kappa = (1.0 - step.alpha_f) / (1.0 - step.alpha_m)
    return kappa, step.h * step.h * step.beta * kappa, step.h * step.gamma * kappa


@kernel
def tangency_error(m: R7Memory, p: Array, k: int, h: float) -> float:
    """Return p^T p' relative to |p'| if it is too large; otherwise 0."""
    radial = square = 0.0
    for a in range(4):
        radial += p[a] * m.p_dot[k, a]
        square += m.p_dot[k, a] ** 2
    radial = abs(radial)
    return radial / sqrt(square) if radial * h > NOTICED and radial > ASTRAY * sqrt(square) else 0.0


@routine
def predict(P: Pack, step: Step, newton: Newton, memory: Array, y: Array) -> int:
    """Write q~, q~', a~, and the displacement and u that belong to u'_(n+1) = u'_n; return NOT_TANGENT if p' is not tangent."""
    m = r7_memory(memory)
    stage = stage_of(P)
    bodies = borrow(y, 0, ws.n_bodies(P), WIDTH)
    h, before, alpha_m, alpha_f, beta, gamma = step.h, step.h_before, step.alpha_m, step.alpha_f, step.beta, step.gamma
    moved = (alpha_m - alpha_f) * (h - before) / before if before > 0.0 else 0.0
    _, c_q, c_u = scales(step)
    newton.c_q, newton.c_u = c_q, c_u
    for k in range(1, ws.n_bodies(P)):
        off = tangency_error(m, bodies[k, EULER:VELOCITY], k, h)
        if off > 0.0:
            return report(ws.status(P), NOT_TANGENT, k, off)
        for a in range(7):
            now = m.q_ddot[k, a]
            a_n = m.a[k, a] + moved * (now - m.q_ddot_before[k, a])
            past = (alpha_f * now - alpha_m * a_n) / (1.0 - alpha_m)
            rate = bodies[k, VELOCITY + a] if a < 3 else m.p_dot[k, a - 3]
            stage.predicted_r7[k, A_TILDE + a] = past
            stage.base[k, a] = bodies[k, a] + h * rate + h * h * ((0.5 - beta) * a_n + beta * past)
            rate += h * ((1.0 - gamma) * a_n + gamma * past)
            if a < 3:
                bodies[k, VELOCITY + a] = rate + c_u * stage.u_dot[k, a]
            else:
                stage.predicted_r7[k, a - 3] = rate
        for a in range(6):
            stage.displacement[k, a] = c_q * stage.u_dot[k, a]
    return OK


@routine
def place(P: Pack, newton: Newton, y: Array) -> int:
    """Write r, p, omega_bar and u' of the displacement c_q (v', w'); return NO_CONVERGENCE if it is longer than any chord of the sphere."""
    stage = stage_of(P)
    bodies = borrow(y, 0, ws.n_bodies(P), WIDTH)
    c_q, c_u = newton.c_q, newton.c_u
    for k in range(1, ws.n_bodies(P)):
        for a in range(3):
            bodies[k, a] = stage.base[k, a] + stage.displacement[k, a]
        p = bodies[k, EULER:VELOCITY]
        square = 0.0
        for a in range(4):
            p[a] = stage.base[k, 3 + a]
            square += p[a] * p[a]
        length = sqrt(square)
        s1, s2, s3 = stage.displacement[k, 3] / length, stage.displacement[k, 4] / length, stage.displacement[k, 5] / length
        rest = 1.0 - 0.25 * (s1 * s1 + s2 * s2 + s3 * s3)
        if not rest > 0.0:
            return report(ws.status(P), NO_CONVERGENCE, 0, sqrt(s1 * s1 + s2 * s2 + s3 * s3))
        cosine = sqrt(rest)
        cayley_by(p, s1 / cosine, s2 / cosine, s3 / cosine)
        f0, f1, f2, f3 = stage.predicted_r7[k, 0], stage.predicted_r7[k, 1], stage.predicted_r7[k, 2], stage.predicted_r7[k, 3]
        ratio = c_u / c_q
        radial = p[0] * f0 + p[1] * f1 + p[2] * f2 + p[3] * f3 + ratio * (1.0 - length * cosine)
        bodies[k, 10] = 2.0 * (-p[1] * f0 + p[0] * f1 + p[3] * f2 - p[2] * f3) + ratio * stage.displacement[k, 3]
        bodies[k, 11] = 2.0 * (-p[2] * f0 - p[3] * f1 + p[0] * f2 + p[1] * f3) + ratio * stage.displacement[k, 4]
        bodies[k, 12] = 2.0 * (-p[3] * f0 + p[2] * f1 - p[1] * f2 + p[0] * f3) + ratio * stage.displacement[k, 5]
        for a in range(3):
            stage.u_dot[k, 3 + a] = stage.displacement[k, 3 + a] / c_q + 2.0 * radial * bodies[k, OMEGA_BAR + a]
    return OK


@routine
def close(P: Pack, step: Step, control: Control, memory: Array, y: Array) -> float:
    """Store p', q'' and a of the end of the step in R^7; u' becomes (v', omega_bar') again."""
    m = r7_memory(memory)
    turn_by_trapezoids(P, step.t + step.h, step.h, y)
    stage = stage_of(P)
    bodies = borrow(y, 0, ws.n_bodies(P), WIDTH)
    kappa, c_q, c_u = scales(step)
    step.factor = GROW
    for k in range(1, ws.n_bodies(P)):
        for a in range(7):
            m.q_ddot_before[k, a] = m.q_ddot[k, a]
            m.q_ddot[k, a] = stage.u_dot[k, a] if a < 3 else (bodies[k, a] - stage.base[k, a]) / c_q
            m.a[k, a] = stage.predicted_r7[k, A_TILDE + a] + kappa * m.q_ddot[k, a]
        for a in range(4):
            m.p_dot[k, a] = stage.predicted_r7[k, a] + c_u * m.q_ddot[k, 3 + a]
        for a in range(3, 6):
            stage.u_dot[k, a] = stage.displacement[k, a] / c_q
    return 0.0


PREDICT, PLACE, CLOSE = Routine(predict, PREDICT_SIGNATURE), Routine(place, PLACE_SIGNATURE), Routine(close, CLOSE_SIGNATURE)


@public_class
@dataclass(frozen=True)
class GeneralizedAlphaR7(ImplicitFixed):
    """The generalized-alpha method on Euler parameters as plain numbers: order two, fixed step, constraints of index 3.

    Parameters
    ----------
    rho : float
        Spectral radius at infinite frequency, in [0, 1].
    h : float, optional
        Fixed step [s]; may be given to `simulate` instead.
    constraint_form : Index3
        Only `Index3()` is possible, because |p| = 1 is solved together with Phi = 0.
    tol : float
        Error that Newton's iteration may leave in a step [m, rad].
    newton : ModifiedNewton or FullNewton
        The matrix of Newton's iteration.

    Notes
    -----
    Spinning bodies need steps of some tenths of a radian, and rho below 1.  A run ends with SimulationError if p' does not stay tangent to
    |p| = 1.
    Sources: Bruels and Cardona 2010; Bruels, Cardona and Arnold 2012; Haug 2021, sec. 11.4 (r-p form).
    """

    stops_at_kinks: ClassVar[bool] = False

    rho: float = 0.8
    constraint_form: ConstraintForm = field(default_factory=Index3)
    tol: float = NEWTON_TOL
    newton: ModifiedNewton = field(default_factory=ModifiedNewton)
    reference: ClassVar[str] = (
        "Bruels and Cardona 2010; Bruels, Cardona and Arnold 2012 (Euler parameters as plain numbers beside the group)"
    )

    def check(self, span: float) -> None:
        super().check(span)
        check_rho(self.rho)
        if not isinstance(self.constraint_form, Index3):
            raise UsageError(
                f"GeneralizedAlphaR7 solves |p| = 1 with Phi = 0, on the level of positions: leave out "
                f"constraint_form={self.constraint_form!r}, or take "
                "GeneralizedAlpha, which turns bodies on the group and has every level."
            )

    def rule(self, problem: Problem, pack: Pack, h: float) -> Rule:
        """Return the routines, with the memory of the first step: p'_0, q''_0, and a_0 = q'' at t_0 + delta h."""
        own = of_rho(self.rho)
        delta = own.alpha_m - own.alpha_f
        n = workspace_array(pack, "U_DOT").shape[0]
        u_ddot = second_rate(problem, pack, h) if delta != 0.0 else np.zeros((n, 6))
        return Rule(
            PREDICT,
            PLACE,
            CLOSE,
            own._asdict(),
            first_memory(problem.y, workspace_array(pack, "U_DOT"), u_ddot, delta * h),
        )


def first_memory(y: Array, u_dot: Array, u_ddot: Array, ahead: float) -> Array:
    """Return p', a, q'', q'' of every body, (1, 25 (nb + 1)): exact at the state y, a `ahead` [s] later to first order.

    p'' = G^T w' / 2 - (w.w) p / 4        p''' = (G^T w'' + G'^T w' - (w.w) p' / 2 - (w.w') p) / 2
    """
    bodies = y[: len(u_dot) * WIDTH].reshape(-1, WIDTH)
    p, w, w_dot = bodies[:, EULER:VELOCITY], bodies[:, OMEGA_BAR:WIDTH], u_dot[:, 3:]
    square, product = (np.sum(w * x, axis=1, keepdims=True) for x in (w, w_dot))
    p_dot = p_dot_from(p, w)
    p_ddot = p_dot_from(p, w_dot) - 0.25 * square * p
    p_dddot = p_dot_from(p, u_ddot[:, 3:]) + p_dot_from(p_dot, w_dot) - 0.25 * square * p_dot - 0.5 * product * p
    q_ddot = np.concatenate([u_dot[:, :3], p_ddot], axis=1)
    q_dddot = np.concatenate([u_ddot[:, :3], p_dddot], axis=1)
    parts = (p_dot, q_ddot + ahead * q_dddot, q_ddot, q_ddot)
    return np.concatenate([part.ravel() for part in parts])[None]
