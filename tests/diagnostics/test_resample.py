"""States at other times: exact at the stored ones, of the stated order between them."""

from __future__ import annotations

import numpy as np
import pytest
import quaternion

import haugmbd as mbd


@pytest.fixture(scope="module")
def runs():
    """The same top, stored every 20 ms and every 5 ms."""
    system = mbd.System("top", gravity=(0.0, 0.0, -9.81))
    system.add(mbd.Body("top", mass=2.0, J_bar=(0.1, 0.2, 0.25), v=(1.0, 0.0, 5.0), omega_bar=(0.5, 4.0, 1.0)))
    return mbd.simulate(system, 1.0, h=5e-3, store_every=4), mbd.simulate(system, 1.0, h=5e-3)


@pytest.mark.parametrize("kind", ["cubic", "linear"])
def test_stored_states_are_kept(runs, kind):
    coarse, _ = runs
    again = coarse.resample(coarse.t, kind=kind)
    np.testing.assert_allclose(again.y, coarse.y, atol=1e-14)
    np.testing.assert_array_equal(again.t, coarse.t)


def test_between_stored_states(runs):
    coarse, fine = runs
    found, exact = coarse.resample(fine.t)["top"], fine["top"]
    np.testing.assert_allclose(found.r, exact.r, atol=1e-12)  # a parabola is a cubic
    np.testing.assert_allclose(found.omega_bar, exact.omega_bar, atol=1e-5)  # h^4 omega'''' / 384 and not-a-knot ends
    np.testing.assert_allclose(np.abs(np.sum(found.p * exact.p, axis=1)), 1.0, atol=1e-6)
    np.testing.assert_allclose(np.linalg.norm(found.p, axis=1), 1.0, atol=1e-15)
    linear = coarse.resample(fine.t, kind="linear")["top"]
    assert 1e-4 < np.abs(linear.r - exact.r).max() <= 9.81 * 0.02**2 / 8 * (1 + 1e-9)


def test_slerp_is_that_of_numpy_quaternion(runs):
    coarse, fine = runs
    found = coarse.resample(fine.t)["top"].quaternion
    t = fine.t[1:-1]
    k = np.searchsorted(coarse.t, t, side="right") - 1
    q = coarse["top"].quaternion
    expected = [quaternion.slerp(q[a], q[a + 1], coarse.t[a], coarse.t[a + 1], x) for a, x in zip(k, t, strict=True)]
    np.testing.assert_allclose(quaternion.as_float_array(found[1:-1]), quaternion.as_float_array(expected), atol=1e-13)


def test_bad_arguments_are_told(runs):
    coarse, _ = runs
    with pytest.raises(mbd.UsageError, match=r"within 0 \.\. 1 s; got 0\.5 \.\. 1\.5"):
        coarse.resample([0.5, 1.5])
    with pytest.raises(mbd.UsageError, match="'cubic' or 'linear'"):
        coarse.resample([0.5], kind="quintic")
    single = mbd.Result(coarse.model, coarse.t[:1], coarse.y[:1])
    with pytest.raises(mbd.UsageError, match="two are needed"):
        single.resample([0.0])
