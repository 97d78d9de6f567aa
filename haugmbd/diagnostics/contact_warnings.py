"""Doubtful runs that neither energy nor a violation shows: contacts that begin deep, impacts of few steps, bristles out of range, lift-off.

Compliant contacts that a run begins with deep inside each other: their elastic force throws the bodies apart.
depth > DEEP R           R: the smaller radius of the two shapes, or the smallest half edge of a box
N > HEAVY m g  and  m |v'| > N / 2        of one of the bodies: nothing holds against the force N that accelerates it

Impacts of compliant contacts and stops that last for so few fixed steps that what they return is an error of the steps.

    T = t(release) - t(touch) < FEWEST h    and    w^T M w > JUMP^2 max u^T M u        w = du - T (u'(touch) + u'(release)) / 2

du is the change of the velocities from touch to release, and w what the contact has in it: at both times it has no force.
Noted is also one during which the normal turns by more than a right angle: balls whose centres have passed each other in a step have gone
through each other, and may have changed nothing.
An undamped stop has no events in a method that steps across kinks: u is then that of the states around it.
Neither energy nor a violation shows such an impact: where a contact dissipates, any restitution is plausible.

Bristles of LuGre friction beyond their range: a step that is too long for them.
sigma0 |z| <= mu_s        is never left by z' = s - sigma0 |s| z / g(s), g <= mu_s, from z = 0 on

Joints that can only push: the times at which they would have to pull.

    push = -lam        of the first row of a joint with `unilateral`        lift-off: push falls through 0;  return: it rises through 0
    at an impact       -Lam of the same row                                 lift-off: it is below 0

A run keeps such a joint closed. It finds both times as events, and a note says that the motion behind the first lift-off is that of
a joint that is guided in both directions.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from haugmbd.compiled.array_types import Array
from haugmbd.diagnostics.contact_impacts import contact_values
from haugmbd.diagnostics.energy import kinetic_energy
from haugmbd.diagnostics.run_warnings import RunNote
from haugmbd.errors import SimulationError
from haugmbd.forces.compliant.contact_force import ContactForce
from haugmbd.forces.friction_laws import BENT, LuGre, relaxation_text
from haugmbd.forces.joint_friction import JointFriction
from haugmbd.formulations.accelerations import solve_states
from haugmbd.friction import columns as at
from haugmbd.integrators.events import Event, EventRecord
from haugmbd.model.compiling.loads import LoadEntry
from haugmbd.model.immutable import once_per_model
from haugmbd.model.inspection.pressed_stops import Stops
from haugmbd.model.labels import JointEntry, parts_of
from haugmbd.model.model import Model
from haugmbd.model.state import State
from haugmbd.workspace.layout import WIDTH

DEEP = 0.1
"""Of the radius: the laws of contact hold for indentations that are small against it."""
HEAVY = 100.0
"""Weights of a body: beyond it the force is that of an impact, and not of a body that rests."""
BALANCED = 0.5
"""Part of the force that may accelerate a body, where others hold against the rest: a preload is no overlap."""


def deep_contact_notes(model: Model, t: float, y: Array) -> list[RunNote]:
    """Return a note for each compliant contact that is deep, or presses without balance, at the state y (ny,) in which a run begins."""
    notes = []
    for entry in model.loads if model.has_contacts else ():
        if isinstance(entry.load, ContactForce):
            what = _deep(entry.load, model, entry, t, y)
            notes += [RunNote(f"start of {entry.load.name}", what, doubtful=True)] if what else []
    return notes


def _deep(load: ContactForce, model: Model, entry: LoadEntry, t: float, y: Array) -> str:
    """Return what is too deep at a contact; "" if nothing is."""
    geometry, force = contact_values(entry, model, y[None])
    depth, N, size = float(geometry.depth.max()), float(force.elastic.sum()), _size_of(load)
    if not depth > 0.0:
        return ""
    thrown = _thrown(model, entry, t, y, N)
    if not depth > DEEP * size and not thrown:
        return ""
    part = f", {depth / size:.2g} of the smaller radius" if depth > DEEP * size else ""
    return (
        f"{load.where} starts {depth:.3g} m deep{part}, with an elastic force of {N:.3g} N{thrown}. Start with shapes that touch "
        "(move a body apart by this depth, or find a pose of rest with equilibrium), or check K and the units."
    )


def _size_of(load: ContactForce) -> float:
    """Return the smallest radius or half edge of the two shapes [m]; infinite if they have none."""
    assert load.pair is not None
    sizes = [radius for radius in (load.pair.radius_a, load.pair.radius_b) if radius > 0.0]
    if load.pair.points > 2:  # noqa: PLR2004  the corners of a box
        sizes += [float(np.linalg.norm(edge)) for edge in load.pair.a[1:]]
    return min(sizes, default=np.inf)


def _thrown(model: Model, entry: LoadEntry, t: float, y: Array, N: float) -> str:
    """Return which body the force N throws, with its weights and acceleration; "" if none."""
    g = float(np.linalg.norm(model.tables["GRAVITY"][0]))
    bodies = [body for body in entry.bodies if body > 0 and g > 0.0 and N > HEAVY * model.mass[body] * g]
    if not bodies:
        return ""
    try:
        u_dot = solve_states(model, np.array([t]), y[None])[0]
    except SimulationError:  # the run itself says what is wrong with its first state
        return ""
    for body in bodies:
        a, weight = float(np.linalg.norm(u_dot[body, :3])), float(model.mass[body]) * g
        if model.mass[body] * a > BALANCED * N:
            return f", {N / weight:.3g} times the weight of body {model.body_names[body]!r}, which it accelerates by {a:.3g} m/s2"
    return ""


FEWEST, DOUBTFUL = 4.0, 3.0
"""Steps of an impact below which it is noted, and below which the result is doubtful: with four the restitution is wrong by up to some
percent, with three by up to ten, with two by any amount."""
ADVISED = 10.0
"""Steps of an impact that are advised."""
JUMP = 0.1
"""Of the velocities: an impact that changes them by less has no part in the motion; most are contacts that hardly touch."""


class Impact(NamedTuple):
    """An impact.  name: of the contact or side;  start, duration: [s];  before, after: states without its force, from which it is judged"""

    name: str
    start: float
    duration: float
    before: State
    after: State


def short_impact_notes(model: Model, events: Iterable[EventRecord], method: Any, t: Array, y: Array) -> list[RunNote]:
    """Return a note on the shortest impact of a run with states y (nt, ny) at t, if it is too short for the fixed steps of `method`."""
    h = method.step
    if h is None or not (model.has_stops or model.has_contacts):
        return []
    events = tuple(events)
    impacts = [*_impacts(events, h), *([] if method.stops_at_kinks else _stepped_across(model, t, y))]
    short = [impact for impact in impacts if impact.duration < FEWEST * h]
    largest = _largest(model, [*(event.state for event in events), *(impact.before for impact in short)]) if short else 0.0
    too_short = [
        impact
        for impact, change in zip(short, _changes(model, short), strict=True)
        if change > JUMP**2 * largest or _goes_through(model, impact)
    ]
    if not too_short:
        return []
    worst = min(too_short, key=lambda impact: impact.duration)
    duration = worst.duration
    text = (
        f"an impact of {worst.name} lasts {duration:.3g} s (from t = {worst.start:.6g} s), which is {duration / h:.2g} steps of "
        f"h = {h:.3g} s: its restitution is an error of the steps. Give h = {duration / ADVISED:.2g} s or less, or rtol=."
    )
    return [RunNote("impact", text, h / max(duration, 1e-300), doubtful=duration < DOUBTFUL * h)]


def _impacts(events: Iterable[EventRecord], h: float) -> list[Impact]:
    """Return the time from each touch to the release behind it, and the whole of those that follow each other within a step."""
    touches: dict[str, EventRecord] = {}
    chains: dict[str, list[Impact]] = {}
    for event in events:
        name, _, what = event.name.rpartition(": ")
        if what == "touch":
            touches[name] = event
        elif what == "release" and name in touches:
            touch = touches.pop(name)
            chains.setdefault(name, []).append(Impact(name, touch.t, event.t - touch.t, touch.state, event.state))
    impacts = [impact for chain in chains.values() for impact in chain]
    for name, chain in chains.items():
        first = 0
        for k, impact in enumerate(chain):
            if k + 1 == len(chain) or chain[k + 1].start - impact.start - impact.duration >= h:
                if k > first:
                    begin = chain[first]
                    impacts.append(
                        Impact(name, begin.start, impact.start + impact.duration - begin.start, begin.before, impact.after)
                    )
                first = k + 1
    return impacts


def _stepped_across(model: Model, t: Array, y: Array) -> list[Impact]:
    """Return the impacts of undamped stops of a method that steps across kinks: from the last state before one to the first behind it.

    A step may have leapt over it: the coordinate approaches and leaves, and would have been beyond the limit between the states.
    """
    stops, n = Stops(model), model.nb + 1
    sides = [k for k, side in enumerate(stops.sides) if side.c == 0.0]
    if not sides or len(t) < 2:  # noqa: PLR2004
        return []
    measured, impacts = stops.pressed(y), []
    for k in sides:
        x, rate = measured.depth[:, k], measured.rate[:, k]
        outside = np.flatnonzero(x <= 0.0)
        for a, b in pairwise(outside.tolist()):
            if not rate[a] > 0.0 > rate[b]:
                continue
            touch, release = t[a] - x[a] / rate[a], t[b] - x[b] / rate[b]
            meet = (x[a] - x[b] - rate[a] * t[a] + rate[b] * t[b]) / (rate[b] - rate[a])
            if b > a + 1 or x[a] + rate[a] * (meet - t[a]) > 0.0:
                ends = (State.from_y(float(t[at]), y[at], n) for at in (a, b))
                impacts.append(Impact(stops.sides[k].name, float(touch), max(0.0, float(release - touch)), *ends))
    return impacts


def _goes_through(model: Model, impact: Impact) -> bool:
    """Return whether the normal of a contact turns by more than a right angle during an impact."""
    for entry in model.loads:
        load = entry.load  # several points are those of a plane: none turns
        if isinstance(load, ContactForce) and load.name == impact.name:
            states = np.stack([impact.before.y, impact.after.y])[:, : WIDTH * (model.nb + 1)]
            bodies = states.reshape(2, -1, WIDTH).swapaxes(0, 1)[list(entry.bodies)]
            normals = load.indentation(bodies).normal.reshape(2, -1, 3)
            return bool((normals[0] * normals[1]).sum() < 0.0)
    return False


def _changes(model: Model, impacts: list[Impact]) -> Array:
    """Return w^T M w of impacts (n,); 0 where the accelerations are not known."""
    if not impacts:
        return np.zeros(0)
    ends = [state for impact in impacts for state in (impact.before, impact.after)]
    t = np.array([end.t for end in ends])
    try:
        u_dot = solve_states(model, t, np.stack([end.y for end in ends]))[:, : model.nb + 1]
    except SimulationError:  # the run itself says what is wrong with a state
        return np.zeros(len(impacts))
    u, T = _velocities(ends), (t[1::2] - t[::2])[:, None, None]
    return 2.0 * kinetic_energy(model, u[1::2] - u[::2] - 0.5 * T * (u_dot[::2] + u_dot[1::2]))


def _largest(model: Model, states: Iterable[State]) -> float:
    """Return the largest u^T M u of some states."""
    return 2.0 * float(kinetic_energy(model, _velocities(states)).max())


def _velocities(states: Iterable[State]) -> Array:
    """Return v and omega_bar of all bodies at some states, (n, nb + 1, 6)."""
    return np.stack([np.hstack([state.v, state.omega_bar]) for state in states])


def bristle_notes(model: Model, t: Array, y: Array) -> list[RunNote]:
    """Return a note for each LuGre friction whose bristles bend beyond their range at states y (nt, ny) at t (nt,)."""
    notes, frictions = [], model.loads_of(JointFriction)
    for load, row in zip(frictions, model.tables["FRICTION_INTS"] if frictions else (), strict=True):
        if not isinstance(load.law, LuGre) or not len(t):
            continue
        first = WIDTH * (model.nb + 1) + int(row[at.STATE_Z])
        with np.errstate(all="ignore"):
            mu = load.law.sigma0 * np.linalg.norm(y[:, first : first + int(row[at.CHANNELS])], axis=1)
        k = int(np.nanargmax(mu)) if np.isfinite(mu).any() else 0
        if mu[k] > BENT * load.law.mu_s:
            text = (
                f"the bristles of friction {load.name!r} in joint {load.joint.name!r} bend to sigma0 |z| = {mu[k]:.3g} at "
                f"t = {t[k]:.6g} s, and the law keeps them within mu_s = {load.law.mu_s:g}: the steps are too long for them. They "
                f"{relaxation_text(load.law)}"
            )
            notes.append(RunNote(f"bristles of {load.name}", text, float(mu[k]), doubtful=True))
    return notes


LIFT_OFF, RETURN = "lift-off", "return"
PULL_TOL = 1e-9
"""Pull that is rounding, relative to the largest multiplier."""
NAMED = 4
"""Number of times that a note names."""


@dataclass(frozen=True)
class Push:
    """The push of a joint [N or N m] as an event function of (t, state)."""

    model: Model
    joint: JointEntry

    def __call__(self, t: float, state: Any) -> float:
        """Return the push at a state."""
        return float(push_over_time(self.model, self.joint, np.array([t]), state.y[None])[0])


def push_over_time(model: Model, joint: JointEntry, t: Array, y: Array) -> Array:
    """Return the push (nt,) [N or N m] of a joint at the states y (nt, ny); negative where it pulls."""
    x = solve_states(model, t, y).reshape(len(t), -1)
    push: Array = -x[:, 6 * (model.nb + 1) + model.slot_of_row[joint.rows[0]]]
    return push


def lift_off_events(model: Model) -> tuple[Event, ...]:
    """Return the events of all joints that can only push."""
    pushes = []
    for joint in unilateral_joints(model):
        push = Push(model, joint)
        pushes += [Event(f"{joint.name}: {LIFT_OFF}", push, direction=-1), Event(f"{joint.name}: {RETURN}", push, direction=1)]
    return tuple(pushes)


@once_per_model
def unilateral_joints(model: Model) -> list[JointEntry]:
    """Return the joints that can only push."""
    return [model.joints[part.name] for part in parts_of(model.joints) if part.unilateral]


def pulls_of(model: Model, lam: Array) -> dict[str, float]:
    """Return the joints that can only push, and pull with the multipliers lam (nc,), of forces or of an impact: [N, N m; N s, N m s]."""
    least = PULL_TOL * float(np.abs(lam).max(initial=0.0))
    return {joint.name: pull for joint in unilateral_joints(model) if (pull := float(lam[joint.rows[0]])) > least}


def lift_off_notes(model: Model, t: Array, y: Array, events: Iterable[EventRecord]) -> list[RunNote]:
    """Return a note for each joint that would have to pull in a run with these states y (nt, ny) at t (nt,), and these events."""
    notes, records = [], tuple(events)
    for joint in unilateral_joints(model):
        names = {f"{joint.name}: {what}": what for what in (LIFT_OFF, RETURN)}
        times = [(names[record.name], record.t) for record in records if record.name in names]
        if len(t) and float(push_over_time(model, joint, t[:1], y[:1])[0]) < 0.0:
            times.insert(0, (LIFT_OFF, float(t[0])))
        notes += _notes(joint, times, "")
    return notes


def sampled_lift_off_notes(model: Model, t: Array, y: Array) -> list[RunNote]:
    """Return the notes of `lift_off_notes` from the states alone; times are interpolated linearly between states."""
    notes = []
    for joint in unilateral_joints(model) if len(t) else ():
        push = push_over_time(model, joint, t, y)
        times = [(LIFT_OFF, float(t[0]))] if push[0] < 0.0 else []
        for k in np.flatnonzero((push[1:] < 0.0) != (push[:-1] < 0.0)).tolist():
            at = t[k] + (t[k + 1] - t[k]) * push[k] / (push[k] - push[k + 1])
            times.append((LIFT_OFF if push[k + 1] < 0.0 else RETURN, float(at)))
        notes += _notes(joint, times, "about ")
    return notes


def _notes(joint: JointEntry, times: list[tuple[str, float]], about: str) -> list[RunNote]:
    """Return the note of a joint with these lift-offs and returns, if there are any."""
    if not any(what == LIFT_OFF for what, _ in times):
        return []
    parts = ", ".join(f"{what} at {about}t = {at:.9g} s" for what, at in times[:NAMED])
    more = f", and {len(times) - NAMED} more" if len(times) > NAMED else ""
    what = f"joint {joint.name!r} can only push, and would have to pull: {parts}{more}"
    why = "it is held closed, so that the motion behind the first lift-off is that of one that is guided in both directions"
    first = min(at for what, at in times if what == LIFT_OFF)
    return [RunNote(f"lift-off of {joint.name}", f"{what}; {why}.", -first, True)]  # of several segments the first note is kept
