"""assemble(apart=True): bodies that overlap at rigid contacts are moved apart with the least motion, while joints stay closed."""

from __future__ import annotations

import numpy as np
import pytest

import haugmbd as mbd
from joints import RJ, TJ

BOX, UP = mbd.Box((0.1, 0.1, 0.1)), (0.0, 0.0, 1.0)


def boxes(deep, guided=False):
    """Return two boxes above one another on the plane z = 0, the upper one too deep, and the lower one, too."""
    system = mbd.System("boxes", gravity=(0, 0, -9.81))
    a = system.add(mbd.Body("a", 1.0, (1e-3,) * 3, r=(0, 0, 0.05 - deep), shape=BOX))
    b = system.add(mbd.Body("b", 3.0, (3e-3,) * 3, r=(0.01, 0, 0.15 - 2 * deep), shape=BOX))
    if guided:
        system.add(TJ("guide", system.ground, b, point=b.r, axis=UP))
    system.add(mbd.Contacts("c", [(system.ground, mbd.Plane()), a, b], mu=0.3))
    return system


@pytest.mark.parametrize("guided", [False, True])
@pytest.mark.parametrize("deep", [1e-4, 1e-2])
def test_a_stack_that_overlaps_is_lifted_until_it_touches(deep, guided):
    system = boxes(deep, guided)
    with pytest.raises(mbd.ModelError, match="overlap"):
        mbd.simulate(system, 0.01, rtol=1e-6)
    found = mbd.assemble(system, apart=True)
    np.testing.assert_allclose(found.state.r[1:, 2], (0.05, 0.15), atol=1e-9)
    np.testing.assert_allclose(found.state.r[1:, 0], (0.0, 0.01), atol=1e-9)
    result = mbd.simulate(found.model, 0.01, h=5e-3, integrator=mbd.MoreauJean())
    assert np.abs(result["b"].r[-1] - result["b"].r[0]).max() <= 1e-9


def test_bodies_that_do_not_overlap_stay_where_they_are():
    system = boxes(-1e-3)
    np.testing.assert_array_equal(mbd.assemble(system, apart=True).state.r, mbd.assemble(system).state.r)


def test_an_arm_turns_out_of_the_floor():
    system = mbd.System("arm")
    arm = system.add(mbd.Body("arm", 1.0, (1e-2,) * 3, r=(0.5, 0, 0.1)))
    system.add(RJ("pin", system.ground, arm, point=(0, 0, 0.1), axis=(0, 1, 0)))
    system.add(mbd.Contact("tip", system.ground, arm, shape_i=mbd.Plane(), shape_j=mbd.Sphere(0.15, center=(0.5, 0, 0))))
    state = mbd.assemble(system, apart=True).state
    assert 2.0 * (state.r[1, 2] - 0.1) + 0.1 == pytest.approx(0.15, abs=1e-10)
    assert np.hypot(*(state.r[1] - (0, 0, 0.1))[[0, 2]]) == pytest.approx(0.5, abs=1e-10)


def test_a_gap_that_is_too_narrow_and_a_held_body_are_refused():
    system = mbd.System("slot")
    ball = system.add(mbd.Body("ball", 1.0, (1e-3,) * 3))
    for side in (-1.0, 1.0):
        wall = mbd.Plane(point=(0.05 * side, 0, 0), normal=(-side, 0, 0))
        system.add(mbd.Contact(f"wall {side:g}", system.ground, ball, shape_i=wall, shape_j=mbd.Sphere(0.06)))
    with pytest.raises(mbd.ModelError, match="wall"):
        mbd.assemble(system, apart=True)
    with pytest.raises(mbd.UsageError, match="hold"):
        mbd.assemble(system, apart=True, hold=ball)
