"""What classes list as `variable`, and `varied` changes: the part is the one that the constructor makes with the new values."""

from __future__ import annotations

import inspect

import numpy as np
import pytest

import haugmbd as mbd
import joints
from haugmbd.forces import KINDS
from haugmbd.forces.base import TablePlaces
from haugmbd.gallery import GALLERY
from haugmbd.math import euler_parameters

JOINTS = [kind for kind in joints.CATALOGUE if kind.variable]
OWN = (mbd.Bushing, mbd.ContactForce, mbd.Drag, mbd.JointFriction)
"""Elements whose constructors take more than numbers and points."""
LOADS = [kind for kind in KINDS if kind.variable and kind not in OWN]
USUAL = {
    "point": (0.3, -0.2, 0.5),
    "axis": (0.2, 1.0, -0.4),
    "point_i": (0.1, 0.2, 0.3),
    "point_j": (-0.4, 0.5, 0.1),
    "k": 2.0,
    "l0": 0.5,
}
USUAL |= {"lower": -1.0, "upper": 1.0}
OTHER = {"point": (-1.0, 0.7, 0.2), "axis": (1.0, -0.3, 0.5), "point_i": (1.1, 0.2, 0.3), "point_j": (-0.4, 1.5, 0.1)}


def body(name, seed):
    rng = np.random.default_rng(seed)
    return mbd.Body(name, 2.0, (0.2, 0.3, 0.4), r=rng.normal(size=3), p=euler_parameters.normalized(rng.normal(size=4)))


def numbers(part):
    """All numbers that compiled code reads of a part."""
    rows = part.primitives() if hasattr(part, "primitives") else (part,)
    found = [x for row in rows for _, x in row.markers()]
    if hasattr(part, "primitives"):
        return [x.tolist() for x in found] + [row.f.values(0.0).tolist() for row in rows]
    n = len(part.markers())
    found += [np.array(row[1]) for row in part.table_rows(TablePlaces((0,) * n, (0,) * n, 0, 0, (0,) * n))]
    return [x.tolist() for x in found]


def test_the_usual_joints_and_springs_can_vary():
    assert {joints.RJ, joints.SJ, joints.CJ, joints.TJ} <= set(JOINTS)
    assert {mbd.TSDA, mbd.RSDA} <= set(LOADS)


@pytest.mark.parametrize("kind", JOINTS)
def test_a_varied_joint_is_the_one_that_its_constructor_makes(kind):
    i, j = body("i", 1), body("j", 2)
    wanted = [name for name in inspect.signature(kind).parameters if name in USUAL]
    assert set(kind.variable) <= set(wanted)
    usual = {name: USUAL[name] for name in wanted}
    given = kind("it", i, j, **usual)
    for changed in ([name] for name in kind.variable):
        other = {name: OTHER[name] for name in changed}
        varied, made = given.varied(**other), kind("it", i, j, **usual | other)
        assert numbers(varied) == numbers(made)
        for frame, same in ((varied.frame_i, made.frame_i), (varied.frame_j, made.frame_j)):
            np.testing.assert_array_equal(frame.A_bar, same.A_bar)
            np.testing.assert_array_equal(frame.s_bar, same.s_bar)
        assert type(varied) is kind
        assert not varied.faults()
        assert numbers(given) == numbers(kind("it", i, j, **usual))  # it is unchanged


@pytest.mark.parametrize("kind", [kind for kind in JOINTS if "axis" in kind.variable])
def test_a_bad_axis_is_a_fault_of_the_varied_joint(kind):
    given = kind("it", body("i", 1), body("j", 2), point=USUAL["point"], axis=USUAL["axis"])
    assert "axis is (0, 0, 0)" in str(given.varied(axis=(0.0, 0.0, 0.0)).faults())


def test_a_joint_of_vectors_keeps_them_where_only_its_point_varies():
    i, j = body("i", 1), body("j", 2)
    given = joints.RJ.from_vectors("it", i, (0.1, 0, 0), (1, 1, 0), (0, 2, 1), j, (0, 0.2, 0), (1, -1, 2))
    varied = given.varied(point=(1.0, 2.0, 3.0))
    assert varied.vectors.a_bar_i is given.vectors.a_bar_i
    assert varied.vectors.c_bar_j is given.vectors.c_bar_j
    np.testing.assert_allclose(i.r + i.A @ varied.vectors.s_bar_i, (1.0, 2.0, 3.0), rtol=1e-14)


@pytest.mark.parametrize("kind", LOADS)
def test_a_varied_force_element_is_the_one_that_its_constructor_makes(kind):
    i, j = body("i", 1), body("j", 2)
    required = inspect.signature(kind).parameters
    place = {"joint": joints.RJ("pin", i, j, point=(0, 0, 0), axis=(0, 0, 1))} if "joint" in required else {"i": i, "j": j}
    usual = {name: USUAL[name] for name in required if name in USUAL}
    usual |= {name: 0.5 for name in kind.variable if name not in usual and required[name].default is inspect.Parameter.empty}
    given = kind("it", **place, **usual)
    for name, shapes in kind.variable.items():
        other = {name: OTHER[name] if name in OTHER else -0.75 if name == "lower" else 1.25}
        assert shapes == (np.shape(other[name]),)
        varied, made = given.varied(**other), kind("it", **place, **usual | other)
        assert numbers(varied) == numbers(made)
        assert numbers(given) == numbers(kind("it", **place, **usual))
        assert varied.faults() == made.faults() == ()


def own_element(kind, **changed):
    """An element of each of the other classes, some of its arguments changed."""
    i, j = body("i", 1), body("j", 2)
    guide = joints.TJ("guide", i, j, point=(0, 0, 0), axis=(0, 0, 1))
    ball = {"shape_i": mbd.Sphere(0.1), "shape_j": mbd.Plane()}
    usual = {
        mbd.Bushing: ((i, j), {"point": (0, 0, 0), "K": np.arange(1.0, 7.0)}),
        mbd.ContactForce: ((i, j), ball | {"K": 1e5, "restitution": 0.8, "mu": 0.1}),
        mbd.Drag: ((j, mbd.Sphere(0.2)), {"density": 1.2, "coefficient": 0.4}),
        mbd.JointFriction: ((guide,), {"law": mbd.Coulomb(0.3, 0.2), "length": 0.2, "preload": 1.0}),
    }
    parts, given = usual[kind]
    law = {name: changed.pop(name) for name in ("mu_s",) if name in changed}
    if law:
        given["law"] = mbd.Coulomb(law["mu_s"], 0.2)
    return kind("it", *parts, **given | changed)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("kind", "name", "value"),
    [
        (mbd.Bushing, "K", np.diag(np.arange(2.0, 8.0))),
        (mbd.Bushing, "C", np.arange(2.0, 8.0)),
        (mbd.Bushing, "preload", np.arange(6.0)),
        (mbd.ContactForce, "K", 2e6),
        (mbd.ContactForce, "restitution", 0.5),
        (mbd.ContactForce, "mu", 0.7),
        (mbd.ContactForce, "creep", 1e-2),
        (mbd.Drag, "density", 1000.0),
        (mbd.Drag, "coefficient", 0.9),
        (mbd.Drag, "flow", np.array([1.0, 2.0, 3.0])),
        (mbd.JointFriction, "length", 0.5),
        (mbd.JointFriction, "preload", 3.0),
        (mbd.JointFriction, "mu_s", 0.6),
        (mbd.Drag, "coefficient", -0.9),
        (mbd.ContactForce, "restitution", 1.5),
        (mbd.Bushing, "K", np.full(6, -1.0)),
        (mbd.JointFriction, "mu_s", 0.1),
        (mbd.JointFriction, "length", -0.1),
    ],
)
def test_a_varied_element_of_its_own_kind_is_the_one_that_its_constructor_makes(kind, name, value):
    given, made = own_element(kind), own_element(kind, **{name: value})
    assert np.shape(value) in given.variable[name]
    varied = given.varied(**{name: value})
    assert varied.faults() == made.faults()
    assert given.faults() == ()
    if made.faults():
        assert varied.number_faults()
    else:
        read = (lambda one: one.friction_numbers()) if kind is mbd.JointFriction else numbers
        assert read(varied) == read(made) != read(given)


@pytest.mark.slow
def test_the_coefficients_of_a_friction_law_are_parameters_of_a_batch():
    system = mbd.System("sled", gravity=(0, 0, -9.81))
    sled = system.add(mbd.Body("sled", 2.0, (0.1, 0.1, 0.1), v=(1.0, 0, 0)))
    rail = system.add(joints.TJ("rail", system.ground, sled, point=(0, 0, 0), axis=(1, 0, 0)))
    system.add(mbd.JointFriction("rub", rail, mbd.Coulomb(0.3)))
    mu = np.array([0.1, 0.3, 0.5])
    found = mbd.batch(system, parameters={"rub.mu_s": mu}).accelerations()
    np.testing.assert_allclose(found.v_dot[:, 1, 0], -mu * 9.81, rtol=1e-14)
    with pytest.raises(mbd.UsageError, match="'rub.mu' is not a parameter of JointFriction 'rub'.*'mu_s'"):
        mbd.batch(system, parameters={"rub.mu": mu})


def test_faults_of_joint_loads_are_those_of_their_constructors():
    pin = joints.RJ("pin", body("i", 1), body("j", 2), point=(0, 0, 0), axis=(0, 0, 1))
    spring, stop = mbd.JointSpring("it", pin, k=1.0), mbd.JointLimit("it", pin, lower=-1.0, upper=1.0, k=1.0)
    assert spring.varied(k=-1.0).faults() == mbd.JointSpring("it", pin, k=-1.0).faults() != ()
    assert stop.varied(lower=2.0).faults() == mbd.JointLimit("it", pin, lower=2.0, upper=1.0, k=1.0).faults() != ()
    assert "beyond lower" in str(stop.varied(lower=0.5).faults())


def test_faults_of_varied_numbers_are_those_of_the_constructor():
    i, j = body("i", 1), body("j", 2)
    given = mbd.TSDA("it", i, j, point_i=USUAL["point_i"], point_j=USUAL["point_j"], k=1.0, l0=1.0)
    made = mbd.TSDA("it", i, j, point_i=USUAL["point_i"], point_j=USUAL["point_j"], k=1.0, l0=-1.0)
    assert given.varied(l0=-1.0).faults() == made.faults() != ()


def test_a_varied_body_is_the_one_that_its_constructor_makes():
    given = body("it", 3)
    for name, value in (("mass", 3.0), ("J_bar", (0.3, 0.3, 0.4)), ("mass", -1.0), ("J_bar", (9.0, 1.0, 1.0))):
        made = mbd.Body("it", **{"mass": given.mass, "J_bar": given.J_bar, name: value}, r=given.r, p=given.p)
        varied = given.varied(**{name: value})
        assert varied.faults() == made.faults()
        np.testing.assert_array_equal(varied.J_bar, made.J_bar)
        np.testing.assert_array_equal([varied.mass], [made.mass])
        np.testing.assert_array_equal(varied.p, given.p)


@pytest.mark.slow
@pytest.mark.parametrize("make", GALLERY, ids=lambda make: make.__name__)
def test_a_variant_with_the_values_of_the_model_is_the_model(make):
    """The parts of a variant are copies that refer to each other as those of the model do."""
    model = make().compile()
    body = model.bodies[1]
    parameters = {f"{body.name}.mass": [body.mass], "gravity": [model.gravity]}
    for joint in (entry.part for entry in model.joints.values()):
        if "point" in joint.variable and joint.frame_i.body.is_ground:  # where a global point has no rounding on the ground
            parameters[f"{joint.name}.point"] = [joint.frame_i.s_bar]
            break
    found = mbd.batch(model, parameters=parameters).member_model(0)
    np.testing.assert_array_equal(found.tables.ints, model.tables.ints)
    np.testing.assert_allclose(found.tables.reals, model.tables.reals, rtol=1e-11, atol=1e-12)
    np.testing.assert_array_equal(found.y0, model.y0)
    assert found.bodies[1] is not body
    assert not {id(entry.part) for entry in found.joints.values()} & {id(entry.part) for entry in model.joints.values()}
    used = {id(b) for entry in found.joints.values() for p in entry.part.primitives() for b in p.bodies()}
    used |= {id(b) for entry in found.loads for b in entry.load.bodies()}
    assert used <= {id(b) for b in found.bodies}
