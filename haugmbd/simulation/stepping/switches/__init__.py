"""Contacts and stops that a run switches when they touch or are released.

switch_events  events behind which a run restarts, and compiled code that looks for them
touch_events   touch and release of contact forces
stop_events    touch and release of stops and one-sided springs
switching      all that a run switches, and from where it restarts
"""
