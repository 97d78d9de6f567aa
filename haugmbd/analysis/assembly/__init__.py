"""Assembly of a mechanism, and its assembly modes.

regularized_least_squares   the least motion that fulfils linear equations
fixed_coordinates           coordinates that stay fixed
constraint_system           rows and Jacobian at a pose, and steps to other poses
position_solver             positions: damped Gauss-Newton, and its table; velocities: projection on the velocity constraints
branches                    signs that tell the two assemblies of a joint apart, and bodies that are turned where it is the other one
result                      Assembly; reasons why an assembly fails, by joint; redundant rows that contradict each other
geodesic_rows               rows in rotation vectors, angles and lengths: no false stationary point at 90 and 180 degrees
far_starts                  positions from far: search on these rows, other starts, the nearest closed pose
assemble                    assemble, also in steps towards distant drivers and fixed coordinates
assembly_modes              assembly_modes, such as elbow up and elbow down
"""
