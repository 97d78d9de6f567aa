"""Explicit methods.

tableau               Butcher tableaus
runge_kutta           base classes, and the stepper of fixed steps
embedded              error control by embedded pairs
heun                  order 2
rk3                   order 3
rk4                   order 4
dormand_prince        order 5(4)
dop853                order 8(5, 3)
lie                   rotations on SO(3): Munthe-Kaas, Crouch-Grossman
semi_implicit_euler   symplectic Euler
scipy_solver          SciPy's solvers
"""
