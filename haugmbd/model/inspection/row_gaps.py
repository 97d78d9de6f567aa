r"""The largest gap of the rows that were evaluated last: |Phi| of a row relative to its gradient.

    gap = |Phi| / (L |Phi_r|)     or |Phi| / |PiBar| where Phi_r = 0,  |Phi| where both are;     L: the characteristic length, see `length`

Of a gradient, the larger part of its bodies counts.
"""

from __future__ import annotations

from math import sqrt

import numpy as np

from haugmbd.compiled.array_types import Array
from haugmbd.compiled.array_views import borrow
from haugmbd.compiled.jit import DirectCall, entry, kernel
from haugmbd.compiled.status_codes import OK
from haugmbd.constraints.base import row_speed
from haugmbd.math.larger import larger, worst_of
from haugmbd.model.evaluate import prepare
from haugmbd.model.labels import joint_name
from haugmbd.model.model import Model
from haugmbd.workspace import accessors as ws
from haugmbd.workspace.layout import WIDTH, Pack

PADDING = -1.0
"""In the table PAD: no row."""


@entry
def worst_gap_entry(P: Pack, length: float) -> tuple[float, int]:
    """Return the largest gap and its slot, -1 if all are zero; NaN, and its slot, if a gap is not a number."""
    return worst_of_rows(P, length)


@kernel
def size_of_gradient(J: Array, slot: int, length: float) -> float:
    """Return L |Phi_r| of a row, or |PiBar| where Phi_r = 0, 1 where both are."""
    force, moment = 0.0, 0.0
    for side in range(J.shape[1]):
        row = J[slot, side]
        force = max(force, row[0] * row[0] + row[1] * row[1] + row[2] * row[2])
        moment = max(moment, row[3] * row[3] + row[4] * row[4] + row[5] * row[5])
    return length * sqrt(force) if force > 0.0 else sqrt(moment) if moment > 0.0 else 1.0


@kernel
def worst_of_rows(P: Pack, length: float) -> tuple[float, int]:
    """Return what `worst_gap_entry` returns, to compiled code."""
    J, level, padding = ws.jacobian(P), ws.row_values(P), ws.padding_line(P)
    worst, where = 0.0, -1
    for slot in range(padding.shape[0]):
        if padding[slot] == PADDING:
            continue
        gap = abs(level[slot, 0]) / size_of_gradient(J, slot, length)
        worst, where = worst_of(worst, where, gap, slot)
    return worst, where


@kernel
def worst_rate(P: Pack, y: Array, length: float) -> tuple[float, float]:
    """Return the largest |Phi_q u - nu| of the rows in the workspace, relative to their gradients as a gap; and the largest |omega_bar|."""
    bodies, edges = borrow(y, 0, ws.n_bodies(P), WIDTH), ws.edges(P)
    J, level, padding = ws.jacobian(P), ws.row_values(P), ws.padding_line(P)
    worst, turn = 0.0, 0.0
    for slot in range(padding.shape[0]):
        if padding[slot] != PADDING:
            rate = abs(row_speed(edges, J, bodies, slot // 6, slot % 6) - level[slot, 1]) / size_of_gradient(J, slot, length)
            worst = larger(worst, rate)
    for k in range(1, bodies.shape[0]):
        turn = max(turn, bodies[k, 10] ** 2 + bodies[k, 11] ** 2 + bodies[k, 12] ** 2)
    return worst, sqrt(turn)


@entry
def worst_rate_entry(P: Pack, y: Array, length: float) -> tuple[float, float]:
    """Return what `worst_rate` returns."""
    return worst_rate(P, y, length)


@entry
def gaps_of_states_entry(P: Pack, t: Array, y: Array, length: float, worst: Array) -> None:
    """Write the largest gap, rate and |omega_bar| (n, 3) of the states y (n, ny) at t (n,); NaN where a state cannot be evaluated."""
    for k in range(t.size):
        if prepare(P, t[k], y[k]) == OK:
            worst[k, 0] = worst_of_rows(P, length)[0]
            worst[k, 1], worst[k, 2] = worst_rate(P, y[k], length)
        else:
            worst[k, 0] = np.nan


@entry
def first_open_entry(P: Pack, t: Array, y: Array, first: int, length: float, bound: float) -> int:
    """Return the number of the first of the states y (n, ny), from `first` on, with a gap above `bound`, or that cannot be evaluated; n."""
    for k in range(first, t.size):
        if prepare(P, t[k], y[k]) != OK or not worst_of_rows(P, length)[0] <= bound:
            return k
    return t.size


largest_gap, largest_rate = DirectCall(worst_gap_entry), DirectCall(worst_rate_entry)
first_open = DirectCall(first_open_entry)


def worst_gap(model: Model, pack: Pack) -> tuple[float, str]:
    """Return the largest gap of the rows in the workspace of `pack`, relative to the size of the model or in rad, and its joint."""
    gap, slot = largest_gap(pack, model.length)
    if slot < 0:
        return 0.0, ""
    return gap, joint_name(model.labels, int(np.flatnonzero(model.slot_of_row == slot)[0]))
