r"""Tangents of a simulation: smooth pieces of the motion, and the events between them.

piece    the tape of its steps, each with its tangents (`direct.along_tape`), by the rows of the contacts and joints that are closed in it
event    g(t, y, p) = 0     dt/dp = -(g_y dY + g_p) / (g_t + g_y f-)              the time of a touch, an opening, a switch moves
leap     y+ = L(t, y-, p)   dY+ = L_y (dY- + f- dt) + L_p + L_t dt - f+ dt        f-, f+: the rates before and behind it

With L the identity and f+ = f- nothing is left of the event: only a change of the law, or a jump, moves what follows.  L is an impulse,
or what a Switch does; it is differenced on both sides along (dY- + f- dt, p) with the models of both sides: it integrates nothing.
Where y moves along g = 0, or nearly, the event is grazing: its time has no derivative, and is refused. A low bounce of a cascade is none.
Source: Hiskens, Pai (2000), Trajectory sensitivity analysis of hybrid systems; Leine, Nijmeijer (2004), ch. 7 (saltation).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from scipy.optimize import brentq

from haugmbd.compiled.array_types import Array
from haugmbd.contact.gap import gap_at, placed_contacts
from haugmbd.contact.joint_stop import rigid_contacts, stops_of
from haugmbd.diagnostics.reaction_signals import with_signals
from haugmbd.diagnostics.run_warnings import RunStatus
from haugmbd.drivers import Expression
from haugmbd.errors import UsageError
from haugmbd.forces.joint_friction import JointFriction
from haugmbd.formulations.accelerations import accelerations
from haugmbd.impacts.contact_response import ContactResponse
from haugmbd.impacts.impulse import solve_impulse
from haugmbd.impacts.impulse_arguments import read_arguments
from haugmbd.integrators.events import Switch
from haugmbd.integrators.explicit.embedded import EmbeddedRungeKutta
from haugmbd.integrators.explicit.lie import LieRungeKutta
from haugmbd.integrators.explicit.rk4 import RK4
from haugmbd.integrators.explicit.runge_kutta import RungeKutta
from haugmbd.integrators.explicit.semi_implicit_euler import SemiImplicitEuler
from haugmbd.integrators.hem4 import HEM4, HEM4_METHOD
from haugmbd.integrators.initial_state import projected
from haugmbd.integrators.moreau_jean import MoreauJean
from haugmbd.integrators.rattle import RATTLE
from haugmbd.integrators.stabilization.baumgarte import Baumgarte
from haugmbd.integrators.stabilization.none import Unstabilized
from haugmbd.integrators.stabilization.projection import Projection
from haugmbd.integrators.state_space import MaximalStateSpace
from haugmbd.integrators.stick_slip.watched_quantities import may_stick
from haugmbd.math.body_columns import WIDTH
from haugmbd.model.compiling.numbering import numbered_by_origin
from haugmbd.model.inspection.driver_breaks import break_between
from haugmbd.model.inspection.run_memory import need_no_freewheels
from haugmbd.model.model import Model
from haugmbd.model.state import State
from haugmbd.sensitivity.adjoint import states_beside
from haugmbd.sensitivity.direct import Tangents, Tape, along_implicit_tape, along_rattle_tape, along_tape
from haugmbd.sensitivity.implicit_tangents import is_known
from haugmbd.sensitivity.independent_parts import times_of_columns
from haugmbd.sensitivity.laws import Law, guards, laws_of_steps, need_one_rate
from haugmbd.sensitivity.outputs import is_integral
from haugmbd.sensitivity.parameters import UserFunctionDriver
from haugmbd.sensitivity.tangents import HALF_EXPLICIT, LIE, RUNGE_KUTTA, SEMI_IMPLICIT, Method
from haugmbd.sensitivity.variations import Design, Piece, Variation
from haugmbd.simulation.arguments import choose_integrator
from haugmbd.simulation.compatibility import resolve_stabilization
from haugmbd.simulation.hybrid.contact_events import MEETS, OPENS
from haugmbd.simulation.results.result import Result
from haugmbd.simulation.run_options import NEWTON_EULER, PROJECTION
from haugmbd.simulation.simulate import simulate
from haugmbd.system.build import build_model
from haugmbd.system.rebuilt import put_frozen
from haugmbd.system.structures import Structure, structures_of

GRAZING = 1e-5
"""Rate of g, relative to the largest |g| of its piece over the span of the run, below which an event is grazing."""
BOUNCES = 0.1
"""Speed of an approach, relative to that of the last separation of the same contact, above which it is a bounce, and not grazing."""
SAMPLES = 20
"""States of a piece at which the size of g is taken, about."""
STEP = 3e-5
"""[s] Of the rate of g by differences of fourth order, in a run's span of 1 s."""
MOVED = 1e-12
"""Relative distance of two times that is rounding."""
AT_ZERO = 1e-7
"""Time, relative to the run, by which a zero of g may be away from the instant at which it changes the law."""
TOGETHER = 1e-6
"""Relative to the largest: derivatives of the times of events of one instant that differ by more part them."""
ASIDE = 1e-12
"""[s] Of an instant at which a law has a kink, in 1 s: one side is known from the other, and no tangent moves in between."""
KINK = 1e-2
"""Second difference of an impact, relative to the first: of a smooth one it is the step, 1e-5."""
ROUNDING = 1e-11
"""Relative to the state: a second difference that says nothing."""
OPEN = 1e-6
"""Part of the size of the mechanism by which a joint that locks may be off, for a change of a parameter by its size."""


# ---------------------------------------------------------------------------------------------------------------- pieces
def simulated(design: Design, arguments: dict[str, Any]) -> Tangents:
    """Return the tangents of a simulation, at the ends of its steps, or at the times t_eval."""
    arguments = dict(arguments)
    times = arguments.pop("t_eval", None)
    if arguments.get("store_every", 1) != 1:
        raise UsageError("sensitivity needs every step of the run: leave out store_every, and give times in t_eval.")
    method = method_of(design, arguments)
    refuse_what_is_not_smooth(design, arguments)
    result = simulate(design.model, **arguments)
    design.ran()
    if result.singular_crossings:
        raise UsageError("the run crosses a singular configuration, where the derivative by a parameter does not exist.")
    refuse_moving_breaks(design, result.t)
    wanted = np.zeros(0) if times is None else np.asarray(times, dtype=np.float64)
    if ((wanted < result.t[0]) | (wanted > result.t[-1])).any():
        raise UsageError(f"t_eval must be within the run, {result.t[0]:g} s to {result.t[-1]:g} s.")
    return Motion(design, method, result, design.built.arguments | arguments).tangents(None if times is None else wanted)


class Ended(NamedTuple):
    """The end of a piece by events of one instant.

    t;  y, y_dot: (ny,) before it;  dY: (n, ny) at the fixed time;  dt: (n, 1) of the time, or (n, ny) by the columns of independent parts
    """

    t: float
    y: Array
    y_dot: Array
    dY: Array
    dt: Array


class Instants(NamedTuple):
    """States y (k, ny) at times t (k,) within steps."""

    t: Array
    y: Array


class _Step(NamedTuple):
    """A step of an explicit method, with the states within it.  T: (2,) and Y: (2, ny) at its ends"""

    piece: Design
    tableau: Any
    T: Array
    Y: Array

    def state(self, t: float) -> Array:
        """Return the state that a step of the method to time t reaches; at the ends that of the run."""
        if t in self.T:
            return np.asarray(self.Y[self.T.tolist().index(t)])
        (y,) = states_beside(self.piece, self.tableau, self.T, self.Y, np.array([t]))
        return np.asarray(y, dtype=np.float64)

    def at_rest(self, joint: str) -> float:
        """Return the time at which the rate of a joint, which has other signs at the ends, is zero."""

        def rate(t: float) -> float:
            return float(_rates_of_joint(self.piece.model, joint, np.array([t]), self.state(t)[None])[0])

        return float(brentq(rate, self.T[0], self.T[1], xtol=1e-16 * (1.0 + abs(self.T[0])), rtol=1e-15))


def _rates_of_joint(model: Model, joint: str, t: Array, y: Array) -> Array:
    """Return the rates (nt,) of a joint of one freedom."""
    motion: Any = Result(model, t, y).joint(joint)
    return np.asarray(motion.rate)


class Motion:
    """The pieces of a motion, each with its tape, and the times of its events."""

    def __init__(self, design: Design, method: Any, result: Any, arguments: Mapping[str, Any]) -> None:
        self.design, self.method, self.result, self.arguments = design, method, result, arguments
        self.segments = [one for one in result.segments if len(one)]
        self.span = max(float(result.t[-1] - result.t[0]), 1e-300)
        self._pieces: dict[Any, Design] = {}
        self._contacts = frozenset(one.name for one in contacts_of(design.model))
        self.event_times: dict[float, Array] = {}
        self._by_name: dict[tuple[float, str], Array] = {}
        self._instants: dict[float, Array] = {}
        self._separation: dict[str, float] = {}
        self.step = choose_integrator(*(arguments.get(name) for name in ("h", "rtol", "atol", "integrator"))).step

    def tangents(self, times: Array | None) -> Tangents:
        """Return the tangents at the ends of all steps, or at times of the run; at the time of a jump behind it."""
        tapes: list[tuple[Design, Tape]] = []
        start: Array | None = None
        records, ended = self._records_wanted(), None
        for number, segment in enumerate(self.segments):
            piece, last = self.piece_of(segment), number + 1 == len(self.segments)
            laws = laws_of_steps(piece.model, segment.t, segment.y)
            for count, (some, law) in enumerate(laws):
                T, Y = segment.t[some], segment.y[some]
                inside = np.array([t for t in (*(() if times is None else times), *records) if T[0] < t < T[-1]])
                tape = self._tape(piece, T, Y, inside, start, law)
                if number and not count and len(segment) > 1:
                    self._need_closed(segment, start, tape)
                tapes.append((piece, tape))
                self._time_events(piece, segment, tape, records, law)
                if count + 1 < len(laws):
                    start = self._behind_law(piece, segment, tape, law, laws[count + 1][1])
            ended = self._end_of(piece, segment, tape, last)
            if not last:
                assert ended is not None
                start = self._behind(piece, ended, segment, self.segments[number + 1])
        found = self._collected(tapes, times, ended)
        if times is None or not any(map(is_integral, self.design.outputs)):
            return found._replace(steps=found)
        whole = np.unique(np.concatenate([times, *(tape.T for _, tape in tapes)]))
        return found._replace(steps=self._collected(tapes, whole, ended))

    def _tape(self, piece: Design, T: Array, Y: Array, inside: Array, start: Array | None, law: Law) -> Tape:
        """Return the tangents along steps."""
        if isinstance(self.method, Method):
            between = self._reversals(piece, T, Y)
            ends, order = np.unique(np.concatenate([T, between.t]), return_index=True)
            tape = along_tape(piece, self.method, ends, np.concatenate([Y, between.y])[order], inside, start, law)
            return tape._replace(T=T, Y=Y, dY=tape.dY[order < len(T)], kept=tape.kept[order < len(T)])
        if len(inside[~np.isin(inside, T)]):
            raise UsageError(
                f"sensitivity of a run by {type(self.method).__name__} at times between its steps is not there yet: give times in t_eval "
                "that are ends of steps, or an explicit method."
            )
        if isinstance(self.method, RATTLE):
            return along_rattle_tape(piece, T, Y, start)
        return along_implicit_tape(piece, self.method, T, Y, start)

    def _reversals(self, piece: Design, T: Array, Y: Array) -> Instants:
        """Return the instants within steps, controlled by their error, at which the sliding of a joint with bristles turns.

        The law has a kink there: a step across it has a right state, within the tolerance, and tangents that are right to its root only.
        One that ends a moment before has both, and so has one that begins a moment behind. Steps of a given length are not divided: the
        derivative is that of their discrete solution.
        """
        T, Y = np.array(T), np.array(Y)
        loads = [load for load in piece.model.loads_of(JointFriction) if load.law.has_state]
        if not loads or self.step is not None or len(T) < 2:  # noqa: PLR2004
            return Instants(np.zeros(0), np.zeros((0, Y.shape[1])))
        need_one_rate(piece.model, loads, T, Y)
        times, states = list[float](), list[Array]()
        for joint in sorted({load.bearing.name for load in loads}):
            rates_at_ends = _rates_of_joint(piece.model, joint, T, Y)
            for k in np.flatnonzero(rates_at_ends[1:] * rates_at_ends[:-1] < 0.0).tolist():
                step = _Step(piece, self.method.tableau, T[k : k + 2], Y[k : k + 2])
                at_rest, aside = step.at_rest(joint), ASIDE * (1.0 + abs(T[k]))
                inside = [t for t in (at_rest - aside, at_rest + aside) if T[k] < t < T[k + 1]]
                times += inside
                states += map(step.state, inside)
        return Instants(np.array(times), np.array(states).reshape(len(times), Y.shape[1]))

    def _behind_law(self, piece: Design, segment: Any, tape: Tape, law: Law, following: Law) -> Array:
        """Return the tangents (n, ny) behind a change of the law, at its fixed time:  dY + (f- - f+) dt."""
        t, y, dY = float(tape.T[-1]), tape.Y[-1], tape.dY[-1]
        found: list[tuple[str, Array]] = []
        for name, of_model in guards(law, following, piece.model):
            g = of_model(piece.model)
            rate = self._rate(g, t, y, tape.y_dot)
            if abs(float(g(t, y))) > AT_ZERO * self.span * abs(rate):
                continue  # it is another one's event
            self._need_crossing(name, t, rate, g, segment)
            slopes = [piece.along(p, (t, y, 0.0, dY[k]), partial(_of_model_of, of_model)) for k, p in enumerate(self.design.p)]
            found.append((name, -np.array(slopes) / rate))
        if not found:
            raise UsageError(f"the law of the motion changes at t = {t:.9g} s by an event that is not known to sensitivity.")
        dt = self._of_one_instant(piece, t, [name for name, _ in found], [dt for _, dt in found])
        behind: Array = dY + dt * (tape.y_dot - rates(piece.model, t, y, following))
        return behind

    def _collected(self, tapes: Sequence[tuple[Design, Tape]], times: Array | None, ended: Ended | None) -> Tangents:
        """Return the tangents of all tapes."""
        t, y, dY, dt, pieces, count = [], [], [], [], [], 0
        for number, (piece, tape) in enumerate(tapes):
            behind = tapes[number + 1][1].T[0] if number + 1 < len(tapes) else np.inf
            here = tape.T if times is None else times[(times >= tape.T[0]) & (times <= tape.T[-1]) & (times < behind)]
            states, tangents = (tape.Y, tape.dY) if times is None else tape.at(here)
            t.append(here)
            y.append(states)
            dY.append(tangents)
            dt.append(np.zeros(tangents.shape[:2]))
            pieces.append((piece, slice(count, count + len(here))))
            count += len(here)
        if times is None and ended is not None and self.result.status == RunStatus.TERMINAL_EVENT:
            if ended.dt.shape[1] > 1:
                raise UsageError(f"the end of the run, t = {ended.t:.9g} s, is that of several events, which a parameter parts.")
            dY[-1][-1] = ended.dY + ended.dt * ended.y_dot
            dt[-1][-1] = ended.dt[:, 0]
        whole = len(tapes) == 1 and tapes[0][0] is self.design
        T, Y, dY_all, dt_all = (np.concatenate(each) for each in (t, y, dY, dt))
        moves = bool(dt_all.any())  # the end, where the solution is not that of a fixed time
        kept = tapes[0][1].kept_at(T) if whole and len(tapes[0][1].kept) and not moves else None
        return Tangents(T, Y, dY_all, dt_all, self._times_of_outputs(), () if whole else tuple(pieces), kept=kept)

    def _structure(self, model: Model) -> tuple[Structure, frozenset[str]]:
        """Return which parts are off in a model, and which contacts are closed."""
        structure = Structure() if model.parts is None else model.parts.structure
        return structure, self._contacts.intersection(model.joints)

    def piece_of(self, segment: Any) -> Design:
        """Return the design with the structure of a segment."""
        key = self._structure(segment.model)
        if key == self._structure(self.design.model):
            return self.design
        if key not in self._pieces:
            like = segment.model
            model = structured(self.design.model, like)
            self._pieces[key] = Piece(self.design, model, lambda side: structured(side.model, like))
        return self._pieces[key]

    def free_of(self, piece: Design, segment: Any) -> Design:
        """Return the piece of the same structure with all its contacts open."""
        structure, closed = self._structure(segment.model)
        if not closed:
            return piece
        key = structure, frozenset[str]()
        if key == self._structure(self.design.model):
            return self.design
        if key not in self._pieces:
            like = segment.model
            model = structured(self.design.model, like, closed=False)
            self._pieces[key] = Piece(self.design, model, lambda side: structured(side.model, like, closed=False))
        return self._pieces[key]

    # ------------------------------------------------------------------------------------------------------------ events
    def _records_wanted(self) -> dict[float, list[str]]:
        """Return the times of the events that outputs ask for, with the names of those of each."""
        found: dict[float, list[str]] = {}
        for output in self.design.outputs:
            if output.kind == "event":
                record = self._record(output)
                found.setdefault(float(record.t), []).append(record.name)
        return found

    def _record(self, output: Any) -> Any:
        records = records_of(self.result, output.owner)
        if output.component[0] >= len(records):
            raise UsageError(
                f"output {output.text!r}: event {output.owner!r} occurs {len(records)} times in the run, numbered from 0."
            )
        return records[output.component[0]]

    def _time_events(self, piece: Design, segment: Any, tape: Tape, records: Mapping[float, Sequence[str]], law: Law) -> None:
        """Find the derivatives of the times of events within a piece that outputs ask for."""
        for t, name in ((t, name) for t, names in records.items() for name in names):
            if (t, name) in self._by_name or not tape.T[0] < t <= tape.T[-1] or event_of_law(piece.model, name):
                continue
            if any(one.t == t and one.jump for one in self.result.events if one.name == name):
                continue  # at a jump of the state, whose time is that of another event
            (y,), (dY,) = tape.at(np.array([t]))
            y_dot = rates(piece.model, t, y, law)
            self._by_name[t, name] = self._time_tangents(piece, segment, name, (t, y, y_dot, dY))
            self.event_times.setdefault(t, self._by_name[t, name])

    def _times_of_outputs(self) -> dict[str, tuple[float, Array]]:
        """Return the times that outputs ask for, and their derivatives."""
        times = {}
        for output in self.design.outputs:
            if output.kind == "event":
                t = float(self._record(output).t)
                if t not in self.event_times:
                    raise UsageError(
                        f"output {output.text!r}: g of the event jumps there, so that its time has no derivative by g."
                    )
                if (t, output.owner) in self._by_name:
                    times[output.text] = t, self._by_name[t, output.owner]
                    continue
            elif output.kind == "impact":
                if output.component[0] >= len(self.result.impacts):
                    raise UsageError(
                        f"output {output.text!r}: there are {len(self.result.impacts)} impacts in the run, numbered from 0."
                    )
                t = float(self.result.impacts[output.component[0]].t)
                if t not in self.event_times:
                    self.event_times[t] = np.zeros(len(self.design.p))  # at the start of the run
                if t in self._instants and self._instants[t].shape[1] > 1:
                    raise UsageError(
                        f"output {output.text!r} is of several contacts, which a parameter parts: ask for the events of each, such as "
                        f"'event.{self.result.impacts[output.component[0]].contacts[0]} {MEETS}[0].t'."
                    )
            else:
                continue
            times[output.text] = t, self.event_times[t]
        return times

    def _end_of(self, piece: Design, segment: Any, tape: Tape, last: bool) -> Ended | None:
        """Return how a piece ends, by the events of its last instant; None for the end of the run."""
        t, y, dY, y_dot = float(segment.t[-1]), tape.Y[-1], tape.dY[-1], tape.y_dot
        names = [one.name for one in segment.events if one.t == t and not one.jump and self._ends(piece, one.name)]
        if last and self.result.status != RunStatus.TERMINAL_EVENT:
            return None
        if len(segment) == 1:  # two events of one instant, such as an impact that opens another contact
            if t not in self._instants:
                raise UsageError(f"the run changes its law at its start, t = {t:.9g} s: start it a moment before or behind.")
            return Ended(t, y, y_dot, dY, self._instants[t])
        if not names:
            raise UsageError(f"the run changes its law at t = {t:.9g} s by an event that is not known to sensitivity.")
        dt = [self._time_tangents(piece, segment, name, (t, y, y_dot, dY)) for name in names]
        return Ended(t, y, y_dot, dY, self._of_one_instant(piece, t, names, dt))

    def _of_one_instant(self, piece: Design, t: float, names: Sequence[str], dt: Sequence[Array]) -> Array:
        """Return the derivative of the time of events of one instant, (n, 1), or (n, ny) of events of independent parts.

        Raise UsageError if a parameter parts events of what is joined.
        """
        sizes, times = self.design.p.sizes, dt[0][:, None]
        self.event_times[t] = dt[0]
        for name, other in zip(names, dt, strict=True):
            self._by_name[t, name] = other
            if (np.abs(other - dt[0]) * sizes).max() > TOGETHER * (1e-3 * self.span + (np.abs(dt[0]) * sizes).max()):
                by_parts = times_of_columns([piece.model, *(one.model for one in self.segments)], names, dt)
                if by_parts is None:
                    raise UsageError(
                        f"events {names[0]!r} and {name!r} are of one instant, t = {t:.9g} s, and a parameter parts them: what follows "
                        "depends on which is first, and has no derivative. Move a parameter a little."
                    )
                times = by_parts
        self._instants[t] = times
        return times

    def _ends(self, piece: Design, name: str) -> bool:
        """Return whether an event ends a piece: of a contact, a switch, or a terminal one."""
        if contact_event(piece.model, name) is not None:
            return True
        event = next((one for one in self.arguments.get("events", ()) if one.name == name), None)
        return event is not None and (event.terminal or isinstance(event, Switch))

    def _time_tangents(self, piece: Design, segment: Any, name: str, at: tuple[float, Array, Array, Array]) -> Array:
        """Return dt/dp (n,) of an event. Raise UsageError if it is grazing.  at: t, y (ny,), y' and dY (n, ny) at the event"""
        t, y, y_dot, dY = at
        g = guard(piece.nominal, self.arguments, name)
        rate = self._rate(g, t, y, y_dot)
        contact = contact_event(piece.model, name)
        before = self._separation.get(contact[0], 0.0) if contact and contact[1] == MEETS else 0.0
        if not abs(rate) > BOUNCES * before > 0.0:
            self._need_crossing(name, t, rate, g, segment)

        def of(side: Variation) -> Callable[..., Array]:
            return guard(side, self.arguments, name)

        return np.array([-piece.along(p, (t, y, 0.0, dY[k]), of) / rate for k, p in enumerate(self.design.p)])

    def _rate(self, g: Callable[..., Any], t: float, y: Array, y_dot: Array) -> float:
        """Return the rate of g along the motion."""
        d = STEP * min(self.span, 1.0)
        return sum(w * float(g(t + k * d, y + k * d * y_dot)) for k, w in FOURTH) / d

    def _need_crossing(self, name: str, t: float, rate: float, g: Callable[..., Any], segment: Any) -> None:
        """Raise UsageError if an event is grazing."""
        every = max(1, len(segment) // SAMPLES)
        largest = max(abs(float(g(float(s), x))) for s, x in zip(segment.t[::every], segment.y[::every], strict=True))
        if not abs(rate) * self.span > GRAZING * largest:
            raise UsageError(
                f"event {name!r} at t = {t:.9g} s is grazing: its g changes by {rate:.2g} a second there, so that its time has no "
                "derivative."
            )

    # ------------------------------------------------------------------------------------------------------------ leaps
    def _behind(self, piece: Design, ended: Ended, segment: Any, following: Any) -> Array:
        """Return the tangents (n, ny) with which the next piece begins, at its fixed time."""
        after, t = self.piece_of(following), ended.t
        leap = self._leap(piece, after, segment, following, t)
        moved = ended.dY + ended.dt * ended.y_dot
        of_time = ended.dt[:, 0] if ended.dt.shape[1] == 1 else np.zeros(len(ended.dt))  # independent parts do not depend on it
        if leap is not None:
            changed = []
            for k, name in enumerate(self.design.p):
                motion = t, ended.y, of_time[k], moved[k]
                changed.append(self._along_leap(leap, name, motion))
            moved = np.array(changed)
        self._note_separations(following)
        law = laws_of_steps(after.model, following.t, following.y)[0][1]
        return moved - ended.dt * rates(after.model, t, following.y[0], law)

    def _along_leap(self, leap: Leap, name: str, motion: tuple[float, Array, float, Array]) -> Array:
        """Return the derivative of the state behind a leap. Raise UsageError at a kink."""
        t, y, dt, dy = motion
        plus, minus = leap.before.sides(name)
        high, low = (leap.of(name, side)(t + side.step * dt, y + side.step * dy) for side in (plus, minus))
        here = leap.of(name, leap.before.nominal)(t, y)
        bend, change = np.abs(high - 2.0 * here + low).max(), np.abs(high - low).max()
        if bend > KINK * change and bend > ROUNDING * (1.0 + np.abs(here).max()):
            raise UsageError(
                f"parameter {name!r}: at t = {t:.9g} s the state behind {leap.what} has no derivative: on one side of the value other "
                "contacts take part. Move a parameter a little."
            )
        slope: Array = (high - low) / (plus.step - minus.step)
        return slope

    def _leap(self, piece: Design, after: Design, segment: Any, following: Any, t: float) -> Leap | None:
        """Return what changes the state between two pieces; None if nothing does."""
        records = [record for record in self.result.switches if record.t == t]
        if len(records) > 1:
            raise UsageError(
                f"sensitivity through several switches of one instant, t = {t:.9g} s, is not there yet: let one do all."
            )
        struck = [
            impact for impact in self.result.impacts if impact.t == t and not (records and impact.impulse is records[0].impulse)
        ]
        if records:
            if struck:
                raise UsageError(f"sensitivity through a switch and an impact of one instant, t = {t:.9g} s, is not there yet.")
            return self._switch(piece, after, segment, records[0])
        if not struck:
            return None
        if len(struck) > 1:
            raise UsageError(f"sensitivity through several impacts of one instant, t = {t:.9g} s, is not there yet.")
        names = tuple(struck[0].impulse.normal)
        free = self.free_of(piece, segment)

        def strike(side: Variation, t: float, y: Array) -> Array:
            contacts = [contact for contact in contacts_of(side.model) if contact.name in names]
            state = State.from_y(t, _normalized(y, side.model), side.model.nb + 1)
            y_plus: Array = solve_impulse(read_arguments(side.model, state, (), contacts, (), False)).state.y
            return y_plus

        return Leap(
            "the impact of " + ", ".join(map(repr, struck[0].contacts)), free, lambda name, side: lambda t, y: strike(side, t, y)
        )

    def _switch(self, piece: Design, after: Design, segment: Any, record: Any) -> Leap | None:
        """Return what a switch does to the state."""
        if record.gripped:
            raise UsageError(
                f"sensitivity through a switch that grips ({', '.join(map(repr, record.gripped))}) at the pose of the moment is not there "
                "yet: lock a joint that was modelled there."
            )
        free, names = self.free_of(piece, segment), record.names
        sets = any(switch.set is not None for switch in self._switches(self.arguments, names))
        if not (record.locked or record.impulse is not None or sets):
            began = {q.key for q, _ in after.model.angles} - {q.key for q, _ in piece.model.angles}
            if not began:
                return None

        def leap(name: str, side: Variation) -> Callable[..., Array]:
            end = after.nominal if side is free.nominal else after.sides(name)[0 if side.step > 0.0 else 1]
            fired = self._switches(side.arguments if "events" in side.arguments else self.arguments, names)
            return partial(_switched, side.model, end.model, fired, bool(record.locked))

        return Leap("switch " + ", ".join(map(repr, names)), free, leap)

    @staticmethod
    def _switches(arguments: Mapping[str, Any], names: Sequence[str]) -> list[Any]:
        """Return the switches of these names."""
        return [event for event in arguments.get("events", ()) if isinstance(event, Switch) and event.name in names]

    def _note_separations(self, following: Any) -> None:
        """Note how fast contacts part at the start of a piece."""
        contacts = [contact for contact in contacts_of(following.model) if contact.name not in following.model.joints]
        if contacts:
            speeds = placed_contacts([contact.placed(following.model) for contact in contacts]).gap_rates(following.y[:1])[0]
            self._separation |= {contact.name: abs(float(v)) for contact, v in zip(contacts, speeds, strict=True)}

    def _need_closed(self, segment: Any, start: Array | None, tape: Tape) -> None:
        """Raise UsageError if a joint that locks would be open beside the values of the parameters."""
        assert start is not None
        model, pulls = self.design.model, any(isinstance(e, Switch) and e.pull for e in self.arguments.get("events", ()))
        moved = np.abs(tape.dY[0] - start)[:, : WIDTH * (model.nb + 1)].reshape(len(start), -1, WIDTH)[:, :, :7].max(axis=(1, 2))
        for name, far, size in zip(self.design.p, moved, self.design.p.sizes, strict=True):
            if far * size > OPEN * max(1.0, model.length) and not pulls:
                raise UsageError(
                    f"parameter {name!r}: a part that closes at t = {segment.t[0]:.9g} s closes at this value only, so that there is no "
                    "derivative. Let the event be that of its gap, or give pull=True."
                )


def _switched(before: Model, after: Model, fired: Sequence[Any], locked: bool, t: float, y: Array) -> Array:
    """Return the state behind switches that fire at t;  locked: whether joints are locked, which gives an impulse."""
    # integrated angles and internal states of the parts that are on now
    state = State.from_y(t, _normalized(y, before), before.nb + 1)
    state = structures_of(before).begun(before, after, state)
    # impulses of kicks and locks
    kicks = [kick for switch in fired for kick in switch.kick]
    if kicks or locked:
        if any(switch.pull for switch in fired):
            state = projected(after, after.pack(), state)
        state = solve_impulse(read_arguments(after, state, kicks, (), (), False)).state
    # what the user sets
    for switch in fired:
        if callable(switch.set):
            state = switch.set(state)
        elif switch.set is not None:
            state = _blocks_set(after, switch.set, state)
    y_plus: Array = state.y
    return y_plus


class Leap(NamedTuple):
    """What changes the state at an event.  before: the design whose sides it takes;  of(name, side)(t, y): the state behind it"""

    what: str
    before: Design
    of: Callable[[str, Variation], Callable[..., Array]]


FOURTH = ((1.0, 2.0 / 3.0), (-1.0, -2.0 / 3.0), (2.0, -1.0 / 12.0), (-2.0, 1.0 / 12.0))
"""Points and weights of differences of fourth order."""


def rates(model: Model, t: float, y: Array, law: Law) -> Array:
    """Return y' (ny,) by a law."""
    y_dot, response = np.zeros_like(y), ContactResponse(model)
    law.hold(model, response.pack)
    response.rates(t, np.array(y), y_dot)
    return y_dot


def _of_model_of(of_model: Callable[[Model], Callable[..., Any]], side: Variation) -> Callable[..., Any]:
    """Return a function of (t, y) by the model of a side."""
    return of_model(side.model)


def _normalized(y: Array, model: Model) -> Array:
    """Return a flat state whose Euler parameters have length one."""
    found = np.array(y)
    p = found[: WIDTH * (model.nb + 1)].reshape(-1, WIDTH)[:, 3:7]
    p /= np.linalg.norm(p, axis=1)[:, None]
    return found


def _blocks_set(model: Model, given: Mapping[str, Any], state: State) -> State:
    """Return the state in which blocks have other states."""
    network, y = model.network, state.y
    assert network is not None
    for block in network.blocks:
        if block.name in given:
            y[network.columns(block, y)] = np.atleast_1d(np.asarray(given[block.name], dtype=np.float64))
    return State.from_y(state.t, y, model.nb + 1)


# ---------------------------------------------------------------------------------------------------------------- structures
def contacts_of(model: Model) -> list[Any]:
    """Return the rigid contacts and stops of a model."""
    return list(rigid_contacts(model))


def structured(model: Model, like: Model, *, closed: bool = True) -> Model:
    """Return the model of the parts of `model` that are on and closed in another one, in tables that keep their structure.

    closed: whether contacts that are closed there are rows here, too
    """
    structure = Structure() if like.parts is None else like.parts.structure
    structures = structures_of(model)
    joints, loads, contacts = structures.on(structure)
    touching = [*contacts, *stops_of(loads)]
    rows = [one.closed_joint() for one in touching if closed and one.name in like.joints]
    with numbered_by_origin():
        found = build_model(
            model.name,
            model.bodies,
            [*joints, *rows],
            loads,
            np.array(model.gravity),
            network=model.network,
            contacts=tuple(contacts),
            layout=None if like.layout is None else structures.layout,
            solver=like.solver,
            redundancy=like.redundancy if closed else None,
        )
    return put_frozen(found, like)


# ---------------------------------------------------------------------------------------------------------------- guards
def records_of(result: Any, name: str) -> list[Any]:
    """Return the records of an event. Raise UsageError if there is none."""
    found = [record for record in result.events if record.name == name]
    if not found:
        names = sorted({record.name for record in result.events})
        raise UsageError(f"there is no event {name!r} in the run; it has {', '.join(map(repr, names)) or 'none'}.")
    return found


def contact_event(model: Model, name: str) -> tuple[str, str] | None:
    """Return the contact and what it does, of an event by which a contact meets or opens; None for another one."""
    contact, _, what = name.rpartition(" ")
    if what not in (MEETS, OPENS) or contact not in [one.name for one in contacts_of(model)]:
        return None
    return contact, what


def event_of_law(model: Model, name: str) -> bool:
    """Return whether an event is that of a friction or a stop."""
    owner, _, what = name.rpartition(" ")
    loads = [entry.load.name for entry in model.loads]
    return (what in ("stops", "slips") and owner in loads) or (name.endswith((": touch", ": release")))


def guard(side: Variation, arguments: Mapping[str, Any], name: str) -> Callable[..., Any]:
    """Return g(t, y) of an event. Raise UsageError for one that is not known."""
    model, bodies = side.model, side.model.nb + 1
    event_of_contact = contact_event(model, name)
    if event_of_contact is not None:
        contact = next(each for each in contacts_of(model) if each.name == event_of_contact[0])
        if event_of_contact[1] == MEETS:
            placed = contact.placed(model)
            return lambda t, y: gap_at(placed, State.from_y(t, y, bodies))
        row = model.joints[contact.name].rows[0]
        return lambda t, y: -float(accelerations(model, State.from_y(t, _normalized(y, model), bodies)).lam[row])
    events = side.arguments.get("events", arguments.get("events", ()))
    event = next((each for each in events if each.name == name), None)
    if event is None:
        raise UsageError(
            f"event {name!r} belongs to the run: sensitivities of its time are not there yet. Give an Event in events=[...]."
        )
    (bound,) = with_signals(model, [event])
    return lambda t, y: float(bound.value(State.from_y(t, y, bodies)))


# ---------------------------------------------------------------------------------------------------------------- refusals
REASONS = {
    "BDF": "each step reads those before it, whose lengths and orders are the run's own",
    "GeneralizedAlphaR7": "its Euler parameters are unknowns of their own",
    "SciPySolver": "its steps are made by SciPy",
}
"""Why methods have no tangents."""
OTHER_MOTIONS = ("Penalty", "AugmentedLagrangian")
"""Formulations that fulfil the equations of motion up to a penalty."""


def implicit_of(design: Design, given: Any) -> Any:
    """Return an implicit method, or RATTLE. Raise UsageError for a model or another method whose tangents are not known."""
    name, model = type(given).__name__, design.model
    if not (is_known(given) or isinstance(given, RATTLE)):
        reason = REASONS.get(name, "its steps have no tangents")
        raise UsageError(
            f"sensitivity of a run by {name} is not there yet ({reason}): take an explicit method, such as RK4(h=...), DormandPrince(), "
            "DOP853(), HEM4(h=...), RKMK4(h=...) or RATTLE(h=...), or an implicit one: RadauIIA, HHT, GeneralizedAlpha, Trapezoidal, "
            "Newmark, with GGL() or Index3()."
        )
    bristles = isinstance(given, RATTLE) and model.n_states
    if may_stick(model) or model.has_stops or design.calls_python or bristles:
        raise UsageError(
            f"sensitivity of a run by {name} through dry friction, stops, blocks or functions of Python is not there yet: take an explicit "
            "method, such as DOP853()."
        )
    return given


def method_of(design: Design, arguments: dict[str, Any]) -> Any:
    """Return the method of a run with its stabilization. Raise UsageError for one whose tangents are not known.

    All other formulations solve the same equations: the tangents are those of NewtonEuler(), and steps that differ are refused.
    """
    model = design.model
    integrator = choose_integrator(*(arguments.get(name) for name in ("h", "rtol", "atol", "integrator")))
    formulation = arguments.get("formulation", NEWTON_EULER)
    rule = resolve_stabilization(formulation, integrator, arguments.get("stabilization", PROJECTION), PROJECTION)
    if arguments.get("state") is not None:
        raise UsageError(
            "sensitivity starts from the modelled state, which moves with the parameters: leave out state, and build it."
        )
    # the steps that the tangents repeat
    if isinstance(integrator, RungeKutta | EmbeddedRungeKutta):
        kind, tableau = RUNGE_KUTTA, integrator.tableau
    elif isinstance(integrator, LieRungeKutta):
        kind, tableau = LIE, integrator.tableau
    elif isinstance(integrator, SemiImplicitEuler):
        kind, tableau = SEMI_IMPLICIT, RK4.tableau
    elif isinstance(integrator, HEM4):
        kind, tableau = HALF_EXPLICIT, HEM4_METHOD
    else:
        return implicit_of(design, integrator)
    if type(formulation).__name__ in OTHER_MOTIONS:
        raise UsageError(f"sensitivity with formulation = {formulation!r} is not there yet: take NewtonEuler(), the default.")
    # the stabilization behind each step
    projects, feedback = type(rule) is Projection, isinstance(rule, Baumgarte | Unstabilized)
    if isinstance(rule, Projection) and projects and rule != Projection(rule.tol):
        raise UsageError(
            f"sensitivity with stabilization = {rule!r} is not there yet: take Projection(), the default, of every step."
        )
    if not (projects or feedback):
        raise UsageError(
            f"sensitivity with stabilization = {rule!r} is not there yet: take Projection(), the default, Baumgarte(alpha, beta) or None."
        )
    if feedback and model.redundancy.dropped:
        raise UsageError(
            f"sensitivity with stabilization = {rule!r} and redundant rows is not there yet: take Projection(), the default, or leave out "
            "the redundant rows: a CJ or SJ in place of an RJ."
        )
    slides, spins = MaximalStateSpace(model).places()
    gains = (rule.alpha, rule.beta) if isinstance(rule, Baumgarte) else (0.0, 0.0)
    return Method(tableau, kind, bool(getattr(integrator, "products", False)), spins, slides, projects, *map(float, gains))


def refuse_what_is_not_smooth(design: Design, arguments: Mapping[str, Any]) -> None:
    """Raise UsageError for a run whose law changes at events: tangents that leave out the motion of their times would be wrong."""
    model = design.model
    need_no_freewheels(model, "sensitivity")
    rough = [contact.name for contact in rigid_contacts(model) if not contact.is_plain]
    if rough or isinstance(arguments.get("integrator"), MoreauJean):
        raise UsageError(
            f"sensitivity through contacts with friction or shapes ({', '.join(map(repr, rough))}) is not there yet: difference whole runs."
        )
    switching = [e.load.name for e in model.loads if type(e.load).__name__ == "ContactForce"]
    if switching:
        raise UsageError(
            f"sensitivity through compliant contacts ({', '.join(map(repr, switching))}), whose force sets in at a time that moves, is not "
            "there yet: difference whole runs."
        )
    if model.network is not None and (model.network.sampled or model.network.delays):
        names = ", ".join(repr(block.name) for block in (*model.network.sampled, *model.network.delays))
        raise UsageError(f"sensitivity through sampled blocks and delays ({names}) is not there yet: difference whole runs.")


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
