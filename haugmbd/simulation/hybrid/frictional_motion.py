r"""The event-driven motion of a system with dry friction at its rigid contacts.

    between switches    u_dot by given modes (`impacts.contact_problem`): sticking points are rows, sliding ones have -mu f_n v_T / |v_T|
                        steps of an explicit Runge-Kutta method; at their ends rows, gaps and sticking points are projected
    guards              gap >= 0 (open)    f_n >= 0 (closed)    mu f_n - |f_T| >= 0 (stick)    v_T . d >= 0 (slip, d: its direction before)
    a switch            the first zero of a guard, by steps that end there;  impacts where a point approaches; then modes by a cone problem

At a zero of f_n, or at the limit of sticking, the next mode is prescribed: by itself the problem would repeat the old one for ever.  Where
forces are not unique (a box on its four corners) a guard of one point says nothing: the modes hold as long as forces exist that fulfil the
laws, and the switch is where the accelerations of the cone problem leave those of the modes.
Chattering ends: a bounce that would rise less than REST_HEIGHT has no restitution.
Sources: Pfeiffer, Glocker (1996), ch. 4 and 5; Hairer, Norsett, Wanner, Solving ODE I, sec. II.4 (steps); Brent (1973) (zeros).
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from haugmbd.compiled.array_types import Array
from haugmbd.contact.points import Kinematics
from haugmbd.errors import HaugmbdError, SimulationError, UsageError
from haugmbd.impacts.contact_problem import SLIP, STICK, ContactProblem, Forces, Key, NoAcceleration, PointMode
from haugmbd.impacts.frictional_impulse import Struck
from haugmbd.impacts.single_point_impact import PointImpacts
from haugmbd.integrators.base import Integrator
from haugmbd.integrators.default_number import DefaultNumber
from haugmbd.integrators.events import Event, EventRecord
from haugmbd.integrators.explicit.embedded import EmbeddedRungeKutta
from haugmbd.integrators.explicit.runge_kutta import RungeKutta
from haugmbd.model.inspection.length import units_of_state
from haugmbd.model.state import State
from haugmbd.simulation.hybrid.flight import FLIES, MEETS
from haugmbd.simulation.hybrid.moreau_jean_step import drift
from haugmbd.simulation.hybrid.shape_flight import FIRST_STEPS, MOST_STEPS, PARTED, shape_flights

TOUCH = 1e-10
"""Relative to the size: a smaller gap touches."""
LEAN = 1e-12
"""Relative to the size: a point that has just opened may fall below zero by this rounding before it counts as met."""
REST = 1e-9
"""Relative to the size, per second: a slower point is at rest, and a slower approach is none."""
SLOW_PARTING = 1e-4
"""Relative to the size, per second: a point that parts faster rises higher than REST_HEIGHT, but under ten thousand times its size of
acceleration."""
SPEED_ROUNDING = 1e-13
"""Relative to the size, per second: what rounding leaves of a slip speed that is zero."""
SPEED_NOISE = 1e-11
"""Relative to the size and to the largest velocity: what rounding leaves of the velocity of a point."""
REST_HEIGHT = 1e-12
"""Relative to the size: a bounce that rises less is at rest."""
LAWFUL = 1e-11
"""Relative to the largest force: what rounding leaves of a normal force, or of a margin of friction."""
FEASIBLE = 1e-9
"""Relative to the largest acceleration: by which that of the cone problem may leave that of the modes."""
CLEAR = 1e-6
"""The same: a state beyond the switch that is off by more tells the new modes."""
SHARED = 1e-6
"""Relative to the largest acceleration: a motion in which shares of a load that fulfil the laws would move points otherwise is told."""
CLOSES = 1e-7
"""The same: of a point that touches at rest, a larger acceleration towards the other body closes it."""
FEATURE = 1e-7
"""Relative to the size: a point whose gap is this small is there as long as its pair of features is."""
PASSED = 1e-8
"""Relative to the size: a point whose features end within this way, which is ten times what a corner may be beside a face, passes by."""
BESIDE = 1e-6
"""Relative to the size: an open point with a larger gap does not switch with another one."""
TOGETHER = 1e-8
"""Guards that are smaller than this at a switch, relative to their sizes, switch with it."""
SLOW_SLIP = 1e-6
"""Relative to the size, per second: a slower point keeps its direction in the step in which it comes to rest, or begins to slide."""
STRAIGHT = 1e-9
"""Of a point that begins to slide: sine of the angle by which it may turn in a step that keeps its direction, if it gets fast in it."""
SIDEWAYS = 1e-11
"""Relative to the size, per second: a smaller velocity across the direction that a point keeps is rounding, which a step along its velocity
would follow in steps of |v_T| m / (mu N)."""
ASIDE = 5e-9
"""Relative to the size, per second: velocity across the direction that a point keeps while it comes to rest; more takes a shorter step."""
ZERO_OF_GUARD = 1e-15
"""A guard that is as small is rounding."""
LEAST_STEP = 1e-12
"""Relative to |t| + 1 s."""
STOPS_TOO = 1e-7
"""The same: a slower point is at rest where another one of its contact comes to rest."""
STABLE = 0.3
"""Of the time in which a point comes to rest: a step that is shorter follows the direction of its velocity."""
CLOSED_STEPS = 200
"""While a point is closed, an adaptive step is at most the whole interval divided by this number: error control does not see the force of
a point that does not move."""
SAFETY = 0.9
ZERO = 1e-12
"""Relative to g beside it: the g of an event that starts at its zero."""
LAST = 1e-12
"""Relative to |t| + 1 s: the interval left when the run is complete."""
MOST_TURNS = 50
"""Impacts and changes of modes at one instant."""

Flags = npt.NDArray[np.bool_]


class Violated(NamedTuple):
    """A guard at the end of a step: its value, negative where it is violated; the point; open, pull, limit, slip or shared."""

    value: float
    key: Key
    what: str


class Step(NamedTuple):
    """The end of a step: state, rates there, forces, and an estimate of its error in the tolerances (0 for fixed steps)."""

    t: float
    y: Array
    y_dot: Array
    forces: Forces
    error: float


class FrictionalMotion:
    """One motion in progress.

    problem: model and contacts;  method: the integrator;  wants: times at which states are stored, None for all steps
    changed: called at every switch with (t, y, old modes, new modes, points that struck, what ended)
    """

    def __init__(self, problem: ContactProblem, method: Integrator, t: float, y: Array, t_end: float) -> None:
        self.problem, self.t, self.y, self.t_end = problem, t, y.copy(), t_end
        self.method = method
        self._tableau = tableau_of(method)
        self.size = max(problem.length, float(np.abs(problem.velocities(y)[:, :0]).max(initial=0.0)))
        self.flights = shape_flights(problem, method, self.size)
        self._impacts = PointImpacts(problem, REST_HEIGHT * self.size, REST * self.size, SPEED_NOISE * self.size)
        self.modes: dict[Key, PointMode] = {}
        self.bounced: dict[Key, tuple[float, float]] = {}
        """Gap rate and gap of points that have just parted."""
        self.near: dict[Key, float] = {}
        self.t_switch = t
        self.steps = self.rejected = 0
        self.h = 0.0
        self.events: tuple[Event, ...] = ()
        self.records: list[EventRecord] = []
        self.ended_by: Event | None = None
        self.jammed: list[str] = []
        self.jam: tuple[Array, Array, list[Key], Kinematics] | None = None
        self._shared_beyond: Step | None = None
        self._moved_otherwise = (t, 0.0)
        """When forces within the laws were last looked for in place of the shortest ones, and by how much they move points otherwise."""
        self.unlawful: tuple[float, float, str] | None = None
        """The first time at which no forces within the laws move the points as they move, by how much, and the contacts."""
        self._speeds: dict[Key, float] = {}
        self._straight: set[Key] = set()
        """Points that slide straight on in the direction in which they began."""
        self.until = np.inf
        """Of `time.perf_counter`: behind it the run pauses after the next step."""
        self._gravity = float(np.linalg.norm(problem.model.gravity)) or 1e-6 * self.size
        self._force_size = 1e-6 * self._gravity * float(problem.model.mass[1:].max(initial=0.0)) + 1e-300
        self._h_closed = np.inf
        self.y_dot = np.zeros_like(self.y)
        self.forces: Forces | None = None

    # -------------------------------------------------------------------------------------------------------------- steps
    def evaluate(self, t: float, y: Array, modes: dict[Key, PointMode]) -> Forces:
        """Return y_dot and forces at a state."""
        return self.problem.rates(t, y, np.zeros_like(y), modes)

    def restart(self) -> None:
        """Evaluate the rates at the state, after a switch."""
        self.problem.project(self.t, self.y, self.modes)
        self.forces = self.evaluate(self.t, self.y, self.modes)
        self.y_dot = self.forces.y_dot

    def step(self, h: float, modes: dict[Key, PointMode]) -> Step:
        """Return the end of a step of h from the state."""
        (c, a, b), errors = self._tableau
        s, y = len(c), self.y
        k = np.empty((s + 1, y.size))
        k[0] = self.y_dot
        for i in range(1, s):
            stage = y + h * (a[i, :i] @ k[:i])
            k[i] = self.evaluate(self.t + c[i] * h, stage, modes).y_dot
        y_1 = y + h * (b @ k[:s])
        if not np.isfinite(y_1).all():
            return Step(self.t + h, y_1, k[0], self.forces, np.inf)  # type: ignore[arg-type]
        t_1 = self.t + h
        self.problem.project(t_1, y_1, modes)
        forces = self.evaluate(t_1, y_1, modes)
        k[s] = forces.y_dot
        return Step(t_1, y_1, forces.y_dot, forces, 0.0 if errors is None else self._error(errors, h, y_1, k))

    def _error(self, errors: Array, h: float, y_1: Array, k: Array) -> float:
        """Return the error of a step in the tolerances, as `explicit.embedded` does."""
        rtol, atol = self.method.tolerances
        units = units_of_state(self.problem.model) if isinstance(atol, DefaultNumber) else np.ones(len(y_1))
        size = atol * units + rtol * np.maximum(np.abs(self.y), np.abs(y_1))
        first, second = (float(np.sum((h * (e @ k) / size) ** 2)) for e in errors)
        return first / float(np.sqrt((first + 0.01 * second) * len(y_1))) if first > 0.0 else 0.0

    def _first_step(self) -> float:
        """Return a first step: a hundredth of the time in which y changes by its own size, in the tolerances."""
        if not isinstance(self.method, EmbeddedRungeKutta):
            assert self.method.step is not None
            return self.method.step
        if self.method.h_first is not None:
            return self.method.h_first
        rtol, atol = self.method.tolerances
        scale = atol + rtol * np.abs(self.y)
        d0, d1 = np.sqrt(np.mean((self.y / scale) ** 2)), np.sqrt(np.mean((self.y_dot / scale) ** 2))
        return float(0.01 * d0 / d1 if d0 > 1e-5 and d1 > 1e-5 else 1e-6)

    # -------------------------------------------------------------------------------------------------------------- guards
    def guards(self, at: Step, modes: dict[Key, PointMode], start: dict[Key, Array]) -> list[Violated]:
        """Return the guards at the end of a step;  start: directions of sliding at its beginning."""
        found = self._gap_guards(at)
        forces, kin = at.forces, at.forces.kin
        if not modes:
            return found
        size = max(float(np.abs(forces.f).max(initial=0.0)), self._force_size)
        for k, (key, mode) in enumerate(modes.items()):
            mu = self.problem.mu[key[0]]
            if mode.mode == SLIP and mu > 0.0:
                way = kin.D[k, 1:] @ start[key]
                speed = float(kin.v[k, 1:] @ way) + SPEED_ROUNDING * self.size
                found.append(Violated(speed / self._speed(key), key, "slip"))
            if forces.unique:
                found.append(Violated(forces.f[k, 0] / size + LAWFUL, key, "pull"))
                if mode.mode == STICK:
                    margin = mu * forces.f[k, 0] - float(np.hypot(forces.f[k, 1], forces.f[k, 2]))
                    found.append(Violated(margin / size + LAWFUL, key, "limit"))
        if not forces.unique:
            found.append(self._shared_guard(at, modes, size))
        return found

    def _shared_guard(self, at: Step, modes: dict[Key, PointMode], size: float) -> Violated:
        """Return by how much less than FEASIBLE the cone problem leaves the modes, in parts of it, where forces are not unique."""
        key = next(iter(modes))
        if self.lawful(at.forces, modes, size):
            return Violated(1.0, key, "shared")
        sliding = {k: m.hint for k, m in modes.items() if m.fixed and m.hint is not None}
        try:
            chosen = self.problem.choose(at.t, at.y, list(modes), REST * self.size, sliding, at.forces.f)
        except NoAcceleration:
            return Violated(-1.0 / FEASIBLE, key, "shared")
        rows = self.problem.directions(at.forces.kin, modes).rows
        scale = max(float(np.abs(chosen.a).max()), float(np.abs(self.problem.velocities(at.y_dot)).max()), self._gravity)
        if not self.problem.model.gravity.any():
            # a body that is clamped at rest has no acceleration to compare with, but what its forces do one by one
            G = self.problem.columns(at.forces.kin, list(modes), at.t).G
            scale = max(scale, float((np.abs(G) @ np.abs(at.forces.f).ravel()).max()))
        off = float(np.abs(chosen.a.ravel()[rows]).max()) / scale
        a = self.problem.rows_of(at.forces.kin, list(modes), self.problem.velocities(at.y_dot)) - at.forces.kin.gamma
        self._moved_otherwise = at.t, float(np.abs(chosen.a - a).max()) / scale
        return Violated(1.0 - off / FEASIBLE, key, "shared")

    def lawful(self, forces: Forces, modes: dict[Key, PointMode], size: float) -> bool:
        """Return whether the shortest forces fulfil the laws themselves."""
        f, mu = forces.f, self.problem.friction_of(list(modes))
        sticks = np.array([m.mode == STICK for m in modes.values()])
        room = mu * f[:, 0] - np.hypot(f[:, 1], f[:, 2])
        return bool((f[:, 0] >= -LAWFUL * size).all() and (room[sticks] >= -LAWFUL * size).all())

    def _gap_guards(self, at: Step) -> list[Violated]:
        """Return the gaps of open points, relative to the size: those that may switch with another, and the least of all others."""
        found: list[Violated] = []
        keys, gaps = self.problem.points.near(at.y, np.inf)
        if not len(gaps):
            return found
        closed = {c for c, _ in self.modes}
        noted = np.isin(keys[:, 0], [*closed, *(c for c, _ in (*self.bounced, *self.near))])
        looked = noted | (gaps <= BESIDE * self.size)
        looked[np.argmin(np.where(noted, np.inf, gaps))] = True
        for (c, feature), gap in zip(keys[looked].tolist(), gaps[looked].tolist(), strict=True):
            key = c, feature
            if key in self.modes:
                continue
            if key in self.bounced:
                (rate, first), after = self.bounced[key], at.t - self.t_switch  # the zero at the bounce is divided out
                clear = rate * after > PARTED * self.size
                found.append(Violated((gap - first) / after / rate if clear else 1.0, key, "open"))
            else:
                beside = LEAN * self.size if c in closed else 0.0  # another feature of a contact that touches
                found.append(Violated((gap + self.near.get(key, beside)) / self.size, key, "open"))
        return found

    def _speed(self, key: Key) -> float:
        """Return the slip speed of a point at the beginning of the step, at least that of rest."""
        return max(self._speeds.get(key, 0.0), REST * self.size)

    def _prepare_step(self, h: float) -> tuple[dict[Key, Array], float]:
        """Return the directions of sliding points at the beginning of a step, and how long it may be [s].

        The direction of the velocity turns at the rate |a_T| / |v_T|, which no explicit step follows down to rest. A step in which a point
        comes to rest keeps the direction at its beginning: where the point slides straight on, or is slow; before that steps get shorter.
        A point that begins to slide keeps the direction of its acceleration until it is fast enough, or turns: a slow slip near the limit
        of sticking, in whose direction loads beside it balance, would need short steps for long.
        """
        assert self.forces is not None
        p, kin = self.problem, self.forces.kin
        found: dict[Key, Array] = {}
        self._speeds, self._straight = {}, set()
        if not self.modes:
            return found, h
        keys = list(self.modes)
        a = p.rows_of(kin, keys, p.velocities(self.y_dot)) - kin.gamma
        slow = SLOW_SLIP * self.size
        for k, key in enumerate(keys):
            mode = self.modes[key]
            if mode.mode != SLIP or p.mu[key[0]] == 0.0:
                continue
            v, speed = kin.v[k, 1:], float(np.hypot(kin.v[k, 1], kin.v[k, 2]))
            self._speeds[key] = speed
            begins = mode.hint is not None and mode.fixed and self._keeps(v, kin.D[k, 1:] @ mode.hint, speed)
            if mode.hint is not None and (begins or speed <= REST * self.size):
                if speed > slow:
                    self._straight.add(key)
                found[key] = carried(mode.hint, kin.D[k])
                self.modes[key] = PointMode(SLIP, found[key], True)
                continue
            way = v / max(speed, 1e-300)
            brakes, across = -float(a[k, 1:] @ way), abs(float(a[k, 2] * way[0] - a[k, 1] * way[1]))
            left = speed / brakes if brakes > 0.0 else np.inf
            # it slides straight on, and a step along its velocity would follow rounding across in steps of that time; one that comes to
            # rest has a direction all the same, from where it is slow, though another point of its body leaves it that rounding
            straight = across * h <= SPEED_ROUNDING * self.size
            settles = brakes > 0.0 and speed <= slow and across * min(h, left) <= 0.1 * REST * self.size
            fixed = (straight or settles) and STABLE * self._relaxation(k, key, speed) < h
            if fixed:
                self._straight.add(key)
            elif h > STABLE * left:
                fixed = across * left <= 0.1 * REST * self.size or speed <= slow
                h = h if fixed else max(STABLE * left, 1e-12)
            found[key] = way @ kin.D[k, 1:]
            self.modes[key] = PointMode(SLIP, found[key], fixed)
        return found, h

    def _keeps(self, v: Array, way: Array, speed: float) -> bool:
        """Return whether a point with velocity v (2,) that has begun to slide in a direction still slides in it."""
        if not v @ way >= 0.0:
            return False
        return speed <= SLOW_SLIP * self.size or abs(float(v[0] * way[1] - v[1] * way[0])) <= self._aside(speed)

    def _aside(self, speed: float) -> float:
        """Return which velocity across the direction that it keeps a point with this speed may have: an angle, or rounding."""
        return max(STRAIGHT * speed, SIDEWAYS * self.size)

    def _relaxation(self, k: int, key: Key, speed: float) -> float:
        """Return the time m |v_T| / (mu N) [s] in which friction turns the slip of the k-th point, of all of a pair, into its direction."""
        assert self.forces is not None
        p, pair = self.problem, set(self.problem.pairs[key[0]].tolist()) - {0}
        N = sum(p.mu[c] * self.forces.f[n, 0] for n, (c, _) in enumerate(self.modes) if pair & set(p.pairs[c].tolist()))
        mass = p.model.mass[p.pairs[key[0]]]
        return float(speed * mass[mass > 0.0].min(initial=np.inf) / max(N, 1e-300))

    # ------------------------------------------------------------------------------------------------------------- advance
    def advance(self, stop: float) -> tuple[list[tuple[float, Array]], list[Violated]]:
        """Go on to `stop`, or to the next switch; return the steps (t, y), and the guards that are at their zero: none at `stop`."""
        done: list[tuple[float, Array]] = []
        adaptive = isinstance(self.method, EmbeddedRungeKutta)
        if self.h == 0.0:
            self.h = self._first_step()
        while self.t < stop:
            hit = self._fly(stop, done)
            if hit:
                return done, hit
            if not self.t < stop or time.perf_counter() > self.until:
                break
            limit = self.h_closed if self.modes and adaptive else np.inf
            h = min(self.h, limit, getattr(self.method, "h_max", np.inf))
            last = self.t + h >= stop - 1e-3 * h
            step = stop - self.t if last else h
            start, longest = self._prepare_step(step)
            if longest < step:
                step, last = longest, False
            end, step, last = self._within_tolerance(step, last)
            while self._released(end, start):
                end, step, last = self._within_tolerance(step, last)
            while (shorter := self._turned_away(end, start)) < 1.0 and step > LEAST_STEP * (abs(self.t) + 1.0):
                step, last = step * shorter, False
                end = self._tried(step)
            dip = self._dip(end)
            if dip is not None:
                end, step, last = self._tried(dip - self.t), dip - self.t, False
            violated = [g for g in self.guards(end, self.modes, start) if g.value < 0.0]
            if violated:
                hit = self._locate(step, end, start)
                done.append((self.t, self.y))
                return done, hit
            if self._lost(end.y):
                ended = self._to_lost(step)
                done.append((self.t, self.y))
                return done, ended
            if adaptive:
                order = self.method.error_order  # type: ignore[attr-defined]
                factor = 5.0 if end.error == 0.0 else min(5.0, max(0.2, SAFETY * end.error ** (-1.0 / order)))
                if not last or factor < 1.0:
                    self.h = step * factor
            end = self._user_events(end, step)
            self._accept(end)
            if last and self.ended_by is None:
                self.t = stop
            done.append((self.t, self.y))
            if self.ended_by is not None or time.perf_counter() > self.until:
                return done, []
        return done, []

    def _fly(self, stop: float, done: list[tuple[float, Array]]) -> list[Violated]:
        """Make steps in compiled code while all points are open, as far as they are plain; return the guards at their zero."""
        if self.modes or self.events or self.flights is None:
            return []
        self.flights.begin(self.t_switch, self.bounced, self.near)
        most, what = FIRST_STEPS, FLIES
        while what == FLIES and self.t < stop and time.perf_counter() <= self.until:
            flown = self.flights.next(self.t, self.y, self.y_dot, self.h, stop, most)
            what, most, self.h = flown.what, min(2 * most, MOST_STEPS), flown.h
            self.rejected += flown.rejected
            if not len(flown.t):
                break
            end = Step(
                float(flown.t[-1]), flown.y[-1].copy(), flown.y_dot[-1].copy(), self.problem.open_forces(flown.y_dot[-1]), 0.0
            )
            done.extend(zip(flown.t[:-1].tolist(), flown.y[:-1], strict=True))
            self._accept(end)
            self.steps += len(flown.t) - 1
            done.append((self.t, self.y))
            if what == MEETS:
                met = set(flown.met)
                return [g for g in self._gap_guards(end) if g.value <= TOGETHER or (g.key[0] in met and g.value <= BESIDE)]
        return []

    def _within_tolerance(self, step: float, last: bool) -> tuple[Step, float, bool]:
        """Return the end of a step, shortened until its error is within the tolerances, its length, and whether it ends at the stop."""
        end = self._tried(step)
        while not end.error <= 1.0:
            self.rejected += 1
            order = getattr(self.method, "error_order", 1)
            step *= max(0.2, SAFETY * end.error ** (-1.0 / order)) if np.isfinite(end.error) else 0.2
            last = False
            if not step > 1e-14 * (abs(self.t) + 1.0):
                raise SimulationError(f"the step becomes too small at t = {self.t:.9g} s: forces or contacts change without end.")
            end = self._tried(step)
        return end, step, last

    def _released(self, end: Step, start: dict[Key, Array]) -> bool:
        """Let points that slide, and turn from the direction that they keep, follow their velocities; return whether there are any."""
        released = False
        for k, (key, mode) in enumerate(self.modes.items()):
            if key not in self._straight or not mode.fixed:
                continue
            v, way = end.forces.kin.v[k, 1:], end.forces.kin.D[k, 1:] @ start[key]
            if float(v @ way) > 0.0 and not self._keeps(v, way, float(np.hypot(v[0], v[1]))):
                self.modes[key] = PointMode(SLIP, mode.hint)
                released = True
        return released

    def _turned_away(self, end: Step, start: dict[Key, Array]) -> float:
        """Return by which part a step is to be shortened, as a point that begins to slide in it turns from the direction that it keeps."""
        begin = [(k, key) for k, (key, mode) in enumerate(self.modes.items()) if mode.mode == SLIP and mode.fixed and key in start]
        shorter = 1.0
        for k, key in begin:
            v = end.forces.kin.v[k, 1:]
            way, speed = end.forces.kin.D[k, 1:] @ start[key], float(np.hypot(v[0], v[1]))
            across = abs(float(v[0] * way[1] - v[1] * way[0]))
            before = self._speeds.get(key, 0.0)
            if before < speed > 10.0 * SLOW_SLIP * self.size and across > self._aside(speed):
                shorter = min(shorter, max(0.1, float(np.sqrt(5.0 * SLOW_SLIP * self.size / speed))))
            elif before > SLOW_SLIP * self.size and float(v @ way) > 0.0 and across > ASIDE * self.size:
                shorter = min(shorter, max(0.1, SAFETY * float(np.sqrt(ASIDE * self.size / across))))
        return shorter

    def _user_events(self, end: Step, h: float) -> Step:
        """Record the events of the user within a step; return its end, or the state of the first terminal event."""
        if not self.events:
            return end
        n, found = self.problem.n, []
        for event in self.events:
            before, after = event.value(State.from_y(self.t, self.y, n)), event.value(State.from_y(end.t, end.y, n))
            if not event.wants(before, after) or abs(before) <= ZERO * (1.0 + abs(after)):
                continue
            sign = 1.0 if before > 0.0 else -1.0
            trials: dict[float, Step] = {}

            def value(x: float, event: Event = event, sign: float = sign, trials: dict[float, Step] = trials) -> float:
                trials[x] = self.step(x, self.modes)
                return sign * event.value(State.from_y(trials[x].t, trials[x].y, n))

            x = h if after == 0.0 else first_zero(value, h, 1e-15 * (abs(self.t) + h))
            if x not in trials:
                value(x)
            found.append((trials[x].t, event, trials[x]))
        found.sort(key=lambda one: one[0])
        for t, event, at in found:
            self.records.append(EventRecord(event.name, t, State.from_y(t, at.y, n)))
            if event.terminal:
                self.ended_by = event
                return at
        return end

    def _lost(self, y: Array) -> list[Key]:
        """Return the points whose pair of features is there no more, such as a corner that has left a face."""
        if not self.modes:
            return []
        there = set(self.problem.near(y, FEATURE * self.size)[0])
        return [key for key in self.modes if key not in there]

    def _to_lost(self, h: float) -> list[Violated]:
        """Go to the end of a pair of features within a step of h, by bisection; return the points that end."""
        low, high, end = 0.0, h, self.step(h, self.modes)
        while high - low > 1e-14 * (abs(self.t) + 1.0):
            middle = 0.5 * (low + high)
            trial = self.step(middle, self.modes)
            if self._lost(trial.y):
                high, end = middle, trial
            else:
                low = middle
        lost = self._lost(end.y)
        self._accept(end)
        return [Violated(0.0, key, "feature") for key in lost]

    def _tried(self, h: float) -> Step:
        """Return the end of a step; one whose stages have no solution is too long."""
        try:
            return self.step(h, self.modes)
        except (HaugmbdError, np.linalg.LinAlgError):
            if h <= 1e-10 * (abs(self.t) + 1.0):
                raise
            assert self.forces is not None
            return Step(self.t + h, self.y, self.y_dot, self.forces, np.inf)

    def _accept(self, end: Step) -> None:
        self.t, self.y, self.y_dot, self.forces = end.t, end.y, end.y_dot, end.forces
        self.steps += 1
        self._keep_unlawful()

    def _keep_unlawful(self) -> None:
        """Keep the first time at which the motion is that of forces outside of the laws, where those within them would be another one."""
        t, off = self._moved_otherwise
        if self.unlawful is None and off > SHARED and t == self.t and self.modes:
            names = ", ".join(dict.fromkeys(self.problem.names[c] for c, _ in self.modes))
            self.unlawful = t, off, names

    def _judge_shares(self) -> None:
        """Look for forces within the laws behind a switch, where forces are not unique, and the shortest ones are outside."""
        if self.unlawful is None and self.modes and self.forces is not None and not self.forces.unique:
            size = max(float(np.abs(self.forces.f).max(initial=0.0)), self._force_size)
            self._shared_guard(Step(self.t, self.y, self.y_dot, self.forces, 0.0), self.modes, size)
            self._keep_unlawful()

    def _dip(self, end: Step) -> float | None:
        """Return a time inside of a step at which a gap that is open at both ends is least, and closed by its cubic; None without one."""
        (keys, g_0, v_0), (keys_after, g_1, v_1) = self.problem.gap_rates(self.y), self.problem.gap_rates(end.y)
        h, found = end.t - self.t, None
        falls, rises = (g_0 > TOUCH * self.size) & (v_0 < 0.0), (g_1 > 0.0) & (v_1 > 0.0)
        if not (falls.any() and rises.any()):
            return None
        after = {
            (c, feature): n for n, (c, feature) in zip(np.flatnonzero(rises).tolist(), keys_after[rises].tolist(), strict=True)
        }
        for k, (c, feature) in zip(np.flatnonzero(falls).tolist(), keys[falls].tolist(), strict=True):
            n = after.get((c, feature), -1)
            # x (1 - x) <= 1 / 4 bounds what the rates take from the smaller gap
            if n < 0 or min(g_0[k], g_1[n]) > 0.25 * h * max(-v_0[k], v_1[n]) or (c, feature) in self.modes:
                continue
            x = np.linspace(0.0, 1.0, 33)
            cubic = (
                g_0[k] * (1 + 2 * x) * (1 - x) ** 2
                + h * v_0[k] * x * (1 - x) ** 2
                + g_1[n] * x**2 * (3 - 2 * x)
                + h * v_1[n] * x**2 * (x - 1)
            )
            least = int(np.argmin(cubic))
            if cubic[least] < 0.0 and 0 < least < 32:  # noqa: PLR2004
                t = self.t + float(x[least]) * h
                found = t if found is None else min(found, t)
        return found

    def _locate(self, h: float, end: Step, start: dict[Key, Array]) -> list[Violated]:
        """Go to the first zero of a guard within a step of h; return the guards at their zero there."""
        ends: dict[float, tuple[Step, list[Violated]]] = {h: (end, self.guards(end, self.modes, start))}

        def value(x: float) -> float:
            if x not in ends:
                trial = self.step(x, self.modes)
                ends[x] = trial, self.guards(trial, self.modes, start)
            return min(g.value for g in ends[x][1])

        x = first_zero(value, h, 1e-15 * (abs(self.t) + h))
        value(x)
        trial, guards = ends[x]
        beyond = ends[min((z for z in ends if min(g.value for g in ends[z][1]) < 0.0), default=h)]
        if any(g.what == "shared" and g.value < 0.0 for g in beyond[1]):
            # just far enough beyond the switch that rounding does not hide which points slide, and in which directions
            z, clear = x, False
            for power in range(-9, 1):
                z = x + 10.0**power * (h - x)
                value(z)
                clear = any(g.what == "shared" and g.value < -CLEAR / FEASIBLE for g in ends[z][1])
                if clear:
                    break
            self._shared_beyond = ends[z if clear else h][0]
        self._accept(trial)
        names = {(g.key, g.what) for g in beyond[1] if g.value < 0.0}
        return [g for g in guards if g.value <= TOGETHER or (g.key, g.what) in names and g.value <= BESIDE]

    # ------------------------------------------------------------------------------------------------------------ switches
    def turn(self, hit: list[Violated]) -> Turned:
        """Change velocities and modes at the state; return what has happened.  hit: guards at their zero."""
        alone = self._turn_alone(hit)
        if alone is not None:
            return alone
        p, rest = self.problem, REST * self.size
        old, struck = dict(self.modes), dict[Key, Array]()
        met = [g.key for g in hit if g.what == "open"]
        lost = {g.key for g in hit if g.what == "feature"}
        leaving = {g.key for g in hit if g.what == "pull"}
        sliding: dict[Key, Array] = {}
        aside: set[Key] = set()
        for k, (key, mode) in enumerate(old.items()):
            if any(g.key == key and g.what == "limit" for g in hit) and mode.mode == STICK:
                f, D = self.forces.f[k], self.forces.kin.D[k]  # type: ignore[union-attr]
                length = float(np.hypot(f[1], f[2]))
                sliding[key] = -(f[1:] / (length or 1.0)) @ D[1:]
            elif (
                mode.fixed
                and mode.hint is not None
                and self._is_slow(k)
                and not any(g.key == key and g.what == "slip" for g in hit)
            ):
                sliding[key] = mode.hint  # it has begun to slide, and is still slow
        impacts = []
        for _ in range(MOST_TURNS):
            keys, _gaps = p.near(self.y, TOUCH * self.size)
            keys = [key for key in dict.fromkeys([*old, *keys, *met]) if key not in lost]
            if not keys:
                break
            kin = p.at(self.y, keys)
            noise = np.full(len(keys), rest + SPEED_NOISE * float(np.abs(p.velocities(self.y)).max(initial=0.0)) * self.size)
            noise[[key[0] in {c for c, _ in lost} for key in keys]] = SLOW_SLIP * self.size  # it goes on with another feature
            passing = self._passing([key for key, v, most in zip(keys, kin.v[:, 0], noise, strict=True) if v < -most])
            if passing:
                aside |= passing
                lost |= passing
                continue
            if not (kin.v[:, 0] < -noise).any():
                break
            impacts.append(self._strike(keys, struck))
            sliding = {}
            leaving = set()
        else:
            raise SimulationError(f"impacts at t = {self.t:.9g} s do not end: give a smaller restitution, or use mbd.MoreauJean().")
        closed = [] if not keys else [key for key, v, most in zip(keys, kin.v[:, 0], noise, strict=True) if abs(v) <= most]
        self._settle(closed, hit)
        chosen = self._chosen(closed, leaving, sliding, hit)
        low = self._too_low([key for key in keys if key not in closed], chosen) if closed and impacts else set()
        if low:
            closed = [key for key in keys if key in closed or key in low]
            noise[[key in low for key in keys]] = np.inf
            self._settle(closed, hit)
            chosen = self._chosen(closed, leaving, sliding, hit)
        self.modes = p.agreed_directions(
            self.t, self.y, self._evenly_stuck({key: mode for key, mode in chosen.items() if mode is not None})
        )
        self.t_switch = self.t
        self.bounced, self.near = {}, {}
        if keys:
            gaps = p.at(self.y, keys).gap
            for key, gap, v, most in zip(keys, gaps, kin.v[:, 0], noise, strict=True):
                if key not in self.modes and v > most:
                    self.bounced[key] = float(v), float(gap)
                elif key not in self.modes:
                    self.near[key] = max(LEAN * self.size, -2.0 * float(gap))
        self.near |= dict.fromkeys(aside, PASSED * self.size)
        self._rest_first(hit)
        self.restart()
        self._close_missed(lost | aside, hit)
        self._judge_shares()
        return Turned(old, dict(self.modes), struck, impacts, [g.key for g in hit if g.what == "slip"], lost)

    def _close_missed(self, lost: set[Key], hit: list[Violated]) -> None:
        """Choose the modes again with points that touch at rest only behind the projection of the others, and are pressed to them."""
        p, rest = self.problem, REST * self.size
        touching = [key for key in p.near(self.y, TOUCH * self.size)[0] if key not in self.modes and key not in lost]
        if not touching or not self.modes:
            return
        kin, u_dot = p.at(self.y, touching), p.velocities(self.y_dot)
        a = (p.rows_of(kin, touching, u_dot) - kin.gamma)[:, 0]
        closes = (np.abs(kin.v[:, 0]) <= rest) & (a < -CLOSES * max(float(np.abs(u_dot).max(initial=0.0)), self._gravity))
        if not closes.any():
            return
        closed = [*self.modes, *(key for key, some in zip(touching, closes, strict=True) if some)]
        begin = {key: mode.hint for key, mode in self.modes.items() if mode.fixed and mode.hint is not None}
        chosen = p.choose(self.t, self.y, closed, rest, begin, stopped=self._stopped(closed, hit)).modes
        modes = {key: mode for key, mode in chosen.items() if mode is not None}
        self.modes = p.agreed_directions(self.t, self.y, self._evenly_stuck(modes))
        self.near = {key: beside for key, beside in self.near.items() if key not in self.modes}
        self.restart()

    def _turn_alone(self, hit: list[Violated]) -> Turned | None:
        """Return the impact of a point that strikes alone and flies behind it, by compiled code; None for anything else."""
        if self.flights is None or self.modes or len(hit) != 1 or hit[0].what != "open":
            return None
        p, key = self.problem, hit[0].key
        if any(other != key for other in p.near(self.y, TOUCH * self.size)[0]) or self._passing([key]):
            return None
        found = self._impacts.of(key, self.t, self.y)
        if found is None:
            return None
        self.t_switch, self.bounced, self.near = self.t, {key: (found.rate, found.gap)}, {}
        self.y_dot = self.flights.restart(self.t, self.y)
        self.forces = p.open_forces(self.y_dot)
        return Turned({}, {}, {key: found.struck.f[0]}, [found.struck], [], set())

    def _evenly_stuck(self, modes: dict[Key, PointMode]) -> dict[Key, PointMode]:
        """Return the modes, but let points of a contact stick or slide together where some of them begin to slide, if the laws allow it.

        Where points share a load in many ways, the shares may decide the motion: the cone problem has answers in which one corner of an
        edge carries nothing, and slides, and the other one sticks. The shortest forces of these modes are others, and end them at once.
        """
        stuck = {key[0] for key, mode in modes.items() if mode.mode == STICK}
        begin = {key for key, mode in modes.items() if mode.mode == SLIP and mode.fixed and key[0] in stuck}
        if not begin:
            return modes
        together = {key: PointMode(STICK) if key in begin else mode for key, mode in modes.items()}
        forces = self.evaluate(self.t, self.y, together)
        size = max(float(np.abs(forces.f).max(initial=0.0)), self._force_size)
        if forces.unique or self.lawful(forces, together, size):
            return modes if forces.unique else together
        hints: dict[int, Array] = {}
        for key in begin:
            hints[key[0]] = hints.get(key[0], np.zeros(3)) + (0.0 if (hint := modes[key].hint) is None else hint)
        ways = {c: hint / max(float(np.linalg.norm(hint)), 1e-300) for c, hint in hints.items()}
        sliding = {key: ways[key[0]] for key, mode in modes.items() if key[0] in ways and (mode.mode == STICK or mode.fixed)}
        together = {key: PointMode(SLIP, sliding[key], True) if key in sliding else mode for key, mode in modes.items()}
        forces = self.evaluate(self.t, self.y, together)
        lawful = not forces.unique and self.lawful(forces, together, size)
        return together if lawful and self._holds(dict(together), set(), sliding) else modes

    def _passing(self, approaching: list[Key]) -> set[Key]:
        """Return the points that approach, and whose features end before they get deeper than rounding: a corner that passes an edge.

        A box that slides down over the edge of a table touches it with its last corner, which is above the table up to that instant.
        """
        p = self.problem
        bounded = [key for key in approaching if not p.has_plane[key[0]]]
        if not bounded:
            return set()
        speed = float(np.abs(p.velocities(self.y)[:, :3]).max()) + self.size * float(np.abs(p.velocities(self.y)[:, 3:]).max())
        later = self.y.copy()
        drift(later, p.n, p.velocities(self.y).copy(), PASSED * self.size / speed)
        there = set(p.near(later, FEATURE * self.size)[0])
        return {key for key in bounded if key not in there}

    def _settle(self, closed: list[Key], hit: list[Violated]) -> None:
        """Take the rounding of their velocities from closed points, and from points at rest.

        It would leave bodies that turn as one with centripetal accelerations against each other, which several points cannot take back.
        """
        if not closed:
            return
        v, stopped = self.problem.at(self.y, closed).v, self._stopped(closed, hit)
        speeds = np.hypot(v[:, 1], v[:, 2])
        rests = [key in stopped or speed <= REST * self.size for key, speed in zip(closed, speeds, strict=True)]
        modes = {
            key: PointMode(STICK if rest and self.problem.mu[key[0]] > 0.0 else SLIP)
            for key, rest in zip(closed, rests, strict=True)
        }
        self.problem.project(self.t, self.y, modes)

    def _rest_first(self, hit: list[Violated]) -> None:
        """Take the rounding of their speeds from points that begin to slide from rest: against their direction it would end the slip."""
        begin = [key for key, mode in self.modes.items() if mode.mode == SLIP and mode.fixed]
        if not begin:
            return
        v, stopped = self.problem.at(self.y, begin).v, self._stopped(begin, hit)
        speeds = np.hypot(v[:, 1], v[:, 2])
        rests = {key for key, speed in zip(begin, speeds, strict=True) if key in stopped or speed <= REST * self.size}
        if rests:
            modes = {key: PointMode(STICK) if key in rests else mode for key, mode in self.modes.items()}
            self.problem.project(self.t, self.y, modes)

    def _stopped(self, keys: list[Key], hit: list[Violated]) -> set[Key]:
        """Return the points whose slip has come to rest: what is left across the direction that they kept is no slip of its own.

        Points of one body come to rest together; their directions, which they keep at the end, leave a few of their last speeds.
        """
        stops = {g.key for g in hit if g.what == "slip"}
        if not stops:
            return set()
        v = self.problem.at(self.y, keys).v
        speeds = np.hypot(v[:, 1], v[:, 2]) / self.size
        beside = {c for c, _ in stops}
        most = [SLOW_SLIP if key in stops else STOPS_TOO if key[0] in beside else 0.0 for key in keys]
        return {key for key, speed, limit in zip(keys, speeds, most, strict=True) if speed <= limit}

    def _too_low(self, parting: list[Key], chosen: dict[Key, PointMode | None]) -> set[Key]:
        """Return the points that part by an impact, and would rise less than REST_HEIGHT: so the rocking of edges ends, as bounces do."""
        p = self.problem
        kin = p.at(self.y, parting)
        if not len(parting) or not (kin.v[:, 0] <= SLOW_PARTING * self.size).any():
            return set()
        y_dot = self.evaluate(self.t, self.y, {key: mode for key, mode in chosen.items() if mode is not None}).y_dot
        a = (p.rows_of(kin, parting, p.velocities(y_dot)) - kin.gamma)[:, 0]
        low = (a < 0.0) & (kin.v[:, 0] ** 2 <= 2.0 * np.abs(a) * REST_HEIGHT * self.size)
        return {key for key, is_low in zip(parting, low, strict=True) if is_low}

    def _is_slow(self, k: int) -> bool:
        """Return whether the k-th point is slower than the speed at which its direction follows its velocity."""
        assert self.forces is not None
        return bool(np.hypot(*self.forces.kin.v[k, 1:]) <= SLOW_SLIP * self.size)

    def _chosen(
        self, closed: list[Key], leaving: set[Key], sliding: dict[Key, Array], hit: list[Violated]
    ) -> dict[Key, PointMode | None]:
        """Return the modes of closed points."""
        p, rest = self.problem, REST * self.size
        if any(g.what == "shared" for g in hit) and self._shared_beyond is not None:
            beyond, self._shared_beyond = self._shared_beyond, None
            slow = {k: m.hint for k, m in self.modes.items() if m.fixed and m.hint is not None}
            return p.choose(beyond.t, beyond.y, closed, rest, {k: way for k, way in slow.items() if k in closed}).modes
        staying = [key for key in closed if key not in leaving]
        if not staying:
            return {}
        try:
            stopped = self._stopped(staying, hit)
            some = {k: way for k, way in sliding.items() if k in staying and k not in stopped}
            chosen = p.choose(self.t, self.y, staying, rest, some, stopped=stopped).modes
        except NoAcceleration as error:
            return self._jam(error, staying)
        begin = {g.key for g in hit if g.what == "limit"}
        if self._holds(chosen, leaving & set(closed), {key: way for key, way in sliding.items() if key in begin}):
            return chosen
        return p.choose(self.t, self.y, closed, rest, {}, stopped=stopped).modes

    def _holds(self, chosen: dict[Key, PointMode | None], leaving: set[Key], sliding: dict[Key, Array]) -> bool:
        """Return whether prescribed modes fulfil the laws: points that leave do not come back, and those that slide go their way."""
        p = self.problem
        modes = {key: mode for key, mode in chosen.items() if mode is not None}
        forces = self.evaluate(self.t, self.y, modes)
        u_dot = p.velocities(forces.y_dot)
        scale = max(float(np.abs(u_dot).max(initial=0.0)), 1e-300) * max(1.0, self.size)
        if leaving:
            kin = p.at(self.y, list(leaving))
            a = p.rows_of(kin, list(leaving), u_dot) - kin.gamma
            if (a[:, 0] < -1e-7 * scale).any():
                return False
        some = [key for key in sliding if key in modes]
        if some:
            kin = p.at(self.y, some)
            a = p.rows_of(kin, some, u_dot) - kin.gamma
            for k, key in enumerate(some):
                if a[k, 1:] @ (kin.D[k, 1:] @ sliding[key]) < -1e-7 * scale:
                    return False
        return True

    def _jam(self, error: NoAcceleration, keys: list[Key]) -> dict[Key, PointMode | None]:
        """Let sliding points jam: an impact without collision, that brings them to rest; then their modes."""
        p = self.problem
        kin = p.at(self.y, keys)
        p.response.factor(self.t, self.y)
        answer = p.columns(kin, keys, self.t)
        v = p.rows_of(kin, keys, p.velocities(self.y)).ravel()
        f = np.asarray(-np.linalg.lstsq(answer.G, v, rcond=1e-10)[0].reshape(-1, 3), dtype=np.float64)
        mu = p.friction_of(keys)
        if (f[:, 0] < 0.0).any() or (np.hypot(f[:, 1], f[:, 2]) > mu * f[:, 0] * (1.0 + 1e-9)).any():
            raise SimulationError(
                f"Painleve's paradox at t = {self.t:.9g} s: {error.names}, which slides, has no acceleration that fulfils the laws, and "
                "no impulse that brings it to rest. Give a smaller mu, or a compliant contact (law=mbd.Compliant(K))."
            ) from None
        self.jammed = error.names.split(", ")
        self.jam = (self.y.copy(), f, keys, kin)
        p.velocities(self.y)[1:] += (f.ravel() @ answer.X).reshape(-1, 6)[1 : p.n]
        return p.choose(self.t, self.y, keys, REST * self.size, {}).modes

    def _strike(self, keys: list[Key], struck: dict[Key, Array]) -> Struck:
        """Let the points strike; note their impulses."""
        p = self.problem
        e = self._effective_restitution(keys)
        before = self.y.copy()
        u, f, v_before, kin = p.impact(self.t, self.y, keys, e)
        p.velocities(self.y)[1:] = u[1:]
        size = float(np.abs(f).max(initial=0.0))
        for key, one in zip(keys, f, strict=True):
            if one[0] > 1e-12 * size:
                struck[key] = struck.get(key, 0.0) + one
        f = np.where(f[:, :1] > 1e-12 * size, f, 0.0)  # rounding of points that do not strike
        return Struck(before, self.y.copy(), keys, f, kin)

    def _effective_restitution(self, keys: list[Key]) -> Array:
        """Return e by point, 0 where a bounce would rise less than REST_HEIGHT."""
        p = self.problem
        e = p.restitution_of(keys).copy()
        if not e.any():
            return e
        y_dot = self.evaluate(self.t, self.y, {}).y_dot
        kin = p.at(self.y, keys)
        a = (p.rows_of(kin, keys, p.velocities(y_dot)) - kin.gamma)[:, 0]
        rate = e * np.abs(kin.v[:, 0])
        noise = REST * self.size + SPEED_NOISE * float(np.abs(p.velocities(self.y)).max(initial=0.0)) * self.size
        low = (kin.v[:, 0] < -noise) & (a < 0.0) & (rate**2 <= 2.0 * np.abs(a) * REST_HEIGHT * self.size)
        e[low] = 0.0
        return e

    @property
    def h_closed(self) -> float:
        """Longest step while a point is closed [s]."""
        return self._h_closed

    def limit_steps(self, span: float) -> None:
        """Set the longest step while a point is closed."""
        self._h_closed = span / CLOSED_STEPS


class Turned(NamedTuple):
    """A switch: modes before and after, impulses by point, impacts, points whose slip has come to rest, or whose features ended."""

    before: dict[Key, PointMode]
    after: dict[Key, PointMode]
    struck: dict[Key, Array]
    impacts: list[Struck]
    stopped: list[Key]
    lost: set[Key]


def carried(way: Array, D: Array) -> Array:
    """Return a direction of slip (3,) in the tangential plane of D (3, 3), to which it has come along a curved surface."""
    flat = D[1:] @ way
    length = float(np.hypot(flat[0], flat[1]))
    return np.asarray(flat / length @ D[1:]) if length > 0.0 else way


def tableau_of(method: Integrator) -> tuple[Any, Array | None]:
    """Return tableau and errors of an explicit Runge-Kutta method.  Raise UsageError for another method."""
    if isinstance(method, EmbeddedRungeKutta):
        return method.tableau, method.errors
    if isinstance(method, RungeKutta):
        return method.tableau, None
    raise UsageError(
        f"{type(method).__name__} does not take friction in rigid contacts: use DormandPrince, DOP853, RK4 or another explicit "
        "Runge-Kutta method, or mbd.MoreauJean() with a fixed step h for many contacts."
    )


def first_zero(value: Callable[[float], float], h: float, width: float) -> float:
    """Return a zero of value(x) in [0, h], positive or zero at 0 and negative at h, by Chandrupatla's method.

    The inverse parabola through three points where they are one branch of it, bisection elsewhere: a guard may jump.  A trial is at least
    half of `width` away from the best point, so that the other side comes as near.
    The last point is on the side where the value is not negative, or nearer to zero than rounding.
    Source: Chandrupatla, Advances in Engineering Software 28 (1997).
    """
    low, high = 0.0, h
    x, at_x, other, at_other = h, value(h), 0.0, max(value(0.0), 0.0)
    if at_other == 0.0:
        return 0.0
    width, part = max(width, 4e-16 * h), at_x / (at_x - at_other)
    for _ in range(200):
        if high - low <= width:
            break
        aside = min(0.5 * width / (high - low), 0.5)
        trial = x + min(max(part, aside), 1.0 - aside) * (other - x)
        if not low < trial < high:
            trial = 0.5 * (low + high)
        here = value(trial)
        if abs(here) <= ZERO_OF_GUARD:
            return trial
        before, at_before = x, at_x
        if (here > 0.0) != (at_x > 0.0):
            before, at_before, other, at_other = other, at_other, x, at_x
        x, at_x = trial, here
        low, high = (x, other) if x < other else (other, x)
        part = _inverse_parabola(x, at_x, other, at_other, before, at_before)
    return low if low > 0.0 else high


def _inverse_parabola(x: float, at_x: float, other: float, at_other: float, before: float, at_before: float) -> float:
    """Return where the inverse parabola through three points is zero, as a part of the way from x to `other`; 1 / 2 where it bends back."""
    if at_before in (at_x, at_other):
        return 0.5
    where, height = (x - other) / (before - other), (at_x - at_other) / (at_before - at_other)
    if not (height * height < where and (1.0 - height) ** 2 < 1.0 - where):
        return 0.5
    first = at_x / (at_other - at_x) * at_before / (at_other - at_before)
    return first + (before - x) / (other - x) * at_x / (at_before - at_x) * at_other / (at_before - at_other)


def counted(turns: list[tuple[float, str]], t: float, what: str, most: float) -> None:
    """Raise SimulationError if switches occur more often than `most` times a second."""
    turns.append((t, what))
    if len(turns) <= most:
        return
    recent = turns[-int(most) - 1 :]
    if t - recent[0][0] >= 1.0:
        return
    often = ", ".join(f"{name!r} {n} times" for name, n in Counter(name for _, name in recent).most_common(3))
    raise SimulationError(
        f"more than {most:g} impacts and switches of contacts in a second of simulated time, from t = {recent[0][0]:.9g} s to "
        f"t = {t:.9g} s: {often}. Give a smaller restitution, or a larger most_per_second=, or use mbd.MoreauJean() with a fixed step."
    )
