"""States at other times: exact at the stored ones, of the stated order between them."""

from __future__ import annotations

import numpy as np
import pytest
import quaternion

import haugmbd as mbd
from haugmbd.gallery.spatial_linkages import slider_crank


@pytest.fixture(scope="module")
def runs():
    """The same top, stored every 20 ms and every 5 ms."""
    system = mbd.System("top", gravity=(0.0, 0.0, -9.81))
    system.add(mbd.Body("top", mass=2.0, J_bar=(0.1, 0.2, 0.25), v=(1.0, 0.0, 5.0), omega_bar=(0.5, 4.0, 1.0)))
    return mbd.simulate(system, 1.0, h=5e-3, store_every=4), mbd.simulate(system, 1.0, h=5e-3)


@pytest.mark.parametrize("kind", ["dense", "linear"])
def test_stored_states_are_kept(runs, kind):
    coarse, _ = runs
    again = coarse.resample(coarse.t, kind=kind)
    np.testing.assert_array_equal(again.y, coarse.y)
    np.testing.assert_array_equal(again.t, coarse.t)


def test_between_stored_states(runs):
    coarse, fine = runs
    found, exact = coarse.resample(fine.t)["top"], fine["top"]
    np.testing.assert_allclose(found.r, exact.r, atol=1e-12)  # a parabola is a cubic
    np.testing.assert_allclose(found.omega_bar, exact.omega_bar, atol=1e-8)
    np.testing.assert_allclose(found.p, exact.p, atol=1e-10)
    np.testing.assert_allclose(np.linalg.norm(found.p, axis=1), 1.0, atol=1e-15)
    linear = coarse.resample(fine.t, kind="linear")["top"]
    assert 1e-4 < np.abs(linear.r - exact.r).max() <= 9.81 * 0.02**2 / 8 * (1 + 1e-9)


def test_slerp_is_that_of_numpy_quaternion(runs):
    coarse, fine = runs
    found = coarse.resample(fine.t, kind="linear")["top"].quaternion
    t = fine.t[1:-1]
    k = np.searchsorted(coarse.t, t, side="right") - 1
    q = coarse["top"].quaternion
    expected = [quaternion.slerp(q[a], q[a + 1], coarse.t[a], coarse.t[a + 1], x) for a, x in zip(k, t, strict=True)]
    np.testing.assert_allclose(quaternion.as_float_array(found[1:-1]), quaternion.as_float_array(expected), atol=1e-13)


def test_bad_arguments_are_told(runs):
    coarse, _ = runs
    with pytest.raises(mbd.UsageError, match=r"within 0 \.\. 1 s; got 0\.5 \.\. 1\.5"):
        coarse.resample([0.5, 1.5])
    with pytest.raises(mbd.UsageError, match="'dense' or 'linear'"):
        coarse.resample([0.5], kind="quintic")
    single = mbd.Result(coarse.model, coarse.t[:1], coarse.y[:1])
    with pytest.raises(mbd.UsageError, match="two are needed"):
        single.resample([0.0])


@pytest.fixture(scope="module")
def crank():
    """A spatial slider-crank, every step of 0.5 ms: closed loop, 23 rad/s at most."""
    return mbd.simulate(slider_crank(), 0.5, h=5e-4)


def every(result, n):
    """The same run with every n-th state stored."""
    return mbd.Result(result.model, result.t[::n].copy(), result.y[::n].copy(), settings=result.settings)


@pytest.mark.slow
@pytest.mark.parametrize("with_model", [True, False])
def test_the_order_is_that_of_the_docstring(crank, tmp_path, with_model):
    errors = []
    for n in (10, 5):
        coarse = every(crank, n)
        if not with_model:
            coarse = mbd.load(coarse.save(tmp_path / f"{n}.npz"))
        found = coarse.resample(crank.t)
        errors.append([np.abs(getattr(found, name) - getattr(crank, name)).max() for name in ("r", "p", "v", "omega_bar")])
    order = np.log2(np.array(errors[0]) / np.array(errors[1]))
    at_least = [6, 6, 5, 5] if with_model else [5, 5, 4, 4]
    assert (order > np.array(at_least) - 0.1).all(), order


def test_constraints_hold_between_long_steps(crank):
    """DOP853 makes steps of 50 ms and more; with slerp the loop was open by 1e-2 m between them."""
    result = mbd.simulate(slider_crank(), 0.5, integrator=mbd.DOP853(rtol=1e-6, atol=1e-8))
    assert np.diff(result.t).max() > 0.02
    between = result.resample(crank.t)
    assert np.abs(between.violation()).max() < 1e-12
    assert np.abs(between.violation("velocity")).max() < 1e-11
    np.testing.assert_allclose(between.p, crank.p, rtol=0.0, atol=2e-5)
    np.testing.assert_allclose(between.omega_bar, crank.omega_bar, rtol=0.0, atol=1e-2)


def test_it_is_the_interpolation_of_t_eval(crank):
    wanted = mbd.simulate(slider_crank(), 0.5, rtol=1e-6, atol=1e-8, t_eval=crank.t[::10])
    found = mbd.simulate(slider_crank(), 0.5, rtol=1e-6, atol=1e-8).resample(crank.t[::10])
    np.testing.assert_allclose(found.y, wanted.y, rtol=0.0, atol=1e-10)


def test_a_drift_is_left_as_it_is():
    drifted = mbd.simulate(slider_crank(), 0.5, h=1e-3, stabilization=None)
    for level in ("position", "velocity"):
        stored = np.abs(drifted.violation(level)).max()
        between = np.abs(drifted.resample(0.5 * (drifted.t[1:] + drifted.t[:-1])).violation(level)).max()
        assert stored > 1e-9
        assert 0.5 * stored < between < 5.0 * stored


def test_states_that_are_too_far_apart_are_told(crank):
    with pytest.warns(UserWarning, match=r"between those stored at 0 and 0\.5 s, missed the constraints by .* t_eval="):
        every(crank, 1000).resample([0.21])


@pytest.mark.filterwarnings("ignore::haugmbd.RunWarning")  # a radian in a step, on purpose
def test_integrated_angles_are_followed():
    t = np.linspace(0.0, 1.0, 21)
    result = mbd.simulate(slider_crank(), 1.0, h=0.05, t_eval=t)
    free = mbd.Result(None, t, np.hstack([result.y, np.sin(3.0 * t)[:, None]]), _names=result.names)
    np.testing.assert_allclose(free.resample([0.333]).angles[:, 0], np.sin(0.999), atol=1e-5)


def test_the_earlier_name_of_the_kind_is_told(runs):
    with pytest.warns(DeprecationWarning, match="kind='dense'"):
        again = runs[0].resample([0.5, 0.51], kind="cubic")
    np.testing.assert_array_equal(again.y, runs[0].resample([0.5, 0.51]).y)
