"""Friction in joints: against dense equations, closed forms, and what is refused."""

from __future__ import annotations

import pickle
import warnings
from functools import cache

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import haugmbd as mbd
from haugmbd import BrownMcPhee, Coulomb, JointFriction, LuGre, ModelError, Penalty, ReducedChain, UsageError, Viscous
from haugmbd.compiled.status_codes import FRICTION_UNDECIDED
from haugmbd.forces.friction_laws import tanh_of
from haugmbd.formulations import FORMULATIONS
from haugmbd.formulations.error_messages import explain
from haugmbd.workspace.layout import workspace_array
from joints import CJ, RJ, SJ, TJ, UJ, Planar, PointOnLine, RotationDriver, TranslationDriver
from tests.support.friction import (
    FOR_VISCOUS,
    SIZES,
    G,
    block,
    coefficient,
    dense_solution,
    every_joint,
    four_bar,
    moving,
    normal_forces_of_rod,
    rod_on_a_line,
)

ROUNDING = 1e-11
"""Relative: two solutions of the same equations agree to 1e-15."""
EXACT = 1e-11
"""[m, s] Located events and Runge-Kutta steps are exact for constant accelerations up to rounding, 5e-13."""

LAWS = {
    "exact": (Coulomb(0.2, 0.15), SIZES),
    "smooth": (Coulomb(0.2, velocity=0.05), SIZES),
    "BrownMcPhee": (BrownMcPhee(0.2, 0.15, 0.02), SIZES),
    "viscous": (Viscous(0.3), FOR_VISCOUS),
}
SAME_BEARING = 1e-4
"""Of a dip: a ball joint and a revolute one carry the same force there, and their arms come to rest from the same oscillation."""


def test_tanh_is_that_of_numpy():
    for x in (*np.geomspace(1e-300, 1e4, 2000), *np.linspace(0.4, 0.6, 200), 0.0):
        assert tanh_of(x) == pytest.approx(np.tanh(x), rel=4 * np.finfo(float).eps, abs=0.0)
    assert np.isnan(tanh_of(np.nan))


@pytest.mark.slow
@pytest.mark.parametrize("law", LAWS)
def test_accelerations_are_those_of_the_dense_equations(law):
    model = every_joint(*LAWS[law]).compile()
    for seed in range(3):
        state = moving(model, seed)
        found = mbd.accelerations(model, state)
        u, lam = dense_solution(model, state)
        both = np.hstack([found.v_dot, found.omega_bar_dot])[1:]
        np.testing.assert_allclose(both, u, atol=ROUNDING * np.abs(u).max())
        np.testing.assert_allclose(found.lam, lam, atol=ROUNDING * np.abs(lam).max())


@pytest.mark.slow
@pytest.mark.parametrize("kind", [kind for kind in FORMULATIONS if kind not in (Penalty, ReducedChain)])
def test_every_formulation_with_multipliers_takes_friction(kind):
    model = every_joint(*LAWS["BrownMcPhee"]).compile()
    state = moving(model, 3)
    one, other = mbd.accelerations(model, state), mbd.accelerations(model, state, formulation=kind())
    np.testing.assert_allclose(other.v_dot, one.v_dot, atol=1e-9)
    np.testing.assert_allclose(other.lam, one.lam, atol=1e-9)


@pytest.mark.parametrize("formulation", [Penalty(), ReducedChain()])
def test_formulations_without_them_say_so(formulation):
    with pytest.raises(ModelError, match="rub'.*: its friction depends on what the joint carries"):
        mbd.accelerations(block(Coulomb(0.5)).compile(), formulation=formulation)


METHODS = [{"h": 1e-2}, {"rtol": 1e-10, "atol": 1e-12}]


@pytest.mark.parametrize("method", METHODS, ids=["RK4", "DormandPrince"])
def test_sliding_to_rest_takes_its_closed_form(method):
    result = mbd.simulate(block(Coulomb(0.5), v=1.0), t_end=1.0, **method)
    x, v = result["block"].r[:, 0], result["block"].v[:, 0]
    rest = np.argmax(abs(v) < EXACT)
    assert [(event.name, event.t) for event in result.events] == [("rub stops", result.t[rest])]
    assert x[-1] == pytest.approx(1.0 / (2 * 0.5 * G), abs=EXACT)
    assert x[-1] == pytest.approx(0.1019367992, abs=1e-10)
    assert result.t[rest] == pytest.approx(0.2038735984, abs=1e-10)
    assert (v[rest + 1 :] == 0.0).all()
    energy = result.energy()
    assert energy.dissipated_work[-1] == pytest.approx(1.0, abs=1e-9)  # all of its 1 J
    assert abs(energy.drift).max() < 1e-9
    rub = result.load("rub")
    np.testing.assert_allclose(rub.normal_force, 2.0 * G, rtol=ROUNDING)
    np.testing.assert_allclose(rub.force[: rest - 1], -G, rtol=ROUNDING)
    np.testing.assert_allclose(rub.force[rest + 1 :], 0.0, atol=ROUNDING)


@pytest.mark.slow
def test_a_block_on_a_slope_below_its_limit_does_not_creep():
    result = mbd.simulate(block(Coulomb(0.5), slope=0.999 * np.arctan(0.5)), t_end=100.0, h=1e-2, store_every=100)
    assert len(result.t) == 101
    assert (result["block"].r == 0.0).all()
    assert (result["block"].v == 0.0).all()


def test_a_block_beyond_its_limit_slides():
    slope = 1.001 * np.arctan(0.5)
    result = mbd.simulate(block(Coulomb(0.5), slope=slope), t_end=1.0, h=1e-2)
    assert result["block"].r[-1, 0] == pytest.approx(0.5 * G * (np.sin(slope) - 0.5 * np.cos(slope)), abs=EXACT)


@pytest.mark.parametrize("method", METHODS, ids=["RK4", "DormandPrince"])
def test_slip_starts_when_the_force_needed_passes_the_limit(method):
    system = block(Coulomb(0.5, 0.4))
    system.add(mbd.PointForce("pull", system["block"], point=(0, 0, 0), force=(mbd.Expression("20 * t"), 0, 0)))
    result = mbd.simulate(system, t_end=1.0, **method)
    start = 0.5 * 2.0 * G / 20.0
    x, moved = result["block"].r[:, 0], lambda t: 10 * t**3 / 6 - 0.4 * G * t**2 / 2
    speed = 5 * start**2 - 0.4 * G * start
    assert [event.name for event in result.events] == ["rub slips"]
    assert result.events[0].t == pytest.approx(start, abs=EXACT)
    assert x[-1] == pytest.approx(moved(1.0) - moved(start) - speed * (1.0 - start), abs=EXACT)


def test_bad_numbers_are_told_together():
    system = block(Coulomb(-0.1, 0.4), radius=-1.0)
    pin = system.add(RJ("pin", system.ground, system.add(mbd.Body("b", 1.0, (1, 1, 1))), point=(0, 0, 0), axis=(0, 0, 1)))
    system.add(JointFriction("no radius", pin, Coulomb(0.3)))
    system.add(JointFriction("swapped", pin, Coulomb(0.3, 0.4), radius=0.1))
    system.add(JointFriction("chatters", pin, Coulomb(0.3), radius=0.1, stick=False))
    system.add(JointFriction("viscous", pin, Viscous(0.3), length=0.1))
    other = system.add(
        UJ("cross", system["b"], system.add(mbd.Body("c", 1.0, (1, 1, 1))), point=(0, 0, 0), axis_i=(1, 0, 0), axis_j=(0, 1, 0))
    )
    system.add(JointFriction("unknown", other, Coulomb(0.3)))
    text = "\n".join(map(str, system.faults()))
    for part in (
        "'rub', Coulomb: mu_s = -0.1",
        "'no radius': it has no radius",
        "'swapped', Coulomb: mu_s = 0.3 is smaller than mu = 0.4",
        "'chatters': exact Coulomb friction without stick",
        "'viscous': length = 0.1",
        "'unknown': joint 'cross' (UJ) is of no kind whose friction is known",
    ):
        assert part in text, text


def test_methods_that_cannot_stick_say_so():
    with pytest.raises(UsageError, match=r"friction 'rub' sticks exactly.*BDF does not"):
        mbd.simulate(block(Coulomb(0.5)), t_end=1.0, integrator=mbd.BDF())
    with pytest.raises(UsageError, match="friction 'rub' depends on what its joint carries, and RATTLE"):
        mbd.simulate(block(BrownMcPhee(0.5, 0.4, 1e-2)), t_end=1.0, h=1e-2, integrator=mbd.RATTLE())


def test_brown_mcphee_against_scipy():
    law = BrownMcPhee(0.5, 0.4, 0.05)

    def rates(t, y):
        return y[1], G * np.sin(0.2) - np.sign(y[1]) * coefficient(law, abs(y[1])) * G * np.cos(0.2)

    exact = solve_ivp(rates, (0.0, 1.0), (0.0, 1.0), method="DOP853", rtol=1e-12, atol=1e-14)
    result = mbd.simulate(block(law, v=1.0, slope=0.2), t_end=1.0, rtol=1e-12, atol=1e-14)
    assert result["block"].r[-1, 0] == pytest.approx(exact.y[0, -1], abs=1e-10)
    assert result["block"].v[-1, 0] == pytest.approx(exact.y[1, -1], abs=1e-10)


BRISTLES = (1e3, 5.0, 0.1)
"""Stiffness, damping and viscous part of LuGre's law."""


@cache
def end_with_bristles():
    """Place and velocity after 1 s on the slope, by SciPy."""
    sigma0, sigma1, sigma2 = BRISTLES

    def rates(t, y):
        x, v, z = y
        z_dot = v - sigma0 * abs(v) * z / (0.4 + 0.1 * np.exp(-((v / 0.05) ** 2)))
        mu = sigma0 * z + sigma1 * z_dot + sigma2 * v
        return v, G * np.sin(0.2) - mu * G * np.cos(0.2), z_dot

    return solve_ivp(rates, (0.0, 1.0), (0.0, 1.0, 0.0), method="DOP853", rtol=1e-12, atol=1e-14).y[:2, -1]


@pytest.mark.slow
@pytest.mark.parametrize("method", [{"rtol": 1e-11, "atol": 1e-13}, {"integrator": mbd.RadauIIA(rtol=1e-8, atol=1e-10)}])
def test_lugre_against_scipy(method):
    result = mbd.simulate(block(LuGre(0.5, 0.4, 0.05, *BRISTLES), v=1.0, slope=0.2), t_end=1.0, **method)
    place, velocity = end_with_bristles()
    accuracy = 1e-10 if "rtol" in method else 1e-8
    assert result["block"].r[-1, 0] == pytest.approx(place, abs=accuracy)
    assert result["block"].v[-1, 0] == pytest.approx(velocity, abs=accuracy)


def test_a_body_slides_to_rest_on_a_plane_along_a_curve():
    system = mbd.System("plane", gravity=(0.5, 0, -G))
    body = system.add(mbd.Body("body", 1.0, (0.1, 0.1, 0.1), v=(1, 2, 0)))
    plane = system.add(Planar("plane", system.ground, body, point=(0, 0, 0), normal=(0, 0, 1)))
    system.add(JointFriction("rub", plane, Coulomb(0.2, 0.15)))
    result = mbd.simulate(system, t_end=3.0, rtol=1e-11, atol=1e-13)

    def rates(t, y):
        return np.concatenate([y[2:], (0.5, 0.0) - 0.15 * G * y[2:] / np.linalg.norm(y[2:])])

    def slow(t, y):
        return np.linalg.norm(y[2:]) - 1e-7

    slow.terminal = True
    exact = solve_ivp(rates, (0.0, 3.0), (0, 0, 1, 2), method="DOP853", rtol=1e-12, atol=1e-14, events=slow)
    np.testing.assert_allclose(result["body"].r[-1, :2], exact.y[:2, -1], atol=1e-7)
    assert abs(result["body"].v[-1]).max() < EXACT
    assert result.t[-1] == 3.0


@pytest.mark.slow
def test_a_body_that_turns_while_it_slides_has_not_stopped():
    system = mbd.System("puck", gravity=(0, 0, -9.81))
    puck = system.add(mbd.Body("puck", 1.0, (0.1, 0.1, 0.1), v=(1.0, 0, 0)))
    plane = system.add(Planar("ice", system.ground, puck, point=(0, 0, 0), normal=(0, 0, 1)))
    system.add(mbd.JointFriction("rub", plane, mbd.Coulomb(0.05)))
    pull = mbd.PointForce("pull", puck, point=(0, 0, 0), force=lambda t, r, p, v, w: np.array([-4 * v[1], 4 * v[0], 0]))
    system.add(pull)
    result = mbd.simulate(system, 3.0, h=1e-3)
    assert [event.name for event in result.events] == ["rub stops"]  # after more than one turn
    assert result.events[0].t == pytest.approx(1.0 / (0.05 * 9.81), abs=1e-7)
    turned = 4.0 * result.t[result.t < 2.0]
    np.testing.assert_allclose(result["puck"].v[: len(turned), 1], (1.0 - 0.4905 * turned / 4.0) * np.sin(turned), atol=1e-9)


@pytest.mark.parametrize(("mu", "angle", "omega", "what"), [(1.5, 1.1, 0.0, "two solutions"), (1.5, 1.1, 6.0, "no solution")])
def test_painleve_cases_are_told_apart(mu, angle, omega, what):
    assert len(normal_forces_of_rod(mu, angle, omega)) == (2 if what == "two solutions" else 0)
    with pytest.raises(mbd.SimulationError, match=f"friction 'rub' in joint 'tip' has {what}"):
        mbd.accelerations(rod_on_a_line(mu, angle, omega).compile())


def test_below_painleve_the_reaction_is_the_only_one():
    (N,) = normal_forces_of_rod(0.3, 1.0)
    assert mbd.accelerations(rod_on_a_line(0.3, 1.0).compile()).lam[0] == pytest.approx(-N, rel=ROUNDING)


@pytest.mark.slow
def test_a_loop_with_friction_in_all_joints_comes_to_rest_and_stays():
    """Every joint reaches rest at the same instant: the friction of each is not unique there, and what it holds is."""
    runs = [
        mbd.simulate(four_bar(kinds, Coulomb(0.9, 0.8)), t_end=8.0, rtol=1e-8, atol=1e-10)
        for kinds in ((RJ, RJ, SJ, CJ), (RJ, RJ, RJ, RJ))
    ]
    for result in runs:
        assert abs(result.v[-1]).max() < EXACT
        assert abs(result.energy().drift).max() < 1e-4  # of 20 J, with kinks of the friction between stored states
    np.testing.assert_allclose(runs[0].r[-1], runs[1].r[-1], atol=1e-5)


def test_friction_of_a_reaction_that_is_not_unique_is_refused():
    with pytest.raises(ModelError, match="what joint 'A' carries is not unique: the redundant rows of 'A', 'B', 'C', 'D' share"):
        four_bar((RJ, RJ, RJ, RJ), Coulomb(0.2), length=0.1).compile()


@pytest.mark.slow
@pytest.mark.parametrize("method", [mbd.BDF(rtol=1e-8, atol=1e-10), mbd.RadauIIA(rtol=1e-7, atol=1e-9)], ids=["BDF", "RadauIIA"])
def test_implicit_methods_take_smooth_laws(method):
    model = four_bar((RJ, RJ, SJ, CJ), BrownMcPhee(0.5, 0.4, 0.02)).compile()
    exact = mbd.simulate(model, t_end=0.5, rtol=1e-10, atol=1e-12)
    result = mbd.simulate(model, t_end=0.5, integrator=method)
    np.testing.assert_allclose(result.r[-1], exact.r[-1], atol=2e-5)


def test_an_implicit_method_takes_long_steps_where_the_law_is_stiff():
    result = mbd.simulate(block(BrownMcPhee(0.5, 0.5, 1e-6), v=1.0), t_end=1.0, integrator=mbd.GeneralizedAlpha(h=1e-2))
    assert len(result.t) == 101
    assert result["block"].r[-1, 0] == pytest.approx(1.0 / G, abs=1e-4)  # order two of the step at the kink


@pytest.mark.slow
@pytest.mark.parametrize("law", [BrownMcPhee(0.2, 0.15, 0.02), LuGre(0.3, 0.2, 0.01, 1e3, 0.05)], ids=["BrownMcPhee", "LuGre"])
def test_a_model_file_and_another_process_keep_friction(tmp_path, law):
    system = every_joint(law)
    system.save(tmp_path / "model.json")
    read = mbd.load_model(tmp_path / "model.json")
    read.save(tmp_path / "again.json")
    assert (tmp_path / "again.json").read_bytes() == (tmp_path / "model.json").read_bytes()
    models = [system.compile(), read.compile(), pickle.loads(pickle.dumps(system)).compile()]  # noqa: S301  its own
    found = [mbd.accelerations(model, moving(models[0], 1)).lam for model in models]
    np.testing.assert_array_equal(found[1], found[0])
    np.testing.assert_array_equal(found[2], found[0])


@pytest.mark.parametrize("law", [Coulomb(0.3), BrownMcPhee(0.3, 0.2, 0.1), Viscous(0.2)], ids=lambda law: type(law).__name__)
def test_the_power_of_friction_is_verified(law):
    system = block(law, **({} if isinstance(law, Viscous) else {"preload": 5.0}))
    assert mbd.verify(system["rub"]).ok


def test_small_motions_are_refused():
    with pytest.raises(UsageError, match="linearize takes the forces .* friction 'rub' depends on them"):
        mbd.linearize(block(Coulomb(0.5)))


def test_inverse_dynamics_counts_friction():
    """A driver that pulls the block at 1 m/s needs mu m g."""
    system = block(Coulomb(0.5), v=1.0)
    system.add(TranslationDriver("pull", system["rail"], lambda t: t))
    found = mbd.inverse_dynamics(system, mbd.kinematics(system, np.linspace(0.0, 1.0, 5)))
    np.testing.assert_allclose(found["pull"], 0.5 * 2.0 * G, rtol=ROUNDING)


def test_bristles_too_stiff_for_the_step_are_no_painleve():
    system = block(mbd.LuGre(0.3, 0.2, 0.01, 1e3, 10.0, 0.1), 2.0)
    with pytest.raises(mbd.SimulationError, match="'rub' in joint 'rail' is not finite.*Give h = .* s or less"):
        mbd.simulate(system, 1.0, h=1e-2)
    ends = [
        mbd.simulate(system, 0.3, integrator=each)["block"].r[-1, 0] for each in (mbd.DormandPrince(rtol=1e-6), mbd.BDF(rtol=1e-8))
    ]
    assert abs(ends[0] - ends[1]) < 1e-5  # [m] of 0.5


def test_two_frictions_of_a_joint_of_which_one_sticks_are_refused():
    def made(*laws):
        system = mbd.System("twice", gravity=(0, 0, -9.81))
        block = system.add(mbd.Body("block", 2.0, (0.1, 0.1, 0.1), v=(1.0, 0, 0)))
        rail = system.add(TJ("rail", system.ground, block, point=(0, 0, 0), axis=(1, 0, 0)))
        for k, law in enumerate(laws):
            system.add(mbd.JointFriction(f"rub {k}", rail, law))
        return system

    with pytest.raises(mbd.ModelError, match=r"'rub 1'.*'rail'.*'rub 0'"):
        made(mbd.Coulomb(0.3, 0.2), mbd.BrownMcPhee(0.3, 0.2, 1e-2)).compile()
    result = mbd.simulate(made(mbd.Coulomb(0.3, 0.2), mbd.Viscous(0.5)), 2.0, h=1e-3)
    mu_g, rate = 0.2 * 9.81, 0.5 / 2.0  # v' = -mu g - c v / m
    assert abs(result.events[0].t - np.log(1.0 + rate / mu_g) / rate) < 1e-9


@pytest.mark.slow
@pytest.mark.parametrize("method", [mbd.DormandPrince(rtol=1e-10, atol=1e-12), mbd.DOP853(rtol=1e-9, atol=1e-11)], ids=["5", "8"])
def test_a_stage_without_a_solution_is_tried_again_with_a_shorter_step(method):
    """A bar with bristles in its pin hits a stiff stop: stages far behind it have so much load that its friction has no solution."""
    system = mbd.System("bar on a stop", gravity=(0, 0, -G))
    bar = system.add(mbd.Body("bar", 2.0, (0.1, 0.1, 0.1), r=(0.5, 0, 0)))
    pin = system.add(RJ("pin", system.ground, bar, point=(0, 0, 0), axis=(0, 1, 0)))
    system.add(mbd.JointLimit("stop", pin, upper=0.4, k=1e4, c=50.0))
    system.add(mbd.JointFriction("rub", pin, mbd.LuGre(0.2, 0.15, 0.01, 1e3, 2.0, 0.01), radius=0.02))
    end = mbd.simulate(system, 0.3, integrator=method).joint("pin").angle[-1]
    reference = mbd.simulate(system, 0.3, integrator=mbd.BDF(rtol=1e-9, atol=1e-11)).joint("pin").angle[-1]
    assert end == pytest.approx(reference, abs=1e-7)


@pytest.mark.slow
def test_bristles_in_too_long_a_step_are_told_from_a_friction_without_a_solution():
    """The step of 1 ms is 17 um of slip at first and far more later; bristles follow 10 um. It was reported as Painleve's paradox."""

    def arm():
        system = mbd.System("arm", gravity=(0, 0, -9.81))
        upper = system.add(mbd.Body("upper", 2.0, (0.02, 0.2, 0.2), r=(0.5, 0, 0)))
        lower = system.add(mbd.Body("lower", 1.0, (0.01, 0.1, 0.1), r=(1.5, 0, 0)))
        system.add(RJ("shoulder", system.ground, upper, point=(0, 0, 0), axis=(0, 1, 0)))
        elbow = system.add(RJ("elbow", upper, lower, point=(1, 0, 0), axis=(0, 1, 0)))
        system.add(mbd.JointFriction("rub", elbow, mbd.LuGre(0.2, 0.1, 0.01, 1e4, 10.0, 0.01), radius=0.05))
        return system

    with pytest.raises(mbd.SimulationError, match=r"friction 'rub' .*bristles.*mu_c / sigma0 = 1e-05 m.*shorter steps") as caught:
        mbd.simulate(arm(), 0.1, h=1e-3)
    assert "Painleve" not in str(caught.value)
    fine = mbd.simulate(arm(), 0.1, h=1e-5, store_every=10)
    stiff = mbd.simulate(arm(), 0.1, rtol=1e-7, atol=1e-9, integrator=mbd.BDF())
    np.testing.assert_allclose(stiff.y[-1], fine.y[-1], atol=1e-4)


def test_damped_bristles_without_a_solution_stay_painleve():
    """At the start z = 0 is within its range, and sigma1 s alone is a coefficient of 5."""
    center = 0.5 * np.array([np.cos(1.2), np.sin(1.2), 0.0])
    system = mbd.System("rod", gravity=(0, -G, 0))
    rod = system.add(mbd.Body("rod", 1.0, (1 / 12, 1 / 12, 1 / 12), r=center, v=(1.0, 0, 0)))
    tip = system.add(PointOnLine("tip", system.ground, rod, point=(0, 0, 0), axis=(1, 0, 0)))
    system.add(JointFriction("rub", tip, LuGre(0.4, 0.3, 0.01, 1e3, 5.0)))
    with pytest.raises(mbd.SimulationError, match="'rub' in joint 'tip' has two solutions.*Painleve"):
        mbd.simulate(system, 0.1, h=1e-3)


def test_bristles_that_a_run_bends_beyond_their_range_are_a_warning():
    """RK4 in steps of three relaxations: the block gained speed from its friction, and nothing told."""
    law = LuGre(0.4, 0.3, 0.01, 1e5, 300.0)
    with pytest.warns(mbd.RunWarning, match=r"bristles of friction 'rub' in joint 'rail' bend to .* within mu_s = 0.4"):
        result = mbd.simulate(block(law, 1.0), 2e-3, h=1e-5)
    assert result["block"].v[-1, 0] > 1.0
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        fine = mbd.simulate(block(law, 1.0), 2e-3, h=1e-6)
    assert fine["block"].v[-1, 0] < 1.0


def test_joints_whose_rest_is_not_decided_are_told_with_what_is_lacking():
    system = mbd.System("bar")
    body = system.add(mbd.Body("bar", 1.0, (0.1, 0.1, 0.1)))
    joint = system.add(RJ("pin", system.ground, body, point=(0, 0, 0), axis=(0, 1, 0)))
    system.add(JointFriction("brake", joint, Coulomb(0.3, 0.2), radius=0.1))
    model = system.compile()
    pack = model.pack()
    workspace_array(pack, "STATUS")[0, :3] = FRICTION_UNDECIDED, 0, 2.5
    with pytest.raises(
        mbd.SimulationError, match="which joints stick was not found at t = 0.5 s: friction 'brake' in joint 'pin' lacks 2.5 N"
    ):
        raise explain(model, pack, FRICTION_UNDECIDED, 0.5)


@pytest.mark.slow
@pytest.mark.parametrize("method", [{"rtol": 1e-8, "integrator": mbd.RadauIIA()}, {"h": 2e-4}], ids=["RadauIIA", "RK4"])
def test_the_bristles_of_a_ball_joint_turn_with_its_bodies(method):
    """An arm that friction holds on a turntable. Its bristles kept their direction in space, so that it sank, by 1.7e-4 rad a turn."""
    rate, t_end, dips = 2.0 * np.pi, 3.0, []
    for kind, more in ((SJ, {}), (RJ, {"axis": (0, 1, 0)})):
        system = mbd.System("turntable", gravity=(0, 0, -9.81))
        table = system.add(mbd.Body("table", 10.0, (1, 1, 1), omega_bar=(0, 0, rate)))
        arm = system.add(mbd.Body("arm", 1.0, (0.01, 0.05, 0.05), r=(0.5, 0, 0), v=(0, 0.5 * rate, 0), omega_bar=(0, 0, rate)))
        axle = system.add(RJ("axle", system.ground, table, point=(0, 0, 0), axis=(0, 0, 1)))
        system.add(RotationDriver("drive", axle, (lambda t: rate * t, lambda t: rate, lambda t: 0.0)))
        joint = system.add(kind("joint", table, arm, point=(0, 0, 0), **more))
        system.add(JointFriction("rub", joint, LuGre(0.5, 0.4, 1e-2, 1e3, 1.0), radius=0.05, preload=4000.0))
        dips.append(-mbd.simulate(system, t_end, **method)["arm"].r[:, 2][-1])
    assert dips[0] == pytest.approx(dips[1], rel=SAME_BEARING)


@pytest.mark.slow
def test_short_steps_of_index_three_converge_with_friction_by_the_reaction():
    """They were taken for solved by their displacements, which move by h^2 alone: steps of 1.25e-4 s had 12 times the error of 5e-4 s."""
    system, before = mbd.System("chain", gravity=(0, 0, -9.81)), None
    for k in range(3):
        link = system.add(mbd.Body(f"link {k}", 1.0, (0.01, 0.1, 0.1), r=(k + 0.5, 0, 0)))
        pin = system.add(RJ(f"pin {k}", before or system.ground, link, point=(k, 0, 0), axis=(0, 1, 0)))
        system.add(JointFriction(f"rub {k}", pin, Coulomb(0.3, velocity=0.05), radius=0.05))
        before = link
    exact = mbd.simulate(system, 0.3, rtol=1e-11).r[-1]
    steps = (1e-3, 5e-4, 2.5e-4, 1.25e-4)
    errors = [np.abs(mbd.simulate(system, 0.3, integrator=mbd.GeneralizedAlpha(h=h)).r[-1] - exact).max() for h in steps]
    np.testing.assert_allclose(np.log2(np.divide(errors[:-1], errors[1:])), 2.0, atol=0.1)


@pytest.mark.slow
@pytest.mark.parametrize("form", [mbd.Index3(), mbd.Index2()], ids=["index 3", "index 2"])
def test_iterations_that_fall_slowly_are_not_taken_for_rounding(form):
    """Each iteration leaves 0.6 of the error of the moment that a guide carries, in steps of any length.

    That was taken for rounding, with errors of 1e-3 m in the shortest steps; or steps were divided, with 225 evaluations in each.
    """
    system = mbd.System("block", gravity=(0, 0, -9.81))
    block = system.add(mbd.Body("block", 1.0, (0.1, 0.1, 0.1), r=(0, 0, 0.3), v=(3, 0, 0)))
    guide = system.add(TJ("guide", system.ground, block, point=(0, 0, 0), axis=(1, 0, 0)))
    system.add(JointFriction("rub", guide, Coulomb(0.3, velocity=0.05), length=0.3))
    system.add(mbd.TSDA("spring", system.ground, block, point_i=(1, 0, 0.5), point_j=(0, 0, 0.5), k=50.0, l0=0.2))
    exact = mbd.simulate(system, 0.3, rtol=1e-11).r[-1]
    errors = []
    for h in (2e-3, 1e-3, 5e-4, 2.5e-4):
        result = mbd.simulate(system, 0.3, integrator=mbd.GeneralizedAlpha(h=h, constraint_form=form))
        errors.append(np.abs(result.r[-1] - exact).max())
        assert result.counters.evaluations < 40 * result.counters.steps
    assert np.log2(errors[0] / errors[-1]) > 3.0 * 1.5


@pytest.mark.slow
@pytest.mark.parametrize("rtol", [1e-5, 1e-8])
def test_error_control_does_not_take_what_iterations_leave_for_an_error_of_the_step(rtol):
    """RadauIIA was refused at rtol = 1e-5, with steps of 1e-17 s where the motion is smooth, and took 2100 steps at 1e-8."""
    system = mbd.System("plate", gravity=(0.3, 0.2, -9.81))
    car = system.add(mbd.Body("car", 3.0, (0.2, 0.25, 0.3)))
    system.add(RJ("hinge", system.ground, car, point=(0, 0, 0.8), axis=(0.082, 0.997, 0.0)))
    plate = system.add(mbd.Body("plate", 1.3, (0.02, 0.05, 0.06), r=(0.3, 0.1, 0.05)))
    slide = system.add(Planar("slide", car, plate, point=(0.1, 0, 0), normal=(1.0, 0.2, -0.013)))
    system.add(JointFriction("rub", slide, Coulomb(0.25, velocity=0.01), length=0.2, preload=0.2))
    exact = mbd.simulate(system, 0.3, rtol=1e-11)
    result = mbd.simulate(system, 0.3, rtol=rtol, integrator=mbd.RadauIIA())
    assert np.abs(result.r[-1] - exact.r[-1]).max() < rtol
    assert result.counters.steps < 200
