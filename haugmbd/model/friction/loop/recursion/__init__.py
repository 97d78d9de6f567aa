"""The friction loop of revolute joints of a forest, in sweeps of the recursion.

sweep_lanes  the arrays of sweeps, and the normal forces and own slopes of eight joints at once
own_slopes   slopes of joints through their own friction, in the recursion
one_joint    the friction of a revolute joint that is the only one, in the recursion
locks        joints that stick, locked in the recursion
sweeps       the same for revolute joints of a forest, in the recursion
"""
