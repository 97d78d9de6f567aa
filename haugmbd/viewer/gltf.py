r"""to_gltf: a motion as one .glb file (glTF 2.0, binary), for Blender and every viewer of glTF.

    root      turns the model's `up` to glTF's +y
    body      a node with the body's name, moved by an animation: translation r, rotation (e1, e2, e3, e0), linear between frames
    shape     a child of its body: a unit solid, stretched
    joint     a small ball on body j with the joint's name
    spring    a thin cylinder, moved and stretched; a massless rod likewise

Source: Khronos Group, glTF 2.0 Specification (2021); checked by its validator.
"""

from __future__ import annotations

import json
import struct
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from haugmbd.bodies.shapes.base import turn_of_z
from haugmbd.compiled.array_types import Array
from haugmbd.errors import UsageError
from haugmbd.math.euler_parameters import rotation_matrix
from haugmbd.simulation.results.io.paths import path_of, unwritable
from haugmbd.system.system import System
from haugmbd.viewer.animate import maximal, mechanism_of
from haugmbd.viewer.frames import Frames, Ints, Seen, frames_of
from haugmbd.viewer.mechanism import Mechanism, Rod, of_system
from haugmbd.viewer.scene import size_of, view
from haugmbd.viewer.shapes import DrawnShape, rod_radius, shapes_of, unit_mesh

COLORS = (
    (0, 114, 178),
    (213, 94, 0),
    (0, 158, 115),
    (204, 121, 167),
    (230, 159, 0),
    (86, 180, 233),
    (117, 112, 179),
    (102, 166, 30),
)
STEEL = (70, 82, 94)
Color = tuple[int, int, int]
Accessors = tuple[dict[str, int], int]
"""The numbers of the accessors of attributes, by their names, and of indices."""

BALL, BAR = (DrawnShape(kind, np.ones(3), np.zeros(3), np.array([1.0, 0.0, 0.0, 0.0])) for kind in ("sphere", "cylinder"))
FLOAT, INDEX = 5126, 5125
VERTICES, INDICES = 34962, 34963
MAGIC, JSON_CHUNK, BINARY_CHUNK = 0x46546C67, 0x4E4F534A, 0x004E4942


def to_gltf(result: Seen | System, path: str | Path, *, frames: int | None = None) -> Path:
    """Write the motion as one .glb file (glTF 2.0, binary).

    Parameters
    ----------
    result : Result or System
        The motion, with its model; of a system, its modelled pose.
    path : str or Path
        The file, .glb.
    frames : int, optional
        Number of frames of the animation, at equal steps of time; by default as in `animate`.

    Returns
    -------
    Path
        The file.

    Raises
    ------
    UsageError
        If `result` is not a result, frames is not valid, the ending is not .glb, or the file cannot be written.

    Notes
    -----
    Source: Khronos Group, glTF 2.0 Specification (2021).
    """
    where = path_of(path)
    if where.suffix.lower() != ".glb":
        raise UsageError(f"{str(where)!r} ends with {where.suffix!r}: give a name that ends with .glb.")
    if isinstance(result, System):
        mechanism = of_system(result)
        drawn = Frames(np.zeros(1), mechanism.r[None], mechanism.p[None], np.ones(1, dtype=bool), ())
    else:
        seen = maximal(result)[0]
        mechanism, drawn = mechanism_of(seen), increasing(frames_of(seen, frames))
    data = _File(mechanism, drawn).bytes()
    try:
        where.write_bytes(data)
    except OSError as error:
        raise unwritable(where, error) from None
    return where


def increasing(frames: Frames) -> Frames:
    """Return frames whose times, in single precision, increase from 0: of two at one time the later; p has no jumps of sign."""
    t = (frames.t - frames.t[0]).astype(np.float32)
    kept = np.append(np.diff(t) > 0.0, True)
    p = frames.p[kept].copy()
    signs = np.where(np.sum(p[1:] * p[:-1], axis=-1, keepdims=True) < 0.0, -1.0, 1.0)
    p[1:] *= np.cumprod(signs, axis=0)
    return Frames(t[kept].astype(np.float64), frames.r[kept], p, frames.finite, frames.notes)


class _File:
    """The parts of a glTF file, gathered."""

    def __init__(self, mechanism: Mechanism, frames: Frames) -> None:
        self.mechanism, self.frames = mechanism, frames
        self.data, self.length = list[bytes](), 0
        self.views, self.accessors, self.meshes, self.materials = _rows(), _rows(), _rows(), _rows()
        self.nodes, self.channels, self.samplers = _rows(), _rows(), _rows()
        self._solids: dict[Any, Accessors] = {}
        self._made: dict[Any, int] = {}
        self.time = self.accessor(frames.t[:, None], bounds=True) if len(frames.t) > 1 else -1
        self._fill()

    def _fill(self) -> None:
        """Add the nodes of all bodies, springs and rods."""
        mechanism, frames = self.mechanism, self.frames
        size = size_of(mechanism, frames.r[0], frames.p[0])
        shapes = shapes_of(mechanism, size)
        rod = rod_radius(mechanism, size)
        children = [self._body(k, shapes[k], 2.4 * rod) for k in range(len(mechanism.bodies))]
        A = rotation_matrix(frames.p)
        for load in mechanism.loads:
            if load.kind == "TSDA":
                children.append(self._bar(load.name, Rod(load.i, load.s_i, load.j, load.s_j).ends(frames.r, A), 0.8 * rod))
        for joint in mechanism.joints:
            children += [self._bar(f"rod of {joint.name}", one.ends(frames.r, A), 1.0 * rod) for one in joint.rods]
        up = np.array(view(mechanism, frames, size, shapes)["up"])
        self.root = self.node(mechanism.name, p=turn(up, np.array([0.0, 1.0, 0.0])), children=children)

    def _body(self, k: int, shapes: tuple[DrawnShape, ...], ball: float) -> int:
        """Return the node of a body, with its shapes and the joints on it."""
        color = COLORS[(k - 1) % len(COLORS)] if k else STEEL
        children = [self._shape(shape, color) for shape in shapes]
        for joint in self.mechanism.joints:
            if joint.j == k and joint.placed:
                children.append(self.node(joint.name, r=joint.s_j, size=np.full(3, ball), mesh=self.mesh(BALL, STEEL)))
        frames = self.frames
        node = self.node(self.mechanism.bodies[k], r=frames.r[0, k], p=frames.p[0, k], children=children)
        if k:
            self.animate(node, "translation", frames.r[:, k])
            self.animate(node, "rotation", scalar_last(frames.p[:, k]))
        return node

    def _shape(self, shape: DrawnShape, color: Color) -> int:
        """Return the node of a shape."""
        color = _rgb(shape.color) if shape.color else color
        if shape.vertices is not None and shape.triangles is not None:
            corners = shape.vertices[shape.triangles].reshape(-1, 3)
            flat = self._triangles(corners, np.arange(len(corners)).reshape(-1, 3))
            return self.node(None, mesh=self._mesh(flat, self.material(color, clear=True, sheet=True)))
        return self.node(None, r=shape.r, p=shape.p, size=shape.size, mesh=self.mesh(shape, color))

    def _bar(self, name: str, ends: Array, width: float) -> int:
        """Return a thin cylinder between two points over time, (2, nf, 3): a spring, or a massless rod."""
        along, middle = ends[1] - ends[0], 0.5 * (ends[0] + ends[1])
        length = np.maximum(np.linalg.norm(along, axis=1), 1e-9 * width)
        p = np.array([turn_of_z(d) if np.any(d) else (1.0, 0.0, 0.0, 0.0) for d in along])
        p[1:] *= np.cumprod(np.where(np.sum(p[1:] * p[:-1], axis=1, keepdims=True) < 0.0, -1.0, 1.0), axis=0)
        size = np.stack([np.full_like(length, width), np.full_like(length, width), length], axis=1)
        node = self.node(name, r=middle[0], p=p[0], size=size[0], mesh=self.mesh(BAR, STEEL))
        for target, values in (("translation", middle), ("rotation", scalar_last(p)), ("scale", size)):
            self.animate(node, target, values)
        return node

    def node(
        self,
        name: str | None,
        *,
        r: Array | None = None,
        p: Array | None = None,
        size: Array | None = None,
        mesh: int | None = None,
        children: list[int] | None = None,
    ) -> int:
        """Add a node and return its number."""
        parts = {
            "name": name,
            "translation": None if r is None else _floats(r),
            "rotation": None if p is None else _floats(scalar_last(p[None])[0]),
            "scale": None if size is None else _floats(size),
            "mesh": mesh,
            "children": children or None,
        }
        self.nodes.append({key: value for key, value in parts.items() if value is not None})
        return len(self.nodes) - 1

    def mesh(self, shape: DrawnShape, color: Color) -> int:
        """Return the number of a mesh in a colour, made once. A mesh of a file has no normals, so that readers show it with flat faces."""
        solid = shape.mesh.digest if shape.mesh else (shape.kind, shape.inner)
        key = ("mesh", solid, color, shape.clear)
        if key not in self._made:
            if solid not in self._solids:
                data = shape.mesh
                self._solids[solid] = (
                    self._triangles(*unit_mesh(shape.kind, shape.inner))
                    if data is None
                    else self._triangles(data.vertices, data.triangles, normals=False)
                )
            self._made[key] = self._mesh(self._solids[solid], self.material(color, clear=shape.clear))
        return self._made[key]

    def _mesh(self, accessors: Accessors, material: int) -> int:
        """Add a mesh and return its number."""
        attributes, index = accessors
        self.meshes.append({"primitives": [{"attributes": attributes, "indices": index, "material": material}]})
        return len(self.meshes) - 1

    def _triangles(self, vertices: Array, triangles: Ints, *, normals: bool = True) -> Accessors:
        """Return the accessors of positions, of normals, and of indices."""
        attributes = {"POSITION": self.accessor(vertices, bounds=True, target=VERTICES)}
        if normals:
            attributes["NORMAL"] = self.accessor(vertex_normals(vertices, triangles), target=VERTICES)
        return attributes, self.accessor(triangles.reshape(-1, 1), target=INDICES)

    def material(self, color: Color, *, clear: bool = False, sheet: bool = False) -> int:
        """Return the number of a material, made once; sheets are seen from both sides."""
        key = ("material", color, clear, sheet)
        if key not in self._made:
            linear = [round(((c / 255.0 + 0.055) / 1.055) ** 2.4 if c > 10 else c / 255.0 / 12.92, 6) for c in color]
            look = {"baseColorFactor": [*linear, 0.45 if clear else 1.0], "metallicFactor": 0.05, "roughnessFactor": 0.6}
            made: dict[str, Any] = {"pbrMetallicRoughness": look}
            self.materials.append(made | ({"alphaMode": "BLEND"} if clear else {}) | ({"doubleSided": True} if sheet else {}))
            self._made[key] = len(self.materials) - 1
        return self._made[key]

    def animate(self, node: int, target: str, values: Array) -> None:
        """Move a node along values (nf, n); not one that stands still."""
        if self.time < 0 or not np.any(np.ptp(values, axis=0) > 0.0):
            return
        self.samplers.append({"input": self.time, "output": self.accessor(values), "interpolation": "LINEAR"})
        self.channels.append({"sampler": len(self.samplers) - 1, "target": {"node": node, "path": target}})

    def accessor(self, values: npt.NDArray[Any], *, bounds: bool = False, target: int | None = None) -> int:
        """Keep an array (n, k) and return the number of its accessor."""
        whole = np.issubdtype(values.dtype, np.integer)
        array = np.ascontiguousarray(values, dtype="<u4" if whole else "<f4")
        view_: dict[str, Any] = {"buffer": 0, "byteOffset": self.length, "byteLength": array.nbytes}
        self.views.append({**view_, "target": target} if target else view_)
        self.data.append(array.tobytes())
        self.length += array.nbytes
        kind = {1: "SCALAR", 3: "VEC3", 4: "VEC4"}[array.shape[1]]
        made = {"bufferView": len(self.views) - 1, "componentType": INDEX if whole else FLOAT, "count": len(array), "type": kind}
        if bounds:
            made |= {"min": [float(x) for x in array.min(axis=0)], "max": [float(x) for x in array.max(axis=0)]}
        self.accessors.append(made)
        return len(self.accessors) - 1

    def bytes(self) -> bytes:
        """Return the bytes of the file."""
        content: dict[str, Any] = {
            "asset": {"version": "2.0", "generator": "haugmbd"},
            "scene": 0,
            "scenes": [{"name": self.mechanism.name, "nodes": [self.root]}],
            "nodes": self.nodes,
        }
        for key in ("meshes", "materials", "accessors"):
            if getattr(self, key):
                content[key] = getattr(self, key)
        if self.channels:
            content["animations"] = [{"name": "motion", "channels": self.channels, "samplers": self.samplers}]
        binary = b"".join(self.data)
        if binary:
            content |= {"bufferViews": self.views, "buffers": [{"byteLength": len(binary)}]}
        text = json.dumps(content, separators=(",", ":"), allow_nan=False).encode()
        text += b" " * (-len(text) % 4)
        chunks = [struct.pack("<II", len(text), JSON_CHUNK), text]
        if binary:
            chunks += [struct.pack("<II", len(binary), BINARY_CHUNK), binary]
        body = b"".join(chunks)
        return struct.pack("<III", MAGIC, 2, 12 + len(body)) + body


def _rgb(color: str) -> Color:
    """Return red, green and blue of a colour "#rrggbb", from 0 to 255."""
    return int(color[1:3], 16), int(color[3:5], 16), int(color[5:7], 16)


def _rows() -> list[dict[str, Any]]:
    return []


def _floats(values: Array) -> list[float]:
    """Return numbers in single precision, as they are in the file's arrays."""
    return [float(x) for x in np.asarray(values, dtype=np.float32)]


def scalar_last(p: Array) -> Array:
    """Return quaternions (n, 4) in glTF's order, of length 1."""
    q: Array = np.roll(p / np.linalg.norm(p, axis=1, keepdims=True), -1, axis=1)
    return q


def turn(a: Array, b: Array) -> Array:
    """Return Euler parameters of the shortest rotation that takes the unit vector a to b."""
    p = np.array([1.0 + a @ b, *np.cross(a, b)])
    if np.linalg.norm(p) < 1e-9:
        return np.array([0.0, 1.0, 0.0, 0.0]) if abs(a[0]) < 0.5 else np.array([0.0, 0.0, 1.0, 0.0])
    unit: Array = p / np.linalg.norm(p)
    return unit


def vertex_normals(vertices: Array, triangles: Ints) -> Array:
    """Return the unit normals of vertices: means over the triangles around, weighted by their areas."""
    a, b, c = (vertices[triangles[:, k]] for k in range(3))
    faces = np.cross(b - a, c - a)
    normals = np.zeros_like(vertices, dtype=np.float64)
    for k in range(3):
        np.add.at(normals, triangles[:, k], faces)
    unit: Array = normals / np.linalg.norm(normals, axis=1, keepdims=True)
    return unit
