r"""The workspace of a model in dual numbers: the same tables, and the same kernels compiled for `Dual`.

    reals   (n,) duals: the constants, and their derivatives by LANES parameters
    work    (n,) duals

Every routine of a `Pack` has a twin whose signature has duals in place of doubles; its text is that of the routine.  A function of the
user knows doubles only: it is called on both sides of the state along each lane, with the models on both sides of each parameter, where
what the function encloses has moved.
"""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from typing import Any

import numpy as np

from haugmbd.compiled.array_types import Array, Ints
from haugmbd.compiled.ffi import C_FUNCTION, YES, Callback
from haugmbd.compiled.numba_names import typeof_impl
from haugmbd.compiled.scalars import DUAL, LANES, Dual
from haugmbd.compiled.taped import TAPED, Taped
from haugmbd.workspace.families import new_family, twin
from haugmbd.workspace.layout import Pack, place_in

DUALS, TAPES = new_family("DualPack", Dual, "|dual"), new_family("TapedPack", Taped, "|taped")
"""The variants stand behind the name of a routine where an engine looks for it."""
DUAL_PACK, TAPED_PACK = DUALS.pack, TAPES.pack


class DualPack(Pack):
    """A Pack of duals."""


class TapedPack(Pack):
    """A Pack of numbers on a tape."""


@typeof_impl.register(DualPack)  # type: ignore[untyped-decorator]
def dual_pack_type(pack: DualPack, context: Any) -> Any:
    """Return the one type of every DualPack."""
    return DUAL_PACK


@typeof_impl.register(TapedPack)  # type: ignore[untyped-decorator]
def taped_pack_type(pack: TapedPack, context: Any) -> Any:
    """Return the one type of every TapedPack."""
    return TAPED_PACK


def duals_of(values: Array) -> Any:
    """Return duals (n,) with these values, and no tangents."""
    duals = np.zeros(values.shape, DUAL)
    duals["value"] = values
    return duals


def tangents_of(duals: Any) -> Array:
    """Return the tangents (n, LANES) of duals (n,), writable."""
    tangents: Array = duals["tangent"]
    return tangents


def doubles_of(duals: Any) -> Array:
    """Return duals (n,) as doubles (n, LANES + 1), the same memory."""
    doubles: Array = duals.view(np.float64).reshape(len(duals), 1 + LANES)
    return doubles


class DualCallback(Callback):
    """The calls of the user's functions in duals: differences along each lane.

    nominal: of the model itself;  sides: of each lane the callbacks of both sides of its parameter, and the step between the model and
    either side;  shapes: of y, signals, F and Q_user
    """

    def __init__(
        self, nominal: Callback, sides: Sequence[tuple[Callback, Callback, float]], shapes: Sequence[tuple[int, ...]]
    ) -> None:
        super().__init__(self._differences, tuple((*shape, LANES + 1) for shape in shapes))
        self._nominal, self._sides = nominal, sides

    def _differences(self, t: float, y: Array, signals: Array, F: Array, Q_user: Array) -> None:
        """Write F and Q_user, and their tangents."""
        given = y, signals, F, Q_user
        after = self._called(self._nominal, t, [x[..., 0] for x in given])
        F[..., 0], Q_user[..., 0] = after
        for lane, (plus, minus, step) in enumerate(self._sides, 1):
            high, low = (
                self._called(
                    side, t, [x[..., 0] + to * x[..., lane] for x in given[:2]] + [F[..., 0] + to * F[..., lane], Q_user[..., 0]]
                )
                for side, to in ((plus, step), (minus, -step))
            )
            F[..., lane], Q_user[..., lane] = ((a - b) / (2.0 * step) for a, b in zip(high, low, strict=True))

    def _called(self, callback: Callback, t: float, given: Sequence[Array]) -> tuple[Array, Array]:
        """Return F and Q_user that a callback writes."""
        arrays, succeeded = [np.array(x, dtype=np.float64) for x in given[:3]], ctypes.c_double(0.0)
        arrays.append(np.zeros_like(given[3]))
        C_FUNCTION(callback.entry_address)(t, *(x.ctypes.data for x in arrays), ctypes.addressof(succeeded))
        error = callback.take_error()
        if error is not None:
            raise error
        if succeeded.value != YES:
            raise KeyboardInterrupt
        return arrays[2], arrays[3]


@typeof_impl.register(DualCallback)  # type: ignore[untyped-decorator]
def dual_callback_type(callback: DualCallback, context: Any) -> Any:
    """Return the one type of all callbacks in duals."""
    return DUAL_PACK.fields["callback"]


def _taped_zeros(n: int) -> Any:
    """Return n constants."""
    return np.zeros(n, TAPED)


def taped_pack(pack: Pack, entries: Ints, drivers: Ints) -> TapedPack:
    """Return the same pack in numbers on a tape.  entries: (n,) of its constants;  drivers: of the values of its drivers, flat"""
    reals, work = (_taped_zeros(len(x)) for x in (pack.reals, pack.work))
    reals["value"], reals["entry"], work["value"] = pack.reals, entries, pack.work
    start, rows, columns = place_in(pack.ints, "F")
    work["entry"][start : start + rows * columns] = drivers
    return TapedPack(pack.ints, reals, work, *(twin(each, TAPES) for each in pack[3:]))


def dual_pack(pack: Pack, callback: Any = None) -> DualPack:
    """Return the same pack in duals, with a workspace of its own, and a callback in duals if the user's functions are called."""
    own = DualPack(pack.ints, duals_of(pack.reals), duals_of(pack.work), *(twin(each, DUALS) for each in pack[3:]))
    return own if callback is None else own._replace(callback=callback)
