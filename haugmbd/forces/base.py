r"""What every force element is made of: data, and one kernel that adds to the generalized forces.

    Q = (F, n_bar):   F global force [N] at the centre of mass,   n_bar torque about it, body frame [N m]
    a force F at the point s (global, from the centre of mass):   Q += (F, A^T (s x F))

What is prescribed, or asked from a function of the user, is read from the driver table (see `values`).  What such a function
depends on is measured first: `measure` writes length or angle, and its rate, to a signal.
The ledger says where energy goes:  d(T + V)/dt = applied - dissipated  summed over all elements (and driven joints).
A new element is one file like `tsda.py` and one line in `catalogue.py`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import ClassVar, NamedTuple

import numpy as np

from haugmbd.bodies.body import Body
from haugmbd.compiled.array_types import Array
from haugmbd.compiled.jit import kernel
from haugmbd.constraints.joint import Joint
from haugmbd.deprecated import public_class
from haugmbd.drivers import Driver
from haugmbd.errors import Fault
from haugmbd.forces.jacobian import Jacobian
from haugmbd.forces.jacobian_check import disagreement
from haugmbd.forces.user_function import UserFunction, Value
from haugmbd.math import euler_parameters
from haugmbd.math.vec3 import Vec, cross, to_body


class EnergyLedger(NamedTuple):
    """The energy of an element over time: potential [J], dissipated power [W] (positive: lost), applied power [W], each (nt,)."""

    potential: Array
    dissipated: Array
    applied: Array


@public_class
class ForceElement(ABC):
    """A force element.  Frozen data; `faults()` says what is wrong with it."""

    kind: ClassVar[str]
    signals: ClassVar[int] = 0
    """How many signals (a length or an angle, and its rate) it measures: 0 or 1."""
    angles: ClassVar[int] = 0
    """How many angles it integrates: 0 or 1."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.jacobian: Jacobian | None = None
        self._faults: tuple[Fault, ...] = ()

    @property
    def where(self) -> str:
        """How faults and errors call it: TSDA 'spring'."""
        return f"{self.kind} {self.name!r}"

    @abstractmethod
    def bodies(self) -> tuple[Body, ...]:
        """The bodies it acts on."""

    def needs(self) -> tuple[Joint, ...]:
        """Joints that must be in the same system."""
        return ()

    def markers(self) -> tuple[tuple[Body, Array], ...]:
        """The points and vectors (body, x_bar (3,)) that the kernel reads, in its order."""
        return ()

    def value(self) -> Value:
        """What is prescribed or asked: force, torque or actuator."""
        return Value(())

    def drivers(self) -> tuple[Driver, ...]:
        """The places in the driver table that the kernel reads, in its order."""
        return self.value().drivers

    def question(self) -> UserFunction | None:
        """What has to be asked from a function of the user, if anything."""
        return self.value().question

    def numbers(self) -> tuple[float, ...]:
        """The constants that the kernel reads."""
        return ()

    def angle0(self) -> float:
        """The initial value of its integrated angle [rad]."""
        return 0.0

    @property
    def conservative(self) -> bool:
        """Whether all that it does is the gradient of its potential, which `registry.potential_of_loads` knows."""
        return False

    @abstractmethod
    def arguments(self, bodies: Array, angle: Array) -> tuple[Array, ...]:
        """What its function is asked about, beside t: arrays with nt rows.

        bodies: (n, nt, 13) states of its bodies, as in y;  angle: (nt,) its integrated angle [rad]
        """

    @abstractmethod
    def ledger(self, t: Array, bodies: Array, angle: Array) -> EnergyLedger:
        """Where its energy goes, on a trajectory: t (nt,), bodies (n, nt, 13), angle (nt,)."""

    def faults(self) -> tuple[Fault, ...]:
        """Everything that is wrong with this element alone; a function is tried once at the modelled pose, its jacobian held against it."""
        return self._faults or self.check_at(0.0)

    def check_at(self, t: float) -> tuple[Fault, ...]:
        """What is wrong with its function's answer at time t [s] at the modelled pose, and with the jacobian there and nearby."""
        question = self.question()
        if question is None:
            return ()
        arguments = [a[0] for a in self.arguments(modelled(self.bodies()), np.full(1, self.angle0()))]
        found = question.faults_at(t, *arguments)
        if found or self.jacobian is None:
            return found
        return self.jacobian.faults_at(t, *arguments) or disagreement(self.jacobian, t, arguments)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.name!r})"


def modelled(bodies: tuple[Body, ...]) -> Array:
    """The modelled states of bodies as a trajectory of one instant, (n, 1, 13)."""
    return np.array([[[*body.r, *body.p, *body.v, *body.omega_bar]] for body in bodies])


def turned(states: Array, x_bar: Array) -> Array:
    """A x_bar along the states (nt, 13) of a body; x_bar (3,) or (nt, 3)."""
    A = euler_parameters.rotation_matrix(euler_parameters.normalized(states[:, 3:7]))
    return A @ x_bar if x_bar.ndim == 1 else np.einsum("tij,tj->ti", A, x_bar)


def point_motion(states: Array, s_bar: Array) -> tuple[Array, Array]:
    """Position and velocity, global, (nt, 3) each, of the point s_bar along the states (nt, 13) of its body."""
    r, v, omega_bar = states[:, 0:3], states[:, 7:10], states[:, 10:13]
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
