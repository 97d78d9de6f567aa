"""Stabilization of the constraints in explicit integrators.

base                    the base class of all stabilizations
corrections             changes of a state at the end of a step, and of joints that stick
none                    no stabilization: the constraints drift
baumgarte               feedback of position and velocity errors
projection              mass-weighted projection
unweighted_projection   projection with the least change of coordinates
energy_projection       projection on the constraints and the energy
"""
