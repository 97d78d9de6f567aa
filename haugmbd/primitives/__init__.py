"""One equation per file: DP1, DP2, D, CD, Rotation; what they are composed to; and the joint, a tuple of them."""

from haugmbd.primitives.base import Primitive
from haugmbd.primitives.catalogue import KINDS
from haugmbd.primitives.cd import CD
from haugmbd.primitives.d import D
from haugmbd.primitives.dp1 import DP1
from haugmbd.primitives.dp2 import DP2
from haugmbd.primitives.freedom import Freedom
from haugmbd.primitives.intermediate import coincident, perpendicular_1, perpendicular_2
from haugmbd.primitives.joint import Joint
from haugmbd.primitives.rotation import Rotation

__all__ = [
    "CD",
    "DP1",
    "DP2",
    "KINDS",
    "D",
    "Freedom",
    "Joint",
    "Primitive",
    "Rotation",
    "coincident",
    "perpendicular_1",
    "perpendicular_2",
]
