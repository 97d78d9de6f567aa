r"""The constraints as a surface: its tangent space at a pose, motion along it, and the way back to it.

    Phi_q x = 0,    x = (dr / L, dpi_bar)            L a length of the model: turns and displacements are measured alike
    Phi_q = U s V^T                                  N = the columns of V without a singular value: an orthonormal tangent basis
    q (+) x:   r <- r + L dr,   p <- p exp(dpi_bar)
    back:      x = - V s^-1 U^T Phi,  q <- q (+) x,  until Phi = 0                         the least motion, by Gauss and Newton

Redundant rows have no singular value of their own, and need no special care.
Source: Haug sec. 4.5 and 7; the singular value decomposition of Phi_q as in Mani, Haug and Atkinson (1985).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from haugmbd.algebra.euler import exponential, normalized, product
from haugmbd.algebra.vec3 import Array, Ints
from haugmbd.analysis.steady import Steady, bias, velocities
from haugmbd.errors import SimulationError
from haugmbd.model.model import Model
from haugmbd.model.passes import rows_entry
from haugmbd.model.tables import WIDTH, Pack, room

RANK_TOL = 1e-7
"""Singular value of Phi_q with rows of length 1, relative to the largest, below which it is zero: on the surface, where Phi = 1e-13,
dependent rows leave some 1e-13; a mechanism 1e-7 rad from a singular position is taken for one in it."""

CLOSED_TOL = 1e-13
"""Largest |Phi| over the row's length (in units of L or rad) that counts as zero: rounding of coordinates of size 1 to 100 L."""

STALLED_TOL = 1e-9
"""The same where Newton makes no progress any more: coordinates far from the origin; above, the pose cannot be closed."""

MAX_CORRECTIONS = 30


class Bench(NamedTuple):
    """A model that is evaluated again and again.  length: L [m];  scale: (6 nb,) L and 1;  pairs: (nc, 2) bodies of each row."""

    model: Model
    pack: Pack
    steady: Steady
    t: float
    length: float
    scale: Array
    pairs: Ints


class Sight(NamedTuple):
    """What is seen at one pose.

    Phi, nu: (nc,);  J: (nc, 6 nb) Phi_q, columns times `scale`;  force: (6 nb,) (Q - M bias) times `scale` [J]
    """

    Phi: Array
    nu: Array
    J: Array
    force: Array


class Tangent(NamedTuple):
    """N: (6 nb, nd) orthonormal;  lam: (nc,) for which force - J^T lam is least (of least norm in rows of length 1);  gap: max |Phi|."""

    N: Array
    lam: Array
    gap: float


def make_bench(model: Model, steady: Steady, t: float) -> Bench:
    """Room to work in; L is the typical distance of joints from centres of mass, or of bodies from each other where there is none."""
    pack = model.pack()
    rows_entry(pack, 0.0, model.y0.copy())
    model.raise_user_error(pack)
    J = _by_rows(model, pack)
    force, moment = np.linalg.norm(J[:, :, :3], axis=2), np.linalg.norm(J[:, :, 3:], axis=2)
    pulls = (force > 0.0) & (moment > 0.0)
    spread = float(np.linalg.norm(np.ptp(model.state().r, axis=0)))
    length = float(np.sqrt(np.mean(np.square(moment[pulls] / force[pulls])))) if pulls.any() else spread or 1.0
    scale = np.tile([length] * 3 + [1.0] * 3, model.nb)
    return Bench(model, pack, steady, t, length, scale, model.bodies_of_rows())


def look(bench: Bench, y: Array, u: Array | None = None, t: float | None = None) -> Sight:
    """Rows and balance at the poses of y, moving with u (nb + 1, 6) in the steady frame (by default at rest there)."""
    model, pack = bench.model, bench.pack
    y = y.copy()
    bodies = bodies_in(model, y)
    u = np.zeros((model.nb + 1, 6)) if u is None else u
    bodies[:, 7:13] = velocities(bench.steady, bodies, u)
    rows_entry(pack, bench.t if t is None else t, y)
    model.raise_user_error(pack)
    force = room(pack, "Q") - inertia_times(model, bias(bench.steady, bodies, u))
    J_rows, J = _by_rows(model, pack), np.zeros((model.nc, model.nb + 1, 6))
    for side in (0, 1):
        J[np.arange(model.nc), bench.pairs[:, side]] += J_rows[:, side]
    level = room(pack, "LEVEL")[model.slot_of_row]
    return Sight(level[:, 0], level[:, 1], J[:, 1:].reshape(model.nc, 6 * model.nb) * bench.scale, force[1:].ravel() * bench.scale)


def tangent(sight: Sight) -> Tangent:
    """The tangent space where `sight` was taken, and the multipliers that come nearest to a balance."""
    length = _lengths(sight.J)
    U, s, Vt = np.linalg.svd(sight.J / length[:, None], full_matrices=True)
    rank = int(np.sum(s > RANK_TOL * s.max(initial=0.0)))
    lam = U[:, :rank] @ ((Vt[:rank] @ sight.force) / s[:rank]) / length
    return Tangent(Vt[rank:].T, lam, float(np.abs(sight.Phi / length).max(initial=0.0)))


def closed(bench: Bench, y: Array) -> Array:
    """The nearest pose where Phi = 0; SimulationError with the row that stays open where there is none nearby."""
    last = np.inf
    for _ in range(MAX_CORRECTIONS):
        sight = look(bench, y)
        length = _lengths(sight.J)
        gaps = np.abs(sight.Phi / length)
        gap = float(gaps.max(initial=0.0))
        if gap <= CLOSED_TOL or (gap <= STALLED_TOL and gap >= 0.5 * last):
            return y
        x: Array = -np.linalg.lstsq(sight.J / length[:, None], sight.Phi / length, rcond=RANK_TOL)[0].astype(np.float64)
        y, last = moved(bench, y, x / max(1.0, float(np.abs(x).max()))), gap
    row = int(np.argmax(gaps))
    what = f"{bench.model.labels[row]} is left at {sight.Phi[row]:.3g} {bench.model.labels[row].unit} at t = {bench.t:g} s"
    raise SimulationError(f"the mechanism cannot be closed: {what}. Correct the pose, the joints, or what drives them.")


def moved(bench: Bench, y: Array, x: Array) -> Array:
    """y (+) x, with x (6 nb,); integrated angles of loads follow."""
    y = y.copy()
    bodies, step = bodies_in(bench.model, y), (x * bench.scale).reshape(-1, 6)
    bodies[1:, :3] += step[:, :3]
    bodies[1:, 3:7] = normalized(product(bodies[1:, 3:7], exponential(step[:, 3:])))
    follow_angles(bench.model, y)
    return y


def follow_angles(model: Model, y: Array) -> None:
    """Write the angles of the poses of y, each in the turn that is nearest to where it was."""
    bodies, angles = bodies_in(model, y), y[WIDTH * (model.nb + 1) :]
    for entry in model.loads:
        if entry.load.angles:
            states = bodies[list(entry.bodies)][:, None]
            angles[entry.angle] = entry.load.arguments(states, angles[entry.angle : entry.angle + 1])[0][0]


def bodies_in(model: Model, y: Array) -> Array:
    """The poses and velocities (nb + 1, 13) in y, a view."""
    return y[: WIDTH * (model.nb + 1)].reshape(model.nb + 1, WIDTH)


def inertia_times(model: Model, a: Array) -> Array:
    """(m v_dot, J_bar omega_bar_dot), (nb + 1, 6)."""
    return np.hstack([model.mass[:, None] * a[:, :3], np.einsum("kab,kb->ka", model.J_bar, a[:, 3:])])


def _by_rows(model: Model, pack: Pack) -> Array:
    """(nc, 2, 6) Phi_r and PiBar of body i and body j, zero for the ground."""
    J = room(pack, "J").reshape(-1, 2, 6)[model.slot_of_row]
    J = np.take_along_axis(J, np.stack([model.side_of_i, 1 - model.side_of_i], axis=1)[:, :, None], axis=1)
    J[model.bodies_of_rows() == 0] = 0.0
    return J


def _lengths(J: Array) -> Array:
    """Lengths of the rows, 1 where there is no gradient."""
    length = np.linalg.norm(J, axis=1)
    return np.where(length > 0.0, length, 1.0)
