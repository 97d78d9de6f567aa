r"""Whether the velocity selects the continuation of a motion through a singular configuration: tests on its curve.

    sigma(t* +- w) is about twice sigma(t* +- w / 2)        the branches separate at first order
    Phi(t*) = 0 on the polynomial itself                    two branches that pass each other at a small distance do not cross
    b Phi(t*) = 0,  b Phi_q = 0 there                       the same to second order in the error of the polynomial

sigma: the smallest singular value of the rows, by inverse iteration on  S = W Phi_q M^-1 Phi_q^T W  with the row weights W.
The time t* is the root of sigma, with the sign of t - t*, by inverse interpolation from both sides.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import copysign, isfinite, nan, prod
from typing import NamedTuple, Protocol

import numpy as np

from haugmbd.compiled.array_types import Array
from haugmbd.compiled.jit import DirectCall, entry, kernel
from haugmbd.compiled.status_codes import OK, USER_STOPPED
from haugmbd.formulations.newton_euler import factorize, finish, solve_system
from haugmbd.model.evaluate import prepare
from haugmbd.model.inspection.length import units_of_rows
from haugmbd.model.labels import joint_name
from haugmbd.model.model import Model
from haugmbd.workspace import accessors as ws
from haugmbd.workspace.layout import Pack, workspace_array

SWEEPS, MORE_SWEEPS = 6, 3
"""Sweeps of inverse iteration from a random vector, for a smallest singular value within a few percent, and from that of a place nearby."""
ON_BRANCH = 1e-8
"""Relative to |Phi_q| times the size: |Phi| of the polynomial at the singular configuration."""
LINEAR = (1.5, 2.8)
"""Bounds of sigma(t* +- w) / sigma(t* +- w / 2): 2 where sigma vanishes like |t - t*|, 4 where like its square, 1 where not at all."""
SAME = 2.0
"""Growth, as t* is approached to a quarter, of what dropped rows say of the motion that kept ones let free: 4 where they forbid it."""
SHARE = 1e-3
"""Relative to the largest multiplier: a larger one belongs to the dependent rows."""
APART = (0.5, 0.25)
"""Parts of the length of a crossing, on either side of it, at which sigma is compared."""
BESIDE = (1.0 / 16.0, 1.0 / 64.0)
"""Parts at which sigma locates it: at t* itself sigma^2 is rounding."""
CLOSE = 1.0 / 1024.0
"""The part at which the dependent rows are combined: there b Phi_q is smaller than the error of the polynomial."""
MOVED = 0.02
"""Change of t*, relative to the length of the crossing, after which sigma is compared again."""
ATTEMPTS = 4


class StatesOverTime(Protocol):
    """A motion with states (k, ny) at the times t (k,)."""

    def states(self, t: Array, /) -> Array: ...


class Crossed(StatesOverTime, Protocol):
    """A motion through a singular configuration, from the time t0 to t1 [s]."""

    @property
    def t0(self) -> float: ...
    @property
    def t1(self) -> float: ...


class Selection(NamedTuple):
    """The result of the tests: the time [s], the joints with dependent rows, and the pivot, see `SingularCrossing`.

    gap: contradiction of the dependent rows, relative to the size;  regular: only the selection of kept rows is singular
    """

    t: float
    joints: tuple[str, ...]
    pivot: float
    gap: float
    regular: bool


class SmallestSingularValue(NamedTuple):
    """The smallest singular value of the rows at a state.

    sigma: the value;  change: of the lengths of all rows in the motion that belongs to it
    """

    sigma: float
    change: float


@entry
def singular_values_entry(P: Pack, t: Array, y: Array, units: Array, sweeps: int, more: int, found: Array) -> int:
    """Write sigma, and |Phi_q u / units| of the motion u that belongs to it, at the states y (k, ny) to found (k, 2); 0 where that fails.

    units: (6 ne,) of Phi by slots, 0 for padding;  sweeps, more: of inverse iteration at the first state, and at the others, each from
    the vector of the one before.  The workspace then contains W^-1 b, b of unit length, and K^-1 W^-1 b.
    Return USER_STOPPED if it occurs, else the first code that is not OK.
    """
    first = OK
    for k in range(t.size):
        found[k, 0], found[k, 1] = 0.0, 0.0
        code, size = iterate(P, t[k], y[k], more if k > 0 else sweeps)
        if size > 0.0:
            found[k, 0], found[k, 1] = 1.0 / np.sqrt(size), change_of_rows(P, units)
        if first == OK or code == USER_STOPPED:
            first = code
    return first


singular_values = DirectCall(singular_values_entry)


@kernel
def iterate(P: Pack, t: float, y: Array, sweeps: int) -> tuple[int, float]:
    """Run inverse iteration from the b in the right-hand side; return the code, and 1 / sigma^2, which is 0 where there is none."""
    code = prepare(P, t, y)
    if code != OK:
        return code, 0.0
    b, x, weight = ws.right_hand_side(P), ws.solution(P), ws.row_weights(P)
    n = ws.n_bodies(P)
    code = factorize(P)
    size = 1.0
    for sweep in range(sweeps):
        if code != OK:
            return code, 0.0
        code = finish(P) if sweep == 0 else solve_system(P)
        size = 0.0
        for e in range(n, b.shape[0]):
            for a in range(6):
                if weight[e - n, a] > 0.0:
                    size += (x[e, a] / weight[e - n, a]) ** 2
        size = np.sqrt(size)
        if not size > 0.0:
            return OK, 0.0
        if sweep + 1 < sweeps:
            for e in range(n, b.shape[0]):
                for a in range(6):
                    w = weight[e - n, a]
                    b[e, a] = x[e, a] / w / w / size if w > 0.0 else 0.0
    return code, size


@kernel
def change_of_rows(P: Pack, units: Array) -> float:
    """Return |Phi_q u / units| of all rows, with the u of the solution array."""
    edges, J, x = ws.edges(P), ws.jacobian(P), ws.solution(P)
    total = 0.0
    for slot in range(units.size):
        if units[slot] > 0.0:
            speed = 0.0
            for side in range(edges.shape[1]):
                body = edges[slot // 6, side]
                if body > 0:
                    for c in range(6):
                        speed += J[slot, side, c] * x[body, c]
            total += (speed / units[slot]) ** 2
    return np.sqrt(total)  # type: ignore[no-any-return]


@entry
def contradiction_entry(P: Pack, t: float, y: Array, units: Array, b: Array, accuracy: float) -> tuple[int, float]:
    """Return the code, and |b Phi| / |b| at the state y, relative to the size of the rows; -1 if y violates the constraints.

    units: (6 ne,) of Phi by slots, 0 for padding;  b: (6 ne,) of the dependent rows;  accuracy: |Phi| that counts as zero, relative to
    max(|Phi_r| L + |PiBar|, units)
    """
    code = prepare(P, t, y)
    if code != OK:
        return code, 0.0
    J, level, size = ws.jacobian(P), ws.row_values(P), ws.length(P)
    total = square = 0.0
    largest = 1.0
    for slot in range(units.size):
        if units[slot] > 0.0:
            force = moment = 0.0
            for side in range(J.shape[1]):
                for a in range(3):
                    force += J[slot, side, a] ** 2
                    moment += J[slot, side, 3 + a] ** 2
            scale = np.sqrt(force) * size + np.sqrt(moment)
            if not abs(level[slot, 0]) <= accuracy * max(scale, units[slot]):
                return OK, -1.0
            largest = max(largest, scale)
            total += b[slot] * level[slot, 0]
            square += b[slot] ** 2
    return OK, abs(total) / (np.sqrt(square) * largest)


contradiction = DirectCall(contradiction_entry)


def root_of_samples(x: Sequence[float], f: Sequence[float]) -> float:
    """Return where a smooth monotonic function with the values f at x is zero, by inverse interpolation; NaN if two values are equal."""
    if len(set(f)) < len(f):
        return nan
    root = 0.0
    for k, (x_k, f_k) in enumerate(zip(x, f, strict=True)):
        root += x_k * prod(f_j / (f_j - f_k) for j, f_j in enumerate(f) if j != k)
    return root


class BranchSelection:
    """The tests for one model, with the workspace of its search for singular configurations;  size: the length of the model [m]."""

    def __init__(self, model: Model, pack: Pack, size: float) -> None:
        self.model, self.pack, self.size = model, pack, size
        self.units = units_of_rows(model)
        self.units_of_slots = np.zeros(6 * len(model.tables["EDGES"]))
        self.units_of_slots[model.slot_of_row] = self.units

    def test(self, curve: Crossed, w: float, t_singular: float, accuracy: float) -> Selection | None:
        """Return what is singular on the curve near t_singular; None if the velocity does not select the continuation.

        w: length of the crossing on either side [s];  accuracy: relative error of the curve
        """
        self.start()
        for _ in range(ATTEMPTS):
            tau = min(w, t_singular - curve.t0, curve.t1 - t_singular)
            if not tau > 0.0:
                return None
            x, sigma, _ = self._around(curve, t_singular, tau, APART)
            if not all(abs(s) > 0.0 for s in sigma):
                return None
            shift = root_of_samples(x, sigma)
            if not abs(shift) < 0.5 * tau:
                return None
            t_singular += shift
            if abs(shift) < MOVED * tau:
                break
        outer, inner = sigma[::2], sigma[1::2]
        if not all(LINEAR[0] < far / near < LINEAR[1] for far, near in zip(outer, inner, strict=True)):
            return None
        x, sigma, change = self._around(curve, t_singular, tau, BESIDE)
        if not all(abs(s) > 0.0 for s in sigma):
            return None
        regular = any(near > SAME * far for far, near in zip(change[::2], change[1::2], strict=True))
        t_singular += 0.0 if regular else root_of_samples(x, sigma)
        if not isfinite(t_singular):
            return None
        gap = self._gap(curve, t_singular, CLOSE * tau, accuracy)
        if gap is None:
            return None
        names = self.joints()
        least = 0.0 if regular else self.singular_values(curve, np.array([t_singular]))[0].sigma
        return Selection(t_singular, names, (least / abs(outer[-1])) ** 2, gap, regular)

    def _around(
        self, curve: Crossed, t_singular: float, tau: float, parts: tuple[float, float]
    ) -> tuple[list[float], list[float], list[float]]:
        """Return the times from t_singular, sigma with their sign, and the change of the rows, at some parts of tau on either side."""
        x = [-tau * parts[0], -tau * parts[1], tau * parts[0], tau * parts[1]]
        found = self.singular_values(curve, t_singular + np.array(x))
        return x, [copysign(one.sigma, x_k) for x_k, one in zip(x, found, strict=True)], [one.change for one in found]

    def _gap(self, curve: Crossed, t_singular: float, beside: float, accuracy: float) -> float | None:
        """Return the contradiction of the dependent rows at t_singular; None if the curve is not on the constraints there."""
        self.singular_values(curve, np.array([t_singular + beside]))
        b = self.dependent_rows()
        y = curve.states(np.array([t_singular]))[0]
        code, gap = contradiction(self.pack, t_singular, y, self.units_of_slots, b, max(ON_BRANCH, accuracy))
        self.pack.callback.keep_interruption(code)
        return None if code != OK or gap < 0.0 else gap

    def start(self) -> None:
        """Begin inverse iteration at random."""
        model, b = self.model, workspace_array(self.pack, "RIGHT")
        b[:] = 0.0
        random = np.random.default_rng(0)
        b[model.nb + 1 :].reshape(-1)[model.slot_of_row] = random.standard_normal(model.nc) * self.units
        self.sweeps = SWEEPS

    def singular_values(self, motion: StatesOverTime, t: Array) -> list[SmallestSingularValue]:
        """Return the smallest singular values at the times t (k,), one after the other; 0 where that fails."""
        values = np.empty((len(t), 2))
        code = singular_values(self.pack, t, motion.states(t), self.units_of_slots, self.sweeps, MORE_SWEEPS, values)
        self.sweeps = MORE_SWEEPS
        self.pack.callback.keep_interruption(code)
        return [SmallestSingularValue(*line) for line in values.tolist()]

    def dependent_rows(self) -> Array:
        """Return the combination of rows (6 ne,) that was found last to be most nearly zero."""
        b: Array = workspace_array(self.pack, "RIGHT")[self.model.nb + 1 :].ravel()
        return b

    def joints(self) -> tuple[str, ...]:
        """Return the joints of the most nearly dependent rows that were found last."""
        part = np.abs(self.dependent_rows()[self.model.slot_of_row]) / self.units
        return tuple(sorted({joint_name(self.model.labels, k) for k in np.flatnonzero(part > SHARE * part.max()).tolist()}))

    def joints_at(self, motion: StatesOverTime, t: float) -> tuple[str, ...]:
        """Return the joints of the most nearly dependent rows at time t [s] of a motion."""
        self.start()
        self.singular_values(motion, np.array([t]))
        return self.joints()
