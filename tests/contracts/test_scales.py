"""Lengths of 1e-9 to 1e9 m: every method gives the motion of the mechanism of one metre, to rounding, and takes the same steps.

Where no length is given in metres by the user, no tolerance may be: each is measured by the model's own length.
"""

from __future__ import annotations

import numpy as np
import pytest

import haugmbd as mbd
from haugmbd.bodies.inertia import rod
from haugmbd.formulations import FORMULATIONS
from haugmbd.gallery import windows
from haugmbd.integrators.base import methods_below
from joints import RJ, SJ, UJ, Distance, Fixed, RotationDriver
from tests.support.models import model_of
from tests.support.scaled import MECHANISMS, four_bar, pendulum, slider_crank, to_one_metre
from tests.support.with_contacts import simulate_with

SCALES = (1e-9, 1e-4, 1e4, 1e9)
METHODS = {
    **{kind.__name__: kind(h=1e-2) for kind in methods_below() if kind.takes_step},
    **{f"{kind.__name__}, adaptive": kind(rtol=1e-8) for kind in methods_below() if kind.takes_tolerances},
}
RULES = {
    "Projection": mbd.Projection(),
    "UnweightedProjection": mbd.UnweightedProjection(),
    "Baumgarte": mbd.Baumgarte(5.0, 5.0),
    "EnergyProjection": mbd.EnergyProjection(),
    "None": None,
    "now and then": mbd.Projection(every=3),
}
ROUNDING = 3e-11
"""Twenty steps of size one, with condition numbers of 1e4; Newton's iterations of implicit methods end at 1e-10 of a step, alike at all
lengths, but the last correction may be made at one and not at the other."""


def same(make_run, scales=SCALES, tolerance=ROUNDING):
    """The numbers of a run at every length are those at one metre."""
    wanted, steps = make_run(1.0)
    for s in scales:
        found, n = make_run(s)
        assert n == steps, (s, n, steps)
        np.testing.assert_allclose(found, wanted, rtol=0.0, atol=tolerance, err_msg=f"scale {s:g}")


@pytest.mark.slow
@pytest.mark.parametrize("make", MECHANISMS.values(), ids=MECHANISMS)
@pytest.mark.parametrize("method", METHODS.values(), ids=METHODS)
def test_every_integrator(method, make):
    def run(s):
        result = mbd.simulate(model_of(make, s), 0.1, integrator=method)
        return to_one_metre(result.state(), s), result.counters.steps

    same(run)


@pytest.mark.slow
@pytest.mark.parametrize("rule", RULES.values(), ids=RULES)
def test_every_stabilization(rule):
    def run(s):
        result = mbd.simulate(model_of(slider_crank, s), 0.1, h=1e-2, stabilization=rule)
        return to_one_metre(result.state(), s), result.counters.projections

    same(run)


@pytest.mark.slow
@pytest.mark.parametrize("kind", FORMULATIONS, ids=lambda kind: kind.__name__)
def test_every_formulation(kind):
    """The penalty is a stiffness, whose answer is good to 1e-7 at any length, but not the same."""
    make = pendulum if kind is mbd.ReducedChain else four_bar
    tolerance = 1e-6 if kind is mbd.Penalty else 3e-9

    def run(s):
        result = mbd.simulate(model_of(make, s), 0.05, h=1e-2, formulation=kind())
        return to_one_metre(result.state(), s), result.counters.steps

    same(run, tolerance=tolerance)


def shaken(make, s):
    """A model and a start that is open by some parts in a hundred."""
    model = make(s).compile()
    r = model.state().r.copy()
    r[1:] += 0.02 * s * np.random.default_rng(1).normal(size=r[1:].shape)
    return model, model.state().replace(r=r)


ANALYSES = {
    "assemble": lambda make, pin, s: to_one_metre(mbd.assemble(*shaken(make, s)).state, s),
    "hold": lambda make, pin, s: to_one_metre(mbd.assemble(m := make(s), hold=mbd.FixedCoordinates(m[pin], value=0.2)).state, s),
    "mobility": lambda make, pin, s: [(m := mbd.mobility(make(s))).degrees_of_freedom, m.rank],
    "equilibrium": lambda make, pin, s: mbd.equilibrium(make(s)).state.r / s,
    "modes": lambda make, pin, s: [abs(mode.eigenvalue) for mode in mbd.linearize(make(s), mbd.equilibrium(make(s)).state).modes],
    "kinematics": lambda make, pin, s: to_one_metre(mbd.kinematics(driven(make, pin, s), [0.0, 0.1, 0.3]).state(), s),
    "inverse": lambda make, pin, s: mbd.inverse_dynamics(driven(make, pin, s), [0.0, 0.1, 0.3]).force["drive"] / s**2,
    "branches": lambda make, pin, s: len(mbd.assembly_modes(driven(make, pin, s))),
    "event": lambda make, pin, s: [
        e.t for e in mbd.simulate(make(s), 0.4, rtol=1e-9, events=[mbd.Event("down", falls(make, s))]).events
    ],
}


def driven(make, pin, s):
    system = make(s)
    system.add(RotationDriver("drive", system[pin], lambda t: 0.5 * t))
    return system


def falls(make, s):
    start = make(s).bodies[1].r[2]
    return lambda t, state: state.r[1, 2] - start + 0.05 * s


@pytest.mark.slow
@pytest.mark.parametrize(("make", "pin"), [(pendulum, "pin"), (slider_crank, "O")], ids=["pendulum", "slider-crank"])
@pytest.mark.parametrize("ask", ANALYSES.values(), ids=ANALYSES)
def test_every_analysis(ask, make, pin):
    wanted = np.asarray(ask(make, pin, 1.0))
    assert wanted.size
    for s in (SCALES[0], SCALES[-1]):
        np.testing.assert_allclose(ask(make, pin, s), wanted, rtol=1e-9, atol=1e-11, err_msg=f"scale {s:g}")


def bouncing(s):
    """A ball on a floor, and a pendulum that strikes it."""
    system = pendulum(s)
    ball = system.add(mbd.Body("ball", 1.0, 0.01 * s**2 * np.ones(3), r=(1.5 * s, 0, 0.3 * s)))
    floor = mbd.Contact(
        "floor", system.ground, ball, point=(1.5 * s, 0, 0.3 * s), normal=(0, 0, 1), restitution=0.5, plane_point=(0, 0, 0)
    )
    stop = mbd.Contact(
        "stop", system.ground, system["bar"], point=(s, 0, 0), normal=(0, 0, 1), restitution=0.0, plane_point=(0, 0, -0.5 * s)
    )
    return system, [floor, stop]


@pytest.mark.slow
def test_impacts_and_rest():
    def run(s):
        system, contacts = bouncing(s)
        result = simulate_with(system, 1.0, h=1e-2, contacts=contacts)
        forces = [result.contact(c.name).force[-1] / s for c in contacts]
        impulses = [f / s for hit in result.impacts[:3] for f in hit.normal.values()]
        times = [hit.t for hit in result.impacts[:3]]
        return np.concatenate([to_one_metre(result.state(), s), forces, impulses, times]), len(result.impacts)

    same(run, tolerance=1e-10)


@pytest.mark.slow
def test_an_atol_that_is_given_means_metres():
    """The default is measured by the model's length, a number of the user is not: it is coarse for a small mechanism."""
    for kind in (mbd.DormandPrince, mbd.DOP853, mbd.BDF, mbd.RadauIIA, mbd.GeneralizedAlpha, mbd.SciPySolver):
        steps = {
            (s, said): mbd.simulate(
                pendulum(s),
                0.2,
                integrator=kind(rtol=1e-7, **({"atol": 1e-9} if said else {})),
                stabilization=mbd.Projection() if kind in (mbd.DormandPrince, mbd.DOP853, mbd.SciPySolver) else None,
            ).counters.steps
            for s in (1.0, 1e-6)
            for said in (False, True)
        }
        assert steps[1.0, False] == steps[1e-6, False]
        assert steps[1.0, True] > steps[1e-6, True]


@pytest.mark.slow
def test_a_tolerance_that_is_given_means_metres():
    """What Newton and a projection may leave: of a mechanism of 1e-6 m a default leaves as little as of one of 1 m, a given 1e-9 m more."""

    def left(s, **options):
        result = mbd.simulate(slider_crank(s), 0.1, **options)
        rows = np.array([mbd.evaluate(result.model, state).Phi for state in map(result.state, range(len(result.t)))])
        metres = np.array([label.unit == "m" for label in result.model.labels])
        return float(np.abs(rows[:, metres]).max())

    for s in (1e-6, 1.0, 1e6):
        for method in (mbd.GeneralizedAlpha(h=1e-2), mbd.HHT(h=1e-2), mbd.RK4(h=1e-2)):
            assert left(s, integrator=method) <= 1e-9 * s
        assert left(s, h=1e-2, stabilization=mbd.Projection(tol=1e-8)) <= max(1e-8, 1e-9 * s)
        assert left(s, integrator=mbd.HHT(h=1e-2, tol=1e-9)) <= max(1e-8, 1e-9 * s)
    assert mbd.simulate(slider_crank(1e-6), 0.1, h=1e-2, stabilization=mbd.Projection(tol=1e-8)).counters.projections == 0
    assert mbd.simulate(slider_crank(1e-6), 0.1, h=1e-2).counters.projections > 0
    model = slider_crank(1e-6).compile()
    np.testing.assert_allclose(mbd.HHT(h=1e-2).newton_length(model), model.length, rtol=1e-12)
    assert mbd.HHT(h=1e-2, tol=1e-9).newton_length(model) == 1.0


@pytest.mark.slow
@pytest.mark.parametrize("method", [mbd.RK4(h=1e-2), mbd.DormandPrince(rtol=1e-8)], ids=["RK4", "DormandPrince"])
def test_a_singular_configuration_is_crossed(method):
    """Andrews' windows come upside down and flat: the branch that the velocity selects, and the same list, at any length."""

    def run(s):
        result = mbd.simulate(windows(2, length=s), 1.0, integrator=method)
        crossings = [(c.t, len(c.joints)) for c in result.singular_crossings]
        assert crossings
        return np.concatenate([to_one_metre(result.state(), s), np.ravel(crossings)]), result.counters.steps

    same(run, tolerance=1e-10)


def test_a_mechanism_far_from_the_origin():
    """Coordinates are rounded to 1e-7 m there, which is no dead centre, and the error control does not ask for less than that."""
    far = np.array([1e9, 0.0, 0.0])
    system = mbd.System("far", gravity=(0.0, 0.0, -9.81))
    bar = system.add(mbd.Body("bar", 2.0, (0.02, 0.2, 0.2), r=far + [0.5, 0, 0]))
    system.add(mbd.Body("other", 1.0, (1.0, 1.0, 1.0)))
    from joints import RJ

    system.add(RJ("pin", system.ground, bar, point=far, axis=(0, 1, 0)))
    near = mbd.simulate(pendulum_like(), 0.2, h=1e-2).state()
    for options in ({"h": 1e-2}, {"rtol": 1e-8}, {"integrator": mbd.GeneralizedAlpha(h=1e-2)}, {"integrator": mbd.BDF()}):
        state = mbd.simulate(system, 0.2, **options).state()
        np.testing.assert_allclose(state.omega_bar[1], near.omega_bar[1], atol=2e-3)


def pendulum_like():
    from joints import RJ

    system = mbd.System("near", gravity=(0.0, 0.0, -9.81))
    bar = system.add(mbd.Body("bar", 2.0, (0.02, 0.2, 0.2), r=(0.5, 0, 0)))
    system.add(RJ("pin", system.ground, bar, point=(0, 0, 0), axis=(0, 1, 0)))
    return system


@pytest.mark.slow
@pytest.mark.parametrize("make", MECHANISMS.values(), ids=MECHANISMS)
def test_an_augmented_lagrangian_where_nothing_moves(make):
    """Hanging in equilibrium the accelerations are the rounding of what gravity would do: the iteration ends at that."""
    at_rest = mbd.equilibrium(make(1.0)).state
    found = mbd.accelerations(make(1.0).compile(), at_rest, formulation=mbd.AugmentedLagrangian())
    assert np.abs(found.v_dot).max() <= 1e-9
    result = mbd.simulate(make(1.0), 0.05, h=1e-2, state=at_rest, formulation=mbd.AugmentedLagrangian())
    np.testing.assert_allclose(result.state().r, at_rest.r, atol=1e-9)


def thin_chain(s):
    """A slender rod on a ball, a slender rod on a hinge, and a point mass welded to its end, of s metres."""
    system = mbd.System("thin", gravity=(0.0, 0.0, -9.81 * s))
    first = system.add(mbd.Body("first", *rod(s, mass=1.0, axis=(1, 0, 0)), r=(0.5 * s, 0, 0)))
    second = system.add(mbd.Body("second", *rod(s, mass=1.0, axis=(0, 0, 1)), r=(s, 0, -0.5 * s)))
    tip = system.add(mbd.Body("tip", 0.5, np.zeros((3, 3)), r=(s, 0, -s)))
    system.add(UJ("shoulder", system.ground, first, point=(0, 0, 0), axis_i=(1, 0, 0), axis_j=(0, 1, 0)))
    system.add(RJ("knee", first, second, point=(s, 0, 0), axis=(0, 1, 0)))
    system.add(Fixed("weld", second, tip, point=(s, 0, -s)))
    return system


@pytest.mark.parametrize("s", [1e-9, 1e-6, 1e-3, 1e6])
def test_directions_without_inertia_at_any_length(s):
    """Unit vectors of joints were taken for arms of a metre: slender rods of micrometres were refused as free to spin."""
    here, there = thin_chain(1.0).compile(), thin_chain(s).compile()
    wanted, found = mbd.accelerations(here), mbd.accelerations(there)
    np.testing.assert_allclose(found.v_dot / s, wanted.v_dot, rtol=0.0, atol=1e-9)
    np.testing.assert_allclose(found.omega_bar_dot, wanted.omega_bar_dot, rtol=0.0, atol=1e-9)
    np.testing.assert_allclose(there.tables["SHIFTED"][1:, 1:] / s**2, here.tables["SHIFTED"][1:, 1:], rtol=1e-12)


def test_a_ball_is_all_that_a_slender_rod_needs():
    """A model in which no row reads more than two markers."""
    system = mbd.System("rod", gravity=(0.0, 0.0, -9.81))
    bar = system.add(mbd.Body("bar", *rod(1e-6, mass=1.0, axis=(1, 0, 0)), r=(0.5e-6, 0, 0)))
    system.add(SJ("ball", system.ground, bar, point=(0, 0, 0)))
    system.add(Distance("held", system.ground, bar, point_i=(0, 0, 1e-6), point_j=(1e-6, 0, 0)))
    with pytest.raises(mbd.ModelError, match="no inertia about"):
        system.compile()
