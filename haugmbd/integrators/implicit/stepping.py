r"""The loop of all implicit methods: predict, solve, judge; a step that fails is taken again in smaller parts.

    place(P, numbers, y)                    the pose of a displacement, see `stage`
    predict(P, o, numbers, room, y)         base pose, displacement, u and u' of the next step; c_q and c_u for the stage;  OK, or why not
    solve(P, tangents, place, ...)          the iteration, see `stage`; of several stages together, see `collocation`
    close(P, o, control, room, y)           integrated angles; the error of the step relative to its tolerance; where it is at most 1,
                                            remember what the next step needs;  o[FACTOR] proposes the next step

fixed step    each step ends at t_start + k h;  where Newton fails, the way there is gone in equal parts that grow by o[FACTOR] again
adaptive      h <- o[FACTOR] h, as far as the method lets it;  where Newton fails, a quarter

Method, formulation of the constraints, and this loop meet by address only: a new method compiles its routines, nothing else.
"""

from __future__ import annotations

from math import ceil
from typing import Any

from haugmbd.algebra.jit import entry, inlined
from haugmbd.algebra.routine import F1, F2, types
from haugmbd.algebra.vec3 import Array
from haugmbd.algebra.views import borrow_line
from haugmbd.integrators.implicit.stage import KEEP_POSITIONS, LEVEL, TOLERANCE, finish_step, turn_ahead
from haugmbd.integrators.stepping import check_finite
from haugmbd.model import accessors as ws
from haugmbd.model import tables as at
from haugmbd.model.loads import copy_line
from haugmbd.model.status import NO_CONVERGENCE, NOT_FINITE, OK, SINGULAR, STEP_TOO_SMALL
from haugmbd.model.tables import PACK_TYPE, Pack

H, H_BEFORE, START, FACTOR, OWN = 0, 1, 2, 3, 4
"""In `o`: this step and the one before [s] (0 at the start), the time it starts from, the proposal, and the method's own numbers."""
METHOD_NUMBERS = 16

T, T_END, H_NEXT, RTOL, ATOL, H_MAX, REJECTED, WHOLE, FROM, COUNT, TOL = 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10
"""In `control`: where the run is; its end; next step; tolerances; largest step; steps refused; fixed step (0: error control) and where
its steps count from, and how many there are; tolerance of Newton's iteration in a whole step."""
CONTROL = 11

PREDICT_SIGNATURE = types.int64(PACK_TYPE, F1, F1, F2, F1)
CLOSE_SIGNATURE = types.float64(PACK_TYPE, F1, F1, F2, F1)

SMALLEST_PART = 2.0**-17
"""Of a fixed step, before it is given up."""
SMALLEST_STEP = 1e-14
"""Relative to |t| + 1 s: a step below it no longer changes t reliably."""
REST = 1e-9
"""Of a step: less than this is left to its end by rounding alone."""


@inlined
def save(P: Pack, y: Array, saved: Array) -> None:
    """Keep what a step changes: y, and the stage, lam and the rates of the angles, which stand side by side."""
    copy_line(y, borrow_line(saved, 0, y.size))
    kept = borrow_line(saved, y.size, saved.size - y.size)
    copy_line(borrow_line(P.work, P.ints[3 * at.STAGE], kept.size), kept)


@inlined
def restore(P: Pack, y: Array, saved: Array) -> None:
    """Go back to what was kept."""
    copy_line(borrow_line(saved, 0, y.size), y)
    kept = borrow_line(saved, y.size, saved.size - y.size)
    copy_line(kept, borrow_line(P.work, P.ints[3 * at.STAGE], kept.size))


@entry
def run(
    solve: Any,
    tangents: Any,
    place: Any,
    predict: Any,
    close: Any,
    P: Pack,
    o: Array,
    numbers: Array,
    options: Array,
    control: Array,
    room: Array,
    saved: Array,
    y: Array,
    ts: Array,
    ys: Array,
    ks: Array,
    ls: Array,
) -> tuple[int, int]:
    """Advance y to control[T_END] or until `ys` (n, ny) is full; fill times, states, rates and multipliers; return code and steps done."""
    done, lam = 0, ws.multipliers(P)
    t, whole = control[T], control[WHOLE]
    while done < ys.shape[0] and t < control[T_END]:
        target = control[T_END]
        if whole > 0.0 and control[FROM] + (control[COUNT] + 1.0 + REST) * whole < target:
            target = control[FROM] + (control[COUNT] + 1.0) * whole
        h = min(control[H_NEXT], control[H_MAX])
        parts = ceil((target - t) / h - REST)
        last = parts <= 1.0
        if last:
            h = target - t
        elif whole > 0.0 or parts == 2.0:  # equal steps to the end, not a long one and a tiny one
            h = (target - t) / parts
        if whole > 0.0 and numbers[LEVEL] == KEEP_POSITIONS:  # a displacement says the less of u', the shorter the step
            numbers[TOLERANCE] = control[TOL] * h / whole
        save(P, y, saved)
        o[H], o[START] = h, t
        code = predict(P, o, numbers, room, y)
        turn_ahead(P, h, y)
        if code == OK:
            code = solve(P, tangents, place, numbers, options, room, t + h, y)
        if code == OK:
            code = check_finite(P, y)
        error = close(P, o, control, room, y) if code == OK else 1e300
        if code == OK and error <= 1.0:
            finish_step(P, y, ks[done])
            o[H_BEFORE] = h
            t = target if last else t + h
            control[T] = t
            if whole == 0.0 or last:
                for a in range(y.size):
                    ys[done, a] = y[a]
                for a in range(lam.size):
                    ls[done, a] = lam[a]
                ts[done] = t
                done += 1
                control[COUNT] += 1.0
            if whole > 0.0:
                control[H_NEXT] = min(whole, control[H_NEXT] * o[FACTOR])
            elif not last or o[FACTOR] < 1.0:
                control[H_NEXT] = h * o[FACTOR]
            continue
        restore(P, y, saved)
        control[REJECTED] += 1.0
        if code != OK and code != NO_CONVERGENCE and code != NOT_FINITE and code != SINGULAR:  # those a shorter step may avoid
            return code, done
        control[H_NEXT] = h * (0.5 if whole > 0.0 else 0.25 if code != OK else o[FACTOR])
        if control[H_NEXT] < max(SMALLEST_PART * whole, SMALLEST_STEP * (abs(t) + 1.0)):
            if code == OK:
                code = STEP_TOO_SMALL
                P.work[P.ints[3 * at.STATUS] + 2] = control[H_NEXT]
            return code, done
    return OK, done
