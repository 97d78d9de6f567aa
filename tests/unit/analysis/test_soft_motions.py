"""Stability of motions that are very soft beside the stiffest, and of poses about which speeds, not springs, decide."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.linalg import eigh

import haugmbd as mbd
from joints import RJ, SJ, TJ

J = 1e-2


def column(n, load=0.0, c=0.0):
    """n upright links of 1 / n m, hinged with springs of 1 N m/rad; a load on the tip that keeps its direction."""
    system, length = mbd.System("column"), 1.0 / n
    before = system.ground
    for k in range(n):
        link = system.add(mbd.Body(f"link {k}", 1.0, (J, J, J), r=((k + 0.5) * length, 0, 0)))
        hinge = system.add(RJ(f"hinge {k}", before, link, point=(k * length, 0, 0), axis=(0, 0, 1)))
        system.add(mbd.RSDA(f"spring {k}", hinge, k=1.0, c=c))
        before = link
    system.add(mbd.PointForce("load", before, point=(1, 0, 0), force=(-load, 0, 0)))
    return system


def by_angles(n, load=0.0):
    """(M, K) by the angles of the links."""
    differences = np.eye(n) - np.eye(n, k=-1)
    moves = np.tril(np.ones((n, n)), -1) / n + 0.5 / n * np.eye(n)
    return moves.T @ moves + J * np.eye(n), differences.T @ differences - load / n * np.eye(n)


@pytest.mark.parametrize("c", [0.0, 1e-9], ids=["undamped", "damped"])
def test_a_soft_spring_beside_a_stiff_one_is_not_free(c):
    """A stiffness of 1e-11 of the largest was called zero: indifferent, with a free motion."""
    stiffness = (1e7, 1e-4)
    system = mbd.System("two springs")
    for k in stiffness:
        mass = system.add(mbd.Body(f"mass {k}", 1.0, (J, J, J), r=(1, 0, 0)))
        slide = system.add(TJ(f"slide {k}", system.ground, mass, point=(0, 0, 0), axis=(1, 0, 0)))
        system.add(mbd.JointSpring(f"spring {k}", slide, k=k, c=c))
    found = mbd.equilibrium(system)
    assert found.stable
    np.testing.assert_allclose(np.sort(found.stiffness), np.sort(stiffness), rtol=1e-9)
    np.testing.assert_allclose(mbd.linearize(found).omega, np.sort(np.sqrt(stiffness)), rtol=1e-9)


@pytest.mark.slow
@pytest.mark.parametrize("c", [0.0, 1e-3], ids=["undamped", "damped"])
def test_a_long_beam_bends_and_is_not_free(c):
    """The softest stiffness is 8e-10 of the stiffest."""
    n = 200
    found = mbd.equilibrium(column(n, c=c))
    assert found.stable
    squares = eigh(by_angles(n)[1], by_angles(n)[0], eigvals_only=True)
    np.testing.assert_allclose(
        mbd.linearize(found).omega[:3], np.sqrt(squares[:3]), rtol=1e-5
    )  # damping, and rounding of the stiffest


@pytest.mark.parametrize("n", [1, 3, 20])
def test_a_column_buckles_at_its_critical_load(n):
    critical = n * np.linalg.eigvalsh(by_angles(n)[1])[0]
    for part, stability in ((1 - 1e-5, "stable"), (1.0, "indifferent"), (1 + 1e-5, "unstable")):
        found = mbd.equilibrium(column(n, part * critical))
        assert found.stability.value == stability, part
    M, K = by_angles(n, 0.9 * critical)  # springs and loads are linear in the angles here, to first order
    np.testing.assert_allclose(mbd.linearize(column(n, 0.9 * critical)).omega, np.sqrt(eigh(K, M, eigvals_only=True)), rtol=1e-9)


def pendulum(force):
    """A pendulum of 1 kg that hangs at 1 m, with a torque on its pin."""
    system = mbd.System("pendulum", gravity=(0, 0, -9.81))
    bar = system.add(mbd.Body("bar", 1.0, (0.1, 0.1, 0.1), r=(0, 0, -1)))
    pin = system.add(RJ("pin", system.ground, bar, point=(0, 0, 0), axis=(0, 1, 0)))
    system.add(mbd.JointForce("torque", [pin], force))
    return system


@pytest.mark.parametrize(("c", "stable"), [(0.5, True), (0.0, True), (-0.5, False), (-1e-4, False)])
def test_negative_damping_is_unstable_however_stiff_the_pose(c, stable):
    """The stiffness alone called it stable."""
    found = mbd.equilibrium(pendulum(lambda t, q, qd: -c * qd[0]))
    assert found.stable is stable
    np.testing.assert_allclose(found.stiffness, [9.81], rtol=1e-9)
    if not stable:
        (s,) = found.eigenvalues
        np.testing.assert_allclose(s, np.roots([1.1, c, 9.81])[0], rtol=1e-7)
        assert mbd.linearize(found).stable is False


def test_dry_friction_leaves_the_verdict_to_the_stiffness():
    assert mbd.equilibrium(pendulum(lambda t, q, qd: -0.1 * np.sign(qd[0]))).stable


def test_dry_friction_beside_a_force_that_follows_a_body_is_refused():
    """The symmetric part of the stiffness called Ziegler's column unstable below its flutter load."""
    system = column(2)
    system.add(mbd.PointForce("follower", system.bodies[-1], point=(1, 0, 0), force=(-4.0, 0, 0), frame="body"))
    system.add(mbd.JointForce("dry", [system["hinge 0"]], lambda t, q, qd: -0.1 * np.sign(qd[0])))
    with pytest.raises(mbd.SimulationError, match=r"in balance at the pose .*not symmetric.*jump there.*neither from") as e:
        mbd.equilibrium(system)
    assert isinstance(e.value.result, mbd.State)


def test_a_force_that_nothing_can_balance_is_no_equilibrium():
    """A body on a ball joint whose own thruster turns it about the vertical, in which nothing resists: 0.003 of the forces were left."""
    system = mbd.System("thruster", gravity=(0, 0, -9.81))
    body = system.add(mbd.Body("body", 1.0, (0.1, 0.1, 0.1), r=(0.2, 0.1, -0.3)))
    system.add(SJ("ball", system.ground, body, point=(0, 0, 0)))
    system.add(mbd.PointForce("thrust", body, point=(0.3, 0.1, -0.2), force=(1.0, 2.0, -0.5), frame="body"))
    for downhill in (True, False):
        with pytest.raises(mbd.SimulationError, match="no equilibrium is found"):
            mbd.equilibrium(system, downhill=downhill)


def test_friction_that_may_hold_a_block_is_told_not_to_count():
    """The message said that nothing held it."""
    system = mbd.System("slope", gravity=(0, 0, -9.81))
    block = system.add(mbd.Body("block", 1.0, (0.1, 0.1, 0.1)))
    slide = system.add(TJ("slide", system.ground, block, point=(0, 0, 0), axis=(1, 0, -0.2)))
    system.add(mbd.JointFriction("rub", slide, mbd.Coulomb(0.5)))
    with pytest.raises(mbd.SimulationError, match=r"nothing holds 'block'.* Dry friction \(JointFriction 'rub'\).* is not counted"):
        mbd.equilibrium(system)
