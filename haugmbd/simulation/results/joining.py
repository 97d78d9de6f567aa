"""Joining the quantities of consecutive pieces of a motion into one history."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import fields, replace
from typing import Any, TypeVar

import numpy as np

from haugmbd.compiled.array_types import Array
from haugmbd.diagnostics.histories import BlockHistory, DriverHistory, PointHistory
from haugmbd.diagnostics.joint_coordinates import JointHistory
from haugmbd.diagnostics.joint_reactions import Reaction
from haugmbd.diagnostics.load_history import LoadHistory
from haugmbd.errors import UsageError

H = TypeVar("H", bound=Any)

NOTHING_ACTS = frozenset(
    ("force", "torque", "power", "energy", "normal_force", "friction_force", "limit", "forces", "_force", "closed", "unique")
)
"""Quantities that are zero of a part that is off; others, such as its coordinates, are not defined, NaN."""


def over_structures(
    pieces: Sequence[Any], name: str, is_on: Callable[[Any], bool], make: Callable[[Any], H], join: Callable[[Sequence[H]], H]
) -> H:
    """Return a history over pieces of a motion whose structure changes: where a part is off, nothing acts, and coordinates are NaN."""
    if all(piece._model is None or piece._model.parts is None for piece in pieces):
        return join([make(piece) for piece in pieces])
    on = [isinstance(name, str) and is_on(piece) for piece in pieces]
    if all(on):
        return join([make(piece) for piece in pieces])
    if not any(on):
        if any(name in piece.model.parts.names for piece in pieces if piece.model.parts is not None):
            raise UsageError(f"{name!r} is off in the whole of this run: nothing of it is known.")
        return join([make(piece) for piece in pieces[:1]])  # which raises the error of a name that does not exist
    first = next(make(piece) for piece, one in zip(pieces, on, strict=True) if one)
    return join([make(piece) if one else off(first, piece.t) for piece, one in zip(pieces, on, strict=True)])


def off(history: H, t: Array) -> H:
    """Return the history of a part that is off at times t (nt,), with the quantities that it has where it is on."""

    def filled(name: str, like: Array) -> Array:
        nothing = name in NOTHING_ACTS
        array: Array = np.full((len(t), *like.shape[1:]), 0.0 if nothing else np.nan, dtype=like.dtype if nothing else np.float64)
        return array

    changes: dict[str, Any] = {}
    for field in fields(history):
        value = getattr(history, field.name)
        if field.name == "t":
            changes["t"] = t
        elif isinstance(value, np.ndarray):
            changes[field.name] = filled(field.name, value)
        elif isinstance(value, dict):
            changes[field.name] = {key: filled(key, part) for key, part in value.items()}
        elif field.name == "_work":
            changes["_work"] = lambda: np.zeros(len(t))
    found: H = replace(history, **changes)
    return found


def joined(parts: Sequence[H]) -> H:
    """Return one history with the arrays, and dictionaries of arrays, of all parts one after the other."""
    first = parts[0]
    if len(parts) == 1:
        return first
    changes: dict[str, Any] = {}
    for field in fields(first):
        value = getattr(first, field.name)
        if isinstance(value, np.ndarray):
            changes[field.name] = np.concatenate([getattr(part, field.name) for part in parts])
        elif isinstance(value, dict):
            changes[field.name] = {key: np.concatenate([getattr(part, field.name)[key] for part in parts]) for key in value}
    whole: H = replace(first, **changes)
    return whole


def join_joints(parts: Sequence[JointHistory]) -> JointHistory:
    """Return the coordinates of a joint; its angles continue with the turns of the part before, where this ends at the same time."""
    turned, last, end = [], None, np.nan
    for part in parts:
        values = dict(part._values)
        if "angle" in values and len(part.t):
            angle = values["angle"]
            if not np.isfinite(angle[-1:]).all():  # the joint is off
                turned.append(part)
                continue
            if last is not None and part.t[0] == end:
                angle = angle + 2.0 * np.pi * np.round((last - angle[0]) / (2.0 * np.pi))
            values["angle"], last, end = angle, angle[-1], part.t[-1]
        turned.append(replace(part, _values=values))
    return joined(turned)


def join_points(parts: Sequence[PointHistory]) -> PointHistory:
    """Return the motion of a point."""
    if len(parts) == 1:
        return parts[0]
    return replace(joined(parts), _acceleration=lambda: np.concatenate([part.a for part in parts]))


def join_loads(parts: Sequence[LoadHistory]) -> LoadHistory:
    """Return the quantities of a force element; its work is the sum over the parts."""
    if len(parts) == 1:
        return parts[0]
    return replace(joined(parts), _work=lambda: summed([part.work for part in parts]))


def join_blocks(parts: Sequence[BlockHistory]) -> BlockHistory:
    """Return the states and outputs of a block."""
    return joined(parts)


def join_reactions(parts: Sequence[Reaction]) -> Reaction:
    """Return the reaction of a joint; a component is unique if it is in every part."""
    unique = tuple(all(flags) for flags in zip(*(part.unique for part in parts), strict=True))
    return replace(joined(parts), unique=unique)


def join_drivers(parts: Sequence[DriverHistory]) -> DriverHistory:
    """Return the quantities of a driver; its work is the sum over the parts."""
    if len(parts) == 1:
        return parts[0]
    return replace(joined(parts), unique=all(part.unique for part in parts), _work=lambda: summed([part.work for part in parts]))


def summed(works: Sequence[Array]) -> Array:
    """Return works that each begin at zero as one continuous history."""
    start, whole = 0.0, []
    for work in works:
        whole.append(start + work)
        start += float(work[-1]) if len(work) else 0.0
    return np.concatenate(whole)
