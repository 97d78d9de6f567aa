"""Every question that does not depend on the solver, on every solver: all mechanisms of the gallery, and random systems.

Multipliers are compared where the same rows are kept; otherwise the wrenches on the bodies, which do not depend on that.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from functools import lru_cache

import numpy as np
import pytest

import haugmbd as mbd
from haugmbd import UsageError
from haugmbd.crosscheck import solve_dense
from haugmbd.gallery import GALLERY, andrews, bricard, chain, net, slider_crank, stewart_platform, windows
from haugmbd.integrators.implicit.force_coupling import tables_with_coupling
from haugmbd.kkt.elimination_order import ABSOLUTE, EdgeRows
from haugmbd.kkt.front_solver import has_fronts
from haugmbd.kkt.registry import SOLVERS, choose_solver
from haugmbd.kkt.solver import BLOCK, DENSE, MULTIFRONTAL, TREE, TREES_ON_BLOCKS
from haugmbd.kkt.tree_solver import has_tree
from joints import RJ, SJ, TJ, Coupling, Distance, Gear, PointInPlane, RotationDriver
from tests.support.random_systems import random_system
from tests.support.seeds import seeds

SAME = 1e-9
"""Relative to the largest number; 1e-13 is seen, times the condition of mechanisms near a singular pose."""

RUN = 1e-8
"""[m, rad] of states after a run: 1e-12 is seen."""


BY_RECURSION = (TREE, TREES_ON_BLOCKS)
"""The solvers of mechanisms that are trees, or carry some."""

LOOPS = [name for name in SOLVERS if name not in BY_RECURSION]
"""The solvers of all mechanisms with loops."""


def compiled(make, name: str) -> mbd.Model | None:
    """The mechanism compiled for a solver; None if it is one for trees, and refuses."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return make().compile(solver=name)
        except UsageError:
            if name not in BY_RECURSION:
                raise
            return None


@lru_cache(maxsize=8)
def models(make) -> dict[str, mbd.Model]:
    """The mechanism compiled for each solver that serves it; models are frozen, and tests in a row share them."""
    return {name: model for name in SOLVERS if (model := compiled(make, name)) is not None}


def moving(model: mbd.Model) -> mbd.State:
    """The modelled pose, with random forces replaced by random velocities that the rows need not allow."""
    rng, n = np.random.default_rng(1), model.nb + 1
    state = model.state()
    v, omega_bar = rng.normal(size=(2, n, 3))
    v[0] = omega_bar[0] = 0.0
    return state.replace(v=state.v + v, omega_bar=state.omega_bar + omega_bar)


def gap(x: np.ndarray, y: np.ndarray, size: float) -> float:
    """Largest difference, relative to `size`."""
    return float(np.abs(x - y).max(initial=0.0)) / max(size, 1e-300)


@pytest.mark.slow
@pytest.mark.parametrize("make", GALLERY, ids=lambda make: make.__name__)
def test_accelerations_multipliers_and_rank_of_the_gallery(make):
    by_solver = models(make)
    state = moving(by_solver[BLOCK])
    assert len({model.redundancy.rank for model in by_solver.values()}) == 1
    for name, model in by_solver.items():
        assert model.solver == name
        found, reference = mbd.accelerations(model, state), solve_dense(model, state)
        size = max(np.abs(reference.v_dot).max(), np.abs(reference.omega_bar_dot).max())
        assert gap(found.v_dot, reference.v_dot, size) < SAME
        assert gap(found.omega_bar_dot, reference.omega_bar_dot, size) < SAME
        assert gap(found.lam, reference.lam, np.abs(reference.lam).max(initial=0.0)) < SAME


@pytest.mark.slow
@pytest.mark.parametrize("seed", seeds(8, first=1))
def test_random_systems_have_one_rank_and_one_motion(seed):
    """Loops, doubled joints, rows that nearly depend on others: the same rank, the same faults, and the same motion."""
    found = {}
    for name in SOLVERS:
        try:
            model = compiled(lambda: random_system(seed), name)
        except mbd.ModelError as error:
            found[name] = error
            continue
        if model is not None:
            found[name] = model
    first = found[BLOCK]
    if any(isinstance(model, Exception) for model in found.values()):
        assert len({type(model) for model in found.values()}) == 1
        return
    a = mbd.accelerations(first)
    for model in found.values():
        assert model.redundancy.rank == first.redundancy.rank
        assert gap(mbd.accelerations(model).v_dot, a.v_dot, 1.0 + np.abs(a.v_dot).max()) < SAME


def sprung() -> mbd.System:
    """A tree of hinges, balls, slides and a driven joint, with springs between its bodies and friction in a hinge."""
    system = mbd.System("sprung", gravity=(0.3, -0.5, -9.81))
    bodies = [system.ground]
    for k in range(8):
        bodies.append(system.add(mbd.Body(f"b{k}", 1.0 + 0.3 * k, (0.1, 0.2, 0.25), r=(k, 0.2 * k, 0.1), v=(0.0, 0.0, 0.0))))
        i, j, point, axis = bodies[k // 2], bodies[-1], (k - 0.5, 0.1, 0.0), (0.2, 1.0, 0.1 * k)
        joint = system.add(
            SJ(f"j{k}", i, j, point=point)
            if k % 4 == 1
            else TJ(f"j{k}", j, i, point=point, axis=axis)
            if k % 4 == 2
            else RJ(f"j{k}", i, j, point=point, axis=axis)
        )
        if k == 3:
            system.add(RotationDriver("drive", joint, lambda t: 0.3 * t * t))
        if k == 4:
            system.add(mbd.JointFriction("friction", joint, mbd.BrownMcPhee(0.3, 0.2, 0.1), radius=0.05, stick=False))
    i, j = bodies[3], bodies[8]
    system.add(mbd.TSDA("spring", i, j, point_i=i.r, point_j=j.r, k=50.0, c=1.0, l0=1.0))
    return system


RUNS = {
    "RK4, projection": {"h": 1e-3},
    "RK4, no projection": {"h": 1e-3, "stabilization": None},
    "generalized-alpha": {"integrator": mbd.GeneralizedAlpha(h=1e-3)},
    "BDF": {"integrator": mbd.BDF(h=1e-3)},
    "unweighted projection": {"h": 1e-3, "stabilization": mbd.UnweightedProjection()},
    "RATTLE": {"h": 1e-3, "integrator": mbd.RATTLE(), "stabilization": None},
}


@pytest.mark.slow
@pytest.mark.parametrize("how", RUNS)
@pytest.mark.parametrize("make", [slider_crank, stewart_platform, net, bricard, chain, sprung], ids=lambda make: make.__name__)
def test_runs_end_in_the_same_state(make, how):
    if make is sprung and how == "RATTLE":
        pytest.skip("RATTLE does not solve for friction that depends on what its joint carries")
    ends = []
    for model in models(make).values():
        result = mbd.simulate(model, 0.01, **RUNS[how])
        ends.append(np.hstack([result.r[-1], result.p[-1], result.v[-1], result.omega_bar[-1]]))
    assert all(gap(end, ends[0], 1.0) < RUN for end in ends)


@pytest.mark.slow
@pytest.mark.parametrize("make", [andrews, net, bricard, windows, chain, sprung], ids=lambda make: make.__name__)
def test_impulses(make):
    found = []
    for model in models(make).values():
        after = mbd.impulse(model, applied=(mbd.PointImpulse("blow", model.bodies[2], impulse=(1.0, 2.0, 3.0)),))
        found.append(np.hstack([after.v, after.omega_bar]))
    assert all(gap(u, found[0], np.abs(found[0]).max()) < SAME for u in found)


@pytest.mark.slow
def test_multipliers_of_least_norm():
    """They are unique, whatever rows are kept."""
    lam = [mbd.accelerations(bricard().compile(solver=name, redundancy=mbd.MinimumNorm())).lam for name in LOOPS]
    assert all(gap(x, lam[0], np.abs(lam[0]).max()) < SAME for x in lam)


def test_dependencies_of_dropped_rows():
    """Each dropped row is the sum of kept rows that the report lists."""
    for name in LOOPS:
        model = bricard().compile(solver=name)
        rows = mbd.evaluate(model)
        Phi_q = rows.Phi_q.toarray()
        for row, terms in model.redundancy.dependencies:
            total = sum(c * Phi_q[k] for k, c in terms)
            np.testing.assert_allclose(total, Phi_q[row], atol=1e-6 * np.abs(Phi_q[row]).max())  # TERM_TOL leaves small terms out


def rods(n: int) -> mbd.System:
    """A net of n x n massless-axis rods, end to end: no moment of inertia about their own axes, which spherical joints leave free."""
    system = mbd.System("rods", gravity=(0.0, 0.0, -9.81))
    before: list[mbd.Body] = []
    for i in range(n):
        row: list[mbd.Body] = []
        for j in range(n):
            body = system.add(mbd.Body(f"rod {i} {j}", 1.0, (0.0, 0.1, 0.1), r=(i, j, 0.0)))
            other = row[-1] if row else system.ground
            system.add(RJ(f"pin {i} {j}", other, body, point=(i, j - 0.5, 0.0), axis=(0.0, 1.0, 0.1 * (j + 1))))
            if before:
                at = {"point_i": (i - 0.8, j, 0.3), "point_j": (i - 0.2, j, -0.1)}
                system.add(Distance(f"link {i} {j}", before[j], body, **at))
            row.append(body)
        before = row
    return system


@pytest.mark.slow
def test_massless_axes():
    """Shift and refinement: the solution is that of the true inertia, as with blocks, and fits the rows."""
    by_solver = models(lambda: rods(3))
    state = moving(by_solver[BLOCK])
    reference = solve_dense(by_solver[BLOCK], state)
    size = np.abs(reference.omega_bar_dot).max()
    for model in by_solver.values():
        found = mbd.accelerations(model, state)
        assert gap(found.v_dot, reference.v_dot, size) < SAME
        assert gap(found.omega_bar_dot, reference.omega_bar_dot, size) < SAME


def geared() -> mbd.System:
    """Four links on one another: a gear between two of their joints, and a coupling of three."""
    system, joints = mbd.System("geared", gravity=(0.3, -9.81, 1.0)), []
    before = system.ground
    for k in range(4):
        link = system.add(mbd.Body(f"link {k}", 1.0 + k, (0.1, 0.2, 0.3), r=(k, 0.3, 0.0)))
        joints.append(system.add(RJ(f"joint {k}", before, link, point=(k, 0, 0), axis=(0.0, 0.2 * k, 1.0))))
        before = link
    system.add(Gear("gear", joints[0], joints[1], ratio=-2.0))
    system.add(Coupling("coupling", {joints[1]: 1.0, joints[2]: 0.5, joints[3]: 0.7}))
    return system


@pytest.mark.slow
def test_rows_on_three_and_four_bodies():
    ends = []
    for model in models(geared).values():
        assert model.tables["EDGES"].shape[1] == 4
        found, reference = mbd.accelerations(model), solve_dense(model)
        assert gap(found.v_dot, reference.v_dot, np.abs(reference.v_dot).max()) < SAME
        assert gap(found.lam, reference.lam, np.abs(reference.lam).max()) < SAME
        result = mbd.simulate(model, 0.05, h=1e-3)
        ends.append(result.r[-1])
    assert all(gap(end, ends[0], 1.0) < RUN for end in ends)


@pytest.mark.slow
def test_springs_between_bodies_in_implicit_steps():
    """Coupled bodies are eliminated by blocks in both: the same state after stiff steps."""
    ends = []
    for name in LOOPS:
        system = stewart_platform()
        for k in (2, 4, 6):
            i, j = system.bodies[k], system.bodies[k + 3]
            system.add(mbd.TSDA(f"spring {k}", i, j, point_i=i.r, point_j=j.r, k=1e4, c=10.0, l0=0.1))
        result = mbd.simulate(system.compile(solver=name), 0.02, integrator=mbd.GeneralizedAlpha(h=1e-3))
        ends.append(result.r[-1])
    assert all(gap(end, ends[0], 1.0) < RUN for end in ends)


@pytest.mark.slow
def test_a_torn_net_reports_the_same_row():
    """A pose at which rows depend on others while the number of kept ones is fixed: an error by either solver."""
    for model in models(lambda: net(4)).values():
        state = model.state()
        r = state.r.copy()
        r[1:] = r[1]
        with pytest.raises(mbd.SimulationError):
            mbd.accelerations(model, state.replace(r=r))


@pytest.mark.slow
def test_the_choice_is_made_where_the_model_is_compiled():
    assert chain(50).compile().solver == TREE
    assert windows(40).compile().solver == BLOCK
    assert andrews().compile().solver == BLOCK
    large = net(12).compile()
    assert large.solver == MULTIFRONTAL
    assert "which is predicted to take" in large.solver_reason
    assert net(12).compile(solver=BLOCK).solver == BLOCK


def test_trees_with_dependent_rows_or_of_rods_are_solved_by_blocks():
    system = chain(6)
    body = system.add(mbd.Body("arm", 1.0, (1.0, 1.0, 1.0), r=(1.0, 0.0, 5.0)))
    system.add(SJ("ball", system.ground, body, point=(0.0, 0.0, 5.0)))
    assert system.compile().solver == TREE
    system.add(PointInPlane("plane", system.ground, body, point=(0.0, 0.0, 5.0), normal=(0.0, 0.0, 1.0)))
    model = system.compile()
    assert model.explain_solver() == "block LDL^T, because rows depend on others"
    found, reference = mbd.accelerations(model), solve_dense(model)
    assert gap(found.v_dot, reference.v_dot, np.abs(reference.v_dot).max()) < SAME
    rod = mbd.System("rod")
    arm = rod.add(mbd.Body("arm", 1.0, (1.0, 1.0, 1.0), r=(1.0, 0.0, 0.0)))
    rod.add(Distance("rod", rod.ground, arm, point_i=(0, 0, 0), point_j=(1, 0, 0)))
    assert rod.compile().solver == BLOCK


@pytest.mark.slow
def test_reports_say_which_solver_and_why():
    system = net(12)
    model = system.compile()
    said = " ".join(str(model.explain()).split())
    assert f"solver {model.solver}, {model.solver_reason}" in said
    assert f"solver {model.solver}, {model.solver_reason}" in " ".join(str(mbd.mobility(model)).split())
    i, j = system.bodies[1], system.bodies[20]
    system.add(mbd.TSDA("spring", i, j, point_i=i.r, point_j=j.r, k=1.0, l0=0.2))
    assert "in implicit steps block LDL^T, because bodies are coupled by 'spring'" in system.compile().explain_solver()
    assert chain(3).compile().explain_solver() == "tree, no loops, 3 of 3 bodies on joints that the recursion knows"
    assert andrews().compile().explain_solver() == "block LDL^T, little fill"


def pulled(system: mbd.System, *pairs: tuple[int, int]) -> mbd.System:
    """The same with a spring between each of these pairs of bodies."""
    for i, j in pairs:
        a, b = (system.bodies[k] if k else system.ground for k in (i, j))
        system.add(mbd.TSDA(f"spring {i} {j}", a, b, point_i=a.r, point_j=b.r, k=1.0, l0=0.2))
    return system


@pytest.mark.slow
@pytest.mark.parametrize(
    ("make", "why"),
    [
        (lambda: pulled(chain(30), (1, 2), (0, 9)), ""),
        (
            lambda: pulled(chain(30), (1, 3), (2, 5), (1, 2)),
            "bodies that no revolute joint connects are coupled by 'spring 1 3' and 1 more",
        ),
        (lambda: pulled(chain(4), (1, 2)), "the recursion with tangents of forces saves too little for so few bodies"),
        (lambda: pulled(net(12), (0, 5)), ""),
        (lambda: pulled(net(12), (1, 20)), "bodies are coupled by 'spring 1 20'"),
    ],
)
def test_the_solver_of_implicit_steps_is_told(make: Callable[[], mbd.System], why: str):
    """What is said is what the tables of implicit steps are made for."""
    model = make().compile()
    said = model.explain_solver()
    assert said == f"{model.solver}, {model.solver_reason}" + (f"; in implicit steps block LDL^T, because {why}" if why else "")
    tables = tables_with_coupling(model)
    assert bool(why) != (has_tree(tables) or has_fronts(tables))


def test_an_unknown_solver_is_refused():
    system = mbd.System("one")
    system.add(SJ("joint", system.ground, system.add(mbd.Body("body", 1.0, (1, 1, 1))), point=(0, 0, 1)))
    with pytest.raises(UsageError, match="'multifrontel' must be one of .* Did you mean 'multifrontal'"):
        system.compile(solver="multifrontel")
    with pytest.raises(UsageError, match="must be one of"):
        system.compile(solver=3)


def test_a_dense_matrix_that_is_too_large_is_refused_before_it_is_made():
    with pytest.raises(UsageError, match=r"at most 10000 rows, and the model has 10500: .* 0.88 GB"):
        choose_solver(np.zeros((2, 3)), [(0, 1)] * 3500, EdgeRows([3] * 3500, [ABSOLUTE] * 3500), DENSE)
