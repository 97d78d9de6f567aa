r"""Runs of eight members side by side: explicit steps of fixed length with projection, in `Wide` numbers, by the kernels of one run.

    k_i = f(t + c_i h, y + h sum a_ij k_j)        y <- post_step( y + h sum b_i k_i )        of members 8 g ... 8 g + 7 at once

They are the steps of short runs (`simulation.smooth_run`), which examines them as its own.  A projection goes on until its last member
has ended; the others wait, as they are.  A group in which members decide differently, or one fails, is made member by member.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from haugmbd.batches.side_by_side import APART, WIDE_NUMBERS, WidePack, wide_pack
from haugmbd.compiled.array_types import Array
from haugmbd.compiled.array_views import borrow
from haugmbd.compiled.function_pointers import resolve
from haugmbd.compiled.jit import DirectCall, released
from haugmbd.compiled.numba_names import COMPILES, OFF
from haugmbd.compiled.status_codes import OK
from haugmbd.compiled.wide import MEMBERS, NumbaError, as_wide, as_wide_record, decisions_apart, member_of
from haugmbd.integrators.explicit.runge_kutta import RungeKutta, ends_of_steps
from haugmbd.integrators.explicit.tableau import Tableau, combine
from haugmbd.integrators.state_space import may_be_stiff
from haugmbd.integrators.step_batch import most_steps
from haugmbd.integrators.step_context import OPTIONS_TYPE, check_finite
from haugmbd.model.generalized_forces import copy_line
from haugmbd.model.inspection.row_gaps import worst_of_rows
from haugmbd.model.model import Model
from haugmbd.simulation.run_options import NEWTON_EULER, PROJECTION
from haugmbd.simulation.smooth_run import GroupSteps, needs_steps_alone
from haugmbd.system.checks.constraint_residuals import states_that_hold
from haugmbd.workspace.families import twin, type_in

LEAST_STEPS = 8192
"""Steps of all members from which a kernel of their own is compiled: seconds, once on a machine."""

WIDE_OPTIONS = type_in(WIDE_NUMBERS, OPTIONS_TYPE)


@released
def run_group_entry(
    P: WidePack, rates: Any, post_step: Any, numbers: Array, tableau: Tableau, t0: float, h: float, ends: Array, cells: Array,
    states: Array, length: float, gaps: Array,
) -> int:  # fmt: skip
    """Make steps of h from t0 to the times `ends` (n,); write the states (MEMBERS, n + 1, ny), and the largest gap of the last ones.

    numbers: (., MEMBERS) the options, see `Options`;  cells: ((s + 2) ny, MEMBERS) the states at t0, and room
    Return OK, or APART.
    """
    c, a, b = tableau
    ny, options, before = states.shape[2], as_wide_record(numbers, WIDE_OPTIONS), decisions_apart()
    whole = borrow(as_wide(cells), 0, c.size + 2, ny)
    y, y_dot, stage = whole[0], whole[1], whole[2]
    k = borrow(as_wide(cells), 3 * ny, c.size - 1, ny)
    if post_step(P, options, t0, y, y_dot) != OK:
        return APART
    for member in range(MEMBERS):
        for place in range(ny):
            states[member, 0, place] = member_of(y[place], member)
    for step in range(ends.size):
        t = ends[step - 1] if step > 0 else t0
        # k_i = f(t + c_i h, y + h sum a_ij k_j)
        for i in range(1, c.size):
            combine(a[i], h, y, y_dot, k, stage)
            if rates(P, options, t + c[i] * h, stage, k[i - 1]) != OK:
                return APART
        # y <- post_step(y + h sum b_i k_i), which gives the next k_1
        combine(b, h, y, y_dot, k, stage)
        if check_finite(P, stage) != OK or post_step(P, options, ends[step], stage, y_dot) != OK:
            return APART
        copy_line(stage, y)
        for member in range(MEMBERS):
            for place in range(ny):
                states[member, step + 1, place] = member_of(y[place], member)
        if decisions_apart() != before:
            return APART
    gap, _ = worst_of_rows(P, length)
    for member in range(MEMBERS):
        gaps[member] = member_of(gap, member)
    return OK if decisions_apart() == before else APART


run_group = DirectCall(run_group_entry)


def group_ends(model: Model, method: Any, t: float, t_end: float) -> Array | None:
    """Return the times (n,) at which the steps of a run end; None unless they are one batch of whole steps of a Runge-Kutta method."""
    if type(method).steps is not RungeKutta.steps or method.h_first is not None:
        return None
    ends, rest = ends_of_steps(t, t_end, method.h)
    return ends if 1 <= len(ends) <= most_steps(len(model.y0)) and not rest else None


def run_side_by_side(model: Model, method: Any, members: int, steps: float) -> bool:
    """Return whether runs of members are worth a kernel of their own, and need nothing but steps."""
    many = members >= MEMBERS and members * steps >= LEAST_STEPS
    plain = isinstance(method, RungeKutta) and needs_steps_alone(model) and not may_be_stiff(model)
    return bool(COMPILES) and not OFF and many and plain


class RunGroups:
    """The runs of groups of members of one batch, from states (n, ny) at t (n,).

    reals: the constants of a member, None if all have those of the model
    Only members whose starts hold are made here, and where nothing but steps is left to be done.
    """

    def __init__(
        self, model: Model, method: Any, t: Array, states: Array, t_end: float, reals: Callable[[int], Array] | None
    ) -> None:
        self.model, self.method, self.t, self.states, self.t_end, self.reals = model, method, t, states, t_end, reals
        self._holds = states_that_hold(model, t, states)
        self._made: dict[int, GroupSteps] = {}
        self._given_up = False
        self._pack = NEWTON_EULER.pack(model)
        self._idle: list[tuple[WidePack, Array, Array]] = []
        self._routines = [twin(each, WIDE_NUMBERS) for each in (PROJECTION.rates, PROJECTION.post_step)]

    def steps_of(self, k: int) -> GroupSteps | None:
        """Return the steps of member k: with its group, when the first of them is asked for.  None if it is made alone."""
        group = slice(k, k + MEMBERS)
        whole = k % MEMBERS == 0 and k + MEMBERS <= len(self.t)
        if whole and not self._given_up and self._holds[group].all() and (self.t[group] == self.t[k]).all():
            ends = group_ends(self.model, self.method, float(self.t[k]), self.t_end)
            if ends is not None:
                self._make(k, ends)
        return self._made.pop(k, None)

    def _make(self, first: int, ends: Array) -> None:
        """Make the steps of a group."""
        ny, tableau, h = self.states.shape[1], self.method.tableau, float(self.method.h)
        options: Any = PROJECTION.options()
        numbers = np.repeat(np.array(options.item(), dtype=np.float64)[:, None], MEMBERS, axis=1)
        cells, gaps = np.zeros(((tableau.b.size + 2) * ny, MEMBERS)), np.empty(MEMBERS)
        cells[:ny] = self.states[first : first + MEMBERS].T
        states = np.empty((MEMBERS, len(ends) + 1, ny))
        t = float(self.t[first])
        try:
            P, reals, fresh = self._workspace()
            if self.reals is not None:
                for lane in range(MEMBERS):
                    reals[:, lane] = self.reals(first + lane)
            code = run_group(P, *self._routines, numbers, tableau, t, h, ends, cells, states, self.model.length, gaps)
        except NumbaError:
            self._given_up = True
            return
        P.work[:] = fresh
        self._idle.append((P, reals, fresh))
        if code == OK:
            times = np.concatenate([[t], ends])
            for lane in range(MEMBERS):
                self._made[first + lane] = GroupSteps(times, states[lane], numbers[:, lane], float(gaps[lane]))

    def _workspace(self) -> tuple[WidePack, Array, Array]:
        """Return a workspace that nobody uses now: a pack, its constants as doubles, and its workspace as it was made."""
        try:
            return self._idle.pop()
        except IndexError:
            P, reals = wide_pack(self._pack)
            resolve(*self._routines, P)
            return P, reals, P.work.copy()
