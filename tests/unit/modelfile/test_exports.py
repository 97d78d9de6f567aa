"""Exporters: accelerations after a round trip, with the readers; and the same by the other engine; what formats cannot hold."""

from __future__ import annotations

from importlib.util import find_spec

import numpy as np
import pytest

import haugmbd as mbd
from haugmbd.cli import main
from haugmbd.gallery import four_bar, planar_slider_crank
from haugmbd.math import euler_parameters
from haugmbd.modelfile.exports.export import rpy
from haugmbd.modelfile.urdf.robot import rotation
from joints import CJ, RJ, SJ, TJ, Coupling, Distance, Perpendicular, PointInPlane, PointOnLine, RotationDriver, TranslationDriver
from tests.support import mechanisms

SAME = 1e-9
"""Relative to the largest acceleration or gravity: the same mechanism from numbers that went through rotations; seen 1e-13."""


def same(one, two, tol=SAME):
    """The same accelerations at the same velocities, by names of bodies."""
    motion = mechanisms.moving(one)
    a, b = (mechanisms.accelerations(each, motion) for each in (one, two))
    assert a.keys() == b.keys()
    scale = max(1.0, *(np.abs(x).max() for x in a.values()))
    for name, x in a.items():
        np.testing.assert_allclose(b[name], x, rtol=0, atol=tol * scale)


def test_roll_pitch_yaw_loses_no_digit_where_they_are_singular():
    rng = np.random.default_rng(1)
    for pitch in (0.3, -2.0, np.pi / 2, -np.pi / 2, np.pi / 2 - 1e-9, np.pi / 2 + 1e-12):
        A = rotation(rng.uniform(-3, 3), pitch, rng.uniform(-3, 3))
        np.testing.assert_allclose(rotation(*rpy(A)), A, rtol=0, atol=1e-15)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(8))
def test_trees_come_back_from_urdf(seed, tmp_path):
    system = mechanisms.random_tree(seed, mechanisms.TREE, springs="damping")
    done = mbd.write_urdf(system, tmp_path / "tree.urdf")
    assert done.files == (tmp_path / "tree.urdf",)
    same(system, mbd.read_urdf(tmp_path / "tree.urdf", gravity=system.gravity, merge_fixed=False))


@pytest.mark.parametrize("closing", ["SJ", "RJ", "Fixed"])
def test_loops_come_back_from_urdf_and_its_sidecar(closing, tmp_path):
    system = mechanisms.loop(closing)
    done = mbd.write_urdf(system, tmp_path / "loop.urdf")
    sidecar = None if closing == "RJ" else done.files[1]
    assert len(done.files) == 2 - (closing == "RJ")
    again = mbd.read_urdf(done.files[0], loops=sidecar, gravity=system.gravity, merge_fixed=False)
    assert again.import_report.loops[0].distance < 1e-12
    same(system, again)


@pytest.mark.parametrize("seed", range(8))
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


@pytest.mark.parametrize("closing", ["SJ", "RJ", "Fixed"])
def test_loops_come_back_from_mjcf(closing, tmp_path):
    pytest.importorskip("mujoco")
    system = mechanisms.loop(closing)
    mbd.write_mjcf(system, tmp_path / "loop.xml")
    same(system, mbd.read_mjcf(tmp_path / "loop.xml"))


@pytest.mark.slow
@pytest.mark.parametrize("length", [1.0, 0.001])
@pytest.mark.parametrize("seed", range(6))
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


def velocities(system):
    return {body.name: np.concatenate([body.v, body.A @ body.omega_bar]) for body in system.bodies[1:]}


def couplings_alike(one, two):
    """The same rows of couplings, up to a factor: the rank of the rows of both systems is that of one."""
    models = [each.compile() for each in (one, two)]
    order = [[body.name for body in each.bodies[1:]] for each in (one, two)]
    A, B = (mbd.evaluate(model).Phi_q.toarray().reshape(-1, model.nb, 6) for model in models)
    B = B[:, [order[1].index(name) for name in order[0]]]
    rows = [X.reshape(len(X), -1) for X in (A, B)]
    rank = np.linalg.matrix_rank(rows[0], tol=1e-9)
    assert rank == np.linalg.matrix_rank(rows[1], tol=1e-9) == np.linalg.matrix_rank(np.vstack(rows), tol=1e-9)


@pytest.mark.parametrize("length", [1.0, 0.001])
def test_couplings_come_back_from_asmt(length, tmp_path):
    system = mechanisms.geared()
    done = mbd.write_asmt(system, tmp_path / "geared.asmt", length=length)
    assert not done.left_out
    again = mbd.read_asmt(tmp_path / "geared.asmt", length=length)
    kinds = {joint.name: type(joint).__name__ for joint in again.joints}
    assert (kinds["gear"], kinds["rack_and_pinion" if "rack_and_pinion" in kinds else "rack and pinion"], kinds["screw"]) == (
        "Gear",
        "RackPinion",
        "Screw",
    )
    same(system, again)
    couplings_alike(system, again)
    for name, x in velocities(system).items():
        np.testing.assert_allclose(velocities(again)[name], x, rtol=0, atol=1e-9)


@pytest.mark.slow
def test_couplings_and_velocities_come_back_from_mjcf(tmp_path):
    pytest.importorskip("mujoco")
    system = mechanisms.geared()
    done = mbd.write_mjcf(system, tmp_path / "geared.xml")
    assert not done.left_out
    again = mbd.read_mjcf(tmp_path / "geared.xml", key="modelled")
    same(system, again)
    couplings_alike(system, again)
    for name, x in velocities(system).items():
        np.testing.assert_allclose(velocities(again)[name], x, rtol=0, atol=1e-9)
    assert not np.any([body.v for body in mbd.read_mjcf(tmp_path / "geared.xml").bodies])


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
@pytest.mark.parametrize("seed", range(6))
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


def test_couplings_come_back_from_urdf(tmp_path):
    system = mechanisms.geared(screw=False)
    done = mbd.write_urdf(system, tmp_path / "geared.urdf")
    assert done.left_out[-1] == "velocities"
    assert (tmp_path / "geared.urdf").read_text().count("<mimic ") == 2
    again = mbd.read_urdf(tmp_path / "geared.urdf", gravity=system.gravity)
    same(system, again)
    couplings_alike(system, again)


@pytest.mark.slow
def test_limits_come_back(tmp_path):
    system = mechanisms.geared(screw=False)
    joints = {joint.name: joint for joint in system.joints}
    system.add(mbd.JointLimit("stop", joints["pivot"], lower=-0.3, upper=0.9, k=500.0, c=2.0))
    system.add(mbd.JointLimit("end", joints["rail"], upper=0.2, k=4000.0))
    done = mbd.write_urdf(system, tmp_path / "x.urdf")
    assert any("'stop': its damping" in text for text in done.left_out)
    again = mbd.read_urdf(tmp_path / "x.urdf", gravity=system.gravity)
    found = {load.name: load for load in again.loads}
    assert (found["pivot limit"].lower, found["pivot limit"].upper, found["pivot limit"].k) == pytest.approx((-0.3, 0.9, 500.0))
    assert "rail limit" not in found or found["rail limit"].upper == pytest.approx(0.2)
    same(system, again)
    if find_spec("mujoco"):
        done = mbd.write_mjcf(system, tmp_path / "x.xml")
        assert sum("stiffness and damping of its stops" in text for text in done.left_out) == 2
        assert "joint limits (2)" in str(mbd.read_mjcf(tmp_path / "x.xml").import_report)
        again = mbd.read_mjcf(tmp_path / "x.xml", stop_stiffness=500.0)
        found = {load.name: load for load in again.loads}
        assert (found["pivot limit"].lower, found["pivot limit"].upper, found["pivot limit"].k) == pytest.approx((-0.3, 0.9, 500.0))
        same(system, again)
        assert mbd.crosscheck_engine(system, "mujoco", states=3).ok


def test_couplings_that_formats_cannot_hold(tmp_path):
    system = mechanisms.geared()
    a, pivot, thread = (next(joint for joint in system.joints if joint.name == name) for name in ("a", "pivot", "thread"))
    system.add(Coupling("sum", {a: 1.0, pivot: 1.0, thread.coordinate("angle"): -0.5}))
    system.add(Coupling("driven", {a: 1.0}, mbd.Expression("0.1*sin(t)")))
    for write, name, texts in (
        (mbd.write_urdf, "x.urdf", ("'screw': a URDF holds no such Screw", "'sum'", "'driven'")),
        (mbd.write_mjcf, "x.xml", ("'sum': the file holds no such Coupling: it couples more than two", "its f changes with time")),
        (mbd.write_asmt, "x.asmt", ("'sum': the file holds no such Coupling: only couplings of two", "'driven'")),
    ):
        with pytest.raises(mbd.ModelFileError) as error:
            write(system, tmp_path / name)
        assert all(text in str(error.value) for text in texts), str(error.value)


SHAPES = (
    mbd.Box((0.1, 0.2, 0.3), center=(0.1, 0, -0.2), p=(0.5, 0.5, -0.5, 0.5), color="#33aa66"),
    mbd.Sphere(0.05, center=(0, 0.1, 0.2)),
    mbd.Cylinder(0.03, 0.4, center=(0.2, 0, 0), axis=(1, 2, 2)),
)


def shown(system, name):
    """Corners of boxes and ends of axes of the shapes of a body, global, and their sizes and colours."""
    body, found = system[name], []
    for shape in body.shape:
        A = body.A @ euler_parameters.rotation_matrix(shape.p)
        middle = body.r + body.A @ shape.center
        mark = middle if shape.kind == "sphere" else middle + A[:, 2] * shape.size[2]
        found.append((shape.kind, np.concatenate([middle, mark, shape.size]), shape.color))
    return found


def test_shapes_come_back(tmp_path):
    system = mechanisms.random_tree(1, ("RJ", "TJ"), n=2)
    mesh = mbd.Mesh.from_arrays(
        [(0, 0, 0), (1, 0, 0), (0, 1, 0.5)], [(0, 1, 2)], scale=0.3, center=(0.1, 0.2, 0.3), p=(0.6, 0, 0.8, 0)
    )
    plate = mbd.Box((0.1, 0.2, 0.0))
    body = system.bodies[2]
    body.__setstate__(body.__getstate__() | {"shape": (*SHAPES, mesh, plate)})
    exact = shown(system, body.name)
    done = mbd.write_urdf(system, tmp_path / "x.urdf")
    assert f"shapes of body {body.name!r}: 1 Box" in done.left_out
    assert done.files[1].suffix == ".obj"
    again = mbd.read_urdf(tmp_path / "x.urdf", merge_fixed=False)
    for (kind, x, color), (other, y, color_2) in zip(exact, shown(again, body.name), strict=False):
        assert (kind, color) == (other, color_2)
        if kind != "mesh":
            np.testing.assert_allclose(y, x, rtol=0, atol=1e-12)
    read_mesh = again[body.name].shape[3]
    one, two = (
        b.A @ (s.center[:, None] + euler_parameters.rotation_matrix(s.p) @ s.vertices.T)
        for b, s in ((body, mesh), (again[body.name], read_mesh))
    )
    np.testing.assert_allclose(two + again[body.name].r[:, None], one + body.r[:, None], rtol=0, atol=1e-12)
    done = mbd.write_asmt(system, tmp_path / "x.asmt")
    assert "shapes" in done.left_out


def test_shapes_come_back_from_mjcf(tmp_path):
    pytest.importorskip("mujoco")
    system = mechanisms.random_tree(1, ("RJ", "TJ"), n=2)
    body = system.bodies[2]
    body.__setstate__(body.__getstate__() | {"shape": (*SHAPES, mbd.Cone(0.1, 0.2))})
    done = mbd.write_mjcf(system, tmp_path / "x.xml")
    assert done.left_out == (f"shapes of body {body.name!r}: 1 Cone",)
    again = shown(mbd.read_mjcf(tmp_path / "x.xml"), body.name)
    for (kind, x, color), (other, y, color_2) in zip(shown(system, body.name)[:3], again, strict=True):
        assert kind == other
        assert color in (None, color_2)
        np.testing.assert_allclose(y, x, rtol=0, atol=1e-9)
    report = mbd.read_mjcf(tmp_path / "x.xml").import_report
    assert not any("contacts" in text for text in report.ignored)


KINDS = {
    "mujoco": mechanisms.ALL,
    "pinocchio": tuple(kind for kind in mechanisms.TREE if kind != "Planar"),
    "exudyn": tuple(kind for kind in mechanisms.ALL if kind != "UJ"),
}


@pytest.mark.slow
@pytest.mark.parametrize("engine", KINDS)
@pytest.mark.parametrize("case", ["tree 1", "tree 4", "SJ", "RJ", "Fixed", "geared", "springs"])
def test_the_other_engine_accelerates_alike(engine, case):
    pytest.importorskip(engine)
    if case.startswith("tree"):
        system = mechanisms.random_tree(int(case[-1]), KINDS[engine], springs="damping" if engine == "pinocchio" else True)
    elif case == "geared":
        if engine == "exudyn":
            with pytest.raises(mbd.ModelFileError, match="'gear': Exudyn is given no Gear"):
                mbd.crosscheck_engine(mechanisms.geared(), engine)
            return
        system = mechanisms.geared(screw=engine == "mujoco")
    elif case == "springs":
        system = mechanisms.random_tree(2, ("RJ", "TJ"))
        near, far = system.bodies[2], system.bodies[4]
        system.add(mbd.TSDA("spring", near, far, point_i=near.r + 0.3, point_j=far.r - 0.2, k=20.0, c=3.0, l0=0.4, actuator=-2.0))
        if engine != "exudyn":
            with pytest.raises(mbd.ModelFileError, match="'spring'"):
                mbd.crosscheck_engine(system, engine)
            return
        link = system.add(mbd.Body("tip", 1.0, (0.1, 0.1, 0.1), r=(1, 1, 1)))
        system.add(Distance("rod", far, link, point_i=far.r, point_j=(1.1, 1, 1)))
    else:
        system = mechanisms.loop(case)
    check = mbd.crosscheck_engine(system, engine, states=3)
    assert check.ok, str(check)
    assert check.states == 3
    assert check.relative.keys() == {body.name for body in system.bodies[1:]}
    assert bool(check.notes) is (engine == "exudyn" or not case.startswith("tree"))
    assert "all within 1e-09" in str(check)


def test_a_wrong_number_is_seen_by_the_other_engine(monkeypatch):
    pytest.importorskip("mujoco")
    from haugmbd.modelfile.engines import mujoco_engine

    right = mujoco_engine.reduced

    def wrong(system):
        made = right(system)
        return made._replace(M=made.M * (1.0 + 1e-6))

    monkeypatch.setattr(mujoco_engine, "reduced", wrong)
    check = mbd.crosscheck_engine(mechanisms.random_tree(1), "mujoco", states=2)
    assert not check.ok
    assert "BEYOND" in str(check)


def test_bad_arguments_of_the_check():
    system = mechanisms.random_tree(1)
    for how, what in (
        ({"engine": "mujuco"}, "did you mean 'mujoco'"),
        ({"engine": "mujoco", "states": 0}, "states is 0"),
        ({"engine": "mujoco", "tol": -1.0}, "tol is -1"),
    ):
        with pytest.raises(mbd.UsageError, match=what):
            mbd.crosscheck_engine(system, **how)
    with pytest.raises(mbd.UsageError, match="must be a System"):
        mbd.crosscheck_engine(None, "mujoco")


def test_what_formats_cannot_hold_is_refused_by_name_or_left_out(tmp_path):
    system = mechanisms.random_tree(3, ("CJ",), n=3)
    pin = system.joints[0]
    system.add(RotationDriver("drive", pin, mbd.Expression("tan(t)")))
    system.add(PointInPlane("extra", system.ground, system.bodies[3], point=(1, 0, 0), normal=(1, 2, 0)))
    system.add(mbd.TSDA("spring", system.ground, system.bodies[3], point_i=(0, 0, 0), point_j=(1, 2, 3), k=5.0, l0=1.0))
    for write, name, parts in (
        (mbd.write_urdf, "x.urdf", ("'drive'", "'extra'", "'spring'")),
        (mbd.write_mjcf, "x.xml", ("'drive'", "'extra'", "'spring'")),
        (mbd.write_asmt, "x.asmt", ("'drive'", "'spring'")),
    ):
        path = tmp_path / name
        with pytest.raises(mbd.ModelFileError) as error:
            write(system, path)
        assert all(part in str(error.value) for part in parts)
        assert not path.exists()
        done = write(system, path, leave_out=True)
        assert all(any(part in text for text in done.left_out) for part in parts)
        assert path.exists()
        with pytest.raises(mbd.UsageError, match="must end with"):
            write(system, tmp_path / "x.dat")
        with pytest.raises(mbd.UsageError, match="must be a System"):
            write("x", path)
    assert any("gravity" in text for text in mbd.write_urdf(system, tmp_path / "x.urdf", leave_out=True).left_out)
    with pytest.raises(mbd.UsageError, match="length is 0"):
        mbd.write_asmt(system, tmp_path / "x.asmt", length=0)
    with pytest.raises(mbd.ModelFileError, match="no inertia about an axis"):
        mbd.write_mjcf(four_bar(), tmp_path / "rods.xml")
    if find_spec("mujoco"):
        done = mbd.write_mjcf(planar_slider_crank(), tmp_path / "rods.xml", leave_out=True)
        assert any("one of 1e-12 kg m2 would be put there" in text for text in done.left_out)
        assert len(mbd.read_mjcf(tmp_path / "rods.xml").bodies) == 4


def test_names_with_marks_of_xml(tmp_path):
    system = mbd.System('a<b>"&', gravity=(0, 0, -1))
    body = system.add(mechanisms.solid('x"<y>', np.random.default_rng(0)))
    system.add(CJ("c & d", system.ground, body, point=(0, 0, 0), axis=(0, 0, 1)))
    with pytest.raises(mbd.ModelFileError, match="'c & d'"):
        mbd.write_urdf(system, tmp_path / "x.urdf")
    mbd.write_urdf(system, tmp_path / "x.urdf", leave_out=True)
    again = mbd.read_urdf(tmp_path / "x.urdf")
    assert again.name == system.name
    assert again.bodies[1].name == body.name


@pytest.mark.slow
def test_strange_names(tmp_path):
    """Names come back, or with marks in place of what paths and lists cannot hold, each of one part only; others are refused."""

    def named(name, other):
        rng = np.random.default_rng(0)
        system = mbd.System("names", gravity=(0, 0, -9.81))
        one, two = (system.add(mechanisms.solid(x, rng)) for x in (name, other))
        system.add(RJ(f"{name} j", system.ground, one, point=(0, 0, 0), axis=(0, 0, 1)))
        system.add(RJ(f"{name} k", one, two, point=(1, 0, 0), axis=(0, 0, 1)))
        system.add(SJ(f"{name} l", two, system.ground, point=(2, 1, 0)))
        return system

    def again(write, read, ending, system):
        done = write(system, tmp_path / f"x{ending}")
        made = read(done.files[0], **({"loops": done.files[1]} if ending == ".urdf" else {}))
        assert len(made.joints) >= 3
        return [body.name for body in made.bodies[1:]]

    formats = [(mbd.write_urdf, mbd.read_urdf, ".urdf"), (mbd.write_asmt, mbd.read_asmt, ".asmt")]
    if find_spec("mujoco"):
        formats.append((mbd.write_mjcf, mbd.read_mjcf, ".xml"))
    for write, read, ending in formats:
        for name in (
            "a/b",
            "it's",
            '"',
            "[a, b]",
            " lead",
            "- x",
            "a#b",
            "\N{GRINNING FACE} \N{CJK UNIFIED IDEOGRAPH-65E5}",
            "<&>",
        ):
            plain = name.replace("/", "_").strip() if ending == ".asmt" else name
            twin = name.replace("/", "_").strip() + "2"
            assert again(write, read, ending, named(name, twin)) == [plain, twin]
        with pytest.raises(mbd.ModelFileError, match="body 'a.nb': its name has the character"):
            write(named("a\nb", "c"), tmp_path / f"x{ending}")
    assert again(*formats[1], named("a/b", "a_b")) == ["a_b", "a_b_"]
    with pytest.raises(mbd.ModelFileError, match="MuJoCo has its own body of this name"):
        mbd.write_mjcf(named("world", "c"), tmp_path / "x.xml")


def test_the_command_converts_to_every_format(tmp_path, capsys):
    source = tmp_path / "loop.json"
    mechanisms.loop("SJ").save(source)
    for name in ("a.urdf", "a.xml", "a.asmt", "b.json", "a.glb"):
        assert main.main(["convert", str(source), str(tmp_path / name)]) == 0
        assert f"wrote {tmp_path / name}" in capsys.readouterr().out
    assert (tmp_path / "a.yaml").exists()
    assert main.main(["convert", str(source), str(tmp_path / "a.step")]) == 1
    assert "a model is written as .json, .urdf, .xml, .asmt, .glb" in capsys.readouterr().err
    assert main.main(["convert", "four_bar", str(tmp_path / "a.urdf")]) == 1
    assert main.main(["convert", "four_bar", str(tmp_path / "a.urdf"), "--leave-out"]) == 0
    assert "left out: joint 'D'" in capsys.readouterr().out
