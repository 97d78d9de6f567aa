r"""RopeStop: a rigid rope that becomes taut as a contact, made of a `Rope` with unilateral=True.

    gap = L0 - L        gap_rate = -L'        a normal impulse f >= 0 is the pull of the rope

A taut rope is one constraint row, L0 - L = 0, whose multiplier is the tension.
Source: Moreau (1988) for the impact law; the length is derived in `constraints.equations.rope`.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from haugmbd.compiled.array_types import Array
from haugmbd.constraints.base import Primitive
from haugmbd.constraints.equations.rope import RopeRow
from haugmbd.constraints.joint import Joint
from haugmbd.contact.contact import Contact
from haugmbd.errors import Fault, ModelError
from haugmbd.forces.rope import SlackRope
from haugmbd.model.inspection.identity import foreign_body_faults, number_of
from haugmbd.model.model import Model
from haugmbd.model.state import State
from haugmbd.workspace.layout import WIDTH


class PlacedRope(NamedTuple):
    """A rope in the numbering of a model: bodies i and j, its element and its length."""

    name: str
    i: int
    j: int
    rope: SlackRope
    length: float
    restitution: float

    def _states(self, y: Array) -> Array:
        """Return the states of both bodies, (2, nt, 13)."""
        return np.stack([y[:, WIDTH * k : WIDTH * (k + 1)] for k in (self.i, self.j)])

    def gap_and_rate(self, y: Array) -> tuple[Array, Array]:
        """Return gap and rate (nt,) at the states y (nt, ny)."""
        length, rate = self.rope.length_and_rate(self._states(y))
        return self.length - length, -rate

    def gap_at(self, state: State) -> float:
        """Return the gap at one state."""
        return float(self.gap_and_rate(state.y[None])[0][0])

    def row(self, y: Array) -> Array:
        """Return C (2, 6) at one state y (ny,): the gap rates of unit velocities."""
        assert self.rope.row is not None
        _, gradient = self.rope.row.with_gradient(self.rope.by_body(self._states(y[None])))
        C: Array = -gradient[0]
        return C


class TautRope(Joint):
    """The row of a taut rope."""

    def __init__(self, rope: SlackRope, row: RopeRow) -> None:
        super().__init__(rope.name, rope.rope.frame_i, rope.rope.frame_j)
        self._row = row

    def primitives(self) -> tuple[Primitive, ...]:
        return (self._row,)


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
        return TautRope(self.rope, self.primitive())

    def placed(self, model: Model) -> PlacedRope:  # type: ignore[override]
        """Return the rope in the numbering of `model`. Raise ModelError if a body is not in it."""
        bodies = self.rope.bodies()
        faults: list[Fault] = list(foreign_body_faults(model, f"contact {self.name!r}", *bodies))
        if faults:
            raise ModelError(faults)
        i, j = (number_of(model, body) for body in bodies)
        return PlacedRope(self.name, i, j, self.rope, float(self.rope.free_length(np.zeros(1))[0]), self.restitution)

    def size(self, length: float) -> float:
        return max(length, self.rope.modelled_length)

    def overlap(self, gap: float, allowed: float) -> Fault:
        what = f"its path is {-gap:.6g} m longer than it at the start (allowed {allowed:.2g} m)"
        return Fault(f"contact {self.name!r}", what, "Start where the rope fits, or give a longer one.")
