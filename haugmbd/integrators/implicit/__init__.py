"""Implicit methods; all share one Newton iteration.

records               the numbers of step, Newton's iteration and step control, by name
constraint_form       the form of the constraints that is solved: Index3, Index2, GGL, HillerAnantharaman
tangents              tangents of forces for Newton's iteration
newton                Newton's iteration of a step
step_control          the loop: predict, solve, estimate the error
base                  base classes of implicit methods
generalized_alpha     Newmark, HHT and generalized-alpha
generalized_alpha_r7  generalized-alpha on Euler parameters as plain numbers
trapezoidal           trapezoidal rule
bdf                   BDF of order one to five
radau_iia             Radau IIA of order five
"""
