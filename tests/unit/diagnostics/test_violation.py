"""Violation at three levels, against rows evaluated one state at a time."""

from __future__ import annotations

import numpy as np
import pytest

import haugmbd as mbd


def velocities(v, omega_bar):
    return np.hstack([v[1:], omega_bar[1:]]).ravel()


@pytest.mark.parametrize("name", ["chain", "driven"])
def test_rows_one_state_at_a_time(name, request):
    result = request.getfixturevalue(name)
    levels = [result.violation(level) for level in ("position", "velocity", "acceleration")]
    for k in (0, 31, len(result) - 1):
        rows = mbd.evaluate(result.model, result.state(k))
        found = mbd.accelerations(result.model, result.state(k))
        gaps = rows.Phi_q @ velocities(result.v[k], result.omega_bar[k]) - rows.nu
        gaps_dot = rows.Phi_q @ velocities(found.v_dot, found.omega_bar_dot) - rows.gamma
        for level, expected in zip(levels, (rows.Phi, gaps, gaps_dot), strict=True):
            # two orders of summation: some roundings of the terms, which are of the size of gamma at most
            np.testing.assert_allclose(level[k], expected, atol=1e-14 * max(1.0, np.abs(rows.gamma).max()))


def test_a_projected_run_keeps_all_levels(chain, driven):
    for result in (chain, driven):
        assert np.abs(result.violation()).max() <= 1e-12
        assert np.abs(result.violation("velocity")).max() <= 1e-12
        assert np.abs(result.violation("acceleration")).max() <= 1e-10
        assert result.euler_violation().max() <= 1e-15
        assert result.euler_violation().shape == (len(result), result.model.nb + 1)


def test_a_violation_is_seen_with_its_sign(chain):
    """A body moved by hand: the rows of its joint with the ground show the distance and the speed."""
    state = chain.model.state()
    d, d_dot = np.array([3e-3, 0.0, 4e-3]), np.array([0.0, 5e-3, 0.0])
    moved = state.replace(r=state.r + np.outer([0, 1, 0, 0, 0, 0], d), v=state.v + np.outer([0, 1, 0, 0, 0, 0], d_dot))
    result = mbd.Result(chain.model, np.zeros(1), moved.y[None])
    rows = chain.model.joints["rj"].rows[:3]
    np.testing.assert_allclose(result.violation()[0, rows], -d, atol=1e-15)  # d_ij = r_j - r_i, and the body is i
    np.testing.assert_allclose(result.violation("velocity")[0, rows], -d_dot, atol=1e-15)
    assert result.violation(by="joint")["sj"][0] == pytest.approx(5e-3)
    assert result.violation(by="joint")["uj"][0] < 1e-14


def test_by_joint_is_the_norm_of_its_rows(chain):
    rows, joints = chain.violation("velocity"), chain.violation("velocity", by="joint")
    assert list(joints) == ["rj", "sj", "uj", "cj", "tj"]
    for name, values in joints.items():
        mine = [k for k, label in enumerate(chain.model.labels) if label.joint == name]
        np.testing.assert_allclose(values, np.sqrt(np.sum(rows[:, mine] ** 2, axis=1)), rtol=1e-14)


def test_bad_arguments_are_told(chain):
    with pytest.raises(mbd.UsageError, match="'position', 'velocity', 'acceleration'"):
        chain.violation("speed")
    with pytest.raises(mbd.UsageError, match="'row' or 'joint'"):
        chain.violation(by="body")


@pytest.mark.parametrize("n", [0, 1, 2])
def test_few_states(driven, n):
    """What an early interruption leaves can be asked, too."""
    result = mbd.Result(driven.model, driven.t[:n], driven.y[:n])
    assert result.lam.shape == (n, driven.model.nc)
    assert result.violation("acceleration").shape == (n, driven.model.nc)
    assert result.violation(by="joint")["R"].shape == (n,)
    assert result.reaction("R").force.shape == (n, 3)
    assert result.energy().drift.shape == (n,)
    assert result.momentum().angular.shape == (n, 3)
    assert repr(result).startswith(f"Result('driven spatial slider-crank', {n} states")


def test_a_model_without_rows():
    system = mbd.System("free", gravity=(0.0, 0.0, -9.81))
    system.add(mbd.Body("ball", mass=2.0, J_bar=(1.0, 1.0, 1.0)))
    result = mbd.simulate(system, 0.1, h=0.01)
    assert result.violation().shape == (11, 0)
    assert result.violation(by="joint") == {}
    assert np.abs(result.energy().drift).max() <= 1e-14
    with pytest.raises(mbd.UsageError, match="there are no joints"):
        result.reaction("pin")
