r"""Impulses in maximal coordinates: one factorization of the augmented matrix, and one back-substitution for each additional row.

    M (u+ - u-) + Phi_q^T Lam + E^T mu = P + C^T f           Phi_q u+ = nu
    E u+ = nu_E          joints that close suddenly
    C u+ >= b,  f >= 0,  f . (C u+ - b) = 0,  b = max(0, -e C u-)          contacts, by Newton's law

    K (du0, Lam0) = (P, nu - Phi_q u-)       K = [ M Phi_q^T; Phi_q 0 ],  factored once;  E and C by `auxiliary_rows`

A last back-substitution removes the rounding of the result.  Without applied impulses the result is the mass-weighted projection of u-
on the velocities that the joints allow.
Source: Haug 2021, sec. 11.3; Moreau (1988); the same matrix as in `formulations.newton_euler`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from haugmbd.choices import check_flags
from haugmbd.compiled.array_types import Array
from haugmbd.contact.impact_laws import ImpactLaw, check_law
from haugmbd.deprecated import check_keywords
from haugmbd.diagnostics.contact_warnings import pulls_of
from haugmbd.diagnostics.energy import kinetic_energy
from haugmbd.errors import EnergyWarning, RunWarning, warn_user
from haugmbd.impacts.auxiliary_rows import AuxiliaryRows, AuxiliarySolution, solve_auxiliary_rows
from haugmbd.impacts.frictional_impulse import frictional_impulse
from haugmbd.impacts.impulse_arguments import ImpulseArguments, contacts_given, read_arguments
from haugmbd.impacts.impulse_equations import FactoredSystem, RowSet
from haugmbd.impacts.impulse_result import Impulse, SolvedImpulse
from haugmbd.impacts.plain_impulse import plain_impulse
from haugmbd.model.inspection.given import model_given
from haugmbd.model.inspection.run_memory import need_no_freewheels
from haugmbd.model.model import Model
from haugmbd.model.state import State

GAIN_TOL = 1e-12
"""Relative to the kinetic energy: a smaller gain is rounding."""


@check_keywords
def impulse(
    model: Model,
    state: State | None = None,
    *,
    applied: Any = (),
    contacts: Any = (),
    close: Any = (),
    touching: bool = True,
    impact: ImpactLaw | None = None,
    tolerance: float | None = None,
) -> Impulse:
    """Return the velocities just after an impulse, and the impulses in all joints.

    Parameters
    ----------
    model : Model or System
        A System is compiled first.
    state : State, optional
        The state before the impulse; by default the modelled state.
    applied : PointImpulse, AngularImpulse, or a list of them
        Impulses from outside.
    contacts : Contact or list of Contact
        Contacts that may strike, by Newton's law of restitution, and by Coulomb's law where they have friction.
    close : joint or list of joints
        Joints between bodies of the model that close suddenly: their rows hold after the impulse.
    touching : bool
        True to require that the gap of every contact is zero; False to let contacts strike across a gap.
    impact : NewtonImpact, PoissonImpact or SequentialImpact, optional
        Law of the impact. By default all contacts strike at once by Newton's law, but a row of touching bodies that bounce strikes one
        after the other; a contact's own `law` goes before.
    tolerance : float, optional
        How far redundant rows may contradict each other [rad, or part of the size of the mechanism]; by default that of the System, see
        there. For a System only: a Model has its own.

    Returns
    -------
    Impulse
        State after the impulse, multipliers, impulses by joint and contact, energies, and messages.

    Raises
    ------
    ModelError
        If values are invalid, a contact does not touch, or a joint cannot close at this pose.  The error lists all faults.
    UsageError
        If an argument has the wrong kind, a contact is immovable, or restitutions or closed joints contradict each other.
    SingularKKTError
        If rows of the model depend on each other at this state.

    Notes
    -----
    Solves M (u+ - u-) + Phi_q^T Lam = P + C^T f with Phi_q u+ = nu, where the normal impulses f fulfil Newton's law.
    Where a contact strikes through others that are closed, as in a row of touching balls, the messages have the answers of both laws, all
    at once and one after the other; a warning says it where the law was not chosen and all strike at once.
    Impulses are solved with the same KKT factorization as accelerations.
    Sources: Haug 2021, sec. 11.3; Moreau 1988.
    """
    check_flags(touching=touching)
    check_law(impact)
    model, touched = model_given(model, "impulse", tolerance), contacts_given(contacts)
    need_no_freewheels(model, "impulse")
    if not all(contact.is_plain for contact in touched):
        return frictional_impulse(read_arguments(model, state, applied, (), close, touching), touched, touching, impact)
    found = solve_impulse(read_arguments(model, state, applied, touched, close, touching, impact))
    if found._chain.doubtful:
        warn_user(found._chain.text, RunWarning)
    return found


def solve_impulse(q: ImpulseArguments) -> Impulse:
    """Return the impulse of arguments that have been read."""
    return _with_auxiliary_rows(q) if q.contacts or q.closed.joints else _without(q)


def _without(q: ImpulseArguments) -> Impulse:
    """Return the effect of applied impulses, and of velocities that the joints do not allow, without contacts."""
    model, (state, Lam, rows, energies) = q.model, plain_impulse(q.model, q.state, q.P)
    solved = (SolvedImpulse(model.joints, rows, Lam), SolvedImpulse(q.closed.joints, q.closed.rows, np.zeros(0)))
    return Impulse(model, q.state, state, Lam, {}, {}, *energies, _pulls(model, Lam), solved)


def _with_auxiliary_rows(q: ImpulseArguments) -> Impulse:
    """Return the effect of an impulse with contacts, or with joints that close."""
    model = q.model
    factor = FactoredSystem(model, q.state)
    beside = AuxiliaryRows.of(factor, RowSet.joined(q.closed.rows, q.contact_rows))
    u = np.hstack([q.state.v, q.state.omega_bar])
    du, Lam = factor.solve(q.P, factor.rows.nu - factor.rows.of(u))
    found = solve_auxiliary_rows(q, beside, u, u + du)
    x = np.concatenate([found.mu, -found.f])
    u_plus, Lam = factor.refined(u, *beside.moved(x, u + du, Lam), q.P - beside.rows.transposed(x, model.nb + 1))
    acting = np.concatenate([np.ones(len(found.mu), dtype=bool), found.f > 0.0])
    more = beside.correction(acting, np.concatenate([q.closed.rows.nu, found.bound]), u_plus)
    u_plus, Lam = beside.moved(more, u_plus, Lam)
    before, after = kinetic_energy(model, np.stack([u, u_plus])).tolist()
    gain = _gain(q, found, u, max(before, after))
    if gain:
        warn_user(gain, EnergyWarning)
    mu, minus_f = np.split(x + more, [len(found.mu)])
    return Impulse(
        model=model,
        before=q.state,
        state=q.state.replace(v=u_plus[:, :3], omega_bar=u_plus[:, 3:]),
        Lam=Lam,
        normal={c.name: 0.0 - float(pull) for c, pull in zip(q.contacts, minus_f, strict=True)},
        closed={name: mu[e.rows] for name, e in q.closed.joints.items()},
        energy_before=before,
        energy_after=after,
        messages=(*found.remarks, *([gain] if gain else []), *_pulls(model, Lam)),
        _solved=(SolvedImpulse(model.joints, factor.rows, Lam), SolvedImpulse(q.closed.joints, q.closed.rows, mu)),
        _chain=found.chain,
    )


def _pulls(model: Model, Lam: Array) -> tuple[str, ...]:
    """Return a sentence for each joint that can only push, and whose impulse pulls."""
    return tuple(
        f"joint {name!r} can only push, and its impulse pulls with {pull:.6g} "
        f"{'N m s' if model.labels[model.joints[name].rows[0]].unit == 'rad' else 'N s'}: its bodies would part, and are held together"
        for name, pull in pulls_of(model, Lam).items()
    )


def _gain(q: ImpulseArguments, found: AuxiliarySolution, u: Array, energy: float) -> str:
    """Return a sentence if Newton's law has increased the kinetic energy of the mechanism; "" otherwise.

    The work of the normal impulses is f . (c+ + c) / 2, with c before them: that of u-, and that after the other impulses.
    """
    work = min(0.5 * float(found.f @ (found.after + c)) for c in (q.contact_rows.of(u), found.left))
    if work <= GAIN_TOL * energy:
        return ""
    names = ", ".join(repr(c.name) for c, f in zip(q.contacts, found.f, strict=True) if f > 0.0)
    law = f"Newton restitution at {names} at once raises the kinetic energy by {work:.6g} J at t = {q.state.t:g} s"
    return f"{law}: the contacts are coupled. Give them one restitution, smaller or zero, or let them strike one after the other."
