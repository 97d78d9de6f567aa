"""Methods at several settings: costs for an error, tolerances, intervals of projection."""

from __future__ import annotations

import numpy as np
import pytest

import haugmbd as mbd
from tests.support.point_pendulum import point_pendulum

plt = pytest.importorskip("matplotlib.pyplot")

GROUPS = ("positions", "energy")
RK4 = mbd.Method(integrator=mbd.RK4(), label="RK4")
ADAPTIVE = mbd.Method(integrator=mbd.DormandPrince(), label="adaptive")
SLOPE = 0.15
"""Of exponents over the steps without projection; seen: 0.02 and 0.06."""


@pytest.fixture(scope="module")
def model():
    return point_pendulum().compile()


@pytest.fixture(scope="module")
def work(model):
    return mbd.work_precision(model, [RK4, ADAPTIVE], 1.0, h=[0.01, 0.04, 0.02], rtol=[1e-4, 1e-6, 1e-8], groups=GROUPS, repeats=1)


def test_errors_and_costs_are_those_of_the_runs(model, work):
    np.testing.assert_array_equal(work.settings["RK4"], [0.04, 0.02, 0.01])
    np.testing.assert_array_equal(work.cost("RK4", "steps"), [25, 50, 100])
    assert (work.cost("RK4") > 0.0).all()
    exact = mbd.simulate(model, 1.0, integrator=mbd.DOP853(rtol=1e-12, atol=1e-13))
    for k, (h, rtol) in enumerate(zip(work.settings["RK4"], work.settings["adaptive"], strict=True)):
        for label, run in (
            ("RK4", mbd.simulate(model, 1.0, h=h)),
            ("adaptive", mbd.simulate(model, 1.0, rtol=rtol, atol=rtol / 10)),
        ):
            error = np.linalg.norm(run.r[-1, 1] - exact.r[-1, 1]) / model.length
            assert work.errors(label, "positions", where="end")[k] == pytest.approx(error, rel=0.01)
            assert work.cost(label, "evaluations")[k] == run.counters.evaluations


def test_costs_at_equal_error_are_interpolated_and_not_extrapolated(work):
    errors, steps = work.errors("RK4", "positions"), work.cost("RK4", "steps")
    for error, cost in zip(errors, steps, strict=True):
        assert work.cost_at("RK4", error, cost="steps") == pytest.approx(cost, rel=1e-9)
    between = work.cost_at("RK4", np.sqrt(errors[0] * errors[1]), cost="steps")
    assert between == pytest.approx(np.sqrt(steps[0] * steps[1]), rel=1e-9)
    assert np.isnan(work.cost_at("RK4", 0.9 * errors[-1]))
    assert np.isnan(work.cost_at("RK4", 1.1 * errors[0]))


def test_the_table_the_rows_and_the_plot_show_the_same_numbers(work):
    rows = work.rows()
    assert [row["method"] for row in rows] == ["RK4"] * 3 + ["adaptive"] * 3
    assert [row["error_positions_max"] for row in rows[:3]] == list(work.errors("RK4", "positions"))
    assert {row["status"] for row in rows} == {"completed"}
    assert len(str(work).splitlines()) == 8
    ax = work.plot("energy", cost="evaluations")
    line = next(line for line in ax.lines if line.get_label() == "adaptive")
    np.testing.assert_array_equal(line.get_xdata(), work.cost("adaptive", "evaluations"))
    np.testing.assert_array_equal(line.get_ydata(), work.errors("adaptive", "energy"))
    assert ax.get_xlabel() == "evaluations"
    plt.close("all")


def test_rows_become_a_data_frame(work):
    pd = pytest.importorskip("pandas")
    frame = work.to_pandas()
    assert isinstance(frame, pd.DataFrame)
    assert list(frame["method"]) == [row["method"] for row in work.rows()]


@pytest.mark.slow
def test_failures_are_rows(model):
    wild = mbd.Method(integrator=mbd.RK4(), stabilization=mbd.Baumgarte(400.0, 400.0), label="wild")
    found = mbd.work_precision(model, [wild], 2.0, h=[0.02, 0.001], groups=GROUPS, repeats=1)
    assert [row["status"] for row in found.rows()] == ["failed", "completed"]
    assert found.reasons.keys() == {("wild", 0.02)}
    assert np.isnan(found.cost("wild", "steps")[0])
    found.plot()
    plt.close("all")


@pytest.fixture(scope="module")
def tolerances(model):
    return mbd.tolerance_map(model, rtol=[1e-8, 1e-4, 1e-6], atol=[1e-5, 1e-9], t_end=1.0, groups=GROUPS)


def test_cells_of_the_tolerance_map_are_runs(model, tolerances):
    np.testing.assert_array_equal(tolerances.rtol, [1e-4, 1e-6, 1e-8])
    exact = mbd.simulate(model, 1.0, integrator=mbd.DOP853(rtol=1e-12, atol=1e-13))
    for i, rtol in enumerate(tolerances.rtol):
        for j, atol in enumerate(tolerances.atol):
            run = mbd.simulate(model, 1.0, rtol=rtol, atol=atol)
            assert tolerances["steps"][i, j] == run.counters.steps
            error = np.linalg.norm(run.r[-1, 1] - exact.r[-1, 1]) / model.length
            assert tolerances["positions"][i, j] == pytest.approx(error, rel=0.01, abs=1e-10)
    assert (np.diff(tolerances["steps"][:, 1]) > 0).all()
    assert (tolerances["violation_position"] < 1e-12).all()


def test_the_tolerance_map_is_drawn_with_both_tolerances_rising(tolerances):
    ax = tolerances.plot("energy")
    drawn = ax.collections[0].get_array().reshape(2, 3).T
    np.testing.assert_array_equal(drawn, tolerances["energy"][::-1, ::-1])
    assert (ax.get_xscale(), ax.get_yscale()) == ("log", "log")
    assert "1e-04" in str(tolerances)
    with pytest.raises(mbd.UsageError, match="no values 'energi'.*did you mean 'energy'"):
        tolerances.plot("energi")
    plt.close("all")


@pytest.fixture(scope="module")
def intervals(model):
    every = [1, 2, 3, 5, 9]
    return mbd.projection_interval(model, every=every, h=0.01, t_end=4.0, stabilization=mbd.Projection(tol=1e-15), groups=GROUPS)


@pytest.mark.slow
def test_violation_grows_with_the_steps_between_projections_and_its_square(model, intervals):
    assert intervals.slope("velocity")[0] == pytest.approx(1.0, abs=SLOPE)
    assert intervals.slope("position")[0] == pytest.approx(1.8, abs=2.0 * SLOPE)  # m^2 and a smaller term m
    for k, n in enumerate(intervals.every):
        run = mbd.simulate(model, 4.0, h=0.01, stabilization=mbd.Projection(tol=1e-15, every=int(n)))
        for level in ("position", "velocity"):
            assert intervals.violation[level][k] == np.abs(run.violation(level)).max()
        assert intervals.factorizations[k] == run.counters.factorizations
        assert intervals.energy_drift[k] == pytest.approx(np.abs(run.energy().drift).max(), rel=1e-6)
    never = mbd.simulate(model, 4.0, h=0.01, stabilization=None)
    assert intervals.without["position"] == np.abs(never.violation()).max()
    assert (np.diff(intervals.factorizations) < 0.0).all()


@pytest.mark.slow
def test_the_intervals_are_drawn_and_printed(intervals):
    ax = intervals.plot()
    np.testing.assert_array_equal(ax.lines[0].get_xdata(), intervals.every)
    assert len(str(intervals).splitlines()) == 8
    assert "without projection: position 1.1e-05" in str(intervals)
    plt.close("all")


def test_bad_input_is_refused(model):
    with pytest.raises(mbd.UsageError, match="'RK4' take a fixed step: give h"):
        mbd.work_precision(model, [RK4], 1.0)
    with pytest.raises(mbd.UsageError, match="rtol = .* finite and positive"):
        mbd.work_precision(model, [ADAPTIVE], 1.0, rtol=[0.0])
    with pytest.raises(mbd.UsageError, match="repeats = 0"):
        mbd.work_precision(model, [ADAPTIVE], 1.0, repeats=0)
    with pytest.raises(mbd.UsageError, match="must be a Method with error control"):
        mbd.tolerance_map(model, rtol=1e-6, atol=1e-8, t_end=1.0, method=RK4)
    for every in ([0], [1.5], [], "a", [True]):
        with pytest.raises(mbd.UsageError, match="whole numbers of steps"):
            mbd.projection_interval(model, every=every, h=0.01, t_end=1.0)
    with pytest.raises(mbd.UsageError, match=r"must be Projection\(...\)"):
        mbd.projection_interval(model, every=2, h=0.01, t_end=1.0, stabilization=mbd.Baumgarte(1.0, 1.0))
    with pytest.raises(mbd.UsageError, match="needs a method of fixed step"):
        mbd.projection_interval(model, every=2, h=0.01, t_end=1.0, integrator=mbd.DormandPrince())


@pytest.mark.slow
def test_wrong_names_say_which_one_was_meant(work, intervals):
    with pytest.raises(mbd.UsageError, match="no cost 'step'.*did you mean 'steps'"):
        work.cost("RK4", "step")
    with pytest.raises(mbd.UsageError, match="no method 'RK3'.*did you mean 'RK4'"):
        work.errors("RK3", "positions")
    with pytest.raises(mbd.UsageError, match="error = 0.0 must be finite and positive"):
        work.cost_at("RK4", 0.0)
    with pytest.raises(mbd.UsageError, match="no level 'positions'.*did you mean 'position'"):
        intervals.slope("positions")
