r"""Build the frozen Model from bodies, joints and loads that have been checked: tables, and the names of their rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np

from haugmbd.bodies.body import Body
from haugmbd.compiled.array_types import Array, Ints
from haugmbd.compiled.collection import collection_paused
from haugmbd.constraints.base import Primitive
from haugmbd.constraints.joint import Joint
from haugmbd.control.diagram.network import Network
from haugmbd.forces.base import ForceElement
from haugmbd.model.compiling.compile import Compiled, compile_tables
from haugmbd.model.compiling.equations import Given
from haugmbd.model.compiling.numbering import StateLayout
from haugmbd.model.dependent_rows import Redundancy
from haugmbd.model.labels import JointEntries, JointEntry, RowLabel, RowLabels
from haugmbd.model.model import Model, frozen_y0
from haugmbd.redundancy.redundancy import unexamined
from haugmbd.system.equation_report import explain_model
from haugmbd.system.joint_equations import JointEquations


@collection_paused()
def build_model(
    name: str,
    bodies: Sequence[Body],
    joints: Sequence[Joint],
    loads: Sequence[ForceElement],
    gravity: Array,
    *,
    redundancy: Redundancy | None = None,
    warnings: tuple[str, ...] = (),
    solver: str | None = None,
    equations: JointEquations | None = None,
    network: Network | None = None,
    contacts: tuple[Any, ...] = (),
    layout: StateLayout | None = None,
    given: Sequence[tuple[Primitive, ...]] | None = None,
) -> Model:
    """Return the frozen Model of faultless parts, the ground first, without checks.

    redundancy: by default no row is dropped;  solver: by default the one that is predicted to be faster
    equations: those of the joints, if they have been read;  network: the blocks;  contacts: the rigid ones, which have no rows while open
    layout: of the state, where some parts of a system are off;  given: the rows of each joint, where not all of them are taken
    """
    joints, every = list(joints), loads if layout is None else layout.loads
    taken: Given = given or (equations.of_all(joints) if equations else [joint.primitives() for joint in joints])
    dropped = () if redundancy is None else redundancy.dropped
    compiled = compile_tables(bodies, joints, taken, loads, gravity, solver, network, layout, dropped)
    first, slots, sides = compiled.equations.first, compiled.edges.slot, compiled.edges.side.astype(np.int8)
    slots.flags.writeable = sides.flags.writeable = False
    labels, entries = _labels_and_entries(bodies, joints, taken, first)
    return Model(
        name=name,
        bodies=tuple(bodies),
        body_names=tuple(body.name for body in bodies),
        joints=entries,
        loads=compiled.loads,
        labels=labels,
        tables=compiled.tables,
        slot_of_row=slots,
        side_of_i=sides,
        drivers=compiled.drivers,
        force_callbacks=compiled.force_callbacks,
        jacobian_callbacks=compiled.jacobian_callbacks,
        angles=compiled.angles if layout is None else _used(compiled.angles, loads, labels),
        y0=_start(bodies, every, compiled),
        redundancy=redundancy or unexamined(labels),
        explainer=explain_model,
        warnings=warnings,
        solver=compiled.solver,
        solver_reason=compiled.solver_reason,
        contacts=contacts,
        layout=layout,
    )


def _labels_and_entries(
    bodies: Sequence[Body], joints: Sequence[Joint], taken: Given, first: Ints
) -> tuple[Sequence[RowLabel], Mapping[str, JointEntry]]:
    """Return the labels of all rows, and the joints by name; of many joints they are made when they are read."""
    entry = _EntryMaker(bodies)
    if any(rows is None for rows in taken):  # many joints
        return RowLabels(joints, first, taken), JointEntries(joints, first, entry)
    labels = tuple([RowLabel(joint.name, p) for joint, rows in zip(joints, taken, strict=True) for p in rows or ()])
    numbers, ends = np.arange(len(labels)), first.tolist()
    return labels, {
        joint.name: entry(joint, numbers[start:end]) for joint, (start, end) in zip(joints, pairwise(ends), strict=True)
    }


def _start(bodies: Sequence[Body], loads: Sequence[ForceElement], compiled: Compiled) -> Array:
    """Return the initial state: of bodies, integrated angles and internal states."""
    angles = [*(x for load in loads for x in load.angles0()), *(q.q0 for q, _ in compiled.angles)]
    return frozen_y0([part for b in bodies for part in (b.r, b.p, b.v, b.omega_bar)], [*angles, *compiled.states])


def _used(
    angles: tuple[tuple[Any, int], ...], loads: Sequence[ForceElement], labels: Sequence[RowLabel]
) -> tuple[tuple[Any, int], ...]:
    """Return the angles that loads and couplings of a model read: those of parts that are off have a place in the state, and no rate."""
    keys = {q.key for load in loads for q in load.coordinates()}
    keys |= {q.key for label in labels for q, *_ in getattr(label.primitive, "terms", ())}
    return tuple(angle for angle in angles if angle[0].key in keys)


class _EntryMaker:
    """Makes the entries of joints between these bodies, the ground first."""

    def __init__(self, bodies: Sequence[Body]) -> None:
        self._bodies = tuple(bodies)

    @cached_property
    def _number(self) -> dict[Body, int]:
        """The numbers of the bodies, for models of which an entry is asked for."""
        return {body: k for k, body in enumerate(self._bodies)}

    def bodies_of(self, joints: Sequence[Joint]) -> tuple[Ints, Ints]:
        """Return the numbers of bodies i and of bodies j of joints (k,)."""
        number = self._number
        pairs = [number[body] for joint in joints for body in (joint.frame_i.body, joint.frame_j.body)]
        i, j = np.array(pairs, dtype=np.int64).reshape(-1, 2).T
        return i, j

    def __call__(self, joint: Joint, rows: Ints) -> JointEntry:
        """Return the entry of a joint in the model."""
        i, j, number = joint.frame_i, joint.frame_j, self._number
        bodies = number[joint.i], number[joint.j]
        frames = (i.s_bar, i.A_bar, j.s_bar, j.A_bar)
        places = tuple((number[frame.body], frame.s_bar, frame.A_bar) for frame in joint.places())
        return JointEntry(joint.name, type(joint).__name__, rows, *bodies, *frames, joint.freedoms, joint, places)
