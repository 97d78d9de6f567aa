"""Link: a rigid body of a serial chain, with the joint that carries it; faults of links and of the tables of a chain.

    handle of link i:   P_i = P_(i-1) + R_(i-1) L_(i-1)                the joint's point; link frames have their origin there
    at q_i = 0:         R_i = R_(i-1) A(p_i)
    centre of mass:     P_i + R_i c_i

A link has a mass, an inertia and a joint to the link before it. A link is frozen; bad values are collected as faults.
All faults are reported at once;  s^T I s > 0  for every freedom of the last link that moves: no link beyond adds inertia.
Source: Featherstone 2008, ch. 4 (links numbered from the base).
"""

from __future__ import annotations

from collections.abc import Sequence
from numbers import Real
from typing import Any, Self

import numpy as np

from haugmbd.bodies.body import Body
from haugmbd.bodies.frame import unit
from haugmbd.bodies.shapes.base import Drawn, Shape
from haugmbd.bodies.validation import FloatArray, frozen, numbers, read_array, read_number
from haugmbd.deprecated import public_class
from haugmbd.errors import Fault, UsageError
from haugmbd.math.euler_parameters import cross
from haugmbd.model.immutable import immutable
from haugmbd.serial_chain.chain_arrays import BALL, SLIDE, TURN

NO_INERTIA = 1e-14
"""A turn of the last link with s^T I s below this part of the link's inertia (m |c|^2 + J) is massless up to rounding."""

ROWS = (((),), ((), (3,)), ((), (3,)), ((3,), (3, 3)), ((3,),))
"""Shapes of a row of the tables m, c, L, I, z."""


def read_table(name: str, value: Any, shapes: tuple[tuple[int, ...], ...]) -> FloatArray:
    """Return one table of a chain, with rows of one of `shapes`. Raise UsageError for another shape."""
    array = numbers(value)
    if array is None:
        raise UsageError(f"the table {name} is {repr(value):.60}, not an array of numbers. Give one row for each link.")
    if array.ndim == 0 or array.shape[1:] not in shapes:
        wanted = " or ".join(f"({', '.join(['n', *map(str, shape)])}{',' if not shape else ''})" for shape in shapes)
        raise UsageError(f"the table {name} has shape {array.shape}, expected {wanted}: one row for each link.")
    return array


def faults_in_a_row(where: str, links: Sequence[Link]) -> list[Fault]:
    """Return all faults of the links, of each one and of the chain."""
    wrong = [link for link in links if not isinstance(link, Link)]
    if wrong or not links:
        what = f"{wrong[0]!r} is not a Link" if wrong else "it has no links"
        return [Fault(where, what, "Give a list of Link.revolute(...), Link.prismatic(...), ...")]
    faults = [fault for link in links for fault in link.faults()]
    names = [link.name for link in links]
    faults += [
        Fault(where, f"two links are called {n!r}", "Give each its own name.")
        for n in sorted({n for n in names if names.count(n) > 1})
    ]
    for k, link in enumerate(links[1:], start=2):
        if link.kind == "free":
            faults.append(
                Fault(f"link {link.name!r}", f"it is free, and is link number {k} of the chain", "Only the first link can be free.")
            )
    return faults or _massless(links)


def _massless(links: Sequence[Link]) -> list[Fault]:
    """Return a fault for each freedom of the last moving link without inertia; links after it are fixed to it."""
    last = max((k for k, link in enumerate(links) if link.ways), default=-1)
    if last < 0 or any(link.mass for link in links[last + 1 :]) or any(link.J_bar.any() for link in links[last + 1 :]):
        return []
    link = links[last]
    size = link.mass * (link.c @ link.c) + np.trace(link.J_bar)
    faults = []
    for (kind, z), label in zip(link.ways, link.labels(), strict=True):
        arm = cross(z, link.c)
        turns = kind in (TURN, BALL)
        inertia = link.mass * (arm @ arm) + z @ link.J_bar @ z if turns else link.mass
        if not inertia > (NO_INERTIA * size if turns else 0.0):
            what = f"the last link has no inertia along its freedom ({label}): s^T I s = {inertia:.3g}"
            faults.append(
                Fault(f"link {link.name!r}", what, "Its acceleration would be infinite: give it mass, or moment of inertia.")
            )
    return faults


CROSSED_TOL = 1e-6
"""Cosine of the angle between the arms of a cross that are meant to be at right angles; below it is typing and is straightened, above it a
mistake."""
X, Y, Z = (1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)
WORDS = {SLIDE: "slide along", TURN: "turn about", BALL: "turn about its own"}

Way = tuple[int, Any]
"""One way in which a link can move against the one before: a kind and an axis, (3,), link frame."""


@public_class
@immutable("Make another Link.")
class Link:
    """A rigid body of a serial chain, with the joint that carries it.

    Make links with `Link.revolute`, `prismatic`, `cylindrical`, `universal`, `spherical`, `fixed` or `free`.

    Parameters
    ----------
    name : str
        Name of the link in messages and results.
    kind : str
        Kind of the joint in words.
    ways : tuple of (int, array_like)
        Freedoms of the joint, slides first, then turns: a kind and an axis (3,), link frame.
    mass : float
        Mass [kg].
    J_bar : array_like, (3,) or (3, 3)
        Inertia about the centre of mass, link frame [kg m2]: three principal values, or a symmetric matrix.
    c : array_like, (3,), or float
        Centre of mass, from the link's handle, link frame [m]; a number is a length along x.
    L : array_like, (3,), or float
        Handle of the next link, from the link's handle, link frame [m]; a number is a length along x.
    p : array_like, (4,)
        Euler parameters of the link frame in the frame of the link before, at q = 0.
    shape : Shape or sequence of Shape, optional
        What is drawn, as of a Body: from the centre of mass, in the axes of the link.

    Notes
    -----
    A link is frozen. The constructor collects faults instead of raising; SerialChain raises them all in one ModelError.
    Source: Featherstone 2008, ch. 4 (links numbered from the base).
    """

    name: str
    kind: str
    mass: float
    J_bar: FloatArray
    c: FloatArray
    L: FloatArray
    p: FloatArray
    ways: tuple[tuple[int, FloatArray], ...]
    shape: Drawn
    solid: tuple[Shape, ...]

    def __init__(
        self,
        name: str,
        kind: str,
        ways: tuple[Way, ...],
        mass: Any,
        J_bar: Any,
        *,
        c: Any = X,
        L: Any = X,
        p: Any = (1, 0, 0, 0),
        shape: Any = ...,
    ) -> None:
        faults: list[Fault] = []
        where = f"link {name!r}"
        body = Body(name, 1.0, J_bar, p=p, shape=shape)
        faults += [Fault(where, fault.what, fault.remedy) for fault in body.faults()]
        value = read_number(faults, where, "mass", mass, unit="kg")
        if value < 0.0:
            faults.append(Fault(where, f"mass is {value} kg", "Give the mass in kilograms, 0 for a massless link."))
        axes = tuple((motion, _unit(faults, where, axis)) for motion, axis in ways)
        fill = {
            "name": str(name),
            "kind": kind,
            "mass": value,
            "J_bar": body.J_bar,
            "p": body.p,
            "c": read_array(faults, where, "c", _along_x(c), (3,), unit="m"),
            "L": read_array(faults, where, "L", _along_x(L), (3,), unit="m"),
            "ways": _crossed(faults, where, axes),
            "shape": body.shape,
            "solid": body.solid,
        }
        for key, thing in fill.items():
            object.__setattr__(self, key, thing)
        object.__setattr__(self, "_faults", tuple(faults))

    @classmethod
    def revolute(cls, name: str, mass: Any, J_bar: Any, *, axis: Any = Z, **place: Any) -> Self:
        """Return a link that turns about `axis`.

        Parameters
        ----------
        name : str
            Name of the link.
        mass : float
            Mass [kg].
        J_bar : array_like, (3,) or (3, 3)
            Inertia about the centre of mass, link frame [kg m2].
        axis : array_like, (3,)
            Axis of the joint, link frame.
        **place
            c, L, p and shape of `Link`.

        Returns
        -------
        Link
            One coordinate: the angle [rad].
        """
        return cls(name, "revolute", ((TURN, axis),), mass, J_bar, **place)

    @classmethod
    def prismatic(cls, name: str, mass: Any, J_bar: Any, *, axis: Any = Z, **place: Any) -> Self:
        """Return a link that slides along `axis`; arguments as `Link.revolute`. One coordinate: the displacement [m]."""
        return cls(name, "prismatic", ((SLIDE, axis),), mass, J_bar, **place)

    @classmethod
    def cylindrical(cls, name: str, mass: Any, J_bar: Any, *, axis: Any = Z, **place: Any) -> Self:
        """Return a link that slides along `axis` and turns about it; arguments as `Link.revolute`.

        Two coordinates: the displacement [m] and the angle [rad].
        """
        return cls(name, "cylindrical", ((SLIDE, axis), (TURN, axis)), mass, J_bar, **place)

    @classmethod
    def universal(cls, name: str, mass: Any, J_bar: Any, *, axis_1: Any = X, axis_2: Any = Y, **place: Any) -> Self:
        """Return a link that turns about `axis_1` (fixed on the link before), then about `axis_2` (fixed on this link), at right angles.

        Other arguments as `Link.revolute`. Two coordinates: the angles [rad].
        """
        return cls(name, "universal", ((TURN, axis_1), (TURN, axis_2)), mass, J_bar, **place)

    @classmethod
    def spherical(cls, name: str, mass: Any, J_bar: Any, **place: Any) -> Self:
        """Return a link with a spherical joint; arguments as `Link.revolute`, without axis.

        Four coordinates: Euler parameters. Three rates: the relative angular velocity, link frame [rad/s].
        """
        return cls(name, "spherical", ((BALL, X), (BALL, Y), (BALL, Z)), mass, J_bar, **place)

    @classmethod
    def fixed(cls, name: str, mass: Any, J_bar: Any, **place: Any) -> Self:
        """Return a link that is fixed to the link before; arguments as `Link.revolute`, without axis. No coordinate."""
        return cls(name, "fixed", (), mass, J_bar, **place)

    @classmethod
    def free(cls, name: str, mass: Any, J_bar: Any, **place: Any) -> Self:
        """Return the first link of a chain with a free base; arguments as `Link.revolute`, without axis.

        Seven coordinates: position of its handle [m] and Euler parameters. Six rates: velocity and angular velocity.
        """
        return cls(name, "free", ((SLIDE, X), (SLIDE, Y), (SLIDE, Z), (BALL, X), (BALL, Y), (BALL, Z)), mass, J_bar, **place)

    @property
    def nv(self) -> int:
        """Return the number of freedoms."""
        return len(self.ways)

    @property
    def nq(self) -> int:
        """Return the number of coordinates: a spherical joint has three freedoms and four coordinates."""
        return self.nv + any(kind == BALL for kind, _ in self.ways)

    def labels(self) -> tuple[str, ...]:
        """Return a description of each freedom."""
        return tuple(f"{self.name!r} {WORDS[kind]} ({axis[0]:.3g}, {axis[1]:.3g}, {axis[2]:.3g})" for kind, axis in self.ways)

    def faults(self) -> tuple[Fault, ...]:
        """Return the faults of this link; () if there is none."""
        faults: tuple[Fault, ...] = self._faults  # type: ignore[attr-defined]
        return faults

    def __repr__(self) -> str:
        return f"Link.{self.kind}({self.name!r}, mass={self.mass!r})"


def _along_x(value: Any) -> Any:
    """Return (x, 0, 0) for a length along x, and three numbers unchanged."""
    return (float(value), 0.0, 0.0) if isinstance(value, Real) and not isinstance(value, bool) else value


def _unit(faults: list[Fault], where: str, axis: Any) -> FloatArray:
    """Return the unit vector of a joint axis."""
    remedy = "Give a direction: three numbers, not all zero; the length does not matter."
    a = read_array(faults, where, "axis", axis, (3,), remedy=remedy)
    if not a.any():
        faults.append(Fault(where, "the joint's axis is (0, 0, 0)", remedy))
    return frozen(unit(a))


def _crossed(faults: list[Fault], where: str, ways: tuple[tuple[int, FloatArray], ...]) -> tuple[tuple[int, FloatArray], ...]:
    """Return the freedoms with the axes of a universal joint made exactly perpendicular; add a fault if they are far from it."""
    turns = [axis for kind, axis in ways if kind == TURN]
    if faults or len(turns) < 2:
        return ways
    first, second = turns[:2]
    cosine = first @ second
    if abs(cosine) > CROSSED_TOL:
        angle = np.degrees(np.arccos(np.clip(cosine, -1.0, 1.0)))
        what = f"the axes of its universal joint are {angle:.3g} degrees apart"
        faults.append(Fault(where, what, "The arms of a cross are at right angles."))
        return ways
    square = _unit(faults, where, second - cosine * first)
    return tuple((kind, square if axis is second else axis) for kind, axis in ways)
