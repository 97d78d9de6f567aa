"""The recursive algorithms, one per file.

link_inertia             inertia of a link about its handle; articulated inertia, twists and wrenches as records
rnea                     inverse dynamics: recursive Newton-Euler
crba                     mass matrix: composite rigid bodies
aba                      forward dynamics: articulated bodies
link_motion              poses, velocities, Jacobians of the links; equations of motion by projection
"""
