"""What is read of a file: triangles in the file's own unit of length, each vertex once, and the limits of a file.

Equal vertices become one; triangles without area, and vertices that no triangle has, are left out.
"""

from __future__ import annotations

import hashlib
import struct
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


# Read .stl: triangles one by one, in text or in binary.
#
#     text      solid NAME / facet normal x y z / outer loop / vertex x y z (three times) / endloop / endfacet / endsolid
#     binary    80 bytes of any text, the number of triangles, and for each of them 12 floats (normal, corners) and 2 bytes
#
# A file is binary if its length is that of its number of triangles: some binary files begin with "solid", too.  Normals are not read: the
# order of the corners gives them.
# Source: 3D Systems, StereoLithography Interface Specification (1989).

HEADER, FACET = 84, 50
RECORD = np.dtype([("normal", "<f4", 3), ("corners", "<f4", (3, 3)), ("attribute", "<u2")])


def read_stl(path: Path, data: bytes) -> Triangles:
    """Return the triangles of a file. Raise UsageError, with the line or the triangle, if it is not valid."""
    if len(data) >= HEADER:
        (count,) = struct.unpack_from("<I", data, HEADER - 4)
        if len(data) == HEADER + FACET * count:
            return _binary(path, data, count)
    if not data.lstrip().lower().startswith(b"solid"):
        said = f" for {struct.unpack_from('<I', data, HEADER - 4)[0]} triangles" if len(data) >= HEADER else ""
        refuse(
            path, None, f"it is not an STL file: it does not begin with 'solid', and {len(data)} bytes are not a binary one{said}"
        )
    return _text(path, text_lines(path, data))


def _binary(path: Path, data: bytes, count: int) -> Triangles:
    """Return the triangles of a binary file."""
    check_count(path, None, count)
    corners = np.frombuffer(data, RECORD, offset=HEADER, count=count)["corners"].astype(np.float64)
    bad = ~np.all(np.abs(corners) < LARGEST, axis=(1, 2))
    if bad.any():
        k = int(np.argmax(bad))
        refuse(path, None, f"triangle {k + 1} of {count} has the corners {corners[k].tolist()}, not within +-{LARGEST:g}")
    return Triangles(corners.reshape(-1, 3), np.arange(3 * count).reshape(-1, 3))


def _text(path: Path, lines: list[str]) -> Triangles:
    """Return the triangles of a text file."""
    vertices: list[tuple[float, float, float]] = []
    corners, ended, number = -1, False, 0  # corners of the open loop; -1 outside of one
    for number, line in enumerate(lines, start=1):
        words = line.split()
        head = words[0].lower() if words else ""
        if head == "vertex":
            if corners < 0:
                refuse(path, number, "a vertex stands outside of a loop")
            vertices.append(three_numbers(path, number, words[1:]))
            corners += 1
        elif head == "outer":
            if corners >= 0:
                refuse(path, number, "a loop begins in a loop")
            corners = 0
            check_count(path, number, len(vertices) // 3 + 1)
        elif head == "endloop":
            if corners != 3:
                refuse(path, number, f"a loop ends with {max(corners, 0)} corners: a facet is a triangle")
            corners = -1
        elif head not in ("", "solid", "facet", "endfacet", "endsolid"):
            refuse(path, number, f"{line.strip()!r:.60} is not a keyword of STL")
        ended = head == "endsolid" or (ended and not head)
    if not ended:
        refuse(path, number, "the file ends without 'endsolid': a part of it is missing")
    return Triangles(np.array(vertices).reshape(-1, 3), np.arange(len(vertices)).reshape(-1, 3))


# Read .obj: vertices, and polygons of them, which are cut into triangles around their first corner.
#
#     v x y z             a vertex                       f 1 2 3   f 1/1/1 2/2/2 3/3/3   f -3 -2 -1      a polygon, by numbers of vertices
#
# Only the shape is read: normals, textures, materials, groups, points and lines are passed over. Curves and surfaces are refused.
# Source: Wavefront Technologies, Advanced Visualizer Manual, appendix B1 (object files).

PASSED_OVER = frozenset(
    "vn vt vp o g s mg usemtl mtllib usemap maplib l p bevel c_interp d_interp lod shadow_obj trace_obj call csh".split()
)


def read_obj(path: Path, data: bytes) -> Triangles:
    """Return the triangles of a file. Raise UsageError, with the line, if it is not valid."""
    vertices: list[tuple[float, float, float]] = []
    triangles: list[tuple[int, int, int]] = []
    begun, first = "", 0
    for number, line in enumerate(text_lines(path, data), start=1):
        part = line.split("#", 1)[0]
        if part.rstrip().endswith("\\"):  # the line continues
            begun, first = begun + part.rstrip()[:-1] + " ", first or number
            continue
        at, (begun, words, first) = first or number, ("", (begun + part).split(), 0)
        if not words:
            continue
        if words[0] == "v":
            vertices.append(three_numbers(path, at, words[1:]))
        elif words[0] == "f":
            corners = [_index(path, at, word, len(vertices)) for word in words[1:]]
            if len(corners) < 3:
                refuse(path, at, f"a face has {len(corners)} corners, at least 3 are needed")
            triangles += [(corners[0], corners[k], corners[k + 1]) for k in range(1, len(corners) - 1)]
            check_count(path, at, len(triangles))
        elif words[0] not in PASSED_OVER:
            refuse(path, at, f"{words[0]!r:.40} cannot be read", "Export the mesh as vertices and faces.")
    return Triangles(np.array(vertices).reshape(-1, 3), np.array(triangles, dtype=np.int64).reshape(-1, 3))


def _index(path: Path, line: int, word: str, count: int) -> int:
    """Return the vertex that a corner of a face means, from 0; numbers below 0 count from the last vertex."""
    try:
        k = int(word.split("/", 1)[0])
    except ValueError:
        refuse(path, line, f"a corner of a face is {word!r:.40}, not the number of a vertex")
    if k == 0 or abs(k) > count:
        refuse(path, line, f"a face has the vertex {k}, but {count} vertices stand before it")
    return k - 1 if k > 0 else count + k
