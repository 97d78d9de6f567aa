r"""Stops and compliant contacts of a blob: steps of fixed length that end where a place touches or is released, and go on from there.

    step      from (t, y) to the next time of the grid; `look` tells whether a place may reach its event in it
    locate    the first zero of a distance on dense output, by halving;    tau <- tau - d(y(tau)) / d'   on steps that end there
    switch    a stop     OUTSIDE -> PUSHES    PUSHES -> LEAVES inside, OUTSIDE    LEAVES -> PUSHES where it pushes again, OUTSIDE
              a point    OUTSIDE -> PUSHES, and the speed at touch is written to the state    PUSHES -> OUTSIDE
    go on     from the event to the same time of the grid, behind as many events as there are

What places and their distances are stands in `stepping.switches.switch_events`; `simulate` and `Stepper` do the same between compiled
batches, in Python, with the same tolerances.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from haugmbd.compiled.array_types import Array, Ints
from haugmbd.compiled.jit import DirectCall, kernel, released
from haugmbd.compiled.status_codes import OK, STEP_TOO_SMALL, report
from haugmbd.constraints.base import Motion
from haugmbd.errors import UsageError
from haugmbd.forces.compliant.contact_force import TOUCH_RTOL
from haugmbd.forces.joint_loads.joint_load import coordinate_of_row
from haugmbd.forces.stops import EDGE, FREE, HELD
from haugmbd.integrators.dense_output import put_state
from haugmbd.integrators.event_location import CORRECTIONS, LOCATED, OF_STEP, ROUNDED, SHORTEST, SLOPE
from haugmbd.integrators.explicit.runge_kutta import make_step
from haugmbd.integrators.explicit.tableau import Tableau
from haugmbd.integrators.step_context import Dynamics, Options, Point, Problem, Steps, start_of, steps_to
from haugmbd.integrators.watches.event_watch import ACROSS, CLEAR
from haugmbd.integrators.watches.rank_watch import watch_step
from haugmbd.integrators.watches.stiffness_watch import StiffnessWatch, new_watch
from haugmbd.model.generalized_forces import copy_line
from haugmbd.model.inspection.pressed_stops import move_bodies, places_of
from haugmbd.model.model import Model
from haugmbd.simulation.stepping.switches.stop_events import StopEvents
from haugmbd.simulation.stepping.switches.switch_events import (
    DAMPING,
    LEAVES,
    LIMIT,
    MODE,
    OUTSIDE,
    POINT,
    PUSHES,
    ROW,
    SIGN,
    STIFF,
    distance_at,
    falls,
)
from haugmbd.simulation.stepping.switches.switching import MOST_AT_ONCE
from haugmbd.simulation.stepping.switches.touch_events import TouchEvents
from haugmbd.workspace import accessors as ws
from haugmbd.workspace.layout import WIDTH, Pack

DRIVER, COLUMN = 0, 1
"""Columns of `Held.ints`: the line of the driver table that says what a place holds, and the number of the state for the speed at touch."""
PUSH, FLOOR = 0, 1
"""Columns of `Held.reals`: what the line says while a stop pushes, or while a point is open; and the least speed at touch [m/s]."""
PARTS = 16
"""Of a step, at whose ends distances are looked at where it may have an event."""
MEMORY = 5
"""Numbers that a stabilization remembers from step to step."""


class Held(NamedTuple):
    """What places hold, and room for a search.

    ints: (n, 2);  reals: (n, 2);  start: (2, ny) state and rates where a step begins;  room: (ny,) a state in it;  memory: (5,)
    before: (n,) distances at the start of a part of a step
    """

    ints: Ints
    reals: Array
    start: Array
    room: Array
    memory: Array
    before: Array


class Method(NamedTuple):
    """A method and its room.  k: (s - 1, ny) rates of stages"""

    tableau: Tableau
    stiffness: StiffnessWatch
    k: Array


def held_by(model: Model, ny: int) -> Held:
    """Return what the places of a model hold, in the order of a run: points of contact, then stops."""
    lines: list[tuple[int, int, float, float]] = []
    if model.has_contacts:
        for place in TouchEvents(model).points:
            floor = float(place.entry.load.floor_speed)  # type: ignore[attr-defined]
            lines.append((place.entry.drivers[0], place.column, float(1 << place.point), floor))
    if model.has_stops:
        lines += [(place.driver, -1, place.side.held, 0.0) for place in StopEvents(model, kinks=True).stops.places]
    table = np.array(lines, dtype=np.float64).reshape(-1, 4)
    n = len(table)
    ints = np.ascontiguousarray(table[:, :2].astype(np.int64))
    return Held(ints, np.ascontiguousarray(table[:, 2:]), np.zeros((2, ny)), np.zeros(ny), np.zeros(MEMORY), np.zeros(n))


def numbers_of_places(model: Model) -> tuple[tuple[float, ...], ...]:
    """Return the numbers of the model that its places keep for themselves: limits, damping over stiffness, least speeds at touch."""
    sides = [place.side for place in places_of(model)]
    stops = [(side.limit, float(side.k > 0.0), side.c / side.k if side.k > 0.0 else 1.0) for side in sides]
    return *stops, *((float(entry.load.floor_speed),) for entry in model.loads if entry.load.is_contact)  # type: ignore[attr-defined]


def need_same_places(nominal: Model, model: Model, who: str) -> Model:
    """Return a model with other numbers.  Raise UsageError if those are among them that the places keep for themselves."""
    if numbers_of_places(nominal) != numbers_of_places(model):
        names = dict.fromkeys(place.side.name for place in places_of(model))
        names |= dict.fromkeys(entry.load.name for entry in model.loads if entry.load.is_contact)
        raise UsageError(
            f"{who}: a limit, damping or least speed of {', '.join(map(repr, names))} is to change, which the engine keeps from the start. "
            "Leave it as it is, or simulate in Python."
        )
    return model


def make_steps(model: Model, problem: Problem, tableau: Tableau, t: float, h: float, k1: Array, n: int) -> tuple[int, Steps]:
    """Return the code, and the steps made, of n steps of h from the state of a problem, as the engine makes them."""
    ny, ends = problem.y.size, t + h * np.arange(1, n + 1, dtype=np.float64)
    method = Method(tableau, new_watch(np.zeros(0, dtype=np.int64), ny), np.zeros((tableau.b.size - 1, ny)))
    held, point, steps = held_by(model, ny), Point(problem.y, k1), steps_to(ends, ny)
    code = begin(problem.dynamics, problem.options, held, t, point)
    done = 0
    if code == OK:
        code, done = run(problem.dynamics, problem.options, method, held, t, h, point, steps)
    return code, Steps(*(each[:done] for each in steps))


@kernel
def hold(P: Pack, places: Array, held: Held) -> None:
    """Write to the workspace of the run which stops push and which points are open."""
    F = ws.driver_values(P)
    for k in range(places.shape[0]):
        F[held.ints[k, DRIVER], HELD] = FREE if places[k, POINT] < 0.0 else 0.0
    for k in range(places.shape[0]):
        if places[k, POINT] < 0.0:
            if places[k, MODE] == PUSHES:
                F[held.ints[k, DRIVER], HELD] = held.reals[k, PUSH]
        elif places[k, MODE] == OUTSIDE:
            F[held.ints[k, DRIVER], HELD] += held.reals[k, PUSH]


@kernel
def farthest(y: Array, n_bodies: int) -> float:
    """Return the largest coordinate of a body [m]."""
    far = 0.0
    for b in range(n_bodies):
        for a in range(3):
            far = max(far, abs(y[WIDTH * b + a]))
    return far


@kernel
def pressed(P: Pack, place: Array, m: Motion) -> tuple[float, float, float, float]:
    """Return x, s / k, the width of the edge and x' of a stop."""
    q = coordinate_of_row(ws.force_ints(P), ws.force_reals(P), int(place[ROW]), m)
    x, rate = place[SIGN] * (q.q - place[LIMIT]), place[SIGN] * q.q_dot
    return x, place[STIFF] * x + place[DAMPING] * rate, EDGE * (1.0 + abs(place[LIMIT]) + abs(rate)), rate


@kernel
def switch_stop(P: Pack, place: Array, m: Motion) -> None:
    """Switch a stop."""
    x, push, _, _ = pressed(P, place, m)
    if place[MODE] == OUTSIDE or (place[MODE] == LEAVES and push > 0.0):
        place[MODE] = PUSHES
    else:
        place[MODE] = LEAVES if place[MODE] == PUSHES and x > 0.0 else OUTSIDE


@kernel
def switch(P: Pack, places: Array, held: Held, y: Array, which: int) -> bool:
    """Switch a place, -1 for none, and the others that are at their events in the same state; return whether some was switched."""
    m, found = move_bodies(P, y), False
    rounding = TOUCH_RTOL * (1.0 + farthest(y, ws.n_bodies(P)))
    for k in range(places.shape[0]):
        place = places[k]
        distance, gap, rate = distance_at(P, place, m)
        if place[POINT] < 0.0:
            if k == which or distance <= 0.0:
                switch_stop(P, place, m)
                found = True
        elif place[MODE] == OUTSIDE:
            if k == which or (abs(gap) <= rounding and rate <= 0.0):
                place[MODE], found = PUSHES, True
                y[held.ints[k, COLUMN]] = max(-rate, held.reals[k, FLOOR])
        elif k == which or (distance <= 0.0 and rate < 0.0):
            place[MODE], found = OUTSIDE, True
    return found


@kernel
def begin_modes(P: Pack, places: Array, held: Held, y: Array) -> None:
    """Let the state decide which places push; a speed at touch that is known stays."""
    m = move_bodies(P, y)
    rounding = TOUCH_RTOL * (1.0 + farthest(y, ws.n_bodies(P)))
    for k in range(places.shape[0]):
        place = places[k]
        if place[POINT] < 0.0:
            x, push, width, rate = pressed(P, place, m)
            p = min(x, push)
            pushes = p > width or (abs(p) <= width and rate >= 0.0)
            place[MODE] = PUSHES if pushes else LEAVES if x > 0.0 else OUTSIDE
            continue
        place[MODE] = OUTSIDE
        _, gap, rate = distance_at(P, place, m)
        column = held.ints[k, COLUMN]
        touches = abs(gap) <= rounding and rate <= 0.0
        if touches or gap < -rounding:
            place[MODE] = PUSHES
            if touches or not y[column] > 0.0:
                y[column] = max(-rate, held.reals[k, FLOOR])


@kernel
def begin_look(dynamics: Dynamics, t: float, point: Point) -> None:
    """Let the watch of the places begin at a state."""
    events = dynamics.events
    events.look(events.pack, events.places, events.ends, 0.0, point.y, point.y_dot)
    events.state.t = t


@kernel
def distance_in_step(P: Pack, place: Array, h: float, after: float, held: Held, y: Array, y_dot: Array) -> float:
    """Return the distance of a place from its event at a time after the start of a step of h, on dense output."""
    put_state(after / h, h, (held.start[0], held.start[1]), (y, y_dot), ws.n_bodies(P), held.room)
    return distance_at(P, place, move_bodies(P, held.room))[0]


@kernel
def first_event(P: Pack, places: Array, held: Held, h: float, y: Array, y_dot: Array) -> tuple[int, float, float]:
    """Return the place whose distance is the first to fall through zero in a step of h on dense output, -1 for none, and two times
    after its start between which it does.
    """
    m = move_bodies(P, held.start[0])
    for k in range(places.shape[0]):
        held.before[k] = distance_at(P, places[k], m)[0]
    for part in range(1, PARTS + 1):
        lower, upper = h * (part - 1) / PARTS, h * part / PARTS
        put_state(part / PARTS, h, (held.start[0], held.start[1]), (y, y_dot), ws.n_bodies(P), held.room)
        m, first, soonest = move_bodies(P, held.room), -1, upper
        for k in range(places.shape[0]):
            after = distance_at(P, places[k], m)[0]
            if falls(held.before[k], after):
                secant = lower + (upper - lower) * held.before[k] / (held.before[k] - after)
                if first < 0 or secant < soonest:
                    first, soonest = k, secant
            held.before[k] = after
        if first >= 0:
            return first, lower, upper
    return -1, 0.0, 0.0


@kernel
def zero_in_step(
    P: Pack, place: Array, held: Held, h: float, near: float, ends: tuple[float, float], y: Array, y_dot: Array
) -> float:
    """Return where the distance of a place falls through zero between two times after the start of a step, within `near`."""
    lower, upper = ends
    while upper - lower > near:
        middle = 0.5 * (lower + upper)
        if not lower < middle < upper:
            break
        if distance_in_step(P, place, h, middle, held, y, y_dot) > 0.0:
            lower = middle
        else:
            upper = middle
    return upper


@kernel
def remember(options: Options, memory: Array) -> None:
    """Keep what a stabilization remembers from step to step."""
    memory[0], memory[1], memory[2] = options.n_since_projection, options.energy, options.max_energy
    memory[3], memory[4] = options.max_twice_kinetic, options.max_gradient


@kernel
def go_back(options: Options, held: Held, point: Point) -> None:
    """Go back to the start of a step."""
    copy_line(held.start[0], point.y)
    copy_line(held.start[1], point.y_dot)
    options.n_since_projection, options.energy, options.max_energy = held.memory[0], held.memory[1], held.memory[2]
    options.max_twice_kinetic, options.max_gradient = held.memory[3], held.memory[4]


@kernel
def step_to(
    dynamics: Dynamics, options: Options, method: Method, t: float, end: float, h: float, point: Point, y: Array, y_dot: Array
) -> int:
    """Make a step of h from t to `end`."""
    return make_step(dynamics, options, method.tableau, method.stiffness, t, end, h, point, method.k, y, y_dot)


@kernel
def step_to_event(
    dynamics: Dynamics, options: Options, method: Method, held: Held, t: float, h: float, point: Point, y: Array, y_dot: Array
) -> tuple[int, int, float]:
    """Go from the end of a step of h, that began at t, back to its first event; return the code, the place, -1 for none, and the time
    since the start of the step.
    """
    P, places = dynamics.events.pack, dynamics.events.places
    which, lower, upper = first_event(P, places, held, h, y, y_dot)
    if which < 0:
        return OK, -1, h
    near = max(min(LOCATED, OF_STEP * (upper - lower)), ROUNDED * abs(t))
    tau = zero_in_step(P, places[which], held, h, near, (lower, upper), y, y_dot)
    aside = SLOPE * (upper - lower) * (1.0 if tau < 0.5 * (lower + upper) else -1.0)
    slope = (
        distance_in_step(P, places[which], h, tau + aside, held, y, y_dot)
        - distance_in_step(P, places[which], h, tau, held, y, y_dot)
    ) / aside
    # tau <- tau - d / d', as long as the steps that end there correct the dense output
    for n in range(CORRECTIONS):
        go_back(options, held, point)
        code = step_to(dynamics, options, method, t, t + tau, tau, point, y, y_dot)
        if code != OK:
            return code, which, tau
        change = -distance_at(P, places[which], move_bodies(P, point.y))[0] / slope if slope != 0.0 else 0.0
        if abs(change) <= near or not abs(change) <= SLOPE * h or not 0.0 < tau + change or n == CORRECTIONS - 1:
            break
        tau += change
    return OK, which, tau


@kernel
def go_on(dynamics: Dynamics, options: Options, held: Held, t: float, point: Point) -> int:
    """Begin anew behind a switch: hold what pushes, correct the state, evaluate its rates."""
    P, places = dynamics.events.pack, dynamics.events.places
    switch(P, places, held, point.y, -1)
    hold(dynamics.pack, places, held)
    code = dynamics.post_step(dynamics.pack, options, t, point.y, point.y_dot)
    if code == OK:
        begin_look(dynamics, t, point)
    return code


@kernel
def grid_step(
    dynamics: Dynamics,
    options: Options,
    method: Method,
    held: Held,
    t: float,
    end: float,
    h: float,
    point: Point,
    y: Array,
    y_dot: Array,
) -> int:
    """Advance the point by h from t to `end`, from event to event; y, y_dot: (ny,) state and rates there."""
    events, begun, left, restarts = dynamics.events, t, h, 0
    while True:
        copy_line(point.y, held.start[0])
        copy_line(point.y_dot, held.start[1])
        remember(options, held.memory)
        code = step_to(dynamics, options, method, begun, end, left, point, y, y_dot)
        if code != OK:
            return code
        found = events.look(events.pack, events.places, events.ends, left, point.y, point.y_dot)
        events.state.t = end
        if found == CLEAR:
            return OK
        which, tau = -1, left
        if found != ACROSS:
            code, which, tau = step_to_event(dynamics, options, method, held, begun, left, point, y, y_dot)
            if code != OK:
                return code
        # at the end of the step, or at the event in it
        begun = begun + tau if tau < left else end
        if switch(events.pack, events.places, held, point.y, which):
            code = go_on(dynamics, options, held, begun, point)
            copy_line(point.y, y)
            copy_line(point.y_dot, y_dot)
            restarts += 1
        if code != OK or which < 0 or end - begun <= SHORTEST * (1.0 + abs(end)):
            return code
        if restarts > MOST_AT_ONCE + events.places.shape[0]:
            return report(ws.status(dynamics.pack), STEP_TOO_SMALL, which, end - begun)
        left = end - begun


@released
def run_entry(
    dynamics: Dynamics, options: Options, method: Method, held: Held, t0: float, h: float, point: Point, steps: Steps
) -> tuple[int, int]:
    """Advance the point from t0 by steps of h to the times in `steps`, or until the watch of rows ends them.

    Return the code and the number of steps done.
    """
    for step in range(steps.y.shape[0]):
        t, end = start_of(step, t0, steps), steps.t[step]
        code = grid_step(dynamics, options, method, held, t, end, h, point, steps.y[step], steps.y_dot[step])
        if code != OK:
            return code, step
        if watch_step(dynamics.pack, dynamics.watch, end, h, point.y, point.y_dot):
            return OK, step + 1
    return OK, steps.y.shape[0]


@released
def begin_entry(dynamics: Dynamics, options: Options, held: Held, t: float, point: Point) -> int:
    """Begin at a state that was set: it decides which places push; its rates are evaluated."""
    begin_modes(dynamics.events.pack, dynamics.events.places, held, point.y)
    hold(dynamics.pack, dynamics.events.places, held)
    code = dynamics.rates(dynamics.pack, options, t, point.y, point.y_dot)
    if code == OK:
        begin_look(dynamics, t, point)
    return code


run, begin = DirectCall(run_entry), DirectCall(begin_entry)
