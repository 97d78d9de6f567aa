"""Functions that become Numba's when something compiles or calls them: most processes use a few functions of many.

Both layers of the compiler make them; the seam between the layers and the house is `jit`.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property, update_wrapper
from typing import Any

from numba.extending import typeof_impl


class DeferredKernel:
    """A kernel that becomes Numba's at its first use;  make(function, **options): Numba's function."""

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
