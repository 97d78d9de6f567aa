"""The augmented KKT system of open chains and trees at the cost of joint coordinates, with all multipliers.

tree_order            which models are forests, the order of their bodies, and the joints with a known axis
tree_arrays           the arrays of the recursion, and their columns
revolute              joints of three CD and two DP1: one freedom, about an axis
separable_joint       joints of which each row restricts the translation of a point, or the rotation: most of the catalogue
helical_joint         screws: cylindrical joints whose two freedoms a row couples
general_joint         any other rows between two bodies: the motions that they allow, by a QR factorization
recursion             factorization and solution, from the leaves to the roots and back
hanging_trees         trees that hang on loops, which the block LDL^T eliminates
solution_passes       what entry points do: pass inward with the factor or without it, return outward
entry_points          factorize, begin, finish: in place of those of the block LDL^T
hanging_entry_points  the same for trees that hang on loops
implicit              the recursion in implicit steps, with tangents of forces
clusters              couplings of joint coordinates, by constraint embedding
"""
