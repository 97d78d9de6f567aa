r"""Laws of classes of the user: they are functions of t, r, p, v, omega_bar and of what the constructor was given, and of nothing else.

repeated     f(x_1), f(x_2), ..., then again in the opposite order: the same bits         a law that remembers its calls differs
rebuilt      the element of the same arguments, as a model file holds them: the same bits
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from copy import deepcopy
from typing import Any

import numpy as np

from haugmbd.bodies.body import Body
from haugmbd.compiled.array_types import Array
from haugmbd.errors import HaugmbdError
from haugmbd.forces.base import ForceElement
from haugmbd.model.model import Model
from haugmbd.modelfile.parts.functions import Unwritable
from haugmbd.modelfile.parts.own_classes import OWN_CLASS, make_own, own_text
from haugmbd.modelfile.reading import BAD, Reading
from haugmbd.verification.differences import Random, random_state
from haugmbd.verification.report import Check
from haugmbd.verification.rows import common_times
from haugmbd.workspace.layout import WIDTH

Call = tuple[float, Sequence[Array]]


def check_law(model: Model, states: int, rng: Random) -> tuple[Check, Check]:
    """Return the checks of the one element of a model, whose class defines its own law."""
    entry = model.loads[0]
    calls: list[Call] = []
    for _ in range(states):
        state = random_state(model, rng, float(rng.uniform(*common_times(model))))
        bodies = state.y[: WIDTH * (model.nb + 1)].reshape(-1, 1, WIDTH)[list(entry.bodies)]
        calls.append((state.t, [x[0] for x in entry.load.arguments(bodies, np.zeros(1))]))
    first = values_of(entry.load, calls)
    again = values_of(entry.load, calls[::-1])[::-1]
    return _same("repeated", first, again, "the same calls in the opposite order"), _rebuilt(entry.load, first, calls)


def values_of(load: ForceElement, calls: Sequence[Call]) -> Array:
    """Return what the law gives for arguments, (n, bodies, 6)."""
    law = load.user_function()
    assert law is not None
    return np.array([law.call(t, *map(np.array, arguments)) for t, arguments in calls], dtype=np.float64)


def _same(name: str, first: Array, second: Array, against: str) -> Check:
    """Return the check that two sets of values have the same bits."""
    gap = np.abs(first - second)
    k = np.unravel_index(int(np.argmax(gap)), gap.shape) if gap.size else ()
    where = f"{first[k]:.9g} and {second[k]:.9g}" if gap.size and gap.any() else ""
    return Check(name, float(gap.max(initial=0.0)), 0.0, against, where)


def _rebuilt(load: ForceElement, first: Array, calls: Sequence[Call]) -> Check:
    """Return the check of the element that a file would give, or else of a copy."""
    bodies = {part.name: part for part in _parts(load) if isinstance(part, Body)}
    joints = {part.name: part for part in _parts(load) if not isinstance(part, Body)}
    try:
        text = own_text(load, {})
    except Unwritable as error:
        return _same("rebuilt", first, values_of(deepcopy(load), calls), f"a copy (no file: {error})")
    reading = Reading(allow_code=True, names={"body": dict.fromkeys(bodies, 0), "joint": dict.fromkeys(joints, 0)})
    values = OWN_CLASS.read(text, (), reading)
    if values is BAD:
        return Check("rebuilt", np.nan, 0.0, "the element of a model file", reading.problems[0].what)
    made = _made(lambda: make_own(values, bodies.__getitem__, joints.__getitem__))
    if isinstance(made, str):
        return Check("rebuilt", np.nan, 0.0, "the element of a model file", made)
    return _same("rebuilt", first, values_of(made, calls), "the element of a model file")


def _made(make: Callable[[], ForceElement]) -> ForceElement | str:
    """Return the element, or why its constructor refuses its own arguments."""
    try:
        return make()
    except HaugmbdError as error:
        return str(error)
    except Exception as error:  # noqa: BLE001  a constructor of the user may raise anything
        return f"its constructor raises {type(error).__name__}: {error}"


def _parts(load: ForceElement) -> list[Any]:
    """Return the bodies and joints that an element knows."""
    joints = list(load.needs())
    return [*load.bodies(), *joints, *(body for joint in joints for body in (joint.i, joint.j))]
