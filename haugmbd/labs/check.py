"""`check`: the answers to a lab against the exercises of that lab, or of a lab of a lecturer's own."""

from __future__ import annotations

import json
import os
import runpy
from collections.abc import Callable, Iterable, Mapping, Sequence
from numbers import Real
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from haugmbd.compiled.array_types import Array
from haugmbd.deprecated import check_keywords, did_you_mean
from haugmbd.errors import HaugmbdError, UsageError, error_text
from haugmbd.labs import answers, exercises
from haugmbd.labs.answers import MISSING, RIGHT, WRONG, Exercise, Finding, Judge, JudgeError, LabReport, judged, one_number

RECORD = "HAUGMBD_LAB_RECORD"
"""Environment variable with a file to which every check appends a line; `grade` reads it."""


class Lab(NamedTuple):
    """A lab: its title and its exercises by name."""

    title: str
    exercises: Mapping[str, Exercise]


LABS = {
    "lab1": Lab("a first mechanism and its reactions", exercises.LAB1),
    "lab2": Lab("constraints by hand", exercises.LAB2),
    "lab3": Lab("a driven pendulum and inverse dynamics", exercises.LAB3),
    "lab4": Lab("drift, index and stabilization", exercises.LAB4),
    "lab5": Lab("Baumgarte: folklore and the stability boundary", exercises.LAB5),
    "lab6": Lab("ten formulations of one four-bar", exercises.LAB6),
    "lab7": Lab("redundant constraints: which reactions exist", exercises.LAB7),
    "lab8": Lab("maximal against reduced coordinates", exercises.LAB8),
    "lab9": Lab("impulses of a chain, and bouncing", exercises.LAB9),
    "lab10": Lab("stiff systems and implicit methods", exercises.LAB10),
    "lab11": Lab("long runs: energy and symplectic methods", exercises.LAB11),
    "lab12": Lab("a study overnight", exercises.LAB12),
    "lab13": Lab("equations by hand, checked", exercises.LAB13),
    "lab14": Lab("stick, slip, and the paradox", exercises.LAB14),
    "lab15": Lab("feel the drift", exercises.LAB15),
    "lab16": Lab("design by gradient", exercises.LAB16),
}
"""The labs of the package, by name."""

OWN: dict[str, Lab] = {}
"""Labs of a lecturer's own, by name, see `check`."""


def lab_named(lab: Any) -> Lab:
    """Return a lab of the package or of one's own. Raise UsageError if there is none of that name."""
    labs = LABS | OWN
    if not isinstance(lab, str) or lab not in labs:
        known = f"there are {', '.join(labs)}, and those whose module was imported"
        raise UsageError(f"no lab is called {lab!r}{did_you_mean(str(lab), labs)}; {known}.")
    return labs[lab]


@check_keywords
def check(lab: str, answers: Mapping[str, Any]) -> LabReport:
    """Compare answers with the exercises of a lab.

    Parameters
    ----------
    lab : str
        "lab1" to "lab16", or one of your own (`add`).
    answers : dict
        The answers by the names of the exercises. `...` and None stand for no answer.

    Returns
    -------
    LabReport
        What is right, what is not yet, and where to look; print it.

    Raises
    ------
    UsageError
        If there is no such lab, or no such exercise in it, or if a judge of your own is wrong itself.

    Notes
    -----
    The right numbers are computed when they are needed, from closed forms where there are any. They are not told.
    """
    title, exercises = lab_named(lab)
    if not isinstance(answers, Mapping):
        raise UsageError(
            f"answers of {lab} must be a dict by the names {', '.join(map(repr, exercises))}, not {type(answers).__name__}."
        )
    for name in answers:
        if name not in exercises:
            names = ", ".join(map(repr, exercises))
            raise UsageError(f"{lab} has no exercise {name!r}{did_you_mean(str(name), exercises)}; it has {names}.")
    report = LabReport(lab, title, tuple(_finding(name, each, answers.get(name)) for name, each in exercises.items()))
    _record(report)
    return report


def _finding(name: str, exercise: Exercise, answer: Any) -> Finding:
    """Return the judgement of one answer."""
    if answer is None or answer is ...:
        return Finding(name, MISSING, exercise.question)
    said = judged(exercise, answer)
    return Finding(name, WRONG if said else RIGHT, said)


def _record(report: LabReport) -> None:
    """Append the report to the file of `grade`, if there is one."""
    path = os.environ.get(RECORD)
    if path:
        line = {"lab": report.lab, "findings": [[finding.exercise, finding.state, finding.text] for finding in report.findings]}
        with Path(path).open("a", encoding="utf-8") as file:
            file.write(json.dumps(line) + "\n")


PROGRAM = "answer.py"
"""Name of the copy of a program that `grade` runs, beside which the module lies."""


@check_keywords
def add(lab: str, title: str, exercises: Mapping[str, tuple[str, Judge]]) -> None:
    """Add a lab of your own, which `check` and `grade` know from then on.

    Parameters
    ----------
    lab : str
        Its name, such as "week 5". Another lab of your own with this name is replaced.
    title : str
        Its title.
    exercises : dict of str to (str, callable)
        By the names of the answers: the question in one sentence, and the judge, which returns "" for a right answer, and otherwise a
        sentence that says where to look. `number`, `array` and `word` make judges; any function of the answer is one.

    Raises
    ------
    UsageError
        If the name is that of a lab of the package, or an exercise is not a pair of a question and a judge.
    """
    if not (isinstance(lab, str) and lab and isinstance(title, str)):
        raise UsageError(f"lab = {lab!r} and title = {title!r} must be strings.")
    if lab in LABS:
        raise UsageError(f"{lab!r} is a lab of the package: give yours another name.")
    if not (isinstance(exercises, Mapping) and exercises):
        raise UsageError(f"exercises of {lab!r} must be a dict of names and pairs (question, judge), with one at least.")
    made = {}
    for name, pair in exercises.items():
        if not (isinstance(name, str) and isinstance(pair, tuple | list) and len(pair) == 2):  # noqa: PLR2004
            raise UsageError(f"exercise {name!r} of {lab!r} must be a pair (question, judge), not {answers.short(pair)}.")
        question, judge = pair
        if not (isinstance(question, str) and callable(judge)):
            raise UsageError(
                f"exercise {name!r} of {lab!r}: the question must be a string, and the judge a function of the answer."
            )
        made[name] = Exercise(question, _sentence_of(lab, name, judge))
    OWN[lab] = Lab(title, made)


def _sentence_of(lab: str, name: str, judge: Callable[[Any], Any]) -> Judge:
    """Return the judge; what it returns must be a string."""

    def judged(answer: Any) -> str:
        said = judge(answer)
        if not isinstance(said, str):
            raise JudgeError(
                f'the judge of {name!r} in {lab!r} returned {said!r}: it must return "" for a right answer, otherwise a sentence.'
            )
        return said.strip()

    return judged


@check_keywords
def number(right: float | Callable[[], float], *, rtol: float = 1e-3, atol: float = 0.0, hint: str = "") -> Judge:
    """Return the judge of a number; it names a sign, a factor of two, degrees, other units, and a weight in place of a mass.

    Parameters
    ----------
    right : float or callable
        The right number, or a function without arguments that returns it: a closed form, or a simulation.
    rtol, atol : float
        Relative and absolute error that is accepted; a number that is zero needs atol.
    hint : str
        What is said of another number: where to look.

    Returns
    -------
    callable
        The judge.

    Raises
    ------
    UsageError
        If right is no number, or a tolerance is negative, or both are zero.
    """
    expected = _function_of(right, "number", lambda x: one_number(x) is not None and np.isfinite(one_number(x) or 0.0))
    _check_tolerances("number", rtol, atol)
    if not (callable(right) or one_number(right) or atol):
        raise UsageError("number: the right answer is 0, which needs atol: no other number is within a relative error of it.")

    def judge(answer: Any) -> str:
        x, exact = one_number(answer), float(expected())
        if not (exact or atol):
            raise JudgeError("number: the right answer has become 0, which needs atol.")
        return "" if x is not None and abs(x - exact) <= atol else answers.number(lambda: exact, rtol, hint)(answer)

    return judge


@check_keywords
def array(right: npt.ArrayLike | Callable[[], npt.ArrayLike], *, atol: float, hint: str = "") -> Judge:
    """Return the judge of an array: its shape is told, its entries are not.

    Parameters
    ----------
    right : array_like or callable
        The right array, or a function without arguments that returns it.
    atol : float
        Error of an entry that is accepted.
    hint : str
        What is said of another array: where to look.

    Returns
    -------
    callable
        The judge.

    Raises
    ------
    UsageError
        If right is not an array of finite numbers, or atol is not positive.
    """
    expected = _function_of(right, "array", _is_array)
    _check_tolerances("array", 0.0, atol)

    def values() -> Array:
        return np.asarray(expected(), dtype=np.float64)

    return answers.array(values, atol, hint)


@check_keywords
def word(right: str, accepted: Sequence[str], *, hint: str = "") -> Judge:
    """Return the judge of one word out of several.

    Parameters
    ----------
    right : str
        The right word.
    accepted : sequence of str
        All words that may be given, the right one among them.
    hint : str
        What is said of another word: where to look.

    Returns
    -------
    callable
        The judge.

    Raises
    ------
    UsageError
        If the right word is not among those that are accepted.
    """
    if isinstance(accepted, str) or not isinstance(accepted, Iterable) or right not in accepted:
        raise UsageError(f"word: the right one, {right!r}, must be in the list of those that are accepted, {accepted!r}.")
    return answers.word(right, tuple(accepted), hint or "this is not the right one")


def add_from(path: Path) -> None:
    """Run a Python file that adds labs. Raise UsageError if it cannot."""
    if path.suffix != ".py" or not path.is_file():
        raise UsageError(f"module = {str(path)!r} must be a Python file (.py) that calls mbd.labs.add.")
    if path.name == PROGRAM:
        raise UsageError(
            f"module = {str(path)!r}: {PROGRAM} is what each program of the class is called here. Give it another name."
        )
    try:
        runpy.run_path(str(path))
    except HaugmbdError:
        raise
    except Exception as error:
        raise UsageError(f"module {str(path)!r} raised {error_text(error)}.") from error


def _function_of(right: Any, who: str, valid: Callable[[Any], Any]) -> Callable[[], Any]:
    """Return a function that returns the right answer."""
    if callable(right):

        def computed() -> Any:
            answer = right()
            if not valid(answer):
                raise JudgeError(
                    f"{who}: the function of the right answer returned {answers.short(answer)}, must be finite numbers."
                )
            return answer

        return computed
    if not valid(right):
        raise UsageError(f"{who}: the right answer {answers.short(right)} must be finite numbers, or a function that returns them.")
    return lambda: right


def _is_array(right: Any) -> bool:
    """Return whether something is an array of finite numbers."""
    try:
        return bool(np.isfinite(np.asarray(right, dtype=np.float64)).all())
    except (TypeError, ValueError):
        return False


def _check_tolerances(who: str, rtol: Any, atol: Any) -> None:
    """Raise UsageError unless the tolerances are numbers that accept something."""
    for name, x in (("rtol", rtol), ("atol", atol)):
        if isinstance(x, bool) or not (isinstance(x, Real) and 0.0 <= float(x) < np.inf):
            raise UsageError(f"{who}: {name} = {x!r} must be a number, not negative.")
    if not rtol + atol > 0.0:
        raise UsageError(f"{who}: its tolerance is 0, and no answer would be right.")
