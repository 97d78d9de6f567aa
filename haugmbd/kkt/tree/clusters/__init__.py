"""Couplings of joint coordinates, by constraint embedding.

cluster_order         which joints move together, and the joint that each coupling is solved for
cluster_arrays        the arrays of these clusters, and their columns
coupled_angles        the rows of the couplings: each coordinate is evaluated once
cluster               a cluster of coupled joints: its free coordinates, and the multipliers of the couplings
coupled_recursion     factorization and solution with clusters
coupled_entry_points  factorize, begin, finish
cluster_joint         what the clusters read of a joint: revolute, or sliding along one direction
"""
