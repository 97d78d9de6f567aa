"""Exact rationals (Routh) of a straight chain of rods struck at its tip, and the closed form of a rod that falls on a smooth plane."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

import haugmbd as mbd
from joints import RJ, SJ

REFERENCE = json.loads((Path(__file__).parents[3] / "reference/data/impact.json").read_text())
EXACT = 1e-13  # relative: rounding


def straight_chain(n, *, free, revolute):
    """n uniform rods of 1 kg and 1 m along x.  A rod has no inertia about its own axis: revolute joints hold it, spherical ones do not."""
    system = mbd.System("chain")
    bodies = [system.ground]
    axial = 0.0 if revolute and not free else 1e-3
    for k in range(n):
        body = system.add(mbd.Body(f"rod {k + 1}", 1.0, (axial, 1 / 12, 1 / 12), r=(k + 0.5, 0, 0)))
        if k or not free:
            at = {"point": (k, 0, 0), **({"axis": (0, 0, 1)} if revolute else {})}
            system.add((RJ if revolute else SJ)(f"joint {k + 1}", bodies[-1], body, **at))
        bodies.append(body)
    return system


@pytest.mark.slow
@pytest.mark.parametrize("revolute", [True, False])
@pytest.mark.parametrize("free", [True, False])
@pytest.mark.parametrize("n", [1, 2, 3, 5, 10])
def test_straight_chain(n, free, revolute):
    expected = REFERENCE[f"straight_chain_n{n}_{'free' if free else 'pinned'}"]
    omega, joints = ([float(Fraction(x)) for x in expected[key]] for key in ("omega", "joint_impulse_on_rod_k_from_previous"))
    system = straight_chain(n, free=free, revolute=revolute)
    blow = mbd.PointImpulse("blow", system.bodies[-1], point=(n, 0, 0), impulse=(0, 1, 0))
    found = mbd.impulse(system.compile(), applied=[blow])
    np.testing.assert_allclose(found.omega_bar[1:, 2], omega, rtol=EXACT)
    tip = found.v[-1] + np.cross(found.omega_bar[-1], (0.5, 0, 0))
    assert tip[1] == pytest.approx(expected["tip_velocity_float"], rel=EXACT)
    assert tip[1] == pytest.approx(2 * found.energy_change, rel=EXACT)  # the work of the blow
    start = found.v[1] - np.cross(found.omega_bar[1], (0.5, 0, 0))
    assert start[1] == pytest.approx(float(Fraction(expected["y0dot"])), rel=EXACT, abs=1e-15)
    for k in range(2 if free else 1, n + 1):
        on_rod = found.joint(f"joint {k}")
        assert on_rod.body == f"rod {k}"
        np.testing.assert_allclose(on_rod.force, (0, joints[k - 1], 0), rtol=EXACT, atol=1e-15)
        np.testing.assert_allclose(on_rod.torque, 0.0, atol=1e-15)
        np.testing.assert_allclose(on_rod.point, (k - 1, 0, 0), atol=1e-15)
    assert found.messages == ()


@pytest.mark.slow
@pytest.mark.parametrize("e", [0.0, 0.6, 1.0])
@pytest.mark.parametrize("theta", [0.0, 0.3, 1.2, np.pi / 2])
def test_rod_on_a_smooth_plane(e, theta):
    """A rod of length 2 a, inclined by theta to the plane, comes down at speed v."""
    m, a, v = 1.3, 0.7, 2.1
    c, s = np.cos(theta), np.sin(theta)
    system = mbd.System("rod")
    p = (np.cos(theta / 2), 0, np.sin(theta / 2), 0)  # about y: the end at -a e_x goes up with theta, the end at +a e_x goes down
    body = mbd.Body("rod", m, (1e-4, m * a * a / 3, m * a * a / 3), r=(0, 0, a * s), p=p, v=(0, 0, -v))
    rod = system.add(body)
    floor = mbd.Contact("floor", system.ground, rod, point=(a * c, 0, 0), normal=(0, 0, 2), restitution=e)
    found = mbd.impulse(system.compile(), contacts=[floor])
    P, spin = m * v * (1 + e) / (1 + 3 * c * c), 3 * v * (1 + e) / a
    assert found.normal["floor"] == pytest.approx(P, rel=EXACT)
    assert found.omega_bar[1, 1] == pytest.approx(-spin * c / (1 + 3 * c * c), rel=EXACT, abs=EXACT * spin)
    assert found.v[1, 2] == pytest.approx(P / m - v, rel=EXACT, abs=EXACT * v)
    assert floor.gap_rate(system.compile(), found.state) == pytest.approx(e * v, rel=EXACT, abs=EXACT * v)
