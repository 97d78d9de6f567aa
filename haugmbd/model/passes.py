"""Entries that Python calls to have a model evaluated, without solving anything."""

from __future__ import annotations

from haugmbd.algebra.jit import entry, inlined
from haugmbd.algebra.vec3 import Array
from haugmbd.model import tables as at
from haugmbd.model.loads import fill_loads
from haugmbd.model.motion import move
from haugmbd.model.tables import Pack, blocks, line, view
from haugmbd.primitives.base import Motion, RowTable
from haugmbd.primitives.catalogue import fill_rows


@inlined
def rows_of(P: Pack) -> RowTable:
    """The room of the rows."""
    return RowTable(blocks(P.work, P.ints, at.J, 2, 6), view(P.work, P.ints, at.LEVEL))


@inlined
def fill_all_rows(P: Pack, m: Motion) -> None:
    """Phi, nu, gamma, Phi_r and PiBar of every row at the motion `m`."""
    fill_rows(
        P.fills,
        view(P.ints, P.ints, at.ROW_INTS),
        view(P.reals, P.ints, at.ROW_REALS),
        line(P.ints, P.ints, at.ROW_KIND_AT),
        m,
        rows_of(P),
    )


@entry
def rows_entry(P: Pack, t: float, y: Array) -> int:
    """Leave rows, loads and drivers of the state `y` in the work room; 0, or the code of what went wrong."""
    m = move(P, t, y)
    code = fill_loads(P, m, y)
    if code == 0:
        fill_all_rows(P, m)
    return code
