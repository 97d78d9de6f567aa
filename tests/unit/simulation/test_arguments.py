"""What methods are given: numbers of the wrong kind or size are refused when they are read, with the name of the method and of the
parameter.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest

import haugmbd as mbd
from haugmbd.gallery import double_pendulum, four_bar
from haugmbd.integrators.explicit import runge_kutta
from joints import RJ


@pytest.mark.slow
@pytest.mark.parametrize(
    ("method", "text"),
    [
        (mbd.RK4("1e-3"), "RK4 got h = '1e-3', which must be a number or None"),
        (mbd.RK4(True), "RK4 got h = True"),
        (mbd.RK4(1e-3, h_first="x"), "RK4 got h_first = 'x'"),
        (mbd.RK4(1e-3, h_first=-1.0), "h_first = -1.0 s must be positive"),
        (mbd.DormandPrince(h_first=0.0), "h_first = 0.0 s must be positive"),
        (mbd.DOP853(h_first=np.nan), "h_first = nan s must be positive"),
        (mbd.DormandPrince(rtol=None), "DormandPrince got rtol = None, which must be a number"),
        (mbd.DormandPrince(h_max="q"), "DormandPrince got h_max = 'q'"),
        (mbd.DormandPrince(beta="q"), "DormandPrince got beta = 'q'"),
        (mbd.SciPySolver(h_first="x"), "SciPySolver got h_first = 'x'"),
        (mbd.GeneralizedAlpha(1e-3, rho="0.8"), "GeneralizedAlpha got rho = '0.8'"),
        (
            mbd.GeneralizedAlpha(1e-3, constraint_form="GGL"),
            "GeneralizedAlpha got constraint_form = 'GGL', which must be a ConstraintForm object or None",
        ),
        (mbd.GeneralizedAlpha(1e-3, constraint_form=mbd.GGL), "GeneralizedAlpha got constraint_form = <class"),
        (mbd.GeneralizedAlpha(1e-3, newton=mbd.FullNewton), "GeneralizedAlpha got newton = <class"),
        (mbd.GeneralizedAlpha(1e-3, tol=0.0), "tol = 0.0, the tolerance of Newton's iteration, must be positive"),
        (mbd.HHT(1e-3, tol="x"), "HHT got tol = 'x'"),
        (mbd.Newmark(1e-3, gamma="0.5"), "Newmark got gamma = '0.5'"),
        (mbd.BDF(order=True), "BDF got order = True, which must be a whole number or None"),
        (mbd.BDF(h_first=-1.0), "h_first = -1.0 s must be positive"),
    ],
)
def test_parameters_of_methods(method, text):
    with pytest.raises(mbd.UsageError, match=text):
        mbd.simulate(double_pendulum(), 0.1, integrator=method)


@pytest.mark.parametrize(
    ("rule", "text"),
    [
        (mbd.Baumgarte("a", 2.0), "Baumgarte got alpha = 'a', which must be a number"),
        (mbd.Projection(every="a"), "Projection got every = 'a', which must be a whole number"),
        (mbd.Projection(positions="no"), "Projection got positions = 'no', which must be True or False"),
    ],
)
def test_parameters_of_stabilizations(rule, text):
    with pytest.raises(mbd.UsageError, match=text):
        mbd.simulate(double_pendulum(), 0.1, h=1e-3, stabilization=rule)


@pytest.mark.parametrize("kind", [mbd.BDF, mbd.GeneralizedAlpha])
def test_error_control_needs_velocities_that_are_kept(kind):
    """With index 3 the steps would shrink to nothing, wherever there are constraints."""
    for make in (double_pendulum, four_bar):
        with pytest.raises(mbd.UsageError, match=r"constraint_form=Index3\(\) does not keep them .* Index2\(\)"):
            mbd.simulate(make(), 0.1, integrator=kind(constraint_form=mbd.Index3(), rtol=1e-6))


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"integrator": mbd.RK4(10**400)}, "RK4 got h = .* larger than any float"),
        ({"integrator": mbd.BDF(h_max=10**400)}, "BDF got h_max = .* larger than any float"),
        ({"h": 10**400}, "h = .* larger than any float"),
        ({"t_end": 10**400}, "t_end = .* larger than any float"),
        ({"t_end": 1e300, "h": 1e-3}, r"t_end = 1e\+300 s is 1e\+303 steps of 0.001 s"),
        ({"store_every": np.nan}, "store_every = nan must be a whole number"),
        ({"store_every": np.inf}, "store_every = inf must be a whole number"),
        ({"project_velocity": np.zeros(3)}, "project_velocity = .* must be True or False"),
        ({"progress": "yes"}, "progress = 'yes' must be True or False"),
        ({"events": np.array(1e-3)}, "must be a list of Event objects"),
    ],
    ids=str,
)
def test_arguments_of_simulate(options, text):
    with pytest.raises(mbd.UsageError, match=text):
        mbd.simulate(double_pendulum(), **{"t_end": 0.1, **options})


def test_a_solver_of_scipy_is_named_by_a_text():
    with pytest.raises(mbd.UsageError, match="is unknown; SciPy has"):
        mbd.SciPySolver(np.zeros(3))


@pytest.mark.slow
def test_a_step_of_another_type_compiles_nothing_anew():
    run = runge_kutta.run_entry
    mbd.simulate(double_pendulum(), 0.02, h=0.01)
    known = len(getattr(run, "signatures", ()))  # none where the compiler is switched off
    with pytest.warns(mbd.RunWarning, match="more than 1 rad"):
        mbd.simulate(double_pendulum(), 1, h=1)
    for number in (np.float32, np.float64, np.longdouble):
        mbd.simulate(double_pendulum(), number(0.02), h=number(0.01))
        mbd.simulate(double_pendulum(), number(0.02), integrator=mbd.RK4(number(0.01), h_first=number(0.005)))
    assert len(getattr(run, "signatures", ())) == known


def test_numbers_of_any_kind_are_numbers():
    """NumPy's numbers and whole numbers stand for floats."""
    for method in (mbd.RK4(np.float32(0.01)), mbd.DormandPrince(h_max=1), mbd.BDF(order=np.int64(3), rtol=np.float64(1e-4))):
        assert mbd.simulate(double_pendulum(), 0.02, integrator=method).t[-1] == 0.02


@dataclass(frozen=True)
class Mine(mbd.RK4):
    """A user's method, with annotations of its own."""

    gains: tuple[float, ...] = (1.0, 2.0)


def test_a_users_method_annotates_as_it_likes():
    assert mbd.simulate(double_pendulum(), 0.02, integrator=Mine(0.01)).t[-1] == 0.02


def test_a_state_that_one_model_accepts_is_checked_by_another():
    """What is checked once is a state for a model; the pin of the other system is a metre away."""

    def pendulum(x):
        system = mbd.System("pendulum")
        body = system.add(mbd.Body("bob", 1.0, (0.1, 0.1, 0.1), r=(x + 1.0, 0.0, 0.0)))
        system.add(RJ("pin", system.ground, body, point=(x, 0.0, 0.0), axis=(0.0, 1.0, 0.0)))
        return system.compile()

    model, other = pendulum(0.0), pendulum(1.0)
    state = model.state()
    for _ in range(2):
        assert mbd.simulate(model, 0.01, h=0.01, state=state).success
    with pytest.raises(mbd.ModelError, match="its points are 1 m apart"):
        mbd.simulate(other, 0.01, h=0.01, state=state)


def test_equal_methods_are_checked_each():
    """True equals 1, and is not a whole number of steps."""
    mbd.simulate(double_pendulum(), 0.01, h=0.01, stabilization=mbd.Projection(every=1))
    with pytest.raises(mbd.UsageError, match="every = True"):
        mbd.simulate(double_pendulum(), 0.01, h=0.01, stabilization=mbd.Projection(every=True))


def test_times_beyond_the_end_by_rounding_are_shown_with_all_digits():
    """np.arange ends at 0.30000000000000004: the message said that 0 to 0.3 s is not within 0 to 0.3 s."""
    with pytest.raises(mbd.UsageError, match=r"from 0 to 0\.30000000000000004 s, the simulation from 0 to 0\.3 s"):
        mbd.simulate(four_bar(), 0.3, h=0.1, t_eval=np.arange(4) * 0.1)
