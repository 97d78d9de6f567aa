"""Numba's passes over the code of a function, without what kernels do not need.

Numba computes after many passes which variables live in which block, for generators, `with` statements and lifted loops: kernels have
none of these. Each pass is here the same without that. Other passes are left out, as they look for what no kernel has.
"""

from __future__ import annotations

from typing import Any

from numba.core import untyped_passes as untyped
from numba.core.compiler_lock import global_compiler_lock
from numba.core.compiler_machinery import PassManager, register_pass
from numba.core.errors import UnsupportedError
from numba.core.ir_utils import build_definitions
from numba.core.rewrites import rewrite_registry
from numba.core.ssa import reconstruct_ssa
from numba.core.transforms import canonicalize_cfg
from numba.core.typed_passes import IRLegalization, NopythonRewrites, PreLowerStripPhis


class QuickPasses(PassManager):  # type: ignore[misc]  # Numba has no types
    """Passes that run without the measurement of their times and without a check after each."""

    @global_compiler_lock  # type: ignore[untyped-decorator]
    def _runPass(self, index: int, one: Any, state: Any) -> None:  # noqa: N802  Numba's name
        """Run one pass."""
        one.analysis = self._analysis
        one.run_initialization(state)
        one.run_pass(state)
        one.run_finalizer(state)


@register_pass(mutates_CFG=True, analysis_only=False)
class QuickProcessing(untyped.IRProcessing):  # type: ignore[misc]
    """Loops in their normal form.  Raise UnsupportedError for a generator."""

    _name = "quick_processing"

    def run_pass(self, state: Any) -> bool:
        """Change the code in place."""
        code = state.func_ir
        if code.is_generator:
            raise UnsupportedError("a kernel must not be a generator", loc=code.loc)
        code.blocks = canonicalize_cfg(code.blocks)
        return True


@register_pass(mutates_CFG=True, analysis_only=False)
class QuickRewrites(untyped.GenericRewrites):  # type: ignore[misc]
    """Subscripts and exceptions that are constants."""

    _name = "quick_rewrites"

    def run_pass(self, state: Any) -> bool:
        """Apply each rewriting as long as it finds something."""
        code = state.func_ir
        for kind in rewrite_registry.rewrites["before-inference"]:
            rewriting, waiting = kind(state), list(code.blocks.items())
            while waiting:
                label, block = waiting.pop()
                if rewriting.match(code, block, state.typemap, state.calltypes):
                    code.blocks[label] = rewriting.apply()
                    waiting.append((label, code.blocks[label]))
        code.blocks = canonicalize_cfg(code.blocks)
        return True


@register_pass(mutates_CFG=False, analysis_only=False)
class QuickSSA(untyped.ReconstructSSA):  # type: ignore[misc]
    """Variables that are assigned once."""

    _name = "quick_ssa"

    def run_pass(self, state: Any) -> bool:
        """Change the code in place."""
        state.func_ir = reconstruct_ssa(state.func_ir)
        self._patch_locals(state)
        state.func_ir._definitions = build_definitions(state.func_ir.blocks)
        state.func_ir.blocks = canonicalize_cfg(state.func_ir.blocks)
        return True


@register_pass(mutates_CFG=False, analysis_only=False)
class QuickStripPhis(PreLowerStripPhis):  # type: ignore[misc]
    """Assignments at the ends of blocks, in place of phi nodes."""

    _name = "quick_strip_phis"

    def run_pass(self, state: Any) -> bool:
        """Change the code in place."""
        state.func_ir = self._strip_phi_nodes(state.func_ir)
        state.func_ir._definitions = build_definitions(state.func_ir.blocks)
        return True


@register_pass(mutates_CFG=True, analysis_only=False)
class QuickLegalization(IRLegalization):  # type: ignore[misc]
    """The last uses of variables, which only the counting of references needs."""

    _name = "quick_legalization"

    def run_pass(self, state: Any) -> bool:
        """Change the code in place."""
        if state.flags.nrt:
            super().run_pass(state)
        else:
            state.func_ir.blocks = canonicalize_cfg(state.func_ir.blocks)
        return True


QUICKER = {
    IRLegalization: QuickLegalization,
    untyped.IRProcessing: QuickProcessing,
    untyped.GenericRewrites: QuickRewrites,
    untyped.ReconstructSSA: QuickSSA,
    PreLowerStripPhis: QuickStripPhis,
}
LEFT_OUT = {
    untyped.WithLifting,
    untyped.InlineClosureLikes,
    untyped.MakeFunctionToJitFunction,
    untyped.FindLiterallyCalls,
    untyped.LiteralUnroll,
    untyped.LiteralPropagationSubPipelinePass,
    NopythonRewrites,
}
"""`with`, closures, `literally`, `literal_unroll`, and the fusion of array expressions: no kernel has these."""


def quick_passes(usual: Any, replaced: dict[Any, Any]) -> Any:
    """Return the passes of a manager, with some of them replaced or left out."""
    ours = QuickPasses("haugmbd")
    for kind, text in usual.passes:
        if kind not in LEFT_OUT:
            ours.add_pass({**QUICKER, **replaced}.get(kind, kind), text)
    ours.finalize()
    return ours
