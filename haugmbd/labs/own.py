"""Labs of one's own: exercises of a lecturer beside the thirteen, for `check` and `grade`."""

from __future__ import annotations

import runpy
from collections.abc import Callable, Iterable, Mapping, Sequence
from numbers import Real
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from haugmbd.compiled.array_types import Array
from haugmbd.deprecated import check_keywords
from haugmbd.errors import HaugmbdError, UsageError, error_text
from haugmbd.labs import answers
from haugmbd.labs.answers import Exercise, Judge, JudgeError, one_number
from haugmbd.labs.check import LABS, OWN, Lab

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

    def judged(given: Any) -> str:
        said = judge(given)
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

    def judge(given: Any) -> str:
        x, exact = one_number(given), float(expected())
        if not (exact or atol):
            raise JudgeError("number: the right answer has become 0, which needs atol.")
        return "" if x is not None and abs(x - exact) <= atol else answers.number(lambda: exact, rtol, hint)(given)

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
            found = right()
            if not valid(found):
                raise JudgeError(
                    f"{who}: the function of the right answer returned {answers.short(found)}, must be finite numbers."
                )
            return found

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
