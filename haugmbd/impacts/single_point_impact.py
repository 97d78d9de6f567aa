r"""The impact of one point of contact of two shapes that strikes alone, as most do: the formulas of `contact_problem` in compiled code.

    K (du, Lam) = (0, nu - Phi_q u-)        K (X, Y) = (C^T, 0)        G = C X        of the normal and two tangents
    f in K,  v + mu |v_T| n in K*, orthogonal:    v = C (u- + du) + e C_n u- n + G f          (Newton, Coulomb, Moreau)
    u+ = u- + du + X f        Lam+ = Lam + Y f

A point that would rise less than a height has no restitution:  a < 0,  (e v_n)^2 <= 2 |a| height.  Such a point, one that stays, and one
whose friction may jam (G_nn <= mu |G_nT|) is left to the cone problem of all points.
Source: Moreau (1988); Haug 2021, sec. 11.3.
"""

from __future__ import annotations

from math import hypot
from typing import Any, NamedTuple

import numpy as np

from haugmbd.compiled.array_types import Array, Ints
from haugmbd.compiled.array_views import borrow
from haugmbd.compiled.jit import DirectCall, entry
from haugmbd.compiled.status_codes import OK
from haugmbd.contact.cone import one_contact
from haugmbd.contact.impact_laws import NewtonImpact
from haugmbd.contact.points import Kinematics, put_rotations, put_rows_of_points
from haugmbd.formulations.newton_euler import right_hand_side, solve_system
from haugmbd.geometry.narrow_phase import GAP, POINT_J, RATES
from haugmbd.geometry.tables import RATE_COLUMNS, Shapes
from haugmbd.impacts.contact_problem import LIMITS, ContactProblem, Key
from haugmbd.impacts.contact_rows import add_to_velocities, largest_velocity, put_row, row_rate, row_rate_by
from haugmbd.impacts.frictional_impulse import Struck
from haugmbd.impacts.impulse_equations import RowSet
from haugmbd.impacts.impulse_result import Impulse, SolvedImpulse
from haugmbd.impacts.plain_impulse import kinetic_energy
from haugmbd.integrators.stabilization.projection import put_velocity_residual
from haugmbd.model.generalized_forces import clear
from haugmbd.model.state import State
from haugmbd.workspace import accessors as ws
from haugmbd.workspace.body_kinematics import update_kinematics
from haugmbd.workspace.layout import WIDTH, Pack, workspace_array


class Law(NamedTuple):
    """Of a point: e, mu; the height that a bounce rises at least [m]; slower approaches are none: rest [m/s], noise of the largest."""

    e: float
    mu: float
    height: float
    rest: float
    noise: float


class Room(NamedTuple):
    """What a point is, see `Kinematics`, and work arrays: A (n, 3, 3), points (1, 21), pair (1, 2), X (3, nn, 6), x (nn, 6), G (3, 3)."""

    A: Array
    points: Array
    pair: Ints
    D: Array
    C: Array
    gamma: Array
    v: Array
    X: Array
    x: Array
    G: Array


NORMAL_IMPULSE, ALONG_1, ALONG_2, ENERGY_BEFORE, ENERGY_AFTER, RATE = range(6)
"""What `strike_point_entry` writes: the impulse [N s], energies [J], and the gap rate behind it [m/s]."""


@entry
def strike_point_entry(
    P: Pack,
    find: Any,
    shapes: Shapes,
    a: int,
    b: int,
    feature: int,
    law: Law,
    t: float,
    y: Array,
    y_dot: Array,
    room: Room,
    out: Array,
) -> int:
    """Let a point of the shapes a and b strike: write u+ to y, (u+ - u-, Lam) to room.x, and numbers to out; no impulse if it is not plain.

    y_dot: (ny,) work array;  find: `narrow_phase.rates`
    """
    code = right_hand_side(P, t, y, y_dot)
    if code != OK:
        return code
    bodies, rhs, solution = update_kinematics(P, t, y).bodies, ws.right_hand_side(P), ws.solution(P)
    i, j = room.pair[0, 0], room.pair[0, 1]
    pair, C = (i, j), room.C[0]
    put_rotations(bodies, room.A)
    find(shapes, a, b, feature, bodies, room.A, room.points, 0)
    put_rows_of_points(room.pair, room.points, bodies, room.A, room.D, room.C, room.gamma, room.v)
    # does it approach, and would it bounce?
    out[NORMAL_IMPULSE], approach = 0.0, room.v[0, 0]
    if not approach < -(law.rest + law.noise * largest_velocity(bodies)):
        return OK
    a_n = row_rate(pair, C[0], borrow(y_dot, 0, bodies.shape[0], WIDTH)) - room.gamma[0, 0]
    if a_n < 0.0 and (law.e * approach) ** 2 <= 2.0 * abs(a_n) * law.height:
        return OK
    out[ENERGY_BEFORE] = kinetic_energy(ws.inertia(P), bodies)
    # K (du, Lam) = (0, nu - Phi_q u-): what the joints do not allow
    put_velocity_residual(P, bodies, ws.kept_rows(P))
    code = solve_system(P)
    if code != OK:
        return code
    x, X, G = room.x, room.X, room.G
    for node in range(x.shape[0]):
        for c in range(6):
            x[node, c] = solution[node, c] if node > 0 else 0.0
    # K (X, Y) = (C^T, 0): the effects of unit impulses;  G = C X
    for d in range(3):
        clear(rhs)
        put_row(pair, C[d], 1.0, rhs)
        code = solve_system(P)
        if code != OK:
            return code
        for node in range(x.shape[0]):
            for c in range(6):
                X[d, node, c] = solution[node, c] if node > 0 else 0.0
        for row in range(3):
            G[row, d] = row_rate_by(pair, C[row], X[d])
    if not G[0, 0] > law.mu * hypot(G[0, 1], G[0, 2]):
        return OK
    # the laws of one point
    left_n = room.v[0, 0] + row_rate_by(pair, C[0], x)
    left_1, left_2 = room.v[0, 1] + row_rate_by(pair, C[1], x), room.v[0, 2] + row_rate_by(pair, C[2], x)
    f = one_contact(G, left_n + law.e * approach, left_1, left_2, 0, law.mu, room.v, 0)
    if not f[0] > 0.0:
        return OK
    add_to_velocities(bodies, solution, x, 1.0)
    for d in range(3):
        out[NORMAL_IMPULSE + d] = f[d]
        add_to_velocities(bodies, x, X[d], f[d])
    out[ENERGY_AFTER], out[RATE] = kinetic_energy(ws.inertia(P), bodies), row_rate(pair, C[0], bodies)
    if not out[RATE] > law.rest + law.noise * largest_velocity(bodies):
        out[NORMAL_IMPULSE] = 0.0
    return OK


strike_point = DirectCall(strike_point_entry)


class PointStruck(NamedTuple):
    """An impact of one point: what happened, and the gap and gap rate of the point behind it."""

    struck: Struck
    gap: float
    rate: float


class PointImpacts:
    """The impacts of single points on a model, in the workspace of its contacts.

    height, rest, noise: see `Law`
    """

    def __init__(self, problem: ContactProblem, height: float, rest: float, noise: float) -> None:
        self.problem, self._limits = problem, (height, rest, noise)
        model, nodes = problem.model, problem.response.nodes
        self._y_dot, self._out = np.zeros(model.y0.size), np.zeros(6)
        self._room = Room(
            A=np.zeros((problem.n, 3, 3)),
            points=np.zeros((1, RATE_COLUMNS)),
            pair=np.zeros((1, 2), dtype=np.int64),
            D=np.zeros((1, 3, 3)),
            C=np.zeros((1, 3, 12)),
            gamma=np.zeros((1, 3)),
            v=np.zeros((1, 3)),
            X=np.zeros((3, nodes, 6)),
            x=np.zeros((nodes, 6)),
            G=np.zeros((3, 3)),
        )

    def of(self, key: Key, t: float, y: Array) -> PointStruck | None:
        """Return the impact of a point at a state (ny,), with y as it is behind it; None, and y as before, where it is not plain."""
        p, out, room, c = self.problem, self._out, self._room, key[0]
        own = p.contacts[c].law
        if isinstance(p.contacts[c], LIMITS) or not (
            p.e[c] > 0.0 and isinstance(p.law if own is None else own, NewtonImpact | None)
        ):
            return None
        before, after = y.copy(), y.copy()
        room.pair[0] = p.pairs[c]
        a, b = p.points.pairs[c].tolist()
        law = Law(float(p.e[c]), float(p.mu[c]), *self._limits)
        work = p.response
        code = strike_point(work.pack, RATES, p.points.shapes, a, b, key[1], law, float(t), after, self._y_dot, room, out)
        work.n_rates, work.n_factorizations = work.n_rates + 1, work.n_factorizations + 1
        if code != OK or not out[NORMAL_IMPULSE] > 0.0 or p.any_held(room.C, room.pair, room.G):
            return None
        y[:] = after
        D, point = room.D.copy(), room.points.copy()
        x_j, C = point[:, POINT_J : POINT_J + 3], room.C.reshape(1, 3, 2, 6).copy()
        kin, f = Kinematics(point[:, GAP], x_j, D, C, room.gamma.copy(), room.v.copy()), out[None, :3].copy()
        struck = Struck(before, after, [key], f, kin, self._impulse(c, t, before, after, f[0], D[0]))
        return PointStruck(struck, float(point[0, GAP]), float(out[RATE]))

    def _impulse(self, c: int, t: float, before: Array, after: Array, f: Array, D: Array) -> Impulse:
        """Return the impulse of contact c."""
        p = self.problem
        model, pack, name = p.model, p.response.pack, p.names[c]
        slots = model.slot_of_row
        J, nu = workspace_array(pack, "J").reshape(-1, model.sides, 6)[slots], workspace_array(pack, "LEVEL")[slots, 1]
        Lam = model.lam_of(self._room.x)
        normal = dict.fromkeys(p.names, 0.0)
        tangential = dict(zip(p.names, np.zeros((len(p.names), 3)), strict=True))
        normal[name], tangential[name] = float(f[0]), f[1:] @ D[1:]
        states = (State.from_y(t, y, p.n, flat=y) for y in (before, after))
        solved = (SolvedImpulse(model.joints, RowSet(model.bodies_of_slots, J, nu), Lam),)
        energies = float(self._out[ENERGY_BEFORE]), float(self._out[ENERGY_AFTER])
        return Impulse(model, *states, Lam, normal, {}, *energies, (), solved, tangential=tangential)
