"""Rigid bodies and frames fixed on them.

validation   reading what a user gives; faults instead of exceptions
inertia      mass and inertia of solids, parallel-axis theorem
body         Body: mass, inertia, modelled pose and velocity
frame        Frame: a point and axes fixed on a body
"""
