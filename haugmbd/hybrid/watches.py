r"""What ends a smooth piece of the motion: an open contact that meets, a closed one that would pull.

    meets   gap = 0, falling                            of every open contact
    opens   normal force + slack = 0, falling           of every closed contact; slack: rounding of the force, see `rest`

A contact that has just bounced starts at gap = 0 and rises.  One that has just opened, or leans on others, may stay at rounding of
zero for a while: its gap must fall below -TOUCH.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from haugmbd.algebra.vec3 import Array
from haugmbd.formulations.face import accelerate_entry
from haugmbd.formulations.trouble import explain
from haugmbd.impact.contact import Placed
from haugmbd.integrators.events import Event, EventFunction
from haugmbd.model.model import Model
from haugmbd.model.state import State
from haugmbd.model.tables import room

TOUCH = 1e-10
"""Of the size [m]: a gap below it touches.  An event is located to 1e-13 s, so that gaps are 1e-13 m at 1 m/s."""
LEAN = 1e-12
"""Of the size [m]: how far a contact at rest may go below zero by rounding before it counts as met."""


class Meets:
    """The gap of an open contact [m], plus `below`, see `LEAN`."""

    def __init__(self, contact: Placed, below: float) -> None:
        self.contact, self.below = contact, below

    def __call__(self, t: float, state: State) -> float:
        """Positive while the contact is open."""
        return gap_of(self.contact, state) + self.below


class ComesBack:
    """gap / (t - start) [m/s] of a contact that has bounced at `start` [s] and rises with `rate` [m/s]: that zero is divided out."""

    def __init__(self, contact: Placed, start: float, rate: float) -> None:
        self.contact, self.start, self.rate = contact, start, rate

    def __call__(self, t: float, state: State) -> float:
        """Positive while the contact is open."""
        return gap_of(self.contact, state) / (t - self.start) if t > self.start else self.rate


class NormalForces:
    """The normal forces of closed contacts at a state, by the multipliers of a model."""

    def __init__(self, model: Model) -> None:
        self.model, self.pack = model, model.pack()
        self._state: State | None = None
        self._lam: Array | None = None

    def of(self, name: str, state: State) -> float:
        """The normal force of one closed contact [N]; all are solved for at once."""
        if state is not self._state or self._lam is None:
            code = accelerate_entry(self.pack, state.t, state.y)
            if code != 0:
                self.model.raise_user_error(self.pack)
                raise explain(self.model, self.pack, code, state.t)
            self._state, self._lam = state, self.model.lam_of(room(self.pack, "SOLUTION"))
        return -float(self._lam[self.model.joints[name].rows[0]])


class Pulls:
    """The normal force of a closed contact, and its slack [N]."""

    def __init__(self, name: str, forces: NormalForces, slack: float) -> None:
        self.name, self.forces, self.slack = name, forces, slack

    def __call__(self, t: float, state: State) -> float:
        """Positive while the contact presses."""
        return self.forces.of(self.name, state) + self.slack


def watches(
    model: Model,
    placed: Mapping[str, Placed],
    closed: Mapping[str, float],
    flying: Mapping[str, float],
    near: Mapping[str, float],
    t: float,
) -> dict[str, Event]:
    """The terminal events of a smooth piece from time t [s], by contact.

    closed: slack of each closed contact [N];  flying: gap rates of those that have just bounced [m/s]
    near: how far others that touch may go below zero [m]
    """
    forces = NormalForces(model)
    events = {}
    for name, contact in placed.items():
        function: EventFunction = Meets(contact, near.get(name, 0.0))
        if name in closed:
            function = Pulls(name, forces, closed[name])
        elif name in flying:
            function = ComesBack(contact, t, flying[name])
        what = f"{name} {'opens' if name in closed else 'meets'}"
        events[name] = Event(what, function, direction=-1, terminal=True)
    return events


def gap_of(c: Placed, state: State) -> float:
    """The gap [m] at one state, as `impact.contact.gaps`, in plain numbers: NumPy takes ten times as long for a few three-vectors."""
    (n0, n1, n2), (a0, a1, a2), (b0, b1, b2) = (
        _turned(state.p[k].tolist(), x.tolist()) for k, x in ((c.i, c.n_bar), (c.i, c.s_bar_i), (c.j, c.s_bar_j))
    )
    (i0, i1, i2), (j0, j1, j2) = state.r[c.i].tolist(), state.r[c.j].tolist()
    along: float = n0 * (j0 + b0 - i0 - a0) + n1 * (j1 + b1 - i1 - a1) + n2 * (j2 + b2 - i2 - a2)
    return along - c.radius


def _turned(p: Sequence[float], x: Sequence[float]) -> tuple[float, float, float]:
    """A x = x + 2 e x (e x x + e0 x) for Euler parameters p."""
    (e0, e1, e2, e3), (x1, x2, x3) = p, x
    w1, w2, w3 = e2 * x3 - e3 * x2 + e0 * x1, e3 * x1 - e1 * x3 + e0 * x2, e1 * x2 - e2 * x1 + e0 * x3
    return x1 + 2.0 * (e2 * w3 - e3 * w2), x2 + 2.0 * (e3 * w1 - e1 * w3), x3 + 2.0 * (e1 * w2 - e2 * w1)
