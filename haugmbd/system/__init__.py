"""The mechanism as a user builds it, and its validation.

custom_joint     parts that a system accepts: joints and equations of the user
joint_equations  the equations of the joints, read once or known by the pattern of their class
checks           what is checked before a system is compiled, and the faults that are found
build            from objects to a Model
equation_report  the equations of a model as text
parameters       named numbers, and the expressions that read them
summary          the text table of a system
system           System
"""
