r"""A motion with impacts on disk: the states of all segments one after the other, the contacts, and the impacts.

variable              shape                   what
t, r, p, ...          (nt, ...)               as of a Result; the time of an impact occurs twice
impact_before, impact_after  (k, ny)          flat states just before and just after each impact
impact_multipliers    (k, nc)                 impulsive multipliers of the rows of the model

The metadata hold the contacts, and for each segment its number of states, its closed contacts, those that others hold, counters, outcome
and events. Models with closed contacts are made again from the model of the file. Of a run with `t_eval` the states include the ends of all
segments; `stored` has, for each segment, the numbers of those at the given times.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import numpy as np

from haugmbd.bodies.body import Body
from haugmbd.bodies.frame import Frame
from haugmbd.compiled.array_types import Array
from haugmbd.contact.contact import Contact
from haugmbd.contact.impulses.impulse_equations import FactoredSystem
from haugmbd.contact.impulses.impulse_result import Impulse, SolvedImpulse
from haugmbd.contact.joint_stop import JointStop, stops_of
from haugmbd.contact.motion.contact_modes import ContactModes
from haugmbd.contact.motion.impact_result import Impact, ImpactResult
from haugmbd.diagnostics.run_warnings import Outcome
from haugmbd.errors import UsageError
from haugmbd.model.model import Model
from haugmbd.model.state import State
from haugmbd.simulation.results.io.carried_model import carry
from haugmbd.simulation.results.io.results import write_contents
from haugmbd.simulation.results.io.schema import (
    IMPACT,
    IMPACTS,
    Contents,
    More,
    contact_impacts_of,
    contents_of,
    counters_of,
    event_data,
    events_of,
    impact_data,
    replays_data,
    result_of,
)
from haugmbd.simulation.results.result import Result

BEFORE, AFTER, MULTIPLIERS = IMPACT


def save(result: ImpactResult, path: str | Path) -> Path:
    """Write `result` to `path`, .npz or .nc; return the path."""
    complete = replace(result, segments=result._complete, _with_ends=())
    return write_contents(path, lambda: contents_of(_whole(complete), carry, IMPACTS, _more(complete, _stored(result))))


def _stored(result: ImpactResult) -> list[list[int]]:
    """Return the numbers of the stored states of each segment of a run with `t_eval`; none if all are stored."""
    if not result._with_ends:
        return []
    lengths = [len(segment) for segment in result._with_ends]
    return [np.flatnonzero(part).tolist() for part in np.split(result._stored, np.cumsum(lengths)[:-1])]


def _whole(result: ImpactResult) -> Result:
    """Return all states as one result, with sensors, turns and outcome."""
    turns = [segment._turns for segment in result.segments]
    known = [part for part in turns if part is not None]
    all_known = len(known) == len(turns) > 0
    return replace(
        result._whole,
        _sensors=result._recorded(),
        _turns=np.concatenate(known) if all_known else None,
        events=(),  # each segment has its own
        outcome=result.outcome,
    )


def _more(result: ImpactResult, stored: list[list[int]]) -> More:
    """Return the contents of the file besides the states."""
    contacts = result.contacts
    segments = [
        {
            "n": len(segment),
            "closed": [name for name in contacts if name in segment.model.joints],
            "held": list(segment._held),
            "counters": asdict(segment.counters),
            "interrupted": segment.interrupted,
            "outcome": segment.outcome.as_data(),
            "events": [event_data(event) for event in segment.events],
            "contact_impacts": impact_data(segment._contact_impacts),
            "all_steps": segment._all_steps,
        }
        for segment in result.segments
    ]
    impulses = [impact.impulse for impact in result.impacts]
    impacts = [
        {
            "t": impact.t,
            "normal": list(one.normal.items()),
            "energies": [one.energy_before, one.energy_after],
            "messages": one.messages,
        }
        for impact, one in zip(result.impacts, impulses, strict=True)
    ]
    arrays: dict[str, Array] = {}
    if impulses:
        arrays = {BEFORE: np.array([one.before.y for one in impulses]), AFTER: np.array([one.state.y for one in impulses])}
        if result.model.nc:
            arrays[MULTIPLIERS] = np.array([one.Lam for one in impulses])
    planes = [
        contact for contact in contacts.values() if not isinstance(contact, JointStop)
    ]  # the limits of joints are loads of the model
    data: dict[str, Any] = {"contacts": [_contact_data(contact) for contact in planes], "segments": segments, "impacts": impacts}
    data["replays"] = replays_data(result._replays)
    if stored:
        data["stored"] = stored
    return More(data, arrays, dict.fromkeys(arrays, "impact"), tuple(len(segment) for segment in result.segments))


def _contact_data(contact: Contact) -> dict[str, Any]:
    """Return a contact as numbers and texts."""
    frames = {
        side: {"body": frame.body.name, "s_bar": frame.s_bar.tolist(), "A_bar": frame.A_bar.tolist()}
        for side, frame in (("i", contact.frame_i), ("j", contact.frame_j))
    }
    return {"name": contact.name, **frames, "restitution": contact.restitution, "radius": contact.radius}


def impact_result_of(
    contents: Contents, meta: Mapping[str, Any], model: Model | None, where: str, *, allow_code: bool = False
) -> ImpactResult:
    """Return the result in the contents of a file. Raise UsageError if the file has no model, and none is given."""
    lengths = tuple(int(segment["n"]) for segment in meta["segments"])
    whole = result_of(contents, meta, model, where, Result, allow_code=allow_code, segments=lengths)
    if sum(lengths) != len(whole):
        raise UsageError(f"its segments have {sum(lengths)} states, its variables {len(whole)}")
    free = whole.model
    contacts = [_contact(data, {body.name: body for body in free.bodies}) for data in meta["contacts"]]
    mechanism = ContactModes(free, [*contacts, *stops_of(entry.load for entry in free.loads)])
    ends = np.cumsum((0, *lengths)).tolist()
    segments = [_segment(whole, mechanism, *part) for part in zip(meta["segments"], ends[:-1], ends[1:], strict=True)]
    stored = [np.isin(np.arange(n), some) for n, some in zip(lengths, meta.get("stored", ()), strict=False)]
    return ImpactResult(
        mechanism,
        tuple(segment.at_states(some) for segment, some in zip(segments, stored, strict=True)) if stored else tuple(segments),
        tuple(_impact(contents.arrays, free, k, data) for k, data in enumerate(meta["impacts"])),
        settings=whole.settings,
        interrupted=whole.interrupted,
        outcome=whole.outcome,
        _with_ends=tuple(segments) if stored else (),
        _replays=whole._replays,
    )


def _contact(data: Mapping[str, Any], bodies: Mapping[str, Body]) -> Contact:
    """Return a contact."""
    i, j = (Frame(bodies[data[side]["body"]], data[side]["s_bar"], data[side]["A_bar"]) for side in "ij")
    return Contact.from_frames(data["name"], i, j, restitution=data["restitution"], radius=data["radius"])


def _segment(whole: Result, mechanism: ContactModes, data: Mapping[str, Any], first: int, end: int) -> Result:
    """Return one segment, the states first ... end - 1 of the whole."""
    part, y = slice(first, end), whole.y
    closed = list(data["closed"])
    model = mechanism.free
    if closed and end > first:
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
