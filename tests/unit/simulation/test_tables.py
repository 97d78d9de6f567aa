"""Tables of all quantities, of every kind of result: names, units, values, no empty dimension, and what cannot be computed."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import haugmbd as mbd
from haugmbd.gallery import four_bar, slider_crank
from joints import RJ
from tests.support.with_contacts import simulate_with

xr = pytest.importorskip("xarray")
pytest.importorskip("pandas")


@pytest.fixture(scope="module")
def crank():
    system = slider_crank(driven=True)
    slider = system["slider"]
    system.add(mbd.TSDA("strut", system.ground, slider, point_i=(0, 0, 0), point_j=slider.r, k=3.0, l0=0.1))
    system.add(mbd.StateForce("wind", [slider, system["rod"]], force=lambda t, r, p, v, w: np.zeros((2, 6))))
    return mbd.simulate(system, 0.1, h=1e-2, sensors=[mbd.Sensor("x", lambda t, s: s.r[3, 0], unit="m")])


@pytest.fixture(scope="module")
def bounced():
    system = mbd.System("ball", gravity=(0, 0, -9.81))
    arm = system.add(mbd.Body("arm", 1.0, (0.1, 0.1, 0.1), r=(0.5, 0, 0.3)))
    system.add(RJ("pin", system.ground, arm, point=(0, 0, 0.3), axis=(0, 1, 0)))
    floor = mbd.Contact("floor", system.ground, arm, point=(1, 0, 0.3), normal=(0, 0, 1), plane_point=(0, 0, 0), restitution=0.3)
    return simulate_with(system, 0.6, contacts=floor, h=2e-3)


@pytest.fixture(scope="module")
def reduced():
    chain = mbd.random_chain(3, 4)
    return mbd.simulate(chain, 0.1, h=1e-2, tau=lambda t, q, qd: -0.1 * qd)


@pytest.mark.slow
def test_the_dataset_has_everything_with_units(crank):
    data = crank.to_xarray()
    assert 0 not in data.sizes.values()
    expected = {
        "r": "m",
        "v_dot": "m/s2",
        "joint.T.displacement": "m",
        "joint.T.displacement_rate": "m/s",
        "joint.S.rotation": "rad",
        "joint.U.angle_1": "rad",
        "joint.U.angle_2_acceleration": "rad/s2",
        "load.strut.length": "m",
        "load.strut.force": "N",
        "load.wind.power": "W",
        "driver.drive.torque": "N m",
        "driver.drive.work": "J",
        "sensor.x": "m",
        "reaction_force": "N",
        "reaction_torque": "N m",
        "energy.total": "J",
    }
    assert expected == {name: data[name].attrs["units"] for name in expected}
    np.testing.assert_array_equal(data["joint.U.angle_2"], crank.joint("U").angle[:, 1])
    np.testing.assert_array_equal(data["joint.U.angle_2_rate"], crank.joint("U").rate[:, 1])
    np.testing.assert_array_equal(data["load.strut.force"], crank.load("strut").force)
    np.testing.assert_array_equal(data["reaction_force"].sel(joint="R", xyz="z"), crank.reaction("R").force[:, 2])
    np.testing.assert_array_equal(data["violation_velocity"].sel(joint="S"), crank.violation("velocity", by="joint")["S"])
    np.testing.assert_array_equal(data["lam"], crank.lam)
    assert data["load.wind.force"].dims == ("time", "wind body", "xyz")
    assert len(data.isel(time=slice(2)).to_dataframe()) > 0  # an empty dimension would leave no line
    assert data.attrs["integrator"] == crank.settings["integrator"]


def test_the_frame_has_one_line_a_state(crank):
    frame = crank.to_pandas()
    assert len(frame) == len(crank)
    np.testing.assert_array_equal(frame["r.slider.x"], crank["slider"].r[:, 0])
    np.testing.assert_array_equal(frame["joint.T.displacement"], crank.joint("T").displacement)
    np.testing.assert_array_equal(frame["reaction_torque.R.y"], crank.reaction("R").torque[:, 1])
    assert frame.attrs["units"]["load.strut.rate"] == "m/s"
    assert set(frame.attrs["units"]) == set(frame.columns)


@pytest.mark.slow
def test_of_a_motion_with_impacts(bounced):
    assert bounced.impacts
    frame, data = bounced.to_pandas(), bounced.to_xarray()
    assert len(frame) == len(bounced) == data.sizes["time"]
    np.testing.assert_array_equal(frame["joint.pin.angle"], bounced.joint("pin").angle)
    np.testing.assert_array_equal(data["reaction_force"].sel(joint="pin"), bounced.reaction("pin").force)
    np.testing.assert_allclose(data["energy.total"], bounced.energy().total)
    assert data["lam"].shape == (len(bounced), bounced.model.nc)
    np.testing.assert_array_equal(bounced.violation("position", by="joint")["pin"], data["violation_position"].sel(joint="pin"))
    assert bounced.violation(by="row").shape == (len(bounced), bounced.model.nc)
    assert bounced.momentum().linear.shape == bounced.euler_violation().shape[:1] + (3,)


@pytest.mark.slow
def test_of_a_chain(reduced):
    frame = reduced.to_pandas()
    twin = reduced.maximal()
    names = [name for name in frame.columns if name.startswith("joint.")]
    assert names
    np.testing.assert_allclose(frame["energy.kinetic"], reduced.kinetic_energy(), rtol=1e-9)
    for name in twin.model.joints:
        np.testing.assert_array_equal(reduced.reaction(name).force, twin.reaction(name).force)
    assert set(reduced.violation(by="joint")) == set(twin.model.joints)


def test_turns_of_a_chain_are_those_of_its_coordinates():
    wheel = mbd.SerialChain([mbd.Link.revolute("wheel", 1.0, (1.0, 1.0, 1.0))])
    start = mbd.ChainState([0.0], [40.0])
    result = mbd.simulate(wheel, 1.0, h=1e-2, state=start, store_every=50)
    np.testing.assert_allclose(result.joint("joint of wheel").angle, result.q[:, 0], rtol=0.0, atol=1e-12 * 40.0)


@pytest.mark.slow
def test_what_cannot_be_computed_is_told(tmp_path):
    result = mbd.simulate(four_bar(), 0.05, h=1e-2)
    driven = mbd.simulate(slider_crank(driven=True), 0.05, h=1e-2)  # by a lambda, which no file keeps
    bare = mbd.load(driven.save(tmp_path / "bare.npz"))
    with pytest.warns(UserWarning, match="left out of the table: all but the states: "):
        data = bare.to_xarray()
    assert set(data) == {"r", "p", "v", "omega_bar"}
    far = replace(mbd.simulate(four_bar(), 1.0, h=1e-2, state=None), outcome=result.outcome)
    seldom = replace(far, t=far.t[[0, 60, 100]] * np.array([1.0, 30.0, 60.0]), y=far.y[[0, 60, 100]])
    with pytest.warns(UserWarning, match="left out of the table: joint 'A': joint 'A': between"):
        frame = seldom.to_pandas()
    assert "joint.A.angle" not in frame
    assert "reaction_force.A.x" in frame
    y = result.y.copy()
    y[2, 13:] = np.nan
    frame = replace(result, y=y).to_pandas()
    assert frame["r.crank.x"].isna().tolist() == [False, False, True, False, False, False]
    assert frame["reaction_force.A.x"].isna().tolist() == [False, False, True, False, False, False]


def test_plots_are_methods(crank):
    pyplot = pytest.importorskip("matplotlib.pyplot")
    assert crank.plot.energy().get_ylabel() == "energy [J]"
    assert crank.plot().get_ylabel() == "energy [J]"
    assert "energy" in dir(crank.plot)
    with pytest.raises(AttributeError, match=r"there is no plot 'enrgy' \(did you mean 'energy'"):
        crank.plot.enrgy()
    pyplot.close("all")


@pytest.mark.slow
def test_a_contact_of_several_points_has_a_column_for_each():
    system = mbd.System("box", gravity=(0, 0, -9.81))
    box = system.add(mbd.Body("box", 1.0, (0.01, 0.01, 0.01), r=(0, 0, 0.0999)))
    shapes = {"shape_i": mbd.Box((0.2, 0.2, 0.2)), "shape_j": mbd.Plane()}
    system.add(mbd.ContactForce("floor", box, system.ground, **shapes, K=1e5))
    result = mbd.simulate(system, 0.01, h=1e-3)
    frame, dataset = result.to_pandas(), result.to_xarray()
    own = result.load("floor")
    assert dataset["load.floor.indentation"].dims == ("time", "floor point")
    for k in range(8):
        np.testing.assert_array_equal(frame[f"load.floor.normal_force.{k}"], own.normal_force[:, k])
    np.testing.assert_array_equal(frame["load.floor.force.z"], own.force[:, 2])
