r"""Redundant rows that contradict each other: how far they are apart where the others are closed, and whether a motion keeps them there.

    Phi_kept = 0            Newton's method on the independent rows
    what Phi_dropped is then: their contradiction       [rad, m]       at most `Redundancy.limit`, in rad or relative to the size

A dropped row of exact geometry holds because the others do. If axes or points are off, it is left at about what they are off by, in the
whole motion. One sentence says so in every function that meets such a mechanism.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from haugmbd.compiled.array_types import Array, Ints
from haugmbd.constraints.equations.rotation import Rotation
from haugmbd.errors import Fault
from haugmbd.model.dependent_rows import Redundancy
from haugmbd.model.immutable import once_per_model
from haugmbd.model.inspection.constraint_rows import Rows, evaluate
from haugmbd.model.inspection.length import characteristic_length
from haugmbd.model.inspection.row_gaps import first_open
from haugmbd.model.model import Model
from haugmbd.model.state import State
from haugmbd.redundancy.rank import RankAnalysis, analyse_rank, corrected
from haugmbd.redundancy.redundancy import without_drivers
from haugmbd.redundancy.sparse_ldl import SLOTS
from haugmbd.system.checks.constraint_residuals import FAR_BELOW, Gaps, constraint_gaps, least_length_of_gaps, velocity_gaps
from haugmbd.system.checks.solvability import groups_of_joints
from haugmbd.text_table import first_few
from haugmbd.tolerances import DEPENDENT, GROWTH, LARGEST_TOLERANCE, TOLD, TYPED_ANGLE, TYPED_LENGTH

DROPPED_FACTOR = 10.0
"""A dropped row is violated if its gap is so many times that of any kept one (without projection all rows drift alike)."""

SLIPS = 100.0
"""The same of a velocity row, in units of TYPED_SPEED of the speed: a thousandth of the speed, as where rows contradict each other."""

REDUNDANT = "redundant rows of joints"
"""The beginning of the sentences about them."""

LEFT_OUT = "they are left out, and all others hold"
"""What is done with them."""

SHARE = 1e-2
"""Part of the larger one of two gaps below which the smaller one is not told."""

SHOWN = 12
"""Number of joints that a text lists before it counts the others."""


class Contradiction(NamedTuple):
    """The joints of redundant rows, and the largest gap of these where the others are closed: distance [m], angle [rad].

    size: of the mechanism [m]
    """

    joints: tuple[str, ...]
    distance: float
    angle: float
    size: float

    @property
    def part(self) -> float:
        """The larger of the angle and the distance relative to the size."""
        return max(self.angle, self.distance / self.size)

    def __str__(self) -> str:
        return f"{REDUNDANT} {_listed(self.joints)} contradict each other by {self.gap}"

    @property
    def gap(self) -> str:
        """Return the angle and the distance as text, without one that is far smaller than the other."""
        far = self.distance / self.size
        parts = [f"{self.angle:.3g} rad"] if self.angle > SHARE * far else []
        parts += [f"{self.distance:.3g} m ({far:.2g} of the size)"] if far > SHARE * self.angle else []
        return " and ".join(parts) or "0"


def _listed(names: tuple[str, ...]) -> str:
    """Return the first names in quotes, and the number of the others."""
    return first_few([repr(name) for name in names], SHOWN)


def contradictions_at(model: Model, redundancy: Redundancy, state: State) -> tuple[Contradiction, ...]:
    """Return the contradictions of redundant rows at a state at which the others are closed, the largest first.

    redundancy: that of the pose;  gaps below TOLD are left out
    """
    rows = evaluate(model, state)
    measured, size = constraint_gaps(model, rows, state.t), characteristic_length(model, rows)
    here = set(redundancy.only_here) | set(model.velocity_rows.tolist())
    found, part = [], _parts(measured, size)
    free = set(without_drivers(model).tolist())
    if not part[list(redundancy.dropped)].max(initial=0.0) > TOLD:
        return ()
    for joints, dependencies in groups_of_joints(redundancy.report):
        gone = [d.row for d in dependencies if d.terms and d.row in free and d.row not in here]
        largest = float(part[gone].max(initial=0.0))
        if largest > TOLD:
            turns = measured.is_angle[gone]
            gap = np.abs(measured.gap[gone])
            found.append(
                Contradiction(
                    _with_rows(model, joints, free), float(gap[~turns].max(initial=0.0)), float(gap[turns].max(initial=0.0)), size
                )
            )
    return tuple(sorted(found, key=lambda one: -one.part))


def _with_rows(model: Model, joints: tuple[str, ...], rows: set[int]) -> tuple[str, ...]:
    """Return the joints that have some of these rows."""
    return tuple(name for name in joints if not rows.isdisjoint(model.joints[name].rows.tolist()))


def _parts(measured: Gaps, size: float) -> Array:
    """Return the gaps [rad, or parts of the size]."""
    part: Array = np.abs(measured.gap) / np.where(measured.is_angle, 1.0, size)
    return part


def contradiction_faults(found: tuple[Contradiction, ...], limit: float) -> tuple[Fault, ...]:
    """Return one fault for each set of joints whose redundant rows contradict each other by more than the limit."""
    return tuple(Fault(f"joints {_listed(one.joints)}", *_fault(one, limit)) for one in found if one.part > limit)


def _fault(one: Contradiction, limit: float) -> tuple[str, str]:
    """Return what is wrong, and what to do."""
    what = (
        f"their redundant rows contradict each other by {one.gap}, more than tolerance={limit:g} (rad, or part of the size of the "
        "mechanism): axes are not as parallel, or points not as much in one plane, as the loop needs"
    )
    remedy = "Correct the axes and points, {}use CJ or SJ for one RJ of the loop{}."
    if one.part > LARGEST_TOLERANCE:
        return what, remedy.format("or ", f": it is more than any tolerance allows ({LARGEST_TOLERANCE:g})")
    return what, remedy.format("", f", or allow it: tolerance={10.0 ** np.ceil(np.log10(one.part)):g}")


def misfit_notes(model: Model, redundancy: Redundancy, examined: RankAnalysis, rows: Rows) -> tuple[str, ...]:
    """Return one sentence for each set of joints whose redundant rows do not fit by more than typed digits.  `rows`: at the modelled pose.

    Nobody is told who has given the tolerance.
    """
    if redundancy.given is not None or not redundancy.dropped:
        return ()
    part = _parts(constraint_gaps(model, rows, rows.state.t), characteristic_length(model, rows))
    if max(redundancy.misfit, float(part.max(initial=0.0))) <= DEPENDENT:
        return ()
    found = closed_contradictions(model, redundancy, examined, rows.state) or ()
    told = tuple(f"{one}: {LEFT_OUT}" for one in found if one.part > DEPENDENT)
    if told or redundancy.misfit <= DEPENDENT:
        return told
    free = set(without_drivers(model).tolist())
    names = tuple(
        dict.fromkeys(name for joints, _ in groups_of_joints(redundancy.report) for name in _with_rows(model, joints, free))
    )
    how = f"fit up to {redundancy.misfit:.2g} (rad, or part of the size) only: {LEFT_OUT}"
    return (f"{REDUNDANT} {_listed(names)} {how}. Correct their axes and points, or accept it: tolerance={redundancy.limit:g}",)


def closed_contradictions(
    model: Model, redundancy: Redundancy, examined: RankAnalysis, state: State
) -> tuple[Contradiction, ...] | None:
    """Return the contradictions where Newton's method has closed the independent rows from `state`; None if it does not."""
    closed = corrected(model, state, examined, np.zeros((model.nb + 1, SLOTS)), patient=True)
    return None if closed is None else contradictions_at(model, redundancy, closed.state)


@once_per_model
def largest_contradiction(model: Model) -> float:
    """Return how far redundant rows contradict each other at the modelled pose [rad, or part of the size]; 0 if it cannot be closed."""
    state, redundancy = model.state(), model.redundancy
    rows = evaluate(model, state)
    gone = np.array(redundancy.dropped, dtype=np.int64)
    examined = analyse_rank(model, rows, redundancy.tolerance**0.5, gone)
    closed = corrected(model, state, examined, np.zeros((model.nb + 1, SLOTS)))
    if closed is None:
        return 0.0
    rows = evaluate(model, closed.state)
    part = _parts(constraint_gaps(model, rows, state.t), characteristic_length(model, rows))[gone]
    return float(part.max(initial=0.0)) if part.max(initial=0.0) <= redundancy.limit else 0.0


def dropped_faults(model: Model, state: State) -> tuple[Fault, ...]:
    """Return one fault for each joint with dropped rows that are violated: their gap is larger than that of any kept row."""
    redundancy = model.redundancy
    if not redundancy.dropped:
        return ()
    rows = evaluate(model, state)
    measured, size = constraint_gaps(model, rows, state.t), characteristic_length(model, rows)
    loose = max(1.0, redundancy.tolerance**0.5 / DEPENDENT)
    begun = GROWTH * largest_contradiction(model)
    allowed = np.where(measured.is_angle, max(loose * TYPED_ANGLE, begun), max(loose * TYPED_LENGTH, begun) * size)
    open_by = np.abs(measured.gap) / allowed
    dropped = np.array(redundancy.dropped)
    kept = float(np.delete(open_by, dropped).max(initial=0.0))
    remedy = (
        "These rows depend on the others at the modelled pose, and were dropped; now they prescribe something else. Let redundant "
        "drivers prescribe the same motion at all times, check that axes are as parallel as they should be, or reduce h."
    )
    found = []
    for row in dropped[open_by[dropped] > max(1.0, DROPPED_FACTOR * kept)].tolist():
        unit = "rad" if measured.is_angle[row] else "m"
        what = f"at t = {state.t:.6g} s a dropped row is left at {measured.gap[row]:.3g} {unit}: {model.labels[row]}"
        found.append(Fault(f"joint {model.labels[row].joint!r}", what, remedy))
    return (*found, *_slip_faults(model, state, rows, kept))


def dropped_faults_of_states(model: Model, t: Array, y: Array) -> tuple[Fault, ...]:
    """Return `dropped_faults` of the first of the states y (n, ny) at t (n,) that has any.

    Those whose rows hold far below their tolerances are not examined one by one.
    """
    if not model.redundancy.dropped:
        return ()
    driven = any(model.labels[k].kind == Rotation.kind for k in model.redundancy.dropped) or len(dropped_slips(model))
    spread = 0.0 if driven else least_length_of_gaps(model)
    pack, k = model.borrow(), 0
    t, y = (np.require(x, np.float64, ("C", "W")) for x in (t, y))
    while k < len(t):
        if spread:
            k = first_open(pack, t, y, k, spread, FAR_BELOW * min(TYPED_LENGTH, TYPED_ANGLE))
        faults = dropped_faults(model, State.from_y(float(t[k]), y[k], model.nb + 1)) if k < len(t) else ()
        if faults:
            return faults
        k += 1
    model.give_back(pack)
    return ()


def _slip_faults(model: Model, state: State, rows: Rows, open_by: float) -> tuple[Fault, ...]:
    """Return one fault for each dropped velocity row that slips: faster than any kept row, and than gaps of positions explain.

    open_by: the largest gap of a kept row, relative to its tolerance
    """
    slips = dropped_slips(model)
    if not len(slips):
        return ()
    gap, allowed = velocity_gaps(model, state, rows)
    part = np.abs(gap) / allowed
    kept = max(open_by, float(np.delete(part, np.array(model.redundancy.dropped)).max(initial=0.0)))
    remedy = (
        "It depends on the others at the modelled pose, and was dropped; now they contradict each other, as parallel wheels do that are "
        "steered by the same angle. Steer them about a common centre, or leave one of these joints out."
    )
    return tuple(
        Fault(
            f"joint {model.labels[row].joint!r}",
            f"at t = {state.t:.6g} s a dropped row slips at {gap[row]:.3g} m/s: {model.labels[row]}",
            remedy,
        )
        for row in slips[part[slips] > max(SLIPS, DROPPED_FACTOR * kept)].tolist()
    )


@once_per_model
def dropped_slips(model: Model) -> Ints:
    """Return the dropped velocity rows."""
    return np.intersect1d(model.velocity_rows, np.array(model.redundancy.dropped, dtype=np.int64))
