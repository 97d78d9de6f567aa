"""A model with a fault: its rows and forces are evaluated with one thing wrong, while the block of its context lasts.

    WRONG_GAMMA_SIGN          gamma <- -gamma
    MISSING_FACTOR_2          DP1: - a_i' . a_j' in place of - 2 a_i' . a_j';   DP2: - a_i' . d_ij';   D: - d_ij' . d_ij'
    WORLD_INERTIA             A J_bar A^T in place of J_bar, in M and in omega_bar x J_bar omega_bar
    NO_GYROSCOPIC_TERM        omega_bar x J_bar omega_bar is left out
    TRANSPOSED_A              A^T in place of A
    FORGOTTEN_NORMALIZATION   A = E G^T without the division by |p|^2, for p of another length than 1
    WRONG_PIBAR               A PiBar in place of PiBar: moments in global axes where the body's are wanted

The number of the fault and its parameter follow the constants of the model, in an array of its own.

Integrators and formulations evaluate what is wrong, in this model alone. `evaluate`, with which initial states are checked, stays right:
otherwise runs with some faults would not begin.
Source: Haug (2021), spatial kinematics and the Newton-Euler equations; the faults are those that students make.
"""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from typing import Any

import numpy as np

from haugmbd.compiled.array_types import Array
from haugmbd.compiled.function_pointers import Routine
from haugmbd.compiled.jit import entry, kernel
from haugmbd.compiled.status_codes import OK
from haugmbd.constraints.base import FIRST_MARKER, SLOT, Motion, RowTable, distance_rate, rate
from haugmbd.constraints.registry import assemble_rows, assemblers
from haugmbd.errors import UsageError
from haugmbd.kkt.coupled_coordinates import measure_angles
from haugmbd.math.vec3 import dot, load, store, to_global
from haugmbd.model.generalized_forces import add_loads_to_forces
from haugmbd.model.model import Model
from haugmbd.workspace import accessors as ws
from haugmbd.workspace.body_kinematics import move, put_angular_velocities, put_markers
from haugmbd.workspace.layout import PREPARE_SIGNATURE, Pack, Tables

(
    WRONG_GAMMA_SIGN,
    MISSING_FACTOR_2,
    WORLD_INERTIA,
    NO_GYROSCOPIC_TERM,
    TRANSPOSED_A,
    FORGOTTEN_NORMALIZATION,
    WRONG_PIBAR,
) = range(7)

OF_DP1, OF_DP2, OF_D = 0, 1, 2
"""Numbers of the kinds of rows with a mixed product of velocities, in the order of the registry."""


@entry
def broken_prepare_entry(P: Pack, t: float, y: Array) -> int:
    """Evaluate as `prepare_entry`, with the fault of the model; 0, or the code of what went wrong."""
    fault, parameter = P.reals[P.reals.size - 2], P.reals[P.reals.size - 1]
    m = move(P, t, y)
    if fault == TRANSPOSED_A:
        transpose_rotations(m.A)
        put_angular_velocities(m.bodies, m.A, ws.angular_velocities(P))
        put_markers(m.body_of, ws.marker_coordinates(P), ws.angular_velocities(P), m.A, m.X)
    elif fault == FORGOTTEN_NORMALIZATION:
        scale_rotations(m.A, parameter)
        put_markers(m.body_of, ws.marker_coordinates(P), ws.angular_velocities(P), m.A, m.X)
    code = add_loads_to_forces(P, m, y)
    if code != OK:
        return code
    starts = ws.row_kind_starts(P)
    rows = RowTable(ws.jacobian(P), ws.row_values(P), ws.tape_room(P))
    assemble_rows(P.fills, ws.row_ints(P), ws.row_reals(P), starts, starts[1:], m, rows)
    measure_angles(P, m)
    if fault == WRONG_GAMMA_SIGN:
        turn_gamma(ws.row_values(P))
    elif fault == MISSING_FACTOR_2:
        halve_mixed_products(P, m)
    elif fault == WORLD_INERTIA:
        use_world_inertia(P, m)
    elif fault == NO_GYROSCOPIC_TERM:
        add_gyroscopic_torques(ws.inertia(P), m.bodies, ws.generalized_forces(P), 1.0)
    elif fault == WRONG_PIBAR:
        turn_moments(P, m)
    return OK


BROKEN_PREPARE = Routine(broken_prepare_entry, PREPARE_SIGNATURE)


@kernel
def transpose_rotations(A: Array) -> None:
    """Replace the rotation matrix of every body by its transpose."""
    for k in range(1, A.shape[0]):
        for a in range(3):
            for b in range(a):
                A[k, a, b], A[k, b, a] = A[k, b, a], A[k, a, b]


@kernel
def scale_rotations(A: Array, length: float) -> None:
    """Replace A by E G^T of Euler parameters of this length."""
    for k in range(1, A.shape[0]):
        for a in range(3):
            for b in range(3):
                A[k, a, b] *= length * length


@kernel
def turn_gamma(level: Array) -> None:
    """Change the sign of every gamma."""
    for slot in range(level.shape[0]):
        level[slot, 2] = -level[slot, 2]


@kernel
def halve_mixed_products(P: Pack, m: Motion) -> None:
    """Add one half of the mixed product of velocities to gamma of every DP1, DP2 and D."""
    ints, at, level = ws.row_ints(P), ws.row_kind_starts(P), ws.row_values(P)
    for k in range(at[OF_DP1], at[OF_DP1 + 1]):
        i, j = ints[k, FIRST_MARKER], ints[k, FIRST_MARKER + 1]
        level[ints[k, SLOT], 2] += dot(rate(m, i), rate(m, j))
    for k in range(at[OF_DP2], at[OF_DP2 + 1]):
        a, i, j = ints[k, FIRST_MARKER], ints[k, FIRST_MARKER + 1], ints[k, FIRST_MARKER + 2]
        level[ints[k, SLOT], 2] += dot(rate(m, a), distance_rate(m, i, j))
    for k in range(at[OF_D], at[OF_D + 1]):
        d_dot = distance_rate(m, ints[k, FIRST_MARKER], ints[k, FIRST_MARKER + 1])
        level[ints[k, SLOT], 2] += dot(d_dot, d_dot)


@kernel
def add_gyroscopic_torques(inertia: Array, bodies: Array, Q: Array, c: float) -> None:
    """Add c omega_bar x J_bar omega_bar to the torque of every body; Q contains -omega_bar x J_bar omega_bar."""
    for k in range(1, inertia.shape[0]):
        w1, w2, w3 = bodies[k, 10], bodies[k, 11], bodies[k, 12]
        h1 = inertia[k, 1] * w1 + inertia[k, 2] * w2 + inertia[k, 3] * w3
        h2 = inertia[k, 4] * w1 + inertia[k, 5] * w2 + inertia[k, 6] * w3
        h3 = inertia[k, 7] * w1 + inertia[k, 8] * w2 + inertia[k, 9] * w3
        Q[k, 3] += c * (w2 * h3 - w3 * h2)
        Q[k, 4] += c * (w3 * h1 - w1 * h3)
        Q[k, 5] += c * (w1 * h2 - w2 * h1)


@kernel
def use_world_inertia(P: Pack, m: Motion) -> None:
    """Use A J_bar A^T in the mass matrix and in the gyroscopic torques."""
    inertia, used, Q, A = ws.inertia(P), ws.shifted_inertia(P), ws.generalized_forces(P), m.A
    add_gyroscopic_torques(inertia, m.bodies, Q, 1.0)
    for k in range(1, inertia.shape[0]):
        for a in range(3):
            for b in range(3):
                total = 0.0
                for c in range(3):
                    for d in range(3):
                        total += A[k, a, c] * inertia[k, 1 + 3 * c + d] * A[k, b, d]
                used[k, 1 + 3 * a + b] = total
    add_gyroscopic_torques(used, m.bodies, Q, -1.0)


@kernel
def turn_moments(P: Pack, m: Motion) -> None:
    """Express PiBar of every row in global axes."""
    J, edges = ws.jacobian(P), ws.edges(P)
    for slot in range(J.shape[0]):
        for side in range(edges.shape[1]):
            body = edges[slot // 6, side]
            if body > 0:
                store(J[slot], side, 3, to_global(m.A, body, load(J[slot], side, 3)))


@dataclass
class Switch:
    """Whether a fault lasts; copies of a broken model share it."""

    on: bool = True


@dataclass(frozen=True, eq=False)
class BrokenModel(Model):
    """A compiled mechanism with one fault.

    Attributes
    ----------
    fault : str
        Name of the fault.
    number : int
        Its number in `broken_model`.
    parameter : float
        Its parameter.
    switch : Switch
        Whether it lasts: afterwards the model is right.
    """

    fault: str = ""
    number: int = -1
    parameter: float = 0.0
    switch: Switch = field(default_factory=Switch)

    def __repr__(self) -> str:
        state = f"broken by {self.fault}" if self.switch.on else f"right again after {self.fault}"
        return f"BrokenModel({self.name!r}: {state})"

    def pack(self, tables: Tables | None = None) -> Pack:
        """Return the tables with a new workspace; while the fault lasts, with the broken evaluation and constants of its own."""
        right = super().pack(tables)
        if not self.switch.on:
            return right
        kind = CompiledOnly if self.number == WORLD_INERTIA else Pack
        wrong = kind(*right)
        reals = np.concatenate([right.reals, [float(self.number), self.parameter]])
        return wrong._replace(
            reals=reals,
            prepare=BROKEN_PREPARE,
            prepare_stage=BROKEN_PREPARE,
            fills=assemblers(np.diff(self.tables["ROW_KIND_STARTS"][0])),
        )

    def borrow(self) -> Pack:
        """Return a workspace for `evaluate`, which is right: with it the states are measured at which a run begins."""
        return super().pack()

    def give_back(self, pack: Pack) -> None:
        """Keep no workspace."""

    def evaluator(self) -> Any:
        """Return an evaluator of the right model. Raise UsageError while the fault lasts, because an evaluator would keep it."""
        if self.switch.on:
            raise UsageError(
                f"an evaluator of a model broken by {self.fault} would stay broken after the block: use accelerations."
            )
        return super().evaluator()


class CompiledOnly(Pack):
    """A Pack whose mass matrix changes with the state, which formulations written in Python do not see."""

    def _replace(self, **changes: object) -> Pack:  # type: ignore[override]
        """Return the pack with changes. Raise UsageError for a formulation written in Python."""
        if "python_solver" in changes:
            raise UsageError(
                "world_inertia changes M with the state, and formulations that are written in Python read M once. Use NewtonEuler()."
            )
        return super()._replace(**changes)  # type: ignore[arg-type]


def break_model(model: Model, fault: str, number: int, parameter: float) -> BrokenModel:
    """Return a copy of a model with a fault; tables are shared, and not changed."""
    fields_of_model = {each.name: getattr(model, each.name) for each in fields(Model)}
    return BrokenModel(**fields_of_model, fault=fault, number=number, parameter=parameter)
