r"""The direction in which a joint of several rates begins to slide: that of its acceleration, against its friction.

While it is slow, its velocity turns into the direction in which load and friction leave an acceleration along it, at the rate
f_t A / speed: a stiff equation, which this direction solves in the limit. It is taken at rest, and until the speed is that of the mode.

    a = a_0 - f_t A e,    e = a / |a|          a: acceleration of the sliding (arm_c q''_c);  A = arm B K^-1 B^T arm
    w = a + f_t A e,      (s + f_t A) e = w,   |e| = 1:    s = |a|, by the iteration of More and Sorensen

It differs from that of the friction which was needed at rest wherever A is not a multiple of 1. w is that of the direction before, so that
reactions and other joints may depend on e: it is repeated until e stays.
Source: Haug (2021), friction; Moreau, Unilateral contact and dry friction (1988): maximal dissipation; Nocedal, Wright, Numerical
Optimization, alg. 4.3.
"""

from __future__ import annotations

from math import sqrt

from haugmbd.compiled.jit import kernel
from haugmbd.compiled.status_codes import OK
from haugmbd.friction import columns as at
from haugmbd.friction.loop_arrays import Loop
from haugmbd.friction.release import PASSES, put_sliding_column, rate_with_friction
from haugmbd.friction.responses import put_column
from haugmbd.friction.sticking import HELD
from haugmbd.math.vec3 import Vec, add, cross, dot, scale, sub
from haugmbd.workspace.layout import Pack

TURNED, ROUNDING = 1e-13, 1e-9
"""[rad] A direction that turns by less stays; one that turns by less than ROUNDING, and not by less than before, is known to rounding."""
TURNS = 100
"""Most times that directions are turned; each time leaves a part of the error that is about mu times a ratio of inertias."""
STEPS = 50
"""Most steps for s, which converge quadratically from below."""
SOLVED = 1e-15
"""Relative to |B|: where s begins at least."""


Rows = tuple[Vec, Vec, Vec]
"""The rows of a symmetric (3, 3) matrix."""


@kernel
def begin_all(L: Loop) -> None:
    """Take the directions of their modes for joints that begin to slide, whose columns are those of their channels."""
    for k in range(L.ints.shape[0]):
        if L.ints[k, at.LOADED] == 1 and L.modes[k, at.MODE] == at.BEGINS:
            put_sliding_column(L, k)


@kernel
def stick_again(P: Pack, L: Loop) -> tuple[int, bool]:
    """Let a joint stick again that was released and would move in the direction of its friction, now that others slide.

    Return the code, and whether there is such a joint.
    """
    for k in range(L.ints.shape[0]):
        released = L.terms[k, at.STATE] == at.SLIDES and L.modes[k, at.MODE] == at.FREE and is_slow(L, k)
        if L.ints[k, at.LOADED] == 0 or L.ints[k, at.EXACT] == 0 or L.ints[k, at.CHANNELS] > 1 or not released:
            continue
        first = L.ints[k, at.FIRST]
        rate, parts = rate_with_friction(L, first)
        if rate * L.terms[k, at.DIRECTION] < -PASSES * parts * abs(L.terms[k, at.DIRECTION]):
            L.terms[k, at.STATE] = at.STICKS
            return put_column(P, L, k, 0, False), True
    return OK, False


@kernel
def turn_to_first_motion(P: Pack, L: Loop) -> tuple[int, float]:
    """Turn the directions of joints that begin to slide towards their accelerations; return the code, and the largest turn [rad]."""
    largest = 0.0
    for k in range(L.ints.shape[0]):
        if not begins_to_slide(L, k):
            continue
        a = (acceleration(L, k, 0), acceleration(L, k, 1), acceleration(L, k, 2))
        code = put_column(P, L, k, 0, False)  # the others are as they were when the joint was at rest
        if code != OK:
            return code, largest
        e, f_t = (component(L, k, 0), component(L, k, 1), component(L, k, 2)), L.f_t[0, k]
        B = (scale(f_t, compliance(L, k, 0)), scale(f_t, compliance(L, k, 1)), scale(f_t, compliance(L, k, 2)))
        u, converged = unit_solution(B, add(a, product(B, e)))
        d = sub(u, e)
        turn = sqrt(dot(d, d)) if converged else 1.0
        if not turn <= largest:
            largest = turn
        for c in range(L.ints[k, at.CHANNELS]):
            L.terms[k, at.DIRECTION + c] = L.terms[k, at.ARM + c] * u[c]
        put_sliding_column(L, k)
    return OK, largest


@kernel
def begins_to_slide(L: Loop, k: int) -> bool:
    """Return whether joint k slides from rest, in a direction that is not known by its speed or its mode."""
    if L.ints[k, at.LOADED] == 0 or L.ints[k, at.EXACT] == 0 or L.ints[k, at.CHANNELS] == 1:
        return False
    if L.modes[k, at.MODE] == at.BEGINS:
        return True
    free = L.terms[k, at.STATE] == at.SLIDES and L.modes[k, at.MODE] == at.FREE
    return free and is_slow(L, k)


@kernel
def is_slow(L: Loop, k: int) -> bool:
    """Return whether joint k, whose mode is FREE, is at rest by its speed."""
    return L.terms[k, at.SPEED] <= max(at.REST, L.modes[k, at.FAST])  # type: ignore[no-any-return]


@kernel
def is_movable(L: Loop, k: int, c: int) -> bool:
    """Return whether joint k has a channel c along which the other joints let it move."""
    channel = L.ints[k, at.FIRST] + c
    return c < L.ints[k, at.CHANNELS] and L.G[channel, channel] > HELD * L.active[1, channel]  # type: ignore[no-any-return]


@kernel
def acceleration(L: Loop, k: int, c: int) -> float:
    """Return the acceleration of the sliding in channel c, with the friction found [m/s2]."""
    if not c < L.ints[k, at.CHANNELS]:
        return 0.0
    rate, _ = rate_with_friction(L, L.ints[k, at.FIRST] + c)
    return L.terms[k, at.ARM + c] * rate  # type: ignore[no-any-return]


@kernel
def component(L: Loop, k: int, c: int) -> float:
    """Return e_c."""
    return L.terms[k, at.DIRECTION + c] / L.terms[k, at.ARM + c] if c < L.ints[k, at.CHANNELS] else 0.0


@kernel
def compliance(L: Loop, k: int, c: int) -> Vec:
    """Return row c of A [1/kg]; that of the unit matrix for a channel that joints hold."""
    first, gives = L.ints[k, at.FIRST], is_movable(L, k, c)
    row = (1.0 if c == 0 else 0.0, 1.0 if c == 1 else 0.0, 1.0 if c == 2 else 0.0)  # noqa: PLR2004
    if gives:
        arm = L.terms[k, at.ARM + c]
        row = (
            arm * L.terms[k, at.ARM] * L.G[first, first + c] if is_movable(L, k, 0) else 0.0,
            arm * L.terms[k, at.ARM + 1] * L.G[first + 1, first + c] if is_movable(L, k, 1) else 0.0,
            arm * L.terms[k, at.ARM + 2] * L.G[first + 2, first + c] if is_movable(L, k, 2) else 0.0,
        )
    return row


@kernel
def product(B: Rows, x: Vec) -> Vec:
    """Return B x."""
    return dot(B[0], x), dot(B[1], x), dot(B[2], x)


@kernel
def unit_solution(B: Rows, w: Vec) -> tuple[Vec, bool]:
    """Return the unit vector e of (s + B) e = w, s >= 0, and whether s was found; where |B^-1 w| < 1, its direction (s = 0)."""
    size = sqrt(dot(B[0], B[0]) + dot(B[1], B[1]) + dot(B[2], B[2]))
    s = max(sqrt(dot(w, w)) - size, SOLVED * size)  # |w| <= s + |B|
    # |e(s)| = 1: Newton's iteration for 1 / |e(s)|, which rises to s from below
    for _ in range(STEPS):
        e = solution(B, s, w)
        length = sqrt(dot(e, e))
        slope = dot(e, solution(B, s, e))
        following = s + length * length / slope * (length - 1.0)
        if not following > s:
            return scale(1.0 / length, e), length > 0.0
        s = following
    return w, False


@kernel
def solution(B: Rows, s: float, w: Vec) -> Vec:
    """Return the solution of (s + B) x = w, by Cramer's rule."""
    b_0, b_1, b_2 = B
    x = (b_0[0] + s, b_0[1], b_0[2])
    y = (b_1[0], b_1[1] + s, b_1[2])
    z = (b_2[0], b_2[1], b_2[2] + s)
    yz, zx, xy = cross(y, z), cross(z, x), cross(x, y)
    return scale(1.0 / dot(x, yz), add(add(scale(w[0], yz), scale(w[1], zx)), scale(w[2], xy)))
