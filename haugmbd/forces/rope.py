r"""Ropes that may be slack: elastic ones as a force, and rigid ones as a contact that only pulls.

    x = L(q) - L0(t)           L the length of the path, see `constraints.equations.rope`;  L0 the free length
    elastic       T = EA x / L0 + c L'  where x > 0 and the sum pulls, else 0             Q = -T dL/dq
                  potential energy  EA x^2 / (2 L0) where x > 0;  dissipated power  (T - EA x / L0) L'
    unilateral    L <= L0: no force; `simulate` treats the taut rope as a contact of gap L0 - L, see `contact.two_body_limits`

Source: Haug (2021), generalized forces and virtual work; Moreau (1988) for ropes that become taut.
"""

from __future__ import annotations

from types import MappingProxyType
from typing import Any

import numpy as np

from haugmbd.bodies.body import Body
from haugmbd.bodies.frame import Frame
from haugmbd.bodies.validation import read_number
from haugmbd.compiled.array_types import Array
from haugmbd.constraints.equations.rope import RopeRow
from haugmbd.constraints.joint import Joint
from haugmbd.drivers import Constant, Driver, as_driver
from haugmbd.errors import Fault
from haugmbd.forces.base import EnergyLedger, ForceElement, LoadValues, Mark
from haugmbd.math.body_columns import VELOCITY, WIDTH

START_TOL = 1e-9
"""Excess of the path over a rigid rope at the modelled pose, relative to it, that is rounding of typed numbers."""


def _content(row: RopeRow | None) -> Any:
    """Return groups and elements of a path as tuples, with names in place of bodies."""

    def plain(value: Any) -> Any:
        if isinstance(value, Body):
            return value.name
        return tuple(map(plain, value)) if isinstance(value, tuple) else value

    return None if row is None else (plain(row.groups), len(row.drums))


class SlackRope(ForceElement):
    """A rope that only pulls, made of the `Rope` of the joints that says its path: elastic with EA, else rigid.

    Parameters
    ----------
    rope : Joint
        The rope, whose row has the path.
    """

    kind = "Rope"
    variable = MappingProxyType({"EA": ((),), "c": ((),)})

    def __init__(self, rope: Joint) -> None:
        super().__init__(rope.name)
        (row,) = rope.primitives()
        self.rope: Any = rope
        own: Any = rope
        self.row = row if isinstance(row, RopeRow) else None
        faults, where, options = list(rope.faults()), self.where, own.slack
        self.impulsive = options.EA is None
        self.EA = 0.0 if options.EA is None else read_number(faults, where, "EA", options.EA, unit="N")
        self.c = read_number(faults, where, "c", options.c, unit="N s/m")
        self.restitution = read_number(faults, where, "restitution", options.restitution)
        self.free: Driver = self.row.f if self.row is not None else as_driver(0.0)
        if not self.impulsive and not self.EA > 0.0:
            faults.append(Fault(where, f"EA is {self.EA:g} N, must be positive", "Give Young's modulus times the section [N]."))
        if self.c < 0.0 or (self.impulsive and self.c != 0.0):
            faults.append(Fault(where, f"c is {self.c:g} N s/m", "Give the damping of an elastic rope, c >= 0, with EA."))
        if not 0.0 <= self.restitution <= 1.0 or (not self.impulsive and self.restitution != 0.0):
            what = f"restitution is {self.restitution:g}"
            faults.append(
                Fault(where, what, "Give 0 (no bounce) to 1 (no loss) of a rigid rope with unilateral=True, not with EA.")
            )
        if self.row is not None and not faults:
            faults.extend(self._own_faults())
        self._faults = tuple(faults)
        self._complete()

    def _own_faults(self) -> list[Fault]:
        """Return the faults of what a slack rope cannot have."""
        assert self.row is not None
        if self.row.drums:
            what = "it is wound on a drum, and may be slack: what is on the drum then is not known"
            return [Fault(self.where, what, "Leave EA and unilateral out, or let length=f(t) draw it in.")]
        if not self.impulsive:
            return []
        if not isinstance(self.free, Constant):
            what = "it is rigid, may be slack, and its length is a function of time"
            return [Fault(self.where, what, "Give a number, or EA= of an elastic rope.")]
        excess = self.rope.modelled_length - self.free.value
        if excess > START_TOL * self.free.value:
            what = f"its length is {self.free.value:.9g} m, {excess:.6g} m shorter than its path as modelled"
            return [Fault(self.where, what, "Give a longer rope, or model the bodies where it fits.")]
        return []

    def bodies(self) -> tuple[Body, ...]:
        return (self.rope.i, self.rope.j) if self.row is None else self.row.bodies()

    def needs(self) -> tuple[Joint, ...]:
        return tuple(self.rope.needs())

    def points(self) -> dict[str, Frame]:
        return {".i": self.rope.frame_i, ".j": self.rope.frame_j}

    def marks(self) -> tuple[Mark, ...]:
        """Return the pieces of the path as bars."""
        bar = {"k": 0.0, "c": 0.0, "l0": 0.0}
        pieces = [] if self.row is None else self.row.pieces()
        return tuple(Mark("TSDA", i, j, s_i, s_j, dict(bar)) for i, s_i, j, s_j in pieces)

    @property
    def modelled_length(self) -> float:
        return float(self.rope.modelled_length)

    def faults(self) -> tuple[Fault, ...]:
        return self._faults

    def number_faults(self) -> tuple[Fault, ...]:
        if self.EA > 0.0 or self.impulsive:
            return ()
        return (Fault(self.where, f"EA is {self.EA:g} N, must be positive", "Give Young's modulus times the section [N]."),)

    def forces(self, t: float, r: Array, p: Array, v: Array, omega_bar: Array) -> Array:
        """Return (F, n_bar) of each body: -T dL/dq."""
        if self.impulsive:
            return np.zeros((len(r), 6))
        assert self.row is not None
        states = np.hstack([r, p, v, omega_bar])[:, None]
        length, gradient = self.row.with_gradient(self.by_body(states))
        rate = float(np.sum(gradient[0] * np.hstack([v, omega_bar])))
        tension: Array = -self.tension(np.array([t]), length, np.array([rate]))[0] * gradient[0]
        return tension

    def tension(self, t: Array, length: Array, rate: Array) -> Array:
        """Return T [N], (nt,)."""
        free = self.free_length(t)
        x = length - free
        pull = self.EA * x / free + self.c * rate
        return np.where((x > 0.0) & (pull > 0.0), pull, 0.0)

    def free_length(self, t: Array) -> Array:
        """Return L0 [m], (nt,)."""
        found: Array = np.broadcast_to(np.asarray(self.free.values(t))[..., 0], np.shape(t))
        return found

    def by_body(self, bodies: Array) -> dict[Body, Array]:
        """Return the states (nt, 13) of all bodies of the path, the ground at rest."""
        found = dict(zip(self.bodies(), bodies, strict=True))
        assert self.row is not None
        for body in {body for body, _ in self.row.markers() if body.is_ground} - found.keys():
            found[body] = np.tile([*body.r, *body.p, *np.zeros(6)], (bodies.shape[1], 1))
        return found

    def length_and_rate(self, bodies: Array) -> tuple[Array, Array]:
        """Return length [m] and rate [m/s] of the path along states (n, nt, 13) of the bodies."""
        assert self.row is not None
        length, gradient = self.row.with_gradient(self.by_body(bodies))
        return length, np.einsum("tka,kta->t", gradient, bodies[:, :, VELOCITY:WIDTH])

    def ledger(self, t: Array, bodies: Array, angle: Array) -> EnergyLedger:
        length, rate = self.length_and_rate(bodies)
        free = self.free_length(t)
        x = np.maximum(length - free, 0.0)
        drawn = np.broadcast_to(np.asarray(self.free.values(t))[..., 1], np.shape(t))
        of_winch = -self.EA * drawn * (x / free + 0.5 * (x / free) ** 2)  # dV/dt at rest: V depends on L0(t)
        dissipated = (self.tension(t, length, rate) - self.EA * x / free) * rate
        return EnergyLedger(0.5 * self.EA * x**2 / free, dissipated, of_winch)

    @property
    def keeps_energy(self) -> bool:
        return self.c == 0.0 and isinstance(self.free, Constant)

    def law_content(self) -> tuple[Any, ...]:
        """Return the numbers of the rope and of its path, with names in place of bodies."""
        return type(self), self.EA, self.c, self.restitution, self.impulsive, self.free, _content(self.row)

    def quantities(self, t: Array, bodies: Array, angle: Array) -> LoadValues:
        """Return length, rate and force: the tension, positive where the rope pulls."""
        length, rate = self.length_and_rate(bodies)
        force = self.tension(t, length, rate)
        return LoadValues({"length": length, "rate": rate, "force": force}, -force * rate)
