r"""The adjoint of a motion: the gradient of one number of it by all parameters, in one sweep backward over its steps.

    O(y_0 ... y_m)        ybar = dO/dy at the end of a step  ->  dO/dy at its start, and dO/d(every number of the tables)

Backward through a stage  K (u', lam) = (Q, gamma),  with ubar the adjoint of u', and K symmetric: its factor runs backward, too.

    K (w_u, w_lam) = (ubar, 0)
    adjoints of the rows and forces:   J -= w_lam u' + lam w_u     gamma += w_lam     Q += w_u     M -= w_u u'^T

Backward through the projections, du and dq their corrections, m and mu their multipliers:

    K (w_u, w_lam) = (ubar, 0)         J -= w_lam u + m w_u        nu += w_lam        M -= w_u du^T        ubar -= J^T w_lam
    K (w_q, w_mu) = (qbar, 0)          J -= mu w_q                 Phi -= w_mu        M -= w_q dq^T
    p+ = p- exp(dpi_bar), p- = p / |p|:     pbar <- pbar exp(dpi_bar)^-1, and what is across p- over |p|, of the p that a step computes

What rows and forces depend on is on a tape of their evaluation by the library's own kernels (`compiled.taped`), which is swept backward.
The cost does not depend on the number of parameters: their derivatives of the tables are multiplied in at the end.
Sources: Griewank, Walther (2008), ch. 4; Eberhard (1996), adjoint variables for multibody systems; Hager (2000), of Runge-Kutta methods.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from typing import Any, NamedTuple

import numpy as np

from haugmbd.compiled.array_types import Array, Ints
from haugmbd.compiled.array_views import borrow
from haugmbd.compiled.jit import DirectCall, kernel, released
from haugmbd.compiled.status_codes import OK
from haugmbd.compiled.taped import ENTRY, FIRST, SIZE, Tape, as_taped, entry_of, seed, sweep_back, taped
from haugmbd.contact.joint_stop import rigid_contacts
from haugmbd.diagnostics.run_warnings import RunStatus
from haugmbd.errors import UsageError
from haugmbd.formulations.newton_euler import (
    NewtonEuler,
    factorize,
    finish_accelerations,
    put_rates,
    put_right_hand_side,
    rates_of_stage,
    solve_system,
)
from haugmbd.integrators.explicit.runge_kutta import LEFT
from haugmbd.integrators.explicit.tableau import Tableau, combine
from haugmbd.integrators.stabilization.projection import Projection
from haugmbd.integrators.step_context import Options
from haugmbd.integrators.stick_slip.watched_quantities import may_stick
from haugmbd.math.body_columns import VELOCITY, WIDTH
from haugmbd.math.euler_kernels import normalize
from haugmbd.model.evaluate import prepare
from haugmbd.model.generalized_forces import clear, copy_line
from haugmbd.sensitivity.dual_pack import TapedPack, taped_pack
from haugmbd.sensitivity.outputs import by_states, change_of_outputs, is_of_states, moves_by_itself
from haugmbd.sensitivity.parameters import driver_constants, failure
from haugmbd.sensitivity.tangents import RUNGE_KUTTA, Method
from haugmbd.sensitivity.variations import Design
from haugmbd.simulation.arguments import choose_integrator
from haugmbd.simulation.results.named_outputs import Reader
from haugmbd.simulation.results.result import Result
from haugmbd.simulation.simulate import simulate
from haugmbd.workspace import accessors as ws
from haugmbd.workspace import layout as at
from haugmbd.workspace.layout import Pack, workspace_array


class Recorder(NamedTuple):
    """A tape with its inputs: the constants of the tables, the constant drivers, and a state.

    reals, words: see `Tape`;  inputs: their number;  first: of those of the state;  y, y_dot: (ny, 2) doubles that hold taped numbers
    """

    reals: Array
    words: Ints
    inputs: int
    first: int
    y: Array
    y_dot: Array


class Room(NamedTuple):
    """Work arrays.

    x, w, m: (nodes, 6) solutions;  k, stages, kbar: (s, ny);  end, bar, dot: (ny,)
    lengths: (nb + 1,) of the Euler parameters at the end of a step, before they are normalized
    """

    x: Array
    w: Array
    m: Array
    k: Array
    stages: Array
    kbar: Array
    end: Array
    bar: Array
    dot: Array
    lengths: Array


@kernel
def record(TP: TapedPack, tape: Recorder, t: float, y: Array) -> int:
    """Evaluate rows and forces on the tape, anew."""
    base = tape.words[0] // SIZE * SIZE
    tape.words[0] = base + 8 * (FIRST + ENTRY * tape.inputs)
    numbers = as_taped(tape.y)
    for a in range(y.size):
        numbers[a] = taped(y[a], base + 8 * (FIRST + ENTRY * (tape.first + a)))
    return prepare(TP, t, numbers)


@kernel
def take_state(tape: Recorder, bar: Array) -> None:
    """Sweep the tape backward; add the adjoints of the state to bar, and clear them."""
    sweep_back(tape.reals, tape.words, tape.inputs)
    for a in range(bar.size):
        place = FIRST + ENTRY * (tape.first + a) + 4
        bar[a] += tape.reals[place]
        tape.reals[place] = 0.0


@kernel
def solve_transposed(P: Pack, bar: Array, w: Array) -> int:
    """Write K^-1 (bar, 0), bar (nb + 1, 6) at the velocities of a line, with the factor at hand."""
    b, x = ws.right_hand_side(P), ws.solution(P)
    ws.solve_for(P)[0, 0] = at.VELOCITIES
    clear(b)
    for k in range(1, bar.shape[0]):
        for a in range(6):
            b[k, a] = bar[k, a]
    code = solve_system(P)
    for k in range(w.shape[0]):
        for a in range(6):
            w[k, a] = x[k, a] if k > 0 else 0.0
    return code


@kernel
def solve_for_rows(P: Pack, change: Array, m: Array) -> int:
    """Write K^-1 (0, J change), whose multipliers are those that have made the change (nb + 1, 6)."""
    b, x, J, edges = ws.right_hand_side(P), ws.solution(P), ws.jacobian(P), ws.edges(P)
    ws.solve_for(P)[0, 0] = at.VELOCITIES
    clear(b)
    n = ws.n_bodies(P)
    for e in range(edges.shape[0]):
        for a in range(6):
            total = 0.0
            for side in range(edges.shape[1]):
                body = edges[e, side]
                if body > 0:
                    for c in range(6):
                        total += J[6 * e + a, side, c] * change[body, c]
            b[n + e, a] = total
    code = solve_system(P)
    for k in range(m.shape[0]):
        for a in range(6):
            m[k, a] = x[k, a]
    return code


@kernel
def seed_rows(TP: TapedPack, tape: Recorder, level: int, sign: float, w: Array, u: Array, m: Array) -> None:
    """Add the adjoints  J -= w_lam u + m w_u  and  level += sign w_lam."""
    J, levels, edges = ws.jacobian(TP), ws.row_values(TP), ws.edges(TP)
    n, base = ws.n_bodies(TP), tape.words[0] // SIZE * SIZE
    for e in range(edges.shape[0]):
        for a in range(6):
            s, w_lam, lam = 6 * e + a, w[n + e, a], m[n + e, a]
            if w_lam == 0.0 and lam == 0.0:
                continue
            seed(tape.reals, base, entry_of(levels[s, level]), sign * w_lam)
            for side in range(edges.shape[1]):
                body = edges[e, side]
                if body > 0:
                    for c in range(6):
                        seed(tape.reals, base, entry_of(J[s, side, c]), -(w_lam * u[body, c] + lam * w[body, c]))


@kernel
def seed_inertia(TP: TapedPack, tape: Recorder, w: Array, u: Array) -> None:
    """Add the adjoints M -= w u^T."""
    inertia, base = ws.inertia(TP), tape.words[0] // SIZE * SIZE
    for b in range(1, inertia.shape[0]):
        seed(tape.reals, base, entry_of(inertia[b, 0]), -(w[b, 0] * u[b, 0] + w[b, 1] * u[b, 1] + w[b, 2] * u[b, 2]))
        for a in range(3):
            for c in range(3):
                seed(tape.reals, base, entry_of(inertia[b, 1 + 3 * a + c]), -w[b, 3 + a] * u[b, 3 + c])


@kernel
def stage_back(P: Pack, TP: TapedPack, tape: Recorder, room: Room, t: float, y: Array, kbar: Array, bar: Array) -> int:
    """Add f_y^T kbar to bar, for y' = f at one stage, and f_p^T kbar to the adjoints of the constants."""
    n, x, w = ws.n_bodies(P), room.x, room.w
    # K (u', lam) = (Q, gamma)
    code = prepare(P, t, y)
    if code != OK:
        return code
    put_right_hand_side(P)
    code = factorize(P)
    if code == OK:
        code = finish_accelerations(P)
    if code != OK:
        return code
    found = ws.solution(P)
    for k in range(x.shape[0]):
        for a in range(6):
            x[k, a] = found[k, a] if k > 0 else 0.0
    # K (w_u, w_lam) = (ubar, 0)
    velocities_of(kbar, n, room.m)
    code = solve_transposed(P, room.m[:n], w)
    if code == OK:
        code = record(TP, tape, t, y)
    if code != OK:
        return code
    # y' = (v, G^T omega_bar / 2, u'; rates of angles), with u' as it is
    numbers, rates, solution = as_taped(tape.y), as_taped(tape.y_dot), ws.solution(TP)
    for k in range(1, n):
        for a in range(6):
            solution[k, a] = x[k, a]
    put_rates(TP, t, numbers, rates)
    base = tape.words[0] // SIZE * SIZE
    for a in range(y.size):
        seed(tape.reals, base, entry_of(rates[a]), kbar[a])
    seed_rows(TP, tape, 2, 1.0, w, x, x)
    Q = ws.generalized_forces(TP)
    for k in range(1, n):
        for a in range(6):
            seed(tape.reals, base, entry_of(Q[k, a]), w[k, a])
    seed_inertia(TP, tape, w, x)
    take_state(tape, bar)
    return OK


@kernel
def velocities_of(y: Array, n: int, u: Array) -> None:
    """Write the velocities of a line (ny,) to u (., 6)."""
    for k in range(n):
        for a in range(6):
            u[k, a] = y[WIDTH * k + VELOCITY + a] if k > 0 else 0.0


@kernel
def projection_back(P: Pack, TP: TapedPack, tape: Recorder, room: Room, t: float, y: Array, before: Array, bar: Array) -> int:
    """Change bar (ny,), the adjoint of a projected state y, to that of the state `before` it."""
    n, w, m, x = ws.n_bodies(P), room.w, room.m, room.x
    bodies, own, lines = borrow(y, 0, n, WIDTH), borrow(before, 0, n, WIDTH), borrow(bar, 0, n, WIDTH)
    code = prepare(P, t, y)
    if code == OK:
        code = factorize(P)
    if code != OK:
        return code
    # velocities: du, m, and w
    for k in range(n):
        for a in range(6):
            x[k, a] = bodies[k, VELOCITY + a] - own[k, VELOCITY + a] if k > 0 else 0.0
    code = solve_for_rows(P, x, m)
    if code == OK:
        velocities_of(bar, n, x)
        code = solve_transposed(P, x[:n], w)
    if code == OK:
        code = record(TP, tape, t, y)
    if code != OK:
        return code
    velocities_of(y, n, x)
    seed_rows(TP, tape, 1, 1.0, w, x, m)
    for k in range(1, n):
        for a in range(6):
            x[k, a] = bodies[k, VELOCITY + a] - own[k, VELOCITY + a]
    seed_inertia(TP, tape, w, x)
    take_state(tape, bar)
    J, edges = ws.jacobian(P), ws.edges(P)
    for e in range(edges.shape[0]):
        for a in range(6):
            for side in range(edges.shape[1]):
                body = edges[e, side]
                if body > 0:
                    for c in range(6):
                        lines[body, VELOCITY + c] -= J[6 * e + a, side, c] * w[n + e, a]
    # positions: dq, mu, and w, as displacements (dr, dpi_bar), dp = G^T dpi_bar / 2
    for k in range(1, n):
        turn_of(bodies, own, k, x)
    code = solve_for_rows(P, x, m)
    for k in range(1, n):
        adjoint_of_turn(bodies, lines, k, x)
    if code == OK:
        code = solve_transposed(P, x[:n], w)
    if code != OK:
        return code
    for k in range(x.shape[0]):
        for a in range(6):
            x[k, a] = 0.0
    seed_rows(TP, tape, 0, -1.0, w, x, m)
    for k in range(1, n):
        turn_of(bodies, own, k, x)
    seed_inertia(TP, tape, w, x)
    take_state(tape, bar)
    for k in range(1, n):
        turn_back(bodies, own, lines, k)
        before_normalizing(own, lines, k, room.lengths[k])
    return OK


@kernel
def turn_back(bodies: Array, own: Array, lines: Array, k: int) -> None:
    """Change the adjoint of the Euler parameters p e of body k to that of p: multiply it by e^-1, for the turn e = p^-1 (p e)."""
    a0, a1, a2, a3 = own[k, 3], own[k, 4], own[k, 5], own[k, 6]
    b0, b1, b2, b3 = bodies[k, 3], bodies[k, 4], bodies[k, 5], bodies[k, 6]
    # e^-1 = (p e)^-1 p
    e0 = b0 * a0 + b1 * a1 + b2 * a2 + b3 * a3
    e1 = b0 * a1 - b1 * a0 - b2 * a3 + b3 * a2
    e2 = b0 * a2 + b1 * a3 - b2 * a0 - b3 * a1
    e3 = b0 * a3 - b1 * a2 + b2 * a1 - b3 * a0
    d0, d1, d2, d3 = lines[k, 3], lines[k, 4], lines[k, 5], lines[k, 6]
    lines[k, 3] = d0 * e0 - d1 * e1 - d2 * e2 - d3 * e3
    lines[k, 4] = d0 * e1 + d1 * e0 + d2 * e3 - d3 * e2
    lines[k, 5] = d0 * e2 - d1 * e3 + d2 * e0 + d3 * e1
    lines[k, 6] = d0 * e3 + d1 * e2 - d2 * e1 + d3 * e0


@kernel
def before_normalizing(own: Array, lines: Array, k: int, length: float) -> None:
    """Change the adjoint of the normalized Euler parameters of body k to that of those with a length."""
    along = 0.0
    for a in range(3, 7):
        along += own[k, a] * lines[k, a]
    for a in range(3, 7):
        lines[k, a] = (lines[k, a] - own[k, a] * along) / length


@kernel
def turn_of(bodies: Array, own: Array, k: int, x: Array) -> None:
    """Write the displacement (dr, dpi_bar = 2 G dp) of body k from `own` to `bodies`."""
    e0, e1, e2, e3 = bodies[k, 3], bodies[k, 4], bodies[k, 5], bodies[k, 6]
    d0, d1, d2, d3 = e0 - own[k, 3], e1 - own[k, 4], e2 - own[k, 5], e3 - own[k, 6]
    for a in range(3):
        x[k, a] = bodies[k, a] - own[k, a]
    x[k, 3] = 2.0 * (-e1 * d0 + e0 * d1 + e3 * d2 - e2 * d3)
    x[k, 4] = 2.0 * (-e2 * d0 - e3 * d1 + e0 * d2 + e1 * d3)
    x[k, 5] = 2.0 * (-e3 * d0 + e2 * d1 - e1 * d2 + e0 * d3)


@kernel
def adjoint_of_turn(bodies: Array, lines: Array, k: int, x: Array) -> None:
    """Write the adjoint (rbar, G pbar / 2) of the displacement of body k."""
    e0, e1, e2, e3 = bodies[k, 3], bodies[k, 4], bodies[k, 5], bodies[k, 6]
    d0, d1, d2, d3 = lines[k, 3], lines[k, 4], lines[k, 5], lines[k, 6]
    for a in range(3):
        x[k, a] = lines[k, a]
    x[k, 3] = 0.5 * (-e1 * d0 + e0 * d1 + e3 * d2 - e2 * d3)
    x[k, 4] = 0.5 * (-e2 * d0 - e3 * d1 + e0 * d2 + e1 * d3)
    x[k, 5] = 0.5 * (-e3 * d0 + e2 * d1 - e1 * d2 + e0 * d3)


@kernel
def forward(P: Pack, room: Room, tableau: Tableau, t: float, h: float, y: Array) -> int:
    """Write stages, their rates, and the state at the end of a step before its projection."""
    c, a, b = tableau
    code = rates_of_stage(P, t, y, room.dot)
    copy_line(y, room.stages[0])
    for i in range(1, c.size):
        if code == OK:
            combine(a[i], h, y, room.dot, room.k, room.stages[i])
            code = rates_of_stage(P, t + c[i] * h, room.stages[i], room.k[i - 1])
    combine(b, h, y, room.dot, room.k, room.end)
    bodies = borrow(room.end, 0, ws.n_bodies(P), WIDTH)
    for k in range(1, bodies.shape[0]):
        squares = 0.0
        for a_p in range(3, 7):
            squares += bodies[k, a_p] * bodies[k, a_p]
        room.lengths[k] = np.sqrt(squares)
        normalize(bodies[k, 3:7])
    return code


@kernel
def step_back(
    P: Pack, TP: TapedPack, tape: Recorder, room: Room, tableau: Tableau, t: float, h: float, y: Array, after: Array, bar: Array
) -> int:
    """Change bar (ny,), the adjoint of the state `after` a step from y, to that of y."""
    c, a, b = tableau
    s = c.size
    code = forward(P, room, tableau, t, h, y)
    if code == OK:
        code = projection_back(P, TP, tape, room, t + h, after, room.end, bar)
    for i in range(s):
        for k in range(y.size):
            room.kbar[i, k] = h * b[i] * bar[k]
    for i in range(s - 1, -1, -1):
        if code != OK:
            return code
        clear_line(room.bar)
        code = stage_back(P, TP, tape, room, t + c[i] * h, room.stages[i], room.kbar[i], room.bar)
        for k in range(y.size):
            bar[k] += room.bar[k]
        for j in range(i):
            if a[i, j] != 0.0:
                for k in range(y.size):
                    room.kbar[j, k] += h * a[i, j] * room.bar[k]
    return code


@kernel
def clear_line(x: Array) -> None:
    """Set x (n,) to zero."""
    for k in range(x.size):
        x[k] = 0.0


@released
def backward_entry(
    P: Pack,
    TP: TapedPack,
    tape: Recorder,
    room: Room,
    tableau: Tableau,
    T: Array,
    Y: Array,
    Z: Array,
    beside: Ints,
    beside_t: Array,
    beside_y: Array,
    beside_Z: Array,
    side_bar: Array,
    bar: Array,
    starts: bool,
) -> tuple[int, int]:
    """Sweep backward over the steps that end at T in Y (m, ny); return the code, and the number of the step that failed.

    Z: (m, ny) dO/dy at the ends but the last;  beside, beside_t, beside_y, beside_Z: states within steps, in their order, and dO/dy there
    bar: (ny,) dO/dy at the end becomes that at the start;  side_bar: (ny,);  starts: whether a run begins here, with a projection
    """
    last = T.size - 1
    side = beside.size - 1
    for k in range(last - 1, -1, -1):
        code = step_back(P, TP, tape, room, tableau, T[k], T[k + 1] - T[k], Y[k], Y[k + 1], bar)
        while code == OK and side >= 0 and beside[side] == k:
            copy_line(beside_Z[side], side_bar)
            code = step_back(P, TP, tape, room, tableau, T[k], beside_t[side] - T[k], Y[k], beside_y[side], side_bar)
            for a in range(bar.size):
                bar[a] += side_bar[a]
            side -= 1
        if code != OK:
            return code, k
        for a in range(bar.size):
            bar[a] += Z[k, a]
    for k in range(room.lengths.size):
        room.lengths[k] = 1.0  # as they are modelled
    return (projection_back(P, TP, tape, room, T[0], Y[0], Y[0], bar) if starts else OK), 0


@released
def again_entry(P: Pack, room: Room, tableau: Tableau, end_step: Any, options: Options, T: Array, Y: Array) -> int:
    """Make the steps that end at T again, from the state Y[0]."""
    for k in range(T.size - 1):
        code = forward(P, room, tableau, T[k], T[k + 1] - T[k], Y[k])
        if code == OK:
            copy_line(room.end, Y[k + 1])
            code = end_step(P, options, T[k + 1], Y[k + 1], room.dot)
        if code != OK:
            return int(code)
    return OK


@released
def beside_entry(
    P: Pack,
    room: Room,
    tableau: Tableau,
    end_step: Any,
    options: Options,
    T: Array,
    Y: Array,
    beside: Ints,
    beside_t: Array,
    beside_y: Array,
) -> int:
    """Make steps from the states Y to times within the steps, and write their ends."""
    for k in range(beside.size):
        code = forward(P, room, tableau, T[beside[k]], beside_t[k] - T[beside[k]], Y[beside[k]])
        if code == OK:
            copy_line(room.end, beside_y[k])
            code = end_step(P, options, beside_t[k], beside_y[k], room.dot)
        if code != OK:
            return int(code)
    return OK


def has_adjoint(design: Design, method: Any) -> str:
    """Return why a motion has no adjoint here, and direct differentiation is taken; "" if it has one."""
    model = design.model
    if not (isinstance(method, Method) and method.kind == RUNGE_KUTTA and method.projects):
        return "the method is no Runge-Kutta method with projection"
    if design.calls_python or model.n_states:
        return "functions of Python, blocks or internal states act"
    if rigid_contacts(model) or may_stick(model) or model.has_stops or model.has_contacts or len(model.tables["FRICTION_INTS"]):
        return "contacts, stops or friction act"
    if (model.mass[1:] == 0.0).any() or model.nb > MOST_BODIES:
        return "bodies have no mass, or are very many"
    if not all(map(is_of_states, design.outputs)):
        return "an output is no function of the states of a few bodies"
    return ""


MOST_BODIES = 2000
"""Of an evaluation that fits on the tape by far."""


def adjoint_gradient(
    design: Design, method: Any, arguments: dict[str, Any], bars: Callable[[Array], Array]
) -> tuple[Array, Array] | None:
    """Return the outputs (nt, m) of a run and the gradient (n,) of a number of them; None if it has events, and is left to others.

    bars: returns the derivatives (nt, m) of the number by the outputs;  arguments: of `simulate`, with t_eval or without
    """
    arguments = dict(arguments)
    times = arguments.pop("t_eval", None)
    motion = _motion(design, arguments)
    if motion is None:
        return None
    T = motion.T
    at = T[-1:] if times is None else np.asarray(times, dtype=np.float64)
    if ((at < T[0]) | (at > T[-1])).any():
        raise UsageError(f"t_eval must be within the run, {T[0]:g} s to {T[-1]:g} s.")
    is_end, beside = np.isin(at, T), np.searchsorted(T, at, side="right") - 1
    states = _states_at(design, method.tableau, motion, at, is_end)
    reader = Reader(Result(design.model, at, states))
    values = np.array([reader.values(output) for output in design.outputs]).T
    bar = bars(values)
    of_states = by_states(design.model, design.outputs, at, states, bar)
    seeds = {int(k): line for k, line in zip(beside[is_end], of_states[is_end], strict=True)}
    inside = beside[~is_end], at[~is_end], of_states[~is_end]
    found = gradient_of_motion(design, method.tableau, motion, seeds, inside)
    for k, name in enumerate(design.p):
        moving = [j for j in range(len(design.outputs)) if moves_by_itself(design, name, j)]
        if moving:
            found[k] += float((bar[:, moving] * change_of_outputs(design, name, at, states, moving)).sum())
    return values, found


def _motion(design: Design, arguments: dict[str, Any]) -> Motion | None:
    """Return a run at its checkpoints; None if it has events, or has not come to its end.

    With a fixed step every root of their number of steps is kept, so that memory grows like the root of the length of a run.
    """
    given = choose_integrator(*(arguments.get(name) for name in ("h", "rtol", "atol", "integrator")))
    t_end, h = float(arguments["t_end"]), given.step
    number = 1.0 if h is None else t_end / h
    every = int(np.sqrt(number)) if number > SHORT and getattr(given, "h_first", None) is None else 1
    result = simulate(design.model, **arguments, store_every=every)
    design.ran()
    if len(result.segments) > 1 or result.status != RunStatus.COMPLETED or result.singular_crossings:
        return None
    T = np.array(result.t)
    if every == 1:
        return Motion(T, np.arange(len(T)), np.array(result.y))
    assert h is not None
    full = int(np.floor(t_end / h * (1.0 + 1e-12)))
    ends = h * np.arange(full + 1)
    ends = np.append(ends[:-1], t_end) if t_end - ends[-1] <= LEFT * h else np.append(ends, t_end)
    kept: Ints = np.searchsorted(ends, T - 0.5 * h).astype(np.int64)
    if not np.allclose(ends[kept], T, rtol=0.0, atol=1e-9 * h):
        return None
    ends[kept] = T
    return Motion(np.asarray(ends, dtype=np.float64), kept, np.array(result.y))


def _states_at(design: Design, tableau: Any, motion: Motion, at: Array, is_end: Any) -> Array:
    """Return the states at some times of a run."""
    states = np.zeros((len(at), motion.Y.shape[1]))
    for number in range(len(motion.kept) - 1):
        first, last = motion.T[motion.kept[number]], motion.T[motion.kept[number + 1]]
        some = (at >= first) & (at <= last)
        if not some.any():
            continue
        T, Y = motion.block(design, tableau, number)
        ends, between = some & is_end, some & ~is_end
        states[ends] = Y[np.searchsorted(T, at[ends])]
        states[between] = states_beside(design, tableau, T, Y, at[between])
    return states


SHORT = 400
"""Steps of a fixed length up to which all states are kept."""

go_back, go_beside, go_again = DirectCall(backward_entry), DirectCall(beside_entry), DirectCall(again_entry)


@cache
def the_tape() -> Tape:
    """Return the one tape of this process."""
    return Tape()


def states_beside(design: Design, tableau: Any, T: Array, Y: Array, times: Array) -> Array:
    """Return the states at times within steps that end at T in Y, by steps that end there."""
    if not len(times):
        return np.zeros((0, Y.shape[1]))
    pack, rule = NewtonEuler().pack(design.model), Projection()
    beside, states = np.searchsorted(T, times, side="right") - 1, np.zeros((len(times), Y.shape[1]))
    code = go_beside(pack, _room(design, tableau), tableau, rule.post_step, rule.options(), T, Y, beside, times, states)
    if code != OK:
        raise failure(design.model, pack, code, float(T[0]))
    return states


def _room(design: Design, tableau: Any) -> Room:
    """Return work arrays."""
    ny, s = len(design.model.y0), len(tableau.c)
    nodes = workspace_array(NewtonEuler().pack(design.model), "SOLUTION").shape[0]
    x, w, m = np.zeros((3, nodes, 6))
    k, stages, kbar = (np.zeros((s, ny)) for _ in range(3))
    end, bar, dot = np.zeros((3, ny))
    return Room(x, w, m, k, stages, kbar, end, bar, dot, np.ones(len(design.model.bodies)))


class Motion(NamedTuple):
    """The states of a run at checkpoints, every so many steps.

    T: (m,) ends of all steps;  kept: numbers of the steps of the states Y (k, ny), the first and the last among them
    """

    T: Array
    kept: Ints
    Y: Array

    def block(self, design: Design, tableau: Any, number: int) -> tuple[Array, Array]:
        """Return ends and states of the steps from one checkpoint to the next, made again."""
        first, last = int(self.kept[number]), int(self.kept[number + 1])
        T, Y = self.T[first : last + 1].copy(), np.zeros((last + 1 - first, self.Y.shape[1]))
        Y[0], Y[-1] = self.Y[number], self.Y[number + 1]
        if len(T) > 2:  # noqa: PLR2004  steps between the two
            pack, rule = NewtonEuler().pack(design.model), Projection()
            code = go_again(pack, _room(design, tableau), tableau, rule.post_step, rule.options(), T[:-1], Y[:-1])
            if code != OK:
                raise failure(design.model, pack, code, float(T[0]))
        return T, Y


def moved_numbers(design: Design, n: int) -> tuple[Any, Any]:
    """Return which of the n constants of the tables, and of the constant drivers, a parameter moves: the others need no entry."""
    reals, drivers = np.zeros(n, dtype=bool), np.zeros(design.numbers[1].size, dtype=bool)
    for by_reals, by_drivers, _ in design.slopes.values():
        reals[: len(by_reals)] |= by_reals != 0.0
        drivers |= by_drivers != 0.0
    return reals, drivers


def gradient_of_motion(
    design: Design, tableau: Any, motion: Motion, seeds: Mapping[int, Array], inside: tuple[Ints, Array, Array]
) -> Array:
    """Return dO/dp (n,) of a number with derivatives by states of a motion.

    seeds: by the numbers of the steps whose ends are among them;  inside: steps, times and derivatives of states between their ends
    """
    model, tape = design.model, the_tape()
    pack, F0 = NewtonEuler().pack(model), driver_constants(model).ravel()
    n, ny = len(pack.reals), len(model.y0)
    inputs = n + len(F0) + ny
    tape.begin(inputs)
    moves_reals, moves_drivers = moved_numbers(design, n)
    TP = taped_pack(pack, np.where(moves_reals, tape.inputs(0, n), 0), np.where(moves_drivers, tape.inputs(n, len(F0)), 0))
    recorder = Recorder(tape.reals, tape.words, inputs, n + len(F0), np.zeros((ny, 2)), np.zeros((ny, 2)))
    room, side_bar, bar = _room(design, tableau), np.zeros(ny), seeds.get(len(motion.T) - 1, np.zeros(ny)).copy()
    beside, beside_t, beside_Z = inside
    for number in range(len(motion.kept) - 2, -1, -1):
        (T, Y), first = motion.block(design, tableau, number), int(motion.kept[number])
        Z = np.zeros_like(Y)
        for k in range(len(T) - 1):
            if first + k in seeds:
                Z[k] = seeds[first + k]
        some = (beside >= first) & (beside < first + len(T) - 1)
        states = states_beside(design, tableau, T, Y, beside_t[some])
        here = beside[some] - first, beside_t[some], states, beside_Z[some]
        code, k = go_back(pack, TP, recorder, room, tableau, T, Y, Z, *here, side_bar, bar, number == 0)
        if code != OK:
            raise failure(model, pack, code, float(T[k]))
    adjoints = tape.reals[FIRST : FIRST + ENTRY * inputs].reshape(inputs, ENTRY)[:, 4]
    by_reals, by_drivers = adjoints[:n], adjoints[n : n + len(F0)]
    found = np.zeros(len(design.p))
    for number, name in enumerate(design.p):
        reals, drivers, start = design.slopes[name]
        found[number] = by_reals[: len(reals)] @ reals + by_drivers @ drivers + bar @ start
    if not np.isfinite(found).all():
        raise UsageError("the gradient of the motion is not finite: a norm of nothing, or a root of zero, has no derivative.")
    return found
