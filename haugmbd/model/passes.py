"""Entries that Python calls to have a model evaluated, without solving anything."""

from __future__ import annotations

from haugmbd.algebra.jit import entry, inlined
from haugmbd.algebra.routine import Routine
from haugmbd.algebra.vec3 import Array
from haugmbd.model import accessors as ws
from haugmbd.model.loads import fill_loads
from haugmbd.model.motion import move
from haugmbd.model.status import OK
from haugmbd.model.tables import PREPARE_SIGNATURE, Core, Pack
from haugmbd.primitives.base import RowTable
from haugmbd.primitives.catalogue import fill_rows


@entry
def prepare_entry(P: Core, t: float, y: Array) -> int:
    """Compute markers, drivers, loads and rows of the state `y` at time `t`; 0, or the code of what went wrong."""
    m = move(P, t, y)
    code = fill_loads(P, m, y)
    if code == OK:
        fill_rows(
            P.fills,
            ws.row_ints(P),
            ws.row_reals(P),
            ws.row_kind_starts(P),
            m,
            RowTable(ws.jacobian(P), ws.row_values(P)),
        )
    return code


PREPARE = Routine(prepare_entry, PREPARE_SIGNATURE)


@inlined
def prepare(P: Pack, t: float, y: Array) -> int:
    """The same for compiled code, by address: it is compiled once, however many entries ask for it."""
    return P.prepare(Core(P.ints, P.reals, P.work, P.drive, P.apply, P.asked, P.fills), t, y)


def rows_entry(pack: Pack, t: float, y: Array) -> int:
    """The same for Python: leave rows, loads and drivers of the state `y` in the work room."""
    core = Core(pack.ints, pack.reals, pack.work, pack.drive, pack.apply, pack.asked, pack.fills)
    return prepare_entry(core, t, y)
