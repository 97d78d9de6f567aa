r"""The inertia of the bodies as a table: as it is, and with a small one added on massless directions, so that it can be factored.

A light body beside heavy ones, such as the rotor of a motor, gets from the factorization an acceleration with the rounding of the forces
that pass through it, over its own inertia.  One sweep of iterative refinement removes it: its joints determine how it moves.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from haugmbd.bodies.body import MASSLESS_RTOL, Body
from haugmbd.compiled.array_types import Array, Ints
from haugmbd.constraints.base import Primitive
from haugmbd.constraints.equations.cd import CD
from haugmbd.constraints.equations.d import D
from haugmbd.constraints.equations.dp2 import DP2
from haugmbd.constraints.registry import ROW_KINDS
from haugmbd.kkt.block_ldl import SHIFT
from haugmbd.model.compiling.equations import Equations

SUSPECT = 1e-11
"""Part of the largest principal moment; bodies whose least one is smaller are asked for their massless axes, which they tell from 1e-12."""


LIGHT = 1e-5
"""Part of the largest mass, or of it at the arm of a body's joints, below which the inertia of a body is light: solutions are refined.

Rounding over this part is 1e-11 of an acceleration; of bodies that are no lighter, ill-conditioned loops take two digits more.
"""

LIGHTEST = 1e-9
"""The same for the recursion over a forest, whose rounding reaches only light bodies that carry heavy ones.

Rotors of motors are no lighter, and are not refined there.
"""

SHORT_ARM = 1e-3
"""Part of the characteristic length up to which joints count as at the centre of their body, whose rotation is then compared with that
length: the arm of a point that a file puts on the centre is rounding, and its square would make the body light once more."""

POINTS: dict[type[Primitive], tuple[int, int]] = {CD: (0, 1), D: (0, 1), DP2: (1, 2)}
"""The markers of an equation that are points of its bodies; the others are directions, whose length is none of the mechanism."""


class InertiaTables(NamedTuple):
    """Inertia of the bodies.

    true, shifted: (nb + 1, 10) mass and J_bar, without and with the shift on massless directions
    even: (nb + 1, 10) of a unit mass at the arm of each body's joints, by which rows are compared whatever the masses
    has_light: whether a body has a mass, or a moment of inertia, that is light beside the others, see LIGHT
    has_lightest: the same, see LIGHTEST
    """

    true: Array
    shifted: Array
    even: Array
    has_light: bool
    has_lightest: bool


def inertia_tables(bodies: Sequence[Body], equations: Equations, body_of: Ints, x_bar: Array) -> InertiaTables:
    """Return the inertia of the bodies;  body_of, x_bar: of the markers."""
    true = np.concatenate(
        [np.array([[body.mass] for body in bodies]), np.array([body.J_bar for body in bodies]).reshape(-1, 9)], axis=1
    )
    shifted = true.copy()
    finite = np.nonzero(np.isfinite(true).all(axis=1))[0]  # an inertia that cannot be is a fault of its own
    moments = np.linalg.eigvalsh(true[finite, 1:].reshape(-1, 3, 3))
    points = {kind: equations.markers[equations.kind == ROW_KINDS.index(kind)] for kind in POINTS}
    arms, moving = arms_of(points, body_of, x_bar, len(bodies)), finite > 0
    length = _length(bodies, arms)
    masses = true[moving_of(finite), 0]
    beside = float(masses[masses > 0.0].min(initial=np.inf)) if (masses > 0.0).any() else 1.0  # the scale of a body without mass
    for k in finite[moments[:, 0] <= SUSPECT * moments[:, 2]]:
        body, axes = bodies[int(k)], bodies[int(k)].massless_axes()
        if len(axes):
            mass = body.mass or beside
            size = max(np.trace(body.J_bar), mass * arms[k] ** 2) or mass * length**2
            shifted[k, 1:] += (SHIFT * size * axes.T @ axes).ravel()
    without = np.flatnonzero(true[:, 0] == 0.0)
    shifted[without[without > 0], 0] = SHIFT * beside
    even = np.zeros_like(true)
    even[:, 0] = 1.0
    even[:, [1, 5, 9]] = np.where(arms > SHORT_ARM * length, arms, length)[:, None] ** 2
    weights = np.where(true[finite, 0] > 0.0, true[finite, 0], np.inf)  # without mass is not light: it is refined as massless
    light, lightest = (
        bool(has_light(weights[moving], least_moments(moments[moving]), arms[finite][moving], part)) for part in (LIGHT, LIGHTEST)
    )
    return InertiaTables(true, shifted, even, light, lightest)


def moving_of(numbers: Ints) -> Ints:
    """Return the numbers of bodies without that of the ground."""
    moving: Ints = numbers[numbers > 0]
    return moving


def least_moments(moments: Array) -> Array:
    """Return the least principal moment of bodies that is not zero, infinite if all are;  moments: (..., 3) in ascending order."""
    least: Array = np.where(moments > MASSLESS_RTOL * moments[..., -1:], moments, np.inf).min(axis=-1)
    return least


def has_light(mass: Array, least_moment: Array, arms: Array, part: float = LIGHT) -> Any:
    """Return whether one of the moving bodies is light beside the others, see LIGHT;  mass, least_moment: (..., n);  arms: (n,)."""
    limit = part * np.where(np.isfinite(mass), mass, 0.0).max(axis=-1, keepdims=True, initial=0.0)
    return ((mass < limit) | (least_moment < limit * arms**2)).any(axis=-1)


def arms_of(markers: Mapping[Any, Ints], body_of: Ints, x_bar: Array, n_bodies: int) -> Array:
    """Return the largest distance of the joints' points from the centre of each body (nb + 1,) [m].

    markers: of each kind of POINTS, a line for each equation;  body_of, x_bar: of all markers
    """
    arms = np.zeros(n_bodies)
    for kind, columns in POINTS.items():
        points = markers[kind][:, columns].ravel()
        np.maximum.at(arms, body_of[points], np.linalg.norm(x_bar[points], axis=1))
    return arms


def _length(bodies: Sequence[Body], arms: Array) -> float:
    """Return a length for bodies without arms [m]: the largest arm of all bodies, or their spread; 1 where there is none."""
    moving = np.array([body.r for body in bodies[1:]]).reshape(-1, 3)
    spread = float(np.linalg.norm(np.ptp(moving, axis=0))) if len(moving) else 0.0
    return float(arms[1:].max(initial=0.0)) or spread or 1.0


def pivot_scale(inertia: Array, n_nodes: int) -> Array:
    """Return the scales of pivots: a body's own inertia; 1 for rows until the modelled pose is known."""
    scale = np.ones((n_nodes, 6))
    scale[: len(inertia), :3] = inertia[:, :1]
    scale[: len(inertia), 3:] = inertia[:, [1, 5, 9]]
    return scale
