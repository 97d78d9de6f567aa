"""The gallery: every mechanism compiles, stands on its constraints, and meets its published values."""

from __future__ import annotations

import numpy as np
import pytest

import haugmbd as mbd
from haugmbd.gallery import chain, double_pendulum, heavy_top, pendulum, slider_crank
from haugmbd.gallery.pendulums import ANGLES, DRIVE_TORQUE
from haugmbd.gallery.spatial_linkages import DRIVEN, FREE, crank_angle
from haugmbd.gallery.spinning_bodies import CENTER
from tests.support.loops import FIRST

MOBILITY = {
    "pendulum": 1,
    "double_pendulum": 2,
    "heavy_top": 3,
    "four_bar": 1,
    "slider_crank": 1,
    "chain": 10,
    "andrews": 1,
    "governor": 4,
}


@pytest.mark.parametrize("make", FIRST, ids=lambda make: make.__name__)
def test_every_mechanism_starts_on_its_constraints_with_independent_rows(make):
    model = make().compile()
    state = model.state()
    rows = mbd.evaluate(model, state)
    assert abs(rows.Phi).max() <= 1e-14
    y = model.y0[13:].reshape(-1, 13)
    u = np.concatenate([np.zeros(6), y[:, 7:13].ravel()])
    Phi_q = rows.Phi_q.toarray()
    assert abs(Phi_q @ u[-Phi_q.shape[1] :] - rows.nu).max() <= 1e-14 * (1.0 + abs(u).max())
    assert np.linalg.matrix_rank(Phi_q) == model.nc
    assert 6 * model.nb - model.nc == MOBILITY[make.__name__]


def test_each_call_builds_a_new_system():
    assert slider_crank().bodies[1] is not slider_crank().bodies[1]


def test_the_module_shows_its_mechanisms_and_nothing_else():
    assert dir(mbd.gallery) == sorted(mbd.gallery.__all__)


@pytest.mark.parametrize("n", [0, -1, 2.5])
def test_a_chain_needs_a_whole_number_of_links(n):
    with pytest.raises(mbd.UsageError, match="whole number"):
        chain(n)


@pytest.mark.slow
def test_the_free_slider_crank_meets_the_published_values():
    times = sorted({known.t for known in FREE})
    result = mbd.simulate(slider_crank(), 5.0, rtol=1e-11, atol=1e-12, t_eval=np.linspace(0.0, 5.0, 501))
    at = {t: int(round(100 * t)) for t in times}
    curves = {"crank angle theta": crank_angle(result), "slider position x": result["slider"].r[:, 0]}
    for known in FREE:
        assert abs(curves[known.quantity][at[known.t]] - known.value) <= known.tol, known


def test_the_driven_slider_crank_meets_the_published_values():
    result = mbd.simulate(slider_crank(driven=True), 0.25, h=1e-3)
    torque = result.reaction("drive").torque[:, 0]
    curves = {"slider position x": result["slider"].r[:, 0], "torque of the drive": torque}
    for known in DRIVEN:
        assert abs(curves[known.quantity][int(round(1e3 * known.t))] - known.value) <= known.tol, known


def test_the_driven_pendulum_meets_its_torque():
    result = mbd.simulate(pendulum(driven=True), 0.01, h=1e-3)
    (known,) = DRIVE_TORQUE
    assert abs(result.reaction("drive").torque[0, 0] - known.value) <= known.tol

    result = mbd.simulate(double_pendulum(), 5.0, rtol=1e-11, atol=1e-12, t_eval=[0.0, 1.0, 5.0])
    ends = [result["bar 1"].r * 2.0, result["bar 2"].r - result["bar 1"].r * 2.0]
    angles = [np.arctan2(d[:, 1], -d[:, 2]) for d in ends]
    for known in ANGLES:
        bar = int(known.quantity.split()[3]) - 1
        assert abs(angles[bar][[0.0, 1.0, 5.0].index(known.t)] - known.value) <= known.tol, known


def test_the_heavy_top_meets_the_published_position():
    result = mbd.simulate(heavy_top(), 0.2, rtol=1e-11, atol=1e-12, t_eval=[0.2])
    for known, value in zip(CENTER, result["top"].r[-1], strict=True):
        assert abs(value - known.value) <= known.tol, known
