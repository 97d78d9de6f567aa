"""The cone problem of contacts with dry friction: Signorini's and Coulomb's laws, judged without the solver."""

import numpy as np
import pytest

from haugmbd.contact.cone import natural_map, relative_residual, solve_cone_problem
from haugmbd.errors import SimulationError


def random_contacts(rng, m, bodies):
    """Return (G, b, mu) of m contacts at random places of free bodies, or between one and the ground."""
    C, inverse_mass = np.zeros((3 * m, 6 * bodies)), np.repeat(rng.uniform(0.5, 2.0, bodies), 6)
    for k in range(m):
        a, c = rng.integers(0, bodies), rng.integers(-1, bodies)
        Q, _ = np.linalg.qr(rng.normal(size=(3, 3)))
        for body, sign in ((a, 1.0), (c, -1.0)):
            if body < 0 or (body == a and sign < 0.0):
                continue
            arm = 0.5 * rng.normal(size=3)
            C[3 * k : 3 * k + 3, 6 * body : 6 * body + 6] += sign * np.hstack([Q, np.cross(arm, Q)])
    return C * inverse_mass @ C.T, C @ rng.normal(size=6 * bodies), rng.uniform(0.1, 1.0, m)


def laws(G, b, mu, f):
    """Return by how much Signorini's and Coulomb's laws are violated, relative to the largest force and speed."""
    v = (G @ f.ravel() + b).reshape(-1, 3)
    N, T, slip = f[:, 0], np.hypot(*f[:, 1:].T), np.hypot(*v[:, 1:].T)
    size, speed = np.abs(f).max() + 1e-300, np.abs(b).max()
    against = np.linalg.norm(f[:, 1:] * slip[:, None] + mu[:, None] * N[:, None] * v[:, 1:], axis=1)
    return max(
        (-N).max() / size, (-v[:, 0]).max() / speed, np.abs(N * v[:, 0]).max() / size / speed, (T - mu * N).max() / size,
        against.max() / size / speed,
    )  # fmt: skip


@pytest.mark.parametrize("seed", range(12))
def test_random_problems_fulfil_the_laws(seed):
    rng = np.random.default_rng(1000 + seed)
    G, b, mu = random_contacts(rng, int(rng.integers(1, 12)), int(rng.integers(1, 8)))
    found = solve_cone_problem(G, b, mu)
    assert found.residual <= 1e-10
    assert laws(G, b, mu, found.f) <= 1e-9


@pytest.mark.slow
def test_two_hundred_random_problems_reach_the_residual():
    worst = 0.0
    for seed in range(200):
        rng = np.random.default_rng(2000 + seed)
        G, b, mu = random_contacts(rng, int(rng.integers(1, 21)), int(rng.integers(1, 12)))
        worst = max(worst, relative_residual(G, b, mu, solve_cone_problem(G, b, mu).f))
    assert worst <= 1e-10


@pytest.mark.parametrize("factor", [1e-6, 1e6])
def test_units_of_mass_and_length_change_nothing(factor):
    rng = np.random.default_rng(3)
    G, b, mu = random_contacts(rng, 6, 4)
    f, other = solve_cone_problem(G, b, mu).f, solve_cone_problem(factor * G, 3.0 * b, mu).f
    assert np.abs(factor * G @ other.ravel() - 3.0 * G @ f.ravel()).max() <= 1e-9 * np.abs(b).max()


def test_an_open_problem_has_no_forces():
    G, b, mu = np.eye(3), np.array([1.0, 2.0, 0.0]), np.array([0.5])
    found = solve_cone_problem(G, b, mu)
    assert not found.f.any()
    assert found.residual == 0.0


@pytest.mark.slow
def test_a_problem_without_an_answer_raises():
    # two faces that press against each other with nothing that moves: v = b < 0 whatever f is
    G, b = np.zeros((3, 3)), np.array([-1.0, 0.0, 0.0])
    with pytest.raises(SimulationError, match=r"residual"):
        solve_cone_problem(G, b, np.array([0.3]), what="the vice")


def test_the_natural_map_is_zero_exactly_where_the_laws_hold():
    mu = np.array([0.5])
    stick, slip, open_ = np.array([[2.0, 0.5, 0.0]]), np.array([[2.0, -1.0, 0.0]]), np.zeros((1, 3))
    assert not natural_map(stick, np.zeros((1, 3)), mu).any()
    assert np.abs(natural_map(slip, np.array([[0.0, 3.0, 0.0]]), mu)).max() <= 1e-15
    assert not natural_map(open_, np.array([[0.4, 3.0, 0.0]]), mu).any()
    assert natural_map(slip, np.array([[0.0, -3.0, 0.0]]), mu).any()


@pytest.mark.parametrize("seed", range(5))
def test_points_without_friction_never_pull(seed):
    """Points without friction that part have no force; where some approach, forces and velocities are not negative."""
    rng = np.random.default_rng(seed)
    m = 4
    C = rng.normal(size=(m, m + 2))
    G, b = np.zeros((3 * m, 3 * m)), np.zeros(3 * m)
    G[::3, ::3] = C @ C.T
    b[::3] = np.abs(rng.normal(size=m)) * (rng.uniform(size=m) < 0.7)
    assert np.abs(solve_cone_problem(G, b, np.zeros(m)).f).max() <= 1e-12
    b[0] = -1.0
    found = solve_cone_problem(G, b, np.zeros(m))
    assert found.f[:, 0].min() >= 0.0
    assert found.v[:, 0].min() >= -1e-10
    assert abs(found.f[:, 0] @ found.v[:, 0]) <= 1e-10


def test_a_fast_point_that_is_hardly_touched_is_solved_to_rounding_by_newtons_method_alone():
    """Its force is a part in 10^7 of its velocity, which leaves more of rounding than any residual relative to the force allows."""
    G = np.array([[2.587368, -0.905165, -0.266277], [-0.905165, 4.810305, -0.173177], [-0.266277, -0.173177, 6.798105]])
    for approach in (2.2e-7, 1e-9, 2.7e-11):
        found = solve_cone_problem(G, np.array([-approach, -0.1592, 0.0089]), np.array([0.37122]))
        assert found.steps.proximal == found.steps.sweeps == 0
        assert found.f[0, 0] > 0.0
        assert abs(found.v[0, 0]) <= 1e-16
        assert np.hypot(*found.f[0, 1:]) == pytest.approx(0.37122 * found.f[0, 0], rel=1e-6)
