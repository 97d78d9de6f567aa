"""Springs, dampers and limits on every coordinate of every joint: closed forms of all at once, and work against energy.

A sphere with its centre at the joint's point on it has T = sum m q'^2 / 2 in the coordinates of its joint to the ground, whose axes are at
right angles: with a spring and a damper on each of them it is one damped oscillator for each coordinate, at any amplitude.
"""

from __future__ import annotations

import numpy as np
import pytest
from scipy.integrate import simpson

import haugmbd as mbd
import joints
from haugmbd.constraints.coordinate import coordinates_of
from joints import SJ, UJ
from tests.support.samples import call, drives

MASS, J = 2.0, 0.3
CENTRE = np.array([0.3, -0.2, 0.5])
TOL = 1e-8  # runs to 1e-10 for one second
WORK_TOL = 1e-7  # Simpson's rule on steps of 5 ms


def made(cls, i, j):
    """A joint with its axes askew, whose point on body j is CENTRE."""
    axis, across = np.array([1.0, 2.0, 2.0]), np.array([0.0, 1.0, -1.0])
    known = dict(name="joint", i=i, j=j, point=CENTRE, axis=axis, normal=axis, axis_i=axis, axis_j=across)
    return call(cls, known | dict(point_i=CENTRE - 0.4 * axis, point_j=CENTRE))


def sampled(cls):
    i, j = (mbd.Body(name, 1.0, (1, 1, 1)) for name in "ij")
    return made(cls, i, j)


WITH_COORDINATES = [cls for cls in joints.CATALOGUE if not drives(cls) and any(coordinates_of(sampled(cls)).values())]


def coordinates(joint):
    return [joint.coordinate(what, k + 1) for what, ways in coordinates_of(joint).items() for k in range(len(ways))]


def rig(cls, load, *, two=False):
    """A sphere on the ground, or two unlike bodies in space, with a load on every coordinate of the joint between them."""
    system = mbd.System("rig")
    inertia = (0.2, 0.3, 0.4) if two else (J, J, J)
    first = system.add(mbd.Body("first", 3.0, (0.5, 0.7, 0.6), r=(-0.4, 0.1, 0.2))) if two else system.ground
    body = system.add(mbd.Body("body", MASS, inertia, r=CENTRE + (0.2 if two else 0.0)))
    joint = system.add(made(cls, first, body))
    for k, q in enumerate(coordinates(joint)):
        system.add(load(f"load {k}", q, k))
    return system


def spring(name, q, k):
    return mbd.JointSpring(name, q, k=3.0 + 2.0 * k, c=0.2 + 0.1 * k, free=0.3 - 0.15 * k)


def oscillator(t, m, k, c, free):
    """q from rest at 0 of m q'' + c q' + k (q - free) = 0."""
    d = c / (2.0 * m)
    w = np.sqrt(k / m - d * d)
    return free * (1.0 - np.exp(-d * t) * (np.cos(w * t) + d / w * np.sin(w * t)))


def measured(result, name):
    """The coordinate of a load, and its force along it."""
    load = result.load(name)
    return (load.angle, load.torque) if "angle" in load.quantities else (load.displacement, load.force)


def test_every_joint_with_several_freedoms_has_its_coordinates():
    counts = {cls.__name__: len(coordinates(sampled(cls))) for cls in WITH_COORDINATES}
    assert {name: counts[name] for name in ("RJ", "TJ", "CJ", "UJ", "Planar")} == {"RJ": 1, "TJ": 1, "CJ": 2, "UJ": 2, "Planar": 3}


@pytest.mark.slow
@pytest.mark.parametrize("cls", WITH_COORDINATES)
def test_springs_on_all_coordinates_are_so_many_oscillators(cls):
    system = rig(cls, spring)
    result = mbd.simulate(system, 1.0, rtol=1e-10, atol=1e-12)
    for k, q in enumerate(coordinates(system["joint"])):
        load = system[f"load {k}"]
        wanted = oscillator(result.t, J if q.turns else MASS, load.k, load.c, load.free)
        assert np.abs(measured(result, f"load {k}")[0] - wanted).max() < TOL


@pytest.mark.slow
@pytest.mark.parametrize("cls", WITH_COORDINATES)
def test_the_work_along_each_coordinate_is_its_energy_between_two_moving_bodies(cls):
    system = rig(cls, spring, two=True)
    result = mbd.simulate(system, 0.5, h=2.5e-3)
    work = 0.0
    for k in range(len(coordinates(system["joint"]))):
        load, own = result.load(f"load {k}"), system[f"load {k}"]
        q, force = measured(result, f"load {k}")
        rate = load.rate
        along = simpson(force * rate, x=result.t)
        lost = simpson(own.c * rate**2, x=result.t)
        assert abs(along + lost - own.k * (own.free**2 - (q[-1] - own.free) ** 2) / 2.0) < WORK_TOL
        work += along
    kinetic = result.energy().kinetic
    assert kinetic[-1] > 1e-3
    assert abs(kinetic[-1] - kinetic[0] - work) < WORK_TOL


@pytest.mark.slow
def test_a_ball_joint_has_its_spring_by_the_rotation_vector():
    """A sphere from rest, strained by a preload, or at a speed about any axis: theta'' = -(k theta + c theta') / J along that axis."""
    spin = np.array([0.6, -1.2, 0.8])
    system = mbd.System("ball")
    body = system.add(mbd.Body("body", MASS, (J, J, J), r=CENTRE, omega_bar=spin))
    system.add(SJ("ball", system.ground, body, point=CENTRE))
    k, c = 3.0, 0.2
    system.add(mbd.Bushing("spring", system.ground, body, point=CENTRE, K=(0, 0, 0, k, k, k), C=(0, 0, 0, c, c, c)))
    result = mbd.simulate(system, 1.0, rtol=1e-10, atol=1e-12)
    d = c / (2.0 * J)
    w = np.sqrt(k / J - d * d)
    p = result["body"].p
    theta = 2.0 * np.arctan2(p[:, 1:] @ spin / np.linalg.norm(spin), p[:, 0])
    assert np.abs(theta - np.linalg.norm(spin) * np.exp(-d * result.t) * np.sin(w * result.t) / w).max() < TOL


@pytest.mark.slow
@pytest.mark.parametrize("number", [1, 2])
@pytest.mark.parametrize("e", [0.5, 1.0])
def test_each_swing_of_a_universal_joint_has_its_limit(number, e):
    """A rigid limit throws the swing back at the speed e w; half the width of the limits over the speed is the time to it."""
    axes = {1: (1.0, 0.0, 0.0), 2: (0.0, 1.0, 0.0)}
    system = mbd.System("swing")
    body = system.add(mbd.Body("body", MASS, (J, J, J), omega_bar=2.0 * np.array(axes[number])))
    joint = system.add(UJ("joint", system.ground, body, point=(0, 0, 0), axis_i=axes[1], axis_j=axes[2]))
    limit = joint.coordinate("angle", number)
    system.add(mbd.JointLimit("swing", limit, lower=-0.3, upper=0.4, restitution=e))
    other = joint.coordinate("angle", 3 - number)
    system.add(mbd.JointLimit("other", other, lower=-0.1, upper=0.1, restitution=e))
    result = mbd.simulate(system, 0.4, h=1e-2)
    assert [hit.t for hit in result.impacts] == pytest.approx([0.2], abs=1e-9)
    assert result["body"].omega_bar[-1] @ axes[number] == pytest.approx(-2.0 * e, abs=1e-9)


@pytest.mark.slow
@pytest.mark.parametrize("number", [1, 2])
def test_each_swing_of_a_universal_joint_has_a_compliant_limit(number):
    """A stop without damping is half a period of its spring, after which the speed is turned back."""
    axes = {1: (1.0, 0.0, 0.0), 2: (0.0, 1.0, 0.0)}
    k = 300.0
    system = mbd.System("swing")
    body = system.add(mbd.Body("body", MASS, (J, J, J), omega_bar=2.0 * np.array(axes[number])))
    joint = system.add(UJ("joint", system.ground, body, point=(0, 0, 0), axis_i=axes[1], axis_j=axes[2]))
    system.add(mbd.JointLimit("stop", joint.coordinate("angle", number), upper=0.4, k=k))
    result = mbd.simulate(system, 0.4, rtol=1e-10, atol=1e-12)
    wanted = 0.4 - 2.0 * (0.4 - 0.2 - np.pi * np.sqrt(J / k))
    assert measured(result, "stop")[0][-1] == pytest.approx(wanted, abs=TOL)
