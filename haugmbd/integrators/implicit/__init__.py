"""Implicit methods; all share one Newton iteration.

records               the numbers of step, Newton's iteration and step control, by name
constraint_form       the form of the constraints that is solved: Index3, Index2, GGL, HillerAnantharaman
force_coupling        bodies that forces couple, and that may be displaced at once
force_jacobians       tangents of all forces
finite_differences    tangents by differences
newton                Newton's iteration of a step
step_control          the loop: predict, solve, estimate the error
base                  base classes of implicit methods
generalized_alpha     Newmark, HHT and generalized-alpha
generalized_alpha_r7  generalized-alpha on Euler parameters as plain numbers
trapezoidal           trapezoidal rule
bdf                   BDF of order one to five
radau                 Radau IIA of order five
radau_stages          its three stages, their internal states, and the end of its steps
radau_tableau         its tableau
"""
