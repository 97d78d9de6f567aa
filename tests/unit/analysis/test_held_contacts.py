"""Equilibrium and small motions with rigid contacts that stick, or have no friction: closed forms, and what is refused."""

from __future__ import annotations

import numpy as np
import pytest

import haugmbd as mbd
from haugmbd import gallery

G = 9.81
PUSHED = 20.0
"""[N/m] Stiffness of the springs that hold a rod upright."""


def box_on_incline(mu, angle=0.4, shape=None):
    """Return a box of 1 kg on a plane that is turned by an angle: gravity is turned instead."""
    system = mbd.System("incline", gravity=(G * np.sin(angle), 0, -G * np.cos(angle)))
    box = system.add(mbd.Body("box", 1.0, (0.01, 0.01, 0.01), r=(0, 0, 0.05)))
    system.add(mbd.Contact("floor", system.ground, box, shape_i=mbd.Plane(), shape_j=shape or mbd.Box((0.2, 0.2, 0.1)), mu=mu))
    return system


def ladder(mu, mu_wall=0.0, angle=1.0):
    """Return a ladder of 3 kg and 2 m between floor and wall, by its angle with the floor."""
    system = mbd.System("ladder", gravity=(0, 0, -G))
    c, s = np.cos(angle), np.sin(angle)
    turned = (np.cos(angle / 2), 0, -np.sin(angle / 2), 0)
    body = system.add(mbd.Body("ladder", 3.0, (0.01, 1.0, 1.0), r=(-c, 0, s), p=turned))
    for name, normal, x, friction in (("floor", (0, 0, 1), -1.0, mu), ("wall", (-1, 0, 0), 1.0, mu_wall)):
        end = mbd.Sphere(0.0, center=(x, 0, 0))
        system.add(mbd.Contact(name, system.ground, body, shape_i=mbd.Plane(normal=normal), shape_j=end, mu=friction))
    return system


def rod(radius=0.0, mu=0.3):
    """Return a rod of 2 kg and 1 m that stands on its tip, held upright by springs at its top."""
    system = mbd.System("rod", gravity=(0, 0, -G))
    body = system.add(mbd.Body("rod", 2.0, (0.3, 0.3, 0.001), r=(0, 0, 0.5)))
    tip = mbd.Sphere(radius, center=(0, 0, -0.5 + radius))
    system.add(mbd.Contact("tip", system.ground, body, shape_i=mbd.Plane(), shape_j=tip, mu=mu))
    for name, away in (("x", (10, 0, 1)), ("y", (0, 10, 1))):
        system.add(mbd.TSDA(name, system.ground, body, point_i=away, point_j=(0, 0, 1), k=PUSHED, l0=10.0))
    return system


@pytest.mark.slow
def test_a_box_that_holds_on_an_incline_has_the_reactions_of_the_closed_form():
    found = mbd.equilibrium(box_on_incline(0.43))
    floor = found.reaction("floor")
    assert found.dof == 0
    assert np.allclose(floor.force, (-G * np.sin(0.4), 0, G * np.cos(0.4)), rtol=0, atol=1e-12)
    assert np.allclose(floor.point, (0, 0, 0), atol=1e-12)
    assert np.allclose(floor.torque, (0, -0.05 * G * np.sin(0.4), 0), atol=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize(("mu", "at_limit"), [(0.4, ""), (np.tan(0.4), "being at the limit of friction")])
def test_a_box_that_would_slip_is_refused_with_the_forces(mu, at_limit):
    told = (
        rf"{at_limit}.*contact 'floor' would slip \(held, it carries 9\.03561 N along its normal and 3\.82019 N across; mu = 0\.4"
    )
    with pytest.raises(mbd.SimulationError, match=told):
        mbd.equilibrium(box_on_incline(mu))
    with pytest.raises(mbd.UsageError, match=told):
        mbd.linearize(box_on_incline(mu))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("angle", "told"), [(0.8, r"would open at 'floor\[\d"), (np.arctan(0.5), r"touches without a load|would open")]
)
def test_a_high_box_that_would_tip_is_refused_with_its_corners(angle, told):
    """A box twice as high as wide tips at tan(angle) = 1/2."""
    system = mbd.System("high", gravity=(G * np.sin(angle), 0, -G * np.cos(angle)))
    box = system.add(mbd.Body("box", 1.0, (0.01, 0.01, 0.01), r=(0, 0, 0.2)))
    system.add(mbd.Contact("floor", system.ground, box, shape_i=mbd.Plane(), shape_j=mbd.Box((0.2, 0.2, 0.4)), mu=2.0))
    with pytest.raises(mbd.SimulationError, match=told):
        mbd.equilibrium(system)


@pytest.mark.slow
def test_a_ladder_at_a_smooth_wall_has_the_reactions_of_the_closed_form():
    found = mbd.equilibrium(ladder(0.4))
    push = 3 * G / (2 * np.tan(1.0))
    assert np.allclose(found.reaction("floor").force, (push, 0, 3 * G), atol=1e-11)
    assert np.allclose(found.reaction("wall").force, (-push, 0, 0), atol=1e-11)
    with pytest.raises(
        mbd.SimulationError, match=r"contact 'floor' would slip \(held, it carries 29\.43 N .* and 9\.44839 N across"
    ):
        mbd.equilibrium(ladder(0.32))  # it needs 1 / (2 tan 1) = 0.32105


@pytest.mark.slow
@pytest.mark.parametrize("mu", [0.3, 0.4])
def test_forces_of_a_ladder_between_rough_surfaces_are_in_their_cones_and_told_as_not_unique(mu):
    """It holds if tan(angle) >= (1 - mu^2) / (2 mu)."""
    assert np.tan(1.0) > (1 - mu**2) / (2 * mu)
    found = mbd.equilibrium(ladder(mu, mu))
    floor, wall = found.reaction("floor"), found.reaction("wall")
    assert np.allclose(floor.force + wall.force, (0, 0, 3 * G), atol=1e-10)
    assert floor.force[2] > 0.0
    assert np.hypot(*floor.force[:2]) <= mu * floor.force[2] * (1 + 1e-9)
    assert wall.force[0] < 0.0
    assert np.hypot(*wall.force[1:]) <= -mu * wall.force[0] * (1 + 1e-9)
    assert not floor.unique[0]


@pytest.mark.slow
def test_a_rod_on_a_sticking_point_has_the_small_motions_of_the_closed_form():
    """J phi'' = -(k L^2 - m g L / 2) phi about the tip."""
    omega = np.sqrt((PUSHED - G) / (0.3 + 2 * 0.25))
    held = mbd.equilibrium(rod())
    for motions in (mbd.linearize(rod()), mbd.linearize(held)):
        assert np.allclose(np.sort(np.abs(motions.eigenvalues)), (0, omega, omega), atol=1e-6)
    assert np.allclose(held.reaction("tip").force, (0, 0, 2 * G), atol=1e-11)


@pytest.mark.slow
@pytest.mark.parametrize("what", [mbd.equilibrium, mbd.linearize])
def test_a_round_point_that_would_roll_is_refused(what):
    with pytest.raises((mbd.SimulationError, mbd.UsageError), match="'tip' with friction would roll in a small motion"):
        what(rod(0.1))


@pytest.mark.slow
def test_a_round_point_without_friction_slides():
    """The middle of the ball stays at its height: the rod turns about it, and slides sideways. Springs and weight act on both."""
    motions = mbd.linearize(rod(0.1, mu=0.0))
    assert motions.dof == 5  # noqa: PLR2004
    assert np.allclose(mbd.equilibrium(rod(0.1, mu=0.0)).reaction("tip").force, (0, 0, 2 * G), atol=1e-11)


@pytest.mark.slow
def test_a_contact_that_would_pull_is_refused():
    system = box_on_incline(0.6)
    system.add(mbd.PointForce("lift", system.bodies[1], point=(0, 0, 0.05), force=(0, 0, 20.0)))
    with pytest.raises(mbd.SimulationError, match=r"contact 'floor' would open"):
        mbd.equilibrium(system)


@pytest.mark.slow
def test_a_steady_motion_with_contacts_that_touch_is_refused():
    with pytest.raises(
        mbd.UsageError, match=r"equilibrium of a steady motion does not take rigid contacts that touch: contact 'floor'"
    ):
        mbd.equilibrium(box_on_incline(0.6), steady=mbd.UniformRotation((0, 0, 1.0)))


@pytest.mark.slow
def test_contacts_that_touch_in_a_motion_are_refused():
    result = mbd.simulate(box_on_incline(0.1), 0.01, rtol=1e-8)
    for linearize in (lambda: mbd.linearize(result, t=[0.005]), lambda: mbd.linearize(box_on_incline(0.1), moving=True)):
        with pytest.raises(mbd.UsageError, match=r"about a motion does not take rigid contacts that touch.*contact 'floor'"):
            linearize()


@pytest.mark.slow
def test_a_tower_stands_and_each_face_carries_what_is_above():
    found = mbd.equilibrium(gallery.stack(4))
    weights = [found.reaction(name).force[2] for name in ("floor", "face 2", "face 3", "face 4")]
    assert np.allclose(weights, G * np.array([4, 3, 2, 1]), atol=1e-10)


@pytest.mark.slow
def test_what_slides_off_its_face_is_refused():
    system, box = mbd.System("two", gravity=(0, 0, -G)), mbd.Box((0.2, 0.2, 0.1))
    low, high = (system.add(mbd.Body(name, 1.0, (0.1, 0.1, 0.1), r=(0, 0, z))) for name, z in (("low", 0.05), ("high", 0.15)))
    system.add(mbd.Contact("floor", system.ground, low, shape_i=mbd.Plane(), shape_j=box, mu=0.5))
    system.add(mbd.Contact("top", low, high, shape_i=box, shape_j=box))
    system.add(mbd.TSDA("pull", system.ground, high, point_i=(1, 0, 0.15), point_j=(0, 0, 0.15), k=10.0, l0=0.5))
    with pytest.raises(mbd.SimulationError, match=r"went on beyond its face"):
        mbd.equilibrium(system)


@pytest.mark.slow
def test_inputs_and_outputs_of_what_stands_on_a_sticking_point():
    system = rod()
    system.add(mbd.PointForce("push", system.bodies[1], point=(0, 0, 1), force=(0, 0, 0)))
    plant = mbd.linearize(mbd.equilibrium(system), inputs=["push.force[0]"], outputs=["body.rod.r[0]"])
    static = np.real(plant.frequency_response(np.array([1e-6]))[0, 0, 0])
    assert static == pytest.approx(0.5 / (PUSHED - G), rel=1e-6)  # half of the way of the top


@pytest.mark.slow
def test_a_cylinder_that_stands_on_an_incline_is_held_by_its_rim():
    found = mbd.equilibrium(standing_cylinder(0.1))
    assert found.dof == 0
    assert np.allclose(found.reaction("floor").force, (-G * np.sin(0.1), 0, G * np.cos(0.1)), atol=1e-12)
    with pytest.raises(mbd.SimulationError, match="contact 'floor' would slip"):
        mbd.equilibrium(standing_cylinder(0.3))


def standing_cylinder(angle):
    """Return a cylinder of 1 kg that stands on an incline, mu = 0.3."""
    system = mbd.System("cylinder", gravity=(G * np.sin(angle), 0, -G * np.cos(angle)))
    body = system.add(mbd.Body("body", 1.0, (0.01, 0.01, 0.01), r=(0, 0, 0.15)))
    shape = mbd.Cylinder(0.1, 0.3, axis=(0, 0, 1))
    system.add(mbd.Contact("floor", system.ground, body, shape_i=mbd.Plane(), shape_j=shape, mu=0.3))
    return system
