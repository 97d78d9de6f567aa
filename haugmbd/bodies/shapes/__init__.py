"""Shapes of bodies: what is drawn of them. A shape has no mass, and changes no motion.

base     Shape: centre, rotation and colour
solids   Box, Sphere, Ellipsoid, Cylinder, Capsule, Cone
plane    Plane, for contact; it is not drawn
files    triangles of .stl and .obj files, and the limits of a file
mesh     Mesh: triangles of a file or of arrays
"""

from haugmbd.bodies.shapes.base import Shape, read_shapes
from haugmbd.bodies.shapes.mesh import Mesh
from haugmbd.bodies.shapes.plane import Plane
from haugmbd.bodies.shapes.solids import Box, Capsule, Cone, Cylinder, Ellipsoid, Sphere

SOLIDS: tuple[type[Shape], ...] = (Box, Sphere, Cylinder, Cone, Capsule, Ellipsoid)
"""Shapes of which model files hold the arguments of the constructor. A new one is a file and an entry here."""

__all__ = [
    "SOLIDS",
    "Box",
    "Capsule",
    "Cone",
    "Cylinder",
    "Ellipsoid",
    "Mesh",
    "Plane",
    "Shape",
    "Sphere",
    "read_shapes",
]
