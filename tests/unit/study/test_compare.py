"""compare: numbers that are found a second way, failures as rows, bad input."""

from __future__ import annotations

import copy
import pickle
import warnings
from types import SimpleNamespace

import numpy as np
import pytest

import haugmbd as mbd
from haugmbd.formulations import FORMULATIONS
from haugmbd.gallery import andrews, double_pendulum, four_bar, heavy_top
from haugmbd.integrators.base import methods_below
from haugmbd.simulation.compatibility import STABILIZATIONS
from haugmbd.simulation.stepping import run
from haugmbd.study.comparison import report
from haugmbd.study.comparison import runs as cell_module

SAME = 1e-9
"""Relative: the same formula a second way."""
T_END, H = 0.4, 0.02
COUNTERS = ("steps", "evaluations", "factorizations", "rejected")


def x_of_rocker(result):
    return result["rocker"].r[:, 0]


@pytest.fixture(scope="module")
def model():
    return four_bar().compile()


@pytest.fixture(scope="module")
def comparison(model):
    rk4 = mbd.RK4(h=H)
    methods = [
        mbd.Method(integrator=rk4, label="RK4"),
        mbd.Method(integrator=mbd.RK4(h=0.5 * H), label="half"),
        mbd.Method(integrator=rk4, stabilization=None, label="drifts"),
        mbd.Method(integrator=rk4, formulation=mbd.Penalty(alpha=100.0), label="penalty"),
        mbd.Method(integrator=mbd.GeneralizedAlpha(h=H), label="alpha"),
        mbd.Method(integrator=mbd.RATTLE(h=H), label="rattle"),
        mbd.Method(integrator=mbd.DOP853(rtol=1e-12, atol=1e-14), label="exact"),
    ]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(cell_module, "REPEATS_FOR", np.inf)  # a busy computer may take longer
        return mbd.compare(model, methods, T_END, outputs={"x": x_of_rocker}, repeats=2)


@pytest.fixture(scope="module")
def exact(model):
    return mbd.simulate(model, T_END, integrator=mbd.DOP853(rtol=1e-12, atol=1e-13))


@pytest.mark.slow
def test_the_table_has_the_columns_of_every_method(comparison):
    table = comparison.to_pandas()
    assert table.index.name == "label"
    assert tuple(table.index) == comparison.labels == ("RK4", "half", "drifts", "penalty", "alpha", "rattle", "exact")
    groups = ("positions", "orientations", "velocities", "multipliers", "reactions", "energy", "outputs", "x")
    wanted = [f"error_{group}_{what}" for group in groups for what in ("end", "max")]
    wanted += [f"violation_{level}_{what}" for level in ("position", "velocity", "acceleration") for what in ("max", "rms", "end")]
    assert set(table.columns) >= {*wanted, *COUNTERS, "cpu", "status", "reason"}
    done = table[table.status == "completed"]
    assert len(done) == len(table) - 1
    assert np.isfinite(done[[*wanted, *COUNTERS, "cpu"]].to_numpy(dtype=float)).all()
    assert (done.cpu > 0.0).all()
    assert (done.runs == 2).all()


@pytest.mark.slow
def test_errors_are_those_of_the_states(comparison, exact):
    """Against a run of its own, at the end of the run, for each scale a formula of its own."""
    table = comparison.to_pandas()
    for label in ("RK4", "half", "drifts", "penalty", "alpha"):
        result, row = comparison.results[label], table.loc[label]
        L = result.model.length
        gap = np.linalg.norm(result.r[-1] - exact.r[-1], axis=1).max() / L
        assert row.error_positions_end == pytest.approx(gap, rel=1e-3)
        assert row.error_positions_max >= row.error_positions_end
        x = result["rocker"].r[-1, 0] - exact["rocker"].r[-1, 0]
        assert row.error_x_end == pytest.approx(abs(x) / np.abs(x_of_rocker(exact)).max(), rel=1e-3)
        assert row.error_outputs_end == row.error_x_end
        multipliers = np.abs(result.lam_of_method[-1] - exact.lam[-1])
        assert row.error_multipliers_end > 0.0
        assert multipliers.max() > 0.0
    assert 10.0 < table.error_positions_end["RK4"] / table.error_positions_end["half"] < 24.0  # order four
    assert 10.0 < table.error_multipliers_max["RK4"] / table.error_multipliers_max["half"] < 24.0


@pytest.mark.slow
def test_violations_are_those_of_the_result_and_of_the_method(comparison):
    table = comparison.to_pandas()
    for label, result in comparison.results.items():
        for level in ("position", "velocity", "acceleration"):
            v = np.abs(result.violation(level, of_method=True)).max(axis=1)
            mean = np.sum(0.5 * np.diff(result.t) * (v[1:] ** 2 + v[:-1] ** 2)) / T_END
            row = table.loc[label]
            assert row[f"violation_{level}_max"] == v.max()
            assert row[f"violation_{level}_end"] == v[-1]
            assert row[f"violation_{level}_rms"] == pytest.approx(np.sqrt(mean), rel=SAME)
        for name in COUNTERS:
            assert table.loc[label, name] == getattr(result.counters, name)
        assert table.energy_drift_max[label] == np.abs(result.energy().drift).max()
    acceleration = table.violation_acceleration_max
    assert acceleration["RK4"] < 1e-9 < 1e-3 < acceleration["penalty"]
    assert table.violation_position_max["RK4"] < 1e-11 < table.violation_position_max["drifts"]
    assert table.newton_iterations["alpha"] > table.steps["alpha"]
    assert table.newton_iterations["RK4"] == 0


def test_values_below_the_uncertainty_of_the_reference_are_marked(comparison):
    assert "error_positions_max" in comparison.limited["exact"]
    assert comparison.limited["RK4"] == ()
    band = comparison.uncertainty("error_positions_max")
    assert 1e-16 < band < 1e-10
    assert comparison.to_pandas().error_positions_max["exact"] <= band
    assert np.isnan(comparison.uncertainty("cpu"))
    assert "~" in str(comparison)
    assert "the reference is not good enough" in str(comparison)
    column = "error_energy_max"  # in the tables, not in print
    assert column in comparison.columns
    hidden = copy.copy(comparison)
    vars(hidden)["limited"] = {label: (column,) for label in comparison.labels}
    assert "~" not in str(hidden)


def test_methods_of_two_sets_that_become_the_same_by_the_step_are_compared_once(model):
    both = mbd.methods(integrators=[mbd.RK4(h=H)]) + mbd.methods(integrators=[mbd.Heun(), mbd.RK4()])
    assert [one.label for one in both] == ["RK4(h=0.02), Projection", "Heun, Projection", "RK4, Projection"]
    found = mbd.compare(model, both, 0.1, h=H, reference=False, repeats=1)
    assert found.labels == ("RK4(h=0.02), Projection", "Heun(h=0.02), Projection")
    with pytest.raises(mbd.UsageError, match=r"2 methods have the label 'RK4\(h=0.02\), Projection'"):
        mbd.compare(model, list(both), 0.1, h=H)  # a list is as its author wrote it


def test_what_is_refused_is_a_row_with_its_reason(comparison):
    row = comparison.to_pandas().loc["rattle"]
    assert row.status == "refused"
    assert "have no inertia about some axis" in row.reason
    assert "rattle" not in comparison.results
    assert "rattle: refused: RATTLE needs inertia about every axis" in repr(comparison)


def test_the_same_numbers_as_xarray_and_csv(comparison, tmp_path):
    pytest.importorskip("xarray")
    table, data = comparison.to_pandas(), comparison.to_xarray()
    for name in comparison.columns:
        assert data[name].dims == ("label",)
        same = data[name].values == table[name].to_numpy()
        assert (same | (table[name].isna().to_numpy() if name not in ("status", "reason") else False)).all()
    by_joint = data.violation_position_by_joint.sel(label="drifts", joint="B")
    assert float(by_joint) == comparison.results["drifts"].violation("position", by="joint")["B"].max()
    assert data.error_positions_max.attrs["uncertainty"] == comparison.uncertainty("error_positions_max")
    import pandas as pd

    read = pd.read_csv(comparison.to_csv(tmp_path / "table.csv"), index_col="label", keep_default_na=True)
    assert read.error_positions_end.equals(table.error_positions_end)
    assert read.status.tolist() == table.status.tolist()


@pytest.mark.slow
def test_a_result_is_a_reference_without_known_uncertainty(model, exact):
    found = mbd.compare(model, [mbd.Method(integrator=mbd.RK4(h=H), label="RK4")], T_END, reference=exact, repeats=1)
    assert np.isnan(found.uncertainty("error_positions_max"))
    assert found.limited == {"RK4": ()}
    assert "uncertainty is unknown" in str(found)
    without = mbd.compare(model, [mbd.Method(integrator=mbd.RK4(h=H), label="RK4")], T_END, reference=False, repeats=1)
    assert np.isnan(without.to_pandas().error_positions_end["RK4"])
    assert without.to_pandas().violation_position_max["RK4"] == found.to_pandas().violation_position_max["RK4"]
    fixed = mbd.Method(integrator=mbd.RK4(h=H / 10))
    coarse = mbd.compare(
        model, [mbd.Method(integrator=mbd.RK4(h=H), label="RK4")], T_END, reference=fixed, repeats=1, groups=["energy"]
    )
    assert coarse.groups == ("energy",)
    assert coarse.to_pandas().error_energy_end["RK4"] == pytest.approx(found.to_pandas().error_energy_end["RK4"], rel=1e-2)
    assert coarse.uncertainty("error_energy_end") > 1e-12


def test_methods_without_a_step_get_one_and_refused_ones_are_rows(model):
    methods = mbd.methods(formulations=[mbd.NewtonEuler(), mbd.NullSpace()], integrators=[mbd.RK4(), mbd.BDF(h=0.1)])
    found = mbd.compare(model, methods, 0.2, h=H, reference=False, repeats=1)
    assert found.labels[:2] == ("RK4(h=0.02), Projection", "BDF(h=0.1)")
    assert found.cells["NullSpace, BDF(h=0.1)"].status == "refused"
    assert found.row("NullSpace, BDF(h=0.1)")["reason"] == methods.refused[0].reason


def test_a_comparison_may_start_at_any_state_and_is_kept_by_pickle(model):
    start = mbd.simulate(model, 0.2, h=0.01).state()
    found = mbd.compare(model, [mbd.Method(integrator=mbd.RK4(h=H), label="RK4")], 0.4, state=start, repeats=1)
    assert found.results["RK4"].t[0] == found.t_start == start.t
    assert found.row("RK4")["steps"] == 10
    assert found.row("RK4")["error_positions_end"] < 1e-5
    again = pickle.loads(pickle.dumps(found))
    assert str(again) == str(found)


@pytest.mark.slow
def test_a_body_without_joints_has_rows_for_everything_else(tmp_path, monkeypatch):
    system = mbd.System("free", gravity=(0.0, 0.0, -9.81))
    system.add(mbd.Body("stone", 1.0, (1.0, 2.0, 3.0), omega_bar=(1.0, 2.0, 3.0)))
    found = mbd.compare(
        system, [mbd.Method(integrator=kind(h=H), label=kind.__name__) for kind in (mbd.RK4, mbd.RATTLE)], 0.2, repeats=1
    )
    table = found.to_pandas()
    assert (table.status == "completed").all()
    assert (table.error_orientations_max > 1e-12).all()
    assert not table.error_multipliers_max.any()
    assert found.to_xarray().violation_position_by_joint.shape == (2, 0)
    drawn = []
    monkeypatch.setattr(report, "_svg", lambda ax: drawn.append(ax.figure.set_layout_engine("none")) or ax.figure.canvas.draw())
    assert found.report(tmp_path / "free.html").exists()
    assert len(drawn) > 3


@pytest.mark.slow
def test_failures_of_a_method_and_of_the_users_functions_are_rows():
    top = [mbd.Method(integrator=mbd.RATTLE(h=0.01), label="turns"), mbd.Method(integrator=mbd.RK4(h=1e-3), label="RK4")]
    found = mbd.compare(heavy_top(), top, 0.02, repeats=1)
    assert [cell.status for cell in found.cells.values()] == ["failed", "completed"]
    assert "SimulationError: RATTLE cannot turn body 'top'" in found.cells["turns"].reason
    assert np.isnan(found.row("turns")["error_positions_end"])
    assert np.isnan(found.row("turns")["error_positions_max"])
    assert found.row("turns")["violation_position_max"] < 1e-12  # of the start

    def force(t):
        if t > 2.5:  # beyond where functions of time are tried when they are given
            raise ZeroDivisionError("no such force")
        return (1.0, 0.0, 0.0)

    system = double_pendulum()
    system.add(mbd.PointForce("push", system.bodies[1], force=force))
    found = mbd.compare(system, [mbd.Method(integrator=mbd.RK4(h=0.05), label="RK4")], 3.0, reference=False, repeats=1)
    assert found.cells["RK4"].reason.startswith("ZeroDivisionError: no such force (raised by force(t) of PointForce 'push'")
    assert 2.0 < found.row("RK4")["t_reached"] < 2.6
    assert found.row("RK4")["violation_position_max"] < 1e-10
    with pytest.raises(ZeroDivisionError):
        mbd.compare(system, [mbd.Method(integrator=mbd.RK4(h=0.05))], 3.0)


@pytest.mark.slow
def test_a_budget_ends_a_cell_and_ctrl_c_the_comparison(monkeypatch):
    clock = SimpleNamespace(now=0.0)

    def look():
        clock.now += 0.05
        return clock.now

    methods = [mbd.Method(integrator=mbd.RK4(h=1e-3), label="RK4"), mbd.Method(integrator=mbd.Heun(h=1e-3), label="Heun")]
    with monkeypatch.context() as patched:
        patched.setattr(run, "time", SimpleNamespace(perf_counter=look, process_time=look))
        found = mbd.compare(heavy_top(), methods, 100.0, reference=False, budget=0.5, repeats=1)
    assert [cell.status for cell in found.cells.values()] == ["budget", "budget"]
    assert found.cells["RK4"].reason.endswith("its budget of 0.5 s was used up")
    assert 0.0 < found.row("RK4")["t_reached"] < 100.0

    def struck(method, *args, **more):
        if method.label == "Heun":
            raise KeyboardInterrupt
        return run_cell(method, *args, **more)

    run_cell = cell_module.run_cell
    monkeypatch.setattr(cell_module, "run_cell", struck)
    found = mbd.compare(heavy_top(), [*methods, mbd.Method(integrator=mbd.RK3(h=1e-3), label="RK3")], 0.02, repeats=1)
    assert [cell.status for cell in found.cells.values()] == ["completed", "not run", "not run"]


def every_method():
    """Methods in which every formulation, integrator and stabilization of the package occurs."""
    rk4 = [mbd.RK4()]
    every = mbd.methods(formulations="all", integrators=rk4) + mbd.methods(integrators="all")
    return every + mbd.methods(integrators=rk4, stabilizations="all")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("make", "h"), [(four_bar, 5e-3), (heavy_top, 5e-4), (andrews, 5e-5)], ids=lambda x: getattr(x, "__name__", "")
)
def test_every_method_of_the_package_in_one_comparison(make, h):
    methods = every_method()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = mbd.compare(make(), methods, 10 * h, h=h, rtol=1e-6, repeats=1, samples=11)
    table = found.to_pandas()
    assert len(table) == len(methods)
    parts = " ".join(table.formulation + table.integrator + table.stabilization)
    kinds = [*FORMULATIONS, *methods_below(), *(type(rule) for name, rule in STABILIZATIONS.items() if name != "None")]
    assert all(repr(kind.__name__)[1:-1] in parts or kind.__name__.startswith("ScaledBaumgarte") for kind in kinds)
    done = table[table.status == "completed"]
    assert set(table.status) <= {"completed", "refused"}
    assert len(done) >= len(table) - 4
    assert (done.error_positions_max < 1e-3).all()
    assert all(len(reason) > 40 for reason in table.reason[table.status == "refused"])


def test_bad_input_is_refused(model, exact):
    rk4 = mbd.Method(integrator=mbd.RK4(h=H))

    def refused(match, methods=(rk4,), t_end=T_END, system=model, **more):
        with pytest.raises(mbd.UsageError, match=match):
            mbd.compare(system, methods, t_end, **more)

    refused(r"unknown group 'position' \(did you mean 'positions'", groups=["position"])
    refused("output 'energy' has the name of a group", outputs={"energy": x_of_rocker})
    refused("output 'x' must return one value for each", outputs={"x": len})
    refused("must be a list of Method objects", methods=rk4)
    refused("RK4.* is not a Method: give mbd.Method", methods=[mbd.RK4()])
    refused("there is no method to compare", methods=[])
    refused("2 methods have the label", methods=[rk4, rk4])
    refused("RK4, Projection: the step h = None s must be positive", methods=[mbd.Method(integrator=mbd.RK4())])
    refused("compare got 3, and needs a System", system=3)
    refused("reference = 'RK4' must be a Method, a Result, or False", reference="RK4")
    refused("samples = 0 must be a whole number", samples=0)
    refused("budget = -1 s must be positive", budget=-1)
    refused("state = 3 must be a State", state=3)
    refused(r"no reference possible: the Result covers 0 .. 0.4 s", t_end=1.0, reference=exact)
    other = mbd.simulate(double_pendulum(), T_END, h=H)
    refused("no reference possible: the Result is of another model", reference=other)
    rattle = mbd.Method(integrator=mbd.RATTLE(h=H))
    refused("no reference possible: 'RATTLE.*have no inertia.*reference=False for a comparison without", reference=rattle)
    comparison = mbd.compare(model, [rk4], 0.1, reference=False, repeats=1)
    with pytest.raises(mbd.UsageError, match=r"no column 'cpus' \(did you mean 'cpu'"):
        comparison.column("cpus")
    with pytest.raises(mbd.UsageError, match=r"no method has the label 'RK5'"):
        comparison.row("RK5")
