"""Forces and torques along coordinates of joints.

joint_coordinate  a coordinate of a joint, as force elements measure it and act along it
characteristic    a function through a table, with slope and integral
joint_load        forces along coordinates of joints: base class and kernels
joint_spring      spring and damper along a coordinate, linear, by a table, one-sided
joint_limit       stops of a coordinate
joint_force       forces along several coordinates, as a function of all
motor             torque on a joint, with gear ratio, rotor and torque-speed curve
motor_rotor       the rotor of a motor: a body behind a gear
"""
