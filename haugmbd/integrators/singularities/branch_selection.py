r"""Whether the velocity selects the continuation of a motion through a singular configuration: tests on its curve.

    sigma(t* +- w) is about twice sigma(t* +- w / 2)        the branches separate at first order
    Phi(t*) = 0 on the polynomial itself                    two branches that pass each other at a small distance do not cross
    b Phi(t*) = 0,  b Phi_q = 0 there                       the same to second order in the error of the polynomial

sigma: the smallest singular value of the rows, by inverse iteration on  S = W Phi_q M^-1 Phi_q^T W  with the row weights W.
The time t* is the root of sigma, with the sign of t - t*, by inverse interpolation from both sides.
"""

from __future__ import annotations

from typing import NamedTuple, Protocol

import numpy as np

from haugmbd.compiled.array_types import Array
from haugmbd.compiled.jit import entry, kernel
from haugmbd.compiled.status_codes import OK
from haugmbd.formulations.newton_euler import factorize, finish, solve_system
from haugmbd.integrators.singularities.smooth_branch import Curve
from haugmbd.model.evaluate import prepare, rows_entry
from haugmbd.model.inspection.constraint_rows import rows_in
from haugmbd.model.inspection.length import units_of_rows
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


class Motion(Protocol):
    """A motion with states (k, ny) at the times t (k,)."""

    def states(self, t: Array, /) -> Array: ...


class Selection(NamedTuple):
    """What the tests show: the time [s], the joints with dependent rows, and the pivot, see `SingularCrossing`.

    gap: contradiction of the dependent rows, relative to the size;  regular: only the selection of kept rows is singular
    """

    t: float
    joints: tuple[str, ...]
    pivot: float
    gap: float
    regular: bool


class Weakness(NamedTuple):
    """sigma;  change: of the lengths of all rows in the motion that belongs to it."""

    sigma: float
    change: float


@entry
def weakest(P: Pack, t: float, y: Array, units: Array, sweeps: int) -> tuple[int, float, float]:
    """Run inverse iteration from the b in the right-hand side; return the code, sigma, and |Phi_q u / units| of the motion u.

    units: (6 ne,) of Phi by slots, 0 for padding.  The workspace then contains W^-1 b, b of unit length, and K^-1 W^-1 b.
    """
    code = prepare(P, t, y)
    if code != OK:
        return code, 0.0, 0.0
    b, x, weight = ws.right_hand_side(P), ws.solution(P), ws.row_weights(P)
    n = ws.n_bodies(P)
    code = factorize(P)
    size = 1.0
    for sweep in range(sweeps):
        if code != OK:
            return code, 0.0, 0.0
        code = finish(P) if sweep == 0 else solve_system(P)
        size = 0.0
        for e in range(n, b.shape[0]):
            for a in range(6):
                if weight[e - n, a] > 0.0:
                    size += (x[e, a] / weight[e - n, a]) ** 2
        size = np.sqrt(size)
        if not size > 0.0:
            return OK, 0.0, 0.0
        if sweep + 1 < sweeps:
            for e in range(n, b.shape[0]):
                for a in range(6):
                    w = weight[e - n, a]
                    b[e, a] = x[e, a] / w / w / size if w > 0.0 else 0.0
    return code, 1.0 / np.sqrt(size), change_of_rows(P, units)


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


def root_of_samples(x: Array, f: Array) -> float:
    """Return where a smooth monotonic function with the values f at x is zero, by inverse interpolation."""
    return float(np.polyfit(f / np.abs(f).max(), x, len(x) - 1)[-1])


class BranchSelection:
    """The tests for one model, with the workspace of its search for singular configurations;  size: the length of the model [m]."""

    def __init__(self, model: Model, pack: Pack, size: float) -> None:
        self.model, self.pack, self.size = model, pack, size
        self.units = units_of_rows(model)
        self.units_of_slots = np.zeros(6 * len(model.tables["EDGES"]))
        self.units_of_slots[model.slot_of_row] = self.units

    def test(self, curve: Curve, w: float, t_singular: float, accuracy: float) -> Selection | None:
        """Return what is singular on the curve near t_singular; None if the velocity does not select the continuation.

        w: length of the crossing on either side [s];  accuracy: relative error of the curve
        """
        self.start()
        for _ in range(ATTEMPTS):
            tau = min(w, t_singular - curve.t0, curve.t1 - t_singular)
            if not tau > 0.0:
                return None
            x, sigma, _ = self._around(curve, t_singular, tau, APART)
            if not (np.abs(sigma) > 0.0).all():
                return None
            shift = root_of_samples(x, sigma)
            if not abs(shift) < 0.5 * tau:
                return None
            t_singular += shift
            if abs(shift) < MOVED * tau:
                break
        outer, inner = np.abs(sigma[::2]), np.abs(sigma[1::2])
        if not ((LINEAR[0] < outer / inner) & (outer / inner < LINEAR[1])).all():
            return None
        x, near, change = self._around(curve, t_singular, tau, BESIDE)
        if not (np.abs(near) > 0.0).all():
            return None
        regular = bool((change[1::2] > SAME * change[::2]).any())
        t_singular += 0.0 if regular else root_of_samples(x, near)
        gap = self._gap(curve, t_singular, CLOSE * tau, accuracy)
        if gap is None:
            return None
        names = self.joints()
        least = 0.0 if regular else self.weakness(curve, np.array([t_singular]))[0].sigma
        return Selection(t_singular, names, float((least / outer[-1]) ** 2), gap, regular)

    def _around(self, curve: Curve, t_singular: float, tau: float, parts: tuple[float, float]) -> tuple[Array, Array, Array]:
        """Return the times from t_singular, sigma with their sign, and the change of the rows, at some parts of tau on either side."""
        x = tau * np.array([-parts[0], -parts[1], parts[0], parts[1]])
        found = np.array(self.weakness(curve, t_singular + x))
        return x, np.sign(x) * found[:, 0], found[:, 1]

    def _gap(self, curve: Curve, t_singular: float, beside: float, accuracy: float) -> float | None:
        """Return the contradiction of the dependent rows at t_singular; None if the curve is not on the constraints there."""
        pack, model = self.pack, self.model
        self.weakness(curve, np.array([t_singular + beside]))
        b = workspace_array(pack, "RIGHT")[model.nb + 1 :].reshape(-1)[model.slot_of_row]
        code = rows_entry(pack, t_singular, curve.states(np.array([t_singular]))[0])
        pack.callback.keep_interruption(code)
        if code != OK:
            return None
        rows = rows_in(model, pack, model.state())
        scale = np.linalg.norm(rows.Phi_r, axis=(1, 2)) * self.size + np.linalg.norm(rows.PiBar, axis=(1, 2))
        if not (np.abs(rows.Phi) <= max(ON_BRANCH, accuracy) * np.maximum(scale, self.units)).all():
            return None
        return float(abs(b @ rows.Phi) / (np.linalg.norm(b) * max(1.0, scale.max())))

    def start(self) -> None:
        """Begin inverse iteration at random."""
        model, b = self.model, workspace_array(self.pack, "RIGHT")
        b[:] = 0.0
        random = np.random.default_rng(0)
        b[model.nb + 1 :].reshape(-1)[model.slot_of_row] = random.standard_normal(model.nc) * self.units
        self.sweeps = SWEEPS

    def weakness(self, motion: Motion, t: Array) -> list[Weakness]:
        """Return the smallest singular values at the times t (k,), one after the other; 0 where that fails."""
        found = []
        for time, y in zip(t, motion.states(t), strict=True):
            code, sigma, change = weakest(self.pack, time, y, self.units_of_slots, self.sweeps)
            self.sweeps = MORE_SWEEPS
            self.pack.callback.keep_interruption(code)
            found.append(Weakness(sigma, change))
        return found

    def joints(self) -> tuple[str, ...]:
        """Return the joints of the most nearly dependent rows that were found last."""
        model = self.model
        b = workspace_array(self.pack, "RIGHT")[model.nb + 1 :].reshape(-1)[model.slot_of_row]
        part = np.abs(b) / self.units
        return tuple(sorted({label.joint for label, share in zip(model.labels, part, strict=True) if share > SHARE * part.max()}))

    def joints_at(self, motion: Motion, t: float) -> tuple[str, ...]:
        """Return the joints of the most nearly dependent rows at time t [s] of a motion."""
        self.start()
        self.weakness(motion, np.array([t]))
        return self.joints()
