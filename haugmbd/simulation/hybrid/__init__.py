"""Motion with impacts: smooth segments between instants at which velocities jump.

resting_contact    contacts that stay closed
contact_events     events: contacts that meet, and contacts that would pull
user_events        the user's events at impacts
simulator          segments and transitions
run_of_contacts    which of the runs with contacts it is
"""
