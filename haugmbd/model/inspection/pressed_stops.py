"""How the stops of a model are pressed at many states, and which of them touch or let go there."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from haugmbd.compiled.array_types import Array
from haugmbd.forces.joint_loads.joint_load import JointLoad
from haugmbd.forces.joint_loads.stops import BY_STATE, FREE, HELD, Pressed, Side
from haugmbd.model.compiling.loads import LoadEntry
from haugmbd.model.model import Model
from haugmbd.workspace.layout import WIDTH, Pack, workspace_array

Flags = npt.NDArray[np.bool_]


class Place(NamedTuple):
    """One side of a stop, and its element."""

    entry: LoadEntry
    side: Side


def places_of(model: Model) -> list[Place]:
    """Return the sides of all stops and one-sided springs."""
    loads = [(entry, entry.load) for entry in model.loads]
    return [Place(entry, side) for entry, load in loads if isinstance(load, JointLoad) for side in load.sides()]


def pressed(model: Model, places: list[Place], y: Array) -> Pressed:
    """Return how the sides are pressed at flat states y (n, ny), arrays (n, places)."""
    n = model.nb + 1
    bodies, tail = np.swapaxes(y[:, : WIDTH * n].reshape(len(y), n, WIDTH), 0, 1), y[:, WIDTH * n :]
    found, moved = [], {}
    for entry, side in places:
        if entry.load.name not in moved:
            moved[entry.load.name] = entry.load.motion(bodies[list(entry.bodies)], entry.own_angles(tail))  # type: ignore[attr-defined]
        q, q_dot = moved[entry.load.name]
        found.append(side.pressed(q[:, 0], q_dot[:, 0]))
    return Pressed(*(np.stack(arrays, axis=1) for arrays in zip(*found, strict=True)))


def hold(pack: Pack, places: list[Place], pushes: Flags, undecided: Flags | None = None) -> None:
    """Write to a workspace which sides push: they do so, and the others do not, whatever the state; but it decides on the undecided."""
    F = workspace_array(pack, "F")
    for entry, _ in places:
        F[entry.drivers[0], HELD] = FREE
    for k, (entry, side) in enumerate(places):
        if pushes[k]:
            F[entry.drivers[0], HELD] = side.held
        elif undecided is not None and undecided[k]:
            F[entry.drivers[0], HELD] = BY_STATE
