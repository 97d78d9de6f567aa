r"""The energy balance, element by element, recomputed from stored states.

d(T + V)/dt = applied - dissipated                summed over all force elements, gravity in V, and joints that do no work
"""

from __future__ import annotations

import importlib

import numpy as np
import numpy.typing as npt

from haugmbd.compiled.array_types import Array
from haugmbd.control.output_values import with_outputs
from haugmbd.forces.base import EnergyLedger, ForceElement
from haugmbd.forces.friction.joint_friction import JointFriction
from haugmbd.model.compiling.loads import LoadEntry
from haugmbd.model.model import Model
from haugmbd.workspace.layout import WIDTH


def load_ledger(model: Model, t: npt.ArrayLike, y: npt.ArrayLike) -> dict[str, EnergyLedger]:
    """Return, by element name, (potential [J], dissipated power [W], applied power [W]), each (nt,), at states y (nt, ny).

    Functions of the user are called at every state; their exceptions are raised with a note that names the element.
    """
    times, states = np.asarray(t, dtype=np.float64), np.asarray(y, dtype=np.float64)
    n = model.nb + 1
    bodies = np.swapaxes(states[:, : WIDTH * n].reshape(len(times), n, WIDTH), 0, 1)
    friction = {}
    if any(isinstance(entry.load, JointFriction) for entry in model.loads):  # it needs multipliers: they stand above this package
        friction = importlib.import_module("haugmbd.formulations.friction_forces").friction_over_time(model, times, states)
    return {
        entry.load.name: entry.load.dissipation(friction[entry.load.name].power)
        if isinstance(entry.load, JointFriction)
        else with_known_outputs(model, entry, times, states).ledger(
            times, bodies[list(entry.bodies)], own_states(model, entry, states)
        )
        for entry in model.loads
    }


def with_known_outputs(model: Model, entry: LoadEntry, t: Array, y: Array) -> ForceElement:
    """Return a force element with the values that outputs of blocks have at states y (nt, ny), in place of the outputs."""
    network = model.network
    return entry.load if network is None else with_outputs(entry.load, lambda output: network.output_over_time(t, y, output))


def own_states(model: Model, entry: LoadEntry, y: Array) -> Array:
    """Return the integrated angles of a load, or its internal states (nt, n), at states y (nt, ny); zeros (nt,) if it has neither."""
    n = len(entry.load.states())
    if n:
        first = y.shape[1] - model.n_states + entry.state
        return y[:, first : first + n]
    return entry.own_angles(y[:, WIDTH * (model.nb + 1) :])
