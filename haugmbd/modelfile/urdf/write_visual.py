r"""Shapes of bodies as <visual>: boxes, spheres and cylinders; meshes as .obj files beside the robot file."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from haugmbd.bodies.shapes import Box, Cylinder, Mesh, Shape, Sphere
from haugmbd.compiled.array_types import Array
from haugmbd.math.euler_parameters import rotation_matrix
from haugmbd.modelfile.exports import element, numbers, positive, rgba, rpy, write_text


class Visuals:
    """Writes the shapes of bodies, and keeps the meshes that belong beside the file."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.meshes: dict[int, tuple[str, Mesh]] = {}

    def text(self, shape: Shape, origin: Array) -> str:
        """Return the <visual> of a shape on a link whose origin is at `origin` from the centre of mass; "" if a URDF cannot hold it."""
        inside = self._geometry(shape)
        if not inside:
            return ""
        place = element("origin", xyz=numbers(shape.center - origin), rpy=numbers(rpy(rotation_matrix(shape.p))))
        material = [element("material", [element("color", rgba=rgba(shape.color))], name=shape.color)] if shape.color else []
        return element("visual", [place, element("geometry", [inside]), *material])

    def _geometry(self, shape: Shape) -> str:
        """Return the geometry of a shape; "" if a URDF has none like it."""
        if isinstance(shape, Box) and positive(shape.edges):
            return element("box", size=numbers(shape.edges))
        if isinstance(shape, Sphere) and positive((shape.radius,)):
            return element("sphere", radius=numbers((shape.radius,)))
        if isinstance(shape, Cylinder) and positive((shape.radius, shape.length)) and shape.inner_radius == 0.0:
            return element("cylinder", radius=numbers((shape.radius,)), length=numbers((shape.length,)))
        if isinstance(shape, Mesh):
            new = f"{self.path.stem}_mesh{len(self.meshes) + 1}.obj"
            name = self.meshes.setdefault(id(shape.data), (new, shape))[0]
            return element("mesh", filename=name, scale=numbers((shape.scale,) * 3))
        return ""

    def write(self) -> list[Path]:
        """Write the meshes, and return their files."""
        files = []
        for name, mesh in self.meshes.values():
            lines = [f"v {numbers(x)}" for x in mesh.data.vertices]
            lines += [f"f {' '.join(map(str, corners))}" for corners in (np.asarray(mesh.triangles) + 1).tolist()]
            files.append(self.path.parent / name)
            write_text(files[-1], "\n".join(lines) + "\n")
        return files
