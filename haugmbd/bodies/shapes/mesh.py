r"""Mesh: triangles of an .stl or .obj file, or of arrays.

    P_bar = center + A(p) scale X                X: a point of the file, in its own axes and unit of length

A file that several bodies show is read once, as long as it is not changed.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, Self
from weakref import WeakValueDictionary

import numpy as np

from haugmbd.bodies.shapes.base import Shape, read_place
from haugmbd.bodies.shapes.files import LARGEST, MOST_TRIANGLES, Ints, Triangles, read_bytes, read_obj, read_stl
from haugmbd.bodies.shapes.solids import ORIGIN, UNTURNED
from haugmbd.bodies.validation import FloatArray, numbers, read_number
from haugmbd.deprecated import public_class
from haugmbd.errors import Fault, UsageError

READERS = {".stl": read_stl, ".obj": read_obj}

_READ: WeakValueDictionary[tuple[str, int, int], Triangles] = WeakValueDictionary()


@public_class
@dataclass(frozen=True, eq=False, init=False, repr=False)
class Mesh(Shape):
    """Triangles of a file; `Mesh.from_arrays` takes arrays.

    Parameters
    ----------
    path : str or Path
        The file, .stl (text or binary) or .obj.
    scale : float
        Length of the file's unit [m]: 0.001 for a file in millimetres.
    center : array_like, (3,)
        Where the origin of the file is, from the centre of mass, body frame [m].
    p : array_like, (4,)
        Euler parameters of the file's axes in the body frame, scalar first.
    color : str, optional
        Colour, "#rrggbb"; by default that of the body.

    Raises
    ------
    UsageError
        If the file is missing, too large or not valid, with the line; or if a value is not valid.

    Notes
    -----
    Only the triangles are read. Normals, materials and textures are passed over; triangles without area are left out.
    A file is stored once in a page, however many bodies show it.
    """

    kind: ClassVar[str] = "mesh"

    source: str
    scale: float
    data: Triangles

    def __init__(
        self, path: str | Path, *, scale: float = 1.0, center: Any = ORIGIN, p: Any = UNTURNED, color: str | None = None
    ) -> None:
        self._place(scale, center, p, color)
        try:
            where = Path(path)
        except TypeError:
            raise UsageError(
                f"Mesh: path is {path!r:.60}. Give the path of an .stl or .obj file, or use Mesh.from_arrays."
            ) from None
        self._fill([], source=str(where), data=read_file(where))

    @classmethod
    def from_arrays(
        cls,
        vertices: Any,
        triangles: Any,
        *,
        scale: float = 1.0,
        center: Any = ORIGIN,
        p: Any = UNTURNED,
        color: str | None = None,
    ) -> Self:
        """Return a mesh of arrays.

        Parameters
        ----------
        vertices : array_like, (n, 3)
            Points [m], in the axes of the shape.
        triangles : array_like of int, (m, 3)
            Numbers of the corners, from 0, counterclockwise from outside.
        scale, center, p, color
            As of `Mesh`.

        Returns
        -------
        Mesh
            The mesh.

        Raises
        ------
        UsageError
            If a value is not valid.
        """
        mesh = cls.__new__(cls)
        mesh._place(scale, center, p, color)
        mesh._fill([], source="arrays", data=_checked(vertices, triangles))
        return mesh

    def _place(self, scale: float, center: Any, p: Any, color: str | None) -> None:
        """Set what is not of the file."""
        faults: list[Fault] = []
        factor = read_number(faults, "Mesh", "scale", scale)
        if factor <= 0.0:
            faults.append(Fault("Mesh", f"scale is {factor:g}", "Give a positive number, such as 0.001 for millimetres."))
        self._fill(faults, scale=factor, **read_place("Mesh", faults, center, p, color))

    def mesh(self) -> tuple[Triangles, float]:
        return self.data, self.scale

    @property
    def size(self) -> FloatArray:
        low, high = self.data.box
        edges: FloatArray = self.scale * (high - low)
        return edges

    @property
    def vertices(self) -> FloatArray:
        """Return the vertices in the axes of the shape [m], (n, 3)."""
        return self.scale * self.data.vertices

    @property
    def triangles(self) -> Ints:
        """Return the numbers of the corners of each triangle, (m, 3)."""
        return self.data.triangles

    def __repr__(self) -> str:
        return f"Mesh({self.source!r}, {len(self.data.triangles)} triangles, scale={self.scale!r})"


def read_file(path: Path) -> Triangles:
    """Return the triangles of a file; of one that has been read and not changed, the same object."""
    reader = READERS.get(path.suffix.lower())
    if reader is None:
        raise UsageError(f"Mesh: {str(path)!r} ends with {path.suffix!r}. Give an .stl or .obj file.")
    try:
        status = path.stat()
        key = (str(path.resolve()), status.st_mtime_ns, status.st_size)
    except (OSError, ValueError):
        key = ("", 0, 0)
    known = _READ.get(key)
    if known is not None:
        return known
    found = reader(path, read_bytes(path))
    if not len(found.triangles):
        raise UsageError(f"Mesh: {path}: it has no triangle with an area. Export the mesh again.")
    _READ[key] = found
    return found


def _checked(vertices: Any, triangles: Any) -> Triangles:
    """Return triangles of arrays. Raise UsageError if the arrays are not vertices and triangles."""
    points = numbers(vertices)
    if points is None or points.ndim != 2 or points.shape[1] != 3 or not np.all(np.abs(points) < LARGEST):
        what = "not of numbers" if points is None else f"of shape {points.shape}"
        raise UsageError(f"Mesh: vertices are {what}. Give finite numbers of shape (n, 3) [m].")
    corners = np.asarray(triangles)
    if corners.dtype.kind not in "iu" or corners.ndim != 2 or corners.shape[1] != 3 or not 0 < len(corners) <= MOST_TRIANGLES:
        what = f"of {corners.dtype} and shape {corners.shape}"
        raise UsageError(f"Mesh: triangles are {what}. Give integers of shape (m, 3), m at most {MOST_TRIANGLES}.")
    if corners.min() < 0 or corners.max() >= len(points):
        what = f"from {corners.min()} to {corners.max()}"
        raise UsageError(f"Mesh: triangles have the corners {what}. Give numbers from 0 to {len(points) - 1}.")
    found = Triangles(points, corners.astype(np.int64))
    if not len(found.triangles):
        raise UsageError("Mesh: no triangle has an area.")
    return found
