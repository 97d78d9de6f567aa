r"""Entry points that call a KKT solver in Python, for formulations that are written in Python.

    python_solver(which, J, LEVEL, RIGHT, SOLUTION)        which = NEW_ROWS, or SOLVE + kind of the right-hand side

They replace the entry points of the block LDL^T in a Pack.  Compiled integrators and projections run with any formulation in this way.
"""

from __future__ import annotations

from haugmbd.compiled.ffi import Callback, call_callback
from haugmbd.compiled.function_pointers import Routine
from haugmbd.compiled.jit import entry, inlined
from haugmbd.compiled.status_codes import OK, USER_STOPPED, report
from haugmbd.workspace import accessors as ws
from haugmbd.workspace.layout import SOLVE_SIGNATURE, Workspace

NEW_ROWS, SOLVE = 0.0, 1.0
"""NEW_ROWS: there are new rows;  SOLVE: K x = b is to be solved."""


@inlined
def call_python_solver(w: Workspace, python_solver: Callback, which: float) -> int:
    """Call the Python solver; return USER_STOPPED if it has raised."""
    J, level = ws.jacobian(w), ws.row_values(w)
    right, solution = ws.right_hand_side(w), ws.solution(w)
    if call_callback(python_solver, which, J, level, right, solution, ws.succeeded(w)):
        return OK
    return report(ws.status(w), USER_STOPPED, 2, 0.0)


@entry
def record_rows_entry(w: Workspace, python_solver: Callback) -> int:
    """Pass the current rows to the Python solver, in place of `factorize`."""
    return call_python_solver(w, python_solver, NEW_ROWS)


@entry
def python_solution_entry(w: Workspace, python_solver: Callback) -> int:
    """Write the K^-1 b of the Python solver to the solution array."""
    return call_python_solver(w, python_solver, SOLVE + ws.solve_for(w)[0, 0])


@entry
def no_solution_entry(w: Workspace, python_solver: Callback) -> int:
    """Do nothing: a Python solver has no separate forward elimination."""
    return OK


SKIP = Routine(no_solution_entry, SOLVE_SIGNATURE)
RECORD_ROWS = Routine(record_rows_entry, SOLVE_SIGNATURE)
CALL_PYTHON_SOLVER = Routine(python_solution_entry, SOLVE_SIGNATURE)
