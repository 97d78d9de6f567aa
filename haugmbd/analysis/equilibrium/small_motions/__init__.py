"""Small motions about an equilibrium or a steady motion.

eigenmodes     eigenvalues and modes
linearization  Linearization
stages         the stages of the work
velocity_rows  small motions of mechanisms with velocity rows
block_modes    small motions of bodies and blocks together
state_space    StateSpace: a linear system between inputs and outputs
input_signals  what inputs are, and the model with them
input_output   the linear system, from derivatives along states and inputs
linearize      linearize
"""
