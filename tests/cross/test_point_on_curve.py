"""A point on a spline curve: a bead on a circle is a pendulum, one on a helix slides as on a slope; curves that are none."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import haugmbd as mbd
from joints import PointOnCurve

G, RADIUS, MASS = 9.81, 0.5, 0.7
SPLINE = 1e-7
"""Relative error of a quintic spline through 48 points of a circle: (2 pi / 48)^6 / 720 is 7e-9; forces have two orders less."""


def circle(n=48):
    angle = np.linspace(0.0, 2.0 * np.pi, n, endpoint=False)
    return np.stack([RADIUS * np.sin(angle), 0.0 * angle, -RADIUS * np.cos(angle)], axis=1)


def bead(curve, k, *, v=(0, 0, 0), **how):
    """A bead at point k of a curve of the ground."""
    system = mbd.System("bead", gravity=(0, 0, -G))
    body = system.add(mbd.Body("bead", MASS, (0.01, 0.01, 0.01), r=curve[k], v=v))
    system.add(PointOnCurve("wire", system.ground, body, point=curve[k], curve=curve, **how))
    return system


@pytest.mark.slow
@pytest.mark.parametrize("speed", [0.0, 5.5])
def test_a_bead_on_a_circle_is_a_pendulum_through_any_number_of_turns(speed):
    k = 8  # 60 degrees
    curve = circle()
    tangent = np.array([np.cos(np.pi / 3.0), 0.0, np.sin(np.pi / 3.0)])
    result = mbd.simulate(bead(curve, k, v=speed * tangent, closed=True), 1.5, h=2e-3, project_velocity=True)
    exact = solve_ivp(
        lambda _, y: (y[1], -G / RADIUS * np.sin(y[0])),
        (0, 1.5),
        (np.pi / 3.0, speed / RADIUS),
        rtol=1e-12,
        atol=1e-13,
        t_eval=result.t,
    ).y
    place = RADIUS * np.stack([np.sin(exact[0]), -np.cos(exact[0])], axis=1)
    np.testing.assert_allclose(result["bead"].r[:, ::2], place, atol=1e2 * SPLINE)
    assert (exact[0, -1] > 2.0 * np.pi) == (speed > 0.0)
    assert np.abs(result.energy().drift).max() < 1e-6
    # the force is normal: m (v^2 / R + g cos) towards the centre
    push = MASS * (RADIUS * exact[1] ** 2 + G * np.cos(exact[0]))
    found = -np.einsum("ti,ti->t", result.reaction("wire", on="bead").force, result["bead"].r) / RADIUS
    np.testing.assert_allclose(found, push, atol=1e3 * SPLINE * np.abs(push).max())


def helix(n=97):
    angle = np.linspace(0.0, 4.0 * np.pi, n)
    return np.stack([RADIUS * np.cos(angle), RADIUS * np.sin(angle), 2.0 - 0.1 * angle], axis=1)


@pytest.mark.slow
def test_a_bead_on_a_helix_slides_as_on_a_slope_and_its_end_is_an_error():
    result = mbd.simulate(bead(helix(), 4), 1.0, h=2e-3)
    a = -G * 0.1**2 / (RADIUS**2 + 0.1**2)
    np.testing.assert_allclose(result["bead"].r[:, 2], helix()[4, 2] + 0.5 * a * result.t**2, atol=1e2 * SPLINE)
    with pytest.raises(
        mbd.SimulationError, match=r"'wire'.*the point leaves the curve, which is 6\.\d+ m long, by .* m at its end"
    ):
        mbd.simulate(bead(helix(), 90), 3.0, h=1e-2)


def figure_eight():
    angle = np.linspace(0.0, 2.0 * np.pi, 40, endpoint=False)
    return np.stack([np.sin(angle), np.sin(2.0 * angle), 0.0 * angle], axis=1)


def flat():
    system = mbd.System("flat")
    body = system.add(mbd.Body("bead", 1.0, (1, 1, 1)))
    system.add(PointOnCurve("flat", system.ground, body, point=(0, 0, 0), curve=[(0.0, 1.0)] * 7))
    return system


FAULTS = {
    r"curve meets itself near \(": lambda: bead(figure_eight(), 3, closed=True),
    "curve has 5 points": lambda: bead(circle()[:5], 1),
    "curve has the same point twice": lambda: bead(np.repeat(circle(), 2, axis=0), 1),
    "curve is not a table of points": flat,
}


@pytest.mark.slow
@pytest.mark.parametrize("gap", [0.0, 1e-17, 2.5e-16, 1e-12, 1e-8])
def test_a_curve_whose_end_is_its_beginning_by_rounding_is_the_same_closed_curve(gap):
    """The last point repeats the first one to the digits of a file; an open curve like that is told what to give."""
    exact = bead(circle(), 3, closed=True)
    repeated = np.vstack([circle(), circle()[:1] + [gap, 0.0, 0.0]])
    runs = [mbd.simulate(system, 0.1, h=0.01) for system in (exact, bead(repeated, 3, closed=True))]
    np.testing.assert_array_equal(runs[1]["bead"].r, runs[0]["bead"].r)
    with pytest.raises(mbd.ModelError, match=r"joint 'wire'.*ends where it begins.*closed=True"):
        bead(repeated, 3).compile()


@pytest.mark.parametrize("text", FAULTS)
def test_what_is_no_curve_is_a_fault(text):
    with pytest.raises(mbd.ModelError, match=text):
        FAULTS[text]().compile()


def test_a_point_beside_its_curve_is_a_gap_with_a_length():
    system = mbd.System("beside")
    body = system.add(mbd.Body("bead", 1.0, (1, 1, 1)))
    system.add(PointOnCurve("wire", system.ground, body, point=(0.6, 0, 0), curve=circle(), closed=True))
    with pytest.raises(mbd.ModelError, match=r"joint 'wire': its points are 0\.1 m off the line on which they must stay"):
        system.compile()


def test_the_end_of_a_curve_is_named_where_the_error_control_fails_behind_it():
    """Implicit steps go on behind the end of the curve, until no step is short enough there: the end is the cause."""
    with pytest.raises(mbd.SimulationError, match=r"'wire'.*the point leaves the curve") as found:
        mbd.simulate(bead(helix(40), 20), 5.0, integrator=mbd.BDF(rtol=1e-6, atol=1e-7))
    assert found.value.result.t[-1] < 5.0
