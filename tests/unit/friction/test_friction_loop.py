"""The ways to solve friction and multipliers together: side by side, one by one, by an iteration, with joints that stick."""

from __future__ import annotations

import numpy as np
import pytest

import haugmbd as mbd
from haugmbd import BrownMcPhee, Coulomb
from haugmbd.compiled.jit import entry
from haugmbd.formulations.newton_euler import accelerate
from haugmbd.friction import columns as at
from haugmbd.friction.contraction import UNBOUNDED, slope_bounds
from haugmbd.friction.loop_arrays import loop_of
from haugmbd.friction.sliding import largest_slope_alone, scale_of
from haugmbd.kkt.block_solver import factor_of
from haugmbd.kkt.many_right_sides import LANES
from haugmbd.workspace.layout import workspace_array
from joints import CJ, RJ, SJ, Gear
from tests.support.friction import dense_solution, moving, normal_forces_of_rod, random_chain, rods_on_lines
from tests.support.seeds import seeds

ROUNDING = 1e-10
"""Relative: an iteration leaves 1e-12 of the friction, and the solutions of long chains differ by 1e-12."""
MANY = LANES + 4
"""Joints that an iteration solves for."""


def both(found):
    return np.hstack([found.v_dot, found.omega_bar_dot])[1:]


def outcome(model, state):
    """Accelerations and multipliers, or the error of Painleve's cases."""
    try:
        found = mbd.accelerations(model, state)
    except mbd.SimulationError as error:
        return str(error)
    return both(found), found.lam


@pytest.mark.slow
@pytest.mark.parametrize("n", [1, 2, 3, 8, LANES, MANY])
@pytest.mark.parametrize("law", [Coulomb(0.02, 0.015), BrownMcPhee(0.25, 0.2, 0.02)], ids=["weak", "strong"])
def test_all_ways_have_the_same_solution_or_none(n, law):
    """The solver by one dense front has no blocks: there the columns are solved one by one, with the joints that stick."""
    for seed in seeds(2):
        system = random_chain(n, law, seed, branches=0.3)
        model = system.compile()
        state = moving(model, seed)
        found, other = outcome(model, state), outcome(system.compile(solver="dense"), state)
        if isinstance(other, str):
            assert found == other
        else:
            for a, b in zip(found, other, strict=True):
                np.testing.assert_allclose(a, b, atol=ROUNDING * np.abs(b).max())


def test_joints_that_jam_are_among_the_random_chains():
    system = random_chain(3, BrownMcPhee(0.25, 0.2, 0.02), 0, branches=0.3)
    model = system.compile()
    assert "joint 1' has no solution" in outcome(model, moving(model, 0))


@pytest.mark.slow
@pytest.mark.parametrize("n", [LANES, MANY])
def test_they_are_those_of_the_dense_equations(n):
    model = random_chain(n, Coulomb(0.2, 0.1), 2).compile()
    state = moving(model, 1)
    found, (u, lam) = mbd.accelerations(model, state), dense_solution(model, state)
    np.testing.assert_allclose(both(found), u, atol=ROUNDING * np.abs(u).max())
    np.testing.assert_allclose(found.lam, lam, atol=ROUNDING * np.abs(lam).max())


@pytest.mark.slow
@pytest.mark.parametrize("n", [1, LANES, MANY])
def test_a_solution_does_not_depend_on_those_before(n):
    model = random_chain(n, Coulomb(0.02, 0.015), 2).compile()
    states = [moving(model, seed) for seed in range(3)]
    first = [mbd.accelerations(model, state).lam for state in states]
    for k in (1, 0, 2, 2, 1):
        np.testing.assert_array_equal(mbd.accelerations(model, states[k]).lam, first[k])


@pytest.mark.slow
@pytest.mark.parametrize("n", [1, 3, MANY])
@pytest.mark.parametrize("share", [0.5, 0.95, 0.999])
def test_below_painleve_every_way_finds_the_only_reaction(n, share):
    angle = 1.1
    c, s = np.cos(angle) / 2, np.sin(angle) / 2
    limit = (1.0 / 12.0 + c * c) / (c * s)  # mu at which friction alone presses as much as it needs
    (N,) = normal_forces_of_rod(share * limit, angle)
    angles = np.full(n, 1.5)
    angles[-1] = angle
    lam = mbd.accelerations(rods_on_lines(share * limit, angles).compile()).lam
    tip = lam.reshape(n, -1)[-1]
    assert np.abs(tip).max() == pytest.approx(N, rel=1e-9 / (1.0 - share))  # conditioned by the distance to the limit


@pytest.mark.parametrize("n", [1, 3, MANY])
def test_beyond_painleve_every_way_refuses(n):
    angles = np.full(n, 1.5)
    angles[-1] = 1.1
    system = rods_on_lines(1.5, angles)
    for model in (system.compile(), system.compile(solver="dense")):
        with pytest.raises(mbd.SimulationError, match=rf"friction 'rub {n - 1}' in joint 'tip {n - 1}' has two solutions"):
            mbd.accelerations(model)


@entry
def bounds_entry(P, t, y):
    accelerate(P, t, y)
    return slope_bounds(P, factor_of(P), loop_of(P))


def slopes(model, state, pack):
    """A_ks of revolute joints without length: the normal force of joint k by unit friction of joint s, by dense algebra."""
    J, n, terms = mbd.evaluate(model, state).Phi_q.toarray(), 6 * model.nb, workspace_array(pack, "FRICTION_TERMS")
    M = np.zeros((n, n))
    for k in range(1, model.nb + 1):
        M[6 * k - 6 : 6 * k - 3, 6 * k - 6 : 6 * k - 3] = model.mass[k] * np.eye(3)
        M[6 * k - 3 : 6 * k, 6 * k - 3 : 6 * k] = model.J_bar[k]
    A = np.zeros((len(terms), len(terms)))
    loads = [one.load for one in model.loads]
    entries = [model.joints[load.joint.name] for load in loads]
    for s, load in enumerate(loads):
        Q = np.zeros(n)
        for body, first in ((entries[s].i, 0), (entries[s].j, 6)):
            if body:
                Q[6 * body - 6 : 6 * body] = -terms[s, at.DIRECTION] * terms[s, at.B + first : at.B + first + 6]
        a = np.linalg.solve(M, Q)
        lam = np.linalg.solve(J @ np.linalg.solve(M, J.T), J @ a)
        for k, one in enumerate(entries):
            F = -J[one.rows][:, 6 * one.j - 6 : 6 * one.j - 3].T @ lam[one.rows]
            h = terms[k, at.AXIS : at.AXIS + 3]
            A[k, s] = load.law.sliding * np.linalg.norm(F - (F @ h) * h)
    return A


@pytest.mark.slow
def test_the_bounds_of_slopes_hold():
    """They are at most a few times too large, and never too small."""
    for seed in range(4):
        rng = np.random.default_rng(seed)
        system, start, body = mbd.System("chain", gravity=(0, 0, -9.81)), np.zeros(3), None
        for k in range(8):
            end = start + rng.normal(size=3)
            inertia = rng.uniform(0.1, 0.2, 3)
            before, body = body or system.ground, system.add(mbd.Body(f"b{k}", rng.uniform(0.5, 2), inertia, r=(start + end) / 2))
            i, j = (before, body) if rng.random() < 0.5 else (body, before)
            pin = system.add(RJ(f"j{k}", i, j, point=start, axis=rng.normal(size=3)))
            system.add(mbd.JointFriction(f"f{k}", pin, Coulomb(0.3), radius=0.1))
            start = end
        model = system.compile(solver="block LDL^T")
        state, pack = moving(model, seed), model.pack()
        alone, q = bounds_entry(pack, 0.0, state.y.copy())
        A = slopes(model, state, pack)
        radius = np.abs(np.linalg.eigvals(A)).max()
        assert A.diagonal().max() <= alone <= 20 * A.diagonal().max()
        assert radius <= q <= 20 * radius


def test_no_bound_is_known_where_a_coupling_closes_a_loop():
    """The elimination may take a coupling later than the bodies that it holds: what it leaves for them is not their articulated inertia."""
    system = random_chain(5, Coulomb(0.02), 4)
    bodies = [system.ground, *(system[f"body {k}"] for k in range(5))]
    pins = []
    for k in (5, 6, 7):
        bodies.append(system.add(mbd.Body(f"body {k}", 1.0, (0.2, 0.2, 0.2), r=bodies[-1].r + (1, 0, 0))))
        pins.append(system.add(RJ(f"pin {k}", bodies[-2], bodies[-1], point=bodies[-1].r - (0.5, 0, 0), axis=(0, 0, 1))))
    bounds = []
    for coupled in (False, True):
        if coupled:
            system.add(Gear("gear", *pins[1:], ratio=-2.0))
        model = system.compile()
        bounds.append(bounds_entry(model.pack(), 0.0, model.state().y.copy())[1])
    assert bounds[0] < UNBOUNDED == bounds[1]


def test_an_iteration_is_taken_with_a_proof_and_without():
    """Of the random chains above some contract by the bound, some along their steps."""
    proved = []
    for mu, seed in ((0.003, 1), (0.015, 1)):
        model = random_chain(MANY, Coulomb(0.02, mu), seed, branches=0.3).compile()
        alone, q = bounds_entry(model.pack(), 0.0, moving(model, seed).y.copy())
        assert alone < 1.0
        proved.append(q < 1.0)
    assert proved == [True, False]


@entry
def with_a_number_lost(P, t, y, k):
    """Slopes and sizes where a column, and the friction, of joint k is not a number."""
    accelerate(P, t, y)
    L = loop_of(P)
    for a in range(L.V.shape[0]):
        L.V[a, k] = np.nan
    L.terms[k, at.C_1] = np.nan
    L.f_t[0, k] = np.nan
    alone, q = slope_bounds(P, factor_of(P), L)
    return scale_of(L, L.f_t[0]), largest_slope_alone(L), alone, q


@pytest.mark.parametrize("k", [0, 1, 2])
def test_maxima_keep_what_is_not_a_number(k):
    model = random_chain(3, Coulomb(0.02, 0.015), 1).compile(solver="block LDL^T")
    assert np.isnan(with_a_number_lost(model.pack(), 0.0, moving(model, 1).y.copy(), k)).all()


@pytest.mark.slow
@pytest.mark.parametrize("kind", [RJ, CJ, SJ])
@pytest.mark.parametrize(("n", "solver"), [(8, None), (20, None), (20, "block LDL^T"), (50, None)])
def test_a_long_arm_that_its_joints_hold_stays(kind, n, solver):
    """Far from the base the motion without friction turns no joint, and rounding of large frictions is not to be taken for a motion."""
    system = mbd.System("arm", gravity=(0, 0, -9.81))
    before = system.ground
    for k in range(n):
        body = system.add(mbd.Body(f"link {k}", 1.0, (0.01, 0.02, 0.02), r=(k + 0.5, 0, 0)))
        options = {} if kind is SJ else {"axis": (0, 1, 0)}
        joint = system.add(kind(f"joint {k}", before, body, point=(k, 0, 0), **options))
        system.add(mbd.JointFriction(f"brake {k}", joint, Coulomb(0.9, 0.8), radius=0.5, preload=1e6))
        before = body
    found = mbd.accelerations(system.compile(solver=solver))
    alone = 9.81 * n**2 / 2.0 / 0.02  # what the moment of the first brake would give to one link
    assert max(np.abs(found.v_dot).max(), np.abs(found.omega_bar_dot).max()) <= ROUNDING * alone
