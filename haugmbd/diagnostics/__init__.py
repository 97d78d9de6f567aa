"""Diagnostics, recomputed from stored states in the same way for every method.

joint_wrench         a wrench at the point of a joint
rows_over_time       all rows at all stored states
violation            violation of the constraints at three levels
reactions            joint reactions
joint_history        angles and displacements of joints over time
method_solutions     accelerations and multipliers that a method itself computed
energy               energy and momentum
work                 work between stored states
resample             states at other times
run_warnings         status and warnings of a run
"""
