r"""Freewheels in a run: when they lock and slip.

    s = sum c_k q_k' >= 0,   T = -lam >= 0,   s T = 0            lam: the multiplier of the locked row,  Phi = sum c_k q_k - f

    slips      T falls through zero                the row goes off
    locks      s falls through zero                the row goes on, at the pose of the moment
    start      s < 0: an impulse;  s > 0: it slips;  s = 0: the set that is locked has T >= 0, and s' >= 0 of the others
    impulse    Lam > 0, a pull, of a locked row: it slips behind it
    together   where one locks while others are locked, all of them are at s = 0: which of them are locked from there on is found anew

The set at s = 0 is found by exchanging one after the other, from none: the locked row with the strongest pull goes off, then the one
whose sum falls fastest goes on. What neither presses nor pulls at rest is locked.
Source: Pfeiffer and Glocker, Multibody Dynamics with Unilateral Contacts (1996).
"""

from __future__ import annotations

from collections.abc import Callable, Container, Sequence
from functools import partial
from typing import Any

import numpy as np

from haugmbd.compiled.array_types import Array
from haugmbd.constraints.coordinate import Coordinate
from haugmbd.constraints.joint import Joint
from haugmbd.errors import ModelError, SimulationError
from haugmbd.forces.joint_loads.joint_coordinate import coordinate_motion
from haugmbd.formulations.accelerations import accelerations
from haugmbd.integrators.events import Event, Switch
from haugmbd.model.inspection.constraint_rows import evaluate
from haugmbd.model.inspection.run_memory import freewheels_of
from haugmbd.model.model import Model
from haugmbd.model.state import State

LEAST = 1e-12
"""Of the largest rate or multiplier, and of 1 rad/s, m/s, N m or N: smaller ones are rounding, and neither lock nor slip."""
NEAR = 1e-9
"""Relative to |t| + 1 s: times nearer to the end of a part are those at which its last event was located."""
LOCATED = 1e-7
"""Of the largest rate, and of 1 rad/s or m/s: a negative s that is smaller is left by the location of the instant at which it was zero."""
LOCKS, SLIPS = "locks", "slips"


class Watched:
    """A function of (t, state) that must not be negative, and the times of one part of a run at which it was."""

    name: str

    def __init__(self) -> None:
        self.negative: list[float] = []

    def noted(self, t: float, value: float) -> float:
        """Return the value; note the time if it is negative."""
        if value < 0.0:
            self.negative.append(t)
        return value


class SlipRate(Watched):
    """s of a freewheel as a function of (t, state), raised by what is rounding."""

    def __init__(self, model: Model, joint: Any) -> None:
        super().__init__()
        self.name = joint.name
        number = {body: k for k, body in enumerate(model.bodies)}
        self.terms: list[tuple[Coordinate, float, int, int]] = []
        for q, c in joint.terms:
            a, b = q.bodies
            self.terms.append((q, c, number[a], number[b]))

    def rates(self, state: State) -> Array:
        """Return c_k q_k' of all coordinates."""
        bodies = np.hstack([state.r, state.p, state.v, state.omega_bar])
        none = np.zeros(1)
        return np.array([c * coordinate_motion(q, bodies[a : a + 1], bodies[b : b + 1], none)[1][0] for q, c, a, b in self.terms])

    def __call__(self, t: float, state: State) -> float:
        rates = self.rates(state)
        return self.noted(t, float(rates.sum() + LEAST * (1.0 + np.abs(rates).max())))


class Push(Watched):
    """T of a locked freewheel as a function of (t, state), raised by what is rounding; 1 while it slips."""

    def __init__(self, name: str) -> None:
        super().__init__()
        self.name = name
        self.model: Model | None = None

    def __call__(self, t: float, state: State) -> float:
        assert self.model is not None
        if self.name not in self.model.joints:
            return 1.0
        lam = accelerations(self.model, state).lam
        return self.noted(t, float(LEAST * (1.0 + np.abs(lam).max()) - lam[self.model.joints[self.name].rows[0]]))


def events_of(model: Model) -> tuple[Switch, ...]:
    """Return the switches of all freewheels."""
    switches: list[Switch] = []
    for joint in freewheels_of(model):
        name = joint.name
        switches.append(Event(f"{name}: {LOCKS}", SlipRate(model, joint), direction=-1).then(grip=[name]))
        switches.append(Event(f"{name}: {SLIPS}", Push(name), direction=-1).then(release=[name]))
    return tuple(switches)


def rebind_pushes(model: Model, events: Sequence[Event]) -> None:
    """Let the events of freewheels read the multipliers of another structure, and forget what they have seen before."""
    for event in events:
        if isinstance(event.function, Watched):
            event.function.negative.clear()
        if isinstance(event.function, Push):
            event.function.model = model


def not_held(events: Sequence[Event], end: float, fired: Container[str]) -> list[str]:
    """Return the freewheels that have pulled while locked, or fallen while slipping, before the end of a part of a run [s].

    Their functions were zero at its start, and fell from there: no event. They begin the other way.
    fired: names of the events that ended the part, whose functions were positive before
    """
    before = end - NEAR * (1.0 + abs(end))
    names: dict[str, None] = {}
    for event in events:
        watched = event.function
        if isinstance(watched, Watched) and event.name not in fired and any(t < before for t in watched.negative):
            names[watched.name] = None
    return list(names)


def pulled(model: Model, Lam: Array) -> str | None:
    """Return the locked freewheel that pulls most by an impulse with the multipliers Lam (nc,); None if all push."""
    least, worst = LEAST * (1.0 + float(np.abs(Lam).max(initial=0.0))), None
    for joint in freewheels_of(model):
        if joint.name in model.joints and Lam[model.joints[joint.name].rows[0]] > least:
            least, worst = float(Lam[model.joints[joint.name].rows[0]]), joint.name
    return worst


def falls_no_more(function: Any, state: State) -> bool:
    """Return whether a switch is the locking of a freewheel whose s has just come to zero: the impulse that closes it is a rounding."""
    if not isinstance(function, SlipRate):
        return False
    rates = function.rates(state)
    return float(rates.sum()) > -LOCATED * (1.0 + float(np.abs(rates).max()))


def falling(model: Model, state: State) -> list[str]:
    """Return the freewheels whose sum falls at a state: they are caught by an impulse."""
    return [joint.name for joint in freewheels_of(model) if SlipRate(model, joint)(state.t, state) < 0.0]


def locked_at_rest(
    model: Model, state: State, locked: Callable[[Sequence[str]], Model], resting: Sequence[str] | None = None
) -> list[str]:
    """Return the freewheels at rest that are locked by what presses them.

    locked(names): the model in which these are locked at the state;  resting: those at rest, by default all whose sum does not change
    Raise SimulationError if no set of them holds.
    """
    names = [joint.name for joint in freewheels_of(model) if _rests(model, joint, state)] if resting is None else list(resting)
    if not names:
        return []
    growth_of = {name: _growth(locked([name]), name, state) for name in names}
    now: list[str] = []
    for _ in range(2 ** min(len(names), 10) + 2 * len(names)):
        at = locked(now)
        solution = accelerations(at, state.replace(structure=None))
        lam, u_dot = solution.lam, np.hstack([solution.v_dot, solution.omega_bar_dot])[1:].ravel()
        # T >= 0 of those that are locked
        pull = {name: float(lam[at.joints[name].rows[0]]) for name in now}
        worst = max(pull, key=partial(_value, pull), default=None)
        if worst is not None and pull[worst] > LEAST * (1.0 + float(np.abs(lam).max())):
            now.remove(worst)
            continue
        # s' >= 0 of the others
        growth = {name: growth_of[name](u_dot) for name in names if name not in now}
        worst = min(growth, key=partial(_value, growth), default=None)
        if worst is None or growth[worst] >= -LEAST * (1.0 + float(np.abs(u_dot).max(initial=0.0))):
            return _with_undecided(now, [name for name in names if name not in now and not growth[name] > 0.0], state, locked)
        now.append(worst)
    raise SimulationError(
        f"which of the freewheels {', '.join(map(repr, names))} are locked at t = {state.t:.9g} s is not found: what they carry depends on "
        "the others. Let the mechanism begin in motion, or leave one of them out."
    )


def _with_undecided(now: list[str], others: Sequence[str], state: State, locked: Callable[[Sequence[str]], Model]) -> list[str]:
    """Return the locked freewheels, and of those that neither fall nor grow the ones that can be locked beside them without a pull."""
    for name in others:
        try:
            at = locked([*now, name])
        except ModelError:  # it contradicts drivers or other freewheels
            continue
        lam = accelerations(at, state.replace(structure=None)).lam
        if pulled(at, lam) is None:
            now = [*now, name]
    return now


def _growth(model: Model, name: str, state: State) -> Callable[[Array], float]:
    """Return s' of a freewheel as a function of the accelerations, by its row in a model in which it is locked."""
    rows = evaluate(model, state.replace(structure=None))
    row = model.joints[name].rows[0]
    gradient, gamma = rows.Phi_q.tocsr()[row].toarray().ravel(), float(rows.gamma[row])

    def growth(u_dot: Array) -> float:
        return float(gradient @ u_dot) - gamma

    return growth


def _value(of: dict[str, float], name: str) -> float:
    return of[name]


def _rests(model: Model, joint: Joint, state: State) -> bool:
    """Return whether s is rounding."""
    rates = SlipRate(model, joint).rates(state)
    return abs(float(rates.sum())) <= LEAST * (1.0 + float(np.abs(rates).max()))
