r"""Generalized-alpha on the Lie group R^3 x SO(3), index 3: second order, with numerical damping to choose.

    dq_n     = h u_n + h^2 (1/2 - beta) a_n + h^2 beta a_(n+1)            q_(n+1) = q_n o exp(dq_n)      (r + dr, p exp(dpi_bar))
    u_(n+1)  = u_n + h (1 - gamma) a_n + h gamma a_(n+1)
    (1 - alpha_m) a_(n+1) + alpha_m a_n = (1 - alpha_f) u'_(n+1) + alpha_f u'_n
    M u'_(n+1) + Phi_q^T lam_(n+1) = Q_(n+1),      Phi(q_(n+1), t_(n+1)) = 0

    alpha_m = (2 rho - 1) / (rho + 1)    alpha_f = rho / (rho + 1)    gamma = 1/2 - alpha_m + alpha_f    beta = (gamma + 1/2)^2 / 4

rho in [0, 1) is the spectral radius at infinite frequency: 0 forgets high frequencies in a step, 1 would keep them (and the multipliers
of index 3 would oscillate).
Source: Chung, Hulbert 1993; Arnold, Bruels 2007; Bruels, Cardona, Arnold 2012 (Lie group).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from haugmbd.algebra.jit import entry, kernel
from haugmbd.algebra.vec3 import Array
from haugmbd.algebra.views import borrow
from haugmbd.integrators.chunk import Chunk
from haugmbd.integrators.implicit.fixed import advance, implicit_pack
from haugmbd.integrators.implicit.stage import BASE, INDEX_3, MEMORY, SHIFT, UDOT, finish_step, solve_stage
from haugmbd.integrators.method import FixedStep
from haugmbd.integrators.stepping import Problem, check_finite
from haugmbd.model import tables as at
from haugmbd.model.status import OK
from haugmbd.model.tables import WIDTH, Pack, view

H, ALPHA_M, ALPHA_F, BETA, GAMMA = 0, 1, 2, 3, 4
"""Where the method's own numbers stand."""


@kernel
def predict(P: Pack, o: Array, y: Array) -> None:
    """Base pose, displacement and u of the next step for a_(n+1) that goes with u'_(n+1) = u'_n."""
    stage = view(P.work, P.ints, at.STAGE)
    bodies = borrow(y, 0, stage.shape[0], WIDTH)
    h = o[H]
    for k in range(1, stage.shape[0]):
        for a in range(7):
            stage[k, BASE + a] = bodies[k, a]
        for a in range(6):
            u, a_n, udot = bodies[k, 7 + a], stage[k, MEMORY + a], stage[k, UDOT + a]
            a_next = (udot - o[ALPHA_M] * a_n) / (1.0 - o[ALPHA_M])
            stage[k, SHIFT + a] = h * u + h * h * ((0.5 - o[BETA]) * a_n + o[BETA] * a_next)
            bodies[k, 7 + a] = u + h * ((1.0 - o[GAMMA]) * a_n + o[GAMMA] * a_next)
            stage[k, MEMORY + a] = (o[ALPHA_F] * udot - o[ALPHA_M] * a_n) / (1.0 - o[ALPHA_M])  # a_(n+1) but for u'_(n+1)


@kernel
def remember(P: Pack, o: Array) -> None:
    """a_(n+1) from u'_(n+1)."""
    stage = view(P.work, P.ints, at.STAGE)
    for k in range(1, stage.shape[0]):
        for a in range(6):
            stage[k, MEMORY + a] += (1.0 - o[ALPHA_F]) / (1.0 - o[ALPHA_M]) * stage[k, UDOT + a]


@entry
def run(P: Pack, o: Array, numbers: Array, options: Array, t0: float, y: Array, ys: Array, ks: Array) -> tuple[int, int]:
    """Advance y by as many steps as `ys` (n, ny) has rows; fill ys and ks (states, rates); return code and steps done."""
    h = o[H]
    for step in range(ys.shape[0]):
        predict(P, o, y)
        code = solve_stage(P, numbers, options, t0 + (step + 1) * h, y)
        if code == OK:
            code = check_finite(P, y)
        if code != OK:
            return code, step
        remember(P, o)
        finish_step(P, t0 + step * h, h, y, ks[step])
        for a in range(y.size):
            ys[step, a] = y[a]
    return OK, ys.shape[0]


@dataclass(frozen=True)
class GeneralizedAlpha(FixedStep):
    """Order two, fixed step `h` [s].

    rho: spectral radius at infinite frequency, in [0, 1);  tol: largest last correction of a step [m, rad], which Newton has squared
    by then;  most_iterations: of Newton in a step
    """

    solves_constraints = True
    rho: float = 0.8
    tol: float = 1e-9
    most_iterations: int = 20

    reference: ClassVar[str] = "Chung and Hulbert 1993; Arnold and Bruels 2007; Bruels, Cardona and Arnold 2012 (Lie group)"

    def chunks(self, problem: Problem, k1: Array, t_end: float) -> Iterator[Chunk]:
        """Advance to `t_end`, a chunk of steps at a time."""
        alpha_m, alpha_f = (2.0 * self.rho - 1.0) / (self.rho + 1.0), self.rho / (self.rho + 1.0)
        gamma = 0.5 - alpha_m + alpha_f
        beta = 0.25 * (gamma + 0.5) ** 2
        kappa = (1.0 - alpha_f) / (1.0 - alpha_m)
        pack = implicit_pack(problem)

        def steps(h: float, t: float, ys: Array, ks: Array) -> tuple[int, int]:
            numbers = np.array([h * h * beta * kappa, h * gamma * kappa, 1.0, INDEX_3, self.tol, self.most_iterations])
            return run(pack, np.array([h, alpha_m, alpha_f, beta, gamma]), numbers, problem.options, t, problem.y, ys, ks)

        assert self.h is not None
        yield from advance(problem, k1, t_end, self.h, steps)
