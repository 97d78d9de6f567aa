"""Systems with everything that a model file holds, and a validator of JSON Schema that knows what our schema uses."""

from __future__ import annotations

import re

import numpy as np

import haugmbd as mbd
import joints
from haugmbd import DP2, constraints
from haugmbd.constraints.freedoms import H_I, slide
from haugmbd.math import euler_parameters

SEED = 20261122

BY_HAND = """
# a driven bar, by hand
format = "haugmbd model 1"
name = "bar"
gravity = [0, 0, -9.81]

[parameters]
mass = "density * length"       # kg
density = 39.0                  # kg/m
length = 2.0                    # m

[[bodies]]
name = "bar"
mass = "mass"
J_bar = [0, "mass * length**2 / 12", "mass * length**2 / 12"]
r = ["length / 2", 0, 0]

[[joints]]
type = "RotationDriver"
name = "drive"
joint = "pin"                   # it stands below
f = "0.2 * t**2 * sin(3 * t)"

[[joints]]
type = "Revolute"
name = "pin"
i = "ground"
j = "bar"
point = [0, 0, 0]
axis = [0, 1, 0]

[[loads]]
type = "TSDA"
name = "spring"
comment = "a soft one"
i = "ground"
j = "bar"
point_i = [0, 0, 1]
point_j = ["length", 0, 0]
k = 10
l0 = 1.5
"""


def named(t):
    """A function of t that can be imported."""
    return 0.3 * np.sin(t)


def named_dot(t):
    return 0.3 * np.cos(t)


def named_ddot(t):
    return -0.3 * np.sin(t)


def wind(t, r, p, v, omega_bar):
    """A force of the state that can be imported."""
    return -0.2 * np.asarray(v) + np.array([0.0, 0.1 * t, 0.0])


def wind_jacobian(t, r, p, v, omega_bar):
    return 0, 0, -0.2 * np.eye(3), 0


def push(t):
    return np.array([np.sin(t), t, 1.0])


def stretch(t, l, l_dot):
    return 3.0 * l - 0.1 * l_dot


def pull(t, r, p, v, omega_bar):
    """Generalized forces of two bodies."""
    d = np.asarray(r[1]) - np.asarray(r[0])
    return np.array([[*d, 0.0, 0.0, 0.0], [*-d, 0.0, 0.0, 0.0]])


class Slot(joints.Composed):
    """A joint of the user: a point of body j stays in a plane through h_i and f_i."""

    freedoms = (slide(H_I),)

    def primitives(self):
        v = self.vectors
        return (DP2(self.i, v.b_bar_i, v.s_bar_i, self.j, v.s_bar_j),)


def random_body(name, rng):
    return mbd.Body(
        name,
        rng.uniform(0.5, 2.0),
        np.diag(rng.uniform(1.0, 1.4, 3)) + 0.05 * np.ones((3, 3)),
        r=rng.normal(size=3),
        p=euler_parameters.normalized(rng.normal(size=4)),
        v=rng.normal(size=3),
        omega_bar=rng.normal(size=3),
    )


def rich_system():
    """A system with every kind of part that is read from a file with code allowed; its pose is not closed, and need not be."""
    rng = np.random.default_rng(SEED)
    system = mbd.System("rich", gravity=rng.normal(size=3), parameters={"a": 0.25, "w": -1.5})
    i, j = (system.add(random_body(name, rng)) for name in ("i", "j"))
    s, a = rng.normal(size=(2, 3)), rng.normal(size=(4, 3))
    values = 1.0 + rng.normal(size=9)

    def moving():
        return mbd.Expression("a * sin(w * t) + 2")

    def table():
        return mbd.QuinticSpline(np.linspace(0.0, 2.0, 9), values, start=(0.0, 0.5))

    system.add(constraints.DP1(i, a[0], j, a[1], moving()))
    system.add(constraints.DP2(i, a[0], s[0], j, s[1], table()))
    system.add(constraints.D(i, s[0], j, s[1], 2.0))
    system.add(constraints.CD(a[2], i, s[0], j, s[1], named))
    e, n = np.linalg.qr(rng.normal(size=(3, 2)))[0].T
    system.add(constraints.Rotation(i, e, n, j, e, (named, named_dot, named_ddot)))
    pin = system.add(joints.RJ("pin", i, j, point=s[0], axis=a[0]))
    rail = system.add(joints.TJ.from_vectors("rail", i, s[0], e, n, j, s[1], a[3], a[2]))
    system.add(joints.RotationDriver("drive", pin, moving()))
    system.add(joints.TranslationDriver("feed", rail, mbd.Expression("1 - 0.125 * t**2")))
    system.add(joints.Distance("rod", i, system.ground, point_i=s[0], point_j=s[1], distance=moving()))
    plain = joints.RJ("own", i, j, point=s[1], axis=a[1])
    system.add(Slot._at("slot", joints.base.Place(plain.frame_i, plain.frame_j, plain.vectors, ())))
    system.add(mbd.TSDA("spring", i, j, point_i=s[0], point_j=s[1], k=10.0, c=0.5, l0=0.7, actuator=moving()))
    system.add(mbd.TSDA("muscle", i, system.ground, point_i=s[0], point_j=s[1], actuator=stretch))
    system.add(mbd.RSDA("twist", pin, k=2.0, c=0.1, theta0=0.2, actuator=named))
    system.add(mbd.PointForce("push", i, point=s[1], force=push, frame="body"))
    system.add(mbd.PointForce("wind", j, force=wind, jacobian=wind_jacobian))
    system.add(mbd.Torque("turn", j, torque=(0.1, moving(), table())))
    system.add(mbd.StateForce("pull", [i, j], force=pull))
    return system


def valid(value, schema, root):
    """Whether a value obeys a JSON Schema, of the keywords that ours uses."""
    if "$ref" in schema and not valid(value, root["$defs"][schema["$ref"].rsplit("/", 1)[1]], root):
        return False
    if "anyOf" in schema and not any(valid(value, each, root) for each in schema["anyOf"]):
        return False
    if "enum" in schema and value not in schema["enum"]:
        return False
    kinds = {"object": dict, "array": list, "string": str, "boolean": bool, "number": (int, float)}
    kind = schema.get("type")
    if kind and (not isinstance(value, kinds[kind]) or (kind == "number" and isinstance(value, bool))):
        return False
    if kind == "string":
        return len(value) >= schema.get("minLength", 0) and re.search(schema.get("pattern", ""), value) is not None
    if kind == "array":
        sized = schema.get("minItems", 0) <= len(value) <= schema.get("maxItems", len(value))
        return sized and all(valid(each, schema.get("items", {}), root) for each in value)
    if kind == "object":
        known = schema.get("properties", {})
        rest = schema.get("additionalProperties", {})
        if not set(schema.get("required", ())) <= value.keys():
            return False
        unknown = [each for key, each in value.items() if key not in known]
        if unknown and (rest is False or not all(valid(each, rest, root) for each in unknown)):
            return False
        return all(valid(each, known[key], root) for key, each in value.items() if key in known)
    return True


def pulled(t, q, qd):
    """A force along a coordinate, which reads it."""
    return -q
