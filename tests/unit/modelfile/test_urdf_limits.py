"""Limits and followers of URDF: stops in the coordinates of the file, and couplings."""

from __future__ import annotations

import numpy as np
import pytest

import haugmbd as mbd
from haugmbd.math import euler_parameters
from tests.support import robots
from tests.support.robots import ENDS, axis, hinge, inertial, joint, link, read, robot

GRAVITY = 9.80665
ZERO = (0.0, 0.0, 0.0)


def test_limits_become_stops_in_the_coordinates_of_the_file(tmp_path):
    """Beyond a limit the stop pushes back with k times the excess: against the same robot without limits."""
    arm = inertial(1.0, (0.1, 0.1, 0.1), (0.2, 0, 0))
    text = robot(
        link("base"),
        link("a", arm),
        link("b", arm),
        joint("turn", "revolute", "base", "a", axis((0, 0, 1)), '<limit lower="-0.5" upper="0.8" effort="20" velocity="1"/>'),
        joint("slide", "prismatic", "a", "b", axis((0, 0, 1)), '<limit lower="-2e3" upper="0.4" effort="30" velocity="1"/>'),
    )
    system = read(tmp_path, text, q={"turn": 0.3, "slide": 0.1})
    turn, slide = system.loads
    assert (turn.lower, turn.upper, turn.k) == pytest.approx((-0.8, 0.5, 2000.0))
    assert (slide.lower, slide.upper, slide.k) == pytest.approx((-np.inf, 0.3, 30000.0))
    assert "joint limits (2) became JointLimit, which the effort" in system.import_report.substituted[0]
    soft, free = (read(tmp_path, text, limits=limits, stop_stiffness=50.0) for limits in (True, False))
    assert not free.loads
    assert "joint limits (2)" in free.import_report.ignored
    assert [load.k for load in soft.loads] == [50.0, 50.0]
    model, other = soft.compile(), free.compile()
    start = model.state()
    angle, rise = 0.9, 0.7  # beyond both limits
    place = read(tmp_path, text, limits=False, q={"turn": angle, "slide": rise}).compile().state()
    state = start.replace(r=place.r, p=place.p, angles=np.full_like(start.angles, angle))
    with_stops = mbd.accelerations(model, state)
    without = mbd.accelerations(other, other.state().replace(r=place.r, p=place.p))
    change = with_stops.omega_bar_dot[1, 2] - without.omega_bar_dot[1, 2]
    inertia = 2.0 * (0.1 + 0.2**2)  # of both links about the vertical axis of the joint
    assert change == pytest.approx(-50.0 * (angle - 0.8) / inertia, rel=1e-9)
    assert (with_stops.v_dot - without.v_dot)[2, 2] == pytest.approx(-50.0 * (rise - 0.4), rel=1e-9)


@pytest.mark.slow
def test_limits_of_robots_with_loops_and_those_that_cannot_be(tmp_path):
    limit = '<limit lower="{}" upper="{}" effort="{}" velocity="1"/>'
    text = robots.four_bar_leg(robots.loop_joint("revolute", *ENDS)).replace('"continuous"', '"revolute"')
    joints = ("motor", "knee", "hip")

    def limited(*limits):
        made = text
        for name, given in zip(joints, limits, strict=True):
            made = made.replace(
                f'<joint name="{name}" type="revolute">', f'<joint name="{name}" type="revolute">{limit.format(*given)}'
            )
        return read(tmp_path, made, gravity=(0, -GRAVITY, 0))

    closed = limited((-1, 1, 10), (-2, 2, 10), (-0.5, 3, 10))
    stops = {load.name: load for load in closed.loads}
    model = closed.compile()
    for name, lower in zip(joints, (-1, -2, -0.5), strict=True):  # the closed pose is not q = 0: limits are counted from there
        moved = lower - stops[f"{name} limit"].lower
        was = read(tmp_path, text.replace(robots.loop_joint("revolute", *ENDS), ""), q={name: 0.0})
        turned = {x: read_angle(closed, name, each) for x, each in (("now", model), ("then", was.compile()))}
        assert moved == pytest.approx(turned["now"] - turned["then"], abs=1e-9)
    assert max(abs(stops[f"{name} limit"].upper - upper) for name, upper in zip(joints, (1, 2, 3), strict=True)) > 1e-3
    report = limited((0.5, 1, 10), (1, 1, 10), (-1, 1, 0)).import_report
    assert "joint limits (1), because they have no stiffness: give stop_stiffness=" in report.ignored
    assert any("joint 'motor' is modelled at" in told and "they were not read" in told for told in report.warnings)
    assert any("joint 'knee' has the limits 1 to 1, between which it cannot be" in told for told in report.warnings)
    for bad in (0.0, -1, "soft", np.nan):
        with pytest.raises(mbd.UsageError, match="stop_stiffness is"):
            read(tmp_path, text, stop_stiffness=bad)


def read_angle(system, name, model):
    """The angle of the child of a hinge about z of its parent, from the x-axes of the two links."""
    ends = {"motor": (None, "crank"), "knee": ("crank", "coupler"), "hip": (None, "rocker")}[name]
    p = dict(zip(model.body_names, model.state().p, strict=True))
    A = [np.eye(3) if end is None else euler_parameters.rotation_matrix(p[end]) for end in ends]
    T = A[0].T @ A[1]
    return np.arctan2(T[1, 0], T[0, 0])


def test_followers(tmp_path):
    text = robot(
        link("base"),
        *(link(name, inertial(1.0, (0.1, 0.1, 0.1), (0.1, 0, 0))) for name in "xyz"),
        hinge("a", "base", "x", 0.0),
        joint("b", "continuous", "base", "y", axis((0, 0, 1)), '<mimic joint="a" multiplier="-2" offset="0.3"/>'),
        joint("c", "continuous", "base", "z", axis((0, 0, 1)), '<mimic joint="b"/>'),
    )
    coupled = read(tmp_path, text, q={"a": 0.1}, gravity=(0, -GRAVITY, 0))
    assert coupled.import_report.degrees_of_freedom == 1
    assert not coupled.import_report.ignored
    # by power: 9 J q_a'' = tau_a - 2 tau_b - 2 tau_c with tau = -m g l cos q, and q_b = q_c = -2 q_a + 0.3
    exact = -GRAVITY * 0.1 * (np.cos(0.1) - 4.0 * np.cos(0.1)) / (9.0 * (0.1 + 0.01))
    found = mbd.accelerations(coupled.compile()).omega_bar_dot[1:, 2]
    np.testing.assert_allclose(found, (exact, -2.0 * exact, -2.0 * exact), rtol=1e-11)
    assert read(tmp_path, text, free_mimic=True).import_report.q == {"a": 0.0, "b": 0.3, "c": 0.3}
    system = read(tmp_path, text, free_mimic=True, q={"a": 0.1})
    assert system.import_report.q == {"a": 0.1, "b": pytest.approx(0.1), "c": pytest.approx(0.1)}
    assert "the mimic of joint 'b'" in system.import_report.ignored
    with pytest.raises(mbd.UsageError, match="follows 'a': give that one"):
        read(tmp_path, text, free_mimic=True, q={"b": 0.1})
    circle = text.replace(hinge("a", "base", "x", 0.0), joint("a", "continuous", "base", "x", '<mimic joint="c"/>'))
    with pytest.raises(mbd.UsageError, match="follows itself"):
        read(tmp_path, circle, free_mimic=True)
