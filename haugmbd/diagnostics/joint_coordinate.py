r"""One coordinate of a joint as a function of time and state, for events and sensors.

    f(t, state) = q - zero,  or q'        q as in `joint_history`; angles from -pi to pi about `zero`, or that of a torsion spring

Source: Haug (2021), spatial kinematics: relative coordinates of joints.
"""

from __future__ import annotations

from numbers import Real
from typing import Any

import numpy as np

from haugmbd.constraints.freedoms import Kind
from haugmbd.deprecated import public_class
from haugmbd.diagnostics.joint_motion import angle_in_turn, angle_rates, angles_of, is_arm, joint_motion, slide, slide_rates
from haugmbd.diagnostics.turns import known_angle, principal
from haugmbd.errors import UsageError
from haugmbd.model.given import model_given
from haugmbd.model.labels import joint_named
from haugmbd.model.model import Model
from haugmbd.model.state import State


@public_class
class JointCoordinate:
    """A coordinate of a joint, or its rate, as a function f(t, state): for `Event` and `Sensor`.

    Parameters
    ----------
    system : System or Model
        The mechanism.
    joint : str
        Name of the joint.
    what : {"angle", "displacement"}
        The kind of coordinate.
    zero : float
        Value that is taken off [rad or m]: the function is zero where the coordinate has this value. Not used for rates.
    number : int
        Which one of several coordinates of this kind, from 1.
    derivative : {0, 1}
        0 for the coordinate, 1 for its rate.

    Raises
    ------
    UsageError
        If the joint or its coordinate does not exist, or an argument is not valid.

    Notes
    -----
    The coordinate is zero at the modelled pose and positive as the joint's class says. A state does not store whole turns: an angle is
    measured from -pi to pi about `zero`, and jumps there; an event at this place has a `jump`. With an RSDA on the joint the angle goes
    through any number of turns.
    """

    def __init__(
        self, system: Any, joint: str, what: str = "angle", *, zero: float = 0.0, number: int = 1, derivative: int = 0
    ) -> None:
        self.model: Model = model_given(system, "JointCoordinate")
        self.joint = joint_named(self.model.joints, joint)
        freedoms = self.joint.freedoms or ()
        known = {"angle": angles_of(freedoms), "displacement": tuple(f for f in freedoms if f.kind is Kind.SLIDE)}
        has = {name: ways for name, ways in known.items() if ways}
        if what not in has:
            raise UsageError(f"what is {what!r}: joint {joint!r} ({self.joint.kind}) has {', '.join(map(repr, has)) or 'neither'}.")
        if number not in range(1, len(has[what]) + 1):
            raise UsageError(f"number = {number!r}: joint {joint!r} has {len(has[what])} of {what!r}, from 1.")
        given: Any = zero  # numbers of NumPy, too
        if isinstance(given, bool) or not isinstance(given, Real) or not np.isfinite(float(given)):
            raise UsageError(f"zero = {zero!r:.60} must be a finite number.")
        if derivative not in (0, 1):
            raise UsageError(f"derivative = {derivative!r} must be 0 or 1: a state has no accelerations.")
        self.freedom, self.what, self.zero, self.derivative = has[what][number - 1], what, float(zero), derivative
        self._none = np.zeros((1, self.model.nb + 1, 6))
        self._modelled = joint_motion(self.joint, self.model.y0[None], self._none)

    def __call__(self, t: float, state: State) -> float:
        """Return the coordinate less `zero`, or its rate."""
        y = state.y[None]
        m, arm = joint_motion(self.joint, y, self._none), is_arm(self.joint.freedoms or ())
        if self.what == "displacement":
            value = (
                slide_rates(self.freedom, m)[0] if self.derivative else slide(self.freedom, m) - slide(self.freedom, self._modelled)
            )
            return float(value[0]) - (0.0 if self.derivative else self.zero)
        if self.derivative:
            return float(angle_rates(self.freedom, m, arm=arm)[0][0])
        angle = angle_in_turn(self.freedom, m, arm=arm) - angle_in_turn(self.freedom, self._modelled, arm=arm) - self.zero
        known = known_angle(self.model, self.joint, self.freedom, np.array([t]), y, None) if self.model.loads else None
        near = np.zeros(1) if known is None else known - self.zero
        return float((principal(angle - near) + near)[0])

    def __repr__(self) -> str:
        return f"JointCoordinate({self.joint.name!r}, {self.what!r}{', derivative=1' if self.derivative else ''})"
