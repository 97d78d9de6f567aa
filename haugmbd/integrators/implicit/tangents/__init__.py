"""Tangents of forces for Newton's iteration.

coloring            bodies that may be displaced at once
force_coupling      bodies that are coupled by forces
finite_differences  tangents by differences
force_jacobians     tangents of all forces
"""
