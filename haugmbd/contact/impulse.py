r"""Impulses in maximal coordinates: one factor of the augmented matrix, one back-substitution for each equation beside it,
and one that takes the rounding off the answer.

    M (u+ - u-) + Phi_q^T Lam + E^T mu = P + C^T f           Phi_q u+ = nu
    E u+ = nu_E          joints that close suddenly
    C u+ >= b,  f >= 0,  f . (C u+ - b) = 0,  b = max(0, -e C u-)          contacts, by Newton's law

    K (du0, Lam0) = (P, nu - Phi_q u-)       K = [ M Phi_q^T; Phi_q 0 ],  factored once;  E and C by `auxiliary_rows`

Without anything applied this is the projection of u- on the velocities that the joints allow, the nearest in mass.
Source: Haug sec. 11.3; Moreau (1988); the same matrix as in `formulations.newton_euler`.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from haugmbd.compiled.array_types import Array
from haugmbd.contact.auxiliary_rows import AuxiliaryRows, AuxiliarySolution, solve_auxiliary_rows
from haugmbd.contact.impulse_arguments import ImpulseArguments, read_arguments
from haugmbd.contact.impulse_equations import FactoredSystem, RowSet
from haugmbd.contact.impulse_result import Impulse, SolvedImpulse
from haugmbd.deprecated import check_keywords
from haugmbd.errors import EnergyWarning
from haugmbd.model.model import Model
from haugmbd.model.state import State

GAIN_TOL = 1e-12
"""Of the kinetic energy: a gain above it is not rounding."""


@check_keywords
def impulse(
    model: Model, state: State | None = None, *, applied: Any = (), contacts: Any = (), close: Any = (), touching: bool = True
) -> Impulse:
    """Return the velocities just after an impulse at `state` (by default the modelled one), and the impulses in all joints.

    applied: PointImpulse and AngularImpulse objects;  contacts: Contact objects that may strike, with Newton restitution
    close: joints between bodies of the model whose rows engage from now on;  touching: False to let contacts strike across a gap
    Raises ModelError for all bad values at once, UsageError for wrong kinds, a contact that nothing gives way to, bounds or closed
    joints that contradict each other, SingularKKTError where the model's own rows depend on one another.
    """
    q = read_arguments(model, state, applied, contacts, close, touching)
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
    before, after = kinetic(model, u), kinetic(model, u_plus)
    gain = _gain(q, found, u, max(before, after))
    if gain:
        warnings.warn(gain, EnergyWarning, stacklevel=2)
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
        messages=(*found.remarks, *([gain] if gain else [])),
        _answered=(SolvedImpulse(model.joints, factor.rows, Lam), SolvedImpulse(q.closed.joints, q.closed.rows, mu)),
    )


def kinetic(model: Model, u: Array) -> float:
    """The kinetic energy [J] of velocities u (nb + 1, 6)."""
    spin = np.einsum("ka,kab,kb->", u[:, 3:], model.J_bar, u[:, 3:])
    return 0.5 * float(np.einsum("k,ka,ka->", model.mass, u[:, :3], u[:, :3]) + spin)


def _gain(q: ImpulseArguments, found: AuxiliarySolution, u: Array, energy: float) -> str:
    """A sentence where Newton's law has put kinetic energy into the mechanism; "" where it has not.

    The work of the normal impulses is f . (c+ + c) / 2, c before them; both with c of u- and with what the other impulses have made of it.
    """
    work = min(0.5 * float(found.f @ (found.after + c)) for c in (q.contact_rows.of(u), found.left))
    if work <= GAIN_TOL * energy:
        return ""
    names = ", ".join(repr(c.name) for c, f in zip(q.contacts, found.f, strict=True) if f > 0.0)
    law = f"Newton restitution at {names} at once raises the kinetic energy by {work:.6g} J at t = {q.state.t:g} s"
    return f"{law}: the contacts are coupled. Give them one e, smaller or zero, or let them strike one after the other."
