"""Friction of revolute joints in the recursion over a forest: against the block LDL^T, and against SciPy on the dense equations."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import root

import haugmbd as mbd
from haugmbd import BrownMcPhee, Coulomb, JointFriction, LuGre, Viscous
from haugmbd.compiled.jit import entry
from haugmbd.diagnostics.work import FrictionValues, friction_over_time
from haugmbd.formulations.newton_euler import factorize, prepare, put_right_hand_side, rates_at_hand, right_hand_side
from haugmbd.friction import columns as at
from haugmbd.friction.own_slopes import largest_own_slope
from haugmbd.friction.sweeps import solve_by_sweeps
from haugmbd.kkt.registry import BLOCK, TREE, with_blocks
from haugmbd.math.euler_parameters import rotation_matrix
from haugmbd.workspace.layout import workspace_array
from joints import RJ, SJ
from tests.support.friction import dense_equations, moving
from tests.support.seeds import seeds

ROUNDING = 1e-10
"""Relative to the largest: an iteration leaves 1e-12 of the friction, and the solutions of long chains differ by 1e-12."""
LAWS = {
    "Coulomb": Coulomb(0.2, 0.15),
    "smooth": Coulomb(0.2, velocity=0.05),
    "BrownMcPhee": BrownMcPhee(0.2, 0.15, 0.02),
    "LuGre": LuGre(0.2, 0.15, 0.02, 1e3, 0.05),
}
BEARINGS = (
    {"radius": 0.02},
    {"radius": 0.02, "preload": 3.0},
    {"radius": 0.02, "thrust_radius": 0.03},
    {"radius": 0.02, "length": 0.2, "thrust_radius": 0.03, "preload": 1.0},
)


def revolute_tree(n, law, seed, bearings=BEARINGS, part=0.7, ground_is_j=True):
    """A tree of n bodies on revolute joints, from either side, the part `part` with friction; ground_is_j: the ground may be body j."""
    rng = np.random.default_rng(seed)
    system, bodies, ends = mbd.System("tree", gravity=(0.3, -0.5, -9.81)), [], []
    for k in range(n):
        parent = int(rng.integers(k)) if k and rng.random() < 0.3 else k - 1
        start, step = ends[parent] if k else np.zeros(3), rng.normal(size=3)
        ends.append(start + step / np.linalg.norm(step))
        body = system.add(mbd.Body(f"body {k}", rng.uniform(0.5, 2.0), rng.uniform(0.15, 0.25, 3), r=(start + ends[-1]) / 2))
        i = bodies[parent] if k else system.ground
        bodies.append(body)
        i, j = (body, i) if rng.random() < 0.5 and (k or ground_is_j) else (i, body)
        pin = system.add(RJ(f"pin {k}", i, j, point=start, axis=rng.normal(size=3)))
        if rng.random() < part or k == n - 1:
            system.add(JointFriction(f"rub {k}", pin, law, **bearings[int(rng.integers(len(bearings)))]))
        elif rng.random() < 0.5:
            system.add(JointFriction(f"damp {k}", pin, Viscous(0.1)))
    return system


def drifted(model, state, seed):
    """A state off the constraints, as runs without stabilization reach it, with bent bristles."""
    rng = np.random.default_rng(seed)
    y = state.y + 1e-4 * rng.normal(size=state.y.size)
    y[:13] = state.y[:13]
    return state.replace(r=y[: 13 * model.nb + 13].reshape(-1, 13)[:, :3], v=y[: 13 * model.nb + 13].reshape(-1, 13)[:, 7:10])


def both(found):
    return np.hstack([found.v_dot, found.omega_bar_dot])[1:]


def compare(a, b, least=0.0):
    """least: what they are measured by if they vanish."""
    for x, y in ((both(a), both(b)), (a.lam, b.lam)):
        np.testing.assert_allclose(x, y, rtol=0.0, atol=ROUNDING * max(least, np.abs(y).max()))


@entry
def sweeps_entry(P, t, y):
    code = prepare(P, t, y)
    put_right_hand_side(P)
    code = max(code, factorize(P))
    return code, solve_by_sweeps(P), largest_own_slope(P)


def by_sweeps(model, state):
    """Whether sweeps solve for the friction, and the largest slope of a joint through its own."""
    code, done, slope = sweeps_entry(model.pack(), state.t, state.y.copy())
    assert code == 0
    return done, slope


@pytest.mark.slow
@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("n", [1, 2, 3, 9, 24])
def test_trees_have_the_solution_of_the_blocks(law, n):
    for seed in seeds(2):
        system = revolute_tree(n, LAWS[law], seed)
        model, blocks = system.compile(), system.compile(solver=BLOCK)
        assert (model.solver, blocks.solver) == (TREE, BLOCK)
        for state in (moving(model, seed), drifted(model, moving(model, seed), seed)):
            assert by_sweeps(model, state)[0]
            compare(mbd.accelerations(model, state), mbd.accelerations(blocks, state))
            one, other = (friction_over_time(m, [0.0], state.y[None]) for m in (model, blocks))
            for column in range(len(FrictionValues._fields)):
                x, y = (np.array([values[column] for values in found.values()]) for found in (one, other))
                np.testing.assert_allclose(x, y, rtol=0.0, atol=ROUNDING * np.abs(y).max())


@pytest.mark.slow
@pytest.mark.parametrize("law", ["Coulomb", "smooth", "BrownMcPhee"])
def test_chains_have_the_solution_of_scipy(law):
    for seed in seeds(2):
        model = revolute_tree(4, LAWS[law], seed, part=1.0, ground_is_j=False).compile()
        state = moving(model, seed)
        K, right_side = dense_equations(model, state)
        n = 6 * model.nb
        start = np.linalg.solve(K, right_side(np.zeros(len(K) - n)))
        found = root(lambda x, K=K, b=right_side, n=n: K @ x - b(x[n:]), start, tol=1e-12)
        assert found.success
        a = mbd.accelerations(model, state)
        np.testing.assert_allclose(
            both(a).ravel(), found.x[:n], rtol=0.0, atol=1e-9 * np.abs(found.x[:n]).max()
        )  # hybr stops there
        np.testing.assert_allclose(a.lam, found.x[n:], rtol=0.0, atol=1e-9 * np.abs(found.x[n:]).max())


@pytest.mark.slow
def test_strong_friction_is_solved_or_refused_as_with_blocks():
    """Beyond Painleve no sweep decides: the columns do."""
    outcomes = set()
    for seed in range(12):
        bearings = ({"radius": 0.3}, {"radius": 0.2, "length": 0.1, "thrust_radius": 0.3})
        system = revolute_tree(4, BrownMcPhee(0.6, 0.5, 0.02), seed, bearings, part=0.6)
        model, blocks = system.compile(), system.compile(solver=BLOCK)
        state, found = moving(model, seed), []
        for one in (model, blocks):
            try:
                found.append(mbd.accelerations(one, state))
            except mbd.SimulationError as error:
                found.append(str(error))
        if isinstance(found[1], str):
            assert found[0] == found[1]
            outcomes.add("two" if "two solutions" in found[1] else "none")
        else:
            compare(*found)
            outcomes.add("one by sweeps" if by_sweeps(model, state)[0] else "one by columns")
    assert outcomes == {"one by sweeps", "one by columns", "none"}


def slope_alone(model, state, K, load):
    """The friction of a joint by the wrench that unit friction of its own causes, by dense algebra."""
    n, joint, own = 6 * model.nb, load.joint, model.joints[load.joint.name]
    A = [rotation_matrix(p) for p in state.p]
    h, b = A[own.i] @ joint.frame_i.h, np.zeros(len(K))
    for body, sign in ((own.i, -load.radius), (own.j, load.radius)):
        if body:
            b[6 * body - 3 : 6 * body] = sign * A[body].T @ h
    reaction = -K[n:, :n][own.rows][:, 6 * own.j - 6 : 6 * own.j].T @ np.linalg.solve(K, b)[n:][own.rows]
    F = reaction[:3]
    M = A[own.j] @ reaction[3:] - np.cross(A[own.j] @ joint.frame_j.s_bar, F)
    F_p, couple = F - (F @ h) * h, np.cross(M, h) / load.length if load.length else np.zeros(3)
    N = np.linalg.norm(F_p / 2 + couple) + np.linalg.norm(F_p / 2 - couple)
    return load.law.sliding * (N + load.thrust_radius / load.radius * abs(F @ h))


@pytest.mark.slow
def test_the_slopes_of_joints_alone_are_those_of_the_dense_inverse():
    for seed in seeds(3):
        model = revolute_tree(7, Coulomb(0.3), seed, part=1.0, ground_is_j=False).compile()
        state = moving(model, seed)
        K, _ = dense_equations(model, state)
        worst = max(slope_alone(model, state, K, one.load) for one in model.loads)
        assert by_sweeps(model, state)[1] == pytest.approx(worst, rel=1e-9)


def test_a_joint_that_slips_from_rest_is_released_by_columns():
    system = revolute_tree(5, Coulomb(0.5, 0.3), 1, part=1.0)
    model, blocks = system.compile(), system.compile(solver=BLOCK)
    state = model.state()
    assert not by_sweeps(model, state)[0]
    compare(mbd.accelerations(model, state), mbd.accelerations(blocks, state))


def arm(n, turning, law, seed, **bearing):
    """A chain of n bodies on revolute joints, all with friction; the joints `turning` turn; and the moments that hold it at rest."""
    rng = np.random.default_rng(seed)
    system, start, i = mbd.System("arm", gravity=(0.3, -0.5, -9.81)), np.zeros(3), None
    v, omega, before, pins = np.zeros(3), np.zeros(3), np.zeros(3), []
    for k in range(n):
        end, axis = start + rng.normal(size=3), rng.normal(size=3)
        axis /= np.linalg.norm(axis)
        v = v + np.cross(omega, start - before)
        before = start
        omega = omega + (rng.choice((-1.0, 1.0)) * axis if k in turning else 0.0)
        r = (start + end) / 2
        state = {"r": r, "v": v + np.cross(omega, r - start), "omega_bar": omega}
        mass, sign = rng.uniform(0.5, 2.0), rng.choice((-1, 1))
        body = system.add(mbd.Body(f"body {k}", mass, rng.uniform(0.15, 0.25, 3), **state))
        pin = system.add(RJ(f"pin {k}", *(i or system.ground, body)[::sign], point=start, axis=axis))
        pins.append((start, sign * axis, r, mass))
        system.add(JointFriction(f"rub {k}", pin, law, **bearing))
        start, i = end, body
    g = np.array(system.gravity)
    moments = [-axis @ sum(np.cross(r - start, m * g) for _, _, r, m in pins[k:]) for k, (start, axis, _, _) in enumerate(pins)]
    return system.compile(), system.compile(solver=BLOCK), np.array(moments)


@pytest.mark.slow
@pytest.mark.parametrize("bearing", BEARINGS)
@pytest.mark.parametrize("turning", [(), (3,), (0, 4), (1, 2, 5)])
def test_joints_at_rest_hold_in_the_recursion(turning, bearing):
    """Locked, beside joints that slide; the factor that is left is that of the rows."""
    for seed in seeds(2):
        model, blocks, _ = arm(6, turning, Coulomb(2000.0, 0.15), seed, **bearing)
        state = model.state()
        assert by_sweeps(model, state)[0]
        pack = model.pack()
        assert sweeps_entry(pack, state.t, state.y.copy())[1]
        states = workspace_array(pack, "FRICTION_TERMS")[:, at.STATE]
        np.testing.assert_array_equal(states == at.STICKS, [k not in turning for k in range(6)])
        y_dot = np.zeros(state.y.size)
        assert rates_again_entry(pack, state.y.copy(), y_dot) == 0
        found = mbd.accelerations(model, state)
        np.testing.assert_array_equal(y_dot.reshape(-1, 13)[1:, 7:], both(found))
        compare(found, mbd.accelerations(blocks, state), least=9.81)
        one, other = (friction_over_time(m, [0.0], state.y[None]) for m in (model, blocks))
        for name, values in other.items():
            for x, y in zip(one[name], values, strict=True):
                np.testing.assert_allclose(x, y, rtol=1e-9, atol=1e-9)  # of dense columns


@entry
def rates_again_entry(P, y, y_dot):
    """Write y_dot with the factor that an evaluation has left."""
    return rates_at_hand(P, 0.0, y, y_dot)


@pytest.mark.slow
def test_a_long_arm_at_rest_holds():
    """Rigid as one body: fifty joints carry the moments of all that hangs on them."""
    model, _, moments = arm(50, (), Coulomb(2000.0, 0.15), 0, radius=0.1)
    state = model.state()
    assert by_sweeps(model, state)[0]
    assert np.abs(both(mbd.accelerations(model, state))).max() < 1e-9
    found = [one.force[0, 0] for one in friction_over_time(model, [0.0], state.y[None]).values()]
    np.testing.assert_allclose(found, moments, rtol=0.0, atol=ROUNDING * np.abs(moments).max())


@pytest.mark.slow
@pytest.mark.parametrize("bearing", BEARINGS)
@pytest.mark.parametrize("place", [0, 3])
def test_the_only_friction_is_that_of_the_blocks(place, bearing):
    for seed in seeds(2):
        rng = np.random.default_rng(seed)
        system, start, i = mbd.System("arm", gravity=(0.3, -0.5, -9.81)), np.zeros(3), None
        for k in range(5):
            end = start + rng.normal(size=3)
            body = system.add(mbd.Body(f"body {k}", rng.uniform(0.5, 2.0), rng.uniform(0.15, 0.25, 3), r=(start + end) / 2))
            pin = system.add(RJ(f"pin {k}", i or system.ground, body, point=start, axis=rng.normal(size=3)))
            if k == place:
                system.add(JointFriction("rub", pin, BrownMcPhee(0.2, 0.15, 0.02), **bearing))
            start, i = end, body
        model, blocks = system.compile(), system.compile(solver=BLOCK)
        for state in (moving(model, seed), drifted(model, moving(model, seed), seed)):
            assert by_sweeps(model, state)[0]
            compare(mbd.accelerations(model, state), mbd.accelerations(blocks, state))


@pytest.mark.slow
def test_runs_stop_and_slip_as_with_blocks():
    system = mbd.System("two arms", gravity=(0, 0, -9.81))
    before = system.ground
    for k in range(2):
        body = system.add(mbd.Body(f"arm {k}", 1.0, (0.1, 0.1, 0.1), r=(0.5 + k, 0, 0)))
        pin = system.add(RJ(f"pin {k}", before, body, point=(k, 0, 0), axis=(0, 1, 0)))
        system.add(JointFriction(f"rub {k}", pin, Coulomb(0.4, 0.3), radius=0.1))
        before = body
    runs = [mbd.simulate(system.compile(solver=name), 1.5, h=2e-3) for name in (None, BLOCK)]
    assert runs[0].events
    assert [event.name for event in runs[0].events] == [event.name for event in runs[1].events]
    np.testing.assert_allclose([e.t for e in runs[0].events], [e.t for e in runs[1].events], atol=1e-9)
    np.testing.assert_allclose(runs[0].y[-1], runs[1].y[-1], atol=1e-8)


def test_a_solution_does_not_depend_on_those_before():
    model = revolute_tree(9, Coulomb(0.2, 0.1), 2).compile()
    states = [moving(model, seed) for seed in range(3)]
    first = [mbd.accelerations(model, state).lam for state in states]
    for k in (1, 0, 2, 2, 1):
        np.testing.assert_array_equal(mbd.accelerations(model, states[k]).lam, first[k])


def test_stages_of_steps_leave_out_rows_and_have_the_same_rates():
    """Also where they fall back to columns, which read the rows."""
    for law in (Coulomb(0.2, 0.15), BrownMcPhee(0.5, 0.4, 0.02)):
        system = revolute_tree(6, law, 3, ({"radius": 0.15},), part=1.0)
        ends = [mbd.simulate(system.compile(solver=name), 0.05, h=1e-3).y[-1] for name in (None, BLOCK)]
        np.testing.assert_allclose(*ends, rtol=0.0, atol=1e-9)


def test_sweeps_are_for_models_whose_ways_to_the_ground_are_revolute():
    """A ball on the way, a friction in another joint, and a part that is not attached are solved with blocks."""
    system = revolute_tree(4, Coulomb(0.2), 0)
    assert "friction by sweeps" in system.compile().explain_solver()
    for k in range(12):
        body = system.add(mbd.Body(f"far {k}", 1.0, (0.1, 0.1, 0.1), r=(20 + k, 0, 0)))
        before = system[f"far {k - 1}"] if k else system.ground
        kind = {"axis": (0, 0, 1)} if k != 1 else {}
        pin = system.add((RJ if k != 1 else SJ)(f"joint {k}", before, body, point=(20 + k, 0, 0.1), **kind))
    assert system.compile().solver == TREE
    system.add(JointFriction("far", pin, Coulomb(0.2), radius=0.1))
    assert system.compile().solver == BLOCK


@entry
def rates_entry(P, t, y, y_dot):
    return right_hand_side(P, t, y, y_dot)


@pytest.mark.parametrize("others", [False, True])
def test_rates_of_bristles_are_those_of_the_law_beside_other_loads_and_alone(others):
    """Alone they are written without the routine of loads, which writes integrated angles, too."""
    law, radius, z = LuGre(0.2, 0.15, 0.02, 1e3, 0.05), 0.05, np.array([1e-4, -2e-5])
    system = mbd.System("two arms", gravity=(0, 0, -9.81))
    before, speeds = system.ground, (2.0, -0.3)
    for k, (omega, v) in enumerate(zip(np.cumsum(speeds), (1.0, 2.85), strict=True)):  # v = 2 + 1.7 / 2 of the second
        body = system.add(mbd.Body(f"arm {k}", 1.0, (0.1, 0.1, 0.1), r=(0.5 + k, 0, 0), v=(0, 0, -v), omega_bar=(0, omega, 0)))
        pin = system.add(RJ(f"pin {k}", before, body, point=(k, 0, 0), axis=(0, 1, 0)))
        system.add(JointFriction(f"rub {k}", pin, law, radius=radius))
        if others:
            system.add(mbd.RSDA(f"spring {k}", pin, k=0.0, c=0.0))
        before = body
    model = system.compile()
    y, y_dot = model.state().y.copy(), np.zeros(model.state().y.size)
    y[-2:] = z
    assert y.size == 39 + (4 if others else 2)
    assert rates_entry(model.pack(), 0.0, y, y_dot) == 0
    s = radius * np.array(speeds)
    g = law.mu_c + (law.mu_s - law.mu_c) * np.exp(-((s / law.v_s) ** 2))
    np.testing.assert_allclose(y_dot[-2:], s - law.sigma0 * np.abs(s) * z / g, rtol=1e-12)
    if others:
        np.testing.assert_allclose(y_dot[-4:-2], speeds, rtol=1e-12)


def test_blocks_in_place_of_the_recursion_do_not_sweep():
    model = revolute_tree(4, Coulomb(0.2, 0.15), 0).compile()
    state = moving(model, 0)
    y_dot = np.zeros(state.y.size)
    assert rates_entry(with_blocks(model.pack()), 0.0, state.y.copy(), y_dot) == 0
    a = both(mbd.accelerations(model, state))
    np.testing.assert_allclose(y_dot.reshape(-1, 13)[1:, 7:], a, rtol=0.0, atol=ROUNDING * np.abs(a).max())


@pytest.mark.parametrize("method", [mbd.GeneralizedAlpha, mbd.RadauIIA])
def test_implicit_methods_find_the_same_by_multipliers(method):
    """Their factor is that of blocks."""
    model = revolute_tree(3, LAWS["smooth"], 0).compile()
    start = moving(model, 0)
    ends = [mbd.simulate(model, 0.02, integrator=one, state=start).y[-1] for one in (method(h=2e-4), mbd.RK4(h=1e-4))]
    np.testing.assert_allclose(*ends, rtol=0.0, atol=1e-5)  # of second order at least


@pytest.mark.parametrize("formulation", [mbd.NullSpace(), mbd.RangeSpace()])
def test_formulations_in_python_agree(formulation):
    model = revolute_tree(4, Coulomb(0.2, 0.15), 0).compile()
    state = moving(model, 0)
    compare(mbd.accelerations(model, state, formulation=formulation), mbd.accelerations(model, state))
