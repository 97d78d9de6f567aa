"""Changes of a state at the end of a step: by the solution array, and of joints that stick.

A joint that sticks has no acceleration by the friction needed, `friction.sticking`; the rate that the errors of a step leave it
is removed at its end.  Otherwise the joint would creep, and a state by itself would say that it slides.
"""

from __future__ import annotations

from haugmbd.compiled.array_types import Array
from haugmbd.compiled.jit import entry, kernel
from haugmbd.compiled.status_codes import OK
from haugmbd.formulations.newton_euler import factorize
from haugmbd.friction.columns import FREE, MODE, STICKS
from haugmbd.friction.routine import REST
from haugmbd.math.body_columns import EULER, VELOCITY
from haugmbd.math.euler_kernels import rotate_by
from haugmbd.model.evaluate import prepare
from haugmbd.model.generalized_forces import clear
from haugmbd.workspace import accessors as ws
from haugmbd.workspace import layout as at
from haugmbd.workspace.body_kinematics import update_kinematics
from haugmbd.workspace.layout import Pack


@kernel
def scale_solution(P: Pack, part: float) -> None:
    """Multiply the part of the bodies in the current solution."""
    x = ws.solution(P)
    for k in range(1, ws.n_bodies(P)):
        for a in range(6):
            x[k, a] *= part


@kernel
def add_displacement(P: Pack, bodies: Array) -> None:
    """Set r <- r + dr, p <- p exp(dpi_bar) with the current solution."""
    x = ws.solution(P)
    for k in range(1, bodies.shape[0]):
        for a in range(3):
            bodies[k, a] += x[k, a]
        rotate_by(bodies[k, EULER:VELOCITY], x[k, 3:6])


@kernel
def add_velocity(P: Pack, bodies: Array) -> None:
    """Set u <- u + du with the current solution."""
    x = ws.solution(P)
    for k in range(1, bodies.shape[0]):
        for a in range(6):
            bodies[k, VELOCITY + a] += x[k, a]


@kernel
def has_sticking_joints(P: Pack) -> bool:
    """Return whether a joint sticks by exact friction until the next event of the run."""
    modes = ws.friction_modes(P)
    for k in range(modes.shape[0]):
        if modes[k, MODE] == STICKS:
            return True
    return False


@kernel
def stop_sticking_joints(P: Pack, t: float, y: Array) -> int:
    """Remove the rates of joints that stick from the state `y`, which the errors of a step leave."""
    if not has_sticking_joints(P):
        return OK
    code = prepare(P, t, y)
    if code != OK:
        return code
    ws.solve_for(P)[0, 0] = at.ACCELERATIONS
    clear(ws.right_hand_side(P))
    code = factorize(P)
    if code != OK:
        return code
    code = P.friction(REST, t, P, y)
    if code == OK:
        add_velocity(P, update_kinematics(P, t, y).bodies)
    return code


@entry
def stop_at_rest_entry(P: Pack, t: Array, y: Array, at_rest: Array) -> tuple[int, int]:
    """Remove the rates of joints that are at rest, at_rest[n, k] = 1, from states y (n, ny) at t; return the code and the number done."""
    modes = ws.friction_modes(P)
    for n in range(t.shape[0]):
        for k in range(modes.shape[0]):
            modes[k, MODE] = STICKS if at_rest[n, k] == 1.0 else FREE
        code = stop_sticking_joints(P, t[n], y[n])
        if code != OK:
            return code, n
    return OK, t.shape[0]
