"""Implicit methods on what models may have: a second way to their equations, redundant rows, massless axes, turning springs, Ctrl-C."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import fsolve

import haugmbd as mbd
from haugmbd.gallery import double_pendulum, heavy_top, pendulum, slider_crank
from haugmbd.gallery.spatial_linkages import FREE, crank_angle
from haugmbd.gallery.spinning_bodies import CENTER
from joints import RJ
from tests.support.loops import four_revolutes

METHODS = {
    "generalized-alpha": mbd.GeneralizedAlpha(1e-3),
    "generalized-alpha on R^7": mbd.GeneralizedAlphaR7(2.5e-4),  # p is a chord of 0.03 rad a step at 30 rad/s, not an arc
    "HHT": mbd.HHT(1e-3),
    "GGL": mbd.GeneralizedAlpha(1e-3, constraint_form=mbd.GGL()),
    "BDF3": mbd.BDF(1e-3, order=3),
    "BDF": mbd.BDF(rtol=1e-9, atol=1e-9),
}


def test_a_step_of_hiller_and_anantharaman_is_the_dense_solution_of_its_equations():
    """Backward Euler with zeta' = lam and eta' = mu as unknowns zeta and eta, solved by MINPACK, beside BDF of order one."""
    h, system = 1e-2, pendulum()
    model = system.compile()
    start = model.state().replace()
    m, J, nc = model.mass[1], model.J_bar[1], model.nc
    M = np.block([[m * np.eye(3), np.zeros((3, 3))], [np.zeros((3, 3)), J]])
    u_n = np.concatenate([start.v[1], start.omega_bar[1]])

    def placed(shift, u):
        e0, e, half = start.p[1, 0], start.p[1, 1:], 0.5 * shift[3:]
        p = np.array([e0 - e @ half, *(e + e0 * half + np.cross(e, half))])
        r, p = start.r + [[0] * 3, shift[:3]], np.array([start.p[0], p / np.linalg.norm(p)])
        return start.replace(r=r, p=p, v=np.array([[0] * 3, u[:3]]), omega_bar=np.array([[0] * 3, u[3:]]))

    def equations(x):
        u, shift, zeta, eta = x[:6], x[6:12], x[12 : 12 + nc], x[12 + nc :]
        rows = mbd.evaluate(model, placed(shift, u))
        Phi_q, lam, mu = rows.Phi_q.toarray()[:, -6:], zeta / h, eta / h
        Q = np.array([0, 0, -9.81 * m, *-np.cross(u[3:], J @ u[3:])])
        moved = shift / h - u - np.linalg.solve(M, Phi_q.T @ mu)
        return np.concatenate([M @ (u - u_n) / h + Phi_q.T @ lam - Q, moved, rows.Phi, Phi_q @ u - rows.nu])

    x, _, ok, message = fsolve(equations, np.concatenate([u_n, h * u_n, np.zeros(2 * nc)]), full_output=True, xtol=1e-14)
    assert ok == 1 or abs(equations(x)).max() < 1e-9, message
    expected = placed(x[6:12], x[:6])
    result = mbd.simulate(model, h, integrator=mbd.BDF(h, order=1, constraint_form=mbd.HillerAnantharaman()))
    assert result.counters.steps == 1
    assert result.r[-1, 1] == pytest.approx(expected.r[1], abs=1e-9)
    assert result.p[-1, 1] == pytest.approx(expected.p[1], abs=1e-9)
    assert result.v[-1, 1] == pytest.approx(expected.v[1], abs=1e-8)
    assert result.omega_bar[-1, 1] == pytest.approx(expected.omega_bar[1], abs=1e-8)


@pytest.mark.slow
def test_bdf_meets_the_published_values_of_the_slider_crank_and_the_heavy_top():
    """The crank's body has no inertia but about one axis: massless directions are no hindrance."""
    result = mbd.simulate(slider_crank(), 1.0, integrator=mbd.BDF(rtol=1e-12, atol=1e-12), t_eval=np.linspace(0.0, 1.0, 201))
    curves = {"crank angle theta": crank_angle(result)[-1], "slider position x": result["slider"].r[-1, 0]}
    known = [value for value in FREE if value.t == 1.0]
    assert known
    for value in known:
        assert curves[value.quantity] == pytest.approx(value.value, abs=max(value.tol, 1e-8)), value
    top = mbd.simulate(heavy_top(), 0.2, integrator=mbd.BDF(rtol=1e-12, atol=1e-12))
    for value, found in zip(CENTER, top["top"].r[-1], strict=True):
        assert found == pytest.approx(value.value, abs=value.tol), value


@pytest.mark.slow
@pytest.mark.parametrize("method", METHODS)
def test_redundant_rows_are_dropped_as_in_every_run(method):
    exact = mbd.simulate(four_revolutes(), 0.3, rtol=1e-11, atol=1e-12)
    result = mbd.simulate(four_revolutes(), 0.3, integrator=METHODS[method])
    assert exact.model.redundancy.dropped
    assert abs(result.r[-1] - exact.r[-1]).max() < 2e-5
    assert abs(result.violation("position")).max() < 1e-9


def sprung(speed: float, k: float) -> mbd.System:
    """A rotor of 1 kg m2 about z that winds up a spring of k [N m/rad]."""
    system = mbd.System("rotor", gravity=(0, 0, 0))
    rotor = system.add(mbd.Body("rotor", 1.0, (1.0, 1.0, 1.0), omega_bar=(0, 0, speed)))
    pin = system.add(RJ("pin", system.ground, rotor, point=(0, 0, 0), axis=(0, 0, 1)))
    system.add(mbd.RSDA("spring", pin, k=k))
    return system


@pytest.mark.slow
@pytest.mark.parametrize("method", METHODS)
def test_a_spring_about_an_axis_counts_its_turns(method):
    """A rotor that winds a spring up for several turns and comes back."""
    result = mbd.simulate(sprung(30.0, 1.0), 2.0, integrator=METHODS[method])
    assert result["rotor"].omega_bar[-1, 2] == pytest.approx(30.0 * np.cos(2.0), abs=1e-4)
    assert result.angles[-1, 0] == pytest.approx(30.0 * np.sin(2.0), abs=1e-3)


@pytest.mark.parametrize("h", [0.005, 0.0125, 0.015])
@pytest.mark.filterwarnings("ignore::haugmbd.RunWarning")  # large steps, on purpose
def test_turns_are_counted_where_a_step_makes_more_than_half_of_one(h):
    """300 rad/s: up to 4.5 rad a step, and the spring is read at the end of it."""
    result = mbd.simulate(sprung(300.0, 1.0), 2.0, integrator=mbd.GeneralizedAlpha(h, constraint_form=mbd.GGL()))
    assert result.angles[-1, 0] == pytest.approx(300.0 * np.sin(2.0), rel=(h / 2.0) ** 2)
    assert result["rotor"].omega_bar[-1, 2] == pytest.approx(300.0 * np.cos(2.0), rel=2.0 * h**2)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("order", "method"),
    [
        (2, mbd.GeneralizedAlpha()),
        (2, mbd.GeneralizedAlphaR7()),
        *((k, mbd.BDF(order=k)) for k in (1, 2, 3, 4, 5)),
        (5, mbd.RadauIIA()),
    ],
    ids=repr,
)
@pytest.mark.filterwarnings("ignore::haugmbd.RunWarning")  # large steps, on purpose
def test_integrated_angles_have_the_order_of_the_method(order, method):
    """A rotor that swings on its spring, theta = sin 3 t."""
    errors = []
    for steps in (25, 50) if isinstance(method, mbd.RadauIIA) else (200, 400):
        result = mbd.simulate(sprung(3.0, 9.0), 2.0, integrator=method.with_arguments(2.0 / steps, None, None))
        errors.append(abs(result.angles[-1, 0] - np.sin(6.0)))
    assert np.log2(errors[0] / errors[1]) == pytest.approx(order, abs=0.3)


def test_integrated_angles_stay_by_the_pose_in_a_long_run_with_error_control():
    result = mbd.simulate(sprung(3.0, 9.0), 100.0, integrator=mbd.BDF(rtol=1e-6, atol=1e-6))
    p = result["rotor"].p
    gap = 2.0 * np.arctan2(p[:, 3], p[:, 0]) - result.angles[:, 0]
    assert abs((gap + np.pi) % (2.0 * np.pi) - np.pi).max() < 1e-4


@pytest.mark.slow
@pytest.mark.parametrize("newton", [mbd.ModifiedNewton(), mbd.FullNewton()], ids=repr)
@pytest.mark.parametrize(("kind", "damping"), [(mbd.GeneralizedAlpha, {"rho": 0.8}), (mbd.HHT, {"alpha": -0.1})], ids=repr)
@pytest.mark.filterwarnings("ignore::haugmbd.RunWarning")  # large steps, on purpose
def test_large_steps_feed_energy_with_index_3_and_not_with_both_levels(kind, damping, newton):
    """With full Newton no step is taken in parts while the energy grows: it is the form of the constraints that does it."""
    runs = []
    for level in (mbd.Index3(), mbd.GGL()):
        method = kind(0.1, **damping, constraint_form=level, newton=newton)
        try:
            runs.append(mbd.simulate(double_pendulum(), 10.0, integrator=method))
        except mbd.SimulationError as error:  # the energy has grown until Newton's iteration fails
            runs.append(error.result)
    fed, damped = ((run.energy().total - run.energy().total[0]).max() for run in runs)
    assert fed > 100.0
    assert abs(runs[0].violation("velocity")).max() > 1.0
    assert runs[1].t[-1] == 10.0
    assert damped < 1.0


@pytest.mark.slow
@pytest.mark.parametrize("method", METHODS)
def test_ctrl_c_in_a_force_leaves_the_result_so_far(method):
    def force(t):
        if t > 2.5:  # beyond where functions of time are tried when they are given
            raise KeyboardInterrupt
        return (1.0, 0.0, np.sin(300.0 * t))

    system = mbd.System("falling", gravity=(0, 0, 0))
    system.add(mbd.PointForce("push", system.add(mbd.Body("mass", 1.0, (1.0, 1.0, 1.0))), force=force))
    result = mbd.simulate(system, 3.0, integrator=METHODS[method])
    assert result.interrupted
    assert 2.0 < result.t[-1] <= 2.5
    assert result["mass"].r[:, 0] == pytest.approx(0.5 * result.t**2, abs=1e-5)
