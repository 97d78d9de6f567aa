r"""The questions to the augmented matrix as routines that call a solver in Python: a formulation that is written in Python.

    python_solver(which, J, LEVEL, RIGHT, SOLUTION)        which = LOOK, or ANSWER + what the right-hand side asks for

They stand where the block LDL^T stands in a Pack, so that integrators and projections, compiled once, run with any formulation.
"""

from __future__ import annotations

from haugmbd.compiled.ffi import Callback, call_callback
from haugmbd.compiled.function_pointers import Routine
from haugmbd.compiled.jit import entry, inlined
from haugmbd.compiled.status_codes import OK, USER_STOPPED, report
from haugmbd.workspace import accessors as ws
from haugmbd.workspace.layout import SOLVE_SIGNATURE, Workspace

LOOK, ANSWER = 0.0, 1.0
"""The rows are new;  K x = b is wanted."""


@inlined
def call_python_solver(w: Workspace, python_solver: Callback, which: float) -> int:
    """Ask, and say USER_STOPPED where the python_solver has raised."""
    J, level = ws.jacobian(w), ws.row_values(w)
    right, solution = ws.right_hand_side(w), ws.solution(w)
    if call_callback(python_solver, which, J, level, right, solution, ws.succeeded(w)):
        return OK
    return report(ws.status(w), USER_STOPPED, 2, 0.0)


@entry
def record_rows_entry(w: Workspace, python_solver: Callback) -> int:
    """Show the python_solver the rows at hand, as `factorize` does the block LDL^T."""
    return call_python_solver(w, python_solver, LOOK)


@entry
def python_solution_entry(w: Workspace, python_solver: Callback) -> int:
    """Leave the python_solver's K^-1 b in the solution."""
    return call_python_solver(w, python_solver, ANSWER + ws.system_kind(w)[0, 0])


@entry
def no_solution_entry(w: Workspace, python_solver: Callback) -> int:
    """A python_solver has no half way to go."""
    return OK


SKIP = Routine(no_solution_entry, SOLVE_SIGNATURE)
RECORD_ROWS = Routine(record_rows_entry, SOLVE_SIGNATURE)
CALL_PYTHON_SOLVER = Routine(python_solution_entry, SOLVE_SIGNATURE)
