"""Runs with formulations in Python: the compiled integrators and stabilizations ask them through the callback, and nothing else changes."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from math import pi

import numba
import numpy as np
import pytest

import haugmbd as mbd
from haugmbd import integrators
from haugmbd.formulations import FORMULATIONS
from haugmbd.gallery import chain, double_pendulum
from haugmbd.integrators import Unstabilized
from haugmbd.integrators.base import Integrator
from joints import RJ
from tests.support.formulation_variants import EXACT
from tests.support.loops import four_revolutes, stout_four_bar
from tests.support.models import model_of
from tests.support.plain import range_space_run
from tests.support.redundant_loops import bennett, bricard

SAME = 1e-9  # what RK4 with h = 1e-3 leaves between different answers off the constraints is below 1e-11


@cache
def moved_by_newton_euler(make):
    """The motion of a mechanism by compiled code."""
    return mbd.simulate(model_of(make), 0.02, h=1e-3)


@pytest.mark.slow
@pytest.mark.parametrize(
    "make", [double_pendulum, stout_four_bar, four_revolutes, bennett, bricard], ids=lambda make: make.__name__
)
@pytest.mark.parametrize("formulation", EXACT, ids=repr)
def test_the_motion_is_that_of_newton_euler(formulation, make):
    model = model_of(make)
    if formulation.chains_only and make is not double_pendulum:
        with pytest.raises(mbd.ModelError, match="closes it"):
            mbd.simulate(model, 0.1, h=1e-3, formulation=formulation)
        return
    reference = moved_by_newton_euler(make)
    result = mbd.simulate(model, 0.02, h=1e-3, formulation=formulation)
    assert np.abs(result.y - reference.y).max() < SAME
    assert np.abs(result.violation("position")).max() < 1e-12
    assert np.abs(result.violation("velocity")).max() < 1e-11
    assert result.counters.solves >= 81
    assert reference.counters.solves == 0


@pytest.mark.slow
def test_the_motion_of_penalty_nears_that_of_newton_euler_with_alpha():
    model = stout_four_bar().compile()
    reference = mbd.simulate(model, 0.1, h=1e-3)
    errors = [
        np.abs(mbd.simulate(model, 0.1, h=1e-3, formulation=mbd.Penalty(alpha=alpha)).y - reference.y).max()
        for alpha in (1e4, 1e5, 1e6)
    ]
    np.testing.assert_allclose(np.divide(errors[:-1], errors[1:]), 10.0, rtol=0.1)


@pytest.mark.slow
@pytest.mark.parametrize(
    "options",
    [
        {"rtol": 1e-8},
        {"h": 2e-3, "stabilization": mbd.Baumgarte(10.0, 10.0)},
        {"h": 2e-3, "stabilization": None},
        {"integrator": mbd.SciPySolver(), "rtol": 1e-8},
        {"rtol": 1e-8, "t_eval": np.linspace(0.0, 0.1, 7), "events": [mbd.Event("slow", lambda t, state: state.v[1, 2] + 0.1)]},
    ],
    ids=", ".join,
)
@pytest.mark.parametrize("formulation", [mbd.EulerParameters(), mbd.ReducedChain()], ids=repr)
def test_every_integrator_and_stabilization_takes_them(formulation, options):
    model = double_pendulum().compile()
    reference, result = (mbd.simulate(model, 0.1, formulation=f, **options) for f in (mbd.NewtonEuler(), formulation))
    # off the constraints formulations differ by as much as the state is off: some 1e-8 with stabilization=None
    assert np.abs(result.y[-1] - reference.y[-1]).max() < 1e-7
    assert [event.t for event in result.events] == pytest.approx([event.t for event in reference.events], abs=1e-9)


def integrators_with_any_formulation():
    """Those that take accelerations from a formulation, whichever it is."""
    kinds = (getattr(integrators, name) for name in sorted(integrators.__all__))
    kinds = (kind for kind in kinds if isinstance(kind, type) and issubclass(kind, Integrator))
    return [kind for kind in kinds if not (kind.solves_constraints or kind.keeps_factor)]


@pytest.mark.slow
@pytest.mark.parametrize("kind", integrators_with_any_formulation(), ids=lambda kind: kind.__name__)
def test_every_integrator_that_asks_for_accelerations_takes_them(kind):
    model = double_pendulum().compile()
    how = {"h": 2e-3} if kind.takes_step else {"rtol": 1e-9}
    reference, result = (
        mbd.simulate(model, 0.1, integrator=kind(), formulation=f, **how) for f in (mbd.NewtonEuler(), mbd.RangeSpace())
    )
    assert result.counters.solves > 0
    assert np.abs(result.y[-1] - reference.y[-1]).max() < SAME


@pytest.mark.slow
@pytest.mark.parametrize("kind", [mbd.AugmentedLagrangian, mbd.Penalty])
def test_the_stabilization_of_penalties_is_that_of_baumgarte(kind):
    """Phi_ddot + 2 mu omega Phi_dot + omega^2 Phi = 0 with alpha = mu omega, beta = omega; and never in a projection."""
    model = stout_four_bar().compile()
    damped = mbd.simulate(model, 0.3, h=5e-3, stabilization=None, formulation=kind(mu=0.7, omega=20.0))
    baumgarte = mbd.simulate(model, 0.3, h=5e-3, stabilization=mbd.Baumgarte(14.0, 20.0))
    free = mbd.simulate(model, 0.3, h=5e-3, stabilization=None)
    tolerance = 1e-9 if kind is mbd.AugmentedLagrangian else 1e-6
    assert np.abs(damped.y - baumgarte.y).max() < tolerance
    assert np.abs(damped.y - free.y).max() > 10.0 * tolerance or kind is mbd.Penalty
    plain, projected = (mbd.simulate(model, 0.05, h=5e-3, formulation=kind(omega=omega)) for omega in (0.0, 20.0))
    assert np.abs(plain.y - projected.y).max() < 1e-6


@pytest.mark.slow
def test_a_force_that_is_not_finite_is_said_to_be_so():
    bad = numba.njit(lambda t, r, p, v, omega_bar: (0.0, 0.0, np.nan if t > 0.02 else 1.0))
    system = mbd.System("pushed", gravity=(0, 0, -9.81))
    bar = system.add(mbd.Body("bar", 2.0, (0.1, 0.2, 0.2), r=(0.5, 0, 0)))
    system.add(RJ("pin", system.ground, bar, point=(0, 0, 0), axis=(0, 1, 0)))
    system.add(mbd.PointForce("push", bar, point=(1, 0, 0), force=bad))
    texts = []
    for formulation in (mbd.NewtonEuler(), mbd.RangeSpace()):
        with pytest.raises(mbd.SimulationError) as raised:
            mbd.simulate(system, 0.1, h=1e-3, formulation=formulation)
        assert raised.value.result.t[-1] == pytest.approx(0.02)
        texts.append(str(raised.value))
    assert texts[0] == texts[1]


def test_the_function_for_solve_ivp_takes_them():
    model = double_pendulum().compile()
    plain, other = (mbd.ode_function(model, formulation=f) for f in (None, mbd.NullSpace()))
    np.testing.assert_allclose(other(0.0, model.y0.copy()), plain(0.0, model.y0.copy()), atol=1e-12)
    with pytest.raises(mbd.UsageError, match="formulation = 3 must be an object"):
        mbd.ode_function(model, formulation=3)


@pytest.mark.slow
def test_partitioning_chooses_anew_on_a_full_turn_of_the_crank():
    """A crank of 10 m: centres of mass move faster [m/s] than anything turns [rad/s], and each of them stands still twice a turn."""
    model = stout_four_bar(10.0).compile()
    Phi_q = mbd.evaluate(model).Phi_q.toarray()
    motion = np.linalg.svd(Phi_q)[2][-1]
    u = np.vstack([np.zeros(6), (9.0 / motion[5] * motion).reshape(-1, 6)])  # the crank turns with 9 rad/s
    start = model.state().replace(v=u[:, :3], omega_bar=u[:, 3:])
    reference = mbd.simulate(model, 0.75, rtol=1e-11, state=start)
    errors = []
    for h in (2e-3, 1e-3):
        result = mbd.simulate(model, 0.75, h=h, state=start, formulation=mbd.CoordinatePartitioning())
        turn = np.unwrap(2.0 * np.arctan2(result.p[:, 1, 3], result.p[:, 1, 0]))
        assert np.ptp(turn) > 2.0 * pi
        assert 4 <= result.counters.repartitions <= 50
        assert np.abs(result.violation("position")).max() <= 1e-10
        errors.append(np.abs(result.y[-1] - reference.y[-1]).max())
    assert errors[0] < 1e-3  # of 90 m/s
    assert errors[1] < errors[0] / 8.0  # order four, two ways back to the constraints


def test_partitioning_corrects_dependent_coordinates_only():
    """A pose off the constraints: one coordinate, the independent one, stays where it is; in the least motion in mass none does."""
    model = stout_four_bar(10.0).compile()
    off = model.state()
    r = off.r.copy()
    r[1:] += 1e-4 * np.random.default_rng(3).normal(size=r[1:].shape)
    pack, rule = mbd.CoordinatePartitioning().pack(model), mbd.Projection()
    y = off.replace(r=r).y
    assert rule.post_step(pack, rule.options(), 0.0, y, np.zeros_like(y)) == 0
    settled = mbd.State.from_y(0.0, y, model.nb + 1)
    assert np.abs(mbd.evaluate(model, settled).Phi).max() < 1e-12
    plain, y = mbd.NewtonEuler().pack(model), off.replace(r=r).y
    assert rule.post_step(plain, rule.options(), 0.0, y, np.zeros_like(y)) == 0
    everything = mbd.State.from_y(0.0, y, model.nb + 1)
    assert np.count_nonzero(settled.r[1:] == r[1:]) == 1
    assert np.count_nonzero(everything.r[1:] == r[1:]) == 0


@pytest.mark.slow
def test_callables_of_the_user_are_asked_and_their_errors_come_out():
    def push(t, r, p, v, omega_bar):
        if t > 0.05:
            raise ZeroDivisionError("mine")
        return (0.0, 0.0, 3.0 * np.sin(t))

    def build(force):
        system = mbd.System("pushed", gravity=(0, 0, -9.81))
        bar = system.add(mbd.Body("bar", 2.0, (0.1, 0.2, 0.2), r=(0.5, 0, 0)))
        system.add(RJ("pin", system.ground, bar, point=(0, 0, 0), axis=(0, 1, 0)))
        system.add(mbd.PointForce("push", bar, point=(1, 0, 0), force=force))
        return system.compile()

    for force in (push, numba.njit(lambda t, r, p, v, omega_bar: (0.0, 0.0, 3.0 * np.sin(t)))):
        a, b = (mbd.simulate(build(force), 0.04, h=1e-3, formulation=f) for f in (mbd.NewtonEuler(), mbd.NullSpace()))
        assert np.abs(a.y - b.y).max() < SAME
    with pytest.raises(ZeroDivisionError, match="mine") as raised:
        mbd.simulate(build(push), 0.1, h=1e-3, formulation=mbd.NullSpace())
    assert raised.value.result.t[-1] == pytest.approx(0.05)


@dataclass(frozen=True)
class Forgetful(mbd.NullSpace):
    """A user's own formulation that fails on the way."""

    def solve(self, kkt):
        if kkt.state.t > 0.0105:
            raise LookupError("I have forgotten it")
        return super().solve(kkt)


def test_what_a_formulation_raises_comes_out_with_the_result_so_far():
    with pytest.raises(LookupError, match="forgotten") as raised:
        mbd.simulate(double_pendulum(), 0.1, h=1e-3, formulation=Forgetful())
    assert raised.value.result.t[-1] == pytest.approx(0.010)


@pytest.mark.slow
def test_without_the_compiler_the_door_is_the_same(plain):
    np.testing.assert_allclose(plain["range space"], range_space_run(), rtol=1e-12, atol=1e-15)


@pytest.mark.parametrize(
    ("formulation", "text"),
    [
        ("fast", "formulation = 'fast' must be an object, such as NewtonEuler"),
        (mbd.NullSpace, "must be an object"),
        (None, "formulation = None must be an object"),
        (mbd.NullSpace("SVD"), "by = 'SVD' must be SVD"),
        (mbd.Penalty(alpha=-1.0), "alpha = -1.0 must be finite and positive"),
        (mbd.Penalty(alpha=np.nan, mu=-1.0), "alpha = nan must be .*; mu = -1.0 must be finite and not negative"),
        (mbd.AugmentedLagrangian(most_iterations=0), "most_iterations = 0 must be a whole number"),
        (mbd.CoordinatePartitioning(degraded=0), "degraded = 0 must be finite and positive"),
    ],
    ids=lambda value: str(value)[:40],
)
def test_wrong_formulations_are_refused(formulation, text):
    with pytest.raises(mbd.UsageError, match=text):
        mbd.simulate(double_pendulum(), 0.1, h=1e-3, formulation=formulation)


def test_methods_with_equations_of_their_own_take_newton_euler_only():
    with pytest.raises(mbd.UsageError, match="GeneralizedAlpha uses the block LDL.* NullSpace goes with .*DormandPrince"):
        mbd.simulate(double_pendulum(), 0.1, h=1e-3, integrator=mbd.GeneralizedAlpha(), formulation=mbd.NullSpace())


@pytest.mark.slow
@pytest.mark.parametrize("kind", [kind for kind in FORMULATIONS if np.isfinite(kind.most_bodies)], ids=lambda kind: kind.__name__)
def test_a_large_model_is_warned_of_with_what_it_costs(kind):
    n = int(kind.most_bodies) + 1
    model = chain(n).compile()
    with pytest.warns(mbd.SlowFormulationWarning) as caught:
        found = mbd.accelerations(model, formulation=kind())
    text = str(caught[0].message)
    assert text.startswith(f"{kind.__name__} is meant for at most {n - 1} bodies, and the model has {n}: its work grows")
    assert re.search(
        rf"from {kind.ms:g} ms a solution with 60 bodies to some {kind.ms * (n / 60) ** kind.exponent:.2g} ms here", text
    )
    assert re.search("power of 3|in proportion", text)
    assert "NewtonEuler() gives the same" in text
    assert caught[0].filename == __file__  # the line of the user
    exact = mbd.accelerations(model)
    assert np.abs(found.v_dot - exact.v_dot).max() < 1e-5 * np.abs(exact.v_dot).max()  # Penalty's own error; the others 1e-9


def test_cite_gives_the_references_of_the_methods_in_use():
    text = str(mbd.cite(mbd.NullSpace(), mbd.RK4(), mbd.Projection()))
    assert [line.split(":")[0] for line in text.splitlines()] == ["equations", "NullSpace", "RK4", "Projection"]
    assert "Kutta 1901" in text
    assert Unstabilized.reference in repr(mbd.cite(None))
    with pytest.raises(mbd.UsageError, match="cite got <class"):
        mbd.cite(mbd.RK4)


def test_cite_names_the_form_of_the_constraints():
    lines = mbd.cite(mbd.HHT(constraint_form=mbd.GGL())).lines
    assert [name for name, _ in lines] == ["equations", "HHT", "GGL"]
    for level in (mbd.Index3(), mbd.Index2(), mbd.GGL(), mbd.HillerAnantharaman()):
        assert mbd.cite(level).lines[1] == (type(level).__name__, level.reference)


def every_method(kind):
    """All classes below `kind` that the package exports."""
    for below in kind.__subclasses__():
        yield from (below, *every_method(below))


def test_every_integrator_has_a_reference():
    from haugmbd.integrators.base import Integrator  # noqa: PLC0415  its subclasses are walked

    public = [getattr(mbd, name) for name in mbd.__all__]
    exported = [kind for kind in every_method(Integrator) if kind in public]
    assert len(exported) >= 20
    for kind in (*exported, mbd.Projection, mbd.Baumgarte):
        assert isinstance(kind.reference, str), kind
        assert len(kind.reference) > 10, kind


@pytest.mark.parametrize("formulation", [kind() for kind in FORMULATIONS if kind is not mbd.ReducedChain], ids=repr)
def test_projected_initial_velocities_do_not_depend_on_the_formulation(formulation):
    """The least change in the norm of the mass matrix.  CoordinatePartitioning moved dependent velocities alone: another motion."""
    model = model_of(double_pendulum)
    state = model.state()
    pushed = state.replace(
        v=state.v + [[0, 0, 0], [0.0, 0.1, 0.3], [0.2, 0.0, -0.1]], omega_bar=state.omega_bar + [[0.0], [0.1], [0.2]]
    )
    begun = mbd.simulate(model, 1e-4, h=1e-4, state=pushed, formulation=formulation, project_velocity=True)
    u, given = (np.hstack([x.v[1:], x.omega_bar[1:]]).ravel() for x in (begun.state(0), pushed))
    M = np.zeros((12, 12))
    for k in range(2):
        M[6 * k : 6 * k + 3, 6 * k : 6 * k + 3] = model.mass[k + 1] * np.eye(3)
        M[6 * k + 3 : 6 * k + 6, 6 * k + 3 : 6 * k + 6] = model.J_bar[k + 1]
    rows = mbd.evaluate(model, pushed)
    Phi_q = rows.Phi_q.toarray()
    Lam = np.linalg.lstsq(Phi_q @ np.linalg.solve(M, Phi_q.T), Phi_q @ given - rows.nu, rcond=None)[0]
    np.testing.assert_allclose(u, given - np.linalg.solve(M, Phi_q.T @ Lam), rtol=0.0, atol=1e-10)
