r"""A system with its contacts: one model for every set of closed contacts.

    open contact      no row; its gap is an event function
    closed contact    one more row, the DP2 of `Contact.primitive`: gap = 0, with the multiplier lam = -normal force

Models are compiled when they are first needed, and kept.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import cached_property

import numpy as np

from haugmbd.compiled.array_types import Array, Ints
from haugmbd.constraints.joint import Joint
from haugmbd.contact.contact import Contact
from haugmbd.contact.gap import placed_contacts, put_gaps, table_of
from haugmbd.errors import Fault, ModelError
from haugmbd.graph import Groups
from haugmbd.model.inspection.constraint_rows import Rows, evaluate
from haugmbd.model.inspection.length import put_length
from haugmbd.model.model import Model
from haugmbd.model.state import State
from haugmbd.redundancy.rank import put_row_scale
from haugmbd.redundancy.redundancy import put_mask
from haugmbd.system.build import build_model
from haugmbd.system.system import System

DEEP = 1e-5
"""Relative to the size: an overlap larger than this at the start is a fault of the model.  Coordinates with six digits are within it."""


class ContactModes:
    """A system, or its compiled model, and its contacts, by name; `free` is the model with all contacts open.

    has_friction: whether joints have friction, which changes with the normal forces of contacts.

    Raises ModelError with all faults of system and contacts.
    """

    def __init__(self, system: System | Model, contacts: Sequence[Contact]) -> None:
        self.free = free = system.compile() if isinstance(system, System) else system
        self._joints_of_free = [entry.part for entry in free.joints.values()]
        faults = [*_name_faults(self.free, contacts), *(fault for contact in contacts for fault in contact.faults())]
        if faults:
            raise ModelError(faults)
        self.placed = {contact.name: contact.placed(self.free) for contact in contacts}
        self.all_placed = placed_contacts(tuple(self.placed.values()))
        self.table = table_of(tuple(self.placed.values()))
        self._lengths: list[float] = []
        self._sizes = np.zeros(0)
        self._part = _mechanisms(self.free, self.all_placed.bodies)
        self._moving_bodies = np.asarray(self.all_placed.bodies.max(axis=1))
        self._largest = np.zeros(self.free.nb + 1)
        np.maximum.at(self._largest, self._part[self._moving], self.all_placed.largest)
        self.contacts = {contact.name: contact for contact in contacts}
        self.has_friction = any(entry.load.is_friction for entry in free.loads)
        self._models: dict[frozenset[str], Model] = {frozenset(): self.free}

    @cached_property
    def _joints(self) -> dict[str, Joint]:
        """The joints that hold closed contacts, by name; a motion in which none closes does not need them."""
        return {contact.name: contact.closed_joint() for contact in self.contacts.values()}

    @cached_property
    def _rows(self) -> Model:
        """The rows of all contacts as a model."""
        return build_model("contacts", self.free.bodies, list(self._joints.values()), (), np.zeros(3))

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The names of the contacts."""
        return tuple(self.contacts)

    def model(self, closed: Iterable[str], state: State) -> Model:
        """Return the model with these contacts closed.  The pivot scales of a new model come from the rows at `state`."""
        key = frozenset(closed)
        if key not in self._models:
            joints = [*self._joints_of_free, *(joint for name, joint in self._joints.items() if name in key)]
            self._models[key] = self._closed(joints, state)
        return self._models[key]

    def _closed(self, joints: list[Joint], state: State) -> Model:
        """Return a model with the joints of the system and more.  The rows that the free model drops come first, and stay dropped."""
        free, more = self.free, len(joints) - len(self._joints_of_free)
        loads, gravity = free.force_elements, np.array(free.gravity)
        model = build_model(free.name, free.bodies, joints, loads, gravity, network=free.network, layout=free.layout)
        known = free.redundancy
        gaps = np.append(known.gaps, np.zeros(more))
        model = model.with_dropped(
            replace(known, n_rows=known.n_rows + more, rank=known.rank + more, gaps=gaps, labels=model.labels, _report=None)
        )
        rows = evaluate(model, state)
        put_row_scale(model, rows)
        put_mask(model)
        put_length(model, rows)
        return model

    def rows(self, state: State) -> Rows:
        """Return the rows of all contacts as if they were closed, in the order of `names`: Phi is the gap, Phi_q u its rate."""
        at = {coordinate.key: k for coordinate, k in self.free.angles}
        angles = np.array([state.angles[at[coordinate.key]] for coordinate, _ in self._rows.angles])
        return evaluate(self._rows, state.replace(angles=angles))

    def gaps(self, state: State) -> Array:
        """Return all gaps [m], (k,)."""
        if self.table is None:
            return np.asarray(self.all_placed.gaps(state.y[None])[0])
        gaps = np.empty(len(self.contacts))
        put_gaps(self.table, state.flat, gaps)
        return gaps

    def gap_rates(self, state: State) -> Array:
        """Return the rates of all gaps [m/s], (k,)."""
        return np.asarray(self.all_placed.gap_rates(state.y[None])[0])

    @property
    def _moving(self) -> Ints:
        """One body of each contact, not the ground, (k,)."""
        return self._moving_bodies

    @property
    def size(self) -> float:
        """The largest coordinate that has entered a gap so far [m]; 1 if all are zero.  It scales the rounding of gaps."""
        return float(self._largest.max()) or 1.0

    @property
    def sizes(self) -> Array:
        """The size of each contact [m or rad], (k,), that scales the rounding of its gap: a stop of an angle has 1 rad, or its limit.

        It is that of its own mechanism, so that another one in the same system changes nothing.
        """
        lengths = self._largest[self._part[self._moving]].tolist()
        if lengths != self._lengths or not len(self._sizes):
            sizes = [self.contacts[name].size(length or 1.0) for name, length in zip(self.names, lengths, strict=True)]
            self._lengths, self._sizes = lengths, np.array(sizes)
        return self._sizes

    def observe(self, r: Array) -> None:
        """Take positions (..., nb + 1, 3) of the motion into account: where a ball strikes, its coordinates may all be zero."""
        np.maximum.at(self._largest, self._part, np.abs(r).reshape(-1, *r.shape[-2:]).max(axis=(0, 2), initial=0.0))

    def need_apart(self, state: State) -> None:
        """Raise ModelError if bodies overlap."""
        self.observe(state.r)
        faults = [
            self.contacts[name].overlap(gap, allowed)
            for name, gap, allowed in zip(self.names, self.gaps(state), DEEP * self.sizes, strict=True)
            if gap < -allowed
        ]
        if faults:
            raise ModelError(faults)


def _mechanisms(model: Model, contacts: Ints) -> Ints:
    """Return the mechanism of each body, (nb + 1,): joints, loads and contacts (k, 2) connect bodies, the ground does not."""
    found = Groups(range(model.nb + 1))
    of_joints = ([joint.i, joint.j, *(place[0] for place in joint.places)] for joint in model.joints.values())
    for bodies in (*of_joints, *(entry.bodies for entry in model.loads), *contacts.tolist()):
        moving = [body for body in bodies if body > 0]
        for body in moving[1:]:
            found.unite(moving[0], body)
    return np.array([found.find(body) for body in range(model.nb + 1)])


def _name_faults(model: Model, contacts: Sequence[Contact]) -> list[Fault]:
    """Return a fault for each name that is empty or not unique."""
    names = [contact.name for contact in contacts]
    found = []
    for k, name in enumerate(names):
        where = f"contact {name!r}"
        if not (isinstance(name, str) and name.strip()):
            found.append(Fault(where, "the name is empty or not a string", 'Give each contact a name, such as "floor".'))
        elif name in model.joints:
            found.append(Fault(where, "a joint has this name", "A closed contact becomes a joint: give it a name of its own."))
        elif name in names[:k]:
            found.append(Fault(where, "another contact has this name", "Give each contact a name of its own."))
    return found
