"""Violation by joint over time, and against the condition of the constraints."""

from __future__ import annotations

import numpy as np
import pytest

import haugmbd as mbd
from haugmbd import inertia
from haugmbd.gallery import double_pendulum
from haugmbd.study import violation_condition as constraint_condition
from haugmbd.study.violation_condition import independent_rows, smallest_and_condition
from joints import CJ, RJ, SJ, Distance, RotationDriver
from tests.support.redundant_loops import loop, planar_points

plt = pytest.importorskip("matplotlib.pyplot")

EXACT = 1e-12
SINGULAR = 1e-8
"""Smallest singular value where two rows are parallel."""


def near_parallelogram(offset: float) -> mbd.System:
    """A four-bar with cranks of 1 m that leaves a parallelogram of 2 m by `offset` [m]; it turns at 3 rad/s through its stretched pose."""
    axis, corners = (0.0, 1.0, 0.0), np.array([[0.0, 0.0, 0.0], [0.0, 0.0, 1.0], [2.0 + offset, 0.0, 1.0], [2.0, 0.0, 0.0]])
    a, b, c, d = corners
    system = mbd.System("near parallelogram", gravity=(0.0, 0.0, -9.81))
    bodies = []
    for name, start, end in (("crank", a, b), ("coupler", b, c), ("rocker", c, d)):
        length = float(np.linalg.norm(end - start))
        speed = {"v": (1.5, 0.0, 0.0), "omega_bar": axis * np.array(3.0)} if name == "crank" else {}
        bodies.append(
            system.add(mbd.Body(name, *inertia.rod(length, density=1.0, axis=end - start), r=(start + end) / 2.0, **speed))
        )
    crank, coupler, rocker = bodies
    system.add(RJ("A", system.ground, crank, point=a, axis=axis))
    system.add(RJ("B", crank, coupler, point=b, axis=axis))
    system.add(SJ("C", coupler, rocker, point=c))
    system.add(CJ("D", system.ground, rocker, point=d, axis=axis))
    return system


@pytest.fixture(scope="module")
def swinging():
    return mbd.simulate(double_pendulum(), 0.5, h=2e-3, stabilization=None)


def test_each_joint_has_its_largest_violation_in_each_interval(swinging):
    found = mbd.violation_by_joint(swinging, level="velocity", intervals=10)
    assert found.violation.shape == (len(found.joints), 10)
    assert found.joints == tuple(swinging.model.joints)
    rows, L = swinging.violation("velocity"), swinging.model.length
    for k, (name, joint) in enumerate(swinging.model.joints.items()):
        units = np.array([L if swinging.model.labels[row].unit == "m" else 1.0 for row in joint.rows])
        norm = np.linalg.norm(rows[:, joint.rows] / units, axis=1)
        for j in range(10):
            inside = (swinging.t > found.t[j]) & (swinging.t <= found.t[j + 1]) | (swinging.t == found.t[0]) & (j == 0)
            assert found.violation[k, j] == pytest.approx(norm[inside].max(), rel=EXACT)
        assert found.violation[k].max() == pytest.approx(norm.max(), rel=EXACT)
        assert name in str(found)
    assert found.violation[found.joints.index(found.worst)].max() == found.violation.max()


def test_few_states_have_an_interval_each(swinging):
    few = mbd.simulate(swinging.model, 0.02, h=1e-2, stabilization=None)
    found = mbd.violation_by_joint(few)
    np.testing.assert_array_equal(found.t, few.t)
    with pytest.raises(mbd.UsageError, match="needs 2 states or more"):
        mbd.violation_by_joint(mbd.simulate(swinging.model, 0.02, h=1e-2, t_eval=[0.02]))


@pytest.mark.slow
def test_at_acceleration_level_the_method_itself_is_seen(swinging):
    """A penalty formulation violates its rows; accelerations that are recomputed do not show it."""
    kind = mbd.Penalty(alpha=100.0)
    runs = [
        mbd.simulate(swinging.model, 0.05, h=1e-3, formulation=kind, stabilization=None, record_method=own) for own in (False, True)
    ]
    recomputed, own = (mbd.violation_by_joint(run, level="acceleration").violation.max() for run in runs)
    assert recomputed < 1e-9
    assert own > 1e-6
    assert mbd.drift_law(runs[1], level="acceleration").y.max() > 1e-6


def test_the_heat_map_has_a_row_for_each_joint(swinging):
    found = mbd.violation_by_joint(swinging)
    ax = found.plot()
    assert [text.get_text() for text in ax.get_yticklabels()] == list(found.joints)
    drawn = ax.collections[0].get_array().reshape(found.violation.shape)
    low = max(found.violation.max() * 1e-10, 1e-17)  # what is drawn in the last color
    np.testing.assert_allclose(drawn, np.maximum(found.violation, low), rtol=1e-6)
    assert ax.get_ylim()[0] > ax.get_ylim()[1]  # the first joint on top
    plt.close("all")


@pytest.mark.parametrize("angle", [0.1, 1.0, np.pi / 2.0])
def test_the_condition_of_two_bars_is_that_of_their_angle(angle):
    """A point on two bars: sigma^2 = 1 +- cos(angle), so that the condition is cot(angle / 2)."""
    system = mbd.System("two bars")
    point = system.add(mbd.Body("point", 1.0, (1.0, 1.0, 1.0)))
    for k, sign in enumerate((1.0, -1.0)):
        foot = 3.0 * np.array([np.sin(sign * angle / 2.0), 0.0, np.cos(angle / 2.0)])
        system.add(Distance(f"bar {k}", system.ground, point, point_i=foot, point_j=(0.0, 0.0, 0.0)))
    model = system.compile()
    least, condition = smallest_and_condition(model, [model.state()])
    assert condition[0] == pytest.approx(1.0 / np.tan(angle / 2.0), rel=1e-9)
    assert least[0] == pytest.approx(np.sqrt(1.0 - np.cos(angle)), rel=1e-9)


def test_rows_that_always_depend_on_others_do_not_count():
    model = loop(planar_points(), [np.array([0.0, 0.0, 1.0])] * 4).compile()
    assert len(independent_rows(model)) == model.redundancy.rank < model.redundancy.n_rows
    least, condition = smallest_and_condition(model, [model.state()])
    assert least[0] > 1e-3
    assert condition[0] < 1e3


def test_the_condition_is_infinite_or_large_at_a_singular_pose():
    model = near_parallelogram(0.0).compile()
    state = model.state()
    flat = [state.r[0], (0.5, 0, 0), (2.0, 0, 0), (2.5, 0, 0)]
    p = np.array(state.p)
    turned = np.array([np.sqrt(0.5), 0.0, np.sqrt(0.5), 0.0])  # the cranks by 90 degrees about y
    p[1] = p[3] = turned
    least, condition = smallest_and_condition(model, [state, state.replace(r=np.array(flat, dtype=float), p=p)])
    assert least[1] < SINGULAR < 0.01 < least[0]
    assert condition[1] > 1e6


@pytest.fixture(scope="module")
def near():
    runs = {}
    for offset in (0.1, 0.01):
        model = near_parallelogram(offset).compile()
        runs[offset] = mbd.simulate(model, 1.3, h=2e-3, stabilization=None, project_velocity=True)
    return runs


@pytest.mark.slow
def hanging(n, driven):
    """A chain of n links on pins, which the ground turns about its first one if it is driven."""
    system = mbd.System("chain", gravity=(0, 0, -9.81))
    before = system.ground
    for k in range(n):
        link = system.add(mbd.Body(f"link {k}", 1.0, (0.01, 0.1, 0.1), r=(k + 0.5, 0, 0)))
        system.add(RJ(f"pin {k}", before, link, point=(k, 0, 0), axis=(0, 1, 0)))
        before = link
    if driven:
        system.add(RotationDriver("drive", system["pin 0"], lambda t: 0.1 * t))
    return system.compile()


MANY = {
    "chain": lambda: hanging(12, False),
    "driven chain": lambda: hanging(12, True),
    "redundant loop": lambda: loop(planar_points(), [np.array([0.0, 0.0, 1.0])] * 4).compile(),
}


@pytest.mark.parametrize("make", MANY.values(), ids=MANY)
def test_many_rows_have_the_condition_of_the_full_matrix(monkeypatch, make):
    """The extreme eigenvalues of J J^T, in place of all singular values, whose time grows with the cube of the rows."""
    model = make()
    full = smallest_and_condition(model, [model.state()])
    asked, singular_values = [], constraint_condition.singular_values
    monkeypatch.setattr(constraint_condition, "DENSE", 0)
    monkeypatch.setattr(constraint_condition, "singular_values", lambda *given: asked.append(1) or singular_values(*given))
    found = smallest_and_condition(model, [model.state()])
    assert not asked
    np.testing.assert_allclose(found, full, rtol=1e-6)


def test_near_a_singular_pose_the_full_matrix_decides(monkeypatch):
    """Squares of singular values lose those below the root of rounding."""
    model = near_parallelogram(0.0).compile()
    state, p = model.state(), np.array(model.state().p)
    states = []
    for off in (0.0, 1e-9, 1e-6):
        p[1] = p[3] = np.array([np.cos(np.pi / 4.0 + off), 0.0, np.sin(np.pi / 4.0 + off), 0.0])
        states.append(state.replace(r=np.array([state.r[0], (0.5, 0, 0), (2.0, 0, 0), (2.5, 0, 0)], dtype=float), p=p.copy()))
    full = smallest_and_condition(model, states)
    monkeypatch.setattr(constraint_condition, "DENSE", 0)
    np.testing.assert_array_equal(smallest_and_condition(model, states), full)


def test_violation_grows_where_the_condition_is_large(near):
    far, close = (mbd.violation_condition(near[offset], samples=100) for offset in (0.1, 0.01))
    assert close.condition.max() > 2.0 * far.condition.max()
    assert close.growth.max() > 20.0 * far.growth.max()
    assert close.slope - 2.0 * close.slope_error > 2.0
    worst = close.t[int(close.growth.argmax())]
    assert abs(worst - close.nearest) < 0.05
    assert "condition^(" in str(close)


def test_growth_and_condition_belong_to_the_same_states(near):
    run = near[0.1]
    found = mbd.violation_condition(run, samples=50)
    assert found.growth.shape == found.condition.shape == found.t.shape == (50,)
    rows, L = run.violation("velocity"), run.model.length
    units = np.array([L if label.unit == "m" else 1.0 for label in run.model.labels])
    change = np.linalg.norm(np.diff(rows / units, axis=0), axis=1) / np.diff(run.t)
    assert found.growth.max() == pytest.approx(change.max(), rel=1e-9)
    k = int(np.flatnonzero(run.t == found.t[20])[0])
    assert found.growth[20] == pytest.approx(change[k - 1], rel=1e-9)
    J = mbd.evaluate(run.model, run.state(k)).Phi_q.toarray()
    J[:, [c for c in range(J.shape[1]) if c % 6 > 2]] /= L
    sigma = np.linalg.svd(J / np.linalg.norm(J, axis=1, keepdims=True), compute_uv=False)
    assert found.condition[20] == pytest.approx(sigma[0] / sigma[-1], rel=1e-9)


def test_the_plot_shows_growth_over_condition(near, swinging):
    found = mbd.violation_condition(near[0.01], samples=60)
    ax = found.plot()
    assert [line.get_label().split()[0] for line in ax.lines] == ["before", "after", "slope"]
    drawn = np.concatenate([line.get_xdata() for line in ax.lines[:2]])
    assert drawn.max() == found.condition.max()
    assert "growth of" in ax.get_ylabel()
    steady = mbd.violation_condition(swinging, samples=20)
    assert np.isnan(steady.slope)
    assert "too little" in str(steady)
    steady.plot()
    plt.close("all")


def test_bad_input_is_refused(swinging):
    free = mbd.System("free")
    free.add(mbd.Body("b", 1.0, (1.0, 1.0, 1.0)))
    floating = mbd.simulate(free, 0.1, h=1e-2)
    for study in (mbd.violation_by_joint, mbd.violation_condition):
        with pytest.raises(mbd.UsageError, match="got int: give the Result"):
            study(3)
        with pytest.raises(mbd.UsageError, match="no constraint rows"):
            study(floating)
        with pytest.raises(mbd.UsageError, match="level is 'positions'"):
            study(swinging, level="positions")
    with pytest.raises(mbd.UsageError, match="intervals = 0 must be a whole number"):
        mbd.violation_by_joint(swinging, intervals=0)
    with pytest.raises(mbd.UsageError, match="samples = 1 must be a whole number"):
        mbd.violation_condition(swinging, samples=1)
