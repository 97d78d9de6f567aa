"""Checks of what users write: a constraint, joint, force, driver or formulation against independent differences and dense algebra.

report        Check and Verification: what was compared, how far it is off, and where
differences   derivatives by differences, and the error that they leave
states        random states, small displacements, and a motion through a state
rows          Phi_r, PiBar, nu and gamma of rows
joints        what a joint says besides its rows: the modelled pose, its rank, its freedoms
forces        power against energy; declared jacobians
drivers       f' and f''
mechanisms    small mechanisms for formulations
formulations  accelerations, multipliers and other right-hand sides
verify        verify
"""
