"""Coordinates of joints over time: closed forms, differences, turns, and what a joint does not have."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import haugmbd as mbd
from haugmbd.gallery import four_bar, heavy_top, slider_crank
from haugmbd.model.labels import JointEntries, RowLabels
from joints import CATALOGUE, CJ, RJ, SJ, TJ, UJ, Planar, PointOnLine, RevoluteSpherical, RotationDriver
from tests.support import samples

EXACT = 1e-12
DIFFERENCES = 1e-4  # of h^2 / 6 times the third derivative, and of rounding over h^2

AXIS = np.array([2.0, 1.0, 2.0]) / 3.0
FREE = {
    "CJ": (lambda i, j: CJ("joint", i, j, point=(0.2, 0.1, 0.0), axis=AXIS), ("displacement", "angle")),
    "RJ": (lambda i, j: RJ("joint", i, j, point=(0.2, 0.1, 0.0), axis=AXIS), ("angle",)),
    "TJ": (lambda i, j: TJ("joint", i, j, point=(0.2, 0.1, 0.0), axis=AXIS), ("displacement",)),
    "UJ": (lambda i, j: UJ("joint", i, j, point=(0.2, 0.1, 0.0), axis_i=AXIS, axis_j=(1.0, -2.0, 0.0)), ("angle", "angle")),
    "Planar": (lambda i, j: Planar("joint", i, j, point=(0.2, 0.1, 0.0), normal=AXIS), ("displacement", "displacement", "angle")),
}


def two_bodies(make):
    """A body that spins on an axis of the ground, and one that hangs on it by the joint."""
    system = mbd.System("two", gravity=(0.3, -0.2, -9.81))
    first = system.add(mbd.Body("first", 2.0, (0.2, 0.3, 0.4), r=(0.1, 0.0, 0.0), omega_bar=(0.0, 0.0, 2.0)))
    second = system.add(mbd.Body("second", 1.0, (0.1, 0.12, 0.15), r=(0.4, 0.3, 0.1)))
    system.add(RJ("axle", system.ground, first, point=(0.1, 0.0, 0.0), axis=(0, 0, 1)))
    joint = system.add(make(first, second))
    return system, joint


@pytest.mark.slow
@pytest.mark.parametrize("kind", FREE)
def test_rates_and_accelerations_are_the_derivatives(kind):
    make, names = FREE[kind]
    system, _ = two_bodies(make)
    start = mbd.assemble(system).model
    result = mbd.simulate(start, 0.4, h=1e-3)
    found = result.joint("joint")
    assert found.coordinates == names
    columns = [c for name in dict.fromkeys(names) for c in np.atleast_2d(getattr(found, name).T)]
    for k, value in enumerate(columns):
        rate = np.atleast_2d(found.rate.T)[k]
        assert abs(value[0]) < EXACT  # zero as modelled
        np.testing.assert_allclose(
            np.gradient(value, result.t)[1:-1], rate[1:-1], rtol=0.0, atol=DIFFERENCES * max(1.0, abs(rate).max()) * 10
        )
        slope = np.gradient(rate, result.t)[1:-1]
        acceleration = np.atleast_2d(found.acceleration.T)[k]
        np.testing.assert_allclose(slope, acceleration[1:-1], rtol=0.0, atol=DIFFERENCES * max(1.0, abs(acceleration).max()))


@pytest.mark.slow
def test_ten_turns_of_a_driven_crank():
    system = mbd.System("crank")
    crank = system.add(mbd.Body("crank", 1.0, (0.1, 0.2, 0.2), r=(0.1, 0, 0)))
    pin = system.add(RJ("pin", system.ground, crank, point=(0, 0, 0), axis=(0, 0, 1)))
    system.add(RotationDriver("drive", pin, lambda t: 20.0 * np.pi * t**2))
    found = mbd.kinematics(system, np.linspace(0.0, 1.0, 101)).joint("pin")
    np.testing.assert_allclose(found.angle, 20.0 * np.pi * found.t**2, rtol=0.0, atol=EXACT)
    np.testing.assert_allclose(found.rate, 40.0 * np.pi * found.t, rtol=0.0, atol=EXACT * 1e3)
    np.testing.assert_allclose(found.acceleration, 40.0 * np.pi, rtol=1e-10)


@pytest.mark.slow
def test_turns_that_were_not_seen_are_refused_and_never_guessed():
    system = mbd.System("rotor")
    rotor = system.add(mbd.Body("rotor", 1.0, (0.1, 0.1, 0.2), omega_bar=(0, 0, 5.0)))
    system.add(mbd.Torque("brake", rotor, torque=lambda t: (0.0, 0.0, -2.0 * np.sin(40.0 * t))))
    system.add(RJ("pin", system.ground, rotor, point=(0, 0, 0), axis=(0, 0, 1)))
    result = mbd.simulate(system, 4.0, h=2e-3)
    every = result.joint("pin").angle
    assert every[-1] > 6.0 * np.pi
    for few in (
        mbd.simulate(system, 4.0, h=2e-3, t_eval=[0.0, 1.9, 4.0]),
        mbd.simulate(system, 4.0, h=2e-3, store_every=950),
        mbd.simulate(system, 4.0, rtol=1e-10, atol=1e-12, t_eval=[0.3, 4.0]),
        result.resample([0.3, 1.90051, 4.0]),
    ):
        expected = np.interp(few.t, result.t, every)
        np.testing.assert_allclose(few.joint("pin").angle, expected, rtol=0.0, atol=1e-4)  # of a linear interpolation
    seldom = replace(result, t=result.t[::950], y=result.y[::950])  # states without the run that made them
    with pytest.raises(mbd.UsageError, match=r"joint 'pin': between t = .* turns by about .* rad, too far .* Store more states"):
        seldom.joint("pin")


def test_steps_that_are_too_long_to_count_are_told():
    system = mbd.System("rotor", gravity=(0, 0, 0))
    rotor = system.add(mbd.Body("rotor", 1.0, (0.1, 0.1, 0.2)))
    pin = system.add(RJ("pin", system.ground, rotor, point=(0, 0, 0), axis=(0, 0, 1)))
    system.add(mbd.Torque("motor", rotor, torque=lambda t: (0.0, 0.0, 300.0 * np.sin(25.0 * t))))
    with pytest.warns(mbd.RunWarning, match="turns by more than"):
        result = mbd.simulate(system, 2.0, h=0.25, t_eval=[0.0, 2.0])
    with pytest.raises(mbd.UsageError, match=r"joint 'pin': before t = .* turns too far to count its turns. Give a smaller h"):
        result.joint("pin")
    system.add(mbd.RSDA("spring", pin, k=0.0, c=0.1))  # a spring counts for itself, and does not lose a turn either
    with pytest.raises(mbd.SimulationError, match="the turn of spring is not known any more .* or use RKMK4") as stopped:
        mbd.simulate(system, 2.0, h=0.25, t_eval=[0.0, 2.0])
    assert len(stopped.value.result) == 1
    with pytest.warns(mbd.RunWarning, match="turns by more than"):
        found = mbd.simulate(system, 2.0, h=0.25, t_eval=[0.0, 2.0], integrator=mbd.RKMK4())
    x, h = np.zeros(2), 0.25  # the same steps on the angle itself
    for n in range(8):
        ks = [np.zeros(2)]
        for c in (0.0, 0.5, 0.5, 1.0):
            rate = (x + c * h * ks[-1])[1]
            ks.append(np.array([rate, (300.0 * np.sin(25.0 * (n + c) * h) - 0.1 * rate) / 0.2]))
        x = x + h / 6.0 * (ks[1] + 2.0 * ks[2] + 2.0 * ks[3] + ks[4])
    assert found.joint("pin").angle[-1] == pytest.approx(x[0], abs=EXACT)


@pytest.mark.slow
def test_a_driver_knows_the_turns_of_its_joint():
    system = mbd.System("crank")
    crank = system.add(mbd.Body("crank", 1.0, (0.1, 0.2, 0.2), r=(0.1, 0, 0)))
    pin = system.add(RJ("pin", system.ground, crank, point=(0, 0, 0), axis=(0, 0, 1)))
    system.add(RotationDriver("drive", pin, lambda t: 20.0 * np.pi * t**2))
    found = mbd.kinematics(system, np.linspace(0.0, 1.0, 4)).joint("pin")  # several turns between states
    np.testing.assert_allclose(found.angle, 20.0 * np.pi * found.t**2, rtol=0.0, atol=EXACT)


@pytest.mark.slow
def test_the_rocker_of_a_four_bar_against_its_closed_form():
    """Crank and rocker of a planar four-bar: |coupler| = b gives the rocker's angle (Freudenstein)."""
    a, b, c, d = 1.0, 2.5, 2.0, 2.4
    first, x = 1.1, np.array([d, 0.0])

    def rocker(crank):
        """Angle of the rocker, open branch, for the angle of the crank; both from the x axis."""
        px, py = a * np.cos(crank), a * np.sin(crank)
        gap_x, gap_y = x[0] - px, x[1] - py
        reach = np.hypot(gap_x, gap_y)
        return np.arctan2(gap_y, gap_x) + np.pi - np.arccos((reach**2 + c**2 - b**2) / (2.0 * reach * c))

    A, B = a * np.array([np.cos(first), np.sin(first)]), x + c * np.array([np.cos(rocker(first)), np.sin(rocker(first))])
    ends = {"crank": (np.zeros(2), A), "coupler": (A, B), "rocker": (x, B)}
    system = mbd.System("four-bar")
    ground, bodies = system.ground, {}
    for name, (p, q) in ends.items():
        bodies[name] = system.add(mbd.Body(name, 1.0, (0.1, 0.1, 0.1), r=(*(p + q) / 2, 0)))
    pin = system.add(RJ("A", ground, bodies["crank"], point=(0, 0, 0), axis=(0, 0, 1)))
    system.add(RJ("B", bodies["crank"], bodies["coupler"], point=(*A, 0), axis=(0, 0, 1)))
    system.add(SJ("C", bodies["coupler"], bodies["rocker"], point=(*B, 0)))
    system.add(RJ("D", ground, bodies["rocker"], point=(*x, 0), axis=(0, 0, 1)))
    system.add(RotationDriver("drive", pin, lambda t: t))
    result = mbd.kinematics(system, np.linspace(0.0, 4.0 * np.pi, 101))
    u, v = first + result.joint("A").angle, rocker(first) + result.joint("D").angle
    np.testing.assert_allclose(v, rocker(u), rtol=0.0, atol=EXACT)


def test_the_arm_of_a_revolute_spherical_joint():
    system = mbd.System("arm", gravity=(0.4, -0.3, -9.81))
    first = system.add(mbd.Body("first", 2.0, (0.2, 0.3, 0.4), r=(0.1, 0.0, 0.0), omega_bar=(0.0, 0.0, 2.0)))
    second = system.add(mbd.Body("second", 1.0, (0.1, 0.12, 0.15), r=(0.6, 0.3, 0.1), omega_bar=(0.3, 0.2, 0.1)))
    system.add(RJ("axle", system.ground, first, point=(0.1, 0.0, 0.0), axis=(0, 0, 1)))
    system.add(RevoluteSpherical("arm", first, second, point_i=(0.1, 0.0, 0.0), axis=(0, 1, 0), point_j=(0.5, 0.0, 0.2)))
    result = mbd.simulate(system, 0.8, h=1e-3, project_velocity=True)
    arm = result.joint("arm")
    assert arm.coordinates == ("angle", "rotation")
    assert arm.angle[0] == pytest.approx(0.0, abs=EXACT)
    for value, slope in ((arm.angle, arm.rate[:, 0]), (arm.rate[:, 0], arm.acceleration[:, 0])):
        np.testing.assert_allclose(
            np.gradient(value, result.t)[1:-1], slope[1:-1], rtol=0.0, atol=10.0 * DIFFERENCES * max(1.0, abs(slope).max())
        )
    h = arm_axis = np.array([0.0, 1.0, 0.0])
    d = result.point("arm.j").r - result.point("arm.i").r
    along = np.einsum("tji,tj->ti", result["first"].A, d)
    start = along[0] - (along[0] @ h) * arm_axis
    plane = along - np.outer(along @ h, arm_axis)
    np.testing.assert_allclose(
        np.cos(arm.angle), plane @ start / np.linalg.norm(plane, axis=1) / np.linalg.norm(start), rtol=0.0, atol=1e-10
    )


@pytest.mark.slow
@pytest.mark.parametrize("kind", CATALOGUE, ids=lambda kind: kind.__name__)
def test_every_joint_has_its_coordinates_or_says_why_not(kind):
    """As many columns of rates as freedoms; without angles of its own a joint has the rotation vector of body j."""
    joint, carrier = samples.make_joint(kind, "joint", *bodies_of(), samples.geometry(np.random.default_rng(7)))
    model = samples.model_of(joint) if carrier is None else samples.model_of(carrier, joint)
    state = model.state()
    result = mbd.Result(model, np.array([0.0, 1e-3]), np.array([state.y, state.y]))
    if kind.__name__ in ("Fixed", "RotationDriver", "ConstantVelocity"):
        with pytest.raises(mbd.UsageError, match="has no coordinates"):
            result.joint("joint")
        return
    found = result.joint("joint")
    for name in dict.fromkeys(found.coordinates):
        np.testing.assert_allclose(getattr(found, name)[0], 0.0, atol=EXACT)
    assert found.rate.shape == found.acceleration.shape
    columns = 3 if kind.__name__ in ("Distance", "UniversalSpherical") else len(kind.freedoms)
    assert found.rate.reshape(2, -1).shape[1] == columns


def bodies_of():
    rng = np.random.default_rng(3)
    return samples.random_body("i", rng), samples.random_body("j", rng)


def test_states_that_are_not_finite_keep_the_turns_behind_them():
    system = mbd.System("rotor", gravity=(0, 0, 0))
    rotor = system.add(mbd.Body("rotor", 1.0, (0.1, 0.1, 0.2), omega_bar=(0, 0, 10.0)))
    system.add(RJ("pin", system.ground, rotor, point=(0, 0, 0), axis=(0, 0, 1)))
    result = mbd.simulate(system, 2.0, h=1e-2)
    y = result.y.copy()
    y[70:73, 13:] = np.nan
    angle = replace(result, y=y).joint("pin").angle
    assert np.isnan(angle[70:73]).all()
    np.testing.assert_allclose(np.delete(angle - result.joint("pin").angle, [70, 71, 72]), 0.0, rtol=0.0, atol=EXACT)
    assert angle[-1] > 6.0 * np.pi


def test_hookes_joint_against_its_closed_form():
    """Input about x by u, output shaft inclined by beta: tan(output) = tan(input) / cos(beta)."""
    beta = 0.5
    system = mbd.System("hooke")
    shafts = [
        system.add(mbd.Body(name, 1.0, (0.1, 0.1, 0.1), r=r))
        for name, r in (("in", (-0.5, 0, 0)), ("out", 0.5 * np.array([np.cos(beta), np.sin(beta), 0])))
    ]
    first = system.add(RJ("in pin", system.ground, shafts[0], point=(-1, 0, 0), axis=(1, 0, 0)))
    system.add(RJ("out pin", system.ground, shafts[1], point=(np.cos(beta), np.sin(beta), 0), axis=(np.cos(beta), np.sin(beta), 0)))
    system.add(UJ("cross", *shafts, point=(0, 0, 0), axis_i=(0, 0, 1), axis_j=(-np.sin(beta), np.cos(beta), 0)))
    system.add(RotationDriver("drive", first, lambda t: 2.0 * np.pi * t))
    result = mbd.kinematics(system, np.linspace(0.0, 2.0, 81))
    u, v = result.joint("in pin").angle, result.joint("out pin").angle
    np.testing.assert_allclose(u, 2.0 * np.pi * result.t, rtol=0.0, atol=EXACT)
    np.testing.assert_allclose(np.sin(v) * np.cos(u), np.cos(v) * np.sin(u) * np.cos(beta), rtol=0.0, atol=EXACT)
    assert v[-1] == pytest.approx(4.0 * np.pi, abs=EXACT)


def test_spherical_joints_have_a_rotation_vector():
    result = mbd.simulate(heavy_top(), 0.02, rtol=1e-12, atol=1e-12, t_eval=np.linspace(0.0, 0.02, 201))
    (name,) = result.model.joints
    found = result.joint(name)
    assert found.coordinates == ("rotation",)
    assert abs(found.rotation[0]).max() < EXACT
    np.testing.assert_allclose(found.rate[0], result.omega_bar[0, 1], atol=1e-10)  # of a body that starts in the ground's axes
    np.testing.assert_allclose(
        np.gradient(found.rate, found.t, axis=0)[1:-1], found.acceleration[1:-1], atol=1e-3 * abs(found.acceleration).max()
    )


def test_a_mixed_joint_has_both():
    system, _ = two_bodies(lambda i, j: PointOnLine("joint", i, j, point=(0.2, 0.1, 0.0), axis=AXIS))
    found = mbd.simulate(mbd.assemble(system).model, 0.1, h=1e-3).joint("joint")
    assert found.coordinates == ("displacement", "rotation")
    assert found.displacement.shape == (101,)
    assert found.rotation.shape == (101, 3)
    assert found.rate.shape == (101, 4)


def test_what_a_joint_does_not_have():
    result = mbd.simulate(four_bar(), 0.01, h=1e-3)
    with pytest.raises(mbd.UsageError, match="no joint is called 'Z'; the joints are 'A'"):
        result.joint("Z")
    with pytest.raises(mbd.UsageError, match=r"joint 'A' has no displacement: it has \.angle"):
        _ = result.joint("A").displacement
    driven = mbd.simulate(slider_crank(driven=True), 0.01, h=1e-3)
    with pytest.raises(mbd.UsageError, match=r"joint 'drive' .* has no coordinates: .*; result\.driver\('drive'\) has"):
        driven.joint("drive")
    assert not result.joint("A").angle.flags.writeable


def test_histories_of_one_joint_do_not_make_the_labels_or_entries_of_all(monkeypatch):
    """Of a chain of many links each was as long as the chain, so that histories of all joints took the square of it."""
    links, system = 60, mbd.System("chain")
    before = system.ground
    for k in range(links):
        body = system.add(mbd.Body(f"link {k}", 1.0, (0.1, 0.1, 0.02), r=(k + 0.5, 0, 0)))
        system.add(RJ(f"pin {k}", before, body, point=(k, 0, 0), axis=(0, 1, 0)))
        before = body
    model = system.compile()
    assert isinstance(model.labels, RowLabels)
    result = mbd.Result(model, np.array([0.0, 0.1]), np.stack([model.y0, model.y0]))
    seen = {"labels": 0, "entries": 0}

    def counted(kind, function):
        def count(*arguments):
            seen[kind] += 1
            return function(*arguments)

        return count

    monkeypatch.setattr(RowLabels, "of_joint", counted("labels", RowLabels.of_joint))
    monkeypatch.setattr(JointEntries, "__getitem__", counted("entries", JointEntries.__getitem__))
    for k in (3, 20, 41):
        assert np.array_equal(result.joint(f"pin {k}").angle, np.zeros(2))
        assert result.reaction(f"pin {k}").force.shape == (2, 3)
    assert max(seen.values()) < links
