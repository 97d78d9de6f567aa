r"""JointStop: a limit of a joint's coordinate as a contact, made of an impulsive JointLimit.

    gap = upper - q    or    q - lower           gap_rate = -q'  or  q'            an angle goes through any number of turns
    a normal impulse f >= 0 acts along -q at the upper limit, along +q at the lower one

A closed stop is one constraint row, a coupling of this coordinate alone: gap = 0.
Source: Haug (2021), kinematic couplings; Moreau (1988) for the impact law.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from haugmbd.bodies.validation import for_kernels
from haugmbd.compiled.array_types import Array
from haugmbd.constraints.base import Primitive
from haugmbd.constraints.coordinate import Coordinate
from haugmbd.constraints.equations.coupling import CouplingRow
from haugmbd.constraints.joint import Joint
from haugmbd.contact.contact import Contact
from haugmbd.contact.gap import ANGLE, DISPLACEMENT, GapTable, put_gap_over_states
from haugmbd.contact.two_body_limits import rigid_limits_of
from haugmbd.errors import Fault, ModelError
from haugmbd.forces.base import ForceElement
from haugmbd.forces.joint_loads.joint_coordinate import modelled_value
from haugmbd.forces.joint_loads.joint_limit import JointLimit
from haugmbd.math.body_columns import VELOCITY
from haugmbd.model.immutable import once_per_model
from haugmbd.model.inspection.identity import foreign_body_faults, number_of
from haugmbd.model.model import Model
from haugmbd.model.state import State
from haugmbd.workspace.layout import WIDTH


class PlacedStop(NamedTuple):
    """A stop in the numbering of a model: bodies a and b of the coordinate, its column in y (-1 for a displacement), limit, side.

    side: 1 of an upper limit, -1 of a lower one
    """

    name: str
    i: int
    j: int
    coordinate: Coordinate
    column: int
    limit: float
    side: float
    restitution: float

    def gap_and_rate(self, y: Array) -> tuple[Array, Array]:
        """Return gap and rate (nt,) at the states y (nt, ny)."""
        places, numbers = self.gap_row()
        table = GapTable(np.array([places], dtype=np.int64), np.array([numbers]))
        gaps, rates = np.empty(len(y)), np.empty(len(y))
        put_gap_over_states(table, for_kernels(y), gaps, rates)
        return gaps, rates

    def gap_row(self) -> tuple[list[int], list[float]]:
        """Return places and numbers of the stop in a `GapTable`."""
        number = dict(zip(self.coordinate.bodies, (self.i, self.j), strict=True))
        markers = self.coordinate.markers()
        vectors = np.concatenate([x for _, x in markers]).tolist()
        kind, bodies = (ANGLE if self.column >= 0 else DISPLACEMENT), [number[body] for body, _ in markers]
        return [self.i, self.j, kind, max(self.column, 0), *bodies], [
            *vectors,
            modelled_value(self.coordinate),
            self.limit,
            self.side,
        ]

    def gap_at(self, state: State) -> float:
        """Return the gap at one state."""
        return float(self.gap_and_rate(state.y[None])[0][0])

    def row(self, y: Array) -> Array:
        """Return C (2, 6) at one state y (ny,): the gap rates of unit velocities."""
        states = np.tile(y, (12, 1))
        for k in (self.i, self.j):
            states[:, WIDTH * k + VELOCITY : WIDTH * (k + 1)] = 0.0
        for side, k in enumerate((self.i, self.j)):
            states[6 * side : 6 * side + 6, WIDTH * k + VELOCITY : WIDTH * (k + 1)] = np.eye(6)
        return self.gap_and_rate(states)[1].reshape(2, 6)


class ClosedStop(Joint):
    """The row of a closed stop: the coordinate is at its limit."""

    def __init__(self, name: str, coordinate: Coordinate, row: CouplingRow) -> None:
        super().__init__(name, coordinate.joint.frame_i, coordinate.joint.frame_j)
        self._row = row

    def primitives(self) -> tuple[Primitive, ...]:
        return (self._row,)


class JointStop(Contact):
    """One side of an impulsive JointLimit; `name` is that of the limit with "lower" or "upper"."""

    coordinate: Coordinate
    limit: float
    side: float

    @property
    def is_plain(self) -> bool:
        """True: the stop is a row of the model."""
        return True

    def __init__(self, limit: JointLimit, upper: bool) -> None:
        (q,) = limit.coordinates()
        self.__dict__.update(
            name=f"{limit.name} {'upper' if upper else 'lower'}",
            restitution=limit.restitution,
            radius=0.0,
            frame_i=q.joint.frame_i,
            frame_j=q.joint.frame_j,
            coordinate=q,
            limit=limit.upper if upper else limit.lower,
            side=1.0 if upper else -1.0,
            _faults=(),
        )

    def primitive(self) -> CouplingRow:  # type: ignore[override]
        """Return the constraint row of the closed stop, whose Phi is the gap."""
        return CouplingRow(((self.coordinate, -self.side),), -self.side * self.limit)

    def closed_joint(self) -> Joint:
        return ClosedStop(self.name, self.coordinate, self.primitive())

    def placed(self, model: Model) -> PlacedStop:  # type: ignore[override]
        """Return the stop in the numbering of `model`. Raise ModelError if a body or the integrated angle is not in it."""
        a, b = self.coordinate.bodies
        columns = {q.key: WIDTH * (model.nb + 1) + k for q, k in model.angles}
        faults = list(foreign_body_faults(model, f"contact {self.name!r}", a, b))
        if self.coordinate.turns and self.coordinate.key not in columns:
            faults.append(Fault(f"contact {self.name!r}", "its JointLimit is not in the model", "Add it: system.add(...)."))
        if faults:
            raise ModelError(faults)
        column = columns[self.coordinate.key] if self.coordinate.turns else -1
        i, j = number_of(model, a), number_of(model, b)
        return PlacedStop(self.name, i, j, self.coordinate, column, self.limit, self.side, self.restitution)

    def size(self, length: float) -> float:
        return max(1.0 if self.coordinate.turns else length, abs(self.limit))

    def overlap(self, gap: float, allowed: float) -> Fault:
        unit = "rad" if self.coordinate.turns else "m"
        what = f"{self.coordinate.label} is {-gap:.6g} {unit} beyond its limit {self.limit:.6g} {unit} at the start (allowed {allowed:.2g})"
        return Fault(f"contact {self.name!r}", what, "Start within the limits, or move the limit.")


def stops_of(loads: Iterable[ForceElement]) -> tuple[Contact, ...]:
    """Return the stops of the rigid limits among force elements, and of the rigid ropes that may be slack."""
    loads = list(loads)
    return (*limit_stops_of(loads), *rigid_limits_of(loads))


@once_per_model
def rigid_contacts(model: Model) -> tuple[Contact, ...]:
    """Return the rigid contacts of a model: those that were added, and the stops of JointLimits with a restitution."""
    return (*model.contacts, *stops_of(model.force_elements))


def limit_stops_of(loads: Iterable[ForceElement]) -> tuple[JointStop, ...]:
    """Return the stops of the impulsive limits among force elements."""
    limits = [load for load in loads if isinstance(load, JointLimit) and load.impulsive]
    return tuple(
        JointStop(limit, upper) for limit in limits for upper in (False, True) if np.isfinite(limit.upper if upper else limit.lower)
    )
