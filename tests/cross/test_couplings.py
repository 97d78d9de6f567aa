"""Couplings of joint coordinates against closed forms, Willis' equations, and every formulation and integrator family."""

from __future__ import annotations

import numpy as np
import pytest

import haugmbd as mbd
from haugmbd.formulations import FORMULATIONS
from joints import CJ, RJ, TJ, UJ, Cam, Coupling, Distance, Fixed, Gear, RackPinion, RotationDriver, Screw
from tests.support import gear_trains as trains
from tests.support.gear_trains import RING, SUN, TRAINS

CLOSED_FORM = 1e-9
"""Relative error of an acceleration: rounding of the augmented matrix is about 1e-13."""

SAME = {"Penalty": 1e-2}
"""Relative difference of accelerations from those of NewtonEuler: the penalty method has an error of its own."""


def acceleration_of(model, joint, found):
    """The second derivative of the joint's coordinate, from accelerations from rest: about or along its axis h."""
    e = model.joints[joint]
    h = e.part.frame_i.h
    j = e.j
    if joint == "thread":
        return found.v_dot[j] @ h
    turns = e.part.freedoms[0].kind.name == "TURN"
    return (found.omega_bar_dot if turns else found.v_dot)[j] @ h


@pytest.mark.slow
@pytest.mark.parametrize("make", TRAINS, ids=lambda make: make.__name__)
@pytest.mark.parametrize("kind", FORMULATIONS, ids=lambda kind: kind.__name__)
def test_accelerations_are_those_of_the_closed_form_with_every_formulation(make, kind):
    train = make()
    model = train.system.compile()
    formulation = kind()
    if kind.__name__ == "ReducedChain":
        with pytest.raises(mbd.ModelError):  # a serial chain has no couplings
            mbd.accelerations(model, formulation=formulation)
        return
    found = acceleration_of(model, train.joint, mbd.accelerations(model, formulation=formulation))
    assert found == pytest.approx(train.acceleration, rel=SAME.get(kind.__name__, CLOSED_FORM))


def test_the_rack_of_the_issue_falls_with_a_fifth_of_gravity():
    assert trains.rack().acceleration == pytest.approx(-1.96133, rel=1e-12)


METHODS = {
    "RK4": {"h": 2e-3},
    "DormandPrince": {"rtol": 1e-8, "atol": 1e-10},
    "HEM4": {"integrator": mbd.HEM4(), "h": 2e-3},
    "RATTLE": {"integrator": mbd.RATTLE(), "h": 1e-3},
    "GeneralizedAlpha": {"integrator": mbd.GeneralizedAlpha(h=1e-3)},
    "RadauIIA": {"integrator": mbd.RadauIIA(h=1e-2)},
    "BDF": {"integrator": mbd.BDF(rtol=1e-7)},
    "Baumgarte": {"stabilization": mbd.Baumgarte(alpha=20, beta=20), "h": 2e-3},
    "EulerParameters": {"formulation": mbd.EulerParameters(), "h": 5e-3},
}
RUN = 1e-3
"""Error of an angle of about 7 rad after 1 s; methods of second order with these steps reach 1e-4."""


@pytest.mark.slow
@pytest.mark.parametrize("method", METHODS)
def test_a_planetary_set_turns_many_times_with_every_family_of_methods(method):
    train = trains.planetary(3)
    result = mbd.simulate(train.system, t_end=1.0, **METHODS[method])
    carrier, sun = result.joint("carrier axis").angle, result.joint("sun axis").angle
    assert carrier[-1] == pytest.approx(0.5 * train.acceleration, abs=RUN)
    np.testing.assert_allclose(sun, (1.0 + RING / SUN) * carrier, atol=1e-5)
    assert sun[-1] > 2.0 * np.pi
    assert abs(result.violation("position", by="joint")["ring mesh 0"]).max() < 1e-4
    assert abs(result.energy().drift).max() < 1e-2


@pytest.mark.slow
def test_a_multiplier_is_the_generalized_force_on_each_coordinate():
    train = trains.planetary()
    model = train.system.compile()
    found = mbd.accelerations(model)
    lam = found.lam[model.joints["sun mesh 0"].rows[0]]
    sun = model.body("sun")
    # J alpha = M - c lam on the sun, the only load on which is the drive
    assert 0.02 * found.omega_bar_dot[sun, 2] == pytest.approx(trains.TORQUE - SUN * lam, rel=CLOSED_FORM)


def test_reactions_of_a_coupling_add_up_to_zero_over_all_bodies():
    train = trains.planetary()
    result = mbd.simulate(train.system, t_end=0.2, h=2e-3)
    model = result.model
    for name in ("sun mesh 0", "ring mesh 0"):
        touched = [model.body_names[place[0]] for place in model.joints[name].places]
        force, moment = np.zeros((2, len(result.t), 3))
        for body in touched:
            r = result.reaction(name, on=body)
            assert r.body == body
            force += r.force
            moment += r.torque + np.cross(r.point, r.force)
        assert abs(force).max() < 1e-12
        assert abs(moment).max() < 1e-12
    with pytest.raises(mbd.UsageError, match="or one of 'sun'"):
        result.reaction("sun mesh 0", on="ring")


@pytest.mark.slow
def test_couplings_do_no_work():
    system = trains.chain_of_pairs(4)
    result = mbd.simulate(system, t_end=0.5, h=1e-3)
    assert abs(result.energy().drift).max() < 1e-6
    assert result.model.sides == 4


def test_a_chain_of_pairs_agrees_with_the_dense_solution():
    model = trains.chain_of_pairs(6).compile()
    rng = np.random.default_rng(3)
    state = model.state()
    state = state.replace(v=rng.normal(size=state.v.shape) * (np.arange(len(state.v)) > 0)[:, None])
    rows = mbd.evaluate(model, state)
    J = rows.Phi_q.toarray()
    M = np.zeros((6 * model.nb, 6 * model.nb))
    for k in range(model.nb):
        M[6 * k : 6 * k + 3, 6 * k : 6 * k + 3] = model.mass[k + 1] * np.eye(3)
        M[6 * k + 3 : 6 * k + 6, 6 * k + 3 : 6 * k + 6] = model.J_bar[k + 1]
    Q = np.zeros((model.nb, 6))
    Q[:, :3] = model.mass[1:, None] * model.gravity
    K = np.block([[M, J.T], [J, np.zeros((model.nc, model.nc))]])
    x = np.linalg.solve(K, np.concatenate([Q.ravel(), rows.gamma]))
    found = mbd.accelerations(model, state)
    np.testing.assert_allclose(np.hstack([found.v_dot, found.omega_bar_dot])[1:].ravel(), x[: 6 * model.nb], atol=1e-8)
    np.testing.assert_allclose(found.lam, x[6 * model.nb :], atol=1e-8)


@pytest.mark.slow
@pytest.mark.parametrize("make", [trains.planetary, trains.differential, trains.screw, lambda: (trains.chain_of_pairs(3),)])
def test_derivatives_are_those_of_differences(make):
    verified = mbd.verify(make()[0])
    assert verified.ok, str(verified)


@pytest.mark.slow
def test_derivatives_of_the_angles_of_a_universal_joint_are_those_of_differences():
    system = mbd.System("universal")
    a = system.add(mbd.Body("a", 1.0, (0.1, 0.2, 0.15)))
    b = system.add(mbd.Body("b", 1.0, (0.1, 0.2, 0.15), r=(1, 0, 0)))
    pin = system.add(RJ("pin", system.ground, a, point=(0, 0, 0), axis=(0, 0, 1)))
    cross = system.add(UJ("cross", a, b, point=(0.5, 0, 0), axis_i=(0, 1, 0), axis_j=(0, 0, 1)))
    system.add(Coupling("sum", {pin: 1.0, cross.coordinate("angle", 1): 0.7, cross.coordinate("angle", 2): -0.4}))
    assert mbd.verify(system).ok
    result = mbd.simulate(system, t_end=0.3, h=1e-3)
    u, v = result.joint("cross").angle.T
    np.testing.assert_allclose(result.joint("pin").angle + 0.7 * u - 0.4 * v, 0.0, atol=1e-9)


def test_impulses_are_transmitted():
    train = trains.pair()
    model = train.system.compile()
    found = mbd.impulse(model, model.state().replace(omega_bar=np.array([[0, 0, 0], [0, 0, 1.0], [0, 0, 0]])))
    # J_a omega_a = (J_a + i^2 J_b) omega_a+
    after = 0.02 / (0.02 + 0.4**2 * 0.05)
    assert found.omega_bar[1, 2] == pytest.approx(after, rel=CLOSED_FORM)
    assert found.omega_bar[2, 2] == pytest.approx(-0.4 * after, rel=CLOSED_FORM)


def test_a_gear_that_closes_suddenly_shares_the_momentum():
    system, *_ = wheels()
    model = system.compile()
    state = model.state().replace(omega_bar=np.array([[0, 0, 0], [0, 0, 1.0], [0, 0, 0]]))
    gear = Gear("mesh", *system.joints, ratio=-0.5)
    found = mbd.impulse(model, state, close=[gear])
    np.testing.assert_allclose(found.omega_bar[1:, 2], (0.8, -0.4), rtol=CLOSED_FORM)  # (1 + 0.25) omega = 1
    assert found.joint("mesh", on="a").torque[2] == pytest.approx(-0.2, rel=CLOSED_FORM)


def test_a_distance_takes_a_function_as_f():
    system, first, _ = wheels()
    system.add(Distance("rod", system.ground, first.j, point_i=(2, 0, 0), point_j=(0, 1, 0), f=lambda t: np.sqrt(5.0) - 0.1 * t))
    result = mbd.simulate(system, t_end=1.0, h=1e-2, project_velocity=True)
    tip = result["a"].r[-1] + result["a"].A[-1] @ (0, 1, 0)
    assert np.linalg.norm(tip - (2, 0, 0)) == pytest.approx(np.sqrt(5.0) - 0.1, abs=1e-10)


def wheels(axis_b=(0, 0, 1), *, wheel_first=False):
    system = mbd.System("wheels")
    a, b = (system.add(mbd.Body(name, 1.0, (1.0, 1.0, 1.0), r=(x, 0, 0))) for name, x in (("a", 0.0), ("b", 1.0)))
    bodies = (b, system.ground) if wheel_first else (system.ground, b)
    first = system.add(RJ("first", system.ground, a, point=(0, 0, 0), axis=(0, 0, 1)))
    return system, first, system.add(RJ("second", *bodies, point=(1, 0, 0), axis=axis_b))


@pytest.mark.slow
@pytest.mark.parametrize(("internal", "turned"), [(False, -1.0), (True, 1.0)])
@pytest.mark.parametrize("wheel_first", [False, True])
@pytest.mark.parametrize("axis", [(0, 0, 1), (0, 0, -1)])
def test_teeth_turn_the_wheels_the_same_way_for_all_directions_of_the_axes(internal, turned, wheel_first, axis):
    system, first, second = wheels(axis, wheel_first=wheel_first)
    system.add(Gear("mesh", first, second, teeth=(20, 40), internal=internal))
    system.add(RotationDriver("drive", first, lambda t: 3.0 * t))
    result = mbd.kinematics(system, np.linspace(0.0, 4.0, 5))
    assert result["b"].omega[-1, 2] == pytest.approx(turned * 1.5, abs=1e-12)
    angle = result.joint("second").angle[-1]
    assert angle == pytest.approx(turned * 6.0 * axis[2] * (-1.0 if wheel_first else 1.0), abs=1e-10)


def test_bevel_wheels_need_the_contact_point_and_meet_there():
    system, first, second = wheels((1, 0, 0))
    system.add(Gear("mesh", first, second, teeth=(20, 40)))
    with pytest.raises(mbd.ModelError, match="not parallel"):
        system.compile()
    system, first, second = wheels((1, 0, 0))  # both axes go through the origin
    contact = np.array([0.5, 0.0, 1.0])
    system.add(Gear("mesh", first, second, teeth=(20, 40), contact_point=contact))
    found = system.joints[-1]
    v_a, v_b = np.cross((0, 0, 1), contact), found.ratio * np.cross((1, 0, 0), contact - (1, 0, 0))
    assert found.ratio == -0.5
    np.testing.assert_allclose(v_a, v_b, atol=1e-15)


def test_a_differential_of_bevel_pairs_on_a_cage_obeys_willis():
    """omega_left + omega_right = 2 omega_cage, with the wheels on the cage and a spider between them; and the torques are halves."""
    system = mbd.System("differential")
    x, y, radius = (1, 0, 0), (0, 1, 0), 0.1
    cage, left, right = (
        system.add(mbd.Body(n, 1.0, (J, 0.8 * J, 0.8 * J))) for n, J in (("cage", 0.2), ("left", 0.03), ("right", 0.03))
    )
    spider = system.add(mbd.Body("spider", 1e-3, (1e-6, 1e-6, 1e-6), r=(0, radius, 0)))
    system.add(RJ("cage axis", system.ground, cage, point=(0, 0, 0), axis=x))
    a, b = (system.add(RJ(f"{w.name} axis", cage, w, point=(0, 0, 0), axis=x)) for w in (left, right))
    pin = system.add(RJ("pin", cage, spider, point=(0, radius, 0), axis=y))
    system.add(Gear("left mesh", a, pin, teeth=(20, 20), contact_point=(-radius, radius, 0)))
    system.add(Gear("right mesh", b, pin, teeth=(20, 20), contact_point=(radius, radius, 0)))
    system.add(mbd.Torque("drive", cage, torque=(trains.TORQUE, 0, 0)))
    system.add(mbd.Torque("brake", left, torque=(-0.2, 0, 0)))
    result = mbd.simulate(system, 0.5, h=1e-3)
    speed = {name: result[name].omega[:, 0] for name in ("cage", "left", "right")}
    np.testing.assert_allclose(speed["left"] + speed["right"], 2.0 * speed["cage"], atol=1e-9)
    assert speed["left"][-1] < -0.1 < 0.1 < speed["right"][-1]
    # two coordinates, the cage and the half difference of the wheels; the spider turns with this difference, and weighs next to nothing
    J_cage, J_wheel = 0.2 + 1e-6 + 1e-3 * radius**2, 0.03
    M = np.array([[J_cage + 2.0 * J_wheel, 0.0], [0.0, 2.0 * J_wheel + 1e-6]])
    wanted = np.linalg.solve(M, (trains.TORQUE - 0.2, -0.2))
    found = mbd.accelerations(system.compile()).omega_bar_dot[1:4, 0]
    np.testing.assert_allclose(found, (wanted[0], wanted[0] + wanted[1], wanted[0] - wanted[1]), rtol=CLOSED_FORM)


def test_trains_that_do_not_close_are_locked_and_only_functions_of_time_conflict():
    system, first, second = wheels()
    system.add(Gear("one", first, second, ratio=2.0))
    system.add(Gear("other", first, second, ratio=3.0))
    found = mbd.mobility(system)
    assert found.degrees_of_freedom == 0
    assert found.redundancy.dropped == ()
    with pytest.warns(mbd.LockedModelWarning):
        system.compile()
    system, first, second = wheels()
    system.add(Gear("one", first, second, ratio=2.0))
    system.add(Gear("same", second, first, ratio=0.5))
    model = system.compile()
    assert model.redundancy.joints == ("same",)
    assert model.redundancy.consistent
    system, first, second = wheels()
    system.add(Gear("one", first, second, ratio=2.0))
    system.add(Coupling("driven", {first: 2.0, second: -1.0}, f=lambda t: 0.1 * t))
    with pytest.raises(mbd.ModelError, match=r"'one', 'driven'.*CONFLICT \(prescribed rates differ by 0.1\)"):
        system.compile()


FAULTS = {
    "ratio is zero": lambda s, a, b: Gear("g", a, b, ratio=0.0),
    "ratio is 2.0 and teeth is": lambda s, a, b: Gear("g", a, b, ratio=2.0, teeth=(1, 2)),
    "not numbers of teeth": lambda s, a, b: Gear("g", a, b, teeth=(20, 2.5)),
    "f\\(0\\) = 0.3 rad.*0.3 rad apart": lambda s, a, b: Coupling("g", {a: 1.0, b: 1.0}, f=0.3),
    "coefficient of first.angle is zero": lambda s, a, b: Coupling("g", {a: 0.0, b: 1.0}),
    "coefficient of second.angle is nan": lambda s, a, b: Coupling("g", {a: 1.0, b: np.nan}),
    "second.angle is not a displacement": lambda s, a, b: RackPinion("g", a, b, radius=0.1),
    "given twice": lambda s, a, b: Coupling("g", {a: 1.0, a.coordinate("angle"): 1.0}),
    "pitch is zero": lambda s, a, b: Screw("g", s.add(CJ("c", a.j, b.j, point=(0, 0, 0), axis=(1, 0, 0))), pitch=0.0),
    "more than one freedom": lambda s, a, b: Coupling("g", {s.add(CJ("c", a.j, b.j, point=(0, 0, 0), axis=(1, 0, 0))): 1.0}),
    "must be positive": lambda s, a, b: trains.Belt("g", a, b, radii=(0.1, -0.1)),
    "crossed is 'no', neither True nor False": lambda s, a, b: trains.Belt("g", a, b, radii=(0.1, 0.1), crossed="no"),
    "axes are 1 m apart, less than r_a \\+ r_b = 1.1 m: a crossed belt": lambda s, a, b: trains.Belt(
        "g", a, b, radii=(0.4, 0.7), crossed=True
    ),
    "axes are 1 m apart, less than \\|r_a - r_b\\| = 1.2 m: no open belt": lambda s, a, b: trains.Belt("g", a, b, radii=(0.1, 1.3)),
    "internal is 'no', neither True nor False": lambda s, a, b: Gear("g", a, b, teeth=(20, 40), internal="no"),
    "internal is given with ratio": lambda s, a, b: Gear("g", a, b, ratio=2.0, internal=True),
    "contact_point is given with ratio": lambda s, a, b: Gear("g", a, b, ratio=2.0, contact_point=(0.5, 0, 0)),
    "unilateral is 1, neither True nor False": lambda s, a, b: Cam("g", a, b, np.sin, unilateral=1),
}


@pytest.mark.slow
@pytest.mark.parametrize("text", FAULTS)
def test_bad_couplings_are_faults_with_names_and_numbers(text):
    system, first, second = wheels()
    system.add(FAULTS[text](system, first, second))
    with pytest.raises(mbd.ModelError, match=text):
        system.compile()


@pytest.mark.parametrize(
    ("make", "remedy"),
    [
        (lambda a, b: Gear("g", a, b, teeth=(20, 40)), "ratio= in place of teeth"),
        (lambda a, b: trains.Belt("g", a, b, radii=(0.1, 0.2)), "a Coupling with the coefficients of your belt"),
    ],
)
def test_wheels_without_a_common_carrier_have_no_known_sense(make, remedy):
    """A housing screwed to the ground: its joint was read as if the housing turned, where the wheel is body i."""
    system, first, _ = wheels()
    housing, wheel = (system.add(mbd.Body(name, 1.0, (1.0, 1.0, 1.0), r=(3.0, 0, 0))) for name in ("housing", "wheel"))
    system.add(Fixed("screws", system.ground, housing, point=(3, 0, 0)))
    third = system.add(RJ("third", wheel, housing, point=(3, 0, 0), axis=(1, 0, 0)))
    system.add(make(first, third))
    with pytest.raises(mbd.ModelError, match=rf"'first' \(.*'third' \('wheel', 'housing'\) have no common body.*{remedy}"):
        system.compile()


def test_what_is_no_joint_is_refused_at_once():
    system, first, second = wheels()
    for wrong in (
        lambda: Coupling("g", [first]),
        lambda: Gear("g", first, "second", ratio=1.0),
        lambda: Screw("g", first, pitch=1.0),
    ):
        with pytest.raises(mbd.UsageError):
            wrong()
    with pytest.raises(mbd.UsageError, match="has no coordinate 'displacement'; it has \"angle\""):
        first.coordinate("displacement")


def test_couplings_are_saved_and_read_bit_by_bit(tmp_path):
    system = mbd.System("all")
    a, b, c, d = (system.add(mbd.Body(name, 1.0, (1.0, 1.0, 1.0), r=(k, 0, 0))) for k, name in enumerate("abcd"))
    A = system.add(RJ("A", system.ground, a, point=(0, 0, 0), axis=(0, 0, 1), q0=0.5))
    B = system.add(RJ("B", a, b, point=(1, 0, 0), axis=(0, 0, -1)))
    C = system.add(CJ("C", a, c, point=(2, 0, 0), axis=(0, 1, 0)))
    D = system.add(TJ("D", a, d, point=(3, 0, 0), axis=(1, 0, 0), q0=0.1))
    system.add(Gear("gear", A, B, teeth=(20, 31), internal=True))
    system.add(Screw("screw", C, pitch=0.01))
    system.add(RackPinion("rack", C.coordinate("angle"), D, radius=0.2))
    system.add(Coupling("sum", {A: 1.0, D: 2.0, C.coordinate("displacement"): 0.3}, f=0.7))
    system.save(tmp_path / "one.json")
    again = mbd.load_model(tmp_path / "one.json")
    again.save(tmp_path / "two.json")
    assert (tmp_path / "one.json").read_text() == (tmp_path / "two.json").read_text()
    one, two = (mbd.evaluate(each.compile()) for each in (system, again))
    for name in ("Phi", "nu", "gamma", "Phi_r", "PiBar", "bodies"):
        np.testing.assert_array_equal(getattr(one, name), getattr(two, name))


def test_q0_is_the_value_at_the_modelled_pose_for_drivers_springs_couplings_and_histories():
    system, first, second = mbd.System("q0"), None, None
    a, b = (system.add(mbd.Body(name, 1.0, (1.0, 1.0, 1.0), r=(x, 0, 0))) for name, x in (("a", 0.0), ("b", 1.0)))
    first = system.add(RJ("first", system.ground, a, point=(0, 0, 0), axis=(0, 0, 1), q0=np.pi / 4))
    second = system.add(TJ("second", system.ground, b, point=(1, 0, 0), axis=(1, 0, 0), q0=0.3))
    system.add(RotationDriver("drive", first, lambda t: np.pi / 4 * np.cos(2.0 * t)))
    system.add(mbd.RSDA("spring", first, k=1.0))
    system.add(Coupling("tie", {first: 2.0, second: 1.0}, f=np.pi / 2 + 0.3))
    t = np.linspace(0.0, 2.0, 21)
    result = mbd.kinematics(system, t)
    wanted = np.pi / 4 * np.cos(2.0 * t)
    np.testing.assert_allclose(result.joint("first").angle, wanted, atol=1e-12)
    np.testing.assert_allclose(result.load("spring").angle, wanted, atol=1e-12)
    np.testing.assert_allclose(result.joint("second").displacement, np.pi / 2 + 0.3 - 2.0 * wanted, atol=1e-12)
    np.testing.assert_allclose(result["b"].r[:, 0], 1.0 + np.pi / 2 - 2.0 * wanted, atol=1e-12)
    assert mbd.JointCoordinate(system, "first")(0.0, result.model.state()) == pytest.approx(np.pi / 4, abs=1e-15)
    other = mbd.System("bad")
    body = other.add(mbd.Body("a", 1.0, (1.0, 1.0, 1.0)))
    other.add(RJ("pin", other.ground, body, point=(0, 0, 0), axis=(0, 0, 1), q0=np.inf))
    with pytest.raises(mbd.ModelError, match="q0 is inf"):
        other.compile()
