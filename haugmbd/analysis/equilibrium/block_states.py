r"""The states of blocks in a balance and in small motions: their places in y, and their rates.

    z' = f(t, q, u, z)           0 in an equilibrium;  z moves with the bodies in small motions

The turns that joint angles count for blocks are not states of their own here: they follow the pose. States that nothing depends on, such as
the integral of a PID without ki, are left out.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from haugmbd.compiled.array_types import Array, Ints
from haugmbd.control.joint_signal import JointPlaces, measure_joint
from haugmbd.errors import UsageError
from haugmbd.model.model import Model
from haugmbd.workspace.internal_states import RATE
from haugmbd.workspace.layout import Pack, workspace_array

ROUNDED = 1e-9
"""Size of a state that says nothing about its unit: it may be what rounding leaves of zero."""


class BlockStates(NamedTuple):
    """The states of the blocks of a model.

    columns: (ns,) of y;  lines: (ns,) of the driver table;  names: of each state;  typical: (ns,) size, 1 where none is known
    turns: columns of y that count the turns of a joint angle, and the joint's numbers
    """

    columns: Ints
    lines: Ints
    names: tuple[str, ...]
    typical: Array
    turns: tuple[tuple[int, JointPlaces], ...]


NO_STATES = BlockStates(np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64), (), np.zeros(0), ())


def block_states(model: Model, y: Array) -> BlockStates:
    """Return the states of the blocks; y: the state whose values are typical. Raise UsageError for states without a rate of their own."""
    _refuse_others(model)
    network = model.network
    if network is None:
        return NO_STATES
    first, integrated = network.first(model.y0), np.flatnonzero(network.integrated)
    counted = {turn: places for places, turn in network.coordinates.values() if turn >= 0}
    unused = {first_of + k for block, first_of in network.at.items() for k in block.unused_states}
    integrated = integrated[[k not in counted and k not in unused for k in integrated.tolist()]]
    names = {first_of + k: f"x[{k}] of {block.where}" for block, first_of in network.at.items() for k in range(block.states)}
    typical = np.maximum(np.abs(y[first + integrated]), np.abs(model.y0[first + integrated]))
    return BlockStates(
        first + integrated,
        network.place + integrated,
        tuple(names[k] for k in integrated.tolist()),
        np.where(typical > ROUNDED, typical, 1.0),
        tuple((first + turn, places) for turn, places in sorted(counted.items(), key=lambda item: item[0])),
    )


def rates_of(states: BlockStates, pack: Pack) -> Array:
    """Return z' (ns,) as they were evaluated last."""
    return np.asarray(workspace_array(pack, "F")[states.lines, RATE])


def count_turns(states: BlockStates, y: Array) -> None:
    """Write the angles that blocks read at the pose of y, each in the turn nearest to its last value."""
    for column, places in states.turns:
        y[column] = measure_joint(y, places, float(y[column]))[0]


def _refuse_others(model: Model) -> None:
    """Raise UsageError, with the names, if there are internal states of force elements, sampled blocks or delays."""
    what = "an equilibrium, or a linearization,"
    loads = [entry.load.where for entry in model.loads if entry.load.states()]
    if loads:
        raise UsageError(
            f"{what} does not solve for the internal states of force elements, and this model has those of {', '.join(loads)}. "
            "Give friction without bristles, or simulate."
        )
    network = model.network
    held = [] if network is None else [block.where for block in (*network.sampled, *network.delays)]
    if held:
        raise UsageError(
            f"{what} needs states with a rate, and {', '.join(held)} {'has' if len(held) == 1 else 'have'} none: they are held, or "
            "come from the past. Give a Block with the derivative of the continuous law, or simulate."
        )
