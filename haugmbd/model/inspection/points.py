r"""Points of a model by their names: centres of mass, the points of joints, the ends of force elements.

"rod"                  centre of mass of body rod
"pin", "pin.i"         the point of joint pin on its body j, on its body i
"strut.i", "strut.j"   the ends of a TSDA;    "push" the point of a PointForce
("rod", s_bar)         the point s_bar from the centre of mass, body frame [m]
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from haugmbd.bodies.validation import numbers
from haugmbd.compiled.array_types import Array
from haugmbd.errors import UsageError
from haugmbd.model.labels import no_such
from haugmbd.model.model import Model


class NamedPoint(NamedTuple):
    """A point of a body: its name, the body, and s_bar (3,), body frame [m]."""

    name: str
    body: str
    s_bar: Array


def locate(model: Model, where: Any) -> NamedPoint:
    """Return the point that a name, or a pair of body and s_bar, means.

    Raises UsageError for a name that does not exist or means several points, and for an s_bar that is not three finite numbers.
    """
    if isinstance(where, tuple) and len(where) == 2 and isinstance(where[0], str):
        return _on_body(model, *where)
    if not isinstance(where, str):
        raise UsageError(f"{where!r:.60} names no point: give a name, such as 'rod' or 'pin', or (body, s_bar).")
    points_by_name = points(model)
    if where not in points_by_name:
        raise no_such("point", where, points_by_name)
    same_name = points_by_name[where]
    if len(same_name) > 1:
        others = ", ".join(f"({p.body!r}, {p.s_bar.tolist()})" for p in same_name)
        raise UsageError(f"{where!r} names more than one point: give one of {others}, or .i or .j of the joint.")
    return same_name[0]


def _on_body(model: Model, body: str, s_bar: Any) -> NamedPoint:
    """Return a point of a body."""
    if body not in model.body_names:
        raise no_such("body", body, model.body_names)
    x = numbers(s_bar)
    if x is None or x.shape != (3,) or not np.isfinite(x).all():
        raise UsageError(f"s_bar = {s_bar!r:.60} must be three finite numbers [m], in the frame of body {body!r}.")
    return NamedPoint(f"{body} at {x.tolist()}", body, x)


def points(model: Model) -> dict[str, list[NamedPoint]]:
    """Return all points by their names; a name that a body and a joint share has several."""
    found: dict[str, list[NamedPoint]] = {}

    def add(name: str, body: str, s_bar: Array) -> None:
        found.setdefault(name, []).append(NamedPoint(name, body, s_bar))

    for body in model.body_names:
        add(body, body, np.zeros(3))
    for joint in model.joints.values():
        add(joint.name, model.body_names[joint.j], joint.s_bar_j)
        add(f"{joint.name}.i", model.body_names[joint.i], joint.s_bar_i)
        add(f"{joint.name}.j", model.body_names[joint.j], joint.s_bar_j)
    for entry in model.loads:
        for end, frame in entry.load.points().items():
            add(f"{entry.load.name}{end}", frame.body.name, frame.s_bar)
    return found
