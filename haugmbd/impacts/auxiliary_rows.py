r"""Rows in addition to those of the model: contacts, and joints that close suddenly.

    K (Z, Z_lam) = ((E, C)^T, 0)        W = (E, C) Z        u+ = u0 - Z (mu, -f)       Lam = Lam0 - Z_lam (mu, -f)

    E u+ = nu                    W_ee mu = E u0 - nu + W_ec f                        joints that close: eliminated first
    C u+ >= b,  f >= 0, ...      on W_cc - W_ce W_ee^-1 W_ec                         contacts, see `restitution`

Each row needs one back-substitution with the factor of K, which it shares with rows on parts of the mechanism that are not connected.
Source: Haug 2021, sec. 11.3; the Schur complement of the augmented matrix.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from haugmbd.compiled.array_types import Array, Ints
from haugmbd.contact.impact_laws import NewtonImpact, StruckPoints, impulses, is_row
from haugmbd.errors import UsageError
from haugmbd.impacts.impulse_arguments import ImpulseArguments
from haugmbd.impacts.impulse_equations import FactoredSystem, RowSet
from haugmbd.impacts.restitution import HOLDS, restitution
from haugmbd.impacts.spectral_solve import RANK_TOL, SpectralSolution, mobility
from haugmbd.impacts.struck_chains import Chain, Struck, chain_of

ROUNDING = 1e-12
"""Relative to the velocities that a row combines: a smaller row velocity is zero.  It is some powers of ten above the rounding of a few
operations, to allow for the condition of the model."""
CONFLICT_TOL = 1e-9
"""Relative to the same: dependent rows that prescribe velocities farther apart than this contradict each other."""


class AuxiliaryRows(NamedTuple):
    """Additional rows, and the effect of a unit multiplier of each: Z (k, nb + 1, 6), Z_lam (k, nc), W (k, k), its scale d (k,)."""

    rows: RowSet
    Z: Array
    Z_lam: Array
    W: Array
    d: Array

    @classmethod
    def of(cls, factor: FactoredSystem, rows: RowSet) -> AuxiliaryRows:
        """Return the rows with the solutions for unit multipliers: one back-substitution for all rows that share no moving part."""
        k, n = len(rows.nu), factor.model.nb + 1
        Z, Z_lam = np.zeros((k, n, 6)), np.zeros((k, factor.model.nc))
        parts, owner = factor.moving_parts(), factor.rows.bodies.max(axis=1)
        moved = ((parts == parts[rows.bodies][:, :, None]) & (rows.bodies > 0)[:, :, None]).any(axis=1)
        for some in _apart(parts, rows.bodies):
            du, Lam = factor.solve(rows.transposed(np.isin(np.arange(k), some).astype(np.float64), n))
            Z[some] = np.where(moved[some][:, :, None], du, 0.0)
            Z_lam[some] = np.where(moved[some][:, owner], Lam, 0.0)
        W = rows.of(Z)
        W = 0.5 * (W + W.T)
        return cls(rows, Z, Z_lam, W, mobility(W, rows.free_mobility(factor.model)))

    def moved(self, x: Array, u: Array, Lam: Array) -> tuple[Array, Array]:
        """Return the velocities and Lam with the multipliers x (k,)."""
        return u - np.tensordot(x, self.Z, 1), Lam - x @ self.Z_lam

    def correction(self, acting: npt.NDArray[np.bool_], target: Array, u: Array) -> Array:
        """Return the change of x that removes the rounding of the active rows: from their velocities at u to `target` (k,)."""
        x = np.zeros(len(target))
        a = np.nonzero(acting)[0]
        if len(a) == 0:
            return x
        x[a] = SpectralSolution.of(self.W[np.ix_(a, a)], self.d[a]).solve((self.rows.of(u) - target)[a])
        return x


def _apart(parts: Ints, bodies: Ints) -> list[list[int]]:
    """Return the rows on the pairs of `bodies` (k, 2) in groups, in each of which no two rows move the same part of the mechanism."""
    groups: list[list[int]] = []
    used = np.zeros(len(parts), dtype=np.int64)  # by part: groups that have a row on it
    for row, pair in enumerate(bodies):
        own = parts[pair[pair > 0]]
        k = int(used[own].max())
        used[own] = k + 1
        groups += [[]] * (k + 1 - len(groups))
        groups[k] = [*groups[k], row]
    return groups


class AuxiliarySolution(NamedTuple):
    """Multipliers of additional rows.

    mu: (k,) of closed joints;  f: normal impulses of contacts;  bound: b;  left, after: C u without and with f [m/s];  remarks: sentences
    chain: contacts that are struck through closed ones
    """

    mu: Array
    f: Array
    bound: Array
    left: Array
    after: Array
    remarks: tuple[str, ...]
    chain: Chain = Chain()


def solve_auxiliary_rows(q: ImpulseArguments, beside: AuxiliaryRows, u: Array, u0: Array) -> AuxiliarySolution:
    """Return the multipliers of closed joints and contacts, from the velocities u before the impulse and u0 without these rows."""
    rows, W, d, k = beside.rows, beside.W, beside.d, len(q.closed.owner)
    if len(d) == 0:
        return AuxiliarySolution(d, d, d, d, d, ())
    size = np.abs(rows.C).sum(axis=(1, 2)) * max(np.abs(u).max(), np.abs(u0).max()) + np.abs(rows.nu)
    gap = rows.of(u0) - rows.nu
    closing = SpectralSolution.of(W[:k, :k], d[:k])
    remarks = _closing_remarks(q, closing, gap[:k], size[:k])
    mu0, shift = closing.solve(gap[:k]), closing.solve(W[:k, k:])
    left, W_c = gap[k:] - W[k:, :k] @ mu0, W[k:, k:] - W[k:, :k] @ shift
    e, before = np.array([c.restitution for c in q.contacts]), rows.of(u)[k:]
    bound = np.maximum(0.0, -e * before)
    names, bodies = [c.name for c in q.contacts], rows.bodies[k:]
    rounding = ROUNDING * size[k:]
    before = np.where(np.abs(before) <= rounding, 0.0, before)
    at_once = isinstance(q.law, NewtonImpact) or (q.law is None and not is_row(e, before, bodies))
    if at_once:
        f, unique = _normal_impulses(q, W_c, bound - left, d[k:], size[k:])
    else:
        f, unique = _by_law(q, StruckPoints.without_friction(W_c, left, before, e, bodies, ", ".join(names)), d[k:], size[k:]), ()
        bound = left + W_c @ f
    after = left + W_c @ f
    chain = Chain() if q.law is not None else chain_of(Struck(names, bodies, e, W_c, before, left, after, f, rounding, q.state.t))
    said = (*remarks, *unique, *([chain.text] if chain.text else []), *_contact_remarks(q, f, after, size[k:]))
    return AuxiliarySolution(mu0 + shift @ f, f, bound, left, after, said, chain)


def _closing_remarks(q: ImpulseArguments, closing: SpectralSolution, gap: Array, size: Array) -> tuple[str, ...]:
    """Return a remark on dependent rows.  Raise UsageError if they contradict each other."""
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
            f"prescribe velocities that differ by {amount:.6g}. Close it when the bodies already move as it requires, or leave it out."
        )
    dependent = np.abs(closing.V0).max(axis=1) > RANK_TOL
    names = ", ".join(map(repr, dict.fromkeys(owners[dependent].tolist())))
    return (
        f"{n - closing.rank} of {n} rows that close depend on others (rank {closing.rank}, rank_tol {RANK_TOL:g}; {names}): "
        "their multipliers are those of least norm",
    )


def _normal_impulses(q: ImpulseArguments, W: Array, h: Array, d: Array, size: Array) -> tuple[Array, tuple[str, ...]]:
    """Return the normal impulses (k,), and a remark if they are not unique.  Raise UsageError if none exist."""
    h = np.where(np.abs(h) <= ROUNDING * size, 0.0, h)
    able = np.diag(W) > RANK_TOL * d
    for c, moves, lacking in zip(q.contacts, able, h, strict=True):
        if not moves and lacking >= 0.0:
            raise UsageError(
                f"contact {c.name!r} is immovable at t = {q.state.t:g} s: the joints allow no motion along its normal "
                "(n^T A^-1 n = 0). Leave it out, or apply the impulse at another pose."
            )
    k = np.nonzero(able)[0]
    f = np.zeros(len(h))
    some = restitution(W[np.ix_(k, k)], h[k], d[k])
    if some is None:
        names = ", ".join(repr(q.contacts[a].name) for a in k)
        raise UsageError(
            f"contacts {names} cannot all rebound with their restitution: the rebound of one is blocked by another. "
            "Give them restitution=0."
        )
    f[k] = some
    acting = np.nonzero(able & (np.abs(W @ f - h) <= HOLDS * np.maximum(size, np.abs(h))))[0]
    rank = SpectralSolution.of(W[np.ix_(acting, acting)], d[acting]).rank
    if not f.any() or rank == len(acting):
        return f, ()
    names = ", ".join(repr(q.contacts[a].name) for a in acting)
    what = f"the normal impulses of {names} are not unique (rank {rank} of {len(acting)}, rank_tol {RANK_TOL:g})"
    return f, (f"{what}; the velocities are unique, and the impulses are those of least norm",)


def _by_law(q: ImpulseArguments, points: StruckPoints, d: Array, size: Array) -> Array:
    """Return the normal impulses (k,) by Poisson's law, or of a sequence of impacts.  Raise UsageError if none exist."""
    W = points.G[::3, ::3]

    def solve(k: Ints, v: Array) -> Array:
        f = np.zeros((len(k), 3))
        own = q._replace(contacts=tuple(q.contacts[a] for a in k))
        f[:, 0] = _normal_impulses(own, W[np.ix_(k, k)], -v[:, 0], d[k], size[k])[0]
        return f

    return np.asarray(impulses(q.law, points, solve)[:, 0])


def _contact_remarks(q: ImpulseArguments, f: Array, after: Array, size: Array) -> tuple[str, ...]:
    """Return a sentence for each contact without an impulse."""
    remarks = []
    for c, push, speed, scale in zip(q.contacts, f, after, size, strict=True):
        if push == 0.0:
            how = f"separates at {speed:.6g} m/s" if speed > ROUNDING * scale else "touches without pressing"
            remarks.append(f"contact {c.name!r} {how}: no impulse")
    if q.contacts and not f.any():
        remarks.append("no contact gives an impulse")
    return tuple(remarks)
