"""Generalized-alpha: its order, what it keeps, stiff springs, and agreement with the explicit integrators."""

from __future__ import annotations

import numpy as np
import pytest

import haugmbd as mbd
from haugmbd.gallery import double_pendulum, four_bar, heavy_top
from joints import RJ, TJ, Distance

FINE = {"rtol": 1e-11, "atol": 1e-12}
ORDER_TOL = 0.15
KEPT = 1e-9
"""Of Phi: Newton's last correction is at most 1e-9 m, and it squares what is left."""


def alpha(system, t_end, h, **options):
    return mbd.simulate(system, t_end, integrator=mbd.GeneralizedAlpha(h, **options))


@pytest.mark.slow
@pytest.mark.parametrize(("gallery", "t_end", "h"), [(double_pendulum, 0.5, 4e-3), (heavy_top, 0.05, 5e-4), (four_bar, 0.5, 4e-3)])
def test_the_order_is_two(gallery, t_end, h):
    system = gallery()
    exact = mbd.simulate(system, t_end, **FINE)
    errors = []
    for step in (h, h / 2, h / 4):
        result = alpha(system, t_end, step)
        errors.append([abs(result.r[-1] - exact.r[-1]).max(), abs(result.v[-1] - exact.v[-1]).max()])
        assert abs(result.violation("position")).max() < KEPT
    orders = np.log2(np.array(errors[:-1]) / np.array(errors[1:]))
    assert orders[-1] == pytest.approx([2.0, 2.0], abs=ORDER_TOL)


@pytest.mark.parametrize("rho", [0.0, 0.5, 0.9])
def test_every_damping_converges_to_the_same_motion(rho):
    system = double_pendulum()
    exact = mbd.simulate(system, 0.3, **FINE).r[-1]
    assert alpha(system, 0.3, 2e-4, rho=rho).r[-1] == pytest.approx(exact, abs=1e-6)


def slider(k, c, pulled):
    """A mass of 2 kg on a rail, held to the ground by a spring and damper of 1 m, pulled by some [m]."""
    system = mbd.System("slider", gravity=(0, 0, -9.81))
    box = system.add(mbd.Body("box", 2.0, (0.1, 0.1, 0.1), r=(1 + pulled, 0, 0)))
    system.add(TJ("rail", system.ground, box, point=(0, 0, 0), axis=(1, 0, 0)))
    system.add(mbd.TSDA("spring", system.ground, box, point_i=(0, 0, 0), point_j=(1 + pulled, 0, 0), k=k, c=c, l0=1.0))
    return system


def test_a_stiff_spring_takes_steps_that_no_explicit_method_could():
    k, m, h = 8e9, 2.0, 1e-3  # omega h = 63
    system = slider(k, 4e5, 1e-6)
    result = alpha(system, 0.5, h, rho=0.2)
    assert result["box"].r[-1, 0] == pytest.approx(1.0, abs=1e-12)
    assert result.counters.projections < 4 * result.counters.steps
    assert np.sqrt(k / m) * h > 60.0


def test_a_slow_spring_moves_as_its_closed_form():
    k, c, m = 50.0, 1.0, 2.0
    system = slider(k, c, 0.1)
    result = alpha(system, 2.0, 1e-3)
    d, w = c / (2 * m), np.sqrt(k / m - (c / (2 * m)) ** 2)
    expected = 1.0 + 0.1 * np.exp(-d * 2.0) * (np.cos(2.0 * w) + d / w * np.sin(2.0 * w))
    assert result["box"].r[-1, 0] == pytest.approx(expected, abs=2e-6)


def test_springs_between_bodies_that_no_joint_connects_have_their_block():
    """Three stiffly tied bodies fall as one: the ties need fill that no joint brings."""
    system = mbd.System("tied", gravity=(0, 0, -9.81))
    bodies = [system.add(mbd.Body(f"b{k}", 1.0, (1.0, 1.0, 1.0), r=(np.cos(2.1 * k), np.sin(2.1 * k), 0))) for k in range(3)]
    for a, b in ((0, 1), (2, 1), (0, 2)):
        i, j = bodies[a], bodies[b]
        length = float(np.linalg.norm(i.r - j.r))
        system.add(mbd.TSDA(f"tie {a}{b}", i, j, point_i=i.r, point_j=j.r, k=1e8, c=1e3, l0=length))
    result = alpha(system, 0.2, 1e-3)
    assert result.r[-1, 1:, 2] == pytest.approx([-0.5 * 9.81 * 0.04] * 3, abs=1e-9)
    assert result.counters.projections < 4 * result.counters.steps


def test_a_stiff_rotational_spring_between_two_links():
    system = mbd.System("stiff hinge", gravity=(0, 0, -9.81))
    links = [system.add(mbd.Body(n, 1.0, (0.01, 0.1, 0.1), r=(x, 0, 0))) for n, x in (("a", 0.5), ("b", 1.5))]
    pin = system.add(RJ("pin", system.ground, links[0], point=(0, 0, 0), axis=(0, 1, 0)))
    hinge = system.add(RJ("hinge", links[0], links[1], point=(1, 0, 0), axis=(0, 1, 0)))
    system.add(mbd.RSDA("spring", hinge, k=1e7, c=1e3))
    result = alpha(system, 0.2, 1e-3)
    rigid = mbd.System("rigid", gravity=(0, 0, -9.81))
    bar = rigid.add(mbd.Body("bar", 2.0, (0.02, 0.7, 0.7), r=(1, 0, 0)))
    rigid.add(RJ("pin", rigid.ground, bar, point=(0, 0, 0), axis=(0, 1, 0)))
    expected = mbd.simulate(rigid, 0.2, **FINE)["bar"].r[-1]
    assert 0.5 * (result["a"].r[-1] + result["b"].r[-1]) == pytest.approx(expected, abs=1e-5)
    assert pin.name == "pin"


def test_a_dead_centre_says_so_and_keeps_the_result():
    """A rope from (0, 0, 1) winds the tip of a bar of 1 m away: from t = 1 s on it asks for more than the 2 m there are."""
    system = mbd.System("crane", gravity=(0, 0, -9.81))
    speed = (2.0 - np.sqrt(2.0)) * np.sqrt(2.0)
    bar = system.add(mbd.Body("bar", 1.0, (0.01, 0.1, 0.1), r=(0.5, 0, 0), v=(0, 0, -0.5 * speed), omega_bar=(0, speed, 0)))
    system.add(RJ("pin", system.ground, bar, point=(0, 0, 0), axis=(0, 1, 0)))
    reach = {"distance": lambda t: np.sqrt(2.0) + (2.0 - np.sqrt(2.0)) * t}
    system.add(Distance("rope", system.ground, bar, point_i=(0, 0, 1), point_j=(1, 0, 0), **reach))
    with pytest.raises(mbd.SingularKKTError, match="at t = 1 s: the rows of 'pin', 'rope'.*dead centre") as caught:
        alpha(system, 2.0, 1e-2)
    assert 0.9 < caught.value.result.t[-1] < 1.01


def test_a_force_that_jumps_says_that_parts_of_a_step_do_not_converge_either():
    """A sign of the velocity has no solution where it jumps but none of the two values: 0.5 m/s, after 0.02 s."""
    system = slider(0.0, 0.0, 0.0)
    body = system.bodies[1]
    system.add(mbd.PointForce("friction", body, force=lambda t, r, p, v, omega_bar: (-50.0 * np.sign(v[0] - 0.5), 0.0, 0.0)))
    with pytest.raises(mbd.SimulationError, match=r"Newton's iteration .* did not converge, nor in parts.*Reduce h") as caught:
        alpha(system, 1.0, 1e-2)
    assert caught.value.result.t[-1] == pytest.approx(0.02, abs=0.01)


def test_a_step_too_large_for_newton_is_taken_in_parts():
    """3 rad of spin a step: some steps do not converge, and are halved until they do."""
    system = heavy_top()
    with pytest.warns(mbd.RunWarning, match=r"'top' by 3 rad"):
        result = alpha(system, 0.2, 0.02)
    assert result.counters.rejected > 0
    np.testing.assert_allclose(result.t, np.arange(11) * 0.02, atol=1e-15)
    assert abs(result.violation("position")).max() < KEPT


def test_a_stabilization_has_no_place_in_it():
    with pytest.raises(mbd.UsageError, match=r"GeneralizedAlpha fulfils the constraints.*leave out stabilization=Baumgarte"):
        mbd.simulate(heavy_top(), 0.1, integrator=mbd.GeneralizedAlpha(1e-3), stabilization=mbd.Baumgarte(1.0, 1.0))
