r"""Rope: the length of a path over points of bodies and around discs is a number or a function of time.

    L(q) = sum of the distances along the path + sum of the arcs on its discs = length          tension T = lam, a pull where it is positive

A pulley is a disc on its axle that the rope goes round without friction: the row does not turn it. A drum is a disc at an end of the path:
rope is wound up as it turns. Two ropes that end on one drum are a rope that does not slip on it.
Source: Haug (2021), distance constraint; the row is derived in `haugmbd/constraints/equations/rope.py`.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from math import atan2, floor, pi
from typing import Any, NamedTuple

import numpy as np

from haugmbd.bodies.body import Body
from haugmbd.bodies.frame import Frame, body_point, body_vector, triad
from haugmbd.bodies.validation import FloatArray, read_array, read_flag, read_number
from haugmbd.constraints import DP1, Coordinate, Joint, Primitive
from haugmbd.constraints.coordinate import as_coordinate
from haugmbd.constraints.equations.rope import GUARD, LEAST_LIFTED, MOST_ELEMENTS, Element, Group, RopeRow
from haugmbd.drivers import Driver, as_driver
from haugmbd.errors import Fault, UsageError

from .base import posed

START_TOL = 1e-9
"""Difference between the length and that of the path at the modelled pose, relative to it, that is rounding of typed numbers."""
TIE = 1e-9
"""Two ways round a disc whose lengths differ by less, relative to the path, are equally long: neither is the one that was meant."""
PARALLEL_TOL = 1e-6
"""Sine of the angle between the axes of two discs of one plane that is rounding of typed directions."""
MOST_UNSAID = 8
"""Discs whose side is found as that of the shortest rope: all ways round them are compared."""


class Pulley:
    """A disc or cylinder on the path of a rope.

    Parameters
    ----------
    on : Joint or Body
        The joint about whose axis the disc turns, such as an RJ; or the body on which a cylinder is fixed, or the ground.
    radius : float
        Radius of the disc, to the middle of the rope [m].
    center, axis : array_like, (3,), optional
        Centre and axis at the modelled pose, global frame [m]; of a joint its point and axis by default, of a body they must be given.
    side : array_like, (3,), optional
        A direction, global frame: the side of the disc that the rope touches, such as (0, 0, 1) for a rope over its top. By default that of
        the shorter rope.
    turns : int
        Whole turns that the rope goes round the disc besides the arc.
    """

    def __init__(
        self, on: Joint | Body, radius: float, *, center: Any = None, axis: Any = None, side: Any = None, turns: int = 0
    ) -> None:
        self.on, self.radius, self.center, self.axis, self.side, self.turns = on, radius, center, axis, side, turns

    def __repr__(self) -> str:
        return f"Pulley({self.on.name!r}, {self.radius!r})"


class _Disc(NamedTuple):
    """A disc in numbers: the body that carries it, the body of its plane, its centre and axis, and the angle of a drum."""

    body: Body
    bearing: Body
    center: FloatArray
    axis: FloatArray
    radius: float
    side: FloatArray | None
    turns: int
    coordinate: Coordinate | None
    label: str


class _Point(NamedTuple):
    """A point of the path."""

    body: Body
    point: FloatArray
    label: str


class Slack(NamedTuple):
    """How a rope may be slack: elastic with EA [N] and damping c [N s/m], or rigid with a coefficient of restitution."""

    EA: float | None
    c: float
    restitution: float


class Rope(Joint):
    """Rope or cable without mass over points and pulleys. Removes 1 degree of freedom.

    Parameters
    ----------
    name : str
        Name in messages and results.
    path : sequence of (Body, point), (Joint, radius) or Pulley
        The path: points on bodies or on the ground, global at the modelled pose [m]; and discs about the axes of joints, such as an RJ,
        with their radii [m]. A disc at an end is a drum, which winds up rope as it turns.
    length : float, callable or Driver, optional
        The length L(t) [m], without what is wound on drums at the modelled pose; by default that of the path as modelled.
    unilateral : bool
        Whether the rope only pulls: it may be slack, and becoming taut is an impact. It is then a contact of that name.
    EA : float, optional
        Young's modulus times the section [N] of an elastic rope, which may be slack: T = EA (L - length) / length where it is
        stretched. It is then a force element of that name.
    c : float
        Damping of an elastic rope while it is taut [N s/m].
    restitution : float
        Of a rigid rope that becomes taut, from 0 (it stays taut) to 1 (no loss).

    Raises
    ------
    UsageError
        If path is not a sequence of at least two such pairs. Other bad values are collected in `faults()`.

    Notes
    -----
    L = sum of distances + arcs + rope wound up since the modelled pose. `result.reaction(name)` has the pull on every body; the
    multiplier is the tension [N], positive where the rope pulls. Rope runs on its discs without friction. A disc whose arc comes to zero is
    left, and met again. Discs that follow one another have parallel axes. An arc is told to within a whole turn from its modelled one.
    """

    given: dict[str, Any]

    def __init__(
        self,
        name: str,
        path: Sequence[Any],
        *,
        length: Any = None,
        unilateral: bool = False,
        EA: float | None = None,
        c: float = 0.0,
        restitution: float = 0.0,
    ) -> None:
        self.path = tuple(path) if isinstance(path, Sequence) and not isinstance(path, str) else ()
        where, self._faults = f"joint {name!r}", list[Fault]()
        if len(self.path) < 2:  # noqa: PLR2004
            raise UsageError(f"{where} needs a path of at least two points, got {path!r:.200}. {REMEDY}")
        self.given = {"path": self.path, "length": length, "unilateral": unilateral, "EA": EA, "c": c, "restitution": restitution}
        self.may_be_slack = read_flag(self._faults, where, "unilateral", unilateral) or EA is not None
        self.slack = Slack(EA, c, restitution)
        if not self.may_be_slack and (c != 0.0 or restitution != 0.0):
            what = "it has c or restitution, and neither EA nor unilateral=True: it is rigid both ways"
            self._faults.append(Fault(where, what, "Give EA= with c=, or unilateral=True with restitution=."))
        self._parts = tuple(self._part(where, k, part) for k, part in enumerate(self.path))
        joints = [part.on if isinstance(part, Pulley) else part[0] for part in self.path]
        self.turning = tuple(dict.fromkeys(on for on in joints if isinstance(on, Joint)))
        first = self._parts[0]
        last = next((part for part in self._parts[::-1] if part.body is not first.body), self._parts[-1])
        super().__init__(name, self._frame(first), self._frame(last))
        self.row: RopeRow | None = None
        self.f: Driver = as_driver(0.0)
        if not self._faults and all(posed(body) for part in self._parts for body in _bodies_of(part)):
            self._read(where, length)

    def _part(self, where: str, k: int, part: Any) -> _Point | _Disc:
        """Return an entry of the path. Raise UsageError if it is not one."""
        if isinstance(part, Pulley):
            return self._disc(where, k, part)
        if not (isinstance(part, Sequence) and len(part) in (2, 3) and isinstance(part[0], Body | Joint)):
            raise UsageError(f"{where}: path[{k}] is {part!r:.200}. {REMEDY}")
        if isinstance(part[0], Joint):
            return self._disc(where, k, Pulley(part[0], part[1], side=part[2] if len(part) > 2 else None))  # noqa: PLR2004
        point = read_array(self._faults, where, f"the point of path[{k}]", part[1], (3,), unit="m")
        return _Point(part[0], point, f"path[{k}]")

    def _disc(self, where: str, k: int, pulley: Pulley) -> _Disc:
        """Return a disc of the path."""
        label, faults, on = f"path[{k}]", self._faults, pulley.on
        coordinate: Coordinate | None = None
        if isinstance(on, Joint):
            wheel, bearing = (on.i, on.j) if on.j.is_ground else (on.j, on.i)
            frame = on.frame_i
            center, axis = frame.point, frame.body.A @ frame.h
            own: list[Fault] = []
            coordinate = as_coordinate(own, where, on)
            if coordinate is None or not coordinate.turns or not on.rotates_about_h:
                what = f"{label}: joint {on.name!r} ({type(on).__name__}) does not turn about one axis"
                faults.append(Fault(where, what, "Give an RJ, or Pulley(body, radius, center=, axis=)."))
                coordinate = None
        elif isinstance(on, Body):
            wheel = bearing = on
            if pulley.center is None or pulley.axis is None:
                faults.append(
                    Fault(where, f"{label}: a pulley on body {on.name!r} has no center or axis", "Give both, global frame.")
                )
            center, axis = np.zeros(3), np.array([0.0, 0.0, 1.0])
        else:
            raise UsageError(f"{where}: {label} is a pulley on {on!r}. {REMEDY}")
        if pulley.center is not None:
            center = read_array(faults, where, f"center of {label}", pulley.center, (3,), unit="m")
        if pulley.axis is not None:
            axis = read_array(faults, where, f"axis of {label}", pulley.axis, (3,))
        size = float(np.linalg.norm(axis))
        if not size > 0.0:
            faults.append(Fault(where, f"axis of {label} is (0, 0, 0)", "Give a direction."))
        radius = read_number(faults, where, f"radius of {label}", pulley.radius, unit="m")
        if not radius > 0.0:
            faults.append(
                Fault(where, f"radius of {label} is {radius:g} m", "Give a positive radius, or a point in place of the disc.")
            )
        side = None if pulley.side is None else read_array(faults, where, f"side of {label}", pulley.side, (3,))
        if isinstance(pulley.turns, bool) or not isinstance(pulley.turns, int) or pulley.turns < 0:
            faults.append(Fault(where, f"turns of {label} is {pulley.turns!r}", "Give a whole number, not negative."))
        turns = pulley.turns if isinstance(pulley.turns, int) else 0
        return _Disc(wheel, bearing, center, axis / (size or 1.0), radius, side, turns, coordinate, label)

    @staticmethod
    def _frame(part: _Point | _Disc) -> Frame:
        """Return the frame of an end of the path."""
        return Frame.from_global(part.body, part.point if isinstance(part, _Point) else part.center)

    def _read(self, where: str, length: Any) -> None:
        """Make the row, and check its length."""
        groups, drums = list[Group](), list[tuple[Coordinate, float]]()
        for own in self._runs():
            group = self._group(where, own, drums)
            if group is None:
                return
            groups.append(group)
        row = RopeRow(groups, drums)
        states = {body: np.array([[*body.r, *body.p, *np.zeros(6)]]) for body, _ in row.markers()}
        angles = np.array([[q.modelled() for q, _ in drums] or [0.0]])
        length_of_path, gradient = row.with_gradient(states, angles)
        modelled = self.modelled_length = float(length_of_path[0])
        if not (np.isfinite(modelled) and np.isfinite(gradient).all()):
            what = "its path has no length at the modelled pose: two points coincide, or a point or disc lies within a disc"
            self._faults.append(Fault(where, what, "Move the points or the discs, or give smaller radii."))
            return
        self.f = as_driver(modelled if length is None else length)
        self.row = RopeRow(groups, drums, self.f)
        if not row.bodies() or all(body.is_ground for body in row.bodies()) or len(row.bodies()) < 2:  # noqa: PLR2004
            self._faults.append(
                Fault(where, "all of its path is on one body", "Give points of at least two bodies; the ground is one.")
            )
        faults = self.f.faults()
        self._faults.extend(Fault(where, fault.what, fault.remedy) for fault in faults)
        if self.f.reads_state and self.may_be_slack:
            what = f"its length follows {self.f}, and a rope that may be slack has a length of time alone"
            self._faults.append(
                Fault(where, what, "Leave EA and unilateral out, or wind it on a drum that a driver or motor turns.")
            )
        if faults or self.f.reads_state:
            return
        if not self.may_be_slack:
            self._check_length(where, modelled)
        if not float(np.ravel(self.f.values(0.0))[0]) > 0.0:
            self._faults.append(Fault(where, "its length is not positive at t = 0", "Give the length of the rope [m]."))

    def _check_length(self, where: str, modelled: float) -> None:
        """Append a fault if the rope does not fit its path at the modelled pose."""
        f0 = float(np.ravel(self.f.values(0.0))[0])
        gap = f0 - modelled
        if abs(gap) <= START_TOL * modelled:
            return
        words = "shorter" if gap < 0.0 else "longer"
        what = f"its length is {f0:.9g} m at t = 0, {abs(gap):.6g} m {words} than its path as modelled, {modelled:.9g} m"
        remedy = "Leave length out for that of the path, or model the bodies where the rope fits."
        if gap > 0.0:
            remedy += " A rope that may be slack has unilateral=True or EA=."
        self._faults.append(Fault(where, what, remedy))

    def _runs(self) -> list[tuple[_Point | _Disc, ...]]:
        """Return the parts of the path between points, without a point of their own in between where there are discs."""
        found, run = [], [self._parts[0]]
        for part in self._parts[1:]:
            run.append(part)
            if isinstance(part, _Point):
                found.append(tuple(run))
                run = [part]
        return [*found, tuple(run)] if len(run) > 1 else found

    def _group(self, where: str, run: tuple[_Point | _Disc, ...], drums: list[tuple[Coordinate, float]]) -> Group | None:
        """Return a part of the path; None and a fault if it cannot be."""
        discs = [part for part in run if isinstance(part, _Disc)]
        if not discs:
            return Group(tuple(Element(p.body, body_point(p.body, p.point)) for p in run if isinstance(p, _Point)))
        if len(run) > MOST_ELEMENTS:
            self._faults.append(
                Fault(where, f"{len(discs)} discs follow one another", f"Give at most {MOST_ELEMENTS - 2}, then a point.")
            )
            return None
        axis = discs[0].axis
        for disc in discs[1:]:
            if np.linalg.norm(np.cross(axis, disc.axis)) > PARALLEL_TOL:
                what = f"the axes of {discs[0].label} and {disc.label} are not parallel: the rope between them lies in no plane across both"
                self._faults.append(Fault(where, what, "Put a point between the discs, such as an eye on one of the bodies."))
                return None
        ends = [part for part in (run[0], run[-1]) if isinstance(part, _Disc)]
        bearings = list(dict.fromkeys(disc.bearing for disc in ends))
        if len(bearings) > 1 or any(disc.coordinate is None for disc in ends):
            what = f"its drums {', '.join(disc.label for disc in ends)} do not turn on one carrier about joints"
            self._faults.append(Fault(where, what, "Give drums as (joint, radius), or a point between them."))
            return None
        return _Planar(run, (bearings or [discs[0].bearing])[0], axis, self._faults, where).group(drums)

    def remade(self) -> Rope:
        """Return the rope that the constructor makes of the joints as they are now."""
        given = {key: value for key, value in self.given.items() if key != "path"}
        return type(self)(self.name, self.path, **given) if self.turning else self

    def needs(self) -> tuple[Joint, ...]:
        """Return the joints of its discs."""
        return self.turning

    def places(self) -> tuple[Frame, ...]:
        """Return a frame on every body of the path."""
        found: dict[Body, Frame] = {self.i: self.frame_i, self.j: self.frame_j}
        for part in self._parts:
            for body in _bodies_of(part):
                found.setdefault(body, Frame.from_global(body, part.point if isinstance(part, _Point) else part.center))
        return tuple(found.values())

    def primitives(self) -> tuple[Primitive, ...]:
        """Return the row: Rope. One with a fault has a row that is never evaluated."""
        if self.row is None or self._faults:
            return (DP1(self.i, self.frame_i.f, self.j, self.frame_j.g),)
        return (self.row,)

    def faults(self) -> tuple[Fault, ...]:
        """Return the faults of the rope; the joints report their own faults."""
        bodies = [body for part in self._parts for body in _bodies_of(part)]
        if self._faults or not all(map(posed, bodies)):
            return tuple(self._faults)
        return ()


REMEDY = (
    "Give (body, point) or (joint, radius) for each point and disc in turn, such as [(a, (0, 0, 1)), (axle, 0.1), (b, (1, 0, 0))]."
)


def _bodies_of(part: _Point | _Disc) -> tuple[Body, ...]:
    """Return the bodies of an entry of the path."""
    return (part.body,) if isinstance(part, _Point) else (part.body, part.bearing)


class _Planar:
    """A run of discs between two ends in their plane at the modelled pose: the ways round the discs, and the shortest of them."""

    def __init__(self, run: tuple[_Point | _Disc, ...], bearing: Body, axis: FloatArray, faults: list[Fault], where: str) -> None:
        self.run, self.bearing, self.axis, self.faults, self.where = run, bearing, axis, faults, where
        self.T = triad(axis)
        self.places = [part.center if isinstance(part, _Disc) else part.point for part in run]
        self.flat = [x @ self.T[:, :2] for x in self.places]

    def group(self, drums: list[tuple[Coordinate, float]]) -> Group | None:
        """Return the group with the signs of its discs; None and a fault if they are not known."""
        signs = self._signs()
        if signs is None:
            return None
        rho = [s * part.radius if isinstance(part, _Disc) else 0.0 for s, part in zip(signs, self.run, strict=True)]
        theta = self._directions(rho)
        elements = []
        last = len(self.run) - 1
        for k, part in enumerate(self.run):
            least, start = LEAST_LIFTED, 0.0
            if isinstance(part, _Disc) and 0 < k < last:
                psi = _told(np.sign(rho[k]) * (theta[k] - theta[k - 1]), LEAST_LIFTED) + 2.0 * pi * part.turns
                least = max(LEAST_LIFTED, psi - pi)
                if psi < least + GUARD:
                    what = f"{part.label}: the rope as modelled passes it untouched, at an arc of {np.degrees(psi):.0f} degrees"
                    self.faults.append(
                        Fault(
                            self.where, what, "Say which side the rope touches: (joint, radius, (0, 0, 1)), or leave the disc out."
                        )
                    )
                    return None
            elif isinstance(part, _Disc):
                start = theta[0] if k == 0 else theta[-1]
                assert part.coordinate is not None
                along = float(np.sign(self._axis_of(part.coordinate) @ self.axis))
                drums.append((part.coordinate, along * (-rho[k] if k == 0 else rho[k])))
            elements.append(Element(part.body, body_point(part.body, self.places[k]), rho[k], least, start))
        if (
            any(isinstance(self.run[k], _Disc) for k in (0, last))
            and abs((self.places[last] - self.places[0]) @ self.axis) > START_TOL
        ):
            what = "it leaves a drum aslant to the axis: the way that it winds up is not known"
            self.faults.append(Fault(self.where, what, "Lead it through a point in the plane of the drum."))
            return None
        e, g, n = (body_vector(self.bearing, axis) for axis in self.T.T)
        return Group(tuple(elements), 1.0, (self.bearing, e, g, n))

    def _axis_of(self, q: Coordinate) -> FloatArray:
        """Return the axis about which the drum turns by +q against its carrier, global."""
        joint = q.joint
        h: FloatArray = joint.i.A @ joint.frame_i.h
        return -h if joint.j.is_ground else h

    def _signs(self) -> list[float] | None:
        """Return the sense of each disc: 1 by the right-hand rule about the axis, -1 against it, 0 of a point."""
        discs = [k for k, part in enumerate(self.run) if isinstance(part, _Disc)]
        said = {k: s for k in discs if (s := self._side(k)) is not None}
        unsaid = [k for k in discs if k not in said]
        if len(unsaid) > MOST_UNSAID:
            self.faults.append(Fault(self.where, f"{len(unsaid)} discs have no side", "Give Pulley(..., side=)."))
            return None
        ways = []
        for signs in product((1.0, -1.0), repeat=len(unsaid)):
            of = said | dict(zip(unsaid, signs, strict=True))
            length = self._length([of.get(k, 0.0) for k in range(len(self.run))])
            if np.isfinite(length):
                ways.append((length, [of.get(k, 0.0) for k in range(len(self.run))]))
        if not ways:
            what = "a point or disc of its path lies within a disc, or no way round its discs is possible"
            self.faults.append(Fault(self.where, what, "Move the points or the discs, or give smaller radii or another side."))
            return None
        ways.sort(key=lambda way: way[0])
        ties = [way for way in ways if way[0] - ways[0][0] <= TIE * ways[0][0]]
        chosen = self._straight(ties)
        if chosen is None:
            unlike = next(k for k in unsaid if ties[0][1][k] != ties[1][1][k])
            what = f"{self.run[unlike].label}: both ways round the disc are equally long"
            self.faults.append(
                Fault(self.where, what, "Say which side the rope touches: (joint, radius, (0, 0, 1)), or Pulley(..., side=).")
            )
        return chosen

    def _straight(self, ties: list[tuple[float, list[float]]]) -> list[float] | None:
        """Return the one of several ways of equal length; of a drum that whose rope is parallel to a global axis; None if not one."""
        if len(ties) == 1:
            return ties[0][1]
        found = []
        for _, signs in ties:
            rho = [s * part.radius if isinstance(part, _Disc) else 0.0 for s, part in zip(signs, self.run, strict=True)]
            theta = self._directions(rho)
            ends = [theta[k] for k, end in ((0, 0), (-1, -1)) if isinstance(self.run[end], _Disc)]
            lines = [self.T[:, 0] * np.cos(x) + self.T[:, 1] * np.sin(x) for x in ends]
            if ends and all(np.abs(line).max() > 1.0 - START_TOL for line in lines):
                found.append(signs)
        return found[0] if len(found) == 1 else None

    def _side(self, k: int) -> float | None:
        """Return the sense of a disc whose side is said; None if it is not."""
        part = self.run[k]
        assert isinstance(part, _Disc)
        if part.side is None:
            return None
        side = part.side @ self.T[:, :2]
        if not np.linalg.norm(side) > START_TOL:
            self.faults.append(
                Fault(self.where, f"side of {part.label} is along the axis, or zero", "Give a direction across the axis.")
            )
            return 1.0
        # the rope runs along t on the side n of a disc: rho > 0 has its centre on the left, so that it touches on the right of t
        before, after = self.flat[max(0, k - 1)], self.flat[min(len(self.run) - 1, k + 1)]
        t = (after - before) / (np.linalg.norm(after - before) or 1.0)
        right = np.array([t[1], -t[0]])
        if abs(right @ side) > START_TOL * np.linalg.norm(side):
            return 1.0 if right @ side > 0.0 else -1.0
        self.faults.append(
            Fault(self.where, f"side of {part.label} is along the rope: it says no way round", "Give a direction across the rope.")
        )
        return 1.0

    def _directions(self, rho: Sequence[float]) -> list[float]:
        """Return the direction of each free part [rad]."""
        found = []
        for a in range(len(rho) - 1):
            D, delta = self.flat[a + 1] - self.flat[a], rho[a + 1] - rho[a]
            d = float(np.linalg.norm(D))
            found.append(atan2(D[1], D[0]) - float(np.arcsin(delta / d)) if d > abs(delta) else np.nan)
        return found

    def _length(self, signs: Sequence[float]) -> float:
        """Return the length of the path in the plane with these senses; NaN if there is none. Discs that it does not touch are left out."""
        rho = [s * part.radius if isinstance(part, _Disc) else 0.0 for s, part in zip(signs, self.run, strict=True)]
        kept = list(range(len(rho)))
        while True:
            total, theta, worst = 0.0, list[float](), (0.0, -1)
            for a, b in zip(kept, kept[1:], strict=False):
                D, delta = self.flat[b] - self.flat[a], rho[b] - rho[a]
                d2 = float(D @ D) - delta * delta
                if not d2 > 0.0:
                    return float("nan")
                total += d2**0.5
                theta.append(atan2(D[1], D[0]) - float(np.arcsin(delta / np.linalg.norm(D))))
            for n, k in enumerate(kept[1:-1]):
                part = self.run[k]
                assert isinstance(part, _Disc)
                psi = _told(np.sign(rho[k]) * (theta[n + 1] - theta[n]), LEAST_LIFTED) + 2.0 * pi * part.turns
                total += part.radius * psi
                worst = min(worst, (psi, k))
            if worst[1] < 0:
                return total
            kept.remove(worst[1])


def _told(x: float, least: float) -> float:
    """Return x + 2 pi k in [least, least + 2 pi)."""
    return x - 2.0 * pi * floor((x - least) / (2.0 * pi))
