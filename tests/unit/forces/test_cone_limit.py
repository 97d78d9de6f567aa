"""Limits of the swing of a joint: impacts by a closed form, springs by an integration of its own, what is refused."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import haugmbd as mbd
from haugmbd import Body, System
from joints import SJ, UJ

L, M, J = 0.5, 2.0, 0.05


def swinging(omega=2.0, spin=0.0, joint="SJ", **how):
    """A rod at a ball joint, without gravity, that swings about x at the rate omega; its axis is z."""
    system = System("ball")
    rod = system.add(Body("rod", M, (J, J, 0.01), r=(0, 0, -L), v=(0, L * omega, 0), omega_bar=(omega, 0, spin)))
    if joint == "SJ":
        ball = system.add(SJ("ball", system.ground, rod, point=(0, 0, 0)))
    else:
        ball = system.add(UJ("ball", system.ground, rod, point=(0, 0, 0), axis_i=(1, 0, 0), axis_j=(0, 1, 0)))
    system.add(mbd.ConeLimit("cone", ball, axis=(0, 0, -1), **how))
    return system


@pytest.mark.slow
@pytest.mark.parametrize("joint", ["SJ", "UJ"])
@pytest.mark.parametrize("e", [0.0, 0.6, 1.0])
def test_a_rigid_cone_reverses_the_swing(e, joint):
    """A plane swing: the rate becomes -e times itself at the limit."""
    result = mbd.simulate(swinging(joint=joint, angle=0.4, restitution=e), 0.5, rtol=1e-10, atol=1e-12)
    hit = result.impacts[0]
    assert hit.t == pytest.approx(0.2, abs=1e-9)
    assert result["rod"].omega_bar[-1, 0] == pytest.approx(-2.0 * e, abs=1e-8)
    tilt = 0.4 if e == 0.0 else 0.4 - 2.0 * e * 0.3
    assert result["rod"].r[-1] == pytest.approx([0.0, L * np.sin(tilt), -L * np.cos(tilt)], abs=1e-8)
    assert result.contact("cone").gap.min() > -1e-8


@pytest.mark.slow
def test_a_spinning_rod_slides_along_the_cone():
    """With the spin of a top under gravity the swing stays within the cone, whatever way it goes round."""
    system = swinging(omega=1.5, spin=20.0, angle=0.3, restitution=0.0)
    system.gravity = (0.0, 0.0, -9.81)
    result = mbd.simulate(system, 0.6, rtol=1e-9, atol=1e-11)
    tilt = np.arccos(np.clip(-result["rod"].r[:, 2] / L, -1, 1))
    assert tilt.max() == pytest.approx(0.3, abs=1e-6)


@pytest.mark.slow
@pytest.mark.parametrize("c", [0.0, 0.5])
def test_a_compliant_cone_is_a_spring_and_a_damper(c):
    k, inertia = 100.0, J + M * L**2
    result = mbd.simulate(swinging(angle=0.4, k=k, c=c), 0.6, rtol=1e-10, atol=1e-12)

    def rates(_, y):
        push = k * (y[0] - 0.4) + c * y[1]
        return [y[1], -max(push, 0.0) / inertia if y[0] > 0.4 else 0.0]

    y = solve_ivp(rates, (0.2, 0.6), [0.4, 2.0], rtol=1e-12, atol=1e-13, max_step=1e-3).y
    assert result["rod"].omega_bar[-1, 0] == pytest.approx(y[1, -1], abs=1e-5)
    load = result.load("cone")
    assert load.angle[-1] == pytest.approx(abs(y[0, -1]), abs=1e-5)
    assert load.torque.max() > 1.0
    assert np.abs(result.energy().drift).max() < 1e-3


@pytest.mark.slow
def test_the_law_of_the_limit_is_verified_and_saved(tmp_path):
    system = swinging(angle=0.4, k=50.0, c=0.2)
    assert mbd.verify(system).ok
    system.save(tmp_path / "cone.json")
    again = mbd.load_model(tmp_path / "cone.json")
    assert np.array_equal(*(mbd.simulate(one, 0.3, h=1e-3).y[-1] for one in (system, again)))
    rigid = swinging(angle=0.4, restitution=0.5)
    rigid.save(tmp_path / "rigid.json")
    assert len(mbd.simulate(mbd.load_model(tmp_path / "rigid.json"), 0.3, h=1e-3).impacts) == 1


@pytest.mark.parametrize(
    ("how", "words"),
    [
        ({"angle": 0.4}, "it needs k, or restitution"),
        ({"angle": 0.4, "k": 1.0, "restitution": 0.5}, "not both"),
        ({"angle": 4.0, "k": 1.0}, "between 0 and pi"),
        ({"angle": 0.4, "k": -1.0}, "must be positive"),
        ({"angle": 0.4, "k": 1.0, "c": -1.0}, "must not be negative"),
        ({"angle": 0.4, "restitution": 1.5}, "between 0 and 1"),
        ({"angle": 0.4, "k": 1.0, "center": (0, 0, 0)}, "center is (0, 0, 0)"),
        ({"angle": 0.4, "k": 1.0, "center": (1, 0, 0)}, "the modelled pose violates it"),
    ],
)
def test_limits_that_are_none_are_refused(how, words):
    (fault,) = swinging(**how).faults()
    assert words in f"{fault.what} {fault.remedy}"


def test_a_limit_of_no_joint_is_refused_at_once():
    with pytest.raises(mbd.UsageError, match="'cone' needs a joint"):
        mbd.ConeLimit("cone", "ball", axis=(0, 0, 1), angle=0.4, k=1.0)
