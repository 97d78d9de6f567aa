"""Random trains against their equations in joint coordinates, which share no code with rows, multipliers of joints or recursions.

Far from the modelled pose, through several turns: the coordinates of couplings, accelerations and multipliers with every solver and
formulation; and runs.  Rounding grows with the condition of the joint-space equations, which random trains keep below about 1e7.
"""

from __future__ import annotations

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import haugmbd as mbd
from haugmbd import UsageError
from haugmbd.kkt.solver import BLOCK, MULTIFRONTAL, TREE
from haugmbd.math.euler_parameters import rotation_matrix
from joints import CJ, RJ, TJ, UJ
from tests.support.random_trains import ANGLE, RandomTrain
from tests.support.seeds import seeds

CLOSED = 1e-10
"""Of Phi, at coordinates up to some hundred: 1e-13 is seen."""

SAME = 1e-8
"""Of accelerations and multipliers, relative to the largest: 2e-10 is seen with RangeSpace, else 2e-11."""

RUN = 1e-6
"""Relative to the largest coordinate or rate, of runs with tolerances of 1e-9: 1e-9 is seen."""

TIME, SPREAD = 0.37, 10.0
MIXED, HINGES, SLIDES = (RJ, RJ, RJ, TJ, CJ, UJ), (RJ,), (RJ, RJ, TJ)


@pytest.mark.slow
@pytest.mark.parametrize("kinds", [MIXED, HINGES, SLIDES], ids=["mixed", "hinges", "slides"])
def test_accelerations_and_multipliers_are_those_of_joint_coordinates(kinds):
    compared = dict.fromkeys((None, TREE, BLOCK, MULTIFRONTAL), 0)
    for seed in seeds(6):
        train = RandomTrain(seed, kinds)
        motion = train.space.random_motion(train.rng, TIME, SPREAD) if train.space.laws else None
        if motion is None:
            continue
        _, lam, wanted = train.space.solve(*motion, TIME)
        for solver in compared:
            try:
                model = train.system.compile(solver=solver)
            except UsageError:
                assert solver == TREE  # other couplings than those of joints of one freedom, without loops
                continue
            compared[solver] += 1
            state = train.state(model, *motion, TIME)
            rows = mbd.evaluate(model, state)
            assert np.abs(rows.Phi).max() < CLOSED, (seed, solver)
            u = np.hstack([state.v, state.omega_bar])[1:].ravel()
            assert np.abs(rows.Phi_q @ u - rows.nu).max() < CLOSED * max(1.0, np.abs(u).max()), (seed, solver)
            formulations = (
                (mbd.NewtonEuler(), mbd.RangeSpace(), mbd.NullSpace()) if solver in (None, TREE) else (mbd.NewtonEuler(),)
            )
            for formulation in formulations:
                found = mbd.accelerations(model, state, formulation=formulation)
                for body, a in zip(train.space.bodies, wanted, strict=True):
                    k, size = model.body(body.name), max(np.abs(wanted).max(), 1.0)
                    alpha = rotation_matrix(state.p[k]) @ found.omega_bar_dot[k]
                    error = np.abs(np.concatenate([found.v_dot[k], alpha]) - a).max()
                    assert error < SAME * size, (seed, solver, formulation)
                ours = np.array([found.lam[model.joints[law.name].rows[0]] for law in train.space.laws])
                assert np.abs(ours - lam).max() < SAME * max(np.abs(lam).max(), 1.0), (seed, solver, formulation)
    assert min(compared[None], compared[BLOCK], compared[MULTIFRONTAL]) >= 4
    assert kinds is MIXED or compared[TREE] >= 1


@pytest.mark.slow
@pytest.mark.parametrize("kinds", [MIXED, HINGES, SLIDES], ids=["mixed", "hinges", "slides"])
def test_runs_are_those_of_joint_coordinates(kinds):
    """Positions, rates, and the coordinates of couplings with all their turns after a second."""
    compared = 0
    for seed in seeds(5, first=100):
        train = RandomTrain(seed, kinds, most=5)
        motion = train.space.random_motion(train.rng, 0.0, 3.0) if train.space.laws else None
        if motion is None:
            continue
        n = len(motion[0])
        reference = solve_ivp(
            lambda t, y, train=train, n=n: np.concatenate([y[n:], train.space.solve(y[:n], y[n:], t, stiffness=20.0)[0]]),
            (0.0, 1.0), np.concatenate(motion), method="DOP853", rtol=1e-8, atol=1e-8,
        )  # fmt: skip
        assert reference.success
        q, rates, size = reference.y[:n, -1], reference.y[n:, -1], max(1.0, np.abs(reference.y).max())
        for solver in (TREE, BLOCK):
            try:
                model = train.system.compile(solver=solver)
            except UsageError:
                continue
            start, end = train.state(model, *motion, 0.0), train.state(model, q, rates, 1.0)
            result = mbd.simulate(model, 1.0, state=start, integrator=mbd.DOP853(rtol=1e-9, atol=1e-9))
            last = result.state(-1)
            assert np.abs(last.r - end.r).max() < RUN * size, (seed, solver)
            assert np.abs(last.v - end.v).max() < RUN * size, (seed, solver)
            assert np.abs(last.omega_bar - end.omega_bar).max() < RUN * size, (seed, solver)
            assert np.abs(last.angles - end.angles).max(initial=0.0) < RUN * size, (seed, solver)
            for way in train.ways:
                if way.kind != ANGLE:
                    found = result.joint(way.coordinate.joint.name).displacement[-1]
                    assert abs(found - q[way.number]) < RUN * size, (seed, solver)
            compared += 1
    assert compared >= 4
