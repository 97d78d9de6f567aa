r"""Velocity projection: the velocities nearest to the given ones, in kinetic energy, that fulfil the velocity constraints.

    min (u - u0)^T M (u - u0) / 2     with  Phi_q u = nu,   held coordinates as they are

Exact for any rank of Phi_q; of rows that contradict each other (two drivers of one motion) the least-squares solution.
Source: Haug (2021), consistent initial velocities; Eich (1993).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from haugmbd.analysis.assembly.constraint_system import Gradient, Problem, gradient, jacobian, unit_rows
from haugmbd.analysis.assembly.regularized_least_squares import Metric, body_metric, exact_motion
from haugmbd.compiled.array_types import Array
from haugmbd.model.inspection.constraint_rows import evaluate
from haugmbd.model.state import State

LIGHTEST = 1e-8
"""Inertia of axes without inertia, relative to the body's largest."""

PROJECTIONS = 2
"""Axes with hardly any inertia amplify the rounding of a projection, by 1 / LIGHTEST at most. The second projection removes that."""


class VelocitySolution(NamedTuple):
    """The state with its new velocities, and the largest |Phi_q u - nu| before and after, in the units of the rows per second."""

    state: State
    before: float
    after: float


def nearest_velocities(problem: Problem, state: State) -> VelocitySolution:
    """Return the nearest velocities that fulfil the constraints."""
    rows = evaluate(problem.model, state)
    G = gradient(problem, state, rows, velocities=True)
    nu = np.concatenate([rows.nu, [joint.rate for joint in problem.held.joints]])
    nu[problem.asleep] = 0.0
    metric = body_metric(problem.model, size=problem.size, lift=LIGHTEST)
    J, length = unit_rows(jacobian(problem, metric, G))
    before = left = rates(G, state) - nu
    new = state
    for _ in range(PROJECTIONS):
        new = _changed(problem, metric, new, exact_motion(J, left / length))
        left = rates(G, new) - nu
    return VelocitySolution(new, _largest(before), _largest(left))


def _changed(problem: Problem, metric: Metric, state: State, z: Array) -> State:
    """Return the state with the velocities u + W^(-1/2) z of the free columns."""
    full = np.zeros(6 * problem.model.nb)
    full[problem.held.free] = z
    du = np.einsum("kab,kb->ka", metric.inverse, full.reshape(-1, 6))
    du.ravel()[~problem.held.free] = 0.0
    v, omega_bar = state.v.copy(), state.omega_bar.copy()
    v[1:] += du[:, :3]
    omega_bar[1:] += du[:, 3:]
    return state.replace(v=v, omega_bar=omega_bar)


def rates(G: Gradient, state: State) -> Array:
    """Return Phi_q u, (nr,)."""
    u = np.hstack([state.v, state.omega_bar])
    u[0] = 0.0
    moving: Array = np.einsum("rsc,rsc->r", G.J, u[G.bodies])
    return moving


def _largest(x: Array) -> float:
    return float(np.abs(x).max(initial=0.0))
