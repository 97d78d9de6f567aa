r"""The assembly problem: a model, its fixed coordinates, and the metric; rows at a pose, and steps to other poses.

gap  = s Phi [m]           s fixed for each row; angles count in metres at the size of the model
J    = Phi_q W^(-1/2)      of the columns that are not held; held joints are rows
step   r <- r + dr,   p <- p exp(dpi_bar),   (dr, dpi_bar) = W^(-1/2) z
"""

from __future__ import annotations

from functools import lru_cache
from math import log10
from typing import NamedTuple

import numpy as np

from haugmbd.analysis.assembly.fixed_coordinates import Held, held_row
from haugmbd.analysis.assembly.regularized_least_squares import DENSE, Matrix, Metric, whitened
from haugmbd.compiled.array_types import Array, Ints
from haugmbd.math.euler_parameters import exponential, lengths, normalized, product
from haugmbd.model.inspection.constraint_rows import Rows, evaluate
from haugmbd.model.model import Model
from haugmbd.model.state import State
from haugmbd.simulation.stepping.progress import Progress
from haugmbd.system.checks.constraint_residuals import constraint_gaps

LARGEST_TURN = 0.7
"""[rad] A step turns no body further: beyond, sine and its tangent have little in common."""

NONE = np.zeros(0, dtype=np.int64)


class Problem(NamedTuple):
    """The assembly problem: model, fixed coordinates, metric;  scale: (nc,) of rows to metres;  size: of the model [m];  tol: of |Phi|.

    asleep: rows that are left out;  search: is told of every pose, None for nobody
    loose: gap of a closest pose, relative to the size, that may be that of redundant rows which contradict each other
    """

    model: Model
    held: Held
    metric: Metric
    scale: Array
    size: float
    tol: float
    asleep: Ints = NONE
    search: Search | None = None
    loose: float = 0.0


class Pose(NamedTuple):
    """A state with its rows: Phi (nr,) and s Phi [m], those of held joints last."""

    state: State
    rows: Rows
    Phi: Array
    gap: Array

    @property
    def worst(self) -> float:
        """Return the largest |Phi|, in the units of the rows."""
        return float(np.abs(self.Phi).max(initial=0.0))

    @property
    def furthest(self) -> float:
        """Return the largest |s Phi| [m]."""
        return float(np.abs(self.gap).max(initial=0.0))


class Search:
    """A search for a closed pose: the closest pose and the number of steps, shown on a bar by the digits to which the joints are closed.

    closest: None before the first pose;  poses: every pose, and whether it starts a search; None where nobody records them
    """

    def __init__(self, bar: Progress, size: float, tol: float) -> None:
        self.closest: Pose | None = None
        self.steps = self.starts = 0
        self.poses: list[tuple[Pose, bool]] | None = None
        self._begins = True
        self._bar, self._size, self._most, self._all = bar, size, 0.0, digits_of(size, tol)

    def begin(self) -> None:
        """Count one more start."""
        self.starts += 1
        self._begins = True

    def at(self, pose: Pose) -> None:
        """Store the pose of one more step if it is the closest of all."""
        self.steps += 1
        if self.poses is not None:
            self.poses.append((pose, self._begins))
            self._begins = False
        if self.closest is None or pose.furthest < self.closest.furthest:
            self.closest = pose
        gap = self.closest.furthest
        self._most = min(self._all, max(self._most, digits_of(self._size, gap) if gap > 0.0 else self._all))
        self._bar.reach(self._most)
        self._bar.note(f"{self.steps} steps from {self.starts} starts, joints open by {gap:.0e} m")


def digits_of(size: float, gap: float) -> float:
    """Return the digits to which joints with a gap [m] are closed, in a model of a size [m]."""
    return max(0.0, -log10(gap / size))


def row_scale_to_metres(model: Model, rows: Rows, t: float, size: float) -> Array:
    """Return constant factors that convert Phi to gaps in metres, (nc,)."""
    measured = constraint_gaps(model, rows, t)
    unit = np.array([label.unit for label in model.labels], dtype=object)
    length = np.hypot(rows.Phi + measured.f, measured.gradient)
    gradient = np.select([unit == "m2", unit == "1"], [2.0 * measured.f, length], measured.gradient)
    gradient = np.where(np.abs(gradient) > 0.0, np.abs(gradient), 1.0)
    scale: Array = np.where(measured.is_angle, size, 1.0) / gradient
    return scale


def pose_at(problem: Problem, state: State) -> Pose:
    """Return the pose with all rows evaluated."""
    rows = evaluate(problem.model, state)
    held = [held_row(joint, state).Phi for joint in problem.held.joints]
    scale = [problem.size if joint.turns else 1.0 for joint in problem.held.joints]
    Phi = np.concatenate([rows.Phi, held])
    Phi[problem.asleep] = 0.0  # that of velocity rows is zero
    return Pose(state, rows, Phi, Phi * np.concatenate([problem.scale, scale]))


class Gradient(NamedTuple):
    """The gradients of all rows, those of held joints last.

    J: (nr, sides, 6) along dr and dpi_bar;  bodies: (nr, sides);  scale: (nr,) to metres
    """

    J: Array
    bodies: Ints
    scale: Array


def gradient(problem: Problem, state: State, rows: Rows, *, velocities: bool = False) -> Gradient:
    """Return Phi_q of all rows; that of velocity rows is zero unless it is for velocities."""
    J, pairs, scale = [np.concatenate([rows.Phi_r, rows.PiBar], axis=2)], [rows.bodies], [problem.scale]
    for joint in problem.held.joints:
        row = held_row(joint, state)
        more = problem.model.sides - 2
        J.append(np.pad(np.hstack([row.Phi_r, row.PiBar]), [(0, more), (0, 0)])[None])
        pairs.append(np.array([[joint.entry.i, joint.entry.j, *[0] * more]]))
        scale.append(np.array([problem.size if joint.turns else 1.0]))
    J[0][problem.asleep] = 0.0
    if not velocities:
        J[0][problem.model.velocity_rows] = 0.0
    return Gradient(np.concatenate(J), np.concatenate(pairs), np.concatenate(scale))


def jacobian(problem: Problem, metric: Metric, rows: Gradient) -> Matrix:
    """Return Phi_q W^(-1/2) of the free columns (nr, nf)."""
    J, free = matrix(whitened(metric, rows.J, rows.bodies), rows.bodies, problem.model.nb), problem.held.free
    return J if free.all() else J[:, free]


def unit_rows(J: Matrix) -> tuple[Matrix, Array]:
    """Return J with rows of length 1, and their lengths (nr,), 1 for a row of zeros."""
    length = row_lengths(J)
    length[length == 0.0] = 1.0
    return times(1.0 / length, J), length


def row_lengths(J: Matrix) -> Array:
    """Return the lengths of the rows of J, (nr,)."""
    if isinstance(J, np.ndarray):
        return np.asarray(np.sqrt(np.einsum("rc,rc->r", J, J)))
    return np.asarray(np.sqrt(np.bincount(J.indices, J.data**2, minlength=J.shape[0])))


def matrix(J: Array, bodies: Ints, nb: int) -> Matrix:
    """Return rows (nr, 2, 6) of the bodies (nr, 2) as a matrix (nr, 6 nb), dense if it is small; the ground has no column."""
    at = pattern(bodies.tobytes(), bodies.shape[1], nb)
    parts = J[at.row, at.side].ravel()[at.order]
    data = np.add.reduceat(parts, at.starts) if len(parts) else parts
    shape = (len(J), 6 * nb)
    if sum(shape) <= DENSE:
        small = np.zeros(shape)
        small[at.indices, at.columns] = data
        return small
    from scipy.sparse import csc_array  # noqa: PLC0415  imported only where something large is assembled

    return csc_array((data, at.indices, at.indptr), shape=shape)


class Pattern(NamedTuple):
    """Where the parts of rows stand in a matrix by columns.

    row, side: of each part (6,) that is not on the ground;  order: of all numbers by columns
    starts: the first number of each entry: those of a row that has a body twice are added
    indices, indptr, columns: of the entries
    """

    row: Ints
    side: Ints
    order: Ints
    starts: Ints
    indices: Ints
    indptr: Ints
    columns: Ints


@lru_cache(maxsize=64)
def pattern(bodies: bytes, sides: int, nb: int) -> Pattern:
    """Return the pattern of rows between these bodies (nr, sides), which stays while a mechanism moves."""
    pairs = np.frombuffer(bodies, dtype=np.int64).reshape(-1, sides)
    row, side = np.nonzero(pairs)
    column = (6 * (pairs[row, side] - 1)[:, None] + np.arange(6)).ravel()
    order = np.lexsort((np.repeat(row, 6), column))
    ordered = np.stack([np.repeat(row, 6)[order], column[order]])
    starts = np.nonzero(np.append(True, (np.diff(ordered) != 0).any(axis=0)))[0] if len(order) else order
    indptr = np.searchsorted(ordered[1, starts], np.arange(6 * nb + 1))
    return Pattern(row, side, order, starts, ordered[0, starts], indptr, ordered[1, starts])


def times(scale: Array, J: Matrix) -> Matrix:
    """Return diag(scale) J."""
    if isinstance(J, np.ndarray):
        return scale[:, None] * J
    from scipy.sparse import csc_array  # noqa: PLC0415  imported only where something large is assembled

    return csc_array((scale[J.indices] * J.data, J.indices, J.indptr), shape=J.shape)


def moved(problem: Problem, state: State, z: Array) -> State:
    """Return the state r + dr, p exp(dpi_bar) for d = W^(-1/2) z of the free columns, with a limit on the rotation of a body."""
    full = np.zeros(6 * problem.model.nb)
    full[problem.held.free] = z
    d = np.einsum("kab,kb->ka", problem.metric.inverse, full.reshape(-1, 6))
    d.ravel()[~problem.held.free] = 0.0
    turn = float(lengths(d[:, 3:]).max(initial=0.0))
    d *= min(1.0, LARGEST_TURN / turn) if turn > 0.0 else 1.0
    return displaced(state, d)


def displaced(state: State, d: Array) -> State:
    """Return the state r + dr, p exp(dpi_bar) for d (nb, 6) of the bodies without the ground."""
    r, p = state.r.copy(), state.p.copy()
    r[1:] += d[:, :3]
    p[1:] = normalized(product(p[1:], exponential(d[:, 3:])))
    return State.of_numbers(state.t, r, p, state.v, state.omega_bar, state.angles)
