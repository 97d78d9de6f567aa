r"""What a motion with impacts has to say: one impact, and one contact over time."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from haugmbd.compiled.array_types import Array
from haugmbd.contact.joint_stop import limit_stops_of
from haugmbd.deprecated import public_class
from haugmbd.impacts.impulse_result import Impulse
from haugmbd.model.state import State


@public_class
@dataclass(frozen=True, eq=False)
class Impact:
    """One impact, at one contact or at several contacts at once.

    Attributes
    ----------
    t : float
        Time [s].
    impulse : Impulse
        The result of `mbd.impulse`; `impulse.joint(name)` returns the impulses of joints.
    contacts : tuple of str
        Contacts with an impulse.
    normal : mapping of str to float
        Their normal impulses [N s]; of the stop of an angle [N m s].
    tangential : mapping of str to array
        Their friction impulses on body j, global frame (3,) [N s].
    energy_lost : float
        Kinetic energy before less that after [J].
    before, after : State
        States just before and just after.
    energy_before, energy_after : float
        Kinetic energies [J].
    """

    t: float
    impulse: Impulse

    @property
    def contacts(self) -> tuple[str, ...]:
        """The contacts that have struck."""
        return tuple(self.normal)

    @property
    def normal(self) -> dict[str, float]:
        """The normal impulses of these contacts [N s]."""
        return {name: f for name, f in self.impulse.normal.items() if f > 0.0}

    @property
    def tangential(self) -> dict[str, Array]:
        """The friction impulses of these contacts on their bodies j, global frame (3,) [N s]; zero without friction."""
        return {name: np.asarray(self.impulse.tangential.get(name, np.zeros(3))) for name in self.normal}

    @property
    def energy_lost(self) -> float:
        """The kinetic energy that the impact takes [J]."""
        return self.energy_before - self.energy_after

    @property
    def before(self) -> State:
        """The state just before the impact."""
        return self.impulse.before

    @property
    def after(self) -> State:
        """The state just after the impact."""
        return self.impulse.state

    @property
    def energy_before(self) -> float:
        """Kinetic energy just before the impact [J]."""
        return self.impulse.energy_before

    @property
    def energy_after(self) -> float:
        """Kinetic energy just after the impact [J]."""
        return self.impulse.energy_after

    def __repr__(self) -> str:
        turning = {stop.name for stop in limit_stops_of(self.impulse.model.force_elements) if stop.coordinate.turns}
        units = {name: "N m s" if name in turning else "N s" for name in self.normal}
        return f"Impact at t = {self.t:g} s: {', '.join(f'{name!r} {f:.6g} {units[name]}' for name, f in self.normal.items())}"


@public_class
@dataclass(frozen=True, eq=False)
class ContactHistory:
    """One contact over time.

    Attributes
    ----------
    name : str
        Name of the contact.
    t : array, shape (nt,)
        Times [s].
    gap : array, shape (nt,)
        Gaps [m], [rad] of the stop of an angle.
    gap_rate : array, shape (nt,)
        Rates of the gap [m/s or rad/s].
    force : array, shape (nt,)
        Normal forces [N], [N m] of the stop of an angle; 0 while the contact is open.
    closed : boolean array, shape (nt,)
        True while the contact is closed.
    unique : boolean array, shape (nt,)
        False while contacts at rest share their load in many ways, such as the feet of a table: the force is then one choice of many, that
        of least norm, as of `mbd.impulse`.
    """

    name: str
    t: Array
    gap: Array
    gap_rate: Array
    force: Array
    closed: npt.NDArray[np.bool_]
    unique: npt.NDArray[np.bool_]
