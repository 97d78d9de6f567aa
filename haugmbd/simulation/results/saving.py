r"""A result as the contents of a file, and back: its states; of a motion with impacts also its segments, contacts and impacts.

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
from typing import Any

import numpy as np

from haugmbd.compiled.array_types import Array
from haugmbd.contact.contact import Contact
from haugmbd.contact.joint_stop import JointStop
from haugmbd.contact.two_body_limits import TWO_BODY_LIMITS
from haugmbd.errors import UsageError
from haugmbd.impacts.contact_history import SteppedContacts
from haugmbd.simulation.results.contact_file import problem_data, segment_data, stepped_data
from haugmbd.simulation.results.io.carried_model import carry
from haugmbd.simulation.results.io.schema import (
    IMPACT,
    IMPACTS,
    Contents,
    More,
    contents_of,
    event_data,
    impact_data,
)
from haugmbd.simulation.results.segments import split, with_segments

BEFORE, AFTER, MULTIPLIERS = IMPACT


def contents_of_result(result: Any) -> Contents:
    """Return the contents to be written."""
    if not result._segments:
        if isinstance(result._contact_segment, SteppedContacts):
            return contents_of(result, carry, more=More(*stepped_data(result._contact_segment)))
        return contents_of(result, carry)
    complete = with_segments(result, result._complete, ())
    return contents_of(replace(complete, events=()), carry, IMPACTS, _more(complete, _numbers_stored(result)))


def _numbers_stored(result: Any) -> list[list[int]]:
    """Return the numbers of the stored states of each segment of a run with `t_eval`; none if all are stored."""
    if not result._with_ends:
        return []
    return [np.flatnonzero(part).tolist() for part in split(result._stored, result._with_ends)]


def _more(result: Any, stored: list[list[int]]) -> More:
    """Return the contents of the file besides the states;  stored: see `_numbers_stored`"""
    problem = _contact_problem(result)
    impulses = [impact.impulse for impact in result.impacts]
    data: dict[str, Any] = {
        "contacts": [] if problem is not None else _contacts_data(result),
        "segments": [_segment_data(segment, result.contacts, problem is not None) for segment in result.segments],
        "impacts": [_impulse_data(impact, result._switched) for impact in result.impacts],
        "rigid": result._mechanism is not None,
    }
    if problem is not None:
        data["contact_problem"] = problem_data(problem)
    if result._switched:
        data["rigid"] = any(segment._mechanism is not None for segment in result.segments)
        data["switches"] = [
            asdict(replace(switch, impulse=None)) | {"impact": _number_of(switch.impulse, impulses)} for switch in result.switches
        ]
    if stored:
        data["stored"] = stored
    arrays = _impulse_arrays(result, impulses)
    return More(data, arrays, dict.fromkeys(arrays, "impact"), tuple(len(segment) for segment in result.segments))


def _contact_problem(result: Any) -> Any:
    """Return the contacts of a run with friction at them, None for others.  Raise UsageError if time stepping is joined with other runs."""
    segments = [segment._contact_segment for segment in result.segments if segment._contact_segment is not None]
    if any(isinstance(segment, SteppedContacts) for segment in segments):
        raise UsageError("it joins time stepping with other runs, which a file does not hold: save each run")
    return segments[0].problem if segments else None


def _segment_data(segment: Any, contacts: Mapping[str, Any], friction: bool) -> dict[str, Any]:
    """Return a segment, but for its states, as numbers and texts;  friction: whether the run has friction at contacts"""
    return {
        "n": len(segment),
        "closed": [name for name in contacts if name in segment.model.joints],
        **(segment_data(segment._contact_segment) if friction else {}),
        "held": list(segment._held),
        "counters": asdict(segment.counters),
        "interrupted": segment.interrupted,
        "outcome": segment.outcome.as_data(),
        "events": [event_data(event) for event in segment.events],
        "contact_impacts": impact_data(segment._contact_impacts),
        "all_steps": segment._all_steps,
        "passed": [crossing._asdict() for crossing in segment.singular_crossings],
        **structure_data(segment.model),
    }


def _impulse_data(impact: Any, switched: bool) -> dict[str, Any]:
    """Return an impact, but for its states, as numbers and texts; with its multipliers where the rows change in the motion."""
    impulse = impact.impulse
    return {
        "t": impact.t,
        "normal": list(impulse.normal.items()),
        "tangential": [(name, np.asarray(f).tolist()) for name, f in impulse.tangential.items()],
        "energies": [impulse.energy_before, impulse.energy_after],
        "messages": impulse.messages,
        **({"Lam": impulse.Lam.tolist()} | structure_data(impulse.model) if switched else {}),
    }


def _impulse_arrays(result: Any, impulses: list[Any]) -> dict[str, Array]:
    """Return the states before and after the impacts, and their multipliers where all have the same rows."""
    if not impulses:
        return {}
    arrays = {
        BEFORE: np.array([impulse.before.y for impulse in impulses]),
        AFTER: np.array([impulse.state.y for impulse in impulses]),
    }
    if result.model.nc and not result._switched:
        arrays[MULTIPLIERS] = np.array([impulse.Lam for impulse in impulses])
    return arrays


def structure_data(model: Any) -> dict[str, Any]:
    """Return which parts of a mechanism are off in a model; nothing of a mechanism without switches."""
    return {} if model.parts is None else {"structure": model.parts.structure.as_data()}


def _number_of(impulse: Any, impulses: list[Any]) -> int | None:
    """Return the number of an impulse among those of the impacts; None if it is none of them."""
    return next((k for k, other in enumerate(impulses) if other is impulse), None)


def _contacts_data(result: Any) -> list[dict[str, Any]]:
    """Return the contacts with planes; the limits of joints are loads of the model."""
    return [
        _contact_data(contact) for contact in result.contacts.values() if not isinstance(contact, (JointStop, *TWO_BODY_LIMITS))
    ]


def _contact_data(contact: Contact) -> dict[str, Any]:
    """Return a contact as numbers and texts."""
    frames = {
        side: {"body": frame.body.name, "s_bar": frame.s_bar.tolist(), "A_bar": frame.A_bar.tolist()}
        for side, frame in (("i", contact.frame_i), ("j", contact.frame_j))
    }
    return {"name": contact.name, **frames, "restitution": contact.restitution, "radius": contact.radius}
