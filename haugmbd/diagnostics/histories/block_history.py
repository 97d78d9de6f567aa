"""States and outputs of a block over time, recomputed from the stored states."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from haugmbd.bodies.validation import read_only
from haugmbd.compiled.array_types import Array
from haugmbd.deprecated import NamesMeant, public_class
from haugmbd.model.labels import named, no_such
from haugmbd.model.model import Model


@public_class
@dataclass(frozen=True, eq=False)
class BlockHistory(NamesMeant):
    """The states and outputs of one block at all stored states.

    Attributes
    ----------
    block : str
        Name of the block.
    t : ndarray, (nt,)
        Times [s].
    x : ndarray, (nt, n)
        States; of a sampled block the values that it holds, at a time of a call those after it.
    outputs : mapping of str to ndarray, (nt,) or (nt, n)
        Outputs by name, as the functions of the block give them.
    """

    block: str
    t: Array
    x: Array
    outputs: Mapping[str, Array]

    def __getitem__(self, output: str) -> Array:
        """Return an output over time. Raise UsageError if there is none of that name."""
        return named("output", output, self.outputs)

    def __repr__(self) -> str:
        return f"BlockHistory of {self.block!r}: {self.x.shape[1]} states, {', '.join(self.outputs)}, {len(self.t)} instants"


def block_history(model: Model, t: Array, y: Array, name: str) -> BlockHistory:
    """Return the states and outputs of a block at the states y (nt, ny); outputs are NaN where a state is not finite.

    Raises
    ------
    UsageError
        If there is no block of that name.
    """
    network = model.network
    others = {"result.load": [entry.load.name for entry in model.loads]}
    if network is None:
        raise no_such("block", name, (), others)
    block = named("block", name, {block.name: block for block in network.blocks}, others)
    finite = np.isfinite(y).all(axis=1)
    values = network.over_time(t[finite], y[finite], [f"{name}.{output}" for output in block.outputs])
    outputs = {}
    for output in block.outputs:
        some = values[f"{name}.{output}"]
        whole = np.full((len(t), *some.shape[1:]), np.nan)
        whole[finite] = some
        outputs[output] = read_only(whole)
    return BlockHistory(name, t, read_only(y[:, network.columns(block, y)].copy()), outputs)


def block_names(model: Model) -> tuple[str, ...]:
    """Return the names of the blocks of a model."""
    return () if model.network is None else tuple(block.name for block in model.network.blocks)
