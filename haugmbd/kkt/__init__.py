"""The augmented KKT system  [M Phi_q^T; Phi_q 0]: five solvers behind one record, and the choice among them.

solver               what a solver is: its record, and the factory of its entry points
registry             all solvers: the routines that belong to a model's tables
pivot_trials         when a small pivot says that rows depend on each other, and when that a body is light
least_squares        accelerations that fit dependent rows by least squares
python_solver        entry points that call a formulation in Python

block_solver         blocks: LDL^T on the graph of bodies and joints, the solver of most models
block_ldl            factorization and back-substitution
block_kernels        the 6 x 6 kernels, and those of narrow edges of true sizes
elimination_order    the order in which bodies and joints are eliminated
rank_deficient       the factorization with dependent rows
many_right_sides     many right-hand sides in one sweep

front_solver         multifrontal: rows in fronts of true sizes, for nets, trusses and other meshes; one front is the dense solver
front_ldl            factorization and back-substitution, also with dependent rows
front_kernels        dense kernels of one front, and the matrix product of BLAS
front_plan           the fronts of a model, their tables and sizes
minimum_degree       the order of elimination

tree_solver          recursions over open chains and trees, at the cost of joint coordinates, with all multipliers
tree_recursion       factorization and solution, from the leaves to the roots and back
tree_order           which models are forests, the order of their bodies, and the joints with a known axis
tree_arrays          the arrays of the recursion, and their columns
revolute_joint       joints of three CD and two DP1: one freedom, about an axis
separable_joint      joints of which each row restricts the translation of a point, or the rotation: most of the catalogue
helical_joint        screws: cylindrical joints whose two freedoms a row couples
general_joint        any other rows between two bodies: the motions that they allow, by a QR factorization
hanging_trees        trees that hang on loops, which the blocks eliminate
tangent_recursion    the recursion in implicit steps, with tangents of forces
cluster              couplings of joint coordinates, by constraint embedding
cluster_order        which joints they couple, and in which order
cluster_arrays       the arrays of coupled joints
coupled_coordinates  the rows of couplings, each coordinate evaluated once
"""
