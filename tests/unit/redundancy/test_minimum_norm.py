"""Multipliers of minimum norm: against LAPACK's least squares, and against the kept rows where they are unique."""

from __future__ import annotations

import numpy as np
import pytest

import haugmbd as mbd
from haugmbd import inertia
from haugmbd.gallery import four_bar
from joints import RJ, SJ
from tests.support.redundant_loops import bennett, bricard, ladder, loop, planar_points

LEAST = 1e-9  # relative; measured 1e-11: rounding over EPS
UNIQUE = 1e-9
MECHANISMS = {
    "four-bar": lambda: loop(planar_points(), [np.array([0.0, 0.0, 1.0])] * 4),
    "Bennett": bennett,
    "Bricard": bricard,
    "ladder": lambda: ladder(6),
}


def of_both(model, state=None):
    """Phi_q (nc, 6 nb) and the accelerations with the kept rows' and with minimum-norm multipliers."""
    Phi_q = mbd.evaluate(model, state).Phi_q.toarray()
    return Phi_q, mbd.accelerations(model, state), mbd.accelerations(model, state, redundancy=mbd.MinimumNorm())


def unique_rows(Phi_q):
    """Which multipliers are determined: those that no vector of the left null space touches."""
    u, s, _ = np.linalg.svd(Phi_q)
    null = u[:, int(np.sum(s > 1e-9 * s[0])) :]
    return np.abs(null).max(axis=1, initial=0.0) < 1e-9


@pytest.mark.slow
@pytest.mark.parametrize("name", MECHANISMS)
@pytest.mark.parametrize("seconds", [0.0, 0.3])
def test_the_least_multipliers(name, seconds):
    model = MECHANISMS[name]().compile()
    state = mbd.simulate(model, seconds, h=1e-3).state() if seconds else model.state()
    Phi_q, kept, least = of_both(model, state)
    wrench = Phi_q.T @ kept.lam
    expected = np.linalg.lstsq(Phi_q.T, wrench, rcond=1e-9)[0]
    size = np.abs(expected).max()
    np.testing.assert_allclose(least.lam, expected, rtol=0.0, atol=LEAST * size)
    np.testing.assert_allclose(Phi_q.T @ least.lam, wrench, rtol=0.0, atol=LEAST * size)
    np.testing.assert_array_equal(least.v_dot, kept.v_dot)
    unique = unique_rows(Phi_q)
    np.testing.assert_allclose(least.lam[unique], kept.lam[unique], rtol=0.0, atol=UNIQUE * size)


def test_what_is_unique_in_a_planar_four_bar():
    """Forces in the plane are; forces across it and moments in it are not: 2 of the 5 rows of each hinge."""
    model = MECHANISMS["four-bar"]().compile()
    Phi_q, kept, least = of_both(model)
    unique = unique_rows(Phi_q)
    same = np.abs(least.lam - kept.lam) < UNIQUE
    assert [int(unique[joint.rows].sum()) for joint in model.joints.values()] == [2, 2, 2, 2]
    np.testing.assert_array_equal(unique, same)


def test_twins_share_the_load():
    """Two equal ball joints at one place: each carries half; with the kept rows one carries all."""
    system = mbd.System("twins", gravity=(0, 0, -10))
    bob = system.add(mbd.Body("bob", 2.0, (0.1, 0.1, 0.1), r=(0, 0, -1)))
    for name in ("one", "two"):
        system.add(SJ(name, system.ground, bob, point=(0, 0, 0)))
    result = mbd.simulate(system, 0.01, h=1e-3, redundancy=mbd.MinimumNorm())
    for name in ("one", "two"):
        np.testing.assert_allclose(result.reaction(name).force, [[0.0, 0.0, 10.0]] * len(result), rtol=0.0, atol=1e-9)
    kept = mbd.simulate(system, 0.01, h=1e-3)
    np.testing.assert_array_equal(kept.y, result.y)
    np.testing.assert_allclose(kept.reaction("one").force[:, 2], 20.0, rtol=0.0, atol=1e-9)
    assert np.abs(kept.reaction("two").force).max() == 0.0


def test_massless_axes_do_not_matter():
    """The metric of the least squares knows no masses: slender rods are no harder than bodies."""
    points, system = planar_points(), mbd.System("rods", gravity=(0.3, -9.81, 1.0))
    bodies = [system.ground]
    for k in range(3):
        along = points[k + 1] - points[k]
        mass, J_bar = inertia.rod(float(np.linalg.norm(along)), density=1.0, axis=along)
        bodies.append(system.add(mbd.Body(f"link {k}", mass, J_bar, r=(points[k] + points[k + 1]) / 2)))
    for k in range(4):
        system.add(RJ(f"hinge {k}", bodies[k], bodies[(k + 1) % 4], point=points[k], axis=(0, 0, 1)))
    Phi_q, kept, least = of_both(system.compile())
    expected = np.linalg.lstsq(Phi_q.T, Phi_q.T @ kept.lam, rcond=1e-9)[0]
    np.testing.assert_allclose(least.lam, expected, rtol=0.0, atol=LEAST * np.abs(expected).max())


def hinged_ring(s):
    """A four-bar of four hinges, in a plane, that is s times as large as one of a metre."""
    points, system = s * np.array(planar_points()), mbd.System("ring", gravity=(0.3, -9.81, 1.0))
    bodies = [system.ground]
    for k in range(3):
        J_bar = s**2 * np.array([0.1, 0.12, 0.15])
        bodies.append(system.add(mbd.Body(f"link {k}", 1.0 + k, J_bar, r=(points[k] + points[k + 1]) / 2)))
    for k in range(4):
        system.add(RJ(f"hinge {k}", bodies[k], bodies[(k + 1) % 4], point=points[k], axis=(0, 0, 1)))
    return system


@pytest.mark.parametrize("s", [1e-5, 1e-3, 1.0, 1e3])
def test_a_mechanism_of_any_size(s):
    """The wrenches of rows of angles grow like 1 / s beside those of points: watches and bridges have least multipliers, too."""
    Phi_q, kept, least = of_both(hinged_ring(s).compile())
    lengths = np.tile([1.0, 1.0, 1.0, s, s, s], 3)  # moments are divided by a length: all equations are then of one size
    expected = np.linalg.lstsq(Phi_q.T / lengths[:, None], Phi_q.T @ kept.lam / lengths, rcond=1e-12)[0]
    np.testing.assert_allclose(least.lam, expected, rtol=0.0, atol=LEAST * np.abs(expected).max())


@pytest.mark.slow
def test_in_a_result_and_with_the_model():
    model = bennett().compile(redundancy=mbd.MinimumNorm())
    result = mbd.simulate(model, 0.5, h=1e-3, store_every=100)
    for k in range(len(result)):
        np.testing.assert_allclose(result.lam[k], mbd.accelerations(model, result.state(k)).lam, rtol=0.0, atol=1e-9)
    assert np.abs(result.violation("acceleration")).max() < 1e-10
    plain = mbd.simulate(model.with_redundancy(mbd.DropDependentRows()), 0.5, h=1e-3, store_every=100)
    assert (plain.lam[:, list(model.redundancy.dropped)] == 0.0).all()
    np.testing.assert_array_equal(plain.y, result.y)


def test_without_dependent_rows_nothing_changes():
    model = four_bar().compile()
    np.testing.assert_array_equal(mbd.accelerations(model, redundancy=mbd.MinimumNorm()).lam, mbd.accelerations(model).lam)


@pytest.mark.parametrize("wrong", ["minimum norm", mbd.MinimumNorm, 1])
def test_only_the_objects_will_do(wrong):
    system = bennett()
    with pytest.raises(mbd.UsageError, match=r"DropDependentRows\(\) or MinimumNorm\(\)"):
        system.compile(redundancy=wrong)
    model = system.compile()
    with pytest.raises(mbd.UsageError, match="redundancy"):
        mbd.accelerations(model, redundancy=wrong)
    with pytest.raises(mbd.UsageError, match="redundancy"):
        mbd.simulate(model, 0.1, h=0.1, redundancy=wrong)
