"""From user objects to tables: bodies, joints and loads are numbered, ordered and frozen, once.

numbering        numbers of bodies, markers, drivers and joint angles
row_pattern      the equations of all joints of a class at once
equations        the equations of all joints, as columns
row_table        rows sorted by kind; pairs of bodies with rows between them, and the slot of every row
joint_forms      edges that the recursion knows: revolute joints, joints of a point or of rotations, couplings
loads            force elements, and the calls of the user's functions
inertia          masses and inertias, with what makes massless directions solvable
compile          the tables
"""
