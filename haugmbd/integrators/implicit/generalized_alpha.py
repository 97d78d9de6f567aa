r"""The generalized-alpha family: Newmark, HHT and generalized-alpha are one step with four numbers alpha_m, alpha_f, beta, gamma.

Step
    dq_n     = h u_n + h^2 (1/2 - beta) a_n + h^2 beta a_(n+1)            q_(n+1) = q_n o exp(dq_n)      (r + dr, p exp(dpi_bar))
    u_(n+1)  = u_n + h (1 - gamma) a_n + h gamma a_(n+1)
    (1 - alpha_m) a_(n+1) + alpha_m a_n = (1 - alpha_f) u'_(n+1) + alpha_f u'_n
    M u'_(n+1) + Phi_q^T lam_(n+1) = Q_(n+1),      and the constraints

Members
    Newmark              alpha_m = alpha_f = 0                          beta, gamma free;  order one unless gamma = 1/2
    HHT                  alpha_m = 0,  alpha_f = -alpha                 beta = (1 - alpha)^2 / 4,  gamma = 1/2 - alpha,  -1/3 <= alpha <= 0
    generalized-alpha    alpha_m = (2 rho - 1) / (rho + 1)              gamma = 1/2 - alpha_m + alpha_f
                         alpha_f = rho / (rho + 1)                      beta = (gamma + 1/2)^2 / 4,  0 <= rho < 1

rho is the spectral radius at infinite frequency: 0 removes high frequencies in one step; 1 would keep them, and the multipliers of index
3 would grow.  Newmark is unconditionally stable for beta >= (gamma + 1/2)^2 / 4.  Its multipliers of index 3 are stable for gamma > 1/2.
HHT averages forces, M a_(n+1) = (1 + alpha) (Q - Phi_q^T lam)_(n+1) - alpha (Q - Phi_q^T lam)_n.  In (v, omega_bar) the matrix M is
constant, so that averaging forces and averaging accelerations are the same.

a_n approximates u' at t_n + delta h, with delta = alpha_m - alpha_f.  It is initialized there, and moved when the step size changes.
The order is two where gamma = 1/2 - delta.  `generalized_alpha_r7` is the same method on Euler parameters as plain numbers.

Errors of a step, for the step size control; no coefficient is taken to be less than 1/12
    position    (delta / 2 + beta - 1/6) h^2 (u'_(n+1) - u'_n)
    velocity    c h (u'_(n+1) - its linear extrapolation)               c = (1 - gamma) delta^2 / 2 + gamma (1 + delta)^2 / 2 - 1/6

Sources: Newmark 1959; Hilber, Hughes, Taylor 1977; Chung, Hulbert 1993; Arnold, Bruels 2007; Bruels, Cardona, Arnold 2012 (Lie group);
Negrut, Rampalli, Ottarsson, Sajdak 2007 (Newmark and HHT with constraints); Hughes, The Finite Element Method, ch. 9 (stability).
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass, field
from math import sqrt
from typing import ClassVar, NamedTuple

import numpy as np

from haugmbd.compiled.array_types import Array
from haugmbd.compiled.array_views import borrow
from haugmbd.compiled.function_pointers import Routine
from haugmbd.compiled.jit import kernel, routine
from haugmbd.compiled.status_codes import OK
from haugmbd.deprecated import public_class
from haugmbd.errors import UsageError
from haugmbd.integrators.implicit.base import NEWTON_TOL, Implicit, ImplicitFixed, ImplicitFixedOrAdaptive, Rule
from haugmbd.integrators.implicit.constraint_form import GGL, ConstraintForm, Index3
from haugmbd.integrators.implicit.newton import PLACE_SIGNATURE, ModifiedNewton, put_shifted, stage_of, turn_by_trapezoids
from haugmbd.integrators.implicit.records import Control, Newton, Step
from haugmbd.integrators.implicit.step_control import CLOSE_SIGNATURE, PREDICT_SIGNATURE
from haugmbd.integrators.step_context import Problem, copy_options
from haugmbd.math.body_columns import EULER, VELOCITY
from haugmbd.math.euler_kernels import rotate_by
from haugmbd.workspace import accessors as ws
from haugmbd.workspace.layout import WIDTH, Pack, workspace_array

LEAST = 1.0 / 12.0
"""Lower limit of an error coefficient: that of the trapezoidal rule.  For some parameters a coefficient is zero, and the next term of the
error is the largest."""

SAFETY, SHRINK, GROW, IDLE = 0.9, 0.25, 2.0, 1.2
"""Step size control.  IDLE: the step is not changed by less than a fifth, because every change disturbs the multipliers."""

PROBE = 1e-3
"""Relative to the first step: the interval of the difference that gives u'' at the start."""


@routine
def predict(P: Pack, step: Step, newton: Newton, memory: Array, y: Array) -> int:
    """Write base pose, displacement and u of the next step for the a_(n+1) that belongs to u'_(n+1) = u'_n."""
    stage = stage_of(P)
    bodies = borrow(y, 0, ws.n_bodies(P), WIDTH)
    h, before, alpha_m, alpha_f, beta, gamma = step.h, step.h_before, step.alpha_m, step.alpha_f, step.beta, step.gamma
    kappa = (1.0 - alpha_f) / (1.0 - alpha_m)
    moved = (alpha_m - alpha_f) * (h - before) / before if before > 0.0 else 0.0
    newton.c_q, newton.c_u = h * h * beta * kappa, h * gamma * kappa
    for k in range(1, ws.n_bodies(P)):
        for a in range(7):
            stage.base[k, a] = bodies[k, a]
        for a in range(6):
            u, udot = bodies[k, VELOCITY + a], stage.u_dot[k, a]
            a_n = stage.a[k, a] + moved * (udot - stage.u_dot_before[k, a])
            a_next = (udot - alpha_m * a_n) / (1.0 - alpha_m)
            stage.u_dot_earlier[k, a], stage.u_dot_before[k, a] = stage.u_dot_before[k, a], udot
            stage.displacement[k, a] = h * u + h * h * ((0.5 - beta) * a_n + beta * a_next)
            bodies[k, VELOCITY + a] = u + h * ((1.0 - gamma) * a_n + gamma * a_next)
            stage.a[k, a] = (alpha_f * udot - alpha_m * a_n) / (1.0 - alpha_m)  # a_(n+1) without the term of u'_(n+1)
    return OK


@routine
def place(P: Pack, newton: Newton, y: Array) -> int:
    """Write r = r_n + dr,  p = p_n o exp(dpi_bar)."""
    stage = stage_of(P)
    bodies = borrow(y, 0, ws.n_bodies(P), WIDTH)
    for k in range(1, ws.n_bodies(P)):
        put_shifted(stage, bodies, k)
        rotate_by(bodies[k, EULER:VELOCITY], stage.displacement[k, 3:6])
    return OK


@routine
def close(P: Pack, step: Step, control: Control, memory: Array, y: Array) -> float:
    """Return the error of the step relative to its tolerance; compute a_(n+1) from u'_(n+1)."""
    turn_by_trapezoids(P, step.t + step.h, step.h, y)
    stage = stage_of(P)
    n = ws.n_bodies(P)
    bodies = borrow(y, 0, n, WIDTH)
    h, alpha_m, alpha_f, gamma = step.h, step.alpha_m, step.alpha_f, step.gamma
    total = 0.0
    step.factor = GROW
    if control.h_fixed == 0.0:
        delta = alpha_m - alpha_f
        c_q = h * h * max(LEAST, abs(0.5 * delta + step.beta - 1.0 / 6.0))
        c_u = h * max(LEAST, abs(0.5 * (1.0 - gamma) * delta**2 + 0.5 * gamma * (1.0 + delta) ** 2 - 1.0 / 6.0))
        ratio = h / step.h_before if step.h_before > 0.0 else 0.0
        for k in range(1, n):
            for a in range(6):
                change = stage.u_dot[k, a] - stage.u_dot_before[k, a]
                bend = change - ratio * (stage.u_dot_before[k, a] - stage.u_dot_earlier[k, a])
                size = abs(bodies[k, a]) if a < 3 else 1.0
                atol = control.atol_length if a < 3 else control.atol
                e_q = c_q * change / (atol + control.rtol * size)
                e_u = c_u * bend / (atol + control.rtol * abs(bodies[k, VELOCITY + a]))
                total += e_q * e_q + e_u * e_u
        total += square_of_states(P, ratio, h, control, y)
        count = 12.0 * (n - 1) + ws.n_states(P)
        total = sqrt(total / count) if count > 0.0 else 0.0
        step.factor = min(GROW, max(SHRINK, SAFETY * total ** (-1.0 / 3.0) if total > 0.0 else GROW))
        if 1.0 <= step.factor < IDLE:
            step.factor = 1.0
    for k in range(1, n):
        for a in range(6):
            stage.a[k, a] += (1.0 - alpha_f) / (1.0 - alpha_m) * stage.u_dot[k, a]
    return total


@kernel
def square_of_states(P: Pack, ratio: float, h: float, control: Control, y: Array) -> float:
    """Return the sum of the squares of the errors of the internal states, in the tolerances: h / 12 times second differences of x'.

    ratio: of the step to the one before
    """
    n, rates, before = ws.n_states(P), ws.angle_rates(P), ws.state_rates_before(P)
    total = 0.0
    for k in range(n):
        change = rates[rates.size - n + k] - before[0, k]
        bend = change - ratio * (before[0, k] - before[1, k])
        e = h * bend / (12.0 * (control.atol + control.rtol * abs(y[y.size - n + k])))
        total += e * e
    return total


PREDICT, PLACE, CLOSE = Routine(predict, PREDICT_SIGNATURE), Routine(place, PLACE_SIGNATURE), Routine(close, CLOSE_SIGNATURE)


class Parameters(NamedTuple):
    """The four numbers of a method of the family."""

    alpha_m: float
    alpha_f: float
    beta: float
    gamma: float


def of_rho(rho: float) -> Parameters:
    """Return the optimal parameters of Chung and Hulbert for a spectral radius rho at infinite frequency."""
    alpha_m, alpha_f = (2.0 * rho - 1.0) / (rho + 1.0), rho / (rho + 1.0)
    gamma = 0.5 - alpha_m + alpha_f
    return Parameters(alpha_m, alpha_f, 0.25 * (gamma + 0.5) ** 2, gamma)


class Newmarks(Implicit):
    """A method of the family; a subclass returns its `parameters`."""

    stops_at_kinks = False

    @property
    @abstractmethod
    def parameters(self) -> Parameters:
        """Return the four numbers of the method."""

    def rule(self, problem: Problem, pack: Pack, h: float) -> Rule:
        """Return the routines of the family, with a_0 = u' at t_0 + delta h."""
        delta = self.parameters.alpha_m - self.parameters.alpha_f
        if delta != 0.0:
            workspace_array(pack, "ALGORITHMIC")[:] += delta * h * second_rate(problem, pack, h)
        return Rule(PREDICT, PLACE, CLOSE, self.parameters._asdict())


def second_rate(problem: Problem, pack: Pack, h: float) -> Array:
    """Return u'' at the start, (nb + 1, 6), by a difference.

    It is zero where u' would change by more than itself in a step, as under a stiff force.
    """
    bodies = len(workspace_array(pack, "U_DOT"))
    n = WIDTH * bodies
    now, then, options = np.zeros_like(problem.y), np.zeros_like(problem.y), copy_options(problem.options)
    code = problem.rates(problem.pack, options, problem.t, problem.y, now)
    code = code or problem.rates(problem.pack, options, problem.t + PROBE * h, problem.y + PROBE * h * now, then)
    problem.pack.callback.keep_interruption(code)
    if code != OK:
        return np.zeros((bodies, 6))
    u_ddot = ((then - now) / (PROBE * h))[:n].reshape(-1, WIDTH)[:, VELOCITY:]
    u_dot = now[:n].reshape(-1, WIDTH)[:, VELOCITY:]
    found: Array = u_ddot if np.linalg.norm(h * u_ddot) <= np.linalg.norm(u_dot) else np.zeros_like(u_ddot)
    return found


@dataclass(frozen=True)
class FixedNewmarks(Newmarks, ImplicitFixed):
    """A method of the family with a fixed step."""


@public_class
@dataclass(frozen=True)
class Newmark(FixedNewmarks):
    """Newmark's method with a fixed step.  The order is one; it is two with gamma = 1/2, which needs constraint_form=GGL().

    Parameters
    ----------
    h : float, optional
        Fixed step [s]; may be given to `simulate` instead.
    beta : float
        At least (gamma + 1/2)^2 / 4.
    gamma : float
        In [1/2, 1]; values above 1/2 damp high frequencies.
    constraint_form : ConstraintForm
        Form of the constraints that is solved; by default `Index3()`.
    tol : float
        Error that Newton's iteration may leave in a step [m, rad]; a hundredth of it, relative to 1 + |u|, for velocities.
    newton : ModifiedNewton or FullNewton
        The matrix of Newton's iteration.

    Notes
    -----
    Sources: Newmark 1959; Negrut, Rampalli, Ottarsson and Sajdak 2007.
    """

    beta: float = 0.3025
    gamma: float = 0.6
    constraint_form: ConstraintForm = field(default_factory=Index3)
    tol: float = NEWTON_TOL
    newton: ModifiedNewton = field(default_factory=ModifiedNewton)
    reference: ClassVar[str] = "Newmark 1959; Negrut, Rampalli, Ottarsson and Sajdak 2007"

    def check(self, span: float) -> None:
        super().check(span)
        least = 0.25 * (self.gamma + 0.5) ** 2
        if not (0.5 <= self.gamma <= 1.0 and self.beta >= least * (1.0 - 1e-12)):
            raise UsageError(
                f"gamma = {self.gamma} must be in [0.5, 1], and beta = {self.beta} at least {least:g}: stable steps need it."
            )

    @property
    def parameters(self) -> Parameters:
        return Parameters(0.0, 0.0, self.beta, self.gamma)


@public_class
@dataclass(frozen=True)
class HHT(FixedNewmarks):
    """The Hilber-Hughes-Taylor method: order two, fixed step, with numerical damping.

    Parameters
    ----------
    h : float, optional
        Fixed step [s]; may be given to `simulate` instead.
    alpha : float
        Damping, in [-1/3, 0]: -1/3 damps most, 0 is the trapezoidal rule.
    constraint_form : ConstraintForm
        Form of the constraints that is solved; by default `Index3()`.
    tol : float
        Error that Newton's iteration may leave in a step [m, rad]; a hundredth of it, relative to 1 + |u|, for velocities.
    newton : ModifiedNewton or FullNewton
        The matrix of Newton's iteration.

    Notes
    -----
    Sources: Hilber, Hughes and Taylor 1977; Negrut, Rampalli, Ottarsson and Sajdak 2007.
    """

    alpha: float = -0.3
    constraint_form: ConstraintForm = field(default_factory=Index3)
    tol: float = NEWTON_TOL
    newton: ModifiedNewton = field(default_factory=ModifiedNewton)
    reference: ClassVar[str] = "Hilber, Hughes and Taylor 1977; Negrut, Rampalli, Ottarsson and Sajdak 2007"

    def check(self, span: float) -> None:
        super().check(span)
        if not -1.0 / 3.0 - 1e-12 <= self.alpha <= 0.0:
            raise UsageError(f"alpha = {self.alpha} must be in [-1/3, 0]: -1/3 damps most, 0 not at all.")

    @property
    def parameters(self) -> Parameters:
        return Parameters(0.0, -self.alpha, 0.25 * (1.0 - self.alpha) ** 2, 0.5 - self.alpha)


@public_class
@dataclass(frozen=True)
class GeneralizedAlpha(Newmarks, ImplicitFixedOrAdaptive):
    """The generalized-alpha method on R^3 x SO(3): order two, with numerical damping.

    Parameters
    ----------
    rho : float
        Spectral radius at infinite frequency, in [0, 1].
    h : float, optional
        Fixed step [s].
    rtol, atol : float
        Relative and absolute tolerances of the error control.
    h_first : float, optional
        First step of the error control [s]; by default chosen.
    h_max : float
        Largest step of the error control [s].
    constraint_form : ConstraintForm, optional
        Form of the constraints that is solved.  By default `Index3()` with a fixed step, and `GGL()` with error control, which needs
        velocities that fulfil their constraints when the step changes.
    tol : float
        Error that Newton's iteration may leave in a step [m, rad]; a hundredth of it, relative to 1 + |u|, for velocities.
        With error control at most a hundredth of the allowed error.
    newton : ModifiedNewton or FullNewton
        The matrix of Newton's iteration.

    Notes
    -----
    Sources: Chung and Hulbert 1993; Arnold and Bruels 2007; Bruels, Cardona and Arnold 2012 (Lie group).
    """

    adaptive_by_default: ClassVar[bool] = False
    reference: ClassVar[str] = "Chung and Hulbert 1993; Arnold and Bruels 2007; Bruels, Cardona and Arnold 2012 (Lie group)"

    rho: float = 0.8
    constraint_form: ConstraintForm | None = None
    tol: float = NEWTON_TOL
    newton: ModifiedNewton = field(default_factory=ModifiedNewton)

    def check(self, span: float) -> None:
        super().check(span)
        check_rho(self.rho)

    @property
    def form(self) -> ConstraintForm:
        return self.constraint_form or (GGL() if self.adaptive else Index3())

    @property
    def parameters(self) -> Parameters:
        return of_rho(self.rho)


def check_rho(rho: float) -> None:
    """Raise UsageError unless the spectral radius is between 0 and 1."""
    if not 0.0 <= rho <= 1.0:
        raise UsageError(f"rho = {rho} must be in [0, 1]: 1 keeps high frequencies, 0 damps them in one step.")
