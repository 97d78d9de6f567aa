"""Driven mechanisms against closed forms: the universal joint between two shafts, and the RSSR linkage.  1e-12: projected positions."""

from __future__ import annotations

import numpy as np
import pytest

import haugmbd as mbd
from haugmbd.math.euler_parameters import exponential
from joints import RJ, UJ, Distance, Parallel, RotationDriver


def turned_about(result: mbd.Result, body: str, axis: np.ndarray) -> np.ndarray:
    """The angle of a body about a fixed axis [rad], through all turns, 0 at the modelled pose p = (1, 0, 0, 0)."""
    p = result[body].p
    return np.unwrap(2.0 * np.arctan2(p[:, 1:] @ axis, p[:, 0]))


@pytest.mark.slow
@pytest.mark.parametrize("beta_deg", [10, 30, 45, 60])
def test_hooke_joint(table, published, beta_deg):
    """Shaft 1 turns once about z, shaft 2 is held parallel to an axis at the angle beta; the pin of shaft 1 starts between the shafts."""
    reference = table("hooke_joint")
    reference = reference[reference["beta_deg"] == beta_deg]
    assert len(reference) == 25
    beta = np.deg2rad(beta_deg)
    z, z_out = np.array([0.0, 0.0, 1.0]), np.array([0.0, -np.sin(beta), np.cos(beta)])
    system = mbd.System("Hooke joint")
    first, second = (system.add(mbd.Body(name, 1.0, (0.1, 0.2, 0.25))) for name in ("first", "second"))
    bearing = system.add(RJ("bearing", system.ground, first, point=(0, 0, 0), axis=z))
    system.add(UJ("cross", first, second, point=(0, 0, 0), axis_i=(0, 1, 0), axis_j=(1, 0, 0)))
    system.add(Parallel("holder", system.ground, second, axis=z_out))
    system.add(RotationDriver("drive", bearing, lambda t: 1.0 * t))
    h = np.deg2rad(15.0) / 20.0
    result = mbd.simulate(system, 480 * h, h=h, store_every=20, project_velocity=True)
    np.testing.assert_allclose(result.t, np.deg2rad(reference["input_deg"]), atol=1e-12)
    np.testing.assert_allclose(turned_about(result, "first", z), result.t, rtol=0.0, atol=1e-12)
    out = turned_about(result, "second", z_out)
    published(f"Hooke's joint at {beta_deg} degrees", "angle of the output [rad]", out, np.deg2rad(reference["output_deg"]), 1e-12)
    np.testing.assert_allclose(result["second"].omega_bar @ z_out, reference["w_out/w_in"], rtol=0.0, atol=1e-11)
    np.testing.assert_allclose(result.omega_bar_dot[:, 2] @ z_out, reference["alpha_out/w_in^2"], rtol=0.0, atol=1e-10)


@pytest.mark.parametrize("branch", [1, 2])
def test_rssr(table, parameters, published, branch):
    """Both ways to assemble the linkage: the output crank against the closed form over a full turn of the input crank."""
    reference, given = table("rssr"), parameters("spatial_analytic")["rssr"]
    C, tilt = np.array(given["C"]), np.deg2rad(70.0)
    ex, ey = np.array([1.0, 0.0, 0.0]), np.array([0.0, np.cos(tilt), np.sin(tilt)])
    axis = np.cross(ex, ey)
    psi = np.unwrap(np.deg2rad(reference[f"psi{branch}_deg"]))
    system = mbd.System("RSSR")
    input_crank = system.add(mbd.Body("input", 1.0, (0.1, 0.2, 0.25)))
    output_crank = system.add(mbd.Body("output", 1.0, (0.1, 0.2, 0.25), r=C))
    pin_out = C + given["r3"] * (np.cos(psi[0]) * ex + np.sin(psi[0]) * ey)
    bearing = system.add(RJ("A", system.ground, input_crank, point=(0, 0, 0), axis=(0, 0, 1)))
    system.add(RJ("B", system.ground, output_crank, point=C, axis=axis))
    system.add(Distance("coupler", input_crank, output_crank, point_i=(given["r1"], 0, 0), point_j=pin_out, distance=given["l"]))
    system.add(RotationDriver("drive", bearing, lambda t: 1.0 * t))
    h = np.deg2rad(10.0) / 20.0
    result = mbd.simulate(system, 720 * h, h=h, store_every=20, project_velocity=True)
    np.testing.assert_allclose(result.t, np.deg2rad(reference["theta_deg"]), atol=1e-12)
    out = turned_about(result, "output", axis)
    published(f"RSSR linkage, assembly {branch}", "angle of the output [rad]", out, psi - psi[0], 1e-12)
    np.testing.assert_allclose(result["output"].omega_bar @ axis, reference[f"dpsi{branch}/dtheta"], rtol=0.0, atol=1e-11)


def test_exponential_is_the_turn_that_is_measured():
    """The measure of these tests itself: 2 atan2(e . axis, e0) of exp(axis angle / 2) is the angle."""
    axis = np.array([0.0, -0.6, 0.8])
    p = exponential(axis * 0.7)
    np.testing.assert_allclose(2.0 * np.arctan2(p[1:] @ axis, p[0]), 0.7, rtol=1e-15)
