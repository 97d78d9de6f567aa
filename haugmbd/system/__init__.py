"""The mechanism as a user builds it, and everything that can be wrong with it.

custom_joint           what a system takes: joints and primitives of one's own
constraint_residuals   whether a state satisfies its joints, in metres and degrees
solvability            whether accelerations and multipliers have one solution
validation             all faults of a system at once
locking                systems that cannot move, and by how much they miss it
build                  from objects to a Model
equation_report        what the equations of a model say
summary                the text table of a system
system                 System
"""
