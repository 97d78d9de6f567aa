"""The stages of the friction routine.

PREPARE     directions, rates and coefficients at a state;  viscous friction, and in implicit steps all friction, into Q
SOLVE       friction and multipliers together, from the solution without friction
"""

from __future__ import annotations

PREPARE, SOLVE = 0, 1
