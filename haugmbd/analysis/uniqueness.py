r"""Which reactions are determined where rows depend on one another: what is the same for all multipliers that give the same motion.

    Phi_q^T lam = Q - M u_dot        lam + c fits as well for every c with  Phi_q^T c = 0
    the multiplier of row r is unique         c_r = 0 for all c
    a reaction of a joint is unique           T^T c = 0, by components in the joint's frame, at its point, for all c

The c come from the dependencies that the rank report found, one for each dependent row: O(n).
Source: Wehage and Haug (1982) on redundant constraints; the flags after Wojtyra (2005).
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from haugmbd.algebra.euler import rotation_matrix
from haugmbd.algebra.vec3 import Array
from haugmbd.model.consistency import size_of
from haugmbd.model.model import Model
from haugmbd.model.rank import rank_report
from haugmbd.model.rows import Rows, evaluate
from haugmbd.model.state import State

COMPONENTS = ("force along f", "force along g", "force along h", "torque about f", "torque about g", "torque about h")
"""Of a joint's reaction, in its frame on body j."""

SHARE_TOL = 1e-6
"""Part of the largest force (torques over the size of the model) below which a component does not take part; rounding is 1e-12."""


def free_multipliers(model: Model, rows: Rows) -> Array:
    """A basis of the multipliers that do nothing, (nc, k): Phi_q^T c = 0."""
    dependencies = rank_report(model, rows).dependencies
    C = np.zeros((model.nc, len(dependencies)))
    for k, (row, terms) in enumerate(dependencies):
        C[row, k] = 1.0
        for other, coefficient in terms:
            C[other, k] = -coefficient
    return C


def shared_components(model: Model, states: Iterable[State]) -> dict[str, tuple[str, ...]]:
    """By joint, the components of its reaction that are not unique at one of the states; joints with none are left out."""
    found: dict[str, set[int]] = {}
    for state in states:
        rows = evaluate(model, state)
        C = free_multipliers(model, rows)
        if C.shape[1]:
            wrenches = _wrenches(model, state, rows, C / np.abs(C).max(axis=0))
            largest = max(float(np.abs(w).max()) for w in wrenches.values())
            for name, w in wrenches.items():
                found.setdefault(name, set()).update(np.nonzero(np.abs(w).max(axis=1) > SHARE_TOL * largest)[0].tolist())
    return {name: tuple(COMPONENTS[k] for k in sorted(parts)) for name, parts in found.items() if parts}


def ties(model: Model, states: Iterable[State]) -> list[frozenset[int]]:
    """The rows of each dependency at these states: their multipliers can change together, and nothing moves."""
    found = [free_multipliers(model, evaluate(model, state)) for state in states]
    return [frozenset(np.nonzero(c)[0].tolist()) for C in found for c in C.T]


def _wrenches(model: Model, state: State, rows: Rows, C: Array) -> dict[str, Array]:
    """By joint, the forces and torques over the size of the model (6, k) of multipliers C on body j, at the joint's point and frame."""
    length = size_of(model, rows)
    found = {}
    for e in model.joints.values():
        side = (rows.bodies[e.rows, 1] == e.j).astype(int)
        A = rotation_matrix(state.p[e.j])
        force = rows.Phi_r[e.rows, side].T @ C[e.rows]
        moment = A @ (rows.PiBar[e.rows, side].T @ C[e.rows]) - np.cross(A @ e.s_bar_j, force, axisb=0).T
        axes = (A @ e.A_bar_j).T
        found[e.name] = np.vstack([axes @ force, axes @ moment / length])
    return found
