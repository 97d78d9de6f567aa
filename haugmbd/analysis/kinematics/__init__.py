"""Kinematic analysis and inverse dynamics.

geometric_metric            the rows of a mechanism in a metric of its geometry, without inertia and forces
singularity_interpolation   states around a singular position
path_steps                  steps of predictor and corrector, in compiled code
path_following              continuation in time, and across singular positions
kinematics                  kinematics
inverse_dynamics            inverse_dynamics
"""
