r"""The base class of force elements: data, and one kernel that adds to the generalized forces.

    Q = (F, n_bar):   F global force [N] at the centre of mass,   n_bar torque about it, body frame [N m]
    a force F at the point s (global, from the centre of mass):   Q += (F, A^T (s x F))

Prescribed values and values of a user's function are read from the driver table (see `value`). The arguments of such a function are
measured first: `measure` writes length or angle, and its rate, to a signal.
The energy ledger lists the power of each element:  d(T + V)/dt = applied - dissipated  summed over all elements (and driven joints).
An element of the library is one file like `tsda.py`, with kernels over tables, and one entry in `registry.py`.  A class of the user has no
entry, and is open: it defines its law as a function of the states of its bodies, and everything here follows from that function.
Source: Haug (2021), generalized forces and virtual work.
"""

from __future__ import annotations

from abc import abstractmethod
from collections import Counter
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np

from haugmbd.bodies.body import Body
from haugmbd.bodies.frame import Frame
from haugmbd.bodies.part import CALL, Part, changed
from haugmbd.bodies.validation import numbers
from haugmbd.compiled.array_types import Array
from haugmbd.compiled.jit import kernel
from haugmbd.constraints.coordinate import Coordinate
from haugmbd.constraints.joint import Joint
from haugmbd.deprecated import public_class
from haugmbd.drivers import Constant, Driver, Expression
from haugmbd.drivers.driver import shown
from haugmbd.errors import Fault, UsageError
from haugmbd.forces.jacobian import Jacobian, disagreement
from haugmbd.forces.stops import Side
from haugmbd.forces.user_function import BODY, UserFunction, Value, arguments_needed, is_compiled, wrong_arguments
from haugmbd.math import euler_parameters
from haugmbd.math.body_columns import EULER, OMEGA_BAR, PARTS, VELOCITY, WIDTH
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


class Mark(NamedTuple):
    """What is drawn of an element: a line or a sign between a point of body i and one of body j, body frames [m].

    kind: what the page draws: "TSDA" a spring, damper or bar between the points, "Torque" a ring, others a sign
    look: numbers for the page
    """

    kind: str
    i: Body
    j: Body
    s_i: Array
    s_j: Array
    look: dict[str, Any]


class LinearSpring(NamedTuple):
    """A linear spring and damper along the one coordinate of a joint, or about its axis;  rest: free value, from the modelled pose."""

    joint: Joint
    k: float
    c: float
    rest: float
    about_axis: bool


class JointRange(NamedTuple):
    """A coordinate of a joint that is limited: its limits, and stiffness and damping of the stops, 0 of rigid ones."""

    coordinate: Coordinate
    lower: float
    upper: float
    k: float
    c: float


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
    """Base class of force elements, and of a law of one's own.

    Parameters
    ----------
    name : str
        Name of the element in messages and results.

    Notes
    -----
    A force of your own is a subclass, in a module, a script or a notebook. It needs no entry anywhere:

    1. `__init__(self, name, ...)` calls `super().__init__(name)` and keeps each argument under its own name: `self.k = k`. Arguments are
       bodies, joints, numbers, arrays, texts and functions; a saved file holds them, and the constructor is called with them again.
    2. `bodies()` returns the bodies that it acts on; the ground may be one.
    3. The law, one of two: `forces(self, t, r, p, v, omega_bar)`, a method in plain Python; or `kernel(t, r, p, v, omega_bar, x)`, a
       static method that `numba.njit` compiles, with the numbers x (k,) that `numbers()` returns. r (n, 3), p (n, 4), v (n, 3) and
       omega_bar (n, 3) are of the n bodies. It returns (n, 6), a row (F, n_bar) for each body: F global, at the centre of mass [N]; n_bar
       about it, body frame [N m]. It depends on its arguments alone, and is called many times a step.
    4. Energy, all optional: `potential(self, t, r, p)` [J]; `dissipated(self, t, r, p, v, omega_bar)` and `applied(...)` [W]. Without any
       of them all the power of the force is applied power; with one, those that are missing are zero.
    5. `tangent(self, t, r, p, v, omega_bar)`, optional: the derivative of a stiff law, as the `jacobian` of a `StateForce`. Without it
       implicit methods and `linearize` take differences.
    6. `variable`, optional: {"k": ((),), "point": ((3,),)}, the attributes that `batch` may vary, each with its shapes.
    7. `lines()`, optional: what is drawn, pairs of points (body, s_bar, body, s_bar); by default a line from each body to the next.
    8. `quantities(t, bodies, angle)`, optional: histories for `result.load(name)`; by default force and torque on each body.

    `mbd.verify(MyForce(...))` checks all of it: power against energy, the tangent, copies and files. What is missing or wrong is refused by
    name when the system is compiled. States of one's own are those of a `Block`; a force along joint coordinates is a `JointForce`.

    A force element is frozen, but for the numbers in `variable`, which count when a model is compiled; `faults()` returns its faults.
    Source: Haug (2021), generalized forces and virtual work.

    Examples
    --------
    >>> class Wind(mbd.ForceElement):
    ...     def __init__(self, name, body, *, c, speed):
    ...         super().__init__(name)
    ...         self.body, self.c, self.speed = body, c, speed
    ...
    ...     def bodies(self):
    ...         return (self.body,)
    ...
    ...     def forces(self, t, r, p, v, omega_bar):
    ...         return [[self.c * (self.speed - v[0, 0]), 0, 0, 0, 0, 0]]
    """

    kind: ClassVar[str] = "force element"
    reads_pose: ClassVar[bool] = True
    """Whether the constructor of an open class may read the modelled pose of its bodies: then none of them can be moved in a document."""
    signals: ClassVar[int] = 0
    """Number of signals (a length or a coordinate, and its rate) that the element measures."""
    angles: int = 0
    """Number of angles that the element integrates, 0 or 1, without those of `coordinates`; of a ContactForce that of its touch speeds."""
    variable: Mapping[str, tuple[tuple[int, ...], ...]] = MappingProxyType({})
    """The attributes that `varied` can change, each with its shapes; none by default."""
    forces: Any = None
    kernel: Any = None
    """The law of an open class: a method, or a compiled function."""
    potential: Any = None
    dissipated: Any = None
    applied: Any = None
    tangent: Any = None
    """Optional methods of an open class: its energy [J], its powers [W], and the derivative of its law."""
    jacobian: Jacobian | None = None
    _faults: tuple[Fault, ...] = ()
    is_friction: ClassVar[bool] = False
    """Whether the force depends on the multipliers: friction of a joint, which the formulations find."""
    is_contact: ClassVar[bool] = False
    """Whether its `angles` are speeds at touch, which jump, and the run has events of touch and release."""
    impulsive: bool = False
    """Whether it is a rigid stop, whose hits are impacts."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.jacobian = None
        self._faults = ()

    def __init_subclass__(cls) -> None:
        """Name an open class in messages by itself."""
        super().__init_subclass__()
        if cls.is_open() and "kind" not in vars(cls):
            cls.kind = cls.__name__

    @classmethod
    def is_open(cls) -> bool:
        """Return whether the class defines its own law, in place of kernels over tables that the registry knows."""
        return cls.forces is not None or cls.kernel is not None

    def _complete(self) -> None:
        """Take the tangent of an open class as its jacobian, before the element is frozen. Raise UsageError for bodies that are none."""
        bodies: Any = self.bodies() if self.is_open() else ()
        if not isinstance(bodies, tuple | list) or not all(isinstance(body, Body) for body in bodies):
            raise UsageError(f"{self.where}: bodies() returns {shown(bodies)}. Return a tuple of bodies: return (self.body,).")
        if self.is_open() and self.tangent is not None and not self.law_faults():
            self.jacobian = Jacobian(self.where, self.tangent, self.user_function())  # type: ignore[arg-type]

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

    def marks(self) -> tuple[Mark, ...]:
        """Return what is drawn; of an open class its `lines`."""
        if not self.is_open():
            return ()
        bar = {"k": 0.0, "c": 0.0, "l0": 0.0}
        return tuple(
            Mark("PointForce" if i is j else "TSDA", i, j, np.asarray(s_i), np.asarray(s_j), {} if i is j else bar)
            for i, s_i, j, s_j in self.lines()
        )

    def sides(self) -> tuple[Side, ...]:
        """Return the limits at which the force begins and ends; none by default."""
        return ()

    def linear_spring(self) -> LinearSpring | None:
        """Return the spring along one coordinate of a joint that it is, for other programs; None if it is not one."""
        return None

    def joint_range(self) -> JointRange | None:
        """Return the coordinate that it limits, with its limits, for other programs; None if it limits none."""
        return None

    def turn_markers(self) -> tuple[tuple[Body, Array], ...]:
        """Return e, n on body i and v on body j, between which the angle is that the state integrates; () without one."""
        return ()

    def given_angles(self) -> tuple[tuple[str, float], ...]:
        """Return the arguments that are angles [rad], by name; they are checked for degrees."""
        return ()

    @property
    def modelled_length(self) -> float:
        """Return the distance of its ends at the modelled pose [m]; 0 if it has none."""
        return 0.0

    @property
    def is_exact(self) -> bool:
        """Return whether it is friction that sticks."""
        return False

    @property
    def reads_reaction(self) -> bool:
        """Return whether it is friction that depends on what its joint carries."""
        return False

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
        """Return the drivers whose values the kernel reads, in its order: of an open class constants, its numbers."""
        if self.is_open():
            return tuple(map(Constant, self.numbers())) if self.kernel is not None else ()
        return self.value().drivers

    def user_function(self) -> UserFunction | None:
        """Return the user's function that must be called at each evaluation; None if there is none."""
        if not self.is_open():
            return self.value().user_function
        shape = (len(self.bodies()), 6)
        if self.kernel is None:
            return UserFunction(self.where, "forces", self.forces, BODY, shape)
        return UserFunction(self.where, "kernel", self.kernel, BODY, shape, tuple(map(float, self.numbers())))

    def numbers(self) -> tuple[float, ...]:
        """Return the constants that the kernel reads."""
        return ()

    def table_rows(self, places: TablePlaces) -> tuple[TableRow, ...]:
        """Return the rows of the force table: markers, drivers, signals, angle, internal state and its line, and constants."""
        if self.is_open():  # its numbers stand in the driver table
            return (TableRow((), ()),)
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
        return self.conservative or (self.is_open() and self.potential is not None and not (self.dissipated or self.applied))

    def arguments(self, bodies: Array, angle: Array) -> tuple[Array, ...]:
        """Return the arguments of the user's function after t, arrays with nt rows: by default the states r, p, v, omega_bar of the bodies.

        bodies: (n, nt, 13) states of its bodies, as in y;  angle: (nt,) its integrated angle [rad], or (nt, n) of its coordinates;  in
        place of it (nt, n) the internal states of an element that has some
        """
        rows = np.ascontiguousarray(np.swapaxes(bodies, 0, 1))
        return tuple(np.ascontiguousarray(rows[:, :, a:b]) for a, b in PARTS)

    def ledger(self, t: Array, bodies: Array, angle: Array) -> EnergyLedger:
        """Return the energy ledger on a trajectory: t (nt,), bodies (n, nt, 13), angle (nt,)."""
        states = self.arguments(bodies, angle)
        if self.potential is None and self.dissipated is None and self.applied is None:
            return EnergyLedger(np.zeros(len(t)), np.zeros(len(t)), self.forces_over_time(t, bodies, states).power)
        return EnergyLedger(
            self._over_time("potential", t, states[:2]),
            self._over_time("dissipated", t, states),
            self._over_time("applied", t, states),
        )

    def _over_time(self, method: str, t: Array, states: tuple[Array, ...]) -> Array:
        """Return the values of an optional method, (nt,); zeros if there is none. Raise SimulationError for a value that is no number."""
        function = getattr(self, method)
        if function is None:
            return np.zeros(len(t))
        law = UserFunction(self.where, method, function, BODY, ())
        return np.array([float(law.call(float(s), *(x[k].copy() for x in states))) for k, s in enumerate(t)])

    def forces_over_time(self, t: Array, bodies: Array, states: tuple[Array, ...]) -> LoadValues:
        """Return force and torque on each body, (nt, n, 3), at and about the centre of mass, global, of a law of states."""
        law = self.user_function()
        assert law is not None
        Q = np.array([law.call(float(s), *(x[k].copy() for x in states)) for k, s in enumerate(t)], dtype=np.float64)
        Q = Q.reshape(len(t), len(bodies), 6)
        u = np.swapaxes(bodies[:, :, VELOCITY:WIDTH], 0, 1)
        torque = np.stack([turned(body, Q[:, k, 3:]) for k, body in enumerate(bodies)], axis=1)
        return LoadValues({"force": Q[:, :, :3], "torque": torque}, np.sum(Q * u, axis=(1, 2)))

    def quantities(self, t: Array, bodies: Array, angle: Array) -> LoadValues:
        """Return length, force, power, ... on a trajectory, as `ledger`: of an open class force and torque on each body.

        A class of the library without its own has the power of its ledger alone: the rate of the potential is then its difference along the
        motion, [V(q + e u) - V(q - e u)] / 2 e.
        """
        if self.is_open():
            return self.forces_over_time(t, bodies, self.arguments(bodies, angle))
        balance = self.ledger(t, bodies, angle)
        e = DIFFERENCE / max(1.0, float(np.abs(bodies[..., VELOCITY:WIDTH]).max(initial=0.0)))
        ends = [self.ledger(t, moved(bodies, sign * e), angle).potential for sign in (1.0, -1.0)]
        return LoadValues({}, balance.applied - balance.dissipated - (ends[0] - ends[1]) / (2.0 * e))

    def lines(self) -> tuple[tuple[Body, Any, Body, Any], ...]:
        """Return what is drawn of an open class: pairs of points (body, s_bar, body, s_bar); by default from each body to the next."""
        bodies = self.bodies()
        centre = np.zeros(3)
        pairs = zip(bodies, bodies[1:], strict=False) if len(bodies) > 1 else [(body, body) for body in bodies]
        return tuple((i, centre, j, centre) for i, j in pairs)

    def law_content(self) -> tuple[Any, ...]:
        """Return what an open class computes its forces from: the class, and its attributes with names in place of bodies and joints."""
        return type(self), {name: _named(value) for name, value in sorted(vars(self).items()) if name not in ("jacobian", *PRIVATE)}

    def law_faults(self) -> tuple[Fault, ...]:
        """Return the faults of the class, and of the bodies, of an element with a law of its own; () of an element of the library."""
        return tuple(_law_faults(self)) if self.is_open() or not is_known(type(self)) else ()

    def faults(self) -> tuple[Fault, ...]:
        """Return all faults of this element alone.

        A function is called once at the modelled pose, and its jacobian is compared with differences there.
        """
        written = [driver for driver in self.drivers() if isinstance(driver, Expression)]
        found = tuple(Fault(self.where, fault.what, fault.remedy) for driver in written for fault in driver.faults())
        return self._faults or found or self.law_faults() or self.check_at(0.0)

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


PRIVATE = ("_is_made", "_faults", CALL)
"""Attributes that do not decide what an element does."""


def _named(value: Any) -> Any:
    """Return a value with names in place of bodies and joints."""
    if isinstance(value, Body | Joint):
        return value.name
    if isinstance(value, Frame):
        return value.body.name, value.s_bar, value.A_bar
    if isinstance(value, tuple | list):
        return tuple(map(_named, value))
    return {key: _named(x) for key, x in value.items()} if isinstance(value, dict) else value


KNOWN: list[type[ForceElement]] = []
"""Classes with kernels over tables, as the registry enters them."""
LAW = f"forces(self, {BODY})"
MEASURED = ("coordinates", "markers", "states", "table_rows", "value")
"""Methods for the kernels of the library alone: an open class that defines one would not be asked."""


def is_known(kind: type[ForceElement]) -> bool:
    """Return whether a class, or one that it inherits from, has kernels in the registry."""
    return any(base in KNOWN for base in kind.__mro__)


def _law_faults(load: ForceElement) -> list[Fault]:
    """Return the faults of an element that defines its own law, or should."""
    kind, where = type(load), load.where
    if not kind.is_open():
        what = f"its class {kind.__name__} has no law, and haugmbd has no kernel of it"
        return [Fault(where, what, f"Define {LAW} -> (n, 6) in the class, or use mbd.StateForce(name, bodies, force=).")]
    if is_known(kind):
        what = f"its class {kind.__name__} has a law of its own, and inherits the kernels of another one"
        return [Fault(where, what, "Derive it from mbd.ForceElement.")]
    if kind.forces is not None and kind.kernel is not None:
        return [Fault(where, f"its class {kind.__name__} defines both forces and kernel", "Define one of them.")]
    own = [name for name in MEASURED if getattr(kind, name) is not getattr(ForceElement, name)]
    own += [name for name in ("signals", "angles") if getattr(kind, name) is not getattr(ForceElement, name)]
    faults = [
        Fault(
            where,
            f"its class {kind.__name__} defines {name}, which laws of states do not use",
            _REMEDY_OF.get(name, f"Remove {name}."),
        )
        for name in own
    ]
    if faults:
        return faults
    return _signature_faults(load) or list(repeated_bodies(load.where, tuple(load.bodies())))


_REMEDY_OF = {
    "states": "Give the states to a mbd.Block, and a load its output.",
    "angles": "Give the states to a mbd.Block, and a load its output.",
    "coordinates": "Compute the coordinate from r and p, or use mbd.JointForce(name, joints, f).",
    "signals": "Compute the length from r and p, or use mbd.TSDA(..., actuator=).",
}


def _signature_faults(load: ForceElement) -> list[Fault]:
    """Return faults of the law and of optional methods that do not take their arguments, or of a kernel that is not compiled."""
    faults = []
    if load.kernel is not None and not is_compiled(load.kernel):
        remedy = "Write @staticmethod, @numba.njit, def kernel(...) in the class; or def forces(self, ...) for plain Python."
        return [Fault(load.where, f"its kernel is {shown(load.kernel)}, not a function of numba.njit", remedy)]
    forms = {"forces": BODY, "kernel": f"{BODY}, x", "potential": "t, r, p", "dissipated": BODY, "applied": BODY, "tangent": BODY}
    for name, form in forms.items():
        function: Callable[..., Any] | None = getattr(load, name)
        if function is None:
            continue
        needed = arguments_needed(function) if callable(function) else None
        if needed != len(form.split(",")):
            faults.append(wrong_arguments(load.where, name, needed, f"{name}({form})"))
    if load.kernel is not None:
        x = numbers(load.numbers())
        if x is None or x.ndim != 1 or not np.isfinite(x).all():
            faults.append(Fault(load.where, f"numbers() returns {shown(load.numbers())}", "Return a tuple of finite numbers."))
    return faults


def repeated_bodies(where: str, bodies: tuple[Body, ...]) -> tuple[Fault, ...]:
    """Return the faults of the list of bodies of a law: it is empty, or a body occurs more than once."""
    if not bodies:
        return (Fault(where, "it acts on no body", "Give the bodies that it acts on, in the order of the function's rows."),)
    first = {id(body): body for body in bodies}
    remedy = "Give each body once: its row holds all that acts on it."
    return tuple(
        Fault(where, f"body {first[key].name!r} occurs {n} times", remedy) for key, n in Counter(map(id, bodies)).items() if n > 1
    )


def sign_at(kind: str, i: Frame, j: Frame) -> Mark:
    """Return a sign at two frames, with the axes of the first one."""
    return Mark(kind, i.body, j.body, i.s_bar, j.s_bar, {"p_i": [float(x) for x in euler_parameters.from_rotation_matrix(i.A_bar)]})


def sign_on(kind: str, body: Body, s_bar: Array) -> tuple[Mark, ...]:
    """Return a sign at a point of a body."""
    return (Mark(kind, body, body, s_bar, s_bar, {}),)


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
