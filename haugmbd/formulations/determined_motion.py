r"""A motion that the rows determine, in a metric of the geometry: what is singular is a matter of lengths and angles, not of inertia.

    W = diag(1, l^2) of each body            l: root mean square of the arms |PiBar| / |Phi_r| of its rows [m]
    K = [ W  Phi_q^T; Phi_q  0 ]             det K = +- (det Phi_q)^2 / det W  where the drivers determine the motion

    K (u_dot, .) = (0, gamma)                the accelerations, without inertia and forces
    K (., lam) = (Q - (M - W) u_dot, gamma)  the multipliers of  M u_dot + Phi_q^T lam = Q

Positions, velocities and accelerations of such a mechanism follow from its rows alone, with any metric.  The factor of K and its pivots
then depend on neither masses nor inertias: a slender rod has no axis about which it turns for nothing.  The pivots along a motion are
compared with each other, so that l is only a matter of rounding.
Source: Haug (2021), spatial kinematic analysis; Golub and Van Loan, Matrix Computations, sec. 5.2 (pivots and determinants).
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from haugmbd.bodies.validation import for_kernels
from haugmbd.compiled.array_types import Array
from haugmbd.compiled.array_views import borrow_line
from haugmbd.compiled.jit import DirectCall, entry
from haugmbd.compiled.status_codes import OK
from haugmbd.formulations.accelerations import solve_states
from haugmbd.formulations.error_messages import explain
from haugmbd.formulations.newton_euler import factorize, finish, put_right_hand_side, solve_system
from haugmbd.friction.routine import NO_FRICTION
from haugmbd.kkt.registry import with_blocks
from haugmbd.kkt.tree_solver import has_tree
from haugmbd.model.evaluate import prepare
from haugmbd.model.inspection.constraint_rows import Rows, evaluate
from haugmbd.model.model import Model
from haugmbd.model.state import State
from haugmbd.redundancy.minimum_norm import least_multipliers
from haugmbd.workspace import accessors as ws
from haugmbd.workspace.layout import (
    CALLS_USER,
    FRICTION_FLAG,
    REFINES,
    SOLUTION,
    WIDTH,
    Pack,
    empty_matrix,
    flags_in,
    move_matrix,
    place_in,
    workspace_array,
)

LEAST = 1e-12
"""Part of the mean square of all arms below which the arms of a body are rounding: all its joints are at its centre of mass."""


def geometric_pack(model: Model, state: State) -> Pack:
    """Return a workspace of the model with W in place of its inertia, by the arms at a state; forces are those of the true inertia."""
    pack = with_blocks(model.pack())
    W, scale = geometric_metric(model, evaluate(model, state))
    ints, start = pack.ints.copy(), pack.reals.size
    move_matrix(ints, "SHIFTED", start)
    move_matrix(ints, "SCALE", start + W.size)
    flags_in(ints)[REFINES] = 0  # W has no massless direction
    return pack._replace(ints=ints, reals=np.concatenate([pack.reals, W.ravel(), scale.ravel()]))


def without_forces(model: Model, pack: Pack) -> Pack:
    """Return a workspace of `geometric_pack` for positions, velocities and accelerations, which need no forces.

    Force elements are evaluated only where the state has integrated angles, whose rates they write.
    """
    ints, start = pack.ints, pack.reals.size
    nothing = np.zeros(10 * (model.nb + 1) + 3)
    move_matrix(ints, "INERTIA", start)
    move_matrix(ints, "GRAVITY", start + nothing.size - 3)
    empty_matrix(ints, "FRICTION_INTS")
    flags = flags_in(ints)
    flags[FRICTION_FLAG] = 0
    pack = pack._replace(reals=np.concatenate([pack.reals, nothing]), friction=NO_FRICTION)
    if len(model.y0) > WIDTH * (model.nb + 1):
        return pack
    empty_matrix(ints, "FORCE_INTS")
    first, rows, columns = place_in(ints, "FORCE_KIND_STARTS")
    ints[first : first + rows * columns] = 0
    calls = model.force_callbacks
    flags[CALLS_USER] = int(bool(calls.driver_calls))
    return pack._replace(callback=replace(calls, force_calls=(), network=None).callback())


def geometric_metric(model: Model, rows: Rows) -> tuple[Array, Array]:
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
    mean_square = np.bincount(body, weights=square, minlength=n) / np.maximum(count, 1)
    whole = float(square.mean()) if len(square) else 0.0
    whole = whole or model.length**2
    return np.where(mean_square > LEAST * whole, mean_square, whole)


@entry
def determined_entry(P: Pack, t: Array, y: Array, x: Array) -> tuple[int, int]:
    """Solve at many states y (nt, ny) as `multipliers_entry` does, where the rows determine the accelerations."""
    solution = borrow_line(P.work, ws.start_of(P, SOLUTION), x.shape[1])
    M, W = ws.inertia(P), ws.shifted_inertia(P)
    for k in range(t.shape[0]):
        code = prepare(P, t[k], y[k])
        if code != OK:
            return code, k
        put_right_hand_side(P)
        b, u = ws.right_hand_side(P), ws.solution(P)
        for body in range(M.shape[0]):
            for a in range(6):
                b[body, a] = 0.0
        code = factorize(P)
        if code == OK:
            code = finish(P)
        if code != OK:
            return code, k
        put_right_hand_side(P)
        for body in range(1, M.shape[0]):
            for a in range(3):
                b[body, a] -= (M[body, 0] - W[body, 0]) * u[body, a]
                for c in range(3):
                    b[body, 3 + a] -= (M[body, 1 + 3 * a + c] - W[body, 1 + 3 * a + c]) * u[body, 3 + c]
        code = solve_system(P)
        if code != OK:
            return code, k
        for a in range(x.shape[1]):
            x[k, a] = solution[a]
    return OK, t.shape[0]


solve_determined = DirectCall(determined_entry)


def solve_determined_states(model: Model, t: Array, y: Array) -> Array:
    """Return the solutions (nt, nn, 6), by nodes, at states y (nt, ny) of a motion that the rows determine, as `solve_states` does.

    Friction that depends on the reactions of joints is solved for together with them, in the metric of the inertia. So are forests, whose
    rows do not become dependent, by their recursion.
    """
    if not len(t) or model.tables["FLAGS"][0, FRICTION_FLAG] > 0 or has_tree(model.tables):
        return solve_states(model, t, y)
    pack = geometric_pack(model, State.from_y(float(t[0]), y[0], model.nb + 1))
    nodes = len(workspace_array(pack, "SOLUTION"))
    x = np.zeros((len(t), 6 * nodes))
    t, y = for_kernels(t), for_kernels(y)
    code, done = solve_determined(pack, t, y, x)
    if code != OK:
        model.raise_user_error(pack)
        raise explain(model, pack, code, float(t[done]))
    x[:, :6] = 0.0  # the forces on the ground
    return least_multipliers(model, t, y, x.reshape(len(t), nodes, 6))
