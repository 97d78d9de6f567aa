"""Motion with impacts: smooth pieces between instants at which velocities jump.

contact_modes      one model for every set of closed contacts
resting_contact    which contacts stay closed
contact_events     contacts that meet, and that would pull
impact_result      what a motion with impacts leaves
simulator          smooth motion, impact, smooth motion
simulate_impacts   simulate_impacts
"""
