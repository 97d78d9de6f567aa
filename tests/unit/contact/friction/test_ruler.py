"""The ruler of contacts does not let wrong forces pass: of points that slide fast and slowly, creep, stick, and are open."""

from __future__ import annotations

import numpy as np
import pytest

import haugmbd as mbd
import joints
from haugmbd.impacts.contact_laws import check_pieces

MU, G = 0.3, 9.81


def ball(v, push=0.0):
    """Return the pieces of a run of a body that touches a plane with its centre of mass: it slides, or sticks."""
    system = mbd.System("point", gravity=(0, 0, -G))
    body = system.add(mbd.Body("body", 1.0, (1.0,) * 3, v=(v, 0, 0)))
    system.add(mbd.Contact("floor", system.ground, body, shape_i=mbd.Plane(), shape_j=mbd.Sphere(0.0), mu=MU))
    system.add(mbd.PointForce("push", body, force=(0.0, push, 0.0)))
    result = mbd.simulate(system, 1e-7, h=1e-7, integrator=mbd.RK4())
    return result._contact_problem, [(p._contact_segment, p.t, p.y, p._contact_record) for p in result._pieces_with_contacts]


def coulomb(pieces, change):
    """Return the residual of Coulomb's law with friction that is changed."""
    problem, parts = pieces
    changed = [(piece, t, y, record._replace(friction=change(record.friction))) for piece, t, y, record in parts]
    return float(check_pieces(problem, changed).coulomb.max())


CHEATS = [
    pytest.param(lambda f: f[..., [1, 0, 2]], id="across"),
    pytest.param(lambda f: -f, id="along"),
    pytest.param(lambda f: 0.9 * f, id="less"),
    pytest.param(lambda f: 1.1 * f, id="more"),
]


@pytest.mark.parametrize("cheat", CHEATS)
@pytest.mark.parametrize("speed", [1.0, 1e-3, 2e-5, 6e-6, 2e-6])
def test_wrong_friction_of_a_sliding_point_is_seen(speed, cheat):
    pieces = ball(speed)
    assert coulomb(pieces, lambda f: f) <= 1e-9
    assert coulomb(pieces, cheat) >= 1e-6


def test_more_than_the_limit_of_a_sticking_point_is_seen():
    pieces = ball(0.0, push=0.9 * MU * G)
    assert coulomb(pieces, lambda f: f) <= 1e-9
    assert coulomb(pieces, lambda f: 1.2 * f) >= 1e-3


def test_less_than_the_limit_of_a_point_that_begins_to_slide_is_seen():
    pieces = ball(0.0, push=1.1 * MU * G)
    assert coulomb(pieces, lambda f: f) <= 1e-9
    for cheat in (lambda f: 0.9 * f, lambda f: f[..., [1, 0, 2]], np.zeros_like):
        assert coulomb(pieces, cheat) >= 1e-2


@pytest.mark.slow
def test_a_box_in_a_vice_without_gravity_stays_and_obeys_the_laws():
    """Two sprung jaws, eight points that stick: no acceleration gives a scale, and rounding is no switch."""
    system, part, pad = mbd.System("vice"), mbd.Box((0.1, 0.1, 0.1)), mbd.Box((0.02, 0.06, 0.06))
    box = system.add(mbd.Body("box", 1.0, (0.002,) * 3))
    for name, side in (("left", -1.0), ("right", 1.0)):
        place = (0.06 * side, 0, 0)
        jaw = system.add(mbd.Body(name, 0.2, (1e-4,) * 3, r=place))
        slide = system.add(joints.TJ(f"slide {name}", system.ground, jaw, point=place, axis=(-side, 0, 0)))
        system.add(mbd.JointForce(f"press {name}", slide, 5.0))
        system.add(mbd.Contact(f"grip {name}", jaw, box, shape_i=pad, shape_j=part, mu=0.4))
    result = mbd.simulate(system, 0.1, rtol=1e-8)
    assert not result.events
    assert np.abs(result["box"].r).max() <= 1e-14
    assert result.check_contacts().worst <= 1e-10
