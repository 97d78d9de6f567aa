r"""Jumps of held values and delays at stored states: what they were before.

    a call of a sampled block at t          it held what it has in the state before
    a jump of the signal of a delay at t    the output of the delay jumps at t + delay, from the signal before the jump
    the start t_0, with `before`            the output of the delay jumps at t_0 + delay, from `before`

A result holds the values behind a jump. Where states between two calls are not stored, what was held is not known, and no jump is found.
"""

from __future__ import annotations

from bisect import insort
from typing import Any

import numpy as np

from haugmbd.compiled.array_types import Array
from haugmbd.control.diagram.evaluation import Instant
from haugmbd.control.sampled import SAME, multiple_at


def states_before_jumps(network: Any, t: Array, y: Array) -> dict[int, Array]:
    """Return, by the number of the stored state, the flat states before jumps, of y (nt, ny) at t (nt,)."""
    states: dict[int, Array] = {}
    for block in network.sampled:
        held = network.columns(block, y)
        for k in (1 + np.nonzero((y[1:, held] != y[:-1, held]).any(axis=1))[0]).tolist():
            if multiple_at(float(t[k]), block.period) is not None and t[k] - t[k - 1] <= (1.0 + SAME) * block.period:
                states.setdefault(k, y[k].copy())[held] = y[k - 1, held]
    waiting = [(k, block) for k in (0, *states) for block in network.delays]
    arrivals = sorted((float(t[k]) + block.delay, k, n) for n, (k, block) in enumerate(waiting))
    while arrivals:
        time, cause, n = arrivals.pop(0)
        block = waiting[n][1]
        k = int(np.searchsorted(t, time - network.near))
        if k == len(t) or t[k] > time + network.near:
            continue
        column = network.columns(block, y)
        if cause:
            value = Instant(network, float(t[cause]), states[cause])[block.signal]
        elif block.before is None or y[0, column] != block.before:  # it does not begin at the start of the motion
            continue
        else:
            value = block.before
        if value == y[k, column]:
            continue
        if k not in states:
            for later in network.delays:
                waiting.append((k, later))
                insort(arrivals, (float(t[k]) + later.delay, k, len(waiting) - 1))
        states.setdefault(k, y[k].copy())[column] = value
    return states
