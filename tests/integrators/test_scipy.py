"""SciPy's solvers on the same right-hand side: an independent check of the compiled integrators."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import haugmbd as mbd
from haugmbd.gallery import double_pendulum, slider_crank
from haugmbd.integrators import SciPySolver, ode_function

T_EVAL = np.linspace(0.0, 0.5, 11)


@pytest.mark.parametrize("make", [double_pendulum, slider_crank])
def test_solve_ivp_agrees_with_the_compiled_integrator(make):
    model = make().compile()
    ours = mbd.simulate(model, 0.5, rtol=1e-12, atol=1e-12, t_eval=T_EVAL)
    theirs = solve_ivp(ode_function(model), (0.0, 0.5), model.state().y, method="DOP853", rtol=1e-12, atol=1e-12, t_eval=T_EVAL)
    assert theirs.success
    np.testing.assert_allclose(ours.y, theirs.y.T, rtol=0.0, atol=1e-8)


@pytest.mark.parametrize("method", ["RK45", "DOP853", "Radau", "LSODA"])
def test_simulate_with_a_scipy_solver(method):
    corrects = method in ("RK45", "DOP853")
    reference = mbd.simulate(double_pendulum(), 0.5, rtol=1e-12, atol=1e-12, t_eval=T_EVAL)
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


def test_multistep_methods_refuse_projection():
    with pytest.raises(mbd.UsageError, match="Baumgarte"):
        mbd.simulate(double_pendulum(), 0.1, integrator=SciPySolver("BDF"))


def test_an_unknown_method_is_refused():
    with pytest.raises(mbd.UsageError, match="DOP853"):
        SciPySolver("RK4")
