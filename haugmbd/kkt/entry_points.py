r"""Entry points of the KKT solver: compiled once each, and called by address from every formulation and integrator.

factorize    factor K = [ M  Phi_q^T; Phi_q  0 ] for the rows in J, and eliminate b;  `factorize_chosen` for a model with dependent rows
begin        eliminate forward for another b, with the current factor
finish       substitute back, after factorize or begin
refine       improve the solution of a model with massless directions, which is factored with a small inertia there, or with light bodies

b = (Q, gamma): accelerations and multipliers;   (0, -Phi), (0, nu - Phi_q u): projections;   (P, .): impulses

A pivot that is small beside its row's own compliance, J_r M^-1 J_r^T, says that rows depend on each other, or that a body is light, or
turns about an axis almost without inertia: the compliance of such a body is powers of ten above that of its neighbours; and its rounding
hides pivots of others that are zero.  With light bodies the rows are therefore asked first, and with massless axes where a pivot is small,
with an inertia EVEN that is the same for all bodies:

    EVEN_k = diag(1, a_k^2),  a_k the largest arm of the joints of body k      pivot / (J_r EVEN^-1 J_r^T) = sin^2 of an angle between rows

Rows that are independent there are independent with any masses; the system is factored with its own masses, and refined.
The argument `python_solver` is not used here.  Where the formulation is written in Python, the entry points of `kkt.python_solver`
take the place of these.
"""

from __future__ import annotations

from typing import Any

from haugmbd.compiled.array_types import Array
from haugmbd.compiled.ffi import Callback
from haugmbd.compiled.function_pointers import Routine
from haugmbd.compiled.jit import entry, inlined, kernel
from haugmbd.compiled.status_codes import FREE_AXIS, OK, SINGULAR, report
from haugmbd.kkt.block_ldl import (
    CONVERGED,
    LEAST_DIGITS,
    AugmentedMatrix,
    EdgeBlocks,
    Factor,
    assemble,
    backward,
    factor_nodes,
    forward,
    refinement,
)
from haugmbd.kkt.elimination_order import EliminationSteps
from haugmbd.kkt.rank_deficient import RowChoice, factor_chosen_nodes
from haugmbd.workspace import accessors as ws
from haugmbd.workspace.layout import SOLVE_SIGNATURE, Workspace

SINGULAR_TOL = 1e-13
"""|pivot| / scale below which the rows depend on each other.  It is above the rounding of a pivot that should be zero."""

DEPENDENT = 1e-12
"""The same with equal bodies: rows this near to the others, the square of 1e-6 rad, are dependent, whatever the masses."""

AS_IT_IS, WITH_EQUAL_BODIES, AGAIN = range(3)
"""Factorizations of a system: that of most models is the first alone, that of models with light bodies are the other two."""


@inlined
def steps_of(w: Workspace) -> EliminationSteps:
    """Return the order of elimination."""
    return EliminationSteps(
        ws.elimination_order(w),
        ws.neighbor_starts(w),
        ws.neighbors(w),
        ws.update_starts(w),
        ws.fill_updates(w),
    )


@inlined
def factor_of(w: Workspace) -> Factor:
    """Return the arrays of the factorization."""
    return Factor(ws.diagonal_blocks(w), ws.inverse_pivots(w), ws.off_diagonal_blocks(w))


@inlined
def put_blocks(w: Workspace, f: Factor, trial: int) -> None:
    """Write the blocks of M, or of the inertia EVEN, and the rows; include the tangents of an implicit step, if the tables have them."""
    inertia = ws.even_inertia(w) if trial == WITH_EQUAL_BODIES else ws.shifted_inertia(w)
    assemble(edge_blocks(w), inertia, ws.padding_line(w), ws.jacobian(w), f)
    if trial != WITH_EQUAL_BODIES:
        add_tangents(w, f)


@inlined
def scale_of(w: Workspace, trial: int) -> Array:
    """Return the scales of the pivots (nn, 6), those with the inertia EVEN at the current pose."""
    if trial == WITH_EQUAL_BODIES:
        put_even_scale(w)
    scale: Array = ws.even_scale(w) if trial == WITH_EQUAL_BODIES else ws.pivot_scale(w)
    return scale


@kernel
def put_even_scale(w: Workspace) -> None:
    """Write the diagonal of EVEN, and J_r EVEN^-1 J_r^T of the rows."""
    even, scale, edges, J, pad = ws.even_inertia(w), ws.even_scale(w), ws.edges(w), ws.jacobian(w), ws.padding_line(w)
    n = even.shape[0]
    for k in range(n):
        for a in range(3):
            scale[k, a], scale[k, 3 + a] = even[k, 0], even[k, 1 + 4 * a]
    for slot in range(pad.size):
        total = 0.0
        for side in range(edges.shape[1]):
            body = edges[slot // 6, side]
            if body > 0:
                for c in range(6):
                    total += J[slot, side, c] ** 2 / scale[body, c]
        scale[n + slot // 6, slot % 6] = total if pad[slot] == 0.0 and total > 0.0 else 1.0


@kernel
def first_trial(w: Workspace) -> int:
    """Return the first factorization."""
    return WITH_EQUAL_BODIES if ws.even_inertia(w).shape[0] > 0 and ws.has_light_bodies(w) else AS_IT_IS


@kernel
def next_trial(w: Workspace, trial: int, weakest: float, node: int) -> int:
    """Return the factorization that follows one with this weakest pivot; OK, or SINGULAR with its report, as a negative number."""
    asks_again = ws.even_inertia(w).shape[0] > 0 and ws.refines_solutions(w)
    if trial == AS_IT_IS and not weakest > SINGULAR_TOL and asks_again:
        return WITH_EQUAL_BODIES
    if trial == WITH_EQUAL_BODIES and weakest > DEPENDENT:
        return AGAIN
    if weakest > (0.0 if trial == AGAIN else SINGULAR_TOL):
        return -1 - OK
    return -1 - report(ws.status(w), SINGULAR, node, weakest)


@inlined
def edge_blocks(w: Workspace) -> EdgeBlocks:
    """Return the blocks of the edges."""
    return EdgeBlocks(ws.body_block(w), ws.body_first(w), ws.edge_width(w), ws.fill_lines(w))


@inlined
def eliminated(w: Workspace, all_wide: bool) -> int:
    """Assemble, and eliminate together with b; return SINGULAR if rows depend on others."""
    f, x, trial = factor_of(w), ws.solution(w), first_trial(w)
    while trial >= 0:
        put_blocks(w, f, trial)
        copy(ws.right_hand_side(w), x)
        worst, node = factor_nodes(steps_of(w), scale_of(w, trial), f, x, all_wide)
        trial = next_trial(w, trial, worst, node)
    return -1 - trial


@entry
def factorize_entry(w: Workspace, python_solver: Callback) -> int:
    """Factor the augmented matrix of the current rows, and eliminate b forward; `finish` substitutes back.

    The tangents of the forces are included for an implicit step, if the tables have them.
    """
    return eliminated(w, False)


@entry
def factorize_wide_entry(w: Workspace, python_solver: Callback) -> int:
    """Factor where no edge is narrow."""
    return eliminated(w, True)


@entry
def factorize_chosen_entry(w: Workspace, python_solver: Callback) -> int:
    """Factor where rows are dropped: as many rows of each edge as it keeps."""
    return eliminated_chosen(w, False)


@entry
def factorize_chosen_wide_entry(w: Workspace, python_solver: Callback) -> int:
    """Factor where rows are dropped, and no edge is narrow."""
    return eliminated_chosen(w, True)


@inlined
def eliminated_chosen(w: Workspace, all_wide: bool) -> int:
    """Assemble, and eliminate where rows are dropped; return SINGULAR if rows depend on others."""
    f, x, trial = factor_of(w), ws.solution(w), first_trial(w)
    while trial >= 0:
        put_blocks(w, f, trial)
        copy(ws.right_hand_side(w), x)
        scale = scale_of(w, trial)
        choice = RowChoice(ws.padding(w), ws.kept_rows(w), scale, ws.pivot_rows(w), ws.row_spans(w), ws.jacobian(w), ws.length(w))
        worst, node = factor_chosen_nodes(steps_of(w), choice, f, x, all_wide)
        trial = next_trial(w, trial, worst, node)
    return -1 - trial


@inlined
def add_tangents(w: Workspace, f: Factor) -> None:
    """Add the tangents of an implicit step, if the tables have them, to the blocks of bodies, and write those of coupled pairs."""
    own, pair_blocks, pairs = ws.tangent_blocks(w), ws.coupled_tangent_blocks(w), ws.coupled_pairs(w)
    for k in range(1, own.shape[0]):
        for a in range(6):
            for c in range(a + 1):
                f.D[k, a, c] += own[k, a, c]
    for n in range(pairs.shape[0]):
        block, transposed = pairs[n, 2], pairs[n, 3] == 1
        for a in range(6):
            for c in range(6):
                f.B[block, a, c] = pair_blocks[n, c, a] if transposed else pair_blocks[n, a, c]


@entry
def begin_entry(w: Workspace, python_solver: Callback) -> int:
    """Eliminate forward for K^-1 b with the current factor; `finish` substitutes back."""
    x = ws.solution(w)
    copy(ws.right_hand_side(w), x)
    forward(steps_of(w), factor_of(w), x, False)
    return OK


@entry
def begin_wide_entry(w: Workspace, python_solver: Callback) -> int:
    """Eliminate forward where no edge is narrow."""
    x = ws.solution(w)
    copy(ws.right_hand_side(w), x)
    forward(steps_of(w), factor_of(w), x, True)
    return OK


@entry
def finish_entry(w: Workspace, python_solver: Callback) -> int:
    """Write K^-1 b to the solution array, for the b of `factorize` or `begin`."""
    backward(steps_of(w), factor_of(w), ws.solution(w), False)
    return OK


@entry
def finish_wide_entry(w: Workspace, python_solver: Callback) -> int:
    """Write K^-1 b to the solution array where no edge is narrow."""
    backward(steps_of(w), factor_of(w), ws.solution(w), True)
    return OK


@kernel
def solve_with_wide_blocks(w: Workspace, x: Array) -> None:
    """Set x <- K^-1 x with the current factor, where no edge is narrow."""
    s, f = steps_of(w), factor_of(w)
    forward(s, f, x, True)
    backward(s, f, x, True)


@kernel
def solve_with_blocks(w: Workspace, x: Array) -> None:
    """Set x <- K^-1 x with the current factor."""
    s, f = steps_of(w), factor_of(w)
    forward(s, f, x, False)
    backward(s, f, x, False)


def refiner(solve: Any) -> Any:
    """Return the kernel that improves the solution array with a solver, see `block_ldl.refinement`."""
    refine = refinement(solve)

    @kernel
    def refined(w: Workspace) -> int:
        """Improve the solution until it is that of the true inertia; return FREE_AXIS if sweeps stall before."""
        K = AugmentedMatrix(ws.inertia(w), ws.shifted_inertia(w), ws.padding_line(w), ws.edges(w), ws.jacobian(w))
        change, node = refine(w, K, ws.right_hand_side(w), ws.solution(w), ws.correction(w))
        if not change <= (LEAST_DIGITS if ws.has_light_bodies(w) else CONVERGED):
            return report(ws.status(w), FREE_AXIS, node, change)
        return OK

    return refined


refined_by_blocks = refiner(solve_with_blocks)
refined_by_wide_blocks = refiner(solve_with_wide_blocks)


@entry
def refine_entry(w: Workspace, python_solver: Callback) -> int:
    """Improve the solution until it is that of the true inertia."""
    return refined_by_blocks(w)  # type: ignore[no-any-return]


@entry
def refine_wide_entry(w: Workspace, python_solver: Callback) -> int:
    """Improve the solution until it is that of the true inertia, where no edge is narrow."""
    return refined_by_wide_blocks(w)  # type: ignore[no-any-return]


@kernel
def copy(a: Array, b: Array) -> None:
    """Set b <- a."""
    for i in range(a.shape[0]):
        for j in range(a.shape[1]):
            b[i, j] = a[i, j]


FACTORIZE = Routine(factorize_entry, SOLVE_SIGNATURE)
FACTORIZE_CHOSEN = Routine(factorize_chosen_entry, SOLVE_SIGNATURE)
FINISH = Routine(finish_entry, SOLVE_SIGNATURE)
BEGIN = Routine(begin_entry, SOLVE_SIGNATURE)
REFINE = Routine(refine_entry, SOLVE_SIGNATURE)
FACTORIZE_WIDE = Routine(factorize_wide_entry, SOLVE_SIGNATURE)
FACTORIZE_CHOSEN_WIDE = Routine(factorize_chosen_wide_entry, SOLVE_SIGNATURE)
FINISH_WIDE = Routine(finish_wide_entry, SOLVE_SIGNATURE)
BEGIN_WIDE = Routine(begin_wide_entry, SOLVE_SIGNATURE)
REFINE_WIDE = Routine(refine_wide_entry, SOLVE_SIGNATURE)
NO_REFINE = Routine(None, SOLVE_SIGNATURE)
