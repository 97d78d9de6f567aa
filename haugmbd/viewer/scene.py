r"""The description of a motion that the page shows: bodies with shapes, joints with glyphs, poses and curves; numbers packed.

size     diagonal of the box around all points at the first frame [m]: glyphs are in proportion to it
up       against gravity; in its absence z, or the axis of the plane that the mechanism moves in
step     of packed positions 2^k <= 1e-6 min(1, extent) [m], of Euler parameters 2^-20: half of it is the error
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from haugmbd.bodies.shapes import Shape
from haugmbd.compiled.array_types import Array
from haugmbd.math.euler_parameters import rotation_matrix
from haugmbd.viewer.frames import Frames
from haugmbd.viewer.mechanism import Mechanism
from haugmbd.viewer.packing import LARGEST, MeshTable, Packer
from haugmbd.viewer.shapes import DrawnShape, equivalent_solid, principal_axes, rod_radius, rounded, shapes_of

GLYPH = 0.54
"""Radius of a stick, in glyph units."""

STEP_P = 2.0**-20
FLAT = 0.02
"""A motion is plane if it is thinner than this part of its width."""

FAR = 20.0
"""Of a motion that leads farther than so many sizes, the picture shows at first what is within."""

LOOKED_AT = 200
"""Frames at which the box around the motion is measured."""


def describe(mechanism: Mechanism, frames: Frames, packer: Packer, meshes: MeshTable) -> dict[str, Any]:
    """Return the scene as the page reads it; numbers over time go to the packer."""
    size = size_of(mechanism, frames.r[0], frames.p[0])
    shapes = shapes_of(mechanism, size)
    return {
        "name": mechanism.name,
        "size": size,
        "glyph": rod_radius(mechanism, size) / GLYPH,
        "gravity": rounded(mechanism.gravity),
        "bodies": [
            {**body, "mass": float(mass) if np.isfinite(mass) else None}
            for body, mass in zip(describe_bodies(mechanism, shapes, meshes), mechanism.mass, strict=True)
        ],
        "meshes": meshes.packed,
        "joints": [joint.data() for joint in mechanism.joints],
        "loads": [load.data() for load in mechanism.loads],
        "contacts": [contact.data() for contact in mechanism.contacts],
        "motion": motion(frames, packer),
        "view": view(mechanism, frames, size, shapes),
    }


def describe_bodies(mechanism: Mechanism, shapes: Sequence[tuple[DrawnShape, ...]], meshes: MeshTable) -> list[dict[str, Any]]:
    """Return names and shapes of the bodies as the page reads them."""
    return [
        {"name": name, "shapes": [shape.data(meshes.number_of) for shape in some]}
        for name, some in zip(mechanism.bodies, shapes, strict=True)
    ]


def motion(frames: Frames, packer: Packer) -> dict[str, Any]:
    """Return times and poses of the bodies without the ground."""
    nf = len(frames.t)
    r, p = frames.r[:, 1:].reshape(nf, -1), frames.p[:, 1:].reshape(nf, -1)
    extent = float(np.abs(r).max(initial=0.0))
    span = float(np.ptp(r, axis=0).max(initial=0.0))
    step = max(1e-6 * min(1.0, max(span, 1e-3 * extent)), 2.0 * extent / LARGEST) if extent > 0.0 else 1e-6
    step_r = 2.0 ** np.floor(np.log2(step))
    return {
        "t": packer.add_exact(frames.t),
        "r": packer.add(r, offset=np.zeros(r.shape[1]), step=np.full(r.shape[1], step_r)),
        "p": packer.add(p, offset=np.zeros(p.shape[1]), step=np.full(p.shape[1], STEP_P)),
    }


def global_points(mechanism: Mechanism, r: Array, p: Array, shapes: Sequence[tuple[DrawnShape, ...]] | None = None) -> Array:
    """Return centres of mass, points of joints and loads, and corners of shapes at frames r (nf, nb + 1, 3), p; global, (nf, n, 3)."""
    owners, places = [], []
    for k in range(len(mechanism.bodies)):
        s = mechanism.points(k) if k == 0 else np.concatenate([np.zeros((1, 3)), mechanism.points(k)])
        if shapes is not None:
            s = np.concatenate([s, *(shape.corners() for shape in shapes[k])])
        owners += [k] * len(s)
        places.append(s)
    if not owners:  # a system without bodies, or without one that has a place
        owners, places = [0], [np.zeros((1, 3))]
    where, s_bar = np.array(owners, dtype=np.int64), np.concatenate(places)
    points: Array = r[:, where] + np.einsum("tnij,nj->tni", rotation_matrix(p[:, where]), s_bar)
    return points


def size_of(mechanism: Mechanism, r: Array, p: Array) -> float:
    """Return the diagonal of the box around all points, or the longest edge of a solid where there is but one point; never 0 [m]."""
    points = global_points(mechanism, r[None], p[None])[0]
    diagonal = float(np.linalg.norm(np.ptp(points, axis=0))) if len(points) else 0.0
    solids = [equivalent_solid(float(m), J, 0.0) for m, J in zip(mechanism.mass[1:], mechanism.J_bar[1:], strict=True)]
    longest = max((float(solid.size.max()) for solid in solids if solid is not None), default=0.0)
    given = [shape for some in (*mechanism.shapes, *mechanism.solids) for shape in some if isinstance(shape, Shape)]
    widest = max((float(shape.size.max()) for shape in given), default=0.0)
    diagonal, longest = max(diagonal, 0.6 * widest), widest or longest
    reach = float(np.abs(points).max(initial=0.0))
    if diagonal > 1e-9 * max(reach, longest):
        return diagonal if len(mechanism.joints) or len(mechanism.bodies) > 2 else max(diagonal, longest)
    return longest or 1.0


def view(mechanism: Mechanism, frames: Frames, size: float, shapes: Sequence[tuple[DrawnShape, ...]]) -> dict[str, Any]:
    """Return the first view of the page: centre and radius of the motion, `up`, the direction to the eye, and the ground's plane."""
    some = np.unique(np.linspace(0, len(frames.t) - 1, LOOKED_AT).astype(int))
    points = global_points(mechanism, frames.r[some], frames.p[some], shapes).reshape(-1, 3)
    start = global_points(mechanism, frames.r[:1], frames.p[:1]).reshape(-1, 3).mean(axis=0)
    near = points[np.linalg.norm(points - start, axis=1) <= FAR * size]
    points = near if len(near) else start[None]
    bare = global_points(mechanism, frames.r[some], frames.p[some]).reshape(-1, 3)
    axes = principal_axes(bare)
    widths = np.ptp(bare @ axes.T, axis=0)
    normal = axes[2] if widths[1] > 4.0 * FLAT * widths[0] and widths[2] <= FLAT * widths[0] else None
    g = float(np.linalg.norm(mechanism.gravity))
    up = -mechanism.gravity / g if g > 0.0 else np.array([0.0, 0.0, 1.0])
    if normal is not None and g == 0.0 and abs(normal[2]) > 0.9:
        up = np.array([0.0, 1.0, 0.0])
    eye = _eye(up, normal)
    seen = np.stack([np.cross(up, eye) / np.linalg.norm(np.cross(up, eye)), up, eye])
    center = _middle(points, seen)
    radius = max(float(np.linalg.norm(points - center, axis=1).max()), 0.3 * size)
    floor = float((points @ up).min()) - 0.04 * size
    return {
        "center": rounded(center),
        "hull": rounded(_extreme(points - center, 0.05 * size)),
        "radius": radius,
        "up": rounded(up),
        "eye": rounded(eye),
        "floor": floor,
        "flat": normal is not None,
    }


def _middle(points: Array, seen: Array) -> Array:
    """Return the middle of the box around points (n, 3) whose edges are right, up and towards the eye, the rows of `seen`."""
    upright = np.stack([seen[0], np.cross(seen[2], seen[0]), seen[2]])
    within = points @ upright.T
    middle: Array = upright.T @ (0.5 * (within.min(axis=0) + within.max(axis=0)))
    return middle


def _extreme(points: Array, least: float) -> Array:
    """Return the points, of (n, 3), that are farthest in 26 directions, (k, 3), and six at a distance `least` from the origin."""
    grid = np.array([(x, y, z) for x in (-1, 0, 1) for y in (-1, 0, 1) for z in (-1, 0, 1) if x or y or z], dtype=np.float64)
    farthest = np.unique(np.argmax(points @ grid.T, axis=0))
    return np.concatenate([points[farthest], least * np.eye(3), -least * np.eye(3)])


def _eye(up: Array, normal: Array | None) -> Array:
    """Return the unit direction from the centre to the eye: near the normal of a plane mechanism, else from aside and above."""
    if normal is not None and abs(normal @ up) < 0.9:
        side = normal - (normal @ up) * up
        side /= np.linalg.norm(side)
        prefer = np.array([1.0, -1.2, 1.1])
        side = side if side @ prefer >= 0.0 else -side
        across = np.cross(up, side)
        eye = side + 0.22 * across + 0.18 * up
    else:
        forward = np.array([1.0, 0.0, 0.0]) if abs(up[0]) < 0.9 else np.array([0.0, 0.0, 1.0])
        forward -= (forward @ up) * up
        forward /= np.linalg.norm(forward)
        eye = 0.62 * forward - 0.66 * np.cross(up, forward) + 0.42 * up
    direction: Array = eye / np.linalg.norm(eye)
    return direction
