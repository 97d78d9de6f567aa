"""Methods that keep positions and velocities on the constraints by themselves.

rattle   RATTLE: symplectic, order 2
hem4     HEM4: half-explicit Runge-Kutta, order 4
"""
