r"""The smooth motion through a singular configuration, as polynomials that fulfil equations of motion and constraints on both sides.

    Y_i = y_0 + h sum_j a_ij f(c_j, P(Y_j))      P: projection to Phi = 0, Phi_q u = nu      f: rates by NewtonEuler      (Gauss, order 2 s)
    y(t_0 + x h) = y_0 + h sum_j int_0^x l_j F_j,   the collocation polynomial, smooth where f is not defined

The constraints are regular on both sides of the singular configuration t*, and no node of a piece that contains t* is close to it.  A
motion that reaches t* on a smooth branch continues as one polynomial on both sides.  Other branches have other tangents there, and no
polynomial of small error changes from one branch to another.  Picard's iteration, stage after stage, starts from the parabola
q + tau q' + tau^2 q'' / 2.
Source: Hairer, Norsett, Wanner, Solving ODE I, sec. II.7 (collocation); Haug 2021, sec. 3.7 (branches at a bifurcation).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.polynomial import legendre

from haugmbd.compiled.array_types import Array
from haugmbd.compiled.ffi import Callback
from haugmbd.compiled.jit import entry
from haugmbd.compiled.status_codes import NO_CONVERGENCE, OK
from haugmbd.integrators.default_number import DefaultNumber
from haugmbd.integrators.explicit.tableau import Tableau
from haugmbd.integrators.stabilization.projection import Projection
from haugmbd.integrators.step_context import Dynamics, Options
from haugmbd.math.euler_parameters import normalized, p_dot_from
from haugmbd.model.generalized_forces import copy_line
from haugmbd.model.length import units_of_state
from haugmbd.model.model import Model
from haugmbd.workspace.layout import WIDTH

NODES = (10, 11, 12, 13)
"""Numbers of nodes of a piece: the one is taken whose nodes are farthest from the singular configuration."""

ITERATIONS = 60
"""Picard's iteration converges where the piece is short compared with the time constants; otherwise the piece is halved."""

CONVERGED, ROUNDING, STALLED = 1e-15, 1e-7, 0.7
"""Relative to 1 + |y|.  CONVERGED: a smaller change ends the iteration.  A change below ROUNDING that is more than STALLED of the last one
is rounding of the accelerations, magnified by the smallest singular value.  The comparison of two curves shows its size."""

EXACT = DefaultNumber(1e-15)
"""Violation that a projection may leave: errors near the singular configuration are divided by the smallest singular value."""

HALVINGS = 6
"""How often a piece beside the singular configuration is halved if Picard's iteration does not converge, as with stiff forces."""


class Stages(NamedTuple):
    """Y: (s, ny) states and F: (s, ny) rates of the stages;  stage: (ny,) one of them, projected;  units: (ny,) of its numbers."""

    Y: Array
    F: Array
    stage: Array
    units: Array


@entry
def collocate(
    dynamics: Dynamics, options: Options, method: Tableau, t0: float, h: float, y0: Array, stages: Stages, most: int
) -> tuple[int, float]:
    """Iterate the stages and their rates from the guess in Y; return the code, and |Y - P(Y)| of the last iteration."""
    (Y, F, stage, units), (c, A, _) = stages, method
    s, ny = Y.shape
    before, gap = 1e300, 0.0
    for iteration in range(most):
        change, gap = 0.0, 0.0
        for i in range(s):
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
            code = dynamics.post_step(dynamics.pack, options, t0 + c[i] * h, stage, F[i])
            if code != OK:
                return code, 0.0
            for a in range(ny):
                gap = max(gap, abs(stage[a] - Y[i, a]) / (units[a] + abs(stage[a])))
            if iteration == 0:
                copy_line(stage, Y[i])
        if iteration > 0:
            if change <= CONVERGED or (change <= ROUNDING and change > STALLED * before):
                return OK, gap
            if not change < 1e3:
                break
            before = change
    return NO_CONVERGENCE, gap


@lru_cache(maxsize=8)
def gauss(s: int) -> tuple[Tableau, Array]:
    """Return Gauss' method of s stages, and the matrix (s + 1, s) of the Legendre coefficients of int_0^x l_j on [0, 1]."""
    x, weights = legendre.leggauss(s)
    coefficients = np.linalg.inv(legendre.legvander(x, s - 1))
    integrals: Array = legendre.legint(coefficients, lbnd=-1) / 2.0
    a = np.ascontiguousarray(legendre.legvander(x, s) @ integrals)
    return Tableau(0.5 * (x + 1.0), a, 0.5 * weights), integrals


class Piece(NamedTuple):
    """The polynomial on [t0, t1]: y0 (ny,), and the rates F (s, ny) at its nodes;  gap: distance of its stages from the constraints."""

    t0: float
    t1: float
    y0: Array
    F: Array
    gap: float

    def states(self, t: Array) -> Array:
        """Return states (k, ny) at the times t (k,)."""
        h = self.t1 - self.t0
        x = 2.0 * (t - self.t0) / h - 1.0
        y: Array = self.y0 + h * legendre.legvander(x, len(self.F)) @ (gauss(len(self.F))[1] @ self.F)
        return y

    def rates(self, t: Array) -> Array:
        """Return y' (k, ny) of the polynomial, with accelerations."""
        x = 2.0 * (t - self.t0) / (self.t1 - self.t0) - 1.0
        coefficients = legendre.legder(gauss(len(self.F))[1]) * 2.0
        y_dot: Array = legendre.legvander(x, len(self.F) - 1) @ (coefficients @ self.F)
        return y_dot


@dataclass(frozen=True)
class Curve:
    """A motion of consecutive pieces."""

    pieces: tuple[Piece, ...]
    n_bodies: int

    @property
    def t0(self) -> float:
        """Start time [s]."""
        return self.pieces[0].t0

    @property
    def t1(self) -> float:
        """End time [s]."""
        return self.pieces[-1].t1

    @property
    def gap(self) -> float:
        """Distance of the stages from the constraints."""
        return max(piece.gap for piece in self.pieces)

    def states(self, t: Array) -> Array:
        """Return states (k, ny) at the times t (k,), with |p| = 1."""
        y = self._of_pieces(t, "states")
        bodies = y[:, : WIDTH * self.n_bodies].reshape(len(t), self.n_bodies, WIDTH)
        bodies[:, 1:, 3:7] = normalized(bodies[:, 1:, 3:7])
        return y

    def rates(self, t: Array) -> Array:
        """Return y' (k, ny)."""
        return self._of_pieces(t, "rates")

    def _of_pieces(self, t: Array, what: str) -> Array:
        starts = np.array([piece.t0 for piece in self.pieces])
        which = np.clip(np.searchsorted(starts, t, side="right") - 1, 0, len(starts) - 1)
        y = np.empty((len(t), self.pieces[0].y0.size))
        for k, piece in enumerate(self.pieces):
            y[which == k] = getattr(piece, what)(t[which == k])
        return y


class SmoothBranch:
    """The smooth motion of one model, with a workspace of its own.  User functions are evaluated by the callback of the run."""

    def __init__(self, model: Model, callback: Callback) -> None:
        self.model, self.pack, self.rule = model, model.pack()._replace(callback=callback), Projection(tol=EXACT)
        self.options = self.rule.options()

    def projected(self, t: float, y: Array) -> tuple[Array, Array] | None:
        """Return the state projected on the constraints, and its rates; None if that fails."""
        y, y_dot = y.copy(), np.zeros_like(y)
        code = self.rule.post_step(self.pack, self.options, t, y, y_dot)
        self.pack.callback.keep_interruption(code)
        return (y, y_dot) if code == OK else None

    def curve(self, times: list[float], t_singular: float, y0: Array) -> Curve | None:
        """Return the motion from y0 at times[0] through all `times`; None if some piece fails."""
        pieces: list[Piece] = []
        for a, b in zip(times[:-1], times[1:], strict=True):
            if pieces:
                found = self.projected(a, pieces[-1].states(np.array([a]))[0])
                if found is None:
                    return None
                y0 = found[0]
            more = self._pieces(a, b, y0, t_singular, HALVINGS)
            if more is None:
                return None
            pieces += more
        return Curve(tuple(pieces), self.model.nb + 1)

    def _pieces(self, a: float, b: float, y0: Array, t_singular: float, halvings: int) -> list[Piece] | None:
        """Return one piece from a to b, or several if it does not converge and contains no singular configuration."""
        piece = self._piece(a, b, y0, t_singular)
        if piece is not None:
            return [piece]
        if a < t_singular < b or halvings == 0:
            return None
        middle = 0.5 * (a + b)
        first = self._pieces(a, middle, y0, t_singular, halvings - 1)
        if first is None:
            return None
        found = self.projected(middle, first[-1].states(np.array([middle]))[0])
        rest = None if found is None else self._pieces(middle, b, found[0], t_singular, halvings - 1)
        return None if rest is None else first + rest

    def _piece(self, a: float, b: float, y0: Array, t_singular: float) -> Piece | None:
        found = self.projected(a, y0)
        if found is None:
            return None
        y0, y_dot = found
        h, method = b - a, gauss(farthest(a, b, t_singular))[0]
        Y = self._parabola(y0, y_dot, h * method.c)
        F = np.zeros_like(Y)
        dynamics = Dynamics(self.rule.rates, self.rule.post_step, self.pack)
        code, gap = collocate(
            dynamics, self.options, method, a, h, y0, Stages(Y, F, np.empty_like(y0), units_of_state(self.model)), ITERATIONS
        )
        self.pack.callback.keep_interruption(code)
        return Piece(a, b, y0, F, gap) if code == OK and np.isfinite(F).all() else None

    def _parabola(self, y: Array, y_dot: Array, tau: Array) -> Array:
        return parabola(y, y_dot, tau, self.model.nb + 1)


def parabola(y: Array, y_dot: Array, tau: Array, n_bodies: int) -> Array:
    """Return states (k, ny) after tau (k,): q + tau q' + tau^2 q'' / 2, u + tau u'."""
    return along(y, y_dot, half_bend(y, y_dot, n_bodies), tau)


def half_bend(y: Array, y_dot: Array, n_bodies: int) -> Array:
    """Return q'' / 2 (n, 7), q = (r, p), of a state and its rates."""
    bodies, rates = (x[: WIDTH * n_bodies].reshape(n_bodies, WIDTH) for x in (y, y_dot))
    p, omega_bar = bodies[:, 3:7], bodies[:, 10:13]
    bend = np.empty((n_bodies, 7))
    bend[:, :3] = rates[:, 7:10]
    bend[:, 3:] = p_dot_from(p, rates[:, 10:13]) - 0.25 * np.einsum("ka,ka->k", omega_bar, omega_bar)[:, None] * p
    bend *= 0.5
    bend[0] = 0.0
    return bend


def along(y: Array, y_dot: Array, bend: Array, tau: Array) -> Array:
    """Return the states of the parabola with this `half_bend` after tau (k,)."""
    found: Array = y + tau[:, None] * y_dot
    q = found[:, : WIDTH * len(bend)].reshape(len(tau), len(bend), WIDTH)[:, 1:, :7]
    q += (tau * tau)[:, None, None] * bend[1:]
    p = q[..., 3:]
    p /= np.sqrt(np.einsum("kba,kba->kb", p, p))[..., None]
    return found


def farthest(a: float, b: float, t: float) -> int:
    """Return the number of nodes whose nearest node is farthest from t."""
    return max(NODES, key=lambda s: float(np.abs(a + (b - a) * gauss(s)[0].c - t).min())) if a < t < b else NODES[0]
