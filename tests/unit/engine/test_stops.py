"""Stops and compliant contacts as a blob has them: steps in compiled code alone, with the states of a Stepper; and what is refused."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest

import haugmbd as mbd
from haugmbd.engine.blob import blob, first_call
from haugmbd.engine.host import EngineModel, library_for
from haugmbd.engine.stops import make_steps
from joints import RJ, TJ

SAME = 1e-12
"""Of the size of the states: the error of located times."""


def swing(**limit):
    system = mbd.System("swing", gravity=(0.0, 0.0, -9.81))
    bar = system.add(mbd.Body("bar", 1.0, (0.1, 0.1, 0.1), r=(0.5, 0.0, 0.0)))
    pin = system.add(RJ("pin", system.ground, bar, point=(0.0, 0.0, 0.0), axis=(0.0, 1.0, 0.0)))
    system.add(mbd.JointLimit("stop", pin, **limit))
    return system


def slider(rng):
    """A block between two stops of its own, thrown at them."""
    system = mbd.System("slider", gravity=(0.0, 0.0, 0.0))
    block = system.add(mbd.Body("block", 1.0, (0.1, 0.1, 0.1), v=(float(rng.uniform(-3, 3)), 0.0, 0.0)))
    rail = system.add(TJ("rail", system.ground, block, point=(0.0, 0.0, 0.0), axis=(1.0, 0.0, 0.0)))
    lower, upper = -rng.uniform(0.02, 0.2), rng.uniform(0.02, 0.2)
    system.add(mbd.JointLimit("stop", rail, lower=lower, upper=upper, k=rng.uniform(1e2, 1e5), c=rng.choice([0.0, 5.0, 60.0])))
    return system


def ball(mu=0.0, height=0.105, **more):
    system = mbd.System("ball", gravity=(0.0, 0.0, -9.81))
    part = system.add(mbd.Body("ball", 1.0, (0.004,) * 3, r=(0.0, 0.0, height), v=(0.4, 0.0, 0.0)))
    shapes = {"shape_i": mbd.Plane(normal=(0, 0, 1)), "shape_j": mbd.Sphere(0.1)}
    system.add(mbd.ContactForce("floor", system.ground, part, mu=mu, K=1e5, restitution=0.5, **shapes, **more))
    return system


def box():
    """Four corners that touch at one instant, and a wall."""
    system = mbd.System("box", gravity=(0.0, 0.0, -9.81))
    part = system.add(mbd.Body("box", 1.0, (0.01,) * 3, r=(0.0, 0.0, 0.11), v=(0.5, 0.0, 0.0), omega_bar=(0.0, 0.3, 0.0)))
    for k, at in enumerate([(-0.1, -0.1), (0.1, -0.1), (0.1, 0.1), (-0.1, 0.1)]):
        shapes = {"shape_i": mbd.Plane(normal=(0, 0, 1)), "shape_j": mbd.Sphere(0.01, center=(*at, -0.1))}
        system.add(mbd.ContactForce(f"corner {k}", system.ground, part, K=1e5, restitution=0.6, mu=0.2, **shapes))
    return system


CASES = {
    "a stop": lambda: swing(lower=-0.1, upper=0.4, k=1e4),
    "a stop with damping": lambda: swing(lower=-0.1, upper=0.4, k=1e4, c=30.0),
    "at the stop at the start": lambda: swing(lower=-1.0, upper=0.0, k=1e3, c=10.0),
    "a ball": ball,
    "a ball that slides": lambda: ball(mu=0.3),
    "a ball that rests": lambda: ball(height=0.1),
    "a box": box,
    **{f"slider {seed}": lambda seed=seed: slider(np.random.default_rng(seed)) for seed in range(4)},
}


def by_the_engine(system, h, n):
    model, method = system.compile(), mbd.RK4(h=h)
    call = first_call(model, method, {"stabilization": mbd.Projection()})
    return make_steps(model, call.problem, method.tableau, call.t, h, call.k1, n)


H, STEPS = 5e-4, 400


def by_a_stepper(name):
    stepper = mbd.Stepper(CASES[name](), h=H)
    states = []
    for _ in range(STEPS):
        stepper.step()
        states.append(stepper.state.y)
    return np.array(states)


@pytest.mark.slow
@pytest.mark.parametrize("name", CASES)
def test_states_are_those_of_a_stepper(name):
    code, steps = by_the_engine(CASES[name](), H, STEPS)
    assert code == 0
    assert len(steps.t) == STEPS
    right = by_a_stepper(name)
    assert np.abs(steps.y[:, : right.shape[1]] - right).max() <= SAME * np.abs(right).max()


def library(*names):
    for name in names:
        try:
            return library_for(name)
        except mbd.UsageError:
            continue
    return None


LIBRARY, WASM = library("exact", "linux_x86_64"), library("wasm32")
PORTABLE = 1e-11
"""Of the size of the states, where sums may be rounded otherwise."""


@pytest.mark.slow
@pytest.mark.skipif(LIBRARY is None, reason="no engine is built: make engine")
@pytest.mark.parametrize("name", CASES)
def test_a_library_has_the_states_of_a_stepper(name):
    right = by_a_stepper(name)
    with EngineModel(blob(CASES[name](), h=H), library=LIBRARY) as engine:
        found = engine.run(STEPS)
        saved, t = engine.save(), engine.t
        on = engine.run(20)
        engine.restore(saved)
        assert engine.t == t
        assert np.array_equal(engine.run(20), on)
        # a state that was set decides anew which places push
        engine.reset()
        first = engine.run(50)
        engine.state = first[-1]
        again = engine.run(STEPS - 50)
    assert found.shape[0] == STEPS
    size = np.abs(right).max()
    assert np.abs(found[:, : right.shape[1]] - right).max() <= PORTABLE * size
    assert np.abs(again[:, : right.shape[1]] - right[50:]).max() <= PORTABLE * size


PROGRAM = """
import fs from "fs";
const { Mechanism } = await import(process.argv[2]);
const module = new WebAssembly.Module(fs.readFileSync(process.argv[3])), out = [];
for (const file of process.argv.slice(4)) {
  const m = await Mechanism.load(module, fs.readFileSync(file));
  out.push([m.run(%d), ...m.state]);
}
console.log(JSON.stringify(out));
"""


@pytest.mark.slow
@pytest.mark.skipif(WASM is None or not shutil.which("node"), reason="there is no engine for WebAssembly, or no node")
def test_webassembly_has_the_states_of_a_stepper(tmp_path):
    files = [tmp_path / f"{k}.haug" for k in range(len(CASES))]
    for file, make in zip(files, CASES.values(), strict=True):
        file.write_bytes(blob(make(), h=H))
    program = tmp_path / "run.mjs"
    program.write_text(PROGRAM % STEPS)
    mechanism = Path(mbd.__file__).with_name("engine") / "engine.mjs"
    done = subprocess.run(["node", program, mechanism, WASM, *files], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    for name, (made, *state) in zip(CASES, json.loads(done.stdout), strict=True):
        right = by_a_stepper(name)
        assert made == STEPS
        assert np.abs(np.array(state)[: right.shape[1]] - right[-1]).max() <= PORTABLE * np.abs(right).max(), name


@pytest.mark.slow
def test_the_energy_of_a_stop_without_damping_comes_back():
    code, steps = by_the_engine(swing(upper=0.4, k=1e4), 2e-4, 10_000)
    assert code == 0
    rate = np.abs(steps.y[:, 13 + 10 : 13 + 13]).max(axis=1)
    angle = 2.0 * np.arctan2(steps.y[:, 13 + 5], steps.y[:, 13 + 3])
    energy = 0.5 * 0.35 * rate**2 - 9.81 * 0.5 * np.sin(angle) + 0.5 * 1e4 * np.maximum(angle - 0.4, 0.0) ** 2
    assert np.count_nonzero(np.diff(angle > 0.4)) > 4
    assert np.ptp(energy) < 1e-6 * 9.81 * 0.5


def test_a_blob_holds_stops_and_compliant_contacts():
    assert b"haugmbd.engine.stops.run_entry" in blob(swing(upper=0.4, k=1e3), h=1e-3)
    assert b"haugmbd.engine.stops.run_entry" in blob(ball(mu=0.3), h=1e-3)
    assert b"engine.stops" not in blob(mbd.gallery.pendulum(), h=1e-3)


@pytest.mark.parametrize("limit", [{"restitution": 0.5}, {"restitution": 0.0}])
def test_rigid_stops_are_refused_by_name(limit):
    with pytest.raises(mbd.UsageError, match="stop"):
        blob(swing(upper=0.4, **limit), h=1e-3)


def test_numbers_that_places_keep_are_no_parameters():
    from haugmbd.engine.stops import need_same_places

    one, other = swing(upper=0.4, k=1e3, c=1.0).compile(), swing(upper=0.5, k=1e3, c=1.0).compile()
    assert need_same_places(one, swing(upper=0.4, k=2e3, c=2.0).compile(), "live") is not one
    with pytest.raises(mbd.UsageError, match="live.*'stop upper'"):
        need_same_places(one, other, "live")
