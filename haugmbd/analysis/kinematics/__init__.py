"""Motion that drivers prescribe.

singularity_interpolation   states around a singular position
path_following              following a driven mechanism
kinematics                  kinematics
inverse_dynamics            inverse_dynamics
"""
