r"""Events that end a smooth segment of the motion: an open contact closes its gap, or a closed contact would pull.

    meets   gap = 0, falling                            for every open contact
    opens   normal force + slack = 0, falling           for every closed contact; slack: rounding of the force, see `resting_contact`

A contact that has just bounced starts at gap = 0 and rises.  One that has just opened, or that depends on others, may stay at zero
within rounding for some time: it meets only when its gap falls below -TOUCH.
Most steps are far from most events.  This is tested for many states and all contacts at once: gaps and normal forces beyond their
rounding.  Only contacts that are near their event are evaluated one by one.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from haugmbd.compiled.array_types import Array
from haugmbd.contact.gap import Placed, gap_at, gap_of_table, placed_contacts, table_of
from haugmbd.formulations.accelerations import accelerate_entry, multipliers_entry
from haugmbd.formulations.error_messages import explain
from haugmbd.integrators.events import Event, Flags
from haugmbd.integrators.leaps import falls_and_rises, turn_of
from haugmbd.model.model import Model
from haugmbd.model.state import State
from haugmbd.workspace.layout import workspace_array

MEETS, OPENS = "meets", "opens"
"""What a contact does, in the names of its events."""
TOUCH = 1e-10
"""Relative to the size of a contact [m or rad]: a smaller gap touches."""
LEAN = 1e-12
"""Relative to the size: a contact at rest may fall below zero by this rounding before it counts as met."""
CLEAR = 1e-13
"""Relative to the size: a larger gap is positive beyond rounding."""

NEARER = 0.5
"""Of the least gap at the ends of a step and in its middle: a parabola through the three that stays above it does not leap."""


class Gaps:
    """The gaps of open contacts at many states, computed once for all contacts.

    below: (k,) how far each may go below zero [m or rad], see `LEAN`;  sizes: (k,) of the contacts, see `ContactModes.sizes`
    """

    def __init__(self, contacts: Sequence[Placed], below: Array, sizes: Array) -> None:
        self.contacts, self.below, self.sizes = contacts, below, sizes
        self._placed, self._table = placed_contacts(contacts), table_of(contacts)
        self._seen: list[tuple[Array, Array]] = []

    def at(self, k: int, state: State) -> float:
        """Return the gap of contact k at one state: by the kernel that flights use, so that both meet at the same time."""
        return gap_at(self.contacts[k], state) if self._table is None else float(gap_of_table(self._table, k, state.flat))

    def _gaps(self, y: Array) -> Array:
        """Return the gaps of all contacts plus `below` at flat states y (n, ny), (n, contacts)."""
        for states, gaps in self._seen:
            if states is y:
                return gaps
        gaps = self._placed.gaps(y) + self.below
        self._seen = [*self._seen[-1:], (y, gaps)]  # the ends of steps, and their middles
        return gaps

    def clear(self, k: int, y: Array) -> Flags:
        """Return at which flat states y (n, ny) contact k is open beyond rounding, (n,)."""
        flags: Flags = self._gaps(y)[:, k] > CLEAR * self.sizes[k]
        return flags

    def may_leap(self, k: int, t: Array, y: Array, halfway: Array) -> Flags:
        """Return in which steps between states y (n, ny) at t contact k may be closed and open again unseen, (n - 1,).

        Rates are computed only where the parabola through the gaps at both ends and in the middle falls to a part of them.
        """
        ends, middle = self._gaps(y)[:, k], self._gaps(halfway)[:, k]
        before, after = ends[:-1], ends[1:]
        slope, curvature = 0.5 * (after - before), before - 2.0 * middle + after
        with np.errstate(all="ignore"):
            lowest = middle - 0.5 * slope**2 / curvature
        least = np.minimum(np.minimum(before, middle), after)
        leaps = (least > 0.0) & (curvature > 0.0) & (np.abs(slope) <= curvature) & (lowest < NEARER * least)
        for step in np.flatnonzero(leaps).tolist():
            three = np.stack([y[step], halfway[step], y[step + 1]])
            gap, rate = self._placed.gaps(three)[:, k] + self.below[k], self._placed.gap_rates(three)[:, k]
            h = 0.5 * (t[step + 1] - t[step])
            leaps[step] = falls_and_rises(h, gap[:-1], rate[:-1], gap[1:], rate[1:]).any()
        return leaps

    def measure(self, k: int, y: Array) -> tuple[float, float]:
        """Return the gap plus `below`, and the rate, of contact k at a flat state."""
        return float(self._placed.gaps(y[None])[0, k] + self.below[k]), float(self._placed.gap_rates(y[None])[0, k])


class Meets:
    """The gap of open contact k [m] plus `below`, see `LEAN`."""

    def __init__(self, gaps: Gaps, k: int) -> None:
        self.gaps, self.k, self.below = gaps, k, float(gaps.below[k])

    def __call__(self, t: float, state: State) -> float:
        """Return the gap plus `below`: positive while the contact is open."""
        return self.gaps.at(self.k, state) + self.below

    def clear(self, t: Array, y: Array) -> Flags:
        """Return where the contact is open beyond rounding."""
        return self.gaps.clear(self.k, y)

    def may_leap(self, t: Array, y: Array, halfway: Array) -> Flags:
        """Return in which steps the contact may be closed and open again unseen."""
        return self.gaps.may_leap(self.k, t, y, halfway)

    def turn(self, start: float, end: float, at: Callable[[float], Array]) -> float | None:
        """Return a time between two at which the contact is closed, though it is open at both; None if there is none."""
        return turn_of(lambda now: self.gaps.measure(self.k, at(now)), start, end)


class ComesBack(Meets):
    """gap / (t - start) [m/s] for a contact that has bounced at `start` [s] with `rate` [m/s]: the zero at the start is divided out."""

    def __init__(self, gaps: Gaps, k: int, start: float, rate: float) -> None:
        super().__init__(gaps, k)
        self.start, self.rate = start, rate

    def __call__(self, t: float, state: State) -> float:
        """Return the quotient: positive while the contact is open."""
        return self.gaps.at(self.k, state) / (t - self.start) if t > self.start else self.rate


class NormalForces:
    """The normal forces of closed contacts, from the multipliers of a model."""

    def __init__(self, model: Model) -> None:
        self.model, self.pack = model, model.pack()
        self._state: State | None = None
        self._lam: Array | None = None
        self._seen: list[tuple[Array, Array]] = []

    def of(self, name: str, state: State) -> float:
        """Return the normal force of one closed contact [N]; all are solved for at once."""
        if state is not self._state or self._lam is None:
            code = accelerate_entry(self.pack, state.t, state.y)
            if code != 0:
                self.model.raise_user_error(self.pack)
                raise explain(self.model, self.pack, code, state.t)
            self._state, self._lam = state, self.model.lam_of(workspace_array(self.pack, "SOLUTION"))
        return -float(self._lam[self.model.joints[name].rows[0]])

    def over(self, name: str, t: Array, y: Array) -> Array:
        """Return the normal forces (n,) at flat states y (n, ny); NaN from the first state on that has no solution.

        Raise the error of a function of the user.
        """
        for states, lam in self._seen:
            if states is y:
                return -np.asarray(lam[:, self.model.joints[name].rows[0]])
        pack, x = self.model.pack(), np.zeros((len(t), workspace_array(self.pack, "SOLUTION").size))
        code, done = multipliers_entry(pack, t, y, x)
        pack.callback.keep_interruption(code)
        error = pack.callback.take_error()
        if error is not None:
            raise error
        lam = x.reshape(len(t), -1, 6)[:, self.model.nb + 1 :].reshape(len(t), -1)[:, self.model.slot_of_row]
        if code != 0:
            lam[done:] = np.nan
        self._seen = [*self._seen[-1:], (y, lam)]  # the ends of steps, and their middles
        return self.over(name, t, y)


class Pulls:
    """The normal force of a closed contact plus its slack [N]."""

    def __init__(self, name: str, forces: NormalForces, slack: float) -> None:
        self.name, self.forces, self.slack = name, forces, slack

    def __call__(self, t: float, state: State) -> float:
        """Return the normal force plus slack: positive while the contact presses."""
        return self.forces.of(self.name, state) + self.slack

    def clear(self, t: Array, y: Array) -> Flags:
        """Return where the contact presses beyond rounding."""
        return self.forces.over(self.name, t, y) > -0.5 * self.slack

    def may_leap(self, t: Array, y: Array, halfway: Array) -> Flags:
        """Return no step: the rate of a force is not known."""
        return np.zeros(len(halfway), dtype=np.bool_)

    def turn(self, start: float, end: float, at: Callable[[float], Array]) -> float | None:
        """Return no time: the rate of a force is not known."""
        return None


@dataclass(frozen=True)
class Turn(Event):
    """The event of a contact, whose function also takes many states at once."""

    function: Meets | Pulls

    of_law = True

    def clear(self, t: Array, y: Array) -> Flags:
        return self.function.clear(t, y)

    def may_leap(self, t: Array, y: Array, halfway: Array) -> Flags:
        return self.function.may_leap(t, y, halfway)

    def turn(self, start: float, end: float, at: Callable[[float], Array]) -> float | None:
        return self.function.turn(start, end, at)


def contact_events(
    model: Model,
    placed: Mapping[str, Placed],
    closed: Mapping[str, float],
    flying: Mapping[str, float],
    near: Mapping[str, float],
    t: float,
    sizes: Array,
) -> dict[str, Event]:
    """Return the terminal events of a smooth segment from time t [s], by contact.

    closed: slack of each closed contact [N];  flying: gap rates of those that have just bounced [m/s]
    near: how far others that touch may go below zero [m or rad];  sizes: (k,) of the contacts, see `ContactModes.sizes`
    """
    forces = NormalForces(model)
    gaps = Gaps(tuple(placed.values()), np.array([near.get(name, 0.0) for name in placed]), sizes)
    events: dict[str, Event] = {}
    for k, name in enumerate(placed):
        function: Meets | Pulls = Meets(gaps, k)
        if name in closed:
            function = Pulls(name, forces, closed[name])
        elif name in flying:
            function = ComesBack(gaps, k, t, flying[name])
        what = f"{name} {OPENS if name in closed else MEETS}"
        events[name] = Turn(what, function, direction=-1, terminal=True)
    return events
