"""The mechanism as a user builds it, and its validation.

custom_joint           parts that a system accepts: joints and equations of the user
joint_equations        the equations of the joints, read once or known by the pattern of their class
constraint_residuals   whether a state satisfies its joints, in metres and degrees
function_ranges        motions that leave the table of a function of a joint coordinate
solvability            whether accelerations and multipliers have one solution
validation             all faults of a system at once
friction_uniqueness    friction in joints whose reactions are not unique
locking                systems that cannot move, and the misalignment that locks them
build                  from objects to a Model
equation_report        the equations of a model as text
parameters             named numbers, and the expressions that read them
summary                the text table of a system
system                 System
"""
