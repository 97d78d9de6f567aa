r"""Rigid contacts over time: forces, gaps, slip, states, and which of the forces are unique.

Of an event-driven run the modes of each segment are kept, and everything is computed from the states again: f by the modes, and where they
leave f open the shortest of those that the laws allow.  A time-stepping run keeps its impulses, divided by the step.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from haugmbd.compiled.array_types import Array, Ints
from haugmbd.contact.uniqueness import ForceSet, are_unique, force_bounds, free_directions
from haugmbd.deprecated import public_class
from haugmbd.diagnostics.dense_states import rates_of, states_between
from haugmbd.diagnostics.work import integral, times_between
from haugmbd.errors import SimulationError
from haugmbd.impacts.contact_problem import SLIP, STICK, ContactProblem, Forces, Key, PointMode

OPEN = 0
STATES = np.array(["open", "stick", "slip"])
"""Names of the states 0, 1 and 2."""
SAME_ACCELERATION = 1e-8
"""Relative to what the forces do one by one: accelerations that differ by less are the same."""
TOUCHING = 1e-9
"""Relative to the size of a face: a point with a smaller gap touches."""
SAME_SHARE = 1e-6
"""Of wrenches of unit forces at distances of 1 at most: less is rounding of points and directions."""
LAWFUL = 1e-10
"""Relative to the largest force: what a law may be left with."""


class ContactRecord(NamedTuple):
    """Forces of points over time.

    keys: (K,);  normal: (nt, K);  friction: (nt, K, 3) on the second body, global;  state: (nt, K) OPEN, STICK or SLIP
    x: (nt, nn, 6) solutions u_dot, lam by nodes
    """

    keys: tuple[Key, ...]
    normal: Array
    friction: Array
    state: npt.NDArray[np.int64]
    x: Array


class ContactSegment:
    """The contacts along a segment of an event-driven run, by their modes.

    end: its last time, and the modes there: a point that comes to rest keeps its direction in its last step
    """

    def __init__(
        self, problem: ContactProblem, modes: dict[Key, PointMode], end: tuple[float, dict[Key, PointMode]] | None = None
    ) -> None:
        self.problem, self.modes, self.end = problem, modes, end
        self._bounds: dict[float, tuple[Array, Array]] = {}

    @property
    def keys(self) -> tuple[Key, ...]:
        """The points that touch along the segment."""
        return tuple(self.modes)

    def at(self, keep: Any) -> ContactSegment:
        """Return the contacts at some of the states."""
        return self

    def record(self, t: Array, y: Array) -> ContactRecord:
        """Return forces and solutions at the states y (nt, ny)."""
        p, K = self.problem, len(self.modes)
        normal, friction = np.zeros((len(t), K)), np.zeros((len(t), K, 3))
        x = np.zeros((len(t), p.response.nodes, 6))
        code = np.array([mode.mode for mode in self.modes.values()], dtype=np.int64)
        for n in range(len(t)):
            modes = self.modes
            if self.end is not None and 0 < n == len(t) - 1 and t[n] == self.end[0]:
                modes = self.end[1]
            forces, x[n] = p.solution(float(t[n]), np.ascontiguousarray(y[n]), modes)
            f = forces.f
            if not forces.unique and not lawful(p, modes, f):
                f = self._lawful_forces(float(t[n]), y[n], forces, modes)
                x[n] = p.solution_of(float(t[n]), np.ascontiguousarray(y[n]), forces.kin, list(modes), f)
            normal[n] = f[:, 0]
            friction[n] = np.einsum("ka,kac->kc", f[:, 1:], forces.kin.D[:, 1:])
        return ContactRecord(self.keys, normal, friction, np.tile(code, (len(t), 1)), x)

    def _lawful_forces(self, t: float, y: Array, forces: Forces, modes: dict[Key, PointMode]) -> Array:
        """Return forces with the same accelerations that fulfil the laws; the given ones where there are none, as at a switch."""
        p, keys = self.problem, list(modes)
        try:
            f = p.shared_forces(t, np.ascontiguousarray(y), modes, forces)
        except SimulationError:
            return forces.f
        G = p.columns(forces.kin, keys, t).G
        change, size = np.abs(G @ (f - forces.f).ravel()).max(), np.abs(G @ np.abs(forces.f).ravel()).max()
        return f if change <= SAME_ACCELERATION * size else forces.f

    def force_set(self, t: float, y: Array) -> ForceSet:
        """Return the set of all forces that fulfil the laws at a state."""
        p = self.problem
        forces, _ = p.solution(t, np.ascontiguousarray(y), self.modes)
        f = forces.f if forces.unique or lawful(p, self.modes, forces.f) else self._lawful_forces(t, y, forces, self.modes)
        return force_set_of(p, t, np.ascontiguousarray(y), self.modes, f, forces)

    def bounds(self, t: float, y: Array) -> tuple[Array, Array]:
        """Return least and largest components (K, 3) at a state; they are kept, as each contact asks for its own."""
        if t not in self._bounds:
            self._bounds[t] = force_bounds(self.force_set(t, y))
        return self._bounds[t]

    def shares(self, t: float, y: Array) -> Array:
        """Return (u_dot, lam) by nodes, (q, nn, 6), of a basis of the changes of forces that the laws leave open at a state.

        They change no acceleration, but what joints carry.
        """
        p, keys = self.problem, list(self.modes)
        free = free_directions(self.force_set(t, y)) if keys else np.zeros((0, 0))
        if not free.size:
            return np.zeros((0, p.response.nodes, 6))
        kin = p.at(np.ascontiguousarray(y), keys)
        f = p.directions(kin, self.modes).columns @ free
        found = (f.T @ p.columns(kin, keys, t).X).reshape(-1, p.response.nodes, 6)
        found[:, : p.n] = 0.0
        return np.asarray(found)


def shares_along(piece: Any, t: Array, y: Array) -> list[tuple[float, Array, Array]]:
    """Return (t, y, solutions) of changes of forces that the laws leave open, where the modes of a piece of a motion change."""
    found = []
    for n in _changes(piece, len(t)):
        segment = piece.segment_at(n) if isinstance(piece, SteppedContacts) else piece
        x = segment.shares(float(t[n]), y[n])
        if len(x):
            found.append((float(t[n]), y[n], x))
    return found


def friction_loss(segment: ContactSegment, t: Array, y: Array, solutions: Callable[[], Array], nodes: Array) -> Array:
    """Return the energy (k,) [J] that friction of the points of a segment dissipates from its start to the times `nodes`, which increase.

    - int sum_points f_T . v_T dt, by Gauss's rule between the steps t (nt,), y (nt, ny).  solutions(): (u_dot, lam) by nodes there
    """
    p = segment.problem
    if len(t) < 2 or not p.friction_of(list(segment.keys)).any():  # noqa: PLR2004
        return np.zeros(len(nodes))
    grid = np.unique(np.concatenate([t, nodes]))
    times = times_between(grid)
    states = states_between(p.model, times, t, y, rates_of(t, y, solutions(), p.n))
    record, power = segment.record(times, states), np.zeros(len(times))
    for n, state in enumerate(states):
        kin = p.at(np.ascontiguousarray(state), list(segment.keys))
        slip = np.einsum("ka,kac->kc", kin.v[:, 1:], kin.D[:, 1:])
        power[n] = -float(np.vdot(record.friction[n], slip))
    lost: Array = integral(grid, power)[np.searchsorted(grid, nodes)]
    return lost


def lawful(p: ContactProblem, modes: dict[Key, PointMode], f: Array) -> bool:
    """Return whether forces (k, 3) are within the cones of their points."""
    mu, size = p.friction_of(list(modes)), float(np.abs(f).max(initial=0.0))
    room = mu * f[:, 0] - np.hypot(f[:, 1], f[:, 2])
    return bool((f[:, 0] >= -LAWFUL * size).all() and (room >= -LAWFUL * size).all())


def force_set_of(p: ContactProblem, t: float, y: Array, modes: dict[Key, PointMode], f: Array, forces: Forces) -> ForceSet:
    """Return the set of forces with the accelerations of f (k, 3), at a state whose factor is at hand."""
    matrices = p.directions(forces.kin, modes)
    answer = p.columns(forces.kin, list(modes), t)
    first, z, place = [], list[float](), 0
    for k, mode in enumerate(modes.values()):
        first.append(place)
        z += f[k].tolist() if mode.mode == STICK else [float(f[k, 0])]
        place += 3 if mode.mode == STICK else 1
    point = np.array(z)
    S = answer.G @ matrices.columns
    sticks = np.array([mode.mode == STICK for mode in modes.values()])
    return ForceSet(matrices.columns, S, S @ point, point, np.array(first, dtype=np.int64), sticks, p.friction_of(list(modes)))


class StepLaws(NamedTuple):
    """The step before a stored state, by which its laws are judged.

    t: its middle [s];  y: (ny,) positions there, velocities behind the impulses;  u, u_m: (nb + 1, 6) those before, and those of the forces
    h: its length [s];  e: (k,) restitution of its points, 0 of those that did not approach
    """

    t: float
    y: Array
    u: Array
    u_m: Array
    h: float
    e: Array


class SteppedContacts:
    """The contacts of a time-stepping run: the forces of its steps.

    laws: the step before each state;  steps: its points (k, 2), and their impulses (k, 3)
    """

    def __init__(
        self,
        problem: ContactProblem,
        keys: tuple[Key, ...],
        normal: Array,
        friction: Array,
        state: Any,
        wrench: Array,
        laws: Sequence[StepLaws],
        steps: Sequence[tuple[Ints, Array]],
    ) -> None:
        self.problem, self.keys = problem, keys
        self.normal, self.friction, self.state, self.wrench = normal, friction, state, wrench
        self.laws, self.steps = tuple(laws), tuple(steps)
        self.modes: dict[Key, PointMode] = {}

    def at(self, keep: Any) -> SteppedContacts:
        """Return the contacts at some of the states."""
        normal, friction, state, wrench = (one[keep] for one in (self.normal, self.friction, self.state, self.wrench))
        some = np.arange(len(self.laws))[keep].tolist()
        laws, steps = [self.laws[n] for n in some], [self.steps[n] for n in some]
        return SteppedContacts(self.problem, self.keys, normal, friction, state, wrench, laws, steps)

    def joined(self, other: SteppedContacts) -> SteppedContacts:
        """Return these contacts, and those of the run that follows."""
        keys = tuple(sorted({*self.keys, *other.keys}))

        def both(name: str) -> Any:
            parts = []
            for one in (self, other):
                values = getattr(one, name)
                wide = np.zeros((len(values), len(keys), *values.shape[2:]), dtype=values.dtype)
                wide[:, [keys.index(key) for key in one.keys]] = values
                parts.append(wide)
            return np.concatenate(parts)

        wrench = np.concatenate([self.wrench, other.wrench])
        laws, steps = (*self.laws, *other.laws), (*self.steps, *other.steps)
        return SteppedContacts(self.problem, keys, both("normal"), both("friction"), both("state"), wrench, laws, steps)

    def record(self, t: Array, y: Array) -> ContactRecord:
        """Return forces and solutions at the states."""
        p = self.problem
        x = np.zeros((len(t), p.response.nodes, 6))
        for n in range(len(t)):
            x[n] = p.solution_with(float(t[n]), np.ascontiguousarray(y[n]), self.wrench[n])
        return ContactRecord(self.keys, self.normal, self.friction, self.state, x)

    def segment_at(self, n: int) -> ContactSegment:
        """Return the points that press at a state, with their modes."""
        modes = {
            key: PointMode(int(code), _unit(-self.friction[n, k]) if code == SLIP else None)
            for k, (key, code) in enumerate(zip(self.keys, self.state[n].tolist(), strict=True))
            if code != OPEN
        }
        return ContactSegment(self.problem, modes)

    def bounds_at(self, n: int, t: float, y: Array) -> tuple[Array, Array]:
        """Return least and largest components (K, 3) at a state."""
        segment = self.segment_at(n)
        low, high = np.zeros((len(self.keys), 3)), np.zeros((len(self.keys), 3))
        if segment.modes:
            some = [k for k, key in enumerate(self.keys) if key in segment.modes]
            low[some], high[some] = segment.bounds(t, y)
        return low, high


def _unit(x: Array) -> Array | None:
    length = float(np.linalg.norm(x))
    return x / length if length > 0.0 else None


class Bounds(NamedTuple):
    """Least and largest components of contact forces, (nt, k, 3) each: normal, then along two tangents [N]."""

    lower: Array
    upper: Array


@public_class
@dataclass(frozen=True, eq=False)
class RigidContactHistory:
    """A rigid contact over time, at its k points: those that have touched in the run, in the order of their features.

    Attributes
    ----------
    name : str
        Name of the contact.
    t : array, shape (nt,)
        Times [s].
    gap : array, shape (nt, k)
        Gaps [m].
    normal_force : array, shape (nt, k)
        Normal forces [N], 0 while a point is open.
    friction_force : array, shape (nt, k, 3)
        Friction on body j, global frame [N].
    point, normal : array, shape (nt, k, 3)
        Points of contact [m] and normals from body i to body j, global frame.
    slip : array, shape (nt, k, 3)
        Tangential velocities of body j against body i, global frame [m/s].
    state : array of str, shape (nt, k)
        "open", "stick" or "slip"; a closed contact without friction slips.

    Notes
    -----
    Where several points share a load in many ways, the forces are the shortest that fulfil the laws; `unique` and `bounds` say which of
    them are unique, and between which values the others may be; `depends_on_shares`, where another share would be another motion.
    """

    name: str
    t: Array
    gap: Array
    normal_force: Array
    friction_force: Array
    point: Array
    normal: Array
    slip: Array
    state: npt.NDArray[Any]
    _pieces: tuple[tuple[Any, Array, Array], ...]
    _features: tuple[int, ...]

    @property
    def gap_rate(self) -> Array:
        """Rates of the gaps by differences of the stored ones, (nt, k) [m/s]."""
        return np.gradient(self.gap, self.t, axis=0) if len(self.t) > 1 else np.zeros_like(self.gap)

    @property
    def force(self) -> Array:
        """Normal forces [N], as `normal_force`."""
        return self.normal_force

    @property
    def closed(self) -> npt.NDArray[np.bool_]:
        """Whether each point touches, (nt, k)."""
        return np.asarray(self.state != "open")

    @cached_property
    def unique(self) -> npt.NDArray[np.bool_]:
        """Whether each component is unique: normal, and along two tangents, (nt, k, 3)."""
        parts = []
        for piece, t, y in self._pieces:
            known = np.ones((len(t), len(self._features), 3), dtype=np.bool_)
            for n in _changes(piece, len(t)):
                if not len(t):
                    break
                known[n:] = are_unique(*self._bounds_at(piece, n, float(t[n]), y[n]))
            parts.append(known)
        return np.concatenate([np.zeros((0, len(self._features), 3), dtype=np.bool_), *parts])

    @cached_property
    def depends_on_shares(self) -> npt.NDArray[np.bool_]:
        """Whether the motion itself depends on how the sliding points of this contact share the load, (nt,).

        So it does on a face that slides and turns: normal forces z that change neither the load nor its moments, sum z_k n_k = 0 and
        sum z_k x_k x n_k = 0, change the friction, sum z_k t_k or sum z_k x_k x t_k, as the directions t_k of slip differ. A point that
        touches without a force could have a share, too. Coulomb's law does not choose among such motions of rigid bodies; the run has
        one of them, and another method may have another. Shares of joints and of other contacts are not looked at.
        """
        speed = np.linalg.norm(self.slip, axis=2)
        slides = (self.state == "slip") & (np.abs(self.friction_force).max(axis=2, initial=0.0) > 0.0)
        found = np.zeros(len(self.t), dtype=np.bool_)
        for n in np.flatnonzero(slides.any(axis=1)):
            size = float(np.ptp(self.point[n], axis=0).max())
            k = (slides[n] | ((self.state[n] == "open") & (self.gap[n] <= TOUCHING * size))) & (speed[n] > 0.0)
            x = self.point[n, k] - self.point[n, k].mean(axis=0)
            x /= max(float(np.abs(x).max()), 1e-300)
            pressed, rubbed = (np.hstack([e, np.cross(x, e)]).T for e in (self.normal[n, k], self.slip[n, k] / speed[n, k, None]))
            _, s, V = np.linalg.svd(pressed)
            shares = V[int((s > SAME_SHARE * s[0]).sum()) :]
            found[n] = np.abs(rubbed @ shares.T).max(initial=0.0) > SAME_SHARE
        return found

    def bounds(self) -> Bounds:
        """Return between which values the components of the forces may be.

        Returns
        -------
        Bounds
            `.lower` and `.upper`, (nt, k, 3) each [N]: normal force, and friction along two tangents. Equal where a component is unique.

        Raises
        ------
        SimulationError
            If a linear program is not solved.

        Notes
        -----
        Every component of every state costs two linear programs where forces are not unique.
        """
        low, high = [], []
        for piece, t, y in self._pieces:
            for n in range(len(t)):
                a, b, _ = self._bounds_at(piece, n, float(t[n]), y[n])
                low.append(a)
                high.append(b)
        shape = (len(low), len(self._features), 3)
        return Bounds(np.array(low).reshape(shape), np.array(high).reshape(shape))

    def _bounds_at(self, piece: Any, n: int, t: float, y: Array) -> tuple[Array, Array, float]:
        """Return the bounds of the points of this contact at a state, and the largest bound of all contacts."""
        low, high = np.zeros((len(self._features), 3)), np.zeros((len(self._features), 3))
        if piece is None or not piece.keys:
            return low, high, 0.0
        c = piece.problem.names.index(self.name)
        own, upper = piece.bounds_at(n, t, y) if isinstance(piece, SteppedContacts) else piece.bounds(t, y)
        for k, feature in enumerate(self._features):
            if (c, feature) in piece.keys:
                at = piece.keys.index((c, feature))
                low[k], high[k] = own[at], upper[at]
        return low, high, max(float(np.abs(own).max(initial=0.0)), float(np.abs(upper).max(initial=0.0)))


def _changes(piece: Any, nt: int) -> list[int]:
    """Return the states at which uniqueness is looked at anew."""
    if nt == 0:
        return []
    if isinstance(piece, SteppedContacts):
        state = piece.state
        return [0, *(n for n in range(1, nt) if (state[n] != state[n - 1]).any())]
    return [0]


def history_of(name: str, pieces: Sequence[tuple[Any, Array, Array, ContactRecord | None]]) -> RigidContactHistory:
    """Return one contact over the pieces (contacts of a segment, t, y, record) of a motion, each with the numbers of its structure.

    Where the contact is off, or a piece has no contacts (None), nothing acts, and gaps are NaN.
    """
    places = [-1 if piece is None or name not in piece.problem.names else piece.problem.names.index(name) for piece, *_ in pieces]
    on = [(c, piece, y) for c, (piece, _, y, _) in zip(places, pieces, strict=True) if c >= 0]
    features = sorted({feature for c, piece, _ in on for k, feature in piece.keys if k == c})
    if not features:
        features = [feature for _, feature in on[0][1].problem.nearest(on[0][0], [y for c, piece, y in on if c == on[0][0]])]
    nt, K = sum(len(t) for _, t, _, _ in pieces), len(features)
    gap, normal, friction = np.zeros((nt, K)), np.zeros((nt, K)), np.zeros((nt, K, 3))
    point, direction, slip = np.zeros((nt, K, 3)), np.zeros((nt, K, 3)), np.zeros((nt, K, 3))
    state, row = np.zeros((nt, K), dtype=np.int64), 0
    for c, (piece, t, y, record) in zip(places, pieces, strict=True):
        keys = [(c, feature) for feature in features]
        if c < 0:
            for of in (gap, point, direction, slip):
                of[row : row + len(t)] = np.nan
            row += len(t)
            continue
        assert record is not None  # of a piece with contacts
        for n in range(len(t)):
            kin = piece.problem.at(np.ascontiguousarray(y[n]), keys)
            gap[row], point[row], direction[row] = kin.gap, kin.x, kin.D[:, 0]
            slip[row] = np.einsum("ka,kac->kc", kin.v[:, 1:], kin.D[:, 1:])
            for k, key in enumerate(keys):
                if key in record.keys:
                    at = record.keys.index(key)
                    normal[row, k], state[row, k] = record.normal[n, at], record.state[n, at]
                    friction[row, k] = record.friction[n, at]
            row += 1
    t_all = np.concatenate([np.zeros(0), *(t for _, t, _, _ in pieces)])
    parts = tuple((piece if c >= 0 else None, t, y) for c, (piece, t, y, _) in zip(places, pieces, strict=True))
    return RigidContactHistory(name, t_all, gap, normal, friction, point, direction, slip, STATES[state], parts, tuple(features))
