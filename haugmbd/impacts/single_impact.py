r"""The impact of one contact that strikes alone, as most do: the formulas of `impulse` with one row C, in compiled code.

    K (du, Lam) = (0, nu - Phi_q u-)        K (z, z_lam) = (C^T, 0)        w = C z
    f = (max(0, -e C u-) - C (u- + du)) / w > 0        u+ = u- + du + z f        Lam+ = Lam + z_lam f

One step of iterative refinement, then one of f, as there. What follows at the state behind it tells whether the contact flies:

    rate = C u+,   a = (C u+)'        it comes to rest where it would rise less than a height:  a < 0,  rate^2 <= 2 |a| height

The results agree with those of `impulse` within rounding: sums of twelve numbers are made in another order, and a quotient stands in place
of the spectral parts of a matrix of one row.
Source: Haug 2021, sec. 11.3; Moreau (1988).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from haugmbd.compiled.array_types import Array
from haugmbd.compiled.jit import DirectCall, entry, kernel
from haugmbd.compiled.status_codes import OK
from haugmbd.contact.gap import BODY_I, BODY_J, GapFunction, GapTable, Placed, put_gap_row, second_gap_rate
from haugmbd.formulations.newton_euler import factorize, finish, right_hand_side, solve_system
from haugmbd.impacts.auxiliary_rows import ROUNDING
from haugmbd.impacts.contact_rows import add_to_velocities, largest_velocity, put_row, row_rate, row_rate_by
from haugmbd.impacts.impulse import GAIN_TOL
from haugmbd.impacts.impulse_equations import RowSet
from haugmbd.impacts.impulse_result import Impulse, SolvedImpulse
from haugmbd.impacts.joint_closure import NOTHING
from haugmbd.impacts.plain_impulse import kinetic_energy
from haugmbd.impacts.spectral_solve import RANK_TOL
from haugmbd.integrators.stabilization.projection import put_velocity_residual
from haugmbd.kkt.block_ldl import residual
from haugmbd.model.evaluate import prepare
from haugmbd.model.generalized_forces import clear
from haugmbd.model.model import Model
from haugmbd.model.state import State
from haugmbd.workspace import accessors as ws
from haugmbd.workspace.body_kinematics import update_kinematics
from haugmbd.workspace.layout import Pack, workspace_array

F, W, FREE, BEFORE, LEFT, AFTER, BOUND, SIZE, ENERGY_BEFORE, ENERGY_AFTER, RATE, ROUNDED, ACCELERATION = range(13)
"""What `strike_entry` writes: f [N s], w and what it is without joints [1/kg], C u- and C (u- + du), C u- + ... + w f, its bound, the scale
of its rounding [m/s], energies [J]; and C u+ with the scale of its rounding [m/s], and a [m/s2]."""


@kernel
def free_response(pair: tuple[int, int], C: Array, inertia: Array) -> float:
    """Return C M^-1 C^T for diagonal inertia, or less: the scale of w."""
    total = 0.0
    for side in range(2):
        if pair[side] > 0:
            for a in range(6):
                of_axis = inertia[pair[side], 0] if a < 3 else inertia[pair[side], 1 + 4 * (a - 3)]  # noqa: PLR2004
                if of_axis > 0.0:
                    total += C[6 * side + a] ** 2 / of_axis
    return total


@entry
def strike_entry(
    P: Pack,
    table: GapTable,
    k: int,
    restitution: float,
    t: float,
    y: Array,
    y_dot: Array,
    room: Array,
    C: Array,
    x: Array,
    z: Array,
    out: Array,
) -> int:
    """Let contact k strike: write u+ to y, its rates to y_dot, the row to C (12,), (u+ - u-, Lam) to x (nn, 6), and numbers to out.

    room: (ny,), and z: (nn, 6), work arrays
    """
    pair = (table.places[k, BODY_I], table.places[k, BODY_J])
    code = prepare(P, t, y)
    if code != OK:
        return code
    bodies, b, solution = update_kinematics(P, t, y).bodies, ws.right_hand_side(P), ws.solution(P)
    put_gap_row(table, k, y, room, C)
    out[ENERGY_BEFORE], out[BEFORE] = kinetic_energy(ws.inertia(P), bodies), row_rate(pair, C, bodies)
    largest = largest_velocity(bodies)
    # K (du, Lam) = (0, nu - Phi_q u-): what the joints do not allow
    put_velocity_residual(P, bodies, ws.kept_rows(P))
    code = factorize(P)
    if code == OK:
        code = finish(P)
    if code != OK:
        return code
    clear(x)
    add_to_velocities(bodies, x, solution, 1.0)
    # K (z, z_lam) = (C^T, 0): the effect of a unit impulse
    clear(b)
    put_row(pair, C, 1.0, b)
    code = solve_system(P)
    if code != OK:
        return code
    for node in range(z.shape[0]):
        for a in range(6):
            z[node, a] = solution[node, a]
    # f by the bound of the rate, u+ = u- + du + z f
    size = 0.0
    for a in range(12):
        size += abs(C[a])
    out[W], out[FREE], out[LEFT] = row_rate_by(pair, C, z), free_response(pair, C, ws.inertia(P)), row_rate(pair, C, bodies)
    out[SIZE], out[BOUND] = size * max(largest, largest_velocity(bodies)), max(0.0, -restitution * out[BEFORE])
    if not (out[W] > RANK_TOL * out[FREE] and out[BOUND] - out[LEFT] > ROUNDING * out[SIZE]):
        out[F] = 0.0
        return OK
    out[F] = (out[BOUND] - out[LEFT]) / out[W]
    out[AFTER] = out[LEFT] + out[W] * out[F]
    add_to_velocities(bodies, x, z, out[F])
    # (P, nu - Phi_q u-) - K (u+ - u-, Lam) is rounding: one step of refinement takes it away
    put_velocity_residual(P, bodies, ws.kept_rows(P))
    left = ws.correction(P)
    n = bodies.shape[0]
    for node in range(n):
        for a in range(6):
            b[node, a] = 0.0
    put_row(pair, C, out[F], b)
    residual(ws.inertia(P), ws.padding_line(P), ws.edges(P), ws.jacobian(P), b, x, left)
    for node in range(1, n):
        for a in range(6):
            b[node, a] = left[node, a]
    code = solve_system(P)
    if code != OK:
        return code
    add_to_velocities(bodies, x, solution, 1.0)
    # and the rounding of the row itself
    more = (out[BOUND] - row_rate(pair, C, bodies)) / out[W]
    out[F] += more
    add_to_velocities(bodies, x, z, more)
    # what the contact does behind the impact
    out[ENERGY_AFTER], out[RATE] = kinetic_energy(ws.inertia(P), bodies), row_rate(pair, C, bodies)
    out[ROUNDED] = size * largest_velocity(bodies)
    code = right_hand_side(P, t, y, y_dot)
    out[ACCELERATION] = second_gap_rate(table, k, y, y_dot, room)
    return code


strike = DirectCall(strike_entry)


class SingleImpact(NamedTuple):
    """An impulse of one contact; its gap rates before and behind it, the scales of their rounding [m/s], and the second rate [m/s2]."""

    impulse: Impulse
    before: float
    rounded_before: float
    rate: float
    rounded: float
    acceleration: float


class SingleImpacts:
    """The impacts of single contacts on a model, in one workspace."""

    def __init__(self, model: Model, table: GapTable) -> None:
        self.model, self.table, self.pack = model, table, model.pack()
        shape = workspace_array(self.pack, "SOLUTION").shape
        self._z, self._C, self._out = np.empty(shape), np.empty(12), np.empty(13)
        self._room = np.zeros(model.y0.size)

    def of(self, contact: Placed | GapFunction, k: int, state: State) -> SingleImpact | None:
        """Return the impact of contact k; None where `impulse` has to tell what happens, or that nothing does."""
        model, y, out = self.model, state.y, self._out
        y_dot, x = np.zeros_like(y), np.empty_like(self._z)
        code = strike(
            self.pack, self.table, k, float(contact.restitution), float(state.t), y, y_dot, self._room, self._C, x, self._z, out
        )
        if code != OK or not out[F] > 0.0:
            return None
        work = 0.5 * out[F] * min(out[AFTER] + out[BEFORE], out[AFTER] + out[LEFT])
        before, after = float(out[ENERGY_BEFORE]), float(out[ENERGY_AFTER])
        if not work <= GAIN_TOL * max(before, after):
            return None
        slots, pack = model.slot_of_row, self.pack
        J, nu = workspace_array(pack, "J").reshape(-1, model.sides, 6)[slots], workspace_array(pack, "LEVEL")[slots, 1]
        Lam = model.lam_of(x)
        rows = RowSet(model.bodies_of_slots, J, nu)
        found = Impulse(
            model=model,
            before=state,
            state=State.from_y(state.t, y, model.nb + 1, flat=y),
            Lam=Lam,
            normal={contact.name: float(out[F])},
            closed={},
            energy_before=before,
            energy_after=after,
            messages=(),
            _solved=(SolvedImpulse(model.joints, rows, Lam), SolvedImpulse({}, NOTHING.rows, np.zeros(0))),
        )
        return SingleImpact(found, *(float(out[k]) for k in (BEFORE, SIZE, RATE, ROUNDED, ACCELERATION)))
