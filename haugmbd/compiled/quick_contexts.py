"""Numba's typing and target contexts with a memory: much of its time for a kernel is the search for what it has found before.

Numba tries dozens of candidates for each operation, anew for each line of each function, once to find its type and once more to write its
code. Operations of Numba itself, on the same types, always have the same result. It is kept for the functions of this package; functions of
the user are compiled as Numba does it.
"""

from __future__ import annotations

import copy
import sys
from collections import Counter
from types import BuiltinFunctionType
from typing import Any

from numba.core import ir, types
from numba.core import untyped_passes as untyped
from numba.core.analysis import compute_cfg_from_blocks, compute_use_defs, must_use_alloca
from numba.core.compiler import Flags
from numba.core.compiler_lock import global_compiler_lock
from numba.core.compiler_machinery import PassManager, register_pass
from numba.core.cpu import CPUContext
from numba.core.errors import UnsupportedError
from numba.core.ir_utils import build_definitions
from numba.core.lowering import Lower
from numba.core.rewrites import rewrite_registry
from numba.core.ssa import reconstruct_ssa
from numba.core.transforms import canonicalize_cfg
from numba.core.typed_passes import IRLegalization, NopythonRewrites, PreLowerStripPhis

from haugmbd.compiled.quick_arrays import quick_access, quick_attribute

_found: dict[Any, Any] = {}
"""The signatures of Numba's own operations, by operation and types of the arguments."""
_sizes: dict[Any, int] = {}
"""The sizes of LLVM types; LLVM reads a module for each question."""
_missing: set[Any] = set()
"""Implementations that Numba looks for at each access to an array, and does not have."""
_seen: dict[Any, int] = {}
"""The number of declarations at the last refreshment of a context, by kind of context."""


def _signature(context: Any, function: Any, arguments: Any) -> Any:
    """Return the signature of one of Numba's own operations."""
    key = (function, tuple(arguments))
    if key not in _found:
        _found[key] = context.resolve_function_type(function, arguments, {})
    return _found[key]


class RememberingContext:
    """Numba's typing context, with a memory for its own operations."""

    def __init__(self, context: Any) -> None:
        self._context = context

    def __getattr__(self, name: str) -> Any:
        """Return what Numba's context has."""
        return getattr(self._context, name)

    def resolve_function_type(self, function: Any, arguments: Any, keywords: Any) -> Any:
        """Return the signature of a call."""
        if keywords or not isinstance(function, types.Function | BuiltinFunctionType):
            return self._context.resolve_function_type(function, arguments, keywords)
        return _signature(self._context, function, arguments)

    def refresh(self) -> None:
        """Look for new declarations, if there may be some."""
        if _grown(self._context):
            self._context.refresh()
            _grown(self._context)


class LoweringTypes(RememberingContext):
    """The typing context of lowering, which asks Numba's operations themselves for their signatures."""

    def resolve_value_type(self, value: Any) -> Any:
        """Return the type of a value; an operation with a memory for an operation."""
        found = self._context.resolve_value_type(value)
        return remembering(found) if type(found) is types.Function else found


class RememberingFunction(types.Function):
    """One of Numba's operations, with a memory."""

    usual: Any

    def get_call_type(self, context: Any, arguments: Any, keywords: Any) -> Any:
        """Return the signature for these types."""
        if keywords:
            return super().get_call_type(context, arguments, keywords)
        return _signature(context, self.usual, arguments)


def remembering(function: Any) -> Any:
    """Return an operation with a memory; its implementations are those of the usual one."""
    ours = object.__new__(RememberingFunction)
    vars(ours).update(vars(function), usual=function)
    return ours


class QuickContext(CPUContext):  # type: ignore[misc]
    """Numba's target context, which does not look for new declarations at every function."""

    typing_context: Any

    def refresh(self) -> None:
        """Look for new declarations, if there may be some."""
        if _grown(self):
            super().refresh()
            _grown(self)

    def compile_subroutine(self, *arguments: Any, **options: Any) -> Any:
        """Return a function that Numba writes for one of its own operations, with the usual types in it."""
        ours: Any = self.typing_context
        self.typing_context = RememberingContext(ours._context)
        try:
            return super().compile_subroutine(*arguments, **options)
        finally:
            self.typing_context = ours

    def get_abi_sizeof(self, kind: Any) -> int:
        """Return the size of an LLVM type in bytes."""
        if kind not in _sizes:
            _sizes[kind] = super().get_abi_sizeof(kind)
        return _sizes[kind]

    def get_function(self, function: Any, signature: Any, _firstcall: bool = True) -> Any:
        """Return the implementation of an operation; raise NotImplementedError if there is none."""
        quick = quick_access(self, function, signature)
        if quick is not None:
            return quick
        key = (function, signature) if isinstance(function, str) else None
        if key in _missing:
            raise NotImplementedError(f"no implementation of {function}{signature}")
        try:
            return super().get_function(function, signature, _firstcall)
        except NotImplementedError:
            if key is not None:
                _missing.add(key)
            raise

    def get_getattr(self, kind: Any, name: str) -> Any:
        """Return the implementation of an attribute; raise NotImplementedError if there is none."""
        return quick_attribute(kind, name) or super().get_getattr(kind, name)


def quick_contexts(typing: Any, target: Any) -> tuple[Any, Any]:
    """Return Numba's contexts with their memory, refreshed if there may be new declarations."""
    if type(target) is not CPUContext:  # of another target, or of a Numba that has another
        return RememberingContext(typing), target
    if _grown(target):
        take_declarations(typing, target)
    quick = copy.copy(target)
    quick.__class__, quick.typing_context = QuickContext, LoweringTypes(typing)
    return RememberingContext(typing), quick


def take_declarations(typing: Any, target: Any) -> None:
    """Let both contexts take all declarations, each once: Numba's typing context refreshes the other one for every method."""
    target.load_additional_registries()
    vars(target)["refresh"] = lambda: None
    try:
        typing.refresh()
    finally:
        del vars(target)["refresh"]
    target.refresh()
    _grown(typing)
    _grown(target)


def _grown(context: Any) -> bool:
    """Return whether there are more declarations or imported modules than at the last call for this kind of context."""
    number = len(sys.modules) + sum(len(names) for registry in context._registries for names in vars(registry).values())
    kind = isinstance(context, CPUContext)
    before, _seen[kind] = _seen.get(kind), number
    return number != before


class QuickFlags(Flags):  # type: ignore[misc]
    """The options of one compilation.  Numba compares them for each candidate of each operation; here only those that are set."""

    def __hash__(self) -> int:
        """Return the hash of the options that are set."""
        return hash(frozenset(self._values))

    def __eq__(self, other: object) -> bool:
        """Return whether the same options are set to the same values."""
        return other is self or (isinstance(other, QuickFlags) and self._values == other._values)


# Numba's passes over the code of a function, without what kernels do not need.
#
# Numba computes after many passes which variables live in which block, for generators, `with` statements and lifted loops: kernels have
# none of these. Each pass is here the same without that. Other passes are left out, as they look for what no kernel has.


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


# Numba's lowering with fewer variables on the stack.
#
# Numba keeps a variable that several blocks use on the stack, where LLVM finds out that it is a value.  Here each variable that is assigned
# once is a value in all blocks behind its assignment; blocks are written in an order in which it is known there.


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
