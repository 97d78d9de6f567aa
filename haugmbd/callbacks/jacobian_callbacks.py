r"""Calls of the declared jacobians, once for each factorization of an implicit step.

    D[at ...] <- jacobian(t, l, l_dot), jacobian(t, r, p, v, omega_bar), ...       row by row, as `forces.jacobian` orders them

The callback is that of the forces (`compiled.ffi.Callback`), with D in the place of F. If all jacobians are @njit functions,
`compile_jacobian_callbacks` makes the same calls without Python.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from haugmbd.callbacks.calls import JacobianCall, arguments_of
from haugmbd.compiled.array_types import Array
from haugmbd.compiled.ffi import NO_CALLBACK, Callback, CompiledCallback
from haugmbd.compiled.numba_names import is_jitted
from haugmbd.workspace.layout import Pack, workspace_array


@dataclass(frozen=True, eq=False)
class JacobianCallbacks:
    """All jacobians of one model.  shapes: of (y, signals, D, nothing)."""

    jacobian_calls: tuple[JacobianCall, ...] = ()
    shapes: tuple[tuple[int, ...], ...] = ((0,), (0, 2), (0,), (0,))

    @property
    def size(self) -> int:
        """Return how many numbers all of them return."""
        return sum(jacobian_call.size for jacobian_call in self.jacobian_calls)

    @property
    def compiled(self) -> bool:
        """Return whether all jacobians are @njit functions."""
        return all(is_jitted(d.jacobian.function) for d in self.jacobian_calls)

    def callback(self) -> Callback:
        """Return the callback for one run."""
        if not self.jacobian_calls:
            return NO_CALLBACK
        return CompiledCallback(self._entry) if self.compiled else Callback(self.call, self.shapes)

    @cached_property
    def _entry(self) -> Any:
        """Return the compiled callback, made once for a model."""
        from haugmbd.callbacks.compiled_jacobian_callbacks import compile_jacobian_callbacks  # noqa: PLC0415  it needs Numba

        return compile_jacobian_callbacks(self.jacobian_calls, self.shapes)

    def call(self, t: float, y: Array, signals: Array, D: Array, nothing: Array) -> None:
        """Call every jacobian, and write the values into D."""
        for jacobian_call in self.jacobian_calls:
            jacobian = jacobian_call.jacobian
            arguments = arguments_of(jacobian.user_function, jacobian_call.bodies, jacobian_call.signal, y, signals)
            D[jacobian_call.at : jacobian_call.at + jacobian_call.size] = jacobian.call(t, *arguments).ravel()

    def error_of(self, pack: Pack) -> BaseException | None:
        """Return what stopped the run of `pack`, if a jacobian did: its exception, or the error for what a compiled one returned."""
        _, place, t = workspace_array(pack, "STATUS")[0, :3].tolist()
        if place != 1:
            return None
        error = pack.derive.take_error()
        if error is not None or not self.compiled:
            return error or KeyboardInterrupt()  # lost between compiled code and Python, see `compiled.ffi`
        y, signals = workspace_array(pack, "Y_STOPPED")[0].copy(), workspace_array(pack, "SIGNALS")
        try:
            self.call(t, y, signals, np.zeros(self.size), np.zeros(0))
        except Exception as error:  # noqa: BLE001  handed on, and raised where all errors of a run are
            return error
        return None
