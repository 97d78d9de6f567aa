"""The augmented KKT system  [M Phi_q^T; Phi_q 0]  by a block LDL^T on the graph of bodies and joints.

elimination_order   the order in which bodies and joints are eliminated
kernels6            the 6 x 6 kernels
narrow_blocks       those of edges of one or two rows, of true sizes
block_ldl           factorization and back-substitution
many_right_sides    many right-hand sides in one sweep
rank_deficient      the factorization with dependent rows
entry_points        factorize, solve, refine: routines that are called by address
least_squares       accelerations that fit dependent rows by least squares
multifrontal        the same system by a multifrontal LDL^T, for nets and trusses
tree                the same system by a recursion over open chains and trees
solver_choice       the choice between blocks, recursions over trees, and fronts
solver_routines     the routines of the solver that a set of tables belongs to
python_solver       entry points that call a formulation in Python
"""
