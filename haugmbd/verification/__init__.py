"""Checks of what users write: a constraint, joint, force, driver or formulation against independent differences and dense algebra.

comparisons   what was compared, how far it is off, and where; derivatives by differences; random states, displacements and motions
rows          Phi_r, PiBar, nu and gamma of rows; what a joint or a driver says besides them
forces        power against energy; declared jacobians; laws of the user
formulations  accelerations, multipliers and other right-hand sides
verify        verify
"""
