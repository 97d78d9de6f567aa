"""Diagnostics, recomputed from stored states in the same way for every method.

joint_reactions    wrenches in joints, their unique components, and gears with tooth forces
violation          all rows at all stored states: violation at three levels, and wrenches
histories          bodies, drivers and blocks over time
load_history       force elements over time
contact_impacts    impacts of compliant contacts
joint_motion       frames, points and coordinates of a joint within one turn
turns              whole turns of joint angles
joint_coordinates  coordinates of joints over time, for events and sensors
method_solutions   accelerations and multipliers that a method itself computed
energy             energy and momentum
dense_states       states between stored ones by dense output
work               work along the steps of a run, and the balance of energy, element by element
resample           states at other times
run_warnings       status and warnings of a run
contact_warnings   deep contacts, short impacts, bristles beyond their range, joints that would have to pull
"""
