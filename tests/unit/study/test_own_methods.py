"""Methods and data of one's own in the bench: a function that makes a whole run, and results that are there already."""

from pathlib import Path

import numpy as np
import pytest

import haugmbd as mbd
from haugmbd.study.comparison import report
from joints import RJ


def pendulum():
    system = mbd.System("pendulum", gravity=(0, 0, -9.81))
    bar = system.add(mbd.Body("bar", 2.0, (0.01, 0.2, 0.2), r=(0.5, 0, 0)))
    system.add(RJ("pin", system.ground, bar, point=(0, 0, 0), axis=(0, 1, 0)))
    return system


def heun(model, t_end, h=1e-2, state=None, alpha=None, beta=None):
    """Heun's method on the library's right-hand side, with renormalized Euler parameters."""
    f = mbd.ode_function(model)
    y = (model.state() if state is None else state).y
    n = max(int(round(t_end / h)), 1)
    t, Y = np.linspace(0.0, t_end, n + 1), [y]
    for k in range(n):
        a = f(t[k], y)
        b = f(t[k + 1], y + (t[k + 1] - t[k]) * a)
        y = y + 0.5 * (t[k + 1] - t[k]) * (a + b)
        p = y[13:].reshape(-1, 13)[: model.nb, 3:7]
        p /= np.linalg.norm(p, axis=1)[:, None]
        Y.append(y)
    return t, np.array(Y)


OWN = mbd.Method(run=heun, label="own Heun")


@pytest.mark.slow
def test_a_function_of_ones_own_is_a_row_like_the_librarys():
    own = mbd.compare(pendulum(), [OWN, mbd.Method(integrator=mbd.Heun(), stabilization=None, label="Heun")], 0.4, h=1e-2)
    rows = [own.row(label) for label in ("own Heun", "Heun")]
    assert [row["status"] for row in rows] == ["completed", "completed"]
    for name in (
        "error_positions_max",
        "error_velocities_end",
        "violation_position_max",
        "violation_velocity_max",
        "energy_drift_max",
    ):
        assert rows[0][name] == pytest.approx(rows[1][name], rel=0.05)
    assert rows[0]["steps"] == 40
    assert rows[0]["cpu"] > 0.0
    assert "own Heun" in str(own)
    assert own.to_pandas().loc["own Heun", "status"] == "completed"


@pytest.mark.slow
def test_its_order_and_its_work(tmp_path, monkeypatch):
    system = pendulum()
    found = mbd.convergence(system, [OWN], 0.4, h=[0.02, 0.01, 0.005], groups=["positions", "velocities"])
    assert found.order("own Heun", "velocities") == pytest.approx(2.0, abs=0.15)
    work = mbd.work_precision(system, [OWN], 0.4, h=[0.02, 0.01], groups=["positions"], repeats=1)
    assert np.isfinite(work.errors("own Heun", "positions")).all()
    monkeypatch.setattr(report, "_svg", lambda ax: ax.figure.canvas.draw() or "")
    assert mbd.compare(system, [OWN], 0.4, h=0.01, repeats=1).report(tmp_path / "x.html").exists()


def scipy_run(model, t_end, rtol=1e-6, atol=1e-9):
    from scipy.integrate import solve_ivp  # noqa: PLC0415

    found = solve_ivp(mbd.ode_function(model), (0.0, t_end), model.state().y, rtol=rtol, atol=atol)
    return found.t, found.y.T


@pytest.mark.slow
def test_a_solver_with_tolerances_and_what_it_computed_itself():
    def with_forces(model, t_end, rtol=1e-6):
        t, y = scipy_run(model, t_end, rtol)
        result = mbd.Result(model, t, y)
        return t, y, np.concatenate([result.v_dot, result.omega_bar_dot], axis=2), result.lam

    system = pendulum()
    work = mbd.work_precision(system, [mbd.Method(run=scipy_run)], 0.3, rtol=[1e-4, 1e-8], groups=["positions"], repeats=1)
    errors = work.errors("scipy_run", "positions")
    assert errors[1] < 1e-2 * errors[0] or errors[0] < 1e-2 * errors[1]
    row = mbd.compare(system, [mbd.Method(run=with_forces, label="f")], 0.3).row("f")
    assert row["error_multipliers_max"] < 1e-2
    assert np.isfinite(row["violation_acceleration_max"])


@pytest.mark.slow
def test_results_that_are_there_already(tmp_path):
    system = pendulum()
    model = system.compile()
    t, y = heun(model, 0.4, h=0.01)
    saved = mbd.simulate(model, 0.4, h=0.01)
    other = pendulum()
    other.add(mbd.Body("other", 1.0, (1, 1, 1)))
    rows = {
        "loop": mbd.Result(model, t, y),
        "file": mbd.load(saved.save(tmp_path / "x.npz")),
        "short": mbd.Result(model, t[:11], y[:11]),
        "foreign": mbd.simulate(other, 0.4, h=0.01),
    }
    found = mbd.compare(model, [mbd.Method(integrator=mbd.RK4(h=0.01))], 0.4, results=rows)
    status = {label: found.row(label)["status"] for label in found.labels}
    assert status == {
        "RK4(h=0.01), Projection": "completed",
        "loop": "completed",
        "file": "completed",
        "short": "failed",
        "foreign": "refused",
    }
    assert found.row("file")["error_positions_max"] == pytest.approx(
        found.row("RK4(h=0.01), Projection")["error_positions_max"], rel=1e-6
    )
    assert found.row("loop")["error_positions_max"] > 10 * found.row("file")["error_positions_max"]
    assert "0 .. 0.1 s" in found.row("short")["reason"]
    alone = mbd.compare(model, results={"loop": rows["loop"]})
    assert alone.t_end == pytest.approx(0.4)
    assert alone.row("loop")["error_positions_max"] == pytest.approx(found.row("loop")["error_positions_max"], rel=1e-6)


@pytest.mark.slow
def test_gains_of_a_loop_of_ones_own():
    def baumgarte(model, t_end, h, alpha, beta):
        return mbd.simulate(model, t_end, h=h, integrator=mbd.Heun(), stabilization=mbd.Baumgarte(alpha, beta))

    gains = dict(alpha=[1.0, 400.0], beta=[1.0, 400.0], h=0.01, t_end=1.0)
    own = mbd.gain_map(pendulum(), integrator=mbd.Method(run=baumgarte), **gains)
    usual = mbd.gain_map(pendulum(), integrator=mbd.Heun(), **gains)
    np.testing.assert_array_equal(own.stable, usual.stable)
    np.testing.assert_allclose(own.violation[own.stable], usual.violation[usual.stable])
    with pytest.raises(mbd.UsageError, match=r"f\(model, t_end, h, alpha, beta\)"):
        mbd.gain_map(pendulum(), integrator=mbd.Method(run=scipy_run), **gains)


def test_what_fails_is_a_row_with_its_reason():
    def fails(model, t_end):
        raise ValueError("no convergence in step 3")

    def nothing(model, t_end):
        return None

    found = mbd.compare(pendulum(), [mbd.Method(run=fails), mbd.Method(run=nothing)], 0.1, reference=False)
    assert "no convergence in step 3" in found.row("fails")["reason"]
    assert "return a Result, (t, y)" in found.row("nothing")["reason"]


@pytest.mark.parametrize(
    ("make", "what"),
    [
        (lambda: mbd.Method(run=3), "must be a function"),
        (lambda: mbd.Method(run=lambda model: None), "run\\(model, t_end"),
        (lambda: mbd.Method(run=heun, integrator=mbd.RK4()), "leave out"),
        (
            lambda: mbd.compare(pendulum(), [OWN], 0.1, results={"own Heun": mbd.simulate(pendulum(), 0.1, h=0.01)}),
            "give each its own",
        ),
        (lambda: mbd.compare(pendulum(), [OWN], 0.1, results=[1]), "dict of Result"),
        (lambda: mbd.compare(pendulum(), [], 0.1), "no method to compare"),
    ],
)
def test_wrong_arguments(make, what):
    with pytest.raises(mbd.UsageError, match=what):
        make()


def test_every_study_passes_its_step_and_tolerances_to_a_run() -> None:
    """All of h, rtol and atol that its signature names and that it does not have yet; a number that is needed and missing is asked for."""
    seen: list[dict[str, float | None]] = []

    def run(model: mbd.Model, t_end: float, h: float | None = None, rtol: float | None = None) -> mbd.Result:
        seen.append({"h": h, "rtol": rtol})
        return mbd.simulate(model, t_end=t_end, h=1e-2)

    def needs(model: mbd.Model, t_end: float, h: float) -> mbd.Result:
        return mbd.simulate(model, t_end=t_end, h=h)

    mbd.compare(pendulum(), [mbd.Method(run=run)], 0.02, h=5e-3, rtol=1e-6, reference=False, repeats=1)
    assert seen[0] == {"h": 5e-3, "rtol": 1e-6}
    seen.clear()
    mbd.compare(pendulum(), [mbd.Method(run=run).with_step(2e-3)], 0.02, h=5e-3, reference=False, repeats=1)
    assert seen[0] == {"h": 2e-3, "rtol": None}
    assert mbd.compare(pendulum(), [mbd.Method(run=needs)], 0.02, h=5e-3, reference=False, repeats=1).row("needs")["steps"] == 4
    with pytest.raises(mbd.UsageError, match=r"needs.* needs h.*compare\(h=\.\.\.\)"):
        mbd.compare(pendulum(), [mbd.Method(run=needs)], 0.02, reference=False)


def test_a_report_of_runs_that_are_there_already(tmp_path: Path) -> None:
    """Of this process, of a file, and of a function: their settings stand in the table as texts, without quotes and addresses."""
    first = mbd.simulate(pendulum(), t_end=0.02, h=1e-2)
    loaded = mbd.load(first.save(tmp_path / "run.npz"))
    methods = [mbd.Method(integrator=mbd.RK4(h=1e-2)), OWN]
    found = mbd.compare(pendulum(), methods, 0.02, h=1e-2, results={"first": first, "loaded": loaded}, reference=False, repeats=1)
    rows = [found.row(label) for label in found.labels]
    texts = [row[name] for row in rows for name in ("formulation", "integrator", "stabilization")]
    assert not any(text.startswith("'") or " at 0x" in text for text in texts)
    assert rows[0]["integrator"] == rows[2]["integrator"] == rows[3]["integrator"]
    assert "HAUG" in found.report(tmp_path / "report.html").read_text().upper()
