r"""Internal states in the three stages of Radau IIA: the iteration of `radau_stages`, for x' = f(t, q, u, x).

    X_i  = x_n + h sum_j a_ij K_j                                           K_j = f at stage j
    X_i  = x_n + h sum_j a_ij K_j^old + h sum_(j<=i) l_ij (K_j - K_j^old)   in a sweep, so that  X_i = past + h l_ii K_i
    w    = x_n + sum_i e_i (X_i - x_n) + h gamma_0 f(t_n, q_n, u_n, w)      w - x_n: the error of order three, filtered

The last stage is the end of the step. Each evaluation solves for its x, see `workspace.internal_states`.
Source: van der Houwen, de Swart 1997 (iteration); Hairer, Wanner, Solving ODE II, sec. IV.8 (error).
"""

from __future__ import annotations

from haugmbd.compiled.array_types import Array
from haugmbd.compiled.jit import kernel
from haugmbd.compiled.status_codes import OK
from haugmbd.integrators.implicit.radau_iia.radau_tableau import GAMMA_0, A, E, L, RadauMemory
from haugmbd.math.larger import larger
from haugmbd.model.evaluate import prepare
from haugmbd.workspace import accessors as ws
from haugmbd.workspace.internal_states import PAST, STEP, give_states
from haugmbd.workspace.layout import WIDTH, Pack


@kernel
def start_states(P: Pack, m: RadauMemory) -> None:
    """Write the rates at the start as the first iterate of those of the stages."""
    n, rates = ws.n_states(P), ws.angle_rates(P)
    for i in range(3):
        for k in range(rates.size - n, rates.size):
            m.angle_rates[i, k] = rates[k]


@kernel
def put_state_stage(P: Pack, m: RadauMemory, i: int, corrected: int) -> None:
    """Write the equation of X_i after the corrections of the stages before `corrected` in this sweep."""
    n, F, place, h = ws.n_states(P), ws.driver_values(P), ws.first_state(P), m.h[0]
    rates = ws.angle_rates(P)
    tail, first = rates.size - n, WIDTH * ws.n_bodies(P) + rates.size - n
    for k in range(n):
        past = m.y[first + k] - h * L[i, i] * m.angle_rates[i, tail + k]
        for j in range(3):
            change = m.state_changes[j, k] if j < corrected else 0.0
            past += h * (A[i, j] * (m.angle_rates[j, tail + k] - change) + L[i, j] * change)
        F[place + k, PAST] = past
        F[place + k, STEP] = h * L[i, i]


@kernel
def keep_state_stage(P: Pack, m: RadauMemory, i: int, y: Array) -> float:
    """Store K_i and its correction; return the largest correction of X_i, relative to 1 + |X_i|.

    K_i = (X_i - past) / (h l_ii): where f is steep, as that of an orifice is without a pressure, f(X_i) has the rounding of X_i times its
    slope, and h f(X_i) with it that of a step.
    """
    n, F, place, h = ws.n_states(P), ws.driver_values(P), ws.first_state(P), m.h[0]
    tail, largest = ws.angle_rates(P).size - n, 0.0
    for k in range(n):
        rate = (y[y.size - n + k] - F[place + k, PAST]) / F[place + k, STEP]
        m.state_changes[i, k] = rate - m.angle_rates[i, tail + k]
        m.angle_rates[i, tail + k] = rate
        change = h * L[i, i] * abs(m.state_changes[i, k]) / (1.0 + abs(y[y.size - n + k]))
        largest = larger(largest, change)
    return largest


@kernel
def put_state_end(P: Pack, m: RadauMemory, y: Array) -> None:
    """Write x at the end of the step, and take it as given from now on."""
    n = ws.n_states(P)
    tail, first = ws.angle_rates(P).size - n, y.size - n
    for k in range(n):
        y[first + k] = m.y[first + k]
        for j in range(3):
            y[first + k] += m.h[0] * A[2, j] * m.angle_rates[j, tail + k]
    give_states(P)


@kernel
def estimate_state_error(P: Pack, m: RadauMemory, t: float, y: Array) -> int:
    """Write w - x_n to the end of `error_x`;  t: at the start of the step;  y: changed."""
    n, F, place, h = ws.n_states(P), ws.driver_values(P), ws.first_state(P), m.h[0]
    tail, first = ws.angle_rates(P).size - n, y.size - n
    for a in range(y.size):
        y[a] = m.y[a]
    for k in range(n):
        F[place + k, PAST] = m.y[first + k]
        F[place + k, STEP] = h * GAMMA_0
        for i in range(3):
            for j in range(3):
                F[place + k, PAST] += E[i] * h * A[i, j] * m.angle_rates[j, tail + k]
    code = prepare(P, t, y)
    for k in range(n):
        m.error_x[first + k] = y[first + k] - m.y[first + k]
    return code if n > 0 else OK
