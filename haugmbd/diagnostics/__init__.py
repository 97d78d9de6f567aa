"""Diagnostics, recomputed from stored states in the same way for every method.

joint_wrench         a wrench at the point of a joint
rows_over_time       all rows at all stored states
violation            violation of the constraints at three levels
reaction_uniqueness  unique components of reactions, from self-stresses
tooth_forces         reactions of gears and of their bearings with tooth forces
reactions            joint reactions
load_history         length, rate, force, power and energy of force elements over time
block_history        states and outputs of blocks over time
driver_history       torque, force, power and work of drivers over time
body_history         one body and its points over time
joint_motion         frames, points and coordinates of a joint at stored states
turns                whole turns of joint angles
joint_history        angles and displacements of joints over time
method_solutions     accelerations and multipliers that a method itself computed
joint_coordinate     one coordinate of a joint as a function of the state, for events and sensors
energy               energy and momentum
work                 work between stored states
contact_impacts      impacts of compliant contacts, from touch to release
resample             states at other times
run_warnings         status and warnings of a run
lift_off             joints that can only push, and would have to pull
"""
