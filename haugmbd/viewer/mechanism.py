r"""The parts of a picture: bodies, joints, springs and contacts of a model or a system, as plain data.

Points and frames are in body frames; bodies are numbered, the ground is 0.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import repeat
from typing import Any, NamedTuple

import numpy as np

from haugmbd.bodies.shapes.base import Drawn, Shape, turn_of_z
from haugmbd.bodies.shapes.mesh import Mesh
from haugmbd.bodies.shapes.plane import Plane
from haugmbd.bodies.shapes.solids import Cylinder, Sphere
from haugmbd.compiled.array_types import Array
from haugmbd.constraints.base import Primitive
from haugmbd.constraints.equations.coupling import CouplingRow
from haugmbd.constraints.equations.d import D
from haugmbd.constraints.equations.rolling import KnifeEdgeRow, Slip
from haugmbd.constraints.equations.rolling_curved import AxisDistance, CurvedSlip
from haugmbd.constraints.equations.rolling_on_curve import CurveDistance, CurveSlip
from haugmbd.constraints.equations.rope import RopeRow
from haugmbd.constraints.joint import Joint
from haugmbd.contact.contact import Contact
from haugmbd.forces.base import ForceElement
from haugmbd.forces.compliant.contact_force import ContactForce
from haugmbd.math.euler_parameters import from_rotation_matrix
from haugmbd.model.model import Model
from haugmbd.system.system import System
from haugmbd.viewer.limits import Line, limit_lines


class Rod(NamedTuple):
    """A massless rod: two points that keep a distance, on bodies i and j, body frames."""

    i: int
    s_i: Array
    j: int
    s_j: Array

    def ends(self, r: Array, A: Array) -> Array:
        """Return both ends, global, (2, ..., 3), at poses r (..., nb + 1, 3) and A (..., nb + 1, 3, 3)."""
        held = ((self.i, self.s_i), (self.j, self.s_j))
        return np.stack([r[..., k, :] + A[..., k, :, :] @ s for k, s in held])

    def data(self) -> dict[str, Any]:
        """Return the rod as the page reads it."""
        return {"i": self.i, "s_i": [float(x) for x in self.s_i], "j": self.j, "s_j": [float(x) for x in self.s_j]}


@dataclass(frozen=True, eq=False)
class JointPart:
    """A joint.  glyph: its drawing;  frames (s, A) on bodies i and j, body frames;  rods: massless ones that it stands for."""

    name: str
    kind: str
    glyph: str
    i: int
    j: int
    s_i: Array
    A_i: Array
    s_j: Array
    A_j: Array
    rods: tuple[Rod, ...] = ()

    @property
    def placed(self) -> bool:
        """Return whether it has a place; a joint between directions, or of what is not drawn, has none."""
        return self.glyph not in ("orientation", "none")

    def data(self) -> dict[str, Any]:
        """Return the joint as the page reads it."""
        frames = {"s_i": self.s_i, "p_i": from_rotation_matrix(self.A_i), "s_j": self.s_j, "p_j": from_rotation_matrix(self.A_j)}
        exact: dict[str, Any] = {key: [float(x) for x in value] for key, value in frames.items()}
        rods = {"rods": [rod.data() for rod in self.rods]} if self.rods else {}
        return {"name": self.name, "kind": self.kind, "glyph": self.glyph, "i": self.i, "j": self.j, **exact, **rods}


@dataclass(frozen=True, eq=False)
class LinePart:
    """A spring, damper, actuator or contact between a point of body i and a point of body j, body frames; `more` for the page.

    lines: of a limit
    """

    name: str
    kind: str
    i: int
    j: int
    s_i: Array
    s_j: Array
    more: dict[str, Any]
    lines: tuple[Line, ...] = ()

    def data(self) -> dict[str, Any]:
        """Return the element as the page reads it."""
        ends = {"s_i": [float(x) for x in self.s_i], "s_j": [float(x) for x in self.s_j]}
        lines = {"lines": [line.data() for line in self.lines]} if self.lines else {}
        return {"name": self.name, "kind": self.kind, "i": self.i, "j": self.j, **ends, **self.more, **lines}


@dataclass(frozen=True, eq=False)
class Mechanism:
    """Bodies (the ground first) with mass, J_bar and modelled pose; joints; loads; contacts; gravity (3,) [m/s2].

    shapes: of each body, `...` for what is drawn by default;  solids: those that gave the inertias, () where unknown
    surfaces: round ones on which balls roll, of bodies by their numbers
    """

    name: str
    bodies: tuple[str, ...]
    mass: Array
    J_bar: Array
    r: Array
    p: Array
    joints: tuple[JointPart, ...]
    loads: tuple[LinePart, ...]
    contacts: tuple[LinePart, ...]
    gravity: Array
    shapes: tuple[Drawn, ...]
    solids: tuple[tuple[Shape, ...], ...]
    surfaces: tuple[tuple[int, Shape], ...] = ()

    def points(self, body: int) -> Array:
        """Return the points of joints, springs and forces on a body, body frame, (n, 3)."""
        return self._points[body]

    @cached_property
    def _points(self) -> list[Array]:
        """The points on each body: ends of joints, of rods and of loads, and points that touch."""
        ends = [(k, s) for joint in self.joints if joint.placed for k, s in ((joint.i, joint.s_i), (joint.j, joint.s_j))]
        ends += [end for joint in self.joints for i, s_i, j, s_j in joint.rods for end in ((i, s_i), (j, s_j))]
        ends += [end for load in self.loads for end in ((load.i, load.s_i), (load.j, load.s_j))]
        ends += [
            (contact.j, contact.s_j) for contact in self.contacts if contact.more["radius"] == 0.0 and not contact.more["shapes"]
        ]
        points_of: list[list[Any]] = [[] for _ in self.bodies]
        for k, s in ends:
            points_of[k].append(s)
        return [np.array(points).reshape(-1, 3) for points in points_of]


def of_model(model: Model, contacts: Iterable[Contact] = ()) -> Mechanism:
    """Return the parts of a compiled model."""
    state, number = model.state(), {name: k for k, name in enumerate(model.body_names)}
    numbers = {id(body): k for k, body in enumerate(model.bodies)}
    joints = tuple(joint_part(e.part, numbers) for e in model.joints.values())
    loads = tuple(part for entry in model.loads for part in load_parts(entry.load, number))
    pressed = forces_on_planes(model.force_elements)
    touching = (*contact_parts(contacts, number), *map(plane_part, pressed, repeat(number)))
    return Mechanism(
        model.name,
        model.body_names,
        model.mass,
        model.J_bar,
        state.r,
        state.p,
        joints,
        loads,
        touching,
        np.array(model.gravity),
        tuple(body.shape for body in model.bodies),
        tuple(body.solid for body in model.bodies),
        tuple(surface for e in model.joints.values() for surface in surfaces_of(e.part, numbers)),
    )


def of_system(system: System) -> Mechanism:
    """Return the parts of a system, also of one that does not compile; parts without a finite place are left out."""
    bodies = [body for body in system.bodies if np.isfinite([*body.r, *body.p]).all()]
    number = {id(body): k for k, body in enumerate(bodies)}
    joints, surfaces = [], []
    for joint in system.joints:
        i, j = joint.frame_i, joint.frame_j
        if id(i.body) in number and id(j.body) in number and np.isfinite([*i.s_bar, *j.s_bar, *i.A_bar.flat, *j.A_bar.flat]).all():
            joints.append(joint_part(joint, number))
            surfaces += surfaces_of(joint, number)
    names = {body.name: number[id(body)] for body in bodies}
    loads = [part for load in system.loads if all(id(b) in number for b in load.bodies()) for part in load_parts(load, names)]
    pressed = [force for force in forces_on_planes(system.loads) if all(id(b) in number for b in force.bodies())]
    rigid = [contact for contact in system.contacts if id(contact.i) in number and id(contact.j) in number and not contact.faults()]
    try:
        gravity = np.array(system.gravity, dtype=np.float64).reshape(3)
    except (TypeError, ValueError):
        gravity = np.zeros(3)
    return Mechanism(
        str(system.name),
        tuple(body.name for body in bodies),
        np.array([body.mass for body in bodies]),
        np.array([body.J_bar for body in bodies]),
        np.array([body.r for body in bodies]),
        np.array([body.p for body in bodies]),
        tuple(joints),
        tuple(part for part in loads if np.isfinite([*part.s_i, *part.s_j]).all()),
        (*contact_parts(rigid, names), *(plane_part(force, names) for force in pressed)),
        np.nan_to_num(gravity),
        tuple(body.shape for body in bodies),
        tuple(body.solid for body in bodies),
        tuple(surfaces),
    )


def joint_part(joint: Joint, number: Mapping[int, int]) -> JointPart:
    """Return a joint as it is drawn;  number: of bodies, by id."""
    kind, i, j, rows = type(joint).__name__, joint.frame_i, joint.frame_j, rows_of(joint)
    rods = rods_of(rows, number)
    only_rods = joint.freedoms is None and 0 < len(rods) == len(rows)
    glyph = "distance" if only_rods else glyph_of(kind, joint.freedoms, rows)
    moving = [body for body in (i.body, j.body) if not body.is_ground]
    if any(body.shape == () for body in moving) and (glyph == "coupling" or len(moving) == 1):
        glyph = "none"  # the bearing of a rotor that is not drawn, and its gear
    frames = (i.s_bar, i.A_bar, j.s_bar, j.A_bar)
    return JointPart(joint.name, kind, glyph, number[id(i.body)], number[id(j.body)], *frames, rods)


def rows_of(joint: Joint) -> tuple[Primitive, ...]:
    """Return the rows of a joint, none of a joint with faults."""
    try:
        return tuple(joint.primitives())
    except Exception:  # noqa: BLE001  a joint of the user may raise anything; its fault is reported where the system is checked
        return ()


STRIP = 4
"""Pieces of a strip that is drawn, for each piece of the spline of a curve."""
LONG, THIN_WALL, APART = 3.0, 0.02, 1e-3
"""Of the drawn piece of a cylinder on which a ball rolls, over its radius: length, wall, and how far it is from what rolls on it, so
that of a shape of the user in its place the one hides the other."""


def surfaces_of(joint: Joint, number: Mapping[int, int]) -> list[tuple[int, Shape]]:
    """Return the cylinder or the sphere on which the ball of a joint rolls, with the number of its body;  number: of bodies, by id.

    Of a ball of radius r on (in) a surface of radius R:  L = R + r (R - r) is the length of its AxisDistance, and -r (r) the contact of
    its slips, from which R is their sum.
    """
    rows = rows_of(joint)
    surfaces: list[tuple[int, Shape]] = []
    for row in (row for row in rows if isinstance(row, AxisDistance)):
        slips = [slip for slip in rows if isinstance(slip, CurvedSlip) and (slip.i, slip.j) == (row.i, row.j)]
        if id(row.i) not in number or not slips or not np.isfinite([row.length, slips[0].contact]).all():
            continue
        inside, radius = slips[0].contact > 0.0, row.length + slips[0].contact
        if np.any(row.h_bar_i):
            walls = (1.0 + APART + THIN_WALL, 1.0 + APART) if inside else (1.0 - APART, 1.0 - APART - THIN_WALL)
            outer, inner = (radius * wall for wall in walls)
            near = row.s_bar_i + (row.h_bar_i @ (_at(row) - row.s_bar_i)) * row.h_bar_i
            surface: Shape = Cylinder(outer, LONG * radius, inner_radius=inner, center=near, axis=row.h_bar_i)
        else:
            surface = Sphere(radius * (1.0 + APART if inside else 1.0 - APART), center=row.s_bar_i)
        surfaces.append((number[id(row.i)], surface))
    surfaces += [(number[id(p.i)], strip_of(p)) for p in rows if isinstance(p, CurveDistance) and id(p.i) in number]
    return surfaces


def strip_of(row: CurveDistance) -> Shape:
    """Return the strip of the surface on which a wheel rolls along a curve, seen from both sides."""
    t = np.linspace(row.breakpoints[0], row.breakpoints[-1], STRIP * len(row.c) + 1)
    c, slope, _ = row.at(t)
    n = np.cross(row.b_bar_i, slope / np.linalg.norm(slope, axis=1, keepdims=True))
    middle = c - APART * row.radius * n + (row.b_bar_i @ (_at(row) - c[0])) * row.b_bar_i
    half, k = 1.5 * abs(row.radius) * row.b_bar_i, 2 * np.arange(len(t) - 1)
    corners = np.stack([middle - half, middle + half], axis=1).reshape(-1, 3)
    first, second = np.stack([k, k + 1, k + 3], axis=1), np.stack([k, k + 3, k + 2], axis=1)
    front = np.concatenate([first, second])
    return Mesh.from_arrays(corners, np.concatenate([front, front[:, ::-1]]))


def _at(row: AxisDistance | CurveDistance) -> Array:
    """Return the centre of the ball of a row at the modelled pose, body frame of the surface."""
    at: Array = row.i.A.T @ (row.j.r + row.j.A @ row.s_bar_j - row.i.r)
    return at


def rods_of(rows: tuple[Primitive, ...], number: Mapping[int, int]) -> tuple[Rod, ...]:
    """Return the massless rods of a joint, one for each D among its rows, and the pieces of ropes;  number: of bodies, by id."""
    rods = [(p.i, p.s_bar_i, p.j, p.s_bar_j) for p in rows if isinstance(p, D)]
    for row in (p for p in rows if isinstance(p, RopeRow)):
        rods += row.pieces()
    return tuple(
        Rod(number[id(i)], s_i, number[id(j)], s_j)
        for i, s_i, j, s_j in rods
        if id(i) in number and id(j) in number and np.isfinite([*s_i, *s_j]).all()
    )


def glyph_of(kind: str, freedoms: Any, rows: tuple[Primitive, ...]) -> str:
    """Return the drawing of a joint: from its freedoms, or else from its kind and its rows."""
    if kind == "RotationDriver":
        return "rotation driver"
    if kind == "TranslationDriver":
        return "translation driver"
    if any(isinstance(row, CouplingRow) for row in rows):
        return "coupling"
    if any(isinstance(row, RopeRow) for row in rows):
        return "distance"
    if any(isinstance(row, Slip | CurvedSlip | CurveSlip | KnifeEdgeRow) for row in rows):
        return "rolling"
    if freedoms is None:
        return "general"
    turns = [freedom for freedom in freedoms if freedom.kind.value == "turn"]
    slides = [freedom for freedom in freedoms if freedom.kind.value == "slide"]
    balls = [freedom for freedom in freedoms if freedom.kind.value == "ball"]
    glyphs = {
        (0, 0, 0): "fixed",
        (1, 0, 0): "revolute",
        (1, 1, 0): "cylindrical",
        (0, 1, 0): "translational",
        (2, 0, 0): "universal",
        (0, 0, 3): "spherical",
        (1, 2, 0): "planar",
        (0, 1, 3): "point on line",
        (0, 2, 3): "point in plane",
        (3, 0, 3): "distance",
        (1, 0, 3): "revolute-spherical",
        (1, 3, 0): "orientation",
        (2, 3, 0): "orientation",
    }
    return glyphs.get((len(turns), len(slides), len(balls)), "general")


def load_parts(load: ForceElement, number: dict[str, int]) -> list[LinePart]:
    """Return the parts of a force element: none if it has no place."""
    return [
        LinePart(
            load.name, mark.kind, number[mark.i.name], number[mark.j.name], mark.s_i, mark.s_j, mark.look, limit_lines(load, number)
        )
        for mark in load.marks()
    ]


def forces_on_planes(loads: Iterable[ForceElement]) -> list[ContactForce]:
    """Return the contact forces that have a mark: those with a plane, and without faults."""
    forces = [load for load in loads if isinstance(load, ContactForce) and load.pair is not None]
    return [force for force in forces if isinstance(force.shape_i, Plane) or isinstance(force.shape_j, Plane)]


def plane_part(force: ContactForce, number: dict[str, int]) -> LinePart:
    """Return the mark of a contact force: the plane on one body, the sphere, or the middle of another shape, on the other."""
    ends = ((force.i, force.shape_i), (force.j, force.shape_j))
    (i, plane), (j, shape) = ends if isinstance(force.shape_i, Plane) else ends[::-1]
    radius = shape.radius if isinstance(shape, Sphere) else 0.0
    more = {"radius": radius, "p_i": [float(x) for x in turn_of_z(plane.normal)], "plane": True, "shapes": False}
    return LinePart(force.name, "contact", number[i.name], number[j.name], plane.point, shape.center, more)


def contact_parts(contacts: Iterable[Contact], number: dict[str, int]) -> Iterator[LinePart]:
    """Yield contacts: the plane on body i, the point, sphere or other shape on body j; each plane of shapes is drawn once."""
    drawn: set[tuple[int, bytes]] = set()
    for contact in contacts:
        i, j = contact.frame_i, contact.frame_j
        if isinstance(contact.shape_j, Plane):
            i, j = j, i
        plane = not contact.has_shapes or any(isinstance(shape, Plane) for shape in (contact.shape_i, contact.shape_j))
        key = number[i.body.name], i.s_bar.tobytes() + i.h.tobytes()
        p_i = [float(x) for x in from_rotation_matrix(i.A_bar)]
        more = {
            "radius": contact.radius,
            "p_i": p_i,
            "plane": plane and not (contact.has_shapes and key in drawn),
            "shapes": contact.has_shapes,
        }
        if plane:
            drawn.add(key)
        yield LinePart(contact.name, "contact", number[i.body.name], number[j.body.name], i.s_bar, j.s_bar, more)
