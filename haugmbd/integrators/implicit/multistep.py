r"""The arithmetic of BDF on points of any spacing: t_0 = t_(n+1) is new, t_1 > t_2 > ... are known.

    x'_0 = sum_i w_i x_i                 w_0 = sum_(i=1..k) 1 / (t_0 - t_i),      w_i = l_i'(t_0)   (Lagrange, i = 0 ... k)
    x_0  = past + c x'_0                 c = 1 / w_0,   past = - c sum_(i>=1) w_i x_i
    predicted x_0 = sum_(i=1..k+1) L_i(t_0) x_i                                                       degree k
    error of order j     e_j = c_j (t_0 - t_1) ... (t_0 - t_j) x[t_0, ..., t_(j+1)]                   x[...]: divided difference

Source: Brayton, Gustavson, Hachtel 1972 (variable coefficients); Hairer, Norsett, Wanner, Solving ODE I, sec. III.5.
"""

from __future__ import annotations

from math import sqrt

import numpy as np

from haugmbd.algebra import euler
from haugmbd.algebra.jit import inlined, kernel
from haugmbd.algebra.vec3 import Array
from haugmbd.integrators.stepping import Problem
from haugmbd.model import accessors as ws
from haugmbd.model.loads import fill_angle_rates
from haugmbd.model.tables import WIDTH, Pack

KNOWN = 7
"""Points that are kept: the error of order five needs six, and raising the order to five as many."""
PREDICTED, WEIGHTS, ROWS = 7, 8, 9
"""Rows of the memory: 0 ... 6 the known points (t, y), newest first; the prediction; room for weights."""


@kernel
def leading(t: float, memory: Array, order: int) -> float:
    """c = 1 / w_0."""
    total = 0.0
    for i in range(order):
        total += 1.0 / (t - memory[i, 0])
    return 1.0 / total


@inlined
def put_past_weights(t: float, memory: Array, order: int) -> None:
    """-c w_i of the known points."""
    c = leading(t, memory, order)
    for i in range(order):
        product = 1.0
        for m in range(order):
            if m != i:
                product *= (t - memory[m, 0]) / (memory[i, 0] - memory[m, 0])
        memory[WEIGHTS, i] = c * product / (t - memory[i, 0])


@inlined
def predict_state(t: float, memory: Array, order: int) -> None:
    """The polynomial of degree `order` through the known points, at t."""
    for a in range(1, memory.shape[1]):
        memory[PREDICTED, a] = 0.0
    for i in range(order + 1):
        L = 1.0
        for m in range(order + 1):
            if m != i:
                L *= (t - memory[m, 0]) / (memory[i, 0] - memory[m, 0])
        for a in range(1, memory.shape[1]):
            memory[PREDICTED, a] += L * memory[i, a]


@kernel
def error_of(t: float, y: Array, memory: Array, order: int, n: int, rtol: float, atol: float) -> float:
    """|e_j| relative to the tolerance, root mean square over the n bodies' numbers."""
    factor = leading(t, memory, order)
    for i in range(order):
        factor *= t - memory[i, 0]
    own = 1.0
    for i in range(order + 1):
        product = memory[i, 0] - t
        own *= t - memory[i, 0]
        for m in range(order + 1):
            if m != i:
                product *= memory[i, 0] - memory[m, 0]
        memory[WEIGHTS, i] = factor / product
    own = factor / own
    total = 0.0
    for a in range(WIDTH, WIDTH * n):
        e = own * y[a]
        for i in range(order + 1):
            e += memory[WEIGHTS, i] * memory[i, 1 + a]
        size = 1.0 if 3 <= a % WIDTH < 7 else abs(y[a])
        e /= atol + rtol * size
        total += e * e
    return sqrt(total / (WIDTH * (n - 1))) if n > 1 else 0.0


@inlined
def add_point(t: float, y: Array, memory: Array) -> None:
    """The new point is the newest, the oldest is forgotten."""
    for i in range(KNOWN - 1, 0, -1):
        for a in range(memory.shape[1]):
            memory[i, a] = memory[i - 1, a]
    memory[0, 0] = t
    for a in range(y.size):
        memory[0, 1 + a] = y[a]


@kernel
def turn_on(P: Pack, t: float, y: Array, memory: Array, order: int) -> None:
    """Integrated angles as all else: past + c theta', of the step's own order."""
    rate = ws.angle_rates(P)
    first = y.size - rate.size
    if rate.size > 0:
        fill_angle_rates(P, t, y, rate)
        put_past_weights(t, memory, order)
        c = leading(t, memory, order)
        for k in range(rate.size):
            y[first + k] = c * rate[k]
            for i in range(order):
                y[first + k] += memory[WEIGHTS, i] * memory[i, 1 + first + k]


def first_points(problem: Problem, u_dot: Array, h: float) -> Array:
    """BDF's memory with the state at the start, and one before it on its tangent, for the first prediction; u_dot (nb + 1, 6)."""
    memory, n = np.zeros((ROWS, max(8, 1 + problem.y.size))), len(u_dot)
    for row, t in ((0, problem.t), (1, problem.t - h)):
        memory[row, 0], memory[row, 1 : 1 + problem.y.size] = t, problem.y
    bodies = memory[1, 1 : 1 + WIDTH * n].reshape(n, WIDTH)[1:]
    p_dot = euler.p_dot_from(bodies[:, 3:7], bodies[:, 10:13])
    bodies -= h * np.hstack([bodies[:, 7:10], p_dot, u_dot[1:]])
    return memory
