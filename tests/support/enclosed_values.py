"""Values of random kinds at random depths, and functions that read them in random ways: two that are drawn alike differ in one leaf."""

from __future__ import annotations

import collections
import contextvars
import copyreg
import ctypes
import dataclasses
import enum
import functools
import importlib
import os
import struct
import sys
import threading
import types
import weakref
from decimal import Decimal
from fractions import Fraction
from multiprocessing import shared_memory
from pathlib import Path

import numpy as np
import scipy.constants
from scipy.interpolate import CubicSpline

import haugmbd as mbd
from haugmbd.content_digest import digest_of, of_library


@dataclasses.dataclass
class Record:
    value: object
    unit: str = "N"


@dataclasses.dataclass(frozen=True)
class Frozen:
    value: object


class Plain:
    def __init__(self, value):
        self.value = value
        self.whole = self  # a cycle

    def method(self, x):
        return x, self.value

    def __call__(self, x):
        return x, self.value


class Slotted:
    __slots__ = ("value",)

    def __init__(self, value):
        self.value = value


Pair = collections.namedtuple("Pair", ["value", "other"])


class Sizes(enum.Enum):
    TWO = 2.0
    THREE = 3.0


def _with_default(x):
    def law(t, k=x):
        return t, k

    return law


def _with_keyword_default(x):
    def law(t, *, k=x):
        return t, k

    return law


def _with_attribute(x):
    def law(t):
        return law.k, t

    law.k = x
    return law


def _decorated(x):
    def inner(t):
        return t

    @functools.wraps(inner)
    def outer(t):
        return inner(t), x

    return outer


class WithUnit(np.ndarray):
    """An array with attributes, as those of packages of units are."""


def _with_unit(k):
    array = np.zeros(2).view(WithUnit)
    array.scale = k
    return array


def system_of_law(k):
    """A system whose Python law encloses an array."""
    gain = np.array([0.0, k])
    system = mbd.System("pendulum")
    bob = system.add(mbd.Body("bob", 1.0, (0.1, 0.1, 0.1)))
    system.add(mbd.Torque("motor", bob, torque=lambda t, r, p, v, omega_bar: gain[1] * omega_bar))
    return system


LEAVES = {
    "float": float,
    "int": int,
    "negative zero": lambda k: 0.0 if k == 2 else -0.0,
    "last digit": lambda k: 2.0 if k == 2 else float(np.nextafter(2.0, 3.0)),
    "int or float": lambda k: 2 if k == 2 else 2.0,
    "bool or int": lambda k: True if k == 2 else 1,
    "str": str,
    "bytes": lambda k: bytes([k]),
    "complex": lambda k: complex(1.0, k),
    "big int": lambda k: 10**40 + k,
    "np.int64": np.int64,
    "np.float32": np.float32,
    "np.float64": np.float64,
    "np.bool": lambda k: np.bool_(k == 2),
    "array": lambda k: np.array([1.0, k]),
    "array in the middle": lambda k: np.where(np.arange(5000) == 2500, float(k), 0.0),
    "dtype": lambda k: np.zeros(3, np.int32 if k == 2 else np.int64),
    "shape": lambda k: np.zeros((2, 3) if k == 2 else (3, 2)),
    "array of objects": lambda k: np.array([{"k": k}, None], dtype=object),
    "structured array": lambda k: np.array([(1, k)], dtype=[("a", "i4"), ("b", "f8")]),
    "masked array": lambda k: np.ma.array([1.0, 2.0], mask=[k == 2, False]),
    "array with attributes": _with_unit,
    "range": range,
    "slice": slice,
    "Decimal": Decimal,
    "Fraction": lambda k: Fraction(1, k),
    "enum": lambda k: Sizes(float(k)),
    "type": lambda k: int if k == 2 else float,
    "ufunc": lambda k: np.sin if k == 2 else np.cos,
    "module": lambda k: np if k == 2 else types,
    "random generator": np.random.default_rng,
    "spline": lambda k: CubicSpline([0.0, 1.0, 2.0], [0.0, 1.0, k]),
    "mbd spline": lambda k: mbd.QuinticSpline([0.0, 1.0, 2.0], [0.0, 1.0, k]),
    "expression": lambda k: mbd.Expression(f"{k} * sin(t)"),
    "body": lambda k: mbd.Body("b", k, (1, 1, 1)),
    "method of integration": lambda k: mbd.Baumgarte(alpha=k, beta=k),
    "set": lambda k: {"a", "b", str(k), (1, k)},
    "frozenset": lambda k: frozenset([1.0, float(k)]),
    "deque": lambda k: collections.deque([1, k]),
    "counter": lambda k: collections.Counter({"a": k}),
    "order of a dict": lambda k: {"a": 1, "b": 2} if k == 2 else {"b": 2, "a": 1},
    "system": system_of_law,
    "class": lambda k: type("Law", (), {"gain": k}),
}
"""Kinds of leaves, each made of 2 or 3: what is made of 2 is not what is made of 3."""


class LeavesOut:
    """A class that says itself what a copy is made of, and leaves out a value that its methods read."""

    def __init__(self, value):
        self.value = value

    def __getstate__(self):
        return {}


class MadeAnew(LeavesOut):
    def __reduce__(self):
        return MadeAnew, (2.0,)


class Single(LeavesOut):
    def __reduce__(self):
        return "SINGLE"


class SlotMadeAnew:
    __slots__ = ("__value",)

    def __init__(self, value):
        self.__value = value

    def __reduce__(self):
        return SlotMadeAnew, (2.0,)


class Registered:
    def __init__(self, value):
        self.value = value


copyreg.pickle(Registered, lambda x: (Registered, (2.0,)))


class Kept:
    """An attribute that is kept elsewhere, by a descriptor of the usual form."""

    def __init__(self):
        self.values = weakref.WeakKeyDictionary()

    def __get__(self, owner, kind=None):
        return self.values[owner]

    def __set__(self, owner, value):
        self.values[owner] = value


class Once:
    scale = 1.0

    @functools.cached_property
    def value(self):
        return 2.0 * self.scale


def _derived(base, k):
    """An object of a class that is derived from a type of Python, and whose recipe leaves out the value."""
    return type("Derived", (base,), {"__reduce__": lambda self: (base, ())})(k)


def _kept_elsewhere(k):
    x = type("WithKept", (), {"value": Kept()})()
    x.value = k
    return x


def _assigned(k):
    x = Once()
    x.value = float(k)  # as `value` computes it, for 2
    return x


def _settings(k):
    module = types.ModuleType("settings_of_a_user")
    module.gain = k
    return module


def _code(text, **scope):
    scope = {"__name__": "study_of_a_user", **scope}
    exec(f"def run(x):\n    return {text}\n", scope)
    return scope["run"]


def _wave(k):
    """A module of the user that has the name of one of Python."""
    module = types.ModuleType("graphlib")
    module.__file__ = str(Path(__file__).with_name("graphlib.py"))
    exec(f"GAIN = {k}\ndef law(x):\n    return GAIN * x\n", module.__dict__)
    before = sys.modules.get("graphlib")
    sys.modules["graphlib"] = module
    of_library.cache_clear()
    try:
        return digest_of(module.law)
    finally:
        del sys.modules["graphlib"]
        if before is not None:
            sys.modules["graphlib"] = before
        of_library.cache_clear()


def _environment(k):
    os.environ["GAIN_OF_A_TEST"] = str(k)
    try:
        return digest_of(_code("os.environ['GAIN_OF_A_TEST']", os=os))
    finally:
        del os.environ["GAIN_OF_A_TEST"]


def _setting_of_a_library(k):
    scipy.constants.gain_of_a_test = k
    try:
        return digest_of(_code("constants.gain_of_a_test", constants=scipy.constants))
    finally:
        del scipy.constants.gain_of_a_test


def _shared(k):
    memory = shared_memory.SharedMemory(create=True, size=8, name=None)
    try:
        memory.buf[:8] = struct.pack("d", k)
        return digest_of(memory)
    finally:
        memory.close()
        memory.unlink()


def _named_by_value(k):
    def law(t):
        return t

    law.__name__ = f"law_{k}"
    return lambda t: (law.__name__, t)


HIDDEN = {
    "left out of the state": LeavesOut,
    "left out of the recipe": MadeAnew,
    "method of an object that leaves it out": lambda k: LeavesOut(k).__getstate__,
    "partial of an object that leaves it out": lambda k: functools.partial(print, LeavesOut(k)),
    "name in place of a recipe": Single,
    "slot": SlotMadeAnew,
    "recipe of copyreg": Registered,
    **{f"derived from {base.__name__}": functools.partial(_derived, base) for base in (int, float, str)},
    **{f"derived from {base.__name__}": lambda k, base=base: _derived(base, [k]) for base in (list, tuple, set)},
    "derived from dict": lambda k: _derived(dict, {"k": k}),
    "derived from an array": lambda k: np.array([float(k)]).view(type("A", (np.ndarray,), {"__reduce__": lambda self: (list, ())})),
    "kept by a descriptor": _kept_elsewhere,
    "assigned to what is computed once": _assigned,
    "format of a view": lambda k: memoryview(struct.pack("ii", 1, 2)).cast("i" if k == 2 else "f"),
    "shape of a view": lambda k: memoryview(bytes(4)).cast("B", [2, 2] if k == 2 else [1, 4]),
    "order of a view": lambda k: memoryview(np.arange(4.0)[:: 1 if k == 2 else -1]),
    "very long number": lambda k: 10**5000 + k,
    "C number": ctypes.c_double,
    "state of a generator": lambda k: np.random.PCG64(1).advance(k),
    "method of a generator": lambda k: np.random.default_rng(k).normal,
    "spawned seeds": lambda k: (lambda x: (x.spawn(k), x)[1])(np.random.SeedSequence(5)),
    "metaclass": lambda k: type("Kind", (type,), {"gain": k})("Law", (), {}),
    "module in an object": lambda k: Plain(_settings(k)),
    "attribute of a module by its text": lambda k: _code("getattr(settings, 'gain')", settings=_settings(k)),
    "module that is handed on": lambda k: _code("sorted(vars(settings))", settings=_settings(k)),
    "module with the name of one of Python": _wave,
    "environment": _environment,
    "setting of a library": _setting_of_a_library,
    "shared memory": _shared,
    "name of a function": _named_by_value,
}
"""Values that a copy, a name or the bytes alone do not show, each made of 2 or 3."""

UNSEEN = {
    "globals": lambda: _code("globals()['gain']", gain=2),
    "eval": lambda: _code("eval('gain')", gain=2),
    "imported by a text": lambda: _code("importlib.import_module('settings').gain", importlib=importlib),
    "modules by a text": lambda: _code("sys.modules['settings'].gain", sys=sys),
    "C pointer": lambda: ctypes.pointer(ctypes.c_double(2.0)),
    "variable of a context": lambda: contextvars.ContextVar("gain"),
    "local to a thread": threading.local,
}
"""Code and objects that read what nobody can see."""

WRAPPERS = {
    "list": lambda x: [1, x],
    "tuple": lambda x: (x, "a"),
    "dict": lambda x: {"a": 1, "b": x},
    "record": Record,
    "frozen": Frozen,
    "object": Plain,
    "slots": Slotted,
    "namedtuple": lambda x: Pair(x, 1),
    "namespace": lambda x: types.SimpleNamespace(x=x),
    "closure": lambda x: lambda: x,
    "default": _with_default,
    "keyword default": _with_keyword_default,
    "partial": lambda x: functools.partial(max, x, key=id),
    "keyword of a partial": lambda x: functools.partial(max, key=x),
    "bound method": lambda x: Plain(x).method,
    "callable object": Plain,
    "cache": lambda x: functools.lru_cache(lambda: x),
    "decorated": _decorated,
    "attribute of a function": _with_attribute,
    "property of a class": lambda x: type("Law", (), {"value": property(lambda self: x)}),
    "base class": lambda x: type("Law", (type("Base", (), {"value": x}),), {})(),
    "generator expression": lambda x: lambda: sum(len(str(x)) for _ in range(3)),
    "array": lambda x: np.array([x, None], dtype=object),
}
"""Ways to hold a value."""


def drawn_value(rng, k):
    """A leaf of 2 or 3 in some layers, and the names of the layers; the same for a generator of the same state."""
    leaf = str(rng.choice(list(LEAVES)))
    layers = [str(rng.choice(list(WRAPPERS))) for _ in range(int(rng.integers(0, 7)))]
    value = LEAVES[leaf](k)
    for layer in layers:
        value = WRAPPERS[layer](value)
    return value, [leaf, *layers]


def read_by_closure(value, number):
    return lambda x: {"y": number + 0 * len(str(type(value)))}


def read_by_default(value, number):
    def run(x, _value=value):
        return {"y": number}

    return run


def read_by_keyword(value, number):
    def run(x, *, _value=value):
        return {"y": number}

    return run


def read_by_partial(value, number):
    return functools.partial(_run_of_value, value=value, number=number)


def read_by_object(value, number):
    return Run(value, number)


def read_by_method(value, number):
    return Run(value, number).go


def read_by_nested_function(value, number):
    def run(x):
        def inner():
            return type(value)

        return {"y": number + 0 * len(str(inner()))}

    return run


def read_by_global(value, number):
    scope = {"__name__": "study_of_a_user", "VALUE": value, "number": number}
    exec("def helper():\n    return VALUE\ndef run(x):\n    helper()\n    return {'y': number}\n", scope)
    return scope["run"]


def read_by_module(value, number):
    module = types.ModuleType("settings_of_a_user")
    module.VALUE = value
    scope = {"__name__": "study_of_a_user", "settings": module, "number": number}
    exec("def run(x):\n    settings.VALUE\n    return {'y': number}\n", scope)
    return scope["run"]


def _run_of_value(x, value, number):
    return {"y": number}


class Run:
    def __init__(self, value, number):
        self.value, self.number = value, number

    def __call__(self, x):
        return {"y": self.number}

    def go(self, x):
        return {"y": self.number}


READERS = (
    read_by_closure, read_by_default, read_by_keyword, read_by_partial, read_by_object, read_by_method, read_by_nested_function,
    read_by_global, read_by_module,
)  # fmt: skip
"""Ways in which a function `run(x)` reads a value."""
