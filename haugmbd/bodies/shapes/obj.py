r"""Read .obj: vertices, and polygons of them, which are cut into triangles around their first corner.

    v x y z             a vertex                       f 1 2 3   f 1/1/1 2/2/2 3/3/3   f -3 -2 -1         a polygon, by numbers of vertices

Only the shape is read: normals, textures, materials, groups, points and lines are passed over. Curves and surfaces are refused.
Source: Wavefront Technologies, Advanced Visualizer Manual, appendix B1 (object files).
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from haugmbd.bodies.shapes.files import Triangles, check_count, refuse, text_lines, three_numbers

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
