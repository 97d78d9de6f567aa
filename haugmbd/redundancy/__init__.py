"""Which rows depend on others, and which multipliers are chosen for them.

sparse_ldl        LDL^T of [1 J^T; J 0] that leaves out dependent rows
local_solve       solutions that are zero nearly everywhere
rank              rank detection: dependent rows at a pose
structural_rank   whether rows depend on others everywhere, or at this pose only
redundancy        which rows are dropped, decided once
minimum_norm      multipliers of minimum norm
"""
