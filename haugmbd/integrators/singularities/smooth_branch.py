r"""The smooth motion through a singular configuration, as polynomials that fulfil equations of motion and constraints on both sides.

    y(t_0 + x h) = y_0 + h sum_j int_0^x l_j F_j = sum_k c_k P_k(2 x - 1)      of Gauss collocation, see `collocation`;  P_k: Legendre
    c_(s+1) is about c_s r,   r: the decay of the last coefficients              the error of a polynomial of s nodes

The constraints are regular on both sides of the singular configuration t*, and no node of a piece that contains t* is close to it.  A
motion that reaches t* on a smooth branch continues as one polynomial on both sides.  Other branches have other tangents there, and no
polynomial of small error changes from one branch to another.  Picard's iteration starts from the parabola q + tau q' + tau^2 q'' / 2.
Source: Hairer, Norsett, Wanner, Solving ODE I, sec. II.7 (collocation); Haug 2021, sec. 3.7 (branches at a bifurcation).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import log10
from typing import NamedTuple

import numpy as np
from numpy.polynomial import legendre

from haugmbd.compiled.array_types import Array, Ints
from haugmbd.compiled.ffi import Callback
from haugmbd.compiled.jit import DirectCall, entry
from haugmbd.compiled.status_codes import OK
from haugmbd.integrators.default_number import DefaultNumber
from haugmbd.integrators.singularities.collocation import TIGHT, Stages, collocate, gauss
from haugmbd.integrators.stabilization.projection import Projection
from haugmbd.integrators.step_context import Point, new_dynamics
from haugmbd.math.body_columns import EULER, VELOCITY
from haugmbd.math.euler_kernels import normalize
from haugmbd.model.generalized_forces import copy_line
from haugmbd.model.inspection.length import rounding_of_velocities, units_of_state
from haugmbd.model.model import Model
from haugmbd.workspace.layout import WIDTH, with_callback

NODES = (10, 11, 12, 13)
"""Numbers of nodes of a piece: the one is taken whose nodes are farthest from the singular configuration."""

FEW_NODES = (4, 6, 8, 10, 12)
"""Numbers of nodes of the only piece of a curve, or one more."""
DECAY = 0.5
"""Largest ratio of the last coefficients of a piece that is resolved."""

EXACT = DefaultNumber(1e-15)
"""Violation that a projection may leave: errors near the singular configuration are divided by the smallest singular value."""

UNPROJECTED = 1e-3
"""Part of a crossing next to the singular configuration in which states are those of the polynomial."""
HALVINGS = 6
"""How often a piece beside the singular configuration is halved if Picard's iteration does not converge, as with stiff forces."""


@entry
def put_states(t: Array, t0: float, t1: float, y0: Array, c: Array, n_bodies: int, out: Array) -> None:
    """Write  y0 + sum_k c_k P_k(x)  at the times t (k,) to out (k, ny), with |p| = 1 of `n_bodies`, the ground counted.

    (k + 1) P_(k+1) = (2 k + 1) x P_k - k P_(k-1)
    """
    for row in range(t.size):
        x = 2.0 * (t[row] - t0) / (t1 - t0) - 1.0
        y, before, P = out[row], 0.0, 1.0
        copy_line(y0, y)
        for k in range(c.shape[0]):
            for a in range(y.size):
                y[a] += P * c[k, a]
            before, P = P, ((2.0 * k + 1.0) * x * P - k * before) / (k + 1.0)
        for body in range(1, n_bodies):
            normalize(y[WIDTH * body + EULER : WIDTH * body + VELOCITY])


_put_states = DirectCall(put_states)


class CurvePiece(NamedTuple):
    """The polynomial on [t0, t1]: y0 (ny,), and at its nodes the states on the constraints Y (s, ny), and the rates F (s, ny).

    c: (s + 1, ny) its Legendre coefficients, beside y0
    """

    t0: float
    t1: float
    y0: Array
    Y: Array
    F: Array
    c: Array

    def put_states(self, t: Array, n_bodies: int, out: Array) -> None:
        """Write states at the times t (k,) to out (k, ny), with |p| = 1 of `n_bodies`, the ground counted."""
        _put_states(np.ascontiguousarray(t, dtype=np.float64), self.t0, self.t1, self.y0, self.c, n_bodies, out)

    def states(self, t: Array) -> Array:
        """Return states (k, ny) at the times t (k,)."""
        y = np.empty((len(t), self.y0.size))
        self.put_states(t, 0, y)
        return y

    def error(self, size: Array) -> float:
        """Return the first coefficient that is left out, relative to size (ny,): by the decay of the last ones, or less than they are."""
        third, second, last = np.sqrt(np.mean((self.c[-3:] / size) ** 2, axis=1)) + 1e-300
        ratio = max(last / second, np.sqrt(last / third))
        return float(min(max(last * ratio, second * ratio**2) if ratio < DECAY else np.inf, max(last, second)))

    def rates(self, t: Array) -> Array:
        """Return y' (k, ny) of the polynomial, with accelerations."""
        x = 2.0 * (t - self.t0) / (self.t1 - self.t0) - 1.0
        coefficients = legendre.legder(gauss(len(self.F))[1]) * 2.0
        y_dot: Array = legendre.legvander(x, len(self.F) - 1) @ (coefficients @ self.F)
        return y_dot


@dataclass(frozen=True)
class Curve:
    """A motion of consecutive pieces."""

    pieces: tuple[CurvePiece, ...]
    n_bodies: int

    @property
    def t0(self) -> float:
        """Start time [s]."""
        return self.pieces[0].t0

    @property
    def t1(self) -> float:
        """End time [s]."""
        return self.pieces[-1].t1

    def states(self, t: Array) -> Array:
        """Return states (k, ny) at the times t (k,), with |p| = 1."""
        y = np.empty((len(t), self.pieces[0].y0.size))
        for piece, own in self._parts(t):
            states = np.empty((len(t[own]), y.shape[1]))
            piece.put_states(t[own], self.n_bodies, states)
            y[own] = states
        return y

    def rates(self, t: Array) -> Array:
        """Return y' (k, ny)."""
        y_dot = np.empty((len(t), self.pieces[0].y0.size))
        for piece, own in self._parts(t):
            y_dot[own] = piece.rates(t[own])
        return y_dot

    def _parts(self, t: Array) -> Iterator[tuple[CurvePiece, slice | Ints]]:
        """Yield the pieces, and which of the times t (k,) belong to each."""
        if len(self.pieces) == 1:
            yield self.pieces[0], slice(None)
            return
        starts = np.array([piece.t0 for piece in self.pieces])
        which = np.clip(np.searchsorted(starts, t, side="right") - 1, 0, len(starts) - 1)
        for k, piece in enumerate(self.pieces):
            yield piece, np.nonzero(which == k)[0]


class CrossedCurve(NamedTuple):
    """A curve through a singular configuration at t_singular [s], with states on the constraints;  w: its length on either side [s]."""

    branch: SmoothBranch
    curve: Curve
    t_singular: float
    w: float

    def states(self, t: Array) -> Array:
        """Return states (k, ny), projected on the constraints but at the singular configuration itself."""
        y = self.curve.states(t)
        for k in np.nonzero(np.abs(t - self.t_singular) > UNPROJECTED * self.w)[0]:
            found = self.branch.projected(float(t[k]), y[k])
            if found is not None:
                y[k] = found[0]
        return y

    def rates(self, t: Array) -> Array:
        """Return y' (k, ny)."""
        return self.curve.rates(t)

    @property
    def t0(self) -> float:
        """Start time [s]."""
        return self.curve.t0

    def nodes(self, t_end: float) -> tuple[Array, Array, Array]:
        """Return the times (k,) before t_end at which the curve was computed, and the states and rates (k, ny) there."""
        pieces = self.curve.pieces
        t = np.concatenate([p.t0 + (p.t1 - p.t0) * gauss(len(p.F))[0].c for p in pieces])
        k = int(np.searchsorted(t, t_end))
        return t[:k], np.vstack([p.Y for p in pieces])[:k], np.vstack([p.F for p in pieces])[:k]


class SmoothBranch:
    """The smooth motion of one model, with a workspace of its own.  User functions are evaluated by the callback of the run."""

    def __init__(self, model: Model, callback: Callback) -> None:
        self.model, self.pack, self.rule = model, with_callback(model.pack(), callback), Projection(tol=EXACT)
        self.options, self.units = self.rule.options(), units_of_state(model)

    def rounding(self, y: Array) -> Array:
        """Return what slow velocities are measured by at the state y, (ny,), beside fast ones."""
        return rounding_of_velocities(self.units, y, self.model.nb + 1)

    def projected(self, t: float, y: Array) -> tuple[Array, Array] | None:
        """Return the state projected on the constraints, and its rates; None if that fails."""
        y, y_dot = y.copy(), np.zeros_like(y)
        code = self.rule.post_step(self.pack, self.options, t, y, y_dot)
        self.pack.callback.keep_interruption(code)
        return (y, y_dot) if code == OK else None

    def resolved(self, times: tuple[float, float], t_singular: float, y0: Array, rtol: float, atol: Array) -> Curve | None:
        """Return the motion from y0 as one polynomial, of so few nodes that its error is at most rtol |y| + atol (ny,); None if none is."""
        found = self.projected(times[0], y0)
        if found is None:
            return None
        size = atol + rtol * np.abs(y0)
        fewest = 2 * round(1.5 - 0.3 * log10(min(rtol, 0.1)))
        piece: CurvePiece | None = None
        for fewer in (s for s in FEW_NODES if s >= fewest):
            nodes = farthest(*times, t_singular, (fewer, fewer + 1))
            piece = self._collocated(times, found, nodes, (atol / rtol, rtol), piece)
            if piece is None:
                return None
            if piece.error(size) <= 1.0:
                return Curve((piece,), self.model.nb + 1)
        return None

    def curve(self, times: list[float], t_singular: float, y0: Array) -> Curve | None:
        """Return the motion from y0 at times[0] through all `times`; None if some piece fails."""
        pieces: list[CurvePiece] = []
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

    def _pieces(self, a: float, b: float, y0: Array, t_singular: float, halvings: int) -> list[CurvePiece] | None:
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

    def _piece(self, a: float, b: float, y0: Array, t_singular: float) -> CurvePiece | None:
        found = self.projected(a, y0)
        nodes = farthest(a, b, t_singular, NODES) if a < t_singular < b else NODES[0]
        return None if found is None else self._collocated((a, b), found, nodes, (self.units, TIGHT), None)

    def _collocated(
        self,
        times: tuple[float, float],
        start: tuple[Array, Array],
        nodes: int,
        accuracy: tuple[Array, float],
        guess: CurvePiece | None,
    ) -> CurvePiece | None:
        """Return the piece from a state on the constraints with its rates; None if the iteration does not converge.

        accuracy: units (ny,), and the error, relative to units + |y|, that ends the iteration
        """
        (a, b), (y0, y_dot), (units, limit) = times, start, accuracy
        h, method = b - a, gauss(nodes)[0]
        Y = np.empty((nodes, y0.size)) if guess is None else guess.states(a + h * method.c)
        F = np.zeros_like(Y)
        stages = Stages(Y, np.empty_like(y0), F, units + self.rounding(y0), guess is not None)
        dynamics = new_dynamics(self.rule.rates, self.rule.post_step, self.pack)
        code = collocate(dynamics, self.options, method, a, h, Point(y0, y_dot), stages, limit)
        self.pack.callback.keep_interruption(code)
        if code != OK or not np.isfinite(F).all():
            return None
        return CurvePiece(a, b, y0, Y, F, h * gauss(nodes)[1] @ F)


def farthest(a: float, b: float, t: float, nodes: tuple[int, ...]) -> int:
    """Return the number of nodes whose nearest node is farthest from t."""
    return max(nodes, key=lambda s: float(np.abs(a + (b - a) * gauss(s)[0].c - t).min()))
