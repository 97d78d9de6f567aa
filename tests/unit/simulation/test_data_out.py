"""Data for other programs: load tables in equilibrium, series for ParaView, Parquet, and studies through load."""

from __future__ import annotations

import re
from xml.etree import ElementTree as ET

import numpy as np
import pytest

import haugmbd as mbd
from haugmbd.gallery import four_bar
from joints import RJ, RotationDriver
from tests.support import mechanisms

pytestmark = pytest.mark.slow

BALANCED = 1e-9
"""Relative to the largest load: reactions and accelerations of one solve."""


@pytest.fixture(scope="module")
def ran():
    return mbd.simulate(four_bar(), t_end=0.2, h=1e-2)


def test_joints_and_inertia_of_a_body_are_in_equilibrium(ran):
    """Of bodies without force elements nothing is left beside joints, weight and inertia."""
    for body in ran.names.bodies[1:]:
        table = ran.load_table(body)
        size = max(float(np.abs(x).max()) for x in (*table.forces.values(), table.mass * table.gravity, table.inertia_force))
        assert np.abs(table.elements_force).max() < BALANCED * size
        assert np.abs(table.elements_torque).max() < BALANCED * size
        assert set(table.forces) == {joint.name for joint in four_bar().joints if body in (joint.i.name, joint.j.name)}


def test_what_is_left_is_the_force_of_a_spring_in_the_frame_of_the_body():
    system = mbd.System("pendulum", gravity=(0, 0, -9.81))
    bob = system.add(mechanisms.solid("bob", np.random.default_rng(0), r=(1.0, 0.0, 0.0)))
    system.add(RJ("pin", system.ground, bob, point=(0, 0, 0), axis=(0, 1, 0)))
    system.add(mbd.TSDA("spring", system.ground, bob, point_i=(1, 0, 1), point_j=(1.2, 0, 0), k=50.0, l0=0.4))
    result = mbd.simulate(system, t_end=0.3, h=1e-2)
    table, load = result.load_table("bob"), result.load("spring")
    point = result["bob"].point(bob.A.T @ (np.array((1.2, 0, 0)) - bob.r)).r
    pull = np.array((1.0, 0.0, 1.0)) - point
    force = load.force[:, None] * pull / np.linalg.norm(pull, axis=1)[:, None]
    A = result["bob"].A
    np.testing.assert_allclose(table.elements_force, np.einsum("tji,tj->ti", A, force), rtol=0, atol=1e-8)
    arm = np.cross(point - result["bob"].r, force)
    np.testing.assert_allclose(table.elements_torque, np.einsum("tji,tj->ti", A, arm), rtol=0, atol=1e-8)


def test_a_load_table_is_written_with_all_its_columns(ran, tmp_path):
    table = ran.load_table("coupler" if "coupler" in ran.names.bodies else ran.names.bodies[1])
    lines = table.to_csv(tmp_path / "loads.csv").read_text().splitlines()
    assert len(lines) == len(ran.t) + 1
    assert lines[0].startswith("t,")
    assert {f"{name}.force.x" for name in table.forces} <= set(lines[0].split(","))
    again = mbd.load(table.save(tmp_path / "loads.json"))
    assert again.study == "LoadTable"
    np.testing.assert_array_equal(again["inertia.torque.z"], table.inertia_torque[:, 2])
    with pytest.raises(mbd.UsageError, match="no body 'coupl'"):
        ran.load_table("coupl")


def test_drivers_and_couplings_are_in_the_table():
    system = four_bar()
    crank = next(joint for joint in system.joints if isinstance(joint, RJ))
    system.add(RotationDriver("motor", crank, mbd.Expression("2*t")))
    system = mbd.assemble(system).model
    result = mbd.simulate(system, t_end=0.05, h=1e-2)
    table = result.load_table(crank.j.name if not crank.j.is_ground else crank.i.name)
    assert "motor" in table.forces
    assert np.abs(table.elements_force).max() < 1e-7 * np.abs(table.forces[crank.name]).max()


def test_a_series_for_paraview_has_the_motion(ran, tmp_path):
    done = ran.to_vtk(tmp_path / "motion.pvd", frames=4)
    entries = ET.parse(done).getroot().findall("Collection/DataSet")
    assert [float(entry.get("timestep")) for entry in entries] == pytest.approx(np.linspace(0, 0.2, 4))
    first, last = (ET.parse(tmp_path / entries[k].get("file")).getroot() for k in (0, -1))
    piece = first.find("PolyData/Piece")
    n, polys = int(piece.get("NumberOfPoints")), int(piece.get("NumberOfPolys"))
    assert n == 3 * polys > 0
    arrays = {}
    for root in (first, last):
        for array in root.iter("DataArray"):
            values = np.array(array.text.split(), dtype=float)
            arrays.setdefault(array.get("Name"), []).append(values.reshape(-1, int(array.get("NumberOfComponents"))))
    assert len(arrays["points"][0]) == n
    assert arrays["offsets"][0][-1, 0] == n
    owner = arrays["body"][0][:, 0].astype(int)
    for k, name in enumerate(ran.names.bodies[1:], start=1):
        mine = np.repeat(owner == k, 3)
        if mine.any():  # a shape is rigid, and goes where its body goes
            before, after = (np.array(x)[mine] for x in arrays["points"])
            A = [ran[name].A[m] for m in (0, -1)]
            local = (before - ran[name].r[0]) @ A[0]
            np.testing.assert_allclose(ran[name].r[-1] + local @ A[1].T, after, rtol=0, atol=1e-7)
            np.testing.assert_allclose(arrays["velocity"][1][owner == k][0], ran[name].v[-1], rtol=1e-6, atol=1e-7)
    with pytest.raises(mbd.UsageError, match=r"ends with \.pvd"):
        ran.to_vtk(tmp_path / "motion.vtk")


def test_load_reads_studies_too(tmp_path):

    comparison = mbd.compare(four_bar(), [mbd.Method(label="plain")], t_end=0.02, h=5e-3)
    again = mbd.load(comparison.save(tmp_path / "study.json"))

    assert isinstance(again, mbd.StudyTable)
    assert again.facts["versions"].startswith("Python")
    (tmp_path / "no.json").write_text("{}")
    with pytest.raises(mbd.UsageError, match="is no study"):
        mbd.load(tmp_path / "no.json")


def test_parquet_comes_back_or_says_what_is_missing(ran, tmp_path):
    try:
        import pyarrow.parquet as parquet
    except ImportError:
        with pytest.raises(mbd.UsageError, match="needs p"):
            ran.to_parquet(tmp_path / "x.parquet")
        return
    done = ran.to_parquet(tmp_path / "x.parquet")
    table = parquet.read_table(done)
    assert table.num_rows == len(ran.t)
    assert re.match("t", table.column_names[0])
