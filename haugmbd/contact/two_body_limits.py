r"""Limits between bodies as contacts: a rope that becomes taut (`Rope`, unilateral=True), and rigid limits of swing and twist (`ConeLimit`,
`TwistLimit`, restitution=).

    gap = L0 - L        gap_rate = -L'        a normal impulse f >= 0 is the pull of the rope

A taut rope is one constraint row, L0 - L = 0, whose multiplier is the tension; a closed cone is one DP1, whose multiplier is the torque.
A closed limit of a twist is the row of a constant-velocity joint, whose moment is its multiplier times half the sum of the two axes.
Source: Moreau (1988) for the impact law; the length is derived in `constraints.equations.rope`.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from haugmbd.bodies.frame import Frame
from haugmbd.compiled.array_types import Array
from haugmbd.constraints.base import Primitive
from haugmbd.constraints.equations.constant_velocity import ConstantVelocityRow
from haugmbd.constraints.equations.dp1 import DP1
from haugmbd.constraints.equations.rope import RopeRow
from haugmbd.constraints.joint import Joint
from haugmbd.contact.contact import Contact
from haugmbd.errors import Fault, ModelError
from haugmbd.forces.base import ForceElement, turned
from haugmbd.forces.cone_limit import ConeLimit
from haugmbd.forces.rope import SlackRope
from haugmbd.forces.twist_limit import TwistLimit
from haugmbd.math.body_columns import OMEGA_BAR
from haugmbd.model.inspection.identity import foreign_body_faults, number_of
from haugmbd.model.model import Model
from haugmbd.model.state import State
from haugmbd.workspace.layout import WIDTH


class PlacedRope(NamedTuple):
    """A rope in the numbering of a model: its bodies, two or more, its element and its length."""

    name: str
    bodies: tuple[int, ...]
    rope: SlackRope
    length: float
    restitution: float

    @property
    def i(self) -> int:
        """Return the first body."""
        return self.bodies[0]

    @property
    def j(self) -> int:
        """Return the second body."""
        return self.bodies[1]

    def _states(self, y: Array) -> Array:
        """Return the states of all bodies, (n, nt, 13)."""
        return np.stack([y[:, WIDTH * k : WIDTH * (k + 1)] for k in self.bodies])

    def gap_and_rate(self, y: Array) -> tuple[Array, Array]:
        """Return gap and rate (nt,) at the states y (nt, ny)."""
        length, rate = self.rope.length_and_rate(self._states(y))
        return self.length - length, -rate

    def gap_at(self, state: State) -> float:
        """Return the gap at one state."""
        return float(self.gap_and_rate(state.y[None])[0][0])

    def row(self, y: Array) -> Array:
        """Return C (n, 6) at one state y (ny,): the gap rates of unit velocities."""
        assert self.rope.row is not None
        _, gradient = self.rope.row.with_gradient(self.rope.by_body(self._states(y[None])))
        C: Array = -gradient[0]
        return C


class PlacedCone(NamedTuple):
    """A cone in the numbering of a model: bodies i and j, its element."""

    name: str
    i: int
    j: int
    limit: ConeLimit
    restitution: float

    def _directions(self, y: Array) -> tuple[Array, Array, Array, Array]:
        """Return a_i and a_j / sin angle, global, and the angular velocities (nt, 3) at the states y (nt, ny)."""
        row = self.limit.row()
        i, j = (y[:, WIDTH * k : WIDTH * (k + 1)] for k in (self.i, self.j))
        w_i, w_j = (turned(each, each[:, OMEGA_BAR:WIDTH]) for each in (i, j))
        return turned(i, row.a_bar_i), turned(j, row.a_bar_j), w_i, w_j

    def gap_and_rate(self, y: Array) -> tuple[Array, Array]:
        """Return gap and rate (nt,) at the states y (nt, ny)."""
        a, b, w_i, w_j = self._directions(y)
        cotangent = 1.0 / np.tan(self.limit.angle)
        return np.sum(a * b, axis=1) - cotangent, np.sum(np.cross(a, b) * (w_i - w_j), axis=1)

    def gap_at(self, state: State) -> float:
        """Return the gap at one state."""
        return float(self.gap_and_rate(state.y[None])[0][0])

    def row(self, y: Array) -> Array:
        """Return C (2, 6) at one state y (ny,): the gap rates of unit velocities."""
        return rates_of_turns(self, y)


class PlacedTwist(NamedTuple):
    """A limit of a twist in the numbering of a model: bodies i and j, its element, the limit and its side."""

    name: str
    i: int
    j: int
    of: TwistLimit
    limit: float
    side: float
    restitution: float

    def gap_and_rate(self, y: Array) -> tuple[Array, Array]:
        """Return gap and rate (nt,) at the states y (nt, ny)."""
        bodies = np.stack([y[:, WIDTH * k : WIDTH * (k + 1)] for k in (self.i, self.j)])
        return self.of.gap_and_rate(bodies, self.limit, self.side)

    def gap_at(self, state: State) -> float:
        """Return the gap at one state."""
        return float(self.gap_and_rate(state.y[None])[0][0])

    def row(self, y: Array) -> Array:
        """Return C (2, 6) at one state y (ny,): the gap rates of unit velocities."""
        return rates_of_turns(self, y)


def rates_of_turns(placed: PlacedCone | PlacedTwist, y: Array) -> Array:
    """Return C (2, 6) at one state y (ny,) of a limit of turns: the gap rates of unit angular velocities."""
    states, C = np.tile(y, (12, 1)), np.zeros((2, 6))
    for side, k in enumerate((placed.i, placed.j)):
        states[:, WIDTH * k + OMEGA_BAR : WIDTH * (k + 1)] = 0.0
        states[6 * side + 3 : 6 * side + 6, WIDTH * k + OMEGA_BAR : WIDTH * (k + 1)] = np.eye(3)
    C[:] = placed.gap_and_rate(states)[1].reshape(2, 6)
    return C


class ClosedLimit(Joint):
    """The row of a closed limit, between the frames of the joint or rope."""

    def __init__(self, name: str, of: Joint, row: Primitive) -> None:
        super().__init__(name, of.frame_i, of.frame_j)
        self._row, self._of = row, of

    def primitives(self) -> tuple[Primitive, ...]:
        return (self._row,)

    def places(self) -> tuple[Frame, ...]:
        return self._of.places()


class RopeStop(Contact):
    """A rigid rope that may be slack; `name` is that of the rope."""

    rope: SlackRope

    def __init__(self, rope: SlackRope) -> None:
        i, j = rope.rope.frame_i, rope.rope.frame_j
        super_values = {"name": rope.name, "restitution": rope.restitution, "radius": 0.0, "frame_i": i, "frame_j": j}
        self.__dict__.update(super_values, rope=rope, _faults=())

    def primitive(self) -> RopeRow:  # type: ignore[override]
        """Return the constraint row of the taut rope, whose Phi is the gap."""
        row = self.rope.row
        assert row is not None
        groups = [group._replace(weight=-group.weight) for group in row.groups]
        return RopeRow(groups, (), -float(self.rope.free_length(np.zeros(1))[0]))

    def closed_joint(self) -> Joint:
        return ClosedLimit(self.name, self.rope.rope, self.primitive())

    def placed(self, model: Model) -> PlacedRope:  # type: ignore[override]
        """Return the rope in the numbering of `model`. Raise ModelError if a body is not in it."""
        bodies = self.rope.bodies()
        faults: list[Fault] = list(foreign_body_faults(model, f"contact {self.name!r}", *bodies))
        if faults:
            raise ModelError(faults)
        numbers = tuple(number_of(model, body) for body in bodies)
        return PlacedRope(self.name, numbers, self.rope, float(self.rope.free_length(np.zeros(1))[0]), self.restitution)

    def size(self, length: float) -> float:
        return max(length, self.rope.modelled_length)

    def overlap(self, gap: float, allowed: float) -> Fault:
        what = f"its path is {-gap:.6g} m longer than it at the start (allowed {allowed:.2g} m)"
        return Fault(f"contact {self.name!r}", what, "Start where the rope fits, or give a longer one.")


class ConeStop(Contact):
    """A rigid limit of the swing between two bodies; `name` is that of the limit."""

    limit: ConeLimit

    def __init__(self, limit: ConeLimit) -> None:
        i, j = limit.joint.frame_i, limit.joint.frame_j
        values = {"name": limit.name, "restitution": limit.restitution or 0.0, "radius": 0.0, "frame_i": i, "frame_j": j}
        self.__dict__.update(values, limit=limit, _faults=())

    def primitive(self) -> DP1:  # type: ignore[override]
        """Return the constraint row of the closed limit, whose Phi is the gap."""
        return self.limit.row()

    def closed_joint(self) -> Joint:
        return ClosedLimit(self.name, self.limit.joint, self.primitive())

    def placed(self, model: Model) -> PlacedCone:  # type: ignore[override]
        """Return the limit in the numbering of `model`. Raise ModelError if a body is not in it."""
        bodies = self.limit.bodies()
        faults: list[Fault] = list(foreign_body_faults(model, f"contact {self.name!r}", *bodies))
        if faults:
            raise ModelError(faults)
        i, j = (number_of(model, body) for body in bodies)
        return PlacedCone(self.name, i, j, self.limit, self.limit.restitution or 0.0)

    def size(self, length: float) -> float:
        return 1.0

    def overlap(self, gap: float, allowed: float) -> Fault:
        what = f"the angle is {-gap:.6g} rad beyond its limit {self.limit.angle:.6g} rad at the start (allowed {allowed:.2g})"
        return Fault(f"contact {self.name!r}", what, "Start within the cone, or give a larger angle.")


class TwistStop(Contact):
    """One side of a rigid limit of the twist between two bodies; `name` is that of the limit with "lower" or "upper"."""

    of: TwistLimit
    limit: float
    side: float

    def __init__(self, of: TwistLimit, upper: bool) -> None:
        i, j = of.joint.frame_i, of.joint.frame_j
        name = f"{of.name} {'upper' if upper else 'lower'}"
        values = {"name": name, "restitution": of.restitution or 0.0, "radius": 0.0, "frame_i": i, "frame_j": j}
        sides = {"limit": of.upper if upper else of.lower, "side": 1.0 if upper else -1.0}
        self.__dict__.update(values, **sides, of=of, _faults=())

    def primitive(self) -> ConstantVelocityRow:  # type: ignore[override]
        """Return the constraint row of the closed limit."""
        return self.of.row(self.limit, self.side)

    def closed_joint(self) -> Joint:
        return ClosedLimit(self.name, self.of.joint, self.primitive())

    def placed(self, model: Model) -> PlacedTwist:  # type: ignore[override]
        """Return the limit in the numbering of `model`. Raise ModelError if a body is not in it."""
        bodies = self.of.bodies()
        faults: list[Fault] = list(foreign_body_faults(model, f"contact {self.name!r}", *bodies))
        if faults:
            raise ModelError(faults)
        i, j = (number_of(model, body) for body in bodies)
        return PlacedTwist(self.name, i, j, self.of, self.limit, self.side, self.of.restitution or 0.0)

    def size(self, length: float) -> float:
        return 1.0

    def overlap(self, gap: float, allowed: float) -> Fault:
        what = f"the twist is {-gap:.6g} rad beyond its limit {self.limit:.6g} rad at the start (allowed {allowed:.2g})"
        return Fault(f"contact {self.name!r}", what, "Start within the limits, or move the limit.")


def rigid_limits_of(loads: Iterable[ForceElement]) -> tuple[Contact, ...]:
    """Return the rigid ropes that may be slack among force elements, and the sides of rigid limits of swing and twist."""
    loads = list(loads)
    ropes = [RopeStop(load) for load in loads if isinstance(load, SlackRope) and load.impulsive]
    cones = [ConeStop(load) for load in loads if isinstance(load, ConeLimit) and load.impulsive]
    twists = [load for load in loads if isinstance(load, TwistLimit) and load.impulsive]
    return (*ropes, *cones, *(TwistStop(load, upper) for load in twists for upper in (False, True)))


TWO_BODY_LIMITS = (RopeStop, ConeStop, TwistStop)
"""Contacts that are made of a load again where a result is read, and are not drawn as planes."""
