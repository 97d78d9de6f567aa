"""Joints with exact friction that slip where a rigid stop opens or is hit, in closed form."""

from __future__ import annotations

import numpy as np
import pytest

import haugmbd as mbd
from joints import TJ, Planar

MU_S, MU, G = 0.3, 0.2, 10.0
WEIGHT = 2.0 * G
METHODS = {"RK4": {"h": 1e-2}, "DormandPrince": {"rtol": 1e-9, "atol": 1e-11}}


def sled(weak: float, joint=TJ):
    """A sled of 1 kg on a rail with friction, pulled back by 10 N/s t; a ball of 1 kg is pushed against its stop from behind."""
    system = mbd.System("sled", gravity=(0, 0, -G))
    carriage = system.add(mbd.Body("sled", 1.0, (0.1, 0.1, 0.1)))
    ball = system.add(mbd.Body("ball", 1.0, (0.1, 0.1, 0.1), r=(0.5, 0, 0)))
    way = {"normal": (0, 0, 1)} if joint is Planar else {"axis": (1, 0, 0)}
    rail = system.add(joint("rail", system.ground, carriage, point=(0, 0, 0), **way))
    slot = system.add(TJ("slot", carriage, ball, point=(0.5, 0, 0), axis=(1, 0, 0)))
    system.add(mbd.PointForce("pull", carriage, point=(0, 0, 0), force=(lambda t: -10.0 * t, 0, 0)))
    system.add(mbd.PointForce("push", ball, point=(0.5, 0, 0), force=(-weak, 0, 0)))
    system.add(mbd.JointFriction("friction", rail, mbd.Coulomb(MU_S, MU)))
    system.add(mbd.JointLimit("stop", slot, lower=0.0, upper=1.0, restitution=0.5))
    return system


@pytest.mark.slow
@pytest.mark.parametrize("joint", [TJ, Planar])
@pytest.mark.parametrize("options", METHODS.values(), ids=METHODS)
@pytest.mark.parametrize("weak", [0.05, 0.5])
def test_a_slip_that_opens_a_stop_is_no_impact(weak, options, joint):
    """10 t + push = mu_s m g: the sled slips, and leaves the ball behind.

    Without the stop 10 t alone does not exceed mu_s m g, so that the sled stuck again, until the ball had fallen on it by 1e-12 m: the
    impact set it sliding 2e-6 s too late.
    """
    result = mbd.simulate(sled(weak, joint), 1.2, **options)
    slip = (MU_S * WEIGHT - weak) / 10.0
    assert result.impacts == ()
    assert [event.name for event in result.events] == ["stop lower opens", "friction slips"]
    assert [event.t for event in result.events] == pytest.approx([slip, slip], abs=1e-9)
    t, s = 1.2, slip
    way = 5.0 / 3.0 * (t**3 - s**3) - 5.0 * s**2 * (t - s) - 0.5 * MU * WEIGHT * (t - s) ** 2
    assert result["sled"].r[-1, 0] == pytest.approx(-way, abs=1e-9)
    assert result["ball"].r[-1, 0] == pytest.approx(0.5 - 0.5 * weak * (t - s) ** 2, abs=1e-9)


@pytest.mark.parametrize("options", METHODS.values(), ids=METHODS)
def test_a_slip_under_which_the_stop_stays_closed_goes_before_its_opening(options):
    """A ball that is pushed by 1.5 N follows the sled until this accelerates faster: 10 t - mu m g = 1.5 N."""
    result = mbd.simulate(sled(1.5), 1.0, **options)
    assert [event.name for event in result.events] == ["friction slips", "stop lower opens"]
    assert [event.t for event in result.events] == pytest.approx([0.45, 0.55], abs=1e-9)
    assert result.impacts == ()


@pytest.mark.parametrize("options", METHODS.values(), ids=METHODS)
def test_a_joint_that_friction_of_sliding_would_stop_does_not_slip_when_a_stop_opens(options):
    """The push alone pulls on the sled through the stop; as it turns round the stop opens, far below mu_s m g."""
    system = sled(0.0)
    system.add(mbd.PointForce("turn", system["ball"], point=(0.5, 0, 0), force=(lambda t: 10.0 * (t - 0.3), 0, 0)))
    result = mbd.simulate(system, 0.5, **options)
    assert [event.name for event in result.events] == ["stop lower opens"]
    assert result["sled"].r[-1, 0] == 0.0


@pytest.mark.slow
@pytest.mark.parametrize("options", METHODS.values(), ids=METHODS)
def test_an_impact_that_sets_a_joint_sliding_is_a_slip(options):
    """The ball strikes the sled at rest at 1 m/s: it slides at 0.75 m/s, until mu m g stops it; it was recorded to stop only."""
    system = mbd.System("struck", gravity=(0, 0, -G))
    carriage = system.add(mbd.Body("sled", 1.0, (0.1, 0.1, 0.1)))
    ball = system.add(mbd.Body("ball", 1.0, (0.1, 0.1, 0.1), r=(0.5, 0, 0), v=(-1.0, 0, 0)))
    rail = system.add(TJ("rail", system.ground, carriage, point=(0, 0, 0), axis=(1, 0, 0)))
    slot = system.add(TJ("slot", carriage, ball, point=(0.5, 0, 0), axis=(1, 0, 0)))
    system.add(mbd.JointFriction("friction", rail, mbd.Coulomb(MU_S, MU)))
    system.add(mbd.JointLimit("stop", slot, lower=-0.2, upper=1.0, restitution=0.5))
    result = mbd.simulate(system, 0.45, **options)
    assert [event.name for event in result.events] == ["stop lower meets", "friction slips", "friction stops"]
    stops = 0.2 + 0.75 / (MU * WEIGHT)
    assert [event.t for event in result.events] == pytest.approx([0.2, 0.2, stops], abs=1e-9)
    assert result.events[1].state.v[1, 0] == pytest.approx(-0.75, abs=1e-12)
    stuck = mbd.simulate(system, 0.6, state=result.state(), **options)  # the next impact, of a joint that has stopped
    assert [event.name for event in stuck.events][:2] == ["stop lower meets", "friction slips"]


def test_an_impact_that_does_not_move_a_joint_is_no_slip():
    """The ball strikes across the rail, whose joint takes the impulse."""
    system = mbd.System("across", gravity=(0, 0, -G))
    carriage = system.add(mbd.Body("sled", 1.0, (0.1, 0.1, 0.1)))
    ball = system.add(mbd.Body("ball", 1.0, (0.1, 0.1, 0.1), r=(0, 0.5, 0), v=(0, -1.0, 0)))
    rail = system.add(TJ("rail", system.ground, carriage, point=(0, 0, 0), axis=(1, 0, 0)))
    slot = system.add(TJ("slot", carriage, ball, point=(0, 0.5, 0), axis=(0, 1, 0)))
    system.add(mbd.JointFriction("friction", rail, mbd.Coulomb(MU_S, MU)))
    system.add(mbd.JointLimit("stop", slot, lower=-0.2, upper=1.0, restitution=0.5))
    result = mbd.simulate(system, 0.4, h=1e-2)
    assert len(result.impacts) == 1
    assert [event.name for event in result.events] == ["stop lower meets"]
    assert np.abs(result["sled"].r[:, 0]).max() == 0.0
