r"""Pictures by matplotlib, which need no browser: the bodies as shaded triangles, drawn from the farthest to the nearest.

    x = D (P - c) . right / (D - depth)     y = D (P - c) . above / (D - depth)     depth = (P - c) . eye

c: the centre of the motion;  eye: from where the page looks at first;  D: the distance of the eye
Source: painter's algorithm, Newell, Newell and Sancha (1972); triangles are small beside the distances of bodies.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from haugmbd.bodies.shapes.base import turn_of_z
from haugmbd.compiled.array_types import Array
from haugmbd.errors import UsageError
from haugmbd.math.euler_parameters import rotation_matrix
from haugmbd.viewer.frames import Frames
from haugmbd.viewer.mechanism import LinePart, Mechanism
from haugmbd.viewer.scene import GLYPH, size_of, view
from haugmbd.viewer.shapes import rod_radius, shapes_of, triangles_of, unit_mesh

COLORS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#7570b3", "#66a61e", "#a6761d", "#8c8c8c")
"""Of the bodies, as in the page."""

CLEAR = 0.45
"""Opacity of a solid that would hide joints."""

MOST_TRIANGLES = 6000
"""Of a mesh in a picture, about."""

STEEL, ROD_WIDTH = "#5b6672", 1.0
"""Of massless rods: colour, and width over the radius of a stick."""

PLANE, FAINT, PATCH = "#5f7d95", 0.22, 0.35
"""Of the planes of contacts: colour, opacity, and half the edge of the square that is drawn, relative to the size of the mechanism."""

POINTER = "#e8710a"
"""Colour of what moves within a limit, as in the page."""

SIZE = (8.0, 6.0)
"""Of a picture [inch]."""

FAR = 5.0
"""Distance of the eye, in radii of the motion."""


class Drawing:
    """A figure with the mechanism in it; `place(k)` puts it where it is at frame k."""

    def __init__(self, mechanism: Mechanism, frames: Frames) -> None:
        pyplot, poly, lines, rgba = _matplotlib()
        self.mechanism, self.frames = mechanism, frames
        size = size_of(mechanism, frames.r[0], frames.p[0])
        shapes = shapes_of(mechanism, size)
        look = view(mechanism, frames, size, shapes)
        self._look_from(look)
        parts = [[triangles_of(shape, MOST_TRIANGLES) for shape in some] for some in shapes]
        self.bodies = [np.concatenate([np.zeros((0, 3, 3)), *some]) for some in parts]
        colors = [
            np.tile(rgba(shape.color or COLORS[(k - 1) % len(COLORS)], CLEAR if shape.clear else 1.0), (len(triangles), 1))
            for k, (some, each) in enumerate(zip(shapes, parts, strict=True))
            for shape, triangles in zip(some, each, strict=True)
        ]
        self.rods = [rod for joint in mechanism.joints for rod in joint.rods]
        self.rod_width = ROD_WIDTH * rod_radius(mechanism, size)
        steel = np.tile(rgba(STEEL), (len(self.rods) * len(BAR), 1))
        self.colors = np.concatenate([np.zeros((0, 4)), *colors, steel])
        self.size, self.glyph = size, rod_radius(mechanism, size) / GLYPH
        self.figure = pyplot.figure(figsize=SIZE, layout="none")
        self.axes = self.figure.add_axes((0.0, 0.0, 1.0, 0.93))
        self.axes.set_aspect("equal")
        self.axes.axis("off")
        self._ground(look, lines)
        self.surfaces = self.axes.add_collection(poly(np.zeros((1, 3, 2)), linewidths=0.3))
        self._add_marks()
        self.title = self.figure.suptitle("", y=0.985, fontsize=12, parse_math=False)
        self._limit(look)

    def _look_from(self, look: dict[str, Any]) -> None:
        """Place the eye: the rows of `view` are the directions to the right, upwards, and towards the viewer."""
        self.center, eye, up = (np.array(look[key]) for key in ("center", "eye", "up"))
        right = np.cross(up, eye)
        right /= np.linalg.norm(right)
        self.view = np.stack([right, np.cross(eye, right), eye])
        self.distance = FAR * float(look["radius"])

    def _add_marks(self) -> None:
        """Add the lines and patches of joints, springs, limits and planes of contacts, which `place` moves."""
        (self.dots,) = self.axes.plot([], [], "o", color="#333d47", markeredgecolor="white", markersize=6, zorder=3)
        self.springs = [
            (load, self.axes.plot([], [], "-", color="#5f7d95", linewidth=1.8, zorder=2)[0]) for load in self._springs()
        ]
        self.limits = [
            (line, self.axes.plot([], [], "-", color=POINTER if line.pointer else PLANE, linewidth=1.4, zorder=2.5)[0])
            for load in self.mechanism.loads
            for line in load.lines
        ]
        self.planes = [
            (contact, self.axes.fill([0.0], [0.0], facecolor=PLANE, edgecolor=PLANE, alpha=FAINT, linewidth=1.2, zorder=0.5)[0])
            for contact in self.mechanism.contacts
            if contact.more["plane"]
        ]

    def _springs(self) -> list[LinePart]:
        """Return the springs and dampers between two points."""
        return [load for load in self.mechanism.loads if load.kind == "TSDA"]

    def _limit(self, look: dict[str, Any]) -> None:
        """Show the whole motion."""
        flat = self.project(self.center + np.array(look["hull"]).reshape(-1, 3))[:, :2]
        low, high = flat.min(axis=0), flat.max(axis=0)
        margin = 0.08 * float((high - low).max())
        self.axes.set_xlim(low[0] - margin, high[0] + margin)
        self.axes.set_ylim(low[1] - margin, high[1] + margin)

    def _ground(self, look: dict[str, Any], line_collection: Any) -> None:
        """Draw a grid below the motion."""
        up = np.array(look["up"])
        a, b = np.cross(up, self.view[2]), np.cross(up, np.cross(up, self.view[2]))
        a, b = a / np.linalg.norm(a), b / np.linalg.norm(b)
        middle, out = self.center + (float(look["floor"]) - self.center @ up) * up, 1.5 * float(look["radius"])
        lines = [
            [middle + s * u - out * v, middle + s * u + out * v] for s in np.linspace(-out, out, 11) for u, v in ((a, b), (b, a))
        ]
        flat = self.project(np.array(lines))[..., :2]
        self.axes.add_collection(line_collection(flat, colors="#dde2e7", linewidths=0.7, zorder=0))

    def project(self, points: Array) -> Array:
        """Return points (..., 3) in the axes of the picture: to the right, upwards, and towards the viewer."""
        seen = (points - self.center) @ self.view.T
        factor = self.distance / (self.distance - np.minimum(seen[..., 2:], 0.9 * self.distance))
        projected: Array = np.concatenate([seen[..., :2] * factor, seen[..., 2:]], axis=-1)
        return projected

    def place(self, k: int) -> None:
        """Draw frame k."""
        r, A = self.frames.r[k], rotation_matrix(self.frames.p[k])
        bodies = [triangles @ A[body].T + r[body] for body, triangles in enumerate(self.bodies)]
        corners = np.concatenate([*bodies, *(bar(rod.ends(r, A), self.rod_width) for rod in self.rods)])
        normals = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
        length = np.linalg.norm(normals, axis=1)
        facing = np.abs(normals @ self.view.T) / np.where(length > 0.0, length, 1.0)[:, None]
        light = 0.5 + 0.42 * facing[:, 2] + 0.16 * facing[:, 1]
        flat = self.project(corners)
        order = np.argsort(flat[..., 2].mean(axis=1))
        colors = self.colors.copy()
        colors[:, :3] = np.clip(light[:, None] * colors[:, :3], 0.0, 1.0)
        edges = colors[order]
        edges[edges[:, 3] < 1.0, 3] = 0.0  # edges of translucent triangles would be seen twice
        self.surfaces.set_verts(flat[order, :, :2])
        self.surfaces.set(facecolor=colors[order], edgecolor=edges)
        joints = [r[e.j] + A[e.j] @ e.s_j for e in self.mechanism.joints if e.placed]
        self.dots.set_data(*self.project(np.array(joints).reshape(-1, 3))[:, :2].T)
        for contact, patch in self.planes:
            patch.set_xy(self.project(plane_corners(contact, r, A, PATCH * self.size))[:, :2])
        for load, line in self.springs:
            line.set_data(*self._zigzag(r[load.i] + A[load.i] @ load.s_i, r[load.j] + A[load.j] @ load.s_j).T)
        for limit, line in self.limits:
            line.set_data(*self.project(r[limit.body] + limit.points(self.glyph) @ A[limit.body].T)[:, :2].T)
        self.title.set_text(f"{self.mechanism.name},  t = {self.frames.t[k]:.4g} s")

    def _zigzag(self, a: Array, b: Array) -> Array:
        """Return a spring from a to b in the picture, (n, 2)."""
        ends = self.project(np.stack([a, b]))[:, :2]
        along = ends[1] - ends[0]
        s = np.linspace(0.0, 1.0, 25)
        side = np.where(np.arange(25) % 2 == 0, 1.0, -1.0) * ((s > 0.1) & (s < 0.9)) * 0.03 * self.distance / FAR
        across = np.array([-along[1], along[0]]) / max(float(np.linalg.norm(along)), 1e-300)
        line: Array = ends[0] + s[:, None] * along + side[:, None] * across
        return line

    def close(self) -> None:
        """Free the figure."""
        _matplotlib()[0].close(self.figure)


def plane_corners(contact: LinePart, r: Array, A: Array, half: float) -> Array:
    """Return the corners (4, 3) of a square of the plane of a contact, below the point that touches it."""
    axes = A[contact.i] @ rotation_matrix(np.array(contact.more["p_i"]))
    on_plane, touching = r[contact.i] + A[contact.i] @ contact.s_i, r[contact.j] + A[contact.j] @ contact.s_j
    foot = touching - ((touching - on_plane) @ axes[:, 2]) * axes[:, 2]
    corners: Array = foot + half * np.array([[1, 1], [-1, 1], [-1, -1], [1, -1]]) @ axes[:, :2].T
    return corners


BAR: Array = unit_mesh("cylinder")[0][unit_mesh("cylinder")[1]]
"""Triangles of a cylinder along z, of diameter and length 1."""


def bar(ends: Array, width: float) -> Array:
    """Return the triangles of a thin cylinder between two points (2, 3), (n, 3 corners, 3)."""
    along = ends[1] - ends[0]
    length = float(np.linalg.norm(along))
    turned = rotation_matrix(turn_of_z(along)) if length > 0.0 else np.eye(3)
    corners: Array = ends.mean(axis=0) + (BAR * (width, width, length)) @ turned.T
    return corners


def _matplotlib() -> tuple[Any, Any, Any, Any]:
    """Return pyplot, PolyCollection, LineCollection and to_rgba. Raise UsageError if matplotlib is missing."""
    try:
        from matplotlib import pyplot  # noqa: PLC0415  loaded only where something is drawn
        from matplotlib.collections import LineCollection, PolyCollection  # noqa: PLC0415
        from matplotlib.colors import to_rgba  # noqa: PLC0415
    except ImportError as error:
        raise UsageError("pictures need matplotlib, which is not installed: pip install matplotlib.") from error
    return pyplot, PolyCollection, LineCollection, to_rgba
