"""The block diagram of a model, and its evaluation.

evaluation     signals, outputs and rates at one instant, each when it is needed
switched_rate  a rate that jumps, in an implicit step
implicit       the states of the blocks in an implicit step
memory         what one run remembers
network        all blocks of a model
breaking_points  jumps and kinks that come out of delays
compiled       the blocks without Python
tables         the library's own blocks as tables, in compiled code for all models
build          the network of a system, and its faults
"""
