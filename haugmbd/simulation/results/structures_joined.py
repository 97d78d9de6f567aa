"""Runs of two mechanisms as those of two structures of one: a part that one of them lacks is off there.

    held     a bar on a pin          parts: pin
    free     the same bar            parts: none       =  held with the pin off

The bodies are the same, and every part that both have is the same part. States are numbered as those of the mechanism that has all
parts: angles and internal states of a part that is off keep the value that they have where it goes off, or comes on.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, TypeVar

import numpy as np

from haugmbd.compiled.array_types import Array
from haugmbd.diagnostics.energy import kinetic_and_potential
from haugmbd.errors import UsageError
from haugmbd.model.model import Model
from haugmbd.model.state import State
from haugmbd.simulation.results.io.laws import difference_of_laws, law_digests
from haugmbd.simulation.results.io.schema import difference_of_models, numbers_of
from haugmbd.simulation.results.records import Names
from haugmbd.simulation.results.switch_record import SwitchRecord
from haugmbd.system.structures import Structure, Structures, structures_of
from haugmbd.workspace.layout import WIDTH

R = TypeVar("R", bound=Any)

WORDS = ("in one run", "in the other")


def as_structures(first: R, second: R) -> tuple[R, R, SwitchRecord] | None:
    """Return both results as those of structures of one mechanism, and what changes between them; None if they are of no such pair.

    Raise UsageError for parts of one name that are not the same.
    """
    if not (first.has_model and second.has_model and len(first) and len(second)):
        return None
    models = _last(first).model, second.model
    if (
        first.names.bodies != second.names.bodies
        or second._segments
        or any(model.network is not None or model.contacts for model in models)
    ):
        return None
    names = tuple(frozenset(part.name for part in _parts(model)) for model in models)
    whole = structures_of(first.model)
    every = frozenset(whole.parts.names)
    if names[1] < every or (first.model.parts is not None and names[1] == every):
        was, now = whole.of_model(_last(first).model), Structure(every - names[1])
        before, after = first, _numbered(second, whole, now, second.state(0), _last(first).state().angles)
    elif names[0] < names[1] and not first._segments:
        whole = structures_of(second.model)
        was, now = Structure(names[1] - names[0]), whole.first
        before, after = _numbered(first, whole, was, first.state(), second.state(0).angles), second
    else:
        return None
    locked, released = ([name for name in whole.parts.names if name in off] for off in (was.off - now.off, now.off - was.off))
    return before, after, _record(before, after, locked, released)


def _parts(model: Model) -> list[Any]:
    """Return the parts of a model that act."""
    return [*(entry.part for entry in model.joints.values()), *model.force_elements]


def _last(result: Any) -> Any:
    """Return the last piece of a result that has states."""
    return next(piece for piece in reversed(result._complete) if len(piece)) if result._segments else result


def _numbered(result: R, whole: Structures, structure: Structure, state: State, angles: Array) -> R:
    """Return a result in the numbers of a structure.

    state: of the result, at the instant that both runs have;  angles: and internal states of the other run there
    """
    own, model = result.model, whole.model(structure, state.replace(angles=angles))
    difference = difference_of_models(
        (Names.of(own), numbers_of(own), 0), (Names.of(model), numbers_of(model), 0), WORDS
    ) or difference_of_laws(law_digests(own), law_digests(model))
    if difference:
        raise UsageError(f"the runs are of mechanisms whose parts of one name are not the same: {difference}.")
    first = WIDTH * (model.nb + 1)
    y = np.tile(np.concatenate([np.zeros(first), angles]), (len(result), 1))
    y[:, :first] = result.y[:, :first]
    for (_, was), (_, column) in zip(own.angles, model.angles, strict=True):
        y[:, first + column] = result.y[:, first + was]
    inner = [len(row) - one.n_states for row, one in ((own.y0, own), (model.y0, model))]
    for was, entry in zip(own.loads, model.loads, strict=True):
        y[:, first + np.arange(entry.angle, entry.angle + entry.load.angles)] = result.y[
            :, first + np.arange(was.angle, was.angle + was.load.angles)
        ]
        states = np.arange(len(entry.load.states()))
        y[:, inner[1] + entry.state + states] = result.y[:, inner[0] + was.state + states]
    renumbered: R = replace(result, _model=model, y=y)
    return renumbered


def _record(before: Any, after: Any, locked: Sequence[str], released: Sequence[str]) -> SwitchRecord:
    """Return what changes between two structures."""
    t = float(after.t[0])
    old, new = (_energies(piece.model, t, y) for piece, y in ((_last(before), before.y[-1]), (after, after.y[0])))
    return SwitchRecord(t, (), tuple(locked), (), tuple(released), new[0] - old[0], new[1] - old[1])


def _energies(model: Model, t: float, y: Array) -> tuple[float, float]:
    kinetic, potential = kinetic_and_potential(model, np.array([t]), y[None])
    return float(kinetic[0]), float(potential[0])
