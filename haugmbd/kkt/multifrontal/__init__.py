"""The augmented KKT system by a multifrontal LDL^T, for nets, trusses and other meshes: bodies first, then rows by fronts of true sizes.

minimum_degree   the order in which rows are eliminated, by degree or below a bisection
front_folding    fronts of a good size
front_layout     their tables: rows, boundaries, bodies
plan             the cheapest of a few orders
blas             SciPy's matrix product for compiled code
front_kernels    dense kernels of one front
row_choice       the selection of rows where some depend on others
factorization    factorization and back-substitution
entry_points     factorize, solve, refine: routines that are called by address
"""
