r"""Members of a batch side by side: eight of them in one vector register.

    (u_dot, lam) of members 8 g ... 8 g + 7 = accelerate(P, t, y)        in `Wide` numbers, by the kernel of one member

A group in which a decision differs from member to member, or that has several times, or a failure, is left to the kernel of one member.
The bits are those of that kernel: the operations are the same, in the same order.
"""

from __future__ import annotations

from math import inf, isfinite
from typing import Any

import numpy as np

from haugmbd.bodies.body import UNIT_P_TOL
from haugmbd.compiled.array_types import Array, Ints
from haugmbd.compiled.jit import kernel, released
from haugmbd.compiled.numba_names import COMPILES, OFF, typeof_impl
from haugmbd.compiled.status_codes import OK
from haugmbd.compiled.wide import MEMBERS, WIDE, NumbaError, Wide, as_wide, count_decisions, decisions_apart, member_of
from haugmbd.formulations.newton_euler import accelerate
from haugmbd.model.generalized_forces import copy_line
from haugmbd.model.model import Model
from haugmbd.workspace import accessors as ws
from haugmbd.workspace.families import new_family, twin
from haugmbd.workspace.layout import WIDTH, Pack

WIDE_NUMBERS = new_family("WidePack", Wide, "|wide")
WIDE_PACK = WIDE_NUMBERS.pack

APART = -1
"""Code of a member that is computed alone."""
LEAST = 1024
"""Members from which a kernel of their own is compiled: seconds, once on a machine."""
MOST_APART = 0.3
"""Part of the members of a block from which groups do not pay: a group that is computed again has cost about three members."""


class WidePack(Pack):
    """A Pack of numbers of eight members."""


@typeof_impl.register(WidePack)  # type: ignore[untyped-decorator]
def wide_pack_type(pack: WidePack, context: Any) -> Any:
    """Return the one type of every WidePack."""
    return WIDE_PACK


def goes_side_by_side(model: Model, n: int) -> bool:
    """Return whether n members are worth a kernel of their own, and compute alike: without functions of the user, and friction."""
    alone = model.force_callbacks.any or len(model.tables["FRICTION_INTS"]) > 0  # iterations of friction end at their own time
    return bool(COMPILES) and not OFF and n >= LEAST and not alone


def wide_pack(pack: Pack) -> tuple[WidePack, Array]:
    """Return the same pack in wide numbers, with a workspace of its own, and its constants as doubles (n, MEMBERS)."""
    count_decisions()
    reals: Any
    work: Any
    reals, work = (np.repeat(x[:, None], MEMBERS, axis=1) for x in (pack.reals, pack.work))
    routines = (twin(each, WIDE_NUMBERS) for each in pack[3:])
    return WidePack(pack.ints, reals.view(WIDE)[:, 0], work.view(WIDE)[:, 0], *routines), reals


@kernel
def is_sound(n: int, ground: Array, t: float, y: Array) -> bool:
    """Return whether a state of n bodies is finite, has |p| near 1, and has the ground at rest."""
    bad = 0 if isfinite(t) else 1
    for a in range(y.size):
        bad += 0 if abs(y[a]) < inf else 1
    if bad > 0:
        return False
    for a in range(WIDTH):
        if y[a] != ground[a]:
            return False
    for k in range(1, n):
        p2 = 0.0
        for a in range(3, 7):
            p2 += y[WIDTH * k + a] ** 2
        if abs(p2 - 1.0) > UNIT_P_TOL:
            return False
    return True


@released
def accelerate_groups(
    P: WidePack, t: Array, y: Array, members: Any, reals: Array, cells: Array, u_dot: Array, lam: Array, codes: Ints
) -> None:
    """Solve for the groups of members whose codes are OK; write u_dot (n, nb + 1, 6), lam (n, nc), and APART for the others.

    reals: (., MEMBERS) constants of the pack;  cells: (ny, MEMBERS) room for their states
    """
    places, values, slots, ground, work, anew = members
    x, n, state, fresh = ws.solution(P), u_dot.shape[1], as_wide(cells), as_wide(work)
    for first in range(0, t.shape[0] - MEMBERS + 1, MEMBERS):
        alike = True
        for k in range(first, first + MEMBERS):
            alike = alike and codes[k] == OK and t[k] == t[first] and is_sound(n, ground, t[k], y[k])
        code = APART
        if alike:
            for k in range(MEMBERS):
                for a in range(cells.shape[0]):
                    cells[a, k] = y[first + k, a]
                for a in range(places.shape[0]):
                    reals[places[a], k] = values[first + k, a]
            before = decisions_apart()
            code = accelerate(P, t[first], state)
            if code != OK or decisions_apart() != before:
                code = APART
        for k in range(MEMBERS):
            if code != OK and codes[first + k] == OK:
                codes[first + k] = APART
            if code == OK:
                for a in range(6):
                    u_dot[first + k, 0, a] = 0.0
                for b in range(1, n):
                    for a in range(6):
                        u_dot[first + k, b, a] = member_of(x[b, a], k)
                for r in range(slots.shape[0]):
                    lam[first + k, r] = member_of(x[n + slots[r] // 6, slots[r] % 6], k)
        if alike and (anew or code != OK):
            copy_line(fresh, P.work)
    for k in range(t.shape[0] // MEMBERS * MEMBERS, t.shape[0]):
        codes[k] = APART if codes[k] == OK else codes[k]


class Groups:
    """The workspace of one thread for groups of members."""

    def __init__(self, pack: Pack, ny: int) -> None:
        self._pack, self._reals = wide_pack(pack)
        work: Any = self._pack.work
        self._fresh, self._cells = work["members"].copy(), np.zeros((ny, MEMBERS))

    def solve(self, t: Array, y: Array, members: Any, out: Any) -> bool:
        """Solve for the members whose codes are OK; those that are left have the code APART.  Return whether groups pay here.

        members, out: as of the kernel of one member, see `accelerations`
        A part of somebody else's may do with numbers what only doubles can: its members are all left.
        """
        try:
            accelerate_groups(self._pack, t, y, members._replace(work=self._fresh), self._reals, self._cells, *out)
        except NumbaError:
            out.codes[out.codes == OK] = APART
            return False
        return len(t) < MEMBERS or bool(np.count_nonzero(out.codes == APART) < MOST_APART * len(t))
