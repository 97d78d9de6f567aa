"""`check`: the answers to a lab against the exercises of that lab."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from haugmbd.deprecated import check_keywords, did_you_mean
from haugmbd.errors import UsageError
from haugmbd.labs import by_hand, constraints, integration, motion
from haugmbd.labs.answers import MISSING, RIGHT, WRONG, Exercise, Finding, LabReport, judged

RECORD = "HAUGMBD_LAB_RECORD"
"""Environment variable with a file to which every check appends a line; `grade` reads it."""


class Lab(NamedTuple):
    """A lab: its title and its exercises by name."""

    title: str
    exercises: Mapping[str, Exercise]


LABS = {
    "lab1": Lab("a first mechanism and its reactions", motion.LAB1),
    "lab2": Lab("constraints by hand", constraints.LAB2),
    "lab3": Lab("a driven pendulum and inverse dynamics", motion.LAB3),
    "lab4": Lab("drift, index and stabilization", integration.LAB4),
    "lab5": Lab("Baumgarte: folklore and the stability boundary", integration.LAB5),
    "lab6": Lab("ten formulations of one four-bar", constraints.LAB6),
    "lab7": Lab("redundant constraints: which reactions exist", constraints.LAB7),
    "lab8": Lab("maximal against reduced coordinates", constraints.LAB8),
    "lab9": Lab("impulses of a chain, and bouncing", motion.LAB9),
    "lab10": Lab("stiff systems and implicit methods", integration.LAB10),
    "lab11": Lab("long runs: energy and symplectic methods", integration.LAB11),
    "lab12": Lab("a study overnight", motion.LAB12),
    "lab13": Lab("equations by hand, checked", by_hand.LAB13),
}
"""The labs of the package, by name."""

OWN: dict[str, Lab] = {}
"""Labs of a lecturer's own, by name, see `own`."""


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
        "lab1" to "lab13", or one of your own (`add`).
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
            known = ", ".join(map(repr, exercises))
            raise UsageError(f"{lab} has no exercise {name!r}{did_you_mean(str(name), exercises)}; it has {known}.")
    report = LabReport(lab, title, tuple(_finding(name, each, answers.get(name)) for name, each in exercises.items()))
    _record(report)
    return report


def _finding(name: str, exercise: Exercise, given: Any) -> Finding:
    """Return the judgement of one answer."""
    if given is None or given is ...:
        return Finding(name, MISSING, exercise.question)
    said = judged(exercise, given)
    return Finding(name, WRONG if said else RIGHT, said)


def _record(report: LabReport) -> None:
    """Append the report to the file of `grade`, if there is one."""
    path = os.environ.get(RECORD)
    if path:
        line = {"lab": report.lab, "findings": [[one.exercise, one.state, one.text] for one in report.findings]}
        with Path(path).open("a", encoding="utf-8") as file:
            file.write(json.dumps(line) + "\n")
