"""The flat arrays that compiled code works on.

layout            names, positions and shapes of the matrices in the arrays; the records that hold them
accessors         the matrices by name, for kernels
body_kinematics   rotation matrices, points and vectors, drivers at one instant
internal_states   states of force elements and blocks, explicit and implicit
"""
