r"""The callback by which compiled code calls the user's functions (forces of the state, drivers that only Python can evaluate).

    callback(t, y, signals, F, Q_user, succeeded)        all but t as addresses of C doubles

Compiled loops take the callback as a first-class function of one fixed signature. They are therefore compiled once for all cases: no
user function, Python functions, or functions compiled by the user (`compile_force_callbacks`). An exception cannot cross compiled
code: it is stored in `error`, the loop stops with USER_STOPPED, and Python raises it again.

The return value does not show whether the call succeeded: if Ctrl-C is raised on the way into Python, ctypes leaves it undefined. The
word `succeeded` does: `call_callback` clears it before the call, and the callable sets it as its last act. After such an interruption
the compiled call ends with USER_STOPPED and no `error`; code that continues after USER_STOPPED calls `keep_interruption`.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from math import prod
from typing import Any

import numpy as np

from haugmbd.compiled.array_types import Array
from haugmbd.compiled.function_pointers import function_type
from haugmbd.compiled.jit import inlined
from haugmbd.compiled.numba_names import typeof_impl, types
from haugmbd.compiled.status_codes import USER_STOPPED

DOUBLES = types.CPointer(types.float64)
SIGNATURE = types.void(types.float64, DOUBLES, DOUBLES, DOUBLES, DOUBLES, DOUBLES)
C_FUNCTION = ctypes.CFUNCTYPE(None, ctypes.c_double, *([ctypes.c_void_p] * 5))

YES = 1.0
"""Value of `succeeded` after a call that returned without an exception."""
TABLES, ENTRY, WORDS = 1, 2, 3
"""Behind `succeeded`: the addresses of the tables of blocks and of the entry of Python, as numbers, see `control.diagram.in_kernels`."""

MOST_VIEWS = 64
"""Largest number of stored views of memory, and of sets of them; a run uses only a few."""

UserCall = Callable[[float, Array, Array, Array, Array], None]
"""call(t, y, signals (ns, 2), F (nd, 3), Q_user (nb + 1, 6)): writes into F and adds to Q_user."""


class Callback:
    """A user call as compiled code sees it: an address.  `error` is the exception that stopped it, if there was one."""

    def __init__(self, call: UserCall, shapes: tuple[tuple[int, ...], ...] = ()) -> None:
        self.error: BaseException | None = None
        self.memory: Any = None  # what a run remembers for blocks
        self._call = call
        self._shapes = shapes
        self._views: dict[tuple[int, tuple[int, ...]], Array] = {}
        self._given: dict[tuple[int, ...], tuple[tuple[Array, ...], ctypes.c_double]] = {}
        self._entry: Any = C_FUNCTION(self._enter)
        self.address = int(ctypes.cast(self._entry, ctypes.c_void_p).value or 0)
        """The address of the C entry."""
        self.entry_address = self.address
        """The address of an entry that needs no other words than `succeeded`, where `address` is that of compiled code before it."""

    def link(self, pack: Any) -> None:
        """Let a workspace have what compiled code needs besides the callback: nothing."""

    def __call__(self, t: float, *arrays: Any) -> None:
        """Make the same call if the compiler is switched off (NUMBA_DISABLE_JIT): arrays come as NumPy's ctypes objects."""
        self._enter(t, *(array.data for array in arrays))

    def _enter(self, t: float, *addresses: int) -> None:
        if self.error is not None:  # the first error is the one that is reported: no call is made after it
            return
        try:
            arrays, succeeded = self._given.get(addresses) or self._views_of(addresses)
            self._call(t, *arrays)
            succeeded.value = YES  # the last act: Python looks for signals at calls and loops only, so none is lost behind it
        except BaseException as error:  # noqa: BLE001  kept, and raised again by Python when the loop has returned
            self.error = error

    def take_error(self) -> BaseException | None:
        """Return the exception that stopped the last call, and clear it: the callback may be used again."""
        error, self.error = self.error, None
        return error

    def keep_interruption(self, code: int) -> None:
        """Store a KeyboardInterrupt as `error` if a compiled call ended with USER_STOPPED and without an error."""
        if code == USER_STOPPED and self.error is None:
            self.error = KeyboardInterrupt()

    def _views_of(self, addresses: tuple[int, ...]) -> tuple[tuple[Array, ...], ctypes.c_double]:
        """Return the arrays over the memory at these addresses, and the word `succeeded`, made once for each set of addresses."""
        if len(self._given) >= MOST_VIEWS:
            self._given.clear()
        arrays = tuple(self._view(a, s) for a, s in zip(addresses[:-1], self._shapes, strict=False))
        self._given[addresses] = found = arrays, ctypes.c_double.from_address(addresses[-1])
        return found

    def _view(self, address: int, shape: tuple[int, ...]) -> Array:
        """Return an array over the memory at `address`, made once for each address."""
        key = (address, shape)
        if key not in self._views:
            if len(self._views) >= MOST_VIEWS:
                self._views.clear()
            size = prod(shape)
            memory: Any = (ctypes.c_double * size).from_address(address)
            self._views[key] = np.frombuffer(memory).reshape(shape) if size else np.zeros(shape)
        return self._views[key]


class CompiledCallback(Callback):
    """A user call that is compiled itself: `entry` is a Numba cfunc of `SIGNATURE`."""

    def __init__(self, entry: Any) -> None:
        super().__init__(lambda *_: None)
        self._compiled = entry
        self.address = self.entry_address = int(entry.address)

    def __call__(self, t: float, *arrays: Any) -> None:
        """Make the same call from plain Python: arrays come as NumPy's ctypes objects."""
        C_FUNCTION(self.address)(t, *(array.data for array in arrays))

    def keep_interruption(self, code: int) -> None:
        """Do nothing: compiled functions are not interrupted; numbers that are not finite stop them."""


CALLBACK_TYPE = function_type(SIGNATURE)


@typeof_impl.register(Callback)  # type: ignore[untyped-decorator]
def callback_type(callback: Callback, context: Any) -> Any:
    """Return the one type of all callbacks."""
    return CALLBACK_TYPE


@inlined
def call_callback(callback: Callback, t: float, y: Array, signals: Array, F: Array, Q_user: Array, succeeded: Array) -> bool:
    """Call the user's functions, and return whether they returned without an exception;  succeeded: (1,), a word of the run."""
    succeeded[0] = 0.0
    callback(t, y.ctypes, signals.ctypes, F.ctypes, Q_user.ctypes, succeeded.ctypes)
    returned: bool = succeeded[0] == YES
    return returned


NO_CALLBACK = Callback(lambda *_: None)
"""For models without callables; never entered (the flag `calls_user` is 0)."""
