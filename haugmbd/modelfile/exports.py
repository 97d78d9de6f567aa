"""What exporters of all formats share: the result of an export, and the parts of a system as another program holds them.

Export            the files, and what the format could not hold; numbers as text without rounding
exported          the parts that a file may hold
limit_of, plain_spring, constant_along, constant_terms      limits, springs, forces and couplings of joints
written_shapes    shapes of bodies
spanning_tree     the joint that leads to each body from the ground, and the joints that are cut
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple
from xml.sax.saxutils import quoteattr

import numpy as np

from haugmbd.bodies.body import Body
from haugmbd.bodies.shapes import Shape
from haugmbd.compiled.array_types import Array
from haugmbd.constraints.coordinate import Coordinate
from haugmbd.constraints.joint import Joint
from haugmbd.deprecated import public_class
from haugmbd.drivers import Constant
from haugmbd.errors import Fault, ModelFileError, UsageError
from haugmbd.forces import JointForce, Motor
from haugmbd.forces.base import ForceElement, LinearSpring
from haugmbd.graph import Groups
from haugmbd.joints import CJ, RJ, TJ, CoordinateFunction, Coupling
from haugmbd.simulation.results.io.atomic import replace_file
from haugmbd.simulation.results.io.paths import path_of
from haugmbd.system.system import System

CONTROL = re.compile(r"[\x00-\x1f\x7f\ud800-\udfff\ufffe\uffff]")
"""Characters of names that lines of text, or XML, cannot hold."""


@public_class
@dataclass(frozen=True)
class Export:
    """The outcome of an export.

    Attributes
    ----------
    files : tuple of Path
        The files.
    left_out : tuple of str
        Parts of the system, and facts, that the format cannot hold.
    """

    files: tuple[Path, ...]
    left_out: tuple[str, ...]

    def __str__(self) -> str:
        """Return the report, one fact a line."""
        return "\n".join([*(f"wrote {path}" for path in self.files), *(f"left out: {text}" for text in self.left_out)])


def checked(system: Any, path: Any, ending: str) -> Path:
    """Return the path. Raise UsageError unless it has the ending, ModelError for faults of the system."""
    if not isinstance(system, System):
        raise UsageError(f"system is {system!r:.60}, must be a System.")
    where = path_of(path)
    if where.suffix != ending:
        raise UsageError(f"path is {str(where)!r}, must end with {ending}.")
    system.validate()
    parts = [(f"body {body.name!r}", body.name) for body in system.bodies] + [(f"joint {j.name!r}", j.name) for j in system.joints]
    strange = [
        Fault(where_, f"its name has the character {x[0]!r}", "Rename it.")
        for where_, name in parts
        if (x := CONTROL.findall(name))
    ]
    if strange:
        raise ModelFileError(str(where), strange, "cannot hold the system")
    off = [part for part in system.inactive if not getattr(part, "one_way", False)]
    if off:
        what = "it is off at the start (active=False), and in the file it would act"
        faults = [
            Fault(f"{type(part).__name__} {part.name!r}", what, "Remove it: system.remove(...), or save the system as .json.")
            for part in off
        ]
        raise ModelFileError(str(where), faults, "cannot hold the system")
    return where


def finished(path: Path, system: System, faults: list[Fault], leave_out: bool) -> list[str]:
    """Return the faults as texts of parts that are left out. Raise ModelFileError, with all of them, unless that is allowed."""
    faults = [_with_hint(fault, system, path.suffix) for fault in faults]
    if (faults or system.contacts) and not leave_out:
        raise ModelFileError(str(path), [*faults, *_of_contacts(system)], "cannot hold the system")
    return [f"{fault.where}: {fault.what}" for fault in faults] + [f"{contact.where}: {RIGID}" for contact in system.contacts]


def _of_contacts(system: System) -> list[Fault]:
    """Return the fault of all rigid contacts together: a stack of boxes, or a wheel of teeth, has many."""
    names = [contact.where for contact in system.contacts]
    if not names:
        return []
    more = f" and {len(names) - NAMED} more" if len(names) > NAMED + 1 else ""
    return [Fault(", ".join(names[: NAMED if more else None]) + more, RIGID, CONTACT_REMEDY)]


NAMED = 3
"""Contacts that a refusal names."""


RIGID = "rigid contact, with an impact law, while the contact of programs that read this format is soft: motions would differ"
CONTACT_REMEDY = (
    "Leave it out with leave_out=True, and let the other program find contacts of the shapes, which are written; "
    "or save the system as .json, which has it."
)
LOADS_IN: dict[str, str] = {
    "TSDA": ".xml .asmt .sdf",
    "PointForce": ".xml",
    "Torque": ".xml",
    "RSDA": ".xml .sdf",
    "JointSpring": ".xml .sdf",
    "JointForce": ".xml",
    "Motor": ".xml",
    "JointLimit": ".xml .urdf .sdf",
}
"""Endings of the files that hold a load that is linear, or constant."""
JOINTS_IN: dict[str, str] = {
    "Distance": ".urdf .xml .asmt",
    "Coupling": ".xml",
    "RotationDriver": ".asmt",
    "TranslationDriver": ".asmt",
    "Parallel": ".asmt",
    "Perpendicular": ".asmt",
    "ConstantVelocity": ".asmt",
}
"""Endings of the files that hold a joint."""


def _with_hint(fault: Fault, system: System, suffix: str) -> Fault:
    """Return a fault whose remedy says which other file holds the part, or that none does."""
    load = next((load for load in system.loads if load.where == fault.where), None)
    joint = next((joint for joint in system.joints if fault.where == f"joint {joint.name!r}"), None)
    part = load or joint
    if part is None:
        return fault
    kind = type(part).__name__
    endings = (LOADS_IN if load else JOINTS_IN).get(kind, "").split()
    others = [x for x in endings if x != suffix]
    if load is not None and load.user_function() is not None:
        hint = "Its force is a function, which no file of another program holds. "
    elif load is not None and not all(isinstance(driver, Constant) for driver in load.drivers()):
        hint = "Its force changes with time, and a file of another program holds constants. "
    elif others:
        hint = f"A file {' or '.join(others)} holds it where it is constant. "
    elif endings:
        hint = ""
    else:
        hint = f"No file of another program that is written here holds a {kind}. "
    return Fault(fault.where, fault.what, hint + fault.remedy)


def write_text(path: Path, text: str) -> None:
    """Write a file; an old one is replaced when the new one is complete."""
    with replace_file(path) as file:
        file.write(text.encode())


def numbers(values: Any) -> str:
    """Return numbers as text, without rounding, separated by spaces."""
    return " ".join(repr(float(x) + 0.0) for x in np.ravel(values))


def attribute(text: str) -> str:
    """Return a text as the value of an XML attribute, quoted."""
    return quoteattr(text)


def element(tag: str, inside: Iterable[str] = (), **attributes: str) -> str:
    """Return an XML element; `inside` are elements."""
    head = "".join(f" {key.rstrip('_')}={attribute(value)}" for key, value in attributes.items())
    body = "".join(inside)
    return f"<{tag}{head}>{body}</{tag}>" if body else f"<{tag}{head}/>"


def indented(xml: str) -> str:
    """Return XML with one element a line."""
    lines, depth = [], 0
    for part in xml.replace("><", ">\0<").split("\0"):
        depth -= part.startswith("</")
        lines.append("  " * depth + part)
        depth += not part.startswith(("</", "<?", "<!")) and not part.endswith("/>") and "</" not in part
    return "\n".join(lines) + "\n"


def rpy(A: Array) -> Array:
    """Return roll, pitch, yaw with A = Rz(yaw) Ry(pitch) Rx(roll), (3,); three rotations one after the other, so that no digit is lost."""
    yaw = np.arctan2(A[1, 0], A[0, 0])
    c, s = np.cos(yaw), np.sin(yaw)
    B = np.array([[c, s, 0.0], [-s, c, 0.0], [0.0, 0.0, 1.0]]) @ A
    return np.array([np.arctan2(-B[1, 2], B[1, 1]), np.arctan2(-A[2, 0], B[0, 0]), yaw])


# The parts of a system that a file may hold.


@dataclass(frozen=True)
class Exported:
    """What of a system a file may hold: all parts but those that force elements have added to it, such as the rotors of motors."""

    name: str
    gravity: Any
    bodies: tuple[Body, ...]
    joints: tuple[Joint, ...]
    loads: tuple[ForceElement, ...]

    @property
    def ground(self) -> Body:
        """Return the ground."""
        return self.bodies[0]


def exported(system: System) -> Exported:
    """Return what of a system a file may hold.  What an element has added leaves with it, unless other parts are attached to it."""
    added = {id(part) for load in system.loads for part in load.parts()}
    joints = [joint for joint in system.joints if id(joint) not in added]
    attached = {id(body) for joint in joints for body in (joint.i, joint.j)}
    attached |= {id(body) for load in system.loads if not load.parts() for body in load.bodies()}
    attached |= {id(part) for joint in joints for part in joint.needs()}
    if added & attached:
        added = set()
    bodies = tuple(body for body in system.bodies if id(body) not in added)
    return Exported(system.name, system.gravity, bodies, tuple(j for j in system.joints if id(j) not in added), tuple(system.loads))


def kind_of(load: ForceElement) -> str:
    """Return the class of a force element in messages, with what it has added to the system."""
    return f"{type(load).__name__} with a rotor" if load.parts() else type(load).__name__


# Inertia for programs that require a mass, and moments about all axes.

STATED, POINT = 1e-9, 1e-4
"""Moment of inertia of a slender rod about its axis, as a part of its largest one, and radius [m] of a body that is a point mass. The first
changes motions by a part as small; where no joint turns the body about that axis, by nothing."""
SMALLEST = 1e-14
"""[kg], [kg m2] Below it MuJoCo takes a mass or a moment of inertia for a mistake (mjMINVAL is 1e-15)."""


def stated_inertia(body: Body, who: str, left: list[str], faults: list[Fault]) -> Array:
    """Return the inertia of a body (3, 3), with small moments where it has none, which `left` tells; a fault for a body without mass."""
    moments, axes = np.linalg.eigh(body.J_bar)
    if body.mass < SMALLEST:
        what = f"its mass is {body.mass:g} kg, and {who} requires one"
        faults.append(Fault(f"body {body.name!r}", what, "Give it a mass of its own, or join it to a neighbour."))
    least = max(STATED * float(moments[2]), POINT**2 * body.mass if moments[2] < SMALLEST else 0.0, SMALLEST)
    if moments[0] >= least:
        return body.J_bar
    left.append(f"body {body.name!r}: it has no inertia about an axis, which {who} requires; {least:.3g} kg m2 is put there")
    return np.asarray(axes @ np.diag(np.maximum(moments, least)) @ axes.T)


# Limits of joints, for formats whose joints have a range.


def limit_of(load: ForceElement) -> tuple[Joint, float, float] | None:
    """Return the joint, RJ or TJ, and the limits of a JointLimit from the modelled pose; None for any other load."""
    limited = load.joint_range()
    if limited is None or type(limited.coordinate.joint) not in (RJ, TJ):
        return None
    q = limited.coordinate
    return q.joint, limited.lower - q.q0, limited.upper - q.q0


# Springs and dampers of joints as files hold them: linear, counted from the modelled pose; and loads of joints that close loops.


def plain_spring(load: ForceElement) -> LinearSpring | None:
    """Return the spring of a load on a hinge, without actuator, or along the coordinate of an RJ or a TJ; None for any other load."""
    spring = load.linear_spring()
    if spring is None or type(spring.joint) not in ((RJ, CJ) if spring.about_axis else (RJ, TJ)):
        return None
    return spring


def constant_along(load: ForceElement) -> list[tuple[Coordinate, float]]:
    """Return the coordinates and forces of a JointForce, or of a Motor without rotor, that is constant; [] for any other load."""
    if not isinstance(load, JointForce | Motor) or load.parts() or (isinstance(load, Motor) and load.curve is not None):
        return []
    value = load.value()
    if value.user_function is not None or not all(isinstance(driver, Constant) for driver in value.drivers):
        return []
    constants: list[Any] = list(value.drivers)
    return [(q, load.ratio * driver.value) for q, driver in zip(load.coordinates(), constants, strict=True)]


def joints_with_loads(system: System | Exported) -> list[Joint]:
    """Return the joints that have a spring, a limit or a constant force which a file can hold."""
    found = [joint for load in system.loads if (joint := _joint_of(load)) is not None]
    return [*found, *(q.joint for load in system.loads for q, _ in constant_along(load))]


def loads_in_tree(system: System | Exported, cut: Iterable[Joint], remedy: str, faults: list[Fault]) -> list[ForceElement]:
    """Return the loads without those along joints that close loops, where a file holds none; faults for these."""
    closing, found = {id(joint) for joint in cut}, []
    for load in system.loads:
        joint = _joint_of(load)
        if joint is None or id(joint) not in closing:
            found.append(load)
        else:
            what = f"its joint {joint.name!r} closes a loop in the file, which holds no springs and no limits of such joints"
            faults.append(Fault(load.where, what, remedy))
    return found


def _joint_of(load: ForceElement) -> Joint | None:
    """Return the joint of a spring or a limit which a file can hold."""
    spring, stop = plain_spring(load), limit_of(load)
    return spring.joint if spring is not None else stop[0] if stop is not None else None


# Couplings of joint coordinates for formats in which one joint follows another:  sum c_k (q_k - q_k0) = 0, constant in time.

Terms = tuple[tuple[Coordinate, float], ...]


def constant_terms(joint: Joint) -> Terms:
    """Return the coordinates and coefficients of a coupling that holds at all times; () for any other joint."""
    linear = isinstance(joint, Coupling) and not isinstance(joint, CoordinateFunction) and not joint.one_way
    return joint.terms if isinstance(joint, Coupling) and linear and isinstance(joint.f, Constant) else ()


# What is drawn of bodies, as far as a file of another program can hold it.


def drawn_shapes(body: Body) -> tuple[Shape, ...]:
    """Return the shapes of a body that were given; those of its solid where the default is drawn."""
    found: list[Shape] = []
    for shape in body.shape:
        found += [one for one in (body.solid if shape is ... else (shape,)) if isinstance(one, Shape)]
    return tuple(found)


def written_shapes(body: Body, write: Callable[[Shape], str], left: list[str]) -> list[str]:
    """Return the texts of the shapes of a body; `write` returns "" for one that the file cannot hold, which is appended to `left`."""
    texts, missing = [], Counter[str]()
    for shape in drawn_shapes(body):
        text = write(shape)
        texts += [text] if text else []
        missing[type(shape).__name__] += not text
    kinds = ", ".join(f"{n} {kind}" for kind, n in missing.items() if n)
    left += [f"shapes of body {body.name!r}: {kinds}"] if kinds else []
    return texts


def rgba(color: str, separator: str = " ") -> str:
    """Return "#rrggbb" as four numbers from 0 to 1."""
    return separator.join([*(f"{int(color[k : k + 2], 16) / 255.0:.6g}" for k in (1, 3, 5)), "1"])


def positive(values: Iterable[float]) -> bool:
    """Return whether all sizes are positive; a plate or a line has none in other programs."""
    return all(x > 0.0 for x in values)


# A spanning tree of a system: the joint that leads to each body from the ground, and the joints that are cut.
#
# Joints are taken breadth first, in the order of the system; a body that no tree joint reaches is free. Joints with springs, limits
# and couplings are in the tree wherever that is possible, because files hold none of joints that are cut.


class Branch(NamedTuple):
    """A body of the tree: the body before it, the joint between them (None: free), and whether the joint leads from j to i."""

    body: Body
    parent: Body
    joint: Joint | None
    reverse: bool


def spanning_tree(
    system: System | Exported, kinds: tuple[type[Joint], ...], loops: tuple[type[Joint], ...]
) -> tuple[list[Branch], list[Joint]]:
    """Return the branches, each after that of its parent, and the joints that are not in the tree.

    kinds: of joints that may be in the tree;  loops: of those that may close loops, others are in the tree wherever that is possible
    """
    branches, cut = _grown(system, kinds, system.joints)
    needed = [joint for joint in system.joints if isinstance(joint, kinds) and not isinstance(joint, loops)]
    needed += [*joints_with_loads(system), *(part for joint in system.joints for part in joint.needs())]
    if not {id(joint) for joint in needed} & {id(joint) for joint in cut}:
        return branches, cut
    order = [joint for joint in (*needed, *(branch.joint for branch in branches), *cut) if isinstance(joint, kinds)]
    return _grown(system, kinds, _without_loops(order, system.bodies))


def _without_loops(joints: Iterable[Joint], bodies: Sequence[Body]) -> list[Joint]:
    """Return the joints without those that close a loop with joints before them (Kruskal's algorithm)."""
    number = {id(body): k for k, body in enumerate(bodies)}
    groups, kept = Groups(range(len(bodies))), []
    for joint in joints:
        i, j = number[id(joint.i)], number[id(joint.j)]
        if not joint.needs() and groups.find(i) != groups.find(j):
            groups.unite(i, j)
            kept.append(joint)
    return kept


def _grown(system: System | Exported, kinds: tuple[type[Joint], ...], joints: Sequence[Joint]) -> tuple[list[Branch], list[Joint]]:
    """Return the tree that grows from the ground and from bodies that hang on nothing, and the joints that are not in it."""
    at: dict[int, list[Joint]] = {}
    for joint in joints:
        if isinstance(joint, kinds) and not joint.needs():
            at.setdefault(id(joint.i), []).append(joint)
            at.setdefault(id(joint.j), []).append(joint)
    reached, used = {id(system.ground)}, set()
    branches: list[Branch] = []
    for start in system.bodies:
        if id(start) not in reached:
            branches.append(Branch(start, system.ground, None, False))
            reached.add(id(start))
        elif not start.is_ground:
            continue
        queue = [start]
        for body in queue:
            for joint in at.get(id(body), ()):
                other = joint.j if joint.i is body else joint.i
                if id(joint) in used or id(other) in reached:
                    continue
                used.add(id(joint))
                reached.add(id(other))
                branches.append(Branch(other, body, joint, joint.j is body))
                queue.append(other)
    return branches, [joint for joint in system.joints if id(joint) not in used]
