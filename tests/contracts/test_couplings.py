"""What every coupling, rolling joint, guide and rope must keep to; they are found in the lists of `joints`."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

import haugmbd as mbd
import joints
from haugmbd.formulations import FORMULATIONS
from haugmbd.math.euler_parameters import rotation_matrix
from tests.support.coupling_samples import sample

CLASSES = (*joints.COUPLINGS, *joints.ROLLING, *joints.GUIDES, *joints.ROPES, *joints.MOTIONS)
by_class = pytest.mark.parametrize("cls", CLASSES, ids=lambda cls: cls.__name__)
SEED = 20261123

AGREEMENT = 1e-8
"""Relative difference of accelerations of two formulations; the augmented matrices have condition numbers of about 1e4."""
PENALTY = 1e-2
"""The same for the penalty method, which has an error of its own."""
BALANCE = 1e-9
"""Relative error of the sum of reactions and of their power: rounding of some dozen products."""
CONSISTENT = 1e-9
"""A velocity that the rows allow, relative to its size."""


def moving(model):
    """A random state at the modelled pose whose velocity the rows allow, by an orthogonal projection."""
    rng = np.random.default_rng(SEED)
    state = model.state()
    rows = mbd.evaluate(model, state)
    J = rows.Phi_q.toarray()
    u = rng.normal(size=6 * model.nb)
    u -= np.linalg.lstsq(J, J @ u - rows.nu, rcond=None)[0]
    assert np.abs(J @ u - rows.nu).max() < CONSISTENT * np.abs(u).max()
    u = np.vstack([np.zeros((1, 6)), u.reshape(-1, 6)])
    return state.replace(v=u[:, :3], omega_bar=u[:, 3:])


@pytest.mark.slow
@by_class
def test_derivatives_are_those_of_differences(cls):
    found = mbd.verify(sample(cls))
    assert found.ok, str(found)


@pytest.mark.slow
@by_class
def test_a_joint_alone_is_verified_with_the_joints_that_it_needs(cls):
    """The system of it does not check the pose and the rank of one joint; that of all rows does."""
    (joint,) = (joint for joint in sample(cls).joints if joint.name == "sample")
    found = mbd.verify(joint, states=2)
    assert found.ok, str(found)
    assert {"modelled pose", "rank"} <= {check.name for check in found.checks}


@pytest.mark.slow
@by_class
def test_the_documented_degrees_of_freedom_are_removed(cls):
    with_it, without = mbd.mobility(sample(cls)), mbd.mobility(sample(cls, bare=True))
    velocities = 3 if cls.__name__.startswith("Rolling") else {"PointOnCurve": 2, "PoseDriver": 6}.get(cls.__name__, 1)
    positions = {"KnifeEdge": 0, "PointOnCurve": 2, "PoseDriver": 6}.get(cls.__name__, 1)
    assert without.degrees_of_freedom - with_it.degrees_of_freedom == velocities
    assert without.position_degrees_of_freedom - with_it.position_degrees_of_freedom == positions
    assert with_it.redundancy.dropped == ()


@pytest.mark.slow
@by_class
def test_formulations_agree(cls):
    model = sample(cls).compile()
    state = moving(model)
    wanted = mbd.accelerations(model, state)
    size = max(np.abs(wanted.v_dot).max(), np.abs(wanted.omega_bar_dot).max())
    for kind in FORMULATIONS:
        if kind.__name__ == "ReducedChain":
            continue  # a serial chain has no couplings, and no velocity rows
        found = mbd.accelerations(model, state, formulation=kind())
        allowed = size * (PENALTY if kind.__name__ == "Penalty" else AGREEMENT)
        assert np.abs(found.v_dot - wanted.v_dot).max() < allowed, kind.__name__
        assert np.abs(found.omega_bar_dot - wanted.omega_bar_dot).max() < allowed, kind.__name__


@pytest.mark.slow
@pytest.mark.parametrize(
    "cls", [cls for cls in CLASSES if cls not in joints.MOTIONS], ids=lambda cls: cls.__name__
)  # drivers do work
def test_reactions_balance_and_do_no_work(cls):
    model = sample(cls).compile()
    state = moving(model)
    lam = mbd.accelerations(model, state).lam
    own = model.joints["sample"].rows
    force = -(mbd.evaluate(model, state).Phi_q.toarray()[own].T @ lam[own]).reshape(-1, 6)
    force[:, 3:] = np.einsum("kij,kj->ki", rotation_matrix(state.p[1:]), force[:, 3:])
    size, u = np.abs(force).max(), np.hstack([state.v, np.einsum("kij,kj->ki", rotation_matrix(state.p), state.omega_bar)])[1:]
    assert size > 0.0
    assert abs((force * u).sum()) < BALANCE * size * np.abs(u).max()
    assert np.abs(force[:, :3].sum(axis=0)).max() < BALANCE * size
    moment = np.cross(state.r[1:], force[:, :3]) + force[:, 3:]
    assert np.abs(moment.sum(axis=0)).max() < BALANCE * size


METHODS = {
    "DormandPrince": {"rtol": 1e-8, "atol": 1e-10},
    "HEM4": {"integrator": mbd.HEM4(), "h": 2e-3},
    "RATTLE": {"integrator": mbd.RATTLE(), "h": 1e-3},
    "GeneralizedAlpha": {"integrator": mbd.GeneralizedAlpha(h=1e-3)},
    "RadauIIA": {"integrator": mbd.RadauIIA(h=5e-3)},
    "BDF": {"integrator": mbd.BDF(rtol=1e-7)},
}
END = 1e-4
"""Difference of positions [m] after 0.1 s from those of RK4 with h = 1 ms; methods of second order reach about 1e-6."""


@pytest.mark.slow
@by_class
def test_every_family_of_methods_reaches_the_same_state(cls):
    model = sample(cls).compile()
    start = moving(model)
    wanted = mbd.simulate(model, 0.1, h=1e-3, state=start)
    energy = np.abs(wanted.energy().drift).max()
    assert energy < 1e-6 * max(1.0, np.abs(wanted.energy().kinetic).max())
    for name, how in METHODS.items():
        if name == "RATTLE" and cls in joints.ROLLING:
            continue  # it keeps positions, and says so: tests/cross/test_rolling.py
        found = mbd.simulate(model, 0.1, state=start, **how)
        assert np.abs(found.r[-1] - wanted.r[-1]).max() < END, name


@pytest.mark.slow
@by_class
def test_impulses_leave_a_velocity_that_the_rows_allow(cls):
    model = sample(cls).compile()
    rng = np.random.default_rng(SEED)
    state = model.state()
    thrown = state.replace(v=state.v + rng.normal(size=(1, 3)) * (np.arange(model.nb + 1) > 0)[:, None])
    after = mbd.impulse(model, thrown)
    rows = mbd.evaluate(model, thrown.replace(v=after.v, omega_bar=after.omega_bar))
    u = np.hstack([after.v, after.omega_bar])[1:].ravel()
    assert np.abs(rows.Phi_q.toarray() @ u - rows.nu).max() < CONSISTENT


@pytest.mark.slow
@by_class
def test_they_go_to_files_and_to_other_processes_bit_by_bit(cls, tmp_path):
    system = sample(cls)
    system.save(tmp_path / "one.json")
    again = mbd.load_model(tmp_path / "one.json")
    again.save(tmp_path / "two.json")
    assert (tmp_path / "one.json").read_text() == (tmp_path / "two.json").read_text()
    one = mbd.evaluate(system.compile())
    for other in (again.compile(), pickle.loads(pickle.dumps(system)).compile(), pickle.loads(pickle.dumps(system.compile()))):
        two = mbd.evaluate(other)
        for name in ("Phi", "nu", "gamma", "Phi_r", "PiBar", "bodies"):
            np.testing.assert_array_equal(getattr(one, name), getattr(two, name))


@pytest.mark.slow
@by_class
def test_the_equations_are_explained_with_their_name(cls):
    assert "'sample'" in str(sample(cls).compile().explain("sample"))
