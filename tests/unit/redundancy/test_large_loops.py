"""Large redundant loops: lifts of many stages are regular, run, and know which reactions are unique.

The foot of a lift of n stages moves a mass that grows with n^3, as seen from its own joint, and its bars turn about their own axes without
inertia: pivots are small, and no row depends on those that are kept.
"""

from __future__ import annotations

import numpy as np
import pytest

import haugmbd as mbd
from haugmbd.diagnostics.joint_reactions import joint_wrenches
from haugmbd.gallery import hoberman_ring, jansen_leg, scissor_lift, windows
from haugmbd.model.labels import frames_of

STAGES = 80
"""Lifts of 50 stages were the largest that ran."""

BALANCED = 1e-9
"""Residual of the equations of motion relative to the weights: 1e-12 is seen."""

GAP = 1e-4
"""Singular values of independent rows are above, those of dependent ones powers of ten below."""

STRESS = 1e-7
"""Component of a self-stress that is zero; others are above 1e-3."""


@pytest.mark.slow
def test_a_lift_of_many_stages_runs():
    """The accelerations satisfy the equations of motion and all rows, and the motion keeps its energy."""
    model = scissor_lift(STAGES).compile()
    found, rows = mbd.accelerations(model), mbd.evaluate(model)
    assert model.redundancy.rank == 6 * model.nb - 1
    u_dot = np.hstack([found.v_dot, found.omega_bar_dot])[1:]
    force, size = rows.Phi_q.T @ found.lam, np.abs(rows.Phi_q.T) @ np.abs(found.lam)
    inertial = np.hstack(
        [model.mass[1:, None] * (u_dot[:, :3] - model.gravity), np.einsum("kab,kb->ka", model.J_bar[1:], u_dot[:, 3:])]
    )
    assert np.abs(rows.Phi_q @ u_dot.ravel() - rows.gamma).max() < BALANCED * np.abs(u_dot).max()
    assert np.abs(inertial.ravel() + force).max() < BALANCED * size.max()
    result = mbd.simulate(model, 2e-3, h=1e-3)
    assert np.abs(result.energy().drift).max() < BALANCED * model.mass.sum() * np.linalg.norm(model.gravity)


@pytest.mark.slow
@pytest.mark.parametrize(
    "system",
    [scissor_lift(12), hoberman_ring(16), windows(10), jansen_leg()],
    ids=["scissor lift", "Hoberman ring", "windows", "leg"],
)
def test_unique_reactions_are_those_that_no_self_stress_loads(system):
    """The null space of Phi_q^T by a singular value decomposition of all rows is the other way to the flags."""
    model = system.compile()
    rows, frames = mbd.evaluate(model), frames_of(model.joints)
    unit = np.array([1.0, 1.0, 1.0, *([1.0 / model.length] * 3)])
    J = rows.Phi_q.toarray() * np.tile(unit, model.nb)
    size, rank = np.linalg.norm(J, axis=1)[:, None], model.redundancy.rank
    U, s, _ = np.linalg.svd(J / size)
    assert s[rank - 1] > GAP > 1e6 * s[rank:].max(initial=0.0)
    stress, wrenches = U[:, rank:] / size, joint_wrenches(rows, frames) * unit
    for k, one in enumerate(mbd.mobility(model).reactions):
        own = slice(frames.first[k], frames.first[k + 1])
        loads = np.linalg.norm(wrenches[own].T @ stress[own], axis=1) / np.abs(wrenches[own]).max()
        assert tuple(bool(load < STRESS) for load in loads) == one.unique, one.joint
