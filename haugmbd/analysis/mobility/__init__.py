"""Degrees of freedom, dependent rows and unique reactions.

twist_format            text of motions
remaining_freedom       free motions at a state, by singular values
joint_freedoms          independent joint freedoms
joints_of_blocks        joints of each block of the graph
simple_joints           motions of bodies on one joint of one freedom
instantaneous_motions   the remaining motions, by named bodies
dependent_rows          dependent rows by joint
locked_loops            loops that one axis locks
plausibility            probable mistakes: units, order of moments, free bodies
report                  Mobility, and its text
mobility                mobility
"""
