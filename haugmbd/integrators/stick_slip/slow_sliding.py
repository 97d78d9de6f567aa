r"""Joints of several rates that slide too slowly for friction to follow the direction of their velocity.

    begins    along the acceleration, until the speed is large enough for the steps that follow
    slows     along a fixed direction, where fixed steps would not follow that of the velocity

The direction of the velocity turns at the rate f_t |A| / speed, which no explicit step follows down to rest.  A joint that slows under a
load that only friction at rest would hold turns, and does not stop, see `sharp_turn`.
Source: Haug (2021), friction and stiction.
"""

from __future__ import annotations

from math import sqrt
from typing import NamedTuple

import numpy as np

from haugmbd.compiled.array_types import Array
from haugmbd.friction import columns as at
from haugmbd.integrators.state_space import MaximalStateSpace
from haugmbd.integrators.step_context import Problem
from haugmbd.integrators.stick_slip.sharp_turn import slowest_speed
from haugmbd.integrators.stick_slip.watched_quantities import Watch

TINY = 1e-300
"""Instead of 0 in a denominator."""
ENOUGH = 0.999
"""Times the speed at which a joint has begun to slide: what a located event has reached."""
BEGUN, SLOWEST = 3e-5, 3e-6
"""Relative to sqrt(f_t |A| L), the speed that friction stops on half the length of the model: that at which a joint of several rates has
begun to slide, at least; it leaves 5e-10 L of a slip, ten times this speed 5e-8 L. The direction is then that of the velocity, which turns
at the rate f_t |A| / speed, down to the speed at which it is fixed."""
MOVING = 10.0 * at.REST
"""[m/s] That speed at least, as of a joint that friction does not stop, because a driver moves it."""
FASTER = 1.5
"""Times the speed below which a joint slows: where it follows its velocity again."""
STEP_RATE = 1.0
"""h times this rate at that speed, at most: what an explicit step of h follows."""


class NearRest(NamedTuple):
    """A joint that slides: s (n,) [m/s], accelerations A (n, n) [1/kg] by friction in its channels, and the friction needed to hold it.

    need: (n,) relative to friction of sliding, 0 where it is not known
    acceleration: the largest by friction at its limit, in any direction [m/s2]
    """

    s: Array
    A: Array
    need: Array
    acceleration: float


class SlowSliding:
    """The slow joints of a run.

    watch: at the state of the problem;  modes: those of the run;  h: its fixed step, 0 with error control
    turns: (nf,) joints that have slowed down, and turn
    """

    def __init__(self, problem: Problem, state_space: MaximalStateSpace, watch: Watch, modes: Array, h: float) -> None:
        self.problem, self.state_space, self.watch, self.modes, self.h = problem, state_space, watch, modes, h
        self.ints = state_space.model.tables["FRICTION_INTS"]
        self.turns = np.zeros(len(self.ints), dtype=bool)

    def turn_on(self, stopped: list[int]) -> None:
        """Let joints begin to slide that have come to rest, and would stick, only because their steps did not follow a sharp turn."""
        watch, p = self.watch, self.problem
        turning = [k for k in stopped if self.turns[k] and watch.terms[k, at.STATE] == at.STICKS]
        self.turns[stopped] = False
        for k in turning:
            n = self.ints[k, at.CHANNELS]
            need = watch.terms[k, at.FRICTION : at.FRICTION + n] / watch.terms[k, at.ARM : at.ARM + n]
            watch.modes[k, [at.MODE, at.FAST]] = at.BEGINS, 0.0
            watch.modes[k, at.AGAINST : at.AGAINST + n] = -need / np.linalg.norm(need)
        if turning:
            watch.at(p.t, p.y, self.state_space)

    def set_modes(self, joints: list[int], before: Array) -> None:
        """Set the modes of joints of several rates that are too slow for friction to follow the direction of their velocity.

        Such a joint begins to slide, or slows down. It keeps its mode while its speed stays below that at which the mode ends.
        """
        speed = self.watch.terms[:, at.SPEED].copy()
        found = self._near_rest(joints)
        for k in joints:
            mode, was, acceleration = self.modes[k], before[k], found[k].acceleration
            stopped = sqrt(acceleration * self.state_space.model.length)
            least = max(MOVING, SLOWEST * stopped, self.h * acceleration / STEP_RATE)
            slow = was[at.MODE] in (at.BEGINS, at.SLOWS) and speed[k] < ENOUGH * was[at.FAST]
            if speed[k] <= at.REST:
                mode[at.MODE], mode[at.FAST] = at.BEGINS, max(BEGUN * stopped, FASTER * least)
            elif slow and was[at.MODE] == at.BEGINS:
                mode[:] = was
            elif slow or (was[at.MODE] != at.BEGINS and speed[k] < least / ENOUGH):
                mode[at.MODE], mode[at.FAST] = at.SLOWS, FASTER * least
                if was[at.MODE] != at.SLOWS:
                    own = found[k]
                    self.turns[k] = slowest_speed(own.s, own.A, own.need, at.REST * self.watch.units[k, 0]) > 0.0
            else:
                mode[at.FAST] = least

    def _near_rest(self, joints: list[int]) -> dict[int, NearRest]:
        """Return what joints that slide would need to be held, and what their friction does."""
        p, watch = self.problem, self.watch
        limits, sliding = watch.terms[:, at.LIMIT].copy(), watch.terms[:, at.C_1] / np.maximum(watch.terms[:, at.S_1], TINY)
        watch.modes[:] = self.modes
        watch.modes[joints, at.MODE] = at.STICKS  # the way that finds the rates by each of their channels
        watch.at(p.t, p.y, self.state_space, columns_alone=True)
        found = {}
        for k in joints:
            n, first, terms = self.ints[k, at.CHANNELS], self.ints[k, at.FIRST], watch.terms[k]
            arm = terms[at.ARM : at.ARM + n]
            A = arm[:, None] * watch.rates_by_friction()[first : first + n, first : first + n] * arm
            need, friction = terms[at.FRICTION : at.FRICTION + n] / arm, terms[at.LIMIT] * sliding[k]
            known = watch.solved and friction > 0.0
            found[k] = NearRest(
                arm * terms[at.RATE : at.RATE + n],
                A,
                need / friction if known else np.zeros(n),
                float(limits[k] * np.linalg.norm(A, 2)),
            )
        return found
