"""Blocks: states and outputs of their own, which are integrated with the mechanism, and sampled controllers.

output         a block's output, in the place of a driver
output_values  a force element with known values in place of outputs
names          the names of signals that a function reads
block          Block, the base class
sampled        Sampled, called at exact times
low_pass, transfer_function, pid, delay_line      ready-made blocks
joint_signal   angle, displacement and rate of a joint, from the flat state
signals        what a name such as "pin.angle" means
diagram        the block diagram of a model, and its evaluation
"""
