r"""Joints that close suddenly: rows that are not in the model begin to hold at a state.

    E u+ = nu       E, nu from the joint's primitives, evaluated by the kernels of the engine in a small model of the joint's bodies

The joints must be closed in position at that state, within the tolerances of `system.constraint_residuals`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from haugmbd.bodies.body import Body
from haugmbd.bodies.part import changed
from haugmbd.compiled.array_types import Ints
from haugmbd.constraints.joint import Joint
from haugmbd.errors import Fault, ModelError, UsageError
from haugmbd.impacts.impulse_equations import RowSet
from haugmbd.model.inspection.constraint_rows import evaluate
from haugmbd.model.inspection.identity import foreign_body_faults, number_of
from haugmbd.model.labels import JointEntry
from haugmbd.model.model import Model
from haugmbd.model.state import State
from haugmbd.system.build import build_model
from haugmbd.system.checks.constraint_residuals import position_faults
from haugmbd.system.checks.validation import joint_faults
from haugmbd.system.custom_joint import JointLike, Wrapped, read_primitives

REMEDY = "Close it at a state where its points and axes meet, or bring the bodies there first."


class Closed(NamedTuple):
    """Suddenly closed joints.

    rows: their rows, by body numbers of the model;  joints: entries by name;  owner: (k,) joint of each row
    """

    rows: RowSet
    joints: dict[str, JointEntry]
    owner: tuple[str, ...]


NOTHING = Closed(RowSet(np.zeros((0, 2), dtype=np.int64), np.zeros((0, 2, 6)), np.zeros(0)), {}, ())


def as_joint(part: Any, ground: Body) -> Joint:
    """Return the joint that an element of `close` defines, on the model's ground.  Raise UsageError if it is not a joint."""
    if isinstance(part, Joint):
        if type(part).put_on_ground is Joint.put_on_ground:
            return part
        own = changed(part)  # one that is in another system keeps the ground of that
        own.put_on_ground(ground)
        return own
    if isinstance(part, JointLike) and callable(part.primitives) and not isinstance(part, type):
        return Wrapped(part)
    raise UsageError(f"close takes joints, such as RJ(name, i, j, point=..., axis=...), got {part!r}.")


def closing_faults(model: Model, joints: Sequence[Joint]) -> list[Fault]:
    """Return the faults of joints that close, apart from their position."""
    if not joints:
        return []
    found: list[Fault] = []
    there = {id(joint) for joint in joints} | {id(entry.part) for entry in model.joints.values()}
    names = {joint.name for joint in joints} | set(model.joints)
    for joint in joints:
        where = f"joint {joint.name!r}"
        primitives, broken = read_primitives(joint)
        own = broken or joint_faults(joint, primitives)
        found += own or foreign_body_faults(model, where, *_bodies([joint]))
        if joint.name in model.joints:
            found.append(Fault(where, "the model has a joint of this name", "Give the one that closes suddenly another name."))
        found += [
            Fault(
                where,
                f"its joint {needed.name!r} is neither in the model nor closed with it"
                + (": the one of this name there belongs to another system" if needed.name in names else ""),
                "Add that joint to the model.",
            )
            for needed in joint.needs()
            if id(needed) not in there
        ]
    return found


def closed_rows(model: Model, state: State, joints: Sequence[Joint]) -> Closed:
    """Return the rows of valid joints at `state`.  Raise ModelError if one of them is not closed there."""
    if not joints:
        return NOTHING
    bodies = list({id(body): body for body in (model.bodies[0], *_bodies(joints))}.values())
    number = np.array([number_of(model, body) for body in bodies], dtype=np.int64)
    small = build_model("suddenly closed joints", bodies, joints, (), np.zeros(3))
    poses = (state.r[number], state.p[number], state.v[number], state.omega_bar[number])
    there = State(state.t, *poses, angles=small.state().angles)
    rows = evaluate(small, there)
    open_joints = position_faults(small, there, rows)
    if open_joints:
        raise ModelError(Fault(f.where, f"it cannot close at t = {state.t:g} s: {f.what}", REMEDY) for f in open_joints)
    return Closed(
        RowSet(number[rows.bodies], np.concatenate([rows.Phi_r, rows.PiBar], axis=2), rows.nu),
        {name: _renumbered(e, number) for name, e in small.joints.items()},
        tuple(label.joint for label in small.labels),
    )


def _renumbered(e: JointEntry, number: Ints) -> JointEntry:
    """Return the entry with the numbers of the bodies in the whole model."""
    places = tuple((int(number[body]), s_bar, A_bar) for body, s_bar, A_bar in e.places)
    return e._replace(i=int(number[e.i]), j=int(number[e.j]), places=places)


def _bodies(joints: Sequence[Joint]) -> list[Body]:
    """Return the bodies of the joints' rows, each once."""
    return list({id(b): b for joint in joints for p in joint.primitives() for b in p.bodies()}.values())
