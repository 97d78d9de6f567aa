"""Equilibria, steady motions, and small motions about them.

steady_motion      steady motions
residual           the balance of forces at a pose
tangent_space      the tangent space of the constraints
tangent_matrices   stiffness, damping and inertia along it
eigenmodes         eigenvalues and modes
steady_check       check that a motion is steady
solver             solver for a balance of forces
result             Equilibrium
equilibrium        equilibrium
linearization      Linearization
velocity_rows      small motions of mechanisms with velocity rows
linearize          linearize
"""
