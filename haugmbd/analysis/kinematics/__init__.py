"""Kinematic analysis and inverse dynamics.

singularity_interpolation   states around a singular position
path_following              predictor-corrector continuation in time
kinematics                  kinematics
inverse_dynamics            inverse_dynamics
"""
