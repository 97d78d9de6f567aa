"""Contacts of all pairs of bodies with shapes: which members there are, and what is refused."""

import itertools

import numpy as np
import pytest

import haugmbd as mbd
from joints import RJ


def boxes(n, apart=1.5, **more):
    system = mbd.System("boxes", gravity=(0, 0, -9.81), **more)
    made = [system.add(mbd.Body(f"b{k}", *mbd.inertia.box((1, 1, 1), mass=1.0), r=(0, 0, 0.5 + apart * k))) for k in range(n)]
    return system, made


def names(system):
    return [contact.name for contact in system.contacts]


def test_all_pairs_but_those_that_are_joined():
    """All pairs of bodies with shapes; joined ones, excluded ones and bodies without shapes are left out."""
    system, (b0, b1, b2, b3) = boxes(4)
    system.add(mbd.Body("point", 1.0, (1, 1, 1)))
    system.add(RJ("pin", b0, b1, point=(0, 0, 1.2), axis=(0, 1, 0)))
    floor = (system.ground, mbd.Plane())
    group = system.add(mbd.Contacts("pile", [floor, b0, b1, b2, b3], mu=0.4, restitution=0.1, except_=[(b2, b3)]))
    assert names(system) == [
        f"pile: {x}" for x in ("ground-b0", "ground-b1", "ground-b2", "ground-b3", "b0-b2", "b0-b3", "b1-b2", "b1-b3")
    ]
    assert {(contact.mu, contact.restitution) for contact in system.contacts} == {(0.4, 0.1)}
    assert group.name == "pile"
    assert system.compile().nb == 5
    other, bodies = boxes(3)
    other.add(mbd.Contacts("all", except_=[bodies[1]]))
    assert names(other) == ["all: b0-b2"]


def test_several_shapes_and_given_pairs():
    """Each shape of a body is a member of its own; given pairs may be joined, and a ball in a hole is one."""
    system, (b0,) = boxes(1)
    two = system.add(mbd.Body("two", 1.0, (1, 1, 1), r=(0, 0, 5), shape=[mbd.Sphere(0.1), mbd.Sphere(0.1, center=(0, 0, 1))]))
    tube = system.add(mbd.Body("tube", *mbd.inertia.tube(2.0, 1.5, 1.0, mass=1.0), r=(0, 0, 9)))
    system.add(RJ("pin", b0, two, point=(0, 0, 3), axis=(0, 1, 0)))
    system.add(mbd.Contacts("c", pairs=[(b0, two), ((two, mbd.Sphere(0.1)), tube)]))
    assert names(system) == ["c: b0[0]-two[0]", "c: b0[0]-two[1]", "c: two-tube"]


@pytest.mark.slow
def test_a_body_that_is_given_several_times_numbers_its_shapes():
    """The ground with a floor and a wall: its members have names of their own, by bodies= and by pairs=."""
    system, (b0, b1) = boxes(2)
    floor, wall = (system.ground, mbd.Plane()), (system.ground, mbd.Plane(point=(9, 0, 0), normal=(-1, 0, 0)))
    system.add(mbd.Contacts("all", [floor, wall, b0, b1]))
    some = ["ground[0]-b0[0]", "ground[0]-b1[0]", "ground[1]-b0[0]", "ground[1]-b1[0]", "b0-b1"]
    assert names(system) == [f"all: {x}" for x in some]
    assert system.compile().nb == 2
    other, (a, _) = boxes(2)
    other.add(mbd.Contacts("all", pairs=[((other.ground, mbd.Plane()), a), ((other.ground, mbd.Plane(point=(0, 0, -1))), a)]))
    assert names(other) == ["all: ground[0]-b0[0]", "all: ground[1]-b0[0]"]


def test_a_stack_rests_on_its_members():
    """Three boxes on one another and on the floor: they stay where they are, and the floor carries all."""
    system, bodies = boxes(3, apart=1.0)
    system.add(mbd.Contacts("pile", [(system.ground, mbd.Plane()), *bodies], mu=0.5))
    result = mbd.simulate(system, 0.02, rtol=1e-9)
    for k, body in enumerate(bodies):
        assert np.abs(result[body.name].r[-1] - (0, 0, 0.5 + k)).max() < 1e-12
    assert result.contact("pile: ground-b0").normal_force[-1].sum() == pytest.approx(3 * 9.81, rel=1e-9)
    assert result.contact("pile: b1-b2").normal_force[-1].sum() == pytest.approx(9.81, rel=1e-9)


@pytest.mark.slow
def test_ten_thousand_pairs_are_looked_at_quickly():
    """A look at all pairs of 142 boxes takes no time to speak of: far pairs are left by the balls around them."""
    from haugmbd.contact.points import ContactPoints

    grid = list(itertools.product(range(6), range(6), range(4)))[:142]
    system = mbd.System("many")
    bodies = [
        system.add(mbd.Body(f"b{k}", *mbd.inertia.box((0.9, 0.9, 0.9), mass=1.0), r=np.array(r) * 1.0)) for k, r in enumerate(grid)
    ]
    group = mbd.Contacts("all", bodies)
    members = group.members(system.bodies, ())
    assert len(members) == 142 * 141 // 2
    model = system.compile()
    ends = [(system.bodies.index(c.i), c.shape_i, system.bodies.index(c.j), c.shape_j) for c in members]
    points = ContactPoints(ends, model.nb + 1)
    keys, gaps = points.near(model.state().y, 0.11)
    assert len(np.unique(keys[:, 0])) == sum(np.abs(np.subtract(a, b)).sum() == 1 for a, b in itertools.combinations(grid, 2))
    assert np.abs(gaps - 0.1).max() < 1e-12


def test_members_are_saved(tmp_path):
    """A file has the members: contacts of the same names, shapes and coefficients."""
    system, bodies = boxes(2)
    shapes = [
        (system.ground, mbd.Plane()),
        *bodies,
        (system.ground, mbd.Capsule(0.1, 0.2)),
        (system.ground, mbd.Ellipsoid((1, 2, 3))),
    ]
    system.add(mbd.Contacts("c", shapes[:4], mu=0.25))
    system.add(mbd.Contact("egg", *(bodies[0], system.ground), shape_i=mbd.Ellipsoid((0.1, 0.2, 0.3)), shape_j=mbd.Plane(), mu=0.5))
    system.save(tmp_path / "x.json")
    again = mbd.load_model(tmp_path / "x.json")
    assert names(again) == names(system)
    for one, other in zip(system.contacts, again.contacts, strict=True):
        assert (one.mu, type(one.shape_i), type(one.shape_j)) == (other.mu, type(other.shape_i), type(other.shape_j))
        assert one.shape_j.kind == "plane" or np.array_equal(one.shape_j.size, other.shape_j.size)


MISTAKES = {
    "no two bodies with shapes": lambda system, bodies: mbd.Contacts("c", bodies[:1]),
    "have no contact": lambda system, bodies: mbd.Contacts("c", [(bodies[0], mbd.Cylinder(0.1, 1.0)), bodies[1]]),
    "give one of them": lambda system, bodies: mbd.Contacts("c", bodies, pairs=[(bodies[0], bodies[1])]),
    "Give a Body that has shapes": lambda system, bodies: mbd.Contacts("c", ["b0", "b1"]),
    "has no shape": lambda system, bodies: mbd.Contacts("c", [system.ground, *bodies]),
    "except_ has": lambda system, bodies: mbd.Contacts("c", bodies, except_=["b0"]),
    "got the pair": lambda system, bodies: mbd.Contacts("c", pairs=[bodies[0]]),
    "bodies is 3": lambda system, bodies: mbd.Contacts("c", 3),
}


@pytest.mark.parametrize("what", MISTAKES)
def test_mistakes_are_named(what):
    system, bodies = boxes(3)
    with pytest.raises((mbd.UsageError, mbd.ModelError), match=what):
        system.add(MISTAKES[what](system, bodies))


def test_members_and_groups_are_removed():
    """A member can go, and then bodies that come later are no fault; a group goes with all of its members."""
    system, bodies = boxes(3)
    group = system.add(mbd.Contacts("c"))
    system.remove(system.contacts[0])
    assert names(system) == ["c: b0-b2", "c: b1-b2"]
    system.compile()
    system.remove(group)
    assert names(system) == []
    system.remove(bodies[2])
    assert system.compile().nb == 2


def test_bodies_and_joints_that_come_later():
    """A body or joint that would change the members, added later, is a fault and no gap in the contacts."""
    system, bodies = boxes(2)
    system.add(mbd.Contacts("c"))
    system.compile()
    late = system.add(mbd.Body("late", *mbd.inertia.box((1, 1, 1), mass=1.0), r=(5, 0, 0)))
    with pytest.raises(mbd.ModelError, match="came or went later"):
        system.compile()
    system, bodies = boxes(2)
    system.add(mbd.Contacts("c", bodies))
    late = system.add(mbd.Body("late", *mbd.inertia.box((1, 1, 1), mass=1.0), r=(5, 0, 0)))
    system.compile()
    system.add(RJ("pin", bodies[0], bodies[1], point=(0, 0, 1), axis=(0, 1, 0)))
    with pytest.raises(mbd.ModelError, match="came or went later"):
        system.compile()
    assert late.name == "late"


@pytest.mark.parametrize(
    ("wrong", "said"), [({"mu": -0.5}, "mu is -0.5"), ({"restitution": 2.0}, "restitution is 2"), ({"mu": np.nan}, "mu is nan")]
)
def test_wrong_numbers_of_a_group_are_one_fault(wrong, said):
    system = mbd.System("balls")
    balls = [system.add(mbd.Body(f"ball {k}", 1.0, (1.0, 1.0, 1.0), r=(k, 0, 0), shape=mbd.Sphere(0.1))) for k in range(4)]
    with pytest.raises(mbd.ModelError, match=rf"1 fault: Contacts 'group': {said}"):
        system.add(mbd.Contacts("group", balls, **wrong))


def test_a_pair_that_does_not_exist_is_told_with_the_pairs_that_do():
    system = mbd.System("odd")
    stone = system.add(mbd.Body("stone", 1.0, (1.0, 1.0, 1.0), shape=mbd.Ellipsoid((1.0, 2.0, 3.0))))
    cone = system.add(mbd.Body("cone", 1.0, (1.0, 1.0, 1.0), r=(9, 0, 0), shape=mbd.Cone(0.5, 1.0)))
    with pytest.raises(
        mbd.ModelError, match=r"an Ellipsoid of 'stone' and a Cone of 'cone' have no contact.*Pairs are: Plane with Sphere"
    ):
        system.add(mbd.Contacts("group", [stone, cone]))
