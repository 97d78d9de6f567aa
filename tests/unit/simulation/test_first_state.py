"""A run that ends before it has stored a state keeps the one that it has reached."""

from __future__ import annotations

import numpy as np
import pytest

import haugmbd as mbd
from haugmbd.gallery import pendulum
from haugmbd.simulation.stepping.run import Run
from joints import RJ, TJ, Cam
from tests.support.with_contacts import simulate_with


class Armed:
    """A function of the user that raises from the beginning of the run on; Ctrl-C once."""

    def __init__(self, error: type[BaseException], value: object, monkeypatch: pytest.MonkeyPatch) -> None:
        self.error, self.value, self.armed, self.raised = error, value, False, 0
        begin = Run.run_under

        def run_under(*given: object) -> object:
            self.armed = True
            return begin(*given)

        monkeypatch.setattr(Run, "run_under", run_under)

    def __call__(self, *_: object) -> object:
        if self.armed:
            self.armed = issubclass(self.error, Exception)
            self.raised += 1
            raise self.error(f"error {self.raised}")
        return self.value


def struck(*_: object) -> None:
    raise KeyboardInterrupt


def pushed(force: Armed) -> mbd.System:
    """A bar on a pin, pushed by a function of the user."""
    system = pendulum()
    system.add(mbd.PointForce("push", system.bodies[1], force=lambda t, r, p, v, omega_bar: force()))
    return system


HEIGHT = mbd.Sensor("height", lambda t, state: state.r[1, 2])
METHODS = [mbd.RK4(h=0.01), mbd.GeneralizedAlpha(h=0.01)]


@pytest.mark.parametrize("record_method", [False, True])
@pytest.mark.parametrize("method", METHODS)
def test_ctrl_c_in_the_first_evaluation_keeps_the_initial_state(method, record_method, monkeypatch):
    """The result had no state, and r.t[-1] was an IndexError."""
    system = pushed(Armed(KeyboardInterrupt, (0.0, 0.0, 0.0), monkeypatch))
    result = mbd.simulate(system, 1.0, integrator=method, sensors=[HEIGHT], record_method=record_method)
    assert result.interrupted
    assert result.status is mbd.RunStatus.INTERRUPTED
    assert result.t.tolist() == [0.0]
    np.testing.assert_array_equal(result.y[0], result.model.y0)
    np.testing.assert_array_equal(result.sensor("height").value, [np.nan])


@pytest.mark.slow
@pytest.mark.parametrize("options", [{}, {"t_eval": [0.5, 1.0]}, {"store_every": 7}, {"record_method": True}])
@pytest.mark.parametrize("method", METHODS)
def test_ctrl_c_before_the_first_stored_state(method: mbd.Integrator, options: dict, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(Run, "_store", struck)
    result = mbd.simulate(pendulum(), 1.0, integrator=method, budget=60.0, **options)  # by the loop, as long runs are
    assert result.t.tolist() == [0.0]
    np.testing.assert_allclose(result.y[0], result.model.y0, rtol=0.0, atol=1e-15)
    assert result.lam.shape == (1, result.model.nc)


def test_a_chain_keeps_its_initial_state(monkeypatch):
    tau = Armed(KeyboardInterrupt, [0.0], monkeypatch)
    chain = mbd.SerialChain([mbd.Link.revolute("arm", 1.0, (0.1, 0.2, 0.2))])
    result = mbd.simulate(chain, 1.0, h=0.01, tau=lambda t, q, qd: tau())
    assert (result.t.tolist(), result.q.shape) == ([0.0], (1, 1))


@pytest.mark.parametrize("options", [{}, {"t_eval": [0.5, 1.0]}])
def test_impacts_keep_the_initial_state(options: dict, monkeypatch):
    wind = Armed(KeyboardInterrupt, (0.0, 0.0, 0.0), monkeypatch)
    system = mbd.System("ball", gravity=(0.0, 0.0, -9.81))
    ball = system.add(mbd.Body("ball", 1.0, (0.1, 0.1, 0.1), r=(0.0, 0.0, 0.1)))
    system.add(mbd.PointForce("wind", ball, force=lambda t, r, p, v, omega_bar: wind()))
    floor = mbd.Contact("floor", system.ground, ball, point=(0, 0, 0), normal=(0, 0, 1), restitution=0.5)
    result = simulate_with(system, 1.0, contacts=[floor], h=0.01, **options)
    assert result.interrupted
    assert result.t.tolist() == [0.0]
    np.testing.assert_array_equal(result.r[0, 1], [0.0, 0.0, 0.1])


@pytest.mark.parametrize("record_method", [False, True])
@pytest.mark.parametrize("method", METHODS)
def test_an_error_of_the_first_evaluation_keeps_the_initial_state(method, record_method, monkeypatch):
    """The error is the user's own, and what describes the run does not evaluate the state again."""
    system = pushed(Armed(RuntimeError, (0.0, 0.0, 0.0), monkeypatch))
    with pytest.raises(RuntimeError, match="error 1") as caught:
        mbd.simulate(system, 1.0, integrator=method, sensors=[HEIGHT], record_method=record_method)
    assert caught.value.result.t.tolist() == [0.0]
    assert caught.value.result.status is mbd.RunStatus.FAILED


def test_a_run_that_ends_before_its_first_wanted_time_keeps_its_last_state():
    event = mbd.Event("down", lambda t, state: t - 0.25, terminal=True)
    result = mbd.simulate(pendulum(), 2.0, h=0.01, t_eval=[1.0, 2.0], events=[event])
    assert result.t.tolist() == [pytest.approx(0.25, abs=1e-12)]
    np.testing.assert_array_equal(result.y[-1], result.events[0].state.flat)


def test_the_first_error_is_reported_where_its_state_cannot_be_described(monkeypatch):
    """The push of a one-sided joint is computed at all states of a result, and so at the one that failed."""
    push = Armed(RuntimeError, (0.0, 0.0, 0.0), monkeypatch)
    system = mbd.System("cam", gravity=(0.0, 0.0, -9.81))
    cam = system.add(mbd.Body("cam", 1.0, (0.1, 0.1, 0.1)))
    lift = system.add(mbd.Body("lift", 1.0, (0.1, 0.1, 0.1)))
    axle = system.add(RJ("axle", system.ground, cam, point=(0, 0, 0), axis=(0, 0, 1)))
    rail = system.add(TJ("rail", system.ground, lift, point=(0, 0, 0), axis=(0, 0, 1)))
    system.add(Cam("profile", axle, rail, lambda q: 0.01 * q, unilateral=True))
    system.add(mbd.PointForce("push", cam, force=lambda t, r, p, v, omega_bar: push()))
    with pytest.raises(RuntimeError, match="error 1"):
        mbd.simulate(system, 1.0, h=0.01)
