"""The spatial slider-crank (Haug 1989, sec. 12.2), free and driven, against its minimal-coordinate equation."""

from __future__ import annotations

import numpy as np
import pytest

import haugmbd as mbd
from haugmbd.gallery import slider_crank
from haugmbd.gallery.spatial_linkages import crank_angle
from haugmbd.math.euler_parameters import rotation_matrix


@pytest.mark.slow
def test_free(table, published):
    reference = table("slidercrank3d_free_crankCOMatA")
    fine = np.union1d(reference["t"], np.linspace(0.0, 5.0, 501))
    result = mbd.simulate(slider_crank(), 5.0, rtol=1e-13, atol=1e-13, t_eval=fine)
    at = np.searchsorted(fine, reference["t"])
    theta, x = crank_angle(result)[at], result["slider"].r[at, 0]
    theta_dot = result["crank"].omega_bar[at, 0]
    first = reference["t"] <= 1.0 + 1e-12
    for found, name in ((theta, "theta"), (x, "x_slider"), (theta_dot, "theta_dot"), (result["slider"].v[at, 0], "x_dot")):
        problem = "Haug (1989) sec. 12.2, spatial slider-crank, free"
        published(problem, f"{name} to 1 s", found[first], reference[name][first], 1e-8)
        published(problem, f"{name} to 5 s", found, reference[name], 2e-7)
    np.testing.assert_allclose(np.interp(1.0, fine, crank_angle(result)), 10.484073838524, rtol=0.0, atol=1e-8)
    np.testing.assert_allclose(x[-1], 0.254650085467, rtol=0.0, atol=1e-8)
    rod = result["rod"]
    omega = np.einsum("tij,tj->ti", rotation_matrix(rod.p[at]), rod.omega_bar[at])
    expected = np.column_stack([reference[name] for name in ("rod_wx", "rod_wy", "rod_wz")])
    assert np.abs(omega - expected)[first].max() < 1e-8
    theta_ddot = result.omega_bar_dot[at, 1, 0]
    assert np.abs(theta_ddot - reference["theta_ddot"])[first].max() < 1e-8 * np.abs(reference["theta_ddot"]).max()


def test_driven(table, published):
    reference = table("slidercrank3d_driven_crankCOMatA")
    result = mbd.simulate(slider_crank(driven=True), 1.0, h=0.005, store_every=8)
    np.testing.assert_allclose(result.t, reference["t"], atol=1e-13)
    slider = result["slider"]
    np.testing.assert_allclose(crank_angle(result), reference["theta"], rtol=0.0, atol=1e-12)
    problem = "Haug (1989) sec. 12.2, spatial slider-crank, driven"
    published(problem, "place of the slider [m]", slider.r[:, 0], reference["x_slider"], 1e-12)
    np.testing.assert_allclose(slider.v[:, 0], reference["x_dot"], rtol=0.0, atol=1e-11)
    np.testing.assert_allclose(result.v_dot[:, 3, 0], reference["x_ddot"], rtol=0.0, atol=1e-10)
    torque = result.lam[:, result.model.joints["drive"].rows[0]]
    sign = np.sign(torque[0] * reference["driving_torque_x"][0])
    np.testing.assert_allclose(sign * torque, reference["driving_torque_x"], rtol=0.0, atol=1e-10)
    published(problem, "torque of the drive [N m]", result.reaction("drive").torque[:, 0], reference["driving_torque_x"], 1e-10)
