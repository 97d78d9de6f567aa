r"""Joint reactions: the wrench that a joint exerts on one of its bodies.

    (F, n_bar) = -Phi_q^T lam      over the joint's rows, moved to the joint's point, see `diagnostics.joint_wrench`

Source: Haug (2021), equations of motion with Lagrange multipliers: reactions in joints.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from haugmbd.compiled.array_types import Array
from haugmbd.deprecated import NamesMeant, check_keywords, public_class
from haugmbd.diagnostics.joint_reactions.joint_wrench import Axes, Side, at_joint_point, check_wrench_arguments, place_on
from haugmbd.diagnostics.joint_reactions.reaction_uniqueness import COMPONENTS, SelfStresses, self_stresses, unique_components
from haugmbd.diagnostics.joint_reactions.tooth_forces import wrench_with_teeth
from haugmbd.diagnostics.rows_over_time import JointWrenches
from haugmbd.errors import ModelError
from haugmbd.formulations.accelerations import solve_states
from haugmbd.math.body_columns import PARTS
from haugmbd.model.inspection.given import model_given, state_given
from haugmbd.model.model import Model
from haugmbd.model.state import State
from haugmbd.system.checks.constraint_residuals import state_faults
from haugmbd.workspace.layout import WIDTH


@public_class
@dataclass(frozen=True, eq=False)
class Reaction(NamesMeant):
    """The force and torque that a joint exerts on a body, at the joint's point on that body.

    Attributes
    ----------
    joint : str
        Name of the joint.
    body : str
        Name of the body on which the reaction acts.
    frame : str
        Frame of force and torque: "ground", "body" or "joint" (the joint's frame on that body).
    t : ndarray, (nt,)
        Times [s].
    force : ndarray, (nt, 3)
        Force [N].
    torque : ndarray, (nt, 3)
        Torque about `point` [N m].
    point : ndarray, (nt, 3)
        The joint's point on the body, global [m].
    unique : tuple of 6 bool
        Whether each component is unique: force x, y, z, torque x, y, z in the same frame. A component that is not unique depends on how
        redundant rows share their load; its values here are one choice of many.

    Notes
    -----
    At a single state the first axis is missing. Uniqueness is decided at five states of the motion: the rows that depend on one another
    change at isolated poses only.
    """

    joint: str
    body: str
    frame: str
    t: Array
    force: Array
    torque: Array
    point: Array
    unique: tuple[bool, ...] = (True,) * 6

    @property
    def shared(self) -> tuple[str, ...]:
        """Return the names of the components that are not unique, such as "force z"."""
        return tuple(name for name, unique in zip(COMPONENTS, self.unique, strict=True) if not unique)

    def __repr__(self) -> str:
        shared = f", not unique: {', '.join(self.shared)}" if self.shared else ""
        return f"Reaction of {self.joint!r} on {self.body!r}, {self.frame} frame, {np.size(self.t)} states{shared}"


def reactions_over_time(
    wrenches: JointWrenches,
    joint: str,
    *,
    on: str = "j",
    frame: str = "ground",
    stresses: Callable[[], SelfStresses] | None = None,
) -> Reaction:
    """Return the reaction of `joint` at the states of `wrenches`.

    stresses: returns the self-stresses along the motion; by default they are computed

    Raises UsageError for an unknown joint, side or frame.
    """
    model, t, y = wrenches.model, wrenches.t, wrenches.y
    check_wrench_arguments(model.joints, model.body_names, joint, on, frame)
    e = model.joints[joint]
    place = place_on(e, on, model.body_names)
    body = place.body
    wrench = wrench_with_teeth(wrenches, e, body)
    r, p = (y[:, WIDTH * body + a : WIDTH * body + b] for a, b in PARTS[:2])
    found = at_joint_point(place, frame, r, p, wrench)
    known = stresses() if stresses is not None else self_stresses(model, t, y)
    unique = unique_components(model, known, e, on, frame)
    return Reaction(joint, model.body_names[body], frame, t, found.force, found.torque, found.point, unique)


@check_keywords
def reaction(model: Model, state: State | None, joint: str, *, on: Side = "j", frame: Axes = "ground") -> Reaction:
    """Return the reaction of a joint at one state, with the multipliers of that state.

    Parameters
    ----------
    model : Model
        The compiled model.
    state : State or None
        The state; None is the modelled one.
    joint : str
        Name of the joint.
    on : {"j", "i"}
        Body on which the reaction acts: the joint's body j or i.
    frame : {"ground", "body", "joint"}
        Frame of the components.

    Returns
    -------
    Reaction
        Force (3,) [N], torque (3,) [N m] about the joint's point, and the point (3,) [m].

    Raises
    ------
    UsageError
        If the joint, side or frame does not exist.
    SingularKKTError
        If the rows are dependent at the state.
    """
    model = model_given(model, "reaction")
    state = model.state() if state is None else state
    t, y = np.array([state.t]), state.y[None]
    return _at_one(JointWrenches(model, t, y, lambda: solve_states(model, t, y)), joint, on, frame)


def _at_one(
    wrenches: JointWrenches, joint: str, on: str, frame: str, stresses: Callable[[], SelfStresses] | None = None
) -> Reaction:
    """Return the reaction at a single state."""
    found = reactions_over_time(wrenches, joint, on=on, frame=frame, stresses=stresses)
    return Reaction(joint, found.body, frame, found.t[0], found.force[0], found.torque[0], found.point[0], found.unique)


@check_keywords
def reactions(model: Model, state: State | None = None, *, on: Side = "j", frame: Axes = "ground") -> dict[str, Reaction]:
    """Return the reactions of all joints at one state, by name.

    Parameters
    ----------
    model : Model or System
        A System is compiled first.
    state : State, optional
        By default the modelled state.
    on : {"j", "i"}
        Body on which the reactions act: the joints' body j or i.
    frame : {"ground", "body", "joint"}
        Frame of the components.

    Returns
    -------
    dict of str to Reaction
        Force (3,) [N], torque (3,) [N m] about the joint's point, and the point (3,) [m].

    Raises
    ------
    UsageError
        If an argument has the wrong kind, or the side or frame does not exist.
    ModelError
        If the state does not belong to the model.
    SingularKKTError
        If the rows are dependent at the state.

    Notes
    -----
    The equations of motion are solved once. During a run the same quantities are signals, "pin.force" and "pin.torque".
    """
    model = model_given(model, "reactions")
    state = state_given(model, state, "reactions")
    faults = state_faults(model, state)
    if faults:
        raise ModelError(faults)
    t, y = np.array([state.t]), state.y[None]
    solved = solve_states(model, t, y)
    wrenches, known = JointWrenches(model, t, y, lambda: solved), self_stresses(model, t, y)
    return {name: _at_one(wrenches, name, on, frame, lambda: known) for name in model.joints}
