"""Measured orders: with Baumgarte, of dense output; error control, batches, counters.  The orders of the methods: `test_explicit`."""

from __future__ import annotations

import numpy as np
import pytest

import haugmbd as mbd
from haugmbd.gallery import double_pendulum, heavy_top
from haugmbd.integrators.dense_output import interpolate
from tests.support.models import model_of


def slope(steps: tuple[int, ...], errors: list[float]) -> float:
    """The order that errors at these numbers of steps show."""
    return float(-np.polyfit(np.log(steps), np.log(errors), 1)[0])


def errors_of(make, t_end: float, steps: tuple[int, ...], method, stabilization) -> list[float]:
    """Errors (root mean square over 20 times and all states) of `method(h)` against a run at 1e-13."""
    exact = mbd.simulate(model_of(make), t_end, rtol=1e-13, atol=1e-13, t_eval=np.linspace(0.0, t_end, 21)).y
    errors = []
    for n in steps:
        result = mbd.simulate(model_of(make), t_end, integrator=method(t_end / n), stabilization=stabilization, store_every=n // 20)
        assert (result.counters.steps, result.counters.rejected) == (n, 0)
        errors.append(float(np.sqrt(np.mean((result.y - exact) ** 2))))
    return errors


def test_baumgarte_keeps_the_order():
    """The feedback vanishes on the constraints: the order stays four."""
    steps = (80, 160, 320)
    errors = errors_of(heavy_top, 0.1, steps, mbd.RK4, mbd.Baumgarte(alpha=5.0, beta=5.0))
    assert slope(steps, errors) == pytest.approx(4.0, abs=0.15)


@pytest.mark.slow
def test_adaptive_error_follows_the_tolerance(case):
    """Ten times the tolerance, about ten times the error, over six decades."""
    tolerances = np.array([1e-5, 1e-7, 1e-9, 1e-11])
    exact = mbd.simulate(model_of(case.make), case.t_end, rtol=1e-13, atol=1e-13).y[-1]
    errors = [np.abs(mbd.simulate(model_of(case.make), case.t_end, rtol=tol, atol=tol).y[-1] - exact).max() for tol in tolerances]
    assert np.polyfit(np.log(tolerances), np.log(errors), 1)[0] == pytest.approx(1.0, abs=0.25)
    assert errors[-1] < 1e-7


@pytest.mark.slow
def test_dense_output_has_order_six_and_five(case):
    """Hermite interpolation of a fine run between every n-th of its own states: the method's own error does not enter."""
    fine = 1920
    result = mbd.simulate(model_of(case.make), case.t_end, h=case.t_end / fine)
    n = result.model.nb + 1
    rates = np.zeros_like(result.y).reshape(len(result), n, 13)
    p, w = result.p, result.omega_bar
    rates[..., 0:3], rates[..., 7:10], rates[..., 10:13] = result.v, result.v_dot, result.omega_bar_dot
    rates[..., 3] = -0.5 * np.sum(p[..., 1:] * w, axis=-1)
    rates[..., 4:7] = 0.5 * (p[..., :1] * w + np.cross(p[..., 1:], w))
    rates[:, 0] = 0.0
    y_dot = rates.reshape(len(result), -1)
    position, velocity = [], []
    for k in case.knots:
        every = fine // k
        found = interpolate(result.t, result.t[::every], result.y[::every], y_dot[::every], n).reshape(len(result), n, 13)
        gap = (found - result.y.reshape(len(result), n, 13)) ** 2
        position.append(float(np.sqrt(np.mean(gap[..., :7]))))
        velocity.append(float(np.sqrt(np.mean(gap[..., 7:]))))
    assert slope(case.knots, position) == pytest.approx(6.0, abs=0.15)
    assert slope(case.knots, velocity) == pytest.approx(5.0, abs=0.15)


@pytest.mark.slow
def test_t_eval_does_not_change_the_steps(case):
    """States at wanted times come from dense output; the steps are the same as without."""
    make, t_end = case.make, case.t_end
    free = mbd.simulate(model_of(make), t_end, rtol=1e-9, atol=1e-9)
    asked = mbd.simulate(model_of(make), t_end, rtol=1e-9, atol=1e-9, t_eval=np.linspace(0.0, t_end, 37))
    assert (free.counters.steps, free.counters.evaluations) == (asked.counters.steps, asked.counters.evaluations)
    np.testing.assert_array_equal(asked.t, np.linspace(0.0, t_end, 37))
    np.testing.assert_allclose(asked.y[[0, -1]], free.y[[0, -1]], rtol=0.0, atol=1e-13)
    exact = mbd.simulate(model_of(make), t_end, rtol=1e-13, atol=1e-13, t_eval=asked.t)
    scale = np.abs(exact.y).max()
    assert np.abs(asked.y - exact.y).max() < 1e-6 * scale


def test_last_step_is_shortened_to_the_end():
    """h does not divide the interval: full steps, and one that ends at t_end; the state is that of the end."""
    result = mbd.simulate(model_of(double_pendulum), 0.25, h=0.02)
    np.testing.assert_allclose(np.diff(result.t), [0.02] * 12 + [0.01], rtol=1e-12)
    fine = mbd.simulate(model_of(double_pendulum), 0.25, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(result.y[-1], fine.y[-1], rtol=0.0, atol=1e-5)


@pytest.mark.slow
def test_batches_do_not_show(case):
    """Steps travel in batches of a thousand or fewer; storing every n-th, or all, gives the same states."""
    make = case.make
    everything = mbd.simulate(model_of(make), 0.3, h=1e-4)
    some = mbd.simulate(model_of(make), 0.3, h=1e-4, store_every=700)
    assert len(everything) == 3001
    np.testing.assert_allclose(some.t, [*np.arange(0, 3000, 700) * 1e-4, 0.3], rtol=0.0, atol=1e-15)
    np.testing.assert_array_equal(some.y, everything.y[[*range(0, 3000, 700), 3000]])


def test_drift_of_euler_parameters_is_reported():
    """|p| leaves 1 by the truncation error of a step, is normalised, and the worst and the sum are kept: order five a step."""
    drifts = []
    for n in (100, 200, 400):
        result = mbd.simulate(model_of(heavy_top), 0.1, h=0.1 / n)
        np.testing.assert_allclose(np.linalg.norm(result.p, axis=2), 1.0, rtol=0.0, atol=1e-14)
        c = result.counters
        assert 0.0 < c.max_euler_drift <= c.euler_sum <= n * c.max_euler_drift * (1.0 + 1e-12)
        drifts.append(c.max_euler_drift)
    assert drifts[0] > 1e-9
    assert slope((100, 200, 400), drifts) > 4.5


def test_work_is_counted():
    fixed = mbd.simulate(model_of(double_pendulum), 0.1, h=0.01, stabilization=None).counters
    assert (fixed.steps, fixed.rejected) == (10, 0)
    assert fixed.evaluations == fixed.factorizations == 41  # four a step, and the first
    adaptive = mbd.simulate(model_of(double_pendulum), 0.1, rtol=1e-9, atol=1e-9, stabilization=None).counters
    assert adaptive.evaluations == 6 * (adaptive.steps + adaptive.rejected) + 1  # the seventh stage is the next step's first
