"""Initial states: pose and velocities must fulfil the constraints; velocities are projected on request."""

from __future__ import annotations

import numpy as np

from haugmbd.compiled.status_codes import OK
from haugmbd.errors import ModelError
from haugmbd.formulations.error_messages import explain
from haugmbd.integrators.stabilization.projection import Projection
from haugmbd.model.inspection.constraint_rows import evaluate
from haugmbd.model.model import Model
from haugmbd.model.state import State
from haugmbd.system.checks.constraint_residuals import all_rows_hold, position_faults, state_faults, velocity_faults
from haugmbd.system.checks.function_ranges import has_ranges
from haugmbd.workspace.layout import Pack


def check_start(model: Model, state: State, *, project_velocity: bool) -> None:
    """Raise ModelError if an initial state violates the constraints (velocities: unless they may be projected).

    A state is frozen, and is checked once for a model; where a driver is a function in Python, which may change, it is checked anew.
    """
    if not project_velocity and vars(state).get("_consistent_with") is model.tables:
        return
    faults = state_faults(model, state)
    calls = model.force_callbacks.any  # functions of the user are not called to examine rows
    holds = not (faults or calls or has_ranges(model)) and all_rows_hold(model, state.t, state.flat, rates=not project_velocity)
    if not (faults or holds):
        rows = evaluate(model, state)
        faults = (*position_faults(model, state, rows), *(() if project_velocity else velocity_faults(model, state, rows)))
    if faults:
        raise ModelError(faults)
    if not (project_velocity or model.force_callbacks.driver_calls):
        vars(state)["_consistent_with"] = model.tables


def consistent_start(model: Model, pack: Pack, state: State, *, project_velocity: bool) -> State:
    """Return the initial state, checked, with its velocities projected if that is asked for."""
    check_start(model, state, project_velocity=project_velocity)
    return projected(model, pack, state) if project_velocity else state


def projected(model: Model, pack: Pack, state: State) -> State:
    """Return the nearest state, in the mass-weighted norm, that fulfils the constraints and their rates."""
    rule, y = Projection(), state.y
    code = rule.post_step(pack, rule.options(), state.t, y, np.zeros_like(y))
    if code != OK:
        model.raise_user_error(pack)
        raise explain(model, pack, code, state.t)
    return State.from_y(state.t, y, model.nb + 1)
