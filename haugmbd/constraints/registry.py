"""All constraint equations: `ROW_KINDS`, in the order of the row tables, and `ASSEMBLERS`, their kernels as routines.

A new equation adds its module to `MODULES`. Existing code is not compiled again, and a kind that a model does not use is never compiled.
"""

from __future__ import annotations

from collections import namedtuple
from typing import Any

from haugmbd.compiled.array_types import Array, Ints
from haugmbd.compiled.function_pointers import F1, F2, F3, I1, I2, Routine, function_type, types
from haugmbd.compiled.jit import inlined
from haugmbd.constraints.base import Motion, Primitive, RowTable
from haugmbd.constraints.equations import (
    cd,
    constant_velocity,
    coordinate_function,
    coupling,
    curve,
    d,
    dp1,
    dp2,
    pose,
    rolling,
    rolling_curved,
    rolling_on_curve,
    rope,
    rotation,
)

MODULES: tuple[tuple[type[Primitive], Any], ...] = (
    (dp1.DP1, dp1.assemble_row),
    (dp2.DP2, dp2.assemble_row),
    (d.D, d.assemble_row),
    (cd.CD, cd.assemble_row),
    (rotation.Rotation, rotation.assemble_row),
    (constant_velocity.ConstantVelocityRow, constant_velocity.assemble_row),
    (coupling.CouplingRow, coupling.assemble_row),
    (coordinate_function.CoordinateFunctionRow, coordinate_function.assemble_row),
    (curve.PointOnCurveRow, curve.assemble_row),
    (rolling.DiscOnPlane, rolling.assemble_disc),
    (rolling.Slip, rolling.assemble_slip),
    (rolling.KnifeEdgeRow, rolling.assemble_knife_edge),
    (rope.RopeRow, rope.assemble_row),
    (pose.PoseRow, pose.assemble_row),
    (rolling_curved.AxisDistance, rolling_curved.assemble_distance),
    (rolling_curved.CurvedSlip, rolling_curved.assemble_slip),
    (rolling_on_curve.CurveDistance, rolling_on_curve.assemble_distance),
    (rolling_on_curve.CurveSlip, rolling_on_curve.assemble_slip),
)
ROW_KINDS: tuple[type[Primitive], ...] = tuple(kind for kind, _ in MODULES)

MOTION_TYPE = types.NamedTuple((types.float64, F2, F3, F1, I1, F2, F2), Motion)
KINDS = (dp1.DP1, dp2.DP2, d.D, cd.CD, rotation.Rotation, constant_velocity.ConstantVelocityRow)
"""The equations between two bodies, which are built from points and vectors of these."""

COUPLINGS, COORDINATE_FUNCTIONS = ROW_KINDS.index(coupling.CouplingRow), ROW_KINDS.index(coordinate_function.CoordinateFunctionRow)
ROPES = ROW_KINDS.index(rope.RopeRow)
"""Numbers of the kinds of rows whose lines say which angles are integrated."""

ASSEMBLER_SIGNATURE = types.void(I2, F2, MOTION_TYPE, types.NamedTuple((F3, F2, F2), RowTable))
ASSEMBLERS = tuple(Routine(fill, ASSEMBLER_SIGNATURE) for _, fill in MODULES)
NO_ASSEMBLER = Routine(None, ASSEMBLER_SIGNATURE)

Assemblers = namedtuple("Assemblers", [kind.kind for kind in ROW_KINDS])  # type: ignore[misc]
"""One routine for each kind, as compiled code takes them (Numba warns of plain tuples of functions, not of named ones)."""
ASSEMBLERS_TYPE = types.NamedUniTuple(function_type(ASSEMBLER_SIGNATURE), len(ROW_KINDS), Assemblers)


def assemblers(counts: Ints) -> Any:
    """Return the routines of the kinds of which there are rows;  counts: (kinds,)."""
    return Assemblers(*(fill if n else NO_ASSEMBLER for fill, n in zip(ASSEMBLERS, counts, strict=True)))


@inlined
def assemble_rows(fills: Any, ints: Ints, reals: Array, starts: Ints, ends: Ints, m: Motion, rows: RowTable) -> None:
    """Fill J and (Phi, nu, gamma) of every row; the rows of kind k are starts[k] ... ends[k] - 1 of ints and reals."""
    for k in range(len(fills)):
        if ends[k] > starts[k]:
            fills[k](ints[starts[k] : ends[k]], reals[starts[k] : ends[k]], m, rows)
