r"""The rows of a driven mechanism in a metric of its geometry: what is singular is a matter of lengths and angles, not of inertia.

    W = diag(1, l^2) of each body            l: root mean square of the arms |PiBar| / |Phi_r| of its rows [m]
    K = [ W  Phi_q^T; Phi_q  0 ]             det K = +- (det Phi_q)^2 / det W  where the drivers determine the motion

Positions, velocities and accelerations of such a mechanism follow from its rows alone, with any metric and without forces.  The factor of K
and its pivots then depend on neither masses nor inertias: a slender rod has no axis about which it turns for nothing.  The pivots along a
motion are compared with each other, so that l is only a matter of rounding.
Source: Golub and Van Loan, Matrix Computations, sec. 5.2 (pivots and determinants).
"""

from __future__ import annotations

from copy import copy
from dataclasses import replace

import numpy as np

from haugmbd.compiled.array_types import Array
from haugmbd.kkt.solver_routines import with_blocks
from haugmbd.model.friction.routine import NO_FRICTION
from haugmbd.model.inspection.constraint_rows import Rows, evaluate
from haugmbd.model.model import Model
from haugmbd.model.state import State
from haugmbd.redundancy.rank import put_row_scale
from haugmbd.workspace.layout import (
    CALLS_USER,
    FRICTION_FLAG,
    REFINES,
    WIDTH,
    Pack,
    empty_matrix,
    flags_in,
    move_matrix,
    place_in,
)


def geometric_pack(model: Model, state: State) -> Pack:
    """Return a workspace of the model with W in place of its inertia, by the arms at a state, and without forces.

    Force elements are evaluated only where the state has integrated angles, whose rates they write.
    """
    pack = with_blocks(model.pack())
    W, scale = _metric(model, evaluate(model, state))
    ints, start = pack.ints.copy(), pack.reals.size
    reals = np.concatenate([pack.reals, W.ravel(), scale.ravel(), np.zeros(W.size + 3)])
    for name, place in (("SHIFTED", 0), ("SCALE", W.size), ("INERTIA", W.size + scale.size), ("GRAVITY", 2 * W.size + scale.size)):
        move_matrix(ints, name, start + place)
    empty_matrix(ints, "FRICTION_INTS")
    flags = flags_in(ints)
    flags[REFINES] = flags[FRICTION_FLAG] = 0
    pack = pack._replace(ints=ints, reals=reals, friction=NO_FRICTION)
    if len(model.y0) > WIDTH * (model.nb + 1):
        return pack
    empty_matrix(ints, "FORCE_INTS")
    first, rows, columns = place_in(ints, "FORCE_KIND_STARTS")
    ints[first : first + rows * columns] = 0
    calls = model.force_callbacks
    flags[CALLS_USER] = int(bool(calls.driver_calls))
    return pack._replace(callback=replace(calls, force_calls=(), network=None).callback())


def with_geometric_inertia(model: Model, state: State) -> Model:
    """Return the model with W in place of its inertia, by the arms at a state: what is near then does not depend on masses."""
    W, _ = _metric(model, evaluate(model, state))
    return _with_inertia(model, W, W)


def with_inertia_of(model: Model, own: Model) -> Model:
    """Return the model with the inertia of `own`, of which it is the same model at another pose, or with other rows left out."""
    return _with_inertia(model, own.tables["INERTIA"], own.tables["SHIFTED"])


def _with_inertia(model: Model, true: Array, shifted: Array) -> Model:
    """Return the model with other inertias (nb + 1, 10)."""
    tables = copy(model.tables)
    tables.reals = model.tables.reals.copy()
    for name, inertia in (("INERTIA", true), ("SHIFTED", shifted)):
        start = tables.place(name)[0]
        tables.reals[start : start + inertia.size] = inertia.ravel()
    start, n = tables.place("SCALE")[0], model.nb + 1
    tables.reals[start : start + 6 * n] = np.hstack([np.repeat(shifted[:, :1], 3, axis=1), shifted[:, [1, 5, 9]]]).ravel()
    other = replace(model, tables=tables)
    put_row_scale(other, evaluate(other))
    return other


def _metric(model: Model, rows: Rows) -> tuple[Array, Array]:
    """Return W (nb + 1, 10) as an inertia, and the scales of the pivots (nn, 6)."""
    l2, scale = squared_arms(model, rows), model.tables["SCALE"].copy()
    n = model.nb + 1
    W = np.zeros((n, 10))
    W[:, 0], W[:, [1, 5, 9]] = 1.0, l2[:, None]
    scale[:n, :3], scale[:n, 3:] = 1.0, l2[:, None]
    moved = (rows.bodies > 0)[..., None]
    turning = np.where(moved, rows.PiBar**2 / l2[rows.bodies][..., None], 0.0)
    by_row = np.sum(np.where(moved, rows.Phi_r**2, 0.0) + turning, axis=(1, 2))
    scale.reshape(-1)[6 * n + model.slot_of_row] = np.where(by_row > 0.0, by_row, 1.0)
    return W, scale


def squared_arms(model: Model, rows: Rows) -> Array:
    """Return the mean square of the arms of the rows of each body [m2], (nb + 1,); of all arms, or L^2, for a body that has none."""
    force, moment = (np.einsum("rsa,rsa->rs", x, x) for x in (rows.Phi_r, rows.PiBar))
    pulls = (force > 0.0) & (rows.bodies > 0)
    body, square = rows.bodies[pulls], moment[pulls] / force[pulls]
    n = model.nb + 1
    count = np.bincount(body, minlength=n)
    found = np.bincount(body, weights=square, minlength=n) / np.maximum(count, 1)
    whole = float(square.mean()) if len(square) else 0.0
    whole = whole or model.length**2
    return np.where(found > LEAST * whole, found, whole)


LEAST = 1e-12
"""Part of the mean square of all arms below which the arms of a body are rounding: all its joints are at its centre of mass."""
