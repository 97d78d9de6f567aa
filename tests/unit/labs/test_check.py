"""`labs.check`: right answers, typical mistakes, and answers that are none."""

from __future__ import annotations

import numpy as np
import pytest

import haugmbd as mbd
from haugmbd.constraints import coincident, perpendicular_1
from haugmbd.gallery import double_pendulum, pendulum
from haugmbd.labs import LABS, check, exercises
from joints import RJ, SJ


def text(lab, exercise, given):
    """What is said of one answer; "" if it is right."""
    (found,) = [one for one in check(lab, {exercise: given}).findings if one.exercise == exercise]
    assert (found.state == "right") == (found.text == "")
    return found.text


def test_unknown_labs_and_exercises_are_refused():
    with pytest.raises(mbd.UsageError, match="no lab is called 'lab51'.*did you mean"):
        check("lab51", {})
    with pytest.raises(mbd.UsageError, match="lab1 has no exercise 'elbows'.*did you mean 'elbow'"):
        check("lab1", {"elbows": 1.0})
    with pytest.raises(mbd.UsageError, match="must be a dict"):
        check("lab1", [1.0])


@pytest.mark.parametrize("lab", LABS)
def test_without_answers_the_questions_are_said(lab):
    report = check(lab, dict.fromkeys(LABS[lab].exercises, ...))
    assert not report.ok
    assert report.right == 0
    assert all(one.state == "not answered" and one.text for one in report.findings)
    assert str(report).startswith(f"{lab}, ")


@pytest.mark.slow
@pytest.mark.parametrize("lab", LABS)
@pytest.mark.parametrize("given", ["nonsense", [], float("nan"), True, object(), {}])
def test_no_answer_of_another_kind_is_right_or_raises(lab, given):
    report = check(lab, dict.fromkeys(LABS[lab].exercises, given))
    assert report.right == 0
    assert all(one.state == "not yet" for one in report.findings)


def test_an_answer_that_is_a_whole_result_or_raises_ends_no_lesson():
    """A ragged list and a result raised an exception of NumPy or of the result, without the name of the exercise."""

    class Broken:
        def __array__(self, *args, **kwargs):
            raise ZeroDivisionError("of the student")

        def __repr__(self):
            return "Broken()"

    result = mbd.simulate(pendulum(), 0.01, h=1e-2)
    for given in ([1.0, [2.0]], result, np.array([3.0]), np.array(True), 1j, "3"):
        assert text("lab12", "mean", given).startswith("give one number, not ")
    assert text("lab12", "ratios", Broken()) == "it raised ZeroDivisionError: of the student"
    assert text("lab12", "ratios", [1.0, [2.0]]).startswith("give an array of numbers")
    right = exercises.pin_ratios(exercises.released()).mean()
    for given in (right, np.array(right), np.float64(right)):
        assert text("lab12", "mean", given) == ""


@pytest.mark.parametrize(
    ("factor", "said"),
    [
        (1.0, ""),
        (-1.0, "sign"),
        (2.0, "twice"),
        (1000.0, "SI units"),
        (9.81, "9.81"),
        (180.0 / np.pi, "degrees"),
        (1.3, "is not right"),
    ],
)
def test_typical_mistakes_of_a_number_are_named(factor, said):
    found = text("lab1", "release", factor * 78.0 * 9.81 / 4.0)
    assert said in found
    assert (found == "") == (said == "")


@pytest.mark.slow
def test_closed_forms_are_those_of_the_library():
    """Every number that a check computes by hand, by the library."""
    fall = mbd.simulate(pendulum(), 1.5, h=1e-3).reaction("pin").force
    assert text("lab1", "release", fall[0, 2]) == ""
    assert text("lab1", "largest", np.linalg.norm(fall, axis=1).max()) == ""
    elbow = mbd.reaction(double_pendulum().compile(), None, "pin 2").force
    assert np.linalg.norm(elbow) == pytest.approx(exercises.elbow_force(), rel=1e-9)
    assert text("lab1", "system", double_pendulum()) == ""
    needed = mbd.inverse_dynamics(pendulum(driven=True), np.linspace(0.0, np.pi, 401))
    np.testing.assert_allclose(exercises.drive_torque(needed.t), needed["drive"], rtol=0.0, atol=1e-8)
    assert text("lab3", "power", np.abs(needed.power["drive"]).max()) == ""
    R = np.polynomial.Polynomial([1.0, -1.0, 1 / 2, -1 / 6, 1 / 24])
    assert R(2.785293563405282) == pytest.approx(1.0, abs=1e-12)


def test_a_wrong_system_is_told_why():
    assert "give a System" in text("lab1", "system", 3)
    assert "two are asked for" in text("lab1", "system", pendulum())
    heavy = mbd.System("heavy", gravity=(0, 0, -9.81))
    for name, mass, y in (("bar 1", 78.0, 2.0), ("bar 2", 50.0, 4.0)):
        heavy.add(mbd.Body(name, mass, (104.01625, 0.0325, 104.01625), r=(0, y, 0 if name == "bar 1" else -1)))
    heavy.add(RJ("pin 1", heavy.ground, heavy["bar 1"], point=(0, 0, 0), axis=(1, 0, 0)))
    heavy.add(RJ("pin 2", heavy["bar 1"], heavy["bar 2"], point=(0, 4, 0), axis=(1, 0, 0)))
    assert "begin to move otherwise" in text("lab1", "system", heavy)


class Hinge(mbd.Joint):
    """A revolute joint, where a translational one is asked for; with too few rows; or one that raises."""

    wrong = ""

    def __init__(self, name, i, j, *, point, axis):
        super().__init__(name, mbd.Frame.from_global(i, point, axis), mbd.Frame.from_global(j, point, axis))

    def primitives(self):
        i, j = self.frame_i, self.frame_j
        if self.wrong == "raises":
            raise ZeroDivisionError("by nought")
        rows = (*coincident(self.i, i.s_bar, self.j, j.s_bar), *perpendicular_1(self.i, i.f, i.g, self.j, j.h))
        return rows[:4] if self.wrong == "short" else rows


@pytest.mark.slow
@pytest.mark.parametrize(
    ("wrong", "said"), [("", "resist a translation"), ("short", "it has 4 rows"), ("raises", "ZeroDivisionError")]
)
def test_a_wrong_joint_is_told_why(wrong, said):
    assert said in text("lab2", "joint", type("Mine", (Hinge,), {"wrong": wrong}))


def test_a_swing_that_jumps_is_told_where():
    assert "f'(0 s)" in text("lab3", "driver", lambda t: -np.pi / 4 * t)
    assert "f(2 s)" in text("lab3", "driver", 0.0)


def test_a_wrong_door_is_told_why():
    def door(*kinds):
        system = mbd.System("door", gravity=(0, 0, -9.81))
        leaf = system.add(mbd.Body("door", 20.0, (8.0, 6.7, 1.4), r=(0.45, 0, 0)))
        for k, kind in enumerate(kinds):
            geometry = {"point": (0, 0, k)} if kind is SJ else {"point": (0, 0, k), "axis": (0, 0, 1)}
            system.add(kind(f"hinge {k}", system.ground, leaf, **geometry))
        return system

    assert "still depend" in text("lab7", "design", door(RJ, RJ))
    assert "has 3" in text("lab7", "design", door(SJ))
    assert text("lab7", "design", door(RJ)) == ""


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:the step h")  # what steps that are too large give is judged here
def test_runs_of_lab_10_are_judged_by_steps_and_accuracy():
    system = mbd.System("bar", gravity=(0, 0, -9.81))
    bar = system.add(mbd.Body("bar", mass=78.0, J_bar=(0.0325, 104.01625, 104.01625), r=(2, 0, 0)))
    pin = system.add(RJ("pin", system.ground, bar, point=(0, 0, 0), axis=(0, 1, 0)))
    system.add(mbd.RSDA("oil", pin, c=exercises.DAMPING))
    assert text("lab10", "run", mbd.simulate(system, 10.0, integrator=mbd.RadauIIA(rtol=1e-6, atol=1e-6))) == ""
    assert "steps, and 40 are allowed" in text("lab10", "run", mbd.simulate(system, 10.0, h=2.5e-3))
    assert "t_end = 10 s" in text("lab10", "run", mbd.simulate(system, 0.1, h=2.5e-3))


def test_mysteries_are_named_only_together():
    right = dict(zip("ABC", ("no_gyroscopic_term", "missing_factor_2", "world_inertia"), strict=True))
    assert text("lab4", "faults", right) == ""
    assert "2 of 3 are right" in text("lab4", "faults", {**right, "A": "wrong_PiBar"})
    with pytest.raises(mbd.UsageError, match="no mystery is called 'D'"), mbd.labs.mystery("D"):
        pass
