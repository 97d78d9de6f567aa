"""Between chains and systems.

topology      whether bodies and joints are a chain
coordinates   between joint coordinates and states of bodies
to_system     a chain as a System
from_system   a System as a chain
"""
