"""From user objects to tables: bodies, joints and loads are numbered, ordered and frozen, once.

numbering        numbers of bodies, markers, drivers and joint angles
row_pattern      the equations of all joints of a class at once
equations        the equations of all joints, as columns
edges            pairs of bodies with rows between them, and the slot of every row
row_table        rows sorted by kind
revolute_edges   revolute joints, which are solved and written in a way of their own
separable_edges  joints of which each row restricts the translation of a point, or the rotation
coupled_joints   couplings of joint angles, which the recursion over trees solves
loads            force elements, and the calls of the user's functions
inertia          masses and inertias, with what makes massless directions solvable
compile          the tables
"""
