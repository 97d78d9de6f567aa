"""Functions of joint coordinates that are given by a table, and open curves: the states in which a motion leaves them."""

from __future__ import annotations

import numpy as np

from haugmbd.compiled.array_types import Array
from haugmbd.constraints.coordinate import Coordinate
from haugmbd.constraints.equations.coordinate_function import CoordinateFunctionRow
from haugmbd.constraints.equations.curve import PointOnCurveRow
from haugmbd.errors import Fault
from haugmbd.math.body_columns import EULER, VELOCITY
from haugmbd.math.euler_parameters import rotation_matrix
from haugmbd.model.immutable import once_per_model
from haugmbd.model.inspection.identity import number_of
from haugmbd.model.model import Model
from haugmbd.workspace.layout import WIDTH

PROFILE_TOL = 1e-9
"""Part of the range of a table by which a coordinate may leave it: the rounding of a motion that reaches its end."""


def profile_faults(model: Model, y: Array) -> tuple[Fault, ...]:
    """Return one fault for each function of a joint coordinate whose table, and each curve whose ends, the states y (nt, ny) leave."""
    found: list[Fault] = []
    for joint, row in _rows_with_ends(model):
        if isinstance(row, PointOnCurveRow):
            found += _beyond_ends(model, joint, row, y)
            continue
        (low, high), q, unit = row.q_range, coordinate_history(model, row.a, y), "rad" if row.a.turns else "m"
        beyond = np.maximum(low - q, q - high)
        if beyond.max() > PROFILE_TOL * (high - low):
            first = int(np.argmax(beyond > PROFILE_TOL * (high - low)))
            what = f"{row.a.label} = {q[first]:.6g} {unit} leaves the table of the function, {low:.6g} .. {high:.6g} {unit}"
            remedy = "Give a table over the whole motion, or a limit that keeps the motion in it."
            found.append(Fault(f"joint {joint!r}", what, remedy))
    return tuple(dict.fromkeys(found))


def has_ranges(model: Model) -> bool:
    """Return whether a motion can leave a table of a function, or a curve."""
    return bool(_rows_with_ends(model))


@once_per_model
def _rows_with_ends(model: Model) -> list[tuple[str, PointOnCurveRow | CoordinateFunctionRow]]:
    """Return the rows of curves, and of functions that are given over a range, with their joints."""
    if not model.has_rows_of(PointOnCurveRow, CoordinateFunctionRow):
        return []
    rows = ((label.joint, label.primitive) for label in model.labels)
    ended = [(joint, row) for joint, row in rows if isinstance(row, PointOnCurveRow | CoordinateFunctionRow)]
    return [(joint, row) for joint, row in ended if isinstance(row, PointOnCurveRow) or np.isfinite(row.q_range).any()]


def _beyond_ends(model: Model, joint: str, row: PointOnCurveRow, y: Array) -> list[Fault]:
    """Return a fault if the point leaves an open curve in the states y (nt, ny)."""
    if row.period > 0.0:
        return []
    (i, j), (_, (_, s_bar)) = (number_of(model, body) for body in (row.i, row.j)), row.markers()
    at_i, at_j = (y[:, WIDTH * k : WIDTH * (k + 1)] for k in (i, j))
    d = at_j[:, :3] + rotation_matrix(at_j[:, EULER:VELOCITY]) @ s_bar - at_i[:, :3]
    s = row.parameters(np.einsum("tji,tj->ti", rotation_matrix(at_i[:, EULER:VELOCITY]), d))
    low, high = row.breakpoints[[0, -1]].tolist()
    beyond = np.maximum(low - s, s - high)
    if beyond.max() <= PROFILE_TOL * (high - low):
        return []
    first = int(np.argmax(beyond > PROFILE_TOL * (high - low)))
    end = "start" if s[first] < low else "end"
    what = f"the point leaves the curve, which is {high - low:.6g} m long, by {beyond[first]:.6g} m at its {end}"
    return [Fault(f"joint {joint!r}", what, "Give a longer curve, or stops that keep the point on it; closed=True joins the ends.")]


def coordinate_history(model: Model, q: Coordinate, y: Array) -> Array:
    """Return the values [rad or m], (nt,), of a coordinate of a coupling in the states y (nt, ny)."""
    first = WIDTH * (model.nb + 1)
    for coordinate, k in model.angles:
        if coordinate.key == q.key:
            return y[:, first + k]
    (a, h), (b, P), (c, Q) = q.markers()
    at = [y[:, WIDTH * n : WIDTH * (n + 1)] for n in (number_of(model, body) for body in (a, b, c))]
    x = [np.einsum("tij,j->ti", rotation_matrix(s[:, EULER:VELOCITY]), x_bar) for s, x_bar in zip(at, (h, P, Q), strict=True)]
    d = at[2][:, :3] + x[2] - at[1][:, :3] - x[1]
    values: Array = np.einsum("ti,ti->t", x[0], d) - q.modelled() + q.q0
    return values
