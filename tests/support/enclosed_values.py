"""Values of random kinds at random depths, and functions that read them in random ways: two that are drawn alike differ in one leaf."""

from __future__ import annotations

import collections
import dataclasses
import enum
import functools
import types
from decimal import Decimal
from fractions import Fraction

import numpy as np
from scipy.interpolate import CubicSpline

import haugmbd as mbd


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
