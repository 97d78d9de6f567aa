r"""LinearActuator: a force between two points that pushes them apart, such as a hydraulic cylinder or a spindle drive.

    l = |d_ij|       e = d_ij / l       -f e on body i,  +f e on body j         applied power  f l'

It is the actuator of a TSDA with the other sign: positive along the length.
Source: Haug (2021), generalized forces: translational spring-damper-actuator.
"""

from __future__ import annotations

from types import MappingProxyType
from typing import Any

import numpy as np

from haugmbd.bodies.body import Body
from haugmbd.compiled.array_types import Array
from haugmbd.deprecated import public_class
from haugmbd.errors import Fault
from haugmbd.forces.base import EnergyLedger, LoadValues
from haugmbd.forces.jacobian import read_jacobian
from haugmbd.forces.tsda import MEET_RTOL, TSDA
from haugmbd.forces.user_function import LENGTH, read_value


@public_class
class LinearActuator(TSDA):
    """A force between two points along the line between them, positive where it pushes them apart.

    Parameters
    ----------
    name : str
        Name of the element in messages and results.
    i, j : Body
        The two bodies, or the ground.
    point_i, point_j : array_like, (3,)
        The ends on body i and on body j at the modelled pose, global frame [m].
    force : float, callable or Driver
        The force f [N], positive along the length: a number, a function f(t), a driver, or a function f(t, l, l_dot); a Python function or
        an @njit function.
    jacobian : callable, optional
        Derivative of a stiff force, for implicit methods: jacobian(t, l, l_dot) -> (df/dl [N/m], df/dl_dot [N s/m]). Without it the methods
        use differences.

    Raises
    ------
    UsageError
        If i or j is not a Body. Other bad values are collected in `faults()`.

    Notes
    -----
    A positive force makes the length grow; the actuator of a TSDA has the other sign.
    Source: Haug (2021), generalized forces: translational spring-damper-actuator.
    """

    kind = "LinearActuator"
    variable = MappingProxyType({})
    sign = -1.0

    def __init__(self, name: str, i: Body, j: Body, *, point_i: Any, point_j: Any, force: Any, jacobian: Any = None) -> None:
        super().__init__(name, i, j, point_i=point_i, point_j=point_j)
        faults = list(self._faults)
        self.actuator = read_value(faults, self.where, "force", force, LENGTH, (), "N")
        self.jacobian = read_jacobian(faults, self.where, "force", jacobian, self.actuator)
        x_i, x_j = self.frame_i.point, self.frame_j.point
        if not faults and np.linalg.norm(x_j - x_i) <= MEET_RTOL * np.linalg.norm(x_i):
            what = "its ends coincide at the modelled pose, where its force has no direction"
            faults.append(Fault(self.where, what, "Move one of the points; a JointForce acts along the coordinate of a joint."))
        self._faults = tuple(faults)

    def ledger(self, t: Array, bodies: Array, angle: Array) -> EnergyLedger:
        length, l_dot = self.arguments(bodies, angle)
        nothing = np.zeros(len(t))
        return EnergyLedger(nothing, nothing, self.actuator.sampled(t, length, l_dot) * l_dot)

    def quantities(self, t: Array, bodies: Array, angle: Array) -> LoadValues:
        """Return length, rate and force; a positive force pushes the ends apart."""
        length, l_dot = self.arguments(bodies, angle)
        force = self.actuator.sampled(t, length, l_dot)
        return LoadValues({"length": length, "rate": l_dot, "force": force}, force * l_dot)
