"""Orders over steps: of numbers with a known order, and of methods on a point pendulum whose motion is known in closed form."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import ellipj, ellipk

import haugmbd as mbd
from haugmbd.simulation.stepping.progress import Progress
from haugmbd.study.comparison import runs as cell_module
from haugmbd.study.order_fit import fit_order
from tests.support.point_pendulum import point_pendulum

plt = pytest.importorskip("matplotlib.pyplot")

STEPS = (0.04, 0.02, 0.01)
ORDER = 0.3
"""Of a fitted order at these steps, which are coarse; seen: 0.23 (the multipliers of RK4), 0.15 elsewhere. It is no matter of rounding."""
EXACT = 1e-9
"""Of a line through points of a line."""
METHODS = {
    "RK4": (mbd.Method(integrator=mbd.RK4(), label="RK4"), 4, 4),
    "Heun": (mbd.Method(integrator=mbd.Heun(), label="Heun"), 2, 2),
    "index 3": (mbd.Method(integrator=mbd.GeneralizedAlpha(constraint_form=mbd.Index3()), label="index 3"), 2, 2),
    "RATTLE": (mbd.Method(integrator=mbd.RATTLE(), label="RATTLE"), 2, 1),
}
"""By label: the method, its order in positions, and that of its multipliers."""
GROUPS = ("positions", "velocities", "multipliers", "energy")
T_END = 0.8


@pytest.fixture(scope="module")
def found():
    methods = [method for method, *_ in METHODS.values()]
    return mbd.convergence(point_pendulum(), methods, T_END, h=STEPS, groups=GROUPS, outputs={"x": lambda r: r["mass"].r[:, 0]})


def exact_position(t: float) -> np.ndarray:
    """The closed form: sin(theta / 2) = k sn(K - w t, k), released at theta = 90 degrees, k = sin 45 degrees."""
    k = np.sqrt(0.5)
    half = np.arcsin(k * ellipj(ellipk(k * k) - np.sqrt(9.81) * t, k * k)[0])
    return np.array([np.sin(2.0 * half), -np.cos(2.0 * half), 0.0])


@pytest.mark.slow
@pytest.mark.parametrize("label", METHODS)
def test_methods_have_their_orders_in_every_group(found, label):
    _, order, of_multipliers = METHODS[label]
    for group in ("positions", "velocities", "x"):
        assert found.order(label, group) == pytest.approx(order, abs=ORDER)
    assert found.order(label, "multipliers") == pytest.approx(of_multipliers, abs=ORDER)
    assert found.order(label, "positions").confidence < 3.0 * ORDER  # one degree of freedom: t = 12.7
    assert found.order(label, "positions").limits == ()


@pytest.mark.slow
def test_the_order_is_that_of_the_errors_against_the_closed_form(found):
    errors = []
    for h in STEPS:
        run = mbd.simulate(point_pendulum(), T_END, h=h)
        errors.append(np.linalg.norm(run["mass"].r[-1] - exact_position(T_END)))
    np.testing.assert_allclose(found.errors("RK4", "positions", where="end"), errors, rtol=1e-3)
    slope = np.polyfit(np.log(STEPS), np.log(errors), 1)[0]
    assert found.order("RK4", "positions", where="end") == pytest.approx(slope, abs=1e-3)


@pytest.mark.slow
def test_errors_are_compared_at_the_times_that_all_steps_reach(found):
    np.testing.assert_allclose(found.t, np.linspace(0.0, T_END, 21), atol=1e-12)
    other = mbd.convergence(point_pendulum(), [METHODS["RK4"][0]], T_END, h=[0.04, 0.03], groups="positions")
    assert other.t[-1] == T_END
    assert len(other.t) < 10
    assert np.isnan(other.order("RK4", "positions").confidence)


def test_the_table_and_the_plot_show_the_orders(found):
    lines = str(found).splitlines()
    assert lines[1].split() == ["method", *GROUPS, "x"]
    assert lines[3].startswith("RK4")
    assert "+-" in lines[3]
    ax = found.plot("multipliers")
    names = [text.get_text() for text in ax.get_legend().get_texts()]
    assert names == [f"{label}: {float(found.order(label, 'multipliers')):.2f}" for label in METHODS]
    drawn = next(line for line in ax.lines if len(line.get_xdata()) == 3)
    np.testing.assert_array_equal(drawn.get_ydata(), found.errors("RK4", "multipliers"))
    plt.close("all")


@pytest.mark.slow
def test_failed_runs_and_a_poor_reference_are_flagged():
    poor = mbd.Method(integrator=mbd.RK4(h=0.02))
    method = mbd.Method(integrator=mbd.RK4(), label="RK4")
    found = mbd.convergence(point_pendulum(), [method], T_END, h=[0.04, 0.02, 0.01, 0.005], groups="positions", reference=poor)
    order = found.order("RK4", "positions")
    assert order.flags[1:] == ("reference",) * 3
    ax = found.plot()
    assert "reference not good enough" in [text.get_text() for text in ax.get_legend().get_texts()]
    plt.close("all")
    wild = mbd.Method(integrator=mbd.RK4(), stabilization=mbd.Baumgarte(200.0, 200.0), label="wild")
    found = mbd.convergence(point_pendulum(), [wild], 4.0, h=[0.04, 0.02, 0.005, 0.0025], groups="positions")
    assert found.order("wild", "positions").flags[:2] == ("failed", "failed")
    assert np.isnan(found.errors("wild", "positions")[:2]).all()
    assert found.reasons.keys() == {("wild", 0.04), ("wild", 0.02)}
    assert "wild at 0.04" in str(found)


def test_combinations_that_cannot_be_run_are_told():
    some = mbd.methods(integrators=[mbd.RK4(), mbd.RATTLE()], stabilizations=[mbd.Baumgarte(5.0, 5.0)])
    found = mbd.convergence(point_pendulum(), some, 0.4, h=[0.04, 0.02], groups="positions")
    assert len(found.labels) == len(found.reasons) == 1
    (refused,) = some.refused
    assert f"{refused.label}: {refused.reason}" in str(found)


@pytest.mark.parametrize("order", [1, 2, 4, 0.5])
def test_a_line_has_its_slope(order):
    h = np.array([0.01, 0.04, 0.02, 0.08])
    found = fit_order(h, 3.0 * h**order, 0.0, 1.0 / h)
    assert found == pytest.approx(order, rel=EXACT)
    assert found.constant == pytest.approx(3.0, rel=1e-6)
    assert found.confidence < EXACT
    assert (found.points, found.limits) == (4, ())
    np.testing.assert_array_equal(found.h, [0.08, 0.04, 0.02, 0.01])
    np.testing.assert_allclose(found.local, order, rtol=EXACT)


def test_points_that_something_else_limits_do_not_count():
    h = 0.1 * 0.5 ** np.arange(8)
    errors, steps = h**4, 1.0 / h
    floored = fit_order(h, errors + 1e-8, 0.0, steps)
    assert floored.flags == ("",) * 3 + ("stalled",) * 5
    assert floored == pytest.approx(4.0, abs=0.05)
    assert fit_order(h, np.maximum(errors, 1e-8), 1e-8, steps) == pytest.approx(4.0, rel=EXACT)
    assert fit_order(h, np.maximum(errors, 1e-8), 1e-8, steps).limits == ("reference",)
    assert fit_order(h, 1e-9 * errors, 0.0, steps).limits == ("rounding",)
    assert fit_order(h, np.where(h > 0.04, np.nan, errors), 0.0, steps).flags[:2] == ("failed", "failed")
    wild = np.where(h > 0.04, 30.0 * errors, errors)
    assert fit_order(h, wild, 0.0, steps).flags[:2] == ("coarse", "coarse")
    assert fit_order(h, wild, 0.0, steps) == pytest.approx(4.0, rel=EXACT)
    none = fit_order(h, np.full(8, np.nan), 0.0, steps)
    assert np.isnan(none)
    assert none.points == 0


@pytest.mark.slow
def test_the_confidence_covers_the_order(rng):
    """Of 200 fits of noisy errors, 95 % hold the order: 190 +- 9 (three standard deviations)."""
    h = 0.1 * 0.6 ** np.arange(6)
    held = 0
    for _ in range(200):
        found = fit_order(h, h**3 * np.exp(0.05 * rng.normal(size=6)), 0.0, 1.0 / h)
        held += abs(found - 3.0) < found.confidence
    assert 175 <= held <= 200


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"h": [0.1]}, "h = .* 2 or more different ones"),
        ({"h": [0.1, -0.1]}, "h = .* finite and positive"),
        ({"h": "a"}, "h = 'a' must be numbers"),
        ({"h": [1.0, 2.0]}, "RK4: the step h = 2 s is larger than the interval of 1 s"),
        ({"methods": []}, "there is no method"),
        ({"methods": [mbd.RK4()]}, "is not a Method"),
        ({"methods": 3}, "3 is not a Method"),
        ({"methods": [mbd.Method(label="a"), mbd.Method(label="a")]}, "2 methods have the label 'a'"),
        ({"methods": [mbd.Method()]}, "needs methods of fixed step, and 'DormandPrince"),
        ({"groups": "speed"}, "unknown group 'speed'"),
        ({"t_end": -1.0}, "t_end = -1 s must be finite"),
        ({"t_end": "a"}, "t_end = 'a' must be a number"),
        ({"state": 3}, "state = 3 must be a State"),
    ],
)
def test_bad_input_is_refused(given, message):
    given = {"methods": [METHODS["RK4"][0]], "t_end": 1.0, "h": STEPS} | given
    with pytest.raises(mbd.UsageError, match=message):
        mbd.convergence(point_pendulum(), given.pop("methods"), given.pop("t_end"), **given)


def test_wrong_names_say_which_one_was_meant(found):
    with pytest.raises(mbd.UsageError, match="no method 'RK5'.*did you mean 'RK4'"):
        found.order("RK5", "positions")
    with pytest.raises(mbd.UsageError, match="no group 'position'.*did you mean 'positions'"):
        found.order("RK4", "position")
    with pytest.raises(mbd.UsageError, match="where is 'begin'"):
        found.errors("RK4", "positions", where="begin")


THREE_STEPS = {"h": [0.04, 0.02, 0.01]}
TOLERANCES = {"rtol": [1e-5, 1e-7], "atol": [1e-6, 1e-8]}
RK4, DOPRI = [mbd.Method(integrator=mbd.RK4())], mbd.Method(integrator=mbd.DormandPrince())
REFERENCE = mbd.Method(integrator=mbd.RK4(h=0.002))
STUDIES = {
    "convergence": lambda **more: mbd.convergence(point_pendulum(), RK4, 0.2, **THREE_STEPS, **more),
    "work_precision": lambda **more: mbd.work_precision(point_pendulum(), RK4, 0.2, repeats=1, **THREE_STEPS, **more),
    "tolerance_map": lambda **more: mbd.tolerance_map(point_pendulum(), t_end=0.2, method=DOPRI, **TOLERANCES, **more),
    "projection_interval": lambda **more: mbd.projection_interval(point_pendulum(), every=[1, 2, 4], h=0.01, t_end=0.2, **more),
}


@pytest.mark.parametrize("name", STUDIES)
def test_one_ctrl_c_ends_a_study_and_the_runs_before_it_are_kept(monkeypatch, name):
    """`simulate` returns what it has; the other runs followed, and each needed a Ctrl-C of its own."""
    began, shown = [], []
    run_cell = cell_module.run_cell

    def struck(method, *given, **more):
        began.append(method)
        if len(began) == 2:
            return cell_module.Cell(method.label, cell_module.NOT_RUN, "interrupted by Ctrl-C", method)
        return run_cell(method, *given, **more)

    monkeypatch.setattr(cell_module, "run_cell", struck)
    monkeypatch.setattr(Progress, "reach", lambda self, now: shown.append((now, self._stop)))
    found = STUDIES[name](reference=REFERENCE, groups=["positions"], progress=True)
    assert len(began) == 2
    assert any(now == stop > 2 for now, stop in shown)
    assert str(found)
    with pytest.raises(mbd.UsageError, match="progress = 1 must be True or False"):
        STUDIES[name](progress=1)
