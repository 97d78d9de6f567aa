"""The arguments of `impulse`: all invalid values are reported in one error, by name."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np

from haugmbd.compiled.array_types import Array
from haugmbd.constraints.joint import Joint
from haugmbd.contact.contact import Contact
from haugmbd.contact.gap import Placed, placed_contacts
from haugmbd.contact.impact_laws import ImpactLaw, law_of
from haugmbd.errors import Fault, ModelError, UsageError
from haugmbd.impacts.applied_impulse import AppliedImpulse
from haugmbd.impacts.impulse_equations import RowSet
from haugmbd.impacts.joint_closure import NOTHING, Closed, as_joint, closed_rows, closing_faults
from haugmbd.model.inspection.given import model_given
from haugmbd.model.inspection.identity import foreign_body_faults, number_of
from haugmbd.model.model import Model
from haugmbd.model.state import State
from haugmbd.system.checks.constraint_residuals import state_faults
from haugmbd.system.custom_joint import JointLike
from haugmbd.tolerances import TYPED_LENGTH


class ImpulseArguments(NamedTuple):
    """The arguments in the numbering of the model: applied impulses P (nb + 1, 6), contacts and their rows, suddenly closed joints."""

    model: Model
    state: State
    P: Array
    contacts: tuple[Placed, ...]
    contact_rows: RowSet
    closed: Closed
    law: ImpactLaw | None = None


def read_arguments(
    model: Model, state: State | None, applied: Any, contacts: Any, close: Any, touching: bool, law: ImpactLaw | None = None
) -> ImpulseArguments:
    """Read the arguments of `impulse`.  Raise ModelError with all invalid values, UsageError for a wrong kind of argument."""
    model = model_given(model, "impulse")
    if not isinstance(state, State | None):
        raise UsageError(f"impulse needs a State, got {state!r}. Start from model.state().")
    state = model.state() if state is None else state
    blows: tuple[AppliedImpulse, ...] = _all_of(AppliedImpulse, "applied", "PointImpulse or AngularImpulse", applied)
    touched: tuple[Contact, ...] = _all_of(Contact, "contacts", "Contact", contacts)
    joints = tuple(as_joint(part, model.bodies[0]) for part in _several(close, (Joint, JointLike), "close"))
    faults = [*state_faults(model, state), *_part_faults(model, blows, touched, joints)]
    if faults:
        raise ModelError(faults)
    P = np.zeros((model.nb + 1, 6))
    for blow in blows:
        k = number_of(model, blow.body)
        P[k] += blow.generalized(state.p[k])
    placed = tuple(contact.placed(model) for contact in touched)
    if touching:
        _need_touching(model, state, placed)
    own = law_of(((one.name, one.law) for one in touched), law, f" at t = {state.t:.9g} s")
    return ImpulseArguments(model, state, P, placed, _contact_rows(state, placed), closed_rows(model, state, joints), own)


def contacts_given(contacts: Any) -> tuple[Contact, ...]:
    """Return the contacts as a tuple.  Raise UsageError for another kind of part, ModelError for invalid values."""
    given: tuple[Contact, ...] = _all_of(Contact, "contacts", "Contact", contacts)
    faults = [fault for contact in given if not contact.is_plain for fault in contact.faults()]
    if faults:
        raise ModelError(faults)
    return given


def _part_faults(
    model: Model, blows: tuple[AppliedImpulse, ...], contacts: tuple[Contact, ...], joints: tuple[Joint, ...]
) -> list[Fault]:
    """Return the faults of the parts, and names that are used twice."""
    faults: list[Fault] = []
    for blow in blows:
        faults += blow.faults() or foreign_body_faults(model, blow.where, blow.body)
    for contact in contacts:
        faults += contact.faults() or foreign_body_faults(model, f"contact {contact.name!r}", contact.i, contact.j)
    faults += closing_faults(model, joints)
    if len(blows) < 2 and not contacts and not joints and all(isinstance(b.name, str) and b.name.strip() for b in blows):
        return faults
    groups = (("impulse", [b.name for b in blows]), ("contact", [c.name for c in contacts]), ("joint", [j.name for j in joints]))
    for kind, names in groups:
        faults += [
            Fault(f"{kind} {name!r}", "the name is empty or not a string", f'Give each {kind} a name, such as "blow".')
            for name in names
            if not (isinstance(name, str) and name.strip())
        ]
    for kind, names in groups[1:]:
        faults += [
            Fault(f"{kind} {name!r}", f"the name is used {n} times", "Results are found by name: give each part its own.")
            for name, n in Counter(map(str, names)).items()
            if n > 1
        ]
    return faults


def _need_touching(model: Model, state: State, contacts: tuple[Placed, ...]) -> None:
    """Raise ModelError for contacts whose gap is not zero."""
    if not contacts:
        return
    allowed = TYPED_LENGTH * model.length
    faults = []
    for c, gap in zip(contacts, placed_contacts(contacts).gaps(state.y[None])[0].tolist(), strict=True):
        if abs(gap) > allowed:
            how = "apart" if gap > 0.0 else "one inside the other"
            what = f"its gap is {gap:.6g} m at t = {state.t:g} s (allowed {allowed:.2g} m): the bodies are {how}"
            faults.append(
                Fault(f"contact {c.name!r}", what, "Strike where the gap is zero; touching=False takes the contact as it is.")
            )
    if faults:
        raise ModelError(faults)


def _contact_rows(state: State, contacts: tuple[Placed, ...]) -> RowSet:
    """Return C of all contacts."""
    if not contacts:
        return NOTHING.rows
    placed = placed_contacts(contacts)
    return RowSet(placed.bodies, placed.rows(state.y), np.zeros(len(contacts)))


def _all_of(kind: type[Any], label: str, words: str, given: Any) -> tuple[Any, ...]:
    """Return the parts, all of one kind.  Raise UsageError for another kind."""
    parts = _several(given, kind, label)
    for part in parts:
        if not isinstance(part, kind):
            raise UsageError(f"{label} takes {words} objects, got {part!r}.")
    return parts


def _several(given: Any, kind: type[Any] | tuple[type[Any], ...], label: str) -> tuple[Any, ...]:
    """Return the argument as a tuple; a single part becomes a tuple of one."""
    if type(given) in (tuple, list):
        return tuple(given)
    if isinstance(given, kind):
        return (given,)
    if isinstance(given, str) or not isinstance(given, Iterable):
        raise UsageError(f"{label} is {given!r}: give a tuple or list of objects.")
    return tuple(given)
