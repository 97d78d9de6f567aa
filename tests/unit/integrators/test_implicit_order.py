"""Every implicit method: its order in position, velocity and multipliers, and the violation that its form of the constraints promises."""

from __future__ import annotations

import numpy as np
import pytest

import haugmbd as mbd
from haugmbd.gallery import double_pendulum, four_bar
from haugmbd.integrators.implicit.constraint_form import ConstraintForm
from tests.support.implicit import end_of, with_step
from tests.support.implicit_cases import ADAPTIVE, CASES, FIXED, LEVELS, ORDER_TOL, exact
from tests.support.models import model_of

ACCURATE = {"double pendulum": 80, "heavy top": 80, "four-bar": 20, "slider-crank": 40}
"""Steps of Radau IIA: with those of BDF5 rounding would be all that is seen."""


@pytest.mark.slow
@pytest.mark.parametrize("method", FIXED)
@pytest.mark.parametrize("name", CASES)
def test_the_order_of_positions_velocities_and_multipliers(name, method):
    case, (order, integrator) = CASES[name], FIXED[method]
    n = ACCURATE[name] if isinstance(integrator, mbd.RadauIIA) else case.steps[order - 1]
    errors = []
    for steps in (n, 2 * n):
        h = case.t_end / steps
        found = end_of(with_step(integrator, h), case.make(), case.t_end)
        errors.append([abs(a - b).max() for a, b in zip(found, exact(name), strict=True)])
    assert np.log2(np.array(errors[0]) / np.array(errors[1])) == pytest.approx([order] * 3, abs=ORDER_TOL)


KEPT = 1e-10

DRIFTS = {"position": 1e-7, "velocity": 1e-7}
"""What is not kept is seen to be violated by more than this: the test can tell the difference."""

PROMISED = [
    pytest.param(kind, level, id=f"{kind.__name__}-{type(level).__name__}")
    for kind in (mbd.GeneralizedAlpha, mbd.HHT, mbd.Trapezoidal, mbd.BDF, mbd.RadauIIA)
    for level in LEVELS
    if level != mbd.Index3() or kind not in (mbd.Trapezoidal, mbd.RadauIIA)
]
"""Index 3 makes the trapezoidal rule weakly unstable, and Radau refuses it (`test_radau`)."""


@pytest.mark.slow
@pytest.mark.parametrize(("kind", "level"), PROMISED)
def test_what_a_form_of_the_constraints_promises_is_kept(kind, level: ConstraintForm):
    method = kind(h=5e-2 if kind is mbd.RadauIIA else 4e-3, constraint_form=level)
    for make, t_end in ((double_pendulum, 1.0), (four_bar, 1.0)):
        result = mbd.simulate(model_of(make), t_end, integrator=method)
        for what in ("position", "velocity"):
            worst = abs(result.violation(what)).max()
            assert (worst < KEPT) if what in level.keeps else (worst > DRIFTS[what])


@pytest.mark.parametrize(
    "method",
    [mbd.BDF(), mbd.RadauIIA(), mbd.GeneralizedAlpha(rtol=1e-7, atol=1e-7)],
    ids=["BDF", "Radau", "generalized-alpha"],
)
def test_adaptive_methods_keep_positions_and_velocities_between_steps_too(method):
    result = mbd.simulate(model_of(double_pendulum), 1.0, integrator=method, t_eval=np.linspace(0.0, 1.0, 101))
    assert abs(result.violation("position")).max() < KEPT
    assert abs(result.violation("velocity")).max() < KEPT


@pytest.mark.slow
@pytest.mark.parametrize(
    "method",
    [
        mbd.GeneralizedAlpha(4e-3, constraint_form=mbd.Index2()),
        mbd.BDF(4e-3, constraint_form=mbd.Index2()),
        mbd.BDF(constraint_form=mbd.Index2(), rtol=1e-6, atol=1e-6),
    ],
    ids=["generalized-alpha", "BDF2", "BDF"],
)
def test_index_2_keeps_velocities_between_steps_too_and_leaves_the_drift_of_positions(method):
    """At wanted times and at events; what the steps themselves have drifted is not hidden there."""
    low = mbd.Event("low", lambda t, state: state.r[1, 2] + 1.0)
    times = np.linspace(0.0, 1.0, 77)
    result = mbd.simulate(model_of(double_pendulum), 1.0, integrator=method, t_eval=times, events=[low])
    assert abs(result.violation("velocity")).max() < KEPT
    assert abs(result.violation("position")).max() > DRIFTS["position"]
    assert len(result.events) > 0
    for event in result.events:
        rows = mbd.evaluate(result.model, event.state)
        u = np.hstack([event.state.v, event.state.omega_bar])[1:].ravel()
        assert abs(rows.Phi_q @ u - rows.nu).max() < KEPT
        assert abs(rows.Phi).max() > 1e-3 * DRIFTS["position"]


@pytest.mark.slow
@pytest.mark.parametrize(("kind", "tolerances"), ADAPTIVE)
@pytest.mark.parametrize("name", CASES)
def test_the_error_follows_the_tolerance(name, kind, tolerances):
    """Generalized-alpha has order two of an error of order three, Radau five of four: the error falls by a power 2/3 ... 5/4.

    That of positions, velocities and multipliers, which are of as many sizes as the forces of a mechanism.
    """
    case = CASES[name]
    errors, steps = [], []
    for tol in tolerances:
        result = mbd.simulate(model_of(case.make), case.t_end, integrator=kind(rtol=tol, atol=tol))
        u = np.concatenate([result.v[-1], result.omega_bar[-1]], axis=1)
        pairs = zip((result.r[-1].ravel(), u.ravel(), result.lam[-1]), exact(name), strict=True)
        errors.append([abs(a - b).max() / (1.0 + abs(b).max()) for a, b in pairs])
        steps.append(result.counters.steps)
    slopes = np.polyfit(np.log(tolerances), np.log(errors), 1)[0]
    assert ((slopes > 0.55) & (slopes < 1.3)).all()
    assert steps[0] < steps[1] < steps[2]
    assert max(errors[-1]) < 1e3 * tolerances[-1]
