"""Exporters: mechanisms have the same accelerations and velocities after a round trip with the readers."""

from __future__ import annotations

import numpy as np
import pytest

import haugmbd as mbd
from haugmbd.gallery import excavator
from haugmbd.math import euler_parameters
from haugmbd.modelfile.exports import rpy
from haugmbd.modelfile.mjcf import write as mjcf_write
from haugmbd.modelfile.urdf.robot import rotation
from joints import RJ, TJ, Coupling, Distance, Perpendicular, PointInPlane, PointOnLine, RotationDriver, TranslationDriver
from tests.support import mechanisms
from tests.support.mechanisms import same, velocities
from tests.support.seeds import seeds

SAME = 1e-9
"""Relative to the largest acceleration or gravity: the same mechanism from numbers that went through rotations; seen 1e-13."""


def test_roll_pitch_yaw_loses_no_digit_where_they_are_singular():
    rng = np.random.default_rng(1)
    for pitch in (0.3, -2.0, np.pi / 2, -np.pi / 2, np.pi / 2 - 1e-9, np.pi / 2 + 1e-12):
        A = rotation(rng.uniform(-3, 3), pitch, rng.uniform(-3, 3))
        np.testing.assert_allclose(rotation(*rpy(A)), A, rtol=0, atol=1e-15)


@pytest.mark.slow
@pytest.mark.parametrize("seed", seeds(4))
def test_trees_come_back_from_urdf(seed, tmp_path):
    system = mechanisms.random_tree(seed, mechanisms.TREE, springs="damping")
    done = mbd.write_urdf(system, tmp_path / "tree.urdf")
    assert done.files == (tmp_path / "tree.urdf",)
    same(system, mbd.read_urdf(tmp_path / "tree.urdf", gravity=system.gravity, merge_fixed=False))


@pytest.mark.slow
@pytest.mark.parametrize("closing", ["SJ", "RJ", "Fixed"])
def test_loops_come_back_from_urdf_and_its_sidecar(closing, tmp_path):
    system = mechanisms.loop(closing)
    done = mbd.write_urdf(system, tmp_path / "loop.urdf")
    sidecar = None if closing == "RJ" else done.files[1]
    assert len(done.files) == 2 - (closing == "RJ")
    again = mbd.read_urdf(done.files[0], loops=sidecar, gravity=system.gravity, merge_fixed=False)
    assert again.import_report.loops[0].distance < 1e-12
    same(system, again)


@pytest.mark.slow
@pytest.mark.parametrize("seed", seeds(4))
def test_trees_come_back_from_mjcf(seed, tmp_path):
    pytest.importorskip("mujoco")
    system = mechanisms.random_tree(seed, springs=True)
    mbd.write_mjcf(system, tmp_path / "tree.xml")
    again = mbd.read_mjcf(tmp_path / "tree.xml")
    fixed = {joint.j.name for joint in system.joints if type(joint).__name__ == "Fixed"}
    fixed |= {joint.i.name for joint in system.joints if type(joint).__name__ == "Fixed"}
    if fixed:  # welded bodies are one in MuJoCo
        assert again.import_report.degrees_of_freedom == mbd.mobility(system).degrees_of_freedom
    else:
        same(system, again)


@pytest.mark.slow
@pytest.mark.parametrize("closing", ["SJ", "RJ", "Fixed"])
def test_loops_come_back_from_mjcf(closing, tmp_path):
    pytest.importorskip("mujoco")
    system = mechanisms.loop(closing)
    mbd.write_mjcf(system, tmp_path / "loop.xml")
    same(system, mbd.read_mjcf(tmp_path / "loop.xml"))


@pytest.mark.slow
@pytest.mark.parametrize("length", [1.0, 0.001])
@pytest.mark.parametrize("seed", seeds(3))
def test_trees_come_back_from_asmt(seed, length, tmp_path):
    system = mechanisms.random_tree(seed)
    mbd.write_asmt(system, tmp_path / "tree.asmt", length=length)
    same(system, mbd.read_asmt(tmp_path / "tree.asmt", length=length, merge_fixed=False))


@pytest.mark.slow
@pytest.mark.parametrize("closing", ["SJ", "RJ", "Fixed", "CJ", "Planar", "UJ", "ConstantVelocity"])
def test_loops_come_back_from_asmt(closing, tmp_path):
    system = mechanisms.loop(closing)
    mbd.write_asmt(system, tmp_path / "loop.asmt")
    same(system, mbd.read_asmt(tmp_path / "loop.asmt", merge_fixed=False))


@pytest.mark.slow
def test_other_joints_and_motions_come_back_from_asmt(tmp_path):
    rng = np.random.default_rng(9)
    system = mbd.System("a/b", gravity=(0, 0, -9.81))
    i, j, k = (system.add(mechanisms.solid(name, rng)) for name in ("i", "j", "k/k"))
    pin = system.add(RJ("pin", system.ground, i, point=(0, 0, 0), axis=(0, 1, 0)))
    rail = system.add(TJ("rail", i, j, point=(1, 0, 0), axis=(1, 1, 0)))
    system.add(Distance("rod", j, k, point_i=(1, 1, 1), point_j=(2, 1, 0)))
    system.add(PointInPlane("plane", i, k, point=(0, 1, 1), normal=(1, 2, 3)))
    system.add(PointOnLine("line", system.ground, k, point=(1, 1, 1), axis=(1, 0, 3)))
    system.add(Perpendicular("square", system.ground, k, axis_i=(1, 0, 0), axis_j=(0, 1, 2)))
    system.add(RotationDriver("turn", pin, mbd.Expression("0.2*sin(3*t) + arcsin(t/4)**2")))
    system.add(TranslationDriver("slide", rail, mbd.Expression("a*t**2", parameters={"a": 0.5})))
    mbd.write_asmt(system, tmp_path / "all.asmt", length=0.001)
    again = mbd.read_asmt(tmp_path / "all.asmt", length=0.001)
    one, two = (mbd.assemble(each).model for each in (system, again))
    same_names = {"k/k": "k_k"}
    found = [mbd.accelerations(each) for each in (one, two)]
    for n, body in enumerate(system.bodies[1:], start=1):
        m = next(m for m, other in enumerate(again.bodies) if other.name == same_names.get(body.name, body.name))
        np.testing.assert_allclose(found[1].v_dot[m], found[0].v_dot[n], rtol=0, atol=1e-8 * np.abs(found[0].v_dot).max())
    assert {"turn", "slide"} <= {joint.name for joint in again.joints}


@pytest.mark.slow
def test_flat_bodies_come_back_from_mjcf(tmp_path):
    """J3 = J1 + J2: MuJoCo refuses an inertia in which rounding makes J3 larger."""
    pytest.importorskip("mujoco")
    system, rng = mbd.System("plates", gravity=(0, 0, -9.81)), np.random.default_rng(7)
    for k in range(20):
        a, b = rng.uniform(0.1, 2.0, 2)
        A = euler_parameters.rotation_matrix(euler_parameters.normalized(rng.normal(size=4)))
        system.add(mbd.Body(f"plate {k}", 1.0, A @ np.diag((a, b, a + b)) @ A.T, r=(k, 0, 0)))
    mbd.write_mjcf(system, tmp_path / "x.xml")
    for one, two in zip(system.bodies[1:], mbd.read_mjcf(tmp_path / "x.xml").bodies[1:], strict=True):
        np.testing.assert_allclose(two.J_bar, one.J_bar, rtol=0, atol=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize("seed", seeds(3))
def test_velocities_of_trees_come_back_from_mjcf(seed, tmp_path):
    """Free bodies, balls, universal, cylindrical and planar joints from both sides."""
    pytest.importorskip("mujoco")
    system = mechanisms.random_tree(seed, tuple(kind for kind in mechanisms.ALL if kind != "Fixed"))
    for name, (v, w) in mechanisms.moving(system).items():
        system[name].__setstate__(system[name].__getstate__() | {"v": v, "omega_bar": w})
    assert not mbd.write_mjcf(system, tmp_path / "tree.xml").left_out
    again = velocities(mbd.read_mjcf(tmp_path / "tree.xml", key="modelled"))
    for name, x in velocities(system).items():
        np.testing.assert_allclose(again[name], x, rtol=0, atol=1e-9)
    first = system.joints[0].j if not system.joints[0].j.is_ground else system.joints[0].i
    first.__setstate__(first.__getstate__() | {"v": first.v + 1.0, "omega_bar": first.omega_bar + 1.0})
    left = mbd.write_mjcf(system, tmp_path / "tree.xml").left_out
    assert any(f"velocity of body {first.name!r} that its joint does not allow" in text for text in left)


def started(kind, q0):
    """A body on a joint whose coordinate is q0 at the modelled pose."""
    system = mbd.System("started", gravity=(0, -9.81, 0))
    body = system.add(mbd.Body("body", 1.0, (0.1, 0.1, 0.1), r=(0.5, 0, 0)))
    return system, system.add(kind("joint", system.ground, body, point=(0, 0, 0), axis=(0, 0, 1), q0=q0))


@pytest.mark.parametrize("q0", [0.7, -0.3, 9.0])
def test_springs_count_from_q0(q0, tmp_path):
    """(J + m l^2) q'' = -m g l - k (q0 - theta0): the spring was written as if the joint began at 0."""
    pytest.importorskip("mujoco")
    system, pin = started(RJ, q0)
    system.add(mbd.RSDA("spring", pin, k=2.0, c=0.1, theta0=0.4))
    mbd.write_mjcf(system, tmp_path / "spring.xml")
    exact = (-9.81 * 0.5 - 2.0 * (q0 - 0.4)) / 0.35
    for each in (system, mbd.read_mjcf(tmp_path / "spring.xml")):
        assert mbd.accelerations(each).omega_bar_dot[1, 2] == pytest.approx(exact, rel=1e-12)


@pytest.mark.parametrize("q0", [0.7, -0.3, 9.0])
@pytest.mark.parametrize(("kind", "driver"), [(RJ, RotationDriver), (TJ, TranslationDriver)])
@pytest.mark.parametrize("f", ["{} + 0.5 * t", "{}"])
def test_motions_count_from_q0(q0, kind, driver, f, tmp_path):
    """A file has no q0: its motions begin at 0."""
    system, joint = started(kind, q0)
    system.add(driver("drive", joint, mbd.Expression(f.format(q0)) if "t" in f else q0))
    mbd.write_asmt(system, tmp_path / "drive.asmt", length=0.001)
    one, two = (mbd.kinematics(each, [0.0, 1.0])["body"] for each in (system, mbd.read_asmt(tmp_path / "drive.asmt", length=0.001)))
    np.testing.assert_allclose(two.r, one.r, rtol=0, atol=1e-12)
    np.testing.assert_allclose(two.A, one.A, rtol=0, atol=1e-12)


def sprung(leads, **spring):
    """A hinge and a slide with a spring each; `leads`: from the body that is nearer to the ground, or to it."""
    rng = np.random.default_rng(7)
    system = mbd.System("springs", gravity=(0.3, -9.81, 1.0))
    bodies = [system.ground, *(system.add(mechanisms.solid(name, rng)) for name in ("near", "far"))]
    for kind, q0, *pair in ((RJ, 0.7, *bodies[:2]), (TJ, -0.2, *bodies[1:])):
        joint = system.add(
            kind(kind.__name__, *(pair if leads == "from" else pair[::-1]), point=(1, 0.5, 0), axis=(1, 2, 3), q0=q0)
        )
        system.add(mbd.JointSpring(f"{kind.__name__} spring", joint, **spring))
    return system


@pytest.mark.parametrize("leads", ["from", "to"])
def test_springs_along_joints_come_back(leads, tmp_path):
    """Of hinges and slides, either body first; a URDF holds their damping."""
    pytest.importorskip("mujoco")
    system = sprung(leads, c=0.7)
    mbd.write_urdf(system, tmp_path / "damped.urdf")
    damped = mbd.read_urdf(tmp_path / "damped.urdf", gravity=system.gravity)
    same(system, damped)
    assert [load.c for load in damped.loads] == [0.7, 0.7]
    system = sprung(leads, k=5.0, c=0.7, free=0.4)
    mbd.write_mjcf(system, tmp_path / "stiff.xml")
    same(system, mbd.read_mjcf(tmp_path / "stiff.xml"))
    with pytest.raises(mbd.ModelFileError, match="'TJ spring': a URDF holds no JointSpring; of loads it holds the damping"):
        mbd.write_urdf(system, tmp_path / "stiff.urdf")


def loop_with(*loaded):
    """A four-bar on the ground, with a spring and a stop on some of its hinges."""
    system = mbd.System("four-bar", gravity=(0, -9.81, 0))
    points = np.array([(0, 0, 0), (0, 1, 0), (2, 1.5, 0), (2.5, 0, 0)], dtype=float)
    bars = [system.add(mbd.Body(f"bar {k}", 1.0, (0.1, 0.1, 0.1), r=(points[k] + points[k + 1]) / 2)) for k in range(3)]
    pins = [
        system.add(RJ(f"pin {k}", i, j, point=points[k], axis=(0, 0, 1)))
        for k, (i, j) in enumerate(zip([system.ground, *bars], [*bars, system.ground], strict=True))
    ]
    for k in loaded:
        system.add(mbd.RSDA(f"spring {k}", pins[k], k=30.0, c=1.0, theta0=0.4))
        system.add(mbd.JointLimit(f"stop {k}", pins[k], lower=-0.1, upper=0.1, k=10.0))
    return system


@pytest.mark.parametrize("loaded", [(2,), (0, 1, 2), (3, 2)])
def test_springs_and_stops_of_any_joint_of_a_loop_come_back(loaded, tmp_path):
    """Those of the joint that was cut were left out in silence."""
    pytest.importorskip("mujoco")
    system = loop_with(*loaded)
    mbd.write_mjcf(system, tmp_path / "loop.xml")
    again = mbd.read_mjcf(tmp_path / "loop.xml", stop_stiffness=10.0)
    same(system, again)
    assert sum(isinstance(load, mbd.JointLimit) for load in again.loads) == len(loaded)
    mbd.write_urdf(system, tmp_path / "loop.urdf", leave_out=True)
    assert sum(isinstance(load, mbd.JointLimit) for load in mbd.read_urdf(tmp_path / "loop.urdf").loads) == len(loaded)


@pytest.mark.parametrize("pair", [(0, 1), (1, 2), (2, 3), (0, 2)])
def test_couplings_of_any_joints_of_a_loop_come_back(pair, tmp_path):
    """Those of the joint that was cut were refused."""
    pytest.importorskip("mujoco")
    for write, read, name in ((mbd.write_mjcf, mbd.read_mjcf, "c.xml"), (mbd.write_urdf, mbd.read_urdf, "c.urdf")):
        system = loop_with()
        a, b = (system[f"pin {k}"] for k in pair)
        system.add(Coupling("coupled", {a: 1.0, b: -0.5}))
        write(system, tmp_path / name)
        again = read(tmp_path / name)
        assert mbd.mobility(again).degrees_of_freedom == mbd.mobility(system).degrees_of_freedom == 0
        (joint,) = [joint for joint in again.joints if isinstance(joint, Coupling)]
        assert {part.name for part in joint.needs()} == {a.name, b.name}


def test_a_slide_in_a_loop_is_not_the_joint_that_is_cut(tmp_path):
    """MJCF has no slide that closes a loop: the cylinders of an excavator were refused."""
    pytest.importorskip("mujoco")
    system = excavator()
    mbd.write_mjcf(system, tmp_path / "excavator.xml")
    again = mbd.read_mjcf(tmp_path / "excavator.xml")
    assert sum(isinstance(joint, TJ) for joint in again.joints) == sum(isinstance(joint, TJ) for joint in system.joints) == 3
    assert mbd.crosscheck_engine(system, "mujoco", states=3).ok


def test_a_loop_whose_joints_all_have_springs_is_refused(tmp_path):
    for write, name in ((mbd.write_mjcf, "loop.xml"), (mbd.write_urdf, "loop.urdf")):
        with pytest.raises(mbd.ModelFileError, match=r"RSDA 'spring \d': its joint 'pin \d' closes a loop in the file"):
            write(loop_with(0, 1, 2, 3), tmp_path / name)


@pytest.mark.parametrize(("write", "name"), [(mbd.write_urdf, "stop.urdf"), (mbd.write_mjcf, "stop.xml")])
def test_the_restitution_of_rigid_stops_is_said_to_be_left_out(write, name, tmp_path):
    system, rail = started(TJ, 0.7)
    system.add(mbd.JointLimit("stop", rail, lower=0.1, restitution=0.5))
    assert any(text.startswith("JointLimit 'stop'") and "restitution" in text for text in write(system, tmp_path / name).left_out)


@pytest.mark.parametrize(
    ("write", "read", "ending"),
    [(mbd.write_urdf, mbd.read_urdf, "urdf"), (mbd.write_asmt, mbd.read_asmt, "asmt")],
    ids=["URDF", "ASMT"],
)
def test_the_rotor_of_a_motor_is_left_out_with_the_motor(write, read, ending, tmp_path):
    """It would be a free body without a gear; its thin inertia could not even be read again."""
    system = mbd.System("drive", gravity=(0, 0, -9.80665))
    arm = system.add(mbd.Body("arm", 2.0, (0.1, 0.2, 0.2), r=(0.5, 0, 0)))
    pin = system.add(RJ("pin", system.ground, arm, point=(0, 0, 0), axis=(0, 1, 0)))
    system.add(mbd.Motor("motor", pin, torque=1.0, ratio=10.0, rotor_inertia=1e-3))
    with pytest.raises(mbd.ModelFileError, match="Motor 'motor': .* holds no Motor with a rotor") as raised:
        write(system, tmp_path / f"drive.{ending}")
    assert len(raised.value.faults) == 1
    left = write(system, tmp_path / f"drive.{ending}", leave_out=True).left_out
    assert "Motor with a rotor" in left[0]
    again = read(tmp_path / f"drive.{ending}")
    assert [body.name for body in again.bodies] == ["ground", "arm"]
    bare = mbd.System("bare", gravity=system.gravity)
    bare_arm = bare.add(mbd.Body("arm", 2.0, (0.1, 0.2, 0.2), r=(0.5, 0, 0)))
    bare.add(RJ("pin", bare.ground, bare_arm, point=(0, 0, 0), axis=(0, 1, 0)))
    np.testing.assert_allclose(mbd.accelerations(again).v_dot, mbd.accelerations(bare).v_dot, atol=1e-12)


def test_a_rotor_that_something_else_is_attached_to_stays_and_is_named(tmp_path):
    system = mbd.System("drive")
    arm = system.add(mbd.Body("arm", 2.0, (0.1, 0.2, 0.2), r=(0.5, 0, 0)))
    pin = system.add(RJ("pin", system.ground, arm, point=(0, 0, 0), axis=(0, 1, 0)))
    system.add(mbd.Motor("motor", pin, torque=1.0, ratio=10.0, rotor_inertia=1e-3))
    system.add(mbd.Torque("brake", system["motor rotor"], torque=(0, -0.1, 0)))
    with pytest.raises(mbd.ModelFileError, match="'motor bearing'"):
        mbd.write_urdf(system, tmp_path / "drive.urdf")


def test_a_chain_that_mujoco_would_not_read_is_refused(tmp_path, monkeypatch):
    """Its reader of XML takes 500 nested elements: a chain of 497 links was written, and could not be read."""
    monkeypatch.setattr(mjcf_write, "NESTED", 3)
    system = mbd.System("chain")
    before = system.ground
    for k in range(4):
        link = system.add(mbd.Body(f"link {k}", 1.0, (0.1, 0.2, 0.25), r=(k + 0.5, 0, 0)))
        system.add(RJ(f"pin {k}", before, link, point=(k, 0, 0), axis=(0, 1, 0)))
        before = link
    with pytest.raises(
        mbd.ModelFileError, match="body 'link 3': 3 bodies carry it one after the other, and MuJoCo reads at most 3"
    ):
        mbd.write_mjcf(system, tmp_path / "chain.xml")
    monkeypatch.setattr(mjcf_write, "NESTED", 4)
    mbd.write_mjcf(system, tmp_path / "chain.xml")
