r"""The closed pose nearest to the start: steps along the closed poses, down the distance, each closed again.

    distance^2 = d^T W d,   d = (r - r0, log(p0^-1 p))          g = W^(1/2) d
    step       z = -s P g,  P the projection on the null space of J = Phi_q W^(-1/2);  s by Barzilai and Borwein, halved where it does
               not fall

At the nearest pose P g = 0: the motion that is left is across all motions that the joints allow. A correction that is small in
comparison with the arms of the mechanism is so to second order.
Source: Absil, Mahony and Sepulchre (2008), ch. 4 (line search on a manifold with a retraction); Barzilai and Borwein (1988).
"""

from __future__ import annotations

import numpy as np

from haugmbd.analysis.assembly.constraint_system import Pose, Problem, gradient, jacobian, moved, unit_rows
from haugmbd.analysis.assembly.position_solver import PositionSolution, close_positions
from haugmbd.analysis.assembly.regularized_least_squares import exact_motion
from haugmbd.compiled.array_types import Array
from haugmbd.math.euler_parameters import conjugate, logarithm, product
from haugmbd.model.state import State

ALONG = 0.1
"""Part of the distance along which the joints allow a motion, below which a pose is the nearest: its square over 2 is the excess."""

STEPS, CLOSING, HALVINGS = 40, 12, 6
"""Largest number of steps, of Newton steps that close each, and of halvings of a step."""

ENOUGH = 1e-2
"""Part of the decrease of the squared distance that the slope promises, 2 s |P g|^2, which a step must reach (half of this)."""

SWEEPS = 30
"""Sweeps of a projection: directions of a tiny singular value count as motions that the joints allow."""


def motion_from(problem: Problem, state: State) -> Array:
    """Return W^(1/2) d of the free columns, d the motion from the start to `state`."""
    start = problem.held.start
    d = np.hstack([state.r - start.r, logarithm(product(conjugate(start.p), state.p))])[1:]
    return np.asarray(np.einsum("kab,kb->ka", problem.metric.half, d).ravel()[problem.held.free])


def distance(problem: Problem, state: State) -> float:
    """Return the distance of a state from the start, in the metric of the problem."""
    return float(np.linalg.norm(motion_from(problem, state)))


def along_the_joints(problem: Problem, pose: Pose, g: Array) -> Array:
    """Return the part of g (n,) that the joints allow at a pose."""
    J, _ = unit_rows(jacobian(problem, problem.metric, gradient(problem, pose.state, pose.rows)))
    return np.asarray(g + exact_motion(J, J @ g, sweeps=SWEEPS))


def nearest(problem: Problem, closed: PositionSolution) -> PositionSolution:
    """Return the closed pose nearest to the start that descent along the closed poses from `closed` leads to."""
    quiet = problem._replace(search=None)
    g = motion_from(problem, closed.pose.state)
    down = along_the_joints(problem, closed.pose, g)
    step = 1.0
    for _ in range(STEPS):
        if float(np.linalg.norm(down)) <= ALONG * float(np.linalg.norm(g)):
            break
        for _ in range(HALVINGS):
            other = close_positions(quiet, moved(problem, closed.pose.state, -step * down), CLOSING)
            new = motion_from(problem, other.pose.state)
            if other.closed and new @ new <= g @ g - ENOUGH * step * (down @ down):
                break
            step *= 0.5
        else:
            break
        closed = other._replace(iterations=closed.iterations + other.iterations)
        before, g = down, new
        down = along_the_joints(problem, closed.pose, g)
        change = down - before
        step = float(np.clip(-(step * before @ change) / max(float(change @ change), 1e-300), 0.1, 10.0))
    return closed
