"""Error codes of compiled code: a code, a place, a number; `formulations` and `simulate` turn them into messages."""

from __future__ import annotations

from haugmbd.compiled.array_types import Array
from haugmbd.compiled.jit import kernel

OK = 0
SINGULAR = 1
"""A pivot is zero: place = node, number = |pivot| / scale."""
FREE_AXIS = 2
"""A massless direction that no joint determines: place = node, number = the residual of the refinement."""
NOT_FINITE = 3
"""A state that is NaN or infinite: place = index in y; or the friction of a joint: place = -1 - joint with friction."""
USER_STOPPED = 4
"""A callable of the user raised, or returned something that is not finite: place = 0 forces and drivers, 1 jacobians, 2 a formulation;
number = the time [s]."""
STEP_TOO_SMALL = 5
"""The error control needs a step below rounding: number = the step [s]."""
OFF_MANIFOLD = 6
"""The projection did not reach its tolerance: place = slot of the worst row, number = its residual."""

NO_CONVERGENCE = 7
"""Newton's iteration of an implicit step did not converge: number = the last correction [m, rad]."""
NOT_TANGENT = 8
"""Euler parameters as plain numbers change their length: place = body, number = p^T p' relative to |p'|."""
TURNS_TOO_FAR = 9
"""A body rotates so far in a step that the step's equation for its rotation has no solution: place = body, number = h |omega| [rad]; the
fourth number of the status is h [s]."""
ENERGY_LOST = 10
"""The energy projection did not reach its tolerance: number = the residual, relative to the largest energy."""
NOT_SPREAD = 11
"""Accelerations that suit dependent rows by least squares were not found: number = the part of their violation that is left."""

NO_FORCE = 12
"""A force element has no force at this state, such as a bushing at half a turn: number = the time [s]."""
FRICTION_HAS_NONE = 13
"""Friction in joints and multipliers have no solution: place = joint with friction, number = slope of its friction by itself."""
FRICTION_HAS_TWO = 14
"""Friction in joints and multipliers have two solutions or more: place and number as above."""
FRICTION_STALLED = 15
"""The iteration of friction and multipliers did not converge: place and number as above."""
FRICTION_UNDECIDED = 16
"""Which joints with friction stick was not found: place = joint with friction that lacks most, number = what it lacks [N]."""
SHORTER_STEP_MAY_AVOID = (
    NOT_FINITE, OFF_MANIFOLD, SINGULAR, NO_CONVERGENCE, NO_FORCE, FRICTION_HAS_NONE, FRICTION_HAS_TWO, FRICTION_STALLED,
    FRICTION_UNDECIDED
)  # fmt: skip
"""Codes of a state within a step, which the motion need not reach; if no shorter step avoids them, the last one ends the run."""


@kernel
def report(status: Array, code: int, place: int, number: float) -> int:
    """Write the code with its place and number to the status, and return it."""
    status[0] = code
    status[1] = place
    status[2] = number
    return code
