"""Moreau-Jean time stepping: no creep, laws at every step, order, and the event-driven motion as its limit."""

import numpy as np
import pytest

import haugmbd as mbd
import joints

G = 9.81


def block(mu, gravity=(0.0, 0.0, -G), v=(0.0, 0.0, 0.0)):
    system = mbd.System("block", gravity=gravity)
    body = system.add(mbd.Body("block", 1.0, (0.01, 0.01, 0.01), r=(0, 0, 0.05), v=v))
    system.add(mbd.Contact("floor", system.ground, body, shape_i=mbd.Plane(), shape_j=mbd.Box((0.2, 0.2, 0.1)), mu=mu))
    return system


def stack(n, tilt=0.0):
    """Return n cubes of 4 kg on one another, on a plane that is tilted [rad]."""
    system, box, below = mbd.System("stack", gravity=(G * np.sin(tilt), 0, -G * np.cos(tilt))), mbd.Box((0.3, 0.3, 0.3)), None
    for k in range(n):
        body = system.add(mbd.Body(f"cube {k}", 4.0, (0.06, 0.06, 0.06), r=(0, 0, 0.15 + 0.3 * k)))
        i, shape = (system.ground, mbd.Plane()) if below is None else (below, box)
        system.add(mbd.Contact(f"face {k}", i, body, shape_i=shape, shape_j=box, mu=0.6))
        below = body
    return system


def run(system, t_end, h):
    return mbd.simulate(system, t_end, h=h, integrator=mbd.MoreauJean())


@pytest.mark.slow
def test_nothing_creeps_at_96_percent_of_the_limit():
    angle = np.pi / 6
    result = run(block(np.tan(angle) / 0.96, (G * np.sin(angle), 0, -G * np.cos(angle))), 10.0, 0.1)
    assert np.abs(result["block"].r - (0, 0, 0.05)).max() <= 1e-12
    assert result.check_contacts().worst <= 1e-10


@pytest.mark.slow
def test_a_stack_does_not_sink():
    result = run(stack(4, 0.1), 0.5, 0.02)
    assert np.abs(result.r - result.r[0]).max() <= 1e-12
    assert abs(result.contact("face 0").normal_force[-1].sum() - 16.0 * G * np.cos(0.1)) <= 1e-9
    assert result.check_contacts().worst <= 1e-10


@pytest.mark.slow
def test_the_error_halves_with_the_step():
    stop = 1.0 / (0.3 * G)
    for h in (4e-3, 2e-3, 1e-3):
        result = run(block(0.3, v=(1.0, 0, 0)), 0.5, h)
        (event,) = [one for one in result.events if one.name == "floor: sticks"]
        assert abs(event.t - stop) <= h
        assert abs(result["block"].r[-1, 0] - 1.0 / (0.6 * G)) <= 0.2 * h
        assert result.check_contacts().worst <= 1e-10


@pytest.mark.slow
def test_joints_hold_while_contacts_press():
    def pendulum():
        system = mbd.System("pendulum on a floor", gravity=(0, -G, 0))
        rod = system.add(mbd.Body("rod", 2.0, (0.01, 0.2, 0.2), r=(0.5, 0, 0)))
        tip = system.add(mbd.Body("tip", 1.0, (0.05, 0.05, 0.05), r=(1.5, 0, 0)))
        system.add(joints.RJ("pin", system.ground, rod, point=(0, 0, 0), axis=(0, 0, 1)))
        system.add(joints.RJ("knee", rod, tip, point=(1, 0, 0), axis=(0, 0, 1)))
        floor = mbd.Plane(point=(0, -0.6, 0), normal=(0, 1, 0))
        ball = mbd.Sphere(0.05, center=(0.5, 0, 0))
        system.add(mbd.Contact("floor", system.ground, tip, shape_i=floor, shape_j=ball, mu=0.4, restitution=0.3))
        return system

    result = run(pendulum(), 0.8, 2e-3)
    assert np.abs(result.violation("position")).max() <= 1e-12
    assert result.check_contacts().newton_euler.max() <= 1e-10
    exact = mbd.simulate(pendulum(), 0.8, rtol=1e-9, t_eval=[0.0, 0.8])
    errors = [np.abs(run(pendulum(), 0.8, h).y[-1] - exact.y[-1]).max() for h in (2e-3, 5e-4)]
    assert errors[1] <= 0.5 * errors[0]
    assert errors[1] <= 0.05


def test_without_contacts_it_is_of_order_two():
    system = mbd.System("pendulum", gravity=(0, -G, 0))
    rod = system.add(mbd.Body("rod", 2.0, (0.01, 0.2, 0.2), r=(0.5, 0, 0)))
    system.add(joints.RJ("pin", system.ground, rod, point=(0, 0, 0), axis=(0, 0, 1)))
    exact = mbd.simulate(system, 1.0, rtol=1e-11, atol=1e-13).y[-1]
    errors = [np.abs(run(system, 1.0, h).y[-1] - exact).max() for h in (2e-2, 1e-2)]
    assert 3.5 <= errors[0] / errors[1] <= 4.5


@pytest.mark.slow
def test_the_ruler_sees_a_force_that_breaks_the_laws():
    system = mbd.System("soft", gravity=(G * 0.3, 0, -G))
    body = system.add(mbd.Body("ball", 1.0, (0.01, 0.01, 0.01), r=(0, 0, 0.1)))
    law = mbd.Compliant(1e5)
    system.add(
        mbd.Contact("floor", system.ground, body, shape_i=mbd.Plane(), shape_j=mbd.Sphere(0.1), mu=0.5, law=law, restitution=0.5)
    )
    check = mbd.simulate(system, 0.2, rtol=1e-6).check_contacts()
    assert check.overlap.max() > 1e-5
    assert check.worst > 1e-3


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(4))
def test_bodies_that_meet_within_a_step_do_not_overlap_at_its_end(seed):
    """Boxes that fall into a corner of floor and wall, and strike each other: gaps as well as the laws, at every stored state."""
    rng = np.random.default_rng(seed)
    system = mbd.System("corner", gravity=(0, 0, -G))
    boxes = []
    for k in range(3):
        turn = rng.normal(size=4)
        size = tuple(rng.uniform(0.05, 0.15, 3))
        start = {"r": (0.3 * k, 0, 0.3), "p": turn / np.linalg.norm(turn), "v": (rng.uniform(1, 3), 0, -1)}
        boxes.append(system.add(mbd.Body(f"box {k}", 1.0, (0.003,) * 3, **start, shape=mbd.Box(size))))
    walls = [(system.ground, mbd.Plane()), (system.ground, mbd.Plane(point=(0.9, 0, 0), normal=(-1, 0, 0)))]
    system.add(mbd.Contacts("all", [*walls, *boxes], mu=0.4, restitution=0.3))
    check = mbd.simulate(system, 0.3, h=2e-3, integrator=mbd.MoreauJean()).check_contacts()
    assert check.worst <= 1e-10, check


SHAPES = {"point": mbd.Sphere(0.0), "ball": mbd.Sphere(0.1), "capsule": mbd.Capsule(0.1, 0.2, axis=(0, 1, 0))}


@pytest.mark.slow
@pytest.mark.parametrize("name", SHAPES)
def test_what_slides_off_a_table_falls(name):
    """A point that presses is held as long as its face is there; the time-stepping run is beside the event-driven one."""
    system, shape = mbd.System("table", gravity=(0, 0, -G)), SHAPES[name]
    table = mbd.Box((1.0, 0.4, 0.1), center=(-0.5, 0, -0.05))
    body = system.add(mbd.Body("body", 1.0, (0.01,) * 3, r=(-0.02, 0, shape.radius), v=(1.0, 0, 0)))
    system.add(mbd.Contact("top", system.ground, body, shape_i=table, shape_j=shape))
    exact = mbd.simulate(system, 0.3, rtol=1e-8)
    assert exact["body"].r[-1, 2] < exact["body"].r[0, 2] - 0.15
    stepped = mbd.simulate(system, 0.3, h=1e-3, integrator=mbd.MoreauJean())
    assert np.abs(stepped["body"].r[-1] - exact["body"].r[-1]).max() <= 2e-3
    assert max(exact.check_contacts().worst, stepped.check_contacts().worst) <= 1e-9
