r"""Numbers of what tables refer to: bodies, markers, drivers, and joint angles that the state integrates.

Each is numbered when it is first used. A marker is a point or vector of a body, and has one number however often it is used: markers of
one body whose coordinates have the same bits are the same.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from itertools import repeat
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from haugmbd.bodies.body import Body
from haugmbd.compiled.array_types import Array, Ints
from haugmbd.constraints.coordinate import Coordinate
from haugmbd.drivers import Constant, Driver
from haugmbd.drivers.tables import ZERO

KEY = np.dtype([("body", np.float64), ("x_bar", np.float64, 3)])
"""A marker as 32 bytes."""
MANY = 2000
"""Number of markers from which sorting them by a hash is faster than looking them up one by one."""


MIXERS = np.array([0x9E3779B97F4A7C15, 0xBF58476D1CE4E5B9, 0x94D049BB133111EB, 0xD6E8FEB86659FD93], dtype=np.uint64)
"""Odd numbers with bits as if drawn at random, of SplitMix64 and its like."""
HIGH_BITS = np.uint64(29)


def first_of_equals(words: npt.NDArray[np.uint64]) -> tuple[Ints, Ints]:
    """Return the rows of words (n, m) that no row before them equals, and the number of each row's equal among these, (n,)."""
    mixed = np.zeros(len(words), dtype=np.uint64)
    for word, mixer in zip(words.T, MIXERS, strict=True):
        mixed = (mixed ^ (mixed >> HIGH_BITS) ^ word) * mixer
    _, first, number = np.unique(mixed ^ (mixed >> HIGH_BITS), return_index=True, return_inverse=True)
    if not (words == words[first[number]]).all():  # two rows have the same hash
        _, first, number = np.unique(words, axis=0, return_index=True, return_inverse=True)
    order = np.argsort(first)
    place = np.empty_like(order)
    place[order] = np.arange(len(order))
    return first[order], place[number.reshape(-1)]


def _bytes_of(keys: npt.NDArray[np.void]) -> list[bytes]:
    """Return markers as bytes."""
    found: list[bytes] = keys.view(f"V{KEY.itemsize}").tolist()
    return found


class Numbering:
    """Numbers of bodies, markers and drivers."""

    def __init__(self, bodies: Sequence[Body]) -> None:
        self.bodies = {body: number for number, body in enumerate(bodies)}
        self.drivers: list[Driver] = []
        self._table: npt.NDArray[np.void] = np.zeros(0, dtype=KEY)
        self._markers: dict[bytes, int] = {}
        self._drivers: dict[Any, int] = {}

    def markers(self, bodies: npt.ArrayLike, x_bar: Array, origins: Sequence[Any] = ()) -> Ints:
        """Return the numbers of points or vectors x_bar (n, 3) of bodies (n,), given by their numbers.

        origins: where each comes from, None if that is not known; by default of none
        """
        keys = np.empty(len(x_bar), dtype=KEY)
        keys["body"], keys["x_bar"] = bodies, x_bar
        if len(keys) >= MANY and not len(self._table) and not self._markers:
            first, number = first_of_equals(keys.view(np.uint64).reshape(len(keys), -1))
            self._table = keys[first]
            return number
        known = self._known()
        return np.array([known.setdefault(key, len(known)) for key in _bytes_of(keys)], dtype=np.int64)

    def marker(self, body: Body, x_bar: Array) -> int:
        """Return the number of a point or vector of a body."""
        key = np.float64(self.bodies[body]).tobytes() + np.asarray(x_bar, dtype=np.float64).tobytes()
        known = self._known()
        return known.setdefault(key, len(known))

    def _known(self) -> dict[bytes, int]:
        """Return the markers by their bytes, for those that are looked up one by one."""
        if len(self._table):
            self._markers = {key: number for number, key in enumerate(_bytes_of(self._table))}
            self._table = self._table[:0]
        return self._markers

    def marker_table(self) -> tuple[Ints, Array]:
        """Return the body of each marker (nm,), and the markers (nm, 3)."""
        table = self._table if len(self._table) else np.frombuffer(b"".join(self._markers), dtype=KEY)
        return table["body"].astype(np.int64), np.ascontiguousarray(table["x_bar"])

    def forget(self) -> None:
        """Give back the memory of the search for markers, which are all known."""
        self._markers, self._table = {}, self._table[:0].copy()

    def driver(self, driver: Driver) -> int:
        """Return the number of a driver; constants of the same value share one."""
        key: Any = driver.value if isinstance(driver, Constant) else id(driver)
        found = self._drivers.get(key)
        if found is None:
            found = self._drivers[key] = len(self.drivers)
            self.drivers.append(driver)
        return found


class NumberingByOrigin(Numbering):
    """Numbers of markers and drivers that are one only if they come from the same object, whatever their values.

    The tables of a mechanism then keep their structure while a parameter moves a point through the place of another, or makes two
    constants equal: each has a derivative of its own.
    """

    def __init__(self, bodies: Sequence[Body]) -> None:
        super().__init__(bodies)
        self._places: list[tuple[int, Array]] = []

    def markers(self, bodies: npt.ArrayLike, x_bar: Array, origins: Sequence[Any] = ()) -> Ints:
        """Return new numbers of points or vectors x_bar (n, 3) of bodies (n,): one for those of one body and origin."""
        places, by_origin, numbers = self._places, dict[Any, int](), list[int]()
        every = zip(np.asarray(bodies, dtype=np.int64).tolist(), np.asarray(x_bar, dtype=np.float64), strict=True)
        for place, origin in zip(every, origins or repeat(None)):  # noqa: B905  one origin for each, or none
            number = len(places) if origin is None else by_origin.setdefault((place[0], origin), len(places))
            if number == len(places):
                places.append(place)
            numbers.append(number)
        return np.array(numbers, dtype=np.int64)

    def marker(self, body: Body, x_bar: Array) -> int:
        """Return a new number of a point or vector of a body."""
        return int(self.markers([self.bodies[body]], np.asarray(x_bar, dtype=np.float64).reshape(1, 3))[0])

    def marker_table(self) -> tuple[Ints, Array]:
        """Return the body of each marker (nm,), and the markers (nm, 3)."""
        x_bar = np.array([x for _, x in self._places]).reshape(-1, 3)
        return np.array([body for body, _ in self._places], dtype=np.int64), x_bar

    def driver(self, driver: Driver) -> int:
        """Return the number of a driver; only the zero of equations without a prescribed function is shared."""
        key: Any = 0.0 if driver is ZERO or not self.drivers else id(driver)
        found = self._drivers.get(key)
        if found is None:
            found = self._drivers[key] = len(self.drivers)
            self.drivers.append(driver)
        return found


_NUMBERING: ContextVar[type[Numbering]] = ContextVar("numbering", default=Numbering)


@contextmanager
def numbered_by_origin() -> Iterator[None]:
    """Compile models in this block with markers and drivers numbered by their origin, not by their values."""
    token = _NUMBERING.set(NumberingByOrigin)
    try:
        yield
    finally:
        _NUMBERING.reset(token)


def new_numbering(bodies: Sequence[Body]) -> Numbering:
    """Return the numbers of a model to be compiled."""
    return _NUMBERING.get()(bodies)


class StateLayout(NamedTuple):
    """Whose angles and internal states a flat state has, in this order: of all parts of a system, also of those that are off.

    loads: all force elements;  coordinates: all joint angles that loads and couplings read
    What no part of the model writes has the rate zero, and keeps its value.
    """

    loads: tuple[Any, ...]
    coordinates: tuple[Coordinate, ...]

    @property
    def angles(self) -> int:
        """Return the number of angles that loads integrate for themselves."""
        return sum(load.angles for load in self.loads)


class Turns:
    """Numbers of the joint angles that the state integrates: one for each coordinate, whatever couplings and loads read it.

    first: the number of angles that loads integrate for themselves, which stand before these
    """

    def __init__(self, first: int) -> None:
        self.first = first
        self.angles: dict[tuple[int, str, int], tuple[Coordinate, int]] = {}

    def number(self, q: Coordinate) -> int:
        """Return the index of a coordinate among the integrated angles; -1 for a displacement."""
        return self.angles.setdefault(q.key, (q, self.first + len(self.angles)))[1] if q.turns else -1
