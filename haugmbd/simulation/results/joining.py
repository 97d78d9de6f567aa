"""Joining the quantities of consecutive pieces of a motion into one history."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields, replace
from typing import Any, TypeVar

import numpy as np

from haugmbd.compiled.array_types import Array
from haugmbd.diagnostics.histories import BlockHistory, DriverHistory, PointHistory
from haugmbd.diagnostics.joint_coordinates import JointHistory
from haugmbd.diagnostics.joint_reactions import Reaction
from haugmbd.diagnostics.load_history import LoadHistory

H = TypeVar("H", bound=Any)


def joined(parts: Sequence[H]) -> H:
    """Return one history with the arrays, and dictionaries of arrays, of all parts one after the other."""
    first = parts[0]
    if len(parts) == 1:
        return first
    changes: dict[str, Any] = {}
    for one in fields(first):
        value = getattr(first, one.name)
        if isinstance(value, np.ndarray):
            changes[one.name] = np.concatenate([getattr(part, one.name) for part in parts])
        elif isinstance(value, dict):
            changes[one.name] = {key: np.concatenate([getattr(part, one.name)[key] for part in parts]) for key in value}
    whole: H = replace(first, **changes)
    return whole


def join_joints(parts: Sequence[JointHistory]) -> JointHistory:
    """Return the coordinates of a joint; its angles continue with the turns of the part before, where this ends at the same time."""
    turned, last, end = [], None, np.nan
    for part in parts:
        values = dict(part._values)
        if "angle" in values and len(part.t):
            angle = values["angle"]
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
