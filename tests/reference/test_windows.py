"""N four-bar windows (IFToMM A02): planar revolutes, over-constrained in space, through the singular flat position again and again."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import haugmbd as mbd
from haugmbd.gallery import windows
from haugmbd.simulation.compatibility import integrators
from tests.support.models import model_of
from tests.support.redundant_loops import bennett, bricard

TOL = 1e-6  # what a converged run should reach against the file


@pytest.mark.slow
@pytest.mark.parametrize("n", [1, 2])
@pytest.mark.parametrize("options", [{"h": 2e-3}, {"rtol": 1e-11, "atol": 1e-12}], ids=["RK4", "DormandPrince"])
def test_through_the_singular_position(table, published, n, options):
    reference = table(f"A02_N{n}")
    model = model_of(windows, n)
    assert (model.nc, model.redundancy.rank) == (15 * n + 5, 12 * n + 5)
    result = mbd.simulate(model, 10.0, t_eval=reference["t"], **options)
    p = result["upright 0"].p
    phi = 2.0 * np.arctan2(p[:, 2], p[:, 0])
    problem = f"IFToMM A02, {n} four-bar windows, 10 s, {'RK4' if 'h' in options else 'Dormand-Prince'}"
    for found, name in ((np.sin(phi), "B0x"), (np.cos(phi), "B0y"), (result["upright 0"].omega_bar[:, 1], "phidot")):
        published(problem, name, found, reference[name], TOL * max(1.0, np.abs(reference[name]).max()))
    top = result["bar 0"].r[:, [0, 2]] - (0.5, 0.0)
    assert np.abs(top - np.column_stack([reference["B0x"], reference["B0y"]])).max() < TOL
    assert np.abs(result.violation()).max() < 1e-12  # of the dropped rows, too
    if "rtol" in options:
        assert {name for place in result.singular_crossings for name in place.joints} <= set(model.joints)
        assert len(result.singular_crossings) >= 4  # error control would creep up to each of them
        assert 0.6 < result.singular_crossings[0].t < 0.8


@pytest.mark.slow
@pytest.mark.parametrize(
    "method",
    [mbd.GeneralizedAlpha(1e-2), mbd.GeneralizedAlphaR7(1e-2), mbd.Trapezoidal(1e-2), mbd.BDF(rtol=1e-6, atol=1e-8)],
    ids=repr,
)
def test_implicit_methods_pass_it_too(method):
    """Newton's iteration fails there, and the run leaps over it as the explicit ones do."""
    result = mbd.simulate(model_of(windows, 2), 1.5, integrator=method)
    exact = mbd.simulate(model_of(windows, 2), 1.5, h=1e-3).r[-1]
    assert result.t[-1] == 1.5
    assert np.abs(result.violation()).max() < 1e-10
    assert np.abs(result.r[-1] - exact).max() < 0.02  # of order two with h = 1e-2; on the other branch it would be off by 1 m


@pytest.mark.slow
@pytest.mark.parametrize("h", [2e-3, 1e-3])
def test_where_newton_fails_behind_a_leap_another_follows(h):
    """The trapezoidal rule damps nothing: its Newton iteration fails a step behind the place, too, and one leap is not enough."""
    result = mbd.simulate(model_of(windows, 2), 3.5, integrator=mbd.Trapezoidal(h))
    exact = mbd.simulate(model_of(windows, 2), 3.5, h=1e-3)
    assert np.abs(result.r[-1] - exact.r[-1]).max() < 100.0 * h**2
    assert np.abs(result.energy().drift).max() < 800.0 * h**2
    times = np.array([place.t for place in result.singular_crossings])
    assert len(times) == 4
    assert np.diff(times).min() > 0.5


@pytest.mark.slow
def test_two_windows_to_the_published_digits():
    result = mbd.simulate(model_of(windows, 2), 10.0, h=1e-3, store_every=100)
    p = result["upright 0"].p[-1]
    phi = 2.0 * np.arctan2(p[2], p[0])
    np.testing.assert_allclose([np.sin(phi), np.cos(phi)], [0.328458111540815, 0.944518538178601], rtol=0.0, atol=1e-8)
    assert np.abs(result.energy().drift).max() < 1e-8


@cache
def motion_of(n, t_end):
    """phi as dense output until t_end, and the times of the singular positions, by the equation of motion in one coordinate."""
    f, flat = equation(n)
    cosine = lambda t, x: np.cos(x[0])  # noqa: E731
    found = solve_ivp(f, (0.0, t_end), [0.0, 1.0], events=cosine, rtol=1e-13, atol=1e-14, method="DOP853", dense_output=True)
    return found.sol, found.t_events[0]


def phi_of(n, t):
    """phi (nt,) at the times, and the times of the singular positions among them."""
    phi, flat = motion_of(n, np.ceil(t[-1]))
    return phi(t)[0], flat[flat <= t[-1]]


def errors(result, n):
    """Largest error of the tops of the first and the last upright [m]; and the times at which a singular position was due."""
    phi, due = phi_of(n, result.t)
    exact = np.column_stack([np.sin(phi), np.cos(phi)])
    tops = (result[f"bar {k}"].r[:, [0, 2]] - (k + 0.5, 0.0) for k in (0, n - 1))
    return max(np.abs(top - exact).max() for top in tops), due


def fixed_methods():
    """One of each integrator of fixed step that takes bodies without inertia about an axis, and its error [m] with h = 1e-2."""
    orders = {"Heun": 2, "RK3": 3, "CrouchGrossman3": 3, "RK4": 4, "RKMK4": 4, "HEM4": 4, "RadauIIA": 5}
    for name, method in integrators().items():
        if method.takes_step and name not in ("RATTLE", "SemiImplicitEuler", "Newmark"):
            yield pytest.param(method, {2: 0.1, 3: 1e-2, 4: 1e-5, 5: 1e-5}[orders.get(name, 2)], id=name)


@pytest.mark.slow
@pytest.mark.parametrize("n", [1, 2])
@pytest.mark.parametrize(("method", "most"), list(fixed_methods()))
def test_every_method_of_fixed_step_crosses_on_its_own_branch_and_says_so(method, most, n):
    """Three crossings, each listed once at its time; on another branch the tops are off by a metre."""
    result = mbd.simulate(model_of(windows, n), 3.0, integrator=method.with_arguments(1e-2, None, None))
    error, due = errors(result, n)
    assert error < most
    assert len(result.singular_crossings) == len(due) == 3
    np.testing.assert_allclose([place.t for place in result.singular_crossings], due, atol=max(1e-9, 0.5 * most))
    np.testing.assert_allclose(result.t, 1e-2 * np.arange(301), atol=1e-12)  # a crossing keeps the times of the steps
    assert all(place.pivot < 1e-12 for place in result.singular_crossings)


def adaptive_methods():
    """One of each adaptive integrator, and its error [m] at rtol = 1: of a low order it grows faster with fewer digits."""
    grown = {"BDF": 1e4, "GeneralizedAlpha": 2e4}
    for name, method in integrators().items():
        if method.takes_tolerances:
            yield pytest.param(method, grown.get(name, 2e3 if "LSODA" in name else 100.0), id=name)


@pytest.mark.slow
@pytest.mark.parametrize("rtol", [1e-5, 1e-8, 1e-12])
@pytest.mark.parametrize(("method", "most"), list(adaptive_methods()))
def test_every_adaptive_method_crosses_to_the_accuracy_of_its_tolerance(method, most, rtol):
    slow = isinstance(method, mbd.GeneralizedAlpha)
    n, atol, t_end = 2, max(1e-12, 1e-2 * rtol), 1.5 if rtol > 1e-12 or not slow else 0.9
    options = {"integrator": method.with_arguments(None, rtol, atol)}
    if not (method.correctable or method.solves_constraints):
        options["stabilization"] = None
    result = mbd.simulate(model_of(windows, n), t_end, **options)
    error, due = errors(result, n)
    assert error < most * max(rtol, 1e-11) ** (2.0 / 3.0 if slow else 1.0)
    np.testing.assert_allclose([place.t for place in result.singular_crossings], due, atol=1e-3 if rtol == 1e-5 else 1e-5)
    beside = mbd.simulate(model_of(windows, n), 0.5, **options)
    assert result.counters.steps < 2.0 * t_end / 0.5 * beside.counters.steps + 50  # no creeping


@pytest.mark.slow
@pytest.mark.parametrize(
    ("formulation", "integrator"),
    [
        (mbd.NullSpace(), mbd.DOP853()),
        (mbd.NullSpace(mbd.SVD()), mbd.DOP853(rtol=1e-6)),
        (mbd.NullSpace(mbd.SVD()), mbd.RK4(1e-2)),
        (mbd.NullSpace(), mbd.DormandPrince(rtol=1e-6)),
        (mbd.CoordinatePartitioning(), mbd.DOP853()),
        (mbd.CoordinatePartitioning(), mbd.RKMK4(1e-2)),
        (mbd.AugmentedLagrangian(), mbd.DOP853(rtol=1e-6)),
    ],
    ids=repr,
)
def test_formulations_cross_on_the_same_branch(formulation, integrator):
    """NullSpace with DOP853 ended on another branch, off by 2 m, with |Phi| of 1e-13 and the energy kept."""
    result = mbd.simulate(model_of(windows, 2), 1.5, formulation=formulation, integrator=integrator)
    error, due = errors(result, 2)
    assert error < 1e-4
    np.testing.assert_allclose([place.t for place in result.singular_crossings], due, atol=1e-5)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("n", "options", "most"),
    [
        (40, {}, 1e-5),
        (40, {"integrator": mbd.RK4(2e-2)}, 1e-3),
        (40, {"integrator": mbd.DOP853(rtol=1e-5, atol=1e-5)}, 1e-3),
        (40, {"integrator": mbd.DormandPrince(rtol=1e-4, atol=1e-4)}, 2e-2),
        (40, {"integrator": mbd.BDF(rtol=1e-6)}, 2e-2),
        (5, {"integrator": mbd.BDF()}, 1e-3),
        (5, {"integrator": mbd.DOP853(rtol=1e-12)}, 1e-5),
    ],
)
def test_many_windows_cross_all_together(n, options, most):
    """BDF(rtol=1e-6) stopped before the second crossing: its last steps went astray, and were not crossed from."""
    result = mbd.simulate(model_of(windows, n), 3.0, **options)
    error, due = errors(result, n)
    assert error < most
    assert len(result.singular_crossings) == len(due) == 3
    assert "right 0" in result.singular_crossings[0].joints


def test_wanted_times_and_events_at_the_singular_position_itself():
    """Dense output and events stand on the polynomial across it, where no step could end."""
    _, due = phi_of(2, np.linspace(0.0, 1.0, 11))
    flat = mbd.Event("flat", lambda t, state: state.r[1, 2])
    times = np.sort(np.append(due[0] + np.linspace(-0.03, 0.03, 7), [0.0, 1.0]))
    result = mbd.simulate(model_of(windows, 2), 1.0, t_eval=times, integrator=mbd.DOP853(rtol=1e-10), events=[flat])
    assert errors(result, 2)[0] < 1e-8
    assert np.abs(result.violation()).max() < 1e-10
    np.testing.assert_allclose([event.t for event in result.events], due, atol=1e-9)


@pytest.mark.parametrize("build", [bennett, bricard], ids=["Bennett", "Bricard"])
def test_loops_that_are_regular_all_round_cross_nothing(build):
    for integrator in (mbd.RK4(1e-2), mbd.DOP853()):
        model = build().compile()
        result = mbd.simulate(model, 2.0, integrator=integrator)
        assert result.singular_crossings == ()


@pytest.mark.parametrize("n", [1, 3])
def test_the_flat_pose_is_singular_not_redundant(n):
    system = windows(n, lean=np.pi / 2)
    faults = system.faults()
    assert len(faults) >= 1
    assert all("only there" in fault.what and "singular" in fault.remedy for fault in faults)
    found = windows(n, lean=np.pi / 2 - 0.01).compile().redundancy
    assert len(found.dropped) == 3 * n
    assert found.only_here == ()


def equation(n):
    """phi'' = g ((n+1)/2 + n) / ((n+1)/3 + n) sin phi, from rest upright at 1 rad/s; ends where the windows lie flat."""
    factor = 9.81 * ((n + 1) / 2 + n) / ((n + 1) / 3 + n)
    flat = lambda t, x: x[0] - np.pi / 2  # noqa: E731
    flat.terminal = True
    return lambda t, x: [x[1], factor * np.sin(x[0])], flat


@pytest.mark.slow
@pytest.mark.parametrize("part", [1.0, 0.5], ids=["a step", "a stage"])
def test_a_fixed_step_that_lands_on_the_singular_position_leaps_over_it(part):
    f, flat = equation(1)
    options = {"rtol": 1e-13, "atol": 1e-14, "method": "DOP853"}
    t_flat = solve_ivp(f, (0.0, 2.0), [0.0, 1.0], events=flat, **options).t_events[0][0]
    h = t_flat / (400.0 - part % 1.0)
    result = mbd.simulate(model_of(windows, 1), 1.5, h=h)
    p = result["upright 0"].p
    phi = 2.0 * np.arctan2(p[:, 2], p[:, 0])
    expected = solve_ivp(f, (0.0, 1.5), [0.0, 1.0], t_eval=result.t, **options).y[0]
    np.testing.assert_allclose(np.sin(phi), np.sin(expected), rtol=0.0, atol=1e-8)
    np.testing.assert_allclose(np.cos(phi), np.cos(expected), rtol=0.0, atol=1e-8)
    if part == 0.5:
        return  # a stage is off the manifold by h^2, and so never quite there
    (place,) = [place for place in result.singular_crossings if place.t < 1.0]
    assert abs(place.t - t_flat) < 1.01 * h
    assert place.pivot < 1e-12
    assert "right 0" in place.joints


def test_at_rest_in_the_flat_position_the_motion_is_not_determined():
    model = windows(1).compile()
    half = np.pi / 4
    flat = model.state().replace(
        r=windows(1, lean=np.pi / 2).compile(check_pose=False).state().r,
        p=[[1, 0, 0, 0], [np.cos(half), 0, np.sin(half), 0], [np.cos(half), 0, np.sin(half), 0], [1, 0, 0, 0]],
        v=np.zeros((4, 3)),
        omega_bar=np.zeros((4, 3)),
    )
    with pytest.raises(mbd.SingularKKTError, match=r"t = 0 s.*'right 0'.*singular position"):
        mbd.simulate(model, 0.1, h=1e-3, state=flat)


def test_positions_that_drift_cross_on_their_own_branch():
    """Index 2 keeps velocities only: off the manifold by 1e-4 m it turned aside, and lost 6 J."""
    result = mbd.simulate(model_of(windows, 1), 3.0, integrator=mbd.GeneralizedAlpha(1e-2, constraint_form=mbd.Index2()))
    error, due = errors(result, 1)
    assert error < 0.02
    assert len(result.singular_crossings) == len(due) == 3
