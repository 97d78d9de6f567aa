"""Checks of the teaching labs in `examples/labs`, and what lecturers need.

    print(mbd.labs.check("lab1", {"release": 191.3}))           what is right, what is not yet, and where to look

answers      how numbers, arrays, words and systems are judged; what `check` says
motion       exercises of labs 1, 3, 9 and 12: motion, reactions, drives, impulses, statistics
constraints  exercises of labs 2, 6, 7 and 8: equations, formulations, redundancy, serial chains
integration  exercises of labs 4, 5, 10 and 11: drift, gains, stiffness, long runs
by_hand      exercises of lab 13: equations of a model, term by term
check        the table of labs, and `check`
own          labs of a lecturer's own
mystery      models with a fault whose name is not said
notebook     notebooks as programs
grade        all answers of a class, without a network
hand_out     the texts of the labs, written for students or for lecturers
"""

from haugmbd.labs.answers import Finding, LabReport
from haugmbd.labs.check import LABS, check
from haugmbd.labs.grade import Grades, grade
from haugmbd.labs.hand_out import write
from haugmbd.labs.mystery import MYSTERIES, mystery
from haugmbd.labs.own import add, array, number, word

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
