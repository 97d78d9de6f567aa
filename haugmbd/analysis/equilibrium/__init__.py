"""Equilibria, steady motions, and small motions about them.

steady_motion      steady motions
residual           the balance of forces at a pose
tangent_space      the constraints as a surface
tangent_matrices   stiffness, damping and inertia along it
eigenmodes         eigenvalues and modes
steady_check       whether a steady motion goes on
solver             the search of a balance
result             Equilibrium
equilibrium        equilibrium
linearization      Linearization
linearize          linearize
"""
