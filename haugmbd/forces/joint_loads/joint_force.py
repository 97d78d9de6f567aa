r"""JointForce: forces along one or several coordinates of joints, as a function of all of them.

    Q += sum_k G_k^T f_k,      f = f(t, q, q')  one number for each coordinate, positive along it        power  sum_k f_k q_k'

Coordinates go through any number of turns: a cycle of 720 degrees of a crank is a periodic function of its angle.
Source: Haug (2021), generalized forces and virtual work.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from haugmbd.compiled.array_types import Array
from haugmbd.constraints.coordinate import Coordinate
from haugmbd.constraints.joint import Joint
from haugmbd.deprecated import public_class
from haugmbd.drivers import Driver
from haugmbd.errors import Fault, UsageError
from haugmbd.forces.jacobian import read_jacobian
from haugmbd.forces.joint_loads.joint_load import Along, JointLoad, sampled_forces, units_of
from haugmbd.forces.user_function import COORDINATE, Value, read_value


@public_class
class JointForce(JointLoad):
    """A force or torque along the coordinates of one or several joints, as a function of all of them.

    Parameters
    ----------
    name : str
        Name of the element in messages and results.
    joints : Joint, Coordinate, or sequence of them
        Joints of one freedom, such as RJ or TJ, or coordinates: `joint.coordinate("angle")`.
    f : float, callable, Driver, or sequence of numbers and drivers
        The forces [N or N m]: f(t, q, qd) with q and qd (n,) of a list of n joints returns n numbers; of a joint that is given alone,
        q, qd and the value are numbers. A Python function or an @njit function; or f(t), a number, a driver; of a list, one for each.
    jacobian : callable, optional
        Of a joint that is given alone, for implicit methods: jacobian(t, q, qd) -> (df/dq, df/dqd). Without it the methods use differences.

    Raises
    ------
    UsageError
        If joints are neither Joint nor Coordinate, or none. Other bad values are collected in `faults()`.

    Notes
    -----
    f_k is positive along q_k. A coordinate is positive as the joint's class says, is the joint's `q0` at the modelled pose, and goes
    through any number of turns. Work is f_k q_k' for each coordinate; potential energy is not counted.
    Source: Haug (2021), generalized forces and virtual work.
    """

    kind = "JointForce"

    def __init__(
        self, name: str, joints: Joint | Coordinate | Sequence[Joint | Coordinate], f: Any, *, jacobian: Any = None
    ) -> None:
        alone = isinstance(joints, Joint | Coordinate)
        given = (joints,) if isinstance(joints, Joint | Coordinate) else joints
        if not isinstance(given, tuple | list) or not given:
            raise UsageError(f"JointForce {name!r} needs a joint or a list of joints, got {joints!r:.200}.")
        super().__init__(name, given, alone)
        faults, unit = self._own, units_of(self._coordinates[0] if len(self._coordinates) == 1 else None)[1]
        shape = () if alone else (len(given),)
        if not alone and len(given) == 1 and isinstance(f, int | float | str | Driver):
            f = [f]
        self.f: Value = read_value(faults, self.where, "f", f, COORDINATE, shape, unit if alone else "N or N m")
        self.jacobian = read_jacobian(faults, self.where, "f", jacobian, self.f) if alone or jacobian is None else None
        if jacobian is not None and not alone:
            what = "it has a jacobian and a list of joints"
            faults.append(Fault(self.where, what, "Leave jacobian out: forces of several joints are differenced."))
        faults.extend(self._twice())
        self._faults = tuple(faults)

    def _twice(self) -> list[Fault]:
        """Return a fault for each coordinate that is given more than once."""
        labels = [q.label for q in self._coordinates]
        return [
            Fault(self.where, f"{label} is given {labels.count(label)} times", "Give each coordinate once.")
            for label in dict.fromkeys(labels)
            if labels.count(label) > 1
        ]

    def value(self) -> Value:
        return self.f

    @property
    def conservative(self) -> bool:
        return self.f.is_nothing

    def along(self, t: Array, q: Array, q_dot: Array) -> Along:
        force = sampled_forces(self.f, self.alone, t, q, q_dot)
        nothing = np.zeros(len(t))
        return Along(force, nothing, nothing, np.sum(force * q_dot, axis=1))
