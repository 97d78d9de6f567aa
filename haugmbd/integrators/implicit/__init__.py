"""Implicit methods: one Newton iteration for all.

records                the numbers of step, Newton's iteration and step control, by name
constraint_form        which form of the constraints is solved: Index3, Index2, GGL
coloring               bodies that may be displaced at once
force_coupling         bodies that are coupled by forces
finite_differences     tangents by differences
force_jacobians        tangents of all forces
newton                 Newton's iteration of a step
step_control           predict, solve, judge
base                   what every implicit method is
generalized_alpha      Newmark, HHT and generalized-alpha
generalized_alpha_r7   generalized-alpha on Euler parameters as plain numbers
trapezoidal            trapezoidal rule
bdf                    BDF of order one to five
radau_tableau          Radau IIA in numbers
radau_step_end         error and end of a step
radau_stages           the three stages
radau                  Radau IIA of order five
"""
