"""Methods whose steps keep positions or velocities on the constraints.

rattle   RATTLE: symplectic, order 2, positions and velocities
hem4     HEM4: half-explicit Runge-Kutta, order 4, velocities
"""
