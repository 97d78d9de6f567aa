"""Mass and inertia in time: the rocket's and the leaking bucket's closed equations, and the ledger of energy, in every method."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import haugmbd as mbd
from joints import RJ, TJ, TranslationDriver

G, M0, FLOW, EXHAUST, T = 9.81, 50.0, 8.0, 60.0, 1.0
RIGHT = EXHAUST * np.log(M0 / (M0 - FLOW * T)) - G * T
EXACT = {"rtol": 1e-11, "atol": 1e-12}
METHODS = {
    "fixed": ({"h": 0.01}, 1e-9),
    "adaptive": (EXACT, 1e-9),
    "Baumgarte": ({"h": 0.01, "stabilization": mbd.Baumgarte(20, 20)}, 1e-9),
    "HEM4": ({"integrator": mbd.HEM4(h=0.01)}, 1e-9),
    "Radau": ({"integrator": mbd.RadauIIA(rtol=1e-9, atol=1e-10)}, 1e-8),
    "BDF": ({"integrator": mbd.BDF(rtol=1e-9, atol=1e-10)}, 1e-6),
    "HHT": ({"h": 0.01, "integrator": mbd.HHT()}, 2e-4),
    "generalized alpha": ({"h": 0.01, "integrator": mbd.GeneralizedAlpha()}, 2e-4),
    "RATTLE": ({"h": 0.01, "integrator": mbd.RATTLE()}, 2e-4),
    "null space": ({"h": 0.01, "formulation": mbd.NullSpace()}, 1e-9),
    "Udwadia": ({"h": 0.01, "formulation": mbd.UdwadiaKalaba()}, 1e-9),
    "augmented": ({"h": 0.01, "formulation": mbd.AugmentedLagrangian()}, 1e-7),
}


def mass(t):
    return M0 - FLOW * t


def rocket(given, *, exhaust=None, blocks=()):
    system = mbd.System("launch", gravity=(0, 0, -G))
    for block in blocks:
        system.add(block)
    body = system.add(mbd.Body("rocket", given, (1, 1, 1), exhaust=exhaust))
    system.add(TJ("rail", system.ground, body, point=(0, 0, 0), axis=(0, 0, 1)))
    if exhaust is None:
        system.add(mbd.PointForce("thrust", body, point=(0, 0, 0), force=(0, 0, FLOW * EXHAUST)))
    return system


def tank():
    return mbd.Block("tank", M0, derivative=lambda t, x, signals: -FLOW, outputs={"mass": lambda t, x, signals: x[0]})


def test_the_forms_of_a_mass_give_the_rocket_equation():
    block = tank()
    forms = {
        "thrust": rocket(mass),
        "exhaust": rocket(mass, exhaust=(0, 0, -EXHAUST)),
        "formula": rocket(mbd.Expression("50 - 8*t")),
        "in Python": rocket(lambda t: M0 - FLOW * t if t < 1e9 else 1.0),
        "of a block": rocket(block["mass"], blocks=[block]),
    }
    for form, system in forms.items():
        result = mbd.simulate(system, T, **EXACT)
        assert abs(result["rocket"].v[-1, 2] - RIGHT) < 1e-9, form
        assert np.abs(result.energy().drift).max() < 1e-7, form


@pytest.mark.slow
@pytest.mark.parametrize("method", METHODS)
def test_every_method_has_the_mass_of_the_instant(method):
    how, bar = METHODS[method]
    result = mbd.simulate(rocket(mass), T, **how)
    assert abs(result["rocket"].v[-1, 2] - RIGHT) < bar
    assert abs(result.energy().kinetic[-1] - 0.5 * mass(T) * result["rocket"].v[-1, 2] ** 2) < 1e-9
    assert abs(result.momentum().linear[-1, 2] - mass(T) * result["rocket"].v[-1, 2]) < 1e-9


@pytest.mark.slow
@pytest.mark.parametrize("J", [0.05, 0.0])
def test_a_bucket_that_leaks_swings_as_its_own_equation(J):
    """(m l^2 + J) th'' = -m g l sin th, also of a point mass, whose inertia is shifted on its massless axes."""
    l, m = 0.8, lambda t: 3.0 - 0.5 * t
    system = mbd.System("bucket", gravity=(0, 0, -G))
    bob = system.add(mbd.Body("bob", m, (J, J, J), r=(l * np.sin(1.0), 0, -l * np.cos(1.0))))
    system.add(RJ("pin", system.ground, bob, point=(0, 0, 0), axis=(0, -1, 0), q0=1.0))
    result = mbd.simulate(system, 2.0, **EXACT)

    def rates(t, y):
        return [y[1], -m(t) * l * G * np.sin(y[0]) / (m(t) * l * l + J)]

    right = solve_ivp(rates, (0, 2), [1.0, 0], rtol=1e-12, atol=1e-13, method="DOP853").y[:, -1]
    assert abs(result.joint("pin").angle[-1] - right[0]) < 1e-9
    assert np.abs(result.energy().drift).max() < 1e-8
    a, force = result["bob"].a[-1], result.reaction("pin").force[-1]
    held = m(2.0) * (a + np.array([0, 0, G]))
    assert min(np.abs(force - held).max(), np.abs(force + held).max()) < 1e-8


def test_a_skater_keeps_angular_momentum_and_a_shedding_one_keeps_her_rate():
    def J(t):
        return 2.0 - 0.5 * np.sin(t)

    for m, kept in ((10.0, 2.0 * J(0.0)), (lambda t: 10.0 - 0.1 * t, 2.0 * J(2.0))):
        system = mbd.System("ice")
        system.add(mbd.Body("skater", m, (3.0, 3.0, J), omega_bar=(0, 0, 2.0)))
        result = mbd.simulate(system, 2.0, **EXACT)
        assert abs(result.momentum().angular[-1, 2] - kept) < 1e-9
        assert np.abs(result.energy().drift).max() < 1e-8


def test_a_driven_mass_tells_the_force_that_it_takes():
    system = mbd.System("lift", gravity=(0, 0, -G))
    body = system.add(mbd.Body("cabin", mass, (1, 1, 1)))
    rail = system.add(TJ("rail", system.ground, body, point=(0, 0, 0), axis=(0, 0, 1)))
    system.add(TranslationDriver("drive", rail, lambda t: t**3))
    result = mbd.simulate(system, T, h=0.02)
    assert np.abs(result.driver("drive").force - mass(result.t) * (6.0 * result.t + G)).max() < 1e-9


WRONG = {
    "negative": (lambda t: -1.0, "its mass is -1 kg at t = 0"),
    "NaN": (lambda t: np.nan, "mass at t = 0 is nan"),
    "an error": (lambda t: 1.0 / 0.0, "mass\\(0\\) raises ZeroDivisionError"),
    "of the state": (lambda t, x: 1.0, "mass\\(0\\) raises TypeError"),
}


@pytest.mark.parametrize("what", WRONG)
def test_a_mass_that_cannot_be_is_one_fault(what):
    given, words = WRONG[what]
    with pytest.raises(mbd.ModelError, match=f"1 fault: body 'rocket': {words}"):
        rocket(given).compile()


def test_an_exhaust_of_a_constant_mass_is_refused():
    with pytest.raises(mbd.ModelError, match="body 'rocket': it has an exhaust velocity, and a mass that does not change"):
        rocket(3.0, exhaust=(0, 0, -1.0)).compile()


@pytest.mark.parametrize(
    "how",
    [
        {"h": 0.05},
        {"rtol": 1e-8},
        {"integrator": mbd.BDF(rtol=1e-5)},
        {"integrator": mbd.RadauIIA(rtol=1e-5)},
        {"integrator": mbd.SciPySolver()},
    ],
    ids=["RK4", "adaptive", "BDF", "Radau", "SciPy"],
)
@pytest.mark.parametrize("guided", [True, False], ids=["on a rail", "free"])
def test_a_mass_that_becomes_negative_is_named_with_its_time(how, guided):
    system = rocket(mass)
    if not guided:
        system.remove(system["rail"])
    with pytest.raises(mbd.SimulationError, match=r"body 'rocket': its mass is .* kg at t = 6\.2"):
        mbd.simulate(system, 8.0, **how)


def test_what_has_one_mass_matrix_is_refused_by_the_body():
    system = rocket(mass)
    for ask in (
        lambda: mbd.batch(system.compile(), parameters={"gravity": np.zeros((2, 3))}),
        lambda: mbd.linearize(system),
        lambda: mbd.equilibrium(system),
    ):
        with pytest.raises(mbd.UsageError, match="'rocket' change in time"):
            ask()
    system.add(mbd.Contact("floor", system.ground, system["rocket"], point=(0, 0, 0), normal=(0, 0, 1), plane_point=(0, 0, -1)))
    with pytest.raises(mbd.ModelError, match="body 'rocket': its mass changes in time, and the system has rigid contacts"):
        system.compile()


@pytest.mark.slow
def test_a_mass_in_time_is_saved_copied_mirrored_and_goes_on(tmp_path):
    system = mbd.System("tip", gravity=(0, 0, -G))
    mass, moments = mbd.Expression("3 - 0.5*t"), (mbd.Expression("0.1 + 0.02*t"), 0.1, 0.12)
    body = system.add(mbd.Body("cup", mass, moments, r=(0.5, 0.1, 0), exhaust=(0.3, 0.2, 0.1)))
    system.add(RJ("pin", system.ground, body, point=(0, 0, 0), axis=(0, 1, 0)))
    one = mbd.simulate(system, 0.4, h=0.01)
    system.save(tmp_path / "cup.json")
    assert np.array_equal(mbd.simulate(mbd.load_model(tmp_path / "cup.json"), 0.4, h=0.01)["cup"].r, one["cup"].r)
    assert np.array_equal(mbd.simulate(pickle.loads(pickle.dumps(system.compile())), 0.4, h=0.01)["cup"].r, one["cup"].r)
    half = mbd.simulate(system, 0.2, h=0.01)
    assert np.abs(mbd.simulate(system, 0.4, h=0.01, state=half.state())["cup"].r[-1] - one["cup"].r[-1]).max() < 1e-13
    whole = mbd.System("two", gravity=(0, 0, -G))
    whole.add(system, prefix="left/")
    whole.add(system, prefix="right/", mirror="xz")
    result = mbd.simulate(whole, 0.4, h=0.01)
    assert np.abs(result["left/cup"].r - one["cup"].r).max() < 1e-12
    assert np.abs(result["right/cup"].r - one["cup"].r * (1, -1, 1)).max() < 1e-12
    whole.remove([whole["right/pin"], whole["right/cup"]])
    assert [load.name for load in whole.loads] == ["mass of left/cup"]
