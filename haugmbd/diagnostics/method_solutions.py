"""The accelerations and multipliers that a method itself computed at the stored states, in the rows of the model.

methods that evaluate accelerations    `rates` of the formulation and the stabilization at the stored states, as the steps evaluate them
methods that solve for them            u' and lam at the end of each step; NaN at states that are not steps of the method
start                                  the accelerations and multipliers of the equations of motion
dependent rows                         the same reactions, shared by the rule of the model: on the kept rows only, or with the least sum
                                       of squares

An iteration that adds corrections can leave multipliers in rows that are dropped at a later pose: they are converted to those of the rows
that are kept there, which exert the same reactions on the bodies.

    [ M       Phi_kept^T ] [ z   ]   [ Phi_q^T lam ]
    [ Phi_kept  0        ] [ lam'] = [ 0           ]         z = 0, because the right-hand side is in the range of Phi_kept^T
"""

from __future__ import annotations

import numpy as np

from haugmbd.compiled.array_types import Array
from haugmbd.compiled.function_pointers import Routine
from haugmbd.compiled.jit import entry
from haugmbd.compiled.status_codes import OK, USER_STOPPED
from haugmbd.formulations.accelerations import solve_states
from haugmbd.formulations.error_messages import explain
from haugmbd.formulations.newton_euler import factorize, finish
from haugmbd.integrators.step_context import Options
from haugmbd.math.body_columns import VELOCITY
from haugmbd.model.evaluate import prepare
from haugmbd.model.generalized_forces import clear
from haugmbd.model.model import Model
from haugmbd.redundancy.minimum_norm import least_multipliers
from haugmbd.workspace import accessors as ws
from haugmbd.workspace.layout import WIDTH, Pack, workspace_array


@entry
def keep_entry(P: Pack, t: Array, y: Array, x: Array) -> int:
    """Replace the multipliers in x (nt, 6 nn) at the states y (nt, ny) by those of the kept rows."""
    b, solution = ws.right_hand_side(P), ws.solution(P)
    edges, J = ws.edges(P), ws.jacobian(P)
    n = b.shape[0] - edges.shape[0]
    for k in range(t.shape[0]):
        code = prepare(P, t[k], y[k])
        if code != OK:
            return code
        clear(b)
        for e in range(edges.shape[0]):
            for side in range(edges.shape[1]):
                for a in range(6):
                    for c in range(6):
                        b[edges[e, side], c] += J[6 * e + a, side, c] * x[k, 6 * (n + e) + a]
        for a in range(6):
            b[0, a] = 0.0
        code = factorize(P)
        if code == OK:
            code = finish(P)
        if code != OK:
            return code
        for e in range(edges.shape[0]):
            for a in range(6):
                x[k, 6 * (n + e) + a] = solution[n + e, a]
    return OK


def solutions_of_rates(
    model: Model, pack: Pack, rates: Routine, options: Options, t: Array, y: Array
) -> tuple[Array, Array, Exception | None]:
    """Return accelerations (nt, nb + 1, 6) and multipliers (nt, nc) by the routine `rates` at the states y (nt, ny), and an error.

    NaN where it fails, as at a singular configuration, and from the error of a function of the user on. Ctrl-C in one is raised.
    """
    failed: Exception | None = None
    n, y_dot = model.nb + 1, np.zeros(y.shape[1])
    u_dot, lam = np.full((len(t), n, 6), np.nan), np.full((len(t), model.nc), np.nan)
    for k in range(len(t)):
        code = rates(pack, options, float(t[k]), y[k].copy(), y_dot)
        if code == OK:
            x = workspace_array(pack, "SOLUTION")
            u_dot[k], lam[k] = y_dot[: WIDTH * n].reshape(n, WIDTH)[:, VELOCITY:], model.lam_of(x)
        elif code == USER_STOPPED:
            try:
                model.raise_user_error(pack)
            except Exception as error:  # noqa: BLE001  told in a note
                failed = error
            break  # no function of the user is called after an error
    u_dot[:, 0] = 0.0
    return u_dot, lam, failed


def steps_only(lam: Array | None, u_dot: Array | None) -> Array | None:
    """Return the accelerations (nt, nb + 1, 6) of the steps of a method; NaN at later states where it has no multipliers lam (nt, nc)."""
    if lam is None or u_dot is None:
        return None
    accelerations = u_dot.reshape(len(u_dot), u_dot.shape[1] // 6, 6).copy()
    accelerations[1:][np.isnan(lam[1:]).any(axis=1)] = np.nan
    accelerations[:, 0] = 0.0
    return accelerations


def multipliers_of_method(model: Model, t: Array, y: Array, lam_of_method: Array) -> Array:
    """Return the multipliers (nt, nc) at the states y (nt, ny), from those of the method; NaN where there are none.

    The first state gets the multipliers of the accelerations.
    """
    lam = lam_of_method.copy()
    finite = np.asarray(np.isfinite(lam).all(axis=1))
    if model.redundancy.dropped and finite.any():
        lam[finite] = _shared(model, t[finite], y[finite], lam[finite])
    if len(t) and not finite[0]:
        lam[0] = _slots(model, solve_states(model, t[:1], y[:1]))[0, model.slot_of_row]
    return lam


def _slots(model: Model, x: Array) -> Array:
    """Return the multipliers in solutions x (nt, nn, 6) by slots, (nt, 6 ne), as a view."""
    return x.reshape(len(x), -1)[:, 6 * (model.nb + 1) :]


def _shared(model: Model, t: Array, y: Array, lam: Array) -> Array:
    """Return the multipliers of the same reactions, shared between dependent rows by the rule of the model."""
    pack = model.pack()
    x = np.zeros((len(t), model.nb + 1 + len(model.tables["EDGES"]), 6))
    _slots(model, x)[:, model.slot_of_row] = lam
    code = keep_entry(pack, t, y, x.reshape(len(t), -1))
    if code != 0:
        model.raise_user_error(pack)
        raise explain(model, pack, code, float(t[0]))
    return _slots(model, least_multipliers(model, t, y, x))[:, model.slot_of_row]
