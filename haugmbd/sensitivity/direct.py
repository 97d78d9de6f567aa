"""Direct differentiation: the motion of each kind of run, with a tangent of its states by each parameter.

simulate        the tape of accepted steps, each with its tangents (`tangents`)
kinematics      dPhi = 0, d(nu - Phi_q u) = 0 at each time: every state by itself
accelerations   the modelled state
assemble        the least mass-weighted change that closes the mechanism

Times of events by parameters:  g(t, y, p) = 0  ->  dt/dp = -(g_y dY + g_p) / (g_t + g_y y').

A terminal event moves the end of the run: dz/dp = z_y (dY + y' dt/dp) + z_t dt/dp + z_p.  Where y moves along g = 0, or nearly, the
event is grazing: its time has no derivative, and is refused.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np

from haugmbd.compiled.array_types import Array
from haugmbd.compiled.scalars import LANES
from haugmbd.compiled.status_codes import OK
from haugmbd.diagnostics.run_warnings import RunStatus
from haugmbd.drivers import Expression
from haugmbd.errors import UsageError
from haugmbd.integrators.explicit.embedded import EmbeddedRungeKutta
from haugmbd.integrators.explicit.runge_kutta import RungeKutta
from haugmbd.integrators.stabilization.projection import Projection
from haugmbd.model.inspection.driver_breaks import break_between
from haugmbd.model.state import State
from haugmbd.sensitivity.parameters import UserFunctionDriver, failure
from haugmbd.sensitivity.tangents import new_memory, place_lanes, run_lanes
from haugmbd.sensitivity.variations import Design
from haugmbd.simulation.arguments import choose_integrator
from haugmbd.simulation.results.result import Result
from haugmbd.simulation.simulate import simulate

GRAZING = 1e-5
"""Rate of g, relative to the largest |g| of the run over its span, below which an event is grazing."""
SAMPLES = 20
"""States of a run at which the size of g is taken, about."""
STEP = 1e-6
"""[s] Of the rate of g, in one run's span of 1 s."""


def records_of(result: Any, name: str) -> list[Any]:
    """Return the records of an event. Raise UsageError if there is none."""
    found = [record for record in result.events if record.name == name]
    if not found:
        names = sorted({record.name for record in result.events})
        raise UsageError(f"there is no event {name!r} in the run; it has {', '.join(map(repr, names)) or 'none'}.")
    return found


def event_named(arguments: Mapping[str, Any], name: str) -> Any:
    """Return the event of this name among the arguments of a run. Raise UsageError for one that the run has of its own."""
    found = next((event for event in arguments.get("events", ()) if event.name == name), None)
    if found is None:
        raise UsageError(
            f"event {name!r} belongs to the run: sensitivities of its time are not there yet. Give an Event in events=[...]."
        )
    return found


def time_tangents(
    design: Design, arguments: Mapping[str, Any], name: str, at: tuple[float, Array, Array, Array], run: tuple[Array, Array]
) -> Array:
    """Return dt/dp (n,) of an event. Raise UsageError if it is grazing.

    at: t, y (ny,), y' and dY (n, ny) at the event;  run: t (nt,) and y (nt, ny)
    """
    t, y, y_dot, dY = at
    event, bodies = event_named(arguments, name), design.model.nb + 1

    def g(event: Any, t: float, y: Array) -> float:
        return float(event.value(State.from_y(t, y, bodies)))

    span = max(float(run[0][-1] - run[0][0]), 1e-300)
    d = STEP * min(span, 1.0)
    rate = (g(event, t + d, y + d * y_dot) - g(event, t - d, y - d * y_dot)) / (2.0 * d)
    every = max(1, len(run[0]) // SAMPLES)
    largest = max(abs(g(event, float(s), x)) for s, x in zip(run[0][::every], run[1][::every], strict=True))
    if abs(rate) * span <= GRAZING * largest:
        raise UsageError(
            f"event {name!r} at t = {t:.9g} s is grazing: its g changes by {rate:.2g} a second there, so that its time has no derivative."
        )
    found = []
    for k, parameter in enumerate(design.p):
        plus, minus = design.sides(parameter)
        of_sides = [event_named(side.arguments, name) if "events" in side.arguments else event for side in (plus, minus)]
        high, low = (g(of, t, y + side.step * dY[k]) for of, side in zip(of_sides, (plus, minus), strict=True))
        found.append(-(high - low) / (plus.step - minus.step) / rate)
    return np.array(found)


FAR = 1e-6
"""Distance of a step that is made again from the run's own [m, rad], at which the lanes would belong to another motion."""
MOVED = 1e-12
"""Relative distance of two times that is rounding."""
LOCKED = 1e-6
"""Part of the size of the mechanism by which a dropped row opens for a change of a parameter by its size: it locks the mechanism."""


class Tangents(NamedTuple):
    """A motion and its tangents.

    t: (nt,)  y: (nt, ny)  dY: (nt, n, ny);  dt: (nt, n) of the times, where a terminal event ends the run
    times: those of events by the text of their outputs: t, and dt/dp (n,)
    """

    t: Array
    y: Array
    dY: Array
    dt: Array
    times: Mapping[str, tuple[float, Array]] = MappingProxyType({})


def at_fixed_times(t: Array, y: Array, dY: Array) -> Tangents:
    """Return a motion whose times do not move."""
    return Tangents(t, y, dY, np.zeros(dY.shape[:2]))


def refuse_locks(design: Design, opening: Array) -> None:
    """Raise UsageError if a parameter opens a row that depends on others: off its value the mechanism is locked, or less mobile.

    opening: (n, 6 ne) largest derivative of Phi of each slot by each parameter
    """
    model = design.model
    dropped = np.array(model.redundancy.dropped, dtype=np.int64)
    if not len(dropped):
        return
    slack = opening[:, model.slot_of_row[dropped]] * design.p.sizes[:, None]
    for name, line in zip(design.p, slack, strict=True):
        if line.max() > LOCKED * max(1.0, model.length):
            joints = sorted(
                {model.labels[row].joint for row, x in zip(dropped, line, strict=True) if x > LOCKED * max(1.0, model.length)}
            )
            raise UsageError(
                f"parameter {name!r} locks the mechanism: redundant rows of {', '.join(map(repr, joints))} hold at this value only, and a "
                "change opens them. There is no derivative. Let the parameter move the special lengths together, or take the redundant "
                "rows away: a CJ or SJ in place of an RJ."
            )


def simulated(design: Design, arguments: dict[str, Any]) -> Tangents:
    """Return the tangents of a simulation, at the ends of its steps, or at the times t_eval."""
    arguments = dict(arguments)
    times = arguments.pop("t_eval", None)
    if arguments.get("store_every", 1) != 1:
        raise UsageError("sensitivity needs every step of the run: leave out store_every, and give times in t_eval.")
    result = simulate(design.model, **arguments)
    design.ran()
    refuse_what_is_not_smooth(design, result)
    tableau = tableau_of(arguments)
    found, y_dot = along_tape(design, tableau, result.t, result.y, None if times is None else np.asarray(times, dtype=np.float64))
    given = design.built.arguments | arguments
    tape = result.t, result.y
    if result.status == RunStatus.TERMINAL_EVENT and times is None:
        name = result.events[-1].name
        dt = time_tangents(design, given, name, (float(result.t[-1]), result.y[-1], y_dot, found.dY[-1]), tape)
        found.dY[-1] += dt[:, None] * y_dot
        found.dt[-1] = dt
    return found._replace(times=_event_times(design, tableau, result, given))


def _event_times(design: Design, tableau: Any, result: Any, given: Mapping[str, Any]) -> dict[str, tuple[float, Array]]:
    """Return the times of the events that outputs ask for, and their derivatives."""
    times = {}
    for output in design.outputs:
        if output.kind != "event":
            continue
        records = records_of(result, output.owner)
        if output.component[0] >= len(records):
            raise UsageError(
                f"output {output.text!r}: event {output.owner!r} occurs {len(records)} times in the run, numbered from 0."
            )
        record = records[output.component[0]]
        if record.jump:
            raise UsageError(f"output {output.text!r}: g of the event jumps there, so that its time has no derivative by g.")
        before = result.t < record.t * (1.0 - 1e-12)
        T, Y = np.append(result.t[before], record.t), np.vstack([result.y[before], record.state.y])
        found, y_dot = along_tape(design, tableau, T, Y, None)
        at = float(record.t), Y[-1], y_dot, found.dY[-1]
        times[output.text] = record.t, time_tangents(design, given, output.owner, at, (result.t, result.y))
    return times


def tableau_of(arguments: dict[str, Any]) -> Any:
    """Return the tableau of the method of a run. Raise UsageError for a method whose tangents are not known."""
    method = choose_integrator(*(arguments.get(name) for name in ("h", "rtol", "atol", "integrator")))
    if not isinstance(method, RungeKutta | EmbeddedRungeKutta):
        raise UsageError(
            f"sensitivity of a run by {type(method).__name__} is not there yet: take an explicit Runge-Kutta method, such as RK4(h=...), "
            "DormandPrince() or DOP853()."
        )
    rule, formulation = arguments.get("stabilization", ...), arguments.get("formulation")
    if rule is not ... and not (isinstance(rule, Projection) and rule == Projection(rule.tol)):
        raise UsageError(f"sensitivity with stabilization = {rule!r} is not there yet: take Projection(), the default.")
    if formulation is not None and type(formulation).__name__ != "NewtonEuler":
        raise UsageError(f"sensitivity with formulation = {formulation!r} is not there yet: take NewtonEuler(), the default.")
    if arguments.get("state") is not None:
        raise UsageError(
            "sensitivity starts from the modelled state, which moves with the parameters: leave out state, and build it."
        )
    return method.tableau


def refuse_what_is_not_smooth(design: Design, result: Any) -> None:
    """Raise UsageError for a run whose law changes at events: tangents that leave out the motion of their times would be wrong."""
    model = design.model
    if not isinstance(result, Result):
        raise UsageError("sensitivity through impacts of rigid stops and contacts is not there yet: difference whole runs.")
    if len(model.tables["FRICTION_INTS"]):
        names = ", ".join(repr(e.load.name) for e in model.loads if type(e.load).__name__ == "JointFriction")
        raise UsageError(f"sensitivity through friction in joints ({names}) is not there yet: difference whole runs.")
    switching = [
        e.load.name for e in model.loads if type(e.load).__name__ == "ContactForce" or (hasattr(e.load, "sides") and e.load.sides())
    ]
    if switching:
        raise UsageError(
            f"sensitivity through stops and contacts ({', '.join(map(repr, switching))}), whose force sets in at a time that moves, is not "
            "there yet: difference whole runs."
        )
    if model.network is not None and (model.network.sampled or model.network.delays):
        names = ", ".join(repr(block.name) for block in (*model.network.sampled, *model.network.delays))
        raise UsageError(f"sensitivity through sampled blocks and delays ({names}) is not there yet: difference whole runs.")
    if getattr(result, "singular_crossings", ()):
        raise UsageError("the run crosses a singular configuration, where the derivative by a parameter does not exist.")
    refuse_moving_breaks(design, result.t)


def refuse_moving_breaks(design: Design, T: Array) -> None:
    """Raise UsageError if a function of time has a jump or kink within the run, at a time that moves with a parameter."""
    for k, driver in enumerate(design.model.drivers):
        if not isinstance(driver, Expression | UserFunctionDriver) or (found := break_between(driver, T)) is None:
            continue
        for name in design.p:
            other = break_between(design.sides(name)[0].model.drivers[k], T)
            if other is None or abs(other.t - found.t) > MOVED * (1.0 + abs(found.t)):
                raise UsageError(
                    f"parameter {name!r} moves a jump or kink of a function of time, at t = {found.t:.9g} s: the derivative through it "
                    "is not there yet. Make the function smooth there."
                )


def along_tape(design: Design, tableau: Any, T: Array, Y: Array, times: Array | None) -> tuple[Tangents, Array]:
    """Return the tangents along the steps of a run that end at T in the states Y, and y' at the last one."""
    model, n, ny = design.model, len(design.p), Y.shape[1]
    T, Y, dY = np.array(T), np.array(Y), np.zeros((len(T), n, ny))
    inside = np.zeros(0) if times is None else times[~np.isin(times, T)]
    if times is not None and ((times < T[0]) | (times > T[-1])).any():
        raise UsageError(f"t_eval must be within the run, {T[0]:g} s to {T[-1]:g} s.")
    beside = np.searchsorted(T, inside, side="right") - 1
    beside_y, beside_dY = np.zeros((len(inside), ny)), np.zeros((len(inside), n, ny))
    slots = 6 * len(model.tables["EDGES"])
    opening, y_dot = np.zeros((n, slots)), np.zeros(ny)
    for which, P in design.dual_packs():
        memory, lanes, beside_lanes = new_memory(ny, slots, len(tableau.c)), _lanes(len(T), ny), _lanes(len(inside), ny)
        lanes[0, : which.stop - which.start] = design.start[which]
        code, done, far = run_lanes(P, memory, tableau, T, Y, lanes, beside, inside, beside_y, beside_lanes)
        if code != OK:
            raise failure(model, P, code, float(T[min(done, len(T) - 1)]))
        if not far <= FAR:
            raise UsageError(
                f"the steps of the run cannot be made again: a state differs by {far:.1e}. Events or jumps change its law; "
                "sensitivities through them are not there yet."
            )
        dY[:, which], beside_dY[:, which] = (x[:, : which.stop - which.start] for x in (lanes, beside_lanes))
        opening[which], y_dot[:] = memory.slack.T[: which.stop - which.start], memory.y_dot[:, 0]
    refuse_locks(design, opening)
    if times is None:
        return at_fixed_times(T, Y, dY), y_dot
    t = np.concatenate([T, inside])
    order = [int(np.flatnonzero(t == x)[0]) for x in times]
    return at_fixed_times(times, np.concatenate([Y, beside_y])[order], np.concatenate([dY, beside_dY])[order]), y_dot


def _lanes(points: int, ny: int) -> Array:
    """Return room for LANES tangents of some states."""
    return np.zeros((points, LANES, ny))


def placed(design: Design, t: Array, y: Array, dY: Array) -> Tangents:
    """Return states with the tangents dY brought to dPhi = 0 and d(Phi_q u - nu) = 0, each by itself."""
    model = design.model
    if model.n_states:
        raise UsageError(
            "sensitivity of this kind of run, with internal states of forces or blocks, is not there yet: use run='simulate', or forces "
            "without them."
        )
    T, Y, found, slots = np.array(t), np.array(y), np.array(dY), 6 * len(model.tables["EDGES"])
    opening = np.zeros((len(design.p), slots))
    for which, P in design.dual_packs():
        memory, lanes, Y, n = new_memory(Y.shape[1], slots, 1), _lanes(len(T), Y.shape[1]), np.array(y), which.stop - which.start
        lanes[:, :n] = dY[:, which]
        code, done = place_lanes(P, memory, T, Y, lanes)
        if code != OK:
            raise failure(model, P, code, float(t[min(done, len(t) - 1)]))
        found[:, which], opening[which] = lanes[:, :n], memory.slack.T[:n]
    refuse_locks(design, opening)
    return at_fixed_times(t, Y, found)
