r"""A run with rigid contacts, by the kind of them.  `simulate` imports this where a model has contacts, and none of it where it has not.

MoreauJean        steps in which impacts are not located, for any contacts
friction, shapes  from event to event, with the cone of friction at each of them
plain             from event to event, without friction: normal impulses alone
"""

from __future__ import annotations

from collections.abc import Sequence

from haugmbd.contact.contact import Contact
from haugmbd.diagnostics.reaction_signals import refuse_signals
from haugmbd.integrators.events import read_events
from haugmbd.integrators.moreau_jean import MoreauJean
from haugmbd.simulation.hybrid.frictional_run import run_with_friction
from haugmbd.simulation.hybrid.simulator import run_with_contacts
from haugmbd.simulation.hybrid.time_stepping import run_by_time_stepping
from haugmbd.simulation.results.result import Result
from haugmbd.simulation.run_task import RunTask


def run_of_contacts(task: RunTask, contacts: Sequence[Contact], *, plain: bool) -> Result:
    """Return the result of a run with rigid contacts;  plain: whether none of them has friction or a general shape"""
    if isinstance(task.integrator, MoreauJean):
        return run_by_time_stepping(task, contacts)
    if plain:
        return run_with_contacts(task, contacts)
    if not task.repeats:
        refuse_signals(task.model, (*read_events(task.output.events), *task.output.sensors))
    return run_with_friction(task, contacts)
