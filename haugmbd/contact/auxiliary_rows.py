r"""Rows beside the model's: what their multipliers do, from one back-substitution each, and how several laws share them.

    K (Z, Z_lam) = ((E, C)^T, 0)        W = (E, C) Z        u+ = u0 - Z (mu, -f)       Lam = Lam0 - Z_lam (mu, -f)

    E u+ = nu                    W_ee mu = E u0 - nu + W_ec f                        joints that close: eliminated first
    C u+ >= b,  f >= 0, ...      on W_cc - W_ce W_ee^-1 W_ec                         contacts, see `newton`

Source: Haug sec. 11.3; the Schur complement of the augmented matrix.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from haugmbd.compiled.array_types import Array
from haugmbd.contact.impulse_arguments import ImpulseArguments
from haugmbd.contact.impulse_equations import FactoredSystem, RowSet
from haugmbd.contact.restitution import HOLDS, restitution
from haugmbd.contact.spectral_solve import RANK_TOL, SpectralSolution, mobility
from haugmbd.errors import UsageError

ROUNDING = 1e-12
"""Of the speeds that make a velocity of a row: below it the velocity is zero.  1e-16 is lost for each of a few operations, times the
condition of the model."""
CONFLICT_TOL = 1e-9
"""Of the same: dependent rows that ask for velocities farther apart than this contradict each other."""


class AuxiliaryRows(NamedTuple):
    """Rows beside the model's; Z (k, nb + 1, 6) and Z_lam (k, nc): what a unit of each multiplier does;  W (k, k);  d (k,): its measure."""

    rows: RowSet
    Z: Array
    Z_lam: Array
    W: Array
    d: Array

    @classmethod
    def of(cls, factor: FactoredSystem, rows: RowSet) -> AuxiliaryRows:
        """One back-substitution for each row."""
        k, n = len(rows.nu), factor.model.nb + 1
        Z, Z_lam = np.zeros((k, n, 6)), np.zeros((k, factor.model.nc))
        for a, unit in enumerate(np.eye(k)):
            Z[a], Z_lam[a] = factor.solve(rows.transposed(unit, n))
        W = rows.of(Z)
        W = 0.5 * (W + W.T)
        return cls(rows, Z, Z_lam, W, mobility(W, rows.free_mobility(factor.model)))

    def moved(self, x: Array, u: Array, Lam: Array) -> tuple[Array, Array]:
        """Velocities and Lam with the multipliers x (k,)."""
        return u - np.tensordot(x, self.Z, 1), Lam - x @ self.Z_lam

    def correction(self, acting: npt.NDArray[np.bool_], target: Array, u: Array) -> Array:
        """The change of x that brings the rows that act from their velocities at u to `target` (k,): what rounding has left."""
        x = np.zeros(len(target))
        a = np.nonzero(acting)[0]
        if len(a) == 0:
            return x
        x[a] = SpectralSolution.of(self.W[np.ix_(a, a)], self.d[a]).solve((self.rows.of(u) - target)[a])
        return x


class AuxiliarySolution(NamedTuple):
    """mu (k,) of closed joints, f of contacts;  bound: b;  left, after: C u without and with f [m/s];  remarks: sentences."""

    mu: Array
    f: Array
    bound: Array
    left: Array
    after: Array
    remarks: tuple[str, ...]


def solve_auxiliary_rows(q: ImpulseArguments, beside: AuxiliaryRows, u: Array, u0: Array) -> AuxiliarySolution:
    """Multipliers of closed joints and contacts, from velocities u before and u0 without them."""
    rows, W, d, k = beside.rows, beside.W, beside.d, len(q.closed.owner)
    if len(d) == 0:
        return AuxiliarySolution(d, d, d, d, d, ())
    size = np.abs(rows.C).sum(axis=(1, 2)) * max(np.abs(u).max(), np.abs(u0).max()) + np.abs(rows.nu)
    gap = rows.of(u0) - rows.nu
    closing = SpectralSolution.of(W[:k, :k], d[:k])
    remarks = _closing_remarks(q, closing, gap[:k], size[:k])
    mu0, shift = closing.solve(gap[:k]), closing.solve(W[:k, k:])
    left, W_c = gap[k:] - W[k:, :k] @ mu0, W[k:, k:] - W[k:, :k] @ shift
    bound = np.maximum(0.0, -np.array([c.restitution for c in q.contacts]) * rows.of(u)[k:])
    f, unique = _normal_impulses(q, W_c, bound - left, d[k:], size[k:])
    after = left + W_c @ f
    return AuxiliarySolution(mu0 + shift @ f, f, bound, left, after, (*remarks, *unique, *_contact_remarks(q, f, after, size[k:])))


def _closing_remarks(q: ImpulseArguments, closing: SpectralSolution, gap: Array, size: Array) -> tuple[str, ...]:
    """What is to be said of dependent rows; UsageError where they contradict each other."""
    n = len(gap)
    if closing.rank == n:
        return ()
    conflict = np.abs(closing.conflict(gap))
    owners = np.array(q.closed.owner)
    wrong = conflict > CONFLICT_TOL * float(np.max(closing.scale * size))
    if wrong.any():
        names = ", ".join(map(repr, dict.fromkeys(owners[wrong].tolist())))
        amount = float(np.max((conflict / closing.scale)[wrong]))
        raise UsageError(
            f"{names} cannot close at t = {q.state.t:g} s: rows that depend on the model's, or on each other, "
            f"ask for velocities that differ by {amount:.6g}. Close it when the bodies move as it will make them, or leave it out."
        )
    dependent = np.abs(closing.V0).max(axis=1) > RANK_TOL
    names = ", ".join(map(repr, dict.fromkeys(owners[dependent].tolist())))
    return (
        f"{n - closing.rank} of {n} rows that close depend on others (rank {closing.rank}, rank_tol {RANK_TOL:g}; {names}): "
        "their multipliers are the least of those possible",
    )


def _normal_impulses(q: ImpulseArguments, W: Array, h: Array, d: Array, size: Array) -> tuple[Array, tuple[str, ...]]:
    """The normal impulses (k,), and a remark where they are not unique; UsageError where there are none."""
    h = np.where(np.abs(h) <= ROUNDING * size, 0.0, h)
    able = np.diag(W) > RANK_TOL * d
    for c, moves, lacking in zip(q.contacts, able, h, strict=True):
        if not moves and lacking >= 0.0:
            raise UsageError(
                f"contact {c.name!r} is immovable at t = {q.state.t:g} s: no motion that the joints allow gives way along its normal "
                "(n^T A^-1 n = 0). Leave it out, or strike at another pose."
            )
    k = np.nonzero(able)[0]
    f = np.zeros(len(h))
    some = restitution(W[np.ix_(k, k)], h[k], d[k])
    if some is None:
        names = ", ".join(repr(q.contacts[a].name) for a in k)
        raise UsageError(
            f"no velocities meet the restitution of contacts {names} at once: what one throws back, another holds. Give them restitution=0."
        )
    f[k] = some
    acting = np.nonzero(able & (np.abs(W @ f - h) <= HOLDS * np.maximum(size, np.abs(h))))[0]
    rank = SpectralSolution.of(W[np.ix_(acting, acting)], d[acting]).rank
    if not f.any() or rank == len(acting):
        return f, ()
    names = ", ".join(repr(q.contacts[a].name) for a in acting)
    what = f"the normal impulses of {names} are not unique (rank {rank} of {len(acting)}, rank_tol {RANK_TOL:g})"
    return f, (f"{what}: the velocities are, and the impulses are the least of those possible",)


def _contact_remarks(q: ImpulseArguments, f: Array, after: Array, size: Array) -> tuple[str, ...]:
    """A sentence for each contact without an impulse."""
    remarks = []
    for c, push, speed, scale in zip(q.contacts, f, after, size, strict=True):
        if push == 0.0:
            how = f"separates at {speed:.6g} m/s" if speed > ROUNDING * scale else "touches without pressing"
            remarks.append(f"contact {c.name!r} {how}: no impulse")
    if q.contacts and not f.any():
        remarks.append("no contact gives an impulse")
    return tuple(remarks)
