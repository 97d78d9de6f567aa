r"""A motion of several smooth segments, between instants at which velocities jump: impacts of contacts and stops, and kicks.

    segment k      t_k ... t_(k+1)        states of the model with the contacts that are closed there as rows
    the whole      all of them, one after the other, in the numbering of the model with all contacts open: the time of a jump stands twice
    rows           those of the model with all contacts open come first in the model of every segment, in the same order

Of a run with `t_eval` the segments have the states at these times alone; `complete` are the segments with their first and last states.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
import numpy.typing as npt

from haugmbd.compiled.array_types import Array
from haugmbd.contact.gap import placed_contacts
from haugmbd.diagnostics.work import Work
from haugmbd.model.model import Model
from haugmbd.simulation.results.joining import joined
from haugmbd.simulation.results.records import Counters, total

if TYPE_CHECKING:
    from haugmbd.impacts.contact_modes import ContactModes
    from haugmbd.impacts.impact import ContactHistory
    from haugmbd.impacts.shared_forces import SharedForces

R = TypeVar("R", bound=Any)
Flags = npt.NDArray[np.bool_]


def fields_of_segments(model: Model, segments: Sequence[Any]) -> dict[str, Any]:
    """Return times, states and what else the result of all segments has, by the names of its fields."""
    some = [segment for segment in segments if len(segment.t)]
    kept: dict[str, Any] = {
        "t": np.concatenate([np.zeros(0), *(segment.t for segment in segments)]),
        "y": np.concatenate([np.zeros((0, len(model.y0))), *(segment.y for segment in segments)]),
        "counters": total([segment.counters for segment in segments]) if segments else Counters(),
        "events": tuple(event for segment in segments for event in segment.events),
        "singular_crossings": tuple(place for segment in segments for place in segment.singular_crossings),
        "_sensors": {},
        "_all_steps": all(segment._all_steps for segment in segments),
    }
    for name in ("_turns", "_own", "_own_u_dot"):
        values = [getattr(segment, name) for segment in some]
        whole = bool(values) and all(value is not None for value in values)
        if whole and name == "_own":
            values = [in_rows_of(model, segment, value) for segment, value in zip(some, values, strict=True)]
        if whole and name == "_turns" and len({value.shape[1] for value in values}) > 1:  # joints that turn come and go
            whole = False
        kept[name] = np.concatenate(values) if whole else None
    if some and all(segment._sensors.keys() == some[0]._sensors.keys() for segment in some):
        kept["_sensors"] = {name: joined([segment._sensors[name] for segment in some]) for name in some[0]._sensors}
    return kept


def solutions_of_segments(model: Model, segments: Iterable[Any]) -> Array:
    """Return (u_dot, lam) by nodes of the model with all contacts open, (nt, nn, 6), from those of the segments."""
    n = model.nb + 1
    nodes = n + len(model.tables["EDGES"])
    parts = []
    for segment in segments:
        x = np.zeros((len(segment.t), 6 * nodes))
        x[:, : 6 * n] = segment._solutions[:, :n].reshape(len(x), 6 * n)
        x[:, 6 * n :][:, model.slot_of_row] = in_rows_of(model, segment, segment.lam)
        parts.append(x.reshape(len(x), nodes, 6))
    return np.concatenate(parts)


def changes_structure(segments: Sequence[Any]) -> bool:
    """Return whether parts of the mechanism go on or off between segments, each with a model of its own."""
    return any(segment._model is not None and segment._model.parts is not None for segment in segments)


def in_rows_of(model: Model, segment: Any, values: Array) -> Array:
    """Return values (nt, rows) of the rows of a segment as those of a model, (nt, nc): zero for joints that are off in the segment.

    Rows of closed contacts stand behind those of the model, and are left out.
    """
    with_contacts = segment.model
    if with_contacts.parts is None and model.parts is None:
        return values[:, : model.nc]
    values_by_row = np.zeros((len(values), model.nc))
    for name, entry in model.joints.items():
        if name in with_contacts.joints:
            values_by_row[:, entry.rows] = values[:, with_contacts.joints[name].rows]
    return values_by_row


def at_times(segments: Sequence[R], times: Array, end: float) -> tuple[R, ...]:
    """Return the segments with their states at the given times only; at an impact that after it. Without any, the last state is kept.

    end: relative to |t| + 1 s: a last state so near to the last time stands for it
    """
    found = []
    for k, segment in enumerate(segments):
        keep = np.isin(segment.t, times)
        if len(segment) and any(len(later) and later.t[0] == segment.t[-1] for later in segments[k + 1 :]):
            keep[-1] = False
        found.append((segment, keep))
    if segments and len(segments[-1]) and abs(times[-1] - segments[-1].t[-1]) <= end * (1.0 + abs(times[-1])):
        found[-1][1][-1] = True
    if segments and len(segments[-1]) and not any(keep.any() for _, keep in found):
        found[-1][1][-1] = True
    return tuple(segment.at_states(keep) for segment, keep in found)


def split(keep: Flags, segments: Sequence[Any]) -> list[Flags]:
    """Return flags of all states (nt,) by segment."""
    return np.split(keep, np.cumsum([len(segment) for segment in segments])[:-1]) if segments else []


def stored_states(segments: Sequence[Any], complete: Sequence[Any]) -> Flags:
    """Return which states of the complete segments are states of the result."""
    pairs = zip(complete, segments, strict=True)
    return np.concatenate([np.zeros(0, dtype=np.bool_), *(np.isin(whole.t, part.t) for whole, part in pairs)])


def resampled(complete: Sequence[R], times: Array, kind: Any) -> tuple[R, ...]:
    """Return the segments at other times (k,); at a jump the state after it."""
    some = [segment for segment in complete if len(segment)]
    place = np.searchsorted([segment.t[0] for segment in some], times, side="right") - 1
    found, number = [], 0
    for segment in complete:
        wanted = times[place == number] if len(segment) else times[:0]
        number += bool(len(segment))
        if len(wanted) and not np.isin(wanted, segment.t).all():
            found.append(segment.resample(wanted, kind=kind))
        else:
            found.append(segment.at_states(np.isin(segment.t, wanted)))
    return tuple(found)


def work_at_nodes(segments: Iterable[Any], nodes: Array, join: Callable[[list[Work]], Work]) -> Work:
    """Return the work since the first state at times `nodes` (k,), which increase, of segments that have all steps.

    join: of the works of the segments;  at a jump: that behind it
    """
    parts, times = [], []
    for piece in (piece for piece in segments if len(piece)):
        inner = nodes[(nodes > piece.t[0]) & (nodes < piece.t[-1])]
        at = np.unique(np.concatenate([piece.t[:1], inner, piece.t[-1:]]))
        parts.append(piece._work_at(at))
        times.append(at)
    return join(parts).at(np.searchsorted(np.concatenate(times), nodes, side="right") - 1)


def contact_history(mechanism: ContactModes, name: str, result: Any, shared: Sequence[SharedForces]) -> ContactHistory:
    """Return one contact over the segments of a result;  shared: the normal forces of all contacts, by segment."""
    from haugmbd.impacts.impact import ContactHistory  # noqa: PLC0415  most results have no contacts

    k = mechanism.names.index(name)
    force = np.concatenate([np.zeros(0), *(one.force[:, k] for one in shared)])
    unique = np.concatenate([np.zeros(0, dtype=np.bool_), *(np.full(len(one.force), one.unique[k]) for one in shared)])
    closed = [np.full(len(s.t), name in s.model.joints or name in s._held) for s in result.segments]
    alone = placed_contacts([mechanism.placed[name]])
    gap, gap_rate = alone.gaps(result.y)[:, 0], alone.gap_rates(result.y)[:, 0]
    return ContactHistory(
        name, result.t, gap, gap_rate, force, np.concatenate([np.zeros(0, dtype=np.bool_), *closed]).astype(bool), unique
    )


def piece_at(complete: Sequence[R], t: float) -> R:
    """Return the segment that has the state at a time; at a jump the one that begins there."""
    found: R = [piece for piece in complete if len(piece) and piece.t[0] <= t][-1]
    return found


def with_segments(result: R, segments: Sequence[Any], complete: Sequence[Any], **changes: Any) -> R:
    """Return a result of other segments."""
    fields = fields_of_segments(result._model, segments) | changes
    whole: R = replace(result, **fields, _segments=tuple(segments), _with_ends=tuple(complete))
    return whole


Again = Callable[..., Any]
"""again(result, replay, t_eval, until, take): makes a run again, see `Result._run_again`."""
