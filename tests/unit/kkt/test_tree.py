"""The recursion over forests against LAPACK, on random trees of all kinds of joints, and against the block LDL^T.

The tolerance is the rounding unit times the condition number of the scaled matrix, times a factor for the growth in a few dozen steps.
"""

from __future__ import annotations

import numpy as np
import pytest

import haugmbd as mbd
from haugmbd import UsageError
from haugmbd.gallery import double_pendulum
from haugmbd.kkt.solver import BLOCK, TREE
from haugmbd.kkt.tree_arrays import BODY, PARENT
from haugmbd.kkt.tree_order import lead_of, order_of_forest
from joints import RJ, SJ, Distance, Parallel, PointInPlane, RotationDriver
from tests.support.augmented_systems import GROWTH, condition, equilibrated, solution, solved_in_long_double
from tests.support.seeds import seeds

NO_WORSE = 10.0
"""Factor by which one solver may be farther from the exact solution than the other, by chance; beside the rounding of the reference."""


@pytest.mark.slow
@pytest.mark.parametrize("block", seeds(2))
def test_random_trees_agree_with_lapack(random_model, state_of, block):
    """Trees with every kind of joint, driven or not, at states that fulfil the rows and at states that do not."""
    for seed in range(30 * block, 30 * block + 30):
        topology = ("tree", "chain", "star")[seed % 3]
        model = random_model(topology, 1 + seed % 13, seed, TREE)
        state = state_of(model, seed, on_manifold=seed % 2 == 0)
        K, b, s = equilibrated(model, state)
        reference, x = np.linalg.solve(K, b), solution(model, state) / s
        bound = GROWTH * np.finfo(float).eps * condition(K)
        assert np.abs(x - reference).max() < bound * np.abs(reference).max(), seed


def lengthening(n: int, ratio: float, seed: int) -> mbd.System:
    """A chain of hinges and balls whose masses grow, or decrease, to `ratio` times the first."""
    rng, system = np.random.default_rng(seed), mbd.System("lengthening", gravity=(0.3, -0.5, -9.81))
    before = system.ground
    for k in range(n):
        size = ratio ** (k / (n - 1))
        body = mbd.Body(f"b{k}", size, size * np.array([0.1, 0.2, 0.25]), r=(k, 0.0, 0.0), omega_bar=rng.normal(size=3))
        system.add(body)
        axis = rng.normal(size=3)
        system.add(
            SJ(f"j{k}", before, body, point=(k, 0.5, 0.0))
            if k % 3 == 2
            else RJ(f"j{k}", before, body, point=(k, 0.5, 0.0), axis=axis)
        )
        before = body
    return system


@pytest.mark.slow
@pytest.mark.parametrize("ratio", [1e-12, 1e-6, 1e6, 1e12])
def test_mass_ratios_cost_no_more_digits_than_with_blocks(ratio):
    """Of accelerations and of multipliers, relative to the largest."""
    for seed in range(5):
        worst = {}
        for name in (BLOCK, TREE):
            model = lengthening(8, ratio, seed).compile(solver=name)
            K, b, s = equilibrated(model, model.state())
            exact = solved_in_long_double(K, b) * s
            error, n = np.abs(solution(model, model.state()) - exact), 6 * model.nb
            worst[name] = [float(error[part].max() / np.abs(exact[part]).max()) for part in (slice(n), slice(n, None))]
        for tree, block in zip(worst[TREE], worst[BLOCK], strict=True):
            assert tree < NO_WORSE * max(block, np.finfo(float).eps), seed


def test_parts_that_float_and_joints_from_either_side():
    """A part that hangs on nothing, joints from the far body to the near one, and two joints between the same bodies."""
    rng = np.random.default_rng(3)
    system = mbd.System("parts", gravity=(0.3, -0.5, -9.81))
    bodies = [system.ground]
    for k in range(7):
        p, v, omega_bar = rng.normal(size=4), rng.normal(size=3), rng.normal(size=3)
        body = mbd.Body(f"b{k}", 1.0 + k, (0.1, 0.2, 0.25), r=(k, 0.1, 0.2), p=p / np.linalg.norm(p), v=v, omega_bar=omega_bar)
        bodies.append(system.add(body))
    axis = rng.normal(size=(7, 3))
    system.add(RJ("a", bodies[1], bodies[0], point=(0, 1, 0), axis=axis[0]))
    system.add(RJ("b", bodies[2], bodies[1], point=(1, 1, 0), axis=axis[1]))
    system.add(RJ("c", bodies[3], bodies[4], point=(2, 1, 0), axis=axis[2]))
    system.add(SJ("d", bodies[5], bodies[4], point=(3, 1, 0)))
    system.add(Distance("e", bodies[6], bodies[5], point_i=(5, 1, 0), point_j=(4, 0, 1)))
    system.add(PointInPlane("f", bodies[6], bodies[7], point=(5, 2, 0), normal=axis[3]))
    system.add(Parallel("g", bodies[6], bodies[7], axis=axis[4]))
    model = system.compile(solver=TREE)
    K, b, s = equilibrated(model, model.state())
    reference = np.linalg.solve(K, b)
    bound = GROWTH * np.finfo(float).eps * condition(K)
    assert np.abs(solution(model, model.state()) / s - reference).max() < bound * np.abs(reference).max()


def test_a_chain_whose_last_joint_is_driven_has_the_driver_as_a_row():
    system = lengthening(3, 1.0, 0)
    system.add(RotationDriver("drive", system.joints[1], lambda t: 0.3 * t * t))
    model = system.compile(solver=TREE)
    a, reference = mbd.accelerations(model), mbd.accelerations(system.compile(solver=BLOCK))
    np.testing.assert_allclose(a.v_dot, reference.v_dot, rtol=0.0, atol=1e-12 * np.abs(reference.v_dot).max())
    np.testing.assert_allclose(a.lam, reference.lam, rtol=0.0, atol=1e-12 * np.abs(reference.lam).max())


def test_dependent_rows_are_reported_at_the_same_joint():
    """A pose at which the vectors of a dot product are parallel."""
    for name in (BLOCK, TREE):
        system = mbd.System("turned", gravity=(0.0, 0.0, -9.81))
        arm = system.add(mbd.Body("arm", 1.0, (0.1, 0.2, 0.3), r=(1.0, 0.0, 0.0)))
        system.add(RJ("pin", system.ground, arm, point=(0.0, 0.0, 0.0), axis=(0.0, 0.0, 1.0)))
        model = system.compile(solver=name)
        quarter = np.array([[1.0, 0.0, 0.0, 0.0], [0.5**0.5, 0.0, 0.5**0.5, 0.0]])
        with pytest.raises(mbd.SimulationError, match="pin"):
            mbd.accelerations(model, model.state().replace(p=quarter))


def test_the_order_of_a_forest():
    assert order_of_forest(4, [(0, 2), (2, 3)]) == [(2, 0, 0), (3, 2, 1), (1, 0, -1)]
    assert order_of_forest(3, [(0, 1), (1, 2), (0, 2)]) is None
    assert order_of_forest(3, [(0, 1), (0, 1)]) is None
    assert order_of_forest(4, [(1, 2, 3)]) is None


@pytest.mark.parametrize("topology", ["chain", "star", "tree"])
def test_a_body_is_at_most_the_lead_behind_the_one_that_carries_it(random_model, topology):
    """The inward pass writes what belongs to a body this many steps ahead: a body whose parent came later would be added to old numbers."""
    for seed in range(8):
        model = random_model(topology, 9, seed, TREE)
        steps = model.tables["TREE"]
        step_of = {int(body): n for n, body in enumerate(steps[:, BODY])}
        behind = [n - step_of[int(parent)] for n, parent in enumerate(steps[:, PARENT]) if int(parent) in step_of]
        assert model.tables["TREE_LEAD"].tolist() == [[max(behind, default=0)]] == [[lead_of(steps)]]
        assert min(behind, default=1) > 0
    if topology == "chain":
        assert lead_of(steps) == 1


def closed() -> mbd.System:
    system = lengthening(3, 1.0, 0)
    system.add(SJ("closing", system.bodies[3], system.ground, point=(3.0, 0.0, 0.0)))
    return system


def needle() -> mbd.System:
    system = mbd.System("needle")
    body = system.add(mbd.Body("needle", 1.0, (0.0, 1.0, 1.0), r=(1.0, 0.0, 0.0)))
    system.add(RJ("pin", system.ground, body, point=(0.0, 0.0, 0.0), axis=(0.0, 0.0, 1.0)))
    return system


def doubled() -> mbd.System:
    system = mbd.System("doubled")
    body = system.add(mbd.Body("arm", 1.0, (1.0, 1.0, 1.0), r=(1.0, 0.0, 0.0)))
    system.add(SJ("ball", system.ground, body, point=(0.0, 0.0, 0.0)))
    system.add(PointInPlane("plane", system.ground, body, point=(0.0, 0.0, 0.0), normal=(0.0, 0.0, 1.0)))
    return system


@pytest.mark.parametrize(
    ("make", "why"),
    [(closed, "its joints close loops"), (needle, "no inertia about an axis"), (doubled, "rows of '(ball|plane)' depend")],
)
def test_a_model_that_it_does_not_serve_is_refused(make, why):
    with pytest.raises(UsageError, match=f"solver = 'tree' .*{why}.* Leave the choice to the model: solver=None"):
        make().compile(solver=TREE)


@pytest.mark.parametrize("method", [mbd.RATTLE, mbd.HEM4])
def test_methods_that_keep_a_factor_while_the_rows_move_on_end_where_they_do_with_blocks(method):
    """Either factor stays that of its pose."""
    ends = [mbd.simulate(double_pendulum().compile(solver=name), 0.2, integrator=method(2e-3)).y[-1] for name in (TREE, BLOCK)]
    np.testing.assert_allclose(*ends, rtol=0.0, atol=1e-12)


def test_friction_of_revolute_joints_is_solved_by_the_recursion_and_is_the_same_with_blocks():
    system = mbd.System("rubbing", gravity=(0, 0, -9.81))
    before = system.ground
    for k in range(4):
        body = system.add(
            mbd.Body(f"b{k}", 1.0, (0.1, 0.2, 0.25), r=(k + 0.5, 0, 0), omega_bar=(0, 0.5 * k, 0), v=(0, 0, -0.25 * k))
        )
        pin = system.add(RJ(f"pin {k}", before, body, point=(k, 0, 0), axis=(0, 1, 0)))
        system.add(mbd.JointFriction(f"rub {k}", pin, mbd.Coulomb(0.3, velocity=0.1), radius=0.05, length=0.2))
        before = body
    state = system.compile(check_pose=False).state()
    by_default, asked = system.compile(check_pose=False), system.compile(check_pose=False, solver=BLOCK)
    assert (by_default.solver, asked.solver) == (TREE, BLOCK)
    x, other = solution(by_default, state), solution(asked, state)
    np.testing.assert_allclose(other, x, rtol=0.0, atol=1e-11 * np.abs(x).max())
