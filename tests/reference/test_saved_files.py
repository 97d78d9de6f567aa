"""Files that version 0.2.0 has written still load: results of every kind, model files, and the folders of a batch and of a sweep."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import numpy as np
import pytest

import haugmbd as mbd

SAVED = Path(__file__).parent / "saved_by_0_2_0"
NUMBERS = json.loads((SAVED / "numbers.json").read_text(encoding="utf-8"))
SAME = dict(rtol=1e-9, atol=1e-9)
"""Energies and forces are computed again, by another build of the same compiler."""


def kinds(*wanted):
    """The files of some kinds."""
    return [pytest.param(name, marks=()) for name, one in NUMBERS.items() if one["kind"] in wanted]


def loaded(name):
    if name.endswith(".nc"):
        pytest.importorskip("h5netcdf")
    return mbd.load(SAVED / name)


@pytest.mark.slow
@pytest.mark.parametrize("name", kinds("smooth", "impacts"))
def test_a_saved_result_has_its_states_events_and_energies(name):
    result, wanted = loaded(name), NUMBERS[name]
    assert len(result.t) == wanted["n"]
    assert result.t[-1] == wanted["t_end"]
    np.testing.assert_array_equal(result.y[-1], wanted["y_end"])
    assert result.status.name == wanted["status"]
    assert [[event.name, event.t] for event in result.events] == wanted["events"]
    np.testing.assert_allclose(result.energy().kinetic[-1], wanted["kinetic_end"], **SAME)
    np.testing.assert_allclose(result.energy().total[-1], wanted["total_end"], **SAME)
    if "sensor_end" in wanted:
        np.testing.assert_array_equal(result.sensor(result.sensors[0]).value[-1], wanted["sensor_end"])


@pytest.mark.parametrize("name", kinds("impacts"))
def test_a_saved_motion_with_impacts_has_its_impacts_and_contacts(name):
    result, wanted = loaded(name), NUMBERS[name]
    assert [[impact.t, impact.normal] for impact in result.impacts] == wanted["impacts"]
    assert list(result.contacts) == wanted["contacts"]
    contact = result.contact(wanted["contacts"][0])
    np.testing.assert_allclose([contact.force[-1], contact.gap[-1]], [wanted["force_end"], wanted["gap_end"]], **SAME)


@pytest.mark.parametrize("name", kinds("chain"))
def test_a_saved_motion_of_a_chain_has_its_coordinates_and_forces(name):
    result, wanted = loaded(name), NUMBERS[name]
    assert result.t[-1] == wanted["t_end"]
    np.testing.assert_array_equal([*result.q[-1], *result.qd[-1]], wanted["y_end"])
    np.testing.assert_allclose(result.qdd[-1], wanted["qdd_end"], **SAME)
    np.testing.assert_allclose(result.tau[-1], wanted["tau_end"], **SAME)
    np.testing.assert_allclose(result.energy().kinetic[-1], wanted["kinetic_end"], **SAME)


@pytest.mark.parametrize("path", sorted(SAVED.glob("*.json")), ids=lambda path: path.stem)
def test_a_saved_model_file_gives_the_bytes_that_it_was_read_from(path, tmp_path):
    if path.name == "numbers.json":
        assert "smooth.npz" in NUMBERS
        return
    system = mbd.load_model(path)
    assert system.compile().nb == 1
    assert system.save(tmp_path / "again.json").read_bytes() == path.read_bytes()


def members():
    """The batch of the folder."""
    return mbd.batch(mbd.load_model(SAVED / "pendulum.json").compile(), parameters={"bob.mass": [1.0, 2.0, 3.0]})


def test_the_files_of_a_batch_are_results(tmp_path):
    wanted = NUMBERS["batch"]["y_end"]
    for k, y_end in enumerate(wanted):
        np.testing.assert_array_equal(mbd.load(SAVED / "batch" / f"member_{k:08d}.npz").y[-1], y_end)
    shutil.copytree(SAVED / "batch", tmp_path / "batch")
    with pytest.raises(mbd.UsageError, match="another batch"):  # the spring of this one
        members().simulate(0.1, h=1e-2, store=tmp_path / "batch")


def test_the_store_of_a_sweep_is_read(tmp_path):
    """It is that of another function `run`: the store says so, which it knows by what was written."""
    shutil.copytree(SAVED / "sweep", tmp_path / "sweep")
    lines = [json.loads(line) for line in (SAVED / "sweep" / "cells.jsonl").read_text(encoding="utf-8").splitlines()[1:]]
    assert len(lines) == len(NUMBERS["sweep"]["x"])
    model = mbd.load_model(SAVED / "pendulum.json").compile()
    with pytest.raises(mbd.UsageError, match="another study"):
        mbd.sweep(model, {"bob.mass": [1.0]}, lambda model: {"x": model.nb}, "serial", store=tmp_path / "sweep", version="1")
