r"""Validation: all faults of a system at once, each cause once: of its parts, of their names and places, of the whole at its pose.

    parts        the faults of every object (`faults()`); names; membership in this system
    pose         joints closed, drivers at their modelled values            of all joints whose parts are faultless
    determinacy  rows that conflict; axes that nothing determines           of all joints that are closed

A joint with a fault, or on a body with a faulty pose, is left out of the later checks: consequences of a fault are not reported.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from difflib import get_close_matches
from typing import Any, NamedTuple, TypeVar

import numpy as np

from haugmbd.bodies.body import Body
from haugmbd.bodies.validation import read_array
from haugmbd.compiled.array_types import Array
from haugmbd.constraints.base import Primitive
from haugmbd.constraints.equations.coupling import CouplingRow
from haugmbd.constraints.joint import Joint
from haugmbd.contact.contact import Contact
from haugmbd.control.diagram.network import Network
from haugmbd.errors import Fault
from haugmbd.forces.base import ForceElement
from haugmbd.forces.mass_in_time import MassInTime
from haugmbd.formats import view
from haugmbd.model.dependent_rows import Redundancy, Rule
from haugmbd.model.inspection.constraint_rows import Rows, evaluate
from haugmbd.model.inspection.length import put_length
from haugmbd.model.model import Model
from haugmbd.redundancy.alignment import examine
from haugmbd.redundancy.rank import RankAnalysis, put_row_scale
from haugmbd.redundancy.redundancy import redundancy_of
from haugmbd.system.checks.constraint_residuals import position_faults
from haugmbd.system.checks.contradictions import Contradiction, closed_contradictions, contradiction_faults, misfit_notes
from haugmbd.system.checks.friction_uniqueness import friction_faults
from haugmbd.system.checks.locking import locking_notes
from haugmbd.system.checks.solvability import dependence_faults, free_axis_faults
from haugmbd.system.joint_equations import JointEquations, bodies_of
from haugmbd.tolerances import LARGEST, LARGEST_TOLERANCE, contradiction_limit


class Parts(NamedTuple):
    """The parts of a system, the ground first; `owner` returns the name of another system that has a body, "" if there is none.

    equations: the constraint equations of the joints, read once;  nothing_moves: why a system that was read from a file has no body
    """

    name: str
    gravity: Any
    bodies: Sequence[Body]
    joints: Sequence[Joint]
    loads: Sequence[ForceElement]
    contacts: Sequence[Contact]
    owner: Callable[[Body], str]
    equations: JointEquations
    nothing_moves: str = ""

    def each_once(self) -> Parts:
        """Return the parts, each once, however often it was added."""
        return self._replace(
            bodies=_distinct(self.bodies),
            joints=_distinct(self.joints),
            loads=_distinct(self.loads),
            contacts=_distinct(self.contacts),
        )


Build = Callable[[Sequence[Body], Sequence[Joint]], Model]
"""Function that builds a model of faultless bodies and joints, without loads."""


class Checked(NamedTuple):
    """All faults; the rows of the whole system at the modelled pose, None if there is a fault; the rows that are dropped.

    model: of the parts without faults of their own, without loads, whatever their pose; None without bodies
    notes: reasons why the system cannot move, if it cannot, and what makes its joints doubtful;  network: its blocks
    examined: the rank of `rows`
    """

    faults: tuple[Fault, ...]
    rows: Rows | None
    redundancy: Redundancy | None = None
    model: Model | None = None
    notes: tuple[str, ...] = ()
    network: Network | None = None
    examined: RankAnalysis | None = None


def check(parts: Parts, build: Build, at_pose: bool = True, tolerance: float | None = None, rule: Rule | None = None) -> Checked:
    """Return all faults of a system; with `at_pose` False only those of its parts, names and places.  tolerance: see `System.compile`."""
    once = parts.each_once()
    foreign, of_names = _foreign_body_faults(once), _name_faults(parts)
    faults = [
        *_system_faults(parts),
        *of_names,
        *foreign,
        *(_missing_joints(once) if at_pose else ()),
        *_part_faults(once),
    ]
    # joints without faults of their own, between bodies that have a pose
    bodies = [body for body in once.bodies if posed(body)]
    placed = {id(body) for body in bodies}
    everywhere = len(placed) == len(parts.bodies) and not foreign
    joints = _first_of_name(once.joints) if of_names else once.joints
    of_joints, faulty = _joint_faults(joints, parts.equations)
    faults += of_joints
    sound = [joint for joint in joints if id(joint) not in faulty and _is_name(joint.name)] if faults else joints
    if not everywhere:
        sound = [joint for joint in sound if parts.equations.are_among(joint, placed)]
    if len(bodies) < 2:
        return Checked(tuple(faults), None)
    # numbers at the modelled pose
    with np.errstate(over="ignore", invalid="ignore"):  # of points that are told as too far away
        model = build(bodies, sound)
        rows = evaluate(model)
    too_large = size_faults(bodies, model, rows)
    if too_large:
        return Checked((*faults, *too_large), None)
    if not at_pose:
        return Checked(tuple(faults), None if faults else rows, model=model)
    return _checked_at_pose(parts, _Sound(bodies, sound, model, rows), faults, build, tolerance, rule)


class _Sound(NamedTuple):
    """The bodies and joints without faults of their own, their model without loads, and its rows at the modelled pose."""

    bodies: Sequence[Body]
    joints: Sequence[Joint]
    model: Model
    rows: Rows


def _part_faults(once: Parts) -> Iterator[Fault]:
    """Yield the faults of bodies, loads and contacts, each by itself; then of masses that change beside rigid contacts."""
    for body in once.bodies:
        yield from body.faults()
    for load in once.loads:
        yield from _once(load.faults())
    for contact in once.contacts:
        yield from contact.faults()
    in_time = [load.body for load in once.loads if isinstance(load, MassInTime)] if once.contacts else []
    remedy = "Take ContactForce, which is a force, in place of the rigid contacts, or a mass that does not change."
    for body in in_time:
        yield Fault(f"body {body.name!r}", "its mass changes in time, and the system has rigid contacts", remedy)


def _joint_faults(joints: Sequence[Joint], equations: JointEquations) -> tuple[list[Fault], set[int]]:
    """Return the faults of joints, each by itself, and which joints have some."""
    faults, faulty = list[Fault](), set[int]()
    for joint in equations.that_have_no_pattern(joints):
        of_joint = _once(equations.faults_of(joint) or joint_faults(joint, equations.of(joint)))
        faults += of_joint
        if of_joint:
            faulty.add(id(joint))
    return faults, faulty


def _checked_at_pose(
    parts: Parts, sound: _Sound, faults: Sequence[Fault], build: Build, tolerance: float | None, rule: Rule | None
) -> Checked:
    """Return all faults, with those of the modelled pose: open joints, rows that contradict or depend on each other, free axes."""
    bodies, joints, model, rows = sound
    # open joints are taken out: what is left is judged by a pose at which it holds
    open_joints, analysis = position_faults(model, rows=rows), None
    beyond: tuple[Contradiction, ...] = ()
    if open_joints:
        open_joints, beyond, analysis = _open_joints(model, rows, open_joints, tolerance, alone=not faults)
    if open_joints or beyond:
        gone = {fault.where for fault in open_joints} | {f"joint {name!r}" for misfit in beyond for name in misfit.joints}
        joints = [joint for joint in joints if f"joint {joint.name!r}" not in gone]
        model = build(bodies, joints)
        rows = evaluate(model)
    # rank: rows that depend on the others, and axes about which nothing holds a body
    analysis = examine(model, rows, tolerance) if analysis is None else analysis
    redundancy = redundancy_of(model, rows, analysis, given=tolerance)
    at_pose = [*contradiction_faults(beyond, contradiction_limit(tolerance)), *open_joints, *dependence_faults(model, redundancy)]
    unsure = {id(body) for joint in _others(parts.joints, joints) for body in parts.equations.bodies_of(joint)}
    every = [*faults, *at_pose, *free_axis_faults(bodies, model, rows, unsure)]
    if not every:
        ruled = redundancy if rule is None else replace(redundancy, rule=rule)
        every += friction_faults(model, rows, ruled, parts.loads, analysis.length)
    notes = () if every else (*locking_notes(model, rows, analysis), *warnings_of(parts.joints, parts.loads))
    notes += () if every else misfit_notes(model, redundancy, analysis, rows)
    return Checked(tuple(every), None if every else rows, redundancy, sound.model, notes, examined=analysis)


TOO_LARGE = "Check the unit: numbers of a mechanism are in SI units (m, kg, s, rad, N)."


def size_faults(bodies: Sequence[Body], model: Model, rows: Rows) -> list[Fault]:
    """Return the faults of bodies and joints with numbers that are larger than LARGEST."""
    faults: list[Fault] = []
    if not _largest(model.mass, model.J_bar, model.y0) <= LARGEST:  # NaN has its own fault
        faults += [fault for body in bodies for fault in size_faults_of_body(body)]
    if not _largest(rows.Phi_r, rows.PiBar, rows.Phi) <= LARGEST:
        faults += size_faults_of_joints(model, rows)
    return faults


def _largest(*arrays: Array) -> float:
    """Return the largest size of the numbers of arrays, without arrays of them: large models are checked, too. NaN if one is NaN."""
    ends = [end(array, initial=0.0) for array in arrays for end in (np.max, np.min)]
    return float(np.abs(ends).max())


def size_faults_of_body(body: Body) -> list[Fault]:
    """Return a fault for each property of a body that is larger than LARGEST in its unit."""
    given: dict[str, tuple[Any, str]] = {
        "mass": (body.mass, "kg"),
        "J_bar": (body.J_bar, "kg m2"),
        "r": (body.r, "m"),
        "v": (body.v, "m/s"),
        "omega_bar": (body.omega_bar, "rad/s"),
    }
    return [
        Fault(f"body {body.name!r}", f"{name} = {np.asarray(x).tolist()} is beyond {LARGEST:g} {unit}", TOO_LARGE)
        for name, (x, unit) in given.items()
        if (np.abs(x) > LARGEST).any()
    ]


def size_faults_of_joints(model: Model, rows: Rows) -> list[Fault]:
    """Return a fault for each joint with rows of points and axes that are not finite or larger than LARGEST.

    Rows of couplings are left out: a common factor of their coefficients is divided out where it matters.
    """
    size = np.maximum(np.abs(rows.Phi_r).max(axis=(1, 2), initial=0.0), np.abs(rows.PiBar).max(axis=(1, 2), initial=0.0))
    wrong = np.flatnonzero(~(np.maximum(size, np.abs(rows.Phi)) <= LARGEST))
    names = dict.fromkeys(model.labels[k].joint for k in wrong.tolist() if not isinstance(model.labels[k].primitive, CouplingRow))
    what = f"the derivatives of a row are larger than {LARGEST:g} m or not finite: its points are too far away"
    return [Fault(f"joint {name!r}", what, TOO_LARGE) for name in names]


def _open_joints(
    model: Model, rows: Rows, faults: tuple[Fault, ...], tolerance: float | None, *, alone: bool
) -> tuple[tuple[Fault, ...], tuple[Contradiction, ...], RankAnalysis | None]:
    """Return the faults of open joints, and redundant rows that contradict each other by too much; the rank of all rows if there are none.

    Joints that are open because of such a contradiction are told as that, and not one by one.
    alone: whether the system has no other fault, so that it could be assembled
    """
    analysis = examine(model, rows, tolerance)
    redundancy = redundancy_of(model, rows, analysis, given=tolerance)
    left = position_faults(model.changed(redundancy=redundancy), rows=rows)
    measured = closed_contradictions(model, redundancy, analysis, rows.state) if len(analysis.dropped) else ()
    beyond = _beyond(measured, redundancy)
    if measured is not None and not (left or beyond):
        return (), (), analysis
    if alone:  # `assemble` judges, because the model is told to be assembled
        closable = model.with_redundancy(model.redundancy.rule, tolerance)
        put_row_scale(closable, rows)
        put_length(closable, rows)
        beyond = view("contradictions when closed")(closable)
        left = left or faults
    elif not beyond:
        wide = examine(model, rows, limit=LARGEST_TOLERANCE)
        redundancy = redundancy_of(model, rows, wide, given=tolerance)
        beyond = _beyond(closed_contradictions(model, redundancy, wide, rows.state) if len(wide.dropped) else (), redundancy)
    told = {f"joint {name!r}" for misfit in beyond for name in misfit.joints}
    return tuple(fault for fault in left if fault.where not in told), beyond, None


def _beyond(measured: tuple[Contradiction, ...] | None, redundancy: Redundancy) -> tuple[Contradiction, ...]:
    """Return the redundant rows that contradict each other by more than they may, and by less than any tolerance allows."""
    return tuple(one for one in measured or () if redundancy.limit < one.part <= LARGEST_TOLERANCE)


def warnings_of(joints: Sequence[Joint], loads: Sequence[ForceElement]) -> tuple[str, ...]:
    """Return the warnings of joints and loads; only classes that define some are called."""
    of_joints = {kind for kind in {type(joint) for joint in joints} if kind.warnings is not Joint.warnings}
    of_loads = {kind for kind in {type(load) for load in loads} if kind.warnings is not ForceElement.warnings}
    texts = [joint.warnings() for joint in joints if type(joint) in of_joints] if of_joints else []
    texts += [load.warnings() for load in loads if type(load) in of_loads] if of_loads else []
    return tuple(text for some in texts for text in some)


def posed(body: Body) -> bool:
    """Return whether the modelled position, rotation and velocity are finite; a body reports values that are not."""
    return not body.faults() or all(np.isfinite(x).all() for x in (body.r, body.p, body.v, body.omega_bar))


def _system_faults(parts: Parts) -> list[Fault]:
    """Return the faults of gravity, and of a system without bodies."""
    faults: list[Fault] = []
    where = f"system {parts.name!r}"
    read_array(faults, where, "gravity", parts.gravity, (3,), unit="m/s2")
    if len(parts.bodies) == 1 and not (parts.joints or parts.loads or parts.contacts):
        faults.append(
            Fault(where, "it has no body", parts.nothing_moves or "Add at least one: system.add(Body(name, mass, J_bar)).")
        )
    return faults


def _names_of_contacts(parts: Parts) -> list[Fault]:
    """Return a fault for each contact that has the name of a joint or load: a closed contact is a joint."""
    kinds = {joint.name: "joint" for joint in parts.joints if _is_name(joint.name)}
    kinds |= {load.name: "load" for load in parts.loads if _is_name(load.name)}
    remedy = "A closed contact becomes a joint: give it a name of its own."
    return [
        Fault(f"contact {contact.name!r}", f"a {kinds[contact.name]} has this name", remedy)
        for contact in parts.contacts
        if _is_name(contact.name) and contact.name in kinds
    ]


def _name_faults(parts: Parts) -> list[Fault]:
    """Return faults for empty names of joints and loads, names used twice within a kind, and parts added twice."""
    faults: list[Fault] = []
    groups: tuple[tuple[str, Sequence[Body | Joint | ForceElement | Contact]], ...] = (
        ("body", parts.bodies),
        ("joint", parts.joints),
        ("load", parts.loads),
        ("contact", parts.contacts),
    )
    faults += _names_of_contacts(parts) if parts.contacts else []
    for kind, group in groups:
        if _are_different_names([part.name for part in group]):
            continue
        names = [part.name for part in _distinct(group)]
        if kind != "body":
            remedy = f'Give each {kind} a name, such as "pin".'
            faults += [
                Fault(f"{kind} {name!r}", "the name is empty or not a string", remedy) for name in names if not _is_name(name)
            ]
        for name, n in Counter(filter(_is_name, names)).items():
            where = f"{kind} {name!r}"
            if n > 1:
                ground = " (one is the ground of the system)" if kind == "body" and name == parts.bodies[0].name else ""
                what = f"the name is used {n} times{ground}"
                faults.append(Fault(where, what, f"Give each {kind} a name of its own; results are looked up by it."))
        for part, n in Counter(group).items():
            if n > 1:
                faults.append(Fault(f"{kind} {part.name!r}", f"it was added {n} times", "Add each part once."))
    return faults


def _are_different_names(names: list[Any]) -> bool:
    """Return whether each part has a name of its own; no part was added twice then."""
    return set(map(type, names)) <= {str} and len(set(names)) == len(names) and all(map(str.strip, names))


def _is_name(name: Any) -> bool:
    """Return whether this can be the name of a part."""
    return isinstance(name, str) and bool(name.strip())


def _foreign_body_faults(parts: Parts) -> list[Fault]:
    """Return one fault for each body that joints or loads are attached to and that is not in the system.  parts: each once"""
    members = set(map(id, parts.bodies))
    users: dict[int, tuple[Body, list[str]]] = {}
    attached: list[tuple[str, Joint | ForceElement | Contact, Iterable[Body]]] = []
    attached += [("joint", joint, parts.equations.bodies_of(joint)) for joint in parts.equations.outside(parts.joints, members)]
    attached += [("load", load, load.bodies()) for load in parts.loads]
    attached += [("contact", contact, (contact.i, contact.j)) for contact in parts.contacts]
    for kind, user, bodies in attached:
        for body in bodies:
            if id(body) not in members:
                names = users.setdefault(id(body), (body, []))[1]
                names += [] if f"{kind} {user.name!r}" in names[-1:] else [f"{kind} {user.name!r}"]
    return [_foreign_body(parts, body, names) for body, names in users.values()]


def _missing_joints(parts: Parts) -> list[Fault]:
    """Return one fault for each driver or force element whose joint is not in the system.  parts: each once"""
    members = set(map(id, parts.joints))
    dependent = [joint for joint in parts.joints if type(joint).needs is not Joint.needs]
    users: list[tuple[str, Joint | ForceElement]] = [(f"joint {joint.name!r}", joint) for joint in dependent]
    users += [(f"load {load.name!r}", load) for load in parts.loads]
    return [
        Fault(
            where, f"its joint {joint.name!r} is not in system {parts.name!r}: it was never added", "Add it with system.add(joint)."
        )
        for where, user in users
        for joint in user.needs()
        if id(joint) not in members
    ]


def _foreign_body(parts: Parts, body: Body, users: list[str]) -> Fault:
    """Return the fault of a body that is not in the system."""
    names = [other.name for other in parts.bodies]
    owner = parts.owner(body)
    used = f"{' and '.join(users)} {'is' if len(users) == 1 else 'are'} attached to it"
    of = f"another system {owner!r}" if owner == parts.name else f"system {owner!r}"
    belongs = f"it belongs to {of}" if owner else "it was never added"
    what = f"{used}, but it is not in system {parts.name!r}: {belongs}"
    near = get_close_matches(body.name, names, n=1)
    if body.is_ground:
        remedy = "Use system.ground of this system."
    elif body.name in names:
        remedy = f"This system has another body {body.name!r}: use that one (what system.add returned), not a copy."
    elif near and owner:
        remedy = f"Did you mean {near[0]!r} of this system?"
    else:
        remedy = "Add it with system.add(body)." + (f" Or did you mean {near[0]!r}?" if near else "")
    return Fault(f"body {body.name!r}", what, remedy)


def joint_faults(joint: Joint, primitives: Sequence[Primitive]) -> tuple[Fault, ...]:
    """Return the faults of a joint; on a body with a faulty pose only those that do not follow from that."""
    alone = next((p.i for p in primitives if p.i is p.j), None)
    if alone is not None:
        what, remedy = f"it joins body {alone.name!r} to itself", "Give two different bodies, or system.ground for one of them."
        return (Fault(f"joint {joint.name!r}", what, remedy),)
    if type(joint).faults is Joint.faults:  # its rows are known
        of_values = joint.faults_of_values()
        faults = joint.faults_of_rows(primitives) if of_values is None else of_values
    else:
        faults = joint.faults()
    if not faults or all(posed(body) for body in bodies_of(primitives)):
        return faults
    return tuple(fault for fault in faults if ", row " not in fault.where)


def _once(faults: Iterable[Fault]) -> tuple[Fault, ...]:
    """Return each cause once: several rows of a joint share a point, a vector, a driver."""
    return tuple({(fault.what, fault.remedy): fault for fault in reversed(list(faults))}.values())[::-1]


def _others(joints: Sequence[Joint], sound: Sequence[Joint]) -> list[Joint]:
    """Return the joints that are not among the sound ones."""
    if len(sound) == len(joints):
        return []
    known = set(map(id, sound))
    return [joint for joint in joints if id(joint) not in known]


Part = TypeVar("Part")


def _distinct(parts: Iterable[Part]) -> list[Part]:
    """Return each object once, in order."""
    listed = list(parts)
    return listed if len(set(map(id, listed))) == len(listed) else list({id(part): part for part in listed}.values())


def _first_of_name(joints: Sequence[Joint]) -> Sequence[Joint]:
    """Return joints whose name was not used before; the others are reported for their names."""
    named = {joint.name if _is_name(joint.name) else id(joint): joint for joint in reversed(list(joints))}
    return list(named.values())[::-1]
