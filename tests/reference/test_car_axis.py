r"""Car axis of the IVP test set: two wheels on springs, held by two driven constraints; end point in quadruple precision.

    m x_l'' = (L0 - L_l) x_l / L_l + lam1 x_b + 2 lam2 (x_l - x_r)          m = eps^2 M / 2, springs of unit stiffness and length L0
    m y_l'' = (L0 - L_l) y_l / L_l + lam1 y_b + 2 lam2 (y_l - y_r) - m g
    x_l x_b + y_l y_b = 0,   (x_l - x_r)^2 + (y_l - y_r)^2 = L^2            y_b = r sin(w t),  x_b^2 + y_b^2 = L^2

The axle (x_b, y_b) is a bar of length L on a pin, turned by asin(y_b / L); x_l x_b + y_l y_b = 0 is DP2 between it and the left wheel.
Source: Schneider, Rentrop; test set for IVP solvers (deTestSet, Ex_car.f).
"""

from __future__ import annotations

import numpy as np
import pytest

import haugmbd as mbd
from haugmbd import TSDA
from joints import RJ, Distance, PointInPlane, RotationDriver


def car_axis(eps: float, M: float, L: float, L0: float, r: float, w: float, g: float) -> mbd.System:
    system = mbd.System("car axis", gravity=(0.0, -g, 0.0))
    m = eps**2 * M / 2.0
    rate = r * w / L
    ground = system.ground
    axle = system.add(mbd.Body("axle", 1.0, (1.0, 1.0, 1.0), omega_bar=(0, 0, rate)))
    left = system.add(mbd.Body("left", m, (m, m, m), r=(0.0, L0, 0.0), v=(-L0 / L, 0, 0)))
    right = system.add(mbd.Body("right", m, (m, m, m), r=(L, L0, 0.0), v=(-L0 / L, 0, 0)))
    pin = system.add(RJ("pin", ground, axle, point=(0, 0, 0), axis=(0, 0, 1)))
    system.add(RotationDriver("road", pin, lambda t: np.arcsin(r * np.sin(w * t) / L)))
    for wheel in (left, right):
        system.add(PointInPlane(f"plane of {wheel.name}", ground, wheel, point=wheel.r, normal=(0, 0, 1)))
    system.add(mbd.DP2(axle, (1, 0, 0), (0, 0, 0), left, (0, 0, 0), 0.0))
    system.add(Distance("body", left, right, point_i=left.r, point_j=right.r))
    system.add(TSDA("left spring", ground, left, point_i=(0, 0, 0), point_j=left.r, k=1.0, l0=L0))
    system.add(TSDA("right spring", axle, right, point_i=(L, 0, 0), point_j=right.r, k=1.0, l0=L0))
    return system


@pytest.mark.slow
def test_end_point(parameters, published):
    given = parameters("car_axis")["car_axis"]
    t_end = float(given["t_end"])
    # The last velocity is the stiffest number: its error is about 250 times the tolerance.
    result = mbd.simulate(car_axis(**given["params"]), t_end, rtol=3e-14, atol=3e-15, t_eval=[t_end])
    left, right = result["left"], result["right"]
    found = np.concatenate([left.r[-1, :2], right.r[-1, :2], left.v[-1, :2], right.v[-1, :2]])
    expected = np.array(given["y_end_quad"])
    published("IVP test set, car axis, 3 s", "places and velocities", found, expected[:8], 1e-11)
    rows = {label.kind: row for row, label in enumerate(result.model.labels)}
    lam = -result.lam[-1, [rows["DP2"], rows["D"]]]
    published("IVP test set, car axis, 3 s", "multipliers", lam, expected[8:], 1e-11)
