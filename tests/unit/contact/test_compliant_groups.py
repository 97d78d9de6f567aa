"""Contacts with a compliant law: the same motion as of contact forces that are written one by one."""

from __future__ import annotations

import numpy as np
import pytest

import haugmbd as mbd

K = 1e5


def falling_balls(add):
    """Return two balls above a floor, one above the other and beside it, with the contacts that `add` adds."""
    system = mbd.System("balls", gravity=(0, 0, -9.81))
    ball = mbd.Sphere(0.1)
    low = system.add(mbd.Body("low", 1.0, (0.004,) * 3, r=(0, 0, 0.11), shape=ball))
    high = system.add(mbd.Body("high", 1.0, (0.004,) * 3, r=(0.02, 0, 0.32), shape=ball))
    add(system, low, high)
    return system


def as_group(system, low, high):
    bodies = [(system.ground, mbd.Plane()), low, high]
    system.add(mbd.Contacts("all", bodies, mu=0.3, restitution=0.9, law=mbd.Compliant(K, model=mbd.Flores(), creep=1e-2)))


def one_by_one(system, low, high):
    floor, ball = mbd.Plane(), mbd.Sphere(0.1)
    more = {"K": K, "mu": 0.3, "restitution": 0.9, "model": mbd.Flores(), "creep": 1e-2}
    for i, j, shape in ((system.ground, low, floor), (system.ground, high, floor), (low, high, ball)):
        system.add(mbd.ContactForce(f"all: {i.name}-{j.name}", i, j, shape_i=shape, shape_j=ball, **more))


@pytest.mark.slow
def test_members_are_contact_forces_with_the_motion_of_those_written_one_by_one():
    systems = [falling_balls(add) for add in (as_group, one_by_one)]
    assert [load.name for load in systems[0].loads] == [load.name for load in systems[1].loads]
    assert all(isinstance(load, mbd.ContactForce) for load in systems[0].loads)
    grouped, single = (mbd.simulate(system, 0.1, rtol=1e-8, atol=1e-10) for system in systems)
    assert np.array_equal(grouped.r[-1], single.r[-1])
    assert grouped.contact("all: low-high").normal_force.max() > 1.0


def test_a_group_is_removed_and_knows_bodies_that_came_later():
    system = falling_balls(as_group)
    system.add(mbd.Body("late", 1.0, (0.004,) * 3, r=(1, 0, 1), shape=mbd.Sphere(0.1)))
    system.compile()  # bodies were given
    group = mbd.Contacts("every", law=mbd.Compliant(K), restitution=1.0)
    system.add(group)
    assert sum(load.name.startswith("every: ") for load in system.loads) == 3  # noqa: PLR2004
    system.add(mbd.Body("later", 1.0, (0.004,) * 3, r=(2, 0, 1), shape=mbd.Sphere(0.1)))
    with pytest.raises(mbd.ModelError, match="bodies or joints that came or went later change its members"):
        system.compile()
    system.remove(group)
    assert not any(load.name.startswith("every: ") for load in system.loads)
    system.compile()


def test_shapes_without_a_compliant_contact_are_refused_with_those_that_have_one():
    system = mbd.System("boxes")
    for k in range(2):
        system.add(mbd.Body(f"box {k}", 1.0, (0.1,) * 3, r=(0, 0, 2.0 * k), shape=mbd.Box((0.2, 0.2, 0.2))))
    told = r"Contacts 'pile': a Box of 'box 0' and a Box of 'box 1' have no compliant contact.*Sphere and Plane, Sphere and Sphere"
    with pytest.raises(mbd.ModelError, match=told):
        system.add(mbd.Contacts("pile", law=mbd.Compliant(K)))


def test_another_law_is_refused():
    with pytest.raises(mbd.UsageError, match="law = 3 is no law of impact"):
        mbd.Contacts("pile", law=3)
