"""Numba's typing and target contexts with a memory: much of its time for a kernel is the search for what it has found before.

Numba tries dozens of candidates for each operation, anew for each line of each function, once to find its type and once more to write its
code. Operations of Numba itself, on the same types, always have the same result. It is kept for the functions of this package; functions of
the user are compiled as Numba does it.
"""

from __future__ import annotations

import copy
import sys
from types import BuiltinFunctionType
from typing import Any

from numba.core import types
from numba.core.compiler import Flags
from numba.core.cpu import CPUContext

from haugmbd.compiled.compiler.quick_arrays import quick_access, quick_attribute

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
