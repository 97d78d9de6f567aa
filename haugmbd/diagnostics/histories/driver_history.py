r"""Drivers over time: what they prescribe, the force or torque that it takes, its power and its work.

    Phi = F(c(q)) - F(f(t))        c the driven coordinate (angle, displacement, distance),  F' = 1, of a distance 2 c
    tau = -lam F'                  on body j along +c, and the opposite on body i
    P   = tau f' = -lam nu         work: its integral along the steps of the run, see `work`

Source: Haug (2021), inverse dynamics of kinematically driven systems.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from haugmbd.compiled.array_types import Array
from haugmbd.deprecated import NamesMeant, public_class
from haugmbd.diagnostics.work import Work, moving_rows
from haugmbd.drivers.driver import Constant
from haugmbd.errors import UsageError
from haugmbd.model.labels import joint_named, no_such
from haugmbd.model.model import Model

FORCES = {"rad": ("torque", "rad", "N m"), "m": ("force", "m", "N"), "m2": ("force", "m", "N"), "1": ("torque", "1", "N m")}
"""By the unit of a row: what drives it, unit of the prescribed coordinate, unit of the force."""


@public_class
@dataclass(frozen=True, eq=False)
class DriverHistory(NamesMeant):
    """One driver over time.

    Attributes
    ----------
    driver : str
        Name of the driver, or of the joint with a driven row.
    t : ndarray, (nt,)
        Times [s].
    value, rate, acceleration : ndarray, (nt,)
        Prescribed coordinate f(t) and its derivatives: angle [rad], displacement or distance [m].
    torque : ndarray, (nt,)
        Torque [N m] of a driver of an angle, on body j about +h; positive along the coordinate.
    force : ndarray, (nt,)
        Force [N] of a driver of a displacement or a distance, on body j; positive along the coordinate.
    power : ndarray, (nt,)
        Power given to the bodies [W]: torque or force times rate.
    work : ndarray, (nt,)
        Integral of the power from the first state [J].
    unique : bool
        Whether torque or force are unique: False if redundant rows share the load of the driver.

    Notes
    -----
    A driver of a dot product has the torque against this product.
    """

    driver: str
    t: Array
    value: Array
    rate: Array
    acceleration: Array
    power: Array
    unique: bool
    unit: str
    _kind: str
    _force: Array
    _work: Callable[[], Array] = field(repr=False)

    @property
    def torque(self) -> Array:
        return self._value("torque")

    @property
    def force(self) -> Array:
        return self._value("force")

    @cached_property
    def work(self) -> Array:
        return self._work()

    @property
    def quantity(self) -> str:
        """Return "torque" or "force"."""
        return FORCES[self._kind][0]

    def _value(self, name: str) -> Array:
        """Return torque or force. UsageError if the driver has the other one."""
        if name != self.quantity:
            raise UsageError(f"driver {self.driver!r} has no {name}: it has .{self.quantity}.")
        return self._force

    def __repr__(self) -> str:
        return f"DriverHistory of {self.driver!r}: value [{self.unit}], {self.quantity}, power, work, {len(self.t)} states"


def driver_names(model: Model) -> tuple[str, ...]:
    """Return the names of joints that drive another joint, or have a driven row."""
    of_row = model.drivers_of_rows()
    driven = (
        entry.name
        for entry in model.joints.values()
        if entry.part.needs() or any(not isinstance(model.drivers[of_row[row]], Constant) for row in entry.rows.tolist())
    )
    return tuple(driven)


def driven_row(model: Model, name: str) -> int:
    """Return the driven row of a driver. Raise UsageError if there is no such driver, or if it has several driven rows."""
    names = driver_names(model)
    if name not in names:
        raise no_such("driver", name, names, {"result.joint": model.joints, "result.load": [e.load.name for e in model.loads]})
    return the_row(model, name)


def the_row(model: Model, name: str) -> int:
    """Return the row of a joint that a driver moves, or its only row. Raise UsageError if there are several, or no such joint."""
    rows, of_row = joint_named(model.joints, name).rows.tolist(), model.drivers_of_rows()
    moving = [row for row in rows if not isinstance(model.drivers[of_row[row]], Constant)] or rows
    if len(moving) != 1:
        raise UsageError(f"joint {name!r} has {len(moving)} driven rows: use its reaction instead.")
    return int(moving[0])


def driver_history(
    model: Model, t: Array, solutions: Callable[[], Array], work: Callable[[], Work], name: str, *, unique: bool
) -> DriverHistory:
    """Return one driver at the states of a motion at t (nt,); `solutions()` returns (u_dot, lam) by nodes there, (nt, nn, 6).

    work: returns the work of all loads and rows;  unique: whether the multiplier of its row is
    """
    row = driven_row(model, name)
    driver = model.drivers[model.drivers_of_rows()[row]]
    f = driver.values(t)
    kind = model.labels[row].unit
    _, unit, _ = FORCES[kind]
    force = _force(model, solutions(), row, f, kind)

    def work_of_row() -> Array:
        if isinstance(driver, Constant):
            return np.zeros(len(t))
        done: Array = work().driven[:, moving_rows(model).index(row)]
        return done

    value, rate, acceleration = (np.ascontiguousarray(f[:, k]) for k in range(3))
    return DriverHistory(name, t, value, rate, acceleration, force * rate, unique, unit, kind, force, work_of_row)


def driven_force(model: Model, t: Array, solutions: Array, name: str, quantity: str) -> Array:
    """Return the torque or force of a driver at t (nt,), (nt,), of the solutions (nt, nn, 6). UsageError if it has the other one."""
    row = driven_row(model, name)
    kind = model.labels[row].unit
    if FORCES[kind][0] != quantity:
        raise UsageError(f"driver {name!r} has no {quantity}: it has {FORCES[kind][0]!r}.")
    return _force(model, solutions, row, model.drivers[model.drivers_of_rows()[row]].values(t), kind)


def _force(model: Model, solutions: Array, row: int, f: Array, kind: str) -> Array:
    """Return -lam F' at the states of the solutions."""
    lam = solutions.reshape(len(solutions), -1)[:, 6 * (model.nb + 1) + model.slot_of_row[row]]
    force: Array = -lam * (2.0 * f[:, 0] if kind == "m2" else 1.0)
    return force
