"""Functions of time are recorded when their part is made: what can change is reported then, and what has changed by each run."""

from __future__ import annotations

import dataclasses
import re
import warnings

import numpy as np
import pytest

import haugmbd as mbd
from haugmbd.drivers import as_driver
from haugmbd.gallery import GALLERY
from joints import RJ, RotationDriver

SCALE = 1.0
TABLE = [1.0, 2.0]


class Law:
    def __init__(self, k):
        self.k = k

    def __call__(self, t):
        return self.k * np.sin(t)


@dataclasses.dataclass(frozen=True)
class FrozenLaw:
    k: float

    def __call__(self, t):
        return self.k * np.sin(t)


def helper(t):
    return TABLE[0] * np.sin(t)


def enclosing(x):
    return lambda t: x[0] * np.sin(t)


def with_default(x):
    return lambda t, x=x: x[0] * np.sin(t)


def fixed_array():
    x = np.array([1.0])
    x.flags.writeable = False
    return x


CAN_CHANGE = {
    "array": (enclosing(np.array([1.0])), r"'x' \(ndarray\)"),
    "list": (enclosing([1.0]), r"'x' \(list\)"),
    "dict": (enclosing({0: 1.0}), r"'x' \(dict\)"),
    "list in a tuple": (lambda t, x=([1.0],): x[0][0] * t, r"'x=' \(tuple\)"),
    "default": (with_default(np.array([1.0])), r"'x=' \(ndarray\)"),
    "global": (lambda t: TABLE[1] * t, r"'TABLE' \(list\)"),
    "global of a function that it calls": (lambda t: 2.0 * helper(t), r"'helper\.TABLE' \(list\)"),
    "object": (Law(1.0), r"'self' \(Law\)"),
    "method": (Law(1.0).__call__, r"'self' \(Law\)"),
    "enclosed object": ((lambda law: lambda t: law.k * t)(Law(1.0)), r"'law' \(Law\)"),
    "three functions": ((enclosing([1.0]), np.cos, lambda t: -np.sin(t)), r"'x' \(list\)"),
}  # fmt: skip
CANNOT = {
    "number": (lambda k: lambda t: k * np.sin(t))(2.0),
    "tuple": enclosing((1.0,)),
    "array that cannot be written to": enclosing(fixed_array()),
    "global number": lambda t: SCALE * np.sin(t),
    "frozen object": FrozenLaw(2.0),
    "number of NumPy": (lambda k: lambda t: k * np.sin(t))(np.float64(2.0)),
    "function": np.sin,
    "text": (lambda text: lambda t: len(text) * t)("ab"),
}


@pytest.mark.parametrize("kind", CAN_CHANGE)
def test_what_can_change_is_named_when_it_is_recorded(kind):
    function, said = CAN_CHANGE[kind]
    with pytest.warns(UserWarning, match=f"a function of time reads {said}, which can change") as caught:
        as_driver(function)
    assert len(caught) == 1
    assert caught[0].filename == __file__


@pytest.mark.parametrize("kind", CANNOT)
def test_what_cannot_change_is_not_named(kind):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert as_driver(CANNOT[kind]).tape is not None


def test_a_function_that_is_called_at_each_evaluation_is_not_named():
    x = np.array([1.0])
    driver = as_driver(lambda t: x[0] * t if t < 1.0 else x[0])
    assert driver.tape is None
    x[0] = 5.0
    assert driver.values(0.5)[0] == 2.5  # read live, as laws of the state are


def crank(f):
    system = mbd.System("crank")
    bar = system.add(mbd.Body("bar", 1.0, (0.1, 0.1, 0.1), r=(1, 0, 0)))
    pin = system.add(RJ("pin", system.ground, bar, point=(0, 0, 0), axis=(0, 1, 0)))
    system.add(RotationDriver("motor", pin, f))
    system.add(mbd.PointForce("push", bar, force=lambda t: (f(t), 0.0, 0.0)))
    return system


@pytest.mark.slow
def test_a_change_after_recording_is_reported_by_each_run_and_has_no_effect(monkeypatch):
    gain = np.array([0.5])
    for f, change, said in (
        (lambda t: SCALE * gain[0] * t**2, lambda: monkeypatch.setitem(globals(), "SCALE", 3.0), r"SCALE' \(was 1.0, is 3.0\)"),
        (lambda t: gain[0] * t**2, lambda: gain.fill(9.0), "gain'"),
    ):
        with pytest.warns(UserWarning, match="which can change"):
            system = crank(f)
        model = system.compile()
        before = mbd.simulate(model, 0.1, h=1e-2)
        change()
        for given in (system, model):
            with pytest.warns(UserWarning, match="Make the part again") as caught:
                after = mbd.simulate(given, 0.1, h=1e-2)
            texts = [str(each.message) for each in caught]
            for part, text in zip(("PointForce 'push'", "joint 'motor'"), sorted(texts), strict=True):
                assert re.match(rf"{part}: '(f\.)?{said} changed after its function of time was recorded", text)
            assert (after.y == before.y).all()
        gain.fill(0.5)
        monkeypatch.undo()
        mbd.simulate(model, 0.1, h=1e-2)  # as it was: nothing is said


@pytest.mark.slow
def test_the_gallery_is_silent():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for make in GALLERY:
            make()
