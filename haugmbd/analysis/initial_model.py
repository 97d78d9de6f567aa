"""The initial model of an analysis: compiled even if its pose does not fit, and moved to another state."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from haugmbd.errors import ModelError
from haugmbd.model.inspection.given import need_state, no_model
from haugmbd.model.model import Model
from haugmbd.model.state import State
from haugmbd.redundancy.redundancy import redundant_at
from haugmbd.system.checks.constraint_residuals import state_faults
from haugmbd.system.system import System


def compiled(system: System | Model, who: str) -> Model:
    """Return the model, compiled even if its pose does not fit. Raise UsageError, which names the function `who`, for another type."""
    if isinstance(system, Model):
        return system
    if isinstance(system, System):
        return system.compile(check_pose=False)
    raise no_model(system, who)


def start_of(model: Model, state: State | None) -> State:
    """Return the initial state, by default the modelled one. Raise UsageError or ModelError if it is not a state of this model."""
    if state is None:
        return model.state()
    faults = state_faults(model, need_state(state))
    if faults:
        raise ModelError(faults)
    return state


def beginning_at(model: Model, state: State) -> Model:
    """Return the same model, with `state` as its modelled state."""
    y0 = state.y
    y0.flags.writeable = False
    return replace(model, y0=y0)


def counted_from(model: Model, own: Model) -> Model:
    """Return the model, whose coordinates of joints are counted from the modelled pose of `own`, as those of drivers and loads are."""
    return beginning_at(model, own.state())


def examined(model: Model) -> Model:
    """Return the model without the rows that are dependent at its pose; unchanged if the pose is singular."""
    if not model.nc:
        return model
    other = redundant_at(model, model.state())
    return model if other.redundancy.only_here or other.redundancy.flat else other


def with_angles(model: Model, state: State) -> State:
    """Return the state with the integrated joint angles of its pose, nearest to those of `state`."""
    angles = state.angles.copy()
    bodies = np.hstack([state.r, state.p, state.v, state.omega_bar])
    for entry in model.loads:
        if entry.load.angles:
            places = bodies[list(entry.bodies)][:, None]
            own = slice(entry.angle, entry.angle + entry.load.angles)
            angles[own] = entry.load.arguments(places, angles[own])[0]
    for coordinate, k in model.angles:
        states = {body: bodies[model.bodies.index(body)] for body, _ in coordinate.markers()}
        angles[k] = coordinate.angle_near(states, float(angles[k]))
    return state.replace(angles=angles)
