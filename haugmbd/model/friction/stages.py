"""The stages of the friction routine.

PREPARE     directions, rates and coefficients at a state;  viscous friction, and in implicit steps all friction, into Q
SOLVE       friction and multipliers together, from the solution without friction
STAY        the change of coordinates by b, which does not move the joints that stick
REST        the change of velocities by b, which leaves them no rates
"""

from __future__ import annotations

PREPARE, SOLVE, STAY, REST = 0, 1, 2, 3
