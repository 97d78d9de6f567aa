"""Runs with contacts end at the answer or say so: slips that graze rest, and overlaps that a step takes away."""

import numpy as np
import pytest

import haugmbd as mbd
import joints

G = 9.81


@pytest.mark.slow
def test_a_slip_that_grazes_rest_is_left_again():
    """A block on a driven belt and a spring is as fast as the belt once a turn: x = x_1 + V / w sin(w (t - t_1)) from x_1 = mu g / k.

    Rounding across the slip, in whose direction other points of the block balance, costs no steps of the size of m v / (mu N).
    """
    mu, k, speed = 0.3, 40.0, 0.5
    system = mbd.System("belt", gravity=(0, 0, -G))
    belt = system.add(mbd.Body("belt", 1.0, (1.0,) * 3, r=(0, 0, -0.1), v=(speed, 0, 0)))
    rail = system.add(joints.TJ("rail", system.ground, belt, point=(0, 0, -0.1), axis=(1, 0, 0)))
    system.add(joints.TranslationDriver("drive", rail, mbd.Expression(f"{speed} * t")))
    block = system.add(mbd.Body("block", 1.0, (0.01,) * 3, r=(0, 0, 0.05), v=(speed, 0, 0)))
    system.add(mbd.TSDA("spring", system.ground, block, point_i=(-2, 0, 0.05), point_j=(0, 0, 0.05), k=k, l0=2.0))
    shapes = {"shape_i": mbd.Plane(point=(0, 0, 0.1)), "shape_j": mbd.Box((0.2, 0.2, 0.1))}
    system.add(mbd.Contact("contact", belt, block, mu=mu, **shapes))
    result = mbd.simulate(system, 1.2, rtol=1e-11, atol=1e-13)
    w, x_1, t = np.sqrt(k), mu * G / k, result.t
    x = np.where(t < x_1 / speed, speed * t, x_1 + speed / w * np.sin(w * (t - x_1 / speed)))
    assert not result.warnings
    assert result.counters.steps < 2000
    assert np.abs(result["block"].r[:, 0] - x).max() <= 1e-10


def lifted(seed):
    """Return a ball on two rails that a driven piston meets from below, within a step."""
    rng = np.random.default_rng(seed)
    system, radius, half = mbd.System("lifted", gravity=(0, 0, -G)), 0.1, rng.uniform(0.05, 0.09)
    ball = system.add(mbd.Body("ball", 1.0, (0.004,) * 3, r=(0, 0, np.sqrt((2 * radius) ** 2 - half**2))))
    for name, x in (("left", -half), ("right", half)):
        rail = mbd.Capsule(radius, 2.0, axis=(0, 1, 0), center=(x, 0, 0))
        system.add(mbd.Contact(name, system.ground, ball, shape_i=rail, shape_j=mbd.Sphere(radius), mu=rng.uniform(0, 0.5)))
    z = float(ball.r[2]) - radius - 0.02 - rng.uniform(0.001, 0.01)
    piston = system.add(mbd.Body("piston", 1.0, (0.01,) * 3, r=(0, 0, z)))
    guide = system.add(joints.TJ("guide", system.ground, piston, point=piston.r, axis=(0, 0, 1)))
    system.add(joints.TranslationDriver("lift", guide, mbd.Expression(f"{rng.uniform(0.5, 1)} * t")))
    system.add(mbd.Contact("lifting", piston, ball, shape_i=mbd.Sphere(0.02), shape_j=mbd.Sphere(radius)))
    return system


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(8))
def test_points_that_press_open_where_another_one_is_moved_apart(seed):
    """A ball cannot be held on its rails, and be moved out of a piston that is driven: it is lifted, and nothing overlaps."""
    result = mbd.simulate(lifted(seed), 0.03, h=1e-3, integrator=mbd.MoreauJean(), project_velocity=True)
    assert result.check_contacts().overlap.max() <= 1e-12
    assert not result.warnings
