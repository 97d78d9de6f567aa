r"""Runs that follow on one another as one: `first.join(second)`.

    times       t_1 ... t_n | t_n ... t_m         the state at t_n, which both have, stands once
    turns       theta_2 + 2 pi k                  k whole turns, with which the angles that the second run has counted go on

A run counts the turns of a joint from its own start.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import replace
from typing import Any, TypeVar

import numpy as np

from haugmbd.compiled.array_types import Array
from haugmbd.control.sampled import multiple_at
from haugmbd.diagnostics.contact_impacts import joined_impacts
from haugmbd.diagnostics.run_warnings import Outcome
from haugmbd.errors import HaugmbdError, UsageError
from haugmbd.integrators.initial_state import check_start, projected
from haugmbd.simulation.results.io.laws import difference_of_laws, law_digests
from haugmbd.simulation.results.io.schema import difference_of_models, numbers_of
from haugmbd.simulation.results.records import Names, total
from haugmbd.simulation.results.segments import with_segments
from haugmbd.simulation.results.spans import ROUNDING
from haugmbd.simulation.results.structures_joined import as_structures
from haugmbd.simulation.sensor import SensorHistory

R = TypeVar("R", bound=Any)

ALL, POSE = ("r", "p", "v", "omega_bar", "angles"), ("r", "p", "angles")
"""Kinds of numbers of a state, and those that an impulse leaves as they are."""
SAME_STATE = 1e-8
"""Difference of two states that are the same, relative to the largest number of their kind: a run projects its first state."""
CONTINUE = "Continue from the last state: simulate(system, t_end, state=result.state())"


def join_all(first: R, others: Iterable[R], pair: Callable[[R, R], R], kind: type, what: str) -> R:
    """Return a result and those that follow on it as one. Raise UsageError for one of another kind.  what: the kind, in the message"""
    whole = first
    for other in others:
        if not isinstance(other, kind):
            raise UsageError(f"join: {other!r:.60} is not {what}, as this one is.")
        whole = pair(whole, other)
    return whole


def join_results(first: R, second: R) -> R:
    """Return both results as one. Raise UsageError unless the second follows on the first, and is of the same model.

    Where the velocities jump between them, by an impulse from outside, or where parts go on or off, both are segments of the motion.
    """
    if type(first) is not type(second):
        raise UsageError(f"join: {second!r:.60} is in joint coordinates: give its maximal().")
    difference = _difference_of_models(first, second)
    if difference:
        change = as_structures(first, second)
        if change is None:
            raise _of_another_model(difference)
        whole = _joined_segments(*change[:2], twice=True)
        return replace(whole, switches=(*first.switches, change[2], *second.switches))
    check_contacts(first, second)
    if first._segments or second._segments:
        return _joined_segments(first, second)
    first = after_calls(first, second)
    if not check_follows(first, second):
        return _joined_segments(first, second)
    return _joined_states(first, second)


def _joined_states(first: R, second: R) -> R:
    """Return both results, of one smooth motion, as one; the state that both have stands once."""
    later = second.at_states(np.arange(len(second.t)) > 0)
    rows = len(first.names.rows), (len(first.names.bodies), 6)
    kept = first._contact_impacts is not None or second._contact_impacts is not None
    turns = None if first._turns is None or later._turns is None else turned(first, second, later)
    joined: R = replace(
        first,
        _model=first._model if first._model is not None else second._model,
        t=np.concatenate([first.t, later.t]),
        y=np.concatenate([first.y, later.y]),
        counters=total([first.counters, second.counters]),
        settings=joined_settings(first.settings, second.settings),
        interrupted=second.interrupted,
        events=(*first.events, *second.events),
        singular_crossings=(*first.singular_crossings, *second.singular_crossings),
        _own=_both(first, later, "_own", (rows[0],)),
        _own_u_dot=_both(first, later, "_own_u_dot", rows[1]),
        _sensors=joined_sensors(first._sensors, later._sensors),
        _turns=None if turns is None else np.concatenate([first._turns, turns]),
        _contact_impacts=joined_impacts([first._all_impacts(), second._all_impacts()]) if kept else None,
        _replays=(*first._replays, *second._replays) if first._replays and second._replays else (),
        _contact_segment=None if first._contact_segment is None else first._contact_segment.joined(later._contact_segment),
        _all_steps=first._all_steps and second._all_steps,
        outcome=joined_outcome(first.outcome, second.outcome),
    )
    return joined


def _joined_segments(first: R, second: R, *, twice: bool = False) -> R:
    """Return both results as one of all their segments; the state that both have is one of the second one's first segment if `twice`."""
    before, after = ([piece for piece in one._complete if len(piece)] for one in (first, second))
    if not before or not after:
        raise UsageError("a run without states cannot be joined.")
    last = after_calls(before[-1], after[0])
    follows = check_follows(last, after[0]) and not twice
    check_sensors(before[-1]._sensors, after[0]._sensors)

    def counted_on(piece: Any) -> Any:
        counts = before[-1]._turns is not None and after[0]._turns is not None and piece._turns is not None
        return replace(piece, _turns=turned(before[-1], after[0], piece)) if counts else piece

    def called(piece: Any) -> Any:
        return after_calls(piece, after[0]) if len(piece) and piece.t[-1] == last.t[-1] else piece

    segments = [counted_on(piece) for piece in second.segments]
    if follows:
        k = next(k for k, piece in enumerate(second._complete) if len(piece))
        segments[k] = segments[k].at_states(segments[k].t > before[-1].t[-1])
    sparse = follows or first._with_ends or second._with_ends
    can_be_made_again = bool(follows and first._replays and second._replays)
    return with_segments(
        replace(first, _model=first._model if first._model is not None else second._model),
        (*map(called, first.segments), *segments),
        (*map(called, first._complete), *map(counted_on, second._complete)) if sparse else (),
        impacts=(*first.impacts, *second.impacts),
        switches=(*first.switches, *second.switches),
        settings=joined_settings(first.settings, second.settings),
        interrupted=second.interrupted,
        outcome=joined_outcome(first.outcome, second.outcome),
        counters=total([first.counters, second.counters]),
        _mechanism=first._mechanism,
        _replays=(*first._replays, *second._replays) if can_be_made_again else (),
    )


def check_contacts(first: Any, second: Any) -> None:
    """Raise UsageError unless both results have the same rigid contacts."""
    loose = [{name: contact.restitution for name, contact in one.contacts.items()} for one in (first, second)]
    more = [{name: _more_of_contact(contact) for name, contact in one.contacts.items()} for one in (first, second)]
    difference = ""
    if first._mechanism is not None and second._mechanism is not None:
        rows = [(Names.of(model), numbers_of(model), 0) for model in (first._mechanism._rows, second._mechanism._rows)]
        difference = difference_of_models(rows[0], rows[1], ("in this run", "in the next"))
    if not difference and loose[0] == loose[1] and more[0] != more[1]:
        difference = f"{more[0]} and {more[1]}"
    if difference or loose[0] != loose[1]:
        raise UsageError(f"the next run has other contacts: {difference or f'restitution {loose[0]} and {loose[1]}'}.")


def _more_of_contact(contact: Any) -> str:
    """Return friction, law and shapes of a contact as text."""
    shapes = f", {contact.shape_i!r}, {contact.shape_j!r}" if contact.has_shapes else ""
    law = "" if contact.law is None else f", {contact.law!r}"
    return f"mu {contact.mu:.9g}{law}{shapes}"


def turned(first: Any, second: Any, part: Any) -> Array:
    """Return the angles of a part of the second result, counted on from the first."""
    turns = np.round((first._turns[-1] - second._turns[0]) / (2.0 * np.pi))
    counted: Array = part._turns + 2.0 * np.pi * turns
    return counted


def _difference_of_models(first: Any, second: Any) -> str:
    """Return in what the models of two results differ, "" if they are of one model."""
    this, other = ((one.names, _numbers(one), one.y.shape[1]) for one in (first, second))
    difference = difference_of_models(this, other, ("in this run", "in the next"))
    if not difference and first._model is not second._model:
        difference = difference_of_laws(_laws(first), _laws(second))
    return difference


def _of_another_model(difference: str) -> UsageError:
    """Return the error of a run of another model."""
    return UsageError(
        f"the next run is of another model: {difference}. Runs of one model are joined, and of two if one of them has all parts of the "
        "other; else each result has its own. A joint that breaks or closes on the way is part of one run, too: "
        "mbd.Switch(name, function, release=joint)."
    )


def _numbers(result: Any) -> Mapping[str, Array] | None:
    """Return the numbers by which the model of a result is recognized, where they are known."""
    numbers: Mapping[str, Array] | None = numbers_of(result.model) if result.has_model else result._model_numbers
    return numbers


def _laws(result: Any) -> Mapping[str, str] | None:
    """Return the digests of the laws of the model of a result, where they are known."""
    digests: Mapping[str, str] | None = law_digests(result.model) if result.has_model else result._model_laws
    return digests


def check_times(first: Any, second: Any) -> float:
    """Return the time at which the first result ends. Raise UsageError, with the numbers, unless the second starts there."""
    for who, result in (("this run", first), ("the next run", second)):
        if not len(result.t):
            raise UsageError(f"{who} has no states: there is nothing to join.")
    end, start = float(first.t[-1]), float(second.t[0])
    if abs(start - end) > ROUNDING * (1.0 + abs(end)):
        overlap = f" Of runs that overlap, take a part: result[:{start:g}]." if first.t[0] <= start < end else ""
        raise UsageError(f"the next run starts at t = {start:.9g} s, and this one ends at t = {end:.9g} s. {CONTINUE}.{overlap}")
    return end


def after_calls(first: R, second: Any) -> R:
    """Return the first result with the values that sampled blocks hold after calls at its end, as at other times of calls.

    A run does not call at its end: the one that goes on from there does.
    """
    end = check_times(first, second)
    network = first.model.force_callbacks.network if first.has_model else None
    if network is None:
        return first
    due = [block for block in network.sampled if multiple_at(end, block.period) is not None]
    if not due:
        return first
    y, sensors = np.array(first.y), dict(first._sensors)
    for block in due:
        held = network.columns(block, y)
        y[-1, held] = second.y[0, held]
    for name in sensors.keys() & second._sensors.keys():
        history, after = sensors[name], second._sensors[name].value
        sensors[name] = replace(history, value=np.concatenate([history.value[:-1], after[:1]]))
    called: R = replace(first, y=y, _sensors=sensors)
    return called


def check_follows(first: Any, second: Any) -> bool:
    """Return whether the second result starts with the last state of the first; False where only the velocities jump.

    Raise UsageError, with the numbers, for another pose.
    The last state of a method that leaves a part of a velocity across the constraints is projected by the next run.
    """
    end = check_times(first, second)
    difference = _difference(first, second, first)
    if difference:
        last = _projected(first) if first.has_model else None
        if last is None or _difference(first, second, last):
            if _difference(first, second, first, POSE):
                raise _other_state(difference, end)
            if second.has_model and _projected(second, 0) is None:
                raise UsageError(
                    f"the velocities jump between this run and the next, to some that the joints do not allow: at t = {end:.9g} s "
                    f"{difference} at the end of this one. Take those behind an impulse: mbd.impulse(model, state, ...).state."
                )
            return False
    return True


def _difference(first: Any, second: Any, last: Any, names: Collection[str] = ALL) -> str:
    """Return how the last state of a result differs from that with which the second starts; "" if it is the same.

    names: of the kinds of numbers that are compared
    """
    for name, unit, floor in _kinds(first, second):
        if name not in names:
            continue
        a, b = getattr(last, name)[-1], getattr(second, name)[0]
        gap = np.minimum(_sizes(b - a), _sizes(b + a)) if name == "p" else _sizes(b - a)
        if not gap.size:
            continue
        scale = max(floor, *(float(np.abs(getattr(one, name)).max(initial=0.0)) for one in (first, second)))
        k = int(gap.argmax())
        if not gap[k] <= SAME_STATE * scale:
            of = (
                f"number {k} of the angles and internal states" if name == "angles" else f"{name} of body {first.names.bodies[k]!r}"
            )
            return f"{of} is {_shown(b[k])}{unit}, and {_shown(a[k])}{unit}"
    return ""


def _projected(first: Any, k: int = -1) -> Any:
    """Return state k of a result as a run that starts from it projects it, as a result; None if a run does not take it."""
    model, last = first.model, first.state(k)
    try:
        check_start(model, last, project_velocity=False)
        start = projected(model, model.pack(), last)
    except HaugmbdError:
        return None
    return replace(first.at_states(np.arange(len(first.t)) == np.arange(len(first.t))[k]), y=start.y[None])


def _other_state(text: str, end: float) -> UsageError:
    """Return the error of a run that starts from another state."""
    return UsageError(
        f"the next run starts from another state: at t = {end:.9g} s {text} at the end of this one. {CONTINUE}. Where joints are moved by "
        "hand, there are two motions."
    )


def check_coordinates_follow(first: Any, second: Any) -> None:
    """Raise UsageError, with the numbers, unless the second motion in joint coordinates starts with the last state of the first."""
    end = check_times(first, second)
    for name in ("q", "qd"):
        a, b = getattr(first, name)[-1], getattr(second, name)[0]
        scale = max(float(np.abs(getattr(one, name)).max(initial=0.0)) for one in (first, second))
        if not (np.abs(b - a) <= SAME_STATE * scale).all():
            raise _other_state(f"{name} is {_shown(b)}, and {_shown(a)}", end)


def _kinds(first: Any, second: Any) -> list[tuple[str, str, float]]:
    """Return the kinds of numbers of a state, their unit, and a size that they have in any case."""
    span = float(second.t[-1] - first.t[0]) or 1.0
    length = float(first.model.length) if first.has_model else max(float(np.ptp(first.r, axis=(0, 1)).max()), 1e-300)
    return [
        ("r", " m", length),
        ("p", "", 1.0),
        ("v", " m/s", length / span),
        ("omega_bar", " rad/s", 1.0 / span),
        ("angles", "", 1.0),
    ]


def _sizes(x: Array) -> Array:
    """Return the size of each line of numbers."""
    sizes: Array = np.abs(x) if x.ndim == 1 else np.linalg.norm(x, axis=1)
    return sizes


def _shown(x: Any) -> str:
    return "(" + ", ".join(f"{value:.9g}" for value in x) + ")" if np.ndim(x) else f"{float(x):.9g}"


def _both(first: Any, later: Any, name: str, shape: tuple[int, ...]) -> Array | None:
    """Return what both runs have recorded; NaN for the states of one that has not."""
    parts = [(one, getattr(one, name)) for one in (first, later)]
    if all(values is None for _, values in parts):
        return None
    return np.concatenate([np.full((len(one.t), *shape), np.nan) if values is None else values for one, values in parts])


def check_sensors(first: Mapping[str, SensorHistory], later: Mapping[str, SensorHistory]) -> None:
    """Raise UsageError if two runs recorded different sensors."""
    if first.keys() != later.keys():
        names = ["sensors " + ", ".join(map(repr, each)) if each else "no sensor" for each in (first, later)]
        raise UsageError(f"this run recorded {names[0]}, and the next {names[1]}: record the same in both, sensors=[...].")


def joined_sensors(first: Mapping[str, SensorHistory], later: Mapping[str, SensorHistory]) -> dict[str, SensorHistory]:
    """Return the sensors of both runs."""
    check_sensors(first, later)
    return {
        name: replace(one, t=np.concatenate([one.t, later[name].t]), value=np.concatenate([one.value, later[name].value]))
        for name, one in first.items()
    }


def joined_settings(first: Mapping[str, str], second: Mapping[str, str]) -> dict[str, str]:
    """Return the settings of both runs: where they differ, one after the other."""
    names = dict.fromkeys([*first, *second])
    pairs = {name: (first.get(name, "none"), second.get(name, "none")) for name in names}
    return {name: a if a == b else f"{a}, then {b}" for name, (a, b) in pairs.items()}


def joined_outcome(first: Outcome, second: Outcome) -> Outcome:
    """Return the end of the second run, with the warnings of both."""
    return second._replace(notes=tuple(dict.fromkeys([*first.notes, *second.notes])))
