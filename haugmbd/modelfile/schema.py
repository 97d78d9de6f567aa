r"""The schema of model files: one table of all parts and their keys, which reading, writing and the published JSON Schema share.

A part has one or more forms. The form that people write has global geometry at the modelled pose, as the constructors of the parts
have; the form that `System.save` writes has body-frame vectors, from which the part is rebuilt bit by bit.
A new joint or force element with the usual arguments needs nothing here; one with other forms has an entry here, in `build` and in `write`.
"""

from __future__ import annotations

import inspect
from typing import Any

from haugmbd import joints
from haugmbd.bodies.plane import PLANES
from haugmbd.constraints.joint import Joint
from haugmbd.constraints.registry import KINDS
from haugmbd.contact.impact_laws import LAWS
from haugmbd.forces import KINDS as FORCE_KINDS
from haugmbd.forces.base import ForceElement
from haugmbd.forces.compliant import Flores, HuntCrossley, LankaraniNikravesh
from haugmbd.joints import Composed, Locked, Spaced
from haugmbd.modelfile.parts.blocks import BLOCKS
from haugmbd.modelfile.parts.by_signature import signature_record
from haugmbd.modelfile.parts.functions import Code, CodeName, Moments, TimeValue, VectorValue, function_schema
from haugmbd.modelfile.parts.joint_loads import JOINT_LOAD_FIELDS, JOINT_LOADS
from haugmbd.modelfile.parts.own_classes import OWN_CLASS, names_a_class
from haugmbd.modelfile.parts.shapes import SHAPES, ShapeValue
from haugmbd.modelfile.values import (
    Array,
    CoordinateReference,
    Field,
    Flag,
    Kind,
    ListOf,
    Number,
    OneOf,
    Record,
    Reference,
    Text,
    Tolerance,
)
from haugmbd.text_table import first_line

FORMAT = "haugmbd model 1"
"""The version of the format; a file of a newer one is refused."""
SCHEMA_ADDRESS = "https://json-schema.org/draft/2020-12/schema"
EQUATIONS = "Equations"
"""The type of a joint that is not a class of the catalogue: its frames and its equations."""

VECTOR, POINT = Array(((3,),)), Array(((3,),), "m")
NAME = Field("name", Text())

BODY = Record(
    (
        NAME,
        Field("mass", TimeValue("kg")),
        Field("J_bar", Moments(), says="inertia about the centre of mass, body frame; in time three functions"),
        Field(
            "exhaust", Array(((3,),), "m/s"), False, "velocity of what leaves a body whose mass is a function of time, body frame"
        ),
        Field("r", POINT, False, "centre of mass, global"),
        Field("p", Array(((4,),)), False, "Euler parameters, scalar first"),
        Field("v", Array(((3,),), "m/s"), False, "velocity, global"),
        Field("omega_bar", Array(((3,),), "rad/s"), False, "angular velocity, body frame"),
        Field("shape", SHAPES, False, "what is drawn"),
        Field("solid", SHAPES, False, "what the inertia was made of, which is drawn by default"),
    ),
    "a rigid body",
)

ARGUMENTS: dict[str, Kind] = {
    "point": POINT,
    "point_i": POINT,
    "point_j": POINT,
    "axis": VECTOR,
    "axis_i": VECTOR,
    "axis_j": VECTOR,
    "normal": VECTOR,
    "distance": TimeValue("m"),
    "joint": Reference("joint"),
    "f": TimeValue(),
    "i": Reference("body"),
    "j": Reference("body"),
    "name": Text(),
    "q0": Number(),
}
"""Arguments of the constructors of joints, by their names."""

FRAME = Record((Field("s_bar", POINT), Field("A_bar", Array(((3, 3),)))), "point and axes f, g, h (columns), body frame")
VECTORS = Record(
    tuple(Field(name, VECTOR, False) for name in ("a_bar_i", "b_bar_i", "a_bar_j", "c_bar_j")),
    "body-frame vectors of the rows, where they are not axes of the frames",
)
FRAMES = (Field("frame_i", FRAME), Field("frame_j", FRAME))
BETWEEN = (Field("i", Reference("body")), Field("j", Reference("body")))
KEPT: dict[type[Any], str] = {Spaced: "distance", Locked: "product"}
"""The number or function that a joint keeps besides its frames, by base class."""

JACOBIAN = Field("jacobian", Code(), False, "derivative of a stiff function")


def kept_by(kind: type[Joint]) -> str:
    """Return the key of the number that a joint keeps; "" if there is none."""
    return next((key for base, key in KEPT.items() if issubclass(kind, base)), "")


def _typed(kind: str | tuple[str, ...], *fields: Field, says: str = "") -> Record:
    """Return the record of a part of a type, with other names of the type."""
    names = (kind,) if isinstance(kind, str) else kind
    return Record((Field("type", Text(names)), NAME, *fields), says)


def _joint_forms(kind: type[Joint]) -> OneOf | None:
    """Return the forms of a joint of the catalogue; None if its constructor takes something that no file holds yet."""
    aliases = [name for name in joints.__all__ if getattr(joints, name) is kind and name != kind.__name__]
    names = (kind.__name__, *aliases)
    given = inspect.signature(kind).parameters
    if not given.keys() <= ARGUMENTS.keys():
        return None
    fields = [Field(n, ARGUMENTS[n], p.default is p.empty) for n, p in given.items() if n != "name"]
    says = first_line(kind)
    forms = [_typed(names, *fields, says=says)]
    if issubclass(kind, Composed):
        kept = (Field(kept_by(kind), TimeValue(), False),) if kept_by(kind) else ()
        start = (Field("q0", Number(), False, "value of the coordinate at the modelled pose"),) if "q0" in given else ()
        forms.append(_typed(names, *BETWEEN, *FRAMES, Field("vectors", VECTORS, False), *kept, *start, says=says))
    return OneOf(tuple(forms))


def _equation(kind: type[Any]) -> tuple[Field, ...]:
    """Return the fields of a constraint equation, besides type and name."""
    names = [name for name in inspect.signature(kind).parameters if name not in ("i", "j", "f")]
    return (*BETWEEN, *(Field(name, VECTOR) for name in names), Field("f", TimeValue(), False))


JOINT_CLASSES: dict[str, type[Joint]] = {
    name: getattr(joints, name)
    for name in joints.__all__
    if isinstance(getattr(joints, name), type) and getattr(joints, name) in joints.CATALOGUE
}
"""Joints of the catalogue by every name that they have."""
COUPLING_CLASSES: dict[str, type[Joint]] = {kind.__name__: kind for kind in (*joints.COUPLINGS, *joints.FREEWHEELS)}
"""Couplings of joint coordinates: a file has the arguments of their constructors, and names in place of joints."""
_COORDINATE = CoordinateReference()
_TERM = Record((Field("coordinate", _COORDINATE), Field("coefficient", Number())), "a coordinate and its coefficient")
_ANGLES = (
    Field("pressure_angle", Number("rad"), False, "in the normal section, for tooth forces"),
    Field("helix_angle", Number("rad"), False, "positive for a right-handed helix on the first wheel"),
)
_GEAR = (
    Field("joint_a", _COORDINATE),
    Field("joint_b", _COORDINATE),
    Field("ratio", Number(), False, "q_b / q_a in the joints' own coordinates"),
    Field("teeth", Array(((2,),)), False, "numbers of teeth (z_a, z_b), in place of ratio"),
    Field("internal", Flag(), False, "whether one wheel is a ring"),
    Field("contact_point", POINT, False, "for axes that are not parallel"),
    Field("pitch_radius", Array(((2,),), "m"), False, "pitch radii, for tooth forces"),
    *_ANGLES,
)
COUPLING_FIELDS: dict[str, tuple[Field, ...]] = {
    "Coupling": (Field("terms", ListOf(_TERM, 1)), Field("f", TimeValue(), False)),
    "Freewheel": (Field("terms", ListOf(_TERM, 1), says="their sum may grow and not fall"),),
    "Gear": _GEAR,
    "RackPinion": (
        Field("rotation_joint", _COORDINATE),
        Field("translation_joint", _COORDINATE),
        Field("radius", Number("m")),
        *_ANGLES,
    ),
    "Screw": (Field("joint", Reference("joint")), Field("pitch", Number("m"), True, "displacement for one turn")),
    "Belt": (
        *_GEAR[:2],
        Field("radii", Array(((2,),), "m")),
        Field("crossed", Flag(), False, "pulleys turn against each other"),
    ),
    "CoordinateFunction": (*_GEAR[:2], Field("f", TimeValue(), says="q_b against q_a, in place of t")),
    "Cam": (
        *_GEAR[:2],
        Field("profile", TimeValue(), says="q_b against q_a, in place of t"),
        Field("unilateral", Flag(), False, "the follower only rests on the cam"),
    ),
}
ROLLING_CLASSES: dict[str, type[Joint]] = {kind.__name__: kind for kind in joints.ROLLING}
_PLANE = (Field("plane_normal", VECTOR, False), Field("plane_body", Reference("body"), False, "by default the ground"))
_BODY, _RADIUS, _PLANE_POINT = Field("body", Reference("body")), Field("radius", Number("m")), Field("plane_point", POINT, False)
_BALL = (_BODY, Field("center", POINT), _RADIUS)
_SURFACE = (
    Field("inside", Flag(), False, "whether the ball is in the surface"),
    Field("surface_body", Reference("body"), False, "by default the ground"),
)
ROLLING_FIELDS: dict[str, tuple[Field, ...]] = {
    "RollingDisc": (_BODY, Field("center", POINT), Field("axis", VECTOR), _RADIUS, _PLANE_POINT, *_PLANE),
    "RollingSphere": (_BODY, Field("center", POINT), _RADIUS, _PLANE_POINT, *_PLANE),
    "RollingOnCylinder": (
        *_BALL,
        Field("point", POINT, says="of the axis of the cylinder"),
        Field("axis", VECTOR),
        Field("cylinder_radius", Number("m")),
        *_SURFACE,
    ),
    "RollingOnSphere": (*_BALL, Field("sphere_center", POINT), Field("sphere_radius", Number("m")), *_SURFACE),
    "RollingOnCurve": (
        *_BALL,
        Field("curve", ListOf(POINT, 1), says="points of the curve"),
        Field("axis", VECTOR),
        Field("closed", Flag(), False, "whether the last point is joined to the first one"),
        Field("surface_body", Reference("body"), False, "by default the ground"),
    ),
    "KnifeEdge": (_BODY, Field("point", POINT), Field("direction", VECTOR), *_PLANE),
}
"""Rolling joints: a file has the arguments of their constructors, global geometry at the modelled pose."""
GUIDE_CLASSES: dict[str, type[Joint]] = {kind.__name__: kind for kind in joints.GUIDES}
GUIDE_FIELDS: dict[str, tuple[Field, ...]] = {
    "PointOnCurve": (
        *BETWEEN,
        Field("point", POINT),
        Field("curve", ListOf(POINT, 1), says="points of the curve"),
        Field("closed", Flag(), False, "whether the last point is joined to the first one"),
    ),
}
"""Joints along curves: a file has the arguments of their constructors, global geometry at the modelled pose."""
ROPE_CLASSES: dict[str, type[Joint]] = {kind.__name__: kind for kind in joints.ROPES}
_SIDE = Field("side", VECTOR, False, "direction from the centre to where the rope touches")
_TURNS = Field("turns", Number(), False, "whole turns besides the arc")
_DISC = (Field("radius", Number("m")), _SIDE, _TURNS)
_PATH = OneOf(
    (
        Record((Field("body", Reference("body")), Field("point", POINT)), "a point of the path"),
        Record(
            (Field("joint", Reference("joint")), *_DISC, Field("center", POINT, False), Field("axis", VECTOR, False)),
            "a disc about the axis of a joint",
        ),
        Record((Field("body", Reference("body")), *_DISC, Field("center", POINT), Field("axis", VECTOR)), "a disc on a body"),
    )
)
ROPE_FIELDS: dict[str, tuple[Field, ...]] = {
    "Rope": (
        Field("path", ListOf(_PATH, 2)),
        Field("length", TimeValue("m"), False, "by default that of the path as modelled"),
        Field("unilateral", Flag(), False, "whether it only pulls"),
        Field("EA", Number("N"), False, "of an elastic rope"),
        Field("c", Number("N s/m"), False, "damping of an elastic rope"),
        Field("restitution", Number(), False, "of a rigid rope that becomes taut"),
    ),
}
"""Ropes: a file has the arguments of their constructors, global geometry at the modelled pose."""
MOTION_CLASSES: dict[str, type[Joint]] = {kind.__name__: kind for kind in joints.MOTIONS}
MOTION_FIELDS: dict[str, tuple[Field, ...]] = {
    "PoseDriver": (
        _BODY,
        Field("r", ListOf(TimeValue("m"), 3, 3), True, "place of the point, global"),
        Field("orientation", ListOf(TimeValue(), 3, 4), True, "roll, pitch, yaw [rad], or Euler parameters"),
        Field("point", POINT, False, "by default the centre of mass"),
    ),
}
"""Drivers of a whole body."""
EQUATION_CLASSES = {kind.__name__: kind for kind in KINDS}
EQUATION_FORMS = {
    name: Record((Field("type", Text((name,))), *_equation(kind)), kind.symbols) for name, kind in EQUATION_CLASSES.items()
}


class _Typed(Kind):
    """A part whose key "type" selects its form;  own: the form of a class of the user, whose type is "module:Class"."""

    def __init__(self, forms: dict[str, Kind], what: str, own: Kind | None = None) -> None:
        self.forms = forms
        self.what = what
        self.own = own

    def read(self, given: Any, path: Any, reading: Any) -> Any:
        name = given.get("type") if isinstance(given, dict) else None
        if isinstance(name, str) and name in self.forms:
            return self.forms[name].read(given, path, reading)
        if self.own is not None and names_a_class(name):
            return self.own.read(given, path, reading)
        if not isinstance(given, dict):
            return Record(()).read(given, path, reading)
        if "type" not in given:
            return reading.fault(path, "the key 'type' is missing", f"Give the type of the {self.what}: {', '.join(self.forms)}.")
        return Text(tuple(self.forms)).read(name, (*path, "type"), reading)

    def schema(self) -> dict[str, Any]:
        different = {id(form): form for form in (*self.forms.values(), self.own) if form is not None}
        return {"anyOf": [form.schema() for form in different.values()]}


def _joints() -> _Typed:
    """Return the forms of all joints: those of the catalogue, single equations, and joints given by their equations."""
    forms: dict[str, Kind] = {}
    for kind in joints.CATALOGUE:
        form = _joint_forms(kind)
        if form is not None:
            forms |= {name: form for name, other in JOINT_CLASSES.items() if other is kind}
    forms |= {name: _typed(name, *_equation(kind), says=kind.symbols) for name, kind in EQUATION_CLASSES.items()}
    given = COUPLING_FIELDS | ROLLING_FIELDS | GUIDE_FIELDS | ROPE_FIELDS | MOTION_FIELDS
    for name, kind in (COUPLING_CLASSES | ROLLING_CLASSES | GUIDE_CLASSES | ROPE_CLASSES | MOTION_CLASSES).items():
        forms[name] = _typed(name, *given[name], says=first_line(kind))
    equations = ListOf(_Typed(dict(EQUATION_FORMS), "equation"), 1, 1000)
    freedoms = Field("freedoms", ListOf(Text(FREEDOMS)), False, "the motions that it allows, from body i to body j")
    forms[EQUATIONS] = _typed(
        EQUATIONS, *BETWEEN, *FRAMES, freedoms, Field("equations", equations), says="a joint of the user, as its equations"
    )
    return _Typed(forms, "joint")


FREEDOMS = tuple(f"{kind} {axis}_{side}" for kind in ("turn", "slide", "ball") for axis in "fgh" for side in "ij")
"""Freedoms of a joint as texts: the motion, and the axis of the frame on body i or j."""

_POINTS = (Field("point_i", POINT), Field("point_j", POINT))
_BODY_POINTS = (Field("s_bar_i", POINT), Field("s_bar_j", POINT))
_TSDA = (
    Field("k", Number("N/m"), False, "stiffness"),
    Field("c", Number("N s/m"), False, "damping"),
    Field("l0", Number("m"), False, "free length"),
    Field("actuator", TimeValue("N"), False, "additional tension"),
    JACOBIAN,
)
_SIX = Array(((6,), (6, 6)))
_BUSHING = (
    Field("K", _SIX, True, "stiffness, or its diagonal"),
    Field("C", _SIX, False, "damping, or its diagonal"),
    Field("preload", Array(((6,),)), False, "force and moment on body j at the modelled pose"),
)
_FORCE = (Field("frame", Text(("global", "body")), False, "frame of the components"), JACOBIAN)
_ON = Field("body", Reference("body"))
DAMPING_MODELS = {kind.__name__: kind for kind in (HuntCrossley, LankaraniNikravesh, Flores)}
DAMPING = Record((Field("type", Text(tuple(DAMPING_MODELS))), Field("exponent", Number(), False)), "damping of a contact")

OTHER_FORMS: dict[str, Kind] = {
    "TSDA": OneOf(
        tuple(_typed("TSDA", *BETWEEN, *ends, *_TSDA, says="spring, damper, actuator") for ends in (_POINTS, _BODY_POINTS))
    ),
    "LinearActuator": OneOf(
        tuple(
            _typed(
                "LinearActuator",
                *BETWEEN,
                *ends,
                Field("force", TimeValue("N"), True, "positive along the length"),
                JACOBIAN,
                says="a force between two points",
            )
            for ends in (_POINTS, _BODY_POINTS)
        )
    ),
    "Bushing": OneOf(
        tuple(
            _typed("Bushing", *BETWEEN, *place, *_BUSHING, says="stiffness and damping in all six directions")
            for place in ((Field("point", POINT), Field("axes", Array(((3, 3),)), False, "global, as columns")), FRAMES)
        )
    ),
    "PointForce": OneOf(
        tuple(
            _typed(
                "PointForce", _ON, Field(key, POINT, required), Field("force", VectorValue("N")), *_FORCE, says="a force at a point"
            )
            for key, required in (("point", False), ("s_bar", True))
        )
    ),
    "Torque": _typed("Torque", _ON, Field("torque", VectorValue("N m")), *_FORCE, says="a torque on a body"),
    "StateForce": _typed(
        "StateForce",
        Field("bodies", ListOf(Reference("body"), 1)),
        Field("force", Code()),
        JACOBIAN,
        says="a Python function of states",
    ),
    "ContactForce": _typed(
        "ContactForce",
        *BETWEEN,
        Field("shape_i", ShapeValue(contact=True)),
        Field("shape_j", ShapeValue(contact=True)),
        Field("K", Number("N/m^n"), True, "stiffness"),
        Field("model", DAMPING, False, "damping; by default HuntCrossley with the exponent 1.5"),
        Field("restitution", Number(), False, "nominal coefficient of restitution"),
        Field("mu", Number(), False, "coefficient of friction"),
        Field("creep", Number("m/s"), False, "slip speed below which friction is regularized"),
        Field("floor_speed", Number("m/s"), False, "least speed at touch of the damping"),
        says="compliant contact of two shapes",
    ),
} | {
    name: OneOf(tuple(_typed(name, *fields, says=first_line(JOINT_LOADS[name])) for fields in forms))
    for name, forms in JOINT_LOAD_FIELDS.items()
}
"""Force elements whose file has other forms than the arguments of the constructor."""
BY_SIGNATURE: dict[str, type[ForceElement]] = {kind.__name__: kind for kind in FORCE_KINDS if kind.__name__ not in OTHER_FORMS}
LOADS: dict[str, Kind] = OTHER_FORMS | {name: signature_record(kind) for name, kind in BY_SIGNATURE.items()}

SENSOR = Record(
    (
        Field("name", Text()),
        Field("function", CodeName(), True, "of f(t, state)"),
        Field("unit", Text(), False, "of its values"),
    ),
    "a function of time and state",
)
JOINTS = _joints()
FORCES = _Typed(LOADS, "load", OWN_CLASS)

HEAD = (
    Field("$schema", Text(), False, "address of the JSON Schema, for editors"),
    Field("format", Text((FORMAT,))),
    Field("name", Text(), False, "name of the system"),
    Field("gravity", Array(((3,),), "m/s2"), False, "global; by default zero"),
    Field("tolerance", Tolerance(), False, "how far redundant rows may contradict each other [rad, or part of the size]"),
    Field("planar", Text(PLANES), False, "the plane of a planar mechanism, by two global axes"),
    Field("ground_shape", SHAPES, False, "what is drawn of the ground"),
    Field("off", ListOf(Text()), False, "names of the joints, loads and contacts that are off at the start"),
)
LAW = Field("law", Text(tuple(LAWS)), False, "of its impacts")
CONTACT = OneOf(
    (
        Record(
            (
                NAME,
                *BETWEEN,
                Field("point", POINT, True, "of body j, global, at the modelled pose"),
                Field("normal", VECTOR, True, "of the plane, towards the side where body j may be"),
                Field("plane_point", POINT, False),
                Field("radius", Number("m"), False, "of a sphere about the point"),
                Field("restitution", Number(), False, "from 0 to 1"),
                Field("mu", Number(), False, "coefficient of friction"),
                LAW,
            ),
            "a point or sphere against a plane, rigid",
        ),
        Record(
            (
                NAME,
                *BETWEEN,
                *FRAMES,
                Field("radius", Number("m"), False),
                Field("restitution", Number(), False),
                Field("mu", Number(), False),
                LAW,
            ),
            "a point or sphere against a plane, by frames of the bodies",
        ),
        Record(
            (
                NAME,
                *BETWEEN,
                Field("shape_i", ShapeValue(contact=True, rigid=True), True, "of body i, in its frame"),
                Field("shape_j", ShapeValue(contact=True, rigid=True), True, "of body j, in its frame"),
                Field("restitution", Number(), False),
                Field("mu", Number(), False),
                LAW,
            ),
            "two shapes, rigid",
        ),
    )
)
SECTIONS: dict[str, tuple[str, Kind]] = {
    "bodies": ("rigid bodies; 'ground' is there", BODY),
    "joints": ("joints, equations and drivers", JOINTS),
    "loads": ("force elements", FORCES),
    "contacts": ("rigid contacts", CONTACT),
    "blocks": ("blocks, controllers and delays", _Typed(dict(BLOCKS), "block")),
    "sensors": ("quantities that blocks read, and every run records", SENSOR),
}
"""The lists of parts: their description, and the kind of an entry."""
PARAMETERS = "parameters"
KEYS = (*(each.name for each in HEAD), PARAMETERS, *SECTIONS)


def json_schema() -> dict[str, Any]:
    """Return the JSON Schema of model files, as a dict for `json.dump`.

    Returns
    -------
    dict
        A schema of draft 2020-12; editors check and complete model files with it.
    """
    top = Record(HEAD, "a mechanism, in SI units").schema()
    top["properties"][PARAMETERS] = {
        "type": "object",
        "description": "named numbers; expressions over one another are allowed",
        "additionalProperties": {"$ref": "#/$defs/number"},
    }
    for name, (says, _) in SECTIONS.items():
        top["properties"][name] = {"type": "array", "description": says, "items": {"$ref": f"#/$defs/{name}"}}
    number = {"anyOf": [{"type": "number"}, {"type": "string", "description": "an expression over the parameters"}]}
    definitions = {"number": number, "function": function_schema(), **{name: kind.schema() for name, (_, kind) in SECTIONS.items()}}
    return {"$schema": SCHEMA_ADDRESS, "title": FORMAT, **top, "$defs": definitions}
