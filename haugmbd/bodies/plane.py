r"""A plane by two global axes, and the coordinates of a body that moves in it.

    e_1, e_2    the axes, such as x and z         n = e_1 x e_2
    q = (r . e_1, r . e_2, phi),   A = R(phi, n): phi turns e_1 towards e_2
    u = (v . e_1, v . e_2, phi'),  omega = phi' n

Source: Haug (1989), Nikravesh (1988): coordinates of planar bodies.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from haugmbd.bodies.validation import FloatArray
from haugmbd.errors import UsageError

AXES = "xyz"
PLANES = ("xz", "zx", "xy", "yx", "yz", "zy")


class Plane(NamedTuple):
    """A plane: the numbers of its axes and of its normal, and the sense of n = e_1 x e_2 along that axis."""

    name: str
    first: int
    second: int
    normal: int
    sense: float

    @property
    def along(self) -> tuple[int, int, int]:
        """Return the columns of (v, omega) of a body that lie in the plane."""
        return self.first, self.second, 3 + self.normal

    @property
    def across(self) -> tuple[int, int, int]:
        """Return the other columns."""
        return self.normal, 3 + self.first, 3 + self.second

    def place(self, q: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return r (3,) and p (4,) of the coordinates q (3,)."""
        r, p = np.zeros(3), np.zeros(4)
        r[[self.first, self.second]] = q[:2]
        p[0], p[1 + self.normal] = np.cos(0.5 * q[2]), self.sense * np.sin(0.5 * q[2])
        return r, p

    def angle(self, A: FloatArray) -> FloatArray:
        """Return phi (nt,) of the orientations A (nt, 3, 3), unwound: without jumps of whole turns."""
        return np.unwrap(np.arctan2(A[:, self.second, self.first], A[:, self.first, self.first]))


def read_plane(given: Any, who: str) -> str | None:
    """Return the plane that `who` is given. Raise UsageError for anything but two different axes, or None."""
    if given is None or (isinstance(given, str) and given in PLANES):
        return given
    raise UsageError(f'{who}: planar is {given!r}, must be two different axes, such as "xz", or None for a spatial mechanism.')


def plane_of(name: Any, who: str = "planar") -> Plane:
    """Return a plane by its two axes. Raise UsageError, which names `who`, for anything else."""
    found = read_plane(name, who)
    if found is None:
        raise UsageError(f'{who}: planar is None, must be two different axes, such as "xz".')
    first, second = map(AXES.index, found)
    return Plane(found, first, second, 3 - first - second, 1.0 if (second - first) % 3 == 1 else -1.0)
