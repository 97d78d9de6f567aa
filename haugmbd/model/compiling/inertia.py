r"""The inertia of the bodies as a table: as it is, and with a small one added on massless directions, so that it can be factored."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from haugmbd.bodies.body import Body
from haugmbd.compiled.array_types import Array, Ints
from haugmbd.kkt.block_ldl import SHIFT

SUSPECT = 1e-11
"""Part of the largest principal moment; bodies whose least one is smaller are asked for their massless axes, which they tell from 1e-12."""


def inertia_tables(bodies: Sequence[Body], body_of: Ints, x_bar: Array) -> tuple[Array, Array]:
    """Return rows (mass, J_bar), without and with the shift on massless directions;  body_of, x_bar: of the markers."""
    true = np.concatenate(
        [np.array([[body.mass] for body in bodies]), np.array([body.J_bar for body in bodies]).reshape(-1, 9)], axis=1
    )
    shifted = true.copy()
    finite = np.nonzero(np.isfinite(true).all(axis=1))[0]  # an inertia that cannot be is a fault of its own
    moments = np.linalg.eigvalsh(true[finite, 1:].reshape(-1, 3, 3))
    for k in finite[moments[:, 0] <= SUSPECT * moments[:, 2]]:
        body, axes = bodies[int(k)], bodies[int(k)].massless_axes()
        if len(axes):
            arms = [np.sum(np.square(x)) for x in x_bar[body_of == k]]
            size = max(np.trace(body.J_bar), body.mass * max(arms, default=0.0)) or body.mass
            shifted[k, 1:] += (SHIFT * size * axes.T @ axes).ravel()
    return true, shifted


def pivot_scale(inertia: Array, n_nodes: int) -> Array:
    """Return the scales of pivots: a body's own inertia; 1 for rows until the modelled pose is known."""
    scale = np.ones((n_nodes, 6))
    scale[: len(inertia), :3] = inertia[:, :1]
    scale[: len(inertia), 3:] = inertia[:, [1, 5, 9]]
    return scale
