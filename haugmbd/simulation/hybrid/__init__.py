"""Motion with rigid contacts: smooth segments between instants at which velocities jump, or time stepping.

run_of_contacts    which of the runs with contacts it is
simulator          without friction: segments and transitions
resting_contact    contacts that stay closed;  contact_events  contacts that meet, and contacts that would pull
flight             segments in which all contacts are open, and impacts of one contact, in compiled code
frictional_run     with friction or shapes: segments, impacts and events;  frictional_motion  the motion and its modes
time_stepping      MoreauJean: stored states and events;  moreau_jean_step  one step
user_events        the user's events at impacts
"""
