r"""An impulse without contacts and without joints that close: one compiled call.

    K (du, Lam) = (P, nu - Phi_q u-)            K = [ M Phi_q^T; Phi_q 0 ]
    K (ddu, dLam) = (P, nu - Phi_q u-) - K (du, Lam)                one step of iterative refinement

Without the refinement the residual of Phi_q u - nu would change the energy of an elastic impact.
Source: Haug 2021, sec. 11.3; the same matrix as in `formulations.newton_euler`.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from haugmbd.compiled.array_types import Array
from haugmbd.compiled.jit import DirectCall, entry, kernel
from haugmbd.compiled.status_codes import OK
from haugmbd.formulations.error_messages import explain
from haugmbd.formulations.newton_euler import factorize, finish, solve_system
from haugmbd.impacts.impulse_equations import RowSet
from haugmbd.integrators.stabilization.projection import put_velocity_residual
from haugmbd.kkt.block_ldl import residual
from haugmbd.math.body_columns import OMEGA_BAR, VELOCITY
from haugmbd.model.evaluate import prepare
from haugmbd.model.model import Model
from haugmbd.model.state import State
from haugmbd.workspace import accessors as ws
from haugmbd.workspace.body_kinematics import update_kinematics
from haugmbd.workspace.layout import Pack, workspace_array


@kernel
def kinetic_energy(inertia: Array, bodies: Array) -> float:
    """Return the kinetic energy [J] of the velocities in bodies (nb + 1, 13)."""
    twice = 0.0
    for k in range(1, inertia.shape[0]):
        for a in range(3):
            momentum = 0.0
            for c in range(3):
                momentum += inertia[k, 1 + 3 * a + c] * bodies[k, OMEGA_BAR + c]
            twice += inertia[k, 0] * bodies[k, VELOCITY + a] ** 2 + bodies[k, OMEGA_BAR + a] * momentum
    return 0.5 * twice


@entry
def impulse_entry(P: Pack, t: float, y: Array, applied: Array, x: Array, energy: Array) -> int:
    """Add the change of velocities to y, write the solution (du, Lam) to x (nn, 6) by nodes, and energies before and after.

    applied: (nb + 1, 6) impulses, zero on the ground
    """
    code = prepare(P, t, y)
    if code != OK:
        return code
    bodies, b, solution = update_kinematics(P, t, y).bodies, ws.right_hand_side(P), ws.solution(P)
    energy[0] = kinetic_energy(ws.inertia(P), bodies)
    put_velocity_residual(P, bodies, ws.kept_rows(P))
    for k in range(applied.shape[0]):
        for a in range(6):
            b[k, a] = applied[k, a]
    code = factorize(P)
    if code == OK:
        code = finish(P)
    if code != OK:
        return code
    for k in range(x.shape[0]):
        for a in range(6):
            x[k, a] = solution[k, a] if k > 0 else 0.0
    left = ws.correction(P)
    residual(ws.inertia(P), ws.padding_line(P), ws.edges(P), ws.jacobian(P), b, x, left)
    for k in range(x.shape[0]):
        for a in range(6):
            b[k, a] = left[k, a] if k > 0 else 0.0
    code = solve_system(P)
    for k in range(1, x.shape[0]):
        for a in range(6):
            x[k, a] += solution[k, a]
    for k in range(1, bodies.shape[0]):
        for a in range(6):
            bodies[k, VELOCITY + a] += x[k, a]
    energy[1] = kinetic_energy(ws.inertia(P), bodies)
    return code


solve_impulse = DirectCall(impulse_entry)


class PlainImpulse(NamedTuple):
    """The state after the impulse, the multipliers (nc,), the rows at this pose, and kinetic energies [J] before and after."""

    state: State
    Lam: Array
    rows: RowSet
    energies: tuple[float, float]


def plain_impulse(model: Model, state: State, P: Array) -> PlainImpulse:
    """Return the effect of impulses P (nb + 1, 6), zero on the ground, on a valid state.

    Raises SingularKKTError if the rows depend on each other, and the error of a user's callable.
    """
    pack, y, energy = model.borrow(), state.y, np.empty(2)
    x = np.empty(workspace_array(pack, "SOLUTION").shape)
    code = solve_impulse(pack, state.t, y, P, x, energy)
    if code != OK:
        model.raise_user_error(pack)
        raise explain(model, pack, code, state.t)
    slots = model.slot_of_row
    J, nu = workspace_array(pack, "J").reshape(-1, model.sides, 6)[slots], workspace_array(pack, "LEVEL")[slots, 1]
    model.give_back(pack)
    after = State.from_y(state.t, y, model.nb + 1)
    return PlainImpulse(after, model.lam_of(x), RowSet(model.bodies_of_slots, J, nu), (float(energy[0]), float(energy[1])))
