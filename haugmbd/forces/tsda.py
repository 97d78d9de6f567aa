r"""TSDA: translational spring-damper-actuator between two points.

    l = |d_ij|       l' = d_ij . d_ij' / l       e = d_ij / l
    f = k (l - l0) + c l' + f_a                  tension is positive:  +f e on body i, -f e on body j

    potential energy  k (l - l0)^2 / 2           power of the damper -c l'^2, of the actuator -f_a l'

Source: Haug sec. 11.2 (translational spring-damper-actuator).
"""

from __future__ import annotations

from math import sqrt
from typing import Any

from haugmbd.algebra.jit import kernel
from haugmbd.algebra.vec3 import Array, Ints, dot, scale
from haugmbd.body import Body
from haugmbd.checks import read_number
from haugmbd.drivers import Driver, as_driver
from haugmbd.errors import Fault
from haugmbd.forces.base import Load, add_force
from haugmbd.marker import Frame
from haugmbd.primitives.base import Motion, distance, distance_rate, value

P, Q_POINT, ACTUATOR, SIGNAL = 0, 1, 2, 3
K, C, L0 = 0, 1, 2


class TSDA(Load):
    """A spring, damper and actuator between two points.

    i, j: bodies;  point_i, point_j: its ends, global, at the modelled pose [m], (3,)
    k: stiffness [N/m];  c: damping [N s/m];  l0: free length [m]
    actuator: extra tension [N], a number or a function of t
    """

    kind = "TSDA"
    signals = 1

    def __init__(
        self,
        name: str,
        i: Body,
        j: Body,
        *,
        point_i: Any,
        point_j: Any,
        k: float = 0.0,
        c: float = 0.0,
        l0: float = 0.0,
        actuator: Any = 0.0,
    ) -> None:
        super().__init__(name)
        faults: list[Fault] = []
        where = f"TSDA {name!r}"
        self.frame_i = Frame.from_global(i, point_i)
        self.frame_j = Frame.from_global(j, point_j)
        self.k = read_number(faults, where, "k", k, unit="N/m")
        self.c = read_number(faults, where, "c", c, unit="N s/m")
        self.l0 = read_number(faults, where, "l0", l0, unit="m")
        self.actuator = as_driver(actuator)
        self._faults = tuple(faults)

    def bodies(self) -> tuple[Body, ...]:
        return (self.frame_i.body, self.frame_j.body)

    def markers(self) -> tuple[tuple[Body, Array], ...]:
        return ((self.frame_i.body, self.frame_i.s_bar), (self.frame_j.body, self.frame_j.s_bar))

    def drivers(self) -> tuple[Driver, ...]:
        return (self.actuator,)

    def numbers(self) -> tuple[float, ...]:
        return (self.k, self.c, self.l0)

    def faults(self) -> tuple[Fault, ...]:
        where = f"TSDA {self.name!r}"
        return (
            *self._faults,
            *self.frame_i.faults(where),
            *self.frame_j.faults(where),
            *(Fault(where, f.what, f.remedy) for f in self.actuator.faults()),
        )


@kernel
def measure(ints: Ints, floats: Array, m: Motion, signals: Array) -> None:
    """Write length and rate of every element to its signal."""
    for k in range(ints.shape[0]):
        d = distance(m, ints[k, P], ints[k, Q_POINT])
        length = sqrt(dot(d, d))
        signals[ints[k, SIGNAL], 0] = length
        signals[ints[k, SIGNAL], 1] = dot(d, distance_rate(m, ints[k, P], ints[k, Q_POINT])) / length


@kernel
def fill(ints: Ints, floats: Array, m: Motion, signals: Array, Q: Array) -> None:
    """Add the forces of all elements."""
    for k in range(ints.shape[0]):
        length, l_dot = signals[ints[k, SIGNAL], 0], signals[ints[k, SIGNAL], 1]
        f = floats[k, K] * (length - floats[k, L0]) + floats[k, C] * l_dot + m.F[ints[k, ACTUATOR], 0]
        i, j = m.body_of[ints[k, P]], m.body_of[ints[k, Q_POINT]]
        F = scale(f / length, distance(m, ints[k, P], ints[k, Q_POINT]))
        add_force(Q, m.A, i, F, value(m, ints[k, P]))
        add_force(Q, m.A, j, scale(-1.0, F), value(m, ints[k, Q_POINT]))
