"""Friction in planar mechanisms whose rows are redundant: with redundancy=MinimumNorm() it is that of joints without redundant rows."""

from __future__ import annotations

import numpy as np
import pytest

import haugmbd as mbd
from joints import CJ, RJ, SJ, TJ

G, Y = 9.81, (0, 1, 0)
LEAST = mbd.MinimumNorm()


def press(*, redundant=True, length=None, side=0.0, law=None):
    """A slider-crank with friction in all joints, planar in x and z."""
    r, l, th, law = 0.2, 0.6, 0.7, law or mbd.Coulomb(0.2)
    a = np.array([r * np.cos(th), 0, r * np.sin(th)])
    b = np.array([a[0] + np.sqrt(l * l - a[2] ** 2), 0, 0])
    system = mbd.System("press", gravity=(0, 0, -G))
    crank = system.add(mbd.Body("crank", 2.0, (0.01, 0.02, 0.02), r=a / 2))
    rod = system.add(mbd.Body("rod", 1.0, (0.01, 0.03, 0.03), r=(a + b) / 2))
    ram = system.add(mbd.Body("ram", 1.5, (0.01, 0.01, 0.01), r=b))
    system.add(RJ("o", system.ground, crank, point=(0, 0, 0), axis=Y))
    system.add(RJ("a", crank, rod, point=a, axis=Y) if redundant else SJ("a", crank, rod, point=a))
    system.add((RJ if redundant else CJ)("b", rod, ram, point=b, axis=Y))
    system.add(TJ("guide", system.ground, ram, point=b, axis=(1, 0, 0)))
    for name in "oab":
        more = {"length": length} if length and name != "a" else {}
        system.add(mbd.JointFriction(f"rub {name}", system[name], law, radius=0.03, **more))
    system.add(mbd.JointFriction("rub guide", system["guide"], law, radius=0.02))
    system.add(mbd.Torque("motor", crank, torque=(0, -6.0, 0)))
    if side:
        system.add(mbd.PointForce("side", rod, point=(0, 0, 0), force=(0, side, 0)))
    return system


@pytest.mark.slow
@pytest.mark.parametrize("law", [mbd.Coulomb(0.2), mbd.BrownMcPhee(0.2, 0.15, 0.01)], ids=["exact", "smooth"])
def test_the_choice_gives_the_friction_of_joints_that_share_nothing(law):
    fine = {"rtol": 1e-9, "atol": 1e-11, "t_eval": np.linspace(0, 0.2, 11)}
    one = mbd.simulate(press(law=law), 0.2, redundancy=LEAST, **fine)
    other = mbd.simulate(press(redundant=False, law=law), 0.2, **fine)
    assert np.abs(one["ram"].r - other["ram"].r).max() < 1e-10
    assert np.abs(one.load("rub guide").force - other.load("rub guide").force).max() < 1e-8
    assert np.abs(one["ram"].r[-1] - one["ram"].r[0]).max() > 0.05
    assert np.abs(one.energy().drift).max() < 1e-6


def test_the_result_says_on_what_it_rests():
    result = mbd.simulate(press(length=0.05), 0.01, h=1e-3, redundancy=LEAST)
    assert any(
        "'rub guide'" in note and "rests on the choice redundancy=MinimumNorm()" in note for note in map(str, result.warnings)
    )
    compiled = press(length=0.05).compile(redundancy=LEAST)
    assert np.array_equal(mbd.simulate(compiled, 0.01, h=1e-3).r, result.r)


def test_without_the_choice_it_is_refused():
    for run in (
        lambda: press().compile(),
        lambda: mbd.simulate(press().compile(redundancy=LEAST), 0.01, h=1e-3, redundancy=mbd.DropDependentRows()),
    ):
        with pytest.raises(mbd.ModelError, match=r"'rub guide': what joint 'guide' carries is not unique") as raised:
            run()
        assert "MinimumNorm()" in str(raised.value)


def test_a_load_that_the_redundant_rows_share_is_refused():
    with pytest.raises(mbd.SimulationError, match="the redundant rows share a load"):
        mbd.simulate(press(side=50.0), 0.01, h=1e-3, redundancy=LEAST)
