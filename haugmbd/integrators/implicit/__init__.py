"""Implicit methods; all share one Newton iteration.

records                the numbers of step, Newton's iteration and step control, by name
constraint_form        the form of the constraints that is solved: Index3, Index2, GGL, HillerAnantharaman
coloring               bodies that may be displaced at once
force_coupling         bodies that are coupled by forces
finite_differences     tangents by differences
force_jacobians        tangents of all forces
newton                 Newton's iteration of a step
step_control           the loop: predict, solve, estimate the error
base                   base classes of implicit methods
generalized_alpha      Newmark, HHT and generalized-alpha
generalized_alpha_r7   generalized-alpha on Euler parameters as plain numbers
trapezoidal            trapezoidal rule
bdf                    BDF of order one to five
radau_tableau          tableau of Radau IIA
radau_states           internal states in the three stages
radau_step_end         error and end of a step of Radau IIA
radau_stages           the three stages of Radau IIA
radau                  Radau IIA of order five
"""
