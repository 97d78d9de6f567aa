r"""One factorization of the augmented matrix at a state, for any number of impulsive right-hand sides.

    [ M      Phi_q^T ] [ du  ]   [ P ]        P: impulses on the bodies (nb + 1, 6)
    [ Phi_q  0       ] [ Lam ] = [ g ]        g: change of Phi_q u, by rows (nc,)

Each right-hand side costs one back-substitution: O(n) for chains and trees.  A `RowSet` contains equations C u = nu, twelve numbers
each, of the model or in addition to it.
"""

from __future__ import annotations

from typing import Any, NamedTuple, cast

import numpy as np

from haugmbd.bodies.body import MASSLESS_RTOL
from haugmbd.compiled.array_types import Array, Ints
from haugmbd.compiled.ffi import NO_CALLBACK
from haugmbd.compiled.status_codes import OK
from haugmbd.formulations.error_messages import explain
from haugmbd.graph import loop_groups, pairs_of
from haugmbd.kkt.registry import routines_of
from haugmbd.model.evaluate import rows_entry
from haugmbd.model.model import Model
from haugmbd.model.state import State
from haugmbd.workspace.layout import REFINES, workspace_array


class RowSet(NamedTuple):
    """Equations C u = nu on two bodies each, or more for couplings.

    bodies: (k, sides) numbers;  C: (k, sides, 6);  nu: (k,)
    """

    bodies: Ints
    C: Array
    nu: Array

    def of(self, u: Array) -> Array:
        """Return C u, (k,), for velocities or solutions u (..., nb + 1, 6)."""
        return np.asarray(np.einsum("ksa,...ksa->...k", self.C, u[..., self.bodies, :]))

    def size_of(self, u: Array) -> Array:
        """Return |C| |u|, (k,), the scale of the rounding of C u."""
        return np.asarray(np.einsum("ksa,ksa->k", np.abs(self.C), np.abs(u)[self.bodies]))

    def transposed(self, x: Array, n: int) -> Array:
        """Return C^T x, (n, 6): impulses on n bodies, the ground first; zero on the ground."""
        place = 6 * self.bodies[:, :, None] + np.arange(6)
        P = np.bincount(place.ravel(), (x[:, None, None] * self.C).ravel(), 6 * n).reshape(n, 6)
        P[0] = 0.0
        return np.asarray(P)

    def free_mobility(self, model: Model) -> Array:
        """Return C M^-1 C^T by rows, (k,), without joints and without massless axes: the scale of W = C K^-1 C^T."""
        moving = (self.bodies > 0) & (model.mass[self.bodies] > 0.0)
        inverse_mass = np.where(moving, 1.0 / np.where(moving, model.mass[self.bodies], 1.0), 0.0)
        inverse_J = np.linalg.pinv(model.J_bar[self.bodies], rcond=MASSLESS_RTOL, hermitian=True)  # zero for the ground
        moments = np.einsum("ksa,ksab,ksb->k", self.C[..., 3:], inverse_J, self.C[..., 3:])
        return np.asarray(np.einsum("ks,ksa,ksa->k", inverse_mass, self.C[..., :3], self.C[..., :3]) + moments)

    @classmethod
    def joined(cls, *parts: RowSet) -> RowSet:
        """Return the rows of all parts, in order."""
        sides = max(part.bodies.shape[1] for part in parts)
        wide = [(0, 0), (0, sides)]
        bodies = [np.pad(part.bodies, wide)[:, :sides] for part in parts]
        C = [np.pad(part.C, [*wide, (0, 0)])[:, :sides] for part in parts]
        return cls(np.concatenate(bodies), np.concatenate(C), np.concatenate([part.nu for part in parts]))


class FactoredSystem:
    """The factored augmented matrix of `model` at `state`; `rows` are those of the model.

    Raises SingularKKTError if the rows depend on each other, and the error of a user's callable.
    """

    def __init__(self, model: Model, state: State) -> None:
        self.model, self.t, self.pack = model, state.t, model.pack()
        self._arrays = cast(Any, self.pack)
        code = rows_entry(self.pack, state.t, state.y)
        self._solver = routines_of(model.tables, not model.redundancy.dropped)
        factorize = self._solver.factorize_chosen if model.redundancy.dropped else self._solver.factorize
        self._need_ok(factorize(self._arrays, NO_CALLBACK) if code == OK else code)
        slots, J, level = model.slot_of_row, workspace_array(self.pack, "J"), workspace_array(self.pack, "LEVEL")
        pairs = np.asarray(model.tables["EDGES"][slots // 6], dtype=np.int64)
        self.rows = RowSet(pairs, J.reshape(-1, model.sides, 6)[slots], level[slots, 1])

    def solve(self, P: Array, g: Array | None = None) -> tuple[Array, Array]:
        """Return du (nb + 1, 6) and Lam (nc,) for impulses P (nb + 1, 6) and g (nc,), by default 0."""
        n, b = self.model.nb + 1, workspace_array(self.pack, "RIGHT")
        b[:n], b[n:] = P, 0.0
        if g is not None:
            b[n:].reshape(-1)[self.model.slot_of_row] = g
        self._solver.begin(self._arrays, NO_CALLBACK)
        code = self._solver.finish(self._arrays, NO_CALLBACK)
        self._need_ok(self._solver.refine(self._arrays, NO_CALLBACK) if self.model.tables["FLAGS"][0, REFINES] else code)
        x = workspace_array(self.pack, "SOLUTION")
        return x[:n].copy(), self.model.lam_of(x)

    def moving_parts(self) -> Ints:
        """Return a number for each body, (nb + 1,), that it shares with the bodies that rows of the model connect it to; not the ground."""
        pairs = [pair for pair in pairs_of(self.rows.bodies.tolist())[0] if 0 not in pair]
        return np.array(loop_groups(self.model.nb + 1, pairs, ()), dtype=np.int64)

    def refined(self, before: Array, u: Array, Lam: Array, P: Array) -> tuple[Array, Array]:
        """Return the velocities u (nb + 1, 6) after impulses P, and Lam, after one step of iterative refinement.

        Without it the residual of Phi_q u - nu would change the energy of an elastic impact.
        """
        change = u - before
        momentum = np.hstack([self.model.mass[:, None] * change[:, :3], np.einsum("kab,kb->ka", self.model.J_bar, change[:, 3:])])
        left = P - momentum - self.rows.transposed(Lam, self.model.nb + 1)
        du, more = self.solve(left, self.rows.nu - self.rows.of(u))
        return u + du, Lam + more

    def _need_ok(self, code: int) -> None:
        """Raise the error of a code that is not OK."""
        if code != OK:
            self.model.raise_user_error(self.pack)
            raise explain(self.model, self.pack, code, self.t)
