r"""Meshes of a page: each is stored once, however many bodies show it; vertices to 1/65536 of the longest edge of the mesh's box."""

from __future__ import annotations

from typing import Any

import numpy as np

from haugmbd.bodies.shapes.files import Triangles
from haugmbd.errors import UsageError
from haugmbd.viewer.scenes.packing import Packer

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
