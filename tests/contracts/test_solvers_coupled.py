"""Coupled joints on every solver: random trains against dense LAPACK, and everything that is asked of a factorization."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import haugmbd as mbd
from haugmbd import UsageError
from haugmbd.crosscheck import solve_dense
from haugmbd.kkt.registry import SOLVERS
from haugmbd.kkt.solver import BLOCK, TREE, TREES_ON_BLOCKS
from joints import CJ, RJ, Coupling, Gear, KnifeEdge
from tests.support.gear_trains import TRAINS, chain_of_pairs, planetary, random_train, screw
from tests.support.seeds import seeds

COUPLED = tuple(name for name in SOLVERS if name not in (TREE, TREES_ON_BLOCKS))
"""The solvers of every model; the recursion over trees serves some couplings."""

SAME = 1e-9
"""Relative to the largest number; 1e-12 is seen, times the condition of trains that are nearly locked."""

RUN = 1e-8
"""[m, rad] of states after a run: 1e-12 is seen."""

NEARLY_LOCKED = 1e7
"""Condition number of the rows above which a random train is left out."""


def models(make) -> dict[str, mbd.Model]:
    """The mechanism compiled for each solver."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return {name: make().compile(solver=name) for name in COUPLED} | with_tree(make)


def with_tree(make) -> dict[str, mbd.Model]:
    """The mechanism compiled for the recursion over trees, if it serves it."""
    try:
        return {TREE: make().compile(solver=TREE)}
    except UsageError:
        return {}


def tried(make) -> dict[str, mbd.Model]:
    """The same, or nothing where the random mechanism has faults, which are the same for all solvers."""
    found = {}
    for name in COUPLED:
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                found[name] = make().compile(solver=name)
        except mbd.ModelError:
            found[name] = None
    assert len({model is None for model in found.values()}) == 1
    if None in found.values():
        return {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return found | with_tree(make)


def moving(model: mbd.Model, seed: int = 1) -> mbd.State:
    """The modelled pose with random velocities that the rows need not allow."""
    rng, n = np.random.default_rng(seed), model.nb + 1
    state, (v, omega_bar) = model.state(), rng.normal(size=(2, n, 3))
    v[0] = omega_bar[0] = 0.0
    return state.replace(v=state.v + v, omega_bar=state.omega_bar + omega_bar)


def gap(x: np.ndarray, y: np.ndarray) -> float:
    """Largest difference, relative to the largest number; to 1 where all of them are smaller, as in a locked train."""
    return float(np.abs(x - y).max(initial=0.0)) / max(float(np.abs(y).max(initial=0.0)), 1.0)


def u_dot(found) -> np.ndarray:
    """Accelerations of the bodies."""
    return np.hstack([found.v_dot, found.omega_bar_dot])


@pytest.mark.slow
@pytest.mark.parametrize("block", seeds(1))
def test_random_trains_against_lapack(block):
    """Accelerations, multipliers and impulses, off the manifold of velocities."""
    tested = 0
    for seed in range(12 * block, 12 * block + 12):
        by_solver = tried(lambda seed=seed: random_train(seed))
        for model in by_solver.values():
            if model.redundancy.dropped or np.linalg.cond(mbd.evaluate(model).Phi_q.toarray()) > NEARLY_LOCKED:
                break
            state = moving(model, seed)
            found, reference = mbd.accelerations(model, state), solve_dense(model, state)
            assert gap(u_dot(found), u_dot(reference)) < SAME, (seed, model.solver)
            assert gap(found.lam, reference.lam) < SAME, (seed, model.solver)
            tested += 1
        blow = [
            mbd.impulse(model, applied=(mbd.PointImpulse("blow", model.bodies[-1], impulse=(1.0, 2.0, 3.0)),))
            for model in by_solver.values()
        ]
        assert all(gap(after.v, blow[0].v) < SAME for after in blow)
    assert tested >= 3 * 6


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(100, 112))
def test_random_trains_with_a_dependent_coupling(seed):
    """One rank, one motion, and multipliers of least norm that do not depend on the solver."""
    by_solver = tried(lambda: random_train(seed, dependent=True))
    if not by_solver:
        return
    first = by_solver[BLOCK]
    state = first.state()
    for model in by_solver.values():
        assert model.redundancy.rank == first.redundancy.rank < first.nc
        assert gap(u_dot(mbd.accelerations(model, state)), u_dot(mbd.accelerations(first, state))) < SAME
    lam = [mbd.accelerations(model.with_redundancy(mbd.MinimumNorm()), state).lam for model in by_solver.values()]
    assert all(gap(x, lam[0]) < 1e2 * SAME for x in lam)  # of a matrix with -eps in place of 0


@pytest.mark.slow
@pytest.mark.parametrize("integrator", [mbd.GeneralizedAlpha(h=1e-3), mbd.BDF(h=1e-3), mbd.RK4()], ids=lambda x: type(x).__name__)
@pytest.mark.parametrize("seed", [3, 7, 11])
def test_runs_with_springs_between_coupled_bodies(seed, integrator):
    """Tangents of forces between two bodies, projections and stages on the same factorization."""
    ends = []
    for model in tried(lambda: random_train(seed, springs=True)).values():
        how = {"h": 1e-3} if isinstance(integrator, mbd.RK4) else {}
        result = mbd.simulate(model, 0.01, integrator=integrator, **how)
        ends.append(np.hstack([result.r[-1], result.p[-1], result.v[-1], result.omega_bar[-1]]))
    assert all(gap(end, ends[0]) < RUN for end in ends)


def three_planets():
    """A planetary set whose planets share the load."""
    return planetary(3)


@pytest.mark.slow
@pytest.mark.parametrize("make", [*TRAINS, three_planets], ids=lambda make: make.__name__)
def test_willis_equations_on_every_solver(make):
    """The acceleration of one coordinate in closed form; two of three planets are redundant, and do not change it."""
    train = make()
    for model in models(lambda: train.system).values():
        assert len(model.redundancy.dropped) == (2 if make is three_planets else 0)
        if make is screw:
            found = mbd.accelerations(model).v_dot[1, 2]
        else:
            found = mbd.simulate(model, 1e-3, h=1e-3).joint(train.joint).acceleration[0]
        assert found == pytest.approx(train.acceleration, rel=SAME)


def cylinder_in_two_couplings():
    """Two couplings of the same two joints, one of which hangs on the other: their rows are independent with both, not with one alone."""
    system = mbd.System("locked", gravity=(0.3, -9.81, 1.0))
    a = system.add(mbd.Body("a", 1.0, (0.1, 0.2, 0.3), r=(0.5, 0, 0)))
    b = system.add(mbd.Body("b", 1.0, (0.1, 0.2, 0.3), r=(1.5, 0, 0.2)))
    pin = system.add(RJ("pin", system.ground, a, point=(0, 0, 0), axis=(0, 0, 1)))
    slide = system.add(CJ("slide", a, b, point=(1, 0, 0), axis=(0, 0, 1)))
    for k, c in enumerate((1.0, -1.0)):
        system.add(Coupling(f"coupling {k}", {pin: c, slide.coordinate("angle"): 1.0}))
    return system


def test_rows_that_read_the_ground_do_not_join_the_edge_of_a_joint():
    """They were taken for dependent where the ground is not among their bodies: a sound mechanism was refused."""
    for model in models(cylinder_in_two_couplings).values():
        assert model.redundancy.rank == model.nc == 11
        reference = solve_dense(model)
        assert gap(u_dot(mbd.accelerations(model)), u_dot(reference)) < SAME
        assert mbd.accelerations(model).v_dot[2] == pytest.approx([0.0, 0.0, 1.0], abs=1e-12)


def test_a_long_chain_of_pairs_on_carriers():
    """Rows on five bodies each, which overlap."""
    found = []
    for model in models(lambda: chain_of_pairs(12)).values():
        assert model.redundancy.rank == model.nc
        found.append(u_dot(mbd.accelerations(model, moving(model))))
    assert gap(found[0], u_dot(solve_dense(model, moving(model)))) < SAME
    assert all(gap(x, found[0]) < SAME for x in found)


def geared_rods():
    """Links with no inertia about their own axes, geared to one another."""
    system, before, joints = mbd.System("rods", gravity=(0.0, 0.0, -9.81)), None, []
    for k in range(4):
        rod = system.add(mbd.Body(f"rod {k}", 1.0, (0.0, 0.1, 0.1), r=(k, 0.0, 0.0)))
        axis = (0.0, 1.0, 0.2 * k)
        joints.append(system.add(RJ(f"pin {k}", before or system.ground, rod, point=(k - 0.5, 0, 0), axis=axis)))
        before = rod
    system.add(Gear("gear", joints[1], joints[2], ratio=-0.7))
    system.add(KnifeEdge("blade", before, point=(3.5, 0, 0), direction=(1, 0, 0), plane_normal=(0, 0, 1)))
    return system


def test_massless_axes_and_rows_of_velocities():
    """Shift and refinement with narrow edges, and a row of velocities that closes a loop."""
    for model in models(geared_rods).values():
        state = moving(model)
        found, reference = mbd.accelerations(model, state), solve_dense(model, state)
        assert gap(u_dot(found), u_dot(reference)) < SAME
        assert gap(found.lam, reference.lam) < SAME
