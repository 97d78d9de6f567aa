r"""What is drawn of a result: the result itself, names of points, series of joint coordinates."""

from __future__ import annotations

from typing import Any

import numpy as np

from haugmbd.compiled.array_types import Array
from haugmbd.diagnostics.joint_motions.joint_history import JointHistory
from haugmbd.errors import UsageError
from haugmbd.simulation.results.quantities import HasQuantities

UNITS = {"angle": "rad", "displacement": "m", "rotation": "rad"}
ORDERS = ("", "rate of the ", "acceleration of the ")


def known(result: object) -> HasQuantities:
    """Return the result. Raise UsageError for another type."""
    if not isinstance(result, HasQuantities):
        raise UsageError(f"{type(result).__name__} is not a result to draw: give what mbd.simulate(...) returned.")
    return result


def name_of(place: Any) -> str:
    """Return the name of a point in a legend."""
    return place if isinstance(place, str) else f"{place[0]} {tuple(np.asarray(place[1]).tolist())}"


def coordinate(history: JointHistory, what: str | None, derivative: int) -> tuple[dict[str, Array], str, str]:
    """Return series by name, unit and kind of a joint's coordinates of one kind, or of their first or second derivative."""
    kinds = sorted(dict.fromkeys(history.coordinates), key=list(UNITS).index)
    kind = kinds[0] if what is None else what
    if kind not in kinds:
        raise UsageError(f"what is {what!r}: joint {history.joint!r} has {', '.join(map(repr, kinds))}.")
    if derivative not in (0, 1, 2):
        raise UsageError(f"derivative is {derivative!r}: give 0, 1 (rate) or 2 (acceleration).")
    columns: list[Array] = []
    table = (history.rate if derivative == 1 else history.acceleration).reshape(len(history.t), -1)
    at = 0
    for own in history.coordinates:
        width = 3 if own == "rotation" else 1
        if own == kind:
            columns += list(table[:, at : at + width].T)
        at += width
    if derivative == 0:
        columns = list(getattr(history, kind).reshape(len(history.t), -1).T)
    names = ["x", "y", "z"] if kind == "rotation" else [f"{kind} {k + 1}" for k in range(len(columns))]
    names = [kind] if len(columns) == 1 else names
    unit = UNITS[kind] + ("", "/s", "/s²")[derivative]
    return dict(zip(names, columns, strict=True)), unit, kind
