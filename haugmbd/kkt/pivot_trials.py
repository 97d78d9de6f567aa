r"""Pivots: when they say that rows depend on each other, and when only that a body is light; what a factorization tries then.

A pivot that is small beside its row's own compliance, J_r M^-1 J_r^T, says that rows depend on each other, or that a body is light, or
turns about an axis almost without inertia: the compliance of such a body is powers of ten above that of its neighbours; and its rounding
hides pivots of others that are zero.  With light bodies the rows are therefore asked first, and with massless axes where a pivot is small,
with an inertia EVEN that is the same for all bodies:

    EVEN_k = diag(1, a_k^2),  a_k the largest arm of the joints of body k      pivot / (J_r EVEN^-1 J_r^T) = sin^2 of an angle between rows

Rows that are independent there are independent with any masses; the system is factored with its own masses, and refined.  Where that
leaves no pivot, or refinement stalls, the order of elimination is to blame, and not the rows: see `complete_pivoting`.
"""

from __future__ import annotations

from haugmbd.compiled.array_types import Array
from haugmbd.compiled.jit import inlined, kernel
from haugmbd.compiled.status_codes import OK, SINGULAR, report
from haugmbd.kkt.complete_pivoting import can_exchange
from haugmbd.workspace import accessors as ws
from haugmbd.workspace.layout import Workspace

SINGULAR_TOL = 1e-13
"""|pivot| / scale below which the rows depend on each other.  It is above the rounding of a pivot that should be zero."""

DEPENDENT = 1e-12
"""The same with equal bodies: rows this near to the others, the square of 1e-6 rad, are dependent, whatever the masses."""

AS_IT_IS, WITH_EQUAL_BODIES, AGAIN = range(3)
"""Factorizations of a system: that of most models is the first alone, that of models with light bodies are the other two."""


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
    if weakest > (0.0 if trial == AGAIN else SINGULAR_TOL) or (trial == AGAIN and can_exchange(w)):
        return -1 - OK
    return -1 - report(ws.status(w), SINGULAR, node, weakest)


@kernel
def copy(a: Array, b: Array) -> None:
    """Set b <- a."""
    for i in range(a.shape[0]):
        for j in range(a.shape[1]):
            b[i, j] = a[i, j]
