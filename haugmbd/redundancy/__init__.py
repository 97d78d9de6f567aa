"""Redundant constraints: dependent rows, and the choice of their multipliers.

sparse_ldl        LDL^T of [1 J^T; J 0] that leaves out dependent rows, also by fronts; sparse solutions
front_elimination the same by fronts, for the multifrontal solver
rank              rank detection: dependent rows at a pose, and whether they are dependent everywhere
alignment         axes that are parallel but for their digits: the tolerance of the rank
redundancy        the rows that are dropped, decided once
minimum_norm      multipliers of minimum norm
"""
