"""Small motions about an equilibrium or a steady motion.

eigenmodes     eigenvalues and modes
linearization  Linearization
velocity_rows  small motions of mechanisms with velocity rows
block_modes    small motions of bodies and blocks together
linearize      linearize
"""
