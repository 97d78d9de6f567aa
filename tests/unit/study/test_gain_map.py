"""Gains of Baumgarte stabilization: the theoretical limit by hand and by runs, the published drift table, and unstable cells as cells."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import haugmbd as mbd
from haugmbd import gain_limit, gain_map
from haugmbd.gallery import double_pendulum
from haugmbd.simulation.stepping.progress import Progress
from haugmbd.study import gain_map as gain_map_module
from haugmbd.study import gain_runs as gain_runs_module
from haugmbd.study.gain_drawing import MapOfStep, draw_map
from haugmbd.study.stability_function import spectral_radius, stability_limit
from joints import Distance
from tests.support.point_pendulum import point_pendulum

plt = pytest.importorskip("matplotlib.pyplot")

H = 1e-2
LIMITS = {0.5: 1.4926, 2.0: 1.3113, 4.0: 0.7242}
"""alpha h at beta / alpha, RK4, closed form to the printed digits."""
DOUBLE = 2.7853
"""The same for beta = alpha: where R(-alpha h) = 1."""
PRINTED = 5e-5
NEAR = 0.03
"""Of a measured limit, relative; seen: 0.01."""
EXACT = 1e-12
TABLE = Path(__file__).parents[2] / "reference" / "data" / "drift_point_pendulum_rk4.csv"


@pytest.fixture(scope="module")
def model():
    return point_pendulum().compile()


def one_step(method, alpha_h: float, beta_h: float) -> np.ndarray:
    """The matrix of one step of h = 1 on x'' + 2 alpha x' + beta^2 x = 0, by the stages themselves."""
    f = np.array([[0.0, 1.0], [-(beta_h**2), -2.0 * alpha_h]])
    if isinstance(method, mbd.SemiImplicitEuler):
        v = np.array([0.0, 1.0]) + f[1]
        return np.array([np.array([1.0, 0.0]) + v, v])
    c, a, b = method.tableau
    stages = []
    for i in range(len(c)):
        stages.append(f @ (np.eye(2) + sum((a[i, j] * stages[j] for j in range(i)), np.zeros((2, 2)))))
    return np.eye(2) + sum(weight * k for weight, k in zip(b, stages, strict=True))


@pytest.mark.parametrize("method", [mbd.RK4(), mbd.RK3(), mbd.Heun(), mbd.RKMK4(), mbd.SemiImplicitEuler()])
def test_the_stability_function_is_what_a_step_does(method, rng):
    for alpha_h, beta_h in rng.uniform(0.0, 3.0, size=(20, 2)):
        step = one_step(method, alpha_h, beta_h)
        exact = np.abs(np.linalg.eigvals(step)).max()
        assert spectral_radius(method, alpha_h, beta_h) == pytest.approx(exact, rel=1e-9)


def test_limits_of_rk4_are_the_known_ones():
    for ratio, limit in {**LIMITS, 1.0: DOUBLE}.items():
        assert stability_limit(mbd.RK4(), ratio) == pytest.approx(limit, abs=PRINTED)
    assert stability_limit(mbd.Heun(), 1.0) == pytest.approx(2.0, abs=1e-8)
    assert stability_limit(mbd.SemiImplicitEuler(), 2.0) == pytest.approx(0.5 * (np.sqrt(5.0) - 1.0), abs=1e-8)
    assert np.isnan(stability_limit(mbd.DormandPrince(), 1.0))


@pytest.mark.slow
@pytest.mark.parametrize("ratio", LIMITS)
def test_the_measured_limit_is_the_theoretical_one(model, ratio):
    found = gain_limit(model, ratio=ratio, h=H, t_end=4.0)
    assert found.theoretical == pytest.approx(LIMITS[ratio], abs=PRINTED)
    assert found.measured == pytest.approx(LIMITS[ratio], rel=NEAR)


@pytest.mark.slow
def test_a_mechanism_with_many_rows_has_the_same_limit():
    assert abs(gain_limit(double_pendulum(), ratio=2.0, h=1e-3, t_end=0.5, rtol=0.01).difference) < NEAR


@pytest.mark.slow
def test_the_motion_splits_the_double_root_by_the_square_root_of_h(model):
    coarse, fine = gain_limit(model, ratio=1.0, h=H, t_end=4.0), gain_limit(model, ratio=1.0, h=H / 10.0, t_end=1.0)
    assert coarse.theoretical == pytest.approx(DOUBLE, abs=PRINTED)
    assert -0.15 < coarse.difference < -0.05  # seen: -0.101
    assert -0.05 < fine.difference < -0.02  # seen: -0.034
    assert coarse.difference / fine.difference == pytest.approx(np.sqrt(10.0), rel=0.2)
    assert "the root is double" in str(coarse)


@pytest.mark.slow
def test_the_border_of_the_map_is_the_theoretical_limit(model):
    """Along each ratio, cells up to 97 % of the limit are stable, those from 103 % on are not."""
    for ratio, limit in LIMITS.items():
        for part in (0.5, 1.0 - NEAR, 1.0 + NEAR, 1.2):
            found = gain_map(model, alpha=part * limit / H, beta=ratio * part * limit / H, h=H, t_end=4.0)
            assert found.stable.shape == (1, 1)
            assert bool(found.stable[0, 0]) == (part < 1.0)
            assert (found.spectral_radius[0, 0] < 1.0) == (part < 1.0)
            assert found.theoretical_limit(ratio) == pytest.approx(limit, abs=PRINTED)


@pytest.mark.slow
def test_violations_are_those_of_the_published_table_and_larger_gains_are_not_better(model):
    rows = np.genfromtxt(TABLE, delimiter=",", names=True, dtype=None, encoding="ascii", deletechars="")
    gains, steps = np.array([5.0, 10.0, 50.0]), np.array([0.01, 0.005])
    found = gain_map(model, alpha=gains, beta=gains, h=steps, t_end=10.0)
    assert found.stable.shape == found.violation.shape == (2, 3, 3)
    assert found.stable.all()
    assert not found.reasons
    published = {(row["method"], row["h"]): row["max_abs_Phi"] for row in rows}
    for k, h in enumerate(steps):
        for i, gain in enumerate(gains):
            assert found.violation[k, i, i] == pytest.approx(published[f"baumgarte a=b={gain:.0f}", h], rel=1e-6)
        assert found.unstabilized[k] == pytest.approx(published["none", h], rel=1e-6)
        assert (np.diff(np.diagonal(found.violation[k])) > 0.0).all()
    assert found.best[:3] == (5.0, 5.0, 0.005)
    assert "double" in found.notes[0]
    assert "without stabilization: 7.18e-05, 4.49e-06" in str(found)


def test_unstable_cells_are_cells(model):
    found = gain_map(model, alpha=[10.0, 1e3], beta=[10.0, 1e3], h=H, t_end=2.0)
    assert found.stable.tolist() == [[True, False], [False, False]]
    assert np.isfinite(found.violation[0, 0])
    assert found.reasons.keys() == {(0, 1), (1, 0), (1, 1)}
    assert all(found.reasons.values())
    assert found.best[:2] == (10.0, 10.0)
    none = gain_map(model, alpha=1e3, beta=[500.0, 1e3], h=H, t_end=2.0)
    assert none.best is None
    none.plot()
    plt.close("all")


def test_a_mechanism_at_rest_says_that_it_shows_no_instability():
    system = mbd.System("at rest", gravity=(0.0, -9.81, 0.0))
    mass = system.add(mbd.Body("mass", 1.0, (1e-3, 1e-3, 1e-3), r=(0.0, -1.0, 0.0)))
    system.add(Distance("bar", system.ground, mass, point_i=(0, 0, 0), point_j=(0, -1, 0)))
    found = gain_map(system, alpha=10.0, beta=[20.0, 900.0], h=H, t_end=2.0)
    assert len(found.notes) == 1
    assert "start from a state that moves" in found.notes[0]


@pytest.mark.slow
def test_the_map_shows_violation_limit_instability_and_the_best_gains(model):
    gains = np.linspace(30.0, 300.0, 5)
    found = gain_map(model, alpha=gains, beta=gains, h=[H, 2.0 * H], t_end=2.0)
    ax = found.plot(h=H)
    said = [text.get_text() for text in ax.get_legend().get_texts()]
    assert said == ["unstable", "theoretical limit |R(z)| = 1", "alpha = beta: double root, split by the motion", "least"]
    drawn = np.ma.getdata(ax.collections[0].get_array()).reshape(5, 5).T
    shown = ~np.ma.getmaskarray(ax.collections[0].get_array()).reshape(5, 5).T
    np.testing.assert_array_equal(shown, found.stable[0])
    np.testing.assert_array_equal(drawn[shown], found.violation[0][shown])
    (best,) = (line for line in ax.lines if line.get_label() == "least")
    i, j = np.unravel_index(np.where(found.stable[0], found.violation[0], np.inf).argmin(), (5, 5))
    assert best.get_xydata().tolist() == [[gains[i], gains[j]]]
    assert "RK4, h = 0.01 s" in ax.get_title(loc="left")
    with pytest.raises(mbd.UsageError, match="several steps: give h, one of 0.01, 0.02"):
        found.plot()
    with pytest.raises(mbd.UsageError, match="no step h = 0.03 s"):
        found.plot(h=0.03)
    plt.close("all")


def test_the_line_of_equal_gains_is_one_on_axes_of_different_scales():
    alpha, beta = np.array([1.0, 5.0, 20.0, 50.0, 100.0, 200.0, 300.0]), np.array([1.0, 5.0, 20.0, 50.0, 100.0, 200.0, 400.0])
    everywhere = np.ones((len(alpha), len(beta)))
    ax = draw_map(MapOfStep(alpha, beta, H, everywhere > 0.0, everywhere, mbd.RK4()), title="", quantity="", ax=None)
    assert (ax.get_xscale(), ax.get_yscale()) == ("linear", "log")
    (line,) = (line for line in ax.lines if line.get_label().startswith("alpha = beta"))
    x, y = line.get_data()
    on_screen = ax.transData.transform(np.stack([x, y], axis=1))
    between = ax.transData.inverted().transform(0.5 * (on_screen[1:] + on_screen[:-1]))  # where the straight pieces run
    np.testing.assert_allclose(between[:, 0], between[:, 1], rtol=0.01)
    plt.close("all")


def test_a_single_beta_is_a_curve(model):
    alpha = np.linspace(50.0, 200.0, 4)
    found = gain_map(model, alpha=alpha[::-1], beta=75.0, h=H, t_end=2.0)
    ax = found.plot()
    np.testing.assert_array_equal(ax.lines[0].get_xdata(), alpha)
    np.testing.assert_array_equal(ax.lines[0].get_ydata(), np.where(found.stable, found.violation, np.nan)[::-1, 0])
    limits = [line.get_xdata()[0] for line in ax.lines if line.get_linestyle() == "--"]
    radius = spectral_radius(mbd.RK4(), np.array(limits) * H, 0.75)
    np.testing.assert_allclose(radius, 1.0, atol=0.01)
    plt.close("all")


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"alpha": [-1.0]}, r"alpha = \[-1.0\] must be finite and not negative \[1/s\]"),
        ({"alpha": "a", "h": 0.0, "t_end": np.nan}, r"alpha = 'a' .*; h = 0.0 must be finite and positive \[s\]; t_end = nan"),
        ({"beta": []}, "beta = "),
        ({"alpha": [1.0, 1.0]}, r"alpha = \[1.0, 1.0\] holds a number twice"),
        ({"beta": [[1.0]]}, "beta = "),
        ({"t_end": 0.5}, "50 steps of h = 0.01 s; growth can be judged from 80"),
        ({"level": "speed"}, "level is 'speed'"),
        ({"integrator": mbd.DormandPrince()}, "method of fixed step"),
        ({"integrator": mbd.HHT()}, "fulfils the constraints in its own step"),
        ({"integrator": mbd.RK4}, "must be an object"),
    ],
)
def test_bad_input_is_refused(model, given, message):
    with pytest.raises(mbd.UsageError, match=message):
        gain_map(model, **({"alpha": [10.0], "beta": [10.0], "h": H, "t_end": 2.0} | given))


def test_limits_that_do_not_exist_are_refused(model):
    with pytest.raises(mbd.UsageError, match="ratio = 0.0 must be finite and positive"):
        gain_limit(model, ratio=0.0, h=H, t_end=2.0)
    with pytest.raises(mbd.UsageError, match="single numbers"):
        gain_limit(model, ratio=[1.0, 2.0], h=H, t_end=2.0)
    with pytest.raises(mbd.UsageError, match="too large for this motion"):
        gain_limit(model, ratio=1.0, h=0.5, t_end=50.0)


def test_a_map_does_not_depend_on_the_number_of_threads(model, monkeypatch):
    maps = []
    for threads in (1, 2):
        monkeypatch.setattr("haugmbd.study.gain_map.processors", lambda threads=threads: threads)
        maps.append(gain_map(model, alpha=[0.0, 20.0, 200.0], beta=[20.0, 400.0], h=H, t_end=1.0))
    np.testing.assert_array_equal(maps[0].violation, maps[1].violation)
    np.testing.assert_array_equal(maps[0].stable, maps[1].stable)
    assert maps[0].reasons == maps[1].reasons
    assert not maps[0].stable.all()


class Interrupts:
    """Raises KeyboardInterrupt at the n-th call of a function, or lets a run return what is computed, as `simulate` does."""

    def __init__(self, function, n, t_end=None):
        self.function, self.left, self.t_end = function, n, t_end

    def __call__(self, *given, **more):
        self.left -= 1
        if self.left:
            return self.function(*given, **more)
        if self.t_end is None:
            raise KeyboardInterrupt
        found = self.function(given[0], self.t_end, *given[2:], **more)
        return replace(found, outcome=found.outcome._replace(status=mbd.RunStatus.INTERRUPTED, message="interrupted by Ctrl-C"))


@pytest.mark.parametrize("t_end", [None, 1.0])
def test_after_ctrl_c_the_cells_so_far_are_kept(model, monkeypatch, t_end):
    """A run ends at Ctrl-C without an exception: it was taken for a whole one."""
    given = {"alpha": [10.0, 20.0], "beta": [10.0, 20.0], "h": H, "t_end": 2.0}
    monkeypatch.setattr(gain_map_module, "processors", lambda: 1)
    whole = gain_map(model, **given)
    with monkeypatch.context() as patched:
        patched.setattr(gain_runs_module, "run_system", Interrupts(gain_runs_module.run_system, 2 + 3, t_end))
        found = gain_map(model, **given)
    assert found.interrupted
    assert not whole.interrupted
    np.testing.assert_array_equal(found.violation, np.where([[True, True], [False, False]], whole.violation, np.nan))
    assert found.stable.tolist() == [[True, True], [False, False]]
    assert found.reasons == {(1, 0): "not run: Ctrl-C", (1, 1): "not run: Ctrl-C"}
    assert found.best[:2] == whole.best[:2]
    assert "interrupted by Ctrl-C: 2 of 4 cells were run, and 2 of them are stable in 2 s" in str(found)
    ax = found.plot()
    assert [text.get_text() for text in ax.get_legend().get_texts()][0] == "not run"
    with monkeypatch.context() as patched:
        patched.setattr(gain_runs_module, "run_system", Interrupts(gain_runs_module.run_system, 2, t_end))
        with pytest.raises(KeyboardInterrupt):
            gain_map(model, **given)
    plt.close("all")


@pytest.mark.parametrize("t_end", [None, 1.0])
def test_after_ctrl_c_a_limit_is_known_to_lie_between_two_gains(model, monkeypatch, t_end):
    monkeypatch.setattr(gain_runs_module, "run_system", Interrupts(gain_runs_module.run_system, 2 + 4, t_end))
    with pytest.raises(KeyboardInterrupt, match="alpha h = 0.08[0-9]* is stable, and no larger one was tried") as caught:
        gain_limit(model, ratio=1.0, h=H, t_end=1.0)
    low, high = caught.value.result
    assert 0.0 < low
    assert high == np.inf


@pytest.mark.parametrize("t_end", [None, 1.0])
def test_after_ctrl_c_in_the_bisection_both_gains_are_known(model, monkeypatch, t_end):
    monkeypatch.setattr(gain_runs_module, "run_system", Interrupts(gain_runs_module.run_system, 2 + 20, t_end))
    with pytest.raises(KeyboardInterrupt, match=r"is stable, and alpha h = [0-9.]* is not") as caught:
        gain_limit(model, ratio=2.0, h=H, t_end=2.0)
    low, high = caught.value.result
    assert low < LIMITS[2.0] * (1.0 + NEAR)
    assert LIMITS[2.0] * (1.0 - NEAR) < high < np.inf


def test_the_progress_of_a_limit_is_shown_in_digits(model, monkeypatch):
    shown, reach = [], Progress.reach
    monkeypatch.setattr(Progress, "reach", lambda self, now: shown.append((now, self._unit)) or reach(self, now))
    gain_limit(model, ratio=2.0, h=H, t_end=2.0, rtol=0.1, progress=True)
    reached = [now for now, unit in shown if unit == "digits"]  # not those of the runs
    assert len(reached) > 1
    assert reached == sorted(reached)
    assert reached[-1] == pytest.approx(1.0)
    with pytest.raises(mbd.UsageError, match="progress = 1 must be True or False"):
        gain_limit(model, ratio=2.0, h=H, t_end=2.0, progress=1)
