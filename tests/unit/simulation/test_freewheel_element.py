"""Freewheel: locks and slips at its own times, against own ODEs; impulses, sets that hold at rest, files, other roads, bad input."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.optimize import brentq

import haugmbd as mbd
from joints import CJ, RJ, Coupling, Freewheel, Gear, RotationDriver

HUB, WHEEL, DRAG = 1.0, 2.0, 0.5
FINE = {"rtol": 1e-12, "atol": 1e-13, "method": "DOP853"}
TIGHT = {"rtol": 1e-10, "atol": 1e-12}
WAVE = "10 * sin(5 * t)"


def shafts(hub=0.0, wheel=0.0, torque=WAVE, sense=1.0, **more):
    """A hub that is driven and a wheel with a drag: the wheel overruns the hub."""
    system = mbd.System("bicycle")
    pins = []
    for name, J, w in (("hub", HUB, hub), ("wheel", WHEEL, wheel)):
        body = system.add(mbd.Body(name, 1.0, (J, J, J), omega_bar=(0, 0, sense * w)))
        pins.append(system.add(RJ(f"pin {name}", system.ground, body, point=(0, 0, 0), axis=(0, 0, 1), **more)))
    system.add(Freewheel("pawl", {pins[1]: sense, pins[0]: -sense}))
    system.add(mbd.Motor("drive", pins[0], torque=mbd.Expression(f"{sense:g} * {torque}")))
    system.add(mbd.RSDA("drag", pins[1], k=0.0, c=DRAG))
    return system


def own_motion(t_end, w, locked):
    """Speeds of hub and wheel at the end, and the times of locking and slipping."""
    t, w, times = 0.0, np.array(w, dtype=float), []

    def drive(t):
        return 10.0 * np.sin(5.0 * t)

    def together(t, y):
        return 2 * [(drive(t) - DRAG * y[1]) / (HUB + WHEEL)]

    def apart(t, y):
        return [drive(t) / HUB, -DRAG * y[1] / WHEEL]

    def push(t, y):
        return drive(t) - HUB * together(t, y)[0]

    def gap(t, y):
        return y[1] - y[0]

    while True:
        event = push if locked else gap
        event.terminal, event.direction = True, -1
        found = solve_ivp(together if locked else apart, (t, t_end), w, events=event, **FINE)
        t, w = found.t[-1], found.y[:, -1]
        if found.status != 1:
            return w, times
        times.append(t)
        locked = not locked


@pytest.mark.slow
@pytest.mark.parametrize("sense", [1.0, -1.0])
@pytest.mark.parametrize(("hub", "wheel"), [(0.0, 0.0), (0.0, 3.0)])
def test_it_locks_and_slips_at_its_own_times(sense, hub, wheel):
    result = mbd.simulate(shafts(hub, wheel, sense=sense), 3.0, **TIGHT)
    speeds, times = own_motion(3.0, (hub, wheel), locked=wheel == 0.0)
    assert len(times) >= 3
    assert np.abs(np.array([one.t for one in result.switches]) - times).max() < 1e-8
    words = ["slips", "locks"] if wheel == 0.0 else ["locks", "slips"]
    assert [one.name for one in result.events] == [f"pawl: {words[k % 2]}" for k in range(len(times))]
    found = np.array([result["hub"].omega[-1, 2], result["wheel"].omega[-1, 2]])
    assert np.abs(sense * found - speeds).max() < 1e-8
    slip = sense * (result["wheel"].omega[:, 2] - result["hub"].omega[:, 2])
    assert slip.min() > -1e-9
    moment = np.abs(result.reaction("pawl").torque[:, 2])
    assert np.minimum(moment, np.abs(slip)).max() < 1e-6
    assert moment.max() > 3.0
    assert np.abs(result.energy().drift).max() < 1e-6


def test_a_start_that_falls_is_caught_by_an_impulse():
    result = mbd.simulate(shafts(hub=3.0, torque="0"), 0.1, h=1e-3)
    (hit,) = result.impacts
    assert result["hub"].omega[-1, 2] == pytest.approx(result["wheel"].omega[-1, 2], abs=1e-12)
    assert -hit.impulse.energy_change == pytest.approx(0.5 * HUB * WHEEL / (HUB + WHEEL) * 9.0, rel=1e-12)
    assert [one.names for one in result.switches] == [("pawl: locks",)]


@pytest.mark.parametrize(("torque", "together"), [("2", True), ("-2", False), ("2 * t", True), ("-2 * t", False), ("0", True)])
def test_what_presses_at_rest_holds(torque, together):
    result = mbd.simulate(shafts(torque=torque), 0.5, h=4e-3)
    hub, wheel = result["hub"].omega[-1, 2], result["wheel"].omega[-1, 2]
    if together:
        assert hub == pytest.approx(wheel, abs=1e-12)
    else:
        assert hub < -0.2
        assert wheel == 0.0


@pytest.mark.slow
def test_a_kick_that_would_pull_lets_it_slip_and_one_that_presses_is_passed_on():
    def kick(moment):
        system = shafts(torque="0 * t")
        blow = mbd.AngularImpulse("blow", system["wheel"], impulse=(0, 0, moment))
        return mbd.simulate(system, 0.4, h=1e-3, events=[mbd.Event("kick", lambda t, state: t - 0.2).then(kick=blow)])

    ahead, back = kick(3.0), kick(-3.0)
    assert ahead["hub"].omega[-1, 2] == pytest.approx(0.0, abs=1e-9)
    assert ahead["wheel"].omega[-1, 2] == pytest.approx(1.5 * np.exp(-DRAG / WHEEL * 0.2), rel=1e-9)
    assert back["hub"].omega[-1, 2] < -0.5
    assert back["hub"].omega[:, 2] == pytest.approx(back["wheel"].omega[:, 2], abs=1e-9) or len(back.switches) > 1


@pytest.mark.slow
def test_beside_dry_friction_it_is_a_clutch_that_slips_one_way():
    """The friction of the bearing alone drags while it slips; against the sense it holds any moment (a one-way clutch of the MSL)."""
    capacity, J1, J2 = 6.0, 1.0, 2.0
    system = mbd.System("one-way clutch")
    a = system.add(mbd.Body("a", 1.0, (J1, J1, J1), omega_bar=(0, 0, 0)))
    b = system.add(mbd.Body("b", 1.0, (J2, J2, J2), omega_bar=(0, 0, 12.0)))
    pin = system.add(RJ("pin", system.ground, a, point=(0, 0, 0), axis=(0, 0, 1)))
    clutch = system.add(RJ("clutch", a, b, point=(0, 0, 0), axis=(0, 0, 1)))
    system.add(Freewheel("pawl", clutch))
    system.add(mbd.JointFriction("rubs", clutch, mbd.Coulomb(0.3), radius=0.1, preload=capacity / 0.03))
    system.add(mbd.Motor("drive", pin, torque=mbd.Expression("20 * sin(3 * t)")))
    result = mbd.simulate(system, 2.0, **TIGHT)

    def ahead(t, w):
        return [(20.0 * np.sin(3.0 * t) + capacity) / J1, -capacity / J2]

    def slip(t, w):
        return w[1] - w[0]

    slip.terminal = True
    first = solve_ivp(ahead, (0, 2), [0.0, 12.0], events=slip, **FINE)
    together, w = first.t[-1], first.y[0, -1]
    # held together until what b needs against the sense, J2 w', is less than -capacity
    breaks = brentq(lambda t: 20.0 * np.sin(3.0 * t) * J2 / (J1 + J2) + capacity, together if together > 1.1 else 1.1, 1.5)
    w_break = w + 20.0 / 3.0 * (np.cos(3.0 * together) - np.cos(3.0 * breaks)) / (J1 + J2)
    again = solve_ivp(ahead, (breaks, 2.0), [w_break, w_break], **FINE)
    assert result["a"].omega[-1, 2] == pytest.approx(again.y[0, -1], abs=1e-6)
    assert result["b"].omega[-1, 2] == pytest.approx(again.y[1, -1], abs=1e-6)
    assert (result["b"].omega[:, 2] - result["a"].omega[:, 2]).min() > -1e-8


@pytest.mark.slow
def test_two_freewheels_make_a_rectifier_and_a_backstop_holds_a_load():
    """A crank that swings drives a shaft one way by two freewheels, one through a gear that reverses."""
    system = mbd.System("rectifier")
    lever = system.add(mbd.Body("lever", 1.0, (1, 1, 1)))
    back = system.add(mbd.Body("back", 1.0, (0.1, 0.1, 0.1), r=(1, 0, 0)))
    shaft = system.add(mbd.Body("shaft", 1.0, (5, 5, 5)))
    pins = [system.add(RJ(f"pin {body.name}", system.ground, body, point=body.r, axis=(0, 0, 1))) for body in (lever, back, shaft)]
    system.add(RotationDriver("swing", pins[0], mbd.Expression("0.5 * sin(4 * t)")))
    system.add(Gear("reverse", pins[0], pins[1], ratio=-1.0))
    system.add(Freewheel("forth", {pins[2]: 1.0, pins[0]: -1.0}))
    system.add(Freewheel("back way", {pins[2]: 1.0, pins[1]: -1.0}))
    system.add(mbd.RSDA("drag", pins[2], k=0.0, c=20.0))
    result = mbd.simulate(system, 3.0, project_velocity=True, **TIGHT)
    w, drive = result["shaft"].omega[:, 2], 2.0 * np.cos(4.0 * result.t)
    late = result.t > 0.0
    assert (w[late] - np.abs(drive[late])).min() > -1e-7
    assert len(result.switches) >= 6
    # between: the drag slows the shaft, 5 w' = -20 w
    slack = np.flatnonzero(w > np.abs(drive) + 1e-3)
    k = slack[slack < len(w) - 2]
    k = k[np.isin(k + 1, slack)]
    assert np.abs(np.log(w[k] / w[k + 1]) - 4.0 * (result.t[k + 1] - result.t[k])).max() < 1e-7


@pytest.mark.slow
def test_states_files_and_results_go_on_where_they_were(tmp_path):
    system = shafts(0.0, 3.0)
    whole = mbd.simulate(system, 1.5, **TIGHT)
    read = mbd.load_model(system.save(tmp_path / "shafts.json"))
    assert np.array_equal(mbd.simulate(read, 1.5, **TIGHT).y, whole.y)
    model = system.compile()
    for t in (0.2, 0.5):  # slips, is locked
        first = mbd.simulate(model, t, **TIGHT)
        first.save(tmp_path / "first.npz")
        state = mbd.load(tmp_path / "first.npz").state()
        rest = mbd.simulate(model, 1.5, state=state, **TIGHT)
        assert np.abs(rest.y[-1] - whole.y[-1]).max() < 1e-9
        joined = first.join(rest)
        assert [one.names for one in joined.switches] == [one.names for one in whole.switches]


@pytest.mark.slow
@pytest.mark.parametrize(
    "how",
    [
        {"h": 1e-3},
        {"h": 1e-3, "integrator": mbd.RadauIIA()},
        {"integrator": mbd.BDF(rtol=1e-8, atol=1e-10)},
        {"integrator": mbd.DOP853(rtol=1e-9)},
    ],
)
def test_every_family_of_methods_locks_it(how):
    result = mbd.simulate(shafts(0.0, 3.0), 1.5, **how)
    speeds, times = own_motion(1.5, (0.0, 3.0), locked=False)
    assert np.abs(np.array([one.t for one in result.switches]) - times).max() < 1e-5
    assert abs(result["wheel"].omega[-1, 2] - speeds[1]) < 1e-5


@pytest.mark.slow
def test_a_coordinate_of_a_joint_with_several_freedoms_is_taken():
    system = mbd.System("s")
    body = system.add(mbd.Body("b", 1.0, (1, 1, 1), omega_bar=(0, 0, 2.0), v=(0, 0, 1.0)))
    slide = system.add(CJ("slide", system.ground, body, point=(0, 0, 0), axis=(0, 0, 1)))
    system.add(Freewheel("ratchet", slide.coordinate("displacement")))
    system.add(mbd.PointForce("push", body, force=(0, 0, -2.0)))
    result = mbd.simulate(system, 1.0, **TIGHT)
    assert [(one.names[0], round(one.t, 8)) for one in result.switches] == [("ratchet: locks", 0.5)]
    assert result["b"].r[-1, 2] == pytest.approx(0.25, abs=1e-9)
    assert result["b"].omega[-1, 2] == pytest.approx(2.0, abs=1e-9)


@pytest.mark.parametrize(
    "ask",
    [
        lambda s: mbd.Stepper(s, h=1e-3, inputs=[], outputs=["pin hub.angle"]),
        lambda s: mbd.batch(s.compile(), states=[s.compile().state()]),
        lambda s: mbd.impulse(s.compile()),
        mbd.linearize,
        mbd.equilibrium,
        lambda s: mbd.sensitivity(s, {"wheel.mass": 1.0}, ["body.wheel.omega[2]"], t_end=0.1, h=1e-3),
        lambda s: mbd.ode_function(s.compile()),
        lambda s: mbd.inverse_dynamics(s, mbd.simulate(s, 0.01, h=1e-3)),
    ],
)
def test_other_roads_refuse_it_by_name(ask):
    with pytest.raises(mbd.UsageError, match="'pawl'"):
        ask(shafts())


@pytest.mark.parametrize("write", ["write_mjcf", "write_urdf", "write_sdf", "write_asmt"])
def test_files_of_other_programs_hold_no_freewheel(write, tmp_path):
    """It is not written as the coupling that holds both ways."""
    ending = write.removeprefix("write_").replace("mjcf", "xml")
    found = getattr(mbd, write)(shafts(), tmp_path / f"a.{ending}", leave_out=True)
    assert any("holds no such Freewheel" in text for text in found.left_out)
    assert "pawl" not in (tmp_path / f"a.{ending}").read_text()


@pytest.mark.parametrize("write", ["write_mjcf", "write_urdf", "write_sdf", "write_asmt"])
def test_files_of_other_programs_do_not_switch_on_what_is_off(write, tmp_path):
    system = shafts()
    system.add(Coupling("later", {system["pin hub"]: 1.0, system["pin wheel"]: -1.0}, active=False))
    ending = write.removeprefix("write_").replace("mjcf", "xml")
    with pytest.raises(mbd.ModelFileError, match="'later'.*off at the start"):
        getattr(mbd, write)(system, tmp_path / f"a.{ending}", leave_out=True)


def test_an_impact_that_would_pull_at_a_locked_freewheel_is_refused_and_a_spring_lets_it_slip():
    system = shafts(torque="2")
    rigid = {"restitution": 0.5}
    system.add(mbd.JointLimit("stop", system["pin hub"], upper=0.05, **rigid))
    with pytest.raises(mbd.SimulationError, match="'pawl' is locked at the impact of 'stop upper'"):
        mbd.simulate(system, 1.0, h=1e-3)
    soft = shafts(torque="2")
    soft.add(mbd.JointLimit("stop", soft["pin hub"], upper=0.05, k=1e5))
    result = mbd.simulate(soft, 0.43, h=1e-4)
    assert (result["wheel"].omega[:, 2] - result["hub"].omega[:, 2]).min() > -1e-9
    assert any("slips" in one.name for one in result.events)


@pytest.mark.slow
def test_a_stop_that_throws_the_wheel_back_locks_it_by_an_impulse():
    system = shafts(wheel=3.0, torque="0")
    system.add(mbd.JointLimit("stop", system["pin wheel"], upper=0.6, restitution=0.5))
    result = mbd.simulate(system, 0.5, **TIGHT)
    meets, locks = result.events[:2]
    assert locks.name == "pawl: locks"
    assert locks.t == meets.t
    before = 3.0 - DRAG / WHEEL * 0.6
    common = -0.5 * before * WHEEL / (HUB + WHEEL)
    after = result.t > meets.t + 1e-9
    assert result["hub"].omega[after, 2][0] == pytest.approx(common, rel=1e-3)
    assert (result["wheel"].omega[after, 2] - result["hub"].omega[after, 2]).min() > -1e-9


def test_bad_input_is_told_by_name():
    system = mbd.System("s")
    body = system.add(mbd.Body("b", 1.0, (1, 1, 1)))
    pin = system.add(RJ("pin", system.ground, body, point=(0, 0, 0), axis=(0, 0, 1)))
    with pytest.raises(mbd.UsageError, match="pawl"):
        Freewheel("pawl", "pin")
    system.add(Freewheel("pawl", pin, active=True))
    with pytest.raises(mbd.ModelError, match="'pawl'.*follows from the motion"):
        system.compile()
    other = shafts()
    other.add(Freewheel("none", {other["pin hub"]: 0.0}))
    with pytest.raises(mbd.ModelError, match="'none'"):
        other.compile()
    assert Coupling.one_way is False


@pytest.mark.parametrize("load", [1.5, 8.0])
def test_a_ratchet_goes_over_from_one_pawl_to_the_other_where_its_drive_turns_back(load):
    """A hub that is driven to and fro draws a wheel on by one pawl, and another one holds it against its load.

    load 1.5: the wheel runs ahead where T = J h' + load falls to zero, comes to rest on the stop, and is drawn on from h = 0;
    load 8: it is pressed all the time, and goes over from pawl to stop at h = 0, too.
    """
    A, w, J = 0.3, 4.0, 1.0
    system = mbd.System("ratchet")
    hub, wheel = (system.add(mbd.Body(name, 1.0, (J, J, J))) for name in ("hub", "wheel"))
    pins = [system.add(RJ(f"pin {one.name}", system.ground, one, point=(0, 0, 0), axis=(0, 0, 1))) for one in (hub, wheel)]
    system.add(Freewheel("pawl", {pins[1]: 1.0, pins[0]: -1.0}))
    system.add(Freewheel("stop", pins[1]))
    system.add(RotationDriver("drive", pins[0], mbd.Expression("0.3 * sin(4 * t)")))
    system.add(mbd.Motor("load", pins[1], torque=-load))
    result = mbd.simulate(system, 5.0, rtol=1e-9, project_velocity=True)
    leaves = np.arcsin(min(1.0, load / (J * A * w**2))) / w if load < J * A * w**2 else 0.5 * np.pi / w
    speed = A * w * np.cos(w * leaves)
    drawn = 0.5 * np.pi / w + leaves  # [s] from h = 0 until T = 0

    def turned(t):
        """Return how far the wheel has turned at t behind h = 0, in one to and fro."""
        if t < drawn:
            return A * (1.0 - np.cos(w * t))
        alone = min(t - drawn, J * speed / load)
        return A * (1.0 + np.sin(w * leaves)) + speed * alone - 0.5 * load / J * alone**2

    period, first = 2.0 * np.pi / w, 1.5 * np.pi / w
    whole = int((5.0 - first) / period)
    angle = turned(period) * (1 + whole) - A + turned(5.0 - first - whole * period)
    assert result.joint("pin wheel").angle[-1] == pytest.approx(angle, abs=1e-8)
    assert np.diff(result.joint("pin wheel").angle).min() > -1e-9
    over = [event.t for event in result.events if event.name == "pawl: locks" and event.t > 0.0]
    assert over == pytest.approx((1.5 + 2.0 * np.arange(len(over))) * np.pi / w, abs=1e-8)
    held = result.reaction("stop", on="wheel").torque[:, 2]
    assert np.all(held > -1e-9)
    assert held.max() == pytest.approx(load, rel=1e-9)


@pytest.mark.parametrize("seed", [4, 5, 7])
def test_random_ratchets_never_fall_never_pull_and_keep_the_ledger(seed):
    """s >= 0 and T >= 0 of both pawls at every state: a wheel that comes to rest on the stop is still pressed by the hub."""
    rng = np.random.default_rng(seed)
    J, load = rng.uniform(0.5, 2.0, size=2), rng.uniform(0.3, 6.0)
    k, most, w = rng.uniform(5.0, 30.0), rng.uniform(3.0, 10.0), rng.uniform(2.0, 6.0)
    system = mbd.System("ratchet")
    hub, wheel = (system.add(mbd.Body(name, 1.0, (x, x, x))) for name, x in zip(("hub", "wheel"), J, strict=True))
    pins = [system.add(RJ(f"pin {one.name}", system.ground, one, point=(0, 0, 0), axis=(0, 0, 1))) for one in (hub, wheel)]
    system.add(Freewheel("pawl", {pins[1]: 1.0, pins[0]: -1.0}))
    system.add(Freewheel("stop", pins[1]))
    system.add(mbd.JointSpring("spring", pins[0], k=k))
    system.add(mbd.Motor("drive", pins[0], torque=mbd.Expression(f"{most} * sin({w} * t)")))
    system.add(mbd.Motor("load", pins[1], torque=-load))
    result = mbd.simulate(system, 3.0, rtol=1e-9)
    h, W = (result.joint(pin.name).rate for pin in pins)
    assert np.all(W > -1e-8)
    assert np.all(W - h > -1e-8)
    assert len(result.events) > 3
    for name, on in (("pawl", "wheel"), ("stop", "wheel")):
        assert result.reaction(name, on=on).torque[:, 2].min() > -1e-7
    assert abs(result.energy().drift).max() < 1e-6
