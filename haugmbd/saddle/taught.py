r"""The questions to the augmented matrix as routines that ask a teacher: a formulation that is written in Python.

    teacher(which, J, LEVEL, RIGHT, SOLUTION)        which = LOOK, or ANSWER + what the right-hand side asks for

They stand where the block LDL^T stands in a Pack, so that integrators and projections, compiled once, run with any formulation.
"""

from __future__ import annotations

from haugmbd.algebra.jit import entry, inlined
from haugmbd.algebra.routine import Routine
from haugmbd.model import accessors as ws
from haugmbd.model.status import OK, USER_STOPPED, report
from haugmbd.model.tables import QUESTION_SIGNATURE, Workspace
from haugmbd.model.user import Asked, call_user

LOOK, ANSWER = 0.0, 1.0
"""The rows are new;  K x = b is wanted."""


@inlined
def ask(w: Workspace, teacher: Asked, which: float) -> int:
    """Ask, and say USER_STOPPED where the teacher has raised."""
    J, level = ws.jacobian(w), ws.row_values(w)
    right, solution = ws.right_hand_side(w), ws.solution(w)
    if call_user(teacher, which, J, level, right, solution, ws.succeeded(w)):
        return OK
    return report(ws.status(w), USER_STOPPED, 2, 0.0)


@entry
def look_entry(w: Workspace, teacher: Asked) -> int:
    """Show the teacher the rows at hand, as `factorize` does the block LDL^T."""
    return ask(w, teacher, LOOK)


@entry
def answer_entry(w: Workspace, teacher: Asked) -> int:
    """Leave the teacher's K^-1 b in the solution."""
    return ask(w, teacher, ANSWER + ws.system_kind(w)[0, 0])


@entry
def nothing_entry(w: Workspace, teacher: Asked) -> int:
    """A teacher has no half way to go."""
    return OK


SAY_NOTHING = Routine(nothing_entry, QUESTION_SIGNATURE)
LOOK_AT_ROWS = Routine(look_entry, QUESTION_SIGNATURE)
ASK_TEACHER = Routine(answer_entry, QUESTION_SIGNATURE)
