"""How answers are judged, and what `check` says of them.

Each judge returns "" for a right answer, and otherwise a sentence that says where to look.

A number is compared with one that the check computes by itself, mostly from a closed form. What is typical of a mistake is said: the sign,
a factor of two, degrees in place of radians, a missing or superfluous g.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from numbers import Real
from typing import Any

import numpy as np

from haugmbd.compiled.array_types import Array
from haugmbd.errors import HaugmbdError, UsageError, error_text

Judge = Callable[[Any], str]
G = 9.81

FACTORS = {
    -1.0: "the size is right, the sign is not: read which sense is positive",
    2.0: "it is twice what it should be",
    0.5: "it is half of what it should be",
    180.0 / np.pi: "these may be degrees; give radians",
    np.pi / 180.0: "an angle may have been turned into radians twice",
    1000.0: "it is a thousand times too large: give SI units",
    1e-3: "it is a thousand times too small: give SI units",
    G: "it is too large by a factor of 9.81: a weight may stand where a mass belongs",
    1.0 / G: "it is too small by a factor of 9.81: a mass may stand where a weight belongs",
}
"""Ratios of an answer to the right one, and the mistake that is typical of them."""


class JudgeError(UsageError):
    """A judge is wrong itself: no answer can be judged by it."""


@dataclass(frozen=True)
class Exercise:
    """One exercise.

    Attributes
    ----------
    question : str
        The question in one sentence.
    judge : callable
        The answer to a sentence; "" if it is right.
    """

    question: str
    judge: Judge


def number(expected: Callable[[], float], rtol: float, hint: str) -> Judge:
    """Return the judge of a number.

    expected computes the right one;  rtol: relative error that is accepted;  hint: where to look if it is another one
    """

    def judge(answer: Any) -> str:
        x = one_number(answer)
        if x is None:
            return f"give one number, not {short(answer)}"
        right = expected()
        if not np.isfinite(x):
            return f"{x} is not a finite number"
        if abs(x - right) <= rtol * abs(right):
            return ""
        ratio = x / right if right else np.inf
        return next((text for factor, text in FACTORS.items() if abs(ratio / factor - 1.0) <= rtol), f"{x:g} is not right. {hint}")

    return judge


def one_number(answer: Any) -> float | None:
    """Return a number, or the one of an array or a table without dimensions; None for anything else."""
    if isinstance(answer, Real):
        return None if isinstance(answer, bool) else float(answer)
    if getattr(answer, "shape", None) != ():
        return None
    x = np.asarray(answer).item()
    return float(x) if isinstance(x, Real) and not isinstance(x, bool) else None


def array(expected: Callable[[], Array], atol: float, hint: str) -> Judge:
    """Return the judge of an array: its shape is told, its entries are not."""

    def judge(answer: Any) -> str:
        right = expected()
        try:
            x = np.asarray(answer, dtype=np.float64)
        except (TypeError, ValueError):
            return f"give an array of numbers of shape {right.shape}, not {short(answer)}"
        if x.shape != right.shape:
            return f"the shape is {x.shape}, and {right.shape} is asked for"
        far = ~(np.abs(x - right) <= atol)
        if not far.any():
            return ""
        if np.allclose(x, -right, rtol=0.0, atol=atol):
            return FACTORS[-1.0]
        entry = tuple(int(k) for k in np.argwhere(far)[0])
        return f"entry {list(entry)} and {int(far.sum()) - 1} more are not right. {hint}"

    return judge


def word(right: str, accepted: Sequence[str], hint: str) -> Judge:
    """Return the judge of one word out of several."""

    def judge(answer: Any) -> str:
        if not isinstance(answer, str) or answer not in accepted:
            return f"give one of {', '.join(map(repr, accepted))}"
        return "" if answer == right else hint

    return judge


def judged(exercise: Exercise, answer: Any) -> str:
    """Return what the judge of an exercise says; of an answer that raises an exception, the exception as a sentence.

    Raise JudgeError if the judge is wrong.
    """
    try:
        return exercise.judge(answer)
    except JudgeError:
        raise
    except HaugmbdError as error:
        return error_text(error)
    except Exception as error:  # noqa: BLE001  a student's class may raise anything
        return f"it raised {error_text(error)}"


def short(answer: Any) -> str:
    """Return the beginning of the repr of an answer."""
    text = repr(answer)
    return text if len(text) <= 60 else f"{text[:57]}..."


# What `check` says of the answers to a lab.

RIGHT, WRONG, MISSING = "right", "not yet", "not answered"
"""States of an answer."""


@dataclass(frozen=True)
class Finding:
    """The judgement of one answer.

    Attributes
    ----------
    exercise : str
        Name of the exercise.
    state : str
        "right", "not yet" or "not answered".
    text : str
        Where to look, if the answer is not right yet; the question, if there is no answer.
    """

    exercise: str
    state: str
    text: str


@dataclass(frozen=True)
class LabReport:
    """The judgements of the answers to one lab; print it.

    Attributes
    ----------
    lab : str
        Name of the lab, such as "lab3".
    title : str
        Its title.
    findings : tuple of Finding
        One for each exercise.
    """

    lab: str
    title: str
    findings: tuple[Finding, ...]

    @property
    def right(self) -> int:
        """Return the number of answers that are right."""
        return sum(finding.state == RIGHT for finding in self.findings)

    @property
    def ok(self) -> bool:
        """Return whether all answers are right."""
        return self.right == len(self.findings)

    def __str__(self) -> str:
        """Return a line for each exercise, and the count."""
        width = max(len(finding.exercise) for finding in self.findings)
        lines = [
            f"  {finding.exercise:<{width}}  {finding.state}{': ' if finding.text else ''}{finding.text}"
            for finding in self.findings
        ]
        return "\n".join([f"{self.lab}, {self.title}: {self.right} of {len(self.findings)} right", *lines])

    __repr__ = __str__
