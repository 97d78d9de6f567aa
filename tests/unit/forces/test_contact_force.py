"""Contact forces: geometry against energy, published figures against SciPy, events, friction, damping models, and bad input."""

from __future__ import annotations

import pickle
import re
import warnings
from functools import partial

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.special import lambertw

import haugmbd as mbd
from haugmbd.compiled.records import new_record
from haugmbd.diagnostics.load_history import load_history
from haugmbd.formulations import FORMULATIONS
from haugmbd.integrators.implicit.force_coupling import tables_with_coupling
from haugmbd.integrators.implicit.force_jacobians import put_with_contacts
from haugmbd.integrators.implicit.records import NEWTON
from haugmbd.math import euler_parameters
from haugmbd.model.evaluate import rows_entry
from haugmbd.workspace.layout import workspace_array
from tests.support.contacts import PAIRS, SPEED, G, ball_on_floor, deep_pair

TIGHT = {"rtol": 1e-12, "atol": 1e-14}
FIGURE = 1e-9
"""Relative: the restitution with these tolerances; seen 5e-11."""
WORK = 1e-8
"""[J] The energy that is lost against the work of damping; seen 8e-10."""


def impact_by_scipy(e, K=1e6, n=1.5):
    """Restitution, largest indentation and duration of the impact, by SciPy."""
    c = 1.5 * (1.0 - e)

    def rates(t, x):
        return [x[1], G - K * max(x[0], 0.0) ** n * (1.0 + c * x[1] / SPEED)]

    def release(t, x):
        return x[0]

    def turn(t, x):
        return x[1]

    release.terminal, release.direction, turn.direction = True, -1, -1
    found = solve_ivp(rates, (0.0, 0.1), [0.0, SPEED], method="DOP853", rtol=1e-13, atol=1e-16, events=[release, turn])
    return -found.y_events[0][0][1] / SPEED, found.y_events[1][0][0], found.t_events[0][0]


def restitution(result):
    """Speed at the first release over the speed at touch."""
    release = next(event for event in result.events if event.name == "floor: release")
    return release.state.v[1, 2] / SPEED, release.t


@pytest.mark.slow
@pytest.mark.parametrize("height", [0.0, 0.5])
def test_a_hertz_impact_under_gravity(height):
    system, floor = ball_on_floor(height, e=0.8)
    fall = np.sqrt(2.0 * height / G)
    result = mbd.simulate(system, fall + 0.02, **TIGHT)
    e, t = restitution(result)
    e_scipy, d_scipy, duration = impact_by_scipy(0.8)
    assert e == pytest.approx(0.8286491072, rel=FIGURE)
    assert e == pytest.approx(e_scipy, rel=FIGURE)
    assert t - fall == pytest.approx(duration, abs=1e-10)
    turning = mbd.Event("turn", lambda t, state: state.v[1, 2], direction=1, terminal=True)
    deepest = mbd.simulate(system, fall + 0.02, events=[turning], **TIGHT)
    assert deepest.load("floor").indentation[-1] == pytest.approx(0.0101804158, abs=1e-10)
    assert deepest.load("floor").indentation[-1] == pytest.approx(d_scipy, abs=1e-11)
    energy = result.energy()
    lost = (energy.kinetic + energy.potential)[0] - (energy.kinetic + energy.potential)[-1]
    assert lost == pytest.approx(energy.dissipated_work[-1], abs=WORK)
    assert lost == pytest.approx(0.5 * SPEED**2 * (1.0 - e**2), abs=WORK)
    assert floor.restitution_reached == pytest.approx(0.8328697923, abs=1e-9)  # without gravity


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:ContactForce 'floor'. restitution = 0.[25] is nominal:UserWarning")
@pytest.mark.parametrize("model", [mbd.HuntCrossley(), mbd.LankaraniNikravesh(), mbd.Flores()], ids=lambda x: type(x).__name__)
@pytest.mark.parametrize("e", [0.9, 0.5, 0.2])
def test_the_restitution_that_is_reached(model, e):
    """Against Lambert's function, and against a run without gravity."""
    system, floor = ball_on_floor(e=e, model=model, gravity=0.0)
    c = model.damping(e)
    closed = (1.0 + lambertw(-(1.0 + c) * np.exp(-(1.0 + c))).real) / c
    assert floor.restitution_reached == pytest.approx(closed, rel=1e-10)
    found = restitution(mbd.simulate(system, 0.05, rtol=1e-9, atol=1e-11))[0]
    assert found == pytest.approx(closed, abs=1e-7)


@pytest.mark.slow
@pytest.mark.parametrize("model", [mbd.HuntCrossley, mbd.LankaraniNikravesh, mbd.Flores])
@pytest.mark.parametrize("e", [0.0, 0.1, 0.3, 0.45, 0.5, 0.6, 0.7, 1.0])
def test_a_restitution_that_the_model_cannot_reach_is_said_with_one_that_can(model, e):
    """Whether a nominal restitution reaches it, by a scan; what the sentence advises reaches what it says."""
    if model is mbd.Flores and e == 0.0:
        return  # a fault of the model
    system, floor = ball_on_floor(e=e, model=model())
    with warnings.catch_warnings(record=True) as issued:
        warnings.simplefilter("always")
        said = system.compile().warnings
    assert [str(one.message) for one in issued] == list(said)
    least = min(model().reached(nominal) for nominal in np.linspace(1e-3, 1.0, 400))
    assert bool(said) == (e < least - 1e-3)
    for text in said:
        assert "'floor'" in text
        assert f"reaches {floor.restitution_reached:.3g}" in text
        advised, reached = (float(x) for x in re.search(r"Flores\(\), restitution=([\d.]+), which reaches ([\d.]+)", text).groups())
        assert mbd.Flores().reached(advised) == pytest.approx(reached, rel=2e-3)
        assert reached == pytest.approx(max(e, 6e-4), rel=0.1)


def test_the_damping_of_each_model():
    assert mbd.HuntCrossley().damping(0.8) == pytest.approx(0.3)
    assert mbd.LankaraniNikravesh().damping(0.8) == pytest.approx(0.27)
    assert mbd.Flores().damping(0.8) == pytest.approx(0.4)
    for model in (mbd.HuntCrossley(), mbd.LankaraniNikravesh(), mbd.Flores()):
        assert model.damping(1.0) == 0.0
        assert model.reached(1.0) == 1.0
        slope = 16.0 / 15.0 if isinstance(model, mbd.Flores) else 1.0
        assert model.reached(1.0 - 1e-3) == pytest.approx(1.0 - 1e-3 * slope, abs=2e-6)  # of first order in 1 - e
        weak = [model.reached(1.0 - 1e-4 * s) for s in (0.3, 0.5, 0.6, 0.62, 0.65, 0.67, 0.7, 1.0, 2.0)]
        assert np.all(np.diff(weak) < 0.0)  # across the change of formula


@pytest.mark.slow
def test_events_keep_the_order_of_explicit_methods():
    """With a linear spring, each smooth piece has the order of RK4: half the step, a sixteenth of the error."""
    K, c = 1e3, 0.3

    def rates(t, x):
        return [x[1], -K * x[0] * (1.0 + c * x[1] / SPEED)]

    def release(t, x):
        return x[0]

    release.terminal, release.direction = True, -1
    exact = solve_ivp(rates, (0.0, 1.0), [0.0, SPEED], method="DOP853", rtol=1e-13, atol=1e-16, events=[release])
    e = -exact.y_events[0][0][1] / SPEED
    system, _ = ball_on_floor(0.05, speed=SPEED, e=0.8, K=K, model=mbd.HuntCrossley(exponent=1.0), gravity=0.0)
    errors = [abs(restitution(mbd.simulate(system, 0.2, h=h))[0] - e) for h in (1e-3, 5e-4, 2.5e-4)]
    orders = np.log2(np.array(errors[:-1]) / errors[1:])
    assert np.all(orders > 3.7)  # seen 3.84 and 3.93
    assert errors[-1] < 1e-10  # seen 1e-11


BOUNCED = 0.25
"""[s] The end of a bounce: 40 ms in the air, 76 ms in contact, and in the air again."""


@pytest.mark.parametrize(
    ("method", "steps", "order"),
    [(mbd.RadauIIA, 32, 5), (partial(mbd.BDF, order=3), 128, 3), (mbd.GeneralizedAlpha, 64, 2)],
    ids=["RadauIIA", "BDF3", "GeneralizedAlpha"],
)
def test_events_keep_the_order_of_implicit_methods(method, steps, order):
    """A ball of 1 kg falls on a spring and leaves it: d'' = g - K d in closed form.  A step across the release has no kink of the force."""
    K, v, touch = 2e3, 1.0, 0.04
    w, fast, height = np.sqrt(K), v + G * touch, v * touch + 0.5 * G * touch**2
    after = BOUNCED - touch - 2.0 / w * (np.pi - np.arctan(w * fast / G))
    expected = [0.1 + fast * after - 0.5 * G * after**2, fast - G * after]
    system = mbd.System("bounce", gravity=(0, 0, -G))
    ball = system.add(mbd.Body("ball", 1.0, (0.004, 0.004, 0.004), r=(0, 0, 0.1 + height), v=(0, 0, -v)))
    shapes = {"shape_i": mbd.Sphere(0.1), "shape_j": mbd.Plane()}
    system.add(mbd.ContactForce("floor", ball, system.ground, **shapes, K=K, model=mbd.HuntCrossley(exponent=1.0), restitution=1.0))
    model, errors = system.compile(), []
    for n in (steps, 2 * steps):
        result = mbd.simulate(model, BOUNCED, integrator=method(h=BOUNCED / n))
        assert [event.name for event in result.events] == ["floor: touch", "floor: release"]
        errors.append(np.abs([result.r[-1, 1, 2] - expected[0], result.v[-1, 1, 2] - expected[1]]))
    assert np.all(np.log2(errors[0] / errors[1]) > order - 0.3)


def test_the_first_step_of_rk4_in_a_hertz_contact_has_the_error_of_simpsons_rule():
    """d = v0 t at first: the speed lost in a step is that of K (v0 t)^1.5 by Simpson's rule, (4 / 2^1.5 + 1) / 6 for 2 / 5.

    The difference to 2 / 5 is of order 2.5 in the step, although a step ends at the touch; a fixed step cannot be better.
    """
    K, simpson = 1e6, (4.0 / 2.0**1.5 + 1.0) / 6.0
    system, _ = ball_on_floor(0.0, e=1.0, K=K, gravity=0.0)
    steps = np.array([2e-6, 1e-6])
    lost = [mbd.simulate(system, h, h=h)["ball"].v[-1, 2] + SPEED for h in steps]
    np.testing.assert_allclose(lost / (K * SPEED**1.5 * steps**2.5), simpson, rtol=1e-6)
    assert simpson - 0.4 == pytest.approx(0.0024, abs=1e-4)


@pytest.mark.slow
@pytest.mark.parametrize("name", PAIRS)
def test_forces_against_the_energy_and_momentum(name):
    """Kernels against NumPy: power of the forces and rate of the potential; the two forces are opposite and on one line."""
    rng = np.random.default_rng(7)
    contact = deep_pair(name, rng)
    assert contact.faults() == ()
    checks = mbd.verify(contact, states=4)
    assert checks.ok, checks
    system = mbd.System("pair", gravity=(0, 0, 0))
    for body in contact.bodies():
        system.add(body)
    system.add(contact)
    model = system.compile()
    start = model.state()
    found = mbd.accelerations(model)
    force = model.mass[:, None] * found.v_dot
    assert np.abs(force[1]).max() > 0.1
    np.testing.assert_allclose(force[1], -force[2], rtol=1e-12)
    moment = np.einsum("kab,kb->ka", model.J_bar, found.omega_bar_dot)
    moment = moment + np.cross(start.omega_bar, np.einsum("kab,kb->ka", model.J_bar, start.omega_bar))
    A = np.stack([body.A for body in model.bodies])
    angular = np.sum(np.cross(start.r, force) + np.einsum("kab,kb->ka", A, moment), axis=0)
    np.testing.assert_allclose(angular, 0.0, atol=1e-10 * np.abs(force).max())
    load = load_history(model, np.zeros(1), start.y[None], "c")
    sign = 1.0 if contact.i is model.bodies[1] else -1.0
    np.testing.assert_allclose(load.force[0], sign * force[1], rtol=1e-10, atol=1e-12)


@pytest.mark.slow
def test_a_sphere_goes_from_slip_to_roll():
    """Friction mu m g until v = 5 / 7, at 2 v / (7 mu g), and rolling without slip from there on."""
    exact = 2.0 / (7.0 * 0.3 * G)
    assert exact == pytest.approx(0.0970826659, abs=1e-10)
    creep = 1e-6
    system, _ = ball_on_floor(-((G / 1e6) ** (2 / 3)), speed=0.0, e=0.5, mu=0.3, creep=creep, along=1.0)
    slow = mbd.Event("slow", lambda t, s: s.v[1, 0] - 0.1 * s.omega_bar[1, 1] - creep, direction=-1, terminal=True)
    explicit = mbd.simulate(system, 0.2, events=[slow], rtol=1e-10, atol=1e-12)
    assert explicit.t[-1] == pytest.approx((1.0 - creep) * exact, abs=1e-11)
    assert explicit.v[-1, 1, 0] == pytest.approx(5 / 7, abs=2e-6)  # of the creep
    implicit = mbd.simulate(system, 0.2, integrator=mbd.BDF(rtol=1e-8, atol=1e-10))
    assert implicit.v[-1, 1, 0] == pytest.approx(5 / 7, abs=1e-9)
    assert implicit.load("floor").slip[-1] < 1e-9
    np.testing.assert_allclose(implicit.load("floor").normal_force, G, rtol=1e-6)


@pytest.mark.slow
def test_a_slope_below_the_angle_of_friction_creeps_slower_than_the_creep_speed():
    slope, mu, creep = 0.2, 0.3, 1e-3
    gravity = G * np.array([np.sin(slope), 0.0, -np.cos(slope)])
    system = mbd.System("slope", gravity=gravity)
    edge = 0.1
    depth = (G * np.cos(slope) / 4 / 1e6) ** (2 / 3)
    box = system.add(mbd.Body("box", 1.0, (1 / 600,) * 3, r=(0, 0, edge / 2 - depth)))
    system.add(
        mbd.ContactForce("c", box, system.ground, shape_i=mbd.Box((edge,) * 3), shape_j=mbd.Plane(), K=1e6, restitution=0.5, mu=mu)
    )
    result = mbd.simulate(system, 0.5, integrator=mbd.BDF(rtol=1e-7, atol=1e-9))
    needed = np.tan(slope) / mu  # (3 x - x^3) / 2 of x = slip / creep
    x = min(root.real for root in np.roots([-0.5, 0.0, 1.5, -needed]) if root.real > 0.0)
    assert result.load("c").slip[-1, 4:].max() == pytest.approx(x * creep, rel=1e-3)
    assert result.load("c").normal_force[-1, 4:].sum() == pytest.approx(G * np.cos(slope), rel=1e-4)


def test_the_normal_force_never_pulls_and_a_start_at_rest_has_the_floor_speed():
    system, floor = ball_on_floor(-1e-3, speed=0.0, e=0.5, floor_speed=0.02)
    model = system.compile()
    assert model.state().angles.tolist() == [0.02]
    pulled = model.state().replace(v=[(0, 0, 0), (0, 0, 5.0)])
    assert mbd.accelerations(model, pulled).v_dot[1, 2] == pytest.approx(-G)
    pushed = model.state().replace(v=[(0, 0, 0), (0, 0, -0.01)])
    wanted = 1e6 * 1e-3**1.5 * (1.0 + 0.75 * 0.01 / 0.02) - G
    assert mbd.accelerations(model, pushed).v_dot[1, 2] == pytest.approx(wanted, rel=1e-9)


@pytest.mark.slow
def test_a_ball_bounces_and_comes_to_rest():
    """Touches and releases alternate; each bounce has its own speed at touch; at rest the force is the weight."""
    system, _ = ball_on_floor(0.02, speed=0.0, e=0.5)
    result = mbd.simulate(system, 1.5, rtol=1e-8, atol=1e-10)
    names = [event.name.removeprefix("floor: ") for event in result.events]
    assert names[0::2] == ["touch"] * len(names[0::2])
    assert names[1::2] == ["release"] * len(names[1::2])
    assert len(names) >= 5
    for event in result.events[0::2]:
        assert event.state.angles[0] == pytest.approx(-event.state.v[1, 2], rel=1e-12)
    assert result.load("floor").normal_force[-1] == pytest.approx(G, rel=1e-3)
    assert abs(result.energy().drift).max() < 1e-5


@pytest.mark.slow
def test_corners_that_touch_at_the_same_instant_are_switched_together():
    system = mbd.System("box", gravity=(0, 0, -G))
    box = system.add(mbd.Body("box", 1.0, (0.01,) * 3, r=(0, 0, 0.06), v=(0, 0, -1)))
    system.add(mbd.ContactForce("c", system.ground, box, shape_i=mbd.Plane(), shape_j=mbd.Box((0.1,) * 3), K=1e5, restitution=0.6))
    result = mbd.simulate(system, 0.05, rtol=1e-9, atol=1e-11)
    touches = [event for event in result.events if event.name.endswith("touch")]
    assert [event.name for event in touches] == [f"c[{k}]: touch" for k in (4, 5, 6, 7)]
    assert np.ptp([event.t for event in touches]) < 1e-9
    np.testing.assert_allclose(touches[-1].state.angles[4:], np.sqrt(1.0 + 2.0 * G * 0.01), rtol=1e-9)
    assert abs(result.omega_bar[-1]).max() < 1e-9
    assert result.v[-1, 1, 2] > 0.5


def test_a_user_event_at_the_instant_of_touch_is_recorded_once():
    system, _ = ball_on_floor(0.001, speed=1.0, e=0.5)
    height = mbd.Event("height", lambda t, state: state.r[1, 2] - 0.1)
    result = mbd.simulate(system, 0.1, rtol=1e-8, events=[height])
    names = [event.name for event in result.events]
    assert sorted(names) == ["floor: release", "floor: touch", "height", "height"]
    ended = mbd.simulate(system, 0.1, rtol=1e-8, events=[mbd.Event("height", height.function, terminal=True)])
    assert ended.message.startswith("ended by the terminal event 'height'")
    assert ended.t[-1] == pytest.approx(result.events[0].t, abs=1e-11)


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["pickle", "npz"])
def test_results_are_kept_with_their_touch_speeds(kind, tmp_path):
    system, _ = ball_on_floor(0.001, e=0.8)
    result = mbd.simulate(system, 0.03, rtol=1e-9, atol=1e-11)
    if kind == "pickle":
        again = pickle.loads(pickle.dumps(result))  # noqa: S301  our own
    else:
        result.save(tmp_path / "drop.npz")
        again = mbd.load(tmp_path / "drop.npz")
    np.testing.assert_array_equal(again.angles, result.angles)
    np.testing.assert_array_equal(again.load("floor").force, result.load("floor").force)
    np.testing.assert_array_equal(again.energy().dissipated_work, result.energy().dissipated_work)
    assert [event.name for event in again.events] == [event.name for event in result.events]
    assert [event.state.angles.tolist() for event in again.events] == [event.state.angles.tolist() for event in result.events]
    between = result.resample(np.linspace(0.0, 0.03, 200))
    assert set(np.unique(between.angles)) <= set(np.unique(result.angles))  # touch speeds jump, and are not interpolated


@pytest.mark.slow
@pytest.mark.parametrize("name", PAIRS)
def test_forces_do_not_depend_on_the_frame(name):
    """The same pair, turned and moved as a whole: the accelerations turn with it."""
    rng = np.random.default_rng(11)
    contact = deep_pair(name, rng)
    system = mbd.System("pair", gravity=(0, 0, 0))
    for body in contact.bodies():
        system.add(body)
    system.add(contact)
    model = system.compile()
    state = model.state()
    turn = euler_parameters.normalized(rng.normal(size=4))
    A, shift = euler_parameters.rotation_matrix(turn), rng.normal(size=3)
    r, p, v = state.r @ A.T + shift, euler_parameters.product(turn, state.p), state.v @ A.T
    r[0], p[0], v[0] = state.r[0], state.p[0], state.v[0]
    here, there = mbd.accelerations(model), mbd.accelerations(model, state.replace(r=r, p=p, v=v))
    size = np.abs(here.v_dot).max()
    np.testing.assert_allclose(there.v_dot[1:], here.v_dot[1:] @ A.T, rtol=0.0, atol=1e-11 * size)
    turning = np.abs(here.omega_bar_dot).max()
    np.testing.assert_allclose(there.omega_bar_dot[1:], here.omega_bar_dot[1:], rtol=0.0, atol=1e-11 * turning)


@pytest.mark.slow
@pytest.mark.parametrize("slip", [0.0, 0.02, 0.5])
def test_the_tangent_of_a_sphere_on_a_plane_against_differences(slip):
    """Stiffness and damping of the whole force, but for what is not symmetric."""
    K, e, mu, creep, v_0 = 2e3, 0.6, 0.3, 0.1, 0.7
    system, floor = ball_on_floor(-0.01, speed=0.05, e=e, K=K, mu=mu, creep=creep, along=slip)
    model = system.compile()
    state = model.state().replace(angles=[v_0])
    c_q, c_u = 0.7, 0.4
    pack = model.pack(tables_with_coupling(model))
    newton = new_record(NEWTON, c_q=c_q, c_u=c_u)
    y = state.y
    assert rows_entry(pack, 0.0, y) == 0
    assert put_with_contacts(pack, newton, 0.0, y) == 0
    found = workspace_array(pack, "TANGENT")[1].reshape(6, 6)

    def force(dq, du):
        moved = state.r.copy(), state.p.copy(), state.v.copy(), state.omega_bar.copy()
        moved[0][1] += dq[:3]
        moved[1][1] = euler_parameters.product(moved[1][1], euler_parameters.exponential(dq[3:]))
        moved[2][1] += du[:3]
        moved[3][1] += du[3:]
        there = mbd.accelerations(model, state.replace(r=moved[0], p=moved[1], v=moved[2], omega_bar=moved[3]))
        return np.concatenate([there.v_dot[1] * model.mass[1], model.J_bar[1] @ there.omega_bar_dot[1]])

    step, zero = 1e-5, np.zeros(6)
    wanted = np.zeros((6, 6))
    for k, unit in enumerate(np.eye(6)):
        wanted[:, k] -= c_q * (force(step * unit, zero) - force(-step * unit, zero)) / (2 * step)
        wanted[:, k] -= c_u * (force(zero, step * unit) - force(zero, -step * unit)) / (2 * step)
    across = [0, 1, 3, 4, 5]
    wanted[across, 2] = 0.0  # mu dN/dd and mu dN/dd', left out
    wanted[3:, 3:] = 0.5 * (wanted[3:, 3:] + wanted[3:, 3:].T)  # the turning of the body's own axes is skew
    np.testing.assert_allclose(found, wanted, rtol=0.0, atol=1e-5 * np.abs(wanted).max())  # of the differences
    np.testing.assert_array_equal(found, found.T)


def two():
    system = mbd.System("two")
    return system, system.add(mbd.Body("ball", 1.0, (1, 1, 1)))


WRONG = {
    "K is -1 N/m^n, must be positive": {"K": -1.0},
    "restitution is 1.2": {"restitution": 1.2},
    "restitution is 0, which Flores cannot have": {"restitution": 0.0, "model": mbd.Flores()},
    "mu is -0.1, must not be negative": {"mu": -0.1},
    "creep is 0 m/s, must be positive": {"creep": 0.0},
    "floor_speed is -1 m/s, must be positive": {"floor_speed": -1.0},
    "model is 'Hertz', not a damping model": {"model": "Hertz"},
    "model is <class": {"model": mbd.HuntCrossley},
    "shape_i is 0.1, which is not a shape of a contact": {"shape_i": 0.1},
    "a Box and a Sphere have no contact": {"shape_i": mbd.Box((1, 1, 1)), "shape_j": mbd.Sphere(1.0)},
    "is not larger than the sphere's radius": {"shape_j": mbd.Cylinder(1.0, 1.0)},
    "two spheres of radius 0": {"shape_i": mbd.Sphere(0.0), "shape_j": mbd.Sphere(0.0)},
    "radius is 0 m, and the rim": {"shape_i": mbd.Cylinder(0.0, 1.0)},
    "corners coincide": {"shape_i": mbd.Box((1.0, 0.0, 1.0))},
}


@pytest.mark.parametrize("text", WRONG)
def test_bad_input(text):
    system, ball = two()
    given = {"shape_i": mbd.Sphere(0.1), "shape_j": mbd.Plane(), "K": 1e6} | WRONG[text]
    system.add(mbd.ContactForce("floor", ball, system.ground, **given))
    with pytest.raises(mbd.ModelError) as caught:
        system.compile()
    assert "ContactForce 'floor'" in str(caught.value)
    assert text in str(caught.value)


def test_all_faults_are_told_at_once():
    system, ball = two()
    system.add(mbd.ContactForce("floor", ball, ball, shape_i=mbd.Sphere(0.1), shape_j=3, K=-1, mu=-1, restitution=2))
    with pytest.raises(mbd.ModelError) as caught:
        system.compile()
    for part in ("K is -1", "mu is -1", "restitution is 2", "both shapes are on body 'ball'", "shape_j is 3"):
        assert part in str(caught.value)
    with pytest.raises(mbd.UsageError, match="j is 'ground', must be a Body"):
        mbd.ContactForce("floor", ball, "ground", shape_i=mbd.Sphere(0.1), shape_j=mbd.Plane(), K=1.0)
    with pytest.raises(mbd.UsageError, match="normal is"):
        mbd.Plane(normal=(0, 0, 0))
    for exponent, text in ((0.5, r"0\.5"), (10**400, "1000000"), ("2", "'2'"), (True, "True"), (np.nan, "nan")):
        with pytest.raises(mbd.UsageError, match=f"exponent = {text}"):
            mbd.HuntCrossley(exponent=exponent)
    assert mbd.HuntCrossley(exponent=np.float32(1.5)) == mbd.HuntCrossley()


@pytest.mark.slow
@pytest.mark.parametrize("formulation", [kind for kind in FORMULATIONS if kind is not mbd.ReducedChain], ids=lambda x: x.__name__)
def test_every_formulation_has_the_contact_force(formulation):
    """N = K d^1.5 (elastic) and friction mu N against the slip; formulations in Python left the contact out."""
    system, _ = ball_on_floor(-0.01, speed=0.2, K=1e4, mu=0.2, along=0.1)
    found = mbd.accelerations(system, formulation=formulation()).v_dot[1]
    np.testing.assert_allclose(found, (-0.2 * 10.0, 0.0, 10.0 - G), rtol=0.0, atol=1e-9)


def test_a_run_goes_on_from_a_state_inside_the_contact():
    """In two parts, the second one from the state of the first: the same motion; a faster start has its own speed at touch."""
    system, _ = ball_on_floor(e=0.7)
    model = system.compile()
    whole = mbd.simulate(model, 0.02, rtol=1e-10, atol=1e-12)
    first = mbd.simulate(model, 0.004, rtol=1e-10, atol=1e-12)
    second = mbd.simulate(model, 0.02, state=first.state(), rtol=1e-10, atol=1e-12)
    np.testing.assert_allclose(second.v[-1], whole.v[-1], rtol=0.0, atol=1e-8)
    gentle = ball_on_floor(speed=0.0, e=0.7, K=1e4)[0].compile()  # it touches at the floor speed, and sinks ten times faster
    parts = [mbd.simulate(gentle, t, rtol=1e-10, atol=1e-12) for t in (0.05, 0.01)]
    assert -parts[1].v[-1, 1, 2] > 5e-3
    second = mbd.simulate(gentle, 0.05, state=parts[1].state(), rtol=1e-10, atol=1e-12)
    np.testing.assert_allclose(second.v[-1], parts[0].v[-1], rtol=0.0, atol=1e-8)
    rest = ball_on_floor(-1e-6, speed=0.0, e=0.7)[0].compile()
    struck = rest.state().replace(v=[(0, 0, 0), (0, 0, -2.0)])
    assert rest.state().angles[0] == 1e-3
    assert mbd.simulate(rest, 1e-3, state=struck, rtol=1e-8).angles[0, 0] == 2.0
