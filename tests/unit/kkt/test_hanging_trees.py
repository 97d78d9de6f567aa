"""Trees that hang on loops: the recursion for these, and blocks for the loops, against LAPACK and against blocks for all."""

from __future__ import annotations

import numpy as np
import pytest

import haugmbd as mbd
from haugmbd import UsageError
from haugmbd.gallery import andrews, chain
from haugmbd.kkt.elimination_order import make_schedule
from haugmbd.kkt.solver import BLOCK, TREE, TREES_ON_BLOCKS
from haugmbd.kkt.tree_order import Branch, hanging_branches
from joints import CJ, RJ, SJ, TJ, UJ, Distance, Fixed, PointInPlane, RotationDriver
from tests.support.augmented_systems import GROWTH, condition, equilibrated, solution

RUN = 1e-9
"""[m, rad] of states after a run: 1e-13 is seen."""

JOINTS = (
    lambda name, i, j, P, a: RJ(name, i, j, point=P, axis=a),
    lambda name, i, j, P, a: RJ(name, i, j, point=P, axis=a),
    lambda name, i, j, P, a: SJ(name, i, j, point=P),
    lambda name, i, j, P, a: TJ(name, i, j, point=P, axis=a),
    lambda name, i, j, P, a: CJ(name, i, j, point=P, axis=a),
    lambda name, i, j, P, a: Fixed(name, i, j, point=P),
    lambda name, i, j, P, a: Distance(name, i, j, point_i=P, point_j=P + a),
)


def crank(*, rods: bool = False) -> mbd.System:
    """A spatial four-bar whose rows are independent; rods: with a narrow edge in place of its coupler."""
    system = mbd.System("crank", gravity=(0.3, -0.5, -9.81))
    J = (0.1, 0.2, 0.25)
    bodies = [system.add(mbd.Body(f"bar {k}", 1.0 + k, J, r=r)) for k, r in enumerate(((0.1, 0.5, 0), (1, 1.1, 0.2), (2, 0.6, 0)))]
    system.add(RJ("a", system.ground, bodies[0], point=(0, 0, 0), axis=(0, 0.1, 1)))
    system.add(RJ("d", bodies[2], system.ground, point=(2, 0, 0), axis=(0, 0, 1)))
    if rods:
        system.add(Distance("rod", bodies[0], bodies[2], point_i=(0, 1, 0), point_j=(2, 1.2, 0)))
        system.add(SJ("c", bodies[1], bodies[2], point=(2, 1.2, 0)))
        return system
    system.add(UJ("b", bodies[0], bodies[1], point=(0, 1, 0), axis_i=(0, 0, 1), axis_j=(1, 0, 0)))
    system.add(SJ("c", bodies[1], bodies[2], point=(2, 1.2, 0)))
    return system


def laden(n: int, seed: int, *, rods: bool = False, drive: bool = False) -> mbd.System:
    """The same with n bodies in trees that hang on its bars, on each other and on the ground, by joints from either side."""
    rng, system = np.random.default_rng(seed), crank(rods=rods)
    for k in range(n):
        p = rng.normal(size=4)
        parent = system.bodies[int(rng.integers(len(system.bodies)))]
        body = mbd.Body(f"b{k}", 0.5 + rng.random(), 0.05 + 0.05 * rng.random(3), r=rng.normal(size=3), p=p / np.linalg.norm(p))
        system.add(body)
        pair, a = ((parent, body) if rng.random() < 0.5 else (body, parent)), rng.normal(size=3)
        joint = system.add(JOINTS[int(rng.integers(len(JOINTS)))](f"j{k}", *pair, rng.normal(size=3), a / np.linalg.norm(a)))
        if drive and isinstance(joint, RJ):
            system.add(RotationDriver(f"drive {k}", joint, lambda t: 0.3 * t * t))
    return system


def disturbed(model: mbd.Model, seed: int) -> mbd.State:
    """The modelled pose, with velocities that the rows need not allow."""
    rng, state = np.random.default_rng(seed), model.state()
    v, omega_bar = rng.normal(size=(2, *state.v.shape))
    v[0] = omega_bar[0] = 0.0
    return state.replace(v=v, omega_bar=omega_bar, t=0.4)


@pytest.mark.slow
@pytest.mark.parametrize("rods", [False, True])
@pytest.mark.parametrize("seed", range(12))
def test_accelerations_and_multipliers_agree_with_lapack(seed, rods):
    model = laden(3 + seed, seed, rods=rods, drive=seed % 3 == 0).compile(solver=TREES_ON_BLOCKS)
    state = disturbed(model, seed)
    K, b, s = equilibrated(model, state)
    reference, x = np.linalg.solve(K, b), solution(model, state) / s
    assert np.abs(x - reference).max() < GROWTH * np.finfo(float).eps * condition(K) * np.abs(reference).max()


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(4))
def test_other_right_hand_sides_are_solved_with_the_same_factor(seed):
    """Impulses, one after another."""
    found = []
    for name in (TREES_ON_BLOCKS, BLOCK):
        model = laden(8, seed, rods=seed % 2 == 0).compile(solver=name)
        blows = [mbd.PointImpulse(f"blow {k}", model.bodies[k], impulse=(1.0, 2.0, -k)) for k in (1, 3, 5, 9)]
        for blow in blows:
            after = mbd.impulse(model, applied=(blow,))
            found.append(np.hstack([after.v, after.omega_bar]))
    for by_trees, by_blocks in zip(found[:4], found[4:], strict=True):
        assert np.abs(by_trees - by_blocks).max() < 1e-9 * np.abs(by_blocks).max()


METHODS = {
    "RK4, projection": {"h": 1e-3},
    "RK4, Baumgarte": {"h": 1e-3, "stabilization": mbd.Baumgarte(alpha=5, beta=5)},
    "generalized-alpha": {"integrator": mbd.GeneralizedAlpha(h=1e-3)},
    "RATTLE": {"h": 1e-3, "integrator": mbd.RATTLE(), "stabilization": None},
}


@pytest.mark.slow
@pytest.mark.parametrize("how", METHODS)
def test_runs_end_in_the_same_state(how):
    """Of explicit methods, of implicit ones, and of those that keep a factor."""
    ends = [mbd.simulate(laden(6, 2).compile(solver=name), 0.03, **METHODS[how]).y[-1] for name in (TREES_ON_BLOCKS, BLOCK)]
    assert np.abs(ends[0] - ends[1]).max() < RUN


def test_what_hangs():
    """A chain that carries a loop belongs to the rest; so does a root."""
    loop = [(1, 2), (2, 3), (1, 3)]
    assert hanging_branches(6, [(0, 1), *loop, (3, 4), (4, 5)]) == [Branch(4, 3, 4), Branch(5, 4, 5)]
    assert hanging_branches(6, [*loop, (3, 4), (0, 5)]) == [Branch(5, 0, 4), Branch(4, 3, 3)]
    assert hanging_branches(3, [(1, 2)]) == [Branch(2, 1, 0)]
    assert hanging_branches(4, [(0, 1), (0, 1), (2, 3, 1)]) == []


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(6))
def test_the_nodes_of_trees_are_eliminated_first_without_other_work(seed):
    """The schedule is one of the whole model: each node has the same neighbours when it is eliminated."""
    model = laden(9, seed).compile(solver=BLOCK)
    edges = [tuple(pair) for pair in model.tables["EDGES"].tolist()]
    hanging = hanging_branches(model.nb + 1, edges)
    ahead = {*(branch.body for branch in hanging), *(model.nb + 1 + branch.edge for branch in hanging)}
    first, usual = make_schedule(model.nb, edges, ahead=ahead), make_schedule(model.nb, edges)
    assert set(first.order[: len(ahead), 0].tolist()) == ahead

    def neighbors(schedule):
        parts = np.split(schedule.neighbors[:, 0], schedule.neighbor_starts[1:-1])
        return {int(node): set(part.tolist()) for node, part in zip(schedule.order[:, 0], parts, strict=True)}

    assert neighbors(first) == neighbors(usual)
    assert (first.n_blocks, first.updates) == (usual.n_blocks, usual.updates)


def pendants(n: int) -> mbd.System:
    """The four-bar with a chain of n hinges on its coupler."""
    system = crank()
    before = system.bodies[2]
    for k in range(n):
        body = system.add(mbd.Body(f"p{k}", 1.0, (0.1, 0.2, 0.25), r=(1 + k, 1.1, 0)))
        system.add(RJ(f"pin {k}", before, body, point=(0.5 + k, 1.1, 0), axis=(0, 0.1 * k, 1)))
        before = body
    return system


@pytest.mark.slow
def test_the_choice():
    model = pendants(30).compile()
    assert model.explain_solver() == "trees on blocks, 30 of 33 bodies in trees that hang on the rest"
    assert pendants(2).compile().solver == BLOCK
    assert andrews().compile().solver == BLOCK


def test_rows_of_hinges_within_the_loop_are_written_in_every_stage():
    """The recursion writes the rows of its own hinges; those of the loop are read by the blocks."""
    system = pendants(3)
    assert len(system.compile(solver=TREES_ON_BLOCKS).tables["HINGES"]) == 3
    ends = [mbd.simulate(system.compile(solver=name), 0.05, h=1e-3).y[-1] for name in (TREES_ON_BLOCKS, BLOCK)]
    np.testing.assert_allclose(ends[0], ends[1], rtol=0.0, atol=1e-9)


def test_a_few_bodies_do_not_pay_for_what_is_compiled():
    system = mbd.System("balls")
    for k in range(3):
        body = mbd.Body(f"b{k}", 1.0, (0.1, 0.2, 0.25), r=(k + 0.5, 0, 0))
        system.add(SJ(f"ball {k}", system.bodies[k], system.add(body), point=(k, 0, 0)))
    assert system.compile().solver == BLOCK
    assert chain(1).compile().solver == TREE


@pytest.mark.slow
def test_dependent_rows_are_left_to_blocks():
    system = pendants(30)
    system.add(PointInPlane("again", system.bodies[2], system.bodies[3], point=(2, 1.2, 0), normal=(0, 0, 1)))
    model = system.compile()
    assert model.explain_solver() == "block LDL^T, because rows depend on others"
    with pytest.raises(UsageError, match="solver = 'trees on blocks' does not serve this model: rows of '(again|c)' depend"):
        system.compile(solver=TREES_ON_BLOCKS)


def test_a_singular_pose_names_the_joint_of_the_tree():
    system = pendants(8)
    model = system.compile()
    p = model.state().p.copy()
    p[-1] = (0.5**0.5, 0.5**0.5, 0.0, 0.0)
    axis = np.array([0.0, 0.7, 1.0])
    across = np.cross(axis, (1.0, 0.0, 0.0)) / np.linalg.norm(axis)
    p[-1, 1:] = 0.5**0.5 * across  # a quarter turn about an axis across that of the hinge
    with pytest.raises(mbd.SimulationError, match="pin 7"):
        mbd.accelerations(model, model.state().replace(p=p))


def massless() -> mbd.System:
    system = pendants(3)
    system.add(
        RJ("pin", system.bodies[-1], system.add(mbd.Body("rod", 1.0, (0, 1, 1), r=(9, 0, 0))), point=(8, 0, 0), axis=(0, 0, 1))
    )
    return system


@pytest.mark.parametrize(("make", "why"), [(crank, "no tree hangs"), (lambda: chain(4), "no tree hangs"), (massless, "no inertia")])
def test_a_model_that_it_does_not_serve_is_refused(make, why):
    with pytest.raises(UsageError, match=f"solver = 'trees on blocks' serves .*{why}.* Leave the choice to the model: solver=None"):
        make().compile(solver=TREES_ON_BLOCKS)
