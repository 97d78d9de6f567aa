r"""The base class of force elements: data, and one kernel that adds to the generalized forces.

    Q = (F, n_bar):   F global force [N] at the centre of mass,   n_bar torque about it, body frame [N m]
    a force F at the point s (global, from the centre of mass):   Q += (F, A^T (s x F))

Prescribed values and values of a user's function are read from the driver table (see `value`). The arguments of such a function are
measured first: `measure` writes length or angle, and its rate, to a signal.
The energy ledger lists the power of each element:  d(T + V)/dt = applied - dissipated  summed over all elements (and driven joints).
A new element is one file like `tsda.py` and one entry in `registry.py`.
Source: Haug (2021), generalized forces and virtual work.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np

from haugmbd.bodies.body import Body
from haugmbd.bodies.frame import Frame
from haugmbd.bodies.part import Part, changed
from haugmbd.bodies.validation import numbers
from haugmbd.compiled.array_types import Array
from haugmbd.compiled.jit import kernel
from haugmbd.constraints.coordinate import Coordinate
from haugmbd.constraints.joint import Joint
from haugmbd.deprecated import public_class
from haugmbd.drivers import Driver, Expression
from haugmbd.errors import Fault, UsageError
from haugmbd.forces.derivatives.jacobian import Jacobian
from haugmbd.forces.derivatives.jacobian_check import disagreement
from haugmbd.forces.user_function import UserFunction, Value
from haugmbd.math import euler_parameters
from haugmbd.math.body_columns import EULER, OMEGA_BAR, VELOCITY, WIDTH
from haugmbd.math.vec3 import Vec, cross, to_body


class EnergyLedger(NamedTuple):
    """Energy of an element over time.

    Attributes
    ----------
    potential : ndarray, (nt,)
        Potential energy [J].
    dissipated, applied : ndarray, (nt,)
        Dissipated power (positive: lost) and applied power [W].
    """

    potential: Array
    dissipated: Array
    applied: Array


class LoadValues(NamedTuple):
    """The quantities of an element over time.

    Attributes
    ----------
    values : dict of str to ndarray, (nt, ...)
        By name: length [m], angle [rad], rate [m/s or rad/s], force [N], torque [N m], point [m]; those that the element has.
    power : ndarray, (nt,)
        Power that the element gives to the bodies [W].
    """

    values: dict[str, Array]
    power: Array


class TablePlaces(NamedTuple):
    """Where an element finds its data: numbers of markers, drivers, first signal, integrated angle, and angles of its coordinates.

    turns: the integrated angle of each coordinate of a joint, -1 for a displacement
    state: the first internal state among all numbers behind the bodies in y;  place: its line in the driver table;  -1 for none
    """

    markers: tuple[int, ...]
    drivers: tuple[int, ...]
    signal: int
    angle: int
    turns: tuple[int, ...]
    state: int = -1
    place: int = -1


class TableRow(NamedTuple):
    """A row of the force table: integers and constants."""

    ints: tuple[int, ...]
    numbers: tuple[float, ...]


@public_class
class ForceElement(Part):
    """Base class of force elements.

    Parameters
    ----------
    name : str
        Name of the element in messages and results.

    Notes
    -----
    A force element is frozen, but for the numbers in `variable`, which count when a model is compiled; `faults()` returns its faults. A
    subclass defines `bodies`, `arguments` and `ledger`, and its file has the kernel `add_forces`.
    Source: Haug (2021), generalized forces and virtual work.
    """

    kind: ClassVar[str] = "force element"
    signals: ClassVar[int] = 0
    """Number of signals (a length or a coordinate, and its rate) that the element measures."""
    angles: int = 0
    """Number of angles that the element integrates, 0 or 1, without those of `coordinates`; of a ContactForce that of its touch speeds."""
    variable: Mapping[str, tuple[tuple[int, ...], ...]] = MappingProxyType({})
    """The attributes that `varied` can change, each with its shapes; none by default."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.jacobian: Jacobian | None = None
        self._faults: tuple[Fault, ...] = ()

    @property
    def where(self) -> str:
        """Return the name in faults and errors: TSDA 'spring'."""
        return f"{self.kind} {self.name!r}"

    @abstractmethod
    def bodies(self) -> tuple[Body, ...]:
        """Return the bodies that the element acts on."""

    def parts(self) -> tuple[Body | Joint, ...]:
        """Return bodies and joints that the element adds to its system, such as the rotor of a motor."""
        return ()

    def built_on(self) -> tuple[tuple[Joint, str], ...]:
        """Return what of which joints the constructor has built into `parts`, where it stays: a batch cannot vary it."""
        return ()

    def coordinates(self) -> tuple[Coordinate, ...]:
        """Return the coordinates of joints that the kernel measures; the state integrates the angles among them, each once in a model."""
        return ()

    def needs(self) -> tuple[Joint, ...]:
        """Return joints that must be in the same system."""
        return ()

    def markers(self) -> tuple[tuple[Body, Array], ...]:
        """Return the points and vectors (body, x_bar (3,)) that the kernel reads, in its order."""
        return ()

    def points(self) -> dict[str, Frame]:
        """Return the points at which the element acts, by the ending of their names: ".i" and ".j", "" of a single one."""
        return {}

    def varied(self, **values: Any) -> Self:
        """Return the same element with other values of what is `variable`, for `batch`; bad values are collected in `faults()`.

        By default these are attributes that are numbers.
        """
        load = changed(self, **{name: float(x) for name, x in values.items()})
        load._faults = (*load._faults, *load.number_faults())
        return load

    def _set_again(self, name: str, value: object) -> None:
        """Set a value that is `variable`, for models that are compiled afterwards.

        Raise UsageError if it is not valid: the old one stays.
        """
        if name not in self.variable:
            self._refuse(name)
        given = numbers(value)
        if given is None or given.shape not in self.variable[name] or not np.isfinite(given).all():
            shapes = " or ".join(map(str, self.variable[name]))
            raise UsageError(f"{name} of {self.where} is set to {value!r}. Give finite numbers of shape {shapes}.")
        other = self.varied(**{name: given})
        for fault in other.faults():
            raise UsageError(f"{name} of {self.where} cannot be {value!r}: {fault.what}. {fault.remedy}")
        self.__dict__.update(vars(other))

    def number_faults(self) -> tuple[Fault, ...]:
        """Return the faults of the numbers that `varied` has set; none by default."""
        return ()

    def value(self) -> Value:
        """Return the prescribed value: force, torque or actuator."""
        return Value(())

    def drivers(self) -> tuple[Driver, ...]:
        """Return the drivers whose values the kernel reads, in its order."""
        return self.value().drivers

    def user_function(self) -> UserFunction | None:
        """Return the user's function that must be called at each evaluation; None if there is none."""
        return self.value().user_function

    def numbers(self) -> tuple[float, ...]:
        """Return the constants that the kernel reads."""
        return ()

    def table_rows(self, places: TablePlaces) -> tuple[TableRow, ...]:
        """Return the rows of the force table: markers, drivers, signals, angle, internal state and its line, and constants."""
        own = (places.state, places.place) if self.states() else ()
        ints = (*places.markers, *places.drivers, *([places.signal] * self.signals), *([places.angle] * self.angles), *own)
        return (TableRow(ints, self.numbers()),)

    def rows_of_bodies(self) -> tuple[tuple[Body, ...], ...]:
        """Return the bodies that each row acts on."""
        return (self.bodies(),)

    def angle0(self) -> float:
        """Return the initial value of the integrated angle [rad]."""
        return 0.0

    def angles0(self) -> tuple[float, ...]:
        """Return the initial values of what the element keeps in the state: `angles` numbers."""
        return (self.angle0(),) if self.angles else ()

    def modelled_angles(self) -> Array:
        """Return the integrated angles at the modelled pose as those of a trajectory of one instant: (1,), or (1, n) of coordinates."""
        return np.full(1, self.angle0())

    def states(self) -> tuple[float, ...]:
        """Return the initial values of the internal states x that the element integrates; () for none.

        The kernel finds, behind its other integers, the index of the first in `m.angles` and that of its line in the driver table:
        `workspace.internal_states` says what it writes there.
        """
        return ()

    @property
    def conservative(self) -> bool:
        """Return whether the force is the gradient of the potential that `registry.potential_of_loads` computes."""
        return False

    @property
    def keeps_energy(self) -> bool:
        """Return whether the force is the gradient of the potential in its `ledger`: a drift of the energy is the method's error then."""
        return self.conservative

    @abstractmethod
    def arguments(self, bodies: Array, angle: Array) -> tuple[Array, ...]:
        """Return the arguments of the user's function after t: arrays with nt rows.

        bodies: (n, nt, 13) states of its bodies, as in y;  angle: (nt,) its integrated angle [rad], or (nt, n) of its coordinates;  in
        place of it (nt, n) the internal states of an element that has some
        """

    @abstractmethod
    def ledger(self, t: Array, bodies: Array, angle: Array) -> EnergyLedger:
        """Return the energy ledger on a trajectory: t (nt,), bodies (n, nt, 13), angle (nt,)."""

    def quantities(self, t: Array, bodies: Array, angle: Array) -> LoadValues:
        """Return length, force, power, ... on a trajectory, as `ledger`; a subclass without its own has the power of its ledger alone.

        The rate of the potential is then its difference along the motion: [V(q + e u) - V(q - e u)] / 2 e.
        """
        balance = self.ledger(t, bodies, angle)
        e = DIFFERENCE / max(1.0, float(np.abs(bodies[..., VELOCITY:WIDTH]).max(initial=0.0)))
        ends = [self.ledger(t, moved(bodies, sign * e), angle).potential for sign in (1.0, -1.0)]
        return LoadValues({}, balance.applied - balance.dissipated - (ends[0] - ends[1]) / (2.0 * e))

    def faults(self) -> tuple[Fault, ...]:
        """Return all faults of this element alone.

        A function is called once at the modelled pose, and its jacobian is compared with differences there.
        """
        written = [driver for driver in self.drivers() if isinstance(driver, Expression)]
        found = tuple(Fault(self.where, fault.what, fault.remedy) for driver in written for fault in driver.faults())
        return self._faults or found or self.check_at(0.0)

    def warnings(self) -> tuple[str, ...]:
        """Return warnings of the model about an element that can be built but may be a mistake, one sentence each."""
        return ()

    def check_at(self, t: float) -> tuple[Fault, ...]:
        """Return the faults of the function's value at time t [s] at the modelled pose, and of the jacobian there and nearby."""
        user_function = self.user_function()
        if user_function is None:
            return ()
        arguments = [a[0] for a in self.arguments(modelled(self.bodies()), self.modelled_angles())]
        found = user_function.faults_at(t, *arguments)
        if found or self.jacobian is None:
            return found
        return self.jacobian.faults_at(t, *arguments) or disagreement(self.jacobian, t, arguments)

    def stopped_at(self, bodies: Array) -> str:
        """Return why the element has no force at states (n, 1, 13) of its bodies; "" if it has one."""
        return ""

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.name!r})"


DIFFERENCE = 6e-6
"""Motion [m or rad] over which a potential is differentiated: the cube root of rounding."""


def moved(bodies: Array, e: float) -> Array:
    """Return the states (n, nt, 13) moved for the time e at their velocities."""
    out = bodies.copy()
    out[..., 0:3] += e * bodies[..., VELOCITY:OMEGA_BAR]
    out[..., EULER:VELOCITY] += e * euler_parameters.p_dot_from(bodies[..., EULER:VELOCITY], bodies[..., OMEGA_BAR:WIDTH])
    return out


def modelled(bodies: tuple[Body, ...]) -> Array:
    """Return the modelled states of bodies as a trajectory of one instant, (n, 1, 13)."""
    return np.array([[[*body.r, *body.p, *body.v, *body.omega_bar]] for body in bodies])


def turned(states: Array, x_bar: Array) -> Array:
    """Return A x_bar along the states (nt, 13) of a body; x_bar (3,) or (nt, 3)."""
    A = euler_parameters.rotation_matrix(euler_parameters.normalized(states[:, EULER:VELOCITY]))
    return A @ x_bar if x_bar.ndim == 1 else np.einsum("tij,tj->ti", A, x_bar)


def point_motion(states: Array, s_bar: Array) -> tuple[Array, Array]:
    """Return position and velocity, global, (nt, 3) each, of the point s_bar along the states (nt, 13) of its body."""
    r, v, omega_bar = states[:, 0:3], states[:, VELOCITY:OMEGA_BAR], states[:, OMEGA_BAR:WIDTH]
    return r + turned(states, s_bar), v + turned(states, np.cross(omega_bar, s_bar))


@kernel
def add_force(Q: Array, A: Array, k: int, F: Vec, s: Vec) -> None:
    """Add the global force F at the point s (global, from the centre of mass of body k)."""
    Q[k, 0] += F[0]
    Q[k, 1] += F[1]
    Q[k, 2] += F[2]
    add_torque(Q, A, k, cross(s, F))


@kernel
def add_torque(Q: Array, A: Array, k: int, n: Vec) -> None:
    """Add the global torque n on body k."""
    n_bar = to_body(A, k, n)
    Q[k, 3] += n_bar[0]
    Q[k, 4] += n_bar[1]
    Q[k, 5] += n_bar[2]
