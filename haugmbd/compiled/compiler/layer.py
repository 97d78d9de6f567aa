"""What a layer of the compiler does for the decorators of `jit`: the whole seam between the house and Numba's compiler."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple


class Layer(NamedTuple):
    """A way to machine code.  Options are those of `numba.njit`.

    kernel(function, options): what other compiled functions contain
    inlined(function, options): what is copied into other compiled functions before LLVM
    entry(function, options): what Python calls, or a `Routine` by its address; it is kept on disk
    machine_code(entry, signature): its address for a signature, and the fastest function that enters it from Python, or None
    direct_call(entry): that function once the entry has been called with its only signature, or None
    """

    name: str
    kernel: Callable[[Callable[..., Any], dict[str, Any]], Any]
    inlined: Callable[[Callable[..., Any], dict[str, Any]], Any]
    entry: Callable[[Callable[..., Any], dict[str, Any]], Any]
    machine_code: Callable[[Any, Any], tuple[int, Callable[..., Any] | None]]
    direct_call: Callable[[Any], Callable[..., Any] | None]
