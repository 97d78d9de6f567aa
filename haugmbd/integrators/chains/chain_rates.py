r"""The rates of a serial chain in reduced coordinates, for every explicit integrator.

    y = (q, qd)      q' = qd, for a ball p' = G^T omega_bar / 2      qd' = aba(q, qd, tau)

There are no constraints.  Only the length of the Euler parameters of a ball drifts, and the end of a step normalizes them.
Source: Featherstone 2008, ch. 4 (joint models) and ch. 7 (articulated-body algorithm).
"""

from __future__ import annotations

from haugmbd.compiled.array_types import Array
from haugmbd.compiled.array_views import borrow_line
from haugmbd.compiled.ffi import call_callback
from haugmbd.compiled.function_pointers import Routine
from haugmbd.compiled.jit import entry, inlined, kernel
from haugmbd.compiled.status_codes import OK, SINGULAR, USER_STOPPED, report
from haugmbd.integrators.step_context import SIGNATURE, Options
from haugmbd.math.euler_kernels import normalize
from haugmbd.model.evaluate import prepare
from haugmbd.serial_chain.chain_arrays import BALL, chain_arrays
from haugmbd.serial_chain.recursions.aba import FINE, forward_dynamics
from haugmbd.workspace import accessors as ws
from haugmbd.workspace.layout import PREPARE_SIGNATURE, Pack


@kernel
def put_coordinate_rates(P: Pack, q: Array, qd: Array, q_dot: Array) -> None:
    """Write q' for the rates qd."""
    links, freedoms = ws.links(P), ws.freedoms(P)
    for i in range(links.shape[0]):
        c = links[i, 2]
        for k in range(links[i, 0], links[i, 0] + links[i, 1]):
            if freedoms[k, 0] == BALL:
                e0, e1, e2, e3 = q[c], q[c + 1], q[c + 2], q[c + 3]
                w1, w2, w3 = 0.5 * qd[k], 0.5 * qd[k + 1], 0.5 * qd[k + 2]
                q_dot[c] = -e1 * w1 - e2 * w2 - e3 * w3
                q_dot[c + 1] = e0 * w1 - e3 * w2 + e2 * w3
                q_dot[c + 2] = e3 * w1 + e0 * w2 - e1 * w3
                q_dot[c + 3] = -e2 * w1 + e1 * w2 + e0 * w3
                break
            q_dot[c] = qd[k]
            c += 1


@entry
def prepare_chain(P: Pack, t: float, y: Array) -> int:
    """Write the joint accelerations of the state `y` at time `t` to QDD; tau comes from the user's function, if there is one."""
    tau, status = ws.joint_forces(P), ws.status(P)
    if ws.tau_is_a_function(P)[0, 0] == 1.0:
        if not call_callback(P.callback, t, y, tau, tau, tau, ws.succeeded(P)):
            return report(status, USER_STOPPED, 0, t)
    nq = y.size - tau.size
    q, qd, qdd = borrow_line(y, 0, nq), borrow_line(y, nq, tau.size), ws.joint_accelerations(P)
    weak = forward_dynamics(chain_arrays(P.ints, P.reals, P.work), q, qd, tau, ws.external_wrenches(P), qdd)
    return OK if weak == FINE else report(status, SINGULAR, weak, 0.0)


@inlined
def put_rates(P: Pack, options: Options, t: float, y: Array, y_dot: Array) -> int:
    """Write y' = (q', qdd)."""
    options.n_rates += 1
    code = prepare(P, t, y)
    if code == OK:
        qdd = ws.joint_accelerations(P)
        nq = y.size - qdd.size
        put_coordinate_rates(P, y, borrow_line(y, nq, qdd.size), y_dot)
        for k in range(qdd.size):
            y_dot[nq + k] = qdd[k]
    return code


@entry
def rates(P: Pack, options: Options, t: float, y: Array, y_dot: Array) -> int:
    """Write y' = f(t, y)."""
    return put_rates(P, options, t, y, y_dot)


@entry
def post_step(P: Pack, options: Options, t: float, y: Array, y_dot: Array) -> int:
    """Normalize the Euler parameters; write y' = f(t, y)."""
    links, freedoms = ws.links(P), ws.freedoms(P)
    worst = 0.0
    for i in range(links.shape[0]):
        last = links[i, 0] + links[i, 1] - 1
        if links[i, 1] > 0 and freedoms[last, 0] == BALL:
            worst = max(worst, abs(normalize(borrow_line(y, links[i, 2] + links[i, 1] - 3, 4))))
    options.max_euler_drift = max(options.max_euler_drift, worst)
    options.sum_euler_drift += worst
    return put_rates(P, options, t, y, y_dot)


PREPARE_CHAIN = Routine(prepare_chain, PREPARE_SIGNATURE)
RATES, POST_STEP = Routine(rates, SIGNATURE), Routine(post_step, SIGNATURE)
