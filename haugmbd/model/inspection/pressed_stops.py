"""How the stops of a model are pressed at many states, and which of them push in a workspace."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from haugmbd.bodies.validation import for_kernels
from haugmbd.compiled.array_types import Array, Ints
from haugmbd.compiled.jit import DirectCall, entry, kernel
from haugmbd.constraints.base import Motion
from haugmbd.forces.joint_loads.joint_limit import JointLimit
from haugmbd.forces.joint_loads.joint_load import coordinate_of_row
from haugmbd.forces.registry import table_of
from haugmbd.forces.stops import BY_STATE, FREE, HELD, Pressed, Side, pressed
from haugmbd.math.euler_kernels import put_rotation
from haugmbd.model.immutable import once_per_model
from haugmbd.model.model import Model
from haugmbd.workspace import accessors as ws
from haugmbd.workspace.body_kinematics import put_angular_velocities, put_markers, update_kinematics
from haugmbd.workspace.layout import Pack, workspace_array

Flags = npt.NDArray[np.bool_]


class StopSide(NamedTuple):
    """One side of a stop.  row: of its element in the force table;  driver: the place of what a run holds"""

    side: Side
    row: int
    driver: int


@once_per_model
def places_of(model: Model) -> tuple[StopSide, ...]:
    """Return the sides of the stops and one-sided springs of a model."""
    row = int(model.tables["FORCE_KIND_STARTS"].ravel()[table_of(JointLimit)])
    places: list[StopSide] = []
    for one in model.loads:
        places += [StopSide(side, row, one.drivers[0]) for side in one.load.sides()]
        row += len(one.load.coordinates())
    return tuple(places)


class Stops:
    """The sides of the stops and one-sided springs of a model;  jumps: those alone whose force jumps.

    pack: a workspace of their own, None if there are none
    """

    def __init__(self, model: Model, *, jumps: bool = False) -> None:
        self.places = tuple(stop for stop in places_of(model) if stop.side.c > 0.0 or not jumps)
        self.sides = [stop.side for stop in self.places]
        self._rows: Ints = np.array([stop.row for stop in self.places], dtype=np.int64)
        self.pack = model.pack() if self.places else None

    def pressed(self, y: Array) -> Pressed:
        """Return how all sides are pressed at flat states y (n, ny), arrays (n, places)."""
        found = np.zeros((2, len(y), len(self.places)))
        if self.pack is not None:
            measure(self.pack, for_kernels(y), self._rows, found)
        return pressed(self.sides, *found)

    def hold(self, pack: Pack, pushes: Flags, undecided: Flags | None = None) -> None:
        """Write to a workspace which sides push, whatever the state is; for the `undecided` sides the state decides at each evaluation."""
        F = workspace_array(pack, "F")
        for stop in self.places:
            F[stop.driver, HELD] = FREE
        for k, stop in enumerate(self.places):
            if pushes[k]:
                F[stop.driver, HELD] = stop.side.held
            elif undecided is not None and undecided[k]:
                F[stop.driver, HELD] = BY_STATE


@kernel
def move_bodies(P: Pack, y: Array) -> Motion:
    """Return rotation matrices and markers at the state y, without drivers."""
    m = update_kinematics(P, 0.0, y)
    for b in range(1, m.bodies.shape[0]):
        put_rotation(m.A, b, m.bodies[b, 3], m.bodies[b, 4], m.bodies[b, 5], m.bodies[b, 6])
    put_angular_velocities(m.bodies, m.A, ws.angular_velocities(P))
    put_markers(m.body_of, ws.marker_coordinates(P), ws.angular_velocities(P), m.A, m.X)
    return m


@entry
def measure_entry(P: Pack, y: Array, rows: Ints, out: Array) -> None:
    """Write the coordinates and rates of rows of the force table at states y (n, ny) to out (2, n, rows)."""
    ints, reals = ws.force_ints(P), ws.force_reals(P)
    for n in range(y.shape[0]):
        m = move_bodies(P, y[n])
        for k in range(rows.shape[0]):
            c = coordinate_of_row(ints, reals, rows[k], m)
            out[0, n, k] = c.q
            out[1, n, k] = c.q_dot


measure = DirectCall(measure_entry)
