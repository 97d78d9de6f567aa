"""Labs of a lecturer's own: judges, wrong arguments, and a class that is graded with them."""

from __future__ import annotations

import numpy as np
import pytest

import haugmbd as mbd
from haugmbd.labs import add, array, check, grade, number, word
from haugmbd.labs.check import OWN

MODULE = """
import haugmbd as mbd
from haugmbd.gallery import pendulum

def period():
    return 2.0 * mbd.linearize(mbd.equilibrium(pendulum())).modes[0].omega

def judge_system(given):
    free = mbd.mobility(given).degrees_of_freedom
    return "" if free == 1 else f"it has {free} degrees of freedom, and one is asked for"

mbd.labs.add("week 5", "a crane", {
    "force": ("force of the rope [N]", mbd.labs.number(981.0, rtol=1e-2, hint="Cut the rope.")),
    "rate": ("twice the circular frequency [rad/s]", mbd.labs.number(period)),
    "crane": ("a System with one degree of freedom", judge_system),
})
"""
PROGRAM = """
import week5
import haugmbd as mbd
from haugmbd.gallery import pendulum, double_pendulum
print(mbd.labs.check("week 5", {"force": FORCE, "crane": CRANE()}))
"""


@pytest.fixture(autouse=True)
def _as_before():
    """No lab of one test is known to others."""
    yield
    OWN.clear()


def test_answers_to_a_lab_of_ones_own_are_judged():
    add(
        "week 5",
        "a crane",
        {
            "force": ("force of the rope [N]", number(lambda: 100.0 * 9.81, rtol=1e-3, hint="Cut the rope.")),
            "sway": ("sway at rest [m]", number(0.0, atol=1e-6)),
            "pose": ("tip [m]", array([1.0, 2.0], atol=1e-3, hint="Global axes.")),
            "kind": ("the joint", word("RJ", ["RJ", "SJ"], hint="Count its rows.")),
            "even": ("an even number", lambda n: "" if n % 2 == 0 else "it is odd"),
        },
    )
    right = {"force": 981.5, "sway": 1e-7, "pose": (1, 2), "kind": "RJ", "even": 4}
    assert check("week 5", right).ok
    wrong = check("week 5", {"force": 100.0, "sway": 0.1, "pose": [1.0, 2.1], "kind": "SJ", "even": 3})
    assert wrong.right == 0
    said = [one.text for one in wrong.findings]
    assert said[0] == "it is too small by a factor of 9.81: a mass may stand where a weight belongs"
    assert said[1:] == ["0.1 is not right.", "entry [1] and 0 more are not right. Global axes.", "Count its rows.", "it is odd"]
    assert check("week 5", {}).findings[1].text == "sway at rest [m]"
    assert check("week 5", {"even": "four"}).findings[-1].text.startswith("it raised TypeError")


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (lambda: add("lab3", "mine", {"x": ("?", number(1.0))}), "'lab3' is a lab of the package"),
        (lambda: add("week 5", "mine", {}), "with one at least"),
        (lambda: add("week 5", "mine", {"x": number(1.0)}), r"exercise 'x' of 'week 5' must be a pair \(question, judge\)"),
        (lambda: add("week 5", "mine", {"x": ("?", 3.0)}), "and the judge a function of the answer"),
        (lambda: add(5, "mine", {"x": ("?", number(1.0))}), "must be strings"),
        (lambda: number("many"), "the right answer 'many' must be finite numbers"),
        (lambda: number(np.nan), "must be finite numbers"),
        (lambda: number(1.0, rtol=-1.0), "rtol = -1.0 must be a number, not negative"),
        (lambda: number(1.0, rtol=0.0), "no answer would be right"),
        (lambda: array([1.0, None], atol=1e-3), "must be finite numbers"),
        (lambda: number(0.0), "the right answer is 0, which needs atol"),
        (lambda: word("RJ", ["SJ"]), "must be in the list"),
        (lambda: word("RJ", None), "must be in the list"),
    ],
)
def test_what_is_no_exercise_is_refused(call, text):
    with pytest.raises(mbd.UsageError, match=text):
        call()


@pytest.mark.parametrize(
    ("judge", "text"),
    [
        (lambda x: x > 1.0, "the judge of 'x' in 'week 5' returned True"),
        (number(lambda: None), "the function of the right answer returned None"),
        (number(lambda: np.nan), "the function of the right answer returned nan"),
        (number(lambda: 0.0), "0, which needs atol"),
        (array(lambda: [1.0, np.nan], atol=1e-3), r"returned \[1.0, nan\]"),
    ],
)
def test_a_judge_that_is_wrong_itself_is_no_mistake_of_a_student(judge, text):
    """Each answer of the class was not yet right."""
    add("week 5", "mine", {"x": ("?", judge)})
    with pytest.raises(mbd.UsageError, match=text):
        check("week 5", {"x": 3.0})
    assert not check("week 5", {}).ok  # what is not answered is not judged


@pytest.mark.slow
def test_a_class_is_graded_by_a_lab_of_ones_own(tmp_path):
    module = tmp_path / "week5.py"
    module.write_text(MODULE)
    for name, force, crane in (("ada", "981", "pendulum"), ("bob", "-981", "double_pendulum")):
        (tmp_path / f"{name}.py").write_text(PROGRAM.replace("FORCE", force).replace("CRANE", crane))
    grades = grade(tmp_path, "week 5", module=module)
    assert grades.exercises == ("force", "rate", "crane")
    assert [(row[0], *row[1].values(), row[2]) for row in grades.rows] == [
        ("ada.py", "right", "not answered", "right", ""),
        ("bob.py", "not yet", "not answered", "not yet", ""),
    ]


def test_modules_that_add_no_lab_are_refused(tmp_path):
    (tmp_path / "ada.py").write_text("pass")
    module = tmp_path / "week5.py"
    with pytest.raises(mbd.UsageError, match="must be a Python file"):
        grade(tmp_path, "week 5", module=module)
    module.write_text("1 / 0\n")
    with pytest.raises(mbd.UsageError, match="raised ZeroDivisionError"):
        grade(tmp_path, "week 5", module=module)
    own = tmp_path / "answer.py"
    own.write_text(MODULE)
    with pytest.raises(mbd.UsageError, match=r"answer\.py is what each program of the class is called here"):
        grade(tmp_path, "week 5", module=own)
    own.unlink()
    module.write_text("pass\n")
    with pytest.raises(mbd.UsageError, match="no lab is called 'week 5'"):
        grade(tmp_path, "week 5", module=module)
