r"""Joints that close loops and couplings, as equalities of MuJoCo.

SJ connect;  Fixed weld;  RJ two connects on its axis;  Coupling, Gear, RackPinion, Screw, Belt of one or two coordinates: joint
"""

from __future__ import annotations

from haugmbd.constraints.coordinate import Coordinate
from haugmbd.constraints.joint import Joint
from haugmbd.errors import Fault
from haugmbd.joints import CJ, RJ, SJ, TJ, UJ, CoordinateFunction, Coupling, Fixed, Planar
from haugmbd.math import euler_parameters
from haugmbd.modelfile.exports import Branch, Exported, constant_terms, element, numbers
from haugmbd.system.system import System

REMEDY = "Leave it out with leave_out=True, or save the system as .json."


def equality(system: System | Exported, joint: Joint, branches: list[Branch], faults: list[Fault]) -> list[str]:
    """Return the equalities of a joint that closes a loop or couples others; a fault for one that cannot be written."""
    if isinstance(joint, Coupling):
        return _coupling(joint, branches, faults)
    names = {id(body): body.name for body in system.bodies} | {id(system.ground): "world"}
    i, j = joint.frame_i, joint.frame_j
    ends = {"body1": names[id(i.body)], "body2": names[id(j.body)]}
    kind = type(joint)
    if kind is SJ:
        return [element("connect", name=joint.name, anchor=numbers(i.s_bar), **ends)]
    if kind is RJ:
        second = numbers(i.s_bar + i.h)
        both = ((joint.name, numbers(i.s_bar)), (f"{joint.name} axis", second))
        return [element("connect", name=name, anchor=anchor, **ends) for name, anchor in both]
    if kind is Fixed:
        T = i.body.A.T @ j.body.A
        pose = numbers((*(i.body.A.T @ (j.body.r - i.body.r)), *euler_parameters.from_rotation_matrix(T)))
        return [element("weld", name=joint.name, anchor="0 0 0", relpose=pose, **ends)]
    faults.append(Fault(f"joint {joint.name!r}", f"the file holds no {kind.__name__} that closes a loop or drives", REMEDY))
    return []


def _coupling(joint: Coupling, branches: list[Branch], faults: list[Fault]) -> list[str]:
    """Return the equality of a coupling:  q_last = -sum of the others, in coordinates that are zero at the modelled pose."""
    terms = constant_terms(joint)
    where = f"joint {joint.name!r}"
    if not 1 <= len(terms) <= 2:
        own = "it acts one way alone" if joint.one_way else "its f changes with time"
        why = "it is not linear" if isinstance(joint, CoordinateFunction) else own
        what = "it couples more than two coordinates" if terms else why
        faults.append(Fault(where, f"the file holds no such {type(joint).__name__}: {what}", REMEDY))
        return []
    names = [coordinate_name(coordinate, branches) for coordinate, _ in terms]
    if not all(names):
        lost = terms[names.index("")][0]
        faults.append(Fault(where, f"{lost.label} is not a hinge or slide of the file", REMEDY))
        return []
    ends = {f"joint{n}": name for n, name in enumerate(reversed(names), start=1)}
    factor = -terms[0][1] / terms[1][1] if len(terms) == 2 else 0.0
    return [element("joint", name=joint.name, polycoef=numbers((0.0, factor, 0.0, 0.0, 0.0)), **ends)]


def coordinate_name(coordinate: Coordinate, branches: list[Branch]) -> str:
    """Return the name of the hinge or slide of the file that a coordinate is, "" if it is not in the tree."""
    joint = coordinate.joint
    branch = next((branch for branch in branches if branch.joint is joint), None)
    if branch is None:
        return ""
    kind, name = type(joint), str(joint.name)
    if kind is UJ:
        return f"{name} {3 - coordinate.number if branch.reverse else coordinate.number}"
    if kind is CJ:
        return name if coordinate.turns else f"{name} slide"
    return name if kind in (RJ, TJ) or (kind is Planar and coordinate.turns) else ""
