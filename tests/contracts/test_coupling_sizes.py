"""Ratios, radii, pitches and coefficients that double precision cannot hold beside one another are refused, with the numbers."""

from __future__ import annotations

import numpy as np
import pytest

import haugmbd as mbd
from haugmbd import Motor
from joints import CJ, RJ, TJ, Belt, CoordinateFunction, Coupling, Gear, RackPinion, Screw


def arms(cls):
    """Two bodies, the second on a joint of this class."""
    system = mbd.System("arms", gravity=(0.0, -9.81, 1.0))
    a = system.add(mbd.Body("a", 1.0, (0.1, 0.2, 0.3), r=(0.5, 0, 0)))
    b = system.add(mbd.Body("b", 1.0, (0.1, 0.2, 0.3), r=(1.5, 0, 0.2)))
    first = system.add(RJ("first", system.ground, a, point=(0, 0, 0), axis=(0, 0, 1)))
    return system, first, system.add(cls("second", a, b, point=(1, 0, 0), axis=(0, 0, 1)))


def side_by_side(r_a, r_b):
    """Radii of this ratio, of pulleys whose axes are 1 m apart."""
    return tuple(np.array([r_a, r_b]) / max(r_a, r_b))


PARTS = {
    "Motor": (RJ, lambda a, b, x: Motor("part", a, torque=1.0, ratio=x)),
    "Motor with a rotor": (RJ, lambda a, b, x: Motor("part", a, torque=1.0, ratio=x, rotor_inertia=1e-3)),
    "Gear": (RJ, lambda a, b, x: Gear("part", a, b, ratio=x)),
    "Belt": (RJ, lambda a, b, x: Belt("part", a, b, radii=side_by_side(abs(x), 1.0))),
    "Belt, second radius": (RJ, lambda a, b, x: Belt("part", a, b, radii=side_by_side(1.0, abs(x)))),
    "RackPinion": (TJ, lambda a, b, x: RackPinion("part", a, b, radius=x)),
    "Screw": (CJ, lambda a, b, x: Screw("part", b, pitch=x)),
    "Coupling": (RJ, lambda a, b, x: Coupling("part", {a: 1.0, b: x})),
}
TOO_LARGE = (1e14, -1e30, 1e200, -1e308)


@pytest.mark.slow
@pytest.mark.parametrize("solver", [None, "multifrontal"])
@pytest.mark.parametrize("part", PARTS)
def test_a_ratio_beyond_twelve_digits_is_refused(part, solver):
    """`Motor(ratio=1e200)` ended in a ValueError in the search for the rank; ratios of 1e30 locked a joint in silence."""
    cls, make = PARTS[part]
    for size in TOO_LARGE:
        for x in (size, 1.0 / size):
            system, a, b = arms(cls)
            system.add(make(a, b, x))
            with pytest.raises(mbd.ModelError, match=r"(?s)has 1 fault: .*'part'.*1e[+-]?\d+.*(Check|check)"):
                system.compile(solver=solver)


@pytest.mark.slow
@pytest.mark.parametrize("part", PARTS)
def test_ratios_within_eleven_digits_run(part):
    cls, make = PARTS[part]
    for x in (1e-11, 1e11):
        system, a, b = arms(cls)
        system.add(make(a, b, x))
        assert np.isfinite(mbd.accelerations(system.compile()).v_dot).all()


def test_a_common_factor_beyond_double_precision_is_refused():
    for c in (1e200, 1e-200):
        system, a, b = arms(RJ)
        system.add(Coupling("part", {a: c, b: -c}))
        with pytest.raises(mbd.ModelError, match="Divide all of them by a common factor"):
            system.compile()
    system, a, b = arms(RJ)
    system.add(Coupling("part", {a: 1e90, b: -1e90}))
    same, a, b = arms(RJ)
    same.add(Coupling("part", {a: 1.0, b: -1.0}))
    found, expected = (mbd.accelerations(each.compile()).v_dot for each in (system, same))
    np.testing.assert_allclose(found, expected, rtol=0.0, atol=1e-12)


def test_a_slope_beyond_twelve_digits_is_refused():
    system, a, b = arms(RJ)
    system.add(CoordinateFunction("part", a, b, lambda q: 1e200 * q))
    with pytest.raises(mbd.ModelError, match=r"the slope of f is 1e\+200 at first.angle = 0 rad, more than 1e\+12"):
        system.compile()
