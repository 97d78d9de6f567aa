"""Type inference that remembers what it has found: half of Numba's time for a kernel is the search for the types of x + y and a[i].

Numba tries dozens of candidates for each operation, anew for each line of each function. Operations of Numba itself, on the same types,
always have the same result. It is kept for the functions of this package; functions of the user are compiled as Numba does it.
"""

from __future__ import annotations

from typing import Any

from numba.core import types
from numba.core.compiler import Flags
from numba.core.compiler_machinery import register_pass
from numba.core.typed_passes import NopythonTypeInference

_found: dict[Any, Any] = {}
"""The signatures of Numba's own operations, by operation and types of the arguments."""


class RememberingContext:
    """Numba's typing context, with a memory for its own operations."""

    def __init__(self, context: Any) -> None:
        self._context = context

    def __getattr__(self, name: str) -> Any:
        """Return what Numba's context has."""
        return getattr(self._context, name)

    def resolve_function_type(self, function: Any, arguments: Any, keywords: Any) -> Any:
        """Return the signature of a call."""
        if keywords or not isinstance(function, types.Function):
            return self._context.resolve_function_type(function, arguments, keywords)
        key = (function, tuple(arguments))
        if key not in _found:
            _found[key] = self._context.resolve_function_type(function, arguments, keywords)
        return _found[key]


@register_pass(mutates_CFG=True, analysis_only=False)
class QuickTypeInference(NopythonTypeInference):  # type: ignore[misc]  # Numba has no types
    """Numba's type inference, with a memory."""

    _name = "quick_type_inference"

    def run_pass(self, state: Any) -> Any:
        """Infer all types."""
        context = state.typingctx
        state.typingctx = RememberingContext(context)
        try:
            return super().run_pass(state)
        finally:
            state.typingctx = context


class QuickFlags(Flags):  # type: ignore[misc]
    """The options of one compilation.  Numba compares them for each candidate of each operation; here only those that are set."""

    def __hash__(self) -> int:
        """Return the hash of the options that are set."""
        return hash(frozenset(self._values))

    def __eq__(self, other: object) -> bool:
        """Return whether the same options are set to the same values."""
        return other is self or (isinstance(other, QuickFlags) and self._values == other._values)
