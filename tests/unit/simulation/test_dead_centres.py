"""A driver that asks for a motion beyond a dead centre: every method family and stabilization names the position, as kinematics does."""

import numpy as np
import pytest

import haugmbd as mbd
from joints import CJ, RJ, SJ, RotationDriver

CRANK, COUPLER, ROCKER, ANGLE = 0.3, 0.9, 0.6, 1.2


def driven_rocker(rate):
    """A crank-rocker that is driven by its rocker: it stops where crank and coupler are in line."""
    left, right, a = np.zeros(3), np.array([1.0, 0.0, 0.0]), CRANK * np.array([np.cos(ANGLE), 0.0, np.sin(ANGLE)])
    d = np.linalg.norm(right - a)
    beta = np.arccos((COUPLER**2 + d**2 - ROCKER**2) / (2.0 * COUPLER * d))
    u = (right - a) / d
    b = a + COUPLER * (np.cos(beta) * u + np.sin(beta) * np.array([-u[2], 0.0, u[0]]))
    system = mbd.System("four-bar")
    crank, coupler, rocker = (
        system.add(mbd.Body(name, mass=1.0, J_bar=(0.01, 0.02, 0.015), r=0.5 * (p + q)))
        for name, p, q in (("crank", left, a), ("coupler", a, b), ("rocker", b, right))
    )
    system.add(RJ("left", system.ground, crank, point=left, axis=(0, 1, 0)))
    system.add(CJ("low", crank, coupler, point=a, axis=(0, 1, 0)))
    system.add(SJ("high", coupler, rocker, point=b))
    pin = system.add(RJ("right", system.ground, rocker, point=right, axis=(0, 1, 0)))
    system.add(RotationDriver("drive", pin, lambda t: rate * t))
    # in line: the crank's pin and the rocker's end are COUPLER + CRANK, or COUPLER - CRANK, apart
    reach = COUPLER - CRANK if rate < 0.0 else COUPLER + CRANK
    gamma = np.arccos((1.0 + ROCKER**2 - reach**2) / (2.0 * ROCKER))
    return system, abs(np.pi - gamma - np.arctan2(b[2], b[0] - 1.0))


METHODS = {
    "RK4": {"h": 1e-2},
    "long steps": {"h": 5e-2},
    "no stabilization": {"h": 1e-2, "stabilization": None},
    "no stabilization, short steps": {"h": 1e-3, "stabilization": None},
    "Baumgarte": {"h": 1e-2, "stabilization": mbd.Baumgarte(20, 20)},
    "Heun": {"integrator": mbd.Heun(h=1e-2), "stabilization": None},
    "semi-implicit Euler": {"integrator": mbd.SemiImplicitEuler(h=1e-2)},
    "generalized alpha": {"integrator": mbd.GeneralizedAlpha(h=1e-2)},
    "HHT": {"integrator": mbd.HHT(h=1e-2)},
    "BDF": {"integrator": mbd.BDF(h=1e-2)},
    "Radau": {"integrator": mbd.RadauIIA(h=1e-2)},
    "RATTLE": {"integrator": mbd.RATTLE(h=1e-2)},
    "RKMK4": {"integrator": mbd.RKMK4(h=1e-2)},
    "HEM4": {"integrator": mbd.HEM4(h=1e-2)},
    "adaptive": {"rtol": 1e-6},
}


@pytest.mark.slow
@pytest.mark.parametrize("rate", [-1.0, 1.0])
@pytest.mark.parametrize("name", METHODS)
def test_a_dead_centre_is_named(name, rate):
    system, t = driven_rocker(rate)
    with pytest.raises(mbd.SimulationError, match=r"'drive'.* dependent|depend on") as raised:
        mbd.simulate(system, 1.5, project_velocity=True, **METHODS[name])
    assert "singular position" in str(raised.value).lower()
    assert raised.value.result is not None
    assert raised.value.result.t[-1] <= t + 0.1


@pytest.mark.parametrize("rate", [-1.0, 1.0])
def test_kinematics_names_the_same_time(rate):
    system, t = driven_rocker(rate)
    with pytest.raises(mbd.SimulationError, match="singular position") as raised:
        mbd.kinematics(system, np.linspace(0.0, 1.5, 31))
    assert f"{t:.3f}"[:4] in str(raised.value)


def test_a_step_that_is_too_large_for_a_regular_motion_is_no_singular_position():
    system = mbd.System("stiff", gravity=(0, 0, 0))
    body = system.add(mbd.Body("body", mass=1.0, J_bar=(1, 1, 1), r=(1, 0, 0), v=(0, 0, 1.0)))
    system.add(mbd.TSDA("spring", system.ground, body, point_i=(0, 0, 0), point_j=(1, 0, 0), k=1e12, c=0.0, l0=0.5))
    with pytest.raises(mbd.SimulationError) as raised:
        mbd.simulate(system, 1.0, h=1e-2)
    assert "singular position" not in str(raised.value)
