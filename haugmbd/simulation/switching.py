r"""The simulation of a mechanism whose structure changes: smooth or hybrid parts of the motion, and switches between them.

    part      a run with the model of one structure, until an event that is a Switch
    switch    parts go off                       u stays
              parts close, impulses act          M (u+ - u) + Phi_q^T Lam = P,  Phi_q u+ = nu     of the rows that are on from now on
              states of blocks, or of bodies, are set

The motion is that of a chain of runs, each of which begins with the state in which the switch leaves the mechanism. Events whose g jumps
across zero at a switch have occurred there, also where they are switches themselves: the load of a joint that breaks may break the next.
Source: Haug 2021, sec. 11.3, with the rows of the new structure.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Container, Mapping, Sequence
from dataclasses import is_dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from haugmbd.compiled.array_types import Array
from haugmbd.constraints.coordinate import Coordinate
from haugmbd.diagnostics.energy import kinetic_and_potential
from haugmbd.diagnostics.joint_coordinates import CountedCoordinate, counting_turns
from haugmbd.diagnostics.reaction_signals import rebind, with_signals
from haugmbd.diagnostics.run_warnings import RunStatus, end_of_run, joined
from haugmbd.errors import ModelError, SimulationError, UsageError, error_text
from haugmbd.impacts.impact import Impact
from haugmbd.impacts.impulse import solve_impulse
from haugmbd.impacts.impulse_arguments import read_arguments
from haugmbd.impacts.impulse_result import Impulse
from haugmbd.integrators.base import Integrator
from haugmbd.integrators.event_location import NEAR
from haugmbd.integrators.events import Event, EventRecord, Switch, read_events
from haugmbd.integrators.initial_state import projected
from haugmbd.integrators.moreau_jean import MoreauJean
from haugmbd.model.inspection.run_memory import freewheels_of
from haugmbd.model.model import Model
from haugmbd.model.state import State
from haugmbd.simulation.arguments import wanted_times
from haugmbd.simulation.freewheels import (
    LOCKS,
    SLIPS,
    SlipRate,
    events_of,
    falling,
    falls_no_more,
    locked_at_rest,
    not_held,
    pulled,
    rebind_pushes,
)
from haugmbd.simulation.recorded_result import settings_of
from haugmbd.simulation.results.result import Result
from haugmbd.simulation.results.segments import at_times, changes_structure
from haugmbd.simulation.results.switch_record import SwitchRecord
from haugmbd.simulation.run_task import RunTask
from haugmbd.system.checks.constraint_residuals import need_sound_state, position_faults
from haugmbd.system.structures import Structure, Structures, structures_of

LAST = 1e-12
"""Relative to |t| + 1 s: the interval left when the simulation is complete, as of a motion with impacts."""
APART = (
    "Let the event occur where they meet, give pull=True, which moves the bodies to the nearest pose where the joint is closed, or grip= "
    "for the pose of the moment."
)
"""Remedy of a switch that locks a joint whose parts are apart."""
STILL = 1e-12
"""Relative to the largest velocity: a smaller change of velocities at a switch is rounding, and no impact."""

RunPart = Callable[..., Result]
"""run(model, t_end, methods, output, limits, state=, ...): the run of one structure, as `run_system`."""


def run_with_switches(task: RunTask, run: RunPart) -> Result:
    """Return the result of a motion whose structure changes, as `run_system` of one structure;  run: `run_system`"""
    model = task.model
    delays = () if model.network is None else model.network.delays
    if delays:
        names = ", ".join(block.where for block in delays)
        raise UsageError(
            f"a run with switches does not take {names}: what a delay remembers is of the motion before. Leave it out, or use a LowPass."
        )
    parts = structures_of(model).parts
    rough = [contact.name for contact in parts.contacts if not contact.is_plain]
    if rough and isinstance(task.integrator, MoreauJean):
        raise UsageError(
            f"a run with switches takes contacts with friction, {', '.join(map(repr, rough))}, by an explicit method: time stepping has no "
            "state at the instant of a switch. Leave integrator= out, or give DormandPrince() or RK4(h)."
        )
    return _SwitchedRun(structures_of(model), task, run).run(task.start, task.project_velocity)


class _SwitchedRun:
    """The parts of a motion, one after the other."""

    def __init__(self, structures: Structures, task: RunTask, run: RunPart) -> None:
        self.structures, self.t_end, self.methods, self.output = structures, task.t_end, task.methods, task.output
        self.run_part, self.limits, self.began = run, task.limits, time.perf_counter()
        self.events = with_signals(structures.initial, tuple(map(counting_turns, read_events(task.output.events))))
        self.events = read_events((*self.events, *events_of(structures.initial)))
        self.switches = {event.name: event for event in self.events if isinstance(event, Switch)}
        self.freewheels = frozenset(event.name for event in events_of(structures.initial))
        self.parts: list[Result] = []
        self.impacts: list[Impact] = []
        self.records: list[SwitchRecord] = []
        self.ended_by = ""
        self.times: Array | None = None
        self._jumped: list[EventRecord] = []
        self._idle: dict[str, Switch] = {}
        self._idle_at_end: list[Switch] = []
        for switch in self.switches.values():
            self._check(switch)

    def _check(self, switch: Switch) -> None:
        """Raise UsageError for names that do not exist, and for parts that cannot close at the pose of a moment."""
        who, structures = f"switch {switch.name!r}", self.structures
        for name in (*switch.lock, *switch.grip, *switch.release):
            structures.named(name, who)
        for name in switch.grip:
            joint = structures.joint(name)
            if joint is None:
                raise UsageError(f"{who}: {name!r} is no joint, and closes in no pose: lock it.")
        if isinstance(switch.set, Mapping):
            network = structures.initial.network
            blocks = [] if network is None else [block.name for block in network.blocks]
            for name in switch.set:
                if name not in blocks:
                    has = ", ".join(map(repr, blocks)) or "none"
                    raise UsageError(f"{who}: set names the block {name!r}, and the system has {has}.")

    def run(self, state: State, project_velocity: bool) -> Result:
        """Run to the end, to Ctrl-C, or to an error that contains the result so far."""
        self.times = wanted_times(self.output.t_eval, state.t, self.t_end)
        structure = self.structures.of(state)
        try:
            if state.structure is None:
                structure, state = self._begun(structure, state, project_velocity)
            self._run(structure, state, project_velocity)
        except Exception as error:
            partial = getattr(error, "result", None)
            if isinstance(partial, Result) and len(partial) and partial not in self.parts:
                self.parts.append(_without_events(partial, self._idle))
            if self.parts:
                error.result = self._result(error)  # type: ignore[attr-defined]
            raise
        return self._result()

    def _begun(self, structure: Structure, state: State, project_velocity: bool) -> tuple[Structure, State]:
        """Return structure and state with which freewheels begin: those that fall are caught, and what presses holds at rest."""
        initial = self.structures.initial
        if not freewheels_of(initial):
            return structure, state
        if project_velocity and initial.nc:
            state = projected(initial, initial.pack(), state)
        caught = falling(initial, state)
        if caught:
            names = [f"{name}: {LOCKS}" for name in caught]
            structure, state = self._changed(structure, state, [self.switches[name] for name in names])
            self._jumped += [EventRecord(name, state.t, state) for name in names]
        held: dict[str, tuple[float, ...]] = {}
        names = locked_at_rest(initial, state, self._locking(structure, state, held))
        now = structure.without([*held]).with_parts(names, {name: held[name] for name in names})
        return now, self.structures.begun(initial, self.structures.model(now, state), state).replace(structure=now)

    def _locking(self, structure: Structure, state: State, held: dict[str, tuple[float, ...]]) -> Callable[[Sequence[str]], Model]:
        """Return the function locked(names) of `locked_at_rest`;  held: gets the numbers of the freewheels that were asked for."""

        def locked(names: Sequence[str]) -> Model:
            held.update({name: self._numbers(name, state) for name in names if name not in held})
            return self.structures.model(structure.without([*held]).with_parts(names, {name: held[name] for name in names}), state)

        return locked

    def _decided(self, structure: Structure, state: State, fired: Sequence[Switch]) -> tuple[list[Switch], list[Switch]]:
        """Return the switches of an instant, and those of freewheels that slip from there on because others lock.

        All of these are at rest against each other: a ratchet whose drive turns back goes over from one pawl to the other.
        """
        locks = [one for one in fired if one.name.endswith(f": {LOCKS}") and isinstance(one.function, SlipRate)]
        locked = [joint.name for joint in freewheels_of(self.structures.initial) if joint.name not in structure.off]
        if not locks or not locked:
            return list(fired), []
        resting = [*dict.fromkeys([*locked, *(one.function.name for one in locks)])]  # type: ignore[union-attr]
        free = structure.without(resting)
        kept = locked_at_rest(self.structures.initial, state, self._locking(free, state, {}), resting)
        opened = [self.switches[f"{name}: {SLIPS}"] for name in locked if name not in kept]
        closing = [one for one in fired if one not in locks or one.function.name in kept]  # type: ignore[union-attr]
        return closing, opened

    def _run(self, structure: Structure, state: State, project_velocity: bool) -> None:
        """Run part after part."""
        while True:
            structure, state, part = self._held_part(structure, state, project_velocity)
            project_velocity = False
            self.parts.append(part)
            if part.interrupted or part.outcome.status is not RunStatus.TERMINAL_EVENT:
                return
            end, state = float(part.t[-1]), part.state()
            ended = [one.name for one in part.events if one.t >= end]
            fired = [self.switches[name] for name in ended if name in self.switches]
            others = [event.name for event in self.events if event.terminal and event.name in ended]
            if fired:
                self._need_no_idle(structure, fired, end)
                structure, state, more = self._switched(structure, state, fired)
                others += more
            if others:
                self.ended_by = others[0]
                self._only(structure, state)
                return
            if self.t_end - end <= LAST * (1.0 + abs(end)):
                self._only(structure, state)
                return
            self._count(end)

    def _held_part(self, structure: Structure, state: State, project_velocity: bool) -> tuple[Structure, State, Result]:
        """Return the run of one structure, in which freewheels begin the other way if they do not hold, with structure and state."""
        jumped, other = self._jumped, set[str]()
        while True:
            part = self._part(self.structures.model(structure, state), state, project_velocity)
            self._need_pushes(self.structures.model(structure, state), part)
            end = float(part.t[-1]) if len(part) else state.t
            wrong = not_held(self.events, end, {one.name for one in part.events if one.t >= end})
            if not wrong:
                return structure, state, part
            if other & set(wrong):
                raise SimulationError(
                    f"freewheel {', '.join(map(repr, wrong))} neither locks nor slips from t = {state.t:.9g} s on: locked it pulls, and "
                    "slipping it falls. Give a smaller h, or begin in motion."
                )
            other |= set(wrong)
            was = self.structures.model(structure, state)
            slipping = [name for name in wrong if name in structure.off]
            structure = structure.without([name for name in wrong if name not in slipping])
            structure = structure.with_parts(slipping, {name: self._numbers(name, state) for name in slipping})
            state = self.structures.begun(was, self.structures.model(structure, state), state).replace(structure=structure)
            self._jumped = jumped

    def _need_pushes(self, model: Model, part: Result) -> None:
        """Raise SimulationError, with what was before, if a locked freewheel would have to pull in an impact of a contact or stop."""
        for impact in part.impacts:
            name = pulled(model, impact.impulse.Lam)
            if name is not None:
                raise SimulationError(
                    f"freewheel {name!r} is locked at the impact of {', '.join(map(repr, impact.contacts))} at t = {impact.t:.9g} s, and "
                    "would have to pull: it would slip behind the impact, which is not solved with it. Take a compliant stop (k=)."
                )

    def _part(self, model: Model, state: State, project_velocity: bool) -> Result:
        """Return the run of one structure from a state, to the next switch."""
        armed = self._armed(model)
        times = None if self.times is None else self.times[self.times > state.t]
        if times is not None and not len(times):
            times = np.array([self.t_end])
        output = replace(self.output, t_eval=times, events=tuple(armed), keeps_ends=self.times is not None)
        limits, methods = self.limits.after(time.perf_counter() - self.began), self.methods
        if self.parts:
            methods = replace(methods, integrator=_fitting(methods.integrator, self.t_end - state.t))
        part = self.run_part(model, self.t_end, methods, output, limits, state=state, project_velocity=project_velocity)
        end = float(part.t[-1]) if len(part) else state.t
        instant = end - NEAR * (1.0 + abs(end))
        self._idle_at_end = [self._idle[one.name] for one in part.events if one.name in self._idle and one.t >= instant]
        part = _without_events(part, self._idle)
        if self._jumped:
            part = _with_events(part, self._jumped)
            self._jumped = []
        return part

    def _armed(self, model: Model) -> list[Event]:
        """Return the events of a part: those of switches that change something end it.

        Of the others only those are looked for, and not recorded, that would change something behind another one of the same instant.
        """
        structure = self.structures.of_model(model)
        rebind(model, self.events)
        rebind_pushes(model, self.events)
        armed = [switch for switch in self.switches.values() if self._changes(switch, structure)]
        behind = [_behind(switch, structure) for switch in armed if switch.name not in self.freewheels]
        idle = [switch for name, switch in self.switches.items() if switch not in armed and name not in self.freewheels]
        self._idle = {switch.name: switch for switch in idle if any(self._changes(switch, after) for after in behind)}
        events: list[Event] = []
        for event in self.events:
            if not isinstance(event, Switch):
                events.append(event)
            elif event in armed:
                events.append(event.event)
            elif event.name in self._idle:
                events.append(replace(event.event, function=_or_positive(event.function), terminal=False))
        return events

    def _changes(self, switch: Switch, structure: Structure) -> bool:
        """Return whether a switch would change something."""
        if switch.kick or switch.set is not None:
            return True
        return any(name in structure.off for name in (*switch.lock, *switch.grip)) or any(
            name not in structure.off for name in switch.release
        )

    def _switched(self, structure: Structure, state: State, fired: Sequence[Switch]) -> tuple[Structure, State, list[str]]:
        """Return structure and state behind the switches of an instant, and the terminal events among those that have occurred there."""
        terminal = [switch.name for switch in fired if switch.terminal]
        for _ in range(1 + len(self.events)):
            self._need_order(fired, state.t)
            before = self._bound(structure, state)
            fired, opened = self._decided(structure, state, fired)
            for some in (opened, fired):
                structure, state = self._changed(structure, state, some) if some else (structure, state)
            self._jumped += [EventRecord(one.name, state.t, state) for one in opened]
            fired = [*fired, *opened]
            for event in self.events:
                if isinstance(event.function, CountedCoordinate):
                    event.function.forget_after(state.t)
            after = self._bound(structure, state)
            jumped = _jumps(self.events, before, after, {one.name for one in fired})
            self._jumped += [EventRecord(event.name, state.t, state, jump) for event, jump in jumped]
            terminal += [event.name for event, _ in jumped if event.terminal]
            fired = [event for event, _ in jumped if isinstance(event, Switch) and self._changes(event, structure)]
            if not fired:
                return structure, state, terminal
        names = ", ".join(repr(switch.name) for switch in fired)
        raise SimulationError(
            f"switches at t = {state.t:.9g} s set off one another without end: {names}. Let one of them wait for a time, or for a state."
        )

    def _bound(self, structure: Structure, state: State) -> dict[str, float]:
        """Return the values of events at a state of a structure, but of switches that would change nothing there."""
        rebind(self.structures.model(structure, state), self.events)
        rebind_pushes(self.structures.model(structure, state), self.events)
        looked = [event for event in self.events if not isinstance(event, Switch) or self._changes(event, structure)]
        plain = state.replace(structure=None)  # as the functions get states in a run
        return {event.name: event.value(plain) for event in looked}

    def _need_no_idle(self, structure: Structure, fired: Sequence[Switch], t: float) -> None:
        """Raise SimulationError if a switch that changes nothing before others of its instant would change something behind them."""
        for other in self._idle_at_end:
            for switch in fired:
                behind = _behind(switch, structure)
                if self._changes(other, behind):
                    both = sorted((behind.off ^ structure.off) & {*other.lock, *other.grip, *other.release})
                    raise SimulationError(_order(switch, other, t, f"the later one leaves {', '.join(map(repr, both))} on, or off"))

    def _need_order(self, fired: Sequence[Switch], t: float) -> None:
        """Raise UsageError for switches of one instant whose order matters."""
        if len(fired) == 1:
            return
        releasing = [one for one in fired if one.release]
        others = [one for one in fired if one.lock or one.grip or one.kick]
        setting = [one for one in fired if one.set is not None]
        opened = "parts that close before others open take other velocities than behind"
        clash = [(a, b, opened) for a in releasing for b in others if a is not b]
        clash += [
            (a, b, f"what {a.name!r} sets is of the state before the other one, or behind it")
            for a in setting
            for b in fired
            if a is not b
        ]
        for a in fired:
            for b in fired:
                if a is not b and (both := sorted(set(a.grip) & set(b.lock))):
                    which = f"{', '.join(map(repr, both))} closes at the pose of the moment, or as modelled"
                    clash.append((a, b, which))
        if clash:
            a, b, why = clash[0]
            raise SimulationError(_order(a, b, t, why))

    def _changed(self, structure: Structure, state: State, fired: Sequence[Switch]) -> tuple[Structure, State]:
        """Return structure and state behind switches whose order does not matter."""
        names = ", ".join(repr(switch.name) for switch in fired)
        try:
            return self._change(structure, state, fired)
        except ModelError as error:
            raise ModelError(replace_where(error, names, state.t)) from None
        except UsageError as error:
            raise UsageError(f"switch {names} at t = {state.t:.9g} s: {error}") from error

    def _change(self, structure: Structure, state: State, fired: Sequence[Switch]) -> tuple[Structure, State]:
        """Return structure and state behind switches whose order does not matter."""
        before = self.structures.model(structure, state)
        energy = _energy_of(before, state)
        parts = _PartsSwitched.of(structure, fired)
        # the structure from now on
        held = {name: self._numbers(name, state) for name in parts.gripped}
        now = structure.without(parts.released).with_parts((*parts.gripped, *parts.locked), held)
        after = self.structures.model(now, state) if now != structure else before
        state = self.structures.begun(before, after, state).replace(structure=now)
        # parts close, impulses act: M (u+ - u) + Phi_q^T Lam = P,  Phi_q u+ = nu
        impulse: Impulse | None = None
        kicked = any(switch.kick for switch in fired)
        if kicked or parts.locked or parts.gripped:
            state = self._closed(after, state, any(switch.pull for switch in fired), (*parts.locked, *parts.gripped))
            impulse, now, freed = self._impulse(after, now, state, fired)
            parts.released.extend(freed)
            after = self.structures.model(now, state) if freed else after
            state = impulse.state.replace(structure=now)
            state = projected(after, after.pack(), state).replace(structure=now) if after.nc else state
            if kicked or _velocities_jump(impulse):
                self.impacts.append(Impact(state.t, impulse))
        # states are set
        for switch in fired:
            state = self._set(after, switch, state)
        energy_after = _energy_of(after, state)
        names = tuple(switch.name for switch in fired)
        gained = energy_after[0] - energy[0], energy_after[1] - energy[1]
        locked, gripped, released = map(tuple, parts)
        self.records.append(SwitchRecord(state.t, names, locked, gripped, released, *gained, impulse))
        return now, state

    def _impulse(
        self, model: Model, structure: Structure, state: State, fired: Sequence[Switch]
    ) -> tuple[Impulse, Structure, list[str]]:
        """Return the impulse of switches, the structure behind it, and the freewheels that it opens: they do not pull."""
        kicks, freed = [kick for switch in fired for kick in switch.kick], list[str]()
        impulse = solve_impulse(read_arguments(model, state, kicks, (), (), False))
        sudden = not all(falls_no_more(switch.function, state) for switch in fired)
        while sudden and (free := pulled(model, impulse.Lam)) is not None:
            structure = structure.without([free])
            freed.append(free)
            model, state = self.structures.model(structure, state), state.replace(structure=structure)
            impulse = solve_impulse(read_arguments(model, state, kicks, (), (), False))
        return impulse, structure, freed

    def _closed(self, model: Model, state: State, pull: bool, names: Sequence[str]) -> State:
        """Return the state, at which the joints that close are closed; with `pull` the nearest such pose."""
        faults = position_faults(model, state)
        if not faults:
            return state
        if not pull:
            raise ModelError([replace(fault, remedy=APART) for fault in faults])
        return projected(model, model.pack(), state).replace(structure=state.structure)

    def _numbers(self, name: str, state: State) -> tuple[float, ...]:
        """Return the numbers of a joint at the pose of the moment."""
        joint = self.structures.joint(name)
        assert joint is not None
        bodies = self.structures.initial.bodies
        states = dict(zip(bodies, np.hstack([state.r, state.p, state.v, state.omega_bar]), strict=True))
        columns = {q.key: self.structures.layout.angles + k for k, q in enumerate(_once(self.structures.layout.coordinates))}

        def angle(q: Coordinate) -> float:
            column = columns.get(q.key)
            return q.angle_near(states, 0.0 if column is None else float(state.angles[column]))

        return joint.numbers_here(states, angle)

    def _set(self, model: Model, switch: Switch, state: State) -> State:
        """Return the state that a switch sets."""
        if switch.set is None:
            return state
        if isinstance(switch.set, Mapping):
            network, y = model.network, state.y
            assert network is not None
            for block in network.blocks:
                if block.name in switch.set:
                    values = np.atleast_1d(np.asarray(switch.set[block.name], dtype=np.float64))
                    if values.shape != (block.states,) or not np.isfinite(values).all():
                        raise UsageError(f"set gives block {block.name!r} {values.tolist()}, and it has {block.states} states.")
                    y[network.columns(block, y)] = values
            return State.from_y(state.t, y, model.nb + 1).replace(structure=state.structure)
        state_set = switch.set(state)
        if not isinstance(state_set, State) or state_set.t != state.t:
            what = "another time" if isinstance(state_set, State) else f"{state_set!r:.60}"
            raise UsageError(f"set returns {what}, and must return a State of the same time: state.replace(v=...).")
        return need_sound_state(model, state_set).replace(structure=state.structure)

    def _only(self, structure: Structure, state: State) -> None:
        """Add the state behind a switch that ends the motion."""
        model = self.structures.model(structure, state)
        if self.parts and self.parts[-1].t[-1] == state.t and np.array_equal(self.parts[-1].y[-1], state.y) and not self._jumped:
            last = self.parts[-1]
            if (last._complete[-1].model is model) or not self.records or self.records[-1].t != state.t:
                return
        settings = settings_of(self.methods)
        result = Result(model, np.array([state.t]), state.y[None].copy(), settings=settings, events=tuple(self._jumped))
        sensors = self.parts[-1]._complete[-1]._sensors if self.parts else {}
        if sensors:
            result = replace(result, _sensors={name: _sensed(each, state) for name, each in sensors.items()})
        self._jumped = []
        self.parts.append(result)

    def _count(self, t: float) -> None:
        """Raise SimulationError if switches occur more often than the limit."""
        most = self.limits.most
        recent = self.records[-int(most) - 1 :]
        if len(recent) > most and t - recent[0].t < 1.0:
            names = ", ".join(map(repr, dict.fromkeys(name for one in recent for name in one.names)))
            raise SimulationError(
                f"more than {most:g} switches in a second of simulated time, to t = {t:.9g} s: {names}. They set off one another: "
                "give them a distance in time or state, or a larger most_per_second=."
            )

    def _result(self, error: Exception | None = None) -> Result:
        """Return the result so far."""
        complete = tuple(segment for part in self.parts for segment in _tagged(part))
        last, now = self.parts[-1].outcome, float(self.parts[-1].t[-1]) if len(self.parts[-1]) else np.nan
        if error is not None:
            status, message = RunStatus.FAILED, error_text(error)
        elif self.ended_by:
            status = RunStatus.TERMINAL_EVENT
            message = end_of_run(status, f"at t = {now:.9g} s", self.t_end, ended_by=self.ended_by)
        elif last.status is RunStatus.TERMINAL_EVENT or self.parts[-1].outcome.status is RunStatus.COMPLETED:
            status = RunStatus.COMPLETED
            message = end_of_run(status, "", self.t_end)
        else:
            status, message = last.status, last.message
        initial = self.structures.initial
        if self.methods.redundancy is not None:
            initial = initial.with_redundancy(self.methods.redundancy)
        sparse = self.times is not None
        stays = not self.records and not changes_structure(complete)
        impacts = sorted([*self.impacts, *(one for part in self.parts for one in part.impacts)], key=lambda one: one.t)
        return Result.of_segments(
            initial,
            at_times(complete, self.times, LAST) if self.times is not None else complete,
            complete=complete if sparse else (),
            impacts=tuple(impacts),
            settings=self.parts[0].settings,
            interrupted=self.parts[-1].interrupted,
            outcome=joined((part.outcome for part in self.parts), status, message),
            switches=tuple(self.records),
            _mechanism=self.parts[0]._mechanism if stays else None,
            _contact_problem=self.parts[0]._contact_problem if stays else None,
        )


class _PartsSwitched(NamedTuple):
    """Names of the parts that switches of an instant lock, grip and release: those that are not so already."""

    locked: list[str]
    gripped: list[str]
    released: list[str]

    @classmethod
    def of(cls, structure: Structure, fired: Sequence[Switch]) -> _PartsSwitched:
        """Return what switches change in a structure."""
        locked = dict.fromkeys(name for switch in fired for name in switch.lock if name in structure.off)
        gripped = dict.fromkeys(name for switch in fired for name in switch.grip if name in structure.off)
        released = dict.fromkeys(name for switch in fired for name in switch.release if name not in structure.off)
        return cls([*locked], [*gripped], [*released])


def _velocities_jump(impulse: Impulse) -> bool:
    """Return whether the velocities change by more than rounding."""
    u, u_plus = (np.hstack([moving.v, moving.omega_bar]) for moving in (impulse.before, impulse.state))
    return bool(np.abs(u_plus - u).max(initial=0.0) > STILL * np.abs(u).max(initial=0.0))


def _energy_of(model: Model, state: State) -> tuple[float, float]:
    """Return kinetic and potential energy [J] of a state."""
    kinetic, potential = kinetic_and_potential(model, np.array([state.t]), state.y[None])
    return float(kinetic[0]), float(potential[0])


def _behind(switch: Switch, structure: Structure) -> Structure:
    """Return which parts are off behind a switch."""
    return Structure(structure.off.difference(switch.lock, switch.grip).union(switch.release))


def _order(a: Switch, b: Switch, t: float, why: str) -> str:
    """Return the text of an error about two switches of one instant."""
    return (
        f"switches {a.name!r} and {b.name!r} occur at one instant, t = {t:.9g} s, and their order matters: {why}. "
        "Let one switch do both, or let one occur later."
    )


def _or_positive(function: Any) -> Callable[[float, State], float]:
    """Return g of a switch that would change nothing, which may not be defined yet; 1 where it is not."""

    def value(t: float, state: State) -> float:
        try:
            g = float(function(t, state))
        except Exception:  # noqa: BLE001  a user's function may raise anything, and nothing depends on it
            return 1.0
        return g if np.isfinite(g) else 1.0

    return value


def _without_events(part: Result, names: Container[str]) -> Result:
    """Return a part without the records of events of these names."""

    def kept(one: Result) -> Result:
        return replace(one, events=tuple(record for record in one.events if record.name not in names))

    if not any(record.name in names for record in part.events):
        return part
    return replace(kept(part), _segments=tuple(map(kept, part._segments)), _with_ends=tuple(map(kept, part._with_ends)))


def _fitting(method: Integrator, rest: float) -> Integrator:
    """Return a method whose fixed step is no longer than what is left [s] behind a switch, which has cut the step before."""
    h: Any = getattr(method, "h", None)
    return replace(method, h=rest) if is_dataclass(method) and method.step is not None and h is not None and h > rest else method


def _sensed(history: Any, state: State) -> Any:
    """Return a sensor's history of one state, with the value that it had last: a state behind a switch has no step."""
    return replace(history, t=np.array([state.t]), value=history.value[-1:])


def _tagged(part: Result) -> tuple[Result, ...]:
    """Return the segments of a part with their ends, each with the contacts of its structure."""
    if not part._segments:
        return (part,)
    return tuple(replace(segment, _mechanism=part._mechanism, _contact_problem=part._contact_problem) for segment in part._complete)


def _with_events(part: Result, events: Sequence[EventRecord]) -> Result:
    """Return a part with events at its start."""
    if not part._segments:
        return replace(part, events=(*events, *part.events))
    k = next(k for k, segment in enumerate(part._complete) if len(segment))
    several = part._with_ends or part._segments
    first = replace(several[k], events=(*events, *several[k].events))
    changed = (*several[:k], first, *several[k + 1 :])
    return replace(part, _with_ends=changed) if part._with_ends else replace(part, _segments=changed)


def _jumps(
    events: Sequence[Event], before: Mapping[str, float], after: Mapping[str, float], named: set[str]
) -> list[tuple[Event, float]]:
    """Return the events whose g jumps across zero at a switch, with the jump; named: those that have occurred there."""
    jumped = []
    for event in events:
        g, g_after = before.get(event.name, 0.0), after.get(event.name, 0.0)
        if event.name not in named and g != 0.0 and g_after != 0.0 and event.wants(g, g_after):
            jumped.append((event, g_after - g))
    return jumped


def _once(coordinates: Sequence[Coordinate]) -> list[Coordinate]:
    """Return the angles of a layout, each once, in the order in which they are numbered."""
    return list({q.key: q for q in coordinates if q.turns}.values())


def replace_where(error: ModelError, names: str, t: float) -> list[Any]:
    """Return the faults of an error, told as those of switches."""
    return [replace(fault, where=f"switch {names} at t = {t:.9g} s, {fault.where}") for fault in error.faults]
