r"""Entry points of the recursion over forests in implicit steps, with the tangents of forces: the same names, the same meaning."""

from __future__ import annotations

from haugmbd.compiled.ffi import Callback
from haugmbd.compiled.function_pointers import Routine
from haugmbd.compiled.jit import entry
from haugmbd.kkt.tree.implicit.implicit_recursion import backward, factor, forward
from haugmbd.kkt.tree.solution_passes import begun, factored, finished
from haugmbd.workspace.layout import SOLVE_SIGNATURE, Workspace


@entry
def factorize_entry(w: Workspace, python_solver: Callback) -> int:
    """Factor the augmented matrix of the current rows and tangents, and pass the forces of b inward; `finish` returns outward."""
    return factored(w, factor, False)


@entry
def factorize_revolute_entry(w: Workspace, python_solver: Callback) -> int:
    """Factor where all joints are revolute."""
    return factored(w, factor, True)


@entry
def begin_entry(w: Workspace, python_solver: Callback) -> int:
    """Pass the forces of another b inward, with the current factor; `finish` returns outward."""
    return begun(w, forward, False)


@entry
def begin_revolute_entry(w: Workspace, python_solver: Callback) -> int:
    """Pass the forces inward where all joints are revolute."""
    return begun(w, forward, True)


@entry
def finish_entry(w: Workspace, python_solver: Callback) -> int:
    """Write K^-1 b to the solution array, for the b of `factorize` or `begin`."""
    return finished(w, backward, False)


@entry
def finish_revolute_entry(w: Workspace, python_solver: Callback) -> int:
    """Write K^-1 b where all joints are revolute."""
    return finished(w, backward, True)


FACTORIZE = Routine(factorize_entry, SOLVE_SIGNATURE)
FINISH = Routine(finish_entry, SOLVE_SIGNATURE)
BEGIN = Routine(begin_entry, SOLVE_SIGNATURE)
FACTORIZE_REVOLUTE = Routine(factorize_revolute_entry, SOLVE_SIGNATURE)
FINISH_REVOLUTE = Routine(finish_revolute_entry, SOLVE_SIGNATURE)
BEGIN_REVOLUTE = Routine(begin_revolute_entry, SOLVE_SIGNATURE)
