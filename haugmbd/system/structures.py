r"""The structures of a mechanism: which of its parts are on, and the model of each structure.

    on        a part acts: its rows hold, its force acts, its contact can touch
    off       as if it had never been added; what acts on a coordinate of a joint that is off is off with it
    held      a joint that has closed at the pose of a moment: its numbers of that moment stand in place of those of the modelled pose

All structures have the same bodies, and states of the same length: an angle or internal state of a part that is off keeps its value.
A structure is compiled when it is first needed, and kept. Its dependent rows are found at the pose at which it begins.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from haugmbd.bodies.body import Body
from haugmbd.compiled.array_types import Array
from haugmbd.constraints.joint import Joint
from haugmbd.contact.contact import Contact
from haugmbd.control.diagram.network import Network
from haugmbd.control.signals import LoadSignal
from haugmbd.deprecated import did_you_mean
from haugmbd.errors import ModelError, UsageError
from haugmbd.forces.base import ForceElement
from haugmbd.kkt.solver import BLOCK
from haugmbd.math.body_columns import EULER
from haugmbd.math.euler_parameters import rotation_matrix
from haugmbd.model.compiling.numbering import StateLayout
from haugmbd.model.immutable import once_per_model
from haugmbd.model.inspection.constraint_rows import evaluate
from haugmbd.model.model import Model
from haugmbd.model.state import State
from haugmbd.redundancy.redundancy import redundant_at
from haugmbd.system.build import build_model
from haugmbd.system.checks.friction_uniqueness import friction_faults
from haugmbd.system.checks.solvability import dependence_faults
from haugmbd.workspace.layout import WIDTH

MOST_HELD = 64
"""Structures with joints that closed at the pose of a moment that are kept: each of these moments is one of its own."""

Held = tuple[tuple[str, tuple[float, ...]], ...]


class Structure(NamedTuple):
    """Which parts of a mechanism are off, and the numbers of joints that closed at the pose of a moment.

    off: names of the parts that were switched off;  held: names and numbers, see `Joint.numbers_here`
    """

    off: frozenset[str] = frozenset()
    held: Held = ()

    def without(self, names: Iterable[str]) -> Structure:
        """Return the structure with these parts off; a joint that was held is free again."""
        names = frozenset(names)
        return Structure(self.off | names, tuple(one for one in self.held if one[0] not in names))

    def with_parts(self, names: Iterable[str], held: Mapping[str, tuple[float, ...]]) -> Structure:
        """Return the structure with these parts on;  held: numbers of those that close at the pose of the moment."""
        names = frozenset(names)
        kept = {name: numbers for name, numbers in self.held if name not in names} | dict(held)
        return Structure(self.off - names, tuple(sorted(kept.items())))

    def as_data(self) -> dict[str, Any]:
        """Return the structure as names and numbers."""
        return {"off": sorted(self.off), "held": [[name, list(numbers)] for name, numbers in self.held]}

    @classmethod
    def from_data(cls, data: Mapping[str, Any]) -> Structure:
        """Return the structure of `as_data`."""
        held = tuple((str(name), tuple(map(float, numbers))) for name, numbers in data["held"])
        return cls(frozenset(map(str, data["off"])), held)


@dataclass(frozen=True, eq=False)
class SwitchableParts:
    """All joints, loads and rigid contacts of a system, on or off, in the order in which they were added;  structure: of the model."""

    joints: tuple[Joint, ...]
    loads: tuple[ForceElement, ...]
    contacts: tuple[Contact, ...]
    structure: Structure

    @property
    def parts(self) -> tuple[Any, ...]:
        """Return all of them."""
        return (*self.joints, *self.loads, *self.contacts)

    @property
    def names(self) -> tuple[str, ...]:
        """Return the names of all of them."""
        return tuple(part.name for part in self.parts)

    def on(self, structure: Structure) -> tuple[list[Joint], list[ForceElement], list[Contact]]:
        """Return the parts that act: those that are not off, and of which every joint that they need acts."""
        acting: set[int] = set()
        waiting, held = [joint for joint in self.joints if joint.name not in structure.off], dict(structure.held)
        while waiting:
            ready = [joint for joint in waiting if all(id(needed) in acting for needed in joint.needs())]
            if not ready:
                break
            acting |= set(map(id, ready))
            waiting = [joint for joint in waiting if id(joint) not in acting]
        joints = [joint for joint in self.joints if id(joint) in acting]
        loads = [
            load for load in self.loads if load.name not in structure.off and all(id(needed) in acting for needed in load.needs())
        ]
        contacts = [contact for contact in self.contacts if contact.name not in structure.off]
        return [joint.held_at(held[joint.name]) if joint.name in held else joint for joint in joints], loads, contacts


class Structures:
    """The models of all structures of a mechanism, compiled as they are needed.

    initial: the model with which the mechanism begins
    """

    def __init__(self, initial: Model) -> None:
        self.initial = initial
        joints, loads = tuple(entry.part for entry in initial.joints.values()), initial.force_elements
        self.parts: SwitchableParts = initial.parts or SwitchableParts(joints, loads, initial.contacts, Structure())
        self.layout: StateLayout = initial.layout or StateLayout(self.parts.loads, tuple(q for q, _ in initial.angles))
        self._models: dict[Structure, Model] = {self.first: initial}

    @property
    def first(self) -> Structure:
        """Return the structure with which the mechanism begins."""
        found: Structure = self.parts.structure
        return found

    def of(self, state: State) -> Structure:
        """Return the structure of a state; that with which the mechanism begins, if the state says nothing."""
        found: Structure = self.first if state.structure is None else state.structure
        return found

    def of_model(self, model: Model) -> Structure:
        """Return the structure of a model of the mechanism."""
        found: Structure = Structure() if model.parts is None else model.parts.structure
        return found

    def named(self, name: str, who: str) -> Any:
        """Return the part of this name. Raise UsageError, with the nearest name, if there is none, or more than one."""
        same_name = [part for part in self.parts.parts if part.name == name]
        if len(same_name) == 1:
            return same_name[0]
        if same_name:
            raise UsageError(
                f"{who}: {len(same_name)} parts of {self.initial.name!r} are named {name!r}: give each a name of its own."
            )
        known = [part.name for part in self.parts.parts]
        hint = did_you_mean(name, known) or f"; it has {', '.join(map(repr, known)) or 'none'}"
        raise UsageError(f"{who}: {self.initial.name!r} has no joint, load or contact {name!r}{hint}.")

    def joint(self, name: str) -> Joint | None:
        """Return a joint by name; None if there is none."""
        return next((joint for joint in self.parts.joints if joint.name == name), None)

    def on(self, structure: Structure) -> tuple[list[Joint], list[ForceElement], list[Contact]]:
        """Return the parts that act in a structure."""
        return self.parts.on(structure)

    def is_on(self, name: str, structure: Structure) -> bool:
        """Return whether a part acts in a structure."""
        return any(part.name == name for some in self.on(structure) for part in some)

    def model(self, structure: Structure, state: State) -> Model:
        """Return the model of a structure; a new one has its dependent rows found at `state`.

        Raise ModelError, with the joints, if rows contradict each other there.
        """
        if structure not in self._models:
            self._forget_some()
            self._models[structure] = self._compiled(structure, state)
        return self._models[structure]

    def _forget_some(self) -> None:
        """Forget the oldest of the structures with held joints, beyond the number that is kept."""
        held = [structure for structure in self._models if structure.held]
        for structure in held[: max(0, len(held) - MOST_HELD + 1)]:
            del self._models[structure]

    def _compiled(self, structure: Structure, state: State) -> Model:
        """Return a new model of a structure."""
        initial = self.initial
        joints, loads, contacts = self.on(structure)
        self._need_signals(initial.network, loads)

        def built(solver: str | None) -> Model:
            found = build_model(
                initial.name,
                initial.bodies,
                joints,
                loads,
                np.array(initial.gravity),
                network=initial.network,
                contacts=tuple(contacts),
                layout=self.layout,
                solver=solver,
            )
            found = replace(found, parts=replace(self.parts, structure=structure))
            found = found.with_redundancy(initial.redundancy.rule, initial.redundancy.given)
            return redundant_at(found, state) if found.nc else found

        model = built(None)
        if model.redundancy.dropped:  # a recursion over a forest cannot leave out rows
            model = built(BLOCK)
        faults = [*dependence_faults(model, model.redundancy, f"the pose at t = {state.t:.9g} s")]
        faults += friction_faults(model, evaluate(model, state), model.redundancy, loads, model.length)
        if faults:
            raise ModelError(faults)
        return model

    def _need_signals(self, network: Network | None, loads: Sequence[ForceElement]) -> None:
        """Raise UsageError if a block reads a force element that is off."""
        on = set(map(id, loads))
        for name, signal in {} if network is None else network.signals.items():
            if isinstance(signal, LoadSignal) and id(signal.load) not in on:
                raise UsageError(
                    f"a block reads {name!r}, and load {signal.load.name!r} is off: a force element that is off has no signals. Let the "
                    "block read a coordinate of the joint, or leave the element on."
                )

    def begun(self, before: Model, after: Model, state: State) -> State:
        """Return the state with which a structure begins, after another one: angles and internal states of parts that come on.

        Angles are those of the pose, with the turns that are nearest to the value they had; internal states are as at the start.
        """
        angles, first = np.array(state.angles), len(state.angles)
        states = dict(zip(after.bodies, np.hstack([state.r, state.p, state.v, state.omega_bar]), strict=True))
        was = {id(entry.load) for entry in before.loads}
        used = {q.key for q, _ in before.angles}
        for q, column in after.angles:
            if q.key not in used:
                angles[column] = q.angle_near(states, float(angles[column]))
        tail0 = after.y0[WIDTH * (after.nb + 1) :]
        for entry in after.loads:
            if id(entry.load) in was:
                continue
            of_load = slice(entry.angle, entry.angle + entry.load.angles)
            angles[of_load] = tail0[of_load]
            if entry.load.turn_markers():
                angles[entry.angle] = _angle_of(entry.load.turn_markers(), states, float(state.angles[entry.angle]))
            first_state = first - after.n_states + entry.state
            inner = slice(first_state, first_state + len(entry.load.states()))
            angles[inner] = tail0[inner]
        return state.replace(angles=angles)


def _angle_of(markers: Sequence[tuple[Body, Array]], states: Mapping[Body, Array], near: float) -> float:
    """Return the angle of a rotational spring with the turns that are nearest to `near` [rad]."""
    e, n, v = (rotation_matrix(states[body][EULER : EULER + 4]) @ x for body, x in markers)
    q = float(np.arctan2(n @ v, e @ v))
    return q + 2.0 * np.pi * round((near - q) / (2.0 * np.pi))


@once_per_model
def structures_of(model: Model) -> Structures:
    """Return the structures of a mechanism that begins with this model."""
    return Structures(model)
