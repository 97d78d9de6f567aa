r"""Numbers of what tables refer to: bodies, markers, drivers, and joint angles that the state integrates.

Each is numbered when it is first used. A marker is a point or vector of a body, and has one number however often it is used: markers of
one body whose coordinates have the same bits are the same.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from haugmbd.bodies.body import Body
from haugmbd.compiled.array_types import Array, Ints
from haugmbd.constraints.coordinate import Coordinate
from haugmbd.drivers import Constant, Driver

KEY = np.dtype([("body", np.float64), ("x_bar", np.float64, 3)])
"""A marker as 32 bytes."""


class Numbering:
    """Numbers of bodies, markers and drivers."""

    def __init__(self, bodies: Sequence[Body]) -> None:
        self.bodies = {body: number for number, body in enumerate(bodies)}
        self.drivers: list[Driver] = []
        self._markers: dict[bytes, int] = {}
        self._drivers: dict[Any, int] = {}

    def markers(self, bodies: npt.ArrayLike, x_bar: Array) -> Ints:
        """Return the numbers of points or vectors x_bar (n, 3) of bodies (n,), given by their numbers."""
        keys = np.empty(len(x_bar), dtype=KEY)
        keys["body"], keys["x_bar"] = bodies, x_bar
        known = self._markers
        return np.array([known.setdefault(key, len(known)) for key in keys.view(f"V{KEY.itemsize}").tolist()], dtype=np.int64)

    def marker(self, body: Body, x_bar: Array) -> int:
        """Return the number of a point or vector of a body."""
        key = np.float64(self.bodies[body]).tobytes() + np.asarray(x_bar, dtype=np.float64).tobytes()
        return self._markers.setdefault(key, len(self._markers))

    def marker_table(self) -> tuple[Ints, Array]:
        """Return the body of each marker (nm,), and the markers (nm, 3)."""
        table = np.frombuffer(b"".join(self._markers), dtype=KEY)
        return table["body"].astype(np.int64), np.ascontiguousarray(table["x_bar"])

    def forget(self) -> None:
        """Give back the memory of the search for markers, which are all known."""
        self._markers = {}

    def driver(self, driver: Driver) -> int:
        """Return the number of a driver; constants of the same value share one."""
        key: Any = driver.value if isinstance(driver, Constant) else id(driver)
        found = self._drivers.get(key)
        if found is None:
            found = self._drivers[key] = len(self.drivers)
            self.drivers.append(driver)
        return found


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
