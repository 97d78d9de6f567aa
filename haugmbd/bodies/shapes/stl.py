r"""Read .stl: triangles one by one, in text or in binary.

    text      solid NAME / facet normal x y z / outer loop / vertex x y z (three times) / endloop / endfacet / endsolid
    binary    80 bytes of any text, the number of triangles, and for each of them 12 floats (normal, corners) and 2 bytes

A file is binary if its length is that of its number of triangles: some binary files begin with "solid", too.  Normals are not read: the
order of the corners gives them.
Source: 3D Systems, StereoLithography Interface Specification (1989).
"""

from __future__ import annotations

import struct
from pathlib import Path

import numpy as np

from haugmbd.bodies.shapes.files import LARGEST, Triangles, check_count, refuse, text_lines, three_numbers

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
