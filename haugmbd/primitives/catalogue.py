"""All primitives there are: `KINDS` in the order of the row tables, and the kernel that fills every row.

A new primitive adds its class to `KINDS` and its `fill` to `fill_rows`, at the same place.
"""

from __future__ import annotations

from haugmbd.algebra.jit import inlined, kernel
from haugmbd.algebra.vec3 import Array, Ints
from haugmbd.primitives import cd, d, dp1, dp2, rotation
from haugmbd.primitives.base import Motion, Primitive, RowTable

KINDS: tuple[type[Primitive], ...] = (dp1.DP1, dp2.DP2, d.D, cd.CD, rotation.Rotation)


@inlined
def fill_rows(ints: Ints, reals: Array, at: Ints, m: Motion, rows: RowTable) -> None:
    """Fill J and (Phi, nu, gamma) of every row; kind k stands in rows at[k] ... at[k + 1] - 1 of ints and reals."""
    dp1.fill(ints[at[0] : at[1]], reals[at[0] : at[1]], m, rows)
    dp2.fill(ints[at[1] : at[2]], reals[at[1] : at[2]], m, rows)
    d.fill(ints[at[2] : at[3]], reals[at[2] : at[3]], m, rows)
    cd.fill(ints[at[3] : at[4]], reals[at[3] : at[4]], m, rows)
    rotation.fill(ints[at[4] : at[5]], reals[at[4] : at[5]], m, rows)
