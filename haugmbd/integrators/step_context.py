r"""What every explicit integrator does with a formulation: two routines, called by address.

    rates(P, options, t, y, y_dot)     y_dot = f(t, y), at any y
    post_step(P, options, t, y, y_dot)    at the end of a step: bring y back to where it belongs, then y_dot = f(t, y)

A stabilization is such a pair.  `post_step` always normalises the Euler parameters and notes how far they had drifted.
`options` holds its parameters first, then the counters below.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from math import isfinite

import numpy as np

from haugmbd.compiled.array_types import Array
from haugmbd.compiled.array_views import borrow
from haugmbd.compiled.function_pointers import F1, Routine, types
from haugmbd.compiled.jit import kernel
from haugmbd.compiled.status_codes import NOT_FINITE, OK, report
from haugmbd.integrators.state_space import SingularCrossing, StateSpace
from haugmbd.math.euler_kernels import normalize
from haugmbd.workspace import accessors as ws
from haugmbd.workspace.layout import PACK_TYPE, WIDTH, Pack

SIGNATURE = types.int64(PACK_TYPE, F1, types.float64, F1, F1)

PARAMETERS = 6
EULER_WORST, EULER_SUM, N_RATES, N_FACTOR, N_CORRECTED = 6, 7, 8, 9, 10
"""Where the counters stand in `options`: largest and summed drift of |p| a step, evaluations, factorizations, steps corrected."""
SINCE = 11
"""Steps since the last correction; infinite where the next state is to be corrected whatever the parameters say, as at the start."""
LEVEL, TALLEST, FASTEST, STEEPEST = 12, 13, 14, 15
"""What the energy projection remembers: the energy at the start, the largest energies, (2 T) and w^T M w so far."""
OPTIONS = 16


@dataclass
class Problem:
    """What an integrator advances: its subject, room, the two routines, the options, and where it is now.

    first_chunk: steps of the first chunk, where the run may end soon; None for as many as may be
    longest_chunk: steps of a chunk at most, where the run is looked at between them; None for as many as may be
    passed: singular configurations that the run has crossed
    """

    subject: StateSpace
    pack: Pack
    rates: Routine
    post_step: Routine
    options: Array
    t: float
    y: Array
    first_chunk: int | None = None
    longest_chunk: int | None = None
    singular_crossings: list[SingularCrossing] = field(default_factory=list)


def make_options(*parameters: float) -> Array:
    """Parameters, then counters at zero."""
    options = np.zeros(OPTIONS)
    options[: len(parameters)] = parameters
    options[SINCE] = np.inf
    options[LEVEL] = np.nan
    return options


def post_step_each(post_step: Routine, pack: Pack, options: Array, t: Array, y: Array) -> tuple[int, int]:
    """Bring states y (k, ny) at t (k,), in place, where a stabilization wants them; return the code and how many are done."""
    options, y_dot = options.copy(), np.zeros(y.shape[1])
    for k in range(len(t)):
        options[SINCE] = np.inf
        code = post_step(pack, options, t[k], y[k], y_dot)
        if code != OK:
            return code, k
    return OK, len(t)


@kernel
def normalize_euler(P: Pack, options: Array, y: Array) -> None:
    """p <- p / |p| for every body; note the drift."""
    n = ws.n_bodies(P)
    bodies = borrow(y, 0, n, WIDTH)
    worst = 0.0
    for k in range(1, n):
        worst = max(worst, abs(normalize(bodies[k, 3:7])))
    options[EULER_WORST] = max(options[EULER_WORST], worst)
    options[EULER_SUM] += worst


@kernel
def check_finite(P: Pack, y: Array) -> int:
    """OK, or NOT_FINITE with the first place that is not."""
    for k in range(y.size):
        if not isfinite(y[k]):
            return report(ws.status(P), NOT_FINITE, k, y[k])
    return OK
