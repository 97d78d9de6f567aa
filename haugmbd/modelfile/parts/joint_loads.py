r"""Force elements along coordinates of joints in a model file: their keys, and from a file to an element and back.

"characteristic": {"x": [...], "f": [...]}            a table
"characteristic": {"spline": {"t": [...], "f": [...]}}            a quintic spline, which may be periodic
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from haugmbd.bodies.body import Body
from haugmbd.compiled import array_types
from haugmbd.constraints.coordinate import Coordinate
from haugmbd.constraints.joint import Joint
from haugmbd.drivers import QuinticSpline
from haugmbd.forces import (
    BrownMcPhee,
    Coulomb,
    FrictionLaw,
    JointForce,
    JointFriction,
    JointLimit,
    JointSpring,
    LuGre,
    Motor,
    Viscous,
)
from haugmbd.forces.base import ForceElement
from haugmbd.forces.joint_loads.characteristic import Characteristic
from haugmbd.forces.joint_loads.joint_coordinate import coordinate_motion
from haugmbd.forces.joint_loads.joint_load import JointLoad
from haugmbd.modelfile.parts.functions import SPLINE_RECORD, Code, CodeOrOutput, TimeValue, driver_text, made_function, value_text
from haugmbd.modelfile.reading import BAD, Path, Reading
from haugmbd.modelfile.values import Array, CoordinateReference, Field, Flag, Kind, ListOf, Number, OneOf, Record, Reference, Text

Parameters = Mapping[str, float]

TABLE = Record((Field("x", ListOf(Number(), 2)), Field("f", ListOf(Number(), 2))), "a table")


@dataclass(frozen=True)
class Curve(Kind):
    """A function of one variable: a table {"x": [...], "f": [...]}, or a quintic spline."""

    def read(self, given: Any, path: Path, reading: Reading) -> Any:
        found = OneOf((TABLE, SPLINE_RECORD)).read(given, path, reading)
        if found is BAD:
            return BAD
        return made_function(found) if "spline" in found else (found["x"], found["f"])

    def schema(self) -> dict[str, Any]:
        return OneOf((TABLE, SPLINE_RECORD)).schema()


@dataclass(frozen=True)
class Forces(Kind):
    """One Python function or output of a block, or a list of functions of time."""

    def read(self, given: Any, path: Path, reading: Reading) -> Any:
        return (ListOf(TimeValue("N or N m"), 1) if isinstance(given, list) else CodeOrOutput()).read(given, path, reading)

    def schema(self) -> dict[str, Any]:
        return {"anyOf": [ListOf(TimeValue(), 1).schema(), *CodeOrOutput().schema()["anyOf"]]}


_JOINT = Field("joint", CoordinateReference())
_DAMPING = Field("c", Number("N m s/rad or N s/m"), False, "damping")
_JACOBIAN = Field("jacobian", Code(), False, "derivative of a stiff function")
_MU_S = Field("mu_s", Number(), True, "coefficient at rest")
_LAWS = {
    "Coulomb": Record(
        (
            Field("type", Text(("Coulomb",))),
            _MU_S,
            Field("mu", Number(), False, "coefficient of sliding"),
            Field("velocity", Number("m/s"), False, "of the smooth law; without it the law is exact, and sticks"),
        )
    ),
    "BrownMcPhee": Record(
        (
            Field("type", Text(("BrownMcPhee",))),
            _MU_S,
            Field("mu_d", Number(), True, "coefficient of sliding"),
            Field("v_t", Number("m/s"), True, "transition speed"),
        )
    ),
    "LuGre": Record(
        (
            Field("type", Text(("LuGre",))),
            _MU_S,
            Field("mu_c", Number(), True, "coefficient of fast sliding"),
            Field("v_s", Number("m/s"), True, "Stribeck speed"),
            Field("sigma0", Number("1/m"), True, "stiffness of the bristles, per newton"),
            Field("sigma1", Number("s/m"), False, "damping of the bristles, per newton"),
            Field("sigma2", Number("s/m"), False, "viscous friction, per newton"),
        )
    ),
    "Viscous": Record((Field("type", Text(("Viscous",))), Field("c", Number("N s/m or N m s/rad"), True, "damping"))),
}
LAWS: dict[str, type[FrictionLaw]] = {law.__name__: law for law in (Coulomb, BrownMcPhee, LuGre, Viscous)}
JOINT_LOAD_FIELDS: dict[str, tuple[tuple[Field, ...], ...]] = {
    "JointSpring": (
        (
            _JOINT,
            Field("k", Number("N m/rad or N/m"), False, "stiffness"),
            _DAMPING,
            Field("free", Number("rad or m"), False, "value of the coordinate where the spring is free"),
            Field("characteristic", Curve(), False, "force against the deflection, in place of k"),
            Field("side", Text(("both", "above", "below")), False, "where it acts"),
        ),
    ),
    "JointLimit": (
        (
            _JOINT,
            Field("lower", Number("rad or m"), False),
            Field("upper", Number("rad or m"), False),
            Field("k", Number("N m/rad or N/m"), False, "stiffness of the stops"),
            _DAMPING,
            Field("restitution", Number(), False, "of rigid stops, in place of k and c"),
        ),
    ),
    "Motor": (
        (
            _JOINT,
            Field("torque", TimeValue("N m"), False, "of the shaft"),
            Field("force", TimeValue("N"), False, "of a linear motor"),
            Field("curve", Curve(), False, "torque over the speed of the shaft"),
            Field("ratio", Number(), False, "turn of the shaft for one of the joint"),
            Field("rotor_inertia", Number("kg m2"), False, "about the axis of the shaft"),
            Field("place", Array(((2,),)), False, "number of bodies and of joints before those of the rotor; by default all"),
            _JACOBIAN,
        ),
    ),
    "JointFriction": (
        (
            Field("joint", Reference("joint")),
            Field("law", OneOf(tuple(_LAWS.values())), True, "friction law"),
            Field("radius", Number("m"), False, "of the bearing"),
            Field("length", Number("m"), False, "of the bearings from each other"),
            Field("preload", TimeValue("N"), False, "normal force beside that of the joint"),
            Field("thrust_radius", Number("m"), False, "at which the axial force causes friction"),
            Field("bearing_stiffness", Array(((), (2,)), "N/m, N m/rad"), False, "of the bearing"),
            Field("stick", Flag(), False),
        ),
    ),
    "JointForce": (
        (_JOINT, Field("f", TimeValue("N or N m"), True, "force along the coordinate"), _JACOBIAN),
        (Field("joints", ListOf(CoordinateReference(), 1)), Field("f", Forces(), True, "forces along the coordinates")),
    ),
}
"""The keys of each element besides type and name, one tuple for each of its forms."""
JOINT_LOADS: dict[str, type[Any]] = {
    "JointSpring": JointSpring,
    "JointLimit": JointLimit,
    "JointFriction": JointFriction,
    "JointForce": JointForce,
    "Motor": Motor,
}


def make_joint_load(kind: str, values: dict[str, Any], coordinate: Callable[[Any], Any]) -> ForceElement:
    """Return the element of a file's values;  coordinate: returns the joint or coordinate of a reference."""
    values = dict(values)
    values.pop("place", None)
    if "joint" in values:
        values["joint" if kind != "JointForce" else "joints"] = coordinate(values.pop("joint"))
    elif "joints" in values:
        values["joints"] = [coordinate(given) for given in values["joints"]]
    if "law" in values:
        law = dict(values["law"])
        values["law"] = LAWS[law.pop("type")](**law)
    made: ForceElement = JOINT_LOADS[kind](**values)
    return made


def joint_load_text(load: Any, parameters: Parameters, coordinate: Callable[[Joint | Coordinate], Any]) -> dict[str, Any]:
    """Return the values of an element for a file, besides type and name;  coordinate: returns the reference to a joint or coordinate."""
    if isinstance(load, JointFriction):
        numbers = {key: getattr(load, key) for key in ("radius", "length", "preload", "thrust_radius")}
        if load.pressed.drivers:
            numbers["preload"] = value_text(load.pressed, parameters)
        stiffness = load.bearing_stiffness
        numbers["bearing_stiffness"] = list(stiffness) if isinstance(stiffness, tuple) else stiffness
        law = {key: float(x) for key, x in vars(load.law).items() if x is not None}
        text = {"joint": coordinate(load.joint), "law": {"type": type(load.law).__name__, **law}}
        return text | {key: x for key, x in numbers.items() if x} | ({} if load.stick else {"stick": False})
    joints = [coordinate(part) for part in load.given]
    at = {"joint": joints[0]} if load.alone else {"joints": joints}
    if isinstance(load, JointSpring):
        text = at | {"k": load.k, "c": load.c, "free": load.free}
        curve = {} if load.characteristic is None else {"characteristic": curve_text(load.characteristic)}
        return text | curve | ({} if load.side == "both" else {"side": load.side})
    if isinstance(load, JointLimit):
        limits = {key: x for key, x in (("lower", load.lower), ("upper", load.upper)) if np.isfinite(x)}
        return at | limits | ({"restitution": load.restitution} if load.impulsive else {"k": load.k, "c": load.c})
    if isinstance(load, Motor):
        effort = {"force" if load.linear else "torque": value_text(load.effort, parameters)} if load.curve is None else {}
        curve = {} if load.curve is None else {"curve": curve_text(load.curve)}
        return at | effort | curve | {"ratio": load.gear_ratio, "rotor_inertia": load.rotor_inertia}
    f = value_text(load.f, parameters)
    return at | {"f": f if load.alone or isinstance(f, list | dict) else [f]}


def shifted(entry: dict[str, Any], load: ForceElement, states: Mapping[Body, array_types.Array], started: set[int]) -> str:
    """Change an element for a system that is modelled at other states: its coordinates are counted from the modelled pose.

    Return why this cannot be done, "" if it could.  entry: values of the element in a file;  states: (13,) of the bodies;
    started: ids of joints whose coordinates start at their value, which need no shift
    """
    if not isinstance(load, JointLoad):
        return ""
    moved = [0.0 if id(q.joint) in started else value_at(q, states) - q.q0 for q in load.coordinates()]
    if not any(moved):
        return ""
    if isinstance(load, JointSpring):
        entry["free"] = load.free - moved[0]
    elif isinstance(load, JointLimit):
        entry |= {key: entry[key] - moved[0] for key in ("lower", "upper") if key in entry}
    elif load.value().user_function is not None:
        return "its function reads coordinates, which are counted from the modelled pose"
    return ""


def value_at(coordinate: Coordinate, states: Mapping[Body, array_types.Array]) -> float:
    """Return a coordinate at states of its bodies; of an angle that with the turns nearest to the modelled one."""
    a, b = (np.asarray(states[body])[None] for body in coordinate.bodies)
    return float(coordinate_motion(coordinate, a, b, np.full(1, coordinate.q0))[0][0])


def curve_text(curve: Characteristic) -> Any:
    """Return a characteristic as a value of a file."""
    if isinstance(curve.given, QuinticSpline):
        return driver_text(curve.given, {})
    return {"x": curve.given[0].tolist(), "f": curve.given[1].tolist()}
