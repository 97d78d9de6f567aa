"""The inlining of `inlined` functions: each is read once, and copied to every place where it is called.

Numba reads a function anew, with all that it inlines itself, at every call.
"""

from __future__ import annotations

from functools import partial
from typing import Any

from numba.core.compiler import DefaultPassBuilder
from numba.core.compiler_machinery import PassManager, register_pass
from numba.core.untyped_passes import InlineInlinables

_read: dict[Any, Any] = {}
"""The code of the inlined functions, by function."""


@register_pass(mutates_CFG=True, analysis_only=False)
class QuickInlining(InlineInlinables):  # type: ignore[misc]  # Numba has no types
    """Numba's inlining, with a memory."""

    _name = "quick_inlining"

    def _do_work(self, state: Any, work_list: Any, block: Any, i: int, call: Any, worker: Any) -> Any:
        """Inline one call, if its function is an inlined one."""
        if "run_untyped_passes" not in vars(worker):
            worker._compiler_pipeline = _untyped_passes
            worker.run_untyped_passes = partial(_code_of, worker)
        return super()._do_work(state, work_list, block, i, call, worker)


def _untyped_passes(state: Any) -> Any:
    """Return Numba's passes before type inference, with this inlining."""
    ours = PassManager("haugmbd, untyped")
    for kind, text in DefaultPassBuilder.define_untyped_pipeline(state).passes:
        ours.add_pass(QuickInlining if kind is InlineInlinables else kind, text)
    return ours


def _code_of(worker: Any, function: Any, enable_ssa: bool = False) -> Any:
    """Return the code of an inlined function, which its callers copy."""
    worker.flags.enable_ssa = enable_ssa
    key = (function, enable_ssa)
    if key not in _read:
        _read[key] = type(worker).run_untyped_passes(worker, function, enable_ssa)
    return _read[key]
