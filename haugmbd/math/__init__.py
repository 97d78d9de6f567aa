"""Rotations and spatial algebra on plain arrays.

vec3                 three-vectors as tuples, for use inside kernels
body_columns         where r, p, v and omega_bar start in the state of a body
larger               the larger of two numbers, for use inside kernels
blas_threads         dense linear algebra on one thread
arctangent           the angle of a point in the plane, for use inside kernels
euler_parameters     Euler parameters on arrays: rotation matrices, exponential, interpolation
euler_kernels        the same for one body, compiled
spatial              twists and wrenches, their transforms; inertia; motion subspaces
articulated_inertia  articulated inertia, twists and wrenches as records, for use inside kernels
"""
