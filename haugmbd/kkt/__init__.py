"""The augmented system  [M Phi_q^T; Phi_q 0]  by block LDL^T on the graph of bodies and joints.

elimination_order   in which order bodies and joints are eliminated
kernels6            the 6 x 6 kernels
block_ldl           factorization and back-substitution
rank_deficient      the same where rows depend on others
entry_points        factorize, solve, refine, as routines called by address
least_squares       solutions by least squares
python_solver       the same, answered by a formulation in Python
"""
