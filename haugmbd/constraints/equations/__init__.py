"""Constraint equations: one kind of scalar equation per file.

dp1                  DP1: dot product of two body-fixed vectors
dp2                  DP2: dot product of a body-fixed vector and a distance vector
d                    D: distance of two points
cd                   CD: difference of coordinates of two points
rotation             Rotation: angle about an axis, through any number of turns
constant_velocity    ConstantVelocityRow: two bodies do not twist about their axes against each other
coupling             CouplingRow: a sum of joint coordinates, of two and more bodies
coordinate_function  CoordinateFunctionRow: one joint coordinate is a function of another
curve                PointOnCurveRow: a point stays on a spline curve
hinge                the five rows of a revolute joint at once
rolling              DiscOnPlane, and the velocity rows Slip and KnifeEdge
rolling_curved       AxisDistance, and the velocity row CurvedSlip, on cylinders and spheres
rolling_on_curve     CurveDistance, and the velocity row CurveSlip, on plane curves
"""
