"""Formulations in Python with dense matrices, one file each.

dense_matrices           dense matrices and factorizations of the formulations in Python
python_formulation       formulations in Python, called from compiled integrators
euler_parameters         augmented system in (r, p)
range_space              Schur complement of the multipliers
null_space               basis of the null space of the rows
coordinate_partitioning  independent and dependent coordinates
udwadia_kalaba           least correction of the free motion
udwadia_phohomsiri       the fundamental equation for a singular mass matrix
augmented_lagrangian     penalty with iterated multipliers
penalty                  stiff elements for rows
reduced_chain            joint coordinates, where the system is a chain
"""
