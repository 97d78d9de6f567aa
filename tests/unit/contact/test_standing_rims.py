"""Cylinders and cones that stand flat: their lower rim, or their tip, is what is near a plane, however far it is looked for."""

from __future__ import annotations

import numpy as np
import pytest

import haugmbd as mbd

HEIGHT = 0.3


def standing(shape, z, speed=0.0):
    """Return a body with a shape whose axis is vertical, its middle at the height z above the floor."""
    system = mbd.System("standing", gravity=(0, 0, -9.81))
    body = system.add(mbd.Body("body", 1.0, (0.01, 0.01, 0.01), r=(0, 0, z), v=(0, 0, speed)))
    system.add(mbd.Contact("floor", system.ground, body, shape_i=mbd.Plane(), shape_j=shape, mu=0.3))
    return system


@pytest.mark.slow
@pytest.mark.parametrize("up", [1.0, -1.0])
@pytest.mark.parametrize("kind", [mbd.Cylinder, mbd.Cone])
def test_the_gap_of_what_stands_flat_is_that_of_its_lowest_point(kind, up):
    system = standing(kind(0.1, HEIGHT, axis=(0, 0, up)), 1.0)
    model = system.compile()
    found = system.contacts[0].gaps(model, model.state().y[None])[0]
    tilted = standing(kind(0.1, HEIGHT, axis=(1e-6, 0, up)), 1.0)
    model = tilted.compile()
    nearly = tilted.contacts[0].gaps(model, model.state().y[None])[0]
    assert found == pytest.approx(nearly, abs=1e-6)


@pytest.mark.slow
@pytest.mark.parametrize("up", [1.0, -1.0])
def test_a_cylinder_that_falls_flat_lands_on_its_lower_end(up):
    fall = 0.02
    result = mbd.simulate(standing(mbd.Cylinder(0.1, HEIGHT, axis=(0, 0, up)), 0.5 * HEIGHT + fall), 0.1, rtol=1e-8)
    assert result.impacts[0].t == pytest.approx(np.sqrt(2 * fall / 9.81), abs=1e-9)
    assert result["body"].r[-1, 2] == pytest.approx(0.5 * HEIGHT, abs=1e-9)


@pytest.mark.slow
@pytest.mark.parametrize("up", [1.0, -1.0])
def test_a_standing_cylinder_that_overlaps_is_refused(up):
    with pytest.raises(mbd.ModelError, match=r"Cylinder of 'body' overlap by 0\.01 m"):
        mbd.simulate(standing(mbd.Cylinder(0.1, HEIGHT, axis=(0, 0, up)), 0.5 * HEIGHT - 0.01), 0.1, rtol=1e-8)
