"""Entries that evaluate a model without solving for accelerations."""

from __future__ import annotations

from typing import Any

from haugmbd.compiled.array_types import Array
from haugmbd.compiled.function_pointers import Routine
from haugmbd.compiled.jit import DirectCall, entry, inlined, kernel
from haugmbd.compiled.status_codes import OK
from haugmbd.constraints.base import Motion, RowTable
from haugmbd.constraints.equations.hinge import assemble_hinges, measure_hinges
from haugmbd.constraints.registry import assemble_rows
from haugmbd.friction.routine import PREPARE as PREPARE_FRICTION
from haugmbd.kkt.coupled_coordinates import assemble_couplings, measure_couplings
from haugmbd.model.generalized_forces import add_loads_to_forces
from haugmbd.workspace import accessors as ws
from haugmbd.workspace.body_kinematics import move
from haugmbd.workspace.layout import PREPARE_SIGNATURE, Pack


@entry
def prepare_entry(P: Pack, t: float, y: Array) -> int:
    """Compute markers, drivers, loads and rows of the state `y` at time `t`; 0, or the code of what went wrong."""
    return prepared(P, t, y, assemble_single_rows)


@entry
def prepare_with_hinges_entry(P: Pack, t: float, y: Array) -> int:
    """Evaluate as `prepare_entry` does, for a model with hinges, whose five rows are written at once."""
    return prepared(P, t, y, assemble_rows_with_hinges)


@entry
def prepare_stage_with_hinges_entry(P: Pack, t: float, y: Array) -> int:
    """Evaluate a stage of a model with hinges, solved by the recursion over a forest: the rows of hinges are not written."""
    return prepared(P, t, y, assemble_rows_beside_hinges)


@entry
def prepare_with_couplings_entry(P: Pack, t: float, y: Array) -> int:
    """Evaluate as `prepare_entry` does, for a model with couplings embedded in a forest: each coordinate is evaluated once."""
    return prepared(P, t, y, assemble_rows_with_couplings)


@entry
def prepare_stage_with_couplings_entry(P: Pack, t: float, y: Array) -> int:
    """Evaluate a stage of a model with embedded couplings: their rows and those of hinges are not written."""
    return prepared(P, t, y, assemble_rows_beside_couplings)


@inlined
def prepared(P: Pack, t: float, y: Array, assemble: Any) -> int:
    """Evaluate the state, with the kernel `assemble(P, m)` for the rows."""
    m = move(P, t, y)
    code = add_loads_to_forces(P, m, y)
    if code == OK:
        assemble(P, m)
        if ws.n_frictions(P) > 0:
            code = P.friction(PREPARE_FRICTION, t, P, y)
    return code


@inlined
def rows_of(P: Pack) -> RowTable:
    """Return where rows are written."""
    return RowTable(ws.jacobian(P), ws.row_values(P), ws.tape_room(P))


@inlined
def assemble_single_rows(P: Pack, m: Motion) -> None:
    """Fill the rows that are written one by one."""
    assemble_rows(P.fills, ws.row_ints(P), ws.row_reals(P), ws.row_kind_starts(P), ws.row_kind_ends(P), m, rows_of(P))


@inlined
def assemble_rows_with_hinges(P: Pack, m: Motion) -> None:
    """Fill the rows that are written one by one, and the rows of hinges."""
    assemble_single_rows(P, m)
    assemble_hinges(ws.hinges(P), m, rows_of(P))


@inlined
def assemble_rows_beside_hinges(P: Pack, m: Motion) -> None:
    """Fill the rows that are written one by one; of hinges write Phi, nu and gamma only."""
    assemble_single_rows(P, m)
    measure_hinges(ws.hinges(P), m, rows_of(P))


@inlined
def assemble_rows_with_couplings(P: Pack, m: Motion) -> None:
    """Fill the rows that are written one by one, and the rows of hinges and embedded couplings."""
    assemble_rows_with_hinges(P, m)
    assemble_couplings(P, m, rows_of(P))


@inlined
def assemble_rows_beside_couplings(P: Pack, m: Motion) -> None:
    """Fill the rows that are written one by one; of hinges and embedded couplings write Phi, nu and gamma only."""
    assemble_rows_beside_hinges(P, m)
    measure_couplings(P, m, rows_of(P))


PREPARE = Routine(prepare_entry, PREPARE_SIGNATURE)
PREPARE_WITH_HINGES = Routine(prepare_with_hinges_entry, PREPARE_SIGNATURE)
PREPARE_STAGE_WITH_HINGES = Routine(prepare_stage_with_hinges_entry, PREPARE_SIGNATURE)
PREPARE_WITH_COUPLINGS = Routine(prepare_with_couplings_entry, PREPARE_SIGNATURE)
PREPARE_STAGE_WITH_COUPLINGS = Routine(prepare_stage_with_couplings_entry, PREPARE_SIGNATURE)


@kernel
def prepare(P: Pack, t: float, y: Array) -> int:
    """Evaluate as `prepare_entry`, called by address from compiled code: it is compiled once for all entries."""
    return P.prepare(P, t, y)


@entry
def rows_entry(P: Pack, t: float, y: Array) -> int:
    """Leave rows, loads and drivers of the state `y` in the workspace; called from Python."""
    return prepare(P, t, y)


evaluate_rows = DirectCall(rows_entry)
