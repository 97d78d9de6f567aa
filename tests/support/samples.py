"""One sample of every primitive and of every joint, made from what its constructor asks for by name: nobody lists the classes.

A constructor that asks for something new says so here, in `geometry` or in `vectors_of`, once for all classes.
"""

from __future__ import annotations

import inspect
from functools import cache

import numpy as np
import pytest

import joints
from haugmbd import Body, State, System
from haugmbd.constraints import KINDS
from haugmbd.math import euler_parameters

SEED = 20260501
CONSTANT = 0.8
SIDES = ("both", "ground i", "ground j")
ROUNDING = 1e-12  # some dozen products of numbers of size 1 to 10
RANK_TOL = 1e-8  # singular values of samples are above 1e-3, rounding is 1e-15


def driven(t):
    """Positive (a distance can follow it), and not a polynomial."""
    return 2.0 + 0.3 * np.sin(1.3 * t) + 0.1 * t * t


def from_zero(t):
    """Zero at the modelled pose, for drivers of joints."""
    return 0.4 * np.sin(1.7 * t) + 0.3 * t


def random_body(name, rng):
    return Body(name, 1.0, (1.0, 1.2, 1.4), r=rng.normal(size=3), p=euler_parameters.normalized(rng.normal(size=4)))


def pair(system, name, side, rng):
    """The two bodies of a sample: its own, or one of its own and the ground."""
    i = system.ground if side == "ground i" else system.add(random_body(f"{name} i", rng))
    j = system.ground if side == "ground j" else system.add(random_body(f"{name} j", rng))
    return i, j


def call(make, known):
    """Call a constructor with what it asks for by name; what it can do without is left out."""
    asked = {n: p for n, p in inspect.signature(make).parameters.items() if p.kind is not p.VAR_KEYWORD}
    unknown = [n for n, p in asked.items() if n not in known and p.default is p.empty]
    assert not unknown, f"{make} asks for {unknown}: say in tests/support/samples.py what that is"
    return make(**{n: known[n] for n in asked if n in known})


def geometry(rng):
    """Global geometry: axes at right angles, an arm across the axis."""
    point = rng.normal(size=3)
    axis, other = rng.normal(size=(2, 3))
    across = np.cross(axis, other)
    return dict(point=point, axis=axis, normal=axis, axis_i=axis, axis_j=across, point_i=point, point_j=point + across)


def primitive_values(rng):
    """Body-frame vectors, and a global direction."""
    names = ("a_bar_i", "a_bar_j", "s_bar_i", "s_bar_j", "c")
    values = dict(zip(names, rng.normal(size=(len(names), 3)), strict=True))
    e = euler_parameters.rotation_matrix(euler_parameters.normalized(rng.normal(size=4)))
    return (
        values
        | dict(
            e_bar_i=e[0], n_bar_i=e[1], e_bar_j=euler_parameters.rotation_matrix(euler_parameters.normalized(rng.normal(size=4)))[0]
        )
        | dict(b_bar_i=rng.normal(size=3), b_bar_j=rng.normal(size=3))
    )


def make_primitive(kind, i, j, f, values):
    return call(kind, dict(i=i, j=j, f=f, **values))


@cache
def carrier_classes():
    """For each class of driver: the joints of the catalogue that it can drive."""
    rng = np.random.default_rng(SEED)
    i, j = random_body("i", rng), random_body("j", rng)
    plain = {cls: call(cls, dict(name="carrier", i=i, j=j, **geometry(rng))) for cls in joints.CATALOGUE if not drives(cls)}
    able = {cls: [c for c, joint in plain.items() if not cls("d", joint, 0.0).faults()] for cls in joints.CATALOGUE if drives(cls)}
    assert all(able.values())
    return able


def drives(cls):
    """Whether the class drives another joint."""
    return "joint" in inspect.signature(cls).parameters


PLAIN = [cls for cls in joints.CATALOGUE if not drives(cls)]
by_class = pytest.mark.parametrize("cls", joints.CATALOGUE, ids=lambda cls: cls.__name__)
by_plain_class = pytest.mark.parametrize("cls", PLAIN, ids=lambda cls: cls.__name__)


def make_joint(cls, name, i, j, values):
    """(joint, the joint that it drives or None)."""
    if drives(cls):
        carrier = call(carrier_classes()[cls][0], dict(name=f"{name} carrier", i=i, j=j, **values))
        return call(cls, dict(name=name, joint=carrier, f=from_zero)), carrier
    return call(cls, dict(name=name, i=i, j=j, **values)), None


def vectors_of(joint):
    """What `from_vectors` asks for, read off a joint that was made from global geometry."""
    known = dict(name=joint.name, i=joint.i, j=joint.j, **joint.vectors._asdict())
    return known | (dict(f=joint.f) if hasattr(joint, "f") else {})


def model_of(*parts, reverse=False):
    """A compiled model of joints or primitives between moving bodies, numbered as they come, or the other way round."""
    system = System("sample")
    bodies = dict.fromkeys(b for part in parts for b in (part.i, part.j))
    for body in reversed(bodies) if reverse else bodies:
        system.add(body)
    for part in parts:
        system.add(part)
    return system.compile(check_pose=False)


def random_state(model, rng, t=0.0):
    """Poses and velocities of size 1; the ground stays."""
    n = model.nb + 1
    r, v, omega_bar = rng.normal(size=(3, n, 3))
    p = euler_parameters.normalized(rng.normal(size=(n, 4)))
    r[0] = v[0] = omega_bar[0] = 0.0
    p[0] = 1.0, 0.0, 0.0, 0.0
    return State(t, r, p, v, omega_bar)


def jacobian(rows):
    """(nc, 2, 6): Phi_r and PiBar of both bodies; zero on the ground."""
    J = np.concatenate([rows.Phi_r, rows.PiBar], axis=2)
    return J * (rows.bodies != 0)[:, :, None]


def everything():
    """One model with all samples, each on bodies of its own; (model, rows by sample name, primitive names, joint names)."""
    rng = np.random.default_rng(SEED)
    system = System("everything")
    singles, names = {}, []
    for side in SIDES:
        for kind in KINDS:
            for label, f in (("constant", CONSTANT), ("driven", driven)):
                name = f"{kind.kind} {label} {side}"
                i, j = pair(system, name, side, rng)
                system.add(make_primitive(kind, i, j, f, primitive_values(rng)))
                singles[name] = system.joints[-1].name
        for cls in joints.CATALOGUE:
            name = f"{cls.__name__} {side}"
            joint, carrier = make_joint(cls, name, *pair(system, name, side, rng), geometry(rng))
            for part in (carrier, joint):
                if part is not None:
                    system.add(part)
            names.append(name)
    model = system.compile(check_pose=False)
    rows = {name: model.joints[single].rows for name, single in singles.items()}
    return model, rows | {name: model.joints[name].rows for name in names}
