"""Rigid bodies, and frames fixed on them.

validation   read the values that a user gives; collect faults instead of raising
shapes/      what is drawn of bodies: solids, and meshes of .stl and .obj files
inertia      mass and inertia of solids, parallel-axis theorem
body         Body: mass, inertia, modelled pose and velocity, shape
rotor        the rotor of a motor as a body: inertia about its axis
frame        Frame: a point and axes fixed on a body
part         Part: base class of joints, force elements and blocks, which are frozen
"""
