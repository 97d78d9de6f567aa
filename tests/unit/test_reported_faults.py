"""What a stranger broke: each of these was once accepted in silence, refused without reason, or ended in a raw traceback."""

from __future__ import annotations

import numpy as np
import pytest

import haugmbd as mbd
from joints import RJ, RotationDriver


def hinge(**state):
    """A bar on a pin, its centre of mass 1 m away."""
    system = mbd.System("hinge", gravity=(0, 0, -9.81))
    bar = system.add(mbd.Body("bar", 1.0, (1, 1, 1), r=(1, 0, 0), **state))
    return system, bar, system.add(RJ("pin", system.ground, bar, point=(0, 0, 0), axis=(0, 1, 0)))


def test_speeds_of_rounding_size_are_no_fault():
    system, _, pin = hinge(v=(0, 0, 1e-17))
    t = np.linspace(0, 1, 50)
    system.add(RotationDriver("motor", pin, mbd.QuinticSpline(t, 1 - np.cos(t))))
    result = mbd.simulate(system, 1.0, h=1e-2)
    theta = 1 - np.cos(1.0)
    np.testing.assert_allclose(result["bar"].r[-1], [np.cos(theta), 0, -np.sin(theta)], atol=1e-8)  # of the spline


@pytest.mark.slow
@pytest.mark.parametrize("f", [lambda t: 20 * t**2, lambda t: np.where(t < 0.5, 0 * t, 3 + 0 * t)])
def test_a_driver_that_jumps_half_a_turn_is_told(f):
    """sin(theta - f) = 0 holds there as well: no row can see it.  A jump of f is told as one."""
    system, _, pin = hinge()
    system.add(RotationDriver("motor", pin, f))
    with pytest.raises(mbd.SimulationError, match=r"'motor'.*(half a turn|f of its driver jumps from 0 to 3 there)") as caught:
        mbd.simulate(system, 5.0, h=0.05)
    assert caught.value.result.t[-1] > 0.0


@pytest.mark.parametrize("driven", [True, False])
def test_a_joint_that_was_never_added_is_told(driven):
    system, bar, _ = hinge()
    other = RJ("other", system.ground, bar, point=(0, 0, 0), axis=(0, 1, 0))
    system.add(RotationDriver("user", other, 0.0) if driven else mbd.RSDA("user", other, k=1.0))
    with pytest.raises(mbd.ModelError, match="its joint 'other' is not in system"):
        system.compile()


def test_a_state_with_a_moving_ground_or_wrong_numbers_is_refused():
    model = hinge()[0].compile()
    state = model.state()
    v = state.v.copy()
    v[0] = (1, 0, 0)
    for wrong, text in (
        (state.replace(v=v), "ground"),
        (state.replace(r=state.r * np.nan), "not finite"),
        (state.replace(p=5 * state.p), r"\|p\|"),
        (state.replace(r=np.zeros((3, 3))), "shape"),
    ):
        with pytest.raises(mbd.ModelError, match=text):
            mbd.accelerations(model, wrong)
        with pytest.raises(mbd.ModelError, match=text):
            mbd.simulate(model, 1.0, h=0.1, state=wrong)


def test_a_driver_that_ends_in_nan_is_named():
    system, _, pin = hinge()
    system.add(RotationDriver("motor", pin, lambda t: np.where(t < 60, 0 * t, np.sqrt(60 - t))))
    with pytest.raises(mbd.SimulationError, match=r"driver of 'motor'.*t = 60"):
        mbd.simulate(system, 100.0, h=0.1)


def test_a_force_that_becomes_infinite_is_named():
    system = mbd.System("pushed")
    body = system.add(mbd.Body("body", 1.0, (1.0, 1.0, 1.0)))
    system.add(mbd.PointForce("push", body, point=(0, 0, 0), force=(mbd.Expression("1 / (0.05 - t)"), 0.0, 0.0)))
    with pytest.raises(mbd.SimulationError, match=r"driver of PointForce 'push': .*t = 0.05 s"):
        mbd.simulate(system, 0.1, h=0.01)


def test_an_exception_of_a_force_keeps_what_was_computed():
    system, bar, _ = hinge()

    def force(t):
        if t > 0.05:
            raise ValueError("my own")
        return (0.0, 0.0, 0.0)

    system.add(mbd.PointForce("push", bar, force=force))
    with pytest.raises(ValueError, match="my own") as caught:
        mbd.simulate(system, 0.1, h=1e-2)
    assert caught.value.result.t[-1] == pytest.approx(0.04, abs=0.011)


@pytest.mark.parametrize(
    "options",
    [
        {"stabilization": mbd.Projection(-1)},
        {"stabilization": mbd.Baumgarte(np.nan, 1)},
        {"stabilization": "none"},
        {"stabilization": mbd.Projection},
        {"integrator": "rk4"},
        {"integrator": mbd.RK4},
        {"state": 3},
        {"store_every": "a"},
        {"h": "a"},
    ],
)
def test_arguments_of_the_wrong_kind_are_told(options):
    with pytest.raises(mbd.UsageError):
        mbd.simulate(hinge()[0], 1.0, **{"h": 0.1, **options})


def test_a_largest_step_must_be_positive():
    with pytest.raises(mbd.UsageError, match="h_max"):
        mbd.simulate(hinge()[0], 1.0, integrator=mbd.DormandPrince(h_max=-1))


def test_the_places_of_rows_cannot_be_changed():
    model = hinge()[0].compile()
    with pytest.raises(ValueError, match="read-only"):
        model.slot_of_row[:] = 0
