"""Fingers that press on a part: below the limit n mu F = m g it is held, above it slides with g (1 - n mu F / m g).

That is no paradox of Painleve, though faces of several points share the load in many ways, and all points are near the limit at once.
"""

from __future__ import annotations

import numpy as np
import pytest

import haugmbd as mbd
from haugmbd.impacts.contact_problem import decides, solve_rows
from joints import RJ, TJ

g, Z = 9.81, (0.0, 0.0, 1.0)


def part(system, shape, m=0.6):
    return system.add(mbd.Body("part", m, (1e-3,) * 3, shape=shape))


def gripper(n, share, shape, finger, mu=0.5, m=0.6, offset=0.0):
    """Return n fingers on slides, in a circle about the part;  share: the weight as a part of what they hold."""
    system = mbd.System("gripper", gravity=(0, 0, -g))
    body, force = part(system, shape, m), m * g / (n * mu) / share
    for k in range(n):
        a = 2 * np.pi * k / n
        d = np.array([np.cos(a), np.sin(a), 0.0])
        place = 0.07 * d + (0, 0, offset)
        one = system.add(mbd.Body(f"finger {k}", 0.2, (1e-4,) * 3, r=place, p=(np.cos(a / 2), 0, 0, np.sin(a / 2)), shape=finger))
        slide = system.add(TJ(f"slide {k}", system.ground, one, point=place, axis=-d))
        system.add(mbd.JointForce(f"push {k}", slide, force))
        system.add(mbd.Contact(f"grip {k}", one, body, mu=mu))
    return system


FACES, BALLS = (mbd.Box((0.1, 0.1, 0.1)), mbd.Box((0.04, 0.03, 0.04))), (mbd.Sphere(0.05), mbd.Sphere(0.02))


@pytest.mark.slow
@pytest.mark.parametrize("share", [0.9, 0.99, 0.999, 1.001, 1.01, 1.1])
@pytest.mark.parametrize(("n", "shapes", "offset"), [(2, FACES, 0.0), (2, FACES, 0.007), (2, BALLS, 0.0), (3, BALLS, 0.0)])
def test_a_part_is_held_below_the_limit_and_slides_above(n, shapes, offset, share):
    t = 1e-3
    result = mbd.simulate(gripper(n, share, *shapes, offset=offset), t, h=t / 5, integrator=mbd.RK4())
    wanted = 0.0 if share < 1.0 else -g * (1.0 - 1.0 / share)
    assert 2.0 * result["part"].r[-1, 2] / t**2 == pytest.approx(wanted, abs=1e-9 if shapes is FACES else 1e-6 + 1e-3 * abs(wanted))
    assert result.check_contacts().worst <= 1e-9


def armed(share, mu=0.9648, m=0.042):
    """Return two fingers with faces on arms about level axes, in which friction turns the fingers, too."""
    system = mbd.System("arms", gravity=(0, 0, -g))
    body = part(system, mbd.Box((0.06, 0.06, 0.06)), m)
    for k, side in enumerate((1, -1)):
        c = np.array([side * 0.03, 0.0, 0.0])
        pivot, place = c + (-side * 0.04, 0.0, -0.08), c + (side * 0.01, 0.0, 0.0)
        turns = [np.cross(c - pivot, f)[1] for f in ((side, 0.0, 0.0), (0.0, 0.0, -1.0))]
        weight = np.cross(place - pivot, (0.0, 0.0, -0.3 * m * g))[1]
        one = system.add(mbd.Body(f"finger {k}", 0.3 * m, (3e-4 * m,) * 3, r=place, shape=mbd.Box((0.02, 0.03, 0.03))))
        pin = system.add(RJ(f"pin {k}", system.ground, one, point=pivot, axis=(0, 1, 0)))
        moment = -m * g / (2 * mu) / share * (turns[0] + mu * turns[1]) - weight
        system.add(mbd.JointForce(f"moment {k}", pin, float(moment)))
        system.add(mbd.Contact(f"grip {k}", one, body, mu=mu))
    return system


@pytest.mark.slow
@pytest.mark.parametrize("share", [0.98, 0.999, 1.001, 1.02])
def test_arms_near_their_limit_have_one_motion(share):
    """Joints carry what the shortest lawful forces leave to them: the balance holds with these forces."""
    result = mbd.simulate(armed(share), 1e-4, h=2e-5, integrator=mbd.RK4())
    check = result.check_contacts()
    assert check.worst <= 1e-9, check


def test_points_that_share_a_load_decide_their_accelerations_and_a_negative_mobility_does_not():
    rng = np.random.default_rng(1)
    C = rng.normal(size=(8, 3))
    assert decides(C @ C.T)  # of rank 3
    assert decides(np.eye(2) + 0.2 * rng.normal(size=(2, 2)))
    assert not decides(np.array([[-0.1]]))
    assert not decides(np.array([[1.0, 2.0], [2.0, 1.0]]))


def test_points_of_a_sliding_face_share_a_load_without_pulling_where_they_can():
    """The shortest forces of five points, which are of rank 3, pull in most of these cases; the shortest that press are the nearest."""
    pulls = 0
    for seed in range(30):
        rng = np.random.default_rng(seed)
        C = np.zeros((15, 3))
        C[::3] = np.column_stack([np.ones(5), rng.uniform(-1.0, 1.0, (5, 2))])
        G, rows, columns = C @ C.T, 3 * np.arange(5), np.eye(15)[:, ::3]
        n = rng.uniform(0.0, 1.0, 5) * (rng.uniform(size=5) < 0.5)
        z, unique = solve_rows(rows, columns, G, -G[:, ::3] @ n)
        shortest = np.linalg.lstsq(C[::3].T, C[::3].T @ n, rcond=None)[0]
        pulls += bool((shortest < -1e-9).any())
        assert not unique
        assert (z >= -1e-9).all()
        np.testing.assert_allclose(C[::3].T @ z, C[::3].T @ n, atol=1e-9)
    assert pulls > 5
