r"""What every force element is made of: data, and one kernel that adds to the generalized forces.

    Q = (F, n_bar):   F global force [N] at the centre of mass,   n_bar torque about it, body frame [N m]
    a force F at the point s (global, from the centre of mass):   Q += (F, A^T (s x F))

Anything prescribed is a driver, as in the constraints: a number or a function of time is evaluated in compiled code.
What depends on the state is measured first (`measure` writes length or angle and its rate to a signal), then asked from the user's
callable, which writes its answer into the driver's place.
A new element is one file like `tsda.py` and one line in `catalogue.py`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import ClassVar

from haugmbd.algebra.jit import kernel
from haugmbd.algebra.vec3 import Array, Vec, cross, to_body
from haugmbd.body import Body
from haugmbd.drivers import Driver
from haugmbd.errors import Fault


class Load(ABC):
    """A force element.  Frozen data; `faults()` says what is wrong with it."""

    kind: ClassVar[str]
    signals: ClassVar[int] = 0
    """How many signals (a length or an angle, and its rate) it measures: 0 or 1."""
    angles: ClassVar[int] = 0
    """How many angles it integrates: 0 or 1."""

    def __init__(self, name: str) -> None:
        self.name = name

    @abstractmethod
    def bodies(self) -> tuple[Body, ...]:
        """The bodies it acts on."""

    def markers(self) -> tuple[tuple[Body, Array], ...]:
        """The points and vectors (body, x_bar (3,)) that the kernel reads, in its order."""
        return ()

    def drivers(self) -> tuple[Driver, ...]:
        """The prescribed functions of time that the kernel reads, in its order."""
        return ()

    def numbers(self) -> tuple[float, ...]:
        """The constants that the kernel reads."""
        return ()

    @abstractmethod
    def faults(self) -> tuple[Fault, ...]:
        """Everything that is wrong with this element alone."""

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.name!r})"


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
