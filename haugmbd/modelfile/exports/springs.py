r"""Springs and dampers of joints as files hold them: linear, counted from the modelled pose; and loads of joints that close loops."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from haugmbd.constraints.joint import Joint
from haugmbd.drivers import Constant
from haugmbd.errors import Fault
from haugmbd.forces import RSDA, JointSpring
from haugmbd.forces.base import ForceElement
from haugmbd.joints import CJ, RJ, TJ
from haugmbd.modelfile.exports.exported_parts import Exported
from haugmbd.modelfile.exports.limits import limit_of
from haugmbd.system.system import System


class Spring(NamedTuple):
    """A linear spring and damper along the one coordinate of a joint, or about the axis of a CJ; rest: from the modelled pose."""

    joint: Joint
    k: float
    c: float
    rest: float


def plain_spring(load: ForceElement) -> Spring | None:
    """Return an RSDA on a hinge without actuator, or a linear JointSpring of an RJ or a TJ; None for any other load."""
    if isinstance(load, JointSpring):
        plain = load.characteristic is None and load.side == "both"
        return next(
            (Spring(q.joint, load.k, load.c, load.free - q.q0) for q in load.coordinates() if plain and type(q.joint) in (RJ, TJ)),
            None,
        )
    if not isinstance(load, RSDA) or type(load.joint) not in (RJ, CJ) or load.actuator.user_function is not None:
        return None
    if not all(isinstance(d, Constant) and d.value == 0.0 for d in load.actuator.drivers):
        return None
    return Spring(load.joint, load.k, load.c, load.theta0 - modelled_angle(load.joint))


def modelled_angle(joint: Joint) -> float:
    """Return the angle of a hinge at the modelled pose [rad]: that from f_i to f_j about h, and q0."""
    i, j = joint.frame_i.A, joint.frame_j.A
    return float(np.arctan2(i[:, 1] @ j[:, 0], i[:, 0] @ j[:, 0])) + joint.q0


def joints_with_loads(system: System | Exported) -> list[Joint]:
    """Return the joints that have a spring or a limit which a file can hold."""
    return [joint for load in system.loads if (joint := _joint_of(load)) is not None]


def loads_in_tree(system: System | Exported, cut: Iterable[Joint], remedy: str, faults: list[Fault]) -> list[ForceElement]:
    """Return the loads without those along joints that close loops, where a file holds none; faults for these."""
    closing, found = {id(joint) for joint in cut}, []
    for load in system.loads:
        joint = _joint_of(load)
        if joint is None or id(joint) not in closing:
            found.append(load)
        else:
            what = f"its joint {joint.name!r} closes a loop in the file, which holds no springs and no limits of such joints"
            faults.append(Fault(load.where, what, remedy))
    return found


def _joint_of(load: ForceElement) -> Joint | None:
    """Return the joint of a spring or a limit which a file can hold."""
    spring, stop = plain_spring(load), limit_of(load)
    return spring.joint if spring is not None else stop[0] if stop is not None else None
