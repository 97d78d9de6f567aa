"""Motions with impacts that follow on one another as one: `first.join(second)`, see `simulation.results.continuation`."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, TypeVar

from haugmbd.errors import UsageError
from haugmbd.simulation.results.continuation import (
    after_calls,
    check_follows,
    check_model_of,
    check_sensors,
    joined_outcome,
    joined_settings,
    turned,
)
from haugmbd.simulation.results.io.schema import difference_of_models, numbers_of
from haugmbd.simulation.results.records import Names

R = TypeVar("R", bound=Any)


def join_impacts(first: R, second: R) -> R:
    """Return both results as one; the state that both have is no state of the second one's first segment."""
    check_model_of(first._whole, second._whole)
    rows = [one._mechanism._rows for one in (first, second)]
    numbers = [(Names.of(model), numbers_of(model), 0) for model in rows]
    difference = difference_of_models(numbers[0], numbers[1], ("in this run", "in the next"))
    loose = [{name: contact.restitution for name, contact in one.contacts.items()} for one in (first, second)]
    if difference or loose[0] != loose[1]:
        raise UsageError(f"the next run has other contacts: {difference or f'restitution {loose[0]} and {loose[1]}'}.")
    before, after = ([piece for piece in one._complete if len(piece)] for one in (first, second))
    if not before or not after:
        raise UsageError("a run without states cannot be joined.")
    last = after_calls(before[-1], after[0])
    check_follows(last, after[0])
    check_sensors(before[-1]._sensors, after[0]._sensors)

    def counted_on(piece: Any) -> Any:
        counts = before[-1]._turns is not None and after[0]._turns is not None and piece._turns is not None
        return replace(piece, _turns=turned(before[-1], after[0], piece)) if counts else piece

    def called(piece: Any) -> Any:
        return after_calls(piece, after[0]) if len(piece) and piece.t[-1] == last.t[-1] else piece

    complete = tuple(map(counted_on, second._complete))
    segments = [counted_on(piece) for piece in second.segments]
    k = next(k for k, piece in enumerate(second._complete) if len(piece))
    segments[k] = segments[k].at_states(segments[k].t > before[-1].t[-1])
    joined: R = replace(
        first,
        segments=(*map(called, first.segments), *segments),
        impacts=(*first.impacts, *second.impacts),
        settings=joined_settings(first.settings, second.settings),
        interrupted=second.interrupted,
        outcome=joined_outcome(first.outcome, second.outcome),
        _with_ends=(*map(called, first._complete), *complete),
        _replays=(*first._replays, *second._replays) if first._replays and second._replays else (),
    )
    return joined
