r"""Accelerations and multipliers of the members of a batch.

M u_dot + Phi_q^T lam = Q,      Phi_q u_dot = gamma        for each member

The kernel is that of `formulations.accelerations`. Each thread has a workspace and a copy of the tables, into which the numbers of a
member are written; the equations, the elimination order and all other integers are shared.  Of many members eight are computed at once,
see `side_by_side`, with the same bits.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from queue import SimpleQueue
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from haugmbd.batches.direct_tables import DirectTables, direct_tables, own_tables
from haugmbd.batches.parameters import Parameter
from haugmbd.batches.side_by_side import APART, Groups, goes_side_by_side, is_sound
from haugmbd.batches.threads import in_blocks
from haugmbd.batches.variant import variant_model
from haugmbd.compiled.array_types import Array, Ints
from haugmbd.compiled.jit import released
from haugmbd.compiled.status_codes import NOT_FINITE, OK
from haugmbd.deprecated import public_class
from haugmbd.errors import error_text
from haugmbd.forces.joint_loads.joint_load import JointLoad
from haugmbd.forces.point_force import PointForce
from haugmbd.forces.rsda import RSDA
from haugmbd.forces.state_force import StateForce
from haugmbd.forces.torque import Torque
from haugmbd.forces.tsda import TSDA
from haugmbd.formulations.accelerations import accelerations
from haugmbd.formulations.newton_euler import accelerate
from haugmbd.model.dependent_rows import DropDependentRows
from haugmbd.model.generalized_forces import copy_line
from haugmbd.model.model import Model
from haugmbd.model.state import State
from haugmbd.workspace import accessors as ws
from haugmbd.workspace.layout import WIDTH, Pack

BLOCK = 2048
"""Members of a block of one thread: a millisecond or more of compiled code."""


WITHOUT_MEMORY = (TSDA, RSDA, PointForce, Torque, StateForce, JointLoad)
"""Elements whose forces depend on the state alone, and that leave nothing in the workspace."""


@public_class
@dataclass(frozen=True, eq=False)
class BatchAccelerations:
    """Accelerations and multipliers of the members of a batch.

    Attributes
    ----------
    v_dot : ndarray, (N, nb + 1, 3)
        Accelerations of the centres of mass, global frame [m/s2]; the ground is in row 0. NaN for a member that failed.
    omega_bar_dot : ndarray, (N, nb + 1, 3)
        Angular accelerations, body frames [rad/s2].
    lam : ndarray, (N, nc)
        Multipliers of the constraint rows.
    success : ndarray of bool, (N,)
        Whether a member has accelerations.
    failures : dict of int to str
        The reason of each member that has none.
    """

    v_dot: Array
    omega_bar_dot: Array
    lam: Array
    success: npt.NDArray[np.bool_]
    failures: dict[int, str] = field(repr=False)

    def __len__(self) -> int:
        return len(self.success)

    def __repr__(self) -> str:
        return f"BatchAccelerations({len(self)} members, {len(self.failures)} failed)"


class Members(NamedTuple):
    """The arrays that differ from member to member.

    places: (m,) indices in `reals`;  values: (n, m) the numbers there;  slots: (nc,) of the rows;  ground: (13,) its state
    work: a new workspace, to which a workspace is reset after a failure;  anew: whether that is necessary after each member
    """

    places: Ints
    values: Array
    slots: Ints
    ground: Array
    work: Array
    anew: bool


class Solutions(NamedTuple):
    """The arrays that the kernel writes.

    u_dot: (n, nb + 1, 6);  lam: (n, nc);  codes: (n,) of members
    """

    u_dot: Array
    lam: Array
    codes: Ints

    def part(self, members: slice) -> Solutions:
        """Return the arrays of some members."""
        return Solutions(self.u_dot[members], self.lam[members], self.codes[members])


@released
def accelerate_members(P: Pack, t: Array, y: Array, members: Members, u_dot: Array, lam: Array, codes: Ints) -> None:
    """Solve for members with the states y (n, ny) where codes (n,) are zero; write u_dot (n, nb + 1, 6), lam (n, nc) and the codes."""
    places, values, slots, ground, work, anew = members
    x, n = ws.solution(P), u_dot.shape[1]
    used = False
    for k in range(t.shape[0]):
        if codes[k] == OK and not is_sound(n, ground, t[k], y[k]):
            codes[k] = NOT_FINITE
        if codes[k] == OK:
            for a in range(places.shape[0]):
                P.reals[places[a]] = values[k, a]
            if used:
                copy_line(work, P.work)
            codes[k] = accelerate(P, t[k], y[k])
            used = anew or codes[k] != OK
        for a in range(6):
            u_dot[k, 0, a] = 0.0
        for b in range(1, n):
            for a in range(6):
                u_dot[k, b, a] = x[b, a]
        for r in range(slots.shape[0]):
            lam[k, r] = x[n + slots[r] // 6, slots[r] % 6]
    if used:
        copy_line(work, P.work)


def batch_accelerations(
    model: Model, t: Array, states: Array | None, parameters: Sequence[Parameter], threads: int, block: int = BLOCK
) -> BatchAccelerations:
    """Return the accelerations of members at t (N,) and flat states (N, ny), by default the modelled ones."""
    n, nb = len(t), model.nb + 1
    y = np.tile(model.y0, (n, 1)) if states is None else states
    u_dot, lam, codes = np.empty((n, nb, 6)), np.empty((n, model.nc)), np.ones(n, dtype=np.int64)
    tables = direct_tables(model, parameters) if parameters else None
    if runs_in_one_kernel(model) and (tables is not None or not parameters):
        codes[:] = 0 if tables is None else tables.odd
        _Kernel(model, tables, threads, n).run(t, y, Solutions(u_dot, lam, codes), block)
    failures: dict[int, str] = {}

    def solve(first: int, last: int) -> None:
        for k in range(first, last):
            member = int(members[k])
            found = _solve_alone(model, parameters, member, float(t[member]), None if states is None else states[member])
            if isinstance(found, str):
                failures[member] = found
            else:
                u_dot[member], lam[member] = found
                codes[member] = OK

    members = np.nonzero(codes)[0]  # those that need more than numbers in tables, and those that failed, for the reason
    for _ in in_blocks(len(members), 1, threads, solve):
        pass
    u_dot[codes != OK] = lam[codes != OK] = np.nan
    return BatchAccelerations(u_dot[:, :, :3], u_dot[:, :, 3:], lam, codes == OK, dict(sorted(failures.items())))


def runs_in_one_kernel(model: Model) -> bool:
    """Return whether the members need nothing of Python: no functions in Python, no blocks, no multipliers of least norm."""
    callbacks = model.force_callbacks
    least_norm = bool(model.redundancy.dropped) and not isinstance(model.redundancy.rule, DropDependentRows)
    return (not callbacks.any or callbacks.compiled) and model.network is None and not least_norm


def _solve_alone(model: Model, parameters: Sequence[Parameter], k: int, t: float, y: Array | None) -> tuple[Array, Array] | str:
    """Return u_dot and lam of member k as a single call gives them, or the reason why there are none."""
    try:
        variant = variant_model(model, parameters, k)
        solution = accelerations(variant, variant.state().replace(t=t) if y is None else State.from_y(t, y, model.nb + 1))
    except Exception as error:  # noqa: BLE001  whatever a user's function raises belongs to its member
        return error_text(error)
    return np.concatenate([solution.v_dot, solution.omega_bar_dot], axis=1), solution.lam


class _Kernel:
    """The compiled loop over members, with a workspace and tables for each thread."""

    def __init__(self, model: Model, tables: DirectTables | None, threads: int, n: int) -> None:
        self.model, self.tables, self.threads = model, tables, threads
        self.places = np.zeros(0, dtype=np.int64) if tables is None else tables.places
        self.idle: SimpleQueue[tuple[Pack, Groups | None]] = SimpleQueue()
        self.in_groups = goes_side_by_side(model, n)
        # the choice of the rows that are kept depends on the state before; other elements than springs and forces may keep something, too
        self.anew = bool(model.redundancy.dropped) or not all(isinstance(entry.load, WITHOUT_MEMORY) for entry in model.loads)
        self.slots, self.ground, self.fresh = model.slot_of_row.copy(), model.y0[:WIDTH].copy(), model.pack().work
        for _ in range(threads):
            pack = model.pack(own_tables(model.tables))
            self.idle.put((pack, Groups(pack, len(model.y0)) if self.in_groups else None))

    def run(self, t: Array, y: Array, out: Solutions, block: int) -> None:
        """Solve for the members whose codes are zero, and write u_dot, lam and codes."""
        self._solve(t[:0], y[:0], np.zeros((0, len(self.places))), out.part(slice(0, 0)))  # compiles before threads begin

        def solve(first: int, last: int) -> None:
            at = slice(first, last)
            values = np.zeros((last - first, 0)) if self.tables is None else self.tables.values(first, last)
            self._solve(t[at], y[at], values, out.part(at))

        for _ in in_blocks(len(t), block, self.threads, solve):
            pass

    def _solve(self, t: Array, y: Array, values: Array, out: Solutions) -> None:
        """Solve for the members of a block, in an idle workspace."""
        pack, groups = self.idle.get()
        members = Members(self.places, values, self.slots, self.ground, self.fresh, self.anew)
        if groups is not None and self.in_groups:
            self.in_groups &= groups.solve(t, y, members, out)
            left = np.nonzero(out.codes == APART)[0]
            if len(left):
                found = Solutions(
                    np.empty_like(out.u_dot, shape=(len(left), *out.u_dot.shape[1:])), out.lam[left], 0 * out.codes[left]
                )
                accelerate_members(pack, t[left], y[left], members._replace(values=values[left]), *found)
                out.u_dot[left], out.lam[left], out.codes[left] = found
        else:
            accelerate_members(pack, t, y, members, *out)
        self.idle.put((pack, groups))
