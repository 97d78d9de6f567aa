r"""Impulses in maximal coordinates: one factor of the augmented matrix, one back-substitution for each equation beside it.

    M (u+ - u-) + Phi_q^T Lam + E^T mu = P + C^T f           Phi_q u+ = nu
    E u+ = nu_E          joints that close suddenly
    C u+ >= b,  f >= 0,  f . (C u+ - b) = 0,  b = max(0, -e C u-)          contacts, by Newton's law

    K (du0, Lam0) = (P, nu - Phi_q u-)        K (Z, Z_lam) = ((E, C)^T, 0)        K = [ M Phi_q^T; Phi_q 0 ]
    W = (E, C) Z       u+ = u- + du0 - Z (mu, -f)       Lam = Lam0 - Z_lam (mu, -f)

Without anything applied this is the projection of u- on the velocities that the joints allow, the nearest in mass.
Source: Haug sec. 11.3; Moreau (1988); the same matrix as in `formulations.newton_euler`.
"""

from __future__ import annotations

import warnings
from typing import Any, NamedTuple

import numpy as np

from haugmbd.algebra.vec3 import Array
from haugmbd.errors import EnergyWarning, UsageError
from haugmbd.impact.door import Question, read_question
from haugmbd.impact.factor import Factored, RowSet
from haugmbd.impact.least import RANK_TOL, Least, mobility
from haugmbd.impact.newton import HOLDS, restitution
from haugmbd.impact.result import Answered, Impulse
from haugmbd.model.model import Model
from haugmbd.model.state import State

ROUNDING = 1e-12
"""Of the speeds that make a velocity of a row: below it the velocity is zero.  1e-16 is lost for each of a few operations, times the
condition of the model."""
CONFLICT_TOL = 1e-9
"""Of the same: dependent rows that ask for velocities farther apart than this contradict each other."""
GAIN_TOL = 1e-12
"""Of the kinetic energy: a gain above it is not rounding."""


class Answer(NamedTuple):
    """mu (k,) of closed joints, f of contacts, c+: their normal velocities after [m/s], and remarks."""

    mu: Array
    f: Array
    after: Array
    remarks: tuple[str, ...]


def impulse(
    model: Model, state: State | None = None, *, applied: Any = (), contacts: Any = (), close: Any = (), touching: bool = True
) -> Impulse:
    """Return the velocities just after an impulse at `state` (by default the modelled one), and the impulses in all joints.

    applied: PointImpulse and AngularImpulse objects;  contacts: Contact objects that may strike, with Newton restitution
    close: joints between bodies of the model whose rows engage from now on;  touching: False to let contacts strike across a gap
    Raises ModelError for all bad values at once, UsageError for wrong kinds, a contact that nothing gives way to, bounds or closed
    joints that contradict each other, SingularKKT where the model's own rows depend on one another.
    """
    q = read_question(model, state, applied, contacts, close, touching)
    factor = Factored(model, q.state)
    n, k = model.nb + 1, len(q.closed.owner)
    u = np.hstack([q.state.v, q.state.omega_bar])
    du, Lam = factor.solve(q.P, factor.rows.nu - factor.rows.of(u))
    rows = RowSet.joined(q.closed.rows, q.contact_rows)
    Z, Z_lam = _responses(factor, rows, n)
    W = rows.of(Z)
    W = 0.5 * (W + W.T)
    answer = _answer(q, rows, W, u, u + du)
    x = np.concatenate([answer.mu, -answer.f])
    u_plus = u + du - np.tensordot(x, Z, 1)
    after = q.state.replace(v=u_plus[:, :3], omega_bar=u_plus[:, 3:])
    Lam = Lam - x @ Z_lam
    before_contacts = u + du - np.tensordot(answer.mu, Z[:k], 1)
    gain = _gain(q, answer, u, before_contacts, max(kinetic(model, u), kinetic(model, u_plus)))
    if gain:
        warnings.warn(gain, EnergyWarning, stacklevel=2)
    return Impulse(
        model=model,
        before=q.state,
        state=after,
        Lam=Lam,
        normal={c.name: float(f) for c, f in zip(q.contacts, answer.f, strict=True)},
        closed={name: answer.mu[e.rows] for name, e in q.closed.joints.items()},
        energy_before=kinetic(model, u),
        energy_after=kinetic(model, u_plus),
        messages=(*answer.remarks, *([gain] if gain else [])),
        _answered=(Answered(model.joints, factor.rows, Lam), Answered(q.closed.joints, q.closed.rows, answer.mu)),
    )


def kinetic(model: Model, u: Array) -> float:
    """The kinetic energy [J] of velocities u (nb + 1, 6)."""
    spin = np.einsum("ka,kab,kb->", u[:, 3:], model.J_bar, u[:, 3:])
    return 0.5 * float(np.einsum("k,ka,ka->", model.mass, u[:, :3], u[:, :3]) + spin)


def _responses(factor: Factored, rows: RowSet, n: int) -> tuple[Array, Array]:
    """Z (k, n, 6) and Z_lam (k, nc): what a unit multiplier of each row does; one back-substitution each."""
    k = len(rows.nu)
    Z, Z_lam = np.zeros((k, n, 6)), np.zeros((k, factor.model.nc))
    for a, unit in enumerate(np.eye(k)):
        Z[a], Z_lam[a] = factor.solve(rows.transposed(unit, n))
    return Z, Z_lam


def _answer(q: Question, rows: RowSet, W: Array, u: Array, u0: Array) -> Answer:
    """Multipliers of closed joints and contacts: the joints are eliminated, and the contacts see what is left of W."""
    k = len(q.closed.owner)
    d = mobility(W, rows.free_mobility(q.model))
    size = np.abs(rows.C).sum(axis=(1, 2)) * max(np.abs(u).max(), np.abs(u0).max()) + np.abs(rows.nu)
    gap = rows.of(u0) - rows.nu
    W_ee, W_ec = W[:k, :k], W[:k, k:]
    closing = Least.of(W_ee, d[:k])
    remarks = _closing_remarks(q, closing, gap[:k], size[:k])
    mu0, shift = closing.solve(gap[:k]), closing.solve(W_ec)
    before, left, W_c = rows.of(u)[k:], gap[k:] - W_ec.T @ mu0, W[k:, k:] - W_ec.T @ shift
    bound = np.maximum(0.0, -np.array([c.e for c in q.contacts]) * before)
    f, unique = _normal_impulses(q, W_c, bound - left, d[k:], size[k:])
    after = left + W_c @ f
    return Answer(mu0 + shift @ f, f, after, (*remarks, *unique, *_contact_remarks(q, f, after, size[k:])))


def _closing_remarks(q: Question, closing: Least, gap: Array, size: Array) -> tuple[str, ...]:
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


def _normal_impulses(q: Question, W: Array, h: Array, d: Array, size: Array) -> tuple[Array, tuple[str, ...]]:
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
            f"no velocities meet the restitution of contacts {names} at once: what one throws back, another holds. Give them e = 0."
        )
    f[k] = some
    acting = np.nonzero(able & (np.abs(W @ f - h) <= HOLDS * np.maximum(size, np.abs(h))))[0]
    rank = Least.of(W[np.ix_(acting, acting)], d[acting]).rank
    if not f.any() or rank == len(acting):
        return f, ()
    names = ", ".join(repr(q.contacts[a].name) for a in acting)
    what = f"the normal impulses of {names} are not unique (rank {rank} of {len(acting)}, rank_tol {RANK_TOL:g})"
    return f, (f"{what}: the velocities are, and the impulses are the least of those possible",)


def _contact_remarks(q: Question, f: Array, after: Array, size: Array) -> tuple[str, ...]:
    """A sentence for each contact without an impulse."""
    remarks = []
    for c, push, speed, scale in zip(q.contacts, f, after, size, strict=True):
        if push == 0.0:
            how = f"separates at {speed:.6g} m/s" if speed > ROUNDING * scale else "touches without pressing"
            remarks.append(f"contact {c.name!r} {how}: no impulse")
    if q.contacts and not f.any():
        remarks.append("no contact gives an impulse")
    return tuple(remarks)


def _gain(q: Question, answer: Answer, u: Array, before_contacts: Array, energy: float) -> str:
    """A sentence where Newton's law has put kinetic energy into the mechanism; "" where it has not.

    The work of the normal impulses is f . (c+ + c) / 2, c before them; both with c of u- and with what the other impulses have made of it.
    """
    work = min(0.5 * float(answer.f @ (answer.after + c)) for c in (q.contact_rows.of(u), q.contact_rows.of(before_contacts)))
    if work <= GAIN_TOL * energy:
        return ""
    names = ", ".join(repr(c.name) for c, f in zip(q.contacts, answer.f, strict=True) if f > 0.0)
    law = f"Newton restitution at {names} at once raises the kinetic energy by {work:.6g} J at t = {q.state.t:g} s"
    return f"{law}: the contacts are coupled. Give them one e, smaller or zero, or let them strike one after the other."
