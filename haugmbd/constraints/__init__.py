"""Constraint equations: one scalar equation between two bodies per file, and joints as tuples of them.

base         Primitive, the base class of constraint equations: data and one kernel
dp1          DP1: dot product of two body-fixed vectors
dp2          DP2: dot product of a body-fixed vector and a distance vector
d            D: distance of two points
cd           CD: difference of coordinates of two points
rotation     Rotation: angle about an axis, through any number of turns
constant_velocity ConstantVelocityRow: two bodies do not twist about their axes against each other
coordinate   Coordinate: an angle or a displacement of a joint
coupling     CouplingRow: a sum of joint coordinates, of two and more bodies
coordinate_function CoordinateFunctionRow: one joint coordinate is a function of another
curve        PointOnCurveRow: a point stays on a spline curve
hinge        the five rows of a revolute joint at once
rolling      DiscOnPlane, and the velocity rows Slip and KnifeEdge
registry     all constraint equations, and their kernels by number
composites   groups of equations: coincident points, perpendicular axes
tooth_contact ToothContact: where the teeth of gears touch, for their reactions
freedoms     the relative motions that a joint allows
joint        Joint: a name, two frames, and a tuple of constraint equations
"""

from haugmbd.constraints.base import Primitive
from haugmbd.constraints.cd import CD
from haugmbd.constraints.composites import coincident, perpendicular_1, perpendicular_2
from haugmbd.constraints.constant_velocity import ConstantVelocityRow
from haugmbd.constraints.coordinate import Coordinate
from haugmbd.constraints.coordinate_function import CoordinateFunctionRow
from haugmbd.constraints.coupling import CouplingRow
from haugmbd.constraints.curve import PointOnCurveRow
from haugmbd.constraints.d import D
from haugmbd.constraints.dp1 import DP1
from haugmbd.constraints.dp2 import DP2
from haugmbd.constraints.freedoms import Freedom
from haugmbd.constraints.joint import Joint
from haugmbd.constraints.registry import KINDS
from haugmbd.constraints.rotation import Rotation

__all__ = [
    "CD",
    "DP1",
    "DP2",
    "KINDS",
    "ConstantVelocityRow",
    "Coordinate",
    "CoordinateFunctionRow",
    "CouplingRow",
    "D",
    "Freedom",
    "Joint",
    "PointOnCurveRow",
    "Primitive",
    "Rotation",
    "coincident",
    "perpendicular_1",
    "perpendicular_2",
]
