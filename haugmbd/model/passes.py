"""Entries that Python calls to have a model evaluated, without solving anything."""

from __future__ import annotations

from haugmbd.algebra.jit import entry, kernel
from haugmbd.algebra.vec3 import Array
from haugmbd.model import tables as at
from haugmbd.model.loads import fill_loads
from haugmbd.model.motion import move
from haugmbd.model.status import OK
from haugmbd.model.tables import Pack, blocks, line, view
from haugmbd.primitives.base import RowTable
from haugmbd.primitives.catalogue import fill_rows


@kernel
def prepare(P: Pack, t: float, y: Array) -> int:
    """Compute markers, drivers, loads and rows of the state `y` at time `t`; 0, or the code of what went wrong."""
    m = move(P, t, y)
    code = fill_loads(P, m, y)
    if code == OK:
        fill_rows(
            P.fills,
            view(P.ints, P.ints, at.ROW_INTS),
            view(P.reals, P.ints, at.ROW_REALS),
            line(P.ints, P.ints, at.ROW_KIND_AT),
            m,
            RowTable(blocks(P.work, P.ints, at.J, 2, 6), view(P.work, P.ints, at.LEVEL)),
        )
    return code


@entry
def rows_entry(P: Pack, t: float, y: Array) -> int:
    """Leave rows, loads and drivers of the state `y` in the work room."""
    return prepare(P, t, y)
