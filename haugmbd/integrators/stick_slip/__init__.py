"""Stick and slip of joints with exact Coulomb friction.

watched_quantities   speeds along modes, and margins of friction, at many states; their events
slow_sliding         joints of several rates that are too slow to follow the direction of their velocity: whether they stop or turn
stick                events at which joints come to rest and slip, how they continue, and whether they have no end
slips                joints that slip where forces jump, at an impact, and where a contact opens
"""
