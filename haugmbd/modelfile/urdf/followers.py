r"""Couplings of two coordinates as <mimic>:  c_a q_a + c_b q_b = 0  ->  q_b = multiplier q_a,  multiplier = -c_a / c_b."""

from __future__ import annotations

from haugmbd.constraints.joint import Joint
from haugmbd.errors import Fault
from haugmbd.joints import RJ, TJ, Coupling
from haugmbd.modelfile.exports import Branch, constant_terms

Followers = dict[int, tuple[Joint, float]]
"""The leader and the multiplier of each joint that follows, by its id."""


def followers(
    cut: list[Joint], branches: list[Branch], remedy: str, faults: list[Fault], file: str = "a URDF"
) -> tuple[Followers, list[Joint]]:
    """Return the joints of the tree that follow others, and the joints that are not couplings; faults for other couplings."""
    tree = {id(branch.joint) for branch in branches if type(branch.joint) in (RJ, TJ)}
    found: Followers = {}
    rest = []
    for joint in cut:
        if not isinstance(joint, Coupling):
            rest.append(joint)
            continue
        terms = constant_terms(joint)
        if len(terms) != 2 or any(id(coordinate.joint) not in tree for coordinate, _ in terms):
            what = f"{file} holds no such {type(joint).__name__}: only a constant one of two RJ or TJ of the tree is a <mimic>"
            faults.append(Fault(f"joint {joint.name!r}", what, remedy))
        elif not _follow(found, terms[0][0].joint, terms[1][0].joint, -terms[0][1] / terms[1][1]):
            what = f"in {file} each joint follows one other, and both of these do already, or the followers form a circle"
            faults.append(Fault(f"joint {joint.name!r}", what, remedy))
    return found, rest


def _follow(found: Followers, a: Joint, b: Joint, multiplier: float) -> bool:
    """Let b follow a, or a follow b if b follows another joint already; return False if neither can."""
    for leader, follower, factor in ((a, b, multiplier), (b, a, 1.0 / multiplier)):
        if id(follower) in found:
            continue
        here: Joint | None = leader
        while here is not None and here is not follower:
            here = found[id(here)][0] if id(here) in found else None
        if here is None:
            found[id(follower)] = (leader, factor)
            return True
    return False
