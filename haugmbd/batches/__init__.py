"""Batches: many variants of one topology on all processors, bit by bit as single runs.

threads            blocks of members on threads
parameters         parameters by their paths
variant            a member as a system of its own
direct_tables      parameters that are numbers in the tables
accelerations      accelerations and multipliers of all members
trajectory_store   results in files of a folder
trajectories       whole trajectories of all members
batch              batch
"""
