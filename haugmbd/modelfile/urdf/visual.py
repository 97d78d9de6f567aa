r"""Visual geometry of links as shapes: boxes, cylinders, spheres and meshes, at their origins, in their colours.

A mesh is read from one folder and those below it only. What cannot be read is a warning: shapes change no motion.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

import numpy as np

from haugmbd.bodies.shapes import Box, Cylinder, Mesh, Shape, Sphere
from haugmbd.compiled.array_types import Array
from haugmbd.errors import UsageError
from haugmbd.math import euler_parameters
from haugmbd.modelfile.imports import Transform

PACKAGE = "package://"
FILE = "file://"
MOST_MESHES = 2000
"""Mesh files of a robot that are read; robots have up to a few hundred."""


class Visual(NamedTuple):
    """One visual of a link: its pose there, box, cylinder, sphere or mesh, its numbers, its colour, the file of a mesh, its line."""

    pose: Transform
    kind: str
    numbers: Array
    color: str | None
    file: str
    line: int


@dataclass
class Meshes:
    """Where meshes are read from, and what could not be read."""

    base: Path
    root: Path
    warnings: list[str] = field(default_factory=list)
    count: int = 0

    def find(self, name: str) -> Path | None:
        """Return the path of a mesh inside the root folder; None, with a warning, if there is none."""
        inside = self.root.resolve()
        if name.startswith(PACKAGE):
            package, _, rest = name.removeprefix(PACKAGE).partition("/")
            places = [self.root / package / rest, self.root / rest]
        else:
            places = [self.base / name.removeprefix(FILE)]
        try:
            resolved = [place.resolve() for place in places]
            found = [place for place in resolved if place.is_relative_to(inside) and place.is_file()]
        except (OSError, ValueError, RuntimeError):
            found, resolved = [], []
        if found:
            return found[0]
        out = bool(resolved) and not any(place.is_relative_to(inside) for place in resolved)
        why = "is outside of that folder" if out else "is not there"
        self.warnings.append(f"mesh {name!r:.120} {why} ({str(self.root)!r}; give meshes=); it is not drawn")
        return None

    def read(self, visual: Visual) -> Shape | None:
        """Return a mesh; None, with a warning, if it cannot be read."""
        self.count += 1
        if self.count > MOST_MESHES:
            if self.count == MOST_MESHES + 1:
                self.warnings.append(f"it has more than {MOST_MESHES} meshes; the others are not drawn")
            return None
        path = self.find(visual.file)
        if path is None:
            return None
        try:
            mesh, scale = Mesh(path, color=visual.color), visual.numbers
            if not np.any(scale):
                raise UsageError("its scale is 0")
            if scale[0] == scale[1] == scale[2] > 0.0:
                return Mesh(path, scale=float(scale[0]), color=visual.color)
            corners = mesh.triangles if np.prod(scale) > 0.0 else mesh.triangles[:, ::-1]
            return Mesh.from_arrays(mesh.vertices * scale, corners, color=visual.color)
        except UsageError as error:
            self.warnings.append(f"mesh {visual.file!r:.120} is not drawn: {str(error).removeprefix('Mesh: ').rstrip('.')}")
            return None


def shape_of(visual: Visual, meshes: Meshes) -> Shape | None:
    """Return the shape of a visual in the frame of its link; None, with a warning, if it cannot be drawn."""
    p = euler_parameters.from_rotation_matrix(visual.pose.A)
    x, color = visual.numbers, visual.color
    try:
        if visual.kind == "box":
            return Box(x, center=visual.pose.r, p=p, color=color)
        if visual.kind == "sphere":
            return Sphere(float(x[0]), center=visual.pose.r, color=color)
        if visual.kind == "cylinder":
            return Cylinder(float(x[0]), float(x[1]), center=visual.pose.r, axis=visual.pose.A[:, 2], color=color)
    except UsageError as error:
        meshes.warnings.append(f"line {visual.line}: the {visual.kind} is not drawn: {str(error).rstrip('.')}")
        return None
    mesh = meshes.read(visual)
    return None if mesh is None else mesh.placed(visual.pose.r, visual.pose.A)
