"""Functions of joint coordinates that are given by a table: the states in which a motion leaves it."""

from __future__ import annotations

import numpy as np

from haugmbd.compiled.array_types import Array
from haugmbd.constraints.coordinate import Coordinate
from haugmbd.constraints.coordinate_function import CoordinateFunctionRow
from haugmbd.errors import Fault
from haugmbd.math.euler_parameters import rotation_matrix
from haugmbd.model.identity import number_of
from haugmbd.model.model import Model
from haugmbd.workspace.layout import WIDTH

PROFILE_TOL = 1e-9
"""Part of the range of a table by which a coordinate may leave it: the rounding of a motion that reaches its end."""


def profile_faults(model: Model, y: Array) -> tuple[Fault, ...]:
    """Return one fault for each function of a joint coordinate whose table the states y (nt, ny) leave."""
    found = []
    for label in model.labels:
        row = label.primitive
        if not isinstance(row, CoordinateFunctionRow) or not np.isfinite(row.q_range).any():
            continue
        (low, high), q, unit = row.q_range, coordinate_history(model, row.a, y), "rad" if row.a.turns else "m"
        beyond = np.maximum(low - q, q - high)
        if beyond.max() > PROFILE_TOL * (high - low):
            what = (
                f"{row.a.label} = {q[beyond.argmax()]:.6g} {unit} leaves the table of the function, {low:.6g} .. {high:.6g} {unit}"
            )
            remedy = "Give a table over the whole motion, or a limit that keeps the motion in it."
            found.append(Fault(f"joint {label.joint!r}", what, remedy))
    return tuple(found)


def coordinate_history(model: Model, q: Coordinate, y: Array) -> Array:
    """Return the values [rad or m], (nt,), of a coordinate of a coupling in the states y (nt, ny)."""
    first = WIDTH * (model.nb + 1)
    for coordinate, k in model.angles:
        if coordinate.key == q.key:
            return y[:, first + k]
    (a, h), (b, P), (c, Q) = q.markers()
    at = [y[:, WIDTH * n : WIDTH * (n + 1)] for n in (number_of(model, body) for body in (a, b, c))]
    x = [np.einsum("tij,j->ti", rotation_matrix(s[:, 3:7]), x_bar) for s, x_bar in zip(at, (h, P, Q), strict=True)]
    d = at[2][:, :3] + x[2] - at[1][:, :3] - x[1]
    values: Array = np.einsum("ti,ti->t", x[0], d) - q.modelled() + q.q0
    return values
