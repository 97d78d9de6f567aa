"""Closing the joints of a mechanism, and its other branches.

regularized_least_squares   the least motion that fulfils linear equations
fixed_coordinates           what stays put
constraint_system           what is closed: rows at a pose, poses a step away
position_solver             positions: damped Gauss-Newton
velocity_projection         velocities: the nearest that keep joints closed
branch_signs                which way round a joint is assembled
branch_repair               turning bodies that are the other way round
result                      Assembly
diagnosis                   why an assembly fails, by joint
continuation                towards drivers and fixed coordinates in small turns
assemble                    assemble
assembly_modes              elbow up and elbow down
"""
