r"""Tangents along the steps of RATTLE: its kicks and its drift made again in dual numbers, by its own kernels, see `integrators.rattle`.

    u_1/2 <- u_1/2 - K_n^-1 (0, Phi(q_(n+1)) / h)        until value and tangents rest: tangents lag behind the value by an iteration
    u_(n+1) from forces at u_(n+1)                       likewise

The discrete turn f is the end of a Newton iteration of its own, whose last step from a solution has the tangents of it.
"""

from __future__ import annotations

import numpy as np

from haugmbd.compiled.array_types import Array
from haugmbd.compiled.array_views import borrow
from haugmbd.compiled.jit import DirectCall, kernel, released
from haugmbd.compiled.scalars import LANES, as_duals, tangent_of, value_of
from haugmbd.compiled.status_codes import NO_CONVERGENCE, OK
from haugmbd.formulations.newton_euler import accelerate, put_rates, put_right_hand_side, solve_once, solve_system
from haugmbd.integrators.rattle import HalfStep, drift, end_drift, first_kick, put_forces, put_last_kick
from haugmbd.math.body_columns import VELOCITY
from haugmbd.model.evaluate import prepare
from haugmbd.model.generalized_forces import clear, copy_line
from haugmbd.sensitivity.dual_pack import DualPack
from haugmbd.sensitivity.tangents import Memory, give, project, take
from haugmbd.workspace import accessors as ws
from haugmbd.workspace.layout import WIDTH

MOST = 80
"""Iterations of a drift and of a last kick, at most."""
RESTS, NEAR, STALLED = 1e-14, 1e-9, 0.5
"""Correction, relative to the largest velocity or tangent, that is rounding; one that may be, if it leaves more than a part of the last."""


def new_halves(bodies: int) -> tuple[Array, Array]:
    """Return room for the velocities (n, 6) and the turns (n, 3) of a step, in doubles that hold duals."""
    return np.zeros((6 * bodies, LANES + 1)), np.zeros((3 * bodies, LANES + 1))


@kernel
def far_of(x: float, size: float, far: float, largest: float) -> tuple[float, float]:
    """Return the largest correction so far, and the largest size, of values and tangents."""
    far, largest = max(far, abs(value_of(x))), max(largest, abs(value_of(size)))
    for lane in range(LANES):
        far, largest = max(far, abs(tangent_of(x, lane))), max(largest, abs(tangent_of(size, lane)))
    return far, largest


@kernel
def move_lanes(P: DualPack, t: float, h: float, y: Array, half: HalfStep, new: Array) -> int:
    """Solve for the lam that leads from u_1/2 in `half` to Phi = 0, and its tangents to dPhi = 0; write the pose to `new`."""
    n = ws.n_bodies(P)
    b, level, x = ws.right_hand_side(P), ws.row_values(P), ws.solution(P)
    before = 1e300
    for _ in range(MOST):
        code = drift(P, h, y, half, new)
        if code == OK:
            code = prepare(P, t, new)
        if code != OK:
            return code
        clear(b)
        for e in range(b.shape[0] - n):
            for a in range(6):
                b[n + e, a] = -level[6 * e + a, 0] / h
        code = solve_once(P)
        if code != OK:
            return code
        far, largest = 0.0, 1.0
        for k in range(1, n):
            for a in range(6):
                far, largest = far_of(x[k, a], half.u[k, a], far, largest)
        far *= h / largest
        if far <= RESTS or (far <= NEAR and far > STALLED * before):
            return OK
        for k in range(1, n):
            for a in range(6):
                half.u[k, a] += x[k, a]
        before = far
    return NO_CONVERGENCE


@kernel
def kick_lanes(P: DualPack, t: float, h: float, half: HalfStep, new: Array) -> int:
    """Write u_(n+1), for forces at u_(n+1), and its tangents; rows, forces and factor are those of q_(n+1)."""
    n = ws.n_bodies(P)
    bodies, x = borrow(new, 0, n, WIDTH), ws.solution(P)
    before = 1e300
    for turn in range(MOST):
        if turn > 0:
            put_forces(P, bodies)
        put_last_kick(P, h, bodies, half)
        code = OK
        if turn == 0:
            code = P.factorize(P, P.python_solver)
        if code == OK:
            code = solve_once(P)
        if code != OK:
            return code
        far, largest = 0.0, 1.0
        for k in range(1, n):
            for a in range(6):
                far, largest = far_of(x[k, a] - bodies[k, VELOCITY + a], x[k, a], far, largest)
                bodies[k, VELOCITY + a] = x[k, a]
        far /= largest
        code = prepare(P, t, new)
        if code != OK or ws.n_forces(P) == 0:
            return code
        if turn > 0 and (far <= RESTS or (far <= NEAR and far > STALLED * before)):
            return OK
        before = far
    return NO_CONVERGENCE


@kernel
def step_lanes(P: DualPack, memory: Memory, half: HalfStep, t: float, h: float) -> int:
    """Make one step that ends at t, from (y, y') of the memory to (end, end')."""
    y, y_dot, new, new_dot = as_duals(memory.y), as_duals(memory.y_dot), as_duals(memory.end), as_duals(memory.end_dot)
    n = ws.n_bodies(P)
    copy_line(y, new)
    first_kick(P, h, y, y_dot, half)
    code = move_lanes(P, t, h, y, half, new)
    if code == OK:
        # forces at omega_1/2, which the end of the drift replaces
        put_forces(P, borrow(new, 0, n, WIDTH))
        end_drift(P, h, half, new)
        code = kick_lanes(P, t, h, half, new)
    if code == OK:
        put_right_hand_side(P)
        code = solve_system(P)
    copy_line(y_dot, new_dot)
    put_rates(P, t, new, new_dot)
    for a in range(WIDTH * n, y.size):
        new[a] = y[a] + 0.5 * h * (y_dot[a] + new_dot[a])
    return code


@released
def rattle_entry(P: DualPack, memory: Memory, u: Array, f: Array, T: Array, Y: Array, dY: Array) -> tuple[int, int, float]:
    """Take the lanes along the steps of a run; return the code, the number of steps done, and the sum of distances from the run's states.

    T, Y, dY: see `tangents.run_entry`;  u, f: see `new_halves`
    """
    n = ws.n_bodies(P)
    half = HalfStep(borrow(as_duals(u), 0, n, 6), borrow(as_duals(f), 0, n, 3))
    y, y_dot = as_duals(memory.y), as_duals(memory.y_dot)
    take(Y[0], dY[0], memory.y)
    code = OK
    for _ in range(2):  # the lanes may be far from dPhi = 0, and velocities need the rows of their end
        if code == OK:
            code = project(P, memory.slack, T[0], y, y_dot)
    if code == OK:
        code = accelerate(P, T[0], y)
    put_rates(P, T[0], y, y_dot)
    far = 0.0
    for done in range(T.size):
        give(memory.y, dY[done])
        off = 0.0
        for a in range(y.size):
            off = max(off, abs(memory.y[a, 0] - Y[done, a]))
            memory.y[a, 0] = Y[done, a]
        far += off
        if code == OK and done + 1 < T.size:
            code = step_lanes(P, memory, half, T[done + 1], T[done + 1] - T[done])
            copy_line(as_duals(memory.end), y)
            copy_line(as_duals(memory.end_dot), y_dot)
        if code != OK:
            return code, done, far
    return OK, T.size, far


run_rattle = DirectCall(rattle_entry)
