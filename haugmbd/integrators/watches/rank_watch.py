r"""Whether rows are about to become dependent, by the pivots that evaluations and Newton's iterations leave, in every step.

    V_e = prod |pivot|^(1/2)    over the rows of edge e: the volume that they span beyond the rows eliminated before, in the metric of M^-1
    V_e(t + T) by the line through its last values, V_e(t + h) by the parabola

Rows become dependent where one of the volumes vanishes; it is as smooth as the motion, up to its sign, and does not depend on the order of
the rows of an edge.  Where an edge leaves rows out it is the volume of all of them, see `kkt.rank_deficient`.  A run whose volumes do not
vanish within the horizon T, the next step h and some motion, need not be searched for singular configurations.  The pivots are those of the
rates at the end of a step and, in long steps, of some stages.  Those of an implicit step are of its Newton iteration, see
`implicit.step_control`.  A formulation in Python leaves none: the watch then evaluates and factors the rows in a workspace of its own, as
it does between the ends of a long implicit step.
Source: Golub and Van Loan, Matrix Computations, sec. 5.2 (pivots and determinants); Haug 2021, sec. 3.7.
"""

from __future__ import annotations

from math import isfinite, sqrt
from typing import Any, NamedTuple

import numpy as np

from haugmbd.compiled.array_types import Array
from haugmbd.compiled.array_views import borrow
from haugmbd.compiled.ffi import NO_CALLBACK
from haugmbd.compiled.function_pointers import F2, Routine, types
from haugmbd.compiled.jit import entry, inlined, kernel
from haugmbd.compiled.numba_names import typeof_impl
from haugmbd.compiled.records import new_record, record_dtype, record_type
from haugmbd.compiled.status_codes import NOT_FINITE, OK
from haugmbd.formulations.newton_euler import factorize
from haugmbd.integrators.dense_output import put_parabola, put_state
from haugmbd.model.evaluate import prepare
from haugmbd.model.generalized_forces import clear, copy_line
from haugmbd.workspace import accessors as ws
from haugmbd.workspace.layout import PACK_TYPE, SOLVE_SIGNATURE, WIDTH, Pack

AHEAD, STEPS_AHEAD = 0.25, 1.25
"""The horizon: motion [rad, or parts of the size], and steps."""
SPACING = 0.15
"""Motion within a step after which a stage is examined."""
LOOK = 0.04
"""Motion after which the end of a step is examined again, if the next step goes beyond it."""
CLOSE = 0.005
"""Motion after the last values within which none are taken."""
LAST_STAGE = 0.9
"""Part of a step: stages beyond are as good as its end."""
FIRST_LOOK, LONGEST_LOOK = 0.02, 1.0
"""Motion, and time [s], after the start of a run at which the rows are compared with those at the start."""
LONGEST = 1e9
"""[s] the horizon of a motion that rests."""


class WatchState:
    """The times of the last three values, and what they show."""

    t_old: float
    t_mid: float
    t_new: float
    values: float  # how many of them there are
    next_step: float  # [s]
    horizon: float  # [s]
    spacing: float  # [s]
    t_look: float  # when the end of a step is examined again
    armed: float  # 1 if a batch of steps ends where rows are about to become dependent
    due: float  # 1 if some are, or if a step does not show whether they are
    evaluates: float  # 1 if the pivots are those of the watch's own workspace
    c_q: float  # in the matrix of the last implicit step
    kept_mid: float  # at the start of the step
    kept_new: float
    kept_values: float
    kept_due: float


class RankWatch(NamedTuple):
    """The watch over the rank of the rows in one run.

    volumes: (5, ne) of the edges at the last three times, and the last two at the start of the step;  state: see `WatchState`.
    pack: a workspace of its own for rows and their factor;  ends: (3, ny) of implicit steps: state and rates at the time of the last
    values, and room for a state in between.  There are no volumes if the rows are not watched
    """

    volumes: Array
    state: WatchState
    pack: Pack
    ends: Array


WATCH_STATE = record_dtype(WatchState)
WATCH_TYPE = types.NamedTuple((F2, record_type(WATCH_STATE), PACK_TYPE, F2), RankWatch)


@typeof_impl.register(RankWatch)  # type: ignore[untyped-decorator]
def watch_type(watch: RankWatch, context: Any) -> Any:
    """Return the one type of every RankWatch."""
    return WATCH_TYPE


def new_watch(n: int, pack: Pack, ny: int) -> RankWatch:
    """Return a watch of n edges, with a workspace of its own, for states of ny numbers."""
    return RankWatch(np.ones((5, n)), new_record(WATCH_STATE), pack, np.zeros((3, ny)))


UNUSED = Routine(None, SOLVE_SIGNATURE)
NO_PACK = Pack(
    ints=np.zeros(0, dtype=np.int64),
    reals=np.zeros(0),
    work=np.zeros(0),
    drive=UNUSED,
    apply=UNUSED,
    callback=NO_CALLBACK,
    fills=(),
    prepare=UNUSED,
    prepare_stage=UNUSED,
    factorize=UNUSED,
    finish=UNUSED,
    begin=UNUSED,
    refine=UNUSED,
    friction=UNUSED,
)
"""Of a watch that has no edges, and evaluates nothing."""
NO_WATCH = new_watch(0, NO_PACK, 0)


@kernel
def motion_of(x: Array, n: int, size: float) -> float:
    """Return the largest |omega|, or |v| relative to the mean divided by the size, of n bodies in a state; or their rates, in its rates."""
    bodies = borrow(x, 0, n, WIDTH)
    mx, my, mz = 0.0, 0.0, 0.0
    if n > 2:  # noqa: PLR2004
        for k in range(1, n):
            mx, my, mz = mx + bodies[k, 7], my + bodies[k, 8], mz + bodies[k, 9]
        mx, my, mz = mx / (n - 1), my / (n - 1), mz / (n - 1)
    most = 0.0
    for k in range(1, n):
        way = (bodies[k, 7] - mx) ** 2 + (bodies[k, 8] - my) ** 2 + (bodies[k, 9] - mz) ** 2
        turn = bodies[k, 10] ** 2 + bodies[k, 11] ** 2 + bodies[k, 12] ** 2
        most = max(most, way / size**2, turn)
    return sqrt(most)


@kernel
def time_of(way: float, speed: float, bend: float) -> float:
    """Return the time [s] of a motion with speed and acceleration:  speed t + bend t^2 / 2 = way."""
    root = speed + sqrt(speed**2 + 2.0 * bend * way)
    return min(2.0 * way / root, LONGEST) if root > 0.0 else LONGEST


@kernel
def volume(d_inv: Array) -> float:
    """Return the product of the distances of the rows of one edge, by its inverse pivots (6,); those of rows that are dropped are 0."""
    product = 1.0
    for a in range(6):
        if d_inv[a] != 0.0:
            product *= d_inv[a]
    return 1.0 / sqrt(abs(product))


@kernel
def add_volumes(P: Pack, watch: RankWatch, t: float) -> None:
    """Add the volumes of the edges at time t, by the current factor, and compare their continuation with the horizons."""
    V, w = watch.volumes, watch.state
    d_inv, span, n = ws.inverse_pivots(P), ws.row_spans(P), ws.n_bodies(P)
    w.t_old, w.t_mid, w.t_new = w.t_mid, w.t_new, t
    w.values = min(w.values + 1.0, 3.0)
    step, before = w.t_new - w.t_mid, w.t_mid - w.t_old
    for e in range(V.shape[1]):
        V[0, e], V[1, e] = V[1, e], V[2, e]
        V[2, e] = sqrt(abs(span[e, 0])) if span[e, 0] != 0.0 else volume(d_inv[n + e])
        if w.values > 1.0:
            slope = (V[2, e] - V[1, e]) / step
            ahead = V[2, e] + w.horizon * slope
            if w.values > 2.0:  # noqa: PLR2004
                bend = (slope - (V[1, e] - V[0, e]) / before) / (step + before)
                ahead = min(ahead, V[2, e] + w.next_step * (slope + (w.next_step + step) * bend))
            if not ahead > 0.0:
                w.due = 1.0


@kernel
def factorize_own(watch: RankWatch, t: float, y: Array) -> int:
    """Evaluate and factor the rows of the state y in the workspace of the watch; return the code."""
    P = watch.pack
    code = prepare(P, t, y)
    if code != OK:
        return code
    clear(ws.right_hand_side(P))
    return factorize(P)


@kernel
def take_volumes(P: Pack, watch: RankWatch, t: float, y: Array) -> None:
    """Add the volumes of the state y, by the factor of the run, unless the watch has its own."""
    if watch.state.evaluates == 0.0:
        add_volumes(P, watch, t)
    elif factorize_own(watch, t, y) == OK:
        add_volumes(watch.pack, watch, t)
    else:
        watch.state.due = 1.0


@kernel
def watch_stage(P: Pack, watch: RankWatch, c: float, t: float, y: Array) -> None:
    """Look at the rows of the stage y at the part c of a step, in long steps."""
    if watch.volumes.shape[1] > 0 and c < LAST_STAGE and t - watch.state.t_new > watch.state.spacing:
        take_volumes(P, watch, t, y)


@kernel
def watch_between(watch: RankWatch, n_bodies: int, way: float, t: float, y: Array, y_dot: Array) -> None:
    """Look at the rows between the last values and the end (t, y) of a step whose motion is `way`, on the dense output."""
    w, ends = watch.state, watch.ends
    t0, h = w.t_new, t - w.t_new
    parts = 1 + int(way / SPACING)
    for k in range(1, parts):
        s = k / parts
        put_state(s, h, (ends[0], ends[1]), (y, y_dot), n_bodies, ends[2])
        if factorize_own(watch, t0 + s * h, ends[2]) != OK:
            w.due = 1.0
            return
        add_volumes(watch.pack, watch, t0 + s * h)


@kernel
def keep_end(watch: RankWatch, t: float, y: Array, y_dot: Array) -> None:
    """Keep the state y and its rates, if the last values are those of time t."""
    if watch.state.t_new == t:
        copy_line(y, watch.ends[0])
        copy_line(y_dot, watch.ends[1])


@inlined
def needs_look(watch: RankWatch, t: float, h: float) -> bool:
    """Return whether the rows are to be examined at the end t of a step, before one of h."""
    w = watch.state
    return watch.volumes.shape[1] > 0 and not (w.values > 0.0 and w.t_new < t and t + h < w.t_look)


@kernel
def watch_step(P: Pack, watch: RankWatch, t: float, h: float, y: Array, y_dot: Array) -> bool:
    """Look at the rows at the end (t, y) of a step, before one of h; return whether the steps end here, to be searched."""
    w = watch.state
    if needs_look(watch, t, h):
        update_volumes(P, watch, t, h, y, y_dot)
    if w.kept_new != w.t_new or w.values < 2.0:  # noqa: PLR2004
        keep_values(watch)
    return w.armed == 1.0 and w.due != 0.0


@kernel
def update_volumes(P: Pack, watch: RankWatch, t: float, h: float, y: Array, y_dot: Array) -> None:
    """Compute the volumes of the rows at the end (t, y) of a step, before a step of h."""
    w = watch.state
    if not t > w.t_new:
        w.values = 0.0
    n, size = ws.n_bodies(P), ws.length(P)
    speed, bend = motion_of(y, n, size), motion_of(y_dot, n, size)
    w.t_look = t + time_of(LOOK, speed, bend)
    if w.values == 0.0 or (t - w.t_new) * (speed + 0.5 * bend * (t - w.t_new)) > CLOSE:
        w.spacing = time_of(SPACING, speed, bend)
        w.next_step, w.horizon = h, time_of(AHEAD, speed, bend) + STEPS_AHEAD * h
        take_volumes(P, watch, t, y)


@kernel
def keep_values(watch: RankWatch) -> None:
    """Keep the last two values, to which a step that is rejected goes back."""
    V, w = watch.volumes, watch.state
    for e in range(V.shape[1]):
        V[3, e], V[4, e] = V[1, e], V[2, e]
    w.kept_mid, w.kept_new, w.kept_values, w.kept_due = w.t_mid, w.t_new, min(w.values, 2.0), w.due


@kernel
def restore_values(watch: RankWatch) -> None:
    """Go back to the values at the start of a step that is rejected."""
    V, w = watch.volumes, watch.state
    for e in range(V.shape[1]):
        V[1, e], V[2, e] = V[3, e], V[4, e]
    if V.shape[1] > 0:
        w.t_mid, w.t_new, w.values, w.due = w.kept_mid, w.kept_new, w.kept_values, w.kept_due


@entry
def begin_watch(watch: RankWatch, t: float, h: float, y: Array, y_dot: Array) -> int:
    """Begin with the values of the state y and of one ahead of it, on a parabola, before a step of h; return the code."""
    P, ahead = watch.pack, watch.ends[2]
    n, size = ws.n_bodies(P), ws.length(P)
    tau = min(time_of(FIRST_LOOK, motion_of(y, n, size), motion_of(y_dot, n, size)), LONGEST_LOOK)
    put_parabola(tau, y, y_dot, n, ahead)
    for a in range(ahead.size):
        if not isfinite(ahead[a]):
            return NOT_FINITE
    watch.state.values = watch.state.evaluates = 0.0
    for k in range(2):
        state = ahead if k == 1 else y
        code = factorize_own(watch, t + k * tau, state)
        if code != OK:
            return code
        watch_step(P, watch, t + k * tau, h, state, y_dot)
    return OK
