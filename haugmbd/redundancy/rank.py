"""Rank detection: the rows that depend on the others at a pose, by a block LDL^T on the body-joint graph, O(n) for chains and trees.

K = [ 1  J^T; J  0 ]      J = Phi_q, columns of omega_bar divided by a length, rows of length 1;  see `sparse_ldl`
J_r = c^T J_kept          from  u + J^T c = J_r^T,  J u = 0:  u is the part of r outside the span of the kept rows

1. rows far from the span of those before are kept                 one elimination; every kept set is well conditioned
2. of the others, those that no motion of the kept rows moves depend on them        random motions: nearly all of them, as a rule
3. of the rest, u is computed, and rows are kept in the order of |u| beyond those kept before, while |u| > tolerance: pivoted QR
4. the kept rows are eliminated together; a combination of them that is zero is searched by inverse iteration, and removed
5. if a row of positions was dropped for rows of velocities only, the rows of positions are chosen first, then those of velocities as in 3

Structural or here only: whether dependent rows depend on the others everywhere. Move along the kept rows, and compare.

    J_kept v = 0                            v a random motion, the largest part STEP
    q <- q + v,  then  q <- q + u,  u the least motion with  Phi_kept + J_kept u = 0      Newton with the elimination at the pose
    structural   <=>   Phi_dropped(q) = Phi_dropped(q0)

Kept rows are independent, so that Newton converges as at any regular pose, also at a singular configuration of the mechanism. There
the kept rows allow more than the mechanism does, and the dropped ones are violated by STEP^2 or, in degenerate cases, STEP^3.
Each sample is one pass over the elimination for each correction: O(n) if the elimination is O(n).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from haugmbd.callbacks import driver_values as driver_jet
from haugmbd.compiled.array_types import Array, Ints
from haugmbd.kkt.tree_arrays import EDGE, SIDE
from haugmbd.kkt.tree_solver import has_tree
from haugmbd.math.euler_parameters import exponential, product
from haugmbd.model.dependent_rows import Dependency, RankReport
from haugmbd.model.inspection.constraint_rows import Rows, evaluate
from haugmbd.model.inspection.length import unit_of_turns
from haugmbd.model.model import Model
from haugmbd.model.state import State
from haugmbd.redundancy.sparse_ldl import (
    FLOOR,
    PREFERRED,
    SLOTS,
    WELL_TOL,
    AnyElimination,
    Elimination,
    FullSolver,
    LocalSolver,
    eliminate,
    integers,
    random_motions,
    solve,
    weakest_combination,
)
from haugmbd.tolerances import GROWTH

STEP = 0.05
"""Largest displacement of a sample: of a body relative to the length of the model, and of its angle [rad]. Its square and its cube are
far above MISFIT_PART of the tolerance, and Newton converges in a few corrections."""

MISFIT_PART = 4.0 * STEP
"""Part of the tolerance, relative to the length, by which a structurally dependent row may move."""

SAMPLES = 3
"""Number of random motions; one alone could miss a direction by chance."""

SAMPLES_AT_ONCE = 100
"""Rows of a model for all of which the least motions are computed at once: that takes as long as those of a few samples."""

NEWTON_TOL = 1e-9
MAX_CORRECTIONS = 30
PATIENCE = 10
HALVINGS = 5
"""A sample for which Newton does not reach NEWTON_TOL (relative to the length) in MAX_CORRECTIONS is repeated with half the step."""


def only_here(model: Model, state: State, examined: RankAnalysis) -> Ints:
    """Return the numbers of the dropped rows that depend on the others at `state` only, and not along the motion."""
    dropped, answer = examined.dropped, least_motions(model, examined)
    still = corrected(model, state, examined, np.zeros((model.nb + 1, SLOTS)), answer=answer)
    moved = np.zeros(len(dropped), dtype=bool)
    for there in neighbours(model, state, examined, answer):
        if still is None or there is None:
            moved[:] = True
            break
        moved |= np.abs(there.Phi - still.Phi)[dropped] > MISFIT_PART * examined.tolerance * examined.length
    return dropped[moved]


def neighbours(model: Model, state: State, examined: RankAnalysis, answer: Callable[[Array], Array]) -> Iterator[Corrected | None]:
    """Yield poses that random motions of the kept rows lead to, and None for a motion that Newton's method does not close.

    answer: that of `least_motions`
    """
    motions = random_motions(model, examined.elimination, SAMPLES)
    for k in range(SAMPLES):
        v = motions[: model.nb + 1, :, k]
        size = np.abs(v).max(initial=0.0)
        if size <= NEWTON_TOL:
            continue
        v *= STEP * examined.length / size
        yield next(
            (s for h in range(HALVINGS) if (s := corrected(model, state, examined, v / 2**h, answer=answer)) is not None), None
        )


class Corrected(NamedTuple):
    """A state at which the kept rows are closed;  Phi: (nc,) all rows there, divided by their lengths at the pose."""

    state: State
    Phi: Array


def least_motions(model: Model, examined: RankAnalysis) -> Callable[[Array], Array]:
    """Return the function of gaps (nc,) that gives the least motion u (nb + 1, 6) which closes them in the kept rows: J_kept u = -gap.

    The answer for a dropped row is zero for any value here.  A small model is solved for every row at once, and then multiplied.
    """
    e, n, n_slots = examined.elimination, model.nb + 1, len(examined.J)

    def solved(gaps: Array) -> Array:
        x = np.zeros((e.n_nodes, SLOTS, gaps.shape[1]))
        x[n:].reshape(n_slots, -1)[model.slot_of_row] = -gaps
        u = solve(model, e, x)[:n]
        u[0] = 0.0
        return u

    if model.nc > SAMPLES_AT_ONCE:
        return lambda gap: solved(gap[:, None])[:, :, 0]
    operator = solved(np.eye(model.nc))
    return lambda gap: operator @ gap


def corrected(
    model: Model,
    state: State,
    examined: RankAnalysis,
    v: Array,
    *,
    answer: Callable[[Array], Array] | None = None,
    patient: bool = False,
) -> Corrected | None:
    """Return the state after a motion v (nb + 1, 6) and Newton's iteration on the kept rows; None if it fails.

    answer: that of `least_motions`, if it is there already
    patient: for a state that is far from closed: long steps are shortened and not rejected, and PATIENCE times as many are allowed
    """
    answer = answer or least_motions(model, examined)
    state, limit = displaced(state, v, examined.length), 4.0 * STEP * examined.length
    for _ in range(MAX_CORRECTIONS * (PATIENCE if patient else 1)):
        Phi: Array = evaluate(model, state).Phi / examined.norm
        u = answer(Phi)
        size = np.abs(u).max(initial=0.0)
        if size <= NEWTON_TOL * examined.length:
            return Corrected(state, Phi)
        if not size <= (np.inf if patient else limit):
            return None
        state = displaced(state, u * min(1.0, limit / size), examined.length)
    return None


def displaced(state: State, u: Array, length: float) -> State:
    """Return the state after a small motion u (nb + 1, 6): displacement, and body-frame rotation times `length`."""
    r, p = state.r + u[:, :3], product(state.p, exponential(u[:, 3:] / length))
    return State.of_numbers(state.t, r, p, state.v, state.omega_bar, state.angles)


TERM_TOL = 1e-6
"""Coefficients below this part of the largest one are rounding, or missing digits of the pose, and are left out."""

FLAT_TOL = 1e-10
"""Largest |gradient| / |value| of a row whose gradient counts as zero, as that of a dot product of parallel vectors."""

PROBES = 8
"""Number of random motions that must not move a dependent row; they move a row at the distance d from the others by d on average."""

PROBED = 0.1
"""Part of the tolerance above which the distance of a row is computed exactly; the random motions estimate it to a factor of ten."""

AT_ONCE = 4096
"""Edges of open chains whose rows are examined together: they stay in the cache."""

ZERO_PART = 1e-3
"""Part of the tolerance below which a combination of kept rows counts as zero."""


@dataclass(frozen=True, eq=False)
class RankAnalysis:
    """The rows at a pose, of length 1 over a common unit, and their elimination.

    J: (6 ne, sides, 6) in their slots;  norm: (nc,) divisors of the rows;  flat: numbers of the rows with a zero gradient
    length: divisor of the columns of omega_bar [m];  active: (6 ne,) the slots of the rows with a gradient
    dropped: numbers of the rows with a gradient that depend on the kept ones
    tolerance: distance from the span of the kept rows below which a row depends on them
    weak: kept rows that are nearly dependent: (number, distance from the span of the other kept ones), the weakest last
    misfit: about the largest distance of a dropped row from the span of the kept ones
    """

    J: Array
    norm: Array
    flat: Ints
    length: float
    dropped: Ints
    tolerance: float
    weak: tuple[tuple[int, float], ...]
    model: Model
    active: Array
    eliminated: AnyElimination | None
    misfit: float = 0.0

    @cached_property
    def elimination(self) -> AnyElimination:
        """The elimination of the kept rows; that of an open chain, where no row is dropped, is made when it is first used."""
        return eliminate(self.model, self.J, self.active, FLOOR) if self.eliminated is None else self.eliminated


def analyse_rank(model: Model, rows: Rows, tolerance: float | None = None, without: Ints | None = None) -> RankAnalysis:
    """Return the rows, normalised and eliminated, at the pose where they were evaluated.

    tolerance: by default the model's own;  without: rows that take no part
    """
    tolerance = model.redundancy.tolerance**0.5 if tolerance is None else tolerance
    J, norm, flat, length = _normalised(model, rows)
    slots = np.zeros((SLOTS * len(model.tables["EDGES"]), model.sides, SLOTS))
    slots[model.slot_of_row[:, None], model.sides_of_rows] = J
    del J  # of many rows it is large
    active = np.zeros(len(slots), dtype=bool)
    active[model.slot_of_row] = ~flat
    if without is not None:
        active[model.slot_of_row[without]] = False
    if _is_open(model, slots, active):
        return RankAnalysis(slots, norm, flat, length, np.zeros(0, dtype=np.int64), tolerance, (), model, active, None)
    elimination, weak = _eliminated(model, slots, active, tolerance)
    elimination = _positions_first(model, slots, active, elimination, tolerance)
    weak = [(slot, distance) for slot, distance in weak if slot not in elimination.dropped]
    row = np.zeros(len(slots), dtype=np.int64)
    row[model.slot_of_row] = np.arange(model.nc)
    dropped: Ints = np.sort(row[np.array(elimination.dropped, dtype=np.int64)])
    named = tuple((int(row[slot]), distance) for slot, distance in weak)
    gone = np.array(elimination.dropped, dtype=np.int64)
    misfit = float(_moved(model, slots, elimination, gone).max(initial=0.0)) if len(gone) else 0.0
    return RankAnalysis(slots, norm, flat, length, dropped, tolerance, named, model, active, elimination, misfit)


def _is_open(model: Model, J: Array, active: Array) -> bool:
    """Return whether the joints form open chains, and the rows of each joint are independent on the body that it carries.

    Phi_q is then block triangular, with these rows on the diagonal, and its rows are independent.
    """
    first, pairs = _carried(model), integers(model, "EDGES")
    if first.shape != pairs.shape or model.sides > 2:  # noqa: PLR2004  factored by fronts: there are loops; or coupled joints
        return False
    carried = pairs[first == 1]
    if len(carried) != len(pairs) or (first.sum(axis=1) != 1).any() or np.bincount(carried, minlength=1).max(initial=0) > 1:
        return False
    side, by_edge, takes_part = np.argmax(first, axis=1), J.reshape(-1, SLOTS, 2, SLOTS), active.reshape(-1, SLOTS)
    padding = np.where(takes_part, 0.0, 1.0)
    for start in range(0, len(pairs), AT_ONCE):
        edges = np.arange(start, min(start + AT_ONCE, len(pairs)))
        rows = np.where(takes_part[edges, :, None], by_edge[edges, :, side[edges]], 0.0)
        S = rows @ np.swapaxes(rows, 1, 2)
        S[:, range(SLOTS), range(SLOTS)] += padding[edges]
        if not (np.linalg.eigvalsh(S)[:, 0] > WELL_TOL).all():
            return False
    return True


def _carried(model: Model) -> Ints:
    """Return 1 for the bodies of each edge (ne, sides) that are eliminated before it: in a forest the one that it carries."""
    if not has_tree(model.tables):
        return integers(model, "BODY_FIRST")
    steps = model.tables["TREE"]
    steps = steps[steps[:, EDGE] >= 0]
    first = np.zeros_like(model.tables["EDGES"])
    first[steps[:, EDGE], steps[:, SIDE]] = 1
    return first


def _eliminated(model: Model, J: Array, active: Array, tolerance: float) -> tuple[AnyElimination, list[tuple[int, float]]]:
    """Return the elimination of the independent rows, and those of them (slots) that are nearly dependent, with their distances."""
    e = eliminate(model, J, active)
    near = np.array(e.dropped, dtype=np.int64)
    moving = near[_moved(model, J, e, near) > PROBED * tolerance] if len(near) else near
    weak = _farthest(model, J, e, moving, tolerance) if len(moving) else []
    if weak:
        gone = np.setdiff1d(near, [slot for slot, _ in weak])
        e = _without(model, J, active, gone)
    if e.weakest < WELL_TOL**0.5 or active.sum() - len(e.dropped) > SLOTS * model.nb:
        e = _verified(model, J, active, e, tolerance)
    return e, [(slot, distance) for slot, distance in weak if slot not in e.dropped]


def _positions_first(model: Model, J: Array, active: Array, e: AnyElimination, tolerance: float) -> AnyElimination:
    """Return an elimination that keeps every row of positions which the other ones do not express, and drops velocity rows instead.

    A row of positions that is dropped for a velocity row would not be corrected: the motion would drift from it.
    """
    slots = model.slot_of_row[model.velocity_rows]
    slots = slots[active[slots]]
    if not len(slots) or set(e.dropped) <= set(slots.tolist()):
        return e
    positions = active.copy()
    positions[slots] = False
    alone, _ = _eliminated(model, J, positions, tolerance)
    if set(e.dropped) - set(slots.tolist()) <= set(alone.dropped):
        return e
    kept = [slot for slot, _ in _farthest(model, J, alone, slots, tolerance)]
    return _without(model, J, active, np.array([*alone.dropped, *np.setdiff1d(slots, kept)], dtype=np.int64))


def _without(model: Model, J: Array, active: Array, gone: Ints) -> AnyElimination:
    """Return the elimination of all active rows but `gone` (slots), which are listed as dropped."""
    taking_part = active.copy()
    taking_part[gone] = False
    e = eliminate(model, J, taking_part, FLOOR)
    return e._replace(dropped=[*map(int, gone), *e.dropped])


def _verified(model: Model, J: Array, active: Array, e: AnyElimination, tolerance: float) -> AnyElimination:
    """Return the elimination without rows that only seem independent by rounding: each zero combination of kept rows drops one of them."""
    while len(e.dropped) < active.sum():
        y, left = weakest_combination(model, J, e)
        if left > ZERO_PART * tolerance:
            break
        last = int(np.nonzero(np.abs(y) >= PREFERRED * np.abs(y).max())[0][-1])
        e = _without(model, J, active, np.array([*e.dropped, last], dtype=np.int64))
    return e


def _moved(model: Model, J: Array, e: AnyElimination, slots: Ints) -> Array:
    """Return the root mean square by which random motions of the kept rows move other rows: their distance from the kept ones."""
    u = random_motions(model, e, PROBES)
    pair = integers(model, "EDGES")[slots // SLOTS]
    moved = np.einsum("ksc,kscn->kn", J[slots], u[pair])
    size: Array = np.sqrt(np.mean(moved**2, axis=1))
    return size


def _farthest(model: Model, J: Array, e: AnyElimination, slots: Ints, tolerance: float) -> list[tuple[int, float]]:
    """Return the rows, of those that the kept ones do not express, that are independent beyond them, with distances: QR with pivoting.

    The part of a row outside the span of the kept rows is projected twice, because one projection leaves rounding that grows with the
    square of their condition.
    """
    n, pair = model.nb + 1, integers(model, "EDGES")[slots // SLOTS]
    u = np.zeros((n, SLOTS, len(slots)))
    for side in range(pair.shape[1]):
        u[pair[:, side], :, np.arange(len(slots))] += J[slots, side]
    for _ in range(2):
        x = np.zeros((e.n_nodes, SLOTS, len(slots)))
        x[1:n] = u[1:]
        u = solve(model, e, x)[:n]
        u[0] = 0.0
    U, independent = u.reshape(-1, len(slots)).copy(), []
    for _ in range(len(slots)):
        size = np.linalg.norm(U, axis=0)
        if not size.max() > tolerance:
            break
        k = int(np.argmax(size >= PREFERRED * size.max()))
        independent.append((int(slots[k]), float(size[k])))
        q = U[:, k] / size[k]
        U -= np.outer(q, q @ U)
        U[:, k] = 0.0
    return independent


def rank_report(model: Model, rows: Rows) -> RankReport:
    """Return the rank of Phi_q at the pose where `rows` were evaluated, and the dependencies."""
    return report_of(model, analyse_rank(model, rows))


def report_of(model: Model, examined: RankAnalysis) -> RankReport:
    """Return the report of rows that have been eliminated already."""
    dependencies = [Dependency(int(row), ()) for row in np.nonzero(examined.flat)[0]]
    dependencies += _dependencies(model, examined) if len(examined.dropped) else []
    dependencies.sort()
    return RankReport(model.nc, model.nc - len(dependencies), tuple(d.row for d in dependencies), tuple(dependencies), model.labels)


def row_scale(model: Model, rows: Rows) -> Array:
    """Return J_r M^-1 J_r^T of each row, (nc,): the compliance of its bodies, with the inertia that is factored."""
    inertia, n = model.tables["SHIFTED"], model.nb + 1
    mobility, turns = np.zeros(n), np.zeros((n, 3, 3))  # the ground has none
    mobility[1:], turns[1:] = 1.0 / inertia[1:, 0], np.linalg.inv(inertia[1:, 1:].reshape(-1, 3, 3))
    scale = np.zeros(model.nc)
    for side in range(rows.bodies.shape[1]):
        body = rows.bodies[:, side]
        scale += sliding(rows.Phi_r[:, side]) * mobility[body] + turning(rows.PiBar[:, side], turns[body])
    return scale


def sliding(Phi_r: Array) -> Array:
    """Return |Phi_r|^2 of the rows Phi_r (k, 3)."""
    size: Array = np.einsum("ka,ka->k", Phi_r, Phi_r)
    return size


def turning(PiBar: Array, inverse: Array) -> Array:
    """Return PiBar J_bar^-1 PiBar^T (..., k) of the rows PiBar (k, 3), each with its own J_bar^-1, (..., k, 3, 3)."""
    compliance: Array = np.einsum("ka,...kab,kb->...k", PiBar, inverse, PiBar)
    return compliance


def put_row_scale(model: Model, rows: Rows) -> None:
    """Write the scales of the rows to the table SCALE of a new model."""
    start, _, columns = model.tables.place("SCALE")
    first = start + columns * (model.nb + 1)
    model.tables.reals[first + model.slot_of_row] = row_scale(model, rows)


def row_lengths(model: Model, rows: Rows) -> Array:
    """Return |row| (nc,), with rotations as lengths, so that rows of different units can be compared."""
    return _normalised(model, rows)[1]


def _normalised(model: Model, rows: Rows) -> tuple[Array, Array, Ints, float]:
    """Return rows (nc, sides, 6) of length 1 over a common unit, zero for the ground; norms; rows with a zero gradient; the unit [m]."""
    length = unit_of_turns(model, rows)
    J = np.concatenate([rows.Phi_r, rows.PiBar], axis=2)
    J[:, :, 3:] /= length
    J[rows.bodies == 0] = 0.0
    norm = np.sqrt(np.einsum("rsc,rsc->r", J, J))
    value = np.abs(rows.Phi + driver_values(model, rows.state)[model.drivers_of_rows()])
    flat = (norm == 0.0) | (norm < FLAT_TOL * value)
    norm[flat] = 1.0
    J /= norm[:, None, None]
    return J, norm, flat, length


def driver_values(model: Model, state: State) -> Array:
    """Return f of each driver at a state, (nd,). Exceptions of a user's function are raised unchanged."""
    t = state.t
    calls = {call.slot: call for call in model.force_callbacks.driver_calls}
    known = {k: driver_jet(call, t) for k, call in calls.items()}
    if model.network is not None:
        known |= model.network.motion_values(t, state.flat)
    values = [known[k] if k in known else driver.values(t) for k, driver in enumerate(model.drivers)]
    return np.array([jet[0] for jet in values])


def _dependencies(model: Model, x: RankAnalysis) -> list[Dependency]:
    """Return each dropped row in terms of the kept ones; rows of the same edge together."""
    e = x.elimination
    solver = LocalSolver(model, e) if isinstance(e, Elimination) else FullSolver(e)
    row_of_slot = {int(slot): row for row, slot in enumerate(model.slot_of_row)}
    by_edge: dict[int, list[int]] = {}
    for row in x.dropped.tolist():
        by_edge.setdefault(int(model.slot_of_row[row]) // SLOTS, []).append(row)
    dependencies, pairs = [], integers(model, "EDGES").tolist()
    least = max(TERM_TOL, GROWTH * max(x.misfit, model.redundancy.misfit))  # axes that are off by an angle add terms of its size
    for edge, rows in by_edge.items():
        pair, slots = pairs[edge], model.slot_of_row[rows]
        values = solver.solve({body: x.J[slots, side].T for side, body in enumerate(pair) if body})
        lam = {
            SLOTS * (node - model.nb - 1) + a: value[a] for node, value in values.items() if node > model.nb for a in range(SLOTS)
        }
        for k, row in enumerate(rows):
            largest = max(abs(float(c[k])) for c in lam.values())
            kept = [(row_of_slot[slot], float(c[k])) for slot, c in lam.items() if abs(c[k]) > least * largest]
            dependencies.append(
                Dependency(row, tuple(sorted((other, c * float(x.norm[row] / x.norm[other])) for other, c in kept)))
            )
    return dependencies
