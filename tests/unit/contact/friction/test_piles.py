"""Piles by Moreau-Jean: judged by the ruler, not by the solver; islands, warm starts and the broad phase change nothing."""

import numpy as np
import pytest

import haugmbd as mbd
import joints
from haugmbd.contact import points

G = 9.81


def random_pile(seed, n=4, ratio=1e3):
    """Return spheres, boxes and capsules of random masses that fall on a plane, the first two joined by a hinge in every other pile."""
    rng = np.random.default_rng(seed)
    system = mbd.System("pile", gravity=(0, 0, -G))
    bodies = []
    for k in range(n):
        a, b, c = rng.uniform(0.05, 0.15, 3)
        shape = (mbd.Sphere(a), mbd.Box((2 * a, 2 * b, 2 * c)), mbd.Capsule(a, 2 * b))[int(rng.integers(3))]
        mass = 0.01 * ratio ** rng.random()
        p = rng.normal(size=4)
        place, p = (*rng.uniform(-0.2, 0.2, 2), 0.3 + 0.45 * k), p / np.linalg.norm(p)
        inertia = mass * 0.005 * rng.uniform(0.8, 1.2, 3)
        bodies.append(system.add(mbd.Body(f"body {k}", mass, inertia, r=place, p=p, v=rng.normal(size=3), shape=shape)))
    if seed % 2:
        system.add(joints.RJ("hinge", bodies[0], bodies[1], point=(0, 0, 0.5), axis=(0, 1, 0)))
    mu, e = float(rng.choice([0.0, 0.3, 0.8])), float(rng.choice([0.0, 0.5]))
    system.add(mbd.Contacts("pile", [(system.ground, mbd.Plane()), *bodies], mu=mu, restitution=e))
    return system


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(6))
def test_random_piles_fulfil_the_laws_at_every_step(seed):
    result = mbd.simulate(random_pile(seed), 0.8, h=4e-3, integrator=mbd.MoreauJean(), project_velocity=True)
    check = result.check_contacts()
    assert check.signorini.max() <= 1e-10
    assert check.coulomb.max() <= 1e-10
    assert check.newton_euler.max() <= 1e-10
    assert np.abs(result.violation("position")).max(initial=0.0) <= 1e-12
    assert any(event.name.endswith("touch") for event in result.events)


def towers(places, n=3):
    """Return towers of n cubes, one at each place (x, tilt of its velocity)."""
    system = mbd.System("towers", gravity=(0, 0, -G))
    box = mbd.inertia.box((0.2, 0.2, 0.2), density=500.0)
    for x, push in places:
        below = (system.ground, mbd.Plane())
        for k in range(n):
            body = system.add(mbd.Body(f"{x} {k}", *box, r=(x, 0, 0.1 + 0.2 * k), v=(push * k, 0, 0)))
            system.add(mbd.Contacts(f"face {x} {k}", pairs=[(below, body)], mu=0.4))
            below = body
    return system


@pytest.mark.slow
def test_islands_do_not_know_of_one_another():
    together = mbd.simulate(towers([(0.0, 0.5), (2.0, 0.0), (4.0, 1.0)]), 0.2, h=2e-3, integrator=mbd.MoreauJean())
    for x, push in ((0.0, 0.5), (2.0, 0.0), (4.0, 1.0)):
        alone = mbd.simulate(towers([(x, push)]), 0.2, h=2e-3, integrator=mbd.MoreauJean())
        for k in range(3):
            assert np.abs(together[f"{x} {k}"].r - alone[f"{x} {k}"].r).max() <= 1e-11
    standing = together["2.0 2"].r
    assert np.abs(standing - standing[0]).max() <= 1e-12


@pytest.mark.slow
def test_masses_and_lengths_may_be_in_any_unit():
    def block(mass, length):
        system = mbd.System("block", gravity=(0, 0, -G * length))
        body = system.add(
            mbd.Body("block", mass, mass * length**2 * np.array([2e-3, 2e-3, 3e-3]), r=(0, 0, 0.05 * length), v=(length, 0, 0))
        )
        shape = mbd.Box(length * np.array([0.2, 0.2, 0.1]))
        system.add(mbd.Contact("floor", system.ground, body, shape_i=mbd.Plane(), shape_j=shape, mu=0.3))
        return mbd.simulate(system, 0.5, h=2e-3, integrator=mbd.MoreauJean())

    plain = block(1.0, 1.0)
    for mass, length in ((1e-6, 1.0), (1e6, 1.0), (1.0, 1e3), (1e-3, 1e3)):
        other = block(mass, length)
        assert np.abs(other["block"].r / length - plain["block"].r).max() <= 1e-10
        assert other.check_contacts().worst <= 1e-10


def many_balls(n):
    system = mbd.System("balls", gravity=(0, 0, -G))
    rng = np.random.default_rng(5)
    balls = []
    for k in range(n):
        x, y = divmod(k, 6)
        r = (0.25 * x, 0.25 * y, 0.1 + 0.3 * rng.random())
        ball = mbd.Body(f"ball {k}", 1.0, (4e-3, 4e-3, 4e-3), r=r, v=0.5 * rng.normal(size=3), shape=mbd.Sphere(0.1))
        balls.append(system.add(ball))
    system.add(mbd.Contacts("heap", [(system.ground, mbd.Plane()), *balls], mu=0.3))
    return system


@pytest.mark.slow
def test_the_broad_phase_changes_nothing(monkeypatch):
    swept = mbd.simulate(many_balls(14), 0.3, h=5e-3, integrator=mbd.MoreauJean())
    monkeypatch.setattr(points, "FEW_PAIRS", 10**9)
    every = mbd.simulate(many_balls(14), 0.3, h=5e-3, integrator=mbd.MoreauJean())
    assert len(swept.events) > 10
    assert np.array_equal(swept.y, every.y)


@pytest.mark.slow
def test_only_near_pairs_are_looked_at():
    system = many_balls(60)
    model = system.compile()
    ends = [(1 + k, c.shape_j) for k, c in enumerate(c for c in system.contacts if c.i is system.ground)]
    pairs = [(*a, *b) for k, a in enumerate(ends) for b in ends[:k]]
    near = points.ContactPoints([(i, s, j, t) for i, s, j, t in pairs], model.nb + 1)
    bodies = model.state().y[: 13 * (model.nb + 1)].reshape(-1, 13).copy()
    assert len(pairs) == 60 * 59 // 2
    assert len(near.active(bodies, 1e-9)) <= 4 * 60


@pytest.mark.slow
def test_bodies_that_overlap_at_the_start_are_an_error_with_the_pair():
    system = towers([(0.0, 0.0)])
    inside = system.add(mbd.Body("inside", 1.0, (1e-3,) * 3, r=(0, 0, 0.65), shape=mbd.Sphere(0.1)))
    top = next(body for body in system.bodies if body.name == "0.0 2")
    system.add(mbd.Contacts("more", [top, inside]))
    with pytest.raises(mbd.ModelError, match=r"'more: 0\.0 2-inside'.*overlap"):
        mbd.simulate(system, 0.1, h=1e-3, integrator=mbd.MoreauJean())


@pytest.mark.slow
@pytest.mark.parametrize("depth", [2e-3, 0.03])
def test_an_overlap_of_shapes_names_both_sides_and_the_depth(depth):
    """A pair of shapes has no normal that could be turned: both sides with their bodies, the depth, and what to do."""
    system, box = mbd.System("two boxes"), mbd.Box((0.2, 0.2, 0.2))
    low, high = (system.add(mbd.Body(name, 1.0, (0.01,) * 3, r=(0, 0, z))) for name, z in (("low", 0.1), ("high", 0.3 - depth)))
    system.add(mbd.Contact("face", low, high, shape_i=box, shape_j=box, mu=0.3))
    with pytest.raises(mbd.ModelError, match="Box of 'low' and Box of 'high' overlap by") as error:
        mbd.simulate(system, 0.1)
    assert f"overlap by {depth:.6g} m" in str(error.value)
    assert "turn the normal" not in str(error.value)
