"""Joints that close suddenly: as a compiled model that has them; redundant, conflicting and open ones."""

from __future__ import annotations

import numpy as np
import pytest

import haugmbd as mbd
from haugmbd.constraints import coincident
from joints import CJ, RJ, SJ, Fixed, KnifeEdge, RollingDisc, RollingSphere, RotationDriver
from tests.support.dense_impulse import Dense, consistent, velocity
from tests.support.random_trees import random_tree


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(8))
def test_as_the_compiled_model_that_has_the_joint(seed):
    """Closing it is the projection in the model with that joint: velocities, old and new multipliers, joint impulses."""
    rng = np.random.default_rng(seed)
    make, axis = ((SJ, {}), (RJ, {"axis": rng.normal(size=3)}), (CJ, {"axis": rng.normal(size=3)}))[seed % 3]
    dependent = True
    while dependent:
        system = random_tree(rng, 9, free=seed % 2 == 0)
        state, b = consistent(system, rng), system.bodies
        latch = make("latch", b[3], b[seed % 3 + 4], point=rng.normal(size=3), **axis)
        rows = np.vstack([Dense(system, state).J, Dense(beside(system, latch), state).J])
        dependent = np.linalg.svd(rows, compute_uv=False)[-1] < 1e-2
    found = mbd.impulse(system.compile(), state, close=[latch])
    system.add(latch)
    model = system.compile()
    whole = mbd.impulse(model, state)
    np.testing.assert_allclose(velocity(found), velocity(whole), atol=1e-11)
    np.testing.assert_allclose(np.concatenate([found.Lam, found.closed["latch"]]), whole.Lam, atol=1e-10 * np.abs(whole.Lam).max())
    assert np.abs(found.closed["latch"]).max() > 1e-3
    for name in model.joints:
        for on in ("i", "j"):
            mine, other = found.joint(name, on=on, frame="joint"), whole.joint(name, on=on, frame="joint")
            np.testing.assert_allclose(mine.force, other.force, atol=1e-9)
            np.testing.assert_allclose(mine.torque, other.torque, atol=1e-9)
            np.testing.assert_array_equal(mine.point, other.point)
    assert found.energy_change < 0.0
    assert found.messages == ()


def beside(system, *parts):
    """The parts alone, between the bodies of `system`."""
    other = mbd.System("beside")
    other.ground, other.bodies = system.ground, list(system.bodies)
    for part in parts:
        other.add(part)
    return other


def open_four_bar(rate=1.0):
    """Two cranks about z, and a coupler on the first: planar; the end of the coupler meets the second crank's tip."""
    system = mbd.System("four bar")
    crank = system.add(mbd.Body("crank", 1.0, (0.01, 0.1, 0.1), r=(0, 0.5, 0), v=(-0.5 * rate, 0, 0), omega_bar=(0, 0, rate)))
    coupler = system.add(mbd.Body("coupler", 2.0, (0.01, 0.5, 0.5), r=(1, 1, 0), v=(-rate, 0, 0)))
    rocker = system.add(mbd.Body("rocker", 1.5, (0.01, 0.2, 0.2), r=(2, 0.4, 0)))
    z = (0, 0, 1)
    system.add(RJ("A", system.ground, crank, point=(0, 0, 0), axis=z))
    system.add(RJ("B", crank, coupler, point=(0, 1, 0), axis=z))
    system.add(RJ("D", system.ground, rocker, point=(2, 0, 0), axis=z))
    return system, coupler, rocker


def test_a_planar_loop_closed_by_a_spatial_hinge():
    """3 of 5 rows say what the plane says already: the velocities of the loop, the least multipliers, and a message."""
    system, coupler, rocker = open_four_bar()
    model, state = system.compile(), system.compile().state()
    pin = RJ("C", coupler, rocker, point=(2, 1, 0), axis=(0, 0, 1))
    found = mbd.impulse(model, close=pin)
    assert found.messages[0].startswith("3 of 5 rows that close depend on others (rank 2, rank_tol 1e-10; 'C')")
    dense = Dense(beside(system, *system.joints, pin), state)
    u, _ = dense.solve(np.zeros(18))
    np.testing.assert_allclose(velocity(found), u, atol=1e-13)
    np.testing.assert_allclose(
        dense.M @ (velocity(found) - dense.u) + dense.J.T @ np.concatenate([found.Lam, found.closed["C"]]), 0, atol=1e-13
    )
    in_plane = mbd.impulse(model, close=CJ("C", coupler, rocker, point=(2, 1, 0), axis=(0, 0, 1)))
    np.testing.assert_allclose(velocity(in_plane), velocity(found), atol=1e-13)
    # least: whatever is along the null space has been taken off
    E = Dense(beside(system, pin), state).J
    null = np.linalg.svd(np.vstack([Dense(system, state).J, E]).T)[2][-3:, -5:]
    np.testing.assert_allclose(null @ found.closed["C"], 0.0, atol=1e-13)
    assert np.linalg.norm(found.closed["C"]) > 0.1


def test_rods_that_meet_are_slowed_by_the_law_of_two_bodies():
    """Two equal free bodies, one moving, become one: half the velocity, half the energy."""
    system = mbd.System("couple")
    a = system.add(mbd.Body("a", 2.0, (1, 1, 1), r=(-0.5, 0, 0), v=(3, 0, 0)))
    b = system.add(mbd.Body("b", 2.0, (1, 1, 1), r=(0.5, 0, 0)))
    found = mbd.impulse(system.compile(), close=[Fixed("hook", a, b, point=(0, 0, 0))])
    np.testing.assert_allclose(found.v[1:], [(1.5, 0, 0)] * 2, atol=1e-15)
    assert found.energy_before == pytest.approx(9.0, rel=1e-15)
    assert found.energy_after == pytest.approx(4.5, rel=1e-14)
    np.testing.assert_allclose(found.joint("hook", on="i").force, (-3, 0, 0), atol=1e-14)


def test_a_joint_of_ones_own_closes():
    class Ball:
        name = "ball"

        def __init__(self, i, j, P):
            self.parts = coincident(i, i.A.T @ (P - i.r), j, j.A.T @ (P - j.r))

        def primitives(self):
            return self.parts

    system, coupler, rocker = open_four_bar()
    model, P = system.compile(), np.array([2.0, 1.0, 0.0])
    mine, theirs = (
        mbd.impulse(model, close=Ball(coupler, rocker, P)),
        mbd.impulse(model, close=SJ("ball", coupler, rocker, point=P)),
    )
    np.testing.assert_allclose(velocity(mine), velocity(theirs), atol=1e-14)
    np.testing.assert_allclose(mine.joint("ball").force, theirs.joint("ball").force, atol=1e-14)


def test_a_driver_that_engages():
    """A motor that is switched on at speed, at a later time: Phi_q u+ = nu, and its angular impulse about the axis."""
    system = mbd.System("wheel")
    wheel = system.add(mbd.Body("wheel", 1.0, (0.2, 0.2, 0.3)))
    hinge = system.add(RJ("hinge", system.ground, wheel, point=(0, 0, 0), axis=(0, 0, 1)))
    model = system.compile()
    motor = RotationDriver("motor", hinge, lambda t: t - 1.0)
    found = mbd.impulse(model, model.state().replace(t=1.0), close=motor)
    np.testing.assert_allclose(found.omega_bar[1], (0, 0, 1), atol=1e-15)
    np.testing.assert_allclose(found.joint("motor").torque, (0, 0, 0.3), atol=1e-15)
    with pytest.raises(mbd.ModelError, match="joint 'motor': it cannot close at t = 0.5 s: the driver of Rotation gives -0.5 rad"):
        mbd.impulse(model, model.state().replace(t=0.5), close=motor)


def test_conflict():
    """The model drives a wheel; a brake cannot hold it: the rows depend on one another and ask for different velocities."""
    system = mbd.System("wheel")
    wheel = system.add(mbd.Body("wheel", 1.0, (0.2, 0.2, 0.3)))
    hinge = system.add(RJ("hinge", system.ground, wheel, point=(0, 0, 0), axis=(0, 0, 1)))
    system.add(RotationDriver("motor", hinge, lambda t: 3.0 * t))
    brake = Fixed("brake", system.ground, wheel, point=(0, 0, 0))
    with pytest.raises(mbd.UsageError, match="'brake' cannot close at t = 0 s: .* differ by 3. Close it"):
        mbd.impulse(system.compile(), close=brake)


def test_open_joints_and_names():
    system, coupler, rocker = open_four_bar()
    model = system.compile()
    pin = RJ("C", coupler, rocker, point=(2, 1, 0), axis=(0, 0, 1))
    moved = model.state().replace(r=model.state().r + np.array([[0], [0], [0], [1]]) * np.array([0.01, 0, 0]))
    with pytest.raises(mbd.ModelError, match=r"joint 'C': it cannot close at t = 0 s: its points are 0.01 m apart"):
        mbd.impulse(model, moved, close=pin)
    stranger = mbd.Body("stranger", 1.0, (1, 1, 1), r=(2, 1, 0))
    broken = SJ("broken", coupler, rocker, point=(np.nan, 1, 0))
    twice = SJ("A", coupler, rocker, point=(2, 1, 0))
    motor = RotationDriver("motor", pin, 0.0)
    same = SJ("C", coupler, rocker, point=(2, 1, 0))
    with pytest.raises(mbd.ModelError) as error:
        mbd.impulse(model, close=[SJ("far", coupler, stranger, point=(2, 1, 0)), broken, twice])
    text = str(error.value)
    assert "joint 'far': body 'stranger' is not in model 'four bar'" in text
    assert "joint 'broken': point" in text
    assert "joint 'A': the model has a joint of this name" in text
    with pytest.raises(mbd.ModelError, match="joint 'C': the name is used 2 times"):
        mbd.impulse(model, close=[pin, same])
    with pytest.raises(mbd.ModelError, match="joint 'motor': its joint 'C' is neither in the model nor closed with it"):
        mbd.impulse(model, close=motor)
    for wrong in ("C", 3, RJ, [pin, "D"], pin.primitives()[0]):
        with pytest.raises(mbd.UsageError, match="close"):
            mbd.impulse(model, close=wrong)


def test_rolling_begins_on_the_ground_of_the_model():
    """A solid ball that comes down with v and no spin rolls on with 5/7 v; a blade leaves it what is along the blade, and no sliding."""
    m, R, v = 2.0, 0.1, np.array([1.0, 0.0, -0.5])
    J = 0.4 * m * R**2
    system = mbd.System("ball", gravity=(0, 0, -9.81))
    ball = system.add(mbd.Body("ball", m, (J, J, J), r=(0, 0, R), v=v))
    model = system.compile()
    rolling = RollingSphere("roll", ball, center=(0, 0, R), radius=R)
    other = mbd.System("other")
    other.add(rolling)
    found = mbd.impulse(model, close=rolling)
    np.testing.assert_allclose(found.v[1], (5.0 / 7.0, 0, 0), atol=1e-13)
    np.testing.assert_allclose(found.omega_bar[1], (0, 5.0 / 7.0 / R, 0), atol=1e-12)
    assert rolling.i is other.ground  # it stays where it was added
    disc = mbd.impulse(model, close=[RollingDisc("edge", ball, center=(0, 0, R), axis=(0, 1, 0), radius=R)])
    np.testing.assert_allclose(disc.v[1], found.v[1], atol=1e-13)
    blade = mbd.impulse(model, close=KnifeEdge("blade", ball, point=(0, 0, 0), direction=(1, 1, 0)))
    side, arm = np.array([-1.0, 1.0, 0.0]) / np.sqrt(2.0), np.array([0, 0, -R])
    turn = np.cross(arm, side)
    kick = -(side @ v) / (1.0 / m + turn @ turn / J)  # along the normal of the blade, at its point
    np.testing.assert_allclose(blade.v[1], v + kick / m * side, atol=1e-13)
    np.testing.assert_allclose(blade.omega_bar[1], kick / J * turn, atol=1e-12)
