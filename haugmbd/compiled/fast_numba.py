"""The fast layer: the compilers of entries and of kernels.

Kernels are called by other compiled functions only. They become part of their callers, and have no machine code of their own: Numba
would optimise each as a whole, and make machine code and an interface for Python of it, before it links it into its callers, where LLVM
optimises it again. A kernel that Python does call, as tests do, is compiled in the usual way at that moment.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numba
from llvmlite import binding as llvm  # type: ignore[import-untyped]
from numba.core.cgutils import normalize_ir_text
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import CompilerBase, DefaultPassBuilder
from numba.core.compiler_machinery import register_pass
from numba.core.registry import CPUDispatcher
from numba.core.typed_passes import NativeLowering
from numba.core.untyped_passes import InlineInlinables

from haugmbd.compiled.code_cache import keep_on_disk
from haugmbd.compiled.collection import collection_paused
from haugmbd.compiled.inlining import QuickInlining
from haugmbd.compiled.layer import DeferredKernel, Layer
from haugmbd.compiled.quick_contexts import QuickFlags, QuickLower, quick_contexts, quick_passes


class LinkedLibrary(JITCodeLibrary):  # type: ignore[misc]  # Numba has no types
    """The LLVM code of a kernel: it is linked into entries only, each of which links all kernels that it needs once."""

    def __init__(self, codegen: Any, name: str) -> None:
        super().__init__(codegen, name)
        self._linked_with_its_own = False

    def add_ir_module(self, ir_module: Any) -> None:
        """Read LLVM code; it is verified and optimised within the entry."""
        self._final_module.link_in(parsed(self._codegen, ir_module))

    def finalize(self) -> None:
        """Make the code ready for linking; no machine code is made."""
        self._raise_if_finalized()
        self._finalize_dynamic_globals()
        self._finalized = True

    def alone(self) -> Any:
        """Return the code of the kernel without that of the kernels that it calls."""
        self._ensure_finalized()
        for function in self._final_module.functions:
            if not function.is_declaration and function.linkage == llvm.Linkage.external:
                function.linkage = "linkonce_odr"
        return self._final_module

    def _get_module_for_linking(self) -> Any:
        """Return the code with that of all kernels that it calls, for a function that Numba compiles in the usual way."""
        if not self._linked_with_its_own:
            self._linked_with_its_own = True
            link(self.alone(), self)
        return self._final_module


class CountedLibrary(JITCodeLibrary):  # type: ignore[misc]
    """The LLVM code of an entry.  The kernels in it are its own, and their names are not seen from other machine code.

    Numba tells functions of one factory apart by a number, which it counts in each process. In machine code of two processes, kept on
    disk, two different ones may have the same name: as names of all, an entry would call the kernel of the other one.
    """

    def _finalize_final_module(self) -> None:
        """Hide the kernels, which are optimised by now, and make machine code."""
        for function in self._final_module.functions:
            if function.linkage == llvm.Linkage.linkonce_odr and not function.is_declaration:
                function.linkage = "internal"
        super()._finalize_final_module()


class EntryLibrary(CountedLibrary):
    """The LLVM code of an entry, optimised once: Numba's first round removes the counting of references, of which there is none."""

    def add_ir_module(self, ir_module: Any) -> None:
        """Read LLVM code; it is verified and optimised as a whole."""
        self._raise_if_finalized()
        self._final_module.link_in(parsed(self._codegen, ir_module))

    def finalize(self) -> None:
        """Link the entry with its kernels, optimise them together, and make machine code."""
        self._raise_if_finalized()
        link(self._final_module, self)
        passes, builder = self._codegen._module_pass_manager()
        passes.run(self._final_module, builder)
        self._final_module.verify()
        self._finalize_final_module()


def parsed(codegen: Any, ir_module: Any) -> Any:
    """Return the LLVM module of the text that lowering has written."""
    module = llvm.parse_assembly(normalize_ir_text(str(ir_module)))
    module.name, module.data_layout = ir_module.name, codegen._data_layout
    return module


def link(module: Any, library: Any) -> None:
    """Add to a module all kernels and Numba's own functions that a library needs, each once."""
    seen, waiting = {library}, list(library._linking_libraries)
    while waiting:
        one = waiting.pop()
        if one not in seen:
            seen.add(one)
            library._reload_init.update(one._reload_init)
            if isinstance(one, LinkedLibrary):
                waiting += one._linking_libraries
                module.link_in(one.alone(), preserve=True)
            else:
                module.link_in(one._get_module_for_linking(), preserve=True)


@register_pass(mutates_CFG=True, analysis_only=False)
class EntryLowering(NativeLowering):  # type: ignore[misc]
    """Lower an entry to LLVM code."""

    _name = "entry_lowering"
    lowering_class = QuickLower

    def run_pass(self, state: Any) -> bool:
        """Lower to a library that is optimised once, unless references are counted."""
        library = CountedLibrary if state.flags.nrt else EntryLibrary
        state.library = library(state.targetctx.codegen(), state.func_id.func_qualname)
        state.library.enable_object_caching()
        done: bool = super().run_pass(state)
        return done


@register_pass(mutates_CFG=True, analysis_only=False)
class LinkedLowering(NativeLowering):  # type: ignore[misc]
    """Lowering that translates a kernel to LLVM code and registers it for its callers."""

    _name = "linked_lowering"
    lowering_class = QuickLower

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
    """Numba's compiler, with contexts that cache signatures and operators."""

    replaced: Any = {InlineInlinables: QuickInlining, NativeLowering: EntryLowering}

    def __init__(self, typing: Any, target: Any, *arguments: Any) -> None:
        super().__init__(*quick_contexts(typing, target), *arguments)
        self.state.flags = QuickFlags(self.state.flags)

    def compile_extra(self, function: Any) -> Any:
        """Compile a function."""
        with collection_paused():
            return super().compile_extra(function)

    def define_pipelines(self) -> list[Any]:
        """Return Numba's passes, with some of them replaced."""
        return [quick_passes(DefaultPassBuilder.define_nopython_pipeline(self.state), self.replaced)]


class KernelCompiler(EntryCompiler):
    """Numba's compiler for kernels: `EntryCompiler` with the lowering of kernels."""

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


def kernel(function: Callable[..., Any], options: dict[str, Any]) -> Any:
    """Return a kernel, which becomes part of its callers."""
    return DeferredKernel(function, kernel_dispatcher, options)


def inlined(function: Callable[..., Any], options: dict[str, Any]) -> Any:
    """Return a function that `inlining` copies into its callers before LLVM."""
    return numba.njit(inline="always", **options)(function)


def kernel_dispatcher(function: Callable[..., Any], **options: Any) -> KernelDispatcher:
    """Return a kernel as Numba knows it."""
    return KernelDispatcher(function, options=options)


def entry(function: Callable[..., Any], options: dict[str, Any]) -> Any:
    """Return a function that Python or a `Routine` calls, and whose machine code is kept on disk."""
    return keep_on_disk(numba.njit(pipeline_class=EntryCompiler, **options)(function))


def machine_code(compiled: Any, signature: Any, variant: str) -> tuple[int, Any]:
    """Compile or load an entry for a signature; return its address, and the function that Python enters it by."""
    compiled.compile(signature)
    result = compiled.overloads[signature.args]
    return int(result.library.get_pointer_to_function(result.fndesc.llvm_cfunc_wrapper_name)), result.entry_point


def direct_call(compiled: Any) -> Any:
    """Return the machine code of an entry with one signature, without Numba's search for the signature, which takes 5 us."""
    overloads = list(getattr(compiled, "overloads", {}).values())
    return overloads[0].entry_point if len(overloads) == 1 else None


FAST = Layer("fast", kernel, inlined, entry, machine_code, direct_call)
