r"""The freedoms of the joints of a block, and an independent set of them that parametrizes its motions.

S q = twist_j - twist_i        q the rates of a joint's freedoms, in m and rad; turns count over a length
chosen                         in the order of the joints, hinges and slides first; one that hardly moves is no measure of the others
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from haugmbd.analysis.mobility.twist_format import twist_words
from haugmbd.compiled.array_types import Array
from haugmbd.constraints.freedoms import Kind, Side
from haugmbd.model.inspection.joint_subspaces import motion_subspace
from haugmbd.model.labels import JointEntry
from haugmbd.model.model import Model
from haugmbd.model.state import State

GOOD = (0.3, 0.03, 1e-3, 1e-6)
"""Part of the largest rate (turns over a length) that a driving freedom must have beyond those before it: the first are tried first."""


class JointFreedoms(NamedTuple):
    """Data of the whole mechanism: axes A (nb + 1, 3, 3), twists (nb + 1, 6, n) of random motions at the origin."""

    model: Model
    state: State
    A: Array
    length: float
    twists: Array


def rates_of(
    freedoms: JointFreedoms, joints: list[JointEntry], U: Array, place: dict[int, int]
) -> tuple[list[tuple[str, str, float]], Array]:
    """Return names, units and rates (m, n) of the joints' freedoms in the motions U; those of joints with a single freedom first."""
    scale = np.repeat([1.0, freedoms.length], 3)
    found: list[tuple[bool, tuple[str, str, float], Array]] = []
    for entry in joints:
        if entry.freedoms is None and (entry.part.needs() or not freedoms.model.are_between_two(entry)):
            continue
        point = freedoms.state.r[entry.j] + freedoms.A[entry.j] @ entry.s_bar_j
        S = _subspace(freedoms, entry, point) * scale[:, None]
        size = np.sqrt(np.sum(S**2, axis=0))
        twist = moved(U[place[entry.j]] - U[place[entry.i]], point) * scale[:, None]
        q = (S.T if S.shape[1] == 1 else np.linalg.pinv(S / size) * size[:, None]) @ twist / (size**2)[:, None]
        words = [freedom_words(s / scale, point, freedoms.length) for s in S.T]
        names = [(entry.name, word, float(z)) for word, z in zip(words, size, strict=True)]
        found += [(S.shape[1] > 1, name, rate * name[2]) for name, rate in zip(names, q, strict=True)]
    found.sort(key=lambda one: one[0])
    return [name for _, name, _ in found], np.array([rate for _, _, rate in found]).reshape(len(found), U.shape[2])


def body_rates(freedoms: JointFreedoms, U: Array, place: dict[int, int]) -> tuple[list[tuple[str, str, float]], Array]:
    """Return names, units and rates of the bodies' twists, for joints that do not declare their freedoms."""
    names, rates = [], []
    for body in list(place)[1:]:
        twist = moved(U[place[body]], freedoms.state.r[body])
        for k, letter in enumerate("xyzxyz"):
            unit = 1.0 if k < 3 else freedoms.length
            names.append(("", f"{freedoms.model.body_names[body]!r} {'moves along' if k < 3 else 'turns about'} {letter}", unit))
            rates.append(twist[k] * unit)
    return names, np.array(rates)


def moved(twists: Array, point: Array) -> Array:
    """Return twists (6, n) of a point at the origin as twists of `point`: v + omega x point."""
    (x, y, z), (a, b, c) = point, twists[3:]
    return np.concatenate([twists[:3] + np.array([b * z - c * y, c * x - a * z, a * y - b * x]), twists[3:]])


def _subspace(freedoms: JointFreedoms, entry: JointEntry, point: Array) -> Array:
    """Return the motion subspace of a joint, (6, k), as twists of its point; a single turn or slide directly."""
    if entry.freedoms is not None and len(entry.freedoms) == 1 and entry.freedoms[0].kind is not Kind.BALL:
        (one,) = entry.freedoms
        body, s_bar, A_bar = (
            (entry.i, entry.s_bar_i, entry.A_bar_i) if one.side is Side.I else (entry.j, entry.s_bar_j, entry.A_bar_j)
        )
        a = freedoms.A[body] @ A_bar[:, one.axis]
        if one.kind is Kind.SLIDE:
            return np.array([*a, 0.0, 0.0, 0.0])[:, None]
        x, y, z = point - freedoms.state.r[body] - freedoms.A[body] @ s_bar
        return np.array([a[1] * z - a[2] * y, a[2] * x - a[0] * z, a[0] * y - a[1] * x, *a])[:, None]
    return moved(motion_subspace(freedoms.model, freedoms.state, entry.name), point)


def freedom_words(s: Array, point: Array, length: float) -> str:
    """Return a description of a freedom."""
    return twist_words(s[:3], s[3:], point, length).replace(" 1 ", " ", 1).replace(" -1 ", " ", 1)


def independent(rates: Array, n: int) -> list[int]:
    """Return independent rows of `rates` (m, n): the first ones that are far enough from the span of those before."""
    left, chosen = rates.copy(), list[int]()
    largest = float(np.linalg.norm(rates, axis=1).max(initial=0.0))
    for good in GOOD:
        for k in range(len(rates)):
            size = float(np.linalg.norm(left[k]))
            if len(chosen) < n and size > good * largest:
                chosen.append(k)
                direction = left[k] / size
                left -= np.outer(left @ direction, direction)
    return sorted(chosen)
