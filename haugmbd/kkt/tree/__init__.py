"""The augmented KKT system of open chains and trees at the cost of joint coordinates, with all multipliers.

tree_order       which models are forests, the order of their bodies, and the joints with a known axis
tree_arrays      the arrays of the recursion, and their columns
revolute         joints of three CD and two DP1: one freedom, about an axis
separable_joint  joints of which each row restricts the translation of a point, or the rotation: most of the catalogue
general_joint    any other rows between two bodies: the motions that they allow, by a QR factorization
recursion        factorization and solution, from the leaves to the roots and back
hanging_trees    trees that hang on loops, which the block LDL^T eliminates
entry_points     factorize, begin, finish: in place of those of the block LDL^T
hanging_entry_points   the same for trees that hang on loops

Couplings of the angles of revolute joints, by constraint embedding:

cluster_order          which joints move together, and the joint that each coupling is solved for
cluster_arrays         the arrays of these clusters, and their columns
coupled_angles         the rows of the couplings: each angle is evaluated once
cluster                a cluster of coupled joints: its free coordinates, and the multipliers of the couplings
coupled_recursion      factorization and solution with clusters
coupled_entry_points   factorize, begin, finish
"""
