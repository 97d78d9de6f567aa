"""Generalized-alpha on R^7 beside its equations: a dense Newton iteration for all 7 n + nc + n unknowns, in NumPy; and beside the group."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pytest

import haugmbd as mbd
from haugmbd.gallery import double_pendulum, four_bar, heavy_top
from haugmbd.integrators.implicit.generalized_alpha import PROBE
from tests.support.implicit import end_of
from tests.support.models import model_of

GRAVITY = np.array([0.0, 0.0, -9.81])
AGREE = 1e-11
"""[m], and of Euler parameters: both iterations leave 1e-13 of a step, and there are twenty."""
AGREE_U, AGREE_LAM = 1e-9, 1e-6
"""Relative to the largest: a displacement's rounding divided by h, and by h^2."""


def G(p):
    """G = [-e, -e~ + e0 1] of one body."""
    e0, e1, e2, e3 = p
    return np.array([[-e1, e0, e3, -e2], [-e2, -e3, e0, e1], [-e3, e2, -e1, e0]])


class Vectors(NamedTuple):
    """q, q', q'', a in R^7 for each body, (n, 7);  lam (nc,);  lam_p (n,)."""

    q: np.ndarray
    q_dot: np.ndarray
    q_ddot: np.ndarray
    a: np.ndarray
    lam: np.ndarray
    lam_p: np.ndarray


class Dense:
    """The equations of the method under gravity alone, as they stand in the papers; `evaluate` gives Phi, Phi_r and PiBar."""

    def __init__(self, model: mbd.Model, h: float, rho: float) -> None:
        self.model, self.h, self.n = model, h, model.nb
        self.alpha_m, self.alpha_f = (2.0 * rho - 1.0) / (rho + 1.0), rho / (rho + 1.0)
        self.gamma = 0.5 + self.alpha_f - self.alpha_m
        self.beta = 0.25 * (0.5 + self.gamma) ** 2

    def state(self, q, q_dot=None) -> mbd.State:
        """The library's state; p is normalised, which at a solution it is."""
        start = self.model.state()
        p = q[:, 3:] / np.linalg.norm(q[:, 3:], axis=1, keepdims=True)
        u = np.zeros((self.n, 6)) if q_dot is None else velocities(q, q_dot)
        return start.replace(
            r=np.vstack([start.r[:1], q[:, :3]]),
            p=np.vstack([start.p[:1], p]),
            v=np.vstack([np.zeros(3), u[:, :3]]),
            omega_bar=np.vstack([np.zeros(3), u[:, 3:]]),
        )

    def start(self) -> Vectors:
        """q''_0 from the accelerations, a_0 = q'' at t_0 + delta h by differences."""
        state = self.model.state()
        here = mbd.accelerations(self.model, state)
        u_dot = np.concatenate([here.v_dot, here.omega_bar_dot], axis=1)[1:]
        q = np.concatenate([state.r, state.p], axis=1)[1:]
        q_dot = np.concatenate(
            [state.v[1:], np.array([0.5 * G(p).T @ w for p, w in zip(q[:, 3:], state.omega_bar[1:], strict=True)])], axis=1
        )
        ahead = PROBE * self.h
        w = state.omega_bar[1:]
        moved = state.replace(
            r=state.r + ahead * state.v,
            p=state.p + ahead * np.vstack([np.zeros(4), q_dot[:, 3:]]),
            v=state.v + ahead * here.v_dot,
            omega_bar=state.omega_bar + ahead * here.omega_bar_dot,
        )
        there = mbd.accelerations(self.model, moved)
        u_ddot = (np.concatenate([there.v_dot, there.omega_bar_dot], axis=1)[1:] - u_dot) / ahead
        eps = 1e-6
        ends = [second(q[:, 3:] + s * q_dot[:, 3:], w + s * u_dot[:, 3:], u_dot + s * u_ddot) for s in (-eps, 0.0, eps)]
        a = ends[1] + (self.alpha_m - self.alpha_f) * self.h * (ends[2] - ends[0]) / (2.0 * eps)
        return Vectors(q, q_dot, ends[1], a, here.lam, np.zeros(self.n))

    def step(self, last: Vectors) -> Vectors:
        """Newton's method until nothing changes; its matrix, by differences of the displacement, is kept after the second iteration."""
        h, beta, gamma, m = self.h, self.beta, self.gamma, 7 * self.n

        def vectors(x) -> Vectors:
            q_ddot = (x[:m] / (beta * h * h)).reshape(self.n, 7)
            a = ((1.0 - self.alpha_f) * q_ddot + self.alpha_f * last.q_ddot - self.alpha_m * last.a) / (1.0 - self.alpha_m)
            q = last.q + h * last.q_dot + h * h * ((0.5 - beta) * last.a + beta * a)
            q_dot = last.q_dot + h * ((1.0 - gamma) * last.a + gamma * a)
            return Vectors(q, q_dot, q_ddot, a, x[m : m + self.model.nc], x[m + self.model.nc :])

        x = np.concatenate([beta * h * h * last.q_ddot.ravel(), last.lam, last.lam_p])
        scale = np.concatenate([np.full(m, 1e-7), np.maximum(1.0, abs(x[m:]))])
        for iteration in range(8):
            F = self.residual(vectors(x))
            if iteration < 2:
                K = np.array([(self.residual(vectors(x + e)) - F) / e.max() for e in np.diag(scale)]).T
            x -= np.linalg.solve(K, F)
        return vectors(x)

    def residual(self, s: Vectors) -> np.ndarray:
        """M_p q'' + Phi_p^T lam + p lam_p - b_p, Phi, (p^T p - 1) / 2."""
        rows = mbd.evaluate(self.model, self.state(s.q))
        Phi_q = rows.Phi_q.toarray().reshape(self.model.nc, -1, 6)[:, -self.n :]
        out = []
        for k in range(self.n):
            m, J, p, p_dot = self.model.mass[k + 1], self.model.J_bar[k + 1], s.q[k, 3:], s.q_dot[k, 3:]
            g, g_dot = G(p), G(p_dot)
            out.append(m * (s.q_ddot[k, :3] - GRAVITY) + Phi_q[:, k, :3].T @ s.lam)
            turning = 4.0 * g.T @ J @ g @ s.q_ddot[k, 3:] - 8.0 * g_dot.T @ J @ g_dot @ p
            out.append(turning + 2.0 * g.T @ Phi_q[:, k, 3:].T @ s.lam + p * s.lam_p[k])
        return np.concatenate([*out, rows.Phi, 0.5 * (np.sum(s.q[:, 3:] ** 2, axis=1) - 1.0)])


def velocities(q, q_dot):
    """(v, omega_bar), (n, 6)."""
    w = [2.0 * G(p) @ p_dot for p, p_dot in zip(q[:, 3:], q_dot[:, 3:], strict=True)]
    return np.concatenate([q_dot[:, :3], w], axis=1)


def second(p, w, u_dot):
    """q'' of a motion with these rates: p' = p o (0, w) / 2, twice."""

    def by(p, x):
        return np.array([0.5 * G(row).T @ v for row, v in zip(p, x, strict=True)])

    return np.concatenate([u_dot[:, :3], by(p, u_dot[:, 3:]) + by(by(p, w), w)], axis=1)


CASES = {"heavy top": (heavy_top, 1e-3), "double pendulum": (double_pendulum, 2e-2), "four-bar": (four_bar, 2e-2)}
STEPS = 6


@pytest.mark.slow
@pytest.mark.parametrize("rho", [1.0, 0.8, 0.2])
@pytest.mark.parametrize("name", CASES)
def test_steps_are_the_dense_solution_of_all_equations(name, rho):
    make, h = CASES[name]
    model = make().compile()
    dense = Dense(model, h, rho)
    here, radial, lam_p = dense.start(), 0.0, 0.0
    result = mbd.simulate(model, STEPS * h, integrator=mbd.GeneralizedAlphaR7(h, rho=rho, tol=1e-13))
    for k in range(1, STEPS + 1):
        here = dense.step(here)
        u = velocities(here.q, here.q_dot)
        found = np.concatenate([result.v[k, 1:], result.omega_bar[k, 1:]], axis=1)
        assert result.r[k, 1:] == pytest.approx(here.q[:, :3], rel=0.0, abs=AGREE)
        assert result.p[k, 1:] == pytest.approx(here.q[:, 3:], rel=0.0, abs=AGREE)
        assert found == pytest.approx(u, rel=0.0, abs=AGREE_U * abs(u).max())
        assert result.lam_of_method[k] == pytest.approx(here.lam, rel=0.0, abs=AGREE_LAM * abs(here.lam).max())
        wJw = np.einsum("ka,kab,kb->k", u[:, 3:], model.J_bar[1:], u[:, 3:])
        assert here.lam_p == pytest.approx(2.0 * wJw, rel=1e-6, abs=1e-6)
        radial = max(radial, abs(np.sum(here.q[:, 3:] * here.q_dot[:, 3:], axis=1)).max())
        lam_p = max(lam_p, abs(here.lam_p).max())
    assert radial > 1e-6  # p' is not tangent, and the comparison feels it
    assert lam_p > 0.01


@pytest.mark.slow
@pytest.mark.parametrize(("make", "t_end", "steps"), [(heavy_top, 0.1, 400), (double_pendulum, 1.0, 500), (four_bar, 0.5, 250)])
def test_it_differs_from_the_method_on_the_group_by_the_order_of_both(make, t_end, steps):
    gaps = []
    for n in (steps, 2 * steps):
        ours, group = (end_of(kind(t_end / n), make(), t_end) for kind in (mbd.GeneralizedAlphaR7, mbd.GeneralizedAlpha))
        gaps.append([abs(a - b).max() for a, b in zip(ours, group, strict=True)])
    gaps = np.array(gaps)
    assert (gaps[1] > 1e-10).all()
    assert np.log2(gaps[0] / gaps[1])[:2] == pytest.approx([2.0, 2.0], abs=0.15)
    assert np.log2(gaps[0] / gaps[1])[2] > 1.7


def test_parameters_stay_of_unit_length_and_positions_on_the_constraints():
    result = mbd.simulate(model_of(heavy_top), 0.5, integrator=mbd.GeneralizedAlphaR7(1e-3))
    assert result.euler_violation().max() < 1e-14
    assert abs(result.violation("position")).max() < 1e-10
    assert abs(result.violation("velocity")).max() > 1e-6  # of index 3


def spinning(speed: float) -> mbd.System:
    """A free ball."""
    system = mbd.System("spinning", gravity=(0.0, 0.0, 0.0))
    system.add(mbd.Body("ball", 1.0, (1.0, 1.0, 1.0), omega_bar=(0.0, 0.0, speed)))
    return system


@pytest.mark.parametrize(
    ("make", "method", "t_end"),
    [
        (heavy_top, mbd.GeneralizedAlphaR7(0.02), 0.4),  # 3 rad a step
        (heavy_top, mbd.GeneralizedAlphaR7(5e-4, rho=1.0), 0.5),
        (lambda: spinning(30.0), mbd.GeneralizedAlphaR7(1e-3, rho=0.99), 6.0),
    ],
    ids=["large step", "no damping", "little damping"],
)
def test_where_p_dot_leaves_the_sphere_the_run_ends(make, method, t_end):
    """Index 3 with rho near 1 is weakly unstable, and here |p| = 1 is one of its constraints: a ball alone in space feels it."""
    with pytest.raises(
        mbd.SimulationError, match=r"body '(top|ball)' leave their sphere at t = .*reduce h or rho.*on the group"
    ) as caught:
        mbd.simulate(model_of(make), t_end, integrator=method)
    assert len(caught.value.result) >= 2
    assert caught.value.result.euler_violation().max() < 1e-14


@pytest.mark.slow
@pytest.mark.parametrize("rho", [0.0, 0.5, 0.9])
def test_a_ball_keeps_spinning_with_short_steps(rho):
    result = mbd.simulate(spinning(30.0), 6.0, integrator=mbd.GeneralizedAlphaR7(1e-3, rho=rho))
    assert result["ball"].omega_bar[-1, 2] == pytest.approx(30.0, rel=1e-3)
    exact = mbd.simulate(spinning(30.0), 6.0, integrator=mbd.GeneralizedAlpha(1e-3, rho=rho))
    assert exact["ball"].omega_bar[-1, 2] == pytest.approx(30.0, rel=1e-12)


@pytest.mark.parametrize("level", [mbd.Index2(), mbd.GGL(), mbd.HillerAnantharaman()], ids=repr)
def test_other_levels_are_refused(level):
    with pytest.raises(mbd.UsageError, match=r"on the level of positions: leave out constraint_form=.*take GeneralizedAlpha"):
        mbd.simulate(model_of(heavy_top), 0.1, integrator=mbd.GeneralizedAlphaR7(1e-3, constraint_form=level))
    with pytest.raises(mbd.UsageError, match="rho = 2.0 must be in"):
        mbd.simulate(model_of(heavy_top), 0.1, integrator=mbd.GeneralizedAlphaR7(1e-3, rho=2))
