r"""A run with rigid contacts, by the kind of them.  `simulate` imports this where a model has contacts, and none of it where it has not.

MoreauJean        steps in which impacts are not located, for any contacts
friction, shapes  from event to event, with the cone of friction at each of them
plain             from event to event, without friction: normal impulses alone
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from haugmbd.contact.contact import Contact
from haugmbd.diagnostics.reaction_signals import refuse_signals
from haugmbd.integrators.events import read_events
from haugmbd.integrators.moreau_jean import MoreauJean
from haugmbd.integrators.stabilization.base import Stabilization
from haugmbd.model.model import Model
from haugmbd.model.state import State
from haugmbd.simulation.hybrid.frictional_run import run_with_friction
from haugmbd.simulation.hybrid.simulator import run_with_contacts
from haugmbd.simulation.hybrid.time_stepping import run_by_time_stepping
from haugmbd.simulation.results.result import Result
from haugmbd.simulation.results.segments import Again
from haugmbd.simulation.run_methods import RunMethods
from haugmbd.simulation.run_options import RunOutput


def run_of_contacts(
    model: Model,
    contacts: Sequence[Contact],
    start: State,
    t_end: float,
    methods: RunMethods,
    output: RunOutput,
    *,
    plain: bool,
    rule: Stabilization,
    again: Again,
    most: float,
    project_velocity: bool = False,
    budget: float | None = None,
    until: float = np.inf,
    checked: bool = False,
) -> Result:
    """Return the result of a run with rigid contacts.

    plain: whether none of them has friction or a general shape
    checked: whether the run is made again, from a state that is known to fit
    """
    run = (model, contacts, start, t_end, methods, output)
    if isinstance(methods.integrator, MoreauJean):
        return run_by_time_stepping(
            *run, project_velocity=project_velocity, budget=budget, until=until, again=again, checked=checked
        )
    limits: dict[str, Any] = {"budget": budget, "until": until, "most": most}
    if not plain:
        if not checked:
            refuse_signals(model, (*read_events(output.events), *output.sensors))
        return run_with_friction(*run, project_velocity=project_velocity, again=again, checked=checked, **limits)
    return run_with_contacts(*run, rule=rule, project_velocity=project_velocity, again=again, checked=checked, **limits)
