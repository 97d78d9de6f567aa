"""Integrators of one's own that are no tableaus, and what verify says of them, of the library's, and of broken ones."""

from dataclasses import dataclass

import numpy as np
import pytest

import haugmbd as mbd
from joints import RJ

pytestmark = pytest.mark.slow


@dataclass(frozen=True)
class Midpoint(mbd.StepByStep):
    order = 2

    def step_from(self, equations, t, y, y_dot, h):
        return y + h * equations.rates(t + h / 2, y + h / 2 * y_dot)


@dataclass(frozen=True)
class Forgets(Midpoint):
    """The rates of the start are taken for those of the middle: its order is one, not two."""

    def step_from(self, equations, t, y, y_dot, h):
        return y + h * y_dot


@dataclass(frozen=True)
class Remembers(Midpoint):
    """A run depends on the ones before it."""

    runs = [0]  # noqa: RUF012

    def step_from(self, equations, t, y, y_dot, h):
        self.runs[0] += 1
        return super().step_from(equations, t, y, y_dot, h * (1.0 + 1e-9 * (self.runs[0] % 11)))


@dataclass(frozen=True)
class Diverges(Midpoint):
    def step_from(self, equations, t, y, y_dot, h):
        raise mbd.SimulationError(f"no convergence at t = {t:g} s")


def pendulum():
    system = mbd.System("pendulum", gravity=(0, 0, -9.81))
    bar = system.add(mbd.Body("bar", 2.0, (0.01, 0.2, 0.2), r=(0.5, 0, 0)))
    system.add(RJ("pin", system.ground, bar, point=(0, 0, 0), axis=(0, 1, 0)))
    return system


def test_a_step_of_ones_own_runs_like_the_librarys():
    run = mbd.simulate(pendulum(), 0.5, integrator=Midpoint(h=0.01), t_eval=[0.113, 0.5])
    fine = mbd.simulate(pendulum(), 0.5, rtol=1e-10, t_eval=[0.113, 0.5])
    assert abs(run.joint("pin").angle - fine.joint("pin").angle).max() < 1e-3
    assert abs(run.violation("position")).max() < 1e-12
    down = mbd.Event("down", lambda t, state: state.r[1, 2] + 0.3)
    found = mbd.simulate(pendulum(), 0.5, integrator=Midpoint(h=0.01), events=[down]).events[0].t
    assert found == pytest.approx(mbd.simulate(pendulum(), 0.5, rtol=1e-10, events=[down]).events[0].t, abs=1e-3)


def test_a_failure_is_told_with_the_states_so_far():
    with pytest.raises(mbd.SimulationError, match="no convergence at t = 0 s"):
        mbd.simulate(pendulum(), 0.5, integrator=Diverges(h=0.01))


@pytest.mark.parametrize(
    "part", [Midpoint(), mbd.RK4(), mbd.RATTLE(), mbd.HHT(), mbd.DormandPrince(), mbd.Projection(), mbd.Baumgarte(5.0, 5.0)]
)
def test_verify_takes_integrators_and_stabilizations(part):
    found = mbd.verify(part)
    assert found.ok, str(found)
    assert {"order", "repetition", "restart", "dense output"} <= {check.name for check in found.checks}


@pytest.mark.parametrize(("part", "wrong"), [(Forgets(), "order"), (Remembers(), "repetition"), (Diverges(), "runs")])
def test_verify_finds_what_is_wrong(part, wrong):
    assert wrong in mbd.verify(part).wrong


def test_rows_and_forces_of_a_step_are_those_of_the_model():
    seen = {}

    @dataclass(frozen=True)
    class Looks(Midpoint):
        def step_from(self, equations, t, y, y_dot, h):
            seen.setdefault("at", (y.copy(), y_dot.copy(), equations.rows(t, y), equations.forces(t, y), equations.M))
            return super().step_from(equations, t, y, y_dot, h)

    model = pendulum().compile()
    mbd.simulate(model, 0.01, integrator=Looks(h=0.01), stabilization=None)
    y, _, rows, Q, M = seen["at"]
    np.testing.assert_allclose(rows.Phi_q, mbd.evaluate(model).Phi_q.toarray(), atol=1e-15)
    found = mbd.accelerations(model)
    u_dot = np.concatenate([found.v_dot[1], found.omega_bar_dot[1]])
    np.testing.assert_allclose(M @ u_dot + rows.Phi_q.T @ found.lam, Q, atol=1e-12)
    np.testing.assert_allclose(rows.Phi_q @ u_dot, rows.gamma, atol=1e-12)
    assert y.shape == model.y0.shape
