"""Sweeps over a System or Model: cells are variants of one topology, with the rows of systems that are built for each cell."""

from __future__ import annotations

from concurrent.futures import ProcessPoolExecutor

import pytest

import haugmbd as mbd
from haugmbd.gallery import double_pendulum
from joints import RJ

MASSES, GRAVITIES = (0.5, 1.0, 2.0), ((0, 0, -9.81), (0.3, 0, -1.62))
GRID = {"link.mass": MASSES, "gravity": GRAVITIES}


def pendulum(mass=1.0, gravity=(0, 0, -9.81), point=(0, 0, 0)):
    system = mbd.System("pendulum", gravity=gravity)
    link = system.add(mbd.Body("link", mass, (0.01, 0.1, 0.1), r=(0.5, 0, 0)))
    pin = system.add(RJ("pin", system.ground, link, point=point, axis=(0, 1, 0)))
    system.add(mbd.RSDA("spring", pin, k=5.0, c=0.1, theta0=0.0))
    return system


def swing(system):
    """The end of a short swing, and the largest reaction."""
    result = mbd.simulate(system, 0.1, h=1e-2)
    return {"x": result.r[-1, 1, 0], "z": result.r[-1, 1, 2], "load": abs(result.lam).max()}


def built(**cells):
    return mbd.sweep(pendulum, cells, swing, "serial")


def numbers(table):
    return [row.values for row in table.rows]


@pytest.mark.slow
@pytest.mark.parametrize("given", [pendulum(), pendulum().compile()], ids=["System", "Model"])
@pytest.mark.parametrize("executor", [None, "serial", "threads"])
def test_rows_are_those_of_systems_built_for_each_cell(given, executor):
    table = mbd.sweep(given, GRID, swing, executor)
    assert numbers(table) == numbers(built(mass=MASSES, gravity=GRAVITIES))
    assert table.axes == ("link.mass", "gravity")


@pytest.mark.slow
def test_a_point_is_another_system_of_the_same_topology():
    points = [(0, 0, 0), (0.1, 0, 0), (0, 0, 0.2)]
    assert numbers(mbd.sweep(pendulum(), {"pin.point": points}, swing)) == numbers(built(point=points))


@pytest.mark.slow
def test_processes_give_the_same_rows():
    with ProcessPoolExecutor(1) as pool:
        table = mbd.sweep(pendulum(), {"link.mass": MASSES}, swing, pool)
    assert numbers(table) == numbers(built(mass=MASSES))


def test_paths_and_values_are_checked_before_anything_runs():
    ran = []
    cases = [
        ({"lnk.mass": [1.0]}, r"sweep: 'lnk\.mass' is not a parameter of model 'pendulum' \(did you mean 'link\.mass'\?\)"),
        ({"link.mass": [1.0, "heavy"], "gravity": [1.0]}, r"(?s)'link\.mass' is .*numbers of shape.*'gravity' has shape"),
        (
            [{"link.mass": 1.0}, {"link.masss": 1.0}],
            r"cell 1: its parameters are 'link\.masss'; those of the first are 'link\.mass'",
        ),
        ({"pin.i": [1]}, r"'pin\.i' changes the topology"),
        (mbd.AskTell(lambda: {"spring.kk": 1.0}), r"sweep: 'spring\.kk' is not a parameter of RSDA"),
    ]
    for parameters, said in cases:
        with pytest.raises(mbd.UsageError, match=said):
            mbd.sweep(pendulum(), parameters, ran.append)
    with pytest.raises(mbd.UsageError, match="seed = 1 is for a function that builds"):
        mbd.sweep(pendulum(), GRID, ran.append, seed=1)
    with pytest.raises(mbd.ModelError, match="mass"):
        mbd.sweep(pendulum(mass=-1.0), GRID, ran.append)
    assert not ran


def test_a_value_that_cannot_be_is_the_row_of_its_cell():
    table = mbd.sweep(pendulum(), {"link.mass": [-1.0, 1.0]}, swing)
    assert table.status == ("failed", "ok")
    assert "mass is -1.0 kg, must be positive" in table.failures[0].reason


def test_cells_that_are_asked_for():
    masses, rows = iter(MASSES), {}

    def ask():
        mass = next(masses, None)
        return None if mass is None else {"link.mass": mass}

    def tell(cell, row):
        rows[cell["link.mass"]] = row.values

    mbd.sweep(pendulum(), mbd.AskTell(ask, tell), swing)
    assert [rows[mass] for mass in MASSES] == numbers(built(mass=MASSES))


def test_a_store_belongs_to_its_model(tmp_path):
    ran = []

    def count(model):
        ran.append(model.name)
        return {"m": 1}

    for masses in (MASSES[:2], MASSES):
        mbd.sweep(pendulum(), {"link.mass": masses}, count, "serial", tmp_path)
    assert len(ran) == len(MASSES)
    for other in (pendulum(point=(0.1, 0, 0)), double_pendulum()):
        with pytest.raises(mbd.UsageError, match="build, Model, has changed"):
            mbd.sweep(other, {"gravity": [(0, 0, -1.0)]}, count, "serial", tmp_path)


def test_a_store_belongs_to_the_functions_of_its_model(tmp_path):
    def system(k):
        made = pendulum()
        made.add(mbd.Torque("motor", made.bodies[1], torque=lambda t, *_: (0.0, k * t, 0.0)))
        return made

    mbd.sweep(system(1.0), {"link.mass": MASSES}, swing, "serial", tmp_path)
    with pytest.raises(mbd.UsageError, match="build, Model, has changed"):
        mbd.sweep(system(2.0), {"link.mass": MASSES}, swing, "serial", tmp_path)
