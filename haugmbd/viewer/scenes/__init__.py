"""A mechanism and its motion as plain data.

frames        the drawn instants, and the poses there
mechanism     bodies, joints and springs as plain data
shapes        shapes of bodies that are found
given_shapes  those that the model gives
mesh_table    meshes, each once in a page
packing       numbers over time as few bytes
meshes        triangles of the shapes
plot_table    curves of joints, drivers, loads and sensors
quantities    the curves beside the motion
scene         the description that the page shows
"""
