"""Rigid bodies, and frames fixed on them.

validation   read the values that a user gives; collect faults instead of raising
inertia      mass and inertia of solids, parallel-axis theorem
body         Body: mass, inertia, modelled pose and velocity
frame        Frame: a point and axes fixed on a body
"""
