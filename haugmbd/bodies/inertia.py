r"""Mass and inertia of solids, and the parallel-axis theorem.

    J_P = J_C + m (d.d I - d d^T)           d from the centre of mass C to the point P
    composite: m = sum m_k    c = sum m_k c_k / m    J = sum (A_k J_k A_k^T + m_k (d_k.d_k I - d_k d_k^T)),  d_k = c_k - c
    about an axis a of symmetry: J = J_a a a^T + J_t (I - a a^T)

A solid returns `MassProperties`, which unpacks into two arguments of `Body`: `Body("link", *rod(2.0, mass=3.0))`. Its inertia
remembers the shape of the solid, so that the body is drawn as this solid.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from haugmbd.bodies.shapes import Box, Capsule, Cone, Cylinder, Ellipsoid, Mesh, Shape, Sphere
from haugmbd.bodies.validation import FloatArray, frozen, need_unmasked
from haugmbd.errors import UsageError
from haugmbd.math.euler_parameters import rotation_matrix

__all__ = [
    "MassProperties",
    "about_center_of_mass",
    "box",
    "capsule",
    "combine",
    "cone",
    "cylinder",
    "disc",
    "ellipsoid",
    "mesh",
    "plate",
    "point_mass",
    "rod",
    "sphere",
    "steiner",
    "tube",
]

Vector = Sequence[float] | FloatArray


def steiner(mass: float, offset: Vector) -> FloatArray:
    """Return the inertia of a point mass about the origin, m (d.d I - d d^T).

    Parameters
    ----------
    mass : float
        Mass [kg].
    offset : array_like, (3,)
        Its position d [m].

    Returns
    -------
    ndarray, (3, 3)
        [kg m2].
    """
    need_unmasked("offset", offset)
    d = np.asarray(offset, dtype=np.float64)
    J: FloatArray = mass * (np.dot(d, d) * np.eye(3) - np.outer(d, d))
    return J


class SolidInertia(np.ndarray[Any, np.dtype[np.float64]]):
    """An inertia (3, 3) that remembers the solid it is of: `shapes`, in its axes, about the centre of mass.

    What is computed from it is an ordinary array, because it is the inertia of another solid.
    """

    shapes: tuple[Shape, ...]

    def __array_finalize__(self, of: Any) -> None:
        self.shapes = ()

    def __array_wrap__(self, array: Any, context: Any = None, return_scalar: bool = False) -> Any:
        return array[()] if return_scalar else array

    def __deepcopy__(self, memo: Any) -> Any:
        return solid_inertia(self, self.shapes)

    def __reduce__(self) -> Any:
        return solid_inertia, (np.array(self), self.shapes)

    def __repr__(self) -> str:
        return repr(np.asarray(self))


def solid_inertia(J_bar: npt.ArrayLike, shapes: tuple[Shape, ...]) -> FloatArray:
    """Return J_bar (3, 3) [kg m2] as an inertia that remembers these shapes, read-only."""
    J = frozen(J_bar).view(SolidInertia)
    J.shapes = shapes
    J.flags.writeable = False
    return J


@dataclass(frozen=True, eq=False)
class MassProperties:
    """Mass, centre of mass, and inertia about it.

    Attributes
    ----------
    mass : float
        Mass [kg].
    J_bar : ndarray, (3, 3)
        Inertia about the centre of mass [kg m2], read-only; the constructor also accepts three principal values.
    center : ndarray, (3,)
        Centre of mass in the frame that the solid is described in [m], read-only.
    shapes : tuple of Shape
        What is drawn of it, from the centre of mass, in the axes of J_bar.
    """

    mass: float
    J_bar: FloatArray
    center: FloatArray = field(default_factory=lambda: np.zeros(3))
    shapes: tuple[Shape, ...] = ()

    def __post_init__(self) -> None:
        need_unmasked("J_bar", self.J_bar)
        need_unmasked("center", self.center)
        J_bar = np.asarray(self.J_bar, dtype=np.float64)
        object.__setattr__(self, "mass", float(self.mass))
        J_bar = frozen(np.diag(J_bar) if J_bar.shape == (3,) else J_bar)
        object.__setattr__(self, "J_bar", solid_inertia(J_bar, self.shapes) if self.shapes else J_bar)
        object.__setattr__(self, "center", frozen(self.center))

    def __iter__(self) -> Iterator[float | FloatArray]:
        """Unpack as `mass, J_bar`, the arguments of a Body."""
        return iter((self.mass, self.J_bar))

    def shifted(self, offset: Vector) -> FloatArray:
        """Return the inertia about the point at `offset` from the centre of mass [kg m2], (3, 3)."""
        return self.J_bar + steiner(self.mass, offset)

    def placed(self, center: Vector = (0.0, 0.0, 0.0), A: npt.ArrayLike | None = None) -> MassProperties:
        """Return the same solid turned by the rotation matrix A (3, 3), with its centre of mass at `center` [m]."""
        need_unmasked("A", A)
        need_unmasked("center", center)
        turn = np.eye(3) if A is None else np.asarray(A, dtype=np.float64)
        shapes = tuple(shape.placed(A=turn) for shape in self.shapes)
        return MassProperties(self.mass, turn @ self.J_bar @ turn.T, np.asarray(center, dtype=np.float64), shapes)


def about_center_of_mass(mass: float, J_point: npt.ArrayLike, offset: Vector) -> MassProperties:
    """Return the properties of a body whose inertia is known about another point than its centre of mass.

    Parameters
    ----------
    mass : float
        Mass [kg].
    J_point : array_like, (3, 3) or (3,)
        Inertia about the point, body frame [kg m2]; three numbers are its diagonal.
    offset : array_like, (3,)
        The point from the centre of mass, body frame [m].

    Returns
    -------
    MassProperties
        Mass, inertia about the centre of mass and shape; `Body(name, *about_center_of_mass(...))` takes mass and inertia.

    Notes
    -----
    J_C = J_P - m (d.d I - d d^T), with the offset d: the parallel-axis theorem.
    """
    need_unmasked("J_point", J_point)
    J = np.asarray(J_point, dtype=np.float64)
    return MassProperties(mass, (np.diag(J) if J.shape == (3,) else J) - steiner(mass, offset))


def combine(parts: Iterable[MassProperties], minus: Iterable[MassProperties] = ()) -> MassProperties:
    """Return mass, centre of mass and inertia about it of rigidly joined parts, and of what is cut out of them.

    Parameters
    ----------
    parts : iterable of MassProperties
        Each placed in one common frame by `placed`.
    minus : iterable of MassProperties
        Holes: solids of the density of what they are cut out of, placed likewise. Each lies within the parts.

    Returns
    -------
    MassProperties
        Of the whole; `center` is its centre of mass in the common frame.

    Raises
    ------
    UsageError
        If the parts have no mass, or if no body has what is left when the holes are cut out.
    """
    holes = tuple(minus)
    if holes:
        return _cut(combine(parts), holes)
    parts = tuple(parts)
    mass = math.fsum(part.mass for part in parts)
    if not mass > 0.0:
        raise UsageError(
            f"combine: the {len(parts)} parts have a mass of {mass} kg together. Give at least one part with a positive mass."
        )
    center = np.sum([part.mass * part.center for part in parts], axis=0) / mass
    J_bar = np.sum([part.shifted(part.center - center) for part in parts], axis=0)
    shapes = tuple(shape.placed(part.center - center) for part in parts for shape in part.shapes)
    return MassProperties(mass, J_bar, center, shapes)


def _cut(whole: MassProperties, holes: tuple[MassProperties, ...]) -> MassProperties:
    """Return what is left of a solid without holes. Raise UsageError if no body has such mass and inertia."""
    mass = whole.mass - math.fsum(hole.mass for hole in holes)
    if not mass > 0.0:
        cut = math.fsum(hole.mass for hole in holes)
        raise UsageError(
            f"combine: {cut:.6g} kg are cut out of {whole.mass:.6g} kg. Give holes within the parts, of their density."
        )
    center = (whole.mass * whole.center - np.sum([hole.mass * hole.center for hole in holes], axis=0)) / mass
    J_bar = whole.shifted(whole.center - center) - np.sum([hole.shifted(hole.center - center) for hole in holes], axis=0)
    moments = np.linalg.eigvalsh(J_bar)
    if moments[0] < -HOLE_RTOL * moments[2] or moments[2] > (moments[0] + moments[1]) * (1.0 + HOLE_RTOL):
        raise UsageError(
            f"combine: what is left has the principal moments {', '.join(f'{x:.6g}' for x in moments)} kg m2, which no body has: a hole "
            "lies outside of the parts. Place the holes within them."
        )
    return MassProperties(mass, J_bar, center, tuple(shape.placed(whole.center - center) for shape in whole.shapes))


HOLE_RTOL = 1e-9
"""Defect of the moments, relative to the largest, that is rounding of differences."""


def mesh(shape: Mesh, *, mass: float | None = None, density: float | None = None) -> MassProperties:
    """Return the solid within a closed mesh of triangles.

    Parameters
    ----------
    shape : Mesh
        The triangles, such as `mbd.Mesh("part.stl", scale=1e-3)`; closed, with normals outwards, or all of them inwards.
    mass : float, optional
        Mass [kg]; give either this or density.
    density : float, optional
        Density [kg/m3].

    Returns
    -------
    MassProperties
        Mass, centre of mass in the frame that the mesh is placed in, inertia about it in these axes, and the mesh as the shape.

    Raises
    ------
    UsageError
        If the mesh is open, or has no volume, or if neither or both of mass and density are given.

    Notes
    -----
    Sums over the tetrahedra from one point to the triangles: exact for the polyhedron.
    Source: Mirtich (1996), fast and accurate computation of polyhedral mass properties.
    """
    if not isinstance(shape, Mesh):
        raise UsageError(
            f"mesh: shape is {shape!r:.60}. Give a Mesh: mbd.Mesh('part.stl'), or Mesh.from_arrays(vertices, triangles)."
        )
    corners = np.asarray(shape.data.vertices, dtype=np.float64) * shape.scale @ rotation_matrix(shape.p).T + shape.center
    points, names = np.unique(corners, axis=0, return_inverse=True)
    triangles = names.reshape(-1)[np.asarray(shape.data.triangles)]
    edges = np.concatenate([triangles[:, [a, b]] for a, b in ((0, 1), (1, 2), (2, 0))])
    once, counts = np.unique(edges, axis=0, return_counts=True)
    forward, back = set(map(tuple, once.tolist())), set(map(tuple, once[:, ::-1].tolist()))
    open_edges = len(forward - back)
    if open_edges or counts.max() > 1:
        what = f"{max(open_edges, int((counts > 1).sum()))} of its edges have not one triangle on each side, with normals to the same side"
        raise UsageError(f"mesh: the mesh {shape.source!r} is not closed: {what}. Close it, or give mass and inertia as numbers.")
    # the covariance of a tetrahedron of the edges X from the middle: det X (X^T K X), K = (1 + I) / 120
    middle = points.mean(axis=0)
    X = points[triangles] - middle
    det = np.linalg.det(X)
    volume = float(det.sum()) / 6.0
    if not abs(volume) > 0.0:
        raise UsageError(f"mesh: the mesh {shape.source!r} has no volume. Give a solid.")
    mean = np.einsum("t,tka->a", det, X) / (24.0 * volume)
    K = (np.ones((3, 3)) + np.eye(3)) / 120.0
    second = np.einsum("t,tka,kl,tlb->ab", det, X, K, X) / volume - np.outer(mean, mean)
    m = _mass("mesh", mass, density, abs(volume))
    J_bar = m * (np.trace(second) * np.eye(3) - second)
    center = middle + mean
    return MassProperties(m, J_bar, center, (shape.placed(-center),))


def point_mass(mass: float) -> MassProperties:
    """Return a particle, which has no inertia about any axis.

    Parameters
    ----------
    mass : float
        Mass [kg].

    Returns
    -------
    MassProperties
        Mass, inertia about the centre of mass and shape; `Body(name, *point_mass(...))` takes mass and inertia.

    Raises
    ------
    UsageError
        If the mass is not positive.

    Notes
    -----
    Joints must determine the orientation of such a body, or nothing may depend on it.
    """
    return MassProperties(_positive("point_mass", "mass", mass, "kg"), np.zeros(3), shapes=(Sphere(0.0),))


def rod(
    length: float, *, mass: float | None = None, density: float | None = None, axis: Vector = (1.0, 0.0, 0.0)
) -> MassProperties:
    """Return a slender rod, which has no inertia about its axis.

    Parameters
    ----------
    length : float
        Length [m].
    mass : float, optional
        Mass [kg]; give either mass or density.
    density : float, optional
        Mass per length [kg/m].
    axis : array_like, (3,), optional
        Direction of the rod, in the body frame; of any length.

    Returns
    -------
    MassProperties
        Mass, inertia about the centre of mass and shape; `Body(name, *rod(...))` takes mass and inertia.

    Raises
    ------
    UsageError
        If a number is not positive, or not exactly one of mass and density is given.

    Notes
    -----
    J is 0 about the axis, and m l^2 / 12 about each normal to it.
    """
    length = _positive("rod", "length", length, "m")
    m = _mass("rod", mass, density, length)
    return _symmetric("rod", m, 0.0, m * length**2 / 12.0, axis, lambda a: Cylinder(0.0, length, axis=a))


def cylinder(
    radius: float,
    length: float,
    *,
    mass: float | None = None,
    density: float | None = None,
    axis: Vector = (0.0, 0.0, 1.0),
    inner_radius: float = 0.0,
) -> MassProperties:
    """Return a circular cylinder, with a hole along its axis if `inner_radius` is given.

    Parameters
    ----------
    radius, length : float
        Outer radius and length [m].
    mass : float, optional
        Mass [kg]; give either mass or density.
    density : float, optional
        Mass per volume [kg/m3].
    axis : array_like, (3,), optional
        Direction of the axis of symmetry, in the body frame; of any length.
    inner_radius : float, optional
        Radius of the hole [m].

    Returns
    -------
    MassProperties
        Mass, inertia about the centre of mass and shape; `Body(name, *cylinder(...))` takes mass and inertia.

    Raises
    ------
    UsageError
        If a number is not positive, `inner_radius` is not in [0, radius], or not exactly one of mass and density is given.

    Notes
    -----
    With the radii R and r: J is m (R^2 + r^2) / 2 about the axis, and m (3 (R^2 + r^2) + l^2) / 12 about each normal to it.
    """
    radius, length = _positive("cylinder", "radius", radius, "m"), _positive("cylinder", "length", length, "m")
    if not 0.0 <= inner_radius <= radius:
        raise UsageError(f"cylinder: inner_radius is {inner_radius!r} m. Give a value from 0 to the radius, {radius} m.")
    squares = radius**2 + inner_radius**2
    m = _mass("cylinder", mass, density, math.pi * (radius**2 - inner_radius**2) * length)
    across = m * (3.0 * squares + length**2) / 12.0
    return _symmetric(
        "cylinder", m, m * squares / 2.0, across, axis, lambda a: Cylinder(radius, length, inner_radius=inner_radius, axis=a)
    )


def tube(
    radius: float,
    inner_radius: float,
    length: float,
    *,
    mass: float | None = None,
    density: float | None = None,
    axis: Vector = (0.0, 0.0, 1.0),
) -> MassProperties:
    """Return a circular tube: a cylinder with a hole along its axis.

    Parameters
    ----------
    radius, inner_radius, length : float
        Outer radius, radius of the hole, and length [m].
    mass : float, optional
        Mass [kg]; give either mass or density.
    density : float, optional
        Mass per volume [kg/m3].
    axis : array_like, (3,), optional
        Direction of the axis of symmetry, in the body frame; of any length.

    Returns
    -------
    MassProperties
        Mass, inertia about the centre of mass and shape; `Body(name, *tube(...))` takes mass and inertia.

    Raises
    ------
    UsageError
        If a number is not positive, `inner_radius` is not in [0, radius], or not exactly one of mass and density is given.
    """
    return cylinder(radius, length, mass=mass, density=density, axis=axis, inner_radius=inner_radius)


def disc(
    radius: float, *, mass: float | None = None, density: float | None = None, axis: Vector = (0.0, 0.0, 1.0)
) -> MassProperties:
    """Return a thin circular disc.

    Parameters
    ----------
    radius : float
        Radius [m].
    mass : float, optional
        Mass [kg]; give either mass or density.
    density : float, optional
        Mass per area [kg/m2].
    axis : array_like, (3,), optional
        Normal of the disc, in the body frame; of any length.

    Returns
    -------
    MassProperties
        Mass, inertia about the centre of mass and shape; `Body(name, *disc(...))` takes mass and inertia.

    Raises
    ------
    UsageError
        If a number is not positive, or not exactly one of mass and density is given.

    Notes
    -----
    J is m R^2 / 2 about the axis, and m R^2 / 4 about each normal to it.
    """
    radius = _positive("disc", "radius", radius, "m")
    m = _mass("disc", mass, density, math.pi * radius**2)
    return _symmetric("disc", m, m * radius**2 / 2.0, m * radius**2 / 4.0, axis, lambda a: Cylinder(radius, 0.0, axis=a))


def cone(
    radius: float,
    length: float,
    *,
    mass: float | None = None,
    density: float | None = None,
    axis: Vector = (0.0, 0.0, 1.0),
) -> MassProperties:
    """Return a circular cone. Its centre of mass, the origin of the body frame, is a quarter of its length from the base.

    Parameters
    ----------
    radius, length : float
        Radius of the base and height [m].
    mass : float, optional
        Mass [kg]; give either mass or density.
    density : float, optional
        Mass per volume [kg/m3].
    axis : array_like, (3,), optional
        Direction from the base to the tip, in the body frame; of any length.

    Returns
    -------
    MassProperties
        Mass, inertia about the centre of mass and shape; `Body(name, *cone(...))` takes mass and inertia.

    Raises
    ------
    UsageError
        If a number is not positive, or not exactly one of mass and density is given.

    Notes
    -----
    J is 3 m R^2 / 10 about the axis, and 3 m (4 R^2 + l^2) / 80 about each normal to it.
    """
    radius, length = _positive("cone", "radius", radius, "m"), _positive("cone", "length", length, "m")
    m = _mass("cone", mass, density, math.pi * radius**2 * length / 3.0)
    across = 3.0 * m * (4.0 * radius**2 + length**2) / 80.0
    return _symmetric(
        "cone", m, 0.3 * m * radius**2, across, axis, lambda a: Cone(radius, length, center=0.25 * length * a, axis=a)
    )


def plate(size: Vector, *, mass: float | None = None, density: float | None = None) -> MassProperties:
    """Return a thin rectangular plate normal to the z axis of the body.

    Parameters
    ----------
    size : array_like, (2,)
        Edges along x and y [m].
    mass : float, optional
        Mass [kg]; give either mass or density.
    density : float, optional
        Mass per area [kg/m2].

    Returns
    -------
    MassProperties
        Mass, inertia about the centre of mass and shape; `Body(name, *plate(...))` takes mass and inertia.

    Raises
    ------
    UsageError
        If a number is not positive, or not exactly one of mass and density is given.

    Notes
    -----
    The principal inertias are m y^2 / 12, m x^2 / 12 and m (x^2 + y^2) / 12.
    """
    if np.shape(size) != (2,):
        raise UsageError(f"plate: size has shape {np.shape(size)}. Give two edge lengths [m].")
    x, y = (_positive("plate", f"size[{k}]", edge, "m") for k, edge in enumerate(size))
    m = _mass("plate", mass, density, x * y)
    return MassProperties(m, m / 12.0 * np.array([y * y, x * x, x * x + y * y]), shapes=(Box((x, y, 0.0)),))


def box(size: Vector, *, mass: float | None = None, density: float | None = None) -> MassProperties:
    """Return a cuboid with its edges along the axes of the body.

    Parameters
    ----------
    size : array_like, (3,)
        Edges along x, y and z [m].
    mass : float, optional
        Mass [kg]; give either mass or density.
    density : float, optional
        Mass per volume [kg/m3].

    Returns
    -------
    MassProperties
        Mass, inertia about the centre of mass and shape; `Body(name, *box(...))` takes mass and inertia.

    Raises
    ------
    UsageError
        If a number is not positive, or not exactly one of mass and density is given.

    Notes
    -----
    The principal inertias are m (y^2 + z^2) / 12, m (x^2 + z^2) / 12 and m (x^2 + y^2) / 12.
    """
    if np.shape(size) != (3,):
        raise UsageError(f"box: size has shape {np.shape(size)}. Give three edge lengths [m].")
    x, y, z = (_positive("box", f"size[{k}]", edge, "m") for k, edge in enumerate(size))
    m = _mass("box", mass, density, x * y * z)
    J = m / 12.0 * np.array([y * y + z * z, x * x + z * z, x * x + y * y])
    return MassProperties(m, J, shapes=(Box((x, y, z)),))


def sphere(radius: float, *, mass: float | None = None, density: float | None = None) -> MassProperties:
    """Return a solid sphere.

    Parameters
    ----------
    radius : float
        Radius [m].
    mass : float, optional
        Mass [kg]; give either mass or density.
    density : float, optional
        Mass per volume [kg/m3].

    Returns
    -------
    MassProperties
        Mass, inertia about the centre of mass and shape; `Body(name, *sphere(...))` takes mass and inertia.

    Raises
    ------
    UsageError
        If a number is not positive, or not exactly one of mass and density is given.

    Notes
    -----
    J is 2 m r^2 / 5 about every axis.
    """
    radius = _positive("sphere", "radius", radius, "m")
    m = _mass("sphere", mass, density, 4.0 / 3.0 * math.pi * radius**3)
    return MassProperties(m, np.full(3, 0.4 * m * radius**2), shapes=(Sphere(radius),))


def ellipsoid(semi_axes: Vector, *, mass: float | None = None, density: float | None = None) -> MassProperties:
    """Return a solid ellipsoid with its diameters along the axes of the body.

    Parameters
    ----------
    semi_axes : array_like, (3,)
        Half of its diameters along x, y and z [m].
    mass : float, optional
        Mass [kg]; give either mass or density.
    density : float, optional
        Mass per volume [kg/m3].

    Returns
    -------
    MassProperties
        Mass, inertia about the centre of mass and shape; `Body(name, *ellipsoid(...))` takes mass and inertia.

    Raises
    ------
    UsageError
        If a number is not positive, or not exactly one of mass and density is given.

    Notes
    -----
    The principal inertias are m (b^2 + c^2) / 5, m (a^2 + c^2) / 5 and m (a^2 + b^2) / 5.
    """
    if np.shape(semi_axes) != (3,):
        raise UsageError(f"ellipsoid: semi_axes has shape {np.shape(semi_axes)}. Give three lengths [m].")
    a, b, c = (_positive("ellipsoid", f"semi_axes[{k}]", half, "m") for k, half in enumerate(semi_axes))
    m = _mass("ellipsoid", mass, density, 4.0 / 3.0 * math.pi * a * b * c)
    J = m / 5.0 * np.array([b * b + c * c, a * a + c * c, a * a + b * b])
    return MassProperties(m, J, shapes=(Ellipsoid((a, b, c)),))


def capsule(
    radius: float,
    length: float,
    *,
    mass: float | None = None,
    density: float | None = None,
    axis: Vector = (0.0, 0.0, 1.0),
) -> MassProperties:
    """Return a solid capsule: a cylinder with a half ball at each end.

    Parameters
    ----------
    radius, length : float
        Radius, and length without the round ends [m].
    mass : float, optional
        Mass [kg]; give either mass or density.
    density : float, optional
        Mass per volume [kg/m3].
    axis : array_like, (3,), optional
        Direction of its axis, in the body frame; of any length.

    Returns
    -------
    MassProperties
        Mass, inertia about the centre of mass and shape; `Body(name, *capsule(...))` takes mass and inertia.

    Raises
    ------
    UsageError
        If a number is not positive, or not exactly one of mass and density is given.

    Notes
    -----
    With the masses m_c of the cylinder and m_s of both ends: J is m_c R^2 / 2 + 2 m_s R^2 / 5 about the axis, and
    m_c (3 R^2 + l^2) / 12 + m_s (2 R^2 / 5 + l^2 / 4 + 3 l R / 8) about each normal to it.
    """
    radius, length = _positive("capsule", "radius", radius, "m"), _positive("capsule", "length", length, "m")
    volumes = math.pi * radius**2 * length, 4.0 / 3.0 * math.pi * radius**3
    m = _mass("capsule", mass, density, sum(volumes))
    m_c, m_s = (m * volume / sum(volumes) for volume in volumes)
    along = m_c * radius**2 / 2.0 + 0.4 * m_s * radius**2
    across = m_c * (3.0 * radius**2 + length**2) / 12.0 + m_s * (0.4 * radius**2 + length**2 / 4.0 + 0.375 * length * radius)
    return _symmetric("capsule", m, along, across, axis, lambda a: Capsule(radius, length, axis=a))


def _symmetric(
    solid: str, mass: float, J_axial: float, J_transverse: float, axis: Vector, shape: Callable[[FloatArray], Shape]
) -> MassProperties:
    """Return a body of revolution about `axis`;  shape: of the unit vector along it."""
    need_unmasked("axis", axis)
    a = np.asarray(axis, dtype=np.float64)
    length = float(np.linalg.norm(a))
    if a.shape != (3,) or not (math.isfinite(length) and length > 0.0):
        raise UsageError(f"{solid}: axis is {axis!r}. Give three finite numbers, not all zero.")
    along = np.outer(a / length, a / length)
    return MassProperties(mass, J_axial * along + J_transverse * (np.eye(3) - along), shapes=(shape(a / length),))


def _mass(solid: str, mass: float | None, density: float | None, content: float) -> float:
    """Return the mass from mass or density, whichever is given; content is the volume, or the length of a rod."""
    if mass is not None and density is None:
        return _positive(solid, "mass", mass, "kg")
    if density is not None and mass is None:
        return _positive(solid, "density", density, "kg per content") * content
    raise UsageError(f"{solid}: mass is {mass!r} and density is {density!r}. Give exactly one of them.")


def _positive(solid: str, label: str, value: float, unit: str) -> float:
    """Return the value. Raise UsageError unless it is a finite positive number."""
    try:
        number = float(value)
    except (TypeError, ValueError):
        number = math.nan
    if not (math.isfinite(number) and number > 0.0):
        raise UsageError(f"{solid}: {label} is {value!r}. Give a finite positive number [{unit}].")
    return number
