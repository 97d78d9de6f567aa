"""Couplings and limits come back from every format that can hold them; what a format cannot hold is said."""

from __future__ import annotations

from importlib.util import find_spec

import numpy as np
import pytest

import haugmbd as mbd
from joints import Coupling
from tests.support import mechanisms
from tests.support.mechanisms import same, velocities

SAME = 1e-9
"""Relative to the largest acceleration or gravity: the same mechanism from numbers that went through rotations; seen 1e-13."""


def couplings_alike(one, two):
    """The same rows of couplings, up to a factor: the rank of the rows of both systems is that of one."""
    models = [each.compile() for each in (one, two)]
    order = [[body.name for body in each.bodies[1:]] for each in (one, two)]
    A, B = (mbd.evaluate(model).Phi_q.toarray().reshape(-1, model.nb, 6) for model in models)
    B = B[:, [order[1].index(name) for name in order[0]]]
    rows = [X.reshape(len(X), -1) for X in (A, B)]
    rank = np.linalg.matrix_rank(rows[0], tol=1e-9)
    assert rank == np.linalg.matrix_rank(rows[1], tol=1e-9) == np.linalg.matrix_rank(np.vstack(rows), tol=1e-9)


@pytest.mark.slow
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


@pytest.mark.slow
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
        (mbd.write_mjcf, "x.xml", ("its f changes with time",)),
        (mbd.write_sdf, "x.sdf", ("'sum': the file holds no such Coupling", "'driven'")),
        (mbd.write_asmt, "x.asmt", ("'sum': the file holds no such Coupling: only couplings of two", "'driven'")),
    ):
        with pytest.raises(mbd.ModelFileError) as error:
            write(system, tmp_path / name)
        assert all(text in str(error.value) for text in texts), str(error.value)
