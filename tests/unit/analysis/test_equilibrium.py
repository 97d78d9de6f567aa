"""Equilibria against closed forms, against scalar equations, against the accelerations of the same state, and against long damped runs."""

from __future__ import annotations

from math import asin, cos, pi, sin, sqrt

import numpy as np
import pytest
from scipy.optimize import brentq, root

import haugmbd as mbd
from haugmbd.analysis.equilibrium import solver, tangent_matrices, tangent_space
from haugmbd.analysis.equilibrium.residual import evaluate_residual, make_residual_evaluator
from haugmbd.analysis.equilibrium.steady_motion import read_steady
from haugmbd.analysis.equilibrium.tangent_matrices import sources_of_forces
from haugmbd.analysis.equilibrium.tangent_space import differentiated
from haugmbd.diagnostics.energy import kinetic_and_potential
from haugmbd.gallery import double_pendulum, four_bar, net, slider_crank
from haugmbd.simulation.stepping.progress import Progress
from joints import RJ, SJ, TJ, Cam, Gear, RotationDriver
from tests.support.machines import chain_of_masses, g, governor, governor_balance, pendulum
from tests.support.redundant_loops import bennett, bricard, ladder
from tests.support.swinging_loops import loops

ROUNDING = 1e-12  # some hundred operations on numbers of size 1 to 1000


def at_rest(found):
    """Accelerations, by the formulation, of the state that was found; and its multipliers are the same."""
    a = mbd.accelerations(found.model, found.state)
    np.testing.assert_allclose(found.lam, a.lam, rtol=0.0, atol=1e-11 * max(1.0, np.abs(a.lam).max(initial=0.0)))
    return a


@pytest.mark.slow
@pytest.mark.parametrize("angle", [0.3, pi / 2, 2.0, 3.1])
def test_a_pendulum_hangs_whatever_it_starts_from(angle):
    found = mbd.equilibrium(pendulum(angle))
    assert found.stability is mbd.Stability.STABLE
    np.testing.assert_allclose(found.state.r[1], [0, 0, -1.2], atol=ROUNDING)
    np.testing.assert_allclose(found.stiffness, [3.0 * g * 1.2], rtol=1e-9)  # per rad2: one unit motion is one of turn and move
    np.testing.assert_allclose(found.reaction("pin").force, [0, 0, 3 * g], atol=1e-11)
    assert np.abs(at_rest(found).v_dot).max() < ROUNDING


@pytest.mark.parametrize("angle", [pi, pi - 0.2])
def test_an_unstable_equilibrium_is_found_where_it_is_asked_for(angle):
    found = mbd.equilibrium(pendulum(angle), downhill=False)
    assert found.stability is mbd.Stability.UNSTABLE
    assert not found.stable
    np.testing.assert_allclose(found.state.r[1], [0, 0, 1.2], atol=ROUNDING)
    assert "unstable" in str(found)
    assert "'bar' turns 1.00 about y" in str(found)
    assert found.motion(0).startswith("'bar' turns 1.00 about y")


@pytest.mark.slow
def test_a_spring_against_a_weight_with_three_equilibria():
    """k theta = m g L sin(theta), a pendulum upside down on a spring that is relaxed upright: upright is unstable, both sides are not."""
    k = 0.8 * 3.0 * g * 1.2
    theta = brentq(lambda x: k * x - 3.0 * g * 1.2 * sin(x), 0.1, 3.0, xtol=1e-15)
    assert mbd.equilibrium(pendulum(pi, k=k)).stability is mbd.Stability.UNSTABLE
    for side in (-1.0, 1.0):
        system = pendulum(pi, k=k)
        model = system.compile()
        start = model.state()
        tilted = start.replace(
            p=pose(pi + side * 0.1), r=np.array([[0, 0, 0], [1.2 * sin(pi + side * 0.1), 0, -1.2 * cos(pi + side * 0.1)]])
        )
        found = mbd.equilibrium(model, tilted)
        np.testing.assert_allclose(found.state.r[1], [-side * 1.2 * sin(theta), 0, 1.2 * cos(theta)], atol=1e-12)
        np.testing.assert_allclose(found.stiffness, [k - 3.0 * g * 1.2 * cos(theta)], rtol=1e-9)
        assert found.stable


def pose(angle):
    return np.array([[1.0, 0, 0, 0], [cos(angle / 2), 0, -sin(angle / 2), 0]])


@pytest.mark.slow
def test_a_spring_is_wound_up_by_several_turns():
    """A constant torque of 40 N m on a spring of 2 N m/rad: 20 rad, more than three turns, and the angle is counted."""
    system = mbd.System("wound up")
    wheel = system.add(mbd.Body("wheel", 1.0, (0.1, 0.1, 0.1)))
    axle = system.add(RJ("axle", system.ground, wheel, point=(0, 0, 0), axis=(0, 0, 1)))
    system.add(mbd.RSDA("spring", axle, k=2.0))
    system.add(mbd.Torque("crank", wheel, torque=(0, 0, 40.0)))
    found = mbd.equilibrium(system)
    assert abs(found.state.angles[0] - 20.0) < 1e-11
    assert abs(abs(found.state.p[1] @ [cos(10), 0, 0, sin(10)]) - 1.0) < ROUNDING
    assert np.abs(at_rest(found).omega_bar_dot).max() < ROUNDING


@pytest.mark.slow
def test_a_chain_of_masses_under_gravity():
    """Each spring carries the masses below it."""
    masses, k = [2.0, 1.0, 3.0], [500.0, 300.0, 200.0]
    found = mbd.equilibrium(chain_of_masses(masses, k, [0, 0, 0], gravity=g))
    stretch = [sum(masses[n:]) * g / k[n] for n in range(3)]
    np.testing.assert_allclose(found.state.r[1:, 0], 0.3 * np.arange(1, 4) + np.cumsum(stretch), rtol=1e-12)
    assert found.dof == 3
    assert found.stable


@pytest.mark.slow
@pytest.mark.parametrize("build", [double_pendulum, four_bar, slider_crank], ids=lambda build: build.__name__)
def test_gallery_comes_to_rest_where_its_potential_is_least(build):
    found = mbd.equilibrium(build())
    if build is slider_crank:  # its modelled pose is in balance, with the crank upright: nudge it
        assert found.stability is mbd.Stability.UNSTABLE
        u = 0.1 * found.motions[0]
        run = mbd.simulate(
            found.model, 0.1, h=0.01, state=found.state.replace(v=u[:, :3], omega_bar=u[:, 3:]), project_velocity=True
        )
        found = mbd.equilibrium(found.model, run.state(-1))
    a = at_rest(found)
    assert max(np.abs(a.v_dot).max(), np.abs(a.omega_bar_dot).max()) < 1e-11
    assert np.abs(mbd.evaluate(found.model, found.state).Phi).max() < ROUNDING
    height = -np.sum(found.model.mass[:, None] * found.state.r * [0, 0, -g])
    rng = np.random.default_rng(4)
    for _ in range(5):  # small motions of the found mechanism, as its own velocities, lift it
        u = 1e-2 * np.tensordot(rng.normal(size=found.dof), found.motions, axes=1)
        moving = found.state.replace(v=u[:, :3], omega_bar=u[:, 3:])
        run = mbd.simulate(found.model, 1.0, h=0.01, state=moving, project_velocity=True)
        heights = -np.sum(found.model.mass[:, None] * run.r * [0, 0, -g], axis=(1, 2))
        assert heights.min() > height - 1e-9
    assert found.stability is not mbd.Stability.UNSTABLE


def test_equilibrium_is_where_a_damped_run_ends():
    """A four-bar with a spring and a damper on its crank, simulated until it rests."""
    system = four_bar()
    system.add(mbd.RSDA("spring", system["A"], k=20.0, c=30.0, theta0=0.4))
    model = system.compile()
    found = mbd.equilibrium(model)
    run = mbd.simulate(model, 60.0, rtol=1e-10, atol=1e-12, t_eval=[60.0])
    np.testing.assert_allclose(run.r[-1], found.state.r, atol=1e-8)
    np.testing.assert_allclose(run.reaction("D").force[-1], found.reaction("D").force, atol=1e-6)
    np.testing.assert_allclose(
        run.reaction("B", on="i", frame="joint").torque[-1], found.reaction("B", on="i", frame="joint").torque, atol=1e-6
    )


def test_quasi_static_poses_follow_a_driver():
    """A mass hangs from a crank that is driven: it hangs below wherever the crank is, and the motor carries m g r cos(angle)."""
    system = mbd.System("hoist", gravity=(0, 0, -g))
    crank = system.add(mbd.Body("crank", 1.0, (0.1, 0.1, 0.1)))
    bob = system.add(mbd.Body("bob", 5.0, (0.1, 0.1, 0.1), r=(0.4, 0, -0.7)))
    axle = system.add(RJ("axle", system.ground, crank, point=(0, 0, 0), axis=(0, -1, 0)))
    system.add(RotationDriver("motor", axle, lambda t: 0.5 * t))
    system.add(RJ("hook", crank, bob, point=(0.4, 0, 0), axis=(0, 1, 0)))
    model = system.compile()
    state = model.state()
    for t in (0.0, 1.0, 2.0):
        found = mbd.equilibrium(model, state.replace(t=t))
        state = found.state
        np.testing.assert_allclose(state.r[2], [0.4 * cos(0.5 * t), 0, 0.4 * sin(0.5 * t) - 0.7], atol=1e-12)
        np.testing.assert_allclose(found.reaction("motor").torque, [0, -5 * g * 0.4 * cos(0.5 * t), 0], atol=1e-11)


def test_what_nothing_resists_is_indifferent():
    system = mbd.System("hung", gravity=(0, 0, -g))
    ball = system.add(mbd.Body("ball", 2.0, (0.1, 0.1, 0.1), r=(1, 0.2, -0.3)))
    system.add(mbd.TSDA("spring", system.ground, ball, point_i=(0, 0, 0), point_j=(1, 0.2, -0.1), k=200.0, l0=0.5))
    found = mbd.equilibrium(system)
    np.testing.assert_allclose(found.state.r[1], [0, 0, -(0.5 + 0.2 + 2 * g / 200)], atol=1e-12)
    assert found.kinds.count(mbd.Stability.INDIFFERENT) == 1
    assert found.motion(found.kinds.index(mbd.Stability.INDIFFERENT)) == "'ball' turns 1.00 about z"
    assert found.stability is mbd.Stability.INDIFFERENT


@pytest.mark.slow
def test_stiffness_is_the_second_difference_of_the_potential():
    """An independent way to K: the potential energy of poses along a tangent, each closed by projection."""
    system = four_bar()
    system.add(mbd.TSDA("spring", system["crank"], system["rocker"], point_i=(0, 0, 0.4), point_j=(3.5, 0, 1), k=7.0, l0=2.0))
    found = mbd.equilibrium(system)
    model, h = found.model, 1e-3

    def potential(size):
        """After a move of `size` at unit speed, along the constraints, by a run without forces: the run's V is asked in `model`."""
        u = size * found.motions[0]
        free = four_bar()
        free.gravity = (0, 0, 0)
        start = found.state.replace(v=u[:, :3], omega_bar=u[:, 3:])
        run = mbd.simulate(free, 1.0, h=1e-2, state=start, project_velocity=True)
        y = np.array([run.state(-1).y])
        return kinetic_and_potential(model, np.zeros(1), y)[1][0]

    second = (potential(h) - 2.0 * potential(0.0) + potential(-h)) / h**2
    assert abs(second - found.stiffness[0]) < 1e-4 * found.stiffness[0]


@pytest.mark.slow
@pytest.mark.parametrize("driven", [True, False], ids=["driven", "free"])
@pytest.mark.parametrize("omega", [5.0, 2.0 * pi, 9.0])
def test_governor_at_constant_speed(driven, omega):
    alpha, s = governor_balance(omega)
    found = mbd.equilibrium(governor(driven, omega), steady=mbd.UniformRotation(omega=(0, 0, omega)))
    state, model = found.state, found.model
    assert abs(state.r[model.body("slider"), 2] - s) < 1e-10
    for name in ("left", "right"):
        p = state.p[model.body(name)]
        z = 2.0 * (p[1] * p[3] - p[0] * p[2])  # of the body's x axis
        assert abs(asin(-z) - alpha) < 1e-10
    a = at_rest(found)
    np.testing.assert_allclose(a.v_dot, -(omega**2) * state.r * [1, 1, 0], atol=1e-8)
    assert np.abs(a.omega_bar_dot).max() < 1e-8
    assert found.stable if driven else found.stability is mbd.Stability.INDIFFERENT


@pytest.mark.slow
def test_governor_stays_in_its_steady_motion():
    found = mbd.equilibrium(governor(driven=False), steady=mbd.UniformRotation(omega=(0, 0, 2.0 * pi)))
    run = mbd.simulate(found.model, 0.2, h=1e-4, state=found.state, store_every=100)
    heights = run["slider"].r[:, 2]
    assert np.abs(heights - heights[0]).max() < 1e-9
    np.testing.assert_allclose(run["shaft"].omega_bar[-1], [0, 0, 2 * pi], atol=1e-9)


def test_a_pendulum_on_a_turntable():
    """cos(theta) = g / (omega^2 L) for a point mass on a massless rod, hung in the axis of the turntable."""
    omega, length = 5.0, 0.8
    system = mbd.System("turntable", gravity=(0, 0, -g))
    table = system.add(mbd.Body("table", 1.0, (0.1, 0.1, 0.1)))
    axle = system.add(RJ("axle", system.ground, table, point=(0, 0, 0), axis=(0, 0, 1)))
    system.add(RotationDriver("motor", axle, lambda t: omega * t))
    bob = system.add(mbd.Body("bob", 2.0, (1e-9, 1e-9, 1e-9), r=(length * sin(0.5), 0, -length * cos(0.5))))
    system.add(RJ("hinge", table, bob, point=(0, 0, 0), axis=(0, 1, 0)))
    found = mbd.equilibrium(system, steady=mbd.UniformRotation(omega=(0, 0, omega)))
    cosine = g / (omega**2 * length)
    np.testing.assert_allclose(found.state.r[2], [length * sqrt(1 - cosine**2), 0, -length * cosine], rtol=1e-8, atol=1e-12)
    assert found.stable
    assert mbd.equilibrium(pendulum_in_the_axis(omega)).stability is mbd.Stability.STABLE
    assert (
        mbd.equilibrium(pendulum_in_the_axis(omega), steady=mbd.UniformRotation((0, 0, omega))).stability is mbd.Stability.UNSTABLE
    )


def pendulum_in_the_axis(omega):
    """The same bob hanging straight down: stable at rest, unstable beyond omega^2 = g / L."""
    system = mbd.System("turntable", gravity=(0, 0, -g))
    table = system.add(mbd.Body("table", 1.0, (0.1, 0.1, 0.1)))
    axle = system.add(RJ("axle", system.ground, table, point=(0, 0, 0), axis=(0, 0, 1)))
    system.add(RotationDriver("motor", axle, lambda t: omega * t))
    bob = system.add(mbd.Body("bob", 2.0, (1e-9, 1e-9, 1e-9), r=(0, 0, -0.8)))
    system.add(RJ("hinge", table, bob, point=(0, 0, 0), axis=(0, 1, 0)))
    return system


def test_a_rope_that_cannot_push_needs_no_smooth_force():
    """A mass between two ropes that pull only when they are taut: piecewise linear, with slack in between."""
    system = mbd.System("ropes", gravity=(0, 0, -g))
    mass = system.add(mbd.Body("mass", 4.0, (0.1, 0.1, 0.1), r=(0, 0, -0.2)))
    system.add(TJ("guide", system.ground, mass, point=(0, 0, 0), axis=(0, 0, 1)))

    def rope(t, length, rate):
        return 5000.0 * max(0.0, length - 0.5)

    system.add(mbd.TSDA("rope", system.ground, mass, point_i=(0, 0, 0), point_j=(0, 0, -0.2), actuator=rope))
    found = mbd.equilibrium(system)
    np.testing.assert_allclose(found.state.r[1, 2], -(0.5 + 4 * g / 5000.0), rtol=1e-12)
    assert found.stable


@pytest.mark.slow
def test_redundant_rows_do_no_harm():
    full, minimal = loops()
    assert full.dof == minimal.dof == 1
    assert len(full.model.redundancy.dropped) == 3
    np.testing.assert_allclose(full.state.r, minimal.state.r, atol=1e-12)
    np.testing.assert_allclose(full.reaction("A").force, minimal.reaction("A").force, atol=1e-10)


@pytest.mark.slow
@pytest.mark.parametrize("rule", [mbd.DropDependentRows(), mbd.MinimumNorm()], ids=["kept rows", "minimum norm"])
def test_redundant_rows_share_loads_as_the_model_says(rule):
    full, _ = loops()
    found = mbd.equilibrium(full.model.with_redundancy(rule), full.state)
    at_rest(found)


@pytest.mark.slow
@pytest.mark.parametrize("build", [bennett, bricard], ids=lambda build: build.__name__)
def test_spatial_loops_with_too_many_rows(build):
    found = mbd.equilibrium(build())
    assert found.dof == 1
    assert found.stable
    a = at_rest(found)
    assert max(np.abs(a.v_dot).max(), np.abs(a.omega_bar_dot).max()) < 1e-11
    assert np.abs(mbd.evaluate(found.model, found.state).Phi).max() < ROUNDING
    (mode,) = mbd.linearize(found).modes
    u = 1e-4 * mode.omega * mode.shape.real
    start, T = found.state.replace(v=u[:, :3], omega_bar=u[:, 3:]), 2 * pi / mode.omega
    run = mbd.simulate(found.model, T, h=T / 400, state=start, project_velocity=True)
    np.testing.assert_allclose(run.omega_bar[-1], start.omega_bar, atol=1e-4 * np.abs(u).max())  # back after a period


@pytest.mark.slow
def test_a_ladder_of_many_rungs_is_found_at_once():
    found = mbd.equilibrium(ladder(20))
    assert found.dof == 1
    tops = [found.state.r[found.model.body(f"upright {k}")] for k in range(21)]
    np.testing.assert_allclose(tops, [[k, -0.5, 0] for k in range(21)], atol=1e-11)
    g_ladder, m = 9.81, 1.0
    J = 21 * (0.25 + m * 0.25) + 20 * m  # uprights about their feet, bars at the tops, per rad2
    np.testing.assert_allclose(mbd.linearize(found).omega, sqrt((21 * 0.5 + 20) * m * g_ladder / J), rtol=1e-9)


@pytest.mark.slow
def test_relaxation_goes_on_where_newton_gives_up(monkeypatch):
    """Newton is allowed two steps at a time: damped motion does the rest, to the same pose."""
    exact = mbd.equilibrium(double_pendulum())
    monkeypatch.setattr(solver, "MAX_NEWTON", 2)
    found = mbd.equilibrium(double_pendulum())
    assert found.relaxed > 0
    assert "of relaxation" in str(found)
    np.testing.assert_allclose(found.state.r, exact.state.r, atol=1e-10)


def stack(slope):
    """A weight on a stack of springs, each of which pushes with 3 N as soon as it is touched."""
    system = mbd.System("steps", gravity=(0, 0, -g))
    mass = system.add(mbd.Body("mass", 1.0, (0.1, 0.1, 0.1)))
    system.add(TJ("guide", system.ground, mass, point=(0, 0, 0), axis=(0, 0, 1)))

    def push(t, r, p, v, omega_bar):
        depth = max(0.0, -r[2])
        return (0.0, 0.0, 3.0 * np.floor(10.0 * depth) + slope * depth)

    system.add(mbd.PointForce("stack", mass, force=push))
    return system


@pytest.mark.slow
def test_a_force_that_jumps_is_balanced_where_it_can_be():
    """6 N + 15 N/m x depth = m g on the second step."""
    found = mbd.equilibrium(stack(15.0))
    assert abs(found.state.r[1, 2] + (g - 6.0) / 15.0) < 1e-10
    with pytest.raises(mbd.SimulationError, match="'mass' do not come to a balance.*jump there"):
        mbd.equilibrium(stack(2.0))  # m g lies within the jump from the third step to the fourth


def test_a_body_that_nothing_holds_is_named():
    system = pendulum(0.5)
    system.add(mbd.Body("ball", 2.0, (1, 1, 1)))
    with pytest.raises(
        mbd.SimulationError, match=r"nothing holds 'ball'. The forces still push with 19.6\d N: 'ball' moves -1.00 along z"
    ) as e:
        mbd.equilibrium(system)
    assert isinstance(e.value.result, mbd.State)


@pytest.mark.slow
def test_a_wheel_that_is_driven_round_and_round_is_named():
    system = mbd.System("wheel")
    wheel = system.add(mbd.Body("wheel", 2.0, (1, 1, 1)))
    system.add(RJ("axle", system.ground, wheel, point=(0, 0, 0), axis=(0, 0, 1)))
    system.add(mbd.Torque("motor", wheel, torque=(0, 0, 3.0)))
    with pytest.raises(
        mbd.SimulationError, match="nothing holds 'wheel'. The forces still push with 3 N m: 'wheel' turns 1.00 about z"
    ):
        mbd.equilibrium(system)


def test_a_pose_that_cannot_be_closed_is_refused():
    system = mbd.System("far")
    link = system.add(mbd.Body("link", 1.0, (1, 1, 1), r=(0.5, 0, 0)))
    system.add(SJ("near", system.ground, link, point=(0, 0, 0)))
    system.add(mbd.CD((1, 0, 0), system.ground, (0, 0, 0), link, (0.5, 0, 0), 3.0))
    with pytest.raises(mbd.SimulationError, match="cannot be closed"):
        mbd.equilibrium(system.compile(check_pose=False))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("steady", "message"),
    [
        (3.0, "must be UniformRotation"),
        ([mbd.UniformRotation((0, 0, 1)), mbd.UniformRotation((0, 0, 2))], "2 UniformRotation"),
        (mbd.UniformRotation((0, 1)), "omega = .* three finite numbers"),
        (mbd.UniformRotation((0, 0, 1), point=(0, np.nan, 0)), "point = .* three finite numbers"),
        (mbd.RotorSpin("rod", (0, 0, 1)), "no moving body is called 'rod'"),
        (mbd.UniformRotation((0, 0, 3.0)), "does not fit joint 'motor'"),
        (mbd.UniformRotation((0, 3.0, 0)), "does not fit joint 'axle'|does not fit joint 'motor'"),
    ],
)
def test_a_steady_motion_that_is_none_is_refused(steady, message):
    with pytest.raises(mbd.UsageError, match=message):
        mbd.equilibrium(governor(), steady=steady)


def test_gravity_across_the_axis_is_no_steady_motion():
    system = mbd.System("tilted", gravity=(0, 0, -g))
    wheel = system.add(mbd.Body("wheel", 2.0, (1, 1, 1), r=(0, 0, -0.1)))
    system.add(RJ("axle", system.ground, wheel, point=(0, 0, 0), axis=(0, 1, 0)))
    with pytest.raises(
        mbd.UsageError, match="the motion is not steady: after 0.7 rad of it the forces are out of balance.*'wheel' turns"
    ):
        mbd.equilibrium(system, steady=mbd.UniformRotation((0, 2.0, 0)))


def test_wrong_arguments_are_refused():
    with pytest.raises(mbd.UsageError, match="needs a System"):
        mbd.equilibrium("pendulum")
    with pytest.raises(mbd.UsageError, match="must be a State"):
        mbd.equilibrium(pendulum(), 3.0)
    model = pendulum().compile()
    with pytest.raises(mbd.ModelError, match="not finite"):
        mbd.equilibrium(model, model.state().replace(r=np.full((2, 3), np.nan)))
    with pytest.raises(mbd.UsageError, match="no joint is called"):
        mbd.equilibrium(model).reaction("pim")


@pytest.mark.parametrize("down", [1.0, -1.0])
def test_a_follower_that_would_have_to_pull_is_refused(down):
    """At rest on top of the cam the push is the weight, m g; upside down it would be a pull."""
    system = mbd.System("cam", gravity=(0, -9.81 * down, 0))
    disc = system.add(mbd.Body("disc", 1.0, (0.01, 0.01, 0.02)))
    follower = system.add(mbd.Body("follower", 0.5, (0.01, 0.01, 0.01), r=(0, 0.1, 0)))
    axle = system.add(RJ("axle", system.ground, disc, point=(0, 0, 0), axis=(0, 0, 1)))
    guide = system.add(TJ("guide", system.ground, follower, point=(0, 0.1, 0), axis=(0, 1, 0)))
    system.add(mbd.RSDA("hold", axle, k=1.0))
    system.add(Cam("cam", axle, guide, mbd.Expression("0.03 * (1 - cos(t))"), unilateral=True))
    if down > 0.0:
        push = mbd.equilibrium(system).reaction("cam", on="follower").force
        np.testing.assert_allclose(push, (0.0, 0.5 * 9.81, 0.0), atol=1e-12)  # rounding
        return
    with pytest.raises(mbd.SimulationError, match=r"joint 'cam' pulls with 4.905 N, and can only push"):
        mbd.equilibrium(system)


@pytest.mark.parametrize(("load", "stable"), [(1.0, True), (2.3, True), (3.0, False)])
def test_ziegler_column_under_a_force_that_follows_it(load, stable):
    """Two uniform rods with springs of 1 N m / rad: the stiffness is not symmetric, and its symmetric part is unstable from 2 N on."""
    system = mbd.System("column")
    J = (0, 1.0 / 12.0, 1.0 / 12.0)
    lower, upper = (system.add(mbd.Body(name, 1.0, J, r=(x, 0, 0))) for name, x in (("lower", 0.5), ("upper", 1.5)))
    foot = system.add(RJ("foot", system.ground, lower, point=(0, 0, 0), axis=(0, 0, 1)))
    knee = system.add(RJ("knee", lower, upper, point=(1, 0, 0), axis=(0, 0, 1)))
    system.add(mbd.RSDA("foot spring", foot, k=1.0))
    system.add(mbd.RSDA("knee spring", knee, k=1.0))
    system.add(mbd.PointForce("load", upper, point=(2, 0, 0), force=(-load, 0, 0), frame="body"))
    found = mbd.equilibrium(system)
    M = np.array([[4.0 / 3.0, 0.5], [0.5, 1.0 / 3.0]])
    squares = np.linalg.eigvals(np.linalg.solve(M, [[2.0 - load, load - 1.0], [-1.0, 1.0]])).astype(complex)
    wanted = np.concatenate([np.sqrt(-squares), -np.sqrt(-squares)])
    wanted = wanted[wanted.imag > 0.0]
    in_order = [np.lexsort((x.real, x.imag.round(6))) for x in (found.eigenvalues, wanted)]  # real parts of 1e-34 do not order
    np.testing.assert_allclose(found.eigenvalues[in_order[0]], wanted[in_order[1]], rtol=1e-7, atol=1e-7)
    assert found.stability is (mbd.Stability.STABLE if stable else mbd.Stability.UNSTABLE)
    assert mbd.linearize(found).stable is stable


def test_a_translation_is_found_by_newton_steps_of_full_length():
    system = mbd.System("spring", gravity=(0, 0, -9.81))
    weight = system.add(mbd.Body("weight", 2.0, (0.1, 0.1, 0.1)))
    guide = system.add(TJ("guide", system.ground, weight, point=(0, 0, 0), axis=(0, 0, 1)))
    system.add(mbd.JointSpring("spring", guide, k=50.0))
    found = mbd.equilibrium(system)
    assert found.state.r[1, 2] == pytest.approx(-2.0 * 9.81 / 50.0, rel=1e-12)
    assert found.newton <= 2


class Interrupts:
    """Raises KeyboardInterrupt at the n-th call of a function."""

    def __init__(self, function, n):
        self.function, self.left = function, n

    def __call__(self, *given, **more):
        self.left -= 1
        if self.left == 0:
            raise KeyboardInterrupt
        return self.function(*given, **more)


@pytest.mark.slow
@pytest.mark.parametrize("n", [10, 40])
def test_a_cantilever_that_bends_far_takes_few_newton_steps(n):
    """Moments at the pins, in the links' angles from the horizontal: k (a_i - a_{i-1}) = the moment of all weight beyond."""
    system, length, k = mbd.System("cantilever", gravity=(0, 0, -g)), 1.0 / n, 3.0 * n
    before = system.ground
    for i in range(n):
        link = system.add(mbd.Body(f"link {i}", 1.0 / n, (1e-3 / n, 1e-3 / n, 1e-3 / n), r=((i + 0.5) * length, 0, 0)))
        pin = system.add(RJ(f"pin {i}", before, link, point=(i * length, 0, 0), axis=(0, 1, 0)))
        system.add(mbd.RSDA(f"spring {i}", pin, k=k))
        before = link
    found = mbd.equilibrium(system)
    assert found.newton <= 15
    assert found.stability is mbd.Stability.STABLE

    def balance(a):
        arms = length * np.cos(a)
        beyond = np.array([g / n * sum(arms[i:j].sum() + 0.5 * arms[j] for j in range(i, n)) for i in range(n)])
        return k * np.diff(a, prepend=0.0) - beyond

    a = root(balance, np.linspace(0.1, 1.2, n), method="hybr", options={"xtol": 1e-14}).x
    x, z = np.cumsum(length * np.cos(a)) - 0.5 * length * np.cos(a), -np.cumsum(length * np.sin(a)) + 0.5 * length * np.sin(a)
    np.testing.assert_allclose(found.state.r[1:, [0, 2]], np.column_stack([x, z]), atol=1e-10)


def test_after_ctrl_c_the_search_goes_on_from_the_pose_that_it_had_reached(monkeypatch):
    model = pendulum(2.0).compile()
    whole = mbd.equilibrium(model)
    with monkeypatch.context() as patched:
        patched.setattr(solver, "_line_search", Interrupts(solver._line_search, 3))
        with pytest.raises(KeyboardInterrupt) as caught:
            mbd.equilibrium(model)
    assert str(caught.value).startswith("equilibrium was interrupted by Ctrl-C after 2 Newton steps. The attribute `result`")
    reached = caught.value.result
    assert whole.state.r[1, 2] < reached.r[1, 2] < model.state().r[1, 2]
    rest = mbd.equilibrium(model, reached)
    np.testing.assert_allclose(rest.state.r, whole.state.r, atol=ROUNDING)
    assert rest.newton < whole.newton


def test_ctrl_c_before_the_first_pose_leaves_the_start(monkeypatch):
    model = pendulum(2.0).compile()
    monkeypatch.setattr(solver, "closed", Interrupts(solver.closed, 1))
    with pytest.raises(KeyboardInterrupt, match="after 0 Newton steps") as caught:
        mbd.equilibrium(model)
    assert caught.value.result is not None
    np.testing.assert_array_equal(caught.value.result.y, model.y0)


def test_progress_is_shown_in_digits(monkeypatch):
    shown = []
    monkeypatch.setattr(Progress, "reach", lambda self, now: shown.append(now))
    assert mbd.equilibrium(pendulum(2.0), progress=True).stable
    assert shown == sorted(shown)
    assert shown[0] < 2.0
    assert shown[-1] == solver.DIGITS
    for wrong in ({"progress": 1}, {"downhill": "no"}):
        with pytest.raises(mbd.UsageError, match="must be True or False"):
            mbd.equilibrium(pendulum(2.0), **wrong)


def swinging_net():
    """A net of balls with dampers and springs across its meshes."""
    system = net(3)
    balls = system.bodies[1:]
    for k, (a, b) in enumerate(zip(balls, balls[4:], strict=False)):
        system.add(mbd.TSDA(f"spring {k}", a, b, point_i=a.r, point_j=b.r, k=30.0, c=0.5, l0=0.2))
    return system


@pytest.mark.parametrize(
    "make", [swinging_net, lambda: chain_of_masses([1.0, 2.0, 1.5], [30.0] * 3, [0.5] * 3)], ids=["net", "chain"]
)
def test_stiffness_and_damping_by_bodies_are_those_along_the_tangent_space(monkeypatch, make):
    model = make().compile()
    evaluator = make_residual_evaluator(model, read_steady(model, mbd.UniformRotation(omega=(0.1, 0.2, 3.0))), model.state())
    place = solver.trial_pose_at(evaluator, model.y0)
    found = []
    for worth in (0, 1_000):  # by bodies, along the columns of N
        monkeypatch.setattr(tangent_matrices, "WORTH", worth)
        K = tangent_matrices.stiffness(evaluator, place.y, place.at, differentiated)
        found.append((K, tangent_matrices.damping(evaluator, place.y, place.at, 1.0, differentiated)))
    (K, C), (K_along, C_along) = found
    np.testing.assert_allclose(K, K_along, rtol=0.0, atol=1e-9 * np.abs(K_along).max())  # rounding of differences
    np.testing.assert_allclose(C, C_along, rtol=0.0, atol=1e-9 * np.abs(C_along).max())


def test_a_larger_net_needs_as_many_derivatives(monkeypatch):
    """One for each degree of freedom, 414 of a net of 10 x 10, took most of the time."""
    assert len(sources_of_forces(net(7).compile())) == len(sources_of_forces(net(5).compile())) <= 13


def test_bodies_that_are_moved_at_once_act_on_no_common_body():
    system = swinging_net()
    model = system.compile()
    sources = sources_of_forces(model)
    acts = np.eye(model.nb, dtype=bool)  # by the elements themselves
    for bodies in (*((joint.i, joint.j) for joint in system.joints), *(load.bodies() for load in system.loads)):
        pair = [model.bodies.index(body) - 1 for body in bodies if not body.is_ground]
        acts[np.ix_(pair, pair)] = True
    for body in range(model.nb):
        assert sorted(sources[:, body][sources[:, body] >= 0].tolist()) == np.flatnonzero(acts[body]).tolist()


def test_the_tangent_space_of_parts_is_that_of_the_whole(monkeypatch):
    model = swinging_net().compile()
    evaluator = make_residual_evaluator(model, read_steady(model, None), model.state())
    residual = evaluate_residual(evaluator, model.y0)
    whole = tangent_space.tangent(residual)
    monkeypatch.setattr(tangent_space, "WHOLE", 0)
    parts = tangent_space.tangent(residual)
    assert parts.N.shape == whole.N.shape
    np.testing.assert_allclose(parts.N @ parts.N.T, whole.N @ whole.N.T, atol=ROUNDING)
    np.testing.assert_allclose(parts.lam, whole.lam, atol=1e-11 * np.abs(whole.lam).max())


def balanced_gears(**geometry):
    """A lever on a shaft that a gear pair connects to a torsion spring."""
    system = mbd.System("balanced gears", gravity=(0, -9.81, 0))
    lever = system.add(mbd.Body("lever", 1.0, (0.1, 0.1, 0.1), r=(0.05, 0, 0)))
    wheel = system.add(mbd.Body("wheel", 1.0, (0.1, 0.1, 0.1), r=(0.3, 0, 0)))
    first = system.add(RJ("first", system.ground, lever, point=(0, 0, 0), axis=(0, 0, 1)))
    second = system.add(RJ("second", system.ground, wheel, point=(0.3, 0, 0), axis=(0, 0, 1)))
    system.add(Gear("mesh", first, second, teeth=(20, 40), **geometry))
    system.add(mbd.RSDA("spring", second, k=30.0, theta0=0.0))
    return system


@pytest.mark.parametrize("geometry", [{}, {"pitch_radius": (0.1, 0.2), "helix_angle": 0.2}], ids=["couples", "tooth forces"])
def test_reactions_of_an_equilibrium_are_those_of_its_state_on_every_body(geometry):
    found = mbd.equilibrium(balanced_gears(**geometry))
    for joint, bodies in (("mesh", ("lever", "wheel", "ground")), ("first", ("lever", "ground"))):
        for on in bodies:
            for frame in ("ground", "body", "joint"):
                one, other = (
                    found.reaction(joint, on=on, frame=frame),
                    mbd.reaction(found.model, found.state, joint, on=on, frame=frame),
                )
                np.testing.assert_allclose(np.hstack([one.force, one.torque]), np.hstack([other.force, other.torque]), atol=1e-8)
                assert (one.body, one.frame, one.unique) == (other.body, other.frame, other.unique)
    mesh = [found.reaction("mesh", on=on) for on in ("lever", "wheel", "ground")]
    np.testing.assert_allclose(sum(one.torque + np.cross(one.point, one.force) for one in mesh), 0.0, atol=1e-8)
    if not geometry:
        assert abs(mesh[2].torque[2]) > 1.0


def test_reactions_that_redundant_joints_share_at_rest_are_marked():
    system = mbd.System("door", gravity=(0, 0, -9.81))
    door = system.add(mbd.Body("door", 20.0, (8.0, 6.7, 1.4), r=(0.45, 0, 0)))
    for name, z in (("lower", -0.8), ("upper", 0.8)):
        system.add(RJ(name, system.ground, door, point=(0, 0, z), axis=(0, 0, 1)))
    system.add(mbd.RSDA("closer", system["lower"], k=5.0, theta0=0.0))
    assert mbd.equilibrium(system).reaction("lower").shared == ("force x", "force y", "force z", "torque x", "torque y")
