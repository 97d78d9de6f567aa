r"""Turns of joints that are no longer known: the integrated angle, which counts them, has left the orientation of the bodies.

    gap = q - near        q = alpha - alpha_0 + q_0 + 2 pi k of the orientations, the nearest to the integrated angle `near`

Both are integrated with the motion, and differ by the error of the method. At pi the turn k would change without a trace in any equation,
and the rows of a coupling would be fulfilled a turn away. Orientations are lost by methods whose steps turn a body by much more than a
radian. In long runs both drift apart by small errors: then the integrated angle continues from q, whose turns are known.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from haugmbd.bodies.body import Body
from haugmbd.bodies.validation import for_kernels
from haugmbd.compiled.array_types import Array, Ints
from haugmbd.compiled.jit import DirectCall, entry
from haugmbd.constraints.coordinate import nearest
from haugmbd.math.arctangent import arctan2
from haugmbd.math.euler_kernels import put_rotation
from haugmbd.math.vec3 import dot, load, to_global
from haugmbd.model.immutable import once_per_model
from haugmbd.model.model import Model
from haugmbd.workspace.layout import WIDTH

LARGEST_GAP = 2.0
"""[rad] Two thirds of the way to another turn. Angles that are integrated with any accuracy agree by much less."""
DRIFTED = 1.0
"""[rad] A gap above it is removed, if many small errors have made it."""


class CountedAngles(NamedTuple):
    """The angles whose turns a model counts, by their labels.

    places: (m, 4) bodies of e, n and v, and the column of the integrated angle;  vectors: (m, 9) e, n and v, body frames
    offsets: (m,) alpha_0 - q_0 [rad]
    """

    labels: tuple[str, ...]
    places: Ints
    vectors: Array
    offsets: Array


@once_per_model
def counted_angles(model: Model) -> CountedAngles:
    """Return the angles of couplings, of forces along joint coordinates, and of rotational springs."""
    number, first = {body: k for k, body in enumerate(model.bodies)}, WIDTH * (model.nb + 1)
    labels, places, vectors, offsets = list[str](), list[list[int]](), list[Array](), list[float]()

    def put(label: str, markers: tuple[tuple[Body, Array], ...], column: int, offset: float) -> None:
        labels.append(label)
        places.append([*(number[body] for body, _ in markers), first + column])
        vectors.append(np.concatenate([x for _, x in markers]))
        offsets.append(offset)

    for q, column in model.angles:
        put(q.label, q.markers(), column, q.modelled() - q.q0)
    for entry_of in model.loads:
        if entry_of.load.turn_markers():
            put(entry_of.load.name, entry_of.load.turn_markers(), entry_of.angle, 0.0)
    shape = len(labels), -1
    return CountedAngles(
        tuple(labels),
        np.array(places, dtype=np.int64).reshape(len(labels), 4),
        np.array(vectors, dtype=np.float64).reshape(shape) if labels else np.zeros((0, 9)),
        np.array(offsets, dtype=np.float64),
    )


@entry
def gaps_entry(y: Array, places: Ints, vectors: Array, offsets: Array, A: Array, limit: float, out: Array) -> int:
    """Write the gaps at the first state y (n, ny) at which one exceeds the limit to out (m,); return its number, -1 for none.

    A: (3, 3, 3) room for three rotation matrices
    """
    for row in range(y.shape[0]):
        far = False
        for k in range(places.shape[0]):
            for side in range(3):
                p = WIDTH * places[k, side] + 3
                put_rotation(A, side, y[row, p], y[row, p + 1], y[row, p + 2], y[row, p + 3])
            e, n, v = (
                to_global(A, 0, load(vectors, k, 0)),
                to_global(A, 1, load(vectors, k, 3)),
                to_global(A, 2, load(vectors, k, 6)),
            )
            near = y[row, places[k, 3]]
            q = arctan2(dot(n, v), dot(e, v)) - offsets[k]
            out[k] = nearest(q, near) - near
            far = far or abs(out[k]) > limit
        if far:
            return row
    return -1


_find_gaps = DirectCall(gaps_entry)


@once_per_model
def counts_turns(model: Model) -> bool:
    """Return whether the state of a model has integrated angles."""
    return bool(model.angles) or any(one.load.turn_markers() for one in model.loads)


def gaps_beyond(model: Model, y: Array, limit: float) -> tuple[int, Array] | None:
    """Return the number of the first of the states y (nt, ny) with a gap above a limit [rad], and all its gaps; None if there is none."""
    angles = counted_angles(model)
    gaps = np.zeros(len(angles.labels))
    row = _find_gaps(for_kernels(y), angles.places, angles.vectors, angles.offsets, np.zeros((3, 3, 3)), limit, gaps)
    return None if row < 0 else (row, gaps)


def lost_turn(model: Model, t: Array, y: Array) -> tuple[int, str] | None:
    """Return the first of the states y (nt, ny) at t (nt,) at which an angle of a coupling, load or spring has left its orientation.

    With it which angle, and what to do; None if there is none.
    """
    found = gaps_beyond(model, y, LARGEST_GAP) if len(t) and counts_turns(model) else None
    if found is None:
        return None
    row, gaps = found
    k = int(np.abs(gaps).argmax())
    return row, (
        f"the turn of {counted_angles(model).labels[k]} is not known any more at t = {t[row]:.6g} s: the angle that the state integrates "
        f"and the orientation of the bodies are {abs(gaps[k]):.3g} rad apart, and whole turns could be lost. The steps are too long for "
        "the speed at which bodies turn: give h for less than 0.5 rad in a step, or rtol= (a smaller one); or use RKMK4 or "
        "GeneralizedAlpha, which turn on the group."
    )


def without_drift(model: Model, y: Array) -> tuple[int, Array] | None:
    """Return the first of the states y (nt, ny) whose integrated angles have drifted, and this state (ny,) with those of its orientations.

    None if there is none.
    """
    found = gaps_beyond(model, y, DRIFTED) if len(y) and counts_turns(model) else None
    if found is None:
        return None
    row, gaps = found
    state = y[row].copy()
    state[counted_angles(model).places[:, 3]] += gaps
    return row, state
