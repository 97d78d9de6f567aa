r"""Steps of a Runge-Kutta method in one call with two numbers: all else that they read and write is known to compiled code by one address.

    renew    y' = f(t, y) with other inputs            steps    the kernel of `integrators.explicit.runge_kutta`
    look     whether Python has to search these steps: for rows that become dependent, or angles whose turns are not known
    read     outputs at the end

The call of the kernel itself hands over some thirty arrays and records, which takes as long as a step of a small mechanism.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from haugmbd.compiled.array_types import Array, Ints
from haugmbd.compiled.function_pointers import F1, F2, F3, I1, I2, Routine, resolve
from haugmbd.compiled.jit import DirectCall, kernel, released
from haugmbd.compiled.native_tuples import tuple_pointer
from haugmbd.compiled.numba_names import typeof_impl
from haugmbd.compiled.records import record_type
from haugmbd.compiled.status_codes import OK
from haugmbd.integrators.explicit.runge_kutta import run_entry
from haugmbd.integrators.explicit.tableau import Tableau
from haugmbd.integrators.step_context import OPTIONS_TYPE, ROUTINE_TYPE, Dynamics, Options, Point, Problem, Steps
from haugmbd.integrators.watches.event_watch import NO_EVENTS, STEPS_SEEN, EventWatch, StepsSeen
from haugmbd.integrators.watches.rank_watch import WATCH_STATE, RankWatch, WatchState
from haugmbd.integrators.watches.stiffness_watch import StiffnessWatch
from haugmbd.model.generalized_forces import copy_line
from haugmbd.simulation.quantity_reader import QuantityReader, read_entry
from haugmbd.system.checks.known_turns import DRIFTED, CountedAngles, gaps_entry
from haugmbd.workspace.layout import PACK_TYPE, Address, Pack

ROWS, TURNS = 1, 2
"""What Python has to search, as bits."""


class PlanFields(NamedTuple):
    """All that steps of a Stepper read and write."""

    rates: Routine
    post_step: Routine
    look: Routine
    pack: Pack
    options: Options
    c: Array
    a: Array
    b: Array
    volumes: Array
    watch: WatchState
    watch_pack: Pack
    watch_ends: Array
    places: Array
    seen: StepsSeen
    columns: Ints
    counts: Array
    t_kept: Array
    h_kept: Array
    y_kept: Array
    y: Array
    y_dot: Array
    k: Array
    t: Array
    Y: Array
    Y_dot: Array
    before: Array  # (2, ny) state and rates before the steps
    turn_places: Ints
    turn_vectors: Array
    turn_offsets: Array
    turn_room: Array
    gaps: Array
    out_ints: Ints
    out_x_bar: Array
    out_offsets: Array
    out_room: Array
    out: Array


class Plan(PlanFields):
    """A PlanFields that is written to memory for compiled code once."""

    address = Address()


PLAN_TYPE = tuple_pointer("Plan")
PLAN_TYPE.fields |= {
    **dict.fromkeys(("rates", "post_step"), ROUTINE_TYPE),
    "look": NO_EVENTS.look.type,
    "pack": PACK_TYPE,
    "options": OPTIONS_TYPE,
    "c": F1,
    "a": F2,
    "b": F1,
    "volumes": F2,
    "watch": record_type(WATCH_STATE),
    "watch_pack": PACK_TYPE,
    "watch_ends": F2,
    "places": F2,
    "seen": record_type(STEPS_SEEN),
    "columns": I1,
    **dict.fromkeys(("counts", "t_kept", "h_kept"), F1),
    "y_kept": F2,
    "y": F1,
    "y_dot": F1,
    "k": F2,
    "t": F1,
    **dict.fromkeys(("Y", "Y_dot", "before"), F2),
    "turn_places": I2,
    "turn_vectors": F2,
    "turn_offsets": F1,
    "turn_room": F3,
    "gaps": F1,
    "out_ints": I2,
    "out_x_bar": F2,
    **dict.fromkeys(("out_offsets", "out_room", "out"), F1),
}


@typeof_impl.register(Plan)  # type: ignore[untyped-decorator]
def plan_type(plan: Plan, context: Any) -> Any:
    """Return the one type of every Plan."""
    return PLAN_TYPE


def _plain(compiled: Any) -> Any:
    """Return the Python function of an entry, to be part of another one."""
    return getattr(compiled, "py_func", compiled)


make_steps = kernel(_plain(run_entry))
find_gaps = kernel(_plain(gaps_entry))
read_numbers = kernel(_plain(read_entry))


@released
def held_steps_entry(plan: Plan, t: float, h: float, renew: bool) -> tuple[int, int, int]:
    """Make the steps of h from t to the times of the plan, and read the outputs.

    Return the code, the number of steps done, and what Python has to search.
    """
    P, y, y_dot, options = plan.pack, plan.y, plan.y_dot, plan.options
    watch = RankWatch(plan.volumes, plan.watch, plan.watch_pack, plan.watch_ends)
    events = EventWatch(plan.look, P, plan.places, plan.before, plan.seen)
    dynamics = Dynamics(plan.rates, plan.post_step, P, watch, events)
    if renew:
        code = plan.rates(P, options, t, y, y_dot)
        if code != OK:
            return code, 0, 0
    copy_line(y, plan.before[0])
    copy_line(y_dot, plan.before[1])
    stiffness = StiffnessWatch(plan.columns, plan.counts, plan.t_kept, plan.h_kept, plan.y_kept)
    tableau, steps = Tableau(plan.c, plan.a, plan.b), Steps(plan.t, plan.Y, plan.Y_dot)
    code, done = make_steps(dynamics, options, tableau, stiffness, t, h, Point(y, y_dot), plan.k, steps)
    search = 0
    if done > 0:
        if plan.volumes.shape[1] > 0 and not (plan.watch.armed == 1.0 and plan.watch.due == 0.0):
            search += ROWS
        if plan.turn_places.shape[0] > 0:
            far = find_gaps(
                plan.Y[:done], plan.turn_places, plan.turn_vectors, plan.turn_offsets, plan.turn_room, DRIFTED, plan.gaps
            )
            search += TURNS if far >= 0 else 0
        if plan.out.size > 0:
            read_numbers(plan.Y[:done], y_dot, plan.out_ints, plan.out_x_bar, plan.out_offsets, plan.out_room, plan.out)
    return code, done, search


held_steps = DirectCall(held_steps_entry)


def new_plan(problem: Problem, tableau: Tableau, y_dot: Array, steps: Steps, angles: CountedAngles, reader: QuantityReader) -> Plan:
    """Return the plan of steps to the times in `steps`, with all functions compiled that they call."""
    stiffness: Any = problem.stiffness(bool(tableau.b.size > 1 and tableau.c[-1] == 1.0))
    watch: Any = problem.watch
    resolve(problem.rates, problem.post_step, problem.pack, watch.pack, NO_EVENTS.look)
    fields: tuple[Any, ...] = (
        problem.rates,
        problem.post_step,
        NO_EVENTS.look,
        problem.pack,
        problem.options,
        *tableau,
        *watch,
        np.zeros((0, 0)),
        NO_EVENTS.state,
        *stiffness,
        problem.y,
        y_dot,
        problem.stages(tableau.b.size - 1),
        *steps,
        np.zeros((2, problem.y.size)),
        angles.places,
        angles.vectors,
        angles.offsets,
        np.zeros((3, 3, 3)),
        np.zeros(len(angles.labels)),
        *reader.arrays,
    )
    return Plan(*fields)
