"""simulate_impacts: the older name of `simulate` for a system with contacts that are not its parts."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from haugmbd.contact.contact import Contact
from haugmbd.deprecated import check_keywords, warn_deprecated
from haugmbd.errors import UsageError
from haugmbd.simulation.results.result import Result
from haugmbd.simulation.simulate import simulate
from haugmbd.system.system import System


@check_keywords
def simulate_impacts(system: System, t_end: float, *, contacts: Iterable[Contact] | Contact, **options: Any) -> Result:
    """Simulate a system with contacts that are not its parts: deprecated, add them to the system.

    Parameters
    ----------
    system : System
        The system, to whose contacts these are added for this run.
    t_end : float
        End time [s].
    contacts : Contact or list of Contact
        The contacts.
    **options
        As of `simulate`.

    Returns
    -------
    Result
        The result of `simulate`.

    Raises
    ------
    UsageError
        For invalid arguments. Other errors as of `simulate`.

    Warns
    -----
    DeprecationWarning
        Always: write `system.add(contact)`, and `simulate(system, t_end, ...)`.
    """
    warn_deprecated("simulate_impacts(contacts=) is now system.add(contact) for each contact, and simulate(system, t_end, ...)", 2)
    if not isinstance(system, System):
        raise UsageError(f"simulate_impacts got {system!r}, and needs a System: a contact that closes is a row of a new model.")
    given = _read_contacts(contacts)
    tolerance = options.pop("tolerance", None)
    model = system.compile() if tolerance is None else system.compile(tolerance=tolerance)
    return simulate(model.changed(contacts=(*model.contacts, *given)), t_end, **options)


def _read_contacts(contacts: Any) -> tuple[Contact, ...]:
    """Return the contacts as a tuple.  Raise UsageError if an element is not a Contact."""
    if isinstance(contacts, Contact):
        return (contacts,)
    if not isinstance(contacts, Iterable):
        raise UsageError(f"contacts = {contacts!r} must be a list of Contact objects: contacts=[Contact('floor', ...)].")
    given = tuple(contacts)
    for contact in given:
        if not isinstance(contact, Contact):
            raise UsageError(f"contacts has {contact!r}, which is not a Contact: give Contact(name, i, j, point=..., normal=...).")
    if not given:
        raise UsageError("contacts is empty: give Contact objects, or use simulate.")
    return given
