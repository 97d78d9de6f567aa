r"""What a model asks of the declared jacobians of its user's forces, once a factorization of an implicit step.

    D[at ...] <- jacobian(t, l, l_dot), jacobian(t, r, p, v, omega_bar), ...       row by row, as `forces.jacobian` orders them

The door is that of the forces (`user.Asked`), with D in the place of F.  Where all jacobians are @njit functions,
`compile_jacobian_callbacks`
makes the same call without Python.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numba
import numpy as np

from haugmbd.callbacks.calls import JacobianCall, arguments_of
from haugmbd.callbacks.compiled_jacobian_callbacks import compile_jacobian_callbacks
from haugmbd.compiled.array_types import Array
from haugmbd.compiled.ffi import NO_CALLBACK, Callback, CompiledCallback
from haugmbd.workspace.layout import Pack, workspace_array


@dataclass(frozen=True, eq=False)
class JacobianCallbacks:
    """Every jacobian of one model.  shapes: of (y, signals, D, nothing)."""

    jacobian_calls: tuple[JacobianCall, ...] = ()
    shapes: tuple[tuple[int, ...], ...] = ((0,), (0, 2), (0,), (0,))

    @property
    def size(self) -> int:
        """How many numbers all of them give."""
        return sum(jacobian_call.size for jacobian_call in self.jacobian_calls)

    @property
    def compiled(self) -> bool:
        """Whether all jacobians are @njit functions."""
        return all(numba.extending.is_jitted(d.jacobian.function) for d in self.jacobian_calls)

    def callback(self) -> Callback:
        """The door, for one run."""
        if not self.jacobian_calls:
            return NO_CALLBACK
        return CompiledCallback(self._entry) if self.compiled else Callback(self.call, self.shapes)

    @cached_property
    def _entry(self) -> Any:
        """The compiled door, made once a model."""
        return compile_jacobian_callbacks(self.jacobian_calls, self.shapes)

    def call(self, t: float, y: Array, signals: Array, D: Array, nothing: Array) -> None:
        """Ask every jacobian, and write the answers into D."""
        for jacobian_call in self.jacobian_calls:
            jacobian = jacobian_call.jacobian
            arguments = arguments_of(jacobian.question, jacobian_call.bodies, jacobian_call.signal, y, signals)
            D[jacobian_call.at : jacobian_call.at + jacobian_call.size] = jacobian.call(t, *arguments).ravel()

    def error_of(self, pack: Pack) -> BaseException | None:
        """What stopped the run of `pack`, if a jacobian did: its exception, or what a compiled one returned."""
        _, place, t = workspace_array(pack, "STATUS")[0, :3].tolist()
        if place != 1:
            return None
        error = pack.derive.take_error()
        if error is not None or not self.compiled:
            return error or KeyboardInterrupt()  # lost between compiled code and Python, see `user`
        y, signals = workspace_array(pack, "Y_STOPPED")[0].copy(), workspace_array(pack, "SIGNALS")
        try:
            self.call(t, y, signals, np.zeros(self.size), np.zeros(0))
        except Exception as error:  # noqa: BLE001  handed on, and raised where all errors of a run are
            return error
        return None
