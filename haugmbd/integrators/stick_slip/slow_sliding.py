"""Joints of several rates that slide too slowly for friction to follow the direction of their velocity.

    begins    along the acceleration, until the speed is large enough for the steps that follow
    slows     along a fixed direction, where fixed steps would not follow that of the velocity

The direction of the velocity turns at the rate f_t |A| / speed, which no explicit step follows down to rest.  A joint that slows
under a
load that only friction at rest would hold turns, and does not stop, see `slow_sliding.slowest_speed`.
Source: Haug (2021), friction and stiction.

Whether a joint of several rates that slows down stops or turns: its slowest speed, under a load and friction that do not change.

    s' = -A (f u + g),   u = s / |s|            s: sliding [m/s];  A: accelerations by friction;  f: friction of sliding;  g:
needed at rest
    with d tau = f dt / |s|:     u' = -(1 - u u^T) A (u + n),     (ln |s|)' = -u^T A (u + n),     n = g / f

With |n| <= 1 friction stops it.  With |n| > 1 it does not, although friction at rest, up to mu_s, might hold it: a motion that
meets the
load head on turns round at a speed that is not zero, unless it meets it exactly.  The speed is a factor of that at the beginning, and
depends on the angle alone, which steps follow as long as the speed is above what they can resolve.
Source: Haug (2021), friction and stiction; the equation in tau is that of the book with time measured by the speed.
"""

from __future__ import annotations

from math import exp, log, sqrt
from typing import NamedTuple

import numpy as np

from haugmbd.compiled.array_types import Array
from haugmbd.friction import columns as at
from haugmbd.integrators.state_space import MaximalStateSpace
from haugmbd.integrators.step_context import Problem
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
                    near_rest = found[k]
                    self.turns[k] = slowest_speed(near_rest.s, near_rest.A, near_rest.need, at.REST * self.watch.units[k, 0]) > 0.0
            else:
                mode[at.FAST] = least

    def _near_rest(self, joints: list[int]) -> dict[int, NearRest]:
        """Return what joints that slide would need to be held, and what their friction does."""
        p, watch = self.problem, self.watch
        limits, sliding = watch.terms[:, at.LIMIT].copy(), watch.terms[:, at.C_1] / np.maximum(watch.terms[:, at.S_1], TINY)
        watch.modes[:] = self.modes
        watch.modes[joints, at.MODE] = at.STICKS  # the way that finds the rates by each of their channels
        watch.at(p.t, p.y, self.state_space, columns_alone=True)
        near_rest = {}
        for k in joints:
            n, first, terms = self.ints[k, at.CHANNELS], self.ints[k, at.FIRST], watch.terms[k]
            arm = terms[at.ARM : at.ARM + n]
            A = arm[:, None] * watch.rates_by_friction()[first : first + n, first : first + n] * arm
            need, friction = terms[at.FRICTION : at.FRICTION + n] / arm, terms[at.LIMIT] * sliding[k]
            known = watch.solved and friction > 0.0
            near_rest[k] = NearRest(
                arm * terms[at.RATE : at.RATE + n],
                A,
                need / friction if known else np.zeros(n),
                float(limits[k] * np.linalg.norm(A, 2)),
            )
        return near_rest


STEP = 0.05
"""Of a step in tau, times |A| (1 + |n|): the slowest speed is that at the end of a step, within a part of 2e-3."""
MOST_STEPS = 20000
"""Steps in tau; a direction leaves its unstable equilibrium, from rounding, in about a thousand."""


def slowest_speed(s: Array, A: Array, need: Array, least: float) -> float:
    """Return the slowest speed [m/s] of a joint that slides with s (n,) [m/s]; 0 if it stops, or becomes slower than `least`.

    A: (n, n) [1/kg];  need: (n,) the friction needed to hold it, relative to that of sliding
    """
    start, size = float(np.linalg.norm(s)), float(np.linalg.norm(A, 2))
    if not (np.linalg.norm(need) > 1.0 and size > 0.0 and start > least):
        return 0.0
    u, fallen, A = s / start, 0.0, A / size
    h = STEP / (1.0 + float(np.linalg.norm(need)))
    for _ in range(MOST_STEPS):
        if -(u @ A @ (u + need)) >= 0.0:
            return start * exp(fallen)
        k1 = _rates(u, A, need)
        k2 = _rates(u + 0.5 * h * k1[1:], A, need)
        k3 = _rates(u + 0.5 * h * k2[1:], A, need)
        k4 = _rates(u + h * k3[1:], A, need)
        change = h / 6.0 * (k1 + 2.0 * k2 + 2.0 * k3 + k4)
        fallen += float(change[0])
        if fallen < log(least / start):
            return 0.0
        u = u + change[1:]
        u /= np.linalg.norm(u)
    return 0.0  # slower by a factor that is none of rounding: it stops


def _rates(u: Array, A: Array, need: Array) -> Array:
    """Return the rates of ln |s| and of u, (1 + n,)."""
    a = -A @ (u + need)
    along = u @ a
    return np.concatenate([[along], a - along * u])
