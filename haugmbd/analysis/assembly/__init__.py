"""Assembly of a mechanism, and its assembly modes.

regularized_least_squares   the least motion that fulfils linear equations
fixed_coordinates           coordinates that stay fixed
constraint_system           rows and Jacobian at a pose, and steps to other poses
position_solver             positions: damped Gauss-Newton
velocity_projection         velocities: projection on the velocity constraints
branch_signs                signs that tell the two assemblies of a joint apart
branch_repair               joints in the opposite sense: the bodies that are turned
result                      Assembly
diagnosis                   reasons why an assembly fails, by joint; redundant rows that contradict each other
far_starts                  positions from far: search on rotation vectors, other starts, the nearest closed pose
continuation                steps towards distant drivers and fixed coordinates
assemble                    assemble
assembly_modes              assembly_modes, such as elbow up and elbow down
"""
