"""Diagnostics, recomputed from stored states in the same way for every method.

joint_reactions      forces and torques in joints
rows_over_time       all rows at all stored states
violation            violation of the constraints at three levels
histories            force elements, drivers, bodies, blocks and contacts over time
joint_motions        coordinates of joints over time
method_solutions     accelerations and multipliers that a method itself computed
energy               energy and momentum
energy_balance       energy and power of force elements, and friction in joints, at given states
dense_states         states between stored ones by dense output
work                 work along the steps of a run
resample             states at other times
run_warnings         status and warnings of a run
deep_contacts        compliant contacts that a run begins with deep inside each other
short_impacts        impacts that last for too few fixed steps
bristles             bristles of LuGre friction beyond their range
lift_off             joints that can only push, and would have to pull
"""
