r"""Springs and dampers of joints as files hold them: linear, counted from the modelled pose; and loads of joints that close loops."""

from __future__ import annotations

from collections.abc import Iterable

from haugmbd.constraints.joint import Joint
from haugmbd.errors import Fault
from haugmbd.forces.base import ForceElement, LinearSpring
from haugmbd.joints import CJ, RJ, TJ
from haugmbd.modelfile.exports.exported_parts import Exported
from haugmbd.modelfile.exports.limits import limit_of
from haugmbd.system.system import System


def plain_spring(load: ForceElement) -> LinearSpring | None:
    """Return the spring of a load on a hinge, without actuator, or along the coordinate of an RJ or a TJ; None for any other load."""
    spring = load.linear_spring()
    if spring is None or type(spring.joint) not in ((RJ, CJ) if spring.about_axis else (RJ, TJ)):
        return None
    return spring


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
