"""Signs and orders that two names of one thing share: actuators and driving torques, normals of contacts, states of chains."""

from __future__ import annotations

import pickle
import warnings

import numpy as np
import pytest

import haugmbd as mbd
from joints import RJ, RotationDriver


@pytest.mark.slow
def test_a_motor_with_the_torque_of_inverse_dynamics_has_the_opposite_actuator():
    """The docstrings' formula: driven by actuator = -tau the link moves as it was prescribed."""

    def arm(*parts):
        system = mbd.System("arm", gravity=(0.0, 0.0, -9.81))
        link = system.add(mbd.Body("link", 2.0, (0.1, 0.3, 0.3), r=(1.0, 0.0, 0.0)))
        pin = system.add(RJ("pin", system.ground, link, point=(0, 0, 0), axis=(0, 1, 0)))
        for part in parts:
            system.add(part(pin))
        return system

    t = np.linspace(0.0, 1.0, 201)
    found = mbd.inverse_dynamics(arm(lambda pin: RotationDriver("drive", pin, lambda t: 1.0 - np.cos(t))), t)
    tau = found.force["drive"]
    motor = arm(lambda pin: mbd.RSDA("motor", pin, actuator=mbd.QuinticSpline(t, -tau)))
    end = mbd.simulate(motor, 1.0, h=5e-3)
    np.testing.assert_allclose(end["link"].r, found.result["link"].r, atol=1e-7)


def test_the_normal_of_a_contact_is_the_plane_normal_of_an_articulated_impulse():
    chain = mbd.SerialChain([mbd.Link.revolute("a", 1.0, (0.0, 0.1, 0.1)), mbd.Link.revolute("b", 1.0, (0.0, 0.1, 0.1))])
    q, qd, contact = [0.2, 0.4], [1.0, 0.5], {"point_bar": (1.0, 0.0, 0.0), "restitution": 0.5}
    with pytest.warns(DeprecationWarning, match="plane_normal=-n since haugmbd 0.2"):
        seed = mbd.articulated_impulse(chain, q, qd, normal=(0, 2, 0), **contact)
    ours = mbd.articulated_impulse(chain, q, qd, plane_normal=(0, -2, 0), **contact)
    assert seed.J == ours.J > 0.0
    np.testing.assert_array_equal(seed.qd, ours.qd)
    for wrong in ({}, {"normal": (0, 1, 0), "plane_normal": (0, -1, 0)}):
        with pytest.raises(mbd.UsageError, match="plane_normal=, of the object, towards the link, as a Contact has it"):
            mbd.articulated_impulse(chain, q, qd, **wrong, **contact)
    with pytest.raises(mbd.UsageError, match="normal is 'up'"):
        mbd.articulated_impulse(chain, q, qd, plane_normal="up", **contact)


def test_the_time_stands_first_in_states_of_chains_too():
    q, qd = [0.1, 0.2], [0.3, 0.4]
    wanted = mbd.ChainState(t=1.5, q=q, qd=qd)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        made = [
            mbd.ChainState(1.5, q, qd),
            mbd.ChainState(1.5, q=q, qd=qd),
            mbd.ChainState(q, qd, t=1.5),
            mbd.ChainState(q, qd).replace(t=1.5),
        ]
    with pytest.warns(DeprecationWarning, match=r"give t first, as in State, ChainState\(t, q, qd\)"):
        made.append(mbd.ChainState(q, qd, 1.5))
    made.append(pickle.loads(pickle.dumps(wanted)))
    for state in made:
        assert (state.t, state.q.tolist(), state.qd.tolist()) == (1.5, q, qd)
    assert mbd.ChainState(q, qd).t == 0.0
    for wrong in ((), (q,), (1.5, q), (1.5, q, qd, 2.0)):
        with pytest.raises(mbd.UsageError, match="ChainState"):
            mbd.ChainState(*wrong)
    with pytest.raises(mbd.UsageError, match="ChainState"):
        mbd.ChainState(q, qd, q=q)
