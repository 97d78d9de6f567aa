r"""What a solver of the augmented system is, and the factory of its entry points.

    K x = b,    K = [ M  Phi_q^T; Phi_q  0 ]    for the rows in J,    b = (Q, gamma), (0, -Phi), (0, nu - Phi_q u), (P, .)

factorize    factor K, and eliminate b forward;  `factorize_chosen` for a model with dependent rows
begin        eliminate forward for another b, with the current factor
finish       substitute back, after factorize or begin
refine       improve the solution of a model with massless directions, which is factored with a small inertia there, or with light bodies

Every method is a few kernels of (workspace, right-hand side x, form), where `form` is a constant: the special case for which its entry
points are compiled.  Entry points are compiled once each, and called by address from every formulation and integrator.
The argument `python_solver` is not used here.  Where the formulation is written in Python, the entry points of `kkt.python_solver`
take the place of these.

To add a method: write its kernels, its entry points by `routines_by_trials` or `routines_by_one_pass`, its tables and a `Solver`, and
enter it in `kkt.registry`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from haugmbd.compiled.array_types import Array, Ints
from haugmbd.compiled.ffi import Callback
from haugmbd.compiled.function_pointers import Routine
from haugmbd.compiled.jit import entry_from, kernel
from haugmbd.compiled.status_codes import FREE_AXIS, OK, SINGULAR, report
from haugmbd.kkt.block_ldl import CONVERGED, LEAST_DIGITS, AugmentedMatrix, refinement
from haugmbd.kkt.complete_pivoting import LEAST_PIVOT, can_exchange, factor_completely, solve_completely
from haugmbd.kkt.least_squares import fitter
from haugmbd.kkt.pivot_trials import SINGULAR_TOL, copy
from haugmbd.workspace import accessors as ws
from haugmbd.workspace.layout import SOLVE_SIGNATURE, Pack, Tables, Workspace

DENSE, BLOCK, MULTIFRONTAL, TREE, TREES_ON_BLOCKS = "dense", "block LDL^T", "multifrontal", "tree", "trees on blocks"
"""The names of the solvers, as users write them."""

AS_ASKED = "as asked for"
"""The reason of a solver that the user has chosen."""

LEAVE = "Leave the choice to the model: solver=None."


class SolverTables(NamedTuple):
    """The solver of a model, and its tables.

    name: one of the names above;  reason: why it was chosen
    ints: tables of integers by name, see `Solver.arrays`;  work: shapes of work matrices
    """

    name: str
    reason: str
    ints: dict[str, Ints]
    work: dict[str, tuple[int, int]]


class SolverRoutines(NamedTuple):
    """The operations on the augmented matrix: see above, and `kkt.least_squares` for the last two."""

    factorize: Routine
    factorize_chosen: Routine
    finish: Routine
    begin: Routine
    refine: Routine
    fit_all_rows: Routine
    refine_and_fit_all_rows: Routine


class Solver(NamedTuple):
    """A method for the augmented system.

    takes: the models that it serves, and where it pays
    arrays: its own matrices of the workspace, by name
    serves(tables): whether these are its tables
    routines(tables): its entry points for them
    every_pivot: whether its factor has a pivot of each row, which searches for dependent rows and for singular poses read
    """

    name: str
    takes: str
    arrays: tuple[str, ...]
    serves: Callable[[Tables], bool]
    routines: Callable[[Tables], SolverRoutines]
    every_pivot: bool


# The kernels of a method, which take the place of these names in the entry points below.
eliminate: Any = None
eliminate_chosen: Any = None
factor: Any = None
forward: Any = None
backward: Any = None
refined: Any = None
fitted: Any = None
form: Any = None


def factorize(w: Workspace, python_solver: Callback) -> int:
    """Factor the augmented matrix of the current rows, and eliminate b forward; `finish` substitutes back.

    The tangents of the forces are included for an implicit step, if the tables have them.
    """
    return eliminate(w, form)  # type: ignore[no-any-return]


def factorize_chosen(w: Workspace, python_solver: Callback) -> int:
    """Factor where rows are dropped: as many rows of each edge as it keeps."""
    return eliminate_chosen(w, form)  # type: ignore[no-any-return]


def factorize_in_one_pass(w: Workspace, python_solver: Callback) -> int:
    """Factor the augmented matrix of the current rows, and pass the forces of b inward; return SINGULAR if a pivot vanishes."""
    x = ws.solution(w)
    copy(ws.right_hand_side(w), x)
    weakest, node = factor(w, x, form)
    if not weakest > SINGULAR_TOL and not (ws.has_light_bodies(w) and can_exchange(w)):
        return report(ws.status(w), SINGULAR, node, weakest)
    return OK


def begin(w: Workspace, python_solver: Callback) -> int:
    """Eliminate forward for K^-1 b with the current factor; `finish` substitutes back."""
    x = ws.solution(w)
    copy(ws.right_hand_side(w), x)
    forward(w, x, form)
    return OK


def finish(w: Workspace, python_solver: Callback) -> int:
    """Write K^-1 b to the solution array, for the b of `factorize` or `begin`."""
    backward(w, ws.solution(w), form)
    return OK


def refine(w: Workspace, python_solver: Callback) -> int:
    """Improve the solution until it is that of the true inertia."""
    return refined(w)  # type: ignore[no-any-return]


def fit_all_rows(w: Workspace, python_solver: Callback) -> int:
    """Fit accelerations to all rows; leave other solutions unchanged."""
    return fitted(w)  # type: ignore[no-any-return]


def refine_and_fit_all_rows(w: Workspace, python_solver: Callback) -> int:
    """Refine the solution of a model with massless directions, then fit accelerations to all rows."""
    code: int = refined(w)
    return fitted(w) if code == OK else code


NO_ROUTINE = Routine(None, SOLVE_SIGNATURE)
"""In the place of an operation that no model needs from a method."""


def routines_by_trials(name: str, sources: str, form: Any, **kernels: Any) -> SolverRoutines:
    """Return the entry points of a method that serves every model, with dependent rows and with massless or light bodies.

    sources: the module that calls this
    kernels: eliminate(w, form) and eliminate_chosen(w, form), which return a status; forward(w, x, form); backward(w, x, form)
    """
    solve = solution(kernels["forward"], kernels["backward"], form)
    kernels |= {"form": form, "refined": refiner(solve), "fitted": fitter(solve)}
    templates = (factorize, factorize_chosen, finish, begin, refine, fit_all_rows, refine_and_fit_all_rows)
    return SolverRoutines(*(_routine(template, name, sources, kernels) for template in templates))


def routines_by_one_pass(name: str, sources: str, form: Any, **kernels: Any) -> SolverRoutines:
    """Return the entry points of a recursion, which serves neither dependent rows nor massless directions.

    kernels: factor(w, x, form), which returns the weakest pivot and its node; forward(w, x, form); backward(w, x, form)
    """
    kernels |= {"form": form, "refined": refiner(solution(kernels["forward"], kernels["backward"], form))}
    templates = (factorize_in_one_pass, finish, begin, refine)
    first, last, again, better = (_routine(template, name, sources, kernels) for template in templates)
    return SolverRoutines(first, NO_ROUTINE, last, again, better, NO_ROUTINE, NO_ROUTINE)


def _routine(template: Any, name: str, sources: str, kernels: dict[str, Any]) -> Routine:
    """Return the routine of an entry point."""
    return Routine(entry_from(template, f"{template.__name__}_by_{name}", sources, **kernels), SOLVE_SIGNATURE)


def solution(forward: Any, backward: Any, form: Any) -> Any:
    """Return the kernel that sets x <- K^-1 x with the current factor."""

    @kernel
    def solve(w: Workspace, x: Array) -> None:
        """Eliminate forward, and substitute back."""
        forward(w, x, form)
        backward(w, x, form)

    return solve


refine_exchanged = refinement(solve_completely)


def refiner(solve: Any) -> Any:
    """Return the kernel that improves the solution array with a solver, see `block_ldl.refinement`."""
    refine_solution = refinement(solve)

    @kernel
    def refined(w: Workspace) -> int:
        """Improve the solution until it is that of the true inertia; return FREE_AXIS if sweeps stall before."""
        K = AugmentedMatrix(ws.inertia(w), ws.shifted_inertia(w), ws.padding_line(w), ws.edges(w), ws.jacobian(w))
        change, node = refine_solution(w, K, ws.right_hand_side(w), ws.solution(w), ws.correction(w))
        if not change <= CONVERGED and can_exchange(w) and factor_completely(w) > LEAST_PIVOT:
            # masses too far apart for this order of elimination: exchange rows and columns
            copy(ws.right_hand_side(w), ws.solution(w))
            solve_completely(w, ws.solution(w))
            change, node = refine_exchanged(w, K, ws.right_hand_side(w), ws.solution(w), ws.correction(w))
        if not change <= (LEAST_DIGITS if ws.has_light_bodies(w) else CONVERGED):
            return report(ws.status(w), FREE_AXIS, node, change)
        return OK

    return refined


@kernel
def put_loads(P: Pack) -> None:
    """Write b = (Q, gamma)."""
    b, Q, level = ws.right_hand_side(P), ws.generalized_forces(P), ws.row_values(P)
    n = Q.shape[0]
    for k in range(n):
        for a in range(6):
            b[k, a] = Q[k, a]
    for e in range(b.shape[0] - n):
        for a in range(6):
            b[n + e, a] = level[6 * e + a, 2]


@kernel
def finish_solution(P: Pack) -> int:
    """Solve K x = b for the b that was the right-hand side when `factorize` or `begin` was called."""
    code = P.finish(P, P.python_solver)
    if ws.refines_solutions(P):
        code = P.refine(P, P.python_solver)
    return code
