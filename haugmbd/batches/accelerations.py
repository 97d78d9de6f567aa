r"""Accelerations and multipliers of the members of a batch.

M u_dot + Phi_q^T lam = Q,      Phi_q u_dot = gamma        for each member

The kernel is that of `formulations.accelerations`. Each thread has a workspace and a copy of the tables, into which the numbers of a
member are written; the equations, the elimination order and all other integers are shared.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from queue import SimpleQueue
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from haugmbd.batches.direct_tables import DirectTables, direct_tables
from haugmbd.batches.parameters import Parameter
from haugmbd.batches.threads import in_blocks
from haugmbd.batches.variant import variant_model
from haugmbd.bodies.body import UNIT_P_TOL
from haugmbd.compiled.array_types import Array, Ints
from haugmbd.compiled.jit import entry
from haugmbd.compiled.released import released
from haugmbd.compiled.status_codes import OK
from haugmbd.deprecated import public_class
from haugmbd.formulations.accelerations import accelerations
from haugmbd.formulations.newton_euler import accelerate
from haugmbd.model.dependent_rows import DropDependentRows
from haugmbd.model.generalized_forces import copy_line
from haugmbd.model.model import Model
from haugmbd.model.state import State
from haugmbd.workspace import accessors as ws
from haugmbd.workspace.layout import WIDTH, Pack, Tables

BLOCK = 2048
"""Members of a block of one thread: a millisecond or more of compiled code."""


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
    """What the kernel knows of members.

    places: (m,) indices in `reals`;  values: (n, m) what stands there;  slots: (nc,) of the rows
    work: a new workspace, to which a workspace is reset after a failure;  anew: whether that is necessary after each member
    """

    places: Ints
    values: Array
    slots: Ints
    work: Array
    anew: bool


@released
@entry
def accelerate_members(P: Pack, t: Array, y: Array, members: Members, u_dot: Array, lam: Array, codes: Ints) -> None:
    """Solve for members with the states y (n, ny); write u_dot (n, nb + 1, 6), lam (n, nc) and the codes."""
    places, values, slots, work, anew = members
    x, n = ws.solution(P), u_dot.shape[1]
    used = False
    for k in range(t.shape[0]):
        for a in range(places.shape[0]):
            P.reals[places[a]] = values[k, a]
        if used:
            copy_line(work, P.work)
        codes[k] = accelerate(P, t[k], y[k])
        used = anew or codes[k] != OK
        if codes[k] == OK:
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
    u_dot, lam = np.full((n, nb, 6), np.nan), np.full((n, model.nc), np.nan)
    success = np.zeros(n, dtype=bool)
    tables = direct_tables(model, parameters) if parameters else None
    alone = np.ones(n, dtype=bool)  # the members that are solved one by one
    if runs_in_one_kernel(model) and (tables is not None or not parameters):
        alone = unsound(model, t, y) | (tables.odd if tables is not None else False)
        _Kernel(model, tables, threads).run(t, y, ~alone, (u_dot, lam, success), block)
        alone |= ~success
    failures: dict[int, str] = {}

    def solve(first: int, last: int) -> None:
        for k in range(first, last):
            member = int(members[k])
            found = _solve_alone(model, parameters, member, float(t[member]), None if states is None else states[member])
            if isinstance(found, str):
                failures[member] = found
            else:
                u_dot[member], lam[member], success[member] = *found, True

    members = np.nonzero(alone)[0]
    for _ in in_blocks(len(members), 1, threads, solve):
        pass
    u_dot[success, 0] = 0.0  # the ground
    return BatchAccelerations(u_dot[:, :, :3], u_dot[:, :, 3:], lam, success, dict(sorted(failures.items())))


def runs_in_one_kernel(model: Model) -> bool:
    """Return whether the members need nothing of Python: no functions in Python, no multipliers of least norm."""
    callbacks = model.force_callbacks
    least_norm = bool(model.redundancy.dropped) and not isinstance(model.redundancy.rule, DropDependentRows)
    return (not callbacks.any or callbacks.compiled) and not least_norm


def unsound(model: Model, t: Array, y: Array) -> npt.NDArray[np.bool_]:
    """Return which states have a fault of their own, or may have one: a number that is not finite, |p| far from 1, a moved ground."""
    bodies = y[:, : WIDTH * (model.nb + 1)].reshape(len(y), -1, WIDTH)
    length = np.sqrt(np.einsum("kbi,kbi->kb", bodies[:, :, 3:7], bodies[:, :, 3:7]))
    still = (bodies[:, 0] == model.y0[:WIDTH]).all(axis=1)
    found: npt.NDArray[np.bool_] = ~(
        np.isfinite(t) & np.isfinite(y).all(axis=1) & (np.abs(length - 1.0) < 0.5 * UNIT_P_TOL).all(axis=1) & still
    )
    return found


def _solve_alone(model: Model, parameters: Sequence[Parameter], k: int, t: float, y: Array | None) -> tuple[Array, Array] | str:
    """Return u_dot and lam of member k as a single call gives them, or the reason why there are none."""
    try:
        own = variant_model(model, parameters, k)
        found = accelerations(own, own.state().replace(t=t) if y is None else State.from_y(t, y, model.nb + 1))
    except Exception as error:  # noqa: BLE001  whatever a user's function raises belongs to its member
        return f"{type(error).__name__}: {error}"
    return np.concatenate([found.v_dot, found.omega_bar_dot], axis=1), found.lam


class _Kernel:
    """The compiled loop over members, with a workspace and tables for each thread."""

    def __init__(self, model: Model, tables: DirectTables | None, threads: int) -> None:
        self.model, self.tables, self.threads = model, tables, threads
        self.places = np.zeros(0, dtype=np.int64) if tables is None else tables.places
        self.idle: SimpleQueue[Pack] = SimpleQueue()
        for _ in range(threads):
            self.idle.put(model.pack(own_tables(model.tables)))
        self.slots, self.fresh = model.slot_of_row.copy(), model.pack().work
        self.anew = bool(model.redundancy.dropped)  # the choice of the rows that are kept depends on the state before
        first = self.idle.get()
        _ = first.address  # compile, or load from disk, before threads begin
        self.idle.put(first)

    def run(self, t: Array, y: Array, taken: npt.NDArray[np.bool_], out: tuple[Array, Array, Any], block: int) -> None:
        """Solve for the members that are taken, and write to u_dot, lam and success."""
        self._solve(t[:0], y[:0], np.zeros((0, len(self.places))), out[0][:0], out[1][:0])

        def solve(first: int, last: int) -> None:
            at = slice(first, last)
            u_dot, lam, success = (x[at] for x in out)
            values = np.zeros((last - first, 0)) if self.tables is None else self.tables.values(first, last)
            if taken[at].all():
                success[:] = self._solve(t[at], y[at], values, u_dot, lam) == OK
            else:
                some = np.nonzero(taken[at])[0]
                u, multipliers = np.full((len(some), *u_dot.shape[1:]), np.nan), np.full((len(some), lam.shape[1]), np.nan)
                success[some] = self._solve(t[at][some], y[at][some], values[some], u, multipliers) == OK
                u_dot[some], lam[some] = u, multipliers

        for _ in in_blocks(len(t), block, self.threads, solve):
            pass

    def _solve(self, t: Array, y: Array, values: Array, u_dot: Array, lam: Array) -> Ints:
        """Return the codes of members."""
        codes = np.zeros(len(t), dtype=np.int64)
        pack = self.idle.get()
        members = Members(self.places, values, self.slots, self.fresh, self.anew)
        accelerate_members(pack, t, y, members, u_dot, lam, codes)
        self.idle.put(pack)
        return codes


def own_tables(tables: Tables) -> Tables:
    """Return the same tables with constants of their own, which may be changed."""
    own = Tables.__new__(Tables)
    own.ints, own.reals, own.work_size = tables.ints, tables.reals.copy(), tables.work_size
    return own
