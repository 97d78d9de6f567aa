"""The stages of the friction routine.

PREPARE     directions, rates and coefficients at a state;  viscous friction, and in implicit steps all friction, into Q
SOLVE       friction and multipliers together, from the solution without friction
STAY        from a change of coordinates in the solution, take what would move the joints that stick
REST        from a change of velocities in the solution, take what would leave them rates
"""

from __future__ import annotations

PREPARE, SOLVE, STAY, REST = 0, 1, 2, 3
