"""Stick and slip of joints with exact Coulomb friction.

watched_quantities   speeds along modes, and margins of friction, at many states; their events
sharp_turn           whether a joint that slows down stops or turns
slow_sliding         joints of several rates that are too slow to follow the direction of their velocity
endless_events       stops and slips that follow one another without end
stick                events at which joints come to rest and slip, and how they continue
slips_at_jumps       joints that slip where forces jump, at calls of sampled blocks
slips_between_segments  joints that slip at an impact, and where a contact opens
"""
