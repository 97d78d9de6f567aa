"""The result of an impulse: velocities after it, multipliers by rows, impulses by joint and by contact, energies, and messages."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

import numpy as np

from haugmbd.compiled.array_types import Array
from haugmbd.deprecated import public_class
from haugmbd.diagnostics.joint_reactions import (
    COMPONENTS,
    Axes,
    SelfStresses,
    Side,
    at_joint_point,
    check_wrench_arguments,
    place_on,
    self_stresses,
    unique_components,
)
from haugmbd.diagnostics.violation import wrench_on_ground
from haugmbd.impacts.impulse_equations import RowSet
from haugmbd.impacts.struck_chains import Chain
from haugmbd.model.labels import JointEntry
from haugmbd.model.model import Model
from haugmbd.model.state import State


@public_class
@dataclass(frozen=True, eq=False)
class JointImpulse:
    """The impulse that a joint exerts on a body, at the joint's point on that body.

    Attributes
    ----------
    joint, body : str
        Names of the joint and of the body.
    frame : {"ground", "body", "joint"}
        Frame of the components; "joint" is the joint's frame on that body.
    force : array, shape (3,)
        Impulse [N s].
    torque : array, shape (3,)
        Angular impulse about `point` [N m s].
    point : array, shape (3,)
        Point of the joint, global frame [m].
    unique : tuple of 6 bool
        Whether each component is unique: force x, y, z, torque x, y, z in the same frame. A component that is not unique depends on how
        redundant rows of the model share the impulse; its value here is one choice of many.
    """

    joint: str
    body: str
    frame: str
    force: Array
    torque: Array
    point: Array
    unique: tuple[bool, ...] = (True,) * 6

    @property
    def shared(self) -> tuple[str, ...]:
        """Return the names of the components that are not unique, such as "force z"."""
        return tuple(name for name, unique in zip(COMPONENTS, self.unique, strict=True) if not unique)


class SolvedImpulse(NamedTuple):
    """Joints with their rows and multipliers."""

    joints: Mapping[str, JointEntry]
    rows: RowSet
    multipliers: Array

    def wrench(self, e: JointEntry, body: int, state: State) -> Array:
        """Return -C^T Lam over the rows of the joint, on one body: (impulse, global; angular impulse, body frame), (6,).

        A coupling of several moving bodies has no entry for the ground, which takes the opposite of what the others get.
        """
        bodies, wrenches = self.rows.bodies[e.rows], -self.multipliers[e.rows][:, None, None] * self.rows.C[e.rows]
        if body > 0 or (bodies[:, :2] == 0).any():
            return np.asarray(wrenches[bodies == body].sum(axis=0))
        others = np.unique(bodies[bodies > 0]).tolist()
        of_others = np.array([wrenches[bodies == other].sum(axis=0) for other in others]).reshape(1, len(others), 6)
        found: Array = wrench_on_ground(others, of_others, state.y[None])[0]
        return found


@public_class
@dataclass(frozen=True, eq=False)
class Impulse:
    """Velocities just after an impulse, and the impulses that were exchanged.

    Attributes
    ----------
    model : Model
        The compiled model.
    before, state : State
        The states before and after the impulse.
    v : array, shape (nb + 1, 3)
        Velocities of the centres of mass after the impulse, global frame [m/s].
    omega_bar : array, shape (nb + 1, 3)
        Angular velocities after the impulse, body frames [rad/s].
    Lam : array, shape (nc,)
        Impulsive multipliers of the rows of the model.
    normal : mapping of str to float
        Normal impulse of each contact [N s].
    tangential : mapping of str to array
        Friction impulse of each contact on its body j, global frame (3,) [N s]; {} of an impulse without friction.
    closed : mapping of str to array
        Impulsive multipliers of suddenly closed joints.
    energy_before, energy_after : float
        Kinetic energies [J].
    energy_change : float
        Kinetic energy after minus before [J].
    messages : tuple of str
        Remarks, such as dependent rows or contacts without an impulse.

    Notes
    -----
    M (u+ - u-) + Phi_q^T Lam = P + normal impulses.  Source: Haug 2021, sec. 11.3.
    """

    model: Model
    before: State
    state: State
    Lam: Array
    normal: Mapping[str, float]
    closed: Mapping[str, Array]
    energy_before: float
    energy_after: float
    messages: tuple[str, ...]
    _solved: tuple[SolvedImpulse, ...]
    _chain: Chain = Chain()
    tangential: Mapping[str, Array] = field(default_factory=dict)

    @property
    def v(self) -> Array:
        """Velocities of the centres of mass after the impulse, (nb + 1, 3), global frame [m/s]."""
        return self.state.v

    @property
    def omega_bar(self) -> Array:
        """Angular velocities after the impulse, (nb + 1, 3), body frames [rad/s]."""
        return self.state.omega_bar

    @property
    def energy_change(self) -> float:
        """Kinetic energy after minus before [J]."""
        return self.energy_after - self.energy_before

    def joint(self, name: str, *, on: Side = "j", frame: Axes = "ground") -> JointImpulse:
        """Return the impulse that a joint exerts on one of its bodies.

        Parameters
        ----------
        name : str
            A joint of the model, or one that has closed suddenly.
        on : {"j", "i"}
            The body.
        frame : {"ground", "body", "joint"}
            Frame of the components.

        Returns
        -------
        JointImpulse
            Impulse and angular impulse at the joint's point.

        Raises
        ------
        UsageError
            For an unknown joint, side or frame.
        """
        everything = {name: e for part in self._solved for name, e in part.joints.items()}
        check_wrench_arguments(everything, self.model.body_names, name, on, frame)
        e = everything[name]
        place = place_on(e, on, self.model.body_names)
        k = place.body
        part = next(part for part in self._solved if name in part.joints)
        r, p, wrench = self.state.r[k], self.state.p[k], part.wrench(e, k, self.state)
        found = at_joint_point(place, frame, r[None], p[None], wrench[None])
        unique = unique_components(self.model, self._stresses, e, on, frame) if part is self._solved[0] else (True,) * 6
        return JointImpulse(name, self.model.body_names[k], frame, found.force[0], found.torque[0], found.point[0], unique)

    @cached_property
    def _stresses(self) -> SelfStresses:
        """Multipliers of dependent rows that change no velocity, at the pose of the impulse."""
        return self_stresses(self.model, np.array([self.state.t]), self.state.y[None])

    def __repr__(self) -> str:
        return f"Impulse on {self.model.name!r} at t = {self.state.t:g} s: kinetic energy {self.energy_before:g} -> {self.energy_after:g} J"
