"""The quantities of one force element over time: length, rate, force, power, stored energy.

    TSDA     f = k (l - l0) + c l' + f_a               a positive force pulls the ends together       power to the bodies  -f l'
    RSDA     n = k (theta - theta0) + c theta' + n_a   a positive torque acts against theta                                -n theta'
    contact  normal force and friction of each point of contact                                            -N d' - |F| |v_t|
    others   force and torque on the bodies, global                                                                 F . v + n . omega
    work     int P dt along the steps of the run:  applied - dissipated - (V - V_0), the same numbers as in the energy of the result

Each class of elements says in `quantities` what it has.
Source: Haug (2021), generalized forces and virtual work.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from haugmbd.bodies.validation import read_only
from haugmbd.compiled.array_types import Array
from haugmbd.deprecated import NamesMeant, public_class
from haugmbd.diagnostics.work import Work, friction_over_time, own_states, with_known_outputs
from haugmbd.errors import UsageError
from haugmbd.forces.joint_friction import JointFriction
from haugmbd.model.compiling.loads import LoadEntry
from haugmbd.model.labels import named
from haugmbd.model.model import Model
from haugmbd.workspace.layout import WIDTH

UNITS = {
    "length": "m",
    "displacement": "m",
    "angle": "rad",
    "force": "N",
    "torque": "N m",
    "point": "m",
    "indentation": "m",
    "normal_force": "N",
    "friction_force": "N",
    "slip": "m/s",
    "limit": "N",
    "power": "W",
    "energy": "J",
}
UNITS |= {"coordinates": "rad or m", "rates": "rad/s or m/s", "forces": "N m or N"}
"""Units of the quantities; the rate has that of length or angle per second."""
VECTORS = ("force", "torque", "point")
"""Quantities whose last axis is x, y, z, if they are no numbers."""


@public_class
@dataclass(frozen=True, eq=False)
class LoadHistory(NamesMeant):
    """One force element over time; which quantities it has depends on its kind.

    Attributes
    ----------
    load, kind : str
        Name and class of the element.
    t : ndarray, (nt,)
        Times [s].
    power : ndarray, (nt,)
        Power that the element gives to the bodies [W].
    energy : ndarray, (nt,)
        Stored potential energy [J]; zero of elements that store none.
    work : ndarray, (nt,)
        Work given to the bodies since the first state [J], integrated along the steps of the run as in `result.energy()`.
    length, angle : ndarray, (nt,)
        Length of a TSDA [m]; angle of an RSDA, or of an element along a joint's angle [rad], through any number of turns.
    displacement : ndarray, (nt,)
        Coordinate of an element along a joint's displacement [m].
    rate : ndarray, (nt,)
        Rate of the length or angle [m/s or rad/s].
    force : ndarray, (nt,), (nt, 3) or (nt, n, 3)
        TSDA: force [N], positive if it pulls the ends together. Element along a joint's displacement: positive along it.
        PointForce: force, global. Bushing: on body j, global. StateForce: force on each of its bodies, global.
    torque : ndarray, (nt,), (nt, 3) or (nt, n, 3)
        RSDA: torque [N m], positive if it acts against the angle. Element along a joint's angle: positive along
        it. Torque: torque, global. Bushing: on body j, global. StateForce: torque on each of its bodies, global.
    coordinates, rates, forces : ndarray, (nt, n)
        JointForce of a list of joints: coordinates, their rates, and the forces along them.
    normal_force, limit : ndarray, (nt,)
        JointFriction: normal force [N]; largest friction at rest [N, or N m in a bearing].
    point : ndarray, (nt, 3)
        Point of application of a PointForce or Bushing, global [m].
    indentation : ndarray, (nt,) or (nt, k)
        ContactForce: depth of each of its k points of contact [m], negative where there is a gap. `rate` is its rate, `force` the whole
        force on body i, global, (nt, 3).
    normal_force, friction_force : ndarray, (nt,) or (nt, k)
        ContactForce: size of normal force and friction of each point [N].
    slip : ndarray, (nt,) or (nt, k)
        ContactForce: slip speed of each point [m/s]; 0 where there is a gap.

    Notes
    -----
    A quantity that the element does not have raises UsageError. States that are not finite have NaN.
    """

    load: str
    kind: str
    t: Array
    power: Array
    energy: Array
    _values: dict[str, Array]
    _coordinates: tuple[str, ...] = ()
    _bodies: tuple[str, ...] = ()
    _work: Callable[[], Array] | None = field(default=None, repr=False)

    @property
    def quantities(self) -> tuple[str, ...]:
        """Return the names of the quantities that the element has."""
        return (*self._values, "power", "energy")

    @cached_property
    def work(self) -> Array:
        if self._work is None:
            raise UsageError(f"load {self.load!r} ({self.kind}) has no work here: ask result.load({self.load!r}).work.")
        return self._work()

    @property
    def length(self) -> Array:
        return self._value("length")

    @property
    def angle(self) -> Array:
        return self._value("angle")

    @property
    def displacement(self) -> Array:
        return self._value("displacement")

    @property
    def coordinates(self) -> Array:
        return self._value("coordinates")

    @property
    def rates(self) -> Array:
        return self._value("rates")

    @property
    def forces(self) -> Array:
        return self._value("forces")

    @property
    def rate(self) -> Array:
        return self._value("rate")

    @property
    def force(self) -> Array:
        return self._value("force")

    @property
    def torque(self) -> Array:
        return self._value("torque")

    @property
    def limit(self) -> Array:
        return self._value("limit")

    @property
    def point(self) -> Array:
        return self._value("point")

    @property
    def indentation(self) -> Array:
        return self._value("indentation")

    @property
    def normal_force(self) -> Array:
        return self._value("normal_force")

    @property
    def friction_force(self) -> Array:
        return self._value("friction_force")

    @property
    def slip(self) -> Array:
        return self._value("slip")

    @property
    def _turns(self) -> bool:
        """Whether the friction is a torque alone."""
        return "torque" in self._values and "normal_force" in self._values and "force" not in self._values

    @property
    def stroke(self) -> float:
        """Return the largest less the smallest length [m] or angle [rad]."""
        length = next((self._values[name] for name in ("angle", "displacement") if name in self._values), None)
        length = self._value("length") if length is None else length
        finite = length[np.isfinite(length)]
        return float(np.ptp(finite)) if len(finite) else 0.0

    def unit(self, quantity: str) -> str:
        """Return the unit of a quantity."""
        if quantity == "rate":
            return "rad/s" if "angle" in self._values or self._turns else "m/s"
        if quantity == "limit" and self._turns:
            return "N m"
        return UNITS[quantity]

    def _value(self, name: str) -> Array:
        """Return a quantity. UsageError if the element does not have it."""
        if name not in self._values:
            has = ", ".join(f".{quantity}" for quantity in self.quantities)
            raise UsageError(f"load {self.load!r} ({self.kind}) has no {name}: it has {has}.")
        return self._values[name]

    def __repr__(self) -> str:
        return f"LoadHistory of {self.kind} {self.load!r}: {', '.join(self.quantities)}, {len(self.t)} states"


def columns_of(history: LoadHistory, quantity: str) -> dict[str, Array]:
    """Return the columns (nt,) of a quantity by name: axes, bodies and axes, coordinates of joints, or points of contact."""
    values: Array = getattr(history, quantity)
    if values.ndim == 1:
        return {quantity: values}
    if values.ndim > 2:  # noqa: PLR2004
        return {f"{body}, {axis}": values[:, n, k] for n, body in enumerate(history._bodies) for k, axis in enumerate("xyz")}
    if quantity in VECTORS:
        names: Sequence[str] = "xyz"
    elif quantity in ("coordinates", "rates", "forces"):
        names = history._coordinates
    else:
        names = [f"point {k}" for k in range(values.shape[1])]
    return {name: values[:, k] for k, name in enumerate(names)}


def load_named(model: Model, name: str) -> LoadEntry:
    """Return the force element of that name. Raise UsageError if there is none."""
    entries = {entry.load.name: entry for entry in model.loads}
    return named("load", name, entries, {"result.joint": model.joints})


def work_of_load(model: Model, done: Work, name: str, energy: Array) -> Array:
    """Return the work that a load gives to the bodies since the first state [J], (nt,);  energy: its potential energy V, (nt,)"""
    k = [entry.load.name for entry in model.loads].index(name)
    work: Array = done.applied[:, k] - done.dissipated[:, k] - (energy - energy[:1])
    return work


def load_history(model: Model, t: Array, y: Array, name: str, work: Callable[[], Work] | None = None) -> LoadHistory:
    """Return the quantities of a force element at the states y (nt, ny); functions of the user are called at the finite ones.

    work: returns the work of all loads and rows
    """
    entry = load_named(model, name)
    finite = np.isfinite(y).all(axis=1)
    some, n = y[finite], model.nb + 1
    bodies = np.swapaxes(some[:, : WIDTH * n].reshape(len(some), n, WIDTH), 0, 1)[list(entry.bodies)]
    if isinstance(entry.load, JointFriction):
        quantities = entry.load.values_of(*friction_over_time(model, t[finite], some)[name])
        energy = np.zeros(len(some))
    else:
        angle = own_states(model, entry, some)
        load = with_known_outputs(model, entry, t[finite], some)
        quantities = load.quantities(t[finite], bodies, angle)
        energy = load.ledger(t[finite], bodies, angle).potential
    values = {key: _spread(value, finite) for key, value in quantities.values.items()}
    coordinates, involved = tuple(q.label for q in entry.load.coordinates()), tuple(body.name for body in entry.load.bodies())
    power, energy = _spread(quantities.power, finite), _spread(energy, finite)

    def own_work() -> Array:
        assert work is not None
        return read_only(work_of_load(model, work(), name, energy))

    work_function = None if work is None else own_work
    return LoadHistory(name, entry.load.kind, t, power, energy, values, coordinates, involved, work_function)


def _spread(values: Array, finite: Any) -> Array:
    """Return the values of the finite states among all states, NaN at the others; read-only."""
    if len(values) == len(finite):
        return read_only(np.ascontiguousarray(values))
    out = np.full((len(finite), *values.shape[1:]), np.nan)
    out[finite] = values
    return read_only(out)
