"""The joints of each block of the graph of bodies."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from haugmbd.compiled.array_types import Ints
from haugmbd.graph import Blocks
from haugmbd.model.labels import JointEntry, JointFrames, entries_at
from haugmbd.system.checks.constraint_residuals import Flags


@dataclass(frozen=True, eq=False)
class JointsOfBlocks:
    """The joints of a model by blocks: made only of the blocks whose joints are asked for.

    frames: of all joints;  block: (nj,) block of each joint, -1 for none: the rows of a custom joint may act between other bodies than
    its frames;  count: (blocks,) number of joints of each block
    """

    entries: Mapping[str, JointEntry]
    frames: JointFrames
    block: Ints
    count: Ints

    def alone(self) -> Ints:
        """Return the numbers of the joints that are alone in their block."""
        alone: Ints = np.flatnonzero((self.block >= 0) & (self.count[self.block] == 1))
        return alone

    def of(self, chosen: Flags) -> dict[int, list[JointEntry]]:
        """Return the joints of the chosen blocks (blocks,), in their order, by the number of the block."""
        found: dict[int, list[JointEntry]] = {k: [] for k in np.flatnonzero(chosen).tolist()}
        numbers = np.flatnonzero((self.block >= 0) & chosen[self.block]) if found else np.zeros(0, dtype=np.int64)
        for entry, k in zip(entries_at(self.entries, numbers.tolist()), self.block[numbers].tolist(), strict=True):
            found[k].append(entry)
        return found


def joints_of_blocks(entries: Mapping[str, JointEntry], frames: JointFrames, blocks: Blocks) -> JointsOfBlocks:
    """Return the joints by blocks."""
    block = blocks.of_pairs(frames.i, frames.j)
    return JointsOfBlocks(entries, frames, block, np.bincount(block[block >= 0], minlength=len(blocks.blocks)))
