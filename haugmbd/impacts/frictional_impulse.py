r"""Impulses with dry friction: one cone problem for all contacts that strike, beside applied impulses.

    M (u+ - u-) + Phi_q^T Lam = P + C^T f,   Phi_q u+ = nu
    v = C u+ with e v_n- added to its normal part;   f in K, v + mu |v_T| n in K*, orthogonal                    (Newton, Coulomb, Moreau)

Source: Moreau (1988); Leine, van de Wouw, Stability and Convergence of Mechanical Systems with Unilateral Constraints (2008), ch. 5.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from haugmbd.compiled.array_types import Array
from haugmbd.contact.contact import Contact
from haugmbd.contact.impact_laws import ImpactLaw
from haugmbd.contact.points import Kinematics
from haugmbd.errors import EnergyWarning, Fault, ModelError, UsageError, warn_user
from haugmbd.impacts.contact_problem import ContactProblem, Key
from haugmbd.impacts.impulse_arguments import ImpulseArguments
from haugmbd.impacts.impulse_result import Impulse, SolvedImpulse
from haugmbd.impacts.struck_chains import Chain, chain_of
from haugmbd.impacts.struck_chains import Struck as Chained
from haugmbd.model.model import Model
from haugmbd.model.state import State
from haugmbd.tolerances import TYPED_LENGTH

TANGENTIAL = 1e-9
"""Relative to the largest impulse, or to the fastest approach: a smaller friction impulse, or gap rate, is rounding."""
GAIN = 1e-9
"""Relative to the kinetic energy: a smaller gain at an impact is rounding."""


class Struck(NamedTuple):
    """An impact: states before and after (ny,), points, impulses (k, 3) and kinematics; as an Impulse, where that is known."""

    before: Array
    after: Array
    keys: list[Key]
    f: Array
    kin: Kinematics
    impulse: Impulse | None = None


def kinetic_energy(model: Model, state: State) -> float:
    """Return the kinetic energy of a state [J]."""
    T = 0.5 * float(model.mass[1:] @ np.sum(state.v[1:] ** 2, axis=1))
    return T + 0.5 * float(np.einsum("ka,kab,kb->", state.omega_bar[1:], model.J_bar[1:], state.omega_bar[1:]))


def impulse_of(p: ContactProblem, before: State, after: State, one: Struck, P: Array | None = None) -> Impulse:
    """Return an impact as an Impulse;  P: (nb + 1, 6) applied impulses."""
    energies = [kinetic_energy(p.model, state) for state in (before, after)]
    p.response.factor(before.t, one.before)
    rows, u = p.response.row_set(), p.velocities(one.before)
    x = (
        p.response.solve(P, (rows.nu - rows.of(u)) * p.response.kept_rows(), before.t)
        if p.model.nc
        else np.zeros((p.response.nodes, 6))
    )
    answer = p.columns(one.kin, one.keys, before.t)
    Lam = p.model.lam_of(x + (one.f.ravel() @ answer.X).reshape(-1, 6))
    normal: dict[str, float] = dict.fromkeys(p.names, 0.0)
    tangential: dict[str, Array] = {name: np.zeros(3) for name in p.names}
    for k, (c, _) in enumerate(one.keys):
        normal[p.names[c]] += float(one.f[k, 0])
        tangential[p.names[c]] = tangential[p.names[c]] + one.f[k, 1:] @ one.kin.D[k, 1:]
    solved = (SolvedImpulse(p.model.joints, rows, Lam),)
    return Impulse(p.model, before, after, Lam, normal, {}, energies[0], energies[1], (), solved, tangential=tangential)


def gain_of(p: ContactProblem, impulse: Impulse, keys: list[Key]) -> str:
    """Return a sentence if an impact without applied impulses has gained kinetic energy, but what drivers gave; "" otherwise.

    With Phi_q u = nu before and after, drivers take part in an impact by the work -nu . Lam.
    """
    gain = impulse.energy_after - impulse.energy_before
    if p.model.nc:
        gain += float(p.response.row_set().nu @ np.asarray(impulse.Lam))
    if gain <= GAIN * max(impulse.energy_before, 1e-300):
        return ""
    names = ", ".join(dict.fromkeys(repr(p.names[c]) for c, _ in keys))
    return (
        f"the impact of {names} at t = {impulse.before.t:.9g} s gains {gain:.6g} J of {impulse.energy_before:.6g} J: Newton's law of "
        "restitution with friction, or at several coupled contacts, can do that. Give a smaller restitution, or impact=mbd.PoissonImpact()."
    )


def chain_at(p: ContactProblem, one: Struck, t: float) -> Chain:
    """Return the remark on an impact that goes through closed contacts, where Newton's law for all at once is a choice.

    It is said of impacts without friction impulses: with them the order of the impacts is no law to compare with.
    """
    size = float(np.abs(one.f).max(initial=0.0))
    given = any(law is not None for law in (p.law, *(p.contacts[c].law for c, _ in one.keys)))
    if given or len(one.keys) < 2 or np.abs(one.f[:, 1:]).max(initial=0.0) > TANGENTIAL * size:  # noqa: PLR2004  a chain has two contacts
        return Chain()
    before, f = one.kin.v[:, 0], one.f[:, 0]
    fastest = float(np.abs(before).max(initial=0.0))
    if not (np.abs(before[f > 0.0]) <= TANGENTIAL * fastest).any():  # no closed contact acts: the matrix W is not needed
        return Chain()
    p.response.factor(t, one.before)
    W = p.columns(one.kin, one.keys, t).G[::3, ::3]
    after = p.rows_of(one.kin, one.keys, p.velocities(one.after))[:, 0]
    struck = Chained(
        [p.names[c] for c, _ in one.keys],
        np.array([p.pairs[c] for c, _ in one.keys], dtype=np.int64),
        p.restitution_of(one.keys),
        W,
        before,
        before,
        after,
        f,
        np.full(len(f), TANGENTIAL * fastest),
        t,
    )
    return chain_of(struck)


def frictional_impulse(q: ImpulseArguments, contacts: tuple[Contact, ...], touching: bool, law: ImpactLaw | None = None) -> Impulse:
    """Return the impulse of contacts with friction, or of two shapes;  q: the other arguments."""
    if q.closed.joints:
        names = ", ".join(map(repr, q.closed.joints))
        raise UsageError(
            f"impulse does not take joints that close ({names}) beside contacts with friction, or of shapes: strike first."
        )
    p, y = ContactProblem(q.model, contacts, law), q.state.y
    allowed = TYPED_LENGTH * q.model.length
    keys, gaps = p.near(y, np.inf)
    faults = []
    for c, contact in enumerate(contacts):
        gap = min((float(g) for (k, _), g in zip(keys, gaps, strict=True) if k == c), default=np.inf)
        if touching and abs(gap) > allowed:
            what = f"its gap is {gap:.6g} m at t = {q.state.t:g} s (allowed {allowed:.2g} m): the bodies do not touch"
            faults.append(Fault(contact.where, what, "Strike where the gap is zero; touching=False takes the contact as it is."))
    if faults:
        raise ModelError(faults)
    own = {c: min(float(g) for (k, _), g in zip(keys, gaps, strict=True) if k == c) for c in {c for c, _ in keys}}
    keys = [key for key, gap in zip(keys, gaps, strict=True) if gap <= own[key[0]] + allowed]
    u, f, _, kin = p.impact(q.state.t, y, keys, p.restitution_of(keys), q.P)
    after = y.copy()
    p.velocities(after)[1:] = u[1:]
    found = impulse_of(p, q.state, State.from_y(q.state.t, after, p.n), Struck(y, after, keys, f, kin), q.P)
    gain = "" if q.P.any() else gain_of(p, found, keys)
    if gain:
        warn_user(gain, EnergyWarning)
    return found
