"""Shapes of each kind, random poses, and the support functions that judge contacts: h(n) = max of n . x over a shape."""

import itertools

import numpy as np

import haugmbd as mbd
from haugmbd.math.euler_parameters import rotation_matrix

PRISM_CORNERS = [(np.cos(a), np.sin(a), z) for z in (-0.4, 0.6) for a in 2.0 * np.pi * np.arange(5) / 5]
PRISM_FACES = [
    *((0, k + 1, k) for k in range(1, 4)),
    *((5, 5 + k, 6 + k) for k in range(1, 4)),
    *(x for k in range(5) for x in ((k, (k + 1) % 5, 5 + k), ((k + 1) % 5, 5 + (k + 1) % 5, 5 + k))),
]
TETRAHEDRON = ([(0, 0, 0), (1, 0, 0), (0, 0.8, 0), (0, 0, 0.6)], [(0, 2, 1), (0, 1, 3), (1, 2, 3), (2, 0, 3)])
TURN = np.array([0.4, 0.2, -0.7, 0.55]) / np.linalg.norm([0.4, 0.2, -0.7, 0.55])

SHAPES = {
    "Plane": lambda s: mbd.Plane(point=(0.1 * s, -0.2 * s, 0.05 * s), normal=(0.2, -0.1, 1.0)),
    "point": lambda s: mbd.Sphere(0.0, center=(0.1 * s, 0.0, -0.2 * s)),
    "Sphere": lambda s: mbd.Sphere(0.35 * s, center=(0.1 * s, -0.05 * s, 0.2 * s)),
    "Capsule": lambda s: mbd.Capsule(0.2 * s, 0.8 * s, center=(0.05 * s, 0.1 * s, 0.0), axis=(1.0, 2.0, -0.5)),
    "Box": lambda s: mbd.Box((0.6 * s, 0.9 * s, 0.5 * s), center=(0.1 * s, 0.0, -0.1 * s), p=TURN),
    "Mesh": lambda s: mbd.Mesh.from_arrays(PRISM_CORNERS, PRISM_FACES, scale=0.5 * s, center=(0.05 * s, 0.1 * s, 0.0), p=TURN),
    "tetrahedron": lambda s: mbd.Mesh.from_arrays(*TETRAHEDRON, scale=s, center=(-0.2 * s, -0.2 * s, -0.1 * s)),
    "Cylinder": lambda s: mbd.Cylinder(0.3 * s, 0.7 * s, center=(0.0, 0.1 * s, 0.05 * s), axis=(0.3, -0.4, 1.0)),
    "disc": lambda s: mbd.Cylinder(0.4 * s, 0.0, center=(0.0, 0.1 * s, 0.05 * s), axis=(0.3, -0.4, 1.0)),
    "tube": lambda s: mbd.Cylinder(2.0 * s, 1.0 * s, inner_radius=1.6 * s, axis=(0.3, -0.4, 1.0)),
    "Cone": lambda s: mbd.Cone(0.4 * s, 0.8 * s, center=(0.0, 0.1 * s, 0.05 * s), axis=(0.3, 0.4, -1.0)),
    "Ellipsoid": lambda s: mbd.Ellipsoid((0.3 * s, 0.5 * s, 0.7 * s), center=(0.1 * s, 0.0, 0.0), p=TURN),
}
"""One shape of each kind, and more where a size makes another kind of it, of a size s."""

PAIRS = [
    *(("Plane", x) for x in SHAPES if x != "Plane"),
    *(
        pair
        for pair in itertools.combinations_with_replacement(("point", "Sphere", "Capsule", "Box", "Mesh", "tetrahedron"), 2)
        if pair != ("point", "point")
    ),
    *((ball, tube) for ball in ("point", "Sphere") for tube in ("Cylinder", "disc", "tube")),
]
"""Pairs that touch from outside, and a ball in a hole."""


def support(shape, r, A, n):
    """Return h(n) of a shape on a body at (r, A), for directions n (k, 3)."""
    m = n @ A
    if isinstance(shape, mbd.Mesh):
        own = shape.vertices @ rotation_matrix(shape.p).T
        return n @ r + ((own + shape.center) @ m.T).max(axis=0)
    axes = m @ rotation_matrix(shape.p)
    middle = n @ r + m @ shape.center
    across = np.hypot(axes[:, 0], axes[:, 1])
    match shape:
        case mbd.Sphere():
            return middle + shape.radius
        case mbd.Capsule():
            return middle + shape.radius + 0.5 * shape.length * np.abs(axes[:, 2])
        case mbd.Box():
            return middle + 0.5 * np.abs(axes) @ shape.edges
        case mbd.Cylinder():
            return middle + shape.radius * across + 0.5 * shape.length * np.abs(axes[:, 2])
        case mbd.Cone():
            tip, rim = 0.5 * shape.length * axes[:, 2], shape.radius * across - 0.5 * shape.length * axes[:, 2]
            return middle + np.maximum(tip, rim)
        case mbd.Ellipsoid():
            return middle + np.linalg.norm(axes * shape.semi_axes, axis=1)
    raise AssertionError(shape)


def separation(shape_i, pose_i, shape_j, pose_j, n):
    """Return how far directions n (k, 3) separate shape i from shape j: the largest one is the signed distance."""
    if isinstance(shape_i, mbd.Plane):
        r, A = pose_i
        offset = n @ (r + A @ shape_i.point)
        return -support(shape_j, *pose_j, -n) - offset
    return -support(shape_j, *pose_j, -n) - support(shape_i, *pose_i, n)


def random_turn(rng):
    p = rng.normal(size=4)
    return p / np.linalg.norm(p)


def state_of(*bodies):
    """Return a flat state: the ground, and bodies (r, p, v, omega_bar)."""
    ground = np.zeros(13)
    ground[3] = 1.0
    return np.concatenate([ground, *(np.concatenate(body) for body in bodies)])


def random_state(rng, size=1.0, reach=0.9):
    """Return a state of two bodies near one another."""
    return state_of(
        *((size * rng.uniform(-reach, reach, 3), random_turn(rng), size * rng.normal(size=3), rng.normal(size=3)) for _ in range(2))
    )


def pose(y, k):
    body = y[13 * k : 13 * k + 13]
    return body[:3], rotation_matrix(body[3:7])


def moved(y, t):
    """Return the state after a time with constant v and omega_bar."""
    y = y.copy()
    for k in range(13, len(y), 13):
        w = t * y[k + 10 : k + 13]
        angle = np.linalg.norm(w)
        turn = np.concatenate([[np.cos(angle / 2)], 0.5 * np.sinc(angle / (2 * np.pi)) * w])
        e0, e = y[k + 3], y[k + 4 : k + 7]
        y[k + 3 : k + 7] = np.concatenate([[e0 * turn[0] - e @ turn[1:]], e0 * turn[1:] + turn[0] * e + np.cross(e, turn[1:])])
        y[k : k + 3] += t * y[k + 7 : k + 10]
    return y
