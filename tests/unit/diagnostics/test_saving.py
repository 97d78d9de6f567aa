"""What is read back is what was written, to the last bit; the model is in the file, or it is said why not."""

from __future__ import annotations

import csv
import sys

import numpy as np
import pytest

import haugmbd as mbd
from haugmbd.gallery.pendulums import double_pendulum

PARTS = {"r": "xyz", "p": ["e0", "e1", "e2", "e3"], "v": "xyz", "omega_bar": "xyz"}


@pytest.fixture(params=["npz", "nc"])
def ending(request):
    """The endings of files; without the extra `io` the second is left out."""
    if request.param == "nc":
        pytest.importorskip("h5netcdf")
        pytest.importorskip("h5py")
    return request.param


@pytest.mark.slow
def test_round_trip(chain, tmp_path, ending):
    path = chain.save(tmp_path / f"chain.{ending}")
    loaded = mbd.load(path)
    np.testing.assert_array_equal(loaded.t, chain.t)
    np.testing.assert_array_equal(loaded.y, chain.y)
    np.testing.assert_array_equal(loaded["b3"].omega_bar, chain["b3"].omega_bar)
    assert loaded.names == chain.names
    assert loaded.counters == chain.counters
    assert loaded.settings == chain.settings
    assert loaded.interrupted is chain.interrupted
    assert repr(loaded) == repr(chain)
    assert loaded.has_model


@pytest.mark.slow
def test_angles_and_interruption_are_kept(chain, tmp_path, ending):
    angles = np.linspace(0.0, 7.0, 2 * len(chain)).reshape(-1, 2)
    result = mbd.Result(None, chain.t, np.hstack([chain.y, angles]), interrupted=True, _names=chain.names)
    loaded = mbd.load(result.save(str(tmp_path / f"a.{ending}")))
    np.testing.assert_array_equal(loaded.angles, angles)
    assert loaded.interrupted


QUESTIONS = (lambda q: q.lam, lambda q: q.violation(), lambda q: q.reaction("rj").force, lambda q: q.energy().total)


@pytest.mark.slow
def test_without_and_with_a_model_everything_can_be_asked(chain, tmp_path, ending):
    path = chain.save(tmp_path / f"chain.{ending}")
    alone, whole = mbd.load(path), mbd.load(path, model=chain.model)
    again = mbd.load(mbd.load(path).save(tmp_path / f"again.{ending}"))
    assert alone.model.tables.reals.tobytes() == chain.model.tables.reals.tobytes()
    for question in QUESTIONS:
        for loaded in (alone, whole, again):
            np.testing.assert_array_equal(question(loaded), question(chain))


def test_a_model_that_no_file_holds_is_asked_for_with_the_reason(tmp_path):
    system = double_pendulum()
    system.add(mbd.Torque("wind", system.bodies[1], torque=lambda t, r, p, v, omega_bar: (0.0, 0.0, 0.1)))
    result = mbd.simulate(system, 0.002, h=1e-3)
    loaded = mbd.load(result.save(tmp_path / "run.npz"))
    assert not loaded.has_model
    for question in (lambda q: q.lam, lambda q: q.violation(), lambda q: q.energy().total):
        with pytest.raises(mbd.UsageError, match=r"'wind': its function is a lambda.*mbd\.load\(path, model="):
            question(loaded)
    assert mbd.load(tmp_path / "run.npz", model=result.model).has_model


def test_another_model_is_refused(chain, tmp_path):
    path = chain.save(tmp_path / "chain.npz")
    with pytest.raises(mbd.UsageError, match="another model: its bodies differ, in 'b1'"):
        mbd.load(path, model=double_pendulum().compile())


def test_other_files_are_refused(chain, tmp_path):
    with pytest.raises(mbd.UsageError, match=r"\.npz or a \.nc"):
        chain.save(tmp_path / "chain.mat")
    np.savez(tmp_path / "other.npz", a=np.zeros(3))
    with pytest.raises(mbd.UsageError, match="not a 'haugmbd result 2'"):
        mbd.load(tmp_path / "other.npz")


@pytest.mark.parametrize(
    ("module", "ask", "extra"),
    [
        ("h5netcdf", lambda q, path: q.save(path / "a.nc"), "pip install h5netcdf"),
        ("xarray", lambda q, path: q.to_xarray(), "pip install xarray"),
        ("matplotlib.pyplot", lambda q, path: mbd.plot.energy(q), "pip install matplotlib"),
    ],
)
def test_a_missing_extra_is_named(chain, tmp_path, monkeypatch, module, ask, extra):
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(mbd.UsageError) as told:
        ask(chain, tmp_path)
    assert extra in str(told.value)


def test_csv_read_back(chain, tmp_path):
    path = chain.to_csv(tmp_path / "chain.csv")
    with path.open(encoding="utf-8", newline="") as file:
        header, *rows = list(csv.reader(file))
    table = dict(zip(header, np.array(rows, dtype=np.float64).T, strict=True))
    assert header[:4] == ["t", "b1.r.x", "b1.r.y", "b1.r.z"]
    assert len(header) == 1 + 13 * 5
    np.testing.assert_array_equal(table["t"], chain.t)
    for name, parts in PARTS.items():
        for k, part in enumerate(parts):
            np.testing.assert_array_equal(table[f"b4.{name}.{part}"], getattr(chain["b4"], name)[:, k])


@pytest.mark.slow
def test_xarray_knows_names_and_units(chain):
    pytest.importorskip("xarray")
    data = chain.to_xarray()
    np.testing.assert_array_equal(data["v"].sel(body="b2", xyz="y"), chain["b2"].v[:, 1])
    assert data["v"].attrs["units"] == "m/s"
    assert data["p"].dims == ("time", "body", "e")


@pytest.mark.slow
def test_netcdf_is_read_by_others(chain, tmp_path):
    xarray = pytest.importorskip("xarray")
    pytest.importorskip("h5netcdf")
    with xarray.open_dataset(chain.save(tmp_path / "chain.nc"), engine="h5netcdf") as data:
        np.testing.assert_array_equal(data["r"].sel(body="b5").values, chain["b5"].r)
        assert data["omega_bar"].attrs["units"] == "rad/s"
