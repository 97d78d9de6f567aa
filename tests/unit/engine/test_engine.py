"""The engine where it is built (`make engine`): the bits of Numba, the states in WebAssembly, a C program, and haugmbd without Numba."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import haugmbd as mbd
from haugmbd import gallery
from haugmbd.compiled.engine_library import FOLDER, MANIFEST, WISH, choose, stamp_of
from haugmbd.compiled.numba_names import COMPILES
from haugmbd.engine import EngineModel, blob
from joints import CJ, RJ, SJ, TJ, UJ, Gear

PACKAGE = Path(mbd.__file__).parent
H, STEPS = 1e-3, 1000
PORTABLE = 1e-11
"""Of the size of the states over a second, where sums may be rounded otherwise."""


def built(name: str) -> Path | None:
    """A library of these sources; None if there is none."""
    try:
        manifest = json.loads((FOLDER / MANIFEST).read_text())
    except (OSError, ValueError):
        return None
    found = [
        FOLDER / n for n, x in manifest["libraries"].items() if n.startswith(name) and x["stamp"] == stamp_of(manifest["sources"])
    ]
    return found[0] if found else None


EXACT, WASM, NODE = built("exact.so"), built("wasm32.wasm"), shutil.which("node")
LIBRARY = EXACT or built("linux_x86_64.so")
pytestmark = [pytest.mark.slow, pytest.mark.skipif(LIBRARY is None, reason="no engine is built: make engine")]

MECHANISMS = [
    name
    for name in gallery.__all__
    if name
    not in (
        "bouncing_toy",
        "piston_engine",
        "governor",
        "gripper",
        "jumping_follower",
        "rimless_wheel",
        "dominoes",
        "ratchet",
        "geneva_drive",
        "rattleback",
        "tippe_top",
        "woodpecker",
        "incline_block",
        "stack",
        "tumbling_box",
    )  # two call Python, others have rigid contacts; the governor needs small steps
    and callable(getattr(gallery, name))
    and name[0].islower()
]
SINGULAR = ("delta_robot", "peaucellier", "scissor_lift", "windows")
"""They pass through singular configurations, which Python searches: the same bits up to there."""
CHAOTIC = ("andrews",)


def rod(name, x, **more):
    return mbd.Body(name, 1.0, (0.1, 0.2, 0.3), r=(x, 0.0, 0.0), **more)


def pendulum(joint=RJ, **more):
    system = mbd.System("feature", gravity=(0.0, 0.0, -9.81))
    bar = system.add(rod("bar", 0.5))
    pin = system.add(joint("pin", system.ground, bar, point=(0.0, 0.0, 0.0), axis=(0.0, 1.0, 0.0), **more))
    return system, bar, pin


def two(joint):
    system, bar, _ = pendulum()
    other = system.add(rod("other", 1.5))
    more = {} if joint is SJ else {"axis": (0.0, 0.0, 1.0)}
    if joint is UJ:
        more = {"axis_i": (0.0, 1.0, 0.0), "axis_j": (0.0, 0.0, 1.0)}
    system.add(joint("knee", bar, other, point=(1.0, 0.0, 0.0), **more))
    return system


def loaded(add):
    system, bar, pin = pendulum()
    system.add(add(system, bar, pin))
    return system


def geared():
    system = mbd.System("geared")
    wheels = [system.add(rod(name, x)) for name, x in (("one", 0.0), ("two", 1.0))]
    pins = [system.add(RJ(f"{w.name} pin", system.ground, w, point=w.r, axis=(0.0, 1.0, 0.0))) for w in wheels]
    system.add(Gear("mesh", *pins, ratio=-2.0))
    system.add(mbd.Torque("drive", wheels[0], torque=(0.0, 0.3, 0.0)))
    return system


FEATURES = {
    "revolute": lambda: pendulum()[0],
    "cylindrical": lambda: two(CJ),
    "spherical": lambda: two(SJ),
    "translational": lambda: two(TJ),
    "two revolutes": lambda: two(RJ),
    "spring": lambda: loaded(lambda s, b, p: mbd.RSDA("spring", p, k=20.0, c=0.1)),
    "joint spring": lambda: loaded(lambda s, b, p: mbd.JointSpring("spring", p, k=20.0, c=0.1)),
    "joint force": lambda: loaded(lambda s, b, p: mbd.JointForce("push", p, 0.3)),
    "motor": lambda: loaded(lambda s, b, p: mbd.Motor("motor", p, torque=0.5)),
    "motor with a curve": lambda: loaded(lambda s, b, p: mbd.Motor("motor", p, curve=((0, 300), (2, 0)))),
    "torque of time": lambda: loaded(lambda s, b, p: mbd.Torque("wind", b, torque=(0.0, lambda t: 0.1 * t * t, 0.0))),
    "expression": lambda: loaded(lambda s, b, p: mbd.Motor("motor", p, torque=mbd.Expression("0.3*sin(5*t)"))),
    "tsda": lambda: loaded(
        lambda s, b, p: mbd.TSDA("rope", s.ground, b, point_i=(1.0, 0.0, 1.0), point_j=b.r, k=30.0, c=0.5, l0=0.8)
    ),
    "point force": lambda: loaded(lambda s, b, p: mbd.PointForce("push", b, force=(0.0, 0.0, 3.0), point=(1.0, 0.0, 0.0))),
    "bushing": lambda: loaded(
        lambda s, b, p: mbd.Bushing("rubber", s.ground, b, point=(0.2, 0.0, 0.0), K=(50.0,) * 3 + (1.0,) * 3, C=(0.1,) * 6)
    ),
    "viscous friction": lambda: loaded(lambda s, b, p: mbd.JointFriction("oil", p, mbd.Viscous(0.1))),
    "smooth friction": lambda: loaded(
        lambda s, b, p: mbd.JointFriction("rub", p, mbd.BrownMcPhee(mu_s=0.3, mu_d=0.2, v_t=0.01), radius=0.05)
    ),
    "bristles": lambda: loaded(
        lambda s, b, p: mbd.JointFriction("rub", p, mbd.LuGre(mu_s=0.3, mu_c=0.2, v_s=0.01, sigma0=1e3), radius=0.05)
    ),
    "gear": geared,
    "drag": lambda: loaded(lambda s, b, p: mbd.Drag("air", b, mbd.Sphere(0.1), density=1.2, coefficient=0.5)),
    "universal": lambda: two(UJ),
    "spinning": gallery.gyroscope,
    "driven": lambda: gallery.slider_crank(driven=True),
}


def states_by_engine(data: bytes, library: Path | None) -> np.ndarray:
    """States behind all steps of a second."""
    return all_steps(EngineModel(data, library=library), STEPS)


def all_steps(engine: EngineModel, n: int) -> np.ndarray:
    """States behind n steps, of as many calls as the engine wants."""
    parts = []
    while (made := sum(map(len, parts))) < n:
        parts.append(engine.run(n - made))
    return np.concatenate(parts)


def states_by_python(make) -> np.ndarray:
    return mbd.simulate(make(), H * STEPS, h=H, integrator=mbd.RK4(), stabilization=mbd.Projection()).y[1:]


@pytest.mark.skipif(EXACT is None, reason="there is no engine for this processor")
@pytest.mark.skipif(not COMPILES, reason="there is no Numba to compare with")
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", MECHANISMS)
def test_gallery_to_the_bit(name):
    make = getattr(gallery, name)
    data = blob(make(), h=H)
    engine = EngineModel(data, library=EXACT)
    first = engine.run(STEPS)
    python = states_by_python(make)
    assert np.array_equal(first, python[: len(first)])
    if name not in SINGULAR:
        assert np.array_equal(states_by_engine(data, EXACT), python)


@pytest.mark.skipif(EXACT is None, reason="there is no engine for this processor")
@pytest.mark.skipif(not COMPILES, reason="there is no Numba to compare with")
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", FEATURES)
def test_features_to_the_bit(name):
    try:
        data = blob(FEATURES[name](), h=H)
    except mbd.UsageError as error:
        pytest.fail(str(error))
    assert np.array_equal(states_by_engine(data, EXACT), states_by_python(FEATURES[name]))


METHODS = {
    "Trapezoidal": mbd.Trapezoidal,
    "Newmark": mbd.Newmark,
    "HHT": mbd.HHT,
    "GeneralizedAlpha": mbd.GeneralizedAlpha,
    "BDF": mbd.BDF,
    "BDF of order 3": lambda **more: mbd.BDF(order=3, **more),
}
"""Implicit methods of blobs."""
IMPLICIT_MODELS = {
    "four_bar": gallery.four_bar,
    "slider_crank": gallery.slider_crank,
    "spring": FEATURES["spring"],
    "smooth friction": FEATURES["smooth friction"],
    "driven": FEATURES["driven"],
}


def controlled():
    """A pendulum with blocks of every kind that compiled code evaluates."""
    system, _, pin = pendulum()
    pid = system.add(mbd.PID("pid", "pin.angle", 0.2, kp=80.0, ki=60.0, kd=15.0, tau=0.01))
    system.add(mbd.LowPass("slow", "pin.angle", 0.05))
    lead = system.add(mbd.TransferFunction("lead", "pin.rate", [1.0, 2.0], [0.1, 1.0]))
    system.add(mbd.Motor("motor", pin, torque=pid["out"]))
    system.add(mbd.Motor("brake", pin, torque=lead["out"]))
    return system


def law(t, signals):
    return -2.0 * signals["pin.angle"] - 0.1 * signals["pin.rate"]


def sampled(period=0.005, update=law):
    """A pendulum that a sampled controller moves."""
    system, _, pin = pendulum()
    block = system.add(mbd.Sampled("law", period, update, inputs=("pin.angle", "pin.rate")))
    system.add(mbd.Motor("motor", pin, torque=block["out"]))
    return system


def close(found, right):
    """Whether states are those of Python: to the bit on the engine of this processor."""
    if EXACT is not None and COMPILES:
        return np.array_equal(found, right)
    return np.abs(found - right).max() <= PORTABLE * np.abs(right).max()


@pytest.mark.parametrize("name", IMPLICIT_MODELS)
@pytest.mark.parametrize("kind", METHODS)
def test_implicit_methods_in_blobs(kind, name):
    make, n = IMPLICIT_MODELS[name], 200
    data = blob(make(), h=H, integrator=METHODS[kind]())
    engine = EngineModel(data, library=LIBRARY)
    found = np.concatenate([engine.run(70), engine.run(n - 70)])
    assert close(found, mbd.simulate(make(), n * H, integrator=METHODS[kind](h=H), stabilization=None).y[1:])
    saved = engine.save()
    again = engine.run(20)
    engine.restore(saved)
    assert np.array_equal(engine.run(20), again)
    engine.reset()
    assert np.array_equal(engine.run(n), found)


@pytest.mark.parametrize("kind", METHODS)
def test_an_implicit_method_begins_anew_behind_an_input(kind):
    """As another run does from there; and with steps of another length.

    A run corrects the velocities that it begins with, which methods of index 3 leave beside their constraints.
    """

    def make(torque):
        system = gallery.slider_crank()
        system.add(mbd.Motor("motor", system["R"], torque=torque))
        return system

    method = METHODS[kind]
    engine = EngineModel(blob(make(0.0), h=H, integrator=method(), inputs=["motor"]), library=LIBRARY)
    all_steps(engine, 30)
    engine.set("motor", 0.05)
    for h in (H, 0.5 * H):
        model = make(0.05).compile()
        start = mbd.State.from_y(engine.t, engine.state, model.nb + 1)
        engine.h = h
        right = mbd.simulate(model, engine.t + 40 * h, state=start, integrator=method(h=h), stabilization=None)
        found, form = all_steps(engine, 40), method(h=h).constraint_form
        allowed = 1e-11 if form is not None and "velocity" in form.keeps else 1e-4
        assert np.abs(found - right.y[1:]).max() <= allowed * np.abs(right.y).max()


def test_blocks_in_blobs():
    for method, how in ((mbd.RK4(), {}), (mbd.Trapezoidal(), {"stabilization": None})):
        engine = EngineModel(blob(controlled(), h=H, integrator=method, outputs=["pin.angle"]), library=LIBRARY)
        found = engine.run(500)
        right = mbd.simulate(controlled(), 500 * H, integrator=type(method)(h=H), **how)
        assert close(found, right.y[1:])
        saved, other = (
            engine.save(),
            EngineModel(blob(controlled(), h=H, integrator=method, outputs=["pin.angle"]), library=LIBRARY),
        )
        other.restore(saved)  # whose blocks stand elsewhere in memory
        assert np.array_equal(other.run(50), engine.run(50))


@pytest.mark.parametrize("period", [0.005, 0.0075, 0.0032, 0.0004])
def test_sampled_blocks_in_blobs(period):
    """The host is called as Python is, where periods are no multiples of steps, too."""
    calls = []

    def noted(t, signals):
        calls.append(t)
        return law(t, signals)

    data = blob(sampled(period, noted), h=H)
    assert not calls  # functions of the user may keep data of their own
    engine = EngineModel(data, library=LIBRARY)
    with pytest.raises(mbd.UsageError, match="'law' is due at t = 0 s"):
        engine.run(1)
    engine.law("law", noted)
    right = mbd.simulate(sampled(period), 0.25, h=H, stabilization=mbd.Projection(), integrator=mbd.RK4())
    found = engine.run(len(right.t) - 1)
    assert abs(engine.t - 0.25) < (1e-12 if period in (0.005, 0.0004) else H)  # the others end a run between two steps
    assert np.abs(found[:-1] - right.y[1:-1]).max() <= PORTABLE * np.abs(right.y).max()
    assert np.allclose(calls, period * np.arange(len(calls)), rtol=0.0, atol=1e-12)
    saved, first = engine.save(), engine.run(20)
    engine.restore(saved)
    assert np.array_equal(engine.run(20), first)


def test_sampled_blocks_in_c(tmp_path):
    mbd.engine.write(tmp_path / "law.haug", sampled(), h=H)
    program = compile_example("sampled", tmp_path)
    done = subprocess.run([program, tmp_path / "law.haug"], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    engine = EngineModel(tmp_path / "law.haug", library=LIBRARY)
    engine.law("law", law)
    place = " ".join(f"{x:.12f}" for x in engine.run(1000)[-1][:3])
    right = mbd.simulate(sampled(), 1.0, h=H)
    assert np.abs(engine.state[:13] - right.y[-1][:13]).max() < 1e-9
    assert done.stdout == f"t = 1.000 s, 200 calls, at {place} m\n"


CALLED = """
import fs from "fs";
const { Mechanism } = await import(process.argv[2]);
const m = await Mechanism.load(fs.readFileSync(process.argv[3]), fs.readFileSync(process.argv[4]));
let made = 0, calls = 0;
while (made < 500) {
  for (let name; (name = m.due); calls++) m.hold(name, -2 * m.output("pin.angle") - 0.1 * m.output("pin.rate"));
  made += m.run(500 - made);
}
console.log(JSON.stringify({ calls, y: [...m.state] }));
"""


@pytest.mark.skipif(WASM is None or NODE is None, reason="there is no engine for WebAssembly, or no node")
def test_sampled_blocks_in_webassembly(tmp_path):
    mbd.engine.write(tmp_path / "law.haug", sampled(), h=H)
    (tmp_path / "run.mjs").write_text(CALLED)
    command = [NODE, tmp_path / "run.mjs", PACKAGE / "engine" / "engine.mjs", WASM, tmp_path / "law.haug"]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    engine = EngineModel(tmp_path / "law.haug", library=LIBRARY)
    engine.law("law", law)
    native = engine.run(500)
    assert found["calls"] == 100
    assert np.abs(np.array(found["y"]) - native[-1]).max() <= PORTABLE * np.abs(native).max()


def test_what_a_blob_cannot_do_is_refused_by_name():
    late = sampled()
    late.add(mbd.DelayLine("late", "pin.angle", 0.004))
    stopped, _, pin = pendulum()
    stopped.add(mbd.JointLimit("stop", pin, lower=-0.2, upper=0.2, k=1e4, c=10.0))
    rigid, _, pin = pendulum()
    rigid.add(mbd.JointLimit("hard", pin, lower=-0.2, upper=0.2, restitution=0.5))
    python = loaded(lambda s, b, p: mbd.JointForce("push", p, lambda t, angle, rate: -rate))
    for system, told, method in (
        (late, "late", mbd.RK4()),
        (stopped, "Trapezoidal", mbd.Trapezoidal()),
        (rigid, "hard", mbd.RK4()),
        (python, "functions of Python", mbd.RK4()),
        (pendulum()[0], "RadauIIA", mbd.RadauIIA()),
        (pendulum()[0], "RATTLE", mbd.RATTLE()),
        (pendulum()[0], "DormandPrince", mbd.DormandPrince()),
    ):
        with pytest.raises(mbd.UsageError, match=told):
            blob(system, h=H, integrator=method)
    with pytest.raises(mbd.UsageError, match="law"):
        EngineModel(blob(sampled(), h=H), library=LIBRARY).law("lwa", law)


PROGRAM = """
import fs from "fs";
const { Mechanism } = await import(process.argv[2]);
const module = new WebAssembly.Module(fs.readFileSync(process.argv[3]));
const out = { imports: WebAssembly.Module.imports(module).length };
for (const file of process.argv.slice(4)) {
  const m = await Mechanism.load(module, fs.readFileSync(file));
  let made = 0;
  while (made < 1000) made += m.run(1000 - made);
  out[file] = { t: m.t, y: [...m.state], names: m.names(1) };
}
console.log(JSON.stringify(out));
"""


@pytest.mark.skipif(WASM is None or NODE is None, reason="there is no engine for WebAssembly, or no node")
@pytest.mark.filterwarnings("ignore")
def test_in_webassembly(tmp_path):
    names = [name for name in MECHANISMS if name not in (*SINGULAR, *CHAOTIC)]
    files = {}
    for name in names:
        files[name] = tmp_path / f"{name}.haug"
        files[name].write_bytes(blob(getattr(gallery, name)(), h=H))
    (tmp_path / "run.mjs").write_text(PROGRAM)
    command = [NODE, str(tmp_path / "run.mjs"), str(PACKAGE / "engine" / "engine.mjs"), str(WASM), *map(str, files.values())]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert found["imports"] == 0
    for name, file in files.items():
        native = states_by_engine(file.read_bytes(), LIBRARY)
        off = np.abs(np.array(found[str(file)]["y"]) - native[-1]).max()
        assert off <= PORTABLE * np.abs(native).max(), name


def compiler() -> list[str]:
    """The C compiler of the system, or that of zig, which takes a minute for its own libraries."""
    if shutil.which("cc"):
        return ["cc"]
    emit = pytest.importorskip("haugmbd.engine_build.emit")
    try:
        return [*emit.zig_command(), "cc"]
    except RuntimeError:
        pytest.skip("there is no C compiler")


EXAMPLES = Path(__file__).resolve().parents[3] / "examples" / "engine"


def compile_example(name: str, folder: Path) -> Path:
    """Compile an example against the library; return the program."""
    program = folder / name
    words = [program, EXAMPLES / f"{name}.c", f"-I{PACKAGE / 'engine'}", LIBRARY, f"-Wl,-rpath,{LIBRARY.parent}"]
    caches = {key: str(folder / "zig") for key in ("ZIG_GLOBAL_CACHE_DIR", "ZIG_LOCAL_CACHE_DIR")}
    subprocess.run([*compiler(), "-o", *map(str, words)], check=True, env=os.environ | caches)
    return program


def test_a_controller_in_c(tmp_path):
    """The example of the page on the C interface holds the crank as a Stepper with the same law does."""

    def make():
        system = gallery.slider_crank()
        system.add(mbd.Motor("motor", system["R"], torque=0.0))
        return system

    program = compile_example("control", tmp_path)
    names = {"inputs": ["motor"], "outputs": ["R.angle", "R.rate"]}
    mbd.engine.write(tmp_path / "crank.haug", make(), h=H, **names)
    done = subprocess.run([program, tmp_path / "crank.haug"], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    stepper = mbd.Stepper(make(), h=H, **names)
    for k in range(200):
        q, w = stepper.outputs.tolist()
        stepper.step(0.4 * (1.0 - q) - 0.05 * w, n=10)
        if k % 40 == 39:
            assert f"t = {stepper.t:.3f} s, angle {q:.6f} rad" in done.stdout
    (tmp_path / "cut.haug").write_bytes((tmp_path / "crank.haug").read_bytes()[:-8])
    done = subprocess.run([program, tmp_path / "cut.haug"], capture_output=True, text=True)
    assert done.returncode == 1
    assert "not a whole blob" in done.stderr


def test_a_program_in_c(tmp_path):
    mbd.engine.write(tmp_path / "four_bar.haug", gallery.four_bar(), h=H)
    compile_example("step", tmp_path)
    done = subprocess.run([tmp_path / "step", tmp_path / "four_bar.haug", "100"], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    engine = EngineModel(tmp_path / "four_bar.haug", library=LIBRARY)
    y = engine.run(100)[-1]
    for k, body in enumerate(gallery.four_bar().bodies):
        assert f"{body.name} at {' '.join(f'{x:.17g}' for x in y[13 * k : 13 * k + 3])} m" in done.stdout
    (tmp_path / "cut.haug").write_bytes((tmp_path / "four_bar.haug").read_bytes()[:-8])
    assert subprocess.run([tmp_path / "step", tmp_path / "cut.haug"], capture_output=True).returncode == 1


def test_a_damaged_blob_is_refused_or_runs():
    """Every word of the sections changed in turn: no crash, and no state that is not the same."""
    data = blob(gallery.pendulum(), h=H)
    right = EngineModel(data, library=LIBRARY).run(3)
    rng = np.random.default_rng(2)
    for place in rng.choice(len(data) // 8, 150, replace=False):
        bad = bytearray(data)
        bad[8 * place : 8 * place + 8] = (-7).to_bytes(8, "little", signed=True)
        try:
            engine = EngineModel(bytes(bad), library=LIBRARY)
        except mbd.UsageError:
            continue
        engine.close()
    for length in (0, 8, 31, 32, 100, len(data) // 2, len(data) - 8, len(data) - 1):
        with pytest.raises(mbd.UsageError, match="refuses"):
            EngineModel(data[:length], library=LIBRARY)
    assert np.array_equal(EngineModel(data, library=LIBRARY).run(3), right)


def test_inputs_parameters_and_saved_states():
    def make(torque):
        system = gallery.slider_crank()
        system.add(mbd.Motor("motor", system["R"], torque=torque))
        return system

    engine = EngineModel(blob(make(0.0), h=H, inputs=["motor"]), library=LIBRARY)
    engine.set("motor", 0.05)
    run = mbd.simulate(make(0.05), 0.05, h=H)
    y = engine.run(50)
    size = np.abs(run.y).max()
    assert np.abs(y - run.y[1:]).max() <= PORTABLE * size
    assert np.abs(engine.reaction("R.j") - np.concatenate([run.reaction("R").force[-1], run.reaction("R").torque[-1]])).max() < 1e-9
    assert np.abs(engine.coordinate("R.angle")[0] - run.joint("R").angle[-1]) < 1e-9
    assert np.abs(engine.coordinate("R.angle")[1] - run.joint("R").rate[-1]) < 1e-9
    saved = engine.save()
    first = engine.run(20)
    engine.restore(saved)
    assert np.array_equal(engine.run(20), first)
    other = EngineModel(blob(make(0.0), h=H, inputs=["motor"]), library=LIBRARY)
    other.restore(saved)
    assert np.array_equal(other.run(20), first)
    engine.reset()
    assert engine.get("motor") == 0.0
    assert engine.t == 0.0
    with pytest.raises(mbd.UsageError, match="crank.mas"):
        engine.set("crank.mas", 1.0)
    with pytest.raises(mbd.SimulationError, match="finite"):
        engine.set("motor", np.nan)


WRONG = {
    "a number of steps": lambda m: m.run(-1),
    "must be a number of steps": lambda m: m.run(1.5),
    "'gravity.x'": lambda m: m.set("gravity.y.z", 1.0),
    "gravity.x = 'a' must be a number": lambda m: m.set("gravity.x", "a"),
    "h = 'x' must be a number": lambda m: setattr(m, "h", "x"),
    "must be 26 numbers": lambda m: setattr(m, "state", np.zeros(3)),
    "must be 26 numbers, as": lambda m: setattr(m, "state", "x"),
    "a model of another blob": lambda m: m.restore(3),
    "there is no 3": lambda m: m.reaction(3),
    "a blob is bytes": lambda m: EngineModel(5, library=LIBRARY),
    "cannot be read": lambda m: EngineModel("no such file.haug", library=LIBRARY),
}


def test_wrong_values_are_one_sentence():
    with EngineModel(mbd.engine.blob(gallery.pendulum()), library=LIBRARY) as engine:
        for told, ask in WRONG.items():
            with pytest.raises(mbd.UsageError, match=re.escape(told)):
                ask(engine)


def test_a_closed_model_is_said_to_be_closed():
    engine = EngineModel(blob(gallery.pendulum(), h=H), library=LIBRARY)
    engine.close()
    engine.close()
    with pytest.raises(mbd.UsageError, match="closed"):
        engine.run(1)


NO_NUMBA = """
import sys
sys.modules["numba"] = sys.modules["llvmlite"] = None
"""
RUNS = """
import sys, json
import numpy as np
import haugmbd as mbd
from haugmbd import gallery
out = {}
def keep(name, make, **how):
    out[name] = mbd.simulate(make(), 0.05, **how).y[-1].tolist()
for name in ("four_bar", "double_pendulum", "slider_crank", "peaucellier", "rolling_disc"):
    keep(name, getattr(gallery, name), h=1e-3)
    keep(name + " adaptive", getattr(gallery, name), rtol=1e-7, atol=1e-9)
for method in (mbd.GeneralizedAlpha(), mbd.RadauIIA(), mbd.BDF(), mbd.RATTLE(), mbd.HEM4()):
    keep(type(method).__name__, gallery.double_pendulum, integrator=method, stabilization=None, h=1e-3)
def stopped():
    system = gallery.pendulum()
    system.add(mbd.JointLimit("stop", system.joints[0], lower=-0.1, upper=0.1, k=1e4, c=10.0))
    return system
keep("stop", stopped, h=1e-3)
def rubbing():
    system = gallery.pendulum()
    system.add(mbd.JointFriction("rub", system.joints[0], mbd.Coulomb(0.3), radius=0.05))
    return system
keep("friction", rubbing, h=1e-3)
def loaded():
    system = gallery.slider_crank()
    system.add(mbd.Motor("motor", system["R"], torque=0.0))
    return system
stepper = mbd.Stepper(loaded(), h=1e-3, inputs=["motor"], outputs=["R.angle", "R.force", "slider.r"])
out["stepper"] = [*stepper.step(0.05, n=30), *stepper.step(-0.02, n=3), *stepper.step(n=1)]
members = mbd.batch(gallery.four_bar().compile(), parameters={"crank.mass": [1.0, 2.0, 3.0]})
out["batch"] = np.ravel(members.simulate(0.05, h=1e-3).y_end).tolist()
methods = [mbd.Method(integrator=mbd.RK4()), mbd.Method(integrator=mbd.Heun())]
compared = mbd.compare(gallery.four_bar(), methods, 0.05, h=1e-3, reference=False).results
out["compare"] = [float(x) for row in compared.values() for x in row.y[-1]]
out["numba"] = [name for name in sys.modules if name.partition(".")[0] in ("numba", "llvmlite") and sys.modules[name] is not None]
print(json.dumps(out))
"""


UNUSED = (
    "haugmbd.impacts",
    "haugmbd.integrators.implicit",
    "haugmbd.integrators.moreau_jean",
    "haugmbd.serial_chain",
    "haugmbd.simulation.hybrid",
    "haugmbd.simulation.results.io",
    "haugmbd.simulation.stepping.run",
    "scipy",
)
"""What a first result of a loop without contacts has no use for."""


@pytest.mark.skipif(choose().library is None, reason="no engine fits here")
def test_a_first_result_loads_what_it_needs():
    """Half of the time of a fresh process is that of modules which it loads."""
    program = f"""
import haugmbd as mbd
from haugmbd.gallery import four_bar
assert len(mbd.simulate(four_bar(), 0.01, h=1e-3).t) == 11
print([name for name in {UNUSED} if name in sys.modules])
"""
    more = {WISH: choose().library.path.stem, "HAUGMBD_QUIET": "1"}
    done = subprocess.run([sys.executable, "-c", NO_NUMBA + program], env=os.environ | more, capture_output=True, text=True)
    assert (done.stdout, done.stderr) == ("[]\n", "")


@pytest.mark.skipif(choose().library is None, reason="no engine fits here")
def test_without_numba():
    """The same states as with it: to the bit with the engine of this processor, to rounding with another one."""
    numbers = {}
    for wish, program in ((choose().library.path.stem, NO_NUMBA + RUNS), ("0", RUNS)):
        more = {WISH: wish, "HAUGMBD_QUIET": "1"}
        done = subprocess.run(
            [sys.executable, "-W", "ignore", "-c", program], env=os.environ | more, capture_output=True, text=True
        )
        assert done.returncode == 0, done.stderr
        numbers[wish] = json.loads(done.stdout)
    ours, numbas = numbers.values()
    assert ours.pop("numba") == []
    numbas.pop("numba")
    for name, y in ours.items():
        assert np.abs(np.array(y) - numbas[name]).max() <= 1e-9 * np.abs(numbas[name]).max(), name


def test_what_needs_numba_says_so():
    program = """
from haugmbd.compiled.numba_names import users_numba
try:
    users_numba("a model with @njit functions")
except ImportError as error:
    print(error)
"""
    done = subprocess.run(
        [sys.executable, "-c", NO_NUMBA + program], env=os.environ | {WISH: LIBRARY.stem}, capture_output=True, text=True
    )
    assert "needs Numba" in done.stdout, done.stderr


def test_objects_take_nothing_from_outside_but_a_fixed_list():
    """Functions of C's mathematical library and memory, and of support.c: what each library of the manifest left undefined."""
    allowed = pytest.importorskip("haugmbd.engine_build.emit").OUTSIDE
    for name, line in json.loads((FOLDER / MANIFEST).read_text())["libraries"].items():
        assert set(line["undefined"]) <= allowed, name
