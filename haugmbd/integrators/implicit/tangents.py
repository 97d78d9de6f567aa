r"""The tangents of all forces of a model in an implicit step: c_u C + c_q K, by formula or by differences.

A routine of its own, so that a model without forces never compiles it.
"""

from __future__ import annotations

from haugmbd.algebra.jit import entry, kernel
from haugmbd.algebra.routine import F1, Routine, types
from haugmbd.algebra.vec3 import Array
from haugmbd.forces.catalogue import stiffen_loads
from haugmbd.integrators.implicit.probing import probe
from haugmbd.model import tables as at
from haugmbd.model.loads import clear
from haugmbd.model.motion import look
from haugmbd.model.status import OK
from haugmbd.model.tables import PACK_TYPE, Pack, line, view

C_Q, C_U, CURVED = 0, 1, 2
"""In the numbers of a stage: c_q, c_u, and 1 for the curvature of the constraints."""


@entry
def put_tangents(P: Pack, numbers: Array, t: float, y: Array) -> int:
    """c_u C + c_q K of all forces: by formula, and by differences where there is none."""
    put_formulas(P, numbers, t, y)
    if view(P.ints, P.ints, at.PROBED)[0, 0] == 0:
        return OK
    return probe(P, numbers[C_Q], numbers[C_U], numbers[CURVED] == 1.0, t, y)


@kernel
def put_formulas(P: Pack, numbers: Array, t: float, y: Array) -> None:
    """The same of springs and dampers."""
    own, tied = view(P.work, P.ints, at.TANGENT), view(P.work, P.ints, at.TIE_TANGENT)
    clear(own)
    clear(tied)
    if P.ints[3 * at.LOAD_INTS + 1] > 0:
        ints, kinds, reals = (
            view(P.ints, P.ints, at.LOAD_INTS),
            line(P.ints, P.ints, at.LOAD_KIND_AT),
            view(P.reals, P.ints, at.LOAD_REALS),
        )
        ties = view(P.ints, P.ints, at.TIES)
        m = look(P, t, y)
        stiffen_loads(ints, reals, kinds, m, numbers[C_Q], numbers[C_U], line(P.ints, P.ints, at.LOAD_TIE), ties, own, tied)


TANGENTS_SIGNATURE = types.int64(PACK_TYPE, F1, types.float64, F1)
TANGENTS = Routine(put_tangents, TANGENTS_SIGNATURE)
NO_TANGENTS = Routine(None, TANGENTS_SIGNATURE)
