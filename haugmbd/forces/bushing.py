r"""Bushing: a 6 x 6 stiffness and damping between two points, with the rotation vector as the angular deformation.

    R = R_i^T R_j = exp(theta~)      d = R_i^T (P_j - P_i)      x = (d, theta)        R_i, R_j axes of the bushing on i and on j
    w = K x + C x' - w_0             d' = R_i^T (v_Pj - v_Pi - omega_i x (P_j - P_i)),     theta' = J^-1 R_i^T (omega_j - omega_i)
    J^-1 = I - theta~ / 2 + (1 - (theta / 2) cot(theta / 2)) / theta^2  theta~^2           the inverse left Jacobian of SO(3)
    force -R_i f on j at P_j, moment -R_i J^-T n;  the opposite on i, at the same point    w = (f, n)

    potential energy  x^T K x / 2 - w_0 . x          dissipated power  x'^T C x'

The moment is the gradient, J^-T n and not n alone: energy is kept at large angles. At half a turn the rotation vector jumps: the force is
NaN from HALF_TURN before it, and the run stops with the name of the element.
Source: Geradin, Cardona, Flexible Multibody Dynamics, ch. 4 (rotation vector and its tangent operator).
"""

from __future__ import annotations

from math import atan2, pi, sqrt, tan
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np

from haugmbd.bodies.body import Body
from haugmbd.bodies.frame import Frame, body_point
from haugmbd.bodies.part import changed
from haugmbd.bodies.validation import frozen, numbers, read_array
from haugmbd.compiled.array_types import Array, Ints
from haugmbd.compiled.jit import kernel
from haugmbd.constraints.base import Motion, distance, value
from haugmbd.deprecated import public_class
from haugmbd.errors import Fault, UsageError
from haugmbd.forces.base import EnergyLedger, ForceElement, LoadValues, Mark, add_force, add_torque, point_motion, sign_at, turned
from haugmbd.forces.tangent import Tangents, add_pair
from haugmbd.math import euler_parameters
from haugmbd.math.body_columns import EULER, OMEGA_BAR, VELOCITY, WIDTH
from haugmbd.math.vec3 import Vec, add, cross, dot, load, scale, sub, to_body, to_global

P, Q_POINT, AXES_I, AXES_J = 0, 1, 2, 5
STIFFNESS, DAMPING, PRELOAD, K_MODES, C_MODES = 0, 36, 72, 78, 120
"""Columns of the table: the points, three axes each; K and C, w_0, then eigenvalues and eigenvectors of K and of C."""

HALF_TURN = 0.035
"""Angle before half a turn [rad] from which there is no force: two degrees, so that no sensible step passes over the jump."""
SERIES_2 = 1e-4
"""theta^2 below which a series is used; its first term left out is theta^6 / 1.2e6."""
SYMMETRY_RTOL = 1e-9
"""Allowed asymmetry of K and C, relative to the largest entry: rounding of typed numbers."""
NEGATIVE_RTOL = 1e-12
"""A negative eigenvalue below this part of the largest one is rounding."""


@public_class
class Bushing(ForceElement):
    """A bushing: stiffness and damping in all six directions between two bodies.

    Parameters
    ----------
    name : str
        Name of the element in messages and results.
    i, j : Body
        The two bodies, or the ground.
    point : array_like, (3,)
        The point of the bushing at the modelled pose, global frame [m].
    K : array_like, (6,) or (6, 6)
        Stiffness, symmetric, without negative eigenvalues: displacements first [N/m, N/rad, N m/rad]; six numbers are its diagonal.
    C : array_like, (6,) or (6, 6)
        Damping, likewise [N s/m, N s/rad, N m s/rad].
    preload : array_like, (6,)
        Force [N] and moment [N m] on body j at the modelled pose, along the axes.
    axes : array_like, (3, 3), optional
        The axes of the bushing as columns, orthonormal, global frame at the modelled pose; by default those of body i.

    Raises
    ------
    UsageError
        If i or j is not a Body. Other bad values are collected in `faults()`.

    Notes
    -----
    V = x^T K x / 2 - preload . x with x = (displacement, rotation vector) of body j against body i, in the axes that turn with body i.
    The force is the exact gradient, at large angles, too. A run that comes to half a turn stops with an error.
    `result.load(name)` has force and torque on body j at its point, global.
    Source: Geradin, Cardona, Flexible Multibody Dynamics, ch. 4.
    """

    kind = "Bushing"
    variable = MappingProxyType({"K": ((6,), (6, 6)), "C": ((6,), (6, 6)), "preload": ((6,),)})

    def __init__(
        self,
        name: str,
        i: Body,
        j: Body,
        *,
        point: Any,
        K: Any,
        C: Any = (0.0,) * 6,
        preload: Any = (0.0,) * 6,
        axes: Any = None,
    ) -> None:
        super().__init__(name)
        for body in (i, j):
            if not isinstance(body, Body):
                raise UsageError(
                    f"{self.where} needs two bodies, got {body!r:.200}. Give what system.add(...) returned, or system.ground."
                )
        faults: list[Fault] = []
        place = read_array(faults, self.where, "point", point, (3,), unit="m")
        directions = i.A if axes is None else read_array(faults, self.where, "axes", axes, (3, 3))
        self.frame_i, self.frame_j = (Frame(body, body_point(body, place), body.A.T @ directions) for body in (i, j))
        self.K, self.C, self.preload, wrong = _read_law(self.where, K, C, preload)
        faults += wrong
        if i is j:
            faults.append(
                Fault(self.where, f"both sides are on body {i.name!r}", "Give two different bodies; the ground is one, too.")
            )
        if not faults:
            faults.extend((*self.frame_i.faults(self.where), *self.frame_j.faults(self.where)))
        self._faults = tuple(faults)

    def varied(self, **values: Any) -> Bushing:
        K, C, preload, wrong = _read_law(self.where, **{name: getattr(self, name) for name in self.variable} | values)
        return changed(self, K=K, C=C, preload=preload, _faults=(*self._faults, *wrong))

    def number_faults(self) -> tuple[Fault, ...]:
        return self._faults

    def bodies(self) -> tuple[Body, ...]:
        return (self.frame_i.body, self.frame_j.body)

    def markers(self) -> tuple[tuple[Body, Array], ...]:
        i, j = self.frame_i, self.frame_j
        axes = [(frame.body, frame.A_bar[:, k]) for frame in (i, j) for k in range(3)]
        return ((i.body, i.s_bar), (j.body, j.s_bar), *axes)

    def marks(self) -> tuple[Mark, ...]:
        return (sign_at(type(self).__name__, self.frame_i, self.frame_j),)

    def points(self) -> dict[str, Frame]:
        return {".i": self.frame_i, ".j": self.frame_j}

    def numbers(self) -> tuple[float, ...]:
        modes = [
            np.concatenate([values, vectors.T.ravel()]) for values, vectors in (np.linalg.eigh(self.K), np.linalg.eigh(self.C))
        ]
        return tuple(np.concatenate([self.K.ravel(), self.C.ravel(), self.preload, *modes]).tolist())

    @property
    def conservative(self) -> bool:
        return not self.C.any()

    def arguments(self, bodies: Array, angle: Array) -> tuple[Array, ...]:
        """Return the deformation x and its rate (nt, 6)."""
        i, j = self.frame_i, self.frame_j
        (x_i, v_i), (x_j, v_j) = point_motion(bodies[0], i.s_bar), point_motion(bodies[1], j.s_bar)
        R_i = np.stack([turned(bodies[0], i.A_bar[:, k]) for k in range(3)], axis=1)
        omega_i, omega_j = (turned(states, states[:, OMEGA_BAR:WIDTH]) for states in bodies)
        d, theta = x_j - x_i, self._rotation_vector(bodies)
        d_dot = v_j - v_i - np.cross(omega_i, d)
        spin = np.einsum("tab,tb->ta", R_i, omega_j - omega_i)
        theta_dot = np.einsum("tab,tb->ta", inverse_left_jacobian(theta), spin)
        along = [np.einsum("tab,tb->ta", R_i, vector) for vector in (d, d_dot)]
        return np.hstack([along[0], theta]), np.hstack([along[1], theta_dot])

    def _rotation_vector(self, bodies: Array) -> Array:
        """Return the rotation vector (nt, 3) of the axes on j against those on i, by Euler parameters; shorter than half a turn."""
        p_i, p_j = (
            euler_parameters.product(
                euler_parameters.normalized(states[:, EULER:VELOCITY]),
                np.broadcast_to(euler_parameters.from_rotation_matrix(frame.A_bar), (len(states), 4)),
            )
            for states, frame in zip(bodies, (self.frame_i, self.frame_j), strict=True)
        )
        p = euler_parameters.product(p_i * np.array([1.0, -1.0, -1.0, -1.0]), p_j)
        p *= np.where(p[:, :1] < 0.0, -1.0, 1.0)
        sine = np.linalg.norm(p[:, 1:], axis=1, keepdims=True)
        ratio = np.divide(2.0 * np.arctan2(sine, p[:, :1]), sine, out=np.full_like(sine, 2.0), where=sine > 0.0)
        theta: Array = ratio * p[:, 1:]
        return theta

    def wrench(self, x: Array, x_dot: Array) -> Array:
        """Return w = K x + C x' - w_0 (nt, 6)."""
        return x @ self.K + x_dot @ self.C - self.preload

    def ledger(self, t: Array, bodies: Array, angle: Array) -> EnergyLedger:
        x, x_dot = self.arguments(bodies, angle)
        potential = 0.5 * np.einsum("ta,ab,tb->t", x, self.K, x) - x @ self.preload
        return EnergyLedger(potential, np.einsum("ta,ab,tb->t", x_dot, self.C, x_dot), np.zeros(len(t)))

    def quantities(self, t: Array, bodies: Array, angle: Array) -> LoadValues:
        """Return force and torque on body j at its point, global, and the point."""
        x, x_dot = self.arguments(bodies, angle)
        w = self.wrench(x, x_dot)
        n = np.einsum("tba,tb->ta", inverse_left_jacobian(x[:, 3:]), w[:, 3:])
        R_i = np.stack([turned(bodies[0], self.frame_i.A_bar[:, k]) for k in range(3)], axis=2)
        force, torque = (-np.einsum("tab,tb->ta", R_i, vector) for vector in (w[:, :3], n))
        point = point_motion(bodies[1], self.frame_j.s_bar)[0]
        return LoadValues({"force": force, "torque": torque, "point": point}, -np.sum(w * x_dot, axis=1))

    def stopped_at(self, bodies: Array) -> str:
        """Return why there is no force at states (2, 1, 13); "" if there is one."""
        turn = float(np.linalg.norm(self._rotation_vector(bodies)))
        if not turn > pi - HALF_TURN:
            return ""
        i, j = (frame.body.name for frame in (self.frame_i, self.frame_j))
        return (
            f"{self.where}: body {j!r} has turned by {np.degrees(turn):.1f} degrees against body {i!r}, and at half a turn its "
            "rotation vector jumps. A bushing is for less: add a joint and a JointLimit, or a JointSpring, which counts turns."
        )


def inverse_left_jacobian(theta: Array) -> Array:
    """Return J^-1 (nt, 3, 3) of rotation vectors (nt, 3)."""
    S = np.zeros((len(theta), 3, 3))
    for a, b, c in ((0, 1, 2), (1, 2, 0), (2, 0, 1)):
        S[:, b, a], S[:, a, b] = theta[:, c], -theta[:, c]
    square = np.sum(theta * theta, axis=1)
    small = square < SERIES_2
    half = 0.5 * np.sqrt(np.where(small, 1.0, square))
    exact = (1.0 - half / np.tan(half)) / (4.0 * half * half)
    factor = np.where(small, 1.0 / 12.0 + square / 720.0 + square**2 / 30240.0, exact)
    inverse: Array = np.eye(3) - 0.5 * S + factor[:, None, None] * (S @ S)
    return inverse


def _read_law(where: str, K: Any, C: Any, preload: Any) -> tuple[Array, Array, Array, list[Fault]]:
    """Return stiffness and damping (6, 6), preload (6,), and their faults."""
    faults: list[Fault] = []
    stiffness, damping = _read_matrix(faults, where, "K", K), _read_matrix(faults, where, "C", C)
    force = read_array(faults, where, "preload", preload, (6,), unit="N, N m")
    if not faults and not (stiffness.any() or damping.any() or force.any()):
        faults.append(Fault(where, "K, C and preload are zero", "Give a stiffness."))
    return stiffness, damping, force, faults


def _read_matrix(faults: list[Fault], where: str, label: str, given: Any) -> Array:
    """Return a symmetric matrix (6, 6) without negative eigenvalues, of a matrix or its diagonal; zeros and a fault for anything else."""
    array = numbers(given)
    before = len(faults)
    read = read_array(
        faults, where, label, given, (6, 6), (6,), remedy=f"Give {label} as six numbers, or as a symmetric 6 x 6 matrix."
    )
    if len(faults) > before or array is None:
        return frozen(np.zeros((6, 6)))
    matrix = np.diag(read) if read.ndim == 1 else read
    largest = float(np.abs(matrix).max())
    gap = np.abs(matrix - matrix.T)
    if gap.max() > SYMMETRY_RTOL * largest:
        a, b = (int(k) for k in np.unravel_index(int(np.argmax(gap)), gap.shape))
        what = f"{label} is not symmetric: {label}[{a}, {b}] = {matrix[a, b]:.9g}, {label}[{b}, {a}] = {matrix[b, a]:.9g}"
        faults.append(Fault(where, what, f"Give a symmetric {label}; a StateForce takes any law."))
        return frozen(np.zeros((6, 6)))
    least = float(np.linalg.eigvalsh(matrix)[0])
    if least < -NEGATIVE_RTOL * largest:
        faults.append(
            Fault(where, f"{label} has the negative eigenvalue {least:.6g}", f"Give {label} without negative eigenvalues.")
        )
    return frozen(0.5 * (matrix + matrix.T))


class Deformed(NamedTuple):
    """The kinematics of a bushing: axes on i, D from P_i to P_j; displacement and rotation vector in these axes; factor of theta~^2."""

    i: int
    j: int
    f: Vec
    g: Vec
    h: Vec
    D: Vec
    d: Vec
    theta: Vec
    factor: float


@kernel
def axes_of(f: Vec, g: Vec, h: Vec, a: Vec) -> Vec:
    """Return the components of a global vector along three axes."""
    return (dot(f, a), dot(g, a), dot(h, a))


@kernel
def along_axes(c: Deformed, a: Vec) -> Vec:
    """Return the global vector with these components along the axes of i."""
    return add(add(scale(a[0], c.f), scale(a[1], c.g)), scale(a[2], c.h))


@kernel
def rotation_vector(f: Vec, g: Vec, h: Vec) -> tuple[Vec, float]:
    """Return theta of the rotation matrix with these columns, and the factor of theta~^2 in J^-1; NaN at half a turn."""
    x = (0.5 * (g[2] - h[1]), 0.5 * (h[0] - f[2]), 0.5 * (f[1] - g[0]))
    s2, c = dot(x, x), 0.5 * (f[0] + g[1] + h[2] - 1.0)
    if s2 < SERIES_2 and c > 0.0:
        ratio = 1.0 + s2 / 6.0 + 3.0 * s2 * s2 / 40.0 + 5.0 * s2 * s2 * s2 / 112.0
        square = s2 * ratio * ratio
        return scale(ratio, x), 1.0 / 12.0 + square / 720.0 + square * square / 30240.0
    s = sqrt(s2)
    angle = atan2(s, c)
    if angle > pi - HALF_TURN:
        return (np.nan, np.nan, np.nan), np.nan
    half = 0.5 * angle
    return scale(angle / s, x), (1.0 - half / tan(half)) / (angle * angle)


@kernel
def deformed(ints: Ints, k: int, m: Motion) -> Deformed:
    """Return the deformation of element k and its rate."""
    f, g, h = value(m, ints[k, AXES_I]), value(m, ints[k, AXES_I + 1]), value(m, ints[k, AXES_I + 2])
    theta, factor = rotation_vector(
        axes_of(f, g, h, value(m, ints[k, AXES_J])),
        axes_of(f, g, h, value(m, ints[k, AXES_J + 1])),
        axes_of(f, g, h, value(m, ints[k, AXES_J + 2])),
    )
    D = distance(m, ints[k, P], ints[k, Q_POINT])
    return Deformed(m.body_of[ints[k, P]], m.body_of[ints[k, Q_POINT]], f, g, h, D, axes_of(f, g, h, D), theta, factor)


@kernel
def inverse_jacobian_times(c: Deformed, a: Vec, sign: float) -> Vec:
    """Return J^-1 a for sign = 1, J^-T a for sign = -1."""
    once = cross(c.theta, a)
    return add(sub(a, scale(0.5 * sign, once)), scale(c.factor, cross(c.theta, once)))


@kernel
def deformation_rate(ints: Ints, k: int, m: Motion, c: Deformed) -> tuple[Vec, Vec]:
    """Return d' and theta'."""
    w_i, w_j = to_global(m.A, c.i, load(m.bodies, c.i, OMEGA_BAR)), to_global(m.A, c.j, load(m.bodies, c.j, OMEGA_BAR))
    v_i = add(load(m.bodies, c.i, VELOCITY), load(m.X, ints[k, P], 3))
    v_j = add(load(m.bodies, c.j, VELOCITY), load(m.X, ints[k, Q_POINT], 3))
    d_dot = axes_of(c.f, c.g, c.h, sub(sub(v_j, v_i), cross(w_i, c.D)))
    return d_dot, inverse_jacobian_times(c, axes_of(c.f, c.g, c.h, sub(w_j, w_i)), 1.0)


@kernel
def row_times(numbers: Array, first: int, d: Vec, theta: Vec) -> float:
    """Return the product of six numbers with (d, theta)."""
    product: float = (
        numbers[first] * d[0]
        + numbers[first + 1] * d[1]
        + numbers[first + 2] * d[2]
        + numbers[first + 3] * theta[0]
        + numbers[first + 4] * theta[1]
        + numbers[first + 5] * theta[2]
    )
    return product


@kernel
def potential(ints: Ints, floats: Array, first: int, last: int, m: Motion) -> float:
    """Return the potential energy of all elements."""
    total = 0.0
    for k in range(first, last):
        c = deformed(ints, k, m)
        for a in range(6):
            x = c.d[a] if a < 3 else c.theta[a - 3]
            total += x * (0.5 * row_times(floats[k], STIFFNESS + 6 * a, c.d, c.theta) - floats[k, PRELOAD + a])
    return total


@kernel
def component(floats: Array, k: int, a: int, c: Deformed, d_dot: Vec, theta_dot: Vec) -> float:
    """Return component a of w."""
    elastic, viscous = (
        row_times(floats[k], STIFFNESS + 6 * a, c.d, c.theta),
        row_times(floats[k], DAMPING + 6 * a, d_dot, theta_dot),
    )
    return elastic + viscous - float(floats[k, PRELOAD + a])


@kernel
def add_forces(ints: Ints, floats: Array, first: int, last: int, m: Motion, Q: Array) -> None:
    """Add force and moment of all elements."""
    for k in range(first, last):
        c = deformed(ints, k, m)
        d_dot, theta_dot = deformation_rate(ints, k, m, c)
        f = (
            component(floats, k, 0, c, d_dot, theta_dot),
            component(floats, k, 1, c, d_dot, theta_dot),
            component(floats, k, 2, c, d_dot, theta_dot),
        )
        n = (
            component(floats, k, 3, c, d_dot, theta_dot),
            component(floats, k, 4, c, d_dot, theta_dot),
            component(floats, k, 5, c, d_dot, theta_dot),
        )
        F, N = along_axes(c, f), along_axes(c, inverse_jacobian_times(c, n, -1.0))
        add_force(Q, m.A, c.i, F, add(value(m, ints[k, P]), c.D))
        add_torque(Q, m.A, c.i, N)
        add_force(Q, m.A, c.j, scale(-1.0, F), value(m, ints[k, Q_POINT]))
        add_torque(Q, m.A, c.j, scale(-1.0, N))


@kernel
def add_tangent(ints: Ints, floats: Array, first: int, last: int, m: Motion, T: Tangents) -> None:
    """Add c_K B^T K B + c_C B^T C B of all elements, mode by mode; B: dx = B (dr, dpi_bar)."""
    for k in range(first, last):
        c = deformed(ints, k, m)
        s_i, s_j = add(value(m, ints[k, P]), c.D), value(m, ints[k, Q_POINT])
        for mode in range(12):
            start, factor = (K_MODES, T.c_K) if mode < 6 else (C_MODES, T.c_C)
            number = mode % 6
            size = factor * floats[k, start + number]
            if size != 0.0:
                at = start + 6 + 6 * number
                e = along_axes(c, load(floats, k, at))
                n = along_axes(c, inverse_jacobian_times(c, load(floats, k, at + 3), -1.0))
                g_i = (e, to_body(m.A, c.i, add(cross(s_i, e), n)))
                g_j = (e, to_body(m.A, c.j, add(cross(s_j, e), n)))
                add_pair(T, k, c.i, c.j, size, g_i, g_j)
