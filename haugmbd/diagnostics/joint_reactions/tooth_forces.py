r"""Reactions of gears with tooth forces: the force at the contact point in place of the couple, and what it changes in the bearings.

The row of a gear pair exerts a couple on each wheel and the opposite on the carrier. The tooth force at the contact point has the same
moment about the axis of its wheel, so that the motion is the same; its other components go through the bearings:

    D           = (tooth force) - (wrench of the row)         on each wheel
    bearing'    = bearing - D  on the wheel,  + D  on the carrier
    gear'       = tooth force on the wheels,  nothing on the carrier

Source: `constraints.tooth_contact`.
"""

from __future__ import annotations

import numpy as np

from haugmbd.compiled.array_types import Array
from haugmbd.constraints.joint import Joint
from haugmbd.constraints.tooth_contact import ToothContact
from haugmbd.diagnostics.rows_over_time import JointWrenches
from haugmbd.math.euler_parameters import cross, rotation_matrix
from haugmbd.model.immutable import once_per_model
from haugmbd.model.inspection.identity import number_of
from haugmbd.model.labels import JointEntry, parts_of
from haugmbd.model.model import Model
from haugmbd.workspace.layout import WIDTH


def wrench_with_teeth(wrenches: JointWrenches, e: JointEntry, body: int) -> Array:
    """Return the wrench (nt, 6) of a joint on a body, as `wrenches.on`, with the tooth forces of gears whose geometry is given."""
    model, y = wrenches.model, wrenches.y
    contact = e.part.tooth_contact()
    if contact is not None:
        return _in_body(_tooth_wrench(wrenches, e, contact, body), body, y)
    wrench = wrenches.on(e, body)
    for gear in gears_on(model, e):
        contact = gear.part.tooth_contact()
        assert contact is not None
        wheel = number_of(model, contact.wheels[contact.bearings.index(e.part)])
        couple = _global(wrenches.on(gear, wheel), wheel, y)
        change = _tooth_wrench(wrenches, gear, contact, wheel) - couple
        wrench = wrench + _in_body(-change if body == wheel else change, body, y)
    return wrench


def gears_on(model: Model, e: JointEntry) -> list[JointEntry]:
    """Return the gears with tooth forces that a joint is a bearing of."""
    return [model.joints[name] for name, bearings in _bearings_of_gears(model) if any(joint is e.part for joint in bearings)]


@once_per_model
def _bearings_of_gears(model: Model) -> tuple[tuple[str, tuple[Joint, ...]], ...]:
    """Return the names of the gears with tooth forces, and their bearings."""
    return tuple((joint.name, bearings) for joint in parts_of(model.joints) if (bearings := bearings_of(joint)))


def bearings_of(joint: Joint) -> tuple[Joint, ...]:
    """Return the bearings through which the tooth forces of a gear go; none for other joints."""
    contact = joint.tooth_contact()
    return () if contact is None else tuple(contact.bearings)


def _tooth_wrench(wrenches: JointWrenches, gear: JointEntry, contact: ToothContact, body: int) -> Array:
    """Return the tooth force on a body and its moment about the global origin, (nt, 6), global; zero for other bodies than the wheels."""
    model, y = wrenches.model, wrenches.y
    a, b = (number_of(model, wheel) for wheel in contact.wheels)
    if body not in (a, b):
        return np.zeros((len(y), 6))
    r, A = _pose(number_of(model, contact.carrier), y)
    axis, tangent, towards, line = (A @ x for x in (contact.axis, contact.t, contact.s, contact.l))
    couple = _global(wrenches.on(gear, a), a, y)
    moment = couple[:, 3:] - cross(r + A @ contact.point, couple[:, :3])
    F = (np.einsum("ti,ti->t", moment, axis) / contact.radius)[:, None]
    force = F * (tangent + contact.along * line) + np.abs(F) * contact.apart * towards
    wrench = np.hstack([force, cross(r + A @ contact.point, force)])
    return wrench if body == a else -wrench


def _pose(body: int, y: Array) -> tuple[Array, Array]:
    """Return r (nt, 3) and A (nt, 3, 3) of a body."""
    first = WIDTH * body
    return y[:, first : first + 3], rotation_matrix(y[:, first + 3 : first + 7])


def _global(wrench: Array, body: int, y: Array) -> Array:
    """Return a wrench (nt, 6) about the centre of mass, moment in the body frame, as global force and moment about the global origin."""
    r, A = _pose(body, y)
    return np.hstack([wrench[:, :3], np.einsum("tij,tj->ti", A, wrench[:, 3:]) + cross(r, wrench[:, :3])])


def _in_body(wrench: Array, body: int, y: Array) -> Array:
    """Return the inverse of `_global`."""
    r, A = _pose(body, y)
    return np.hstack([wrench[:, :3], np.einsum("tji,tj->ti", A, wrench[:, 3:] - cross(r, wrench[:, :3]))])
