r"""Continuation to distant values of drivers and held joints, in small steps, so that the mechanism stays in its assembly mode.

    value_k = value_0 + k / n (value - value_0),  k = 1 .. n          closed at each; the shorter way round

The rows of such drivers are inactive meanwhile: beyond a quarter turn sin(theta - f) = 0 converges to the wrong solution.
"""

from __future__ import annotations

from math import ceil, pi
from typing import NamedTuple

import numpy as np

from haugmbd.analysis.assembly.constraint_system import Problem
from haugmbd.analysis.assembly.fixed_coordinates import HeldJoint, held_row
from haugmbd.analysis.assembly.position_solver import close_positions
from haugmbd.drivers import Constant
from haugmbd.model.inspection.constraint_rows import evaluate
from haugmbd.model.labels import JointEntry
from haugmbd.model.state import State
from haugmbd.system.checks.constraint_residuals import constraint_gaps

FAR_TURN, FAR_SLIDE = 0.5, 0.25
"""[rad], and part of the size of the model: a joint that is farther from its target moves there in steps of this size."""

SAME = 1e-9
"""A driver is followed if its row measures the angle or displacement of its joint's frames, up to rounding."""


class Continuation(NamedTuple):
    """The state after the continuation, and its iterations."""

    state: State
    iterations: int


class _Goal(NamedTuple):
    """A joint with a target: its row at the start, the distance, the inactive row (-1 for none), and its number among the held joints."""

    joint: HeldJoint
    way: float
    row: int
    place: int


def continue_to_targets(problem: Problem, start: State) -> Continuation:
    """Return a state near the targets; `start` itself if no target is far, or if a step does not close."""
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
        closed = close_positions(problem._replace(held=held, asleep=asleep, search=None), state)
        if not closed.closed:
            return Continuation(start, 0)
        state, iterations = closed.pose.state, iterations + closed.iterations
    return Continuation(state, iterations)


def _held_goals(problem: Problem, start: State) -> list[_Goal]:
    """Return the held joints that are far from their values."""
    found = []
    for place, joint in enumerate(problem.held.joints):
        way = -held_row(joint, start).Phi
        if way != 0.0:
            found.append(_Goal(joint._replace(value=joint.value - way), way, -1, place))
    return found


def _driver_goals(problem: Problem, start: State) -> list[_Goal]:
    """Return the drivers of an angle or a displacement that are far from their values."""
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
    """Return the joint as it is held at `value`; None if its frames measure another quantity."""
    if unit not in ("rad", "m"):
        return None
    joint = HeldJoint(e, unit == "rad", value, 0.0)
    off = held_row(joint, start).Phi
    off = (off + pi) % (2.0 * pi) - pi if joint.turns else off
    return joint if abs(off) <= SAME * max(1.0, abs(value)) else None
