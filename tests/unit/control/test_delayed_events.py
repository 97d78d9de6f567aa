"""Events by what delays give: slips of joints that stick, lift-offs, and functions of the user, against closed forms."""

from __future__ import annotations

import numpy as np
import pytest

import haugmbd as mbd
from joints import RJ, TJ, Cam


def delayed_step(system, before, behind):
    """Add a line whose output goes from `before` to `behind` at 0.13 s; return it."""
    system.add(mbd.Block("source", 0.0, derivative=lambda t, x, signals: 0.0, outputs={"out": lambda t, x, signals: behind}))
    return system.add(mbd.DelayLine("line", "source.out", 0.13, before=before))


def pushed_block():
    """A mass of 1 kg on a rail, at rest."""
    system = mbd.System("push")
    block = system.add(mbd.Body("block", 1.0, (0.1, 0.1, 0.1)))
    return system, system.add(TJ("rail", system.ground, block, point=(0, 0, 0), axis=(1, 0, 0)))


METHODS = pytest.mark.parametrize("options", [{"h": 1e-2}, {"rtol": 1e-8}], ids=["fixed", "adaptive"])


@METHODS
def test_a_joint_that_sticks_slips_by_what_a_delay_gives(options):
    """3 N, and from 0.13 s on 8 N, beyond mu_s N = 6 N: x'' = 8 - 5."""
    system, rail = pushed_block()
    system.add(mbd.JointFriction("friction", rail, mbd.Coulomb(0.6, 0.5), preload=10.0))
    system.add(mbd.Motor("drive", rail, force=delayed_step(system, 3.0, 8.0)["out"]))
    result = mbd.simulate(system, 0.4, **options)
    (slips,) = result.events
    assert (slips.name, slips.t) == ("friction slips", pytest.approx(0.13, abs=1e-14))
    assert result["block"].r[-1, 0] == pytest.approx(0.5 * 3.0 * 0.27**2, abs=1e-9)


def test_a_joint_that_sticks_slips_where_a_delayed_ramp_reaches_its_limit():
    """f = 20 (t - 0.13) reaches 6 N at 0.43 s; then m x'' = 6 + 20 s - 5 with s = t - 0.43."""
    system, rail = pushed_block()
    system.add(mbd.JointFriction("friction", rail, mbd.Coulomb(0.6, 0.5), preload=10.0))
    system.add(mbd.Block("source", 0.0, derivative=lambda t, x, signals: 0.0, outputs={"out": lambda t, x, signals: 20.0 * t}))
    line = system.add(mbd.DelayLine("line", "source.out", 0.13, before=0.0))
    system.add(mbd.Motor("drive", rail, force=line["out"]))
    result = mbd.simulate(system, 0.5, h=2e-2)
    (slips,) = result.events
    assert slips.t == pytest.approx(0.43, abs=1e-9)
    assert result["block"].r[-1, 0] == pytest.approx(0.5 * 0.07**2 + 20.0 * 0.07**3 / 6.0, abs=1e-9)


@METHODS
def test_an_event_sees_what_a_delay_gives(options):
    """The acceleration is 20 (t - 0.13) - 3 from 0.13 s on, and zero at 0.28 s; before it is -3."""
    system, rail = pushed_block()
    system.add(
        mbd.Block("source", 0.0, derivative=lambda t, x, signals: 0.0, outputs={"out": lambda t, x, signals: 20.0 * t - 3.0})
    )
    line = system.add(mbd.DelayLine("line", "source.out", 0.13))
    system.add(mbd.Motor("drive", rail, force=line["out"]))
    model = system.compile()
    turns = mbd.Event("turns", lambda t, state: mbd.accelerations(model, state).v_dot[1, 0])
    (found,) = mbd.simulate(model, 0.4, events=[turns], **options).events
    assert found.t == pytest.approx(0.28, abs=1e-9)
    assert mbd.accelerations(model, found.state).v_dot[1, 0] == pytest.approx(0.0, abs=1e-9)


@METHODS
def test_a_cam_lifts_off_where_a_delay_draws_at_its_follower(options):
    system = mbd.System("cam")
    disc = system.add(mbd.Body("disc", 1.0, (0.01, 0.01, 0.02)))
    follower = system.add(mbd.Body("follower", 0.5, (0.01, 0.01, 0.01)))
    axle = system.add(RJ("axle", system.ground, disc, point=(0, 0, 0), axis=(0, 0, 1)))
    guide = system.add(TJ("guide", system.ground, follower, point=(0, 0, 0), axis=(0, 1, 0)))
    system.add(Cam("cam", axle, guide, lambda angle: 0.03 * (1.0 - np.cos(angle)), unilateral=True))
    system.add(mbd.Motor("draws", guide, force=delayed_step(system, -8.0, 6.0)["out"]))
    with pytest.warns(mbd.RunWarning, match="lift-off at t = 0.13 s"):
        result = mbd.simulate(system, 0.2, **options)
    (found,) = result.events
    assert (found.name, found.jump) == ("cam: lift-off", pytest.approx(-14.0, rel=1e-9))
