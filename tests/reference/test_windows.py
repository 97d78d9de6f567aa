"""N four-bar windows (IFToMM A02): planar revolutes, over-constrained in space, through the singular flat position again and again."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import haugmbd as mbd
from haugmbd import solids
from joints import RJ

TOL = 1e-6  # what a converged run should reach against the file
PLANE = (0.0, 1.0, 0.0)


def windows(n: int, *, phi: float = 0.0, speed: float = 1.0) -> mbd.System:
    """n + 1 uprights on the ground, n bars along their tops; `phi` from upright [rad], `speed` of the tops [m/s]."""
    system = mbd.System(f"{n} windows", gravity=(0.0, 0.0, -9.81))
    up, along = np.array([np.sin(phi), 0.0, np.cos(phi)]), np.array([np.cos(phi), 0.0, -np.sin(phi)])
    uprights = []
    for k in range(n + 1):
        foot = np.array([k, 0.0, 0.0])
        mass, J_bar = solids.rod(1.0, density=1.0, axis=up)
        motion = {"v": speed / 2 * along, "omega_bar": (0.0, speed, 0.0)}
        uprights.append(system.add(mbd.Body(f"upright {k}", mass, J_bar, r=foot + up / 2, **motion)))
        system.add(RJ(f"foot {k}", system.ground, uprights[k], point=foot, axis=PLANE))
    for k in range(n):
        top = np.array([k, 0.0, 0.0]) + up
        mass, J_bar = solids.rod(1.0, density=1.0, axis=(1, 0, 0))
        bar = system.add(mbd.Body(f"bar {k}", mass, J_bar, r=top + (0.5, 0, 0), v=speed * along))
        system.add(RJ(f"left {k}", uprights[k], bar, point=top, axis=PLANE))
        system.add(RJ(f"right {k}", bar, uprights[k + 1], point=top + (1, 0, 0), axis=PLANE))
    return system


@pytest.mark.parametrize("n", [1, 2])
@pytest.mark.parametrize("options", [{"h": 2e-3}, {"rtol": 1e-11, "atol": 1e-12}], ids=["RK4", "DormandPrince"])
def test_through_the_singular_position(table, n, options):
    reference = table(f"A02_N{n}")
    model = windows(n).compile()
    assert (model.nc, model.redundancy.rank) == (15 * n + 5, 12 * n + 5)
    result = mbd.simulate(model, 10.0, t_eval=reference["t"], **options)
    p = result["upright 0"].p
    phi = 2.0 * np.arctan2(p[:, 2], p[:, 0])
    for found, name in ((np.sin(phi), "B0x"), (np.cos(phi), "B0y"), (result["upright 0"].omega_bar[:, 1], "phidot")):
        assert np.abs(found - reference[name]).max() < TOL * max(1.0, np.abs(reference[name]).max()), name
    top = result["bar 0"].r[:, [0, 2]] - (0.5, 0.0)
    assert np.abs(top - np.column_stack([reference["B0x"], reference["B0y"]])).max() < TOL
    assert np.abs(result.violation()).max() < 1e-12  # of the dropped rows, too
    if "rtol" in options:
        assert {name for place in result.passed for name in place.joints} <= set(model.joints)
        assert len(result.passed) >= 4  # error control would creep up to each of them
        assert 0.6 < result.passed[0].t < 0.8


@pytest.mark.parametrize(
    "method",
    [mbd.GeneralizedAlpha(1e-2), mbd.GeneralizedAlphaR7(1e-2), mbd.Trapezoidal(1e-2), mbd.BDF(rtol=1e-6, atol=1e-8)],
    ids=repr,
)
def test_implicit_methods_pass_it_too(method):
    """Newton's iteration fails there, and the run leaps over it as the explicit ones do."""
    result = mbd.simulate(windows(2), 1.5, integrator=method)
    exact = mbd.simulate(windows(2), 1.5, h=1e-3).r[-1]
    assert result.t[-1] == 1.5
    assert np.abs(result.violation()).max() < 1e-10
    assert np.abs(result.r[-1] - exact).max() < 0.02  # of order two with h = 1e-2; on the other branch it would be off by 1 m


@pytest.mark.parametrize("h", [2e-3, 1e-3])
def test_where_newton_fails_behind_a_leap_another_follows(h):
    """The trapezoidal rule damps nothing: its Newton iteration fails a step behind the place, too, and one leap is not enough."""
    result = mbd.simulate(windows(2), 3.5, integrator=mbd.Trapezoidal(h))
    exact = mbd.simulate(windows(2), 3.5, h=1e-3)
    assert np.abs(result.r[-1] - exact.r[-1]).max() < 100.0 * h**2
    assert np.abs(result.energy().drift).max() < 800.0 * h**2
    times = np.array([place.t for place in result.passed])
    assert len(times) == 4
    assert np.diff(times).min() > 0.5


def test_two_windows_to_the_published_digits():
    result = mbd.simulate(windows(2), 10.0, h=1e-3, store_every=100)
    p = result["upright 0"].p[-1]
    phi = 2.0 * np.arctan2(p[2], p[0])
    np.testing.assert_allclose([np.sin(phi), np.cos(phi)], [0.328458111540815, 0.944518538178601], rtol=0.0, atol=1e-8)
    assert np.abs(result.energy().drift).max() < 1e-8


@pytest.mark.parametrize("n", [1, 3])
def test_the_flat_pose_is_singular_not_redundant(n):
    system = windows(n, phi=np.pi / 2)
    faults = system.faults()
    assert len(faults) >= 1
    assert all("only there" in fault.what and "singular" in fault.remedy for fault in faults)
    found = windows(n, phi=np.pi / 2 - 0.01).compile().redundancy
    assert len(found.dropped) == 3 * n
    assert found.only_here == ()


def equation(n):
    """phi'' = g ((n+1)/2 + n) / ((n+1)/3 + n) sin phi, from rest upright at 1 rad/s; ends where the windows lie flat."""
    factor = 9.81 * ((n + 1) / 2 + n) / ((n + 1) / 3 + n)
    flat = lambda t, x: x[0] - np.pi / 2  # noqa: E731
    flat.terminal = True
    return lambda t, x: [x[1], factor * np.sin(x[0])], flat


@pytest.mark.parametrize("part", [1.0, 0.5], ids=["a step", "a stage"])
def test_a_fixed_step_that_lands_on_the_singular_position_leaps_over_it(part):
    f, flat = equation(1)
    options = {"rtol": 1e-13, "atol": 1e-14, "method": "DOP853"}
    t_flat = solve_ivp(f, (0.0, 2.0), [0.0, 1.0], events=flat, **options).t_events[0][0]
    h = t_flat / (400.0 - part % 1.0)
    result = mbd.simulate(windows(1), 1.5, h=h)
    p = result["upright 0"].p
    phi = 2.0 * np.arctan2(p[:, 2], p[:, 0])
    expected = solve_ivp(f, (0.0, 1.5), [0.0, 1.0], t_eval=result.t, **options).y[0]
    np.testing.assert_allclose(np.sin(phi), np.sin(expected), rtol=0.0, atol=1e-8)
    np.testing.assert_allclose(np.cos(phi), np.cos(expected), rtol=0.0, atol=1e-8)
    if part == 0.5:
        return  # a stage is off the manifold by h^2, and so never quite there
    (place,) = [place for place in result.passed if place.t < 1.0]
    assert abs(place.t - t_flat) < 1.01 * h
    assert place.pivot < 1e-12
    assert "right 0" in place.joints


def test_at_rest_in_the_flat_position_the_motion_is_not_determined():
    model = windows(1).compile()
    half = np.pi / 4
    flat = model.state().replace(
        r=windows(1, phi=np.pi / 2).compile(check_pose=False).state().r,
        p=[[1, 0, 0, 0], [np.cos(half), 0, np.sin(half), 0], [np.cos(half), 0, np.sin(half), 0], [1, 0, 0, 0]],
        v=np.zeros((4, 3)),
        omega_bar=np.zeros((4, 3)),
    )
    with pytest.raises(mbd.SingularKKT, match=r"t = 0 s.*'right 0'.*singular position"):
        mbd.simulate(model, 0.1, h=1e-3, state=flat)
