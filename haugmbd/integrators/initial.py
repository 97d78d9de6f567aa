"""The door of a simulation: pose and velocities must fulfil the constraints; velocities may be repaired on request."""

from __future__ import annotations

import numpy as np

from haugmbd.errors import ModelError
from haugmbd.formulations.trouble import explain
from haugmbd.integrators.projection import Projection
from haugmbd.model.consistency import position_faults, state_faults, velocity_faults
from haugmbd.model.model import Model
from haugmbd.model.state import State
from haugmbd.model.status import OK
from haugmbd.model.tables import Pack


def consistent_start(model: Model, pack: Pack, state: State, *, repair_velocity: bool) -> State:
    """The state to start from; ModelError where pose or velocities contradict the joints (velocities: unless they may be repaired)."""
    faults = state_faults(model, state) or (
        *position_faults(model, state),
        *(() if repair_velocity else velocity_faults(model, state)),
    )
    if faults:
        raise ModelError(faults)
    return projected(model, pack, state) if repair_velocity else state


def projected(model: Model, pack: Pack, state: State) -> State:
    """The nearest state, in mass, that fulfils the constraints and their rates."""
    rule, y = Projection(), state.y
    code = rule.settle(pack, rule.options(), state.t, y, np.zeros_like(y))
    if code != OK:
        model.raise_user_error(pack)
        raise explain(model, pack, code, state.t)
    return State.from_y(state.t, y, model.nb + 1)
