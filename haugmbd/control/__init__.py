"""Blocks: states and outputs of their own, which are integrated with the mechanism, and sampled controllers.

output             a block's output, in the place of a driver
output_values      a force element with known values in place of outputs
names              the names of signals that a function reads
block              Block, the base class
sampled            Sampled, called at exact times
low_pass           LowPass
transfer_function  TransferFunction
pid                PID
delay_line         DelayLine
joint_signal       angle, displacement and rate of a joint, from the flat state
signals            what a name such as "pin.angle" means
evaluation         signals, outputs and rates at one instant, each when it is needed
switched_rate      a rate that jumps, in an implicit step
implicit           the states of the blocks in an implicit step
memory             what one run remembers
compiled           the blocks without Python
tables             the library's own blocks as tables, in compiled code for all models
network            all blocks of a model
build              the network of a system, and its faults
"""
