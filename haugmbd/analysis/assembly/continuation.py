r"""Leading a mechanism to drivers and held joints that ask for a pose far away: in small turns, so that it stays on its branch.

    value_k = value_0 + k / n (value - value_0),  k = 1 .. n          closed at each; the shorter way round

The rows of such drivers sleep meanwhile: sin(theta - f) = 0 would pull beyond a quarter turn to the wrong side.
"""

from __future__ import annotations

from math import ceil, pi
from typing import NamedTuple

import numpy as np

from haugmbd.analysis.assembly.constraint_system import Problem
from haugmbd.analysis.assembly.fixed_coordinates import HeldJoint, held_row
from haugmbd.analysis.assembly.position_solver import close_positions
from haugmbd.drivers import Constant
from haugmbd.model.constraint_rows import evaluate
from haugmbd.model.labels import JointEntry
from haugmbd.model.state import State
from haugmbd.system.constraint_residuals import constraint_gaps

FAR_TURN, FAR_SLIDE = 0.5, 0.25
"""[rad], and part of the size of the model: a joint that is further from where it should be is led there in steps of this."""

SAME = 1e-9
"""A driver is led if its row measures the angle or displacement of its joint's frames: to rounding."""


class Continuation(NamedTuple):
    """Where to close from, and the iterations that it took to come there."""

    state: State
    iterations: int


class _Goal(NamedTuple):
    """A joint to be led: as it is held at the start, where to, the row that sleeps (-1 for none), and its place among the held."""

    joint: HeldJoint
    way: float
    row: int
    place: int


def continue_to_targets(problem: Problem, start: State) -> Continuation:
    """Lead `start` to near what is asked for; `start` itself where nothing is far, or where the way is barred."""
    goals = [*_held_goals(problem, start), *_driver_goals(problem, start)]
    steps = max((ceil(abs(g.way) / (FAR_TURN if g.joint.turns else FAR_SLIDE * problem.size)) for g in goals), default=1)
    if steps == 1:
        return Continuation(start, 0)
    state, iterations = start, 0
    asleep = np.array([goal.row for goal in goals if goal.row >= 0], dtype=np.int64)
    for k in range(1, steps + 1):
        joints = list(problem.held.joints)
        for goal in goals:
            at = goal.joint._replace(value=goal.joint.value + k / steps * goal.way)
            if goal.place < 0:
                joints.append(at)
            else:
                joints[goal.place] = at
        held = problem.held._replace(joints=tuple(joints))
        closed = close_positions(problem._replace(held=held, asleep=asleep), state)
        if not closed.closed:
            return Continuation(start, 0)
        state, iterations = closed.pose.state, iterations + closed.iterations
    return Continuation(state, iterations)


def _held_goals(problem: Problem, start: State) -> list[_Goal]:
    """The held joints that are not where they should be."""
    found = []
    for place, joint in enumerate(problem.held.joints):
        way = -held_row(joint, start).Phi
        if way != 0.0:
            found.append(_Goal(joint._replace(value=joint.value - way), way, -1, place))
    return found


def _driver_goals(problem: Problem, start: State) -> list[_Goal]:
    """The drivers of an angle or a displacement that the start does not follow."""
    model = problem.model
    measured = constraint_gaps(model, evaluate(model, start), start.t)
    of_row, found = model.drivers_of_rows(), []
    for e in model.joints.values():
        row = int(e.rows[0]) if len(e.rows) == 1 else -1
        if row < 0 or (model.labels[row].unit != "rad" and isinstance(model.drivers[of_row[row]], Constant)):
            continue
        joint = _measuring(e, start, model.labels[row].unit, float(measured.f[row] + measured.gap[row]))
        if joint is not None:
            found.append(_Goal(joint, -float(measured.gap[row]), row, -1))
    return found


def _measuring(e: JointEntry, start: State, unit: str, value: float) -> HeldJoint | None:
    """The joint as it is held at `value`, None where its frames measure something else."""
    if unit not in ("rad", "m"):
        return None
    joint = HeldJoint(e, unit == "rad", value, 0.0)
    off = held_row(joint, start).Phi
    off = (off + pi) % (2.0 * pi) - pi if joint.turns else off
    return joint if abs(off) <= SAME * max(1.0, abs(value)) else None
