"""Blocks of the library that compiled code evaluates: the bits, the words and the errors of their evaluation in Python."""

from __future__ import annotations

import gc
import weakref

import numpy as np
import pytest

import haugmbd as mbd
from haugmbd import callbacks
from haugmbd.control.diagram.in_kernels import NetworkCallback
from joints import RJ, TJ

METHODS = {
    "RK4": {"h": 2e-3},
    "DormandPrince": {"rtol": 1e-7},
    "t_eval": {"h": 2e-3, "t_eval": np.linspace(0.0, 0.3, 17)},
    "GeneralizedAlpha": {"integrator": mbd.GeneralizedAlpha(h=2e-3)},
    "BDF": {"integrator": mbd.BDF(rtol=1e-5)},
    "RadauIIA": {"integrator": mbd.RadauIIA(h=5e-3)},
}


def controlled(seed: int) -> mbd.System:
    """A pendulum on a cart, with all blocks of the library in a row, limits that are reached, and a damper that is read."""
    rng = np.random.default_rng(seed)
    system = mbd.System("controlled", gravity=(0.0, 0.0, -9.81))
    cart = system.add(mbd.Body("cart", 2.0, (0.1, 0.1, 0.1)))
    rod = system.add(mbd.Body("rod", 1.0, (0.1, 0.1, 0.01), r=(0.0, 0.0, -0.5)))
    rail = system.add(TJ("rail", system.ground, cart, point=(0, 0, 0), axis=(1, 0, 0)))
    pin = system.add(RJ("pin", cart, rod, point=(0, 0, 0), axis=(0, 1, 0)))
    system.add(mbd.RSDA("damper", pin, c=0.1))
    low = system.add(mbd.LowPass("low", "rail.displacement", tau=rng.uniform(0.01, 0.1)))
    system.add(mbd.TransferFunction("lead", "low.out", [rng.uniform(0.5, 2.0), 1.0], [0.02, 1.0]))
    held = system.add(mbd.Sampled("held", 0.013, lambda t, signals: -2.0 * signals["pin.angle"] - signals["pin.rate"]))
    gains = {"kp": rng.uniform(20.0, 60.0), "ki": 30.0, "kd": 2.0, "tau": 0.01, "lower": -9.0, "upper": 9.0}
    pid = system.add(mbd.PID("pid", "lead.out", 0.2, **gains))
    system.add(mbd.Motor("drive", rail, force=pid["out"]))
    system.add(mbd.Motor("swing", pin, torque=held["out"]))
    assert low is not None
    return system


def run_twice(monkeypatch, build, **options):
    """Return a run with blocks in compiled code, and one with blocks in Python."""
    runs = []
    for by_kernels in (True, False):
        with monkeypatch.context() as changed:
            changed.setattr(callbacks, "CAN_ENTER", by_kernels)
            model = build().compile()
            assert isinstance(model.callback(), NetworkCallback) == by_kernels
            runs.append(mbd.simulate(model, 0.3, **options))
    return runs


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("name", METHODS)
def test_runs_have_the_bits_of_blocks_in_python(monkeypatch, name, seed):
    compiled, plain = run_twice(monkeypatch, lambda: controlled(seed), **METHODS[name])
    np.testing.assert_array_equal(compiled.t, plain.t)
    np.testing.assert_array_equal(compiled.y, plain.y)
    np.testing.assert_array_equal(compiled.block("pid")["out"], plain.block("pid")["out"])
    assert (compiled.message, compiled.warnings) == (plain.message, plain.warnings)


def runaway() -> mbd.System:
    """A mass that a block drives away until the numbers end."""
    system = mbd.System("runaway")
    mass = system.add(mbd.Body("mass", 1.0, (0.1, 0.1, 0.1), v=(1.0, 0.0, 0.0)))
    rail = system.add(TJ("rail", system.ground, mass, point=(0, 0, 0), axis=(1, 0, 0)))
    system.add(mbd.TransferFunction("blow", "rail.displacement", [1.0], [1.0, -4e4]))
    system.add(mbd.Motor("drive", rail, force=system.blocks[0]["out"]))
    return system


def test_numbers_that_end_have_the_words_of_blocks_in_python(monkeypatch):
    words = []
    for by_kernels in (True, False):
        with monkeypatch.context() as changed:
            changed.setattr(callbacks, "CAN_ENTER", by_kernels)
            with pytest.raises(mbd.SimulationError) as told:
                mbd.simulate(runaway().compile(), 1.0, h=1e-3)
            words.append((str(told.value), len(told.value.result.t)))
    assert words[0] == words[1]


def test_workspaces_have_networks_of_their_own_that_go_with_them():
    model = controlled(0).compile()
    first, second = model.pack(), model.pack()
    words = [pack.callback for pack in (first, second)]
    assert words[0] is not words[1]
    gone = weakref.ref(words[0])
    del words
    gc.collect()
    assert gone() is not None
    del first
    gc.collect()
    assert gone() is None
    assert second.callback is not None


@pytest.mark.slow
def test_members_of_a_batch_on_threads_do_not_share_numbers_of_blocks():
    model = controlled(1).compile()
    states = np.tile(model.y0, (12, 1))
    states[:, 13 + 13 + 8] += 0.0
    one, two = (mbd.batch(model, states, threads=threads).simulate(0.2, h=2e-3) for threads in (1, 4))
    for a, b in zip(one, two, strict=True):
        np.testing.assert_array_equal(a.y, b.y)
