"""Motion with impacts: smooth segments between instants at which velocities jump.

contact_modes      one model for every set of closed contacts
resting_contact    contacts that stay closed
contact_events     events: contacts that meet, and contacts that would pull
continuation       motions with impacts that follow on one another as one
shared_forces      normal forces of contacts that share a load in many ways
impact_result      the result of a motion with impacts
user_events        the user's events at impacts
simulator          segments and transitions
simulate_impacts   simulate_impacts
impact_file        the result on disk
"""
