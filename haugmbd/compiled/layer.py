"""What a layer of the compiler does for the decorators of `jit`: the whole seam between the house and Numba's compiler."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property, update_wrapper
from typing import Any, NamedTuple

from haugmbd.compiled.numba_names import typeof_impl


class Layer(NamedTuple):
    """A way to machine code.  Options are those of `numba.njit`.

    kernel(function, options): what other compiled functions contain
    inlined(function, options): what is copied into other compiled functions before LLVM
    entry(function, options): what Python calls, or a `Routine` by its address; it is kept on disk
    machine_code(entry, signature, variant): its address for a signature, and the fastest function that enters it from Python, or None
    direct_call(entry): that function once the entry has been called with its only signature, or None
    """

    name: str
    kernel: Callable[[Callable[..., Any], dict[str, Any]], Any]
    inlined: Callable[[Callable[..., Any], dict[str, Any]], Any]
    entry: Callable[[Callable[..., Any], dict[str, Any]], Any]
    machine_code: Callable[[Any, Any, str], tuple[int, Callable[..., Any] | None]]
    direct_call: Callable[[Any], Callable[..., Any] | None]


class DeferredKernel:
    """A kernel of either layer, which becomes Numba's at its first use: most processes use a few functions of many.

    make(function, **options): Numba's function
    """

    def __init__(self, function: Callable[..., Any], make: Callable[..., Any], options: dict[str, Any]) -> None:
        update_wrapper(self, function)
        self.py_func, self.options, self._make = function, options, make

    @cached_property
    def dispatcher(self) -> Any:
        """The kernel as Numba knows it."""
        return self._make(self.py_func, **self.options)

    def __call__(self, *arguments: Any) -> Any:
        """Call it from Python."""
        return self.dispatcher(*arguments)

    def __getattr__(self, name: str) -> Any:
        """Return an attribute of the dispatcher."""
        if name.startswith("__"):
            raise AttributeError(name)
        return getattr(self.dispatcher, name)


@typeof_impl.register(DeferredKernel)  # type: ignore[untyped-decorator]
def kernel_type(given: DeferredKernel, context: Any) -> Any:
    """Return the type of a kernel."""
    return typeof_impl(given.dispatcher, context)
