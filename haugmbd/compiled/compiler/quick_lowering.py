"""Numba's lowering with fewer variables on the stack.

Numba keeps a variable that several blocks use on the stack, where LLVM finds out that it is a value.  Here each variable that is assigned
once is a value in all blocks behind its assignment; blocks are written in an order in which it is known there.  References are not counted.
"""

from __future__ import annotations

from collections import Counter
from typing import Any

from numba.core import ir
from numba.core.analysis import compute_cfg_from_blocks, compute_use_defs, must_use_alloca
from numba.core.lowering import Lower


class QuickLower(Lower):  # type: ignore[misc]  # Numba has no types
    """The lowering of a function in which references are not counted; of others it is Numba's."""

    def _find_singly_assigned_variable(self) -> None:
        """Find the variables that are values."""
        if self.context.enable_nrt:
            super()._find_singly_assigned_variable()
            return
        self._singly_assigned_vars = known_values(self.blocks)
        self._blk_local_varmap: dict[str, Any] = {}

    def lower_function_body(self) -> Any:
        """Write all blocks, each behind those that it is only reached through; return the block that leads to the first."""
        if self.context.enable_nrt:
            return super().lower_function_body()
        for label in self.blocks:
            self.blkmap[label] = self.function.append_basic_block(f"B{label}")
        self.pre_lower()
        start = self.builder.basic_block
        order = compute_cfg_from_blocks(self.blocks).topo_order()
        for label in [*order, *(self.blocks.keys() - set(order))]:
            self.builder.position_at_end(self.blkmap[label])
            self.lower_block(self.blocks[label])
        self.post_lower()
        return start

    def storevar(self, value: Any, name: str, argidx: int | None = None) -> None:
        """Store a variable; the value before it is not read, as none of its references are given back."""
        if self.context.enable_nrt or name in self._singly_assigned_vars:
            super().storevar(value, name, argidx)
        else:
            self.builder.store(value, self.getvar(name))


def known_values(blocks: dict[int, Any]) -> set[str]:
    """Return the variables that are assigned once, in a block through which all blocks that use them are reached."""
    dominators = compute_cfg_from_blocks(blocks).dominators()
    use_defs, on_stack = compute_use_defs(blocks), must_use_alloca(blocks)
    times = Counter(statement.target.name for block in blocks.values() for statement in block.find_insts(ir.Assign))
    used: dict[str, set[int]] = {}
    for label, names in use_defs.usemap.items():
        for name in names:
            used.setdefault(name, set()).add(label)
    return {
        name
        for label, names in use_defs.defmap.items()
        for name in names
        if times[name] == 1
        and name not in on_stack
        and all(other != label and label in dominators.get(other, ()) for other in used.get(name, ()))
    }
