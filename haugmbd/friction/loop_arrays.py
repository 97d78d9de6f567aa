"""The arrays of the friction loop."""

from __future__ import annotations

from typing import NamedTuple

from haugmbd.compiled.array_types import Array, Ints
from haugmbd.compiled.array_views import borrow
from haugmbd.compiled.jit import inlined, kernel
from haugmbd.friction import columns as at
from haugmbd.kkt.many_right_sides import LANES
from haugmbd.workspace import accessors as ws
from haugmbd.workspace import layout
from haugmbd.workspace.layout import Pack


class Loop(NamedTuple):
    """The arrays of the loop, for n joints and m channels.

    ints, reals, terms, modes: see `columns`;  X: (m, 6 nn) columns;  G: (m + 1, m) rates of the channels by column, and of x_0
    W: (m + 1, 6 n) wrenches of the joints by column, and of x_0;  S: (m, m)
    R: (n + 1, m) friction that sticks: of x_0, and by each joint that slides
    w_0, V: (1, 6 n), (6 n, LANES ...) wrenches without friction of sliding, and by each joint that slides, 0 for others
    w: (1, 6 n) wrenches at an iteration;  A: (n, n + 1)
    f_t: (6, n) solution, others, limits, see also `contraction.advance`;  active: (4, m)
    """

    ints: Ints
    reals: Array
    terms: Array
    modes: Array
    X: Array
    G: Array
    W: Array
    S: Array
    R: Array
    w_0: Array
    V: Array
    w: Array
    A: Array
    f_t: Array
    active: Array


@inlined
def algebra_size(n: int, m: int) -> int:
    """Return the numbers that the loop needs for n joints and m channels, besides its columns."""
    wrenches = (m + 1 + 2 + lanes_of(n)) * 6 * n
    return wrenches + (m + 1) * m + m * m + (n + 1) * m + n * (n + 1) + 6 * n + 4 * m


@inlined
def lanes_of(n: int) -> int:
    """Return n, rounded up to whole lanes."""
    return (n + LANES - 1) // LANES * LANES


@inlined
def loop_of(P: Pack) -> Loop:
    """Return the arrays of a pack."""
    ints, X = ws.friction_ints(P), ws.friction_columns(P)
    n, m = ints.shape[0], X.shape[0]
    G = ws.start_of(P, layout.FRICTION_ALGEBRA)
    W = G + (m + 1) * m
    S = W + (m + 1) * 6 * n
    R = S + m * m
    w_0 = R + (n + 1) * m
    V = w_0 + 6 * n
    w = V + lanes_of(n) * 6 * n
    A = w + 6 * n
    f_t = A + n * (n + 1)
    return Loop(
        ints,
        ws.friction_reals(P),
        ws.friction_terms(P),
        ws.friction_modes(P),
        X,
        borrow(P.work, G, m + 1, m),
        borrow(P.work, W, m + 1, 6 * n),
        borrow(P.work, S, m, m),
        borrow(P.work, R, n + 1, m),
        borrow(P.work, w_0, 1, 6 * n),
        borrow(P.work, V, 6 * n, lanes_of(n)),
        borrow(P.work, w, 1, 6 * n),
        borrow(P.work, A, n, n + 1),
        borrow(P.work, f_t, 6, n),
        borrow(P.work, f_t + 6 * n, 4, m),
    )


@inlined
def friction_of_lines(P: Pack, n: int) -> Array:
    """Return an f_t as in a `Loop`, for n lines of FRICTION_PATHS, in an array that sweeps over a forest do not need otherwise."""
    return borrow(P.work, ws.start_of(P, layout.FRICTION_LANES), 6, n)  # type: ignore[no-any-return]


@kernel
def keep_solution(P: Pack, line: Array) -> None:
    """Copy the solution to a line (1, 6 nn)."""
    x = ws.solution(P)
    for node in range(x.shape[0]):
        for a in range(6):
            line[0, 6 * node + a] = x[node, a]


@kernel
def restore_solution(P: Pack, line: Array) -> None:
    """Copy a line (1, 6 nn) to the solution."""
    x = ws.solution(P)
    for node in range(x.shape[0]):
        for a in range(6):
            x[node, a] = line[0, 6 * node + a]


@kernel
def slides_now(L: Loop, k: int) -> bool:
    """Return whether the friction of joint k is f_t: it slides, or is at its limit."""
    return L.ints[k, at.LOADED] == 1 and L.terms[k, at.STATE] != at.STICKS  # type: ignore[no-any-return]
