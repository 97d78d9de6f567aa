"""Checks of the teaching labs in `examples/labs`, and what lecturers need.

    print(mbd.labs.check("lab1", {"release": 191.3}))           what is right, what is not yet, and where to look

answers      how numbers, arrays, words and systems are judged; what `check` says
exercises    what is right in each lab, and what is said of an answer; models with a fault whose name is not said
check        the table of labs, `check`, and labs of a lecturer's own
grade        all answers of a class, without a network
hand_out     the texts of the labs, written for students or for lecturers, and read as programs
"""

from haugmbd.labs.answers import Finding, LabReport
from haugmbd.labs.check import LABS, add, array, check, number, word
from haugmbd.labs.exercises import MYSTERIES, mystery
from haugmbd.labs.grade import Grades, grade
from haugmbd.labs.hand_out import write

__all__ = [
    "LABS",
    "MYSTERIES",
    "Finding",
    "Grades",
    "LabReport",
    "add",
    "array",
    "check",
    "grade",
    "mystery",
    "number",
    "word",
    "write",
]
