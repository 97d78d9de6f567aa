r"""Which joints at rest stick and which begin to slide, at a state without modes.

A joint that sticks beyond its limit is released at the limit; it slides unless others hold it.  A joint at rest for an instant only, that
no friction of its own stops, slides on.  Joints beyond their limits carry the limit, and the others the rest.
Source: Haug (2021), friction and stiction.
"""

from __future__ import annotations

from math import sqrt

from haugmbd.compiled.array_types import Array
from haugmbd.compiled.jit import kernel
from haugmbd.friction import columns as at
from haugmbd.friction.loop_arrays import Loop, slides_now
from haugmbd.math.vec3 import dot, load

OVER = 1e-13
"""Relative to the limit: friction needed beyond it by less does not release a joint."""
PASSES = 1e-8
"""Relative to the accelerations of its bodies, to those by each friction, and by its own load: the acceleration of a joint that sticks is
rounding."""
MOVES = 1e-9
"""Relative to a joint alone: a released joint that gives way less under its own friction is held by others that stick."""


@kernel
def release(L: Loop) -> bool:
    """Release the joint that exceeds its limit most, unless its mode says that it sticks; return whether there is one."""
    worst, which = 0.0, -1
    for k in range(L.ints.shape[0]):
        if L.ints[k, at.LOADED] == 1 and L.terms[k, at.STATE] == at.STICKS and L.modes[k, at.MODE] == at.FREE:
            limit, margin = L.terms[k, at.LIMIT], L.terms[k, at.MARGIN]
            over = -margin / (limit - margin) if limit > margin else 0.0
            if over > max(OVER, worst):
                worst, which = over, k
    if which < 0:
        return False
    k, terms = which, L.terms
    needed = terms[k, at.LIMIT] - terms[k, at.MARGIN]
    for c in range(L.ints[k, at.CHANNELS]):
        terms[k, at.DIRECTION + c] = -terms[k, at.FRICTION + c] / needed
    terms[k, at.STATE] = at.AT_LIMIT
    put_sliding_column(L, k)
    return True


@kernel
def release_with_others(L: Loop) -> bool:
    """Release a joint that sticks and would move with one at its limit that has no solution; return whether there is one."""
    for s in range(L.ints.shape[0]):
        if L.ints[s, at.LOADED] == 0 or L.terms[s, at.STATE] != at.AT_LIMIT:
            continue
        first = L.ints[s, at.FIRST]
        for k in range(L.ints.shape[0]):
            if L.ints[k, at.LOADED] == 0 or L.terms[k, at.STATE] != at.STICKS or L.modes[k, at.MODE] != at.FREE:
                continue
            size = 0.0
            for c in range(L.ints[k, at.CHANNELS]):
                channel = L.ints[k, at.FIRST] + c
                if L.active[0, channel] != 0.0:
                    size += (L.terms[k, at.ARM + c] * L.G[first, channel]) ** 2
            if size == 0.0:
                continue
            for c in range(L.ints[k, at.CHANNELS]):
                channel, arm = L.ints[k, at.FIRST] + c, L.terms[k, at.ARM + c]
                moves = -arm * arm * L.G[first, channel] / sqrt(size)
                L.terms[k, at.DIRECTION + c] = moves if L.active[0, channel] != 0.0 else 0.0
            L.terms[k, at.STATE] = at.AT_LIMIT
            put_sliding_column(L, k)
            return True
    return False


@kernel
def put_sliding_column(L: Loop, k: int) -> None:
    """Make the first column of joint k that of its friction against the direction, from those of its channels."""
    first = L.ints[k, at.FIRST]
    for c in range(L.ints[k, at.CHANNELS]):
        D = -L.terms[k, at.DIRECTION + c]
        combine(L.X, first, first + c, c, D)
        combine(L.G, first, first + c, c, D)
        combine(L.W, first, first + c, c, D)


@kernel
def combine(rows: Array, first: int, row: int, c: int, D: float) -> None:
    """Make row `first` the sum of D times the rows of a joint's channels, one call for each: c = 0 first."""
    for a in range(rows.shape[1]):
        rows[first, a] = D * rows[row, a] + (rows[first, a] if c > 0 else 0.0)


@kernel
def rate_with_friction(L: Loop, channel: int) -> tuple[float, float]:
    """Return the acceleration of a channel with the friction found, and the sum of the sizes of its parts."""
    rate = L.G[L.X.shape[0], channel]
    parts = abs(rate)
    for s in range(L.ints.shape[0]):
        if L.ints[s, at.LOADED] == 0:
            continue
        first, slides = L.ints[s, at.FIRST], slides_now(L, s)
        for c in range(1 if slides else L.ints[s, at.CHANNELS]):
            part = (L.f_t[0, s] if slides else L.terms[s, at.FRICTION + c]) * L.G[first + c, channel]
            rate += part
            parts += abs(part)
    return rate, parts


@kernel
def largest_rate(L: Loop, k: int, c: int, base: Array) -> float:
    """Return the acceleration of a channel if those of both bodies, without friction, were along it: what its rounding is measured by."""
    total, B = 0.0, at.B + 12 * c
    for side in range(2):
        body = L.ints[k, at.BODY_I] if side == 0 else L.ints[k, at.BODY_J]
        for a in range(0, 6, 3):
            if body > 0:
                line, u_dot = load(L.terms, k, B + 6 * side + a), load(base, 0, 6 * body + a)
                total += sqrt(dot(line, line) * dot(u_dot, u_dot))
    return total


@kernel
def slide_unstopped(L: Loop, base: Array) -> bool:
    """Let the first joint slide that is at rest for an instant only and that its friction cannot stop; return whether there is one."""
    for k in range(L.ints.shape[0]):
        if L.ints[k, at.LOADED] == 0 or L.terms[k, at.STATE] != at.STICKS or L.modes[k, at.MODE] != at.FREE:
            continue
        total, scale = 0.0, 0.0
        for c in range(L.ints[k, at.CHANNELS]):
            arm = L.terms[k, at.ARM + c]
            rate, parts = rate_with_friction(L, L.ints[k, at.FIRST] + c)
            total += (arm * rate) ** 2
            of_load = arm * L.terms[k, at.NORMAL] * L.active[1, L.ints[k, at.FIRST] + c]
            scale += arm * (parts + abs(L.terms[k, at.BIAS + c]) + largest_rate(L, k, c, base) + of_load)
        if sqrt(total) > PASSES * scale:
            for c in range(L.ints[k, at.CHANNELS]):
                arm = L.terms[k, at.ARM + c]
                rate, _ = rate_with_friction(L, L.ints[k, at.FIRST] + c)
                L.terms[k, at.DIRECTION + c] = arm * arm * rate / sqrt(total)
            L.terms[k, at.STATE] = at.SLIDES
            put_sliding_column(L, k)
            return True
    return False


@kernel
def slide_released(L: Loop) -> bool:
    """Let joints that were released slide with the friction of sliding, unless others hold them; return whether there is one."""
    slides = False
    for k in range(L.ints.shape[0]):
        if L.ints[k, at.LOADED] == 0 or L.terms[k, at.STATE] != at.AT_LIMIT or L.modes[k, at.MODE] != at.FREE:
            continue
        # D B K^-1 B^T D alone, and with the friction of the joints that stick: what they leave of its motion
        alone, held, first = 0.0, 0.0, L.ints[k, at.FIRST]
        for c in range(L.ints[k, at.CHANNELS]):
            D = L.terms[k, at.DIRECTION + c]
            alone += D * L.G[first, first + c]
            held += D * L.G[first, first + c]
            for d in range(L.X.shape[0]):
                if L.active[0, d] > 0.0:
                    held += D * L.R[1 + k, d] * L.G[d, first + c]
        if abs(held) > MOVES * abs(alone):
            L.terms[k, at.STATE] = at.SLIDES
            slides = True
    return slides
