"""Where a mechanism stands, how it is turned, and how large it is, change nothing: lengths, ranks, motions, the pairs of bodies."""

from __future__ import annotations

import numpy as np
import pytest

import haugmbd as mbd
from haugmbd.redundancy.rank import analyse_rank
from joints import RJ, SJ, TJ, Distance, Gear, Parallel, RackPinion

FAR = np.array([3e5, -8e5, 5e5])
"""[m], a thousand kilometres from the origin: coordinates have ten digits behind the point, and a length 1 of a mechanism still counts."""

DIGITS = 1e-8
"""Of rounding at that distance, 1e-10 m, times a hundred."""


def doubled(at=(0.0, 0.0, 0.0)):
    """A slide that is modelled twice, a pin, and a bar to the ground."""
    at = np.asarray(at)
    system = mbd.System("doubled", gravity=(0.0, 0.0, -9.81))
    block = system.add(mbd.Body("block", 1.0, (0.1, 0.1, 0.1), r=at + (0.3, 0.1, 0.0)))
    arm = system.add(mbd.Body("arm", 1.0, (0.1, 0.1, 0.1), r=at + (0.3, 0.1, -1.0)))
    system.add(TJ("slide", system.ground, block, point=at, axis=(1, 0, 0)))
    system.add(TJ("slide again", system.ground, block, point=at + (0.5, 0, 0), axis=(1, 0, 0)))
    system.add(RJ("pin", block, arm, point=at + (0.3, 0.1, -0.2), axis=(0, 1, 0)))
    system.add(Distance("bar", system.ground, arm, point_i=at + (-1.0, 0.4, -2.0), point_j=at + (0.3, 0.1, -1.0)))
    return system


def test_rows_that_depend_on_others_do_so_anywhere():
    """A joint that is modelled twice was taken for a singular pose a kilometre from the origin, and refused."""
    here, there = doubled().compile(), doubled(FAR).compile()
    assert there.redundancy.dropped == here.redundancy.dropped
    assert there.redundancy.only_here == here.redundancy.only_here == ()
    unit = [analyse_rank(model, mbd.evaluate(model)).length for model in (here, there)]
    assert unit[1] == pytest.approx(unit[0], rel=DIGITS)
    np.testing.assert_allclose(mbd.accelerations(there).v_dot, mbd.accelerations(here).v_dot, atol=1e-6)


def test_the_length_of_a_model_is_its_own():
    """It was the distance of the ground's pins from the origin, and with it every tolerance, that of open joints, too."""
    here, there = doubled().compile(), doubled(FAR).compile()
    assert there.length == pytest.approx(max(here.length, 1e-4 * np.abs(FAR).max()), rel=1e-3)
    kilometre = doubled(1e-3 * FAR).compile()
    assert kilometre.length == pytest.approx(here.length, rel=DIGITS)
    system = doubled(1e-3 * FAR)
    system.add(SJ.from_vectors("open", system.ground, -0.5 * 1e-3 * FAR, system["arm"], np.zeros(3)))
    with pytest.raises(mbd.ModelError, match="'open'"):
        system.compile()


@pytest.mark.parametrize("at", [(0.0, 0.0, 0.0), tuple(1e-3 * FAR)])
def test_the_length_of_one_body_on_a_bar_to_its_centre_is_that_of_the_bar(at):
    system = mbd.System("point")
    point = system.add(mbd.Body("point", 1.0, (1e-3, 1e-3, 1e-3), r=np.asarray(at) + (3.0, 0.0, -4.0)))
    system.add(Distance("bar", system.ground, point, point_i=at, point_j=point.r))
    assert system.compile().length == pytest.approx(5.0, rel=DIGITS)


@pytest.mark.parametrize("at", [(0.0, 0.0, 0.0), tuple(1e-3 * FAR), tuple(FAR)])
def test_motions_are_listed_anywhere(at):
    """A turn far from the origin was lost beside displacements, with a LinAlgError."""
    system = mbd.System("level")
    body = system.add(mbd.Body("plate", 1.0, (0.1, 0.2, 0.3), r=at))
    system.add(Parallel("level", system.ground, body, axis=(0, 0, 1)))
    found = mbd.mobility(system)
    assert (found.degrees_of_freedom, len(found.motions)) == (4, 4)
    texts = sorted(str(motion) for motion in found.motions)
    assert sum("turns" in text for text in texts) == 1
    assert sum("moves" in text for text in texts) == 3


@pytest.mark.parametrize("size", [1e-6, 1e-4, 1.0, 1e6])
def test_a_coupling_with_a_joint_on_the_ground_connects_to_the_ground_at_any_size(size):
    """Moments in m were compared with forces: in a mechanism of 0.1 mm the counts of its parts were negative, with a ValueError."""
    system = mbd.System("rack", gravity=(0.0, 0.0, -9.81))
    places = size * np.random.default_rng(4).normal(size=(3, 3))
    rack, wheel, other = (
        system.add(mbd.Body(name, 1.0, 0.1 * size**2 * np.ones(3), r=r))
        for name, r in zip(("rack", "wheel", "other"), places, strict=True)
    )
    slide = system.add(TJ("slide", system.ground, rack, point=places[0], axis=(1, 0, 0)))
    first = system.add(RJ("first", rack, wheel, point=places[1], axis=(0, 1, 0)))
    second = system.add(RJ("second", rack, other, point=places[2], axis=(0, 1, 0)))
    system.add(RackPinion("teeth", first, slide, radius=0.5 * size))
    system.add(Gear("mesh", first, second, ratio=-1.5))
    found = mbd.mobility(system)
    assert found.degrees_of_freedom == 1
    assert len(found.motions) == 1
