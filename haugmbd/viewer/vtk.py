r"""to_vtk: a motion as a series for ParaView: one .vtp file an instant, and a .pvd file that lists them with their times.

    points     the corners of the triangles of all shapes, where their bodies are
    cells      triangles, with the number of their body, and its velocity and angular velocity (global) in each cell
    names      of the bodies, by number, as a field of texts

The files are XML in plain text with 9 digits, written by hand: nothing is needed but Python.
Source: VTK's documentation, VTK XML file formats: PolyData (.vtp); ParaView's data file (.pvd).
"""

from __future__ import annotations

from pathlib import Path
from xml.sax.saxutils import quoteattr

import numpy as np

from haugmbd.compiled.array_types import Array
from haugmbd.errors import UsageError
from haugmbd.math.euler_parameters import rotation_matrix
from haugmbd.simulation.results.io.atomic import replace_file
from haugmbd.simulation.results.io.paths import path_of, unwritable
from haugmbd.viewer.animate import maximal, mechanism_of
from haugmbd.viewer.frames import Seen, frames_of
from haugmbd.viewer.scene import size_of
from haugmbd.viewer.shapes import shapes_of, triangles_of

HEAD = '<?xml version="1.0"?>\n<VTKFile type="{}" version="0.1" byte_order="LittleEndian">\n'


def to_vtk(result: Seen, path: str | Path, *, frames: int | None = None) -> Path:
    """Write the motion as a series for ParaView: a .pvd file, and one .vtp file an instant in a folder beside it.

    Parameters
    ----------
    result : Result
        The motion, with its model.
    path : str or Path
        The file, .pvd. The others are in the folder of its name.
    frames : int, optional
        Number of instants, at equal steps of time; by default as in `animate`.

    Returns
    -------
    Path
        The .pvd file.

    Raises
    ------
    UsageError
        If `result` is not a result, frames is not valid, the ending is not .pvd, or a file cannot be written.
    """
    where = path_of(path)
    if where.suffix.lower() != ".pvd":
        raise UsageError(f"{str(where)!r} ends with {where.suffix!r}: give a name that ends with .pvd.")
    seen = maximal(result)[0]
    mechanism, drawn = mechanism_of(seen), frames_of(seen, frames)
    shapes = shapes_of(mechanism, size_of(mechanism, drawn.r[0], drawn.p[0]))
    corners = [[triangles_of(shape).reshape(-1, 3) for shape in own] for own in shapes]
    local = [np.concatenate(own) if own else np.zeros((0, 3)) for own in corners]
    owner = np.repeat(np.arange(len(local)), [len(x) // 3 for x in local])
    speeds = [np.stack([_at(seen.t, x[:, k], drawn.t) for k in range(len(local))], axis=1) for x in (seen.v, _global_rate(seen))]
    folder = where.with_suffix("")
    names = [str(name) for name in mechanism.bodies]
    entries = []
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for n, t in enumerate(drawn.t):
            A = rotation_matrix(drawn.p[n])
            points = np.concatenate([drawn.r[n, k] + x @ A[k].T for k, x in enumerate(local)])
            name = f"{folder.name}_{n:05d}.vtp"
            with replace_file(folder / name) as file:
                file.write(_poly_data(points, owner, speeds[0][n][owner], speeds[1][n][owner], names).encode())
            entries.append(f'<DataSet timestep="{float(t):.17g}" group="" part="0" file={quoteattr(f"{folder.name}/{name}")}/>')
        with replace_file(where) as file:
            lines = "\n".join(entries)
            file.write(f"{HEAD.format('Collection')}<Collection>\n{lines}\n</Collection>\n</VTKFile>\n".encode())
    except OSError as error:
        raise unwritable(where, error) from None
    return where


def _global_rate(result: Seen) -> Array:
    """Return the angular velocities, global, (nt, nb + 1, 3)."""
    return np.asarray(np.einsum("tkij,tkj->tki", rotation_matrix(result.p), result.omega_bar))


def _at(t: Array, x: Array, at: Array) -> Array:
    """Return values between states, linear in time: (nt, 3) at other times."""
    return np.stack([np.interp(at, t, x[:, k]) for k in range(x.shape[1])], axis=1)


def _poly_data(points: Array, owner: Array, v: Array, omega: Array, names: list[str]) -> str:
    """Return one instant: triangles with three points each."""
    n = len(points)
    texts = " ".join(" ".join(map(str, [*name.encode(), 0])) for name in names)
    cells = "\n".join(
        [
            _array("body", owner, "Int32"),
            _array("velocity", v),
            _array("angular_velocity", omega),
        ]
    )
    return (
        f"{HEAD.format('PolyData')}<PolyData>\n<FieldData>\n"
        f'<Array type="String" Name="bodies" NumberOfTuples="{len(names)}" format="ascii">\n{texts}\n</Array>\n</FieldData>\n'
        f'<Piece NumberOfPoints="{n}" NumberOfVerts="0" NumberOfLines="0" NumberOfStrips="0" NumberOfPolys="{n // 3}">\n'
        f"<CellData>\n{cells}\n</CellData>\n<Points>\n{_array('points', points)}\n</Points>\n"
        f"<Polys>\n{_array('connectivity', np.arange(n), 'Int64')}\n{_array('offsets', np.arange(3, n + 1, 3), 'Int64')}\n</Polys>\n"
        "</Piece>\n</PolyData>\n</VTKFile>\n"
    )


def _array(name: str, values: Array, kind: str = "Float64") -> str:
    """Return numbers as an element, those of a point in a line."""
    whole = kind != "Float64"
    size = values.shape[1] if values.ndim > 1 else 1
    rows = values.reshape(-1, size).tolist()
    text = "\n".join(" ".join(str(int(x)) if whole else f"{x:.9g}" for x in row) for row in rows)
    return f'<DataArray type="{kind}" Name="{name}" NumberOfComponents="{size}" format="ascii">\n{text}\n</DataArray>'
