r"""The family of Newmark, HHT and generalized-alpha: one step with four numbers alpha_m, alpha_f, beta, gamma.

    dq_n     = h u_n + h^2 (1/2 - beta) a_n + h^2 beta a_(n+1)            q_(n+1) = q_n o exp(dq_n)      (r + dr, p exp(dpi_bar))
    u_(n+1)  = u_n + h (1 - gamma) a_n + h gamma a_(n+1)
    (1 - alpha_m) a_(n+1) + alpha_m a_n = (1 - alpha_f) u'_(n+1) + alpha_f u'_n
    M u'_(n+1) + Phi_q^T lam_(n+1) = Q_(n+1),      and the constraints

a_n is u' at t_n + delta h, delta = alpha_m - alpha_f: it starts there, and where the step changes it is moved to the new place.  In
(v, omega_bar) the matrix M is constant, so averaging accelerations (Chung, Hulbert) and averaging forces (Hilber, Hughes, Taylor) are one.
Order two where gamma = 1/2 - delta.  Errors of a step, for the step size:
    position  (delta / 2 + beta - 1/6) h^2 (u'_(n+1) - u'_n)         velocity  c h (u'_(n+1) - its linear extrapolation)
    c = (1 - gamma) delta^2 / 2 + gamma (1 + delta)^2 / 2 - 1/6      no coefficient is taken to be less than 1/12
Source: Newmark 1959; Chung, Hulbert 1993; Arnold, Bruels 2007; Bruels, Cardona, Arnold 2012 (Lie group).
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from math import sqrt
from typing import NamedTuple

import numpy as np

from haugmbd.algebra.euler_kernels import rotate_by
from haugmbd.algebra.jit import routine
from haugmbd.algebra.routine import Routine
from haugmbd.algebra.vec3 import Array
from haugmbd.algebra.views import borrow
from haugmbd.integrators.implicit.method import Implicit, ImplicitAdaptive, ImplicitFixed, Rule
from haugmbd.integrators.implicit.stage import (
    BASE,
    BEFORE,
    EARLIER,
    MEMORY,
    PLACE_SIGNATURE,
    SHIFT,
    UDOT,
    put_shifted,
    turn_by_trapezoids,
)
from haugmbd.integrators.implicit.stepping import (
    ATOL,
    CLOSE_SIGNATURE,
    FACTOR,
    H_BEFORE,
    OWN,
    PREDICT_SIGNATURE,
    RTOL,
    START,
    WHOLE,
    H,
)
from haugmbd.integrators.implicit.tangents import C_Q, C_U
from haugmbd.integrators.stepping import Problem
from haugmbd.model import accessors as ws
from haugmbd.model.status import OK
from haugmbd.model.tables import WIDTH, Pack, room

ALPHA_M, ALPHA_F, BETA, GAMMA = OWN, OWN + 1, OWN + 2, OWN + 3

LEAST = 1.0 / 12.0
"""Of an error's coefficient: that of the trapezoidal rule; some parameters make one of them zero, and the next term is then in charge."""
SAFETY, SHRINK, GROW, IDLE = 0.9, 0.25, 2.0, 1.2
"""A step is not changed for less than a fifth: the multipliers feel every change."""
PROBE = 1e-3
"""Of the first step: how far the derivative of u' is taken at the start."""


@routine
def predict(P: Pack, o: Array, numbers: Array, memory: Array, y: Array) -> int:
    """Base pose, displacement and u of the next step for the a_(n+1) that goes with u'_(n+1) = u'_n."""
    stage = ws.stage(P)
    bodies = borrow(y, 0, stage.shape[0], WIDTH)
    h, before, alpha_m, alpha_f, beta, gamma = o[H], o[H_BEFORE], o[ALPHA_M], o[ALPHA_F], o[BETA], o[GAMMA]
    kappa = (1.0 - alpha_f) / (1.0 - alpha_m)
    moved = (alpha_m - alpha_f) * (h - before) / before if before > 0.0 else 0.0
    numbers[C_Q], numbers[C_U] = h * h * beta * kappa, h * gamma * kappa
    for k in range(1, stage.shape[0]):
        for a in range(7):
            stage[k, BASE + a] = bodies[k, a]
        for a in range(6):
            u, udot = bodies[k, 7 + a], stage[k, UDOT + a]
            a_n = stage[k, MEMORY + a] + moved * (udot - stage[k, BEFORE + a])
            a_next = (udot - alpha_m * a_n) / (1.0 - alpha_m)
            stage[k, EARLIER + a], stage[k, BEFORE + a] = stage[k, BEFORE + a], udot
            stage[k, SHIFT + a] = h * u + h * h * ((0.5 - beta) * a_n + beta * a_next)
            bodies[k, 7 + a] = u + h * ((1.0 - gamma) * a_n + gamma * a_next)
            stage[k, MEMORY + a] = (alpha_f * udot - alpha_m * a_n) / (1.0 - alpha_m)  # a_(n+1) but for u'_(n+1)
    return OK


@routine
def place(P: Pack, numbers: Array, y: Array) -> int:
    """r = r_n + dr,  p = p_n o exp(dpi_bar)."""
    stage = ws.stage(P)
    bodies = borrow(y, 0, stage.shape[0], WIDTH)
    for k in range(1, stage.shape[0]):
        put_shifted(stage, bodies, k)
        rotate_by(bodies[k, 3:7], stage[k, SHIFT + 3 : SHIFT + 6])
    return OK


@routine
def close(P: Pack, o: Array, control: Array, memory: Array, y: Array) -> float:
    """The error of the step, relative to its tolerance; a_(n+1) from u'_(n+1)."""
    turn_by_trapezoids(P, o[START] + o[H], o[H], y)
    stage = ws.stage(P)
    n = stage.shape[0]
    bodies = borrow(y, 0, n, WIDTH)
    h, alpha_m, alpha_f, gamma = o[H], o[ALPHA_M], o[ALPHA_F], o[GAMMA]
    total = 0.0
    o[FACTOR] = GROW
    if control[WHOLE] == 0.0:
        delta = alpha_m - alpha_f
        c_q = h * h * max(LEAST, abs(0.5 * delta + o[BETA] - 1.0 / 6.0))
        c_u = h * max(LEAST, abs(0.5 * (1.0 - gamma) * delta**2 + 0.5 * gamma * (1.0 + delta) ** 2 - 1.0 / 6.0))
        ratio = h / o[H_BEFORE] if o[H_BEFORE] > 0.0 else 0.0
        for k in range(1, n):
            for a in range(6):
                change = stage[k, UDOT + a] - stage[k, BEFORE + a]
                bend = change - ratio * (stage[k, BEFORE + a] - stage[k, EARLIER + a])
                size = abs(bodies[k, a]) if a < 3 else 1.0
                e_q = c_q * change / (control[ATOL] + control[RTOL] * size)
                e_u = c_u * bend / (control[ATOL] + control[RTOL] * abs(bodies[k, 7 + a]))
                total += e_q * e_q + e_u * e_u
        total = sqrt(total / (12.0 * (n - 1))) if n > 1 else 0.0
        o[FACTOR] = min(GROW, max(SHRINK, SAFETY * total ** (-1.0 / 3.0) if total > 0.0 else GROW))
        if 1.0 <= o[FACTOR] < IDLE:
            o[FACTOR] = 1.0
    for k in range(1, n):
        for a in range(6):
            stage[k, MEMORY + a] += (1.0 - alpha_f) / (1.0 - alpha_m) * stage[k, UDOT + a]
    return total


PREDICT, PLACE, CLOSE = Routine(predict, PREDICT_SIGNATURE), Routine(place, PLACE_SIGNATURE), Routine(close, CLOSE_SIGNATURE)


class Parameters(NamedTuple):
    """The four numbers of a method."""

    alpha_m: float
    alpha_f: float
    beta: float
    gamma: float


def of_rho(rho: float) -> Parameters:
    """Chung and Hulbert's optimum for a spectral radius rho at infinite frequency."""
    alpha_m, alpha_f = (2.0 * rho - 1.0) / (rho + 1.0), rho / (rho + 1.0)
    gamma = 0.5 - alpha_m + alpha_f
    return Parameters(alpha_m, alpha_f, 0.25 * (gamma + 0.5) ** 2, gamma)


class Newmarks(Implicit):
    """A method of the family: `parameters` says which."""

    @property
    @abstractmethod
    def parameters(self) -> Parameters:
        """Its four numbers."""

    def rule(self, problem: Problem, pack: Pack, h: float) -> Rule:
        """The family's routines; a_0 = u' at t_0 + delta h."""
        delta = self.parameters.alpha_m - self.parameters.alpha_f
        if delta != 0.0:
            room(pack, "STAGE")[:, MEMORY : MEMORY + 6] += delta * h * second_rate(problem, h)
        return Rule(PREDICT, PLACE, CLOSE, self.parameters)


def second_rate(problem: Problem, h: float) -> Array:
    """u'' at the start, (nb + 1, 6), by a difference; zero where u' would change by more than itself in a step: a stiff force."""
    n = len(problem.y) // WIDTH * WIDTH
    now, then, options = np.zeros_like(problem.y), np.zeros_like(problem.y), problem.options.copy()
    code = problem.rates(problem.pack, options, problem.t, problem.y, now)
    code = code or problem.rates(problem.pack, options, problem.t + PROBE * h, problem.y + PROBE * h * now, then)
    if code != OK:
        return np.zeros((n // WIDTH, 6))
    u_ddot = ((then - now) / (PROBE * h))[:n].reshape(-1, WIDTH)[:, 7:]
    u_dot = now[:n].reshape(-1, WIDTH)[:, 7:]
    found: Array = u_ddot if np.linalg.norm(h * u_ddot) <= np.linalg.norm(u_dot) else np.zeros_like(u_ddot)
    return found


@dataclass(frozen=True)
class FixedNewmarks(Newmarks, ImplicitFixed):
    """Fixed step."""


@dataclass(frozen=True, kw_only=True)
class AdaptiveNewmarks(Newmarks, ImplicitAdaptive):
    """Error control."""

    @property
    def newton_tol(self) -> float:
        """A hundredth of what a step may be wrong by."""
        return min(self.tol * self.level.share, 1e-2 * (self.rtol + self.atol))
