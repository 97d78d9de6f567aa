"""Derivatives of forces.

jacobian        the declared derivative of a user's function
jacobian_check  a declared derivative compared with differences
tangent         stiffness and damping blocks of a force
"""
