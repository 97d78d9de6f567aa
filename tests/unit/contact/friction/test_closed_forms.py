"""Contact with dry friction against closed forms: motion, times of switches, forces, and the ledger of energy."""

from itertools import pairwise

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import haugmbd as mbd
import joints

G = 9.81
TIGHT = 1e-9
"""Relative to the values: adaptive runs at rtol = 1e-9 of motions that are polynomials, or nearly."""
LEDGER = 1e-9
"""[J] Drift of the energy in motions of some joule; rounding where the motion is a polynomial."""


def on_plane(shape, mu, tilt=0.0, *, mass=1.0, J=(0.01, 0.01, 0.01), e=0.0, **start):
    """Return a body on a plane that is tilted about -y: gravity has a component along x."""
    system = mbd.System("body on a plane", gravity=(G * np.sin(tilt), 0, -G * np.cos(tilt)))
    body = system.add(mbd.Body("body", mass, J, **start))
    system.add(mbd.Contact("floor", system.ground, body, shape_i=mbd.Plane(), shape_j=shape, mu=mu, restitution=e))
    return system


def run(system, t_end, **more):
    result = mbd.simulate(system, t_end, **{"rtol": 1e-9, **more})
    assert result.check_contacts().worst <= 1e-10
    return result


def when(result, name):
    return next(event.t for event in result.events if event.name == name)


BOX = mbd.Box((0.2, 0.2, 0.1))


@pytest.mark.slow
@pytest.mark.parametrize("more", [{}, {"t_eval": [0.0, 0.21, 0.6]}])
def test_a_block_stops_and_friction_takes_mu_m_g_s(more):
    mu, v = 0.3, np.array([1.0, 0.5])
    result = run(on_plane(BOX, mu, r=(0, 0, 0.05), v=(*v, 0)), 0.6, **more)
    s = float(v @ v) / (2.0 * mu * G)
    np.testing.assert_allclose(result["body"].r[-1], (*(s * v / np.linalg.norm(v)), 0.05), rtol=0.0, atol=TIGHT)
    assert abs(when(result, "floor: sticks") - np.linalg.norm(v) / (mu * G)) <= TIGHT
    energy = result.energy()
    assert abs(energy.dissipated_work[-1] - mu * G * s) <= 1e-12
    assert np.abs(energy.drift).max() <= 1e-12


@pytest.mark.slow
def test_an_inelastic_impact_with_friction_is_in_the_ledger():
    """A box lands flat and slides on: m v_z^2 / 2 and the friction impulse mu m v_z in one instant."""
    result = run(on_plane(BOX, 0.3, r=(0, 0, 0.15), v=(1.0, 0, -1.0)), 0.15)
    (impact,) = result.impacts
    speed = float(np.sqrt(1.0 + 2.0 * G * 0.1))
    assert abs(impact.after.v[1][0] - (1.0 - 0.3 * speed)) <= TIGHT
    energy = result.energy()
    assert abs(impact.energy_lost - 0.5 * (speed**2 + 1.0 - (1.0 - 0.3 * speed) ** 2)) <= TIGHT
    assert np.abs(energy.drift).max() <= 1e-12
    assert energy.dissipated_work[-1] > impact.energy_lost


@pytest.mark.slow
@pytest.mark.parametrize("spin", [-15.0, -40.0])
def test_a_ball_with_backspin_rolls_after_two_sevenths(spin):
    """t = 2 (v - R w) / (7 mu g), v_end = (5 v + 2 R w) / 7: with much spin it comes back."""
    R, mu, v = 0.1, 0.2, 2.0
    ball = on_plane(mbd.Sphere(R), mu, J=(0.4 * R * R,) * 3, r=(0, 0, R), v=(v, 0, 0), omega_bar=(0, spin, 0))
    result = run(ball, 2.0)
    T, end = 2.0 * (v - R * spin) / (7.0 * mu * G), (5.0 * v + 2.0 * R * spin) / 7.0
    assert abs(when(result, "floor: sticks") - T) <= TIGHT
    assert abs(result["body"].v[-1, 0] - end) <= TIGHT
    assert abs(result["body"].r[-1, 0] - (v * T - 0.5 * mu * G * T * T + end * (2.0 - T))) <= TIGHT
    assert np.abs(result.energy().drift).max() <= LEDGER


@pytest.mark.slow
@pytest.mark.parametrize(("mu", "acceleration"), [(0.25, 2 / 3 * G * np.sin(0.5)), (0.1, G * (np.sin(0.5) - 0.1 * np.cos(0.5)))])
def test_a_cylinder_rolls_down_an_incline_up_to_3_mu(mu, acceleration):
    R, J = 0.1, (3 * 0.01 + 0.04) / 12
    cylinder = mbd.Cylinder(R, 0.2, axis=(0, 1, 0))
    result = run(on_plane(cylinder, mu, 0.5, J=(J, 0.5 * R * R, J), r=(0, 0, R)), 0.5)
    assert abs(result["body"].r[-1, 0] - 0.125 * acceleration) <= TIGHT


@pytest.mark.slow
def test_a_spinning_box_stops_on_its_four_corners():
    a, mu, spin = 0.2, 0.3, 10.0
    J, arm = a * a / 6.0, a / np.sqrt(2.0)
    result = run(on_plane(BOX, mu, J=((a * a + 0.01) / 12,) * 2 + (J,), r=(0, 0, 0.05), omega_bar=(0, 0, spin)), 0.25)
    T = spin * J / (mu * G * arm)
    assert abs(when(result, "floor: sticks") - T) <= TIGHT
    p = result["body"].p[-1]
    assert abs(2.0 * np.arctan2(p[3], p[0]) - 0.5 * spin * T) <= TIGHT


@pytest.mark.parametrize(("mu", "v"), [(0.1, 3.0), (0.5, 1.0)])
def test_a_sphere_that_strikes_at_an_angle_slips_or_grips(mu, v):
    """Friction impulse min(2 m v / 7, mu P)."""
    R, e, down = 0.1, 0.6, 2.0
    ball = on_plane(mbd.Sphere(R), mu, e=e, J=(0.4 * R * R,) * 3, r=(0, 0, 0.2), v=(v, 0, -down))
    ball.gravity = (0, 0, 0)
    result = run(ball, 0.1)
    P = min(2.0 / 7.0 * v, mu * down * (1.0 + e))
    np.testing.assert_allclose(result["body"].v[-1], (v - P, 0, e * down), rtol=0.0, atol=TIGHT)
    assert abs(result["body"].omega_bar[-1, 1] - 2.5 * P / R) <= 1e-8
    assert np.abs(result.energy().drift).max() <= 1e-12


@pytest.mark.slow
@pytest.mark.parametrize("locks", [True, False])
def test_a_wedge_locks_itself_above_tan_alpha(locks):
    """A block on a free wedge of mass 2: at rest for mu > tan(alpha), though nothing holds the wedge; else both slide apart."""
    alpha, m, M = np.deg2rad(20.0), 1.0, 2.0
    mu = 0.4 if locks else 0.3
    c, s = np.cos(alpha), np.sin(alpha)
    system = mbd.System("wedge", gravity=(0, 0, -G))
    wedge = system.add(mbd.Body("wedge", M, (1, 1, 1)))
    system.add(joints.TJ("rail", system.ground, wedge, point=(0, 0, 0), axis=(1, 0, 0)))
    block = system.add(mbd.Body("block", m, (0.01,) * 3, r=(0.05 * s, 0, 0.05 * c), p=(np.cos(alpha / 2), 0, np.sin(alpha / 2), 0)))
    system.add(mbd.Contact("face", wedge, block, shape_i=mbd.Plane(normal=(s, 0, c)), shape_j=BOX, mu=mu))
    result = run(system, 0.4)
    rows = [[m, m * c, mu * c - s], [0, -m * s, -c - mu * s], [M, 0, s - mu * c]]
    X, A, N = (0.0, 0.0, m * G * c) if locks else np.linalg.solve(rows, [0, -m * G, 0])
    assert abs(result["wedge"].r[-1, 0] - 0.08 * X) <= TIGHT
    assert abs(result["block"].r[-1, 0] - 0.05 * s - 0.08 * (X + A * c)) <= TIGHT
    assert abs(result.contact("face").normal_force[-1].sum() - N) <= 1e-8


@pytest.mark.slow
@pytest.mark.parametrize("push", [10.0, 30.0])
def test_a_pushed_stack_moves_as_one_up_to_the_limit_of_its_face(push):
    low, high = 0.2, 0.4
    system, box = mbd.System("stack", gravity=(0, 0, -G)), mbd.Box((0.4, 0.4, 0.1))
    a, b = (system.add(mbd.Body(name, 1.0, (0.02,) * 3, r=(0, 0, z))) for name, z in (("a", 0.05), ("b", 0.15)))
    system.add(mbd.Contact("floor", system.ground, a, shape_i=mbd.Plane(), shape_j=box, mu=low))
    system.add(mbd.Contact("face", a, b, shape_i=box, shape_j=box, mu=high))
    system.add(mbd.PointForce("push", a, point=(0, 0, 0.05), force=(push, 0, 0)))
    result = run(system, 0.1)
    together = 0.5 * (push - 2.0 * low * G)
    ends = [together] * 2 if together <= high * G else [push - (2.0 * low + high) * G, high * G]
    np.testing.assert_allclose([result[name].r[-1, 0] for name in "ab"], 0.005 * np.array(ends), rtol=0.0, atol=TIGHT)
    energy = result.energy()
    assert abs(energy.applied_work[-1] - push * 0.005 * ends[0]) <= LEDGER
    assert np.abs(energy.drift).max() <= LEDGER
    for one, after in pairwise(result.segments):
        assert one.t[-1] == after.t[0]  # nothing is left out between them


def table(edge, mu):
    """Return a table of 8 kg on four legs, its centre of mass in the middle, or right above two of them: the edge of tipping."""
    system, x = mbd.System("table", gravity=(0, 0, -G)), 0.5 if edge else 0.0
    body = system.add(mbd.Body("table", 8.0, (1.0, 1.0, 1.0), r=(x, 0, 0.7)))
    for k, (a, b) in enumerate(((0.5, 0.5), (0.5, -0.5), (-0.5, -0.5), (-0.5, 0.5))):
        leg = mbd.Sphere(0.0, center=(a - x, b, -0.7))
        system.add(mbd.Contact(f"leg {k}", system.ground, body, shape_i=mbd.Plane(), shape_j=leg, mu=mu))
    return system


@pytest.mark.slow
@pytest.mark.parametrize(("edge", "mu"), [(False, 0.0), (True, 0.0), (True, 0.5)])
def test_each_leg_of_a_table_carries_up_to_half_of_the_weight_and_at_the_edge_of_tipping_all_are_unique(edge, mu):
    result = run(table(edge, mu), 0.01, t_eval=[0.01])
    half = 4.0 * G
    for k in range(4):
        leg = result.contact(f"leg {k}")
        low, high = (float(one[-1, 0, 0]) for one in leg.bounds())
        ends = ((half, half) if k < 2 else (0.0, 0.0)) if edge else (0.0, half)
        np.testing.assert_allclose((low, high), ends, rtol=0.0, atol=1e-7)
        assert bool(leg.unique[-1, 0, 0]) == edge


@pytest.mark.slow
def test_a_ball_that_slips_around_a_pipe_has_friction_against_its_slip():
    """It slips through the bottom of the pipe, where its direction has turned by more than a right angle, to its first rolling."""
    R, a, m, mu, start = 0.6, 0.05, 0.3, 0.06, 1.1
    rho, J = R - a, 0.4 * m * a * a
    system = mbd.System("pipe", gravity=(0, 0, -G))
    ball = system.add(mbd.Body("ball", m, (J,) * 3, r=(rho * np.sin(start), 0, -rho * np.cos(start))))
    pipe = mbd.Cylinder(0.7, 3.0, inner_radius=R, axis=(0, 1, 0))
    system.add(mbd.Contact("wall", system.ground, ball, shape_i=pipe, shape_j=mbd.Sphere(a), mu=mu))
    result = run(system, 0.62)
    assert not result.events
    # th'' = -g sin(th) / rho + mu (g cos(th) / rho + th'^2),  J w' = -a mu N, from rest: the ball slips towards -th
    exact = solve_ivp(
        lambda t, q: (q[1], -G / rho * np.sin(q[0]) + mu * (G / rho * np.cos(q[0]) + q[1] ** 2)),
        (0.0, 0.62),
        (start, 0.0),
        rtol=1e-12,
        atol=1e-13,
        method="DOP853",
    )
    angle = exact.y[0, -1]
    np.testing.assert_allclose(result["ball"].r[-1], (rho * np.sin(angle), 0, -rho * np.cos(angle)), rtol=0.0, atol=1e-8)


@pytest.mark.slow
def test_a_sprung_box_on_a_belt_grazes_its_speed_once_a_turn():
    """x = mu m g / k + v / w sin w (t - t0): the slip begins slowly, as t^2, and ends at zero, where the force is at its limit again."""
    v, k, mu, T = 0.5, 40.0, 0.4, 1.5
    system = mbd.System("belt", gravity=(0, 0, -G))
    belt = system.add(mbd.Body("belt", 3.0, (1, 1, 1), v=(v, 0, 0)))
    rail = system.add(joints.TJ("rail", system.ground, belt, point=(0, 0, 0), axis=(1, 0, 0)))
    system.add(joints.TranslationDriver("drive", rail, mbd.Expression(f"{v} * t")))
    box = system.add(mbd.Body("box", 1.0, (0.01,) * 3, r=(0, 0, 0.05), v=(v, 0, 0)))
    system.add(mbd.Contact("face", belt, box, shape_i=mbd.Plane(), shape_j=mbd.Sphere(0.0, center=(0, 0, -0.05)), mu=mu))
    system.add(joints.Parallel("upright", system.ground, box, axis=(1, 0, 0)))
    system.add(joints.Perpendicular("level", system.ground, box, axis_i=(0, 1, 0), axis_j=(0, 0, 1)))
    system.add(mbd.TSDA("spring", system.ground, box, point_i=(-1, 0, 0.05), point_j=(0, 0, 0.05), k=k, l0=1.0))
    result = run(system, T)
    begins, w = mu * G / k / v, np.sqrt(k)
    assert abs(when(result, "face: slips") - begins) <= TIGHT
    assert abs(result["box"].r[-1, 0] - (mu * G / k + v / w * np.sin(w * (T - begins)))) <= 1e-8
    assert result.counters.steps < 800
