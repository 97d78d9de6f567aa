"""What compiled code looks at in every step.

rank_watch   whether rows are about to become dependent
stiffness_watch  whether a step resolves forces that depend on velocities
event_watch  whether a step ends a batch because of an event
"""
