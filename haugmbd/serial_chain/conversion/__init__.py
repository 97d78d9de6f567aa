"""Between chains and systems.

topology      check that bodies and joints are a chain
actuation     tau that varies along a motion, as one force element
coordinates   between joint coordinates and states of bodies
to_system     a chain as a System
from_system   a System as a chain
"""
