"""articulated_impulse and chain_impulse against exact rationals, the seed's recursion with inverses, dense solutions, and laws."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

import haugmbd as mbd
from haugmbd.serial_chain import random_motion
from tests.support.seed_impulse import dragging, origin, seed_impulse

REFERENCE = json.loads((Path(__file__).parents[2] / "reference" / "data" / "impact.json").read_text())
STRAIGHT = [name for name in REFERENCE if name.startswith("straight_chain")]
DENSE_TOL = 1e-10
"""Against 6x6 inverses at the world origin and dense solutions, which lose the digits of their condition numbers (up to 1e5)."""
LAW_TOL = 1e-12
"""Balances of the O(n) answer, relative to the largest term: some hundred roundings of 1e-16, and shifts to the world origin."""


def near(a, b, tolerance, scale=0.0):
    """Whether two arrays agree relative to the largest number of either, or to `scale`."""
    a, b = np.asarray(a), np.asarray(b)
    return np.abs(a - b).max(initial=0.0) <= tolerance * max(np.abs(a).max(initial=0.0), np.abs(b).max(initial=0.0), scale)


def random_impact(seed, *, e=None, largest=12, free=None):
    """A random chain with mixed joints, and a random contact of a random link that approaches."""
    rng = np.random.default_rng(seed)
    chain = mbd.random_chain(int(rng.integers(1, largest + 1)), seed, free_base=bool(rng.integers(2)) if free is None else free)
    q, qd, _ = random_motion(chain, seed + 1)
    if not any(link.nv for link in chain.links):
        return random_impact(seed + 10_000, e=e, largest=largest, free=free)
    k = int(rng.integers(next(i for i, link in enumerate(chain.links) if link.nv), chain.n))
    point, normal = rng.normal(size=(2, 3))
    if (velocity(chain, q, qd, k, point) @ normal) < 0.0:
        normal = -normal
    restitution = rng.uniform() if e is None else e
    return (
        chain,
        q,
        qd,
        mbd.articulated_impulse(chain, q, qd, link=k, point=point, plane_normal=-normal, restitution=restitution),
        restitution,
    )


def velocity(chain, q, qd, k, point):
    """Of a global point on link k."""
    moving = mbd.link_motion(chain, q, qd)
    return moving.v[k] + np.cross(moving.omega[k], point - moving.r[k])


# --- exact rationals ---------------------------------------------------------------------------------------------------------


def straight(n, free):
    """n rods of 1 kg and 1 m on the x axis, hinged about z; the first pinned or free."""
    base = mbd.Link.free if free else mbd.Link.revolute
    links = [(mbd.Link.revolute if k else base)(f"rod {k + 1}", 1.0, [1 / 12] * 3, c=0.5, L=1.0) for k in range(n)]
    chain = mbd.SerialChain(links)
    return chain, chain.q_zero(), np.r_[5 : chain.nv] if free else np.r_[0:n]


def exact(case):
    """The floats nearest to the rationals: rates of the rods, impulses through the joints, velocity of the tip."""
    pick = lambda name: np.array([float(Fraction(x)) for x in case[name]])  # noqa: E731
    return pick("omega"), pick("joint_impulse_on_rod_k_from_previous"), float(Fraction(case["tip_velocity_per_unit_impulse"]))


@pytest.mark.parametrize("name", STRAIGHT)
def test_exact_rationals_of_an_applied_impulse(name):
    """Every number to 1e-13 of itself, also the smallest: 4e-6 of the impulse."""
    n, free = int(name.split("_")[2][1:]), name.endswith("free")
    omega, through, tip = exact(REFERENCE[name])
    chain, q, turns = straight(n, free)
    wrenches = np.zeros((n, 6))
    wrenches[-1] = [0, 1, 0, 0, 0, 0.5]  # at the tip, about the centre of mass
    dqd, l = mbd.chain_impulse(chain, q, wrenches)
    np.testing.assert_allclose(np.cumsum(dqd[turns]), omega, rtol=1e-13)
    np.testing.assert_allclose(l[:, 1], through, rtol=1e-13, atol=1e-15 if free else 0.0)
    assert velocity(chain, q, dqd, n - 1, (n, 0, 0))[1] == pytest.approx(tip, rel=1e-13)
    if free:
        assert dqd[1] == pytest.approx(float(Fraction(REFERENCE[name]["y0dot"])), rel=1e-13)


@pytest.mark.parametrize("name", STRAIGHT)
def test_exact_rationals_of_a_contact(name):
    """The tip meets the object with such a speed that J = 1."""
    n, free = int(name.split("_")[2][1:]), name.endswith("free")
    omega, through, tip = exact(REFERENCE[name])
    chain, q, turns = straight(n, free)
    qd = np.zeros(chain.nv)
    qd[1 if free else 0] = -tip if free else -tip / n
    impact = mbd.articulated_impulse(chain, q, qd, point=(n, 0, 0), plane_normal=(0, 1, 0))
    assert impact.v_imp == pytest.approx(tip, rel=1e-13)
    assert impact.compliance == pytest.approx(tip, rel=1e-13)
    assert impact.J == pytest.approx(1.0, rel=1e-13)
    np.testing.assert_allclose(np.cumsum(impact.dqd[turns]), omega, rtol=1e-13)
    np.testing.assert_allclose(impact.l[:, 1], through, rtol=1e-13, atol=1e-15 if free else 0.0)


@pytest.mark.parametrize(("angle", "e"), [(0.0, 0.0), (0.4, 0.5), (1.3, 1.0)])
def test_a_rod_falls_on_a_smooth_plane(angle, e):
    """P = m v (1 + e) / (1 + 3 cos^2 th), omega = 3 v (1 + e) cos th / (a (1 + 3 cos^2 th)): rod_on_smooth_plane of the reference."""
    m, a, v = 1.3, 0.7, 2.1
    rod = mbd.Link.free("rod", m, [m * a * a / 3] * 3, c=0.0)
    q = [0, 0, 0, np.cos(angle / 2), 0, 0, np.sin(angle / 2)]
    impact = mbd.articulated_impulse(
        mbd.SerialChain([rod]), q, [0, -v, 0, 0, 0, 0], link="rod", point_bar=(-a, 0, 0), plane_normal=(0, 3, 0), restitution=e
    )
    below = 1.0 + 3.0 * np.cos(angle) ** 2
    assert impact.J == pytest.approx(m * v * (1 + e) / below, rel=1e-14)
    assert abs(impact.dqd[5]) == pytest.approx(3 * v * (1 + e) * np.cos(angle) / (a * below), rel=1e-14)
    assert impact.v_bounce == pytest.approx(-e * v, rel=1e-14, abs=1e-14)


# --- other ways to the same numbers ------------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(30))
def test_the_recursion_of_the_seed_with_inverses_agrees(seed):
    chain, q, qd, impact, e = random_impact(seed)
    place, k = origin(chain, q, qd), impact.link
    heavy = [*place.I[:k], dragging(place, k)]
    n = impact.normal_wrench[:, None]
    expected = seed_impulse(heavy, place.S[: k + 1], n[:, 0] @ place.v[k], n, e, np.eye(6), np.linalg.inv)
    assert impact.J == pytest.approx(expected.J, rel=DENSE_TOL)
    assert near(impact.l[: k + 1], np.array(expected.l)[..., 0], DENSE_TOL, impact.J)
    assert near(impact.dv[: k + 1], np.array(expected.dv)[..., 0], DENSE_TOL)
    assert near(impact.dqd[: sum(link.nv for link in chain.links[: k + 1])], np.vstack(expected.dqd)[:, 0], DENSE_TOL)
    assert near(impact.inverse_inertia[: k + 1], expected.A_inv, DENSE_TOL)
    assert near(impact.propagation[: k + 1], expected.Phi, DENSE_TOL, 1.0)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(30))
def test_the_propagation_reaches_the_links_beyond_too(seed):
    """(24) for every link, and (19) for the struck one."""
    chain, _, _, impact, _ = random_impact(seed)
    n = impact.normal_wrench
    assert near(impact.propagation @ n * impact.J, impact.l, DENSE_TOL, impact.J)
    assert near(impact.inverse_inertia[impact.link] @ n * -impact.J, impact.dv[impact.link], DENSE_TOL)
    assert impact.compliance == pytest.approx(n @ impact.inverse_inertia[impact.link] @ n, rel=DENSE_TOL)
    assert impact.inverse_inertia.shape == impact.propagation.shape == (chain.n, 6, 6)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(30))
def test_a_dense_solution_agrees(seed):
    """M dq_dot = -J_n^T J,  J = (1 + e) v_imp / (J_n M^-1 J_n^T)."""
    chain, q, qd, impact, e = random_impact(seed, free=bool(seed % 2))
    moving = mbd.link_motion(chain, q)
    J_S, J_R = mbd.jacobians(chain, moving)
    normal, moment = np.split(impact.normal_wrench, 2)
    row = normal @ J_S[impact.link] + (moment - np.cross(moving.r[impact.link], normal)) @ J_R[impact.link]
    M = mbd.crba(chain, q)
    J = (1 + e) * (row @ qd) / (row @ np.linalg.solve(M, row))
    assert impact.v_imp == pytest.approx(row @ qd, rel=DENSE_TOL)
    assert impact.J == pytest.approx(J, rel=DENSE_TOL)
    assert near(impact.dqd, -np.linalg.solve(M, row) * J, DENSE_TOL)
    assert near(M @ impact.dqd, -row * impact.J, LAW_TOL)
    assert near(impact.qd, qd + impact.dqd, 0.0)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(20))
def test_applied_impulses_are_inverse_dynamics_at_rest(seed):
    """chain_impulse against joint_wrenches of a chain at rest without gravity, and against a dense solution."""
    rng = np.random.default_rng(seed)
    chain = mbd.random_chain(int(rng.integers(1, 13)), seed, free_base=bool(seed % 2), gravity=(0, 0, 0))
    q, _, tau = random_motion(chain, seed)
    wrenches = rng.normal(size=(chain.n, 6))
    dqd, l = mbd.chain_impulse(chain, q, wrenches=wrenches, tau=tau)
    carried = mbd.joint_wrenches(chain, q, np.zeros(chain.nv), dqd, wrenches=wrenches)
    assert near(carried.tau, tau, LAW_TOL)
    assert near(carried.wrench, l, LAW_TOL)
    J_S, J_R = mbd.jacobians(chain, mbd.link_motion(chain, q))
    right = tau + np.einsum("nai,na->i", J_S, wrenches[:, :3]) + np.einsum("nai,na->i", J_R, wrenches[:, 3:])
    assert near(dqd, np.linalg.solve(mbd.crba(chain, q), right), DENSE_TOL)


def test_no_impulse_changes_nothing():
    chain = mbd.random_chain(5, 3)
    dqd, l = mbd.chain_impulse(chain, random_motion(chain, 4)[0])
    assert np.abs(dqd).max() == 0.0
    assert np.abs(l).max() == 0.0


# --- laws --------------------------------------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(50, 80))
def test_momentum_is_balanced_link_by_link(seed):
    """(11), (12): l_i = I_i dv_i + l_(i+1) + n J on the struck link; (13): dv is the twist of dq_dot; no joint carries along s."""
    chain, q, _, impact, _ = random_impact(seed)
    place = origin(chain, q, impact.dqd)
    assert near(place.v, impact.dv, LAW_TOL)
    inner = np.einsum("nab,nb->na", place.I, impact.dv)
    inner[:-1] += impact.l[1:]
    inner[impact.link] += impact.normal_wrench * impact.J
    scale = max(np.abs(place.I).max() * np.abs(impact.dv).max(), np.abs(impact.l).max(), impact.J)
    assert np.abs(inner - impact.l).max() <= LAW_TOL * scale
    assert max(np.abs(s.T @ l).max(initial=0.0) for s, l in zip(place.S, impact.l, strict=True)) <= LAW_TOL * scale


def energies(chain, q, qd, impact):
    """Kinetic energy before and after."""
    M = mbd.crba(chain, q)
    return 0.5 * qd @ M @ qd, 0.5 * impact.qd @ M @ impact.qd


@pytest.mark.slow
def test_energy_never_rises_and_falls_as_newton_says():
    """200 cases: T+ - T- = -(1 - e^2) v_imp^2 / (2 n^T A^-1 n)."""
    for seed in range(1000, 1200):
        chain, q, qd, impact, e = random_impact(seed)
        before, after = energies(chain, q, qd, impact)
        lost = 0.5 * (1.0 - e * e) * impact.v_imp**2 / impact.compliance
        assert after <= before * (1.0 + LAW_TOL)
        assert abs(before - after - lost) <= LAW_TOL * before
        assert impact.v_bounce == pytest.approx(-e * impact.v_imp, rel=1e-9, abs=LAW_TOL * np.abs(impact.dv).max())


@pytest.mark.slow
def test_e_1_keeps_the_energy():
    for seed in range(2000, 2030):
        chain, q, qd, impact, _ = random_impact(seed, e=1.0)
        before, after = energies(chain, q, qd, impact)
        assert after == pytest.approx(before, rel=LAW_TOL)


def test_it_does_not_matter_where_the_frames_stand():
    """The same chain in another place, the point in the link frame, and a longer normal: the same impulse, and rates."""
    chain, q, qd, impact, e = random_impact(7, free=False)
    moved = mbd.SerialChain(chain.links, base=(3.0, -2.0, 5.0))
    handle = mbd.link_motion(chain, q)
    normal, moment = np.split(impact.normal_wrench, 2)
    point = np.cross(normal, moment)  # on the line of action
    bar = handle.A[impact.link].T @ (point - handle.P[impact.link])
    again = mbd.articulated_impulse(moved, q, qd, link=impact.link, point_bar=bar, plane_normal=-7 * normal, restitution=e)
    assert again.J == pytest.approx(impact.J, rel=LAW_TOL)
    assert near(again.dqd, impact.dqd, LAW_TOL)
    assert near(again.l[:, :3], impact.l[:, :3], LAW_TOL)
    assert near(again.normal_wrench[3:], np.cross(point + (3.0, -2.0, 5.0), normal), LAW_TOL)
