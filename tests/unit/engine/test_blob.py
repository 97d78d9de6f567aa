"""A mechanism as a blob: its sections hold together, and what the engine cannot do is refused by name."""

from __future__ import annotations

import struct

import numpy as np
import pytest

import haugmbd as mbd
from haugmbd.engine import write
from haugmbd.engine.blob import (
    ARRAY,
    BODY,
    COORDINATE,
    INPUT,
    LIST,
    NUMBER,
    OUTPUT,
    PARAMETER,
    RATES,
    REACTION,
    ROUTINE,
    SLOT,
    VERSION,
    blob,
)
from haugmbd.gallery import double_pendulum, four_bar, slider_crank
from joints import RJ, TJ

COLUMNS = {"ARRAYS": 2, "WORDS": 2, "LISTS": 2, "CALLS": 2, "ITEMS": 5, "PLACES": 2}


def sections(data):
    magic, version, size, n = struct.unpack_from("<8s3q", data)
    assert magic == b"HAUGBLOB"
    assert version == VERSION
    assert size == len(data)
    found = {}
    for k in range(n):
        tag, offset, count = struct.unpack_from("<8s2q", data, 32 + 24 * k)
        name = tag.decode().strip()
        assert offset % 8 == 0
        assert offset + 8 * count <= len(data)
        words = np.frombuffer(data, "<i8", count, offset)
        found[name] = words.reshape(-1, COLUMNS[name]) if name in COLUMNS else words
    return found


def names(data):
    found = sections(data)
    texts = found["NAMES"].tobytes()
    return {(int(kind), texts[found["TEXTS"][text] :].split(b"\0")[0].decode()) for kind, text, *_ in found["ITEMS"]}


def test_a_late_state_is_the_start():
    late = mbd.simulate(double_pendulum(), 0.2, h=1e-2).at(0.2)
    assert sections(blob(double_pendulum(), h=1e-3, state=late))["START"].view("<f8").tolist() == [0.2, 1e-3]


@pytest.mark.parametrize("make", [double_pendulum, four_bar, slider_crank])
def test_all_numbers_are_inside_what_they_refer_to(make):
    data = blob(make(), h=1e-3)
    found = sections(data)
    arrays, words, lists = found["ARRAYS"], found["WORDS"], found["LISTS"]
    for offset, size in arrays:
        assert offset == -1 or (offset % 8 == 0 and 0 < offset <= len(data) - 8 * size)
    most = {ARRAY: len(arrays), ROUTINE: len(found["TEXTS"]), LIST: len(lists), SLOT: RATES + 1}
    for kind, value in words:
        assert kind == NUMBER or 0 <= value < most[int(kind)]
    assert (lists.sum(axis=1) <= len(words)).all()
    assert (found["CALLS"] < [len(found["TEXTS"]), len(lists)]).all()
    ny = mbd.simulate(make(), 1e-3, h=1e-3).y.shape[1]
    assert found["FIXED"][6] == ny
    assert arrays[found["FIXED"][0], 1] == ny


def test_the_same_mechanism_has_the_same_blob():
    assert blob(four_bar(), h=1e-3) == blob(four_bar(), h=1e-3)
    assert blob(four_bar(), h=1e-3) != blob(four_bar(), h=2e-3)


def test_items_are_the_names_of_the_model():
    system = slider_crank()
    system.add(mbd.Motor("motor", system["R"], torque=0.0))
    system.add(mbd.Torque("wind", system.bodies[-1], torque=(0.0, 0.0, 0.0)))
    found = names(blob(system, inputs=["motor", "wind"]))
    assert {(BODY, body.name) for body in system.bodies} <= found
    assert {(INPUT, name) for name in ("motor", "wind.x", "wind.y", "wind.z")} <= found
    assert {(PARAMETER, "gravity.x"), (PARAMETER, f"{system.bodies[1].name}.mass")} <= found
    assert {(COORDINATE, "R.angle"), (REACTION, "R.i"), (REACTION, "R.j")} <= found


def test_an_output_may_say_what_its_part_is():
    plain = ["R.angle", "R.force[1]", "crank.r[0]"]
    full = ["joint.R.angle", "reaction.R.force[1]", "body.crank.r[0]"]
    for outputs in (plain, full):
        assert {(OUTPUT, name) for name in outputs} <= names(blob(slider_crank(), outputs=outputs))


def test_an_input_has_a_number_of_its_own():
    """Two loads of equal constants, and rows of equations that share the zero: each input is another place."""
    system = slider_crank(driven=True)
    for name in ("one", "other"):
        system.add(mbd.Torque(name, system.bodies[1], torque=(0.0, 0.0, 0.0)))
    places = sections(blob(system, inputs=["one", "other"]))["PLACES"][:6]
    assert len({tuple(place) for place in places}) == 6


def test_write_returns_its_file(tmp_path):
    file = write(tmp_path / "four_bar.haug", four_bar(), h=1e-3)
    assert file.read_bytes() == blob(four_bar(), h=1e-3)


def pendulum():
    system = mbd.System("swing")
    bar = system.add(mbd.Body("bar", 1.0, (0.1, 0.1, 0.1), r=(0.5, 0.0, 0.0)))
    pin = system.add(RJ("pin", system.ground, bar, point=(0.0, 0.0, 0.0), axis=(0.0, 1.0, 0.0)))
    return system, bar, pin


def with_function(system, bar, pin):
    system.add(mbd.JointForce("engine", pin, lambda t, angle, rate: -rate))


def with_impacts(system, bar, pin):
    system.add(mbd.JointLimit("stop", pin, lower=-0.2, upper=0.2, restitution=0.5))


def with_friction(system, bar, pin):
    system.add(mbd.JointFriction("rub", pin, mbd.Coulomb(0.3), radius=0.1))


def with_delay(system, bar, pin):
    late = system.add(mbd.DelayLine("late", "pin.angle", 0.01))
    system.add(mbd.Motor("motor", pin, torque=late["out"]))


@pytest.mark.parametrize(
    ("add", "named"),
    [(with_function, "swing"), (with_impacts, "stop"), (with_friction, "rub"), (with_delay, "late")],
)
def test_what_only_python_can_do_is_refused_by_name(add, named):
    system, bar, pin = pendulum()
    add(system, bar, pin)
    with pytest.raises(mbd.UsageError, match=named):
        blob(system, h=1e-3)


@pytest.mark.parametrize(
    ("system", "how", "told"),
    [
        (3, {}, "needs a compiled Model or a System"),
        (None, {}, "needs a compiled Model or a System"),
        (four_bar, {"h": "x"}, "h = 'x' must be a number"),
        (four_bar, {"h": [1.0]}, "h = .* must be a number"),
        (four_bar, {"h": 0.0}, "positive step"),
        (four_bar, {"h": float("inf")}, "positive step"),
        (four_bar, {"stabilisation": None}, "did you mean 'stabilization'"),
        (four_bar, {"t_end": 1.0}, "has no argument 't_end'"),
        (four_bar, {"integrator": mbd.RK4}, "is not in the engine"),
    ],
)
def test_wrong_arguments_are_one_sentence(system, how, told):
    with pytest.raises(mbd.UsageError, match=told):
        blob(system() if callable(system) else system, **how)


@pytest.mark.parametrize("path", [3, "no such folder/x.haug"])
def test_a_place_that_is_none_is_told(path):
    with pytest.raises(mbd.UsageError, match=r"mbd\.engine\.write"):
        write(path, double_pendulum())


def test_inputs_that_are_none_are_refused():
    system, _, pin = pendulum()
    system.add(mbd.Motor("motor", pin, torque=lambda t: t))
    with pytest.raises(mbd.UsageError, match="mottor.*did you mean 'motor'"):
        blob(system, inputs=["mottor"])
    with pytest.raises(mbd.UsageError, match="pin"):
        blob(system, inputs=["pin"])


def test_a_model_takes_inputs_too():
    system = slider_crank()
    system.add(mbd.Motor("motor", system["R"], torque=0.0))
    assert blob(system, inputs="motor") == blob(system, inputs=["motor"])
    assert blob(system.compile(), inputs=["motor"]) == blob(system, inputs=["motor"])


def test_another_method_is_refused_or_taken():
    with pytest.raises(mbd.UsageError, match="RadauIIA"):
        blob(four_bar(), integrator=mbd.RadauIIA())
    heun, rk4 = blob(four_bar(), integrator=mbd.Heun()), blob(four_bar(), integrator=mbd.RK4())
    assert heun != rk4


def test_a_rail_has_a_displacement():
    system = mbd.System("rail")
    block = system.add(mbd.Body("block", 1.0, (0.1, 0.1, 0.1)))
    system.add(TJ("rail", system.ground, block, point=(0.0, 0.0, 0.0), axis=(1.0, 0.0, 0.0)))
    assert (COORDINATE, "rail.displacement") in names(blob(system))
