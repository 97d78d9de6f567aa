r"""The loop of all implicit methods: predict, solve, estimate the error; a failed step is repeated in smaller parts.

    place(P, newton, y)                     the pose of a displacement, see `newton`
    predict(P, step, newton, history, y)    base pose, displacement, u and u' of the next step; c_q and c_u of the stage;  OK, or a code
                                            the equation of internal states, if it is not the trapezoidal rule
    solve(P, tangents, place, ...)          the iteration, see `newton`; for several stages together, see `radau_stages`
    close(P, step, control, history, y)     integrated angles; the error of the step relative to its tolerance; if it is at most 1,
                                            the data of the next step;  step.factor proposes the next step

fixed step    each step ends at t_start + k h;  if Newton's iteration fails, the step is divided in equal parts that grow by step.factor
adaptive      h <- step.factor h, within the limits of the method;  if Newton's iteration fails, a quarter
              no body turns by much more than TURN in a step: angles of joints and couplings are counted from step to step, and the error
              of a steady rotation, which may be zero, does not show a lost turn

The watch for dependent rows, see `rank_watch`, takes the pivots of Newton's last matrix, with M + c_u C + c_q K in place of M.  Their
volumes are as smooth as the motion while c_u and c_q do not change.  Under error control they change, and the rows are factored once more
without tangents, if there are any.  In a long step the watch also looks between its ends.  After a part of a fixed step, or a long fixed
step, whose matrices have tangents, the motion is searched, and the watch evaluates the rows itself from there on.

Methods, forms of the constraints, and this loop call each other by address: a new method compiles its own routines only.
"""

from __future__ import annotations

from math import ceil, sqrt
from typing import Any, NamedTuple

from haugmbd.compiled.array_types import Array
from haugmbd.compiled.array_views import borrow, borrow_line
from haugmbd.compiled.function_pointers import F1, F2, Routine, function_type, types
from haugmbd.compiled.jit import DirectCall, inlined, kernel, released
from haugmbd.compiled.numba_names import typeof_impl
from haugmbd.compiled.status_codes import OK, SHORTER_STEP_MAY_AVOID, STEP_TOO_SMALL
from haugmbd.formulations.newton_euler import factorize
from haugmbd.integrators.implicit.force_jacobians import TANGENTS_SIGNATURE
from haugmbd.integrators.implicit.newton import KEEP_POSITIONS, PLACE_SIGNATURE, SOLVE_SIGNATURE, finish_step, turn_ahead
from haugmbd.integrators.implicit.records import CONTROL_TYPE, NEWTON_TYPE, STEP_TYPE, Control, Newton, Step
from haugmbd.integrators.step_context import Options, check_finite
from haugmbd.integrators.watches.event_watch import EventWatch, watch_events
from haugmbd.integrators.watches.rank_watch import RankWatch, keep_end, motion_of, needs_look, watch_between, watch_step
from haugmbd.math.body_columns import OMEGA_BAR, WIDTH
from haugmbd.math.vec3 import load
from haugmbd.model.generalized_forces import clear, copy_line
from haugmbd.workspace import accessors as ws
from haugmbd.workspace import layout as at
from haugmbd.workspace.internal_states import put_state_trapezoids
from haugmbd.workspace.layout import PACK_TYPE, Pack

PREDICT_SIGNATURE = types.int64(PACK_TYPE, STEP_TYPE, NEWTON_TYPE, F2, F1)
CLOSE_SIGNATURE = types.float64(PACK_TYPE, STEP_TYPE, CONTROL_TYPE, F2, F1)

TURN, LONGEST_TURN = 1.0, 2.0
"""[rad] In a step under error control: by how much a body turns at most at the speed before it, and at that behind it."""
LOST = 1e300
"""The error of a step that has no end, or in which a body turns by more."""
SMALLEST_PART = 2.0**-17
"""Smallest part of a fixed step before it is given up."""
SMALLEST_STEP = 1e-14
"""Relative to |t| + 1 s, or to |t| and the rest of a run that is shorter: a smaller step no longer changes t reliably."""
LONG = 0.3
"""Motion in a step beyond which its ends do not show how the volumes change.  Between singular configurations a volume is about a sine of
the angle between two bodies, which turn by up to twice as much."""
SAME = 1e-6
"""Relative: a smaller change of c_q comes from rounding of a fixed step."""
REST = 1e-9
"""Relative to a step: a smaller remainder to its end is rounding."""


@inlined
def save(P: Pack, y: Array, saved: Array) -> None:
    """Store what a step changes: y, and the stage, lam and the rates of the angles, which are stored side by side."""
    copy_line(y, borrow_line(saved, 0, y.size))
    kept = borrow_line(saved, y.size, saved.size - y.size)
    copy_line(borrow_line(P.work, ws.start_of(P, at.DISPLACEMENT), kept.size), kept)


@inlined
def restore(P: Pack, y: Array, saved: Array) -> None:
    """Restore what was stored."""
    copy_line(borrow_line(saved, 0, y.size), y)
    kept = borrow_line(saved, y.size, saved.size - y.size)
    copy_line(kept, borrow_line(P.work, ws.start_of(P, at.DISPLACEMENT), kept.size))


class MethodRoutines(NamedTuple):
    """The routines of a method: see the head of this file."""

    solve: Routine
    tangents: Routine
    place: Routine
    predict: Routine
    close: Routine


class MethodMemory(NamedTuple):
    """The memory of a method, see its file;  saved: what a failed step restores;  watch, events: see `step_context.Problem`."""

    history: Array
    saved: Array
    watch: RankWatch
    events: EventWatch


class ImplicitSteps(NamedTuple):
    """Accepted steps in arrays of fixed length: times (n,), states and their rates (n, ny), multipliers by slots (n, .)."""

    t: Array
    y: Array
    y_dot: Array
    lam: Array


METHOD_TYPE = types.NamedTuple(
    tuple(map(function_type, (SOLVE_SIGNATURE, TANGENTS_SIGNATURE, PLACE_SIGNATURE, PREDICT_SIGNATURE, CLOSE_SIGNATURE))),
    MethodRoutines,
)


@typeof_impl.register(MethodRoutines)  # type: ignore[untyped-decorator]
def method_type(method: MethodRoutines, context: Any) -> Any:
    """Return the one type of all methods."""
    return METHOD_TYPE


@kernel
def watch_implicit_step(P: Pack, watch: RankWatch, step: Step, newton: Newton, control: Control, y: Array, y_dot: Array) -> bool:
    """Look at the rows at the end of an implicit step; return whether the steps end here, to be searched."""
    w, t = watch.state, control.t
    if not needs_look(watch, t, control.h_next):
        return False
    n, has_values = ws.n_bodies(P), t > w.t_new and w.values > 0.0
    way = (t - w.t_new if has_values else step.h) * motion_of(y, n, ws.length(P))
    known = has_values or way <= LONG
    if w.evaluates == 0.0 and ws.n_forces(P) + ws.difference_colors(P)[0, 0] > 0:
        if control.h_fixed == 0.0:
            clear(ws.tangents(P))
            clear(ws.coupled_tangents(P))
            known = factorize(P) == OK and known
        elif way > LONG or (has_values and abs(newton.c_q - w.c_q) > SAME * newton.c_q):
            known, w.evaluates = False, 1.0
    if not known:
        w.values, w.due = 0.0, 1.0
    elif has_values and way > LONG:
        watch_between(watch, n, way, t, y, y_dot)
    w.c_q = newton.c_q
    ends = watch_step(P, watch, t, control.h_next, y, y_dot)
    keep_end(watch, t, y, y_dot)
    return ends


@inlined
def fastest_rotation(y: Array, n: int) -> float:
    """Return the largest |omega_bar| of the n bodies of a state [rad/s]."""
    bodies, most = borrow(y, 0, n, WIDTH), 0.0
    for k in range(1, n):
        a, b, c = load(bodies, k, OMEGA_BAR)
        most = max(most, a * a + b * b + c * c)
    return sqrt(most)


@inlined
def next_step(P: Pack, control: Control, t: float, y: Array) -> tuple[float, float, bool]:
    """Return the size of the next step, the end of the fixed step or of the run that it belongs to [s], and whether it ends there."""
    whole, target = control.h_fixed, control.t_end
    if whole > 0.0 and control.t_first + (control.n_done + 1.0 + REST) * whole < target:
        target = control.t_first + (control.n_done + 1.0) * whole
    h = min(control.h_next, control.h_max)
    if whole == 0.0:
        omega = fastest_rotation(y, ws.n_bodies(P))
        if h * omega > TURN:
            h = TURN / omega
    parts = ceil((target - t) / h - REST)
    if parts <= 1.0:
        return target - t, target, True
    if whole > 0.0 or parts == 2.0:  # equal steps to the end, not a long one and a tiny one
        h = (target - t) / parts
    return h, target, False


@inlined
def try_step(
    method: MethodRoutines, P: Pack, step: Step, newton: Newton, control: Control, options: Options, memory: MethodMemory, y: Array
) -> tuple[int, float]:
    """Predict, solve and close the step of step.h from step.t; return the code, and the error relative to its tolerance.

    The error of a step in which a turn may be lost is LOST.
    """
    h = step.h
    put_state_trapezoids(P, h, y, ws.angle_rates(P))
    code = method.predict(P, step, newton, memory.history, y)
    turn_ahead(P, h, y)
    if code == OK:
        code = method.solve(P, method.tangents, method.place, newton, options, memory.history, step.t + h, y)
    if code == OK:
        code = check_finite(P, y)
    if code != OK:
        return code, LOST
    if control.h_fixed == 0.0 and h * fastest_rotation(y, ws.n_bodies(P)) > LONGEST_TURN:
        return OK, LOST
    return OK, method.close(P, step, control, memory.history, y)


@kernel
def make_steps(
    method: MethodRoutines,
    P: Pack,
    step: Step,
    newton: Newton,
    control: Control,
    options: Options,
    memory: MethodMemory,
    y: Array,
    steps: ImplicitSteps,
) -> tuple[int, int]:
    """Advance y to control.t_end, or until `steps` is full or a watch ends them.

    Return the code and the number of steps done.
    """
    done, lam = 0, ws.multipliers(P)
    t, whole = control.t, control.h_fixed
    while done < steps.y.shape[0] and t < control.t_end:
        h, target, last = next_step(P, control, t, y)
        if whole > 0.0 and newton.constraint_form == KEEP_POSITIONS:  # the shorter the step, the less u' changes a displacement
            newton.tolerance = control.newton_tol * h / whole
        save(P, y, memory.saved)
        step.h, step.t = h, t
        code, error = try_step(method, P, step, newton, control, options, memory, y)
        if code != OK or not error <= 1.0:  # NaN, too
            restore(P, y, memory.saved)
            control.n_rejected += 1.0
            if code != OK and code not in SHORTER_STEP_MAY_AVOID:
                return code, done
            control.h_next = h * (0.5 if whole > 0.0 or (code == OK and error == LOST) else 0.25 if code != OK else step.factor)
            if control.h_next < max(SMALLEST_PART * whole, SMALLEST_STEP * (abs(t) + min(1.0, control.t_end - t))):
                if code == OK:
                    code = STEP_TOO_SMALL
                    ws.status(P)[2] = control.h_next
                return code, done
            continue
        finish_step(P, y, steps.y_dot[done])
        step.h_before = h
        t = target if last else t + h
        control.t = t
        if whole > 0.0:
            control.h_next = min(whole, control.h_next * step.factor)
        elif not last or step.factor < 1.0:
            control.h_next = h * step.factor
        if whole == 0.0 or last:
            copy_line(y, steps.y[done])
            copy_line(lam, steps.lam[done])
            steps.t[done] = t
            done += 1
            control.n_done += 1.0
            rows = watch_implicit_step(P, memory.watch, step, newton, control, y, steps.y_dot[done - 1])
            if watch_events(memory.events, t, y, steps.y_dot[done - 1]) or rows:
                return OK, done
    return OK, done


@released
def run_entry(
    method: MethodRoutines,
    P: Pack,
    step: Step,
    newton: Newton,
    control: Control,
    options: Options,
    memory: MethodMemory,
    y: Array,
    steps: ImplicitSteps,
) -> tuple[int, int]:
    """Make steps, see `make_steps`."""
    return make_steps(method, P, step, newton, control, options, memory, y, steps)


run = DirectCall(run_entry)
