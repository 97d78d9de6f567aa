"""The compilers of entries and of kernels.

Kernels are called by other compiled functions only. They become part of their callers, and have no machine code of their own: Numba
would optimise each as a whole, and make machine code and an interface for Python of it, before it links it into its callers, where LLVM
optimises it again. A kernel that Python does call, as tests do, is compiled in the usual way at that moment.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numba
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import CompilerBase, DefaultPassBuilder
from numba.core.compiler_machinery import PassManager, register_pass
from numba.core.registry import CPUDispatcher
from numba.core.typed_passes import NativeLowering, NopythonRewrites, NopythonTypeInference
from numba.core.untyped_passes import InlineInlinables

from haugmbd.compiled.compiler.collection import collection_paused
from haugmbd.compiled.compiler.inlining import QuickInlining
from haugmbd.compiled.compiler.type_inference import QuickFlags, QuickTypeInference


class LinkedLibrary(JITCodeLibrary):  # type: ignore[misc]  # Numba has no types
    """The LLVM code of a kernel and of the kernels that it calls: it is linked into callers only."""

    def _optimize_functions(self, module: Any) -> None:
        """Leave optimisation to the callers."""
        module.data_layout = self._codegen._data_layout

    def _optimize_final_module(self) -> None:
        """Leave optimisation to the callers."""

    def _finalize_final_module(self) -> None:
        """Make the code ready for linking; no machine code is made."""
        self._finalize_dynamic_globals()
        self._verify_declare_only_symbols()
        self._finalized = True


class EntryLibrary(JITCodeLibrary):  # type: ignore[misc]
    """The LLVM code of an entry, optimised once: Numba's first round removes the counting of references, of which there is none."""

    def _optimize_functions(self, module: Any) -> None:
        """Leave optimisation to that of the whole."""
        module.data_layout = self._codegen._data_layout

    def _optimize_final_module(self) -> None:
        """Optimise the entry and its kernels together."""
        passes, builder = self._codegen._module_pass_manager()
        passes.run(self._final_module, builder)


@register_pass(mutates_CFG=True, analysis_only=False)
class EntryLowering(NativeLowering):  # type: ignore[misc]
    """Lower an entry to LLVM code."""

    _name = "entry_lowering"

    def run_pass(self, state: Any) -> bool:
        """Lower to a library that is optimised once."""
        if not state.flags.nrt:
            state.library = EntryLibrary(state.targetctx.codegen(), state.func_id.func_qualname)
            state.library.enable_object_caching()
        done: bool = super().run_pass(state)
        return done


@register_pass(mutates_CFG=True, analysis_only=False)
class LinkedLowering(NativeLowering):  # type: ignore[misc]
    """Lower a kernel to LLVM code, and register it for its callers."""

    _name = "linked_lowering"

    def run_pass(self, state: Any) -> bool:
        """Lower without machine code."""
        state.library = LinkedLibrary(state.targetctx.codegen(), state.func_id.func_qualname)
        state.flags.no_compile = True
        super().run_pass(state)
        lowered, key = state["cr"], object()
        state.targetctx.insert_user_function(key, lowered.fndesc, [state.library])
        state["cr"] = lowered._replace(cfunc=key)
        return True


class EntryCompiler(CompilerBase):  # type: ignore[misc]
    """Numba's compiler, with a quicker type inference."""

    replaced: Any = {InlineInlinables: QuickInlining, NopythonTypeInference: QuickTypeInference, NativeLowering: EntryLowering}
    left_out: Any = {NopythonRewrites}
    """Numba's fusion of array expressions, which no kernel has."""

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self.state.flags = QuickFlags(self.state.flags)

    def compile_extra(self, function: Any) -> Any:
        """Compile a function."""
        with collection_paused():
            return super().compile_extra(function)

    def define_pipelines(self) -> list[Any]:
        """Return Numba's passes, with some of them replaced."""
        usual, ours = DefaultPassBuilder.define_nopython_pipeline(self.state), PassManager("haugmbd")
        for kind, text in usual.passes:
            if kind not in self.left_out:
                ours.add_pass(self.replaced.get(kind, kind), text)
        ours.finalize()
        return [ours]


class KernelCompiler(EntryCompiler):
    """The same, with the lowering of kernels."""

    replaced: Any = {**EntryCompiler.replaced, NativeLowering: LinkedLowering}


class KernelDispatcher(CPUDispatcher):  # type: ignore[misc]
    """A kernel.  `options` are those of `numba.njit`."""

    def __init__(self, function: Callable[..., Any], locals: Any = None, options: Any = None) -> None:  # noqa: A002  Numba's name
        self._options = {name: value for name, value in (options or {}).items() if not name.startswith("no_c")}
        only_linked = {**self._options, "nopython": True, "boundscheck": None, "no_cpython_wrapper": True, "no_cfunc_wrapper": True}
        super().__init__(function, locals, only_linked, KernelCompiler)
        self._from_python: Any = None

    def add_overload(self, compiled: Any) -> None:
        """Store a compiled kernel; calls from Python do not find it."""
        self.overloads[tuple(compiled.signature.args)] = compiled

    def _compile_for_args(self, *arguments: Any, **_: Any) -> Any:
        """Return the function that Python calls, for Numba: compiled in the usual way."""
        if self._from_python is None:
            options = {name: value for name, value in self._options.items() if name not in ("nopython", "boundscheck")}
            self._from_python = numba.njit(**options)(self.py_func)
        return self._from_python
