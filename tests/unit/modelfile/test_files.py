"""Model files by hand: TOML, parameters, faults with their lines, code, and what cannot be written."""

from __future__ import annotations

import json
import pickle

import numpy as np
import pytest

import haugmbd as mbd
from haugmbd.gallery import pendulum
from haugmbd.modelfile import at_state, build, text
from haugmbd.modelfile.engines.check import _random_state
from joints import CJ, RJ, TJ, CoordinateFunction, Coupling, RotationDriver
from tests.support import mechanisms, model_files
from tests.support.model_files import BY_HAND


def in_python():
    system = mbd.System("bar", gravity=(0, 0, -9.81), parameters={"density": 39.0, "length": 2.0, "mass": 78.0})
    bar = system.add(mbd.Body("bar", 78.0, (0, 26.0, 26.0), r=(1, 0, 0)))
    pin = RJ("pin", system.ground, bar, point=(0, 0, 0), axis=(0, 1, 0))
    system.add(RotationDriver("drive", pin, lambda t: 0.2 * t**2 * np.sin(3 * t)))
    system.add(pin)
    system.add(mbd.TSDA("spring", system.ground, bar, point_i=(0, 0, 1), point_j=(2, 0, 0), k=10.0, l0=1.5))
    return system


def write(tmp_path, content, name="model.toml"):
    path = tmp_path / name
    path.write_text(content)
    return path


def test_a_file_by_hand_is_the_system_in_python(tmp_path):
    system = mbd.load_model(write(tmp_path, BY_HAND))
    assert dict(system.parameters) == {"density": 39.0, "length": 2.0, "mass": 78.0}
    one, two = (mbd.simulate(each, 0.05, h=1e-3) for each in (system, in_python()))
    np.testing.assert_array_equal(one.y, two.y)
    again = mbd.load_model(system.save(tmp_path / "model.json"))
    assert again.parameters == system.parameters
    np.testing.assert_array_equal(mbd.simulate(again, 0.05, h=1e-3).y, one.y)


def test_all_faults_at_once_with_lines_and_paths(tmp_path):
    bad = (
        BY_HAND.replace("axis = [", "axsi = [")
        .replace('mass = "mass"', "mass = -1")
        .replace('joint = "pin"', 'joint = "pim"')
        .replace("3 * t)", "3 * t")
        .replace("k = 10", 'k = "odder"')
        .replace("length = 2.0 ", 'length = 2.0\nodd = "leng + 1"\nodder = "2 * odd" ')
        .replace('type = "TSDA"', 'type = "TSDAA"')
    )
    with pytest.raises(mbd.ModelFileError) as told:
        mbd.load_model(write(tmp_path, bad))
    found = {fault.where: f"{fault.what}. {fault.remedy}" for fault in told.value.faults}
    assert "'leng', which is not a parameter" in found["line 11, parameters.odd"]
    assert "'axis' is missing" in found["line 26, joints[1]"]
    assert "did you mean 'axis'?" in found["line 32, joints[1].axsi"]
    assert "mass is -1.0 kg" in found["line 16, bodies[0].mass"]
    assert "did you mean 'pin'?" in found["line 23, joints[0].joint"]
    assert "')' is expected" in found["line 24, joints[0].f"]
    assert "did you mean 'TSDA'?" in found["line 35, loads[0].type"]
    assert all(f"{number}. " in str(told.value) for number in range(1, len(told.value.faults) + 1))
    assert len(found) == 7
    assert isinstance(told.value, mbd.UsageError)
    assert isinstance(told.value, mbd.ModelError)
    assert str(pickle.loads(pickle.dumps(told.value))) == str(told.value)


def test_lines_of_json(tmp_path):
    path = pendulum().save(tmp_path / "p.json")
    content = path.read_text()
    lines = text.json_lines(content)
    for key in ("gravity", "bodies", "joints", "loads"):
        assert f'"{key}"' in content.splitlines()[lines[(key,)] - 1]
    assert content.splitlines()[lines[("joints", 0, "frame_j", "s_bar", 1)] - 1].lstrip().startswith(('"s_bar"', '"frame_j"'))
    path.write_text(content.replace('"A_bar": [[0.0, 0.0, 1.0]', '"A_bar": [[0.0, 0.0, 2.0]', 1))
    with pytest.raises(mbd.ModelFileError, match=r"line \d+, joints\[0\].*not orthonormal"):
        mbd.load_model(path)


@pytest.mark.parametrize(("read", "name"), [(mbd.load_model, "a.json"), (mbd.load_model, "a.toml"), (mbd.read_urdf, "a.urdf")])
def test_a_file_that_is_none_of_its_kind_is_named_once(read, name, tmp_path):
    (tmp_path / name).write_text("<")
    with pytest.raises(mbd.ModelFileError) as raised:
        read(tmp_path / name)
    assert str(raised.value).count(name) == 1


@pytest.mark.parametrize(
    ("content", "name", "told"),
    [
        ("{", "a.json", "line 1, column 2: it is not JSON"),
        ("[1, 2]", "a.json", "not a table"),
        ("{}", "a.json", "'format' is missing"),
        ('{"format": "haugmbd model 2"}', "a.json", "install a newer one"),
        ('{"format": 1}', "a.json", "Give one of 'haugmbd model 1'"),
        ('{"a": NaN}', "a.json", "NaN is not a number"),
        ('{"a": 1, "a": 2}', "a.json", "'a' is there twice"),
        ('{"a": ' + "[" * 100 + "]" * 100 + "}", "a.json", "deeper than 12 levels"),
        ("[" * 100_000, "a.json", "deeper than 12 levels|no JSON"),
        ('{"a": ' + "1" * 5000 + "}", "a.json", "not JSON"),
        ("a = ", "a.toml", "not TOML.*end of document"),
        ("a" + ".a" * 5000 + " = 1", "a.toml", "too deep"),
        ("a = " + "[" * 5000, "a.toml", "not TOML"),
        ('format = "haugmbd model 1"\nparameters = {a = "b", b = "a"}', "a.toml", "depends on itself"),
        ('format = "haugmbd model 1"\nparameters = {sin = 1}', "a.toml", "has a meaning"),
        ('format = "haugmbd model 1"\nbodies = 3', "a.toml", "not a list"),
        ('format = "haugmbd model 1"\nbodies = [3]', "a.toml", r"bodies\[0\]: it is 3, not a table"),
        ('format = "haugmbd model 1"\njoints = [{type = "RJ", name = "a", i = "x", j = 3}]', "a.toml", "no body 'x'"),
        ('format = "haugmbd model 1"\njoints = [{type = [], name = "a"}, {type = {}, name = "b"}]', "a.toml", r"joints\[0\]\.type"),
        ('format = "haugmbd model 1"\ngravity = [0, 0, 1979-05-27]', "a.toml", "gravity"),
        ('format = "haugmbd model 1"\nbodies = [{name = "ground", mass = 1, J_bar = [1, 1, 1]}]', "a.toml", "that of the ground"),
    ],
)
def test_files_that_are_none_are_refused(content, name, told, tmp_path):
    with pytest.raises(mbd.UsageError, match=told) as error:
        mbd.load_model(write(tmp_path, content, name))
    assert name in str(error.value)


def test_files_that_are_not_there_or_too_large(tmp_path, monkeypatch):
    with pytest.raises(mbd.UsageError, match="there is no file"):
        mbd.load_model(tmp_path / "none.json")
    with pytest.raises(mbd.UsageError, match=r"none\.yaml.*\.json, \.toml"):
        mbd.load_model(tmp_path / "none.yaml")
    (tmp_path / "folder.json").mkdir()
    with pytest.raises(mbd.UsageError, match="is not a regular file"):
        mbd.load_model(tmp_path / "folder.json")
    path = write(tmp_path, BY_HAND + "#" * text.MAX_BYTES_BY_HAND)
    with pytest.raises(mbd.UsageError, match="more than 1 MiB"):
        mbd.load_model(path)
    (tmp_path / "binary.json").write_bytes(b"\xff\xfe\n\x00")
    with pytest.raises(mbd.UsageError, match="not UTF-8"):
        mbd.load_model(tmp_path / "binary.json")
    with pytest.raises(mbd.UsageError, match="saved as .json"):
        pendulum().save(tmp_path / "p.toml")
    with pytest.raises(mbd.UsageError, match=r"Read it with mbd\.read_asmt"):
        mbd.load_model(tmp_path / "x.asmt", parameters={"k": 1.0})
    with pytest.raises(mbd.UsageError, match=r"files that are read end with \.json, .*\.sdf"):
        mbd.load_model(tmp_path / "x.step")
    monkeypatch.setattr(build, "MOST_PARTS", 1)
    (tmp_path / "many.json").write_text('{"format": "haugmbd model 1", "bodies": [1, 2]}')
    with pytest.raises(mbd.ModelFileError, match="bodies: it has 2 entries. Give at most 1"):
        mbd.load_model(tmp_path / "many.json")


@pytest.mark.parametrize("read", [mbd.load_model, mbd.read_urdf, mbd.read_mjcf, mbd.read_asmt, mbd.read_simengine3d])
def test_paths_that_are_none(read, tmp_path):
    if read is mbd.read_mjcf:
        pytest.importorskip("mujoco")
    for path in (None, 3, b"x.json", "", tmp_path, tmp_path / "none.json", "a\0.json", "x" * 5000 + ".json"):
        with pytest.raises(mbd.UsageError):
            read(path)


@pytest.mark.slow
def test_a_system_at_another_state_has_the_same_forces():
    """Springs and limits of joint coordinates are counted from the modelled pose: they are shifted with it."""
    system = mechanisms.geared()
    joints = {joint.name: joint for joint in system.joints}
    thread = joints["thread"]
    system.add(mbd.JointSpring("spring", joints["a"], k=30.0, c=2.0, free=0.4))
    system.add(mbd.JointSpring("axial", thread.coordinate("displacement"), k=70.0, c=1.0, free=-0.2))
    system.add(mbd.JointLimit("stop", joints["rail"], lower=-2.0, upper=1.0, k=500.0))
    system.add(mbd.JointForce("push", joints["pivot"], mbd.Expression("3*cos(t)")))
    model = system.compile()
    state = _random_state(model, np.random.default_rng(3), model.state(), 0.1)
    moved = at_state(system, state)
    assert abs(moved.loads[0].free - 0.4) > 0.01
    assert moved.loads[2].upper - moved.loads[2].lower == pytest.approx(3.0)
    there, here = mbd.accelerations(model, state), mbd.accelerations(moved)
    scale = np.abs(there.omega_bar_dot).max()
    np.testing.assert_allclose(here.omega_bar_dot, there.omega_bar_dot, rtol=0, atol=1e-10 * scale)
    np.testing.assert_allclose(here.v_dot, there.v_dot, rtol=0, atol=1e-10 * scale)
    angle = thread.coordinate("angle")
    system.add(mbd.JointForce("own", angle, model_files.pulled))
    with pytest.raises(mbd.ModelFileError, match="'own'.*its function reads coordinates"):
        at_state(system, state)


@pytest.mark.slow
def test_functions_of_coordinates_keep_their_meaning_at_another_state():
    """A cam, a force that reads coordinates, and whatever else measures the same joints: drivers, RSDA, springs, couplings."""
    rng = np.random.default_rng(5)
    system = mbd.System("cams", gravity=(0.5, -9.81, 1.0))
    bodies = [system.add(mechanisms.solid(f"b{k}", rng)) for k in range(5)]
    a = system.add(RJ("a", system.ground, bodies[0], point=(0, 0, 0), axis=(1, 2, 3), q0=0.3))
    b = system.add(TJ("b", bodies[1], bodies[0], point=(1, 0, 0), axis=(0, 1, 1), q0=float(0.2 * np.sin(0.3))))
    c = system.add(RJ("c", bodies[1], bodies[2], point=(1, 1, 0), axis=(0, 0, 1)))
    d = system.add(TJ("d", bodies[0], bodies[3], point=(0, 1, 0), axis=(1, 0, 1), q0=-0.4))
    e = system.add(CJ("e", bodies[3], bodies[4], point=(0, 2, 0), axis=(1, 0, 0)))
    system.add(CoordinateFunction("cam", a, b, mbd.Expression("0.2 * sin(t)")))
    system.add(Coupling("sum", {c: 1.0, a: -0.5}, f=-0.15))
    system.add(mbd.JointForce("force", [d, a], model_files.pulled))
    system.add(mbd.JointSpring("spring", d, k=20.0, c=1.0, free=0.1))
    system.add(mbd.JointSpring("turn", e.coordinate("angle"), k=5.0, free=0.2))
    system.add(mbd.RSDA("rsda", c, k=7.0, c=0.5, theta0=0.4))
    model = system.compile()
    state = _random_state(model, rng, model.state(), 0.2)
    moved = at_state(system, state)
    assert moved.joints[0].q0 != 0.3
    there, here = mbd.accelerations(model, state), mbd.accelerations(moved)
    for one, two in ((there.omega_bar_dot, here.omega_bar_dot), (there.v_dot, here.v_dot)):
        np.testing.assert_allclose(two, one, rtol=0, atol=1e-9 * np.abs(one).max())
    back = at_state(moved, model.state())  # and once more: from the moved pose to the first one
    again, first = mbd.accelerations(back), mbd.accelerations(model)
    np.testing.assert_allclose(again.v_dot, first.v_dot, rtol=0, atol=1e-9 * np.abs(first.v_dot).max())
    system.add(CoordinateFunction("screw", e.coordinate("angle"), e.coordinate("displacement"), mbd.Expression("0.1 * t")))
    with pytest.raises(mbd.ModelFileError, match="'screw'.*e.angle has no start q0"):
        at_state(system, state)


@pytest.mark.slow
def test_functions_are_loaded_only_when_they_are_allowed(tmp_path):
    path = model_files.rich_system().save(tmp_path / "rich.json")
    with pytest.raises(mbd.ModelFileError) as told:
        mbd.load_model(path)
    assert len(told.value.faults) == 10
    assert all("code is not allowed" in fault.what and "allow_code=True" in fault.remedy for fault in told.value.faults)
    assert mbd.load_model(path, allow_code=True).loads[-1].user_function().function is model_files.pull
    names = {"nowhere_to_be_found:f": "cannot be imported", "math:pie": "cannot be imported", "math:pi": "not a function"}
    for name, told in names.items():
        content = BY_HAND.replace('f = "0.2 * t**2 * sin(3 * t)"', f'f = {{function = "{name}"}}')
        with pytest.raises(mbd.ModelFileError, match=told):
            mbd.load_model(write(tmp_path, content), allow_code=True)
    for name in ("os:system()", "a b:c", "f", ":f"):
        content = BY_HAND.replace('f = "0.2 * t**2 * sin(3 * t)"', f'f = {{function = "{name}"}}')
        with pytest.raises(mbd.ModelFileError, match="module:function"):
            mbd.load_model(write(tmp_path, content), allow_code=True)


def test_a_lambda_is_refused_by_name_with_the_remedy(tmp_path):
    system = in_python()

    def inner(t):
        return t

    system.add(mbd.Torque("motor", system.bodies[1], torque=lambda t, r, p, v, omega_bar: (0, 0, 0)))
    system.add(mbd.TSDA("inner", system.ground, system.bodies[1], point_i=(0, 0, 1), point_j=(2, 0, 0), actuator=inner))
    with pytest.raises(mbd.UsageError) as told:
        system.save(tmp_path / "model.json")
    said = {fault.where: str(fault) for fault in told.value.faults}
    assert said.keys() == {"joint 'drive'", "Torque 'motor'", "TSDA 'inner'"}
    assert "a lambda" in said["joint 'drive'"]
    assert 'mbd.Expression("0.2 * sin(3 * t)")' in said["joint 'drive'"]
    assert "a function inside another one" in said["TSDA 'inner'"]
    assert not (tmp_path / "model.json").exists()


def test_a_system_with_a_faulty_shape_of_the_ground_is_not_written(tmp_path):
    """It was written without this shape."""
    system = mbd.System("floor", ground_shape=mbd.Plane())
    with pytest.raises(mbd.ModelFileError, match="body 'ground': shape has Plane"):
        system.save(tmp_path / "floor.json")
    assert not (tmp_path / "floor.json").exists()


def test_faulty_systems_are_not_written(tmp_path):
    system = mbd.System("odd", gravity=(0, 0, np.nan))
    body = system.add(mbd.Body("b", -1.0, (1, 1, 1)))
    system.add(mbd.Body("b", 1.0, (1, 1, 1)))
    stranger = mbd.Body("stranger", 1.0, (1, 1, 1))
    system.add(RJ("pin", body, stranger, point=(0, 0, 0), axis=(0, 0, 1)))
    with pytest.raises(mbd.ModelFileError) as told:
        system.save(tmp_path / "odd.json")
    said = str(told.value)
    for words in ("gravity", "the name is used 2 times", "body 'stranger', which is not in the system", "mass is -1.0 kg"):
        assert words in said


def test_an_expression_with_its_own_parameters_is_written_with_numbers(tmp_path):
    system = mbd.System("p", parameters={"a": 2.0})
    body = system.add(mbd.Body("b", 1.0, (1, 1, 1)))
    own = mbd.Expression("a * b**2 + 1e-3 * exp(b * t)", parameters={"a": 2.0, "b": -0.1})
    system.add(mbd.PointForce("f", body, force=(own, 0.0, 0.0)))
    path = system.save(tmp_path / "p.json")
    assert json.loads(path.read_text())["loads"][0]["force"][0] == "a * (-0.1)**2 + 1e-3 * exp((-0.1) * t)"
    again = mbd.load_model(path).loads[0].force.drivers[0]
    assert again.values([0.3, 0.9]).tobytes() == own.values([0.3, 0.9]).tobytes()
