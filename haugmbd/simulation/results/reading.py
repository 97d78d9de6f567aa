r"""A motion with impacts from its file, see `saving`: models with closed contacts are made again from the model of the file."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from haugmbd.bodies.body import Body
from haugmbd.bodies.frame import Frame
from haugmbd.compiled.array_types import Array
from haugmbd.contact.contact import Contact
from haugmbd.contact.joint_stop import stops_of
from haugmbd.diagnostics.run_warnings import Outcome
from haugmbd.errors import UsageError
from haugmbd.impacts.contact_modes import ContactModes
from haugmbd.impacts.impact import Impact
from haugmbd.impacts.impulse_equations import FactoredSystem
from haugmbd.impacts.impulse_result import Impulse, SolvedImpulse
from haugmbd.model.model import Model
from haugmbd.model.state import State
from haugmbd.simulation.results.io.schema import (
    IMPACT,
    Contents,
    contact_impacts_of,
    counters_of,
    crossings_of,
    events_of,
    result_of,
)
from haugmbd.simulation.results.result import Result

BEFORE, AFTER, MULTIPLIERS = IMPACT


def result_of_segments(
    contents: Contents, meta: Mapping[str, Any], model: Model | None, where: str, *, allow_code: bool = False
) -> Result:
    """Return the result in the contents of a file. Raise UsageError if the file has no model, and none is given."""
    lengths = tuple(int(segment["n"]) for segment in meta["segments"])
    whole = result_of(contents, meta, model, where, Result, allow_code=allow_code, segments=lengths)
    if sum(lengths) != len(whole):
        raise UsageError(f"its segments have {sum(lengths)} states, its variables {len(whole)}")
    free = whole.model
    contacts = _contacts(meta["contacts"], free)
    mechanism = ContactModes(free, [*contacts, *stops_of(entry.load for entry in free.loads)]) if meta.get("rigid", True) else None
    ends = np.cumsum((0, *lengths)).tolist()
    complete = [_segment(whole, mechanism, *part) for part in zip(meta["segments"], ends[:-1], ends[1:], strict=True)]
    stored = [np.isin(np.arange(n), some) for n, some in zip(lengths, meta.get("stored", ()), strict=False)]
    segments = [one.at_states(some) for one, some in zip(complete, stored, strict=True)] if stored else complete
    return Result.of_segments(
        free,
        segments,
        complete=complete if stored else (),
        impacts=tuple(_impact(contents.arrays, free, k, data) for k, data in enumerate(meta["impacts"])),
        settings=whole.settings,
        interrupted=whole.interrupted,
        outcome=whole.outcome,
        _mechanism=mechanism,
        _replays=whole._replays,
    )


def _contacts(data: Sequence[Mapping[str, Any]], free: Model) -> list[Contact]:
    """Return the contacts of a file: those of the model, which are parts of it, themselves."""
    of_model = {contact.name: contact for contact in free.contacts}
    bodies = {body.name: body for body in free.bodies}
    return [of_model[one["name"]] if one["name"] in of_model else _contact(one, bodies) for one in data]


def _contact(data: Mapping[str, Any], bodies: Mapping[str, Body]) -> Contact:
    """Return a contact."""
    i, j = (Frame(bodies[data[side]["body"]], data[side]["s_bar"], data[side]["A_bar"]) for side in "ij")
    return Contact.from_frames(data["name"], i, j, restitution=data["restitution"], radius=data["radius"])


def _segment(whole: Result, mechanism: ContactModes | None, data: Mapping[str, Any], first: int, end: int) -> Result:
    """Return one segment, the states first ... end - 1 of the whole."""
    part, y = slice(first, end), whole.y
    closed = list(data["closed"])
    model = whole.model
    if closed and end > first and mechanism is not None:
        model = mechanism.model(closed, State.from_y(float(whole.t[first]), y[first], model.nb + 1))
    interrupted = bool(data["interrupted"])
    return Result(
        model,
        whole.t[part],
        y[part],
        counters=counters_of(data),
        settings=whole.settings,
        interrupted=interrupted,
        events=events_of(data, model.nb + 1, y.shape[1]),
        _sensors={name: replace(one, t=one.t[part], value=one.value[part]) for name, one in whole._sensors.items()},
        singular_crossings=crossings_of(data),
        _own=None if whole._own is None or closed else whole._own[part],
        _own_u_dot=None if whole._own_u_dot is None else whole._own_u_dot[part],
        _turns=None if whole._turns is None else whole._turns[part],
        _contact_impacts=contact_impacts_of(data),
        _all_steps=bool(data.get("all_steps", False)),
        _held=tuple(data.get("held", ())),
        outcome=Outcome.from_data(data["outcome"], interrupted=interrupted),
    )


def _impact(arrays: Mapping[str, Array], model: Model, k: int, data: Mapping[str, Any]) -> Impact:
    """Return the k-th impact; the rows of its joints are evaluated again."""
    t, n = float(data["t"]), model.nb + 1
    before, after = (State.from_y(t, arrays[name][k], n) for name in (BEFORE, AFTER))
    Lam = arrays[MULTIPLIERS][k] if model.nc else np.zeros(0)
    energy_before, energy_after = map(float, data["energies"])
    impulse = Impulse(
        model=model,
        before=before,
        state=after,
        Lam=Lam,
        normal={str(name): float(f) for name, f in data["normal"]},
        closed={},
        energy_before=energy_before,
        energy_after=energy_after,
        messages=tuple(data["messages"]),
        _solved=(SolvedImpulse(model.joints, FactoredSystem(model, before).rows, Lam),),
    )
    return Impact(t, impulse)
