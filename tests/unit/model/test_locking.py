"""Models that do not move say so at once, with the axis and the angle, and how they would."""

from __future__ import annotations

import warnings
from math import degrees

import numpy as np
import pytest

import haugmbd as mbd
from joints import RJ, RotationDriver
from tests.support.redundant_loops import GRAVITY, J_BAR, loop, planar_points

Z = np.array([0.0, 0.0, 1.0])


def four_bar(off: float) -> mbd.System:
    """A planar four-bar whose third axis is turned by `off` [rad]."""
    return loop(planar_points(), [Z, Z, np.array([0.0, np.sin(off), np.cos(off)]), Z])


@pytest.mark.slow
@pytest.mark.parametrize("off", [3e-5, 1e-4, 1e-3])
def test_an_axis_that_is_off_by_digits(off):
    """A mechanism that was meant to move moves, and says that its redundant rows do not fit."""
    with pytest.warns(UserWarning, match="redundant rows of joints 'hinge 0', 'hinge 1', 'hinge 2', 'hinge 3'"):
        model = four_bar(off).compile()
    assert 6 * model.nb - model.redundancy.rank == 1
    result, exact = mbd.simulate(model, 1.0, h=1e-3), mbd.simulate(four_bar(0.0), 1.0, h=1e-3)
    np.testing.assert_allclose(result.r[-1], exact.r[-1], rtol=0.0, atol=3.0 * off)
    assert any("redundant rows" in text for text in result.warnings)


@pytest.mark.slow
@pytest.mark.parametrize("off", [5e-3, 8e-3])
def test_an_axis_that_is_off(off):
    """The range in which a mechanism that was meant to move is locked, and says so."""
    system = four_bar(off)
    with pytest.warns(mbd.LockedModelWarning) as caught:
        model = system.compile()
    (text,) = model.warnings
    assert [str(one.message) for one in caught] == [text]
    assert f"the axis of 'hinge 2' is {degrees(off):.3g} degrees off z" in text
    assert "has 0 degrees of freedom; with tolerance=" in text
    with pytest.warns(mbd.LockedModelWarning) as caught:
        mbd.simulate(system, 1e-3, h=1e-3)
    assert [one.filename for one in caught] == [__file__]
    tolerance = float(text.split("tolerance=")[1].split(" ")[0])
    assert off / 10.0 <= tolerance <= 10.0 * off
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        result = mbd.simulate(system, 1.0, h=1e-3, tolerance=tolerance)
    assert 6 * result.model.nb - result.model.redundancy.rank == 1
    assert np.abs(result.r[-1] - result.r[0]).max() > 0.1
    assert np.abs(result.violation()).max() < 3.0 * off
    exact = mbd.simulate(four_bar(0.0), 1.0, h=1e-3)
    np.testing.assert_allclose(result.r[-1], exact.r[-1], rtol=0.0, atol=30.0 * off)


def test_an_axis_that_misses_the_centre():
    points = [np.array(p, dtype=float) for p in ((1, 0, 0), (0, 1, 0), (-0.6, 0, 0.8), (0, -0.8, 0.6))]
    axes = [p / np.linalg.norm(p) for p in points]
    shift = np.cross(axes[1], Z)
    points[1] = points[1] + 5e-3 * shift / np.linalg.norm(shift)
    with pytest.warns(
        mbd.LockedModelWarning, match=r"the axis of 'hinge 1' misses \(.*\), where those of the others meet, by 0.005 m"
    ):
        loop(points, axes).compile()


def test_no_degree_of_freedom():
    system = mbd.System("held", gravity=GRAVITY)
    body = system.add(mbd.Body("body", 1.0, J_BAR))
    hinge = system.add(RJ("hinge", system.ground, body, point=(0, 0, 0), axis=Z))
    system.add(RJ("across", system.ground, body, point=(0, 0, 0), axis=(1, 0, 0)))
    with pytest.warns(mbd.LockedModelWarning, match=r"'held' has 0 degrees of freedom and no driver"):
        model = system.compile()
    assert len(model.warnings) == 1
    driven = mbd.System("driven")
    body = driven.add(mbd.Body("body", 1.0, J_BAR))
    hinge = driven.add(RJ("hinge", driven.ground, body, point=(0, 0, 0), axis=Z))
    driven.add(RotationDriver("motor", hinge, lambda t: t))
    assert driven.compile().warnings == ()


def test_what_moves_or_is_only_near_a_dead_centre_is_not_warned_of():
    """Rows that nearly depend on others at this pose only are no misalignment."""
    assert four_bar(0.0).compile().warnings == four_bar(1e-6).compile().warnings == ()
    points = [np.array(p, dtype=float) for p in ((0, 0, 0), (1, 3e-4, 0), (2, 0, 0), (1, -1, 0))]
    assert loop(points, [Z] * 4).compile().warnings == ()


@pytest.mark.slow
@pytest.mark.parametrize("wrong", [0.0, -1e-4, 1.0, np.nan, True, "1e-4"])
def test_tolerances_that_are_none(wrong):
    with pytest.raises(mbd.UsageError, match="tolerance"):
        four_bar(0.0).compile(tolerance=wrong)
    with pytest.raises(mbd.UsageError, match="tolerance"):
        mbd.simulate(four_bar(0.0).compile(), 1.0, h=1e-3, tolerance=1e-4)
