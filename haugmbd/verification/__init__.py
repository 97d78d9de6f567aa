"""Checks of what users write: a constraint, joint, force, driver or formulation against independent differences and dense algebra.

report        Check and Verification: what was compared, how far it is off, and where
differences   derivatives by differences, and the error that they leave; random states, displacements and motions
rows          Phi_r, PiBar, nu and gamma of rows
joints        what a joint says besides its rows: the modelled pose, its rank, its freedoms; drivers: f' and f''
forces        power against energy; declared jacobians
formulations  accelerations, multipliers and other right-hand sides
verify        verify
"""
