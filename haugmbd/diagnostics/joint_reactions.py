"""Joint reactions: the wrench that a joint exerts on one of its bodies, which of its components are unique, and those of gears with teeth.

    (F, n_bar) = -Phi_q^T lam      over the joint's rows: force, global, and moment about the centre of mass, body frame
    T          = A n_bar - s x F   moment about the joint point P = r + s,  s = A s_bar

The forces on body i and body j are opposite. The moments are opposite if both points P coincide.

The unique components: the others depend on how redundant rows share the load.

    Phi_q^T n = 0        self-stress: lam and lam + n give the same motion
    a component of the reaction of a joint is unique   <=>   it vanishes for every n

Each dependent row r gives one n: 1 at r, and minus its coefficients at the kept rows. Joints without such rows have unique reactions.
Components are those of `reaction(joint, frame="joint")`: force and torque at the joint's point on body j, in the joint's frame there.
Along a motion the self-stresses are those of a few of its states: the rows that they connect change at isolated poses only.

Gears with tooth forces: the force at the contact point in place of the couple, and what it changes in the bearings.
The row of a gear pair exerts a couple on each wheel and the opposite on the carrier. The tooth force at the contact point has the same
moment about the axis of its wheel, so that the motion is the same; its other components go through the bearings:

    D           = (tooth force) - (wrench of the row)         on each wheel
    bearing'    = bearing - D  on the wheel,  + D  on the carrier
    gear'       = tooth force on the wheels,  nothing on the carrier
Source: Haug (2021), equations of motion with Lagrange multipliers: reactions in joints; `constraints.tooth_contact`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Literal, NamedTuple

import numpy as np

from haugmbd.choices import is_one_of
from haugmbd.compiled.array_types import Array, Ints
from haugmbd.constraints.joint import Joint
from haugmbd.constraints.tooth_contact import ToothContact
from haugmbd.deprecated import NamesMeant, check_keywords, public_class
from haugmbd.diagnostics.violation import JointWrenches, rows_over_time
from haugmbd.errors import UsageError
from haugmbd.formulations.accelerations import solve_states
from haugmbd.math.body_columns import PARTS
from haugmbd.math.euler_parameters import cross, rotation_matrix
from haugmbd.model.dependent_rows import Dependency
from haugmbd.model.immutable import once_per_model
from haugmbd.model.inspection.constraint_rows import Rows, evaluate
from haugmbd.model.inspection.given import model_given, state_given
from haugmbd.model.inspection.identity import number_of
from haugmbd.model.labels import JointEntry, JointFrames, frames_of, joint_named, parts_of
from haugmbd.model.model import Model
from haugmbd.model.state import State
from haugmbd.redundancy.rank import RankAnalysis, analyse_rank, report_of
from haugmbd.system.checks.constraint_residuals import Flags, need_sound_state
from haugmbd.workspace.layout import WIDTH

Side = Literal["i", "j"] | str
"""Side of a joint, or the name of a body that it touches."""
Axes = Literal["ground", "body", "joint"]


class JointWrench(NamedTuple):
    """The wrench of a joint over time.

    force, torque: (nt, 3) each, about `point`, in the given frame;  point: (nt, 3) global [m]
    """

    force: Array
    torque: Array
    point: Array


class ReactionPlace(NamedTuple):
    """The place of a reaction: number of the body, the joint's point s_bar (3,) and axes A_bar (3, 3) there."""

    body: int
    s_bar: Array
    A_bar: Array


def place_on(e: JointEntry, on: str, body_names: Sequence[str]) -> ReactionPlace:
    """Return the place of the reaction on side "i" or "j", or on the body of that name."""
    if on in ("i", "j"):
        return ReactionPlace(e.i, e.s_bar_i, e.A_bar_i) if on == "i" else ReactionPlace(e.j, e.s_bar_j, e.A_bar_j)
    places = e.places or ((e.i, e.s_bar_i, e.A_bar_i), (e.j, e.s_bar_j, e.A_bar_j))
    return next(ReactionPlace(*place) for place in places if body_names[place[0]] == on)


def at_joint_point(place: ReactionPlace, frame: str, r: Array, p: Array, wrench: Array) -> JointWrench:
    """Return the wrench (nt, 6) on the body of the place, with poses r (nt, 3) and p (nt, 4), about the joint's point."""
    _, s_bar, A_bar = place
    A = rotation_matrix(p)
    s = A @ s_bar
    force = wrench[:, :3]
    torque = np.einsum("tij,tj->ti", A, wrench[:, 3:]) - cross(s, force)
    if frame != "ground":
        axes = A if frame == "body" else A @ A_bar
        force, torque = np.einsum("tji,tj->ti", axes, force), np.einsum("tji,tj->ti", axes, torque)
    return JointWrench(np.array(force), torque, r + s)


def check_wrench_arguments(joints: Mapping[str, JointEntry], body_names: Sequence[str], joint: str, on: str, frame: str) -> None:
    """Raise UsageError for a name, side or frame that does not exist."""
    e = joint_named(joints, joint)
    touched = [body_names[place[0]] for place in e.places] or [body_names[e.i], body_names[e.j]]
    if not is_one_of(on, ("i", "j", *touched)):
        i, j = body_names[e.i], body_names[e.j]
        others = "" if len(touched) == 2 else f", or one of {', '.join(map(repr, touched))}"  # noqa: PLR2004
        raise UsageError(f"on is {on!r}: give 'i' (body {i!r}) or 'j' (body {j!r}){others}.")
    if not is_one_of(frame, ("ground", "body", "joint")):
        raise UsageError(f"frame is {frame!r}: give 'ground', 'body' or 'joint'.")


COMPONENTS = ("force x", "force y", "force z", "torque x", "torque y", "torque z")

STILL = 1e-7
"""Of a change of contact forces of unit size: a smaller change of a reaction is rounding."""
UNIQUE_TOL = 1e-5
"""Component of a self-stress, relative to its largest row (torques over a length), that is zero.

Its square is PIVOT_TOL of dependent rows.
"""

ALL = (True,) * 6

CARRIED_TOL = 1e-9
"""Component that a joint can carry, relative to the largest of the same row; it is above the rounding of frames."""


@dataclass(frozen=True)
class JointReaction:
    """Uniqueness of a joint's reaction, by components in the order of COMPONENTS, and the components that the joint can carry.

    A component that a joint cannot carry is zero, and therefore unique.
    """

    joint: str
    unique: tuple[bool, ...]
    carried: tuple[bool, ...]

    @property
    def all_unique(self) -> bool:
        """Return whether the whole reaction is unique."""
        return self.unique is ALL or all(self.unique)

    @property
    def marks(self) -> tuple[str, ...]:
        """Return "unique", "not" or "-" (not carried) for each component."""
        return tuple(
            "-" if not carried else "unique" if unique else "not" for unique, carried in zip(self.unique, self.carried, strict=True)
        )


def joint_reactions(
    model: Model, rows: Rows, examined: RankAnalysis, dependencies: Iterable[Dependency], frames: JointFrames | None = None
) -> tuple[JointReaction, ...]:
    """Return one record for each joint; bearings of a gear whose tooth force is shared are not unique.  frames: of the joints, if known"""
    stresses: dict[str, list[dict[int, float]]] = {}
    for stress in _stresses(examined, dependencies):
        for joint in {model.labels[row].joint for row in stress}:
            stresses.setdefault(joint, []).append(stress)
    frames = frames_of(model.joints) if frames is None else frames
    first = frames.first
    wrenches = joint_wrenches(rows, frames) * np.array([1.0, 1.0, 1.0, *([1.0 / examined.length] * 3)])
    carries = _carried(wrenches, first)
    shared = {id(bearing) for part in frames.parts if part.name in stresses for bearing in bearings_of(part)}
    return tuple(
        [
            JointReaction(part.name, tuple(not one for one in carried), carried)
            if id(part) in shared
            else JointReaction(part.name, (False,) * 6, carried)  # its tooth force
            if part.name in stresses and bearings_of(part)
            else JointReaction(part.name, ALL, carried)
            if part.name not in stresses
            else _reaction(part.name, wrenches, range(first[k], first[k + 1]), carried, stresses[part.name])
            for k, (part, carried) in enumerate(zip(frames.parts, carries, strict=True))
        ]
    )


def _carried(wrenches: Array, first: Ints) -> list[tuple[bool, ...]]:
    """Return the components that each joint can carry, from the wrenches of all rows (nc, 6).  first: rows of the joints (nj + 1,)"""
    size = np.abs(wrenches)
    code = ((size > CARRIED_TOL * size.max(axis=1, initial=0.0, keepdims=True)) @ (1 << np.arange(6))).astype(np.int64)
    of_joint = np.zeros(len(first) - 1, dtype=np.int64)
    np.bitwise_or.at(of_joint, np.repeat(np.arange(len(of_joint)), np.diff(first)), code)
    of_code = [tuple(bool(n >> k & 1) for k in range(6)) for n in range(64)]
    return [of_code[n] for n in of_joint.tolist()]


def _stresses(examined: RankAnalysis, dependencies: Iterable[Dependency]) -> list[dict[int, float]]:
    """Return the self-stresses, multipliers by row, each with the largest row 1."""
    stresses = []
    for d in dependencies:
        if d.terms:
            stress = {d.row: 1.0, **{row: -c for row, c in d.terms}}
            largest = max(abs(n) * examined.norm[row] for row, n in stress.items())
            stresses.append({row: n / largest for row, n in stress.items()})
    return stresses


SAMPLES = 5
"""Number of states of a motion at which self-stresses are computed."""


@dataclass(frozen=True, eq=False)
class SelfStresses:
    """Self-stresses at some states of a motion: each is of a few rows, of which only those that are not zero are kept.

    t, y: (s,), (s, ny) the states;  state: (m,) that of each self-stress;  length: (m,) by which torques are divided
    row, stress, value: (z,) multipliers, in the order of the rows
    """

    model: Model
    t: Array
    y: Array
    state: Ints
    length: Array
    row: Ints
    stress: Ints
    value: Array

    def of(self, rows: Ints) -> tuple[Ints, Array]:
        """Return the numbers (q,) of the self-stresses in which some of the rows take part, and their multipliers (q, k)."""
        ends = [np.searchsorted(self.row, rows, side) for side in ("left", "right")]
        parts = [np.arange(first, last) for first, last in zip(*ends, strict=True)]
        which = np.unique(np.concatenate([self.stress[part] for part in parts]))
        lam = np.zeros((len(which), len(rows)))
        for k, part in enumerate(parts):
            lam[np.searchsorted(which, self.stress[part]), k] = self.value[part]
        return which, lam

    @cached_property
    def _by_row(self) -> Array:
        """Return the wrenches of unit multipliers on the bodies of their edges, (s, nc, sides, 6)."""
        x = np.zeros((len(self.t), self.model.nb + 1 + len(self.model.tables["EDGES"]), 6))
        x[:, self.model.nb + 1 :] = 1.0
        return rows_over_time(self.model, self.t, self.y, solutions=x, group=np.arange(self.model.nc)).wrench

    def wrenches(self, entry: JointEntry, which: Ints, lam: Array) -> JointWrenches:
        """Return the wrenches of a joint with the multipliers lam (q, k) of its rows in the self-stresses `which`."""
        at = self.state[which]
        wrench = np.einsum("qk,qksa->qsa", lam, self._by_row[at[:, None], entry.rows])
        return JointWrenches.known(self.model, self.t[at], self.y[at], {entry.name: wrench})


def self_stresses(model: Model, t: Array, y: Array) -> SelfStresses:
    """Return the self-stresses at some of the finite states y (nt, ny); none if no row of the model is dropped."""
    finite = np.flatnonzero(np.isfinite(y).all(axis=1)) if model.redundancy.dropped else np.zeros(0, dtype=np.int64)
    picked = np.unique(np.linspace(0, max(len(finite) - 1, 0), min(SAMPLES, len(finite))).round().astype(np.int64))
    at, state, length = finite[picked], list[int](), list[float]()
    entries: list[tuple[int, int, float]] = []
    for number, k in enumerate(at.tolist()):
        rows = evaluate(model, State.from_y(float(t[k]), y[k], model.nb + 1))
        examined = analyse_rank(model, rows)
        for stress in _stresses(examined, report_of(model, examined).dependencies):
            entries += [(row, len(state), value) for row, value in stress.items()]
            state.append(number)
            length.append(examined.length)
    entries.sort()
    row, stress_of, value = zip(*entries, strict=True) if entries else ((), (), ())
    return SelfStresses(
        model, t[at], y[at], np.array(state, dtype=np.int64), np.array(length), np.array(row, dtype=np.int64),
        np.array(stress_of, dtype=np.int64), np.array(value, dtype=np.float64),
    )  # fmt: skip


def unique_components(model: Model, stresses: SelfStresses, entry: JointEntry, on: str, frame: str) -> tuple[bool, ...]:
    """Return whether each component of a joint's reaction, in the order of COMPONENTS, vanishes for all self-stresses.

    Tooth forces of gears count: those that are not unique go through the bearings of their wheels.
    """
    if any(not all(unique_components(model, stresses, gear, side, "joint")) for gear in gears_on(model, entry) for side in "ij"):
        return (False,) * 6
    which, lam = stresses.of(entry.rows)
    if not len(which):
        return ALL
    place = place_on(entry, on, model.body_names)
    signs = (1.0,) if entry.part.tooth_contact() is None else (1.0, -1.0)  # the other flanks: a gear presses apart either way
    unique = np.all([_vanishing(stresses, entry, place, frame, which, sign * lam) for sign in signs], axis=0)
    return tuple(unique.tolist())


def _vanishing(stresses: SelfStresses, entry: JointEntry, place: ReactionPlace, frame: str, which: Ints, lam: Array) -> Flags:
    """Return whether each component of a joint's reaction vanishes for the multipliers lam (q, k) of its rows in `which` self-stresses.

    The gears that it is a bearing of have unique tooth forces, and no part in them.
    """
    wrenches, body, y = stresses.wrenches(entry, which, lam), place.body, stresses.y[stresses.state[which]]
    wrench = wrenches.on(entry, body) if entry.part.tooth_contact() is None else wrench_with_teeth(wrenches, entry, body)
    r, p = (y[:, WIDTH * body + a : WIDTH * body + b] for a, b in PARTS[:2])
    reaction = at_joint_point(place, frame, r, p, wrench)
    parts = np.hstack([reaction.force, reaction.torque / stresses.length[which][:, None]])
    flags: Flags = np.all(np.abs(parts) <= UNIQUE_TOL, axis=0)
    return flags


def _reaction(
    joint: str, wrenches: Array, rows: range, carried: tuple[bool, ...], stresses: Sequence[dict[int, float]]
) -> JointReaction:
    """Return the record of one joint, from the wrenches of all rows (nc, 6) and the self-stresses that contain its `rows`."""
    lam = np.array([[n.get(row, 0.0) for row in rows] for n in stresses])
    unique: Flags = np.all(np.abs(lam @ wrenches[rows]) <= UNIQUE_TOL, axis=0)
    return JointReaction(joint, tuple(unique.tolist()), carried)


def joint_wrenches(rows: Rows, frames: JointFrames) -> Array:
    """Return the wrench of a unit multiplier of each row on body j of its joint, (nc, 6): `at_joint_point` of all rows."""
    of_row = np.repeat(np.arange(len(frames.j)), np.diff(frames.first))
    A = rotation_matrix(rows.state.p)[frames.j]
    arm, axes, j = np.einsum("kab,kb->ka", A, frames.s_bar_j)[of_row], (A @ frames.A_bar_j)[of_row], frames.j[of_row]
    on_j = (rows.bodies == j[:, None]).astype(np.float64)
    force = -np.einsum("ks,ksa->ka", on_j, rows.Phi_r)
    moment = -np.einsum("ks,ksa->ka", on_j, rows.PiBar)
    torque = np.einsum("kab,kb->ka", A[of_row], moment) - cross(arm, force)
    return np.concatenate([np.einsum("kba,kb->ka", axes, force), np.einsum("kba,kb->ka", axes, torque)], axis=1)


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
    reaction = at_joint_point(place, frame, r, p, wrench)
    known = stresses() if stresses is not None else self_stresses(model, t, y)
    unique = unique_components(model, known, e, on, frame)
    return Reaction(joint, model.body_names[body], frame, t, reaction.force, reaction.torque, reaction.point, unique)


def unique_beside(found: Reaction, change: Reaction, length: float) -> Reaction:
    """Return a reaction whose components are unique only where a change of contact forces, of unit size, changes nothing."""
    parts = np.hstack([change.force, change.torque / length])
    still = np.abs(parts).max(axis=0, initial=0.0) <= STILL
    return replace(found, unique=tuple(bool(a and b) for a, b in zip(found.unique, still, strict=True)))


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
    ModelError
        If the state does not belong to the model, or is of another structure of its mechanism.
    SingularKKTError
        If the rows are dependent at the state.
    """
    model = model_given(model, "reaction")
    state = need_sound_state(model, state_given(model, state, "reaction"))
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
    state = need_sound_state(model, state_given(model, state, "reactions"))
    t, y = np.array([state.t]), state.y[None]
    solved = solve_states(model, t, y)
    wrenches, known = JointWrenches(model, t, y, lambda: solved), self_stresses(model, t, y)
    return {name: _at_one(wrenches, name, on, frame, lambda: known) for name in model.joints}
