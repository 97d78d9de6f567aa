"""What keeps a machine from being pickled is named; blocks of the library, cams and sensors with importable functions go."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

import haugmbd as mbd
from joints import RJ, TJ, Cam


def rise(angle):
    return 0.1 * (1.0 - np.cos(angle))


def followed(t, signals):
    return -signals["rail.displacement"]


def displacement(t, state):
    return state.r[1, 0]


def machine(profile=rise, *parts):
    """A cam that moves a slider, and parts that read it."""
    system = mbd.System("machine")
    disc = system.add(mbd.Body("disc", 1.0, (0.1, 0.1, 0.1), omega_bar=(0, 0, 2.0)))
    slider = system.add(mbd.Body("slider", 1.0, (0.1, 0.1, 0.1)))
    axle = system.add(RJ("axle", system.ground, disc, point=(0, 0, 0), axis=(0, 0, 1)))
    rail = system.add(TJ("rail", system.ground, slider, point=(0, 0, 0), axis=(1, 0, 0)))
    system.add(Cam("cam", axle, rail, profile))
    for part in parts:
        system.add(part)
    return system


UNNAMED = {
    "joint 'cam'": lambda: machine(lambda angle: 0.1 * (1.0 - np.cos(angle))),
    "Block 'block'": lambda: machine(rise, mbd.Block("block", 0.0, derivative=lambda t, x, signals: -x[0], outputs={})),
    "Sampled 'held'": lambda: machine(rise, mbd.Sampled("held", 0.1, lambda t, signals: signals["rail.displacement"])),
    "PID 'pid'": lambda: machine(rise, mbd.PID("pid", "rail.displacement", lambda t: t, kp=1.0)),
    "sensor 'seen'": lambda: machine(rise, mbd.Sensor("seen", lambda t, state: state.r[1, 0])),
}


@pytest.mark.parametrize("compiled", [False, True], ids=["system", "model"])
@pytest.mark.parametrize("where", UNNAMED)
def test_a_function_without_a_name_is_refused_with_its_element(where, compiled):
    made = UNNAMED[where]()
    with pytest.raises(pickle.PicklingError, match=f"cannot be pickled, for the functions of {where} .*<lambda>"):
        pickle.dumps(made.compile() if compiled else made)


def test_functions_with_names_go():
    system = machine(
        rise,
        mbd.Sampled("held", 0.1, followed),
        mbd.PID("pid", "rail.displacement", 1.0, kp=1.0, ki=2.0),
        mbd.LowPass("filter", "pid.out", 0.1),
        mbd.TransferFunction("circuit", "filter.out", [1.0], [0.1, 1.0]),
        mbd.Sensor("seen", displacement),
    )
    one, other = (mbd.simulate(s, 0.3, h=1e-2) for s in (system, pickle.loads(pickle.dumps(system))))
    np.testing.assert_array_equal(one.y, other.y)
