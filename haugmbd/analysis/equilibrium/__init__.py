"""Equilibria, steady motions, and small motions about them.

steady_motion      steady motions
block_states       the states of blocks, and their rates
residual           the balance of forces at a pose
tangent_space      the tangent space of the constraints, and inertia along it
block_matrices     derivatives by the states of blocks
smooth_derivative  differences with steps of many sizes: limits, kinks, jumps
tangent_matrices   stiffness and damping along the tangent space
small_motions      small motions about an equilibrium or a steady motion
steady_check       check that a motion is steady
solver             solver for a balance of forces, also with the states of blocks
result             Equilibrium
equilibrium        equilibrium
"""
