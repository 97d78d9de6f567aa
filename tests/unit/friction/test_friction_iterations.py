"""When the iterations of friction stop: Anderson's method on linear loops, and Newton's for a single joint, against dense algebra."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import brentq

from haugmbd.compiled.jit import entry
from haugmbd.friction.contraction import AGREES, FAILS, NEXT_AGREES, advance, forget
from haugmbd.friction.one_joint import FAILED, Parts, solve_lane
from haugmbd.friction.sweep_lanes import C_0, C_1, C_2, LANES, NORMAL, PUSH, SWEEP_COLUMNS


@entry
def iterate_entry(A, b, f_t):
    """Iterate f = A f + b; return how it ended, and the steps."""
    before = slope = 0.0
    forget(f_t)
    for count in range(60):
        for i in range(b.size):
            f_t[1, i] = b[i]
            for j in range(b.size):
                f_t[1, i] += A[i, j] * f_t[0, j]
        result, before, slope = advance(f_t, count, before, slope, False)
        if result in (NEXT_AGREES, AGREES, FAILS):
            return result, count
    return -1, 60


@pytest.mark.parametrize("slope", [1e-3, 0.05, 0.3])
def test_the_iterate_that_is_accepted_without_another_residual_solves_the_loop(slope):
    ends = set()
    for seed in range(20):
        rng = np.random.default_rng(seed)
        n = int(rng.integers(2, 12))
        A, b = rng.normal(size=(n, n)), rng.uniform(0.5, 2.0, n)
        A *= slope / np.abs(A).sum(axis=1).max()
        f_t = np.zeros((6, n))
        result, count = iterate_entry(A, b, f_t)
        f = np.linalg.solve(np.eye(n) - A, b)
        ends.add(result)
        assert count < 30
        np.testing.assert_allclose(f_t[0], f, rtol=0.0, atol=4e-12 * f.max())
    assert NEXT_AGREES in ends
    assert ends <= {NEXT_AGREES, AGREES}


@pytest.mark.parametrize("slope", [0.8, np.nan])
def test_a_loop_that_does_not_contract_by_a_half_fails(slope):
    assert iterate_entry(np.array([[slope, 0.0], [0.0, -slope]]), np.ones(2), np.zeros((6, 2)))[0] == FAILS


@entry
def solve_entry(z, u, v, p, du, dv, dp, f):
    return solve_lane(
        z, 0, Parts((u[0], u[1], u[2]), (v[0], v[1], v[2]), p), Parts((du[0], du[1], du[2]), (dv[0], dv[1], dv[2]), dp), f
    )


def lane(c_0, c_1, c_2):
    z = np.zeros((SWEEP_COLUMNS, LANES))
    z[[C_0, C_1, C_2], 0] = c_0, c_1, c_2
    return z


@pytest.mark.slow
@pytest.mark.parametrize("slope", [0.01, 0.5, 0.95])
@pytest.mark.parametrize("bearings", [1, 2])
def test_the_scalar_equation_is_solved_as_by_bisection(slope, bearings):
    """Also where the thrust changes its sign, and where the force nearly vanishes on the way."""
    turned = 0
    for seed in range(60):
        rng = np.random.default_rng(seed)
        c = rng.uniform(0.0, 1.0, 3) * (rng.random(3) < (0.5, 1.0, 0.7))
        u, v, du, dv = rng.normal(size=(4, 3))
        p, dp = rng.normal(size=2) * (0.1, 1.0)
        if bearings == 1:
            v, dv = np.zeros((2, 3))
        if seed % 5 == 0:
            u = -0.7 * du * rng.uniform(0.9, 1.1)
        scale = slope / (c[1] * (np.linalg.norm(du) + np.linalg.norm(dv)) + c[2] * abs(dp))
        du, dv, dp = scale * du, scale * dv, scale * dp

        def forces(x, u=u, v=v, p=p, du=du, dv=dv, dp=dp):
            return np.linalg.norm(u + x * du) + np.linalg.norm(v + x * dv), abs(p + x * dp)

        def C(x, c=c, forces=forces):
            return c[0] + c[1] * forces(x)[0] + c[2] * forces(x)[1]

        z = lane(*c)
        z[NORMAL, 0], z[PUSH, 0] = forces(0.0)
        x = solve_entry(z, u, v, p, du, dv, dp, C(0.0))
        expected = brentq(lambda x, C=C: C(x) - x, 0.0, 1.01 * C(0.0) / (1.0 - slope), xtol=1e-15, rtol=1e-14)
        assert x == pytest.approx(expected, rel=1e-11)
        np.testing.assert_allclose(z[[NORMAL, PUSH], 0], forces(expected), rtol=0.0, atol=1e-10 * (1.0 + expected))
        turned += p * (p + expected * dp) < 0.0
    assert turned > 0 or slope < 0.1


def test_a_slope_of_one_or_a_force_that_is_not_finite_is_left_to_the_columns():
    zero, one = np.zeros(3), np.array([1.0, 0.0, 0.0])
    assert solve_entry(lane(0.0, 1.0, 0.0), one, zero, 0.0, one, zero, 0.0, 1.0) == FAILED
    assert solve_entry(lane(0.0, 1.0, 0.0), np.nan * one, zero, 0.0, 0.1 * one, zero, 0.0, np.nan) == FAILED
    assert solve_entry(lane(0.0, 0.0, 0.0), one, zero, 0.0, one, zero, 0.0, 0.0) == 0.0
