"""Runs of one system with other contacts, which are its parts for that run alone."""

from __future__ import annotations

from typing import Any

import haugmbd as mbd


def simulate_with(system: mbd.System, t_end: float, *, contacts: Any, **options: Any) -> mbd.Result:
    """Return the result of `simulate` with these contacts added to the system; they are taken away after the run."""
    before = list(system.contacts)
    for contact in [contacts] if isinstance(contacts, mbd.Contact) else contacts:
        system.add(contact)
    try:
        return mbd.simulate(system, t_end, **options)
    finally:
        system.contacts[:] = before
