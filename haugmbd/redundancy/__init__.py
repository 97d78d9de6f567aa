"""Redundant constraints: dependent rows, and the choice of their multipliers.

sparse_ldl        LDL^T of [1 J^T; J 0] that leaves out dependent rows
front_elimination the same by fronts, for the multifrontal solver
local_solve       sparse solutions
rank              rank detection: dependent rows at a pose
alignment         axes that are parallel but for their digits: the tolerance of the rank
structural_rank   whether rows are dependent everywhere, or at this pose only
redundancy        the rows that are dropped, decided once
minimum_norm      multipliers of minimum norm
"""
