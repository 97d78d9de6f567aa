r"""A frame fixed on a body: the point and axes of a joint.

    point  P   = r + A s_bar                 s_bar = A^T (P - r)
    axes   f, g, h = columns of A A_bar      a_bar = A^T a              h is the joint's axis, h = f x g

A frame made from global geometry at the modelled pose uses one deterministic `triad(axis)`. The two frames of a joint, one on each
body, therefore coincide there: the joint's angle at the modelled pose is zero.
Source: Haug (2021), spatial kinematics: joint definition frames x'' y'' z''.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import lru_cache
from math import isfinite, sqrt
from typing import Any

import numpy as np
import numpy.typing as npt

from haugmbd.bodies.body import Body
from haugmbd.bodies.validation import FloatArray, frozen, read_array, shared
from haugmbd.deprecated import public_class
from haugmbd.errors import Fault, UsageError
from haugmbd.math.euler_parameters import cross

ORTHONORMAL_TOL = 1e-9
"""Largest max |A_bar^T A_bar - I|. A matrix typed with fewer than nine digits is a fault, because it would change every equation of
the joint slightly."""

SQUARES = 1e-150
"""Numbers between this and its inverse have squares that are neither zero nor infinite."""


def body_point(body: Body, point: npt.ArrayLike) -> FloatArray:
    """Return s_bar = A^T (point - r): a global point [m], (3,), in the frame of `body` at its modelled pose."""
    return body.A.T @ (np.asarray(point, dtype=np.float64) - body.r)


def body_vector(body: Body, vector: npt.ArrayLike) -> FloatArray:
    """Return a_bar = A^T vector: a global vector, (3,), in the frame of `body` at its modelled pose."""
    return body.A.T @ np.asarray(vector, dtype=np.float64)


def unit(axis: npt.ArrayLike) -> FloatArray:
    """Return axis / |axis|, (3,), for any length that a double can have; NaN for a zero or non-finite axis."""
    a = np.asarray(axis, dtype=np.float64)
    sizes = [abs(x) for x in a.tolist()]
    largest = max(sizes)
    if not (largest > 0.0 and all(map(isfinite, sizes))):
        return np.full(3, np.nan)
    if not SQUARES < largest < 1.0 / SQUARES:
        a = a / largest
    return np.asarray(a / sqrt(a.dot(a)))


def triad(axis: npt.ArrayLike) -> FloatArray:
    """Return the right-handed orthonormal triad (f, g, h), as columns, with h = axis / |axis|; NaN for a zero or non-finite axis.

    f is the coordinate axis that is farthest from h (the first of equals), made perpendicular to h: the z-axis gives (x, y, z).
    """
    choices, of_axis = _CHOICES.get(), np.asarray(axis, dtype=np.float64)
    chosen = -1 if choices is None else choices.next(of_axis)
    return _triad(of_axis.tobytes(), chosen).copy()


class TriadChoices:
    """The coordinate axes that the triads of a system start from, in their order, so that another system takes the same.

    The choice jumps where two coordinate axes are equally far: beside such an axis, as a parameter tilts it, the triad must not.
    """

    def __init__(self) -> None:
        self._made: list[int] = []
        self._place = -1

    def next(self, axis: FloatArray) -> int:
        """Return the choice for the next triad: the one made before in this place, or that of its axis."""
        if 0 <= self._place < len(self._made):
            self._place += 1
            return self._made[self._place - 1]
        chosen = int(np.argmin(np.abs(axis)))
        if self._place < 0:
            self._made.append(chosen)
        return chosen

    @contextmanager
    def used(self) -> Iterator[None]:
        """Record the choices of triads in the first block, and take the same in later ones."""
        token = _CHOICES.set(self)
        try:
            yield
        finally:
            _CHOICES.reset(token)
            self._place = 0


_CHOICES: ContextVar[TriadChoices | None] = ContextVar("triad choices", default=None)


@lru_cache(maxsize=256)
def _triad(axis: bytes, chosen: int) -> FloatArray:
    """Return the triad of an axis, read-only;  chosen: the coordinate axis that f is made of, -1 for the farthest"""
    h = unit(np.frombuffer(axis))
    if not np.isfinite(h).all():
        return frozen(np.full((3, 3), np.nan))
    f = np.eye(3)[np.argmin(np.abs(h)) if chosen < 0 else chosen]
    f = f - np.dot(f, h) * h
    f /= np.linalg.norm(f)
    return frozen(np.column_stack((f, cross(h, f), h)))


@public_class
class Frame:
    """A point and three axes fixed on a body.

    Parameters
    ----------
    body : Body
        The body, or the ground.
    s_bar : array_like, (3,)
        The point, body frame, from the centre of mass [m].
    A_bar : array_like, (3, 3)
        The axes f, g, h as columns, body frame, orthonormal and right-handed.

    Raises
    ------
    UsageError
        If body is not a Body.

    Notes
    -----
    A frame is frozen. Other bad values do not raise: they are collected in `faults()`.
    Source: Haug (2021), spatial kinematics: joint definition frames.
    """

    __slots__ = ("A_bar", "_faults", "body", "s_bar")

    body: Body
    s_bar: FloatArray
    A_bar: FloatArray
    _faults: tuple[Fault, ...]

    def __init__(self, body: Body, s_bar: Any, A_bar: Any = ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))) -> None:
        faults: list[Fault] = []
        where = _where(body)
        s_bar = read_array(faults, where, "s_bar", s_bar, (3,), unit="m")
        A_bar = read_array(faults, where, "A_bar", A_bar, (3, 3), remedy="Give the unit vectors f, g, h as columns.")
        faults.extend(_orthonormality(where, A_bar))
        self._fill(body, s_bar, A_bar, faults)

    def _fill(self, body: Body, s_bar: FloatArray, A_bar: FloatArray, faults: list[Fault]) -> None:
        """Set every slot once."""
        for slot, value in (("body", body), ("s_bar", s_bar), ("A_bar", A_bar), ("_faults", tuple(faults))):
            object.__setattr__(self, slot, value)

    @classmethod
    def from_global(cls, body: Body, point: Any, axis: Any = (0.0, 0.0, 1.0)) -> Frame:
        """Return the frame at a global point whose axis h is along a global axis, both at the modelled pose of `body`.

        Parameters
        ----------
        body : Body
            The body, or the ground.
        point : array_like, (3,)
            The point, global frame [m].
        axis : array_like, (3,)
            Direction of h, global frame; its length does not matter.

        Returns
        -------
        Frame
            The frame, with the axes of `triad(axis)`.
        """
        faults: list[Fault] = []
        where = _where(body)
        P = read_array(faults, where, "point", point, (3,), unit="m")
        h = read_array(faults, where, "axis", axis, (3,))
        if not h.any():
            faults.append(
                Fault(where, "axis is (0, 0, 0)", "Give a direction: three numbers, not all zero; the length does not matter.")
            )
        frame = cls.__new__(cls)
        frame._fill(body, shared(body_point(body, P)), shared(body.A.T @ triad(h)), faults)
        return frame

    @classmethod
    def from_axes(cls, body: Body, s_bar: Any, f_bar: Any, g_bar: Any) -> Frame:
        """Return the frame with h = f x g. f keeps its direction, and g is made perpendicular to it.

        Parameters
        ----------
        body : Body
            The body, or the ground.
        s_bar : array_like, (3,)
            The point, body frame, from the centre of mass [m].
        f_bar, g_bar : array_like, (3,)
            Two vectors that span the plane of f and g, body frame. They need not be perpendicular; parallel or zero vectors are a fault.

        Returns
        -------
        Frame
            The frame.
        """
        faults: list[Fault] = []
        where = _where(body)
        s_bar = read_array(faults, where, "s_bar", s_bar, (3,), unit="m")
        f = read_array(faults, where, "first axis", f_bar, (3,))
        g = read_array(faults, where, "second axis", g_bar, (3,))
        h = cross(f, g)
        if np.linalg.norm(h) <= ORTHONORMAL_TOL * np.linalg.norm(f) * np.linalg.norm(g):
            what = f"the axes {f.tolist()} and {g.tolist()} are parallel or zero"
            faults.append(Fault(where, what, "Give two vectors that span a plane."))
        with np.errstate(invalid="ignore", divide="ignore"):
            f, h = f / np.linalg.norm(f), h / np.linalg.norm(h)
        frame = cls.__new__(cls)
        frame._fill(body, s_bar, frozen(np.column_stack((f, cross(h, f), h))), faults)
        return frame

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"a Frame is frozen: {name} of {self!r} cannot be set. Make a new Frame(...).")

    def __getstate__(self) -> tuple[Body, FloatArray, FloatArray, tuple[Fault, ...]]:
        return (self.body, self.s_bar, self.A_bar, self._faults)

    def __setstate__(self, state: tuple[Body, FloatArray, FloatArray, tuple[Fault, ...]]) -> None:
        body, s_bar, A_bar, faults = state
        self._fill(body, frozen(s_bar), frozen(A_bar), list(faults))

    def __repr__(self) -> str:
        return f"Frame({self.body.name!r}, s_bar={self.s_bar.tolist()}, h={self.h.tolist()})"

    @property
    def f(self) -> FloatArray:
        """Return the first axis, body frame, unit, (3,)."""
        return self.A_bar[:, 0]

    @property
    def g(self) -> FloatArray:
        """Return the second axis, body frame, unit, (3,)."""
        return self.A_bar[:, 1]

    @property
    def h(self) -> FloatArray:
        """Return the third axis, that of the joint, body frame, unit, (3,)."""
        return self.A_bar[:, 2]

    @property
    def point(self) -> FloatArray:
        """Return the point in the global frame at the modelled pose [m], (3,)."""
        return self.body.r + self.body.A @ self.s_bar

    @property
    def A(self) -> FloatArray:
        """Return the axes f, g, h in the global frame at the modelled pose, as columns, (3, 3)."""
        return self.body.A @ self.A_bar

    def faults(self, where: str | None = None) -> tuple[Fault, ...]:
        """Return the faults of this frame; `where` (such as "joint 'pin'") names its owner in the texts."""
        if where is None or not self._faults:
            return self._faults
        return tuple(Fault(where, f"{fault.what} (on body {self.body.name!r})", fault.remedy) for fault in self._faults)


def _where(body: Body) -> str:
    """Return the owner's name for the texts of faults. Raise UsageError if `body` is not a Body, such as a name."""
    if not isinstance(body, Body):
        raise UsageError(f"a frame needs a Body, got {body!r}. Give the object that system.add(...) returned, or system.ground.")
    return f"frame on body {body.name!r}"


def _orthonormality(where: str, A_bar: FloatArray) -> list[Fault]:
    """Return a fault unless the columns are orthonormal and right-handed; none for NaN, which is a fault already."""
    if not np.isfinite(A_bar).all():
        return []
    gap = float(np.abs(A_bar.T @ A_bar - np.eye(3)).max())
    if gap > ORTHONORMAL_TOL:
        what = f"A_bar is not orthonormal: max |A_bar^T A_bar - I| = {gap:.3g}"
        return [Fault(where, what, "Give unit vectors f, g, h = f x g as columns, or use Frame.from_axes.")]
    if np.linalg.det(A_bar) < 0.0:
        return [Fault(where, "A_bar is left-handed: h = -f x g", "Swap f and g, or reverse h.")]
    return []
