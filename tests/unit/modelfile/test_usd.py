"""Stages of Universal Scene Description: mechanisms written as text in several units, and read again."""

from __future__ import annotations

import sys

import numpy as np
import pytest

import haugmbd as mbd
from haugmbd import gallery, inertia
from joints import CJ, RJ, SJ, TJ, UJ, Parallel, Planar, PointInPlane, PointOnLine
from tests.support import usd
from tests.support.needed import need

pytestmark = pytest.mark.slow
SINGLE = 1e-7
"""Places of joints are stored in single precision."""
FLOOR = usd.body("a", usd.mass(2.0, np.diag((1.0, 2.0, 2.5))))


@pytest.fixture
def read(tmp_path):
    need("pxr")

    def read(text, **how):
        (tmp_path / "x.usda").write_text(text)
        return mbd.read_usd(tmp_path / "x.usda", **how)

    return read


def at_rest(system):
    for body in system.bodies[1:]:
        body.__setstate__(body.__getstate__() | {"v": np.zeros(3), "omega_bar": np.zeros(3)})
    return system


def test_without_the_extra_it_says_which(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "pxr", None)
    (tmp_path / "x.usda").write_text(usd.stage())
    with pytest.raises(mbd.UsageError, match="pip install usd-core"):
        mbd.read_usd(tmp_path / "x.usda")
    with pytest.raises(mbd.UsageError, match="no file"):
        mbd.read_usd(tmp_path / "y.usda")


@pytest.mark.parametrize(("L", "K"), [(1.0, 1.0), (0.01, 1e-3)])
@pytest.mark.parametrize("make", [gallery.four_bar, gallery.bricard, gallery.bennett])
def test_mechanisms_come_back_in_all_units(make, L, K, read):
    """Closed loops with redundant rows included."""
    system = at_rest(make())
    text = usd.stage_of(system, L, K)
    a, b = (mbd.accelerations(each.compile()).v_dot for each in (system, read(text)))
    np.testing.assert_allclose(b, a, rtol=0, atol=SINGLE * max(9.81, float(np.abs(a).max())))


def test_gravity_is_earth_s_against_the_up_axis_where_the_scene_says_nothing(read):
    assert read(usd.stage(FLOOR, up="Y", L=0.01)).gravity.tolist() == [0.0, -9.81, 0.0]
    scene = usd.prim("PhysicsScene", "s", "float physics:gravityMagnitude = 300")
    np.testing.assert_allclose(read(usd.stage(FLOOR, scene, L=0.01)).gravity, (0, 0, -3.0))
    assert read(usd.stage(FLOOR), gravity=(1, 2, 3)).gravity.tolist() == [1, 2, 3]


AT = "double3 xformOp:translate = (1, 2, 3)\nfloat3 xformOp:scale = (1, 2, 3)"
ORDER = 'uniform token[] xformOpOrder = ["xformOp:translate", "xformOp:scale"]'
COLLIDERS = {
    "Cube": ("double size = 1", inertia.box((1, 2, 3), density=1000.0)),
    "Sphere": ("double radius = 0.5", inertia.ellipsoid((0.5, 1, 1.5), density=1000.0)),
    "Mesh": (
        "point3f[] points = [(0,0,0), (1,0,0), (0,1,0), (0,0,1)]\nint[] faceVertexCounts = [3, 3, 3, 3]\n"
        "int[] faceVertexIndices = [0,2,1, 0,1,3, 0,3,2, 1,2,3]",
        None,
    ),
}


@pytest.mark.parametrize("kind", COLLIDERS)
def test_masses_of_scaled_colliders_are_those_of_the_solids(kind, read):
    """A box of (1, 2, 3), an ellipsoid, and a tetrahedron, in centimetres, with the density of water, or a mass of the body."""
    lines, expected = COLLIDERS[kind]
    shape = usd.prim(kind, "solid", lines, AT, ORDER, schemas=("PhysicsCollisionAPI",))
    if expected is None:
        corners = np.array([(0, 0, 0), (1, 0, 0), (0, 2, 0), (0, 0, 3.0)])
        mesh = mbd.Mesh.from_arrays(corners, [(0, 2, 1), (0, 1, 3), (0, 3, 2), (1, 2, 3)])
        expected = inertia.mesh(mesh, density=1000.0)
    (body,) = read(usd.stage(usd.body("a", shape), L=0.01)).bodies[1:]
    np.testing.assert_allclose(body.mass, 1e-6 * expected.mass, rtol=1e-12)
    np.testing.assert_allclose(body.J_bar, 1e-10 * expected.J_bar, rtol=0, atol=1e-12 * 1e-10 * expected.mass)
    np.testing.assert_allclose(body.r, 0.01 * (np.array((1, 2, 3)) + expected.center), rtol=1e-12)
    (heavy,) = read(usd.stage(usd.body("a", "float physics:mass = 5", shape), L=0.01)).bodies[1:]
    np.testing.assert_allclose(heavy.J_bar / 5.0, body.J_bar / body.mass, rtol=1e-12, atol=1e-20)


def test_densities_go_from_the_collider_to_the_body_to_the_material(read):
    def collider(n, *lines, more=()):
        return usd.prim("Cube", f"c{n}", *lines, "double size = 1", schemas=("PhysicsCollisionAPI", *more))

    own = ("float physics:density = 3",)
    bound = ("rel material:binding:physics = </m>",)
    material = usd.prim("Material", "m", "float physics:density = 7", schemas=("PhysicsMaterialAPI",))
    shapes = (
        collider(1, *own, more=("PhysicsMassAPI",)),
        collider(2),
        collider(3, *bound, more=("MaterialBindingAPI",)),
        collider(4, "float physics:mass = 11", more=("PhysicsMassAPI",)),
    )
    (body,) = read(usd.stage(usd.body("a", *shapes), material)).bodies[1:]
    assert body.mass == pytest.approx(3 + 1000 + 7 + 11)
    (body,) = read(usd.stage(usd.body("a", "float physics:density = 5", *shapes), material)).bodies[1:]
    assert body.mass == pytest.approx(3 + 5 + 5 + 11)


KINDS = {
    ("transZ", "rotZ"): CJ,
    ("rotX", "rotY", "rotZ"): SJ,
    ("rotX", "rotY"): UJ,
    ("rotY",): RJ,
    ("transX",): TJ,
    ("transX", "transY", "rotZ"): Planar,
    ("transY", "rotX", "rotY", "rotZ"): PointOnLine,
    ("transX", "transZ", "rotX", "rotY", "rotZ"): PointInPlane,
    ("transX", "transY", "transZ", "rotZ"): Parallel,
}


@pytest.mark.parametrize("free", KINDS)
def test_general_joints_are_what_their_free_axes_say(free, read):
    """The class, and each free axis moves the joint without opening it: its rates are in the null space of the equations."""
    text = usd.joint("PhysicsJoint", "j", ("", "/a"), (((0, 0, 0), np.eye(3)),) * 2, free=set(free))
    system = read(usd.stage(FLOOR, text), merge_fixed=False)
    (joint,) = system.joints
    assert type(joint) is KINDS[free]
    Phi_q = mbd.evaluate(system.compile()).Phi_q.toarray()
    assert Phi_q.shape[0] == 6 - len(free)
    for axis in free:
        assert not Phi_q[:, (0 if "trans" in axis else 3) + "XYZ".index(axis[-1])].any()


def test_drives_are_forces_of_springs_per_degree(read):
    """k (target - q) + c (rate - q') about the axis, in centimetres, from a joint that is turned by 30 degrees."""
    turned = np.array([[np.sqrt(0.75), -0.5, 0], [0.5, np.sqrt(0.75), 0], [0, 0, 1.0]])
    names = {"stiffness": 2e4, "damping": 3e3, "targetPosition": 90.0, "targetVelocity": 10.0}
    lines = [f"float drive:angular:physics:{key} = {x}" for key, x in names.items()]
    frames = ((0, 0, 0), np.eye(3)), ((0, 0, 0), turned)
    hinge = usd.joint("PhysicsRevoluteJoint", "h", ("", "/a"), frames, *lines, schemas=("PhysicsDriveAPI:angular",))
    system = read(usd.stage(usd.body("a", usd.mass(2.0, np.diag((1e4, 2e4, 2.5e4)))), hinge, L=0.01, K=2.0), gravity=(0, 0, 0))
    alpha = mbd.accelerations(system.compile()).omega_bar_dot[1, 2]
    np.testing.assert_allclose(alpha, (2e4 * (90.0 - 30.0) + 3e3 * 10.0) / 2.5e4, rtol=SINGLE * 10)


def test_limits_are_listed_or_become_stops(read):
    frames = (((0, 0, 0), np.eye(3)),) * 2
    lines = "float physics:lowerLimit = -90", "float physics:upperLimit = 45"
    text = usd.stage(FLOOR, usd.joint("PhysicsRevoluteJoint", "h", ("", "/a"), frames, *lines))
    assert "limit" in str(read(text).import_report)
    (stop,) = read(text, stop_stiffness=1e3).loads
    assert (stop.lower, stop.upper) == pytest.approx((-np.pi / 2, np.pi / 4))


LEAVES = """#usda 1.0
(
    subLayers = [@../away.usda@]
)
"""
FRAMES = (((0, 0, 0), np.eye(3)),) * 2
FAULTS = {
    "two turns": (usd.joint("PhysicsJoint", "j", ("", "/a"), FRAMES, free={"rotY", "rotZ"}), "joint 'j'.*programs differ"),
    "no such body": (usd.joint("PhysicsRevoluteJoint", "j", ("", "/b"), FRAMES), "joint 'j'.*body1 is /b"),
    "a rope": (
        usd.joint(
            "PhysicsDistanceJoint", "j", ("", "/a"), FRAMES, "float physics:maxDistance = 2", "float physics:minDistance = 1"
        ),
        "joint 'j'.*rope",
    ),
    "a drive of inertia": (
        usd.joint(
            "PhysicsRevoluteJoint",
            "j",
            ("", "/a"),
            FRAMES,
            'uniform token drive:angular:physics:type = "acceleration"',
            "float drive:angular:physics:stiffness = 1",
            schemas=("PhysicsDriveAPI:angular",),
        ),
        "joint 'j'.*acceleration",
    ),
    "limits that hold a hinge": (
        usd.joint("PhysicsRevoluteJoint", "j", ("", "/a"), FRAMES, "float physics:lowerLimit = 5", "float physics:upperLimit = 5"),
        "joint 'j'.*hold angle at 5",
    ),
    "nan": (usd.body("b", usd.mass(float("nan"), np.eye(3))), "prim /b.*physics:mass"),
    "a shear": (
        usd.body("b", usd.mass(1.0, np.eye(3)), A=np.array([[1, 0.5, 0], [0, 1, 0], [0, 0, 1.0]])),
        "body 'b'.*right angles",
    ),
    "a collider without volume": (
        usd.body("b", usd.prim("BasisCurves", "c", schemas=("PhysicsCollisionAPI",))),
        "body 'b'.*/b/c.*no known volume",
    ),
}


@pytest.mark.parametrize("case", FAULTS)
def test_what_cannot_be_read_is_refused_by_name(case, read):
    text, what = FAULTS[case]
    with pytest.raises(mbd.ModelFileError, match=what):
        read(usd.stage(FLOOR, text))


@pytest.mark.parametrize("text", ["", "#usda 1.0\n(", "PXR-USDC" + "\0" * 80, LEAVES])
def test_files_that_are_no_stage_or_leave_the_folder(text, read):
    with pytest.raises(mbd.ModelFileError):
        read(text)


def test_a_kinematic_body_is_the_world_and_the_command_line_reads_it(read, tmp_path):
    fixed = usd.body("b", "bool physics:kinematicEnabled = true", usd.mass(1.0, np.eye(3)), r=(1, 0, 0))
    system = read(
        usd.stage(FLOOR, fixed, usd.joint("PhysicsSphericalJoint", "j", ("/b", "/a"), (((-1, 0, 0), np.eye(3)), FRAMES[1])))
    )
    assert [body.name for body in system.bodies] == ["ground", "a"]
    assert system.joints[0].frame_i.body is system.ground
    assert len(mbd.load_model(tmp_path / "x.usda").bodies) == 2
