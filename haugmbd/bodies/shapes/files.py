r"""What is read of a file: triangles in the file's own unit of length, each vertex once, and the limits of a file.

Equal vertices become one; triangles without area, and vertices that no triangle has, are left out.
"""

from __future__ import annotations

import hashlib
from functools import cached_property
from pathlib import Path
from typing import NoReturn

import numpy as np
import numpy.typing as npt

from haugmbd.bodies.validation import FloatArray, frozen
from haugmbd.errors import UsageError

Ints = npt.NDArray[np.int64]

MOST_BYTES = 100_000_000
"""Of a file; larger ones are for a program that reduces meshes."""

MOST_TRIANGLES = 500_000
"""Of a mesh: about 4 MB of a page."""

LARGEST = 1e15
"""Coordinates are below it: squares and products of them are finite in single precision, too."""


class Triangles:
    """Triangles that any number of shapes share.

    vertices (n, 3), triangles (m, 3): counterclockwise from outside;  digest: the same for the same numbers
    """

    def __init__(self, vertices: FloatArray, triangles: Ints) -> None:
        unique, inverse = np.unique(vertices, axis=0, return_inverse=True)
        corners = inverse.reshape(-1)[triangles]
        a, b, c = (unique[corners[:, k]] for k in range(3))
        with_area = np.any(np.cross(b - a, c - a) != 0.0, axis=1)
        kept, renumbered = np.unique(corners[with_area], return_inverse=True)
        self.vertices = frozen(unique[kept])
        self.triangles: Ints = in_order(renumbered.reshape(-1, 3).astype(np.int64))
        self.triangles.flags.writeable = False

    @cached_property
    def digest(self) -> str:
        """Return the SHA-256 of the numbers."""
        return hashlib.sha256(self.vertices.tobytes() + self.triangles.tobytes()).hexdigest()

    @cached_property
    def box(self) -> tuple[FloatArray, FloatArray]:
        """Return the least and the largest coordinates, (3,) each."""
        return self.vertices.min(axis=0), self.vertices.max(axis=0)


def in_order(triangles: Ints) -> Ints:
    """Return the triangles (m, 3) sorted, each from its smallest corner on, in the same sense of rotation."""
    first = np.argmin(triangles, axis=1)[:, None]
    turned = np.take_along_axis(triangles, (first + np.arange(3)) % 3, axis=1)
    return turned[np.lexsort(turned.T[::-1])]


def refuse(path: Path, line: int | None, what: str, remedy: str = "Export the mesh again.") -> NoReturn:
    """Raise UsageError for a file that cannot be read, with the line."""
    where = str(path) if line is None else f"{path}, line {line}"
    raise UsageError(f"Mesh: {where}: {what}. {remedy}")


def read_bytes(path: Path) -> bytes:
    """Return the bytes of a mesh file. Raise UsageError if there is none, or it is too large."""
    try:
        if not path.is_file():
            raise UsageError(f"Mesh: there is no file {str(path)!r}. Give the path of an .stl or .obj file.")
        size = path.stat().st_size
        if size > MOST_BYTES:
            refuse(path, None, f"it has {size} bytes, more than {MOST_BYTES}", "Reduce the mesh.")
        return path.read_bytes()
    except OSError as error:
        raise UsageError(f"Mesh: cannot read {str(path)!r}: {error.strerror}.") from None


def text_lines(path: Path, data: bytes) -> list[str]:
    """Return the lines of a text file; names in it may be in any encoding."""
    if b"\0" in data:
        line = data[: data.index(b"\0")].count(b"\n") + 1
        refuse(path, line, "it has a zero byte, and is not text")
    return data.decode("utf-8", errors="replace").splitlines()


def three_numbers(path: Path, line: int, words: list[str]) -> tuple[float, float, float]:
    """Return the coordinates of a vertex. Raise UsageError, with the line, unless they are three finite numbers."""
    try:
        x, y, z = map(float, words[:3])
    except ValueError:
        refuse(path, line, f"a vertex needs three numbers, not {' '.join(words)!r:.60}")
    if not (abs(x) < LARGEST and abs(y) < LARGEST and abs(z) < LARGEST):
        refuse(path, line, f"the vertex ({x:g}, {y:g}, {z:g}) is not within +-{LARGEST:g}")
    return x, y, z


def check_count(path: Path, line: int | None, count: int) -> None:
    """Raise UsageError if there are too many triangles."""
    if count > MOST_TRIANGLES:
        refuse(path, line, f"it has more than {MOST_TRIANGLES} triangles", "Reduce the mesh.")
