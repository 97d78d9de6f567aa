"""simEngine3D: equations against the systems that they were written from and a closed form; what is repaired; bad input."""

from __future__ import annotations

import json

import numpy as np
import pytest

import haugmbd as mbd
from haugmbd.cli import main
from haugmbd.gallery import four_bar, slider_crank
from joints import RJ, Distance
from tests.support import simengine3d

SAME = 1e-10
"""Relative to the largest acceleration: the same rows from numbers that were divided by a scale; seen 1e-14."""
CLOSED = 1e-12
"""[m] What equations are closed to."""


def read(tmp_path, document, name="model.mdl", **how):
    path = tmp_path / name
    path.write_text(document if isinstance(document, str) else json.dumps(document))
    return mbd.read_simengine3d(path, **how)


def pendulum(p=(1.0, 0.0, 0.0, 0.0), **more):
    """A bar along x that turns about the y-axis through the origin, as rows."""
    r = {"name": "bar", "id": 1, "r": [2.0, 0, 0], "p": list(p)} | more
    points = {"s_bar_p_i": [-2.0, 0, 0], "s_bar_q_j": [0, 0, 0], "body_i": 1, "body_j": 0, "f": "0"}
    rows = [{"name": f"CD {k}", "type": "CD", "c": np.eye(3)[k].tolist(), **points} for k in range(3)]
    across = {"type": "DP1", "body_i": 1, "body_j": 0, "a_bar_j": [0, 1, 0], "f": 0}
    rows += [{"name": f"DP1 {k}", "a_bar_i": np.eye(3)[2 * k].tolist(), **across} for k in range(2)]
    return {"name": "pendulum", "bodies": [{"name": "ground", "id": 0}, r], "constraints": rows}


@pytest.mark.slow
@pytest.mark.parametrize(("dialect", "scale", "matrices"), [(0, 1.0, False), (1, 7.5, False), (0, 1.0, True)])
def test_the_same_equations_as_the_system(dialect, scale, matrices, tmp_path):
    for make in (four_bar, slider_crank):
        system = make()
        again = read(tmp_path, simengine3d.text_of(system, dialect, scale=scale, matrices=matrices), gravity=system.gravity)
        one, two = (mbd.accelerations(each.compile()) for each in (system, again))
        size = max(np.abs(one.v_dot).max(), np.abs(one.omega_bar_dot).max())
        np.testing.assert_allclose(two.v_dot, one.v_dot, rtol=0, atol=SAME * size)
        np.testing.assert_allclose(two.omega_bar_dot, one.omega_bar_dot, rtol=0, atol=SAME * size)
        told = any("had the length 7.5" in text for text in again.import_report.substituted)
        assert told is (scale != 1.0)
        assert again.import_report.degrees_of_freedom == mbd.mobility(system).degrees_of_freedom


def test_a_pendulum_by_its_closed_form(tmp_path):
    """J theta'' = m g l at the horizontal: a bar of 1 kg and 4 m, whose centre is at l = 2 m."""
    m, J, l, g = 1.0, 1.5, 2.0, 9.81
    system = read(tmp_path, pendulum(), inertia={"bar": (m, (0.1, J, J))})
    found = mbd.accelerations(system.compile())
    assert found.omega_bar_dot[1][1] == pytest.approx(m * g * l / (J + m * l * l), rel=1e-12)


def test_the_square_of_a_distance_and_driven_rows(tmp_path):
    document = pendulum(p=[4, 0, 0, 0])
    document["constraints"] = [
        {
            "name": "rod",
            "type": "D",
            "body_i": 1,
            "body_j": "ground",
            "si": [0, 0, 0],
            "sj": [0, 0, 0],
            "f": "(2 + np.sin(t)/4)**2",
        },
        {
            "name": "drive",
            "type": "DP1",
            "body_i": 1,
            "body_j": "ground",
            "ai": [1, 0, 0],
            "aj": [0, 0, 1],
            "f": "cos(pi/2 + t)",
            "df": "0",
        },
    ]
    system = read(tmp_path, document)
    rows = mbd.evaluate(system.compile())
    mine = Distance("rod", system["bar"], system.ground, point_i=(2, 0, 0), point_j=(0, 0, 0), distance=2.0)
    assert mine.primitives()[0].f.values(0.0)[0] == pytest.approx(2.0)
    # Phi = d.d - f^2:  nu = 2 f f' = 2 * 2 * 1/4;   a_i . a_j - cos(pi/2 + t):  nu = -1
    np.testing.assert_allclose(rows.nu, (1.0, -1.0), rtol=0, atol=1e-12)
    (warning,) = (text for text in system.import_report.warnings if "f_dot" in text)
    assert "'drive'" in warning
    assert "is 0 at t = 0 s, but the derivative of f is -1" in warning
    assert any("p had the length 4" in text for text in system.import_report.substituted)


def test_typed_digits_are_repaired_and_closed(tmp_path):
    document = pendulum()
    s = 0.7071
    document["bodies"][1] = {"name": "bar", "id": 1, "r": [1.4142, 0, -1.4142], "A": [[s, 0, s], [0, 1, 0], [-s, 0, s]], "m": 2.0}
    document["bodies"][1]["J"] = [0.1, 1, 1]
    document["bodies"][1]["omega_dot"] = [0, 0, 0]
    system = read(tmp_path, document)
    report = system.import_report
    assert report.closed
    assert np.abs(mbd.evaluate(system.compile()).Phi).max() <= CLOSED
    assert any("nearest rotation" in text for text in report.substituted)
    assert "body 'bar': the key 'omega_dot'" in report.ignored
    assert {loop.name for loop in report.loops} >= {"CD 0", "CD 2"}
    assert "joint 'CD 0' (CD, simEngine3D) was open by" in str(report)
    opened = read(tmp_path, document, close=False)
    assert not opened.import_report.closed
    assert opened["bar"].r[0] == 1.4142


def test_bodies_without_mass_are_for_kinematics(tmp_path):
    document = pendulum(p_dot=[0.0, 0.0, 0.5, 0.0])
    system = read(tmp_path, document, close=False)
    assert "body 'bar' has no mass: given 1 kg" in system.import_report.substituted[0]
    np.testing.assert_allclose(system["bar"].omega_bar, (0, 1, 0), atol=1e-15)
    document["constraints"].append(
        {"name": "drive", "type": "DP1", "body_i": 1, "body_j": 0, "a_bar_i": [1, 0, 0], "a_bar_j": [0, 0, 1], "f": "-sin(t)"}
    )
    motion = mbd.kinematics(read(tmp_path, document), np.array((0.0, 0.5)))
    np.testing.assert_allclose(motion.r[-1, 1], (2 * np.cos(0.5), 0, -2 * np.sin(0.5)), rtol=0, atol=1e-10)


def test_all_faults_at_once_with_lines(tmp_path):
    document = pendulum(p=[0, 0, 0, 0])
    document["bodies"].append({"name": "rod", "id": 1, "r": [0, 0]})
    document["bodies"].append({"name": "plate", "id": 5, "A": [[1, 0, 0], [0, 1, 0], [0, 0, -1]], "r": [0, 0, 0], "mass": 1})
    rows = document["constraints"]
    document["bodies"].append({"name": "far", "id": 6, "r": [0, 0, 1e308]})
    rows[0]["type"] = "cd1"
    rows[1]["body_j"] = 9
    rows[2]["f"] = "__import__('os')"
    rows[3]["name"] = rows[4]["name"]
    rows.append({"name": "d", "type": "D", "body_i": 1, "body_j": 0, "si": [0, 0, 0], "f": -1})
    rows.append({"name": "x", "type": "D", "body_i": 0, "body_j": 0, "si": [0, 0, 0], "sj": [0, 0, 0], "f": 1})
    with pytest.raises(mbd.ModelFileError) as error:
        read(tmp_path, json.dumps(document, indent=0))
    text = str(error.value)
    for part in (
        "p of body 'bar' has the length 0",
        "the id 1 is that of another body",
        "A of body 'plate' is not a rotation",
        "bodies[4].r: it is [0.0, 0.0, 1e+308], with a number of 1e+60 or more",
        "the type is 'cd1' (did you mean 'CD'?)",
        "no body has the id 9",
        "constraints[2].f",
        "is empty, or of another equation",
        "D 'd' has no s_bar_j",
        "it is the square of the distance",
        "between a body and itself",
    ):
        assert part in text
    assert all(fault.where.startswith("line ") for fault in error.value.faults)


def test_bad_arguments_and_files(tmp_path):
    with pytest.raises(mbd.UsageError, match="no body is called 'bra'.*did you mean 'bar'"):
        read(tmp_path, pendulum(), inertia={"bra": (1.0, (1, 1, 1))})
    with pytest.raises(mbd.UsageError, match=r"must be \(mass, J_bar\)"):
        read(tmp_path, pendulum(), inertia={"bar": 3.0})
    with pytest.raises(mbd.ModelFileError, match="J_bar"):
        read(tmp_path, pendulum(), inertia={"bar": (1.0, (1, 1, 5))})
    for text, what in (("[]", "not a table"), ("{", "line 1, column 2"), ('{"bodies": 1, "constraints": {}}', "bodies: it is 1")):
        with pytest.raises(mbd.ModelFileError, match=what):
            read(tmp_path, text)


def test_the_command_line_knows_the_format(tmp_path, capsys):
    path = tmp_path / "model.json"
    path.write_text(json.dumps(pendulum()))
    assert main.main(["convert", str(path), str(tmp_path / "out.json")]) == 0
    assert "substituted: body 'bar' has no mass" in capsys.readouterr().out
    again = mbd.load_model(tmp_path / "out.json")
    assert [joint.name for joint in again.joints] == ["CD 0", "CD 1", "CD 2", "DP1 0", "DP1 1"]
    path.rename(tmp_path / "model.mdl")
    assert main.main(["check", str(tmp_path / "model.mdl")]) == 0
    pin = RJ("pin", again["bar"], again.ground, point=(0, 0, 0), axis=(0, 1, 0))
    assert pin.rows == sum(joint.rows for joint in again.joints)
