r"""How a mechanism answers to forces at its contacts, with one factorization of the augmented matrix at a state.

    K (u_dot_0, lam_0) = (Q, gamma)              without contacts
    K (X, Y) = (C^T, 0)                          by unit forces f of contacts, normal first;   G = C X
    u_dot = u_dot_0 + X f,   lam = lam_0 + Y f

A row costs one back-substitution.  K is that of the accelerations, of impulses and of projections: K (dq, .) = (0, -Phi).
Source: Haug 2021, sec. 11.3; Pfeiffer, Glocker (1996), ch. 5.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from haugmbd.compiled.array_types import Array, Ints
from haugmbd.compiled.jit import DirectCall, entry, kernel
from haugmbd.compiled.status_codes import OK
from haugmbd.formulations.error_messages import explain
from haugmbd.formulations.newton_euler import begin, factorize, finish, right_hand_side
from haugmbd.impacts.impulse_equations import RowSet
from haugmbd.model.evaluate import prepare
from haugmbd.model.generalized_forces import clear
from haugmbd.model.model import Model
from haugmbd.workspace import accessors as ws
from haugmbd.workspace import layout as at
from haugmbd.workspace.layout import Pack, workspace_array


@entry
def rates_entry(P: Pack, t: float, y: Array, y_dot: Array) -> int:
    """Write y_dot without contacts; the factor stays."""
    return right_hand_side(P, t, y, y_dot)


@kernel
def factor_at(P: Pack, t: float, y: Array) -> int:
    """Factor the augmented matrix at a state, for other right-hand sides."""
    code = prepare(P, t, y)
    if code != OK:
        return code
    ws.solve_for(P)[0, 0] = at.VELOCITIES
    clear(ws.right_hand_side(P))
    code = factorize(P)
    return finish(P) if code == OK else code


@entry
def factor_entry(P: Pack, t: float, y: Array) -> int:
    """Compile `factor_at`."""
    return factor_at(P, t, y)


@entry
def solve_entry(P: Pack) -> int:
    """Solve K x = b for the b in the workspace, with the current factor."""
    begin(P)
    return finish(P)


@kernel
def put_column(P: Pack, i: int, j: int, C: Array, X: Array) -> int:
    """Write K^-1 (C^T, 0) for a row C (12,) on the bodies i and j to X (6 nn,)."""
    b, x = ws.right_hand_side(P), ws.solution(P)
    clear(b)
    for a in range(6):
        if i > 0:
            b[i, a] += C[a]
        if j > 0:
            b[j, a] += C[6 + a]
    begin(P)
    code = finish(P)
    for node in range(x.shape[0]):
        for a in range(6):
            X[6 * node + a] = x[node, a] if node > 0 else 0.0
    return code


@kernel
def product_of(i: int, j: int, C: Array, X: Array) -> float:
    """Return C X of a row C (12,) on the bodies i and j, and a column X (6 nn,)."""
    total = 0.0
    for a in range(6):
        if i > 0:
            total += C[a] * X[6 * i + a]
    for a in range(6):
        if j > 0:
            total += C[6 + a] * X[6 * j + a]
    return total


@kernel
def put_response(P: Pack, pairs: Ints, C: Array, X: Array, G: Array) -> int:
    """Write X (3 k, 6 nn) and G (3 k, 3 k) of the rows C (k, 3, 12) of points on the pairs (k, 2) of bodies."""
    k = pairs.shape[0]
    ws.solve_for(P)[0, 0] = at.VELOCITIES
    for column in range(3 * k):
        point = column // 3
        code = put_column(P, pairs[point, 0], pairs[point, 1], C[point, column % 3], X[column])
        if code != OK:
            return code
    for row in range(3 * k):
        point = row // 3
        for column in range(3 * k):
            G[row, column] = product_of(pairs[point, 0], pairs[point, 1], C[point, row % 3], X[column])
    return OK


@entry
def columns_entry(P: Pack, pairs: Ints, C: Array, X: Array) -> int:
    """Write K^-1 (C^T, 0) for rows C (m, 12) on the pairs (m, 2) of bodies to X (m, 6 nn)."""
    ws.solve_for(P)[0, 0] = at.VELOCITIES
    for row in range(pairs.shape[0]):
        code = put_column(P, pairs[row, 0], pairs[row, 1], C[row], X[row])
        if code != OK:
            return code
    return OK


@entry
def products_entry(pairs: Ints, C: Array, X: Array, G: Array) -> int:
    """Write G = C X^T for rows C (m, 12) and columns X (n, 6 nn) to G (m, n)."""
    for row in range(pairs.shape[0]):
        for c in range(X.shape[0]):
            G[row, c] = product_of(pairs[row, 0], pairs[row, 1], C[row], X[c])
    return 0


get_rates, get_columns, get_products = DirectCall(rates_entry), DirectCall(columns_entry), DirectCall(products_entry)


def writable(y: Array) -> Array:
    """Return the state as compiled functions take it: stored states are read-only."""
    return y if y.flags.writeable else y.copy()


class Response(NamedTuple):
    """Columns X (m, 6 nn) by unit forces of m rows, by nodes, and G (m, m)."""

    X: Array
    G: Array


class ContactResponse:
    """The equations of motion of a model without contacts, with one workspace, and the columns of contact rows."""

    def __init__(self, model: Model) -> None:
        self.model, self.pack = model, model.pack()
        self.n = model.nb + 1
        self.nodes = workspace_array(self.pack, "SOLUTION").shape[0]
        self._solution = workspace_array(self.pack, "SOLUTION")
        self.kept = np.zeros_like(self._solution)
        self.n_rates = self.n_factorizations = 0

    def rates(self, t: float, y: Array, y_dot: Array) -> None:
        """Write y_dot without contacts, and keep the factor."""
        self.n_rates += 1
        self.n_factorizations += 1
        self._need_ok(get_rates(self.pack, t, writable(y), y_dot), t)
        self.kept[:] = self._solution

    def note(self, code: int, t: float) -> None:
        """Count an evaluation of rates that was made elsewhere in the workspace of this model; raise the error of its code."""
        self.n_rates += 1
        self.n_factorizations += 1
        self._need_ok(code, t)

    def last_solution(self) -> Array:
        """Return (u_dot, lam) by nodes, (nn, 6), of `rates` at the state at hand."""
        return np.array(self.kept)

    def factor(self, t: float, y: Array) -> None:
        """Factor the augmented matrix at a state."""
        self.n_factorizations += 1
        self._need_ok(factor_entry(self.pack, t, writable(y)), t)

    def columns(self, pairs: Ints, C: Array, t: float) -> Response:
        """Return the response to rows C (m, 12) on pairs (m, 2) of bodies."""
        X, G = np.zeros((len(C), 6 * self.nodes)), np.zeros((len(C), len(C)))
        if len(C):
            self._need_ok(get_columns(self.pack, pairs, C, X), t)
            get_products(pairs, C, X, G)
        return Response(X, G)

    def solve(self, b_u: Array | None, b_c: Array | None, t: float, kind: float = at.VELOCITIES) -> Array:
        """Return x (nn, 6) of K x = (b_u, b_c):  b_u: (nb + 1, 6), b_c: (nc,) by rows, None for 0."""
        b = workspace_array(self.pack, "RIGHT")
        workspace_array(self.pack, "SOLVE_FOR")[0, 0] = kind
        b[:] = 0.0
        if b_u is not None:
            b[1 : self.n] = b_u[1:]
        if b_c is not None:
            b[self.n :].reshape(-1)[self.model.slot_of_row] = b_c
        self._need_ok(solve_entry(self.pack), t)
        return np.asarray(workspace_array(self.pack, "SOLUTION").copy())

    def row_values(self) -> tuple[Array, Array]:
        """Return Phi and nu of the rows evaluated last, (nc,) each."""
        level = workspace_array(self.pack, "LEVEL")[self.model.slot_of_row]
        return level[:, 0], level[:, 1]

    def row_rates(self, u: Array) -> Array:
        """Return Phi_q u (nc,) for velocities u (nb + 1, 6), of the rows evaluated last."""
        J = workspace_array(self.pack, "J").reshape(-1, self.model.sides, 6)[self.model.slot_of_row]
        return np.asarray(np.einsum("ksa,ksa->k", J, u[self.model.bodies_of_slots]))

    def row_set(self) -> RowSet:
        """Return the rows of the model evaluated last."""
        J = workspace_array(self.pack, "J").reshape(-1, self.model.sides, 6)[self.model.slot_of_row]
        return RowSet(self.model.bodies_of_slots, J.copy(), self.row_values()[1].copy())

    def kept_rows(self) -> Array:
        """Return 1 for rows that the model keeps, 0 for those that depend on others, (nc,)."""
        kept = np.ones(self.model.nc)
        kept[list(self.model.redundancy.dropped)] = 0.0
        return kept

    def _need_ok(self, code: int, t: float) -> None:
        if code != OK:
            self.model.raise_user_error(self.pack)
            raise explain(self.model, self.pack, code, t)
