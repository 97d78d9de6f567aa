"""Constraint equations: one scalar equation between two bodies per file, and joints as tuples of them.

base        Primitive, the base class of constraint equations: data and one kernel
equations   constraint equations: one kind of scalar equation per file
coordinate  Coordinate: an angle or a displacement of a joint
registry    all constraint equations, and their kernels by number
composites  groups of equations: coincident points, perpendicular axes
tooth_contact ToothContact: where the teeth of gears touch, for their reactions
freedoms    the relative motions that a joint allows
joint       Joint: a name, two frames, and a tuple of constraint equations
"""

from haugmbd.compiled.collection import collection_paused

with collection_paused():  # Numba is imported
    from haugmbd.constraints.base import Primitive
    from haugmbd.constraints.composites import coincident, perpendicular_1, perpendicular_2
    from haugmbd.constraints.coordinate import Coordinate
    from haugmbd.constraints.equations.cd import CD
    from haugmbd.constraints.equations.constant_velocity import ConstantVelocityRow
    from haugmbd.constraints.equations.coordinate_function import CoordinateFunctionRow
    from haugmbd.constraints.equations.coupling import CouplingRow
    from haugmbd.constraints.equations.curve import PointOnCurveRow
    from haugmbd.constraints.equations.d import D
    from haugmbd.constraints.equations.dp1 import DP1
    from haugmbd.constraints.equations.dp2 import DP2
    from haugmbd.constraints.equations.rotation import Rotation
    from haugmbd.constraints.freedoms import Freedom
    from haugmbd.constraints.joint import Joint
    from haugmbd.constraints.registry import KINDS

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
