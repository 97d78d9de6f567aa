"""The recursion in implicit steps, with tangents of forces.

neighbour_tangents     tangents of bodies, and between neighbours on a revolute joint
implicit_recursion     factorization and solution with these
implicit_entry_points  factorize, begin, finish
"""
