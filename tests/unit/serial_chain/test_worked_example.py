"""Seed 000 sec. 3, (30)-(40): two rods on the x axis hit a wall; in symbols, and in numbers in the plane of a chain in space.

(35) prints A_1, A_2 for the matrices that (16) calls A_1^-1, A_2^-1.
"""

from __future__ import annotations

import numpy as np
import pytest

import haugmbd as mbd
from tests.support.seed_impulse import seed_impulse

sp = pytest.importorskip("sympy")

m, L, e, rate_1, rate_2 = sp.symbols("m L e theta_1 theta_2", positive=True)
n = sp.Matrix([0, 1, 2 * L])  # (30)
S = [sp.Matrix([0, 0, 1]), sp.Matrix([0, -L, 1])]  # (31)
v = [sp.Matrix([0, 0, rate_1]), sp.Matrix([0, -L * rate_2, rate_1 + rate_2])]  # (32)
I = [
    sp.Matrix([[m, 0, 0], [0, m, m * L / 2], [0, m * L / 2, m * L**2 / 3]]),
    sp.Matrix([[m, 0, 0], [0, m, 3 * m * L / 2], [0, 3 * m * L / 2, sp.Rational(7, 3) * m * L**2]]),
]  # (33)
SPEED = 2 * rate_1 + rate_2
PRINTED = {
    "A_inv": [
        sp.diag(0, 0, 3 / (m * L**2)),
        sp.Matrix([[0, 0, 0], [0, 96 / m, -66 / (m * L)], [0, -66 / (m * L), 48 / (m * L**2)]]) / 7,
    ],  # (35)
    "J": (e + 1) * sp.Rational(7, 24) * m * SPEED * L,  # (36)
    "Phi": [
        sp.Matrix([[7, 0, 0], [0, -5, 3 / L], [0, 0, 0]]) / 7,
        sp.Matrix([[7, 0, 0], [0, 10, -6 / L], [0, 10 * L, -6]]) / 7,
    ],  # (37)
    "dqd": [sp.Matrix([(e + 1) * SPEED / 4]), sp.Matrix([-(e + 1) * SPEED * 3 / 2])],  # (38), (39)
    "dv": [
        sp.Matrix([0, 0, (e + 1) * SPEED / 4]),
        sp.Matrix([0, (e + 1) * SPEED * 3 * L / 2, -(e + 1) * SPEED * 5 / 4]),
    ],  # (38), (39)
}
V_IMP, V_BOUNCE = L * SPEED, -e * L * SPEED  # (34), (40)
VALUES = {m: 1.7, L: 0.83, e: 0.35, rate_1: 1.1, rate_2: -0.6}
PLANE = [0, 1, 5]
"""Linear x, y and angular z of a twist in space."""


@pytest.fixture(scope="module")
def derived():
    return seed_impulse(I, S, (n.T @ v[1])[0, 0], n, e, sp.eye(3), lambda M: M.inv())


@pytest.mark.slow
@pytest.mark.parametrize("name", PRINTED)
def test_the_recursion_in_symbols_gives_what_is_printed(derived, name):
    got, printed = getattr(derived, name), PRINTED[name]
    pairs = zip(got, printed, strict=True) if isinstance(printed, list) else [(sp.Matrix([got]), sp.Matrix([printed]))]
    assert all(sp.simplify(a - b).is_zero_matrix for a, b in pairs)


@pytest.mark.slow
def test_the_law_of_contact_in_symbols(derived):
    assert sp.simplify((n.T @ v[1])[0, 0] - V_IMP) == 0
    assert sp.simplify((n.T @ (v[1] + derived.dv[1]))[0, 0] - V_BOUNCE) == 0


def number(expression):
    """An expression of the example at VALUES, to 30 digits and then rounded."""
    exact = sp.Matrix([expression]).subs({symbol: sp.Rational(str(value)) for symbol, value in VALUES.items()})
    return np.array(exact.evalf(30).tolist(), dtype=float)


@pytest.fixture(scope="module")
def impact():
    mass, length = VALUES[m], VALUES[L]
    inertia = mass * length**2 / 12
    chain = mbd.SerialChain.from_tables([mass] * 2, [length / 2] * 2, [length] * 2, [[0.0, inertia, inertia]] * 2, [[0, 0, 1]] * 2)
    rates = [VALUES[rate_1], VALUES[rate_2]]
    return mbd.articulated_impulse(chain, [0, 0], rates, point=(2 * length, 0, 0), plane_normal=(0, -1, 0), restitution=VALUES[e])


def test_the_numbers_of_the_example(impact):
    """To the last digit: a few units in the last place of the largest number."""
    last = {"rtol": 1e-15, "atol": 2e-15}
    np.testing.assert_allclose(impact.normal_wrench[PLANE], number(n)[:, 0], **last)
    np.testing.assert_allclose(impact.v_imp, number(V_IMP).item(), **last)
    np.testing.assert_allclose(impact.J, number(PRINTED["J"]).item(), **last)
    np.testing.assert_allclose(impact.dqd, [number(x).item() for x in PRINTED["dqd"]], **last)
    np.testing.assert_allclose(impact.dv[:, PLANE], [number(x)[:, 0] for x in PRINTED["dv"]], **last)
    np.testing.assert_allclose(impact.v_bounce, number(V_BOUNCE).item(), **last)
    np.testing.assert_allclose(impact.qd, number(sp.Matrix([rate_1, rate_2]) + sp.Matrix(PRINTED["dqd"]))[:, 0], **last)
    np.testing.assert_allclose(impact.compliance, number(sp.Rational(24, 7) / m).item(), **last)
    l = [number(P @ n * PRINTED["J"])[:, 0] for P in PRINTED["Phi"]]
    np.testing.assert_allclose(impact.l[:, PLANE], l, **last)


def test_the_matrices_of_the_example(impact):
    """To 1e-13: they are made with inverses of matrices (here with condition numbers of about 100)."""
    plane = np.ix_(range(2), PLANE, PLANE)
    np.testing.assert_allclose(impact.inverse_inertia[plane], [number(x) for x in PRINTED["A_inv"]], rtol=1e-13, atol=1e-13)
    np.testing.assert_allclose(impact.propagation[plane], [number(x) for x in PRINTED["Phi"]], rtol=1e-13, atol=1e-13)


def test_nothing_leaves_the_plane(impact):
    out = [2, 3, 4]
    assert np.abs(impact.l[:, out]).max() == 0.0
    assert np.abs(impact.dv[:, out]).max() == 0.0


def test_the_message_tells_the_story(impact):
    assert impact.message == "link 'link 2' hits with 1.328 m/s and leaves with 0.4648 m/s: J = 0.88893 N s."
    assert impact.J == pytest.approx(0.88893, rel=1e-5)
