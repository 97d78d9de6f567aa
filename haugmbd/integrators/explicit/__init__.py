"""Explicit methods.

tableau               Butcher tableaus
runge_kutta           fixed steps: what explicit methods share
embedded              error control by embedded pairs
heun                  order 2
rk3                   order 3
rk4                   order 4
dormand_prince        order 5(4)
dop853                order 8(5, 3)
lie                   rotations as a group: Munthe-Kaas, Crouch-Grossman
semi_implicit_euler   symplectic Euler
scipy_solver          SciPy's solvers
"""
