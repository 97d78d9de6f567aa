"""Doors whose package is not installed: each says which package it needs and how it is installed."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import haugmbd as mbd
from haugmbd.gallery import pendulum


@pytest.fixture(scope="module")
def ran() -> mbd.Result:
    return mbd.simulate(pendulum(), t_end=0.02, h=1e-2)


def linear(ran: mbd.Result) -> Any:
    return mbd.linearize(ran, t=[0.0], outputs=["energy.kinetic"])[0]


def robot(path: Path, text: str) -> str:
    path.write_text(text)
    return str(path)


Door = Callable[[mbd.Result, Path], Any]
DOORS: dict[str, dict[str, Door]] = {
    "pandas": {
        "result": lambda ran, path: ran.to_pandas(),
        "study": lambda ran, path: mbd.compare(ran.model, results={"a": ran}, reference=False).to_pandas(),
        "load table": lambda ran, path: ran.load_table(ran.names.bodies[1]).to_pandas(),
        "parquet": lambda ran, path: ran.to_parquet(path / "x.parquet"),
    },
    "xarray": {
        "result": lambda ran, path: ran.to_xarray(),
        "study": lambda ran, path: mbd.compare(ran.model, results={"a": ran}, reference=False).to_xarray(),
    },
    "matplotlib": {
        "result": lambda ran, path: ran.plot.energy(),
        "study": lambda ran, path: mbd.compare(ran.model, results={"a": ran}, reference=False).plot(),
        "bode": lambda ran, path: linear(ran).bode(),
        "theme": lambda ran, path: mbd.plot.theme("paper"),
    },
    "sympy": {"equations": lambda ran, path: mbd.equations(pendulum())},
    "mujoco": {
        "reader": lambda ran, path: mbd.read_mjcf(robot(path / "x.xml", "<mujoco/>")),
        "engine": lambda ran, path: mbd.crosscheck_engine(pendulum(), "mujoco"),
    },
    "pin": {"engine": lambda ran, path: mbd.crosscheck_engine(pendulum(), "pinocchio")},
    "exudyn": {"engine": lambda ran, path: mbd.crosscheck_engine(pendulum(), "exudyn")},
    "xacrodoc": {"reader": lambda ran, path: mbd.read_urdf(robot(path / "x.xacro", "<robot/>"), allow_code=True)},
    "usd-core": {"reader": lambda ran, path: mbd.read_usd(robot(path / "x.usda", "#usda 1.0"))},
    "gymnasium": {
        "environment": lambda ran, path: mbd.gym_env(
            ran.model, h=0.01, inputs=[], outputs=[], low=-1.0, high=1.0, reward=lambda o, a: 0.0
        )
    },
    "mcap": {"recording": lambda ran, path: ran.to_mcap(path / "x.mcap")},
    "rerun-sdk": {"recording": lambda ran, path: ran.to_rerun(path / "x.rrd")},
    "control": {"linear system": lambda ran, path: linear(ran).to_control()},
    "h5netcdf": {"result": lambda ran, path: ran.save(path / "x.nc")},
}
"""By package: the doors that need it."""
MODULES = {"pin": "pinocchio", "usd-core": "pxr", "rerun-sdk": "rerun"}
"""Of packages: their modules, where they have another name."""


@pytest.mark.parametrize(("package", "door"), [(package, door) for package, doors in DOORS.items() for door in doors])
def test_a_door_names_the_package_that_it_needs(
    package: str, door: str, ran: mbd.Result, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    module = MODULES.get(package, package)
    for name in [one for one in sys.modules if one == module or one.startswith(f"{module}.")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(mbd.UsageError) as told:
        DOORS[package][door](ran, tmp_path)
    assert package in str(told.value)
    assert "pip install" in str(told.value)
