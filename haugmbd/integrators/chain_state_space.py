"""A serial chain as a state space: its pack, its dense output, its errors.

dense output     q by quintic Hermite interpolation of (q, q', q'') at the ends of a step, qd by its derivative, as of bodies
                 a ball:  p'' = G^T omega_bar' / 2 - |omega_bar|^2 p / 4      omega_bar = 2 G p'

The rates of a serial chain in reduced coordinates, for every explicit integrator.

    y = (q, qd)      q' = qd, for a ball p' = G^T omega_bar / 2      qd' = aba(q, qd, tau)

There are no constraints.  Only the length of the Euler parameters of a ball drifts, and the end of a step normalizes them.
Source: Featherstone 2008, ch. 4 (joint models) and ch. 7 (articulated-body algorithm).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from haugmbd.bodies.validation import numbers
from haugmbd.compiled.array_types import Array
from haugmbd.compiled.array_views import borrow_line
from haugmbd.compiled.ffi import NO_CALLBACK, Callback, call_callback
from haugmbd.compiled.function_pointers import Routine
from haugmbd.compiled.jit import entry, inlined, kernel
from haugmbd.compiled.status_codes import NOT_FINITE, OK, SINGULAR, STEP_TOO_SMALL, USER_STOPPED, report
from haugmbd.constraints.registry import ASSEMBLERS, NO_ASSEMBLER, Assemblers
from haugmbd.drivers.driver import shown
from haugmbd.errors import SimulationError
from haugmbd.friction.routine import NO_FRICTION
from haugmbd.integrators.dense_output import between_rates, quintic
from haugmbd.integrators.state_space import Places, Spinning
from haugmbd.integrators.step_context import SIGNATURE, Options
from haugmbd.math.euler_kernels import normalize
from haugmbd.math.euler_parameters import normalized, omega_bar_from, p_dot_from
from haugmbd.model.evaluate import prepare
from haugmbd.model.generalized_forces import NO_APPLY
from haugmbd.serial_chain.base import ChainState
from haugmbd.serial_chain.chain import SerialChain
from haugmbd.serial_chain.chain_arrays import BALL, SLIDE, chain_arrays
from haugmbd.serial_chain.recursions.aba import FINE, forward_dynamics
from haugmbd.workspace import accessors as ws
from haugmbd.workspace.body_kinematics import NO_DRIVE
from haugmbd.workspace.layout import PREPARE_SIGNATURE, SOLVE_SIGNATURE, Pack, workspace_array


@dataclass(frozen=True, eq=False)
class ChainStateSpace:
    """A serial chain as a state space.

    tau: (nv,) generalized forces, or a function tau(t, q, qd) -> (nv,);  wrenches: (n, 6) at the centres of mass, global, constant
    """

    chain: SerialChain
    tau: Array | Callable[[float, Array, Array], npt.ArrayLike]
    wrenches: Array

    def pack(self) -> Pack:
        """Return the chain's tables with new workspace, and the routines of a chain."""
        chain, none = self.chain, Routine(None, SOLVE_SIGNATURE)
        fills = Assemblers(*([NO_ASSEMBLER] * len(ASSEMBLERS)))
        callback = (
            Callback(self._write_tau, ((chain.nq + chain.nv,), (0,), (0,), (chain.nv,))) if callable(self.tau) else NO_CALLBACK
        )
        unused: dict[str, Any] = {"factorize": none, "finish": none, "begin": none, "refine": none, "friction": NO_FRICTION}
        arrays = (chain.tables.ints, chain.tables.reals, np.zeros(chain.tables.work_size))
        pack = Pack(*arrays, NO_DRIVE, NO_APPLY, callback, fills, PREPARE_CHAIN, PREPARE_CHAIN, **unused)
        if callable(self.tau):
            workspace_array(pack, "TAU_IS_A_FUNCTION")[:] = 1.0
        else:
            workspace_array(pack, "TAU")[:] = self.tau
        if len(self.wrenches):
            workspace_array(pack, "EXTERNAL_WRENCHES")[:] = self.wrenches
        return pack

    def tau_at(self, t: float, q: Array, qd: Array) -> Array:
        """Return the generalized forces (nv,) at a state.  Raise SimulationError if the function returns anything else."""
        if not callable(self.tau):
            return self.tau
        try:
            given = self.tau(t, q, qd)
        except Exception as error:
            error.add_note(f"raised by tau(t, q, qd) of chain {self.chain.name!r} at t = {t:.9g} s")
            raise
        tau = numbers(given)
        if tau is None or tau.shape != (self.chain.nv,) or not np.isfinite(tau).all():
            what = f"tau(t, q, qd) gives {shown(given) if tau is None else tau.tolist()} at t = {t:.9g} s"
            raise SimulationError(f"chain {self.chain.name!r}: {what}. It must give {self.chain.nv} finite numbers.")
        return tau

    def _write_tau(self, t: float, y: Array, _: Array, __: Array, tau: Array) -> None:
        """Evaluate tau for compiled code."""
        tau[:] = self.tau_at(t, y[: self.chain.nq].copy(), y[self.chain.nq :].copy())

    def may_be_stiff(self) -> bool:
        return True

    def places(self) -> Places:
        slides: list[tuple[int, int]] = []
        spins: list[tuple[int, int]] = []
        for columns, rates_at, ball in self._columns():
            if ball:
                spins.append((columns.start, rates_at.start))
            else:
                slides += zip(range(columns.start, columns.stop), range(rates_at.start, rates_at.stop), strict=True)
        return Places(np.array(slides, dtype=np.int64).reshape(-1, 2), np.array(spins, dtype=np.int64).reshape(-1, 2))

    def spinning(self) -> Spinning:
        first = self.places().spins[:, 1:2]
        return Spinning(tuple(link.name for link in self.chain.links if link.nq > link.nv), first + np.arange(3))

    def worst_gap(self, pack: Pack) -> tuple[float, str]:
        """Return no gap: joint coordinates keep every joint closed."""
        return 0.0, ""

    def units(self) -> Array:
        """Return the longest step from handle to handle, or to a centre of mass, for slides; 1 for turns."""
        length = max((float(np.abs([*link.L, *link.c]).max()) for link in self.chain.links), default=0.0) or 1.0
        units, kind = np.ones(self.chain.nq + self.chain.nv), self.chain.tables["FREEDOMS"][:, 0]
        plain = self.places().slides
        units[plain[kind[plain[:, 1] - self.chain.nq] == SLIDE]] = length
        return units

    def state(self, t: float, y: Array) -> ChainState:
        return ChainState(t, y[: self.chain.nq], y[self.chain.nq :])

    def lost_turn(self, t: Array, y: Array) -> None:
        """Return nothing: joint coordinates count their turns."""

    def without_drift(self, y: Array) -> None:
        """Return nothing, for the same reason."""

    def left_range(self, y: Array) -> str:  # noqa: ARG002  a chain has no such joints
        return ""

    def wrong_branch(self, t: Array, y: Array) -> str:
        """Return "": joint coordinates determine their branch."""
        return ""

    def broken(self, t: Array) -> None:
        """Return nothing: a chain has no drivers."""

    def error(self, pack: Pack, code: int, t: float) -> BaseException:
        error = pack.callback.take_error()
        if error is not None:
            return error
        _, place, number = workspace_array(pack, "STATUS")[0, :3]
        if code == SINGULAR:
            return self.chain.no_inertia(int(place))
        if code == NOT_FINITE:
            where = f"coordinate {int(place)}" if place < self.chain.nq else f"rate {int(place) - self.chain.nq}"
            return SimulationError(f"{where} of chain {self.chain.name!r} is {number} at t = {t:.6g} s: reduce h, or use rtol.")
        if code == STEP_TOO_SMALL:
            what = f"the error control needs a step of {number:.3g} s at t = {t:.6g} s"
            remedy = "The motion is not smooth there: loosen rtol, or use a fixed step; or it is stiff: use SciPySolver('Radau')."
            return SimulationError(f"{what}. {remedy}")
        return KeyboardInterrupt()  # lost between compiled code and Python, see `compiled.ffi`

    def between(self, t_new: Array, t: Array, y: Array, y_dot: Array) -> Array:
        """Return states by quintic Hermite interpolation of q, and its derivative."""
        if len(t) == 1:
            return np.repeat(y, len(t_new), axis=0)
        k = np.clip(np.searchsorted(t, t_new, side="right") - 1, 0, len(t) - 2)
        h, s = (t[k + 1] - t[k])[:, None], ((t_new - t[k]) / (t[k + 1] - t[k]))[:, None]
        x, x_dot, e = quintic(s, h, [self._jet(y[k + end], y_dot[k + end]) for end in (0, 1)])
        out = np.empty((len(t_new), y.shape[1]))
        for columns, rates_at, ball in self._columns():
            x[:, columns] = normalized(x[:, columns]) if ball else x[:, columns]
            derived = omega_bar_from(x[:, columns], x_dot[:, columns]) if ball else x_dot[:, columns]
            ends = [(y[k + end, rates_at], y_dot[k + end, rates_at]) for end in (0, 1)]
            out[:, rates_at] = between_rates(s, h, derived, (2.0 if ball else 1.0) * e[:, columns], ends)
        out[:, : self.chain.nq] = x
        return out

    def rates_of(self, y: Array, qdd: Array) -> Array:
        """Return y' (nt, nq + nv) for states y (nt, nq + nv) with joint accelerations qdd (nt, nv)."""
        q_dot = np.empty((len(y), self.chain.nq))
        for columns, rates_at, ball in self._columns():
            q_dot[:, columns] = p_dot_from(y[:, columns], y[:, rates_at]) if ball else y[:, rates_at]
        return np.hstack([q_dot, qdd])

    def _jet(self, y: Array, y_dot: Array) -> tuple[Array, Array, Array]:
        """Return q, q' and q'', (k, nq) each."""
        nq = self.chain.nq
        q_ddot = np.empty((len(y), nq))
        for columns, rates_at, ball in self._columns():
            p, w, w_dot = y[:, columns], y[:, rates_at], y_dot[:, rates_at]
            q_ddot[:, columns] = p_dot_from(p, w_dot) - 0.25 * np.sum(w**2, axis=1, keepdims=True) * p if ball else w_dot
        return y[:, :nq], y_dot[:, :nq], q_ddot

    def _columns(self) -> Iterator[tuple[slice, slice, bool]]:
        """Return the columns of coordinates and rates in y, joint by joint; a ball is separate from the slides before it."""
        nq = self.chain.nq
        for (first, n, c), link in zip(self.chain.tables["LINKS"].tolist(), self.chain.links, strict=True):
            plain = n - 3 if link.nq > link.nv else n
            yield slice(c, c + plain), slice(nq + first, nq + first + plain), False
            if link.nq > link.nv:
                yield slice(c + plain, c + plain + 4), slice(nq + first + plain, nq + first + n), True


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
