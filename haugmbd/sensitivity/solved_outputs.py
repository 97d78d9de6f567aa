r"""Outputs that follow from the solution of the equations of motion, and their derivatives in duals: accelerations, reactions, drivers.

    K (u', lam) = (Q, gamma)                at each state, in duals, by the kernels that carry the tangents along: (du', dlam), dPhi_q
    acceleration      r'' = u'_r            omega' = A u'_pi       point   r'' + A (u'_pi x s_bar + omega_bar x (omega_bar x s_bar))
    reaction          F = -Phi_r^T lam      n = -Phi_pi^T lam      T = A n - (A s_bar) x F         on body j, about the joint's point there
    driver            -lam

Each is a polynomial of numbers with known tangents: a complex step through it is exact.  No model beside the value is built for them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from haugmbd.compiled.array_types import Array, Ints
from haugmbd.diagnostics.histories import the_row
from haugmbd.diagnostics.joint_reactions import gears_on, place_on
from haugmbd.integrators.stick_slip.watched_quantities import may_stick
from haugmbd.math.body_columns import EULER, OMEGA_BAR, VELOCITY, WIDTH
from haugmbd.model.model import Model
from haugmbd.simulation.results.named_outputs import Output

KINDS = {
    "body": ("a", "omega_dot"),
    "point": ("a",),
    "reaction": ("force", "torque"),
    "driver": ("force", "torque"),
}
"""Outputs that are polynomials of the solution, by the kind of their part."""
TINY = 1e-30
"""Complex step."""


class Reads(NamedTuple):
    """What an output reads.  body: its number;  rows: of a reaction;  first: the first of its numbers among those that are kept"""

    body: int
    rows: int
    first: int


class SolvedOutputs:
    """The outputs of a design that follow from the solution, and what they read of a workspace.

    keep: (k,) the numbers in the workspace;  reads: what each output, by its number, reads of them
    """

    def __init__(self, model: Model, outputs: Sequence[Output]) -> None:
        self.reads: dict[int, Reads] = {}
        self._keep: list[int] = []
        if may_stick(model) or model.has_stops:  # the law of a state is not known by the state
            return
        for number, output in enumerate(outputs):
            if output.what not in KINDS.get(output.kind, ()) or len(output.component) != (output.kind != "driver"):
                continue
            reads = _of_rows(model, output) if output.kind in ("reaction", "driver") else _of_body(model, output)
            if reads is not None:
                body, rows, numbers = reads
                self.reads[number] = Reads(body, rows, len(self._keep))
                self._keep += numbers

    @property
    def keep(self) -> Ints:
        """Return the numbers of the workspace that are read."""
        return np.array(self._keep, dtype=np.int64)

    def slopes(self, number: int, output: Output, y: Array, dY: Array, kept: Array, point: Any) -> Array:
        """Return the derivatives (nt, n) of an output by parameters.

        y, dY: (nt, ny), (nt, n, ny);  kept: (nt, k, 1 + n) values and tangents of the numbers;  point: (n, 3) complex, the place on the
        body of a point, or of a joint
        """
        body, rows, first = self.reads[number]
        columns = slice(WIDTH * body, WIDTH * (body + 1))
        state = y[:, None, columns] + 1j * TINY * dY[..., columns]
        x = np.moveaxis(kept[..., :1] + 1j * TINY * kept[..., 1:], 1, 2)[..., first:]
        if output.kind == "driver":
            return np.asarray(-x[..., 0].imag / TINY)
        vector: Any
        A = _rotation(state[..., EULER:VELOCITY])
        if output.kind == "reaction":
            wrench = -np.einsum("tnk,tnka->tna", x[..., :rows], x[..., rows : 7 * rows].reshape(*x.shape[:2], rows, 6))
            force, torque = wrench[..., :3], np.einsum("tnij,tnj->tni", A, wrench[..., 3:])
            vector = force if output.what == "force" else torque - np.cross(np.einsum("tnij,nj->tni", A, point), force)
        elif output.kind == "point":
            turn, spin = x[..., 3:6], state[..., OMEGA_BAR:]
            across = np.cross(turn, point[None]) + np.cross(spin, np.cross(spin, point[None]))
            vector = x[..., :3] + np.einsum("tnij,tnj->tni", A, across)
        else:
            vector = x[..., :3] if output.what == "a" else np.einsum("tnij,tnj->tni", A, x[..., 3:6])
        return np.asarray(vector[..., output.component[0]].imag / TINY)


def _of_body(model: Model, output: Output) -> tuple[int, int, list[int]] | None:
    """Return body, no rows and the places of u' in the workspace; None for the ground."""
    body, (start, _, columns) = model.body_names.index(output.owner), model.tables.place("SOLUTION")
    return (body, 0, [start + columns * body + a for a in range(6)]) if body else None


def _of_rows(model: Model, output: Output) -> tuple[int, int, list[int]] | None:
    """Return body j, the number of rows, and the places of their multipliers and of their derivatives by the body; None for others.

    Gears with tooth forces, and their bearings, have reactions of their own.
    """
    entry = model.joints.get(output.owner)
    if entry is None or entry.part.tooth_contact() is not None or gears_on(model, entry):
        return None
    (start, _, columns), (of_J, _, width) = model.tables.place("SOLUTION"), model.tables.place("J")
    multipliers = start + columns * (model.nb + 1)
    if output.kind == "driver":
        row = the_row(model, output.owner)
        return None if model.labels[row].unit == "m2" else (0, 1, [multipliers + int(model.slot_of_row[row])])
    body, edges = place_on(entry, "j", model.body_names).body, model.tables["EDGES"]
    slots = [int(model.slot_of_row[row]) for row in entry.rows]
    sides = [np.flatnonzero(edges[slot // 6] == body) for slot in slots]
    if not body or any(len(side) != 1 for side in sides):
        return None
    jacobian = [of_J + width * slot + 6 * int(side[0]) + a for slot, side in zip(slots, sides, strict=True) for a in range(6)]
    return body, len(slots), [multipliers + slot for slot in slots] + jacobian


def _rotation(p: Any) -> Any:
    """Return A (..., 3, 3) of Euler parameters (..., 4), of length one, which may be complex."""
    e0, e1, e2, e3 = (p[..., k] for k in range(4))
    rows = [
        [e0 * e0 + e1 * e1 - e2 * e2 - e3 * e3, 2.0 * (e1 * e2 - e0 * e3), 2.0 * (e1 * e3 + e0 * e2)],
        [2.0 * (e1 * e2 + e0 * e3), e0 * e0 - e1 * e1 + e2 * e2 - e3 * e3, 2.0 * (e2 * e3 - e0 * e1)],
        [2.0 * (e1 * e3 - e0 * e2), 2.0 * (e2 * e3 + e0 * e1), e0 * e0 - e1 * e1 - e2 * e2 + e3 * e3],
    ]
    return np.stack([np.stack(row, axis=-1) for row in rows], axis=-2)
