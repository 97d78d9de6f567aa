"""The recursion over forests with coupled joints against LAPACK, against the block LDL^T, and what it leaves to the blocks.

The tolerance is the rounding unit times the condition number of the scaled matrix, times a factor for the growth in a few dozen steps.
"""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import haugmbd as mbd
from haugmbd import UsageError
from haugmbd.crosscheck import dense_system
from haugmbd.kkt.cluster_order import MOST_FREE, SLIDES, CoupledRow, Term, cluster_tables, triangular_order
from haugmbd.kkt.solver import BLOCK, TREE
from haugmbd.kkt.tree_order import Branch
from joints import CJ, RJ, SJ, TJ, UJ, CoordinateFunction, Coupling, Gear, RackPinion
from tests.support.augmented_systems import condition
from tests.support.geared_trees import random_geared_tree
from tests.support.seeds import seeds

GROWTH = 1e3
"""Of rounding, relative to the unit times the condition number: 30 is seen."""

SAME = 1e-9
"""Relative to the largest number, of two solvers: 1e-13 is seen, times the condition of nearly locked trains."""

ROUNDING = 1e-14
"""Of numbers near 1 that the same formulas give: 1e-16 is seen."""

RUN = 1e-8
"""Relative to the largest number of a state after a run: 1e-12 is seen, the tolerance of Newton's iterations apart."""

Z = (0.0, 0.0, 1.0)


def trees(seeds) -> list[tuple[int, mbd.Model]]:
    """The random trees of these seeds with couplings that the recursion serves."""
    found = []
    for seed in seeds:
        system = random_geared_tree(seed)
        try:
            model = system.compile(solver=TREE)
        except UsageError:
            continue
        if any(isinstance(joint, Coupling) for joint in system.joints):
            found.append((seed, model))
    return found


def solution(model: mbd.Model, state: mbd.State) -> np.ndarray:
    """(u_dot, lam) as one vector."""
    found = mbd.accelerations(model, state)
    return np.concatenate([np.hstack([found.v_dot, found.omega_bar_dot])[1:].ravel(), found.lam])


@pytest.mark.slow
@pytest.mark.parametrize("block", seeds(1))
def test_random_trees_agree_with_lapack(state_of, block):
    """Couplings of two to four coordinates, some driven, at states that fulfil the rows and at states that do not."""
    served = trees(range(60 * block, 60 * block + 60))
    assert len(served) >= 15
    for seed, model in served:
        state = state_of(model, seed, on_manifold=seed % 2 == 0)
        K, b = dense_system(model, state)
        s = 1.0 / np.sqrt(np.abs(K).max(axis=0))
        K = s[:, None] * K * s
        reference, x = np.linalg.solve(K, s * b), solution(model, state) / s
        bound = GROWTH * np.finfo(float).eps * condition(K)
        assert np.abs(x - reference).max() < bound * np.abs(reference).max(), seed


@pytest.mark.slow
def test_projections_impulses_and_reactions_are_those_of_blocks(state_of):
    for seed, model in trees(range(200, 216)):
        other = random_geared_tree(seed).compile(solver=BLOCK)
        after, reference = (
            mbd.impulse(one, applied=(mbd.PointImpulse("blow", one.bodies[-1], impulse=(1.0, 2.0, 3.0)),)) for one in (model, other)
        )
        np.testing.assert_allclose(after.v, reference.v, rtol=0.0, atol=SAME * np.abs(reference.v).max())
        np.testing.assert_allclose(after.omega_bar, reference.omega_bar, rtol=0.0, atol=SAME * np.abs(reference.omega_bar).max())
        ends = []
        for one in (model, other):
            state = state_of(model, seed, on_manifold=True)
            result = mbd.simulate(one, 0.02, h=1e-3, state=state, stabilization=mbd.Projection())
            ends.append(result.y[-1])
        np.testing.assert_allclose(ends[0], ends[1], rtol=0.0, atol=SAME * np.abs(ends[1]).max())


def wheels(n: int, ratios, *, kind=RJ, close: bool = False) -> mbd.System:
    """n wheels on the ground, each of them coupled to the next one, and the last to the first."""
    system = mbd.System("wheels", gravity=(0.3, -9.81, 1.0))
    joints = []
    for k in range(n):
        body = system.add(mbd.Body(f"wheel {k}", 1.0 + 0.1 * k, (0.1, 0.2, 0.3), r=(k + 0.5, 0.0, 0.0)))
        joints.append(system.add(kind(f"joint {k}", system.ground, body, point=(k, 0, 0), axis=Z)))
    for k, ratio in enumerate(ratios):
        system.add(Gear(f"gear {k}", joints[k], joints[k + 1], ratio=ratio))
    if close:
        system.add(Gear("closing", joints[0], joints[-1], ratio=-1.7))
    return system


def chain(n: int, seed: int = 0) -> tuple[mbd.System, list]:
    """A chain of n links on skew hinges, and the hinges."""
    rng = np.random.default_rng(seed)
    system, joints = mbd.System("chain", gravity=(0.3, -2.0, -9.81)), []
    before = system.ground
    for k in range(n):
        body = system.add(mbd.Body(f"link {k}", 1.0, (0.1, 0.2, 0.25), r=(k + 0.5, 0.0, 0.0)))
        joints.append(system.add(RJ(f"joint {k}", before, body, point=(k, 0, 0), axis=rng.normal(size=3))))
        before = body
    return system, joints


@pytest.mark.slow
@pytest.mark.parametrize("ratio", [-0.5, -1.1])
def test_long_trains_are_solved_along_falling_speeds(ratio):
    """Two hundred wheels, whose speeds would grow to 1e8 times the first: the free coordinate is that of the fastest wheel."""
    system = wheels(200, [ratio] * 199)
    model, other = system.compile(), system.compile(solver=BLOCK)
    assert (model.solver, other.solver) == (TREE, BLOCK)
    a, reference = mbd.accelerations(model), mbd.accelerations(other)
    size = np.abs(reference.omega_bar_dot).max()
    np.testing.assert_allclose(a.omega_bar_dot, reference.omega_bar_dot, rtol=0.0, atol=1e-9 * size)
    np.testing.assert_allclose(a.lam, reference.lam, rtol=0.0, atol=1e-9 * np.abs(reference.lam).max())


@pytest.mark.slow
def test_explain_says_that_couplings_are_solved_by_the_recursion():
    text = wheels(30, [-0.5, -2.0] + 27 * [-1.0]).compile().explain_solver()
    assert text == "tree, no loops, 30 of 30 bodies on joints that the recursion knows, 29 couplings of their angles"
    assert wheels(3, [-0.5, -2.0]).compile(solver=BLOCK).explain_solver().startswith("block LDL^T")  # it takes longer by blocks


def rack() -> mbd.System:
    system = wheels(1, [])
    bar = system.add(mbd.Body("bar", 1.0, (0.1, 0.2, 0.3), r=(0.0, 0.1, 0.0)))
    guide = system.add(TJ("guide", system.ground, bar, point=(0, 0.1, 0), axis=(1, 0, 0)))
    system.add(RackPinion("mesh", system.joints[0], guide, radius=0.1))
    return system


def sliding_cylinder() -> mbd.System:
    """A rack on a joint with two freedoms."""
    system = wheels(1, [])
    bar = system.add(mbd.Body("bar", 1.0, (0.1, 0.2, 0.3), r=(0.0, 0.1, 0.0)))
    guide = system.add(CJ("guide", system.ground, bar, point=(0, 0.1, 0), axis=(1, 0, 0)))
    system.add(Coupling("mesh", {system.joints[0]: -0.1, guide.coordinate("displacement"): 1.0}))
    return system


def universal() -> mbd.System:
    system = wheels(1, [])
    bar = system.add(mbd.Body("bar", 1.0, (0.1, 0.2, 0.3), r=(0.0, 0.1, 0.0)))
    joint = system.add(UJ("cross", system.ground, bar, point=(0, 0.1, 0), axis_i=(1, 0, 0), axis_j=(0, 1, 0)))
    system.add(Coupling("mesh", {system.joints[0]: 1.0, joint.coordinate("angle", 2): 0.5}))
    return system


def function_of_an_angle() -> mbd.System:
    system = wheels(2, [])
    system.add(CoordinateFunction("cam", system.joints[0], system.joints[1], lambda q: 0.1 * q * q))
    return system


def too_many_free() -> mbd.System:
    system, joints = chain(MOST_FREE + 2)
    system.add(Gear("long", joints[0], joints[-1], ratio=0.5))
    return system


def badly_scaled() -> mbd.System:
    """The middle one of three wheels is slow: speeds grow from it to both sides."""
    return wheels(5, [1e-2, 1e-2, 1e2, 1e2])


@pytest.mark.parametrize("make", [sliding_cylinder, universal, function_of_an_angle, too_many_free])
def test_what_it_does_not_serve_is_left_to_the_blocks(make):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert make().compile().solver == BLOCK
        with pytest.raises(UsageError, match="solver = 'tree' .* (close loops|couples joints)"):
            make().compile(solver=TREE)


@pytest.mark.slow
def test_racks_are_served_at_any_pose(state_of):
    """Rows of J, Phi, gamma and the solution are those of the blocks, for racks and slides between turning bodies."""
    system, before, joints = mbd.System("slides", gravity=(0.3, -2.0, -9.81)), None, []
    rng = np.random.default_rng(2)
    for k in range(6):
        body = system.add(mbd.Body(f"link {k}", 1.0 + k, (0.1, 0.2, 0.25), r=(k + 0.5, 0.1 * k, 0.0)))
        i, j = (before or system.ground, body) if k % 3 else (body, before or system.ground)
        joints.append(system.add((RJ, TJ)[k % 2](f"joint {k}", i, j, point=(k, 0, 0.1), axis=rng.normal(size=3))))
        before = body
    system.add(Coupling("three", {joints[0]: 1.0, joints[1]: -0.6, joints[2]: 0.3}))
    system.add(Coupling("driven", {joints[4]: 0.2, joints[3]: 0.7}, f=lambda t: 0.1 * np.sin(3.0 * t)))
    for one in (rack(), system):
        model, other = one.compile(solver=TREE), one.compile(solver=BLOCK)
        state = state_of(model, 5, on_manifold=False)
        rows, reference = mbd.evaluate(model, state), mbd.evaluate(other, state)
        np.testing.assert_allclose(rows.Phi_q.toarray(), reference.Phi_q.toarray(), rtol=0.0, atol=ROUNDING)
        for name in ("Phi", "nu", "gamma"):
            a, b = getattr(rows, name), getattr(reference, name)
            np.testing.assert_allclose(a, b, rtol=0.0, atol=ROUNDING * max(1.0, np.abs(b).max()), err_msg=name)
        x, y = solution(model, state), solution(other, state)
        np.testing.assert_allclose(x, y, rtol=0.0, atol=SAME * np.abs(y).max())


def test_large_ratios_are_left_to_the_blocks():
    """Where a slow wheel drives two fast ones, one of these is the free one, and the other is as fast; not so behind free coordinates."""
    assert badly_scaled().compile(solver=TREE).solver == TREE
    system, joints = chain(3)
    system.add(Coupling("lever", {joints[0]: 1e-5, joints[1]: 1e-5, joints[2]: 1.0}))
    assert system.compile(solver=TREE).solver == TREE
    system.add(Coupling("second", {joints[0]: 1.0, joints[1]: 1e4}))
    assert system.compile(solver=TREE).solver == TREE  # the lever is solved for its third joint, the second coupling for its second


@pytest.mark.parametrize("solver", [None, BLOCK])
def test_a_train_in_a_loop_is_locked_as_before(solver):
    with pytest.warns(mbd.LockedModelWarning):
        model = wheels(3, [-0.5, -2.0], close=True).compile(solver=solver)
    assert model.solver == BLOCK


def test_redundant_gears_are_dropped_as_before():
    system = wheels(3, [-0.5, 3.4])
    system.add(Gear("again", system.joints[0], system.joints[2], ratio=-1.7))
    model = system.compile()
    assert (model.solver, len(model.redundancy.dropped)) == (BLOCK, 1)


def test_gears_do_no_work():
    """Energy of a geared chain over a run, and the power of each gear on its joints."""
    system, joints = chain(6, 3)
    system.add(Gear("first", joints[0], joints[1], ratio=-1.5))
    system.add(Gear("apart", joints[3], joints[5], ratio=0.7))
    model = system.compile(solver=TREE)
    result = mbd.simulate(model, 2.0, integrator=mbd.DOP853(rtol=1e-10, atol=1e-10))
    energy = result.energy().total
    assert np.ptp(energy) < 1e-7 * np.abs(energy).max()
    a = result.joint("joint 3").rate
    np.testing.assert_allclose(result.joint("joint 5").rate, 0.7 * a, rtol=0.0, atol=1e-8 * np.abs(a).max())


def test_methods_that_keep_a_factor_take_blocks():
    system, joints = chain(3)
    system.add(Gear("gear", joints[0], joints[1], ratio=-1.5))
    for method in (mbd.RATTLE, mbd.HEM4):
        ends = [mbd.simulate(system.compile(solver=name), 0.1, integrator=method(2e-3)).y[-1] for name in (TREE, BLOCK)]
        np.testing.assert_allclose(*ends, rtol=0.0, atol=1e-14)  # the rows of hinges round differently


def test_the_tables_of_a_cluster():
    """A gear between a joint of the ground and one two bodies farther out: the joint between them belongs to the cluster."""
    branches = [Branch(1, 0, 0), Branch(2, 1, 1), Branch(3, 2, 2), Branch(4, 3, 3)]
    row = CoupledRow(4, 0, (Term((0, 1), 0, 1.0, "first"), Term((3, 2), 1, -3.0, "third")))
    tables = cluster_tables(branches, {0, 1, 2, 3}, (row,))
    assert tables.clusters.tolist() == [[0, 0, 2, 4, 0, 1]]
    assert tables.steps.tolist() == [[0, 1, 0, 1, 0, 1, 0, 0], [0, 2, 1, 0, 0, 1, 0, 0], [0, 3, 2, 0, 1, 1, 0, 1], [-1] * 8]
    assert tables.rows.tolist() == [[5 + 4, 0, 0, 2, 0]]
    assert tables.angles.tolist() == [[1], [0]]
    assert tables.terms.tolist() == [
        [1, 3, -1, 3, 7, 0, 1, 1, 0, 2],
        [0, 1, 1, 1, 5, 1, 1, 1, 0, 0],
    ]  # the larger coefficient is that of the dependent joint
    assert cluster_tables(branches, {0, 2, 3}, (row,)) is None  # the joint between them is not revolute
    assert cluster_tables(branches, {0, 2, 3}, (row,), {1}).steps[:, SLIDES].tolist() == [0, 1, 0, -1]  # it slides
    assert cluster_tables(branches, {1, 2, 3}, (row,), {0}) is None  # no angle of a joint that slides
    assert cluster_tables([Branch(1, 0, -1), Branch(2, 0, 0)], {0}, (CoupledRow(1, 0, (Term((0, 1), 0, 1.0, "first"),)),)) is None


def test_rows_that_contain_each_other_have_no_order():
    parent = {1: 0, 2: 0}
    rows = [CoupledRow(2, n, (Term((0, 1), 0, 1.0, 1), Term((0, 2), 1, c, 2))) for n, c in enumerate((1.0, 2.0))]
    assert triangular_order(rows, parent) is None
    assert triangular_order(rows[:1], parent) == [(rows[0], 1)]


HOW = {
    "rows and Baumgarte": {"h": 1e-3, "stabilization": mbd.Baumgarte(20.0, 20.0)},
    "no stabilization": {"h": 1e-3, "stabilization": None},
    "adaptive": {"rtol": 1e-8, "atol": 1e-8},
    "null space": {"h": 1e-3, "formulation": mbd.NullSpace()},
    "range space": {"h": 1e-3, "formulation": mbd.RangeSpace()},
    "generalized alpha": {"integrator": mbd.GeneralizedAlpha(h=1e-3)},
    "BDF": {"integrator": mbd.BDF(h=1e-3)},
    "Radau": {"integrator": mbd.RadauIIA(h=2e-3)},
}


@pytest.mark.slow
@pytest.mark.parametrize("how", HOW.values(), ids=HOW)
def test_runs_of_every_kind_are_those_of_blocks(how):
    """Stages without rows in J, rows of other formulations, implicit steps by blocks: a chain with a spring, a driven gear, a ball."""
    ends = []
    for name in (TREE, BLOCK):
        system, joints = chain(5, 4)
        tip = system.add(mbd.Body("tip", 1.0, (0.1, 0.2, 0.25), r=(5.5, 0.0, 0.0)))
        system.add(SJ("ball", system.bodies[5], tip, point=(5.0, 0.0, 0.0)))
        system.add(Coupling("driven", {joints[0]: 1.0, joints[1]: -0.6}, f=lambda t: 0.2 * (1.0 - np.cos(3.0 * t))))
        system.add(Gear("apart", joints[2], joints[4], ratio=0.7))
        system.add(mbd.TSDA("spring", system.bodies[1], tip, point_i=(0.5, 0, 0), point_j=(5.5, 0.2, 0), k=10.0, c=0.5, l0=4.0))
        ends.append(mbd.simulate(system.compile(solver=name), 0.05, **how).y[-1])
    np.testing.assert_allclose(ends[0], ends[1], rtol=0.0, atol=RUN * np.abs(ends[1]).max())
