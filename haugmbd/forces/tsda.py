r"""TSDA: translational spring-damper-actuator between two points.

    l = |d_ij|       l' = d_ij . d_ij' / l       e = d_ij / l
    f = k (l - l0) + c l' + f_a                  tension is positive:  +f e on body i, -f e on body j

    potential energy  k (l - l0)^2 / 2           dissipated power c l'^2         applied power -f_a l'

If the ends meet (l = 0), e and l' are those of their relative velocity: e = d' / |d'|, l' = |d'|; with l0 = 0 the force stays smooth.
Source: Haug (2021), generalized forces: translational spring-damper-actuator.
"""

from __future__ import annotations

from math import sqrt
from types import MappingProxyType
from typing import Any, Self

import numpy as np

from haugmbd.bodies.body import Body
from haugmbd.bodies.frame import Frame
from haugmbd.bodies.part import changed
from haugmbd.bodies.validation import read_number
from haugmbd.compiled.array_types import Array, Ints
from haugmbd.compiled.jit import kernel
from haugmbd.constraints.base import Motion, distance, distance_rate, value
from haugmbd.deprecated import public_class
from haugmbd.errors import Fault
from haugmbd.forces.base import EnergyLedger, ForceElement, LoadValues, Mark, add_force, modelled, point_motion
from haugmbd.forces.jacobian import read_jacobian
from haugmbd.forces.tangent import Tangents, add_pair, declared_stiffness, lever
from haugmbd.forces.user_function import LENGTH, Value, read_value
from haugmbd.math.vec3 import Vec, dot, scale

P, Q_POINT, ACTUATOR, SIGNAL = 0, 1, 2, 3
K, C, L0, SIGN = 0, 1, 2, 3

MEET_RTOL = 1e-12
"""Ends nearer than this, relative to their distance from the origin, are the same point; above the rounding of a point on two bodies."""


@public_class
class TSDA(ForceElement):
    """A translational spring, damper and actuator between two points.

    Parameters
    ----------
    name : str
        Name of the element in messages and results.
    i, j : Body
        The two bodies, or the ground.
    point_i, point_j : array_like, (3,)
        The ends on body i and on body j at the modelled pose, global frame [m].
    k : float
        Stiffness [N/m].
    c : float
        Damping [N s/m].
    l0 : float
        Free length [m]; required with k, because the modelled length is rarely the free one.
    actuator : float, callable or Driver
        Additional tension f_a [N]: a number, a function f(t), a driver, or a function f(t, l, l_dot); a Python function or an @njit
        function.
    jacobian : callable, optional
        Derivative of a stiff actuator, for implicit methods: jacobian(t, l, l_dot) -> (df/dl [N/m], df/dl_dot [N s/m]). Without it the
        methods use differences.

    Raises
    ------
    UsageError
        If i or j is not a Body. Other bad values are collected in `faults()`.

    Notes
    -----
    f = k (l - l0) + c l' + f_a; a positive f is tension: it pulls the ends together, unlike that of a
    LinearActuator, which is positive along the length.
    The jacobian is compared with differences when the system is compiled.
    Source: Haug (2021), generalized forces: translational spring-damper-actuator.
    """

    kind = "TSDA"
    signals = 1
    sign = 1.0
    """Sign of the actuator in the tension: -1 of a LinearActuator."""
    variable = MappingProxyType({"k": ((),), "c": ((),), "l0": ((),), "point_i": ((3,),), "point_j": ((3,),)})

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
        l0: float | None = None,
        actuator: Any = 0.0,
        jacobian: Any = None,
    ) -> None:
        super().__init__(name)
        faults: list[Fault] = []
        self.frame_i = Frame.from_global(i, point_i)
        self.frame_j = Frame.from_global(j, point_j)
        faults.extend((*self.frame_i.faults(self.where), *self.frame_j.faults(self.where)))
        self.k = read_number(faults, self.where, "k", k, unit="N/m")
        self.c = read_number(faults, self.where, "c", c, unit="N s/m")
        self.l0 = 0.0 if l0 is None else read_number(faults, self.where, "l0", l0, unit="m")
        self.actuator = read_value(faults, self.where, "actuator", actuator, LENGTH, (), "N")
        self.jacobian = read_jacobian(faults, self.where, "actuator", jacobian, self.actuator)
        self._faults = (*faults, *self._geometry_faults(l0))

    def _geometry_faults(self, l0: float | None) -> tuple[Fault, ...]:
        """Return a fault for a spring without a free length, ends on the same body, or a free length without a direction."""
        found = []
        if self.k != 0.0 and l0 is None:
            remedy = "Give l0= [m]; l0=0 is a spring that pulls its ends together."
            found.append(Fault(self.where, f"k is {self.k} N/m, but there is no free length l0", remedy))
        if self.l0 < 0.0:
            found.append(Fault(self.where, f"l0 is {self.l0} m, must not be negative", "Give the free length [m]."))
        if self.frame_i.body is self.frame_j.body:
            what = f"both ends are on body {self.frame_i.body.name!r}"
            found.append(Fault(self.where, what, "Give two different bodies; the ground is one, too."))
        x_i, x_j = self.frame_i.point, self.frame_j.point
        if self.k * self.l0 != 0.0 and np.linalg.norm(x_j - x_i) <= MEET_RTOL * np.linalg.norm(x_i):
            what = f"its ends coincide at the modelled pose, where a free length of {self.l0} m has no direction"
            found.append(Fault(self.where, what, "Move one of the points, or give l0=0."))
        return tuple(found)

    def varied(self, **values: Any) -> Self:
        load = super().varied(**{name: x for name, x in values.items() if name in ("k", "c", "l0")})
        for side in "ij":
            if f"point_{side}" in values:
                body = getattr(self, f"frame_{side}").body
                load = changed(load, **{f"frame_{side}": Frame.from_global(body, values[f"point_{side}"])})
        load._faults = load.number_faults()
        return load

    def number_faults(self) -> tuple[Fault, ...]:
        return self._geometry_faults(self.l0)

    def bodies(self) -> tuple[Body, ...]:
        return (self.frame_i.body, self.frame_j.body)

    def markers(self) -> tuple[tuple[Body, Array], ...]:
        return ((self.frame_i.body, self.frame_i.s_bar), (self.frame_j.body, self.frame_j.s_bar))

    def points(self) -> dict[str, Frame]:
        return {".i": self.frame_i, ".j": self.frame_j}

    def marks(self) -> tuple[Mark, ...]:
        i, j = self.frame_i, self.frame_j
        return (Mark("TSDA", i.body, j.body, i.s_bar, j.s_bar, {"k": self.k, "c": self.c, "l0": self.l0}),)

    def value(self) -> Value:
        return self.actuator

    def numbers(self) -> tuple[float, ...]:
        return (self.k, self.c, self.l0, self.sign)

    @property
    def modelled_length(self) -> float:
        """Return the distance of the ends at the modelled pose [m]."""
        return float(self.arguments(modelled(self.bodies()), np.zeros(1))[0][0])

    @property
    def conservative(self) -> bool:
        return self.c == 0.0 and self.actuator.is_nothing

    def arguments(self, bodies: Array, angle: Array) -> tuple[Array, ...]:
        (x_i, v_i), (x_j, v_j) = point_motion(bodies[0], self.frame_i.s_bar), point_motion(bodies[1], self.frame_j.s_bar)
        d, d_dot = x_j - x_i, v_j - v_i
        length = np.linalg.norm(d, axis=1)
        met = length == 0.0
        l_dot = np.where(met, np.linalg.norm(d_dot, axis=1), np.sum(d * d_dot, axis=1) / np.where(met, 1.0, length))
        return length, l_dot

    def ledger(self, t: Array, bodies: Array, angle: Array) -> EnergyLedger:
        length, l_dot = self.arguments(bodies, angle)
        f_a = self.actuator.sampled(t, length, l_dot)
        return EnergyLedger(0.5 * self.k * (length - self.l0) ** 2, self.c * l_dot**2, -f_a * l_dot)

    def quantities(self, t: Array, bodies: Array, angle: Array) -> LoadValues:
        """Return length, rate and force; a positive force pulls the ends together."""
        length, l_dot = self.arguments(bodies, angle)
        force = self.k * (length - self.l0) + self.c * l_dot + self.actuator.sampled(t, length, l_dot)
        return LoadValues({"length": length, "rate": l_dot, "force": force}, -force * l_dot)


@kernel
def direction(m: Motion, P: int, Q: int) -> tuple[float, float, Vec]:
    """Return length, its rate, and the unit vector from P to Q."""
    d, d_dot = distance(m, P, Q), distance_rate(m, P, Q)
    length = sqrt(dot(d, d))
    if length > 0.0:
        e = scale(1.0 / length, d)
        return length, dot(e, d_dot), e
    speed = sqrt(dot(d_dot, d_dot))
    return 0.0, speed, scale(1.0 / speed if speed > 0.0 else 0.0, d_dot)


@kernel
def measure(ints: Ints, floats: Array, first: int, last: int, m: Motion, signals: Array) -> None:
    """Write length and rate of every element to its signal."""
    for k in range(first, last):
        length, l_dot, _ = direction(m, ints[k, P], ints[k, Q_POINT])
        signals[ints[k, SIGNAL], 0] = length
        signals[ints[k, SIGNAL], 1] = l_dot


@kernel
def potential(ints: Ints, floats: Array, first: int, last: int, m: Motion) -> float:
    """Return the potential energy of all elements."""
    total = 0.0
    for k in range(first, last):
        length, _, _ = direction(m, ints[k, P], ints[k, Q_POINT])
        total += 0.5 * floats[k, K] * (length - floats[k, L0]) ** 2
    return total


@kernel
def add_forces(ints: Ints, floats: Array, first: int, last: int, m: Motion, Q: Array) -> None:
    """Add the forces of all elements."""
    for k in range(first, last):
        length, l_dot, e = direction(m, ints[k, P], ints[k, Q_POINT])
        f = floats[k, K] * (length - floats[k, L0]) + floats[k, C] * l_dot + floats[k, SIGN] * m.F[ints[k, ACTUATOR], 0]
        add_force(Q, m.A, m.body_of[ints[k, P]], scale(f, e), value(m, ints[k, P]))
        add_force(Q, m.A, m.body_of[ints[k, Q_POINT]], scale(-f, e), value(m, ints[k, Q_POINT]))


@kernel
def add_tangent(ints: Ints, floats: Array, first: int, last: int, m: Motion, T: Tangents) -> None:
    """Add c_K K + c_C C of all elements; declared derivatives of the actuators count as stiffness and damping."""
    for k in range(first, last):
        P_i, P_j = ints[k, P], ints[k, Q_POINT]
        i, j = m.body_of[P_i], m.body_of[P_j]
        length, l_dot, e = direction(m, P_i, P_j)
        f = floats[k, K] * (length - floats[k, L0]) + floats[k, C] * l_dot + floats[k, SIGN] * m.F[ints[k, ACTUATOR], 0]
        s_i, s_j = value(m, P_i), value(m, P_j)
        along = T.c_K * floats[k, K] + T.c_C * floats[k, C] + floats[k, SIGN] * declared_stiffness(T, k)
        across = T.c_K * f / length if f > 0.0 and length > 0.0 else 0.0
        add_pair(T, k, i, j, along - across, lever(m.A, i, e, s_i), lever(m.A, j, e, s_j))
        if across > 0.0:
            for a in range(3):
                x = (1.0 if a == 0 else 0.0, 1.0 if a == 1 else 0.0, 1.0 if a == 2 else 0.0)
                add_pair(T, k, i, j, across, lever(m.A, i, x, s_i), lever(m.A, j, x, s_j))
