"""Kinematic analysis and inverse dynamics.

path_steps                  steps of predictor and corrector, in compiled code
path_following              continuation in time, and across singular positions
kinematics                  kinematics, in a metric of the geometry, without inertia and forces
inverse_dynamics            inverse_dynamics
"""
