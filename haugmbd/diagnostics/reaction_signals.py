r"""What joints carry, drivers take and bodies feel as signals of a run: for events, sensors and blocks.

    pin.force, pin.torque            -Phi_q^T lam of the rows of a joint on its body j, global, the torque about its point
    drive.torque, drive.force        -lam F' of a driven row, positive along the coordinate
    arm.acceleration                 v' of the centre of mass, global;   arm.angular_acceleration   omega_bar', body frame

All follow from M u' + Phi_q^T lam = Q, Phi_q u' = gamma at the state, solved for each value. Forces that depend on such a signal at the
same instant would be unknowns of these equations: the network refuses the loop by name. A Sampled block holds its values, and a block with
states passes them on through its states, so that there is no loop.
A part that is off carries nothing: zero.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any, TypeVar

import numpy as np

from haugmbd.bodies.validation import for_kernels
from haugmbd.compiled.array_types import Array
from haugmbd.contact.joint_stop import stops_of
from haugmbd.control.signals import DynamicSignal, JointSignal, LoadSignal, Scope
from haugmbd.diagnostics.histories import driven_force
from haugmbd.diagnostics.joint_reactions import at_joint_point, place_on, wrench_with_teeth
from haugmbd.diagnostics.load_history import load_history
from haugmbd.diagnostics.violation import JointWrenches
from haugmbd.errors import UsageError
from haugmbd.forces.joint_friction import JointFriction
from haugmbd.formulations.accelerations import solve_states
from haugmbd.math.body_columns import PARTS
from haugmbd.model.model import Model
from haugmbd.model.state import State
from haugmbd.workspace.layout import WIDTH, Pack

E = TypeVar("E", bound=Any)


class Dynamics:
    """The values of dynamic signals of one model, with a workspace of its own."""

    def __init__(self, model: Model) -> None:
        self.model = model
        self._pack: Pack | None = None
        self._known: tuple[float, bytes, Array] | None = None

    def __call__(self, t: float, y: Array, signal: DynamicSignal) -> Any:
        """Return the value of a signal at a flat state: a number, or (3,)."""
        model, part = self.model, signal.part
        value: Any
        if signal.kind == "body":
            columns = slice(0, 3) if signal.quantity == "acceleration" else slice(3, 6)
            value = self._solved(t, y)[0, model.body(part), columns]
        elif part not in model.joints:
            value = np.zeros(3) if signal.kind == "joint" else np.float64(0.0)
        elif signal.kind == "driver":
            value = driven_force(model, np.array([t]), y[None], self._solved(t, y), part, signal.quantity)[0]
        else:
            value = self._carried(t, y, part, signal.quantity)
        if signal.component is not None:
            return float(value[signal.component])
        return float(value) if signal.shape == () else value.copy()

    def _solved(self, t: float, y: Array) -> Array:
        """Return (u_dot, lam) by nodes, (1, nn, 6), solved once for a state."""
        key = (t, y.tobytes())
        if self._known is None or self._known[:2] != key:
            self._pack = self.model.pack() if self._pack is None else self._pack
            self._known = (*key, solve_states(self.model, np.array([t]), for_kernels(y[None].copy()), self._pack))
        return self._known[2]

    def _carried(self, t: float, y: Array, joint: str, quantity: str) -> Array:
        """Return the force or torque of a joint on its body j, (3,)."""
        model, times, states = self.model, np.array([t]), y[None]
        solved = self._solved(t, y)
        e = model.joints[joint]
        place = place_on(e, "j", model.body_names)
        wrench = wrench_with_teeth(JointWrenches(model, times, states, lambda: solved), e, place.body)
        r, p = (states[:, WIDTH * place.body + a : WIDTH * place.body + b] for a, b in PARTS[:2])
        found = at_joint_point(place, "ground", r, p, wrench)
        value: Array = getattr(found, quantity)[0]
        return value


def bind(model: Model) -> None:
    """Let the blocks of a model read what joints carry, by its equations of motion."""
    network = model.force_callbacks.network
    if network is not None and network.reads_dynamics:
        network.dynamics = Dynamics(model)


def _by_name(parts: Iterable[Any]) -> dict[str, Any]:
    """Return parts by their names."""
    return {part.name: part for part in parts}


class SignalFunction:
    """A quantity by its name as a function of (t, state), for events and sensors;  who: the part that reads it, in messages."""

    def __init__(self, model: Model, name: str, who: str, level: float | None = None) -> None:
        parts = model.parts
        joints = [entry.part for entry in model.joints.values()] if parts is None else parts.joints
        loads = model.force_elements if parts is None else parts.loads
        contacts = (*(model.contacts if parts is None else parts.contacts), *stops_of(loads))
        scope = Scope(_by_name(joints), _by_name(loads), {}, {}, _by_name(model.bodies), _by_name(contacts))
        found = scope.resolve(name)
        if isinstance(found, str):
            raise UsageError(f"{who}: {found}.")
        if isinstance(found, LoadSignal) and isinstance(found.load, JointFriction):
            raise UsageError(
                f"{who}: {name!r} is no function of the state while the joint sticks: its forces hold what they must. Read it from the "
                "result, or watch its events, such as 'NAME stops'."
            )
        if isinstance(found, JointSignal):
            raise UsageError(f"{who}: {name!r} is a coordinate: give JointCoordinate(system, {name.rsplit('.', 1)[0]!r}, ...).")
        self.signal, self.level, self.name = found, level, name
        self.model = model

    @property
    def model(self) -> Model:
        """The model of the structure in which the mechanism is."""
        return self._dynamics.model

    @model.setter
    def model(self, model: Model) -> None:
        self._dynamics = Dynamics(model)

    def __call__(self, t: float, state: State) -> Any:
        """Return the value; for an event the size of a vector, or the number, less the level."""
        value = self._value(t, state.y)
        if self.level is None:
            return value
        return float(np.linalg.norm(value) if np.ndim(value) else value) - self.level

    def _value(self, t: float, y: Array) -> Any:
        """Return the quantity; zero of a force element that is off."""
        if isinstance(self.signal, DynamicSignal):
            return self._dynamics(t, y, self.signal)
        assert isinstance(self.signal, LoadSignal)
        of, quantity = self.signal.load, self.signal.quantity
        if not any(entry.load is of for entry in self.model.loads):
            return 0.0
        return getattr(load_history(self.model, np.array([t]), y[None], of.name), quantity)[0]

    def __repr__(self) -> str:
        return f"SignalFunction({self.name!r})"


def with_signals(model: Model, events: Sequence[E]) -> tuple[E, ...]:
    """Return the events, those of a quantity by its name with a function of the model."""
    return tuple(
        replace(one, function=SignalFunction(model, one.function, f"event {one.name!r}", float(one.level)), level=0.0)
        if isinstance(one.function, str)
        else one
        for one in events
    )


def refuse_signals(model: Model, parts: Sequence[Any]) -> None:
    """Raise UsageError for events, sensors and blocks that read what joints carry, where contacts with friction act on the bodies."""
    network = model.force_callbacks.network
    of_network = () if network is None else tuple(network.scope.sensors.values())
    names = [str(one.function) for one in (*parts, *of_network) if isinstance(getattr(one, "function", None), str)]
    names += [] if network is None else [name for name, signal in network.signals.items() if isinstance(signal, DynamicSignal)]
    if names:
        raise UsageError(
            f"{', '.join(map(repr, dict.fromkeys(names)))} cannot be read in a run with rigid contacts that have friction: their forces "
            "are no function of the state alone. Read it from the result, or take contacts without friction, or compliant ones."
        )


def rebind(model: Model, parts: Sequence[Any]) -> None:
    """Let events and sensors read the quantities of another structure."""
    for part in parts:
        if isinstance(part.function, SignalFunction):
            part.function.model = model
