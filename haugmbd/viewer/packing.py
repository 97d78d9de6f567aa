"""Numbers over time as few bytes: quantized, differenced along time, their bytes sorted by weight, deflated, in base64;
meshes, each once.

    q = round((x - offset) / step)             NaN is the integer -1 where `may_miss`
    d = differences of q of order 0 ... 3      whichever is smallest, for each channel; modulo 2^32, so exact
    u = zigzag of d: 0, -1, 1, -2 -> 0, 1, 2, 3

`static/data.js` reads it.
"""

from __future__ import annotations

import base64
import zlib
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from haugmbd.bodies.shapes.files import Triangles
from haugmbd.errors import UsageError

Array = npt.NDArray[np.float64]

ORDERS = 4
LARGEST = 2**30
"""Quantized numbers stay below it."""


@dataclass
class Packer:
    """Arrays (n, c), one after the other, in one block of bytes."""

    _bytes: list[bytes] = field(default_factory=list)
    _length: int = 0

    def add(self, values: Array, *, offset: Array, step: Array, may_miss: bool = False) -> dict[str, Any]:
        """Take n values of c channels, (n, c); return what the page needs to read them.  offset, step: (c,)."""
        quantized = np.rint((np.nan_to_num(values) - offset) / step)
        q = np.clip(quantized, -LARGEST, LARGEST).astype(np.int64)
        if may_miss:
            q[~np.isfinite(values)] = -1
        orders, best = _differences(q)
        u = ((best << 1) ^ (best >> 31)).astype(np.uint32)
        planes = np.stack([(u >> shift).astype(np.uint8) for shift in (0, 8, 16, 24)])
        data = np.ascontiguousarray(planes.transpose(0, 2, 1)).tobytes()
        at = self._length
        self._bytes.append(data)
        self._length += len(data)
        n, c = values.shape
        return {
            "at": at, "n": n, "c": c, "orders": orders.tolist(), "miss": may_miss,
            "offset": _short(offset), "step": _short(step),
        }  # fmt: skip

    def add_exact(self, values: Array) -> dict[str, Any]:
        """Take numbers that have to come out as they went in, (n,) float64."""
        data = np.ascontiguousarray(values, dtype="<f8").view(np.uint8).reshape(len(values), 8).T.tobytes()
        at = self._length
        self._bytes.append(data)
        self._length += len(data)
        return {"at": at, "n": len(values)}

    def add_curves(self, values: Array) -> dict[str, Any]:
        """Take curves to be plotted, (n, c), each to a 16000th of its range."""
        if not np.isfinite(values).any():
            low, span = np.zeros(values.shape[1]), np.zeros(values.shape[1])
        else:
            known = np.where(np.isfinite(values), values, np.nan)
            gone = ~np.isfinite(values).any(axis=0)
            known[:, gone] = 0.0
            low = np.nanmin(known, axis=0)
            span = np.nanmax(known, axis=0) - low
        step = np.where(span > 0.0, span, 1.0) / 16000.0
        return self.add(values, offset=low, step=step, may_miss=True)

    def text(self) -> str:
        """Return all numbers, deflated, in base64."""
        return base64.b64encode(zlib.compress(b"".join(self._bytes), 6)).decode("ascii")


def _differences(q: npt.NDArray[np.int64]) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Return for each channel the order of its smallest differences, (c,), and these differences, (n, c), as signed 32-bit numbers."""
    candidates = [q]
    for _ in range(ORDERS - 1):
        candidates.append(np.diff(candidates[-1], axis=0, prepend=0))
    wrapped = np.stack(candidates).astype(np.uint32).astype(np.int32).astype(np.int64)
    cost = np.sum(np.log2(1.0 + np.abs(wrapped)), axis=1)
    orders = np.argmin(cost, axis=0)
    return orders, np.take_along_axis(wrapped, orders[None, None, :], axis=0)[0]


def _short(numbers: Array) -> float | list[float]:
    """Return the first number alone if all are equal, else all."""
    same = np.unique(numbers)
    return float(same[0]) if len(same) == 1 else [float(x) for x in numbers]


# Meshes of a page: each is stored once, however many bodies show it; vertices to 1/65536 of the longest edge of the mesh's box.

STEPS = 65536.0

MOST_TRIANGLES = 2_000_000
"""Of all meshes of a page: about 15 MB."""


class MeshTable:
    """The meshes that were asked for, as the page reads them."""

    def __init__(self, packer: Packer) -> None:
        self._packer = packer
        self._numbers: dict[str, int] = {}
        self._triangles = 0
        self.packed: list[dict[str, Any]] = []

    def number_of(self, mesh: Triangles) -> int:
        """Return the number of a mesh, and store it if it is new. Raise UsageError if the page would have too many triangles."""
        if mesh.digest not in self._numbers:
            self._triangles += len(mesh.triangles)
            if self._triangles > MOST_TRIANGLES:
                raise UsageError(f"the meshes have more than {MOST_TRIANGLES} triangles together. Reduce them, or show fewer.")
            low, high = mesh.box
            step = np.full(3, float((high - low).max()) / STEPS)
            corners = mesh.triangles.astype(np.float64)
            vertices = self._packer.add(mesh.vertices, offset=low, step=step)
            triangles = self._packer.add(corners, offset=np.zeros(3), step=np.ones(3))
            self._numbers[mesh.digest] = len(self.packed)
            self.packed.append({"vertices": vertices, "triangles": triangles})
        return self._numbers[mesh.digest]
