"""The initial model of an analysis: compiled even if its pose does not fit, and moved to another state."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np

from haugmbd.bodies.body import Body
from haugmbd.compiled.array_types import Array, Ints
from haugmbd.math.body_columns import EULER, VELOCITY
from haugmbd.math.euler_parameters import rotation_matrix
from haugmbd.model.immutable import once_per_model
from haugmbd.model.inspection.given import need_state, no_model, no_tolerance
from haugmbd.model.model import Model
from haugmbd.model.state import State
from haugmbd.redundancy.redundancy import redundant_at
from haugmbd.system.checks.constraint_residuals import need_sound_state
from haugmbd.system.system import System
from haugmbd.tolerances import CONTRADICTION


def compiled(system: System | Model, who: str, tolerance: float | None = None) -> Model:
    """Return the model, compiled even if its pose does not fit. Raise UsageError, which names the function `who`, for another type."""
    if isinstance(system, Model):
        no_tolerance(tolerance)
        return system
    if isinstance(system, System):
        return system.compile(check_pose=False, tolerance=tolerance)
    raise no_model(system, who)


def start_of(model: Model, state: State | None) -> State:
    """Return the initial state, by default the modelled one. Raise UsageError or ModelError if it is not a state of this model."""
    if state is None:
        return model.state()
    return need_sound_state(model, need_state(state))


def beginning_at(model: Model, state: State) -> Model:
    """Return the same model, with `state` as its modelled state."""
    y0 = state.y
    y0.flags.writeable = False
    return replace(model, y0=y0)


def counted_from(model: Model, modelled: Model) -> Model:
    """Return the model, whose coordinates of joints are counted from the modelled pose of `modelled`, as those of drivers and loads are."""
    return beginning_at(model, modelled.state())


def examined(model: Model, limit: float = CONTRADICTION) -> Model:
    """Return the model without the rows that are dependent at its pose; unchanged if the pose is singular.

    limit: misfit up to which rows are redundant, unless a tolerance was given
    """
    if not model.nc:
        return model
    other = redundant_at(model, model.state(), limit)
    return model if other.redundancy.only_here or other.redundancy.flat else other


def with_angles(model: Model, state: State) -> State:
    """Return the state with the integrated joint angles of its pose, nearest to those of `state`."""
    angles = state.angles.copy()
    follow_angles(model, np.hstack([state.r, state.p, state.v, state.omega_bar]), angles)
    return state.replace(angles=angles)


def follow_angles(model: Model, bodies: Array, angles: Array) -> None:
    """Write the angles of the poses `bodies` (nb + 1, 13), each in the turn nearest to its last value; touch speeds of contacts stay."""
    counted = counted_angles(model)
    if not len(counted.columns):
        return
    A = rotation_matrix(bodies[:, EULER:VELOCITY])
    e, n, v = (np.einsum("kab,kb->ka", A[counted.bodies[:, side]], counted.vectors[:, side]) for side in range(3))
    q = np.arctan2(np.sum(n * v, axis=1), np.sum(e * v, axis=1)) - counted.offset
    angles[counted.columns] = q + 2.0 * np.pi * np.floor((angles[counted.columns] - q) / (2.0 * np.pi) + 0.5)


class CountedAngles(NamedTuple):
    """Angles that are integrated, q = atan2(n . v, e . v) - offset:  bodies: (k, 3) of e, n, v;  vectors: (k, 3, 3), body frames."""

    bodies: Ints
    vectors: Array
    offset: Array
    columns: Ints


@once_per_model
def counted_angles(model: Model) -> CountedAngles:
    """Return those of rotational springs and of joint coordinates."""
    number = {id(body): k for k, body in enumerate(model.bodies)}
    angles: list[tuple[tuple[tuple[Body, Array], ...], float, int]] = []
    for entry in model.loads:
        if entry.load.turn_markers():
            angles.append((entry.load.turn_markers(), 0.0, entry.angle))
    angles += [(coordinate.markers(), coordinate.modelled() - coordinate.q0, column) for coordinate, column in model.angles]
    return CountedAngles(
        np.array([[number[id(body)] for body, _ in markers] for markers, _, _ in angles], dtype=np.int64).reshape(-1, 3),
        np.array([[vector for _, vector in markers] for markers, _, _ in angles]).reshape(-1, 3, 3),
        np.array([offset for _, offset, _ in angles]),
        np.array([column for _, _, column in angles], dtype=np.int64),
    )
