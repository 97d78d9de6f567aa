"""What an element accepts, which function it takes it for, and what it says of the rest."""

import functools

import numba
import numpy as np
import pytest

import haugmbd as mbd
from haugmbd import TSDA, PointForce, QuinticSpline, StateForce, Torque, UsageError
from haugmbd.drivers import Constant, TimeFunction
from haugmbd.forces.user_function import BODY, LENGTH, TIME, ReturnedValue, arguments_needed


def spring(rig, **options):
    return TSDA("spring", rig.a, rig.b, point_i=(0.0, 0.3, 0.1), point_j=(1.0, 1.0, 0.0), **options)


def only_fault(load):
    (fault,) = load.faults()
    return str(fault)


@pytest.mark.parametrize(
    ("function", "needed"),
    [
        (lambda t: t, 1),
        (lambda t, gain=2.0: t, 1),
        (lambda t, l, l_dot, *, gain=2.0: t, 3),
        (functools.partial(lambda k, t, l, l_dot: t, 3.0), 3),
        (numba.njit(lambda t, l, l_dot: t), 3),
        (np.sin, 1),
        (lambda *arguments: 1.0, None),
    ],
)
def test_arguments_without_a_default_count(function, needed):
    assert arguments_needed(function) == needed


def test_functions_of_time_become_drivers(rig):
    load = PointForce("push", rig.a, force=lambda t: (1.0, np.sin(t), t * t))
    assert load.user_function() is None
    np.testing.assert_allclose([d.values(0.3)[0] for d in load.drivers()], [1.0, np.sin(0.3), 0.09], rtol=1e-15)
    assert isinstance(spring(rig, actuator=np.sin).drivers()[0], TimeFunction)


def test_what_no_tape_can_hold_is_asked(rig):
    load = PointForce("push", rig.a, force=lambda t: (0.0, 0.0, 10.0 if t < 0.5 else 0.0))
    assert load.user_function().form == TIME
    assert all(isinstance(d, ReturnedValue) for d in load.drivers())
    assert spring(rig, actuator=lambda t, l, l_dot: l).user_function().form == LENGTH
    assert Torque("turn", rig.a, torque=lambda t, r, p, v, omega_bar: r).user_function().form == BODY


def test_components_may_be_drivers(rig):
    table = QuinticSpline(np.linspace(0.0, 1.0, 9), np.linspace(0.0, 1.0, 9) ** 2)
    load = PointForce("push", rig.a, force=(1.0, table, np.cos))
    assert load.faults() == ()
    assert [type(d) for d in load.drivers()] == [Constant, QuinticSpline, TimeFunction]


@pytest.mark.parametrize(
    ("force", "words"),
    [
        ((1.0, 2.0), "force is a tuple of length 2"),
        (3.0, "force is 3.0"),
        (None, "force is None"),
        (np.zeros((3, 3)), "force is an array of shape (3, 3)"),
        ((1.0, np.nan, 0.0), "must be a finite real number"),
        (("a", "b", "c"), "not a function of time"),
        (lambda t, r: (0, 0, 0), "force is a function of 2 arguments"),
        (lambda *a: (0, 0, 0), "force does not say how many arguments it needs"),
        (lambda t: (0.0, 0.0), "force(t) returns (0.0, 0.0) at t = 0 s, must be finite numbers of shape (3,)"),
        (lambda t: None, "force(t) returns None at t = 0 s"),
        (lambda t, r, p, v, omega_bar: r * np.nan, "force(t, r, p, v, omega_bar) returns [nan, nan, nan] at t = 0 s"),
        (lambda t, r, p, v, omega_bar: r[:2], "returns an array of shape (2,) at t = 0 s"),
        (lambda t, r, p, v, omega_bar: r[7] + 0, "raises IndexError at t = 0 s: index 7 is out of bounds"),
    ],
)
def test_bad_forces_are_named_faults(rig, force, words):
    text = " ".join(str(f) for f in PointForce("push", rig.a, force=force).faults())
    assert text.startswith("PointForce 'push': ")
    assert words in text


@pytest.mark.parametrize("body", ["link", None, 1.0, [], np.zeros(3)])
def test_a_torque_needs_a_body(body):
    with pytest.raises(UsageError, match="Torque 'turn' needs a body, got"):
        Torque("turn", body, torque=(1.0, 0.0, 0.0))


@pytest.mark.parametrize("answer", [None, "1.0", [1.0], np.array([1.0]), np.nan, np.inf, True, 1j])
def test_bad_answers_of_an_actuator_are_found_at_the_modelled_pose(rig, answer):
    text = only_fault(spring(rig, actuator=lambda t, l, l_dot: answer))
    assert text.startswith("TSDA 'spring': actuator(t, l, l_dot) returns ")
    assert "at t = 0 s, must be a finite number" in text


def test_an_actuator_is_asked_about_the_modelled_length(rig):
    asked = []
    load = spring(rig, actuator=lambda t, l, l_dot: asked.append((t, l, l_dot)) or 0.0)
    assert load.faults() == ()
    assert asked == [(0.0, pytest.approx(np.linalg.norm([1.0, 0.7, -0.1]), rel=1e-15), 0.0)]
    assert load.modelled_length == asked[0][1]


def test_a_spring_needs_its_free_length(rig):
    assert "there is no free length l0. Give l0= [m]" in only_fault(spring(rig, k=5.0))
    assert spring(rig, c=5.0).faults() == ()
    assert "must not be negative" in only_fault(spring(rig, k=5.0, l0=-1.0))


def test_a_spring_without_direction_or_on_one_body(rig):
    at = (0.4, 0.1, 0.3)
    assert "coincide at the modelled pose" in only_fault(TSDA("s", rig.a, rig.b, point_i=at, point_j=at, k=1.0, l0=1.0))
    assert "both ends are on body 'a'" in only_fault(TSDA("s", rig.a, rig.a, point_i=at, point_j=(0, 0, 0)))


def test_other_faults(rig):
    assert 'Give frame="global"' in only_fault(Torque("turn", rig.a, torque=(0, 0, 1), frame="local"))
    assert "point has shape (2,)" in only_fault(PointForce("push", rig.a, point=(0, 1), force=(0, 0, 1)))
    assert "k is nan, not finite" in only_fault(spring(rig, k=np.nan, l0=1.0))
    assert "force is 3 (int), must be a function" in only_fault(StateForce("all", [rig.a], force=3))
    assert "force is a function of 1 argument." in only_fault(StateForce("all", [rig.a], force=lambda t: 0))
    assert "must be finite numbers of shape (2, 6)" in only_fault(StateForce("all", [rig.a, rig.b], force=lambda t, r, p, v, w: r))


TIMES, VALUES = np.linspace(0.0, 1.0, 11), np.cos(np.linspace(0.0, 9.0, 11))


def by_interp(t):
    return np.interp(t, TIMES, VALUES)


def by_pieces(t):
    return np.piecewise(t, [t < 0.05, t >= 0.05], [1.0, -2.0])


def by_float(t):
    return VALUES[int(10.0 * float(t))]


WITHOUT_DERIVATIVE = {
    "interp": by_interp,
    "round": lambda t: np.round(30.0 * t),
    "fmod": lambda t: np.fmod(t, 0.03),
    "piecewise": by_pieces,
    "index": by_float,
    "if": lambda t: 1.0 if t < 0.05 else 2.0,
}


@pytest.mark.parametrize("f", WITHOUT_DERIVATIVE.values(), ids=WITHOUT_DERIVATIVE)
@pytest.mark.parametrize("load", [PointForce, Torque])
def test_a_force_needs_no_derivative(rig, load, f):
    """A function of time that has no 2-jet drives a load: alone, as a part of a vector, and beside numbers and drivers."""
    table = QuinticSpline(TIMES, np.sin(TIMES))
    argument = "force" if load is PointForce else "torque"
    whole = load("whole", rig.a, **{argument: lambda t: (f(t), 2.0, np.sin(t))})
    parts = load("parts", rig.a, **{argument: (f, 2.0, np.sin)})
    mixed = load("mixed", rig.a, **{argument: (f, table, np.array(2.0))})
    assert [element.faults() for element in (whole, parts, mixed)] == [(), (), ()]
    t = np.array([0.0, 0.02, 0.06, 0.3])
    state = [np.zeros((4, width)) for width in (3, 4, 3, 3)]
    by_hand = np.array([[f(s), 2.0, np.sin(s)] for s in t])
    for element in (whole, parts):
        np.testing.assert_array_equal(getattr(element, argument).sampled(t, *state), by_hand)
    np.testing.assert_allclose(
        mixed.torque.sampled(t) if load is Torque else mixed.force.sampled(t), by_hand[:, [0, 2, 1]], atol=2e-6
    )


def test_parts_of_a_vector_run_and_are_saved(tmp_path):
    """The motion is that of the same force as one function; the file holds the functions by name."""

    def falling(force):
        system = mbd.System("falling")
        system.add(mbd.PointForce("push", system.add(mbd.Body("a", 2.0, (0.4, 0.5, 0.6))), force=force))
        return system

    parts = falling((by_interp, 0.5, by_float))
    run = mbd.simulate(parts, 0.3, h=0.01)
    np.testing.assert_array_equal(run["a"].r, mbd.simulate(falling(lambda t: (by_interp(t), 0.5, by_float(t))), 0.3, h=0.01)["a"].r)
    np.testing.assert_allclose(run["a"].v[-1, 1], 0.5 / 2.0 * 0.3, rtol=1e-14)
    parts.save(tmp_path / "falling.json")
    read = mbd.load_model(tmp_path / "falling.json", allow_code=True)
    np.testing.assert_array_equal(mbd.simulate(read, 0.3, h=0.01)["a"].r, run["a"].r)


def test_a_part_that_fails_is_told(rig):
    """A part that raises, or returns no number, is a fault with the name of the load."""
    wrong = only_fault(PointForce("push", rig.a, force=(lambda t: np.interp(t, [0.0], []), 0.0, 0.0)))
    assert "PointForce 'push'" in wrong
    assert "raises" in wrong
