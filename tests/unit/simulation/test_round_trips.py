"""Every kind of result is loaded as what it was: the same states to the last bit, the same quantities, tables, plots and pictures."""

from __future__ import annotations

import numpy as np
import pytest

import haugmbd as mbd
from haugmbd.gallery import slider_crank
from joints import RJ, RotationDriver
from tests.support.redundant_loops import bennett
from tests.support.with_contacts import simulate_with

ROUNDING = 1e-12
"""Relative: models are compiled anew from the same numbers, and frames are normalized once more."""


@pytest.fixture(params=[".npz", ".nc"])
def ending(request):
    if request.param == ".nc":
        pytest.importorskip("h5netcdf")
    return request.param


def hinged(**options):
    """An arm on a hinge with a spring, which bounces on a floor and then lies on it, beside a ball that rolls nowhere."""
    system = mbd.System("arm", gravity=(0, 0, -9.81))
    arm = system.add(mbd.Body("arm", 1.0, (0.01, 0.1, 0.1), r=(0.5, 0, 0.2)))
    ball = system.add(mbd.Body("ball", 0.5, (0.01, 0.01, 0.01), r=(2.0, 0, 0.15)))
    pin = system.add(RJ("pin", system.ground, arm, point=(0, 0, 0.2), axis=(0, 1, 0)))
    system.add(mbd.RSDA("spring", pin, k=0.5, c=0.05))
    floor = mbd.Contact("floor", system.ground, arm, point=(1, 0, 0.2), normal=(0, 0, 1), plane_point=(0, 0, 0), restitution=0.3)
    ground = mbd.Contact("ground", system.ground, ball, point=ball.r, normal=(0, 0, 1), plane_point=(0, 0, 0), radius=0.1)
    sensor = mbd.Sensor("height", lambda t, state: state.r[1], unit="m")
    return simulate_with(system, 1.0, contacts=[floor, ground], h=2e-3, sensors=[sensor], **options)


@pytest.fixture(scope="module")
def bounced():
    return hinged()


def robot(name="arm"):
    """A chain with every kind of joint, shapes, and a centre of mass aside."""
    place = dict(c=(0.2, 0.05, 0.0), L=(0.4, 0.0, 0.1), p=(0.9, 0.1, -0.2, 0.14**0.5))
    links = [
        mbd.Link.cylindrical("one", 1.0, (0.1, 0.2, 0.25), axis=(1, 2, 2), **place),
        mbd.Link.universal("two", 0.7, (0.1, 0.2, 0.25), axis_1=(1, 0, 0), axis_2=(0, 1, 1), **place),
        mbd.Link.spherical("three", 0.5, (0.1, 0.11, 0.12), **place, shape=[..., mbd.Sphere(0.1, color="#00aa00")]),
    ]
    return mbd.SerialChain(links, gravity=(0.3, 0, -9.81), base=(0.1, 0, 1.0), name=name)


def swung(t_end=0.1, **options):
    chain = robot()
    sensor = mbd.Sensor("speed", lambda t, state: state.qd, unit="rad/s")
    halfway = mbd.Event("half", lambda t, state: t - 0.5 * t_end)
    return mbd.simulate(chain, t_end, h=2e-3, sensors=[sensor], events=[halfway], **options)


def same(a, b, scale=None):
    """Two arrays agree to rounding."""
    a, b = np.asarray(a), np.asarray(b)
    np.testing.assert_allclose(
        a, b, rtol=0.0, atol=ROUNDING * max(1.0, float(np.abs(b).max(initial=0.0)) if scale is None else scale)
    )


def assert_same_run(again, result):
    """What every kind has: kind, names, settings, counters, outcome, sensors, and quantities in both kinds of tables."""
    assert type(again) is type(result)
    assert repr(again) == repr(result)
    assert (again.settings, again.interrupted, again.outcome) == (result.settings, result.interrupted, result.outcome)
    assert again.counters == result.counters
    assert again.sensors == result.sensors
    for name in result.sensors:
        np.testing.assert_array_equal(again.sensor(name).value, result.sensor(name).value)
        assert again.sensor(name).unit == result.sensor(name).unit
    one, two = again.to_pandas(), result.to_pandas()
    assert list(one.columns) == list(two.columns)
    assert one.attrs["units"] == two.attrs["units"]
    for column in two.columns:
        if "work" not in column and "energy" not in column:  # see test_energies
            same(one[column], two[column], max(1.0, np.abs(two.filter(like=column.split(".")[0]).to_numpy()).max()))


@pytest.mark.slow
def test_a_motion_with_impacts(bounced, tmp_path, ending):
    again = mbd.load(bounced.save(tmp_path / f"bounced{ending}"))
    assert len(bounced.impacts) > 2
    np.testing.assert_array_equal(again.y, bounced.y)
    np.testing.assert_array_equal(again.t, bounced.t)
    assert_same_run(again, bounced)
    assert again.contacts.keys() == bounced.contacts.keys()
    for name in bounced.contacts:
        one, two = again.contact(name), bounced.contact(name)
        np.testing.assert_array_equal(one.gap, two.gap)
        np.testing.assert_array_equal(one.closed, two.closed)
        same(one.force, two.force)
    assert [len(segment) for segment in again.segments] == [len(segment) for segment in bounced.segments]
    assert any(again.contact("floor").closed)
    for one, two in zip(again.impacts, bounced.impacts, strict=True):
        assert repr(one) == repr(two)
        assert (one.energy_before, one.energy_after, one.normal) == (two.energy_before, two.energy_after, two.normal)
        np.testing.assert_array_equal(one.after.y, two.after.y)
        np.testing.assert_array_equal(one.before.y, two.before.y)
        same(one.impulse.joint("pin").force, two.impulse.joint("pin").force)
    same(again.energy().total, bounced.energy().total)
    part = mbd.load(again[0.2:0.6].save(tmp_path / f"part{ending}"))
    np.testing.assert_array_equal(part.y, bounced[0.2:0.6].y)
    assert len(part.impacts) == len(bounced[0.2:0.6].impacts)


@pytest.mark.slow
@pytest.mark.parametrize(
    "tau", [None, np.full(7, 0.1), lambda t, q, qd: -0.1 * qd + np.sin(9.0 * t)], ids=["none", "constant", "function"]
)
def test_a_motion_in_joint_coordinates(tmp_path, ending, tau):
    result = swung(0.04, tau=tau, wrenches=np.tile([0.1, 0.2, 0.3, 0.0, 0.01, 0.0], (3, 1)))
    again = mbd.load(result.save(tmp_path / f"chain{ending}"))
    for name in ("t", "q", "qd", "tau"):
        np.testing.assert_array_equal(getattr(again, name), getattr(result, name))
    same(again.qdd, result.qdd)
    assert_same_run(again, result)
    for one, two in zip(again.chain.links, result.chain.links, strict=True):
        for name in ("mass", "J_bar", "c", "L", "p"):
            np.testing.assert_array_equal(getattr(one, name), getattr(two, name))
        assert len(one.shape) == len(two.shape)
    assert [(event.name, event.t) for event in again.events] == [(event.name, event.t) for event in result.events]
    np.testing.assert_array_equal(again.events[0].state.q, result.events[0].state.q)
    same(again.joint_wrench("two"), result.joint_wrench("two"))
    assert again.chain.links[2].shape[1].color == "#00aa00"
    with pytest.raises(mbd.UsageError, match="needs no model"):
        mbd.load(tmp_path / f"chain{ending}", model=result.maximal().model)


def test_energies_of_a_chain_are_integrated_over_the_recorded_forces(tmp_path):
    """Between the states a function tau is a spline: the work differs by its error, of order four in the output step."""
    result = swung(tau=lambda t, q, qd: -0.1 * qd + np.sin(9.0 * t))
    again = mbd.load(result.save(tmp_path / "chain.npz"))
    same(again.kinetic_energy(), result.kinetic_energy())
    np.testing.assert_allclose(again.energy().applied_work, result.energy().applied_work, rtol=0.0, atol=1e-7)


def test_a_massless_link_is_saved_too(tmp_path):
    links = [mbd.Link.prismatic("rail", 0.0, (0.0, 0.0, 0.0)), mbd.Link.revolute("arm", 1.0, (0.1, 0.1, 0.1), c=0.5)]
    result = mbd.simulate(mbd.SerialChain(links), 0.05, h=1e-2, tau=[1.0, 0.2])
    again = mbd.load(result.save(tmp_path / "rail.npz"))
    np.testing.assert_array_equal(again.q, result.q)


@pytest.mark.slow
def test_a_plain_result(tmp_path, ending):
    sensor = mbd.Sensor("x", lambda t, s: s.r[3], unit="m")
    few = mbd.simulate(slider_crank(), 1.0, h=1e-2, store_every=7, sensors=[sensor])
    again = mbd.load(few.save(tmp_path / f"few{ending}"))
    np.testing.assert_array_equal(again.y, few.y)
    np.testing.assert_array_equal(again.joint("R").angle, few.joint("R").angle)
    assert_same_run(again, few)


@pytest.mark.slow
def test_impacts_of_a_model_that_no_file_holds_need_it(tmp_path):
    system = mbd.System("blown", gravity=(0, 0, -9.81))
    ball = system.add(mbd.Body("ball", 1.0, (0.1, 0.1, 0.1), r=(0, 0, 0.2)))
    system.add(mbd.PointForce("wind", ball, point=ball.r, force=lambda t: (np.sin(t), 0.0, 0.0)))
    floor = mbd.Contact("floor", system.ground, ball, point=ball.r, normal=(0, 0, 1), plane_point=(0, 0, 0), restitution=0.5)
    result = simulate_with(system, 0.5, contacts=[floor], h=5e-3)
    path = result.save(tmp_path / "blown.npz")
    with pytest.raises(mbd.UsageError, match=r"blown\.npz: .*'blown'.*'wind': its function is a lambda.*model=system\.compile"):
        mbd.load(path)
    again = mbd.load(path, model=system.compile())
    assert_same_run(again, result)
    with pytest.raises(mbd.UsageError, match="is of another model: its bodies differ"):
        mbd.load(path, model=slider_crank().compile())


@pytest.mark.slow
def test_damage_and_states_that_are_not_finite_are_refused(bounced, tmp_path):
    path = bounced.save(tmp_path / "bounced.npz")
    with np.load(path) as file:
        arrays = dict(file)
    arrays["impact_after"] = arrays["impact_after"] + 1e-9
    np.savez(path, **arrays)
    with pytest.raises(mbd.UsageError, match="'impact_after' is damaged"):
        mbd.load(path)
    result = swung()
    q = result.q.copy()
    q[3] = np.nan
    with pytest.raises(mbd.UsageError, match="cannot be saved to .* 'q' is not finite"):
        result.changed(q=q).save(tmp_path / "x.npz")
    for one in (bounced, result):
        with pytest.raises(mbd.UsageError, match=r"\.npz or a \.nc"):
            one.save(tmp_path / "x.txt")


@pytest.mark.slow
def test_every_kind_is_drawn_and_plotted_after_loading(bounced, tmp_path):
    pyplot = pytest.importorskip("matplotlib.pyplot")
    for k, result in enumerate((bounced, swung())):
        again = mbd.load(result.save(tmp_path / f"{k}.npz"))
        assert len(again.to_csv(tmp_path / f"{k}.csv").read_text(encoding="utf-8").splitlines()) == len(result) + 1
        ax = again.plot.energy()
        assert ax.get_ylabel() == "energy [J]"
        assert again.animate(tmp_path / f"{k}.html").stat().st_size > 500_000
        pyplot.close("all")


@pytest.mark.slow
@pytest.mark.parametrize("aside", [0.0, 0.05], ids=["drivers begin elsewhere", "a joint is open"])
def test_a_driven_motion_from_a_pose_that_had_to_be_closed_is_loaded_with_its_model(tmp_path, ending, aside):
    system = mbd.System("arms")
    one = system.add(mbd.Body("one", 2.0, (0.1, 0.1, 0.1), r=(0.3, 0, 0)))
    two = system.add(mbd.Body("two", 1.0, (0.1, 0.1, 0.1), r=(0.9 + aside, 0, 0)))
    pin = system.add(RJ("pin", system.ground, one, point=(0, 0, 0), axis=(0, 1, 0)))
    vectors = ((0.3, 0, 0), (1, 0, 0), (0, 0, 1), two, (-0.3, 0, 0), (0, 1, 0))
    elbow = system.add(RJ.from_vectors("elbow", one, *vectors))
    system.add(RotationDriver("first", pin, mbd.Expression("0.5 + 0.5 * t")))
    system.add(RotationDriver("second", elbow, mbd.Expression("0.2 * t")))
    result = mbd.kinematics(system, np.linspace(0.0, 1.0, 5))
    again = mbd.load(result.save(tmp_path / f"arms{ending}"))
    assert_same_run(again, result)
    same(again.joint("pin").angle, 0.5 + 0.5 * result.t)
    same(again.lam, result.lam)


def test_a_loop_with_redundant_joints_that_had_to_be_closed_is_loaded_with_what_was_dropped(tmp_path, ending):
    system = bennett()
    system.add(RotationDriver("drive", system.joints[0], mbd.Expression("0.05 + 0.1 * t")))
    result = mbd.kinematics(system, np.linspace(0.0, 1.0, 3))
    assert result.model.redundancy.dropped
    again = mbd.load(result.save(tmp_path / f"loop{ending}"))
    assert again.model.redundancy.dropped == result.model.redundancy.dropped
    same(again.lam, result.lam)
