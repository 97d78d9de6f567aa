"""All primitives there are: `KINDS`, in the order of the row tables, and `FILLS`, their kernels as routines.

A new primitive adds its module to `MODULES`: nothing that exists is compiled again, and a kind that a model does not use is never compiled.
"""

from __future__ import annotations

from collections import namedtuple
from typing import Any

from haugmbd.algebra.jit import inlined
from haugmbd.algebra.routine import F1, F2, F3, I1, I2, Routine, function_type, types
from haugmbd.algebra.vec3 import Array, Ints
from haugmbd.primitives import cd, d, dp1, dp2, rotation
from haugmbd.primitives.base import Motion, Primitive, RowTable

MODULES: tuple[tuple[type[Primitive], Any], ...] = (
    (dp1.DP1, dp1.fill),
    (dp2.DP2, dp2.fill),
    (d.D, d.fill),
    (cd.CD, cd.fill),
    (rotation.Rotation, rotation.fill),
)
KINDS: tuple[type[Primitive], ...] = tuple(kind for kind, _ in MODULES)

MOTION_TYPE = types.NamedTuple((types.float64, F2, F3, F1, I1, F2, F2), Motion)
FILL_SIGNATURE = types.void(I2, F2, MOTION_TYPE, types.NamedTuple((F3, F2), RowTable))
FILLS = tuple(Routine(fill, FILL_SIGNATURE) for _, fill in MODULES)
NO_FILL = Routine(None, FILL_SIGNATURE)

Fills = namedtuple("Fills", [kind.kind for kind in KINDS])  # type: ignore[misc]
"""One routine for each kind, as compiled code takes them (Numba warns of plain tuples of functions, not of named ones)."""
FILLS_TYPE = types.NamedUniTuple(function_type(FILL_SIGNATURE), len(KINDS), Fills)


@inlined
def fill_rows(fills: Any, ints: Ints, reals: Array, at: Ints, m: Motion, rows: RowTable) -> None:
    """Fill J and (Phi, nu, gamma) of every row; kind k stands in rows at[k] ... at[k + 1] - 1 of ints and reals."""
    for k in range(len(fills)):
        if at[k + 1] > at[k]:
            fills[k](ints[at[k] : at[k + 1]], reals[at[k] : at[k + 1]], m, rows)
