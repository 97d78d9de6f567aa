r"""A row C (12,) of a contact between two bodies, in kernels, with velocities and solutions.

    C u = C_i u_i + C_j u_j            C^T f on a right-hand side            u <- u + f z,   x <- x + f z

The ground, body 0, has no velocity, and takes no force.
"""

from __future__ import annotations

from haugmbd.compiled.array_types import Array
from haugmbd.compiled.jit import kernel
from haugmbd.math.body_columns import VELOCITY


@kernel
def row_rate(pair: tuple[int, int], C: Array, bodies: Array) -> float:
    """Return C u."""
    total = 0.0
    for a in range(6):
        if pair[0] > 0:
            total += C[a] * bodies[pair[0], VELOCITY + a]
        if pair[1] > 0:
            total += C[6 + a] * bodies[pair[1], VELOCITY + a]
    return total


@kernel
def row_rate_by(pair: tuple[int, int], C: Array, x: Array) -> float:
    """Return C x of a solution (nn, 6) by nodes."""
    total = 0.0
    for a in range(6):
        if pair[0] > 0:
            total += C[a] * x[pair[0], a]
        if pair[1] > 0:
            total += C[6 + a] * x[pair[1], a]
    return total


@kernel
def put_row(pair: tuple[int, int], C: Array, f: float, b: Array) -> None:
    """Add C^T f to the right-hand side b."""
    for a in range(6):
        if pair[0] > 0:
            b[pair[0], a] += C[a] * f
        if pair[1] > 0:
            b[pair[1], a] += C[6 + a] * f


@kernel
def largest_velocity(bodies: Array) -> float:
    """Return the largest component of u."""
    largest = 0.0
    for k in range(1, bodies.shape[0]):
        for a in range(6):
            largest = max(largest, abs(bodies[k, VELOCITY + a]))
    return largest


@kernel
def add_to_velocities(bodies: Array, x: Array, z: Array, f: float) -> None:
    """Add the solution z f by nodes to x, and its velocities to those of the bodies."""
    for k in range(1, x.shape[0]):
        for a in range(6):
            x[k, a] += f * z[k, a]
            if k < bodies.shape[0]:
                bodies[k, VELOCITY + a] += f * z[k, a]
