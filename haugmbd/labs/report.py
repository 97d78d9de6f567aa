"""What `check` says of the answers to a lab."""

from __future__ import annotations

from dataclasses import dataclass

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
        return sum(one.state == RIGHT for one in self.findings)

    @property
    def ok(self) -> bool:
        """Return whether all answers are right."""
        return self.right == len(self.findings)

    def __str__(self) -> str:
        """Return a line for each exercise, and the count."""
        width = max(len(one.exercise) for one in self.findings)
        lines = [f"  {one.exercise:<{width}}  {one.state}{': ' if one.text else ''}{one.text}" for one in self.findings]
        return "\n".join([f"{self.lab}, {self.title}: {self.right} of {len(self.findings)} right", *lines])

    __repr__ = __str__
