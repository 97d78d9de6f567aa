r"""A motion with impacts from its file, see `saving`: models with closed contacts are made again from the model of the file."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
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
from haugmbd.impacts.contact_problem import ContactProblem
from haugmbd.impacts.impact import Impact
from haugmbd.impacts.impulse_equations import FactoredSystem
from haugmbd.impacts.impulse_result import Impulse, SolvedImpulse
from haugmbd.model.model import Model
from haugmbd.model.state import State
from haugmbd.simulation.results.contact_file import problem_of, problem_of_structure, segment_of, stepped_of
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
from haugmbd.simulation.results.switch_record import SwitchRecord
from haugmbd.system.structures import Structure, structures_of

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
    mechanism = ContactModes(free, [*contacts, *stops_of(free.force_elements)]) if meta.get("rigid", True) else None
    ends = np.cumsum((0, *lengths)).tolist()
    rigid = _switched_contacts(meta, free)
    problem = problem_of(meta["contact_problem"], free) if "contact_problem" in meta and rigid is None else None
    complete = [
        _segment(whole, *((mechanism, problem) if rigid is None else rigid(part[0])), *part, tag=rigid is not None)
        for part in zip(meta["segments"], ends[:-1], ends[1:], strict=True)
    ]
    stored = [np.isin(np.arange(n), some) for n, some in zip(lengths, meta.get("stored", ()), strict=False)]
    segments = [one.at_states(some) for one, some in zip(complete, stored, strict=True)] if stored else complete
    impacts = tuple(_impact(contents.arrays, free, k, data) for k, data in enumerate(meta["impacts"]))
    return Result.of_segments(
        free,
        segments,
        complete=complete if stored else (),
        impacts=impacts,
        switches=tuple(_switch(data, impacts) for data in meta.get("switches", ())),
        settings=whole.settings,
        interrupted=whole.interrupted,
        outcome=whole.outcome,
        _mechanism=mechanism if rigid is None else None,
        _contact_problem=problem,
        _replays=whole._replays,
    )


OfStructure = tuple[ContactModes | None, ContactProblem | None]


def _switched_contacts(meta: Mapping[str, Any], free: Model) -> Callable[[Mapping[str, Any]], OfStructure] | None:
    """Return a function that gives the contacts of a segment, where the structure changes; None where it does not."""
    if not (meta.get("switches") or any("structure" in one for one in meta["segments"])):
        return None
    contacts_of: dict[Structure, OfStructure] = {}

    def of(data: Mapping[str, Any]) -> OfStructure:
        structure = _structure(data, free)
        if structure not in contacts_of:
            model = _model_of(data, free, free.state())
            contacts = (*model.contacts, *stops_of(model.force_elements))
            if "contact_problem" in meta:
                contacts_of[structure] = None, problem_of_structure(meta["contact_problem"], model)
            else:
                contacts_of[structure] = ContactModes(model, contacts) if contacts else None, None
        return contacts_of[structure]

    return of


def _structure(data: Mapping[str, Any], free: Model) -> Structure:
    """Return the structure of a segment or an impact."""
    return Structure.from_data(data["structure"]) if "structure" in data else structures_of(free).first


def _model_of(data: Mapping[str, Any], free: Model, state: State) -> Model:
    """Return the model of a segment or an impact;  state: where it begins"""
    return structures_of(free).model(_structure(data, free), state)


def _switch(data: Mapping[str, Any], impacts: Sequence[Impact]) -> SwitchRecord:
    """Return what has happened at a switch."""
    number = data.get("impact")
    names = {key: tuple(map(str, data[key])) for key in ("names", "locked", "gripped", "released")}
    impulse = None if number is None else impacts[int(number)].impulse
    return SwitchRecord(
        float(data["t"]), **names, kinetic=float(data["kinetic"]), potential=float(data["potential"]), impulse=impulse
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


def _segment(
    whole: Result,
    mechanism: ContactModes | None,
    problem: ContactProblem | None,
    data: Mapping[str, Any],
    first: int,
    end: int,
    *,
    tag: bool = False,
) -> Result:
    """Return one segment, the states first ... end - 1 of the whole.

    tag: whether it has its own contacts;  problem: the contacts of a run with friction
    """
    part, y = slice(first, end), whole.y
    closed = list(data["closed"])
    model = whole.model
    if end > first and tag:
        model = _model_of(data, model, State.from_y(float(whole.t[first]), y[first], model.nb + 1))
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
        _own=None if whole._own is None or closed or tag else whole._own[part],
        _own_u_dot=None if whole._own_u_dot is None else whole._own_u_dot[part],
        _turns=None if whole._turns is None or tag else whole._turns[part],
        _contact_impacts=contact_impacts_of(data),
        _all_steps=bool(data.get("all_steps", False)),
        _held=tuple(data.get("held", ())),
        _mechanism=mechanism if tag else None,
        _contact_problem=problem if tag else None,
        _contact_segment=None if problem is None else segment_of(problem, data),
        outcome=Outcome.from_data(data["outcome"], interrupted=interrupted),
    )


def _impact(arrays: Mapping[str, Array], model: Model, k: int, data: Mapping[str, Any]) -> Impact:
    """Return the k-th impact; the rows of its joints are evaluated again."""
    t, n = float(data["t"]), model.nb + 1
    if "structure" in data:
        model = _model_of(data, model, State.from_y(t, arrays[BEFORE][k], n))
    before, after = (State.from_y(t, arrays[name][k], n) for name in (BEFORE, AFTER))
    Lam = arrays[MULTIPLIERS][k] if model.nc and "Lam" not in data else np.array(data.get("Lam", ()), dtype=np.float64)
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
        tangential={str(name): np.array(f, dtype=np.float64) for name, f in data.get("tangential", ())},
    )
    return Impact(t, impulse)


def with_stepped_contacts(result: Result, contents: Contents, meta: Mapping[str, Any]) -> Result:
    """Return the result of a time-stepping run with its contacts; the same result of any other run."""
    if "contact_problem" not in meta:
        return result
    contacts = stepped_of(meta, contents.arrays, result.model, len(result.t))
    return replace(result, _contact_segment=contacts, _contact_problem=contacts.problem)
