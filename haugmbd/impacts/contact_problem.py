r"""Contacts with dry friction at one instant: accelerations by given modes, the modes themselves, impacts, and projections.

    u_dot = u_dot_0 + X f       a = C u_dot - gamma = a_0 + G f        of the contact points that touch, normal first

    given modes      stick: a = 0      slip: a_n = 0, f = f_n (n - mu d), d = v_T / |v_T|      open: f = 0
    modes            the cone problem (`contact.cone`) of a_0 and G; a contact that slides has its column turned already
    impact           impulses of the points by their law of impact (`contact.impact_laws`), Coulomb's law on impulses (Moreau)
    projection       bilateral rows and gaps of closed contacts to zero, by the least mass-weighted change

A point of contact is named by its contact and its feature, the pair (corner, face), (edge, edge), ... that touches.
Sources: Pfeiffer, Glocker (1996); Moreau (1988); Le Saux, Leine, Glocker, Dynamics of a rolling disk in the presence of dry friction
(2005).
"""

from __future__ import annotations

from collections.abc import Container, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from haugmbd.bodies.shapes import Plane
from haugmbd.compiled.array_types import Array, Ints
from haugmbd.compiled.status_codes import OK
from haugmbd.contact.cone import response_is_unique, solve_cone_problem
from haugmbd.contact.contact import Contact
from haugmbd.contact.impact_laws import ImpactLaw, StruckPoints, impulses, law_of
from haugmbd.contact.joint_stop import JointStop
from haugmbd.contact.limit_points import PointsAndLimits
from haugmbd.contact.points import ContactPoints, Kinematics
from haugmbd.contact.two_body_limits import TWO_BODY_LIMITS
from haugmbd.errors import Fault, ModelError, SimulationError
from haugmbd.geometry.narrow_phase import GAP, POINT_J, RATES, point_name
from haugmbd.geometry.tables import RATE_COLUMNS
from haugmbd.impacts.contact_response import ContactResponse, Response, writable
from haugmbd.impacts.rates_by_modes import (
    IMMOVABLE,
    LEAST,
    MOST_ROWS,
    PUSHES,
    SLOW,
    UNDECIDED,
    UNIQUE,
    Equations,
    PointModes,
    new_equations,
    new_points,
    project_by_modes,
    rates_by_modes,
)
from haugmbd.math.body_columns import EULER, VELOCITY, WIDTH
from haugmbd.math.euler_parameters import exponential, product
from haugmbd.model.inspection.identity import number_of
from haugmbd.model.model import Model

LIMITS = (JointStop, *TWO_BODY_LIMITS)
"""Contacts without shapes and friction."""
STICK, SLIP = 1, 2
"""Modes of points that touch; a contact without friction slips."""
RANK = 1e-10
"""Relative: smaller singular values are those of dependent contact rows."""
SAME = 1e-7
"""Relative: normal accelerations that differ by less are one solution."""
FARTHEST = 1e-12
"""Residual of nonnegative least squares that is none: 1 / (1 + |w|^2) of forces w, relative to the largest one."""
AGREED = 1e-10
"""Relative to the largest acceleration: what is left across the direction in which a point begins to slide."""
NO_MINOR = 1e-9
"""Relative: what rounding leaves of an eigenvalue, or a minor, that vanishes."""
MOST_ENUMERATED = 10
"""Sliding points whose 2^k modes are all tried where a solution need not be unique."""

Key = tuple[int, int]
"""A point of contact: number of the contact, number of its feature."""

Keys: TypeAlias = Sequence[Key] | Ints
"""Points of contact: a list of them, or (k, 2)."""


HELD = 1e-12
"""Of what a force does to its bodies alone: it does less to them in a direction in which joints hold them, by rounding. There it is not
known, as the joints carry any part of it, and is taken as zero."""


@dataclass(frozen=True)
class PointMode:
    """How a point of contact moves.

    hint: the direction of sliding, global, where its speed is (nearly) zero;  fixed: whether friction keeps this direction
    """

    mode: int
    hint: Array | None = None
    fixed: bool = False


class Forces(NamedTuple):
    """Accelerations by modes: y_dot (ny,); forces f (k, 3) in the frames of the points; kinematics; whether f is unique."""

    y_dot: Array
    f: Array
    kin: Kinematics
    unique: bool


class Modes(NamedTuple):
    """The modes of points that touch: by key, None for a point that opens; forces; accelerations a (k, 3)."""

    modes: dict[Key, PointMode | None]
    f: Array
    a: Array


def lightness_of(model: Model) -> Array:
    """Return what unit forces and moments along its axes do to each body alone, (nb + 1, 6); zero of the ground and massless bodies."""
    found = np.zeros((model.nb + 1, 6))
    for k in range(1, model.nb + 1):
        if model.mass[k] > 0.0 and (moments := np.linalg.eigvalsh(model.J_bar[k]))[0] > 0.0:
            found[k] = [1.0 / model.mass[k]] * 3 + [1.0 / moments[0]] * 3
    return found


class ContactProblem:
    """A model and its rigid contacts; raises ModelError for contacts whose pairs are not known here."""

    def __init__(self, model: Model, contacts: Sequence[Contact], law: ImpactLaw | None = None) -> None:
        # limits have no shapes: they stand behind the others
        contacts = sorted(contacts, key=lambda contact: isinstance(contact, LIMITS))
        self.model, self.contacts, self.law = model, tuple(contacts), law
        self.names = tuple(contact.name for contact in contacts)
        self.n = model.nb + 1
        self.response = ContactResponse(model)
        self.mu = np.array([contact.mu for contact in contacts])
        self.e = np.array([contact.restitution for contact in contacts])
        ends, numbers = [], dict[int, int]()
        for contact in contacts:
            if isinstance(contact, LIMITS):
                continue
            shape_i, shape_j = contact.shapes
            for body in (contact.i, contact.j):
                if id(body) not in numbers:
                    numbers[id(body)] = number_of(model, body)
            ends.append((numbers[id(contact.i)], shape_i, numbers[id(contact.j)], shape_j))
        self.length = float(model.length)
        self.points: ContactPoints | PointsAndLimits = ContactPoints(ends, self.n)
        limits = [contact.placed(model) for contact in contacts if isinstance(contact, LIMITS)]
        if limits:
            self.points = PointsAndLimits(self.points, limits, self.length)
        self.has_tables = not limits
        """Whether all contacts are pairs of shapes, which kernels know."""
        self.pairs = self.points.bodies
        self.has_plane = [
            isinstance(contact, LIMITS) or any(isinstance(shape, Plane) for shape in contact.shapes) for contact in contacts
        ]
        self._A = np.zeros((self.n, 3, 3))
        self._room = new_equations(0, 0)
        self._before: tuple[list[Key], list[PointMode], PointModes] | None = None
        self.lightness = lightness_of(model)

    def __getstate__(self) -> dict[str, Any]:
        """Return what is pickled: model, contacts and law of impacts."""
        return {"model": self.model, "contacts": self.contacts, "law": self.law}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__init__(state["model"], state["contacts"], state["law"])  # type: ignore[misc]

    # ----------------------------------------------------------------------------------------------------------- points
    def near(self, y: Array, margin: float) -> tuple[list[Key], Array]:
        """Return the points with gap <= margin, and their gaps."""
        keys, gaps = self.points.near(y, margin)
        return [(c, feature) for c, feature in keys.tolist()], gaps

    def gap_rates(self, y: Array) -> tuple[Ints, Array, Array]:
        """Return contact and feature (k, 2), gap and gap rate (k,) of all points."""
        keys, gaps = self.points.near(y, np.inf)
        return keys, gaps, self.points.at(keys, y).v[:, 0]

    def at(self, y: Array, keys: Keys) -> Kinematics:
        """Return the kinematics of the points."""
        return self.points.at(np.array(keys, dtype=np.int64).reshape(-1, 2), y)

    def friction_of(self, keys: Keys) -> Array:
        """Return mu by point, (k,)."""
        return self.mu[contacts_of(keys)]

    def restitution_of(self, keys: Keys) -> Array:
        """Return e by point, (k,)."""
        return self.e[contacts_of(keys)]

    def label(self, key: Key, count: int = 2) -> str:
        """Return the name of a point, with what it is called where its contact has several."""
        if count <= 1 or isinstance(self.contacts[key[0]], LIMITS):
            return self.names[key[0]]
        a, b = self.points.pairs[key[0]].tolist()
        return f"{self.names[key[0]]}[{point_name(self.points.shapes, a, b, key[1])}]"

    def columns(self, kin: Kinematics, keys: Keys, t: float) -> Response:
        """Return the response to unit forces along all directions of the points: X (3 k, 6 nn), G (3 k, 3 k)."""
        pairs = np.repeat(self.pairs[contacts_of(keys)], 3, axis=0)
        C = np.ascontiguousarray(kin.C.reshape(-1, 12))
        answer = self.response.columns(pairs, C, t)
        if not self.model.nc or not len(keys):
            return answer
        free = np.einsum("ka,ka->k", C**2, self.lightness[pairs].reshape(-1, 12))
        held = np.diag(answer.G) <= HELD * free
        if not held.any():
            return answer
        G = answer.G.copy()
        G[held], G[:, held] = 0.0, 0.0
        return answer._replace(G=G)

    def accelerations_of(self, kin: Kinematics, keys: Keys, u_dot: Array, G: Array) -> Array:
        """Return the accelerations (3 k,) of points without their forces; zero, but for rounding, where joints hold them."""
        a = (self.rows_of(kin, keys, u_dot) - kin.gamma).ravel()
        if self.model.nc and (held := np.diag(G) == 0.0).any():
            size = float(np.linalg.norm(self.model.gravity)) + float(np.abs(u_dot).max(initial=0.0)) * max(self.length, 1.0)
            a[held & (np.abs(a) <= HELD * size)] = 0.0
        return np.asarray(a)

    def velocities(self, y: Array) -> Array:
        """Return u (nb + 1, 6), a view of the flat state."""
        return y[: WIDTH * self.n].reshape(self.n, WIDTH)[:, VELOCITY:]

    def rows_of(self, kin: Kinematics, keys: Keys, u: Array) -> Array:
        """Return C u (k, 3) for u (nb + 1, 6), or for nodes u (nn, 6)."""
        pairs = self.pairs[contacts_of(keys)]
        return np.asarray(np.einsum("kdsa,ksa->kd", kin.C, u[pairs] * (pairs > 0)[:, :, None]))

    # ---------------------------------------------------------------------------------------------------- given modes
    def rates(self, t: float, y: Array, y_dot: Array, modes: dict[Key, PointMode]) -> Forces:
        """Write y_dot with the forces of points of given modes, and return them."""
        keys = list(modes)
        if not keys:
            self.response.rates(t, y, y_dot)
            return self.open_forces(y_dot)
        quick = self._quick_rates(t, y, y_dot, modes) if self.has_tables else None
        if quick is not None:
            return quick
        self.response.rates(t, y, y_dot)
        kin = self.at(y, keys)
        turn = self.directions(kin, modes)
        answer = self.columns(kin, keys, t)
        u_dot = self.velocities(y_dot)
        a_0 = self.accelerations_of(kin, keys, u_dot, answer.G)
        z, unique = solve_rows(turn.rows, turn.columns, answer.G, a_0)
        f = turn.columns @ z
        u_dot += (f @ answer.X).reshape(-1, 6)[: self.n]
        return Forces(y_dot, f.reshape(-1, 3), kin, unique)

    def _quick_rates(self, t: float, y: Array, y_dot: Array, modes: dict[Key, PointMode]) -> Forces | None:
        """Return what `rates` does, by compiled code; None where the rank is to be judged, or joints hold a direction of a point."""
        arrays, work, k = self._mode_arrays(modes), self.response, len(modes)
        if arrays.rows > MOST_ROWS:
            return None
        at, f = new_points(k, work.nodes, RATE_COLUMNS), np.empty((k, 3))
        room = self._A, at, work.kept, self._equations(k), f
        code, outcome = rates_by_modes(
            work.pack, RATES, self.points.shapes, self.points.pairs, arrays, float(t), writable(y), y_dot, *room
        )
        work.note(code, t)
        if outcome == UNDECIDED or self.any_held(at.C, arrays.pairs, at.G):
            return None
        points = at.points
        kin = Kinematics(points[:, GAP], points[:, POINT_J : POINT_J + 3], at.D, at.C.reshape(k, 3, 2, 6), at.gamma, at.v)
        return Forces(y_dot, f, kin, outcome == UNIQUE)

    def any_held(self, C: Array, pairs: Ints, G: Array) -> bool:
        """Return whether joints hold a direction of points with rows C (k, 3, 12), on the pairs (k, 2) of bodies, as `columns` asks."""
        if not self.model.nc:
            return False
        free = np.einsum("ka,ka->k", C.reshape(-1, 12) ** 2, np.repeat(self.lightness[pairs].reshape(-1, 12), 3, axis=0))
        return bool((np.diag(G) <= HELD * free).any())

    def _equations(self, k: int) -> Equations:
        """Return work arrays for k points."""
        if len(self._room.T) < k:
            self._room = new_equations(k, min(3 * k, MOST_ROWS))
        return self._room

    def _mode_arrays(self, modes: dict[Key, PointMode]) -> PointModes:
        """Return modes as kernels take them; those of the call before, if they are the same."""
        keys, values = list(modes), list(modes.values())
        before = self._before
        if before is not None and before[0] == keys and all(a is b for a, b in zip(before[1], values, strict=True)):
            return before[2]
        numbers = np.array(keys, dtype=np.int64)
        sticks = np.array([mode.mode == STICK for mode in values], dtype=np.int64)
        arrays = PointModes(
            numbers,
            self.pairs[numbers[:, 0]],
            sticks,
            self.mu[numbers[:, 0]],
            np.array([(0.0, 0.0, 0.0) if mode.hint is None else mode.hint for mode in values], dtype=np.float64),
            np.array([0 if mode.hint is None else 1 + mode.fixed for mode in values], dtype=np.int64),
            int(len(keys) + 2 * sticks.sum()),
        )
        self._before = keys, values, arrays
        return arrays

    def open_forces(self, y_dot: Array) -> Forces:
        """Return the forces of no point."""
        nothing = np.zeros((0, 3))
        return Forces(
            y_dot, nothing, Kinematics(np.zeros(0), nothing, np.zeros((0, 3, 3)), np.zeros((0, 3, 2, 6)), nothing, nothing), True
        )

    def directions(self, kin: Kinematics, modes: dict[Key, PointMode]) -> ModeMatrices:
        """Return which rows vanish, and which forces act, in given modes."""
        m, sticks = len(modes), [mode.mode == STICK for mode in modes.values()]
        if all(sticks):
            return ModeMatrices(np.arange(3 * m), np.eye(3 * m))
        rows: list[int] = []
        columns = np.zeros((3 * m, m + 2 * sum(sticks)))
        for k, (key, mode) in enumerate(modes.items()):
            mu, place = self.mu[key[0]], len(rows)
            rows.append(3 * k)
            columns[3 * k, place] = 1.0
            if mode.mode == STICK:
                rows += [3 * k + 1, 3 * k + 2]
                columns[3 * k + 1, place + 1] = columns[3 * k + 2, place + 2] = 1.0
            elif mu > 0.0:
                columns[3 * k + 1 : 3 * k + 3, place] = -mu * slip_direction(kin.v[k, 1:], kin.D[k], mode.hint, mode.fixed)
        return ModeMatrices(np.array(rows, dtype=np.int64), columns)

    def agreed_directions(self, t: float, y: Array, modes: dict[Key, PointMode]) -> dict[Key, PointMode]:
        """Return the modes with directions in which points that begin to slide do accelerate, where forces are not unique.

        a_T x d = 0 by angles of d: each share of a load in several points has directions of its own, and those of the modes may come from
        another one than the shortest forces. Modes for which no directions are found are returned as they are.
        """
        keys = list(modes)
        begin = [k for k, mode in enumerate(modes.values()) if mode.mode == SLIP and mode.fixed and self.mu[keys[k][0]] > 0.0]
        if len(begin) < 2:  # noqa: PLR2004  one direction is that of the cone problem
            return modes
        y_dot = np.zeros_like(y)
        self.response.rates(t, y, y_dot)
        kin = self.at(y, keys)
        G = self.columns(kin, keys, t).G
        a_0 = self.accelerations_of(kin, keys, self.velocities(y_dot), G)
        if solve_rows(*self.directions(kin, modes), G, a_0)[1]:
            return modes

        def turned(angles: Array) -> dict[Key, PointMode]:
            ways = {keys[k]: np.cos(x) * kin.D[k, 1] + np.sin(x) * kin.D[k, 2] for k, x in zip(begin, angles, strict=True)}
            return {key: PointMode(SLIP, ways[key], True) if key in ways else mode for key, mode in modes.items()}

        def tangential(angles: Array) -> Array:
            some = self.directions(kin, turned(angles))
            z, _ = solve_rows(some.rows, some.columns, G, a_0)
            return np.asarray((G @ (some.columns @ z) + a_0).reshape(-1, 3)[begin, 1:])

        first = []
        for k in begin:
            way = slip_direction(kin.v[k, 1:], kin.D[k], modes[keys[k]].hint, True)
            first.append(np.arctan2(way[1], way[0]))
        angles = np.array(first)
        size = max(float(np.abs(tangential(angles)).max()), LEAST)

        def across(angles: Array) -> Array:
            a = tangential(angles) / size
            return np.asarray(a[:, 1] * np.cos(angles) - a[:, 0] * np.sin(angles))

        from scipy.optimize import root  # noqa: PLC0415  imported only where forces are not unique

        found = root(across, angles, tol=AGREED).x
        along = tangential(found) / size
        fits = np.abs(across(found)).max() <= AGREED and (along[:, 0] * np.cos(found) + along[:, 1] * np.sin(found) > 0.0).all()
        return turned(found) if fits else modes

    def shared_forces(self, t: float, y: Array, modes: dict[Key, PointMode], forces: Forces) -> Array:
        """Return forces f (k, 3) within the cones of the points, by given modes: those of the cone problem, beginning with the shortest.

        Sliding points keep the directions of the modes, also where they begin to slide from rest.
        """
        keys, kin = list(modes), forces.kin
        y_dot = np.zeros_like(y)
        self.response.rates(t, y, y_dot)
        G = self.columns(kin, keys, t).G
        a_0 = self.accelerations_of(kin, keys, self.velocities(y_dot), G)
        mu, turn = self.friction_of(keys).copy(), np.eye(3 * len(keys))
        columns = self.directions(kin, modes).columns
        place = 0
        for k, mode in enumerate(modes.values()):
            if mode.mode == STICK:
                place += 3
                continue
            turn[:, 3 * k], mu[k] = columns[:, place], 0.0
            place += 1
        names = ", ".join(dict.fromkeys(self.names[c] for c, _ in keys))
        f = solve_cone_problem(G @ turn, a_0, mu, forces.f, what=f"{names} at t = {t:.9g} s").f.copy()
        f[mu == 0.0, 1:] = 0.0
        return np.asarray((turn @ f.ravel()).reshape(-1, 3))

    def solution(self, t: float, y: Array, modes: dict[Key, PointMode]) -> tuple[Forces, Array]:
        """Return the forces by given modes, and (u_dot, lam) by nodes, (nn, 6)."""
        forces = self.rates(t, y, np.zeros_like(y), modes)
        return forces, self._with_forces(t, forces.kin, list(modes), forces.f)

    def solution_of(self, t: float, y: Array, kin: Kinematics, keys: Sequence[Key], f: Array) -> Array:
        """Return (u_dot, lam) by nodes, (nn, 6), with given forces f (k, 3): joints take another share where forces are not unique."""
        self.response.rates(t, y, np.zeros_like(y))
        return self._with_forces(t, kin, keys, f)

    def _with_forces(self, t: float, kin: Kinematics, keys: Sequence[Key], f: Array) -> Array:
        """Return the last solution without contacts, and what forces f add to it."""
        x = self.response.last_solution()
        if len(keys):
            x = x + (f.ravel() @ self.columns(kin, keys, t).X).reshape(x.shape)
        x[0] = 0.0
        return x

    def solution_with(self, t: float, y: Array, wrench: Array) -> Array:
        """Return (u_dot, lam) by nodes, (nn, 6), with contact wrenches (nb + 1, 6) on the bodies."""
        self.response.rates(t, y, np.zeros_like(y))
        x = self.response.last_solution()
        if wrench.any():
            x = x + self.response.solve(wrench, None, t)
        x[0] = 0.0
        return x

    def nearest(self, c: int, states: Sequence[Array]) -> list[Key]:
        """Return the point of contact c that comes nearest in the states, at most one."""
        best: tuple[float, Key] | None = None
        for y in (row for part in states for row in part):
            for key, gap in zip(*self.near(np.ascontiguousarray(y), np.inf), strict=True):
                if key[0] == c and (best is None or gap < best[0]):
                    best = float(gap), key
        return [] if best is None else [best[1]]

    # ------------------------------------------------------------------------------------------------------ the modes
    def choose(
        self,
        t: float,
        y: Array,
        keys: Sequence[Key],
        rest: float,
        sliding: dict[Key, Array],
        start: Array | None = None,
        stopped: Container[Key] = (),
    ) -> Modes:
        """Return the modes of points that touch and do not part, by the cone problem of accelerations.

        rest: slip speed [m/s] up to which a point is at rest;  sliding: points at rest that begin to slide, with their directions
        stopped: points that have come to rest, whatever is left of their speed
        """
        y_dot = np.zeros_like(y)
        self.response.rates(t, y, y_dot)
        kin, mu = self.at(y, keys), self.friction_of(keys)
        answer = self.columns(kin, keys, t)
        a_0 = self.accelerations_of(kin, keys, self.velocities(y_dot), answer.G)
        speed = np.where([key in stopped for key in keys], 0.0, np.hypot(kin.v[:, 1], kin.v[:, 2]))
        slides = [k for k, key in enumerate(keys) if mu[k] > 0.0 and (speed[k] > rest or key in sliding)]
        G, cone_mu = answer.G.copy(), mu.copy()
        ways = np.zeros((len(keys), 2))
        for k in slides:
            ways[k] = slip_direction(kin.v[k, 1:], kin.D[k], sliding.get(keys[k]), keys[k] in sliding)
            G[:, 3 * k] -= mu[k] * (ways[k, 0] * G[:, 3 * k + 1] + ways[k, 1] * G[:, 3 * k + 2])
            cone_mu[k] = 0.0
        f = self._unique_or_told(t, keys, G, a_0, cone_mu, slides, start)
        f = f.copy()
        a = (G @ f.ravel() + a_0).reshape(-1, 3)
        for k in slides:
            f[k, 1:] = -mu[k] * f[k, 0] * ways[k]
        return Modes(self._read_modes(keys, f, a, mu, slides, sliding, kin, answer.G), f, a)

    def _unique_or_told(
        self, t: float, keys: Sequence[Key], G: Array, a_0: Array, mu: Array, slides: list[int], start: Any
    ) -> Array:
        """Return the forces; raise SimulationError where sliding points have two solutions (Painleve), NoAcceleration where none."""
        names = ", ".join(dict.fromkeys(self.names[c] for c, _ in keys))
        what = f"{names} at t = {t:.9g} s"
        if 0 < len(slides) <= MOST_ENUMERATED:
            normal = [3 * k for k in slides]
            if not decides(G[np.ix_(normal, normal)]):
                found = self._all_solutions(t, keys, G, a_0, mu, slides)
                if found is not None:
                    return found
                try:  # modes with dependent columns are not among those that were tried
                    return solve_cone_problem(G, a_0, mu, start, what=what, even=start is None and bool(slides)).f
                except SimulationError:
                    raise NoAcceleration(", ".join(self.label(keys[k], 1) for k in slides), t) from None
        return solve_cone_problem(G, a_0, mu, start, what=what, even=start is None and bool(slides)).f

    def _all_solutions(self, t: float, keys: Sequence[Key], G: Array, a_0: Array, mu: Array, slides: list[int]) -> Array | None:
        """Return the forces if exactly one set of modes of the sliding points fulfils the laws, None if none does.

        Sets that differ by the share of the points in one load are the same: they have the same normal accelerations.
        """
        found: list[tuple[Array, Array]] = []
        size = float(np.abs(a_0).max(initial=0.0)) + 1e-300
        others = [k for k in range(len(keys)) if k not in slides]
        rest = [3 * k + a for k in others for a in range(3)]
        for mask in range(1 << len(slides)):
            closed = [k for b, k in enumerate(slides) if mask >> b & 1]
            f = np.zeros((len(keys), 3))
            n = [3 * k for k in closed]
            part = G[np.ix_(n, n)]
            if len(n) and not np.linalg.cond(part) <= 1.0 / RANK:
                continue
            inverse = np.linalg.inv(part) if n else np.zeros((0, 0))
            try:
                if others:
                    shift = G[np.ix_(rest, n)] @ inverse
                    G_rest, b_rest = G[np.ix_(rest, rest)] - shift @ G[np.ix_(n, rest)], a_0[rest] - shift @ a_0[n]
                    f[others] = solve_cone_problem(G_rest, b_rest, mu[others]).f
            except SimulationError:
                continue
            f[closed, 0] = -inverse @ (a_0[n] + G[np.ix_(n, rest)] @ f[others].ravel())
            pulls = PUSHES * float(np.abs(f).max(initial=0.0))
            a = (G @ f.ravel() + a_0).reshape(-1, 3)
            if (f[slides, 0] >= -pulls).all() and (a[slides, 0] >= -PUSHES * size).all():
                f[slides, 0] = np.maximum(f[slides, 0], 0.0)
                found.append((f, a))
        distinct: list[tuple[Array, Array]] = []
        for f, a in found:
            if not any(np.abs(a[:, 0] - b[:, 0]).max() <= SAME * size for _, b in distinct):
                distinct.append((f, a))
        if not distinct:
            return None
        if len(distinct) == 1:
            # of those with one load in several shares the even one, which no set of independent columns has, or the smallest
            smallest = min((f for f, _ in found), key=lambda f: float(np.linalg.norm(f)))
            return self._even(G, a_0, mu, smallest, SAME * size)
        names = ", ".join(self.label(keys[k], 1) for k in slides)
        told = "; ".join(
            ", ".join(f"{self.label(key, 1)} {x[0]:.6g} m/s2 (force {g[0]:.6g} N)" for key, x, g in zip(keys, a, f, strict=True))
            for f, a in distinct
        )
        raise SimulationError(
            f"Painleve's paradox at t = {t:.9g} s: the accelerations of {names}, which slides, have {len(distinct)} solutions. "
            f"Normal accelerations of the points: {told}. Rigid bodies with dry friction do not decide between them: give a smaller "
            "mu, or a compliant contact (law=mbd.Compliant(K))."
        )

    @staticmethod
    def _even(G: Array, a_0: Array, mu: Array, smallest: Array, same: float) -> Array:
        """Return the forces that share a load evenly, if they have the normal accelerations of the given ones; else those."""
        try:
            f = solve_cone_problem(G, a_0, mu, even=True).f
        except SimulationError:
            return smallest
        change = (G @ (f - smallest).ravel())[::3]
        return f if np.abs(change).max() <= same and np.linalg.norm(f) <= np.linalg.norm(smallest) else smallest

    def _read_modes(
        self,
        keys: Sequence[Key],
        f: Array,
        a: Array,
        mu: Array,
        slides: list[int],
        sliding: dict[Key, Array],
        kin: Kinematics,
        G: Array,
    ) -> dict[Key, PointMode | None]:
        """Return the mode of each point by its force and acceleration."""
        found: dict[Key, PointMode | None] = {}
        diagonal = np.maximum(np.diag(G).reshape(-1, 3).max(axis=1), 1e-300)
        size_f = float(np.abs(f).max(initial=0.0))
        size_a = max(float(np.abs(a).max(initial=0.0)), float((diagonal * size_f).max(initial=0.0)), 1e-300)
        for k, key in enumerate(keys):
            if f[k, 0] <= 1e-9 * size_f and a[k, 0] > 1e-8 * size_a:
                found[key] = None
            elif mu[k] == 0.0:
                found[key] = PointMode(SLIP)
            elif k in slides:
                found[key] = PointMode(SLIP, sliding.get(key), key in sliding)
            elif np.hypot(a[k, 1], a[k, 2]) > 1e-8 * size_a:
                way = a[k, 1:] / np.hypot(a[k, 1], a[k, 2])
                found[key] = PointMode(SLIP, way @ kin.D[k, 1:], True)
            else:
                found[key] = PointMode(STICK)
        return found

    # --------------------------------------------------------------------------------------------------------- impacts
    def impact(
        self, t: float, y: Array, keys: Sequence[Key], e: Array, P: Array | None = None
    ) -> tuple[Array, Array, Array, Kinematics]:
        """Return the velocities u (nb + 1, 6) after an impact at points that touch, impulses (k, 3), velocities C u- (k, 3), kinematics.

        e: (k,) restitution by point;  P: (nb + 1, 6) applied impulses
        """
        self.response.factor(t, y)
        kin, mu = self.at(y, keys), self.friction_of(keys)
        _, nu = self.response.row_values()
        u = self.velocities(y).copy()
        u_0 = u
        if self.model.nc or P is not None:
            u_0 = u + self.response.solve(P, (nu - self.response.row_rates(u)) * self.response.kept_rows(), t)[: self.n]
        answer = self.columns(kin, keys, t)
        before = self.rows_of(kin, keys, u)
        left = self.rows_of(kin, keys, u_0)
        own = dict.fromkeys(c for c, _ in keys)
        names = ", ".join(self.names[c] for c in own)
        law = law_of(((self.names[c], self.contacts[c].law) for c in own), self.law, f" at t = {t:.9g} s")
        pairs = self.pairs[contacts_of(keys)]
        f = impulses(law, StruckPoints(answer.G, left, before, e, mu, pairs, f"the impact of {names} at t = {t:.9g} s"))
        u_after = u_0 + (f.ravel() @ answer.X).reshape(-1, 6)[: self.n]
        return u_after, f, before, kin

    # ------------------------------------------------------------------------------------------------------ projection
    def project(self, t: float, y: Array, modes: dict[Key, PointMode], tolerance: float = 1e-14) -> None:
        """Bring the bilateral rows and the gaps of points that touch to zero, and their velocities, in place."""
        if modes and self._projected(t, y, modes, tolerance * self.length):
            return
        bodies = y[: WIDTH * self.n].reshape(self.n, WIDTH)
        bodies[:, EULER:VELOCITY] /= np.linalg.norm(bodies[:, EULER:VELOCITY], axis=1)[:, None]
        keys = list(modes)
        if not keys and not self.model.nc:
            return
        kept, before = self.response.kept_rows(), np.inf
        for _ in range(6):
            self.response.factor(t, y)
            Phi = self.response.row_values()[0] * kept
            kin = self.at(y, keys)
            left = max(float(np.abs(Phi).max(initial=0.0)), float(np.abs(kin.gap).max(initial=0.0)))
            answer = self.columns(kin, keys, t)
            if left <= tolerance * self.length or left >= 0.3 * before:
                break
            before = left
            dq = self.position_change(t, kin, keys, Phi, answer)
            bodies[1:, :3] += dq[1:, :3]
            bodies[1:, EULER:VELOCITY] = product(bodies[1:, EULER:VELOCITY], exponential(dq[1:, 3:]))
        nu = self.response.row_values()[1]
        u = bodies[:, VELOCITY:]
        du = (
            self.response.solve(None, (nu - self.response.row_rates(u)) * kept, t)[: self.n]
            if self.model.nc
            else np.zeros((self.n, 6))
        )
        if keys:
            rows = self.directions(kin, modes).rows
            wanted = -self.rows_of(kin, keys, u + du).ravel()[rows]
            z = least(answer.G, rows, wanted)
            du = du + (z @ answer.X[rows]).reshape(-1, 6)[: self.n]
        u[1:] += du[1:]

    def _projected(self, t: float, y: Array, modes: dict[Key, PointMode], tolerance: float) -> bool:
        """Do what `project` does in compiled code; return False, and leave y as it is, where the rank of the points is to be judged."""
        arrays, work = self._mode_arrays(modes), self.response
        if not self.has_tables or arrays.rows > MOST_ROWS:
            return False
        moved, at = y.copy(), new_points(len(modes), work.nodes, RATE_COLUMNS)
        room = self._A, at, self._equations(len(modes)), tolerance
        code, done = project_by_modes(work.pack, RATES, self.points.shapes, self.points.pairs, arrays, float(t), moved, *room)
        if code != OK or not done or self.any_held(at.C, arrays.pairs, at.G):
            return False
        work.n_factorizations += 1
        y[:] = moved
        return True

    def position_change(self, t: float, kin: Kinematics, keys: Sequence[Key], Phi: Array, answer: Response | None = None) -> Array:
        """Return the least mass-weighted displacement (nb + 1, 6) that takes Phi and the gaps of the points to zero, in first order."""
        dq = self.response.solve(None, -Phi, t)[: self.n] if self.model.nc else np.zeros((self.n, 6))
        if not len(keys):
            return dq
        answer = self.columns(kin, keys, t) if answer is None else answer
        normal = 3 * np.arange(len(keys))
        z = least(answer.G, normal, -kin.gap - self.rows_of(kin, keys, dq)[:, 0])
        return np.asarray(dq + (z @ answer.X[normal]).reshape(-1, 6)[: self.n])

    def wrench_of(self, kin: Kinematics, keys: Keys, f: Array) -> Array:
        """Return C^T f (nb + 1, 6): force, global, and torque, body frame, of forces f (k, 3) on the bodies; zero on the ground."""
        found = np.zeros((self.n, 6))
        pairs = self.pairs[contacts_of(keys)]
        for side in range(2):
            np.add.at(found, pairs[:, side], np.einsum("kd,kda->ka", f, kin.C[:, :, side]))
        found[0] = 0.0
        return found

    # ----------------------------------------------------------------------------------------------------------- start
    def overlap_faults(self, y: Array, allowed: float) -> list[Fault]:
        """Return a fault for each contact whose bodies overlap."""
        keys, gaps = self.near(y, -allowed)
        deepest: dict[int, float] = {}
        for (c, _), gap in zip(keys, gaps, strict=True):
            deepest[c] = min(deepest.get(c, 0.0), float(gap))
        return [self.contacts[c].overlap(gap, allowed) for c, gap in deepest.items()]

    def need_apart(self, y: Array, allowed: float) -> None:
        """Raise ModelError if bodies overlap by more than `allowed` [m]."""
        faults = self.overlap_faults(y, allowed)
        if faults:
            raise ModelError(faults)


def contacts_of(keys: Keys) -> Ints:
    """Return the numbers of the contacts of points (k,)."""
    return np.asarray(keys, dtype=np.int64).reshape(-1, 2)[:, 0]


class NoAcceleration(Exception):
    """Sliding points have no acceleration that fulfils the laws: the contact jams."""

    def __init__(self, names: str, t: float) -> None:
        super().__init__(names, t)
        self.names, self.t = names, t


class ModeMatrices(NamedTuple):
    """Rows (r,) of 3 k that vanish, and columns (3 k, c) of the forces that act."""

    rows: Ints
    columns: Array


def slip_direction(v: Array, D: Array, hint: Array | None, fixed: bool = False) -> Array:
    """Return the direction of sliding (2,) of tangential velocities v (2,);  hint: (3,) global, that of a point at rest or if `fixed`."""
    speed = float(np.hypot(v[0], v[1]))
    if hint is None or (speed > SLOW and not fixed):
        return np.asarray(v / speed) if speed > 0.0 else np.array([1.0, 0.0])
    way = D[1:] @ hint
    return np.asarray(way / max(float(np.hypot(way[0], way[1])), 1e-300))


def solve_rows(rows: Ints, columns: Array, G: Array, a_0: Array) -> tuple[Array, bool]:
    """Return z with (G columns z + a_0) = 0 in `rows`, and whether it is unique; else the shortest one in which no point pulls, if any.

    A direction in which joints leave the point no motion has no force: the shortest one, and any other would only use up friction.
    Each row is that of the same column: a normal force first, and friction behind it where the point sticks.
    """
    plain = len(rows) == len(G)  # all points stick
    S, right = G if plain else G[rows] @ columns, -a_0[rows]
    scale, moves = _row_scales(G, rows)
    some = np.flatnonzero(moves)
    z = np.zeros(len(rows))
    part, b = (scale[:, None] * S * scale)[np.ix_(some, some)], (scale * right)[some]
    x, _, rank, _ = np.linalg.lstsq(part, b, rcond=RANK)
    unique = int(rank) == len(some)
    z[some] = scale[some] * (
        np.linalg.solve(part, b) if unique else _pressing(part, b, np.asarray(x, dtype=np.float64), rows[some])
    )
    return z, unique


def _pressing(S: Array, b: Array, shortest: Array, rows: Ints) -> Array:
    """Return the shortest x with S x = b and no negative normal forces (rows 3 k); the shortest of all where there is none.

    x = x_0 + K w with the kernel K of S:   least |w|   with   K_n w >= -x_0n,   by nonnegative least squares.
    Source: Lawson and Hanson, Solving Least Squares Problems (1974), ch. 23 (least distance programming).
    """
    normal = rows % 3 == 0
    size = max(float(np.abs(shortest).max(initial=0.0)), LEAST)
    if (shortest[normal] >= -PUSHES * size).all():
        return shortest
    from scipy.optimize import nnls  # noqa: PLC0415  imported only where forces are not unique

    _, s, V = np.linalg.svd(S)
    K = V[int((s > RANK * s.max(initial=0.0)).sum()) :].T
    E = np.vstack([K[normal].T, -shortest[normal] / size])
    target = np.append(np.zeros(K.shape[1]), 1.0)
    left = E @ nnls(E, target)[0] - target
    if -left[-1] <= FARTHEST:  # the residual vanishes where no w fulfils the inequalities
        return shortest
    x = shortest - size * (K @ (left[:-1] / left[-1]))
    return np.asarray(np.where(normal, np.maximum(x, 0.0), x)) if (x[normal] >= -PUSHES * size).all() else shortest


def _row_scales(G: Array, rows: Ints) -> tuple[Array, Any]:
    """Return 1 / sqrt(mobility of the point) by row, and which rows joints leave a motion."""
    diagonal = np.diag(G)
    of_point = np.maximum(diagonal.reshape(-1, 3).max(axis=1), LEAST)[rows // 3]
    return 1.0 / np.sqrt(of_point), diagonal[rows] > IMMOVABLE * of_point


def least(G: Array, rows: Ints, right: Array) -> Array:
    """Return the shortest z with G[rows, rows] z = right in the least-squares sense."""
    scale, moves = _row_scales(G, rows)
    some = np.flatnonzero(moves)
    z = np.zeros(len(rows))
    part = (scale[:, None] * G[np.ix_(rows, rows)] * scale)[np.ix_(some, some)]
    z[some] = scale[some] * np.linalg.lstsq(part, (scale * right)[some], rcond=RANK)[0]
    return z


def decides(M: Array) -> bool:
    """Return whether the normal accelerations w = M f + q of sliding points, f >= 0, w >= 0, f . w = 0, have one solution for each q.

    So it is where no principal minor of M (k, k) is negative (a P-matrix), and for points that share one load in many ways, with minors
    that vanish, where f . M f >= 0: then all solutions are one convex set. With friction M is not symmetric; a long body that slides with
    a large mu on its end has a negative diagonal (Painleve).
    """
    d = np.diag(M)
    if not (d > IMMOVABLE * np.abs(M).max(initial=0.0)).all():
        return False
    if len(M) == 1:
        return True
    scaled = M / np.sqrt(np.outer(d, d))
    if float(np.linalg.eigvalsh(0.5 * (scaled + scaled.T))[0]) >= -NO_MINOR:
        return True
    return response_is_unique(scaled + NO_MINOR * np.eye(len(M)))
