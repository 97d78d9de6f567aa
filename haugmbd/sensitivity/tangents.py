r"""Tangents of a motion by parameters: the steps of a run made again in dual numbers, by the kernels of the library.

    y' = f(t, y, p)        in duals:   (y, dy)' = (f,  f_y dy + f_p)        dy(0) = d(modelled state)/dp,   LANES parameters at once

A step is an explicit step, of Runge-Kutta, on the group of rotations, or semi-implicit, and the projections after it, or the feedback of
Baumgarte, so that the lanes are the derivative of the DISCRETE solution.  In an
iterated projection the tangent lags one iteration behind the value: one more solution brings it to dPhi = 0.  Numbers that a run takes
for nothing are not set to zero here: their tangents are not nothing.
Sources: Haug, Wehage, Mani (1984), design sensitivity of constrained dynamics; Griewank, Walther (2008), ch. 3 and ch. 15 on iterations.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from haugmbd.compiled.array_types import Array, Ints
from haugmbd.compiled.array_views import borrow
from haugmbd.compiled.jit import DirectCall, kernel, released
from haugmbd.compiled.scalars import LANES, as_duals, tangent_of, value_of
from haugmbd.compiled.status_codes import NO_CONVERGENCE, OK
from haugmbd.formulations.newton_euler import (
    accelerate,
    factorize,
    finish,
    finish_accelerations,
    put_rates,
    put_right_hand_side,
    rates_at_hand,
    rates_of_stage,
    solve_once,
    solve_system,
)
from haugmbd.integrators.explicit.lie import put_rotations, put_turns, turn
from haugmbd.integrators.explicit.tableau import Tableau, combine
from haugmbd.integrators.hem4 import put_velocity_gap
from haugmbd.integrators.stabilization.baumgarte import add_feedback
from haugmbd.integrators.stabilization.corrections import add_displacement, add_velocity
from haugmbd.integrators.stabilization.projection import put_position_residual, put_velocity_residual
from haugmbd.math.body_columns import VELOCITY, WIDTH
from haugmbd.math.euler_kernels import normalize
from haugmbd.model.evaluate import prepare
from haugmbd.model.generalized_forces import copy_line
from haugmbd.sensitivity.dual_pack import DualPack
from haugmbd.workspace import accessors as ws

MOST, RESTS, NEAR = 80, 1e-14, 1e-9
"""Corrections of a half-explicit stage; a correction, relative to the largest velocity or tangent, that is rounding, and that may be."""
ITERATIONS = 12
"""As of the projection of a run."""
STALLED = 0.3
"""As of the projection of a run: a correction that leaves more has reached rounding."""
PROJECTED = 1e-13
"""As of the projection of a run: residual that is not corrected, lengths relative to the size of the mechanism."""


class Lanes(NamedTuple):
    """The derivatives of a model's constants by each of n parameters, where they are not zero.

    first: (n + 1,) the first entry of each parameter;  place, slope: (m,) number in `reals`, and its derivative
    driver_first, driver_place, driver_slope: the same of the values (nd, 3) of constant drivers, F0
    """

    first: Ints
    place: Ints
    slope: Array
    driver_first: Ints
    driver_place: Ints
    driver_slope: Array
    F0: Array


RUNGE_KUTTA, LIE, SEMI_IMPLICIT, HALF_EXPLICIT = 0, 1, 2, 3
"""Kinds of explicit methods."""


class Method(NamedTuple):
    """An explicit method with its stabilization.

    tableau;  kind;  products, spins: of a method on the group of rotations, see `explicit.lie`;  slides: (., 2) places of r and v
    projects: whether a step ends on the constraints;  alpha, beta: gains of a feedback [1/s]
    """

    tableau: Tableau
    kind: int
    products: bool
    spins: Ints
    slides: Ints
    projects: bool
    alpha: float
    beta: float


class Memory(NamedTuple):
    """Work arrays of doubles that hold duals, LANES + 1 each.

    y, y_dot: (ny, .) the last point;  stage, end, end_dot: (ny, .) a stage, and the end of a step;  k: (s ny, .) rates of its stages
    slack: (6 ne, LANES) largest derivative of Phi that no motion removes, of each slot
    """

    y: Array
    y_dot: Array
    stage: Array
    end: Array
    end_dot: Array
    k: Array
    slack: Array


def new_memory(ny: int, slots: int, stages: int) -> Memory:
    """Return work arrays."""
    y, y_dot, stage, end, end_dot, k = (np.zeros((n * ny, LANES + 1)) for n in (1, 1, 1, 1, 1, stages))
    return Memory(y, y_dot, stage, end, end_dot, k, np.zeros((slots, LANES)))


@kernel
def note_slack(P: DualPack, slack: Array) -> None:
    """Keep the largest derivative of each row that the correction (dq, mu) at hand leaves."""
    J, level, edges, x = ws.jacobian(P), ws.row_values(P), ws.edges(P), ws.solution(P)
    for slot in range(slack.shape[0]):
        opening = level[slot, 0]
        for side in range(edges.shape[1]):
            b = edges[slot // 6, side]
            if b > 0:
                for c in range(6):
                    opening += J[slot, side, c] * x[b, c]
        for lane in range(slack.shape[1]):
            slack[slot, lane] = max(slack[slot, lane], abs(tangent_of(opening, lane)))


@kernel
def project(P: DualPack, slack: Array, t: float, y: Array, y_dot: Array) -> int:
    """Project y on Phi = 0 and Phi_q u = nu as a step of a run ends, and write y' there;  a projection of its own for the tangents."""
    n = ws.n_bodies(P)
    bodies, weights = borrow(y, 0, n, WIDTH), ws.row_weights(P)
    for b in range(1, n):
        normalize(bodies[b, 3:7])
    before = 1e300
    for _ in range(ITERATIONS):
        code = prepare(P, t, y)
        if code != OK:
            return code
        error = abs(put_position_residual(P, weights))
        code = factorize(P)
        if code != OK:
            return code
        if error <= PROJECTED or error > STALLED * before:
            break
        before = 1.0 * error
        code = finish(P)
        if code != OK:
            return code
        add_displacement(P, bodies)
    # The value is on Phi = 0: dq = -K^-1 Phi once more, which moves the tangents there.
    code = finish(P)
    if code != OK:
        return code
    note_slack(P, slack)
    add_displacement(P, bodies)
    # du = K^-1 (nu - Phi_q u), with the factor of the pose
    put_velocity_residual(P, bodies, weights)
    code = solve_system(P)
    if code != OK:
        return code
    add_velocity(P, bodies)
    code = prepare(P, t, y)
    return rates_at_hand(P, t, y, y_dot) if code == OK else code


@kernel
def rates(P: DualPack, method: Method, t: float, y: Array, y_dot: Array) -> int:
    """Write y' = f(t, y), with the feedback of a violation if the method has one."""
    if method.alpha == 0.0 and method.beta == 0.0:
        return rates_of_stage(P, t, y, y_dot)
    code = prepare(P, t, y)
    if code != OK:
        return code
    add_feedback(P, borrow(y, 0, ws.n_bodies(P), WIDTH), method.alpha, method.beta)
    put_right_hand_side(P)
    code = factorize(P)
    if code == OK:
        code = finish_accelerations(P)
    if code == OK:
        put_rates(P, t, y, y_dot)
    return code


@kernel
def begin_or_end(P: DualPack, method: Method, slack: Array, t: float, y: Array, y_dot: Array) -> int:
    """End a step, or begin a run: project the state, or normalize its Euler parameters alone; write y' there."""
    if method.projects:
        return project(P, slack, t, y, y_dot)
    bodies = borrow(y, 0, ws.n_bodies(P), WIDTH)
    for b in range(1, bodies.shape[0]):
        normalize(bodies[b, 3:7])
    return rates(P, method, t, y, y_dot)


@kernel
def begin(P: DualPack, method: Method, slack: Array, t: float, y: Array, y_dot: Array) -> int:
    """Begin a run with tangents that may be far from dPhi = 0, as where a joint moves and its bodies do not.

    The rows of a projection are those before it moves the tangents: a second one has rows, and so y', of their end.
    """
    code = begin_or_end(P, method, slack, t, y, y_dot)
    return begin_or_end(P, method, slack, t, y, y_dot) if code == OK and method.projects else code


@kernel
def step(
    P: DualPack, memory: Memory, method: Method, t: float, h: float, y: Array, y_dot: Array, end: Array, end_dot: Array
) -> int:
    """Make one step with its projection from (y, y') to (end, end')."""
    c, a, b = method.tableau
    ny = y.size
    k, stage = borrow(as_duals(memory.k), 0, c.size, ny), as_duals(memory.stage)
    if method.kind == SEMI_IMPLICIT:
        advance_semi_implicit(method, h, y, y_dot, end)
    elif method.kind == HALF_EXPLICIT:
        code = advance_half_explicit(P, method.tableau, t, h, y, k, end)
        if code != OK:
            return code
    elif method.kind == LIE:
        copy_line(y_dot, k[0])
        put_turns(a[0], 0, h, k, method.spins, method.products, y)
        for i in range(1, c.size):
            combine(a[i], h, y, k[0], k[1:], stage)
            put_rotations(a[i], h, y, k, method.spins, method.products, stage)
            code = rates(P, method, t + c[i] * h, stage, k[i])
            if code != OK:
                return code
            put_turns(a[i], i, h, k, method.spins, method.products, stage)
        combine(b, h, y, k[0], k[1:], end)
        put_rotations(b, h, y, k, method.spins, method.products, end)
    else:
        for i in range(1, c.size):
            combine(a[i], h, y, y_dot, k, stage)
            code = rates(P, method, t + c[i] * h, stage, k[i - 1])
            if code != OK:
                return code
        combine(b, h, y, y_dot, k, end)
    return begin_or_end(P, method, memory.slack, t + h, end, end_dot)


@kernel
def advance_semi_implicit(method: Method, h: float, y: Array, y_dot: Array, end: Array) -> None:
    """Write velocities, then positions with the new velocities, to `end`, as `SemiImplicitEuler` does."""
    for a in range(y.size):
        end[a] = y[a] + h * y_dot[a]
    for k in range(method.slides.shape[0]):
        end[method.slides[k, 0]] = y[method.slides[k, 0]] + h * end[method.slides[k, 1]]
    for k in range(method.spins.shape[0]):
        p, w = method.spins[k, 0], method.spins[k, 1]
        for a in range(4):
            end[p + a] = y[p + a]
        turn(end, p, h * end[w], h * end[w + 1], h * end[w + 2])


@kernel
def advance_half_explicit(P: DualPack, tableau: Tableau, t: float, h: float, y: Array, k: Array, end: Array) -> int:
    """Write the velocities and positions at the end of a step to `end`, as `HEM4` does: each stage fulfils Phi_q u = nu."""
    c, a, b = tableau
    stages = c.size
    copy_line(y, end)
    for i in range(stages):
        last = i + 1 == stages
        weights = b if last else a[i + 1]
        code = accelerate(P, t + c[i] * h, end)
        if code != OK:
            return code
        put_rates(P, t + c[i] * h, end, k[i])
        combine(weights, h, y, k[0], k[1:], end)
        code = reach(P, t + h if last else t + c[i + 1] * h, h * weights[i], end, k[i])
        if code != OK:
            return code
    return OK


@kernel
def reach(P: DualPack, t: float, scale: float, stage: Array, rates: Array) -> int:
    """Solve for u'_i (in `rates`) so that the stage, and its tangents, fulfil Phi_q u = nu, with the factor of the stage before."""
    n = ws.n_bodies(P)
    bodies, own, x = borrow(stage, 0, n, WIDTH), borrow(rates, 0, n, WIDTH), ws.solution(P)
    code = prepare(P, t, stage)
    before = 1e300
    for _ in range(MOST):
        if code != OK:
            return code
        put_velocity_gap(P, bodies, scale)
        code = solve_once(P)
        moved, size = 0.0, 1.0
        for k in range(1, n):
            for a in range(6):
                own[k, VELOCITY + a] += x[k, a]
                bodies[k, VELOCITY + a] += scale * x[k, a]
                moved, size = max(moved, abs(scale * value_of(x[k, a]))), max(size, abs(value_of(bodies[k, VELOCITY + a])))
                for lane in range(LANES):
                    moved = max(moved, abs(scale * tangent_of(x[k, a], lane)))
                    size = max(size, abs(tangent_of(bodies[k, VELOCITY + a], lane)))
        moved /= size
        if moved <= RESTS or (moved <= NEAR and moved > STALLED * before):
            return code
        before = moved
    return NO_CONVERGENCE


@kernel
def take(values: Array, tangents: Array, to: Array) -> None:
    """Write duals of values (n,) and tangents (LANES, n), both doubles, to the doubles (n, LANES + 1)."""
    for a in range(values.size):
        to[a, 0] = values[a]
        for lane in range(tangents.shape[0]):
            to[a, 1 + lane] = tangents[lane, a]


@kernel
def give(duals: Array, tangents: Array) -> None:
    """Write the tangents of duals, doubles (n, LANES + 1), to (LANES, n)."""
    for a in range(duals.shape[0]):
        for lane in range(tangents.shape[0]):
            tangents[lane, a] = duals[a, 1 + lane]


@kernel
def keep_numbers(work: Array, keep: Ints, kept: Array) -> None:
    """Write some numbers of the workspace, duals of the numbers `keep` in it, to (k, LANES + 1).  work: it, as doubles (., LANES + 1)"""
    for k in range(keep.size):
        for lane in range(kept.shape[1]):
            kept[k, lane] = work[keep[k], lane]


@kernel
def keep_solution(P: DualPack, method: Method, t: float, y: Array, work: Array, keep: Ints, kept: Array) -> int:
    """Write some numbers of the solution at the end of a step, see `keep_numbers`, which a projection leaves in the workspace."""
    code = accelerate(P, t, y) if keep.size > 0 and not method.projects else OK
    keep_numbers(work, keep, kept)
    return code


@released
def run_entry(
    P: DualPack,
    memory: Memory,
    method: Method,
    T: Array,
    Y: Array,
    dY: Array,
    beside: Ints,
    beside_t: Array,
    beside_y: Array,
    beside_dY: Array,
    keep: Ints,
    work: Array,
    kept: Array,
    beside_kept: Array,
    anchors: bool,
) -> tuple[int, int, float]:
    """Take the lanes along the steps of a run; return the code, the number of steps done, and the distance from the run's states.

    anchors: whether each step begins in the state of the run: in a motion that enlarges rounding, its states and those made again would
    part. The distance is then the sum of those of the steps, otherwise the largest

    T, Y: (m + 1,), (m + 1, ny) ends of its steps;  dY: (m + 1, LANES, ny) the lanes, given in dY[0] before the projection of the start
    beside: (k,) the step in which each of the times beside_t between ends lies, increasing;  beside_y, beside_dY: the states there
    keep: numbers of the workspace that are written to `kept` and `beside_kept` (., ., LANES + 1) at each state, of the accelerations there
    """
    y, y_dot, end, end_dot = as_duals(memory.y), as_duals(memory.y_dot), as_duals(memory.end), as_duals(memory.end_dot)
    far, side = 0.0, 0
    take(Y[0], dY[0], memory.y)
    code = begin(P, method, memory.slack, T[0], y, y_dot)
    for done in range(T.size):
        give(memory.y, dY[done])
        off = 0.0
        for a in range(y.size):
            off = max(off, abs(memory.y[a, 0] - Y[done, a]))
            if anchors:
                memory.y[a, 0] = Y[done, a]
        far = far + off if anchors else max(far, off)
        if code == OK:
            code = keep_solution(P, method, T[done], y, work, keep, kept[done])
        while code == OK and side < beside.size and beside[side] == done:
            h = beside_t[side] - T[done]
            code = step(P, memory, method, T[done], h, y, y_dot, end, end_dot)
            for a in range(y.size):
                beside_y[side, a] = memory.end[a, 0]
            give(memory.end, beside_dY[side])
            if code == OK:
                code = keep_solution(P, method, beside_t[side], end, work, keep, beside_kept[side])
            side += 1
        if code == OK and done + 1 < T.size:
            code = step(P, memory, method, T[done], T[done + 1] - T[done], y, y_dot, end, end_dot)
            copy_line(end, y)
            copy_line(end_dot, y_dot)
        if code != OK:
            return code, done, far
    return OK, T.size, far


@released
def place_entry(
    P: DualPack, memory: Memory, T: Array, Y: Array, dY: Array, keep: Ints, work: Array, kept: Array
) -> tuple[int, int]:
    """Project the states Y (m, ny) at the times T, each with its lanes dY (m, LANES, ny); return the code and the number done.

    keep, work, kept: see `run_entry`
    """
    y, y_dot = as_duals(memory.y), as_duals(memory.y_dot)
    for k in range(T.size):
        take(Y[k], dY[k], memory.y)
        for _ in range(2):  # the lanes may be far from dPhi = 0, and velocities need the rows of their end
            code = project(P, memory.slack, T[k], y, y_dot)
            if code != OK:
                return code, k
        for a in range(y.size):
            Y[k, a] = memory.y[a, 0]
        give(memory.y, dY[k])
        keep_numbers(work, keep, kept[k])
    return OK, T.size


run_lanes = DirectCall(run_entry)
place_lanes = DirectCall(place_entry)
