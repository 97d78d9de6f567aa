"""SciPy's solvers on the same right-hand side: an independent check of the compiled integrators."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.integrate
from scipy.integrate import solve_ivp

import haugmbd as mbd
from haugmbd import SciPySolver, ode_function
from haugmbd.gallery import double_pendulum, slider_crank
from haugmbd.integrators.explicit.scipy_solver import METHODS
from joints import TJ
from tests.support.integrator_cases import CASES
from tests.support.models import model_of
from tests.support.scipy_cases import SEEN

T_EVAL = np.linspace(0.0, 0.5, 11)


@pytest.mark.slow
@pytest.mark.parametrize("make", [double_pendulum, slider_crank])
def test_solve_ivp_agrees_with_the_compiled_integrator(make):
    model = make().compile()
    ours = mbd.simulate(model, 0.5, rtol=1e-12, atol=1e-12, t_eval=T_EVAL)
    theirs = solve_ivp(ode_function(model), (0.0, 0.5), model.state().y, method="DOP853", rtol=1e-12, atol=1e-12, t_eval=T_EVAL)
    assert theirs.success
    np.testing.assert_allclose(ours.y, theirs.y.T, rtol=0.0, atol=1e-8)


@pytest.mark.slow
@pytest.mark.parametrize("method", ["RK45", "DOP853", "Radau", "LSODA"])
def test_simulate_with_a_scipy_solver(method):
    corrects = method in ("RK45", "DOP853")
    reference = mbd.simulate(model_of(double_pendulum), 0.5, rtol=1e-12, atol=1e-12, t_eval=T_EVAL)
    result = mbd.simulate(
        double_pendulum(),
        0.5,
        integrator=SciPySolver(method, rtol=1e-9, atol=1e-9),
        stabilization=mbd.Projection() if corrects else None,
        t_eval=T_EVAL,
    )
    np.testing.assert_allclose(result.y, reference.y, rtol=0.0, atol=1e-5)
    if corrects:
        assert np.abs(result.violation("position")).max() < 1e-10


EXACT = mbd.Projection(tol=1e-16)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["double pendulum", "heavy top", "slider-crank"])
@pytest.mark.parametrize("method", SEEN)
def test_the_order_of_one_step_methods(method, name):
    """Held to a fixed step by h_first = h_max and a tolerance that refuses nothing: positions, velocities, multipliers."""
    order, cases = SEEN[method]
    (t_end, steps), model = cases[name], model_of(CASES[name].make)
    fine = mbd.DOP853(rtol=1e-14, atol=1e-15, h_max=t_end / 40)
    end, errors = mbd.simulate(model, t_end, integrator=fine, stabilization=EXACT), []
    for n in steps:
        h = t_end / n * (1.0 + 1e-13)  # or else rounding leaves a last step of its own
        held = SciPySolver(method, rtol=1e12, atol=1e12, h_first=h, h_max=h)
        result = mbd.simulate(model, t_end, integrator=held, stabilization=EXACT)
        assert result.counters.steps == n
        gap = (result.y[-1] - end.y[-1]).reshape(-1, 13)
        errors.append([np.linalg.norm(gap[:, :7]), np.linalg.norm(gap[:, 7:]), np.linalg.norm(result.lam[-1] - end.lam[-1])])
    assert np.log(np.divide(*errors)) / np.log(steps[1] / steps[0]) == pytest.approx([order] * 3, abs=0.15 if order < 8 else 0.35)


@pytest.mark.slow
@pytest.mark.parametrize("method", ["Radau", "BDF", "LSODA"])
def test_the_error_of_multistep_methods_follows_the_tolerance(method, case):
    """They choose their steps and orders, and have no corrections between steps: a hundredth of the tolerance, a thirtieth of the error."""
    end, errors = mbd.simulate(model_of(case.make), 0.1, rtol=1e-13, atol=1e-13), []
    for tol in (1e-5, 1e-7, 1e-9):
        result = mbd.simulate(model_of(case.make), 0.1, integrator=SciPySolver(method, rtol=tol, atol=tol), stabilization=None)
        pairs = ((result.r, end.r), (result.v, end.v), (result.omega_bar, end.omega_bar), (result.lam, end.lam))
        errors.append([abs(a[-1] - b[-1]).max() for a, b in pairs])
    slopes = np.polyfit(np.log([1e-5, 1e-7, 1e-9]), np.log(errors), 1)[0]
    assert (slopes > 0.7).all()


def test_every_solver_of_scipy_is_put_to_a_test():
    assert {*SEEN, "Radau", "BDF", "LSODA"} == set(METHODS)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("method", "module", "attempt"),
    [
        ("RK23", scipy.integrate._ivp.rk, "rk_step"),
        ("RK45", scipy.integrate._ivp.rk, "rk_step"),
        ("DOP853", scipy.integrate._ivp.rk, "rk_step"),
        ("Radau", scipy.integrate._ivp.radau, "solve_collocation_system"),
        ("BDF", scipy.integrate._ivp.bdf, "solve_bdf_system"),
    ],
)
def test_rejected_steps_are_counted(method, module, attempt, monkeypatch):
    """By what SciPy calls for each step that it tries; implicit methods try again where only the Jacobian was old, with the same step."""
    tried, plain = [], getattr(module, attempt)

    def counted(*args):
        tried.append(tuple(x for x in args[:5] if isinstance(x, float)))  # t and h, or t and its end
        return plain(*args)

    monkeypatch.setattr(module, attempt, counted)
    rule = mbd.Projection() if method in SEEN else None
    found = mbd.simulate(
        model_of(double_pendulum), 3.0, integrator=SciPySolver(method, rtol=1e-4, atol=1e-4), stabilization=rule
    ).counters
    assert found.rejected == len(set(tried)) - found.steps > 3


def test_lsoda_counts_its_rejected_steps():
    """It tells nobody; a force that grows in no time makes it try again and again."""
    system = double_pendulum()
    system.add(mbd.PointForce("kick", system["bar 2"], force=lambda t: (0.0, 0.0, 2500.0 * (1.0 + np.tanh((t - 0.3) / 1e-7)))))
    smooth, kicked = (
        mbd.simulate(s, 0.4, integrator=SciPySolver("LSODA", rtol=1e-6, atol=1e-6), stabilization=None).counters
        for s in (double_pendulum(), system)
    )
    assert kicked.rejected > smooth.rejected + 3


def test_multistep_methods_refuse_projection():
    with pytest.raises(mbd.UsageError, match="Baumgarte"):
        mbd.simulate(model_of(double_pendulum), 0.1, integrator=SciPySolver("BDF"))


def test_an_unknown_method_is_refused():
    with pytest.raises(mbd.UsageError, match="DOP853"):
        SciPySolver("RK4")


@pytest.mark.slow
@pytest.mark.parametrize("method", METHODS)
def test_counters_are_plain_numbers_which_files_can_hold(method, tmp_path):
    result = mbd.simulate(model_of(double_pendulum), 0.05, integrator=SciPySolver(method), stabilization=None)
    assert {type(number) for number in vars(result.counters).values()} == {int, float}
    assert mbd.load(result.save(tmp_path / "run.npz")).counters == result.counters


AT_GIVEN_TIMES = {"DOP853": 1e-10, "LSODA": 1e-11, "RK45": 1e-8}
"""Tolerances of SciPy's methods at which dense output of order six, in their long steps, was up to 1e4 times as wrong as the steps."""


@pytest.mark.parametrize(("method", "tolerance"), AT_GIVEN_TIMES.items())
def test_states_at_given_times_are_as_accurate_as_the_steps(method, tolerance):
    """A rigid body turns freely, after Euler's equations by SciPy alone."""
    J, omega = np.array([1.0, 2.0, 2.5]), np.array([1.0, 2.0, 3.0])
    system = mbd.System("turns freely")
    system.add(mbd.Body("body", 1.0, J, omega_bar=omega))
    times = np.linspace(0.0, 2.0, 21)
    solver = mbd.SciPySolver(method, rtol=tolerance, atol=tolerance)
    found = mbd.simulate(system, 2.0, integrator=solver, stabilization=None, t_eval=times).omega_bar[:, 1]
    exact = solve_ivp(
        lambda t, w: -np.cross(w, J * w) / J, (0.0, 2.0), omega, "DOP853", times, rtol=1e-13, atol=1e-14, max_step=0.05
    )
    assert np.abs(found - exact.y.T).max() < 100.0 * tolerance


@pytest.mark.parametrize("method", ["Radau", "DOP853"])
def test_a_step_of_a_rounding_to_a_stop_counts_no_rejected_step(method):
    """Radau's stages in a step of 3e-17 s have one time: each such step made the number of rejected ones smaller, below zero."""
    system = mbd.System("cart")
    cart = system.add(mbd.Body("cart", 2.0, (0.1, 0.1, 0.1), v=(1.0, 0, 0)))
    rail = system.add(TJ("rail", system.ground, cart, point=(0, 0, 0), axis=(1, 0, 0)))
    law = system.add(mbd.Sampled("law", 0.0371, lambda t, signals: -3.0 * signals["rail.displacement"]))
    system.add(mbd.Motor("drive", rail, force=law["out"]))
    solver = mbd.SciPySolver(method, rtol=0.1, atol=0.1)
    assert mbd.simulate(system, 0.5, integrator=solver, stabilization=None).counters.rejected == 0
