"""Drift laws: signals whose law is known, and the laws of a point pendulum, which come out of fits."""

from __future__ import annotations

import numpy as np
import pytest

import haugmbd as mbd
from haugmbd import drift_law
from haugmbd.gallery import four_bar
from haugmbd.study.drift_law import LAWS
from tests.support.point_pendulum import point_pendulum

plt = pytest.importorskip("matplotlib.pyplot")

H = 1e-2
ORDER = 0.1
"""Of a fitted exponent; seen: 0.002 to 0.01."""
FIT = 1e-6
"""Of a fit to numbers without noise, relative."""
HALF = 0.1
"""Of the exponent of one random walk with 2000 steps: three standard deviations."""
T = np.linspace(0.0, 10.0, 500)
WAVE = np.sin(3.0 * T)


@pytest.fixture(scope="module")
def model():
    return point_pendulum().compile()


@pytest.fixture(scope="module")
def drift(model):
    """Make `drift(t_end, level, h, **methods)`: the law of a run."""

    def law(t_end: float, level: str = "position", h: float | None = H, **methods):
        return drift_law(mbd.simulate(model, t_end, h=h, **methods), level=level)

    return law


def only(*, positions: bool, velocities: bool) -> mbd.Projection:
    return mbd.Projection(tol=1e-15, positions=positions, velocities=velocities)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("y", "law", "exponent"),
    [
        (0.0 * T, "constant", 0.0),
        (0.0 * T + 3.0, "constant", 0.0),
        (3.0 + 0.1 * WAVE, "constant", 0.0),
        (5.0 - 2.0 * T, "linear", 1.0),
        (1e-15 * T**2, "quadratic", 2.0),
        (T**2 - 8.0 * T, "quadratic", 2.0),
        (T**3, "quadratic", 3.0),
        (np.sqrt(T), "linear", 0.5),
        (1e-9 * np.exp(0.5 * T), "exponential", 0.5),
        (7.0 * np.exp(-T), "exponential", -1.0),
        (WAVE, "oscillating", 0.0),
        (0.05 * T + WAVE, "oscillating", 0.0),
    ],
)
def test_signals_of_a_known_law(y, law, exponent):
    found = drift_law(T, y)
    assert (found.law, found.exponent) == (law, pytest.approx(exponent, rel=FIT, abs=1e-12))
    assert drift_law(T, -1e3 * y).law == law
    assert found.evidence.keys() == {*LAWS, "power"}
    assert "taken" in found.evidence[law].note
    assert law in str(found)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("y", "law", "exponent"),
    [
        (T + WAVE, "linear", 1.0),
        (0.1 * T**2 + WAVE, "quadratic", 2.0),
        (T * WAVE, "linear", 1.0),
        (T**2 * WAVE, "quadratic", 2.0),
        (np.abs(T**2 * WAVE), "quadratic", 2.0),
        (np.exp(0.5 * T) * np.cos(5.0 * T), "exponential", 0.5),
        (np.exp(-0.5 * T) * np.cos(5.0 * T), "exponential", -0.5),
    ],
)
def test_what_grows_while_it_oscillates_follows_the_law_of_its_trend_or_amplitude(y, law, exponent):
    found = drift_law(T, y)
    assert (found.law, found.exponent) == (law, pytest.approx(exponent, abs=ORDER))


def test_coefficients_are_those_of_the_signal():
    found = drift_law(T + 5.0, 2.0 - 3.0 * T + 0.5 * T**2)
    assert found.coefficients == pytest.approx({"constant": 2.0, "per_s": -3.0, "per_s2": 0.5}, rel=FIT)
    found = drift_law(T + 5.0, 1.0 + 2e-3 * np.exp(0.7 * T))
    assert found.coefficients == pytest.approx({"constant": 1.0, "amplitude": 2e-3, "rate": 0.7}, rel=1e-5)
    np.testing.assert_allclose(found.trend, found.y, rtol=FIT)
    assert drift_law(T, 5.0 + 0.1 * WAVE).swing == pytest.approx(0.2, rel=0.05)


@pytest.mark.slow
def test_noise_walks_and_drifts_are_told_apart(rng):
    t = np.linspace(0.0, 10.0, 2000)
    step = rng.normal(size=t.size)
    walk = drift_law(t, step.cumsum())
    assert (walk.law, walk.exponent) == ("random walk", pytest.approx(0.5, abs=HALF))
    assert drift_law(t, (step + 1.0).cumsum()).law == "linear"
    assert drift_law(t, step).law == "constant"
    trend = drift_law(t, t**2 + 5.0 * step)
    assert (trend.law, trend.exponent) == ("quadratic", pytest.approx(2.0, abs=3.0 * trend.exponent_error))
    assert trend.exponent_error < ORDER


def test_rounding_errors_walk(rng):
    """Errors of a long sum in single precision, over a part in which the unit of rounding stays."""
    x = rng.uniform(size=16000).astype(np.float32)
    error = np.cumsum(x, dtype=np.float32) - np.cumsum(x, dtype=np.float64)
    found = drift_law(np.arange(7000.0), error[8500:15500])
    assert (found.law, found.exponent) == ("random walk", pytest.approx(0.5, abs=HALF))


@pytest.mark.slow
def test_rk4_without_stabilization_drifts_like_t2(drift):
    position, rate = drift(40.0, stabilization=None), drift(40.0, "velocity", stabilization=None)
    assert position.y[-1] == pytest.approx(-1.15e-3, rel=0.01)
    assert (position.law, position.exponent) == ("quadratic", pytest.approx(2.0, abs=ORDER))
    assert (rate.law, rate.exponent) == ("linear", pytest.approx(1.0, abs=ORDER))
    halved = drift(40.0, h=H / 2.0, stabilization=None)
    assert np.log2(position.y[-1] / halved.y[-1]) == pytest.approx(4.0, abs=ORDER)
    assert position.coefficients["per_s2"] * 40.0**2 == pytest.approx(-1.15e-3, rel=0.05)


@pytest.mark.slow
def test_projection_of_velocities_leaves_a_drift_like_t_h5(drift):
    found = drift(40.0, stabilization=only(positions=False, velocities=True))
    assert found.y[-1] == pytest.approx(-3.2e-7, rel=0.01)
    assert (found.law, found.exponent) == ("linear", pytest.approx(1.0, abs=ORDER))
    halved = drift(40.0, h=H / 2.0, stabilization=only(positions=False, velocities=True))
    assert np.log2(found.y[-1] / halved.y[-1]) == pytest.approx(5.0, abs=ORDER)


@pytest.mark.slow
def test_projection_of_positions_leaves_a_rate_like_t_h4_and_an_energy_like_t2(model):
    runs = [mbd.simulate(model, 40.0, h=h, stabilization=only(positions=True, velocities=False)) for h in (H, H / 2.0)]
    rates = [drift_law(run, level="velocity") for run in runs]
    assert (rates[0].law, rates[0].exponent) == ("linear", pytest.approx(1.0, abs=ORDER))
    assert np.log2(rates[0].y[-1] / rates[1].y[-1]) == pytest.approx(4.0, abs=ORDER)
    energy = drift_law(runs[0].t, runs[0].energy().drift)
    assert (energy.law, energy.exponent) == ("quadratic", pytest.approx(2.0, abs=ORDER))


def test_what_a_projection_leaves_is_rounding(drift):
    found = drift(10.0, stabilization=only(positions=True, velocities=True))
    assert (found.law, found.exponent) == ("constant", 0.0)
    assert "rounding" in found.evidence["constant"].note
    assert drift(10.0, "velocity", stabilization=only(positions=True, velocities=True)).law == "constant"


@pytest.mark.slow
def test_baumgarte_is_bounded_like_h4(drift):
    rules = {"stabilization": mbd.Baumgarte(10.0, 10.0)}
    found, halved = drift(40.0, **rules), drift(40.0, h=H / 2.0, **rules)
    assert (found.law, found.exponent) == ("oscillating", 0.0)
    assert np.log2(found.swing / halved.swing) == pytest.approx(4.0, abs=ORDER)


@pytest.mark.slow
@pytest.mark.parametrize(("form", "level"), [(mbd.Index2(), "position"), (mbd.Index3(), "velocity")])
def test_generalized_alpha_is_bounded_where_it_does_not_solve(drift, form, level):
    found = drift(20.0, level, h=None, integrator=mbd.GeneralizedAlpha(H, constraint_form=form))
    assert (found.law, found.exponent) == ("oscillating", 0.0)
    assert found.swing > 1e-5


@pytest.mark.slow
def test_heun_oscillates_before_it_drifts(drift):
    laws = [drift(t_end, integrator=mbd.Heun(), stabilization=None).law for t_end in (5.0, 10.0, 40.0)]
    assert laws == ["oscillating", "oscillating", "quadratic"]


@pytest.mark.slow
def test_several_rows_are_one_norm_in_units_of_the_length(model):
    run = mbd.simulate(four_bar(), 1.0, h=H, stabilization=None)
    found = drift_law(run)
    assert found.name == "|Phi| of all rows [1]"
    units = np.array([run.model.length if label.unit == "m" else 1.0 for label in run.model.labels])
    np.testing.assert_allclose(found.y, np.linalg.norm(run.violation() / units, axis=1), rtol=1e-12)
    joint = next(iter(run.model.joints))
    assert drift_law(run, joint=joint).name == f"|Phi| of {joint!r} [1]"
    one = mbd.simulate(model, 1.0, h=H, stabilization=None)
    assert drift_law(one, level="velocity").name == "Phi_q u - nu of 'bar' [m2/s]"
    np.testing.assert_array_equal(drift_law(one).y, one.violation()[:, 0])


def test_the_plot_shows_signal_and_trend(drift):
    found = drift(5.0, stabilization=None)
    ax = found.plot()
    signal, trend = ax.lines
    np.testing.assert_array_equal(signal.get_ydata(), found.y)
    np.testing.assert_array_equal(trend.get_ydata(), found.trend)
    assert ax.get_title(loc="left").startswith("quadratic, exponent 2")
    assert ax.get_ylabel() == "Phi of 'bar' [m2]"
    plt.close("all")


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda run: drift_law(T, T[:-1]), r"t has shape \(500,\) and y \(499,\)"),
        (lambda run: drift_law(T[:15], T[:15]), "15 samples, a law needs 16"),
        (lambda run: drift_law(T[::-1], T), r"t must increase, but t\[1\]"),
        (lambda run: drift_law(T, np.where(T > 5.0, np.nan, T)), r"y\[250\] is nan"),
        (lambda run: drift_law(T, ["a"] * 500), "must be real numbers"),
        (lambda run: drift_law(T), "ndarray is not a Result"),
        (lambda run: drift_law(T, T, level="position"), "level and joint belong to a result"),
        (lambda run: drift_law(run, T), "not both"),
        (lambda run: drift_law(run, level="positions"), "level is 'positions'"),
        (lambda run: drift_law(run, joint="pin"), "no joint is called 'pin'"),
    ],
)
def test_bad_input_is_refused(model, call, message):
    with pytest.raises(mbd.UsageError, match=message):
        call(mbd.simulate(model, 0.2, h=H))


def test_a_model_without_constraints_is_refused():
    system = mbd.System("free")
    system.add(mbd.Body("b", 1.0, (1.0, 1.0, 1.0)))
    with pytest.raises(mbd.UsageError, match="no constraint rows"):
        drift_law(mbd.simulate(system, 0.2, h=H))
