"""What compiled code looks at in every step.

rank_watch   whether rows are about to become dependent
event_watch  whether a step ends a batch because of an event
"""
