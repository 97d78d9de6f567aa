"""The modelled pose: joints that are not closed, drivers that disagree, velocities that do not fit; in metres and degrees, by joint."""

from __future__ import annotations

from math import cos, pi, sin

import numpy as np
import pytest

from haugmbd import CD, DP1, DP2, Body, D, Fault, Rotation, State, System
from haugmbd.system.checks.constraint_residuals import position_faults, state_faults, velocity_faults
from haugmbd.tolerances import TYPED_LENGTH
from joints import CJ, RJ, SJ, PointInPlane, PointOnLine, RotationDriver, TranslationDriver

J = (0.1, 0.2, 0.25)
X, Y, Z = np.eye(3)


def two(**changes: object) -> tuple[System, Body, Body]:
    system = System("arm")
    a = system.add(Body("a", 1.0, J))
    b = system.add(Body("b", 1.0, J, **{"r": (2, 0, 0), **changes}))  # type: ignore[arg-type]
    return system, a, b


def the_fault(system: System) -> Fault:
    faults = system.faults()
    assert len(faults) == 1, [str(fault) for fault in faults]
    return faults[0]


def about(axis: np.ndarray, degrees: float) -> np.ndarray:
    half = np.radians(degrees) / 2
    return np.array([cos(half), *(sin(half) * np.asarray(axis))])


def test_points_that_are_apart() -> None:
    system, a, b = two()
    system.add(SJ.from_vectors("ball", a, (1, 0, 0), b, (-1, 0.03, 0.04)))
    fault = the_fault(system)
    assert fault.where == "joint 'ball'"
    assert "its points are 0.05 m apart" in fault.what
    assert "degrees" not in fault.what
    assert "point" in fault.remedy


def test_axes_that_are_off() -> None:
    system, a, b = two(p=about(X, 5.0))
    system.add(RJ.from_vectors("hinge", a, (1, 0, 0), X, Y, b, (-1, 0, 0), Z))
    fault = the_fault(system)
    assert fault.where == "joint 'hinge'"
    assert "its axes are off by 5 degrees" in fault.what
    assert " m apart" not in fault.what


def test_a_joint_with_both_gaps_is_one_fault() -> None:
    system, a, b = two(p=about(X, -30.0))
    system.add(RJ.from_vectors("hinge", a, (1, 0, 0.2), X, Y, b, (-1, 0, 0), Z))
    fault = the_fault(system)
    assert "its points are 0.2 m apart" in fault.what
    assert "its axes are off by 30 degrees" in fault.what


@pytest.mark.parametrize("size", [1e-3, 1.0, 1e3])
def test_the_gap_is_measured_against_the_model(size: float) -> None:
    for factor, count in ((0.3, 0), (3.0, 1)):
        system = System("arm")
        a = system.add(Body("a", 1.0, J))
        b = system.add(Body("b", 1.0, J, r=(2 * size, 0, 0)))
        gap = factor * TYPED_LENGTH * 2 * size
        system.add(SJ.from_vectors("ball", a, (size, 0, 0), b, (-size, gap, 0)))
        assert len(system.faults()) == count


def test_the_remaining_angle_of_a_cylindrical_joint_is_free() -> None:
    system, a, b = two(p=about(X, 77.0), r=(5, 0, 0))
    system.add(CJ.from_vectors("tube", a, (1, 0, 0), Y, Z, b, (-1, 0, 0), X))
    assert system.faults() == ()


PRESCRIBED = {
    "CD": (lambda a, b, f: CD(X, a, (0, 0, 0), b, (0, 0, 0), f), 2.0, "m"),
    "DP2": (lambda a, b, f: DP2(a, (3, 0, 0), (0, 0, 0), b, (0, 0, 0), lambda t: 3 * f(t)), 2.0, "m"),
    "D": (lambda a, b, f: D(a, (0, 0, 0), b, (0, 0, 0), f), 2.0, "m"),
    "Rotation": (lambda a, b, f: Rotation(a, X, Y, b, Y, f), pi / 2, "rad"),
}


@pytest.mark.parametrize("kind", PRESCRIBED)
def test_a_driver_that_disagrees_at_the_start(kind: str) -> None:
    make, value, unit = PRESCRIBED[kind]
    system, a, b = two()
    system.add(make(a, b, lambda t: value + np.sin(t)))
    assert system.faults() == ()
    system, a, b = two()
    system.add(make(a, b, lambda t: value + 0.1 + np.sin(t)))
    fault = the_fault(system)
    assert fault.where == f"joint '{kind} 1'"
    assert f"the driver of {kind} gives" in fault.what
    assert "at t = 0 s" in fault.what
    if kind != "DP2":
        assert f"gives {value + 0.1:.9g} {unit}" in fault.what
        assert f"the modelled value is {value:.9g} {unit}" in fault.what
    assert f"off by 0.1 {unit}" in fault.what


def test_a_dot_product_that_disagrees() -> None:
    system, a, b = two(p=about(Z, 60.0))
    system.add(DP1(a, 2 * X, b, 3 * X, 3.0))
    assert system.faults() == ()
    system.add(DP1(a, 2 * X, b, 3 * Z, lambda t: 6 * np.cos(1.0 + t)))
    fault = the_fault(system)
    assert f"{np.degrees(1.0) - 90:.6g} degrees" in fault.what or f"{90 - np.degrees(1.0):.6g} degrees" in fault.what
    system, a, b = two()
    system.add(DP1(a, X, b, X, 1.5))
    assert "1.5" in the_fault(system).what


def test_a_rotation_on_the_wrong_branch() -> None:
    system, a, b = two(p=about(Z, 180.0))
    system.add(Rotation(a, X, Y, b, X, lambda t: 0.0 + t))
    fault = the_fault(system)
    assert "off by half a turn" in fault.what
    assert "Add pi" in fault.remedy
    system, a, b = two(p=about(Z, 180.0))
    system.add(Rotation(a, X, Y, b, X, lambda t: pi + t))
    assert system.faults() == ()


def test_a_rotation_many_turns_ahead_agrees() -> None:
    system, a, b = two(p=about(Z, 30.0))
    system.add(Rotation(a, X, Y, b, X, pi / 6 + 20 * pi))
    assert system.faults() == ()


def test_drivers_of_joints() -> None:
    for f, words in (
        (0.3, "off by 0.3 rad"),
        (lambda t: pi + t, "off by half a turn"),
        (2.0, "off by 2 rad, more than a quarter turn"),
    ):
        system, a, b = two()
        hinge = system.add(RJ("hinge", a, b, point=(1, 0, 0), axis=(0, 0, 1)))
        system.add(RotationDriver("motor", hinge, f))
        fault = the_fault(system)
        assert fault.where == "joint 'motor'"
        assert words in fault.what
    system, a, b = two()
    tube = system.add(CJ("tube", a, b, point=(1, 0, 0), axis=(1, 0, 0)))
    system.add(TranslationDriver("piston", tube, lambda t: 0.2 * np.cos(t)))
    fault = the_fault(system)
    assert fault.where == "joint 'piston'"
    assert "gives 0.2 m" in fault.what
    assert "off by 0.2 m" in fault.what


def test_an_open_joint_does_not_spoil_what_is_said_about_the_others() -> None:
    system, a, b = two()
    system.add(SJ.from_vectors("open", a, (1, 0, 0), b, (-1, 0.5, 0)))
    system.add(DP1(system.ground, (1, 0, 0), b, (1, 0, 0), np.cos))
    faults = system.faults()
    assert [fault.where for fault in faults] == ["joint 'open'", "joint 'DP1 1'"]
    assert "gradient" in faults[1].what


def test_position_faults_of_another_state() -> None:
    system, a, b = two()
    system.add(SJ("ball", a, b, point=(1, 0, 0)))
    model = system.compile()
    state = model.state()
    assert position_faults(model, state) == ()
    r = state.r.copy()
    r[2] += (0.0, 0.0, 0.125)
    (fault,) = position_faults(model, state.replace(r=r))
    assert "0.125 m apart" in fault.what


def pendulum(v: tuple[float, ...] = (0, 0, 0), omega_bar: tuple[float, ...] = (0, 0, 0)) -> System:
    system = System("pendulum")
    link = system.add(Body("link", 1.0, J, r=(1, 0, 0), v=v, omega_bar=omega_bar))
    system.add(RJ("pin", system.ground, link, point=(0, 0, 0), axis=(0, 0, 1)))
    return system


def test_velocities_that_fit_and_do_not() -> None:
    assert velocity_faults(pendulum().compile()) == ()
    assert velocity_faults(pendulum((0, 3, 0), (0, 0, 3)).compile()) == ()
    (fault,) = velocity_faults(pendulum((0, 3, 0), (0, 0, 1)).compile())
    assert fault.where == "joint 'pin'"
    assert "2 m/s" in fault.what
    assert "rad/s" not in fault.what
    assert "project_velocity=True" in fault.remedy
    (fault,) = velocity_faults(pendulum((0, 0, 0), (0.25, 0, 0)).compile())
    assert "0.25 rad/s" in fault.what


def test_inconsistent_velocities_do_not_stop_compile() -> None:
    assert pendulum((0, 3, 0)).faults() == ()


def test_a_driver_asks_for_velocity() -> None:
    for kind, (make, value, unit) in PRESCRIBED.items():
        system, a, b = two()
        system.add(make(a, b, lambda t, value=value: value + 0.5 * np.sin(t)))
        (fault,) = velocity_faults(system.compile())
        assert fault.where == f"joint '{kind} 1'"
        assert f"0.5 {unit}/s" in fault.what


def test_velocities_against_the_exact_gap() -> None:
    rng = np.random.default_rng(7)
    system, a, b = two(p=about(np.array([0.6, 0.0, 0.8]), 50.0), v=rng.normal(size=3), omega_bar=rng.normal(size=3))
    system.add(SJ("ball", a, b, point=(1, 2, 3)))
    model = system.compile()
    state = model.state()
    arm = np.array([1, 2, 3]) - state.r[2]
    gap = state.v[2] + np.cross(b.A @ state.omega_bar[2], arm)
    (fault,) = velocity_faults(model, state)
    assert f"{np.linalg.norm(gap):.6g} m/s" in fault.what


def test_a_state_by_itself() -> None:
    model = pendulum().compile()
    state = model.state()
    assert state_faults(model, state) == ()
    p = state.p.copy()
    p[1] *= 1.1
    r = state.r.copy()
    r[1, 2] = np.nan
    bad: list[tuple[State, str]] = [
        (state.replace(p=p), "|p| of body 'link' is 1.1"),
        (state.replace(r=r), "r of body 'link' is [1.0, 0.0, nan], not finite"),
        (state.replace(v=np.zeros((3, 3))), "v has shape (3, 3), expected (2, 3)"),
        (state.replace(t=np.inf), "t = inf"),
        (state.replace(angles=np.zeros(1)), "angles has shape (1,), expected (0,)"),
    ]
    for changed, words in bad:
        (fault,) = state_faults(model, changed)
        assert words in str(fault)
        assert fault.remedy


def test_a_point_off_its_plane_or_line_is_not_told_to_coincide() -> None:
    system, a, b = two()
    system.add(PointInPlane.from_vectors("leg", a, (0, 0, 0), (0, 0, 1), b, (-2, 0, 0.01)))
    assert "its points are 0.01 m off the plane in which they must stay" in the_fault(system).what
    system, a, b = two()
    system.add(PointOnLine.from_vectors("pin", a, (0, 0, 0), (0, 1, 0), (0, 0, 1), b, (-1, 0.03, 0.04)))
    assert "its points are 0.05 m off the line on which they must stay" in the_fault(system).what
