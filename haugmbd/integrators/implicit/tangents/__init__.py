"""Tangents of forces for Newton's iteration.

coloring            bodies that may be displaced at once
step_solver         the solver of implicit steps
force_coupling      bodies that are coupled by forces
finite_differences  tangents by differences
force_jacobians     tangents of all forces
"""
