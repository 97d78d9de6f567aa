"""The result of an assembly: the state, a model that starts there, and the corrections; or the reasons why it fails, by joint.

Gaps are measured as in `system.constraint_residuals`: in metres for points and distances, in radians for axes and driven angles.

Reasons are open gaps at the closest pose, opposite senses, and contradicting velocities.

Redundant rows: the independent ones are closed to rounding, and what the others are off by then is measured.

    all rows hold                      nothing to do
    else, at the closest pose          rows that depend on the others all along the motion are left out, and the rest is closed
    what they are off by is            at most the tolerance: assembled, and told         more: refused, with their joints

A mechanism whose lengths do not fit has dependent rows at its closest pose, too, but only there: it stays open.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import degrees
from typing import NamedTuple

import numpy as np

from haugmbd.analysis.assembly.constraint_system import NONE, Pose, Problem, pose_at
from haugmbd.analysis.assembly.position_solver import ROUNDING as ROUNDING_OF_POSES
from haugmbd.analysis.assembly.position_solver import NewtonTable, PositionSolution, close_positions
from haugmbd.compiled.array_types import Ints
from haugmbd.deprecated import public_class
from haugmbd.drivers import Constant
from haugmbd.errors import Fault
from haugmbd.math.euler_parameters import conjugate, logarithm, product
from haugmbd.model.dependent_rows import Redundancy
from haugmbd.model.inspection.constraint_rows import evaluate
from haugmbd.model.inspection.length import units_of_rows
from haugmbd.model.model import Model
from haugmbd.model.state import State
from haugmbd.redundancy.rank import analyse_rank
from haugmbd.redundancy.redundancy import find_redundancy, redundancy_of
from haugmbd.system.checks.constraint_residuals import Gaps, constraint_gaps, half_turned, velocity_faults
from haugmbd.system.checks.contradictions import LEFT_OUT, Contradiction, contradictions_at
from haugmbd.tolerances import CONTRADICTION, DEPENDENT, GROWTH, LARGEST_TOLERANCE, ROUNDING

SHOWN = 12
"""Number of bodies or joints that a text lists before it counts the others."""
GAP_ROUNDING = 1e-14
"""Gaps that a text leaves out, relative to the size of the model, and in radians: positions are rounded to some 1e-16 of it."""


class Correction(NamedTuple):
    """Displacement of a body: global translation [m], (3,) as a tuple, its length [m], and the angle of its rotation [rad]."""

    body: str
    translation: tuple[float, float, float]
    distance: float
    angle: float


class JointGap(NamedTuple):
    """Gap of an open joint: of its points or distances [m], of its axes or driven angle [rad]."""

    joint: str
    distance: float
    angle: float


class Flip(NamedTuple):
    """A joint that was in the opposite sense at the start or at its nearest closed pose, and whether it was turned back."""

    joint: str
    repaired: bool


@public_class
@dataclass(frozen=True, eq=False)
class Assembly:
    """An assembled mechanism.

    Attributes
    ----------
    model : Model
        Model whose modelled state is `state`: simulate(assembly.model, t_end, h=...).
    state : State
        Positions and velocities that fulfil the constraints.
    iterations : int
        Iterations of the position solver.
    before, after : float
        Largest |Phi| at the start and at the end, in the units of the rows.
    rate_before, rate_after : float
        Largest |Phi_q u - nu| before and after the velocity projection.
    corrections : tuple of Correction
        Displacement of each body, the largest first.
    gaps : tuple of JointGap
        Gap of each joint at the start, the largest first.
    flips : tuple of Flip
        Joints that were in the opposite sense.
    held : tuple of str
        The fixed coordinates, as text.
    tolerance : float
        Tolerance of |Phi|.
    contradictions : tuple of Contradiction
        Redundant rows, by their joints, that do not hold exactly where all others do, and what they are off by: joints, distance [m] and
        angle [rad]. They are left out of `after` and of `model`. Empty where axes and points fit.
    starts : int
        Number of starts that were tried: more than 1 if the given one led to no closed pose.
    newton : NewtonTable or None
        The iterates of Newton's method, with record=True.
    """

    model: Model
    state: State
    iterations: int
    before: float
    after: float
    rate_before: float
    rate_after: float
    corrections: tuple[Correction, ...]
    gaps: tuple[JointGap, ...]
    flips: tuple[Flip, ...]
    held: tuple[str, ...]
    tolerance: float
    contradictions: tuple[Contradiction, ...] = ()
    starts: int = 1
    newton: NewtonTable | None = None

    @property
    def flipped(self) -> tuple[str, ...]:
        """Return the joints that are in the opposite sense in `state`."""
        return tuple(flip.joint for flip in self.flips if not flip.repaired)

    def __str__(self) -> str:
        """Return a table of the corrections."""
        head = f"{self.model.name!r} assembled in {self.iterations} iterations: |Phi| {self.before:.3g} -> {self.after:.3g}"
        rates = f"velocities: |Phi_q u - nu| {self.rate_before:.3g} -> {self.rate_after:.3g}"
        lines = [head, rates, *([f"held: {'; '.join(self.held)}"] if self.held else [])]
        lines += [f"{row}: {LEFT_OUT}" for row in self.contradictions]
        lines += [f"joint {flip.joint!r} was turned round{'' if flip.repaired else ', and still is'}" for flip in self.flips]
        lines += _listed("joint", [(g.joint, g.distance, g.angle) for g in self.gaps], "was open by", self.model.length)
        lines += _listed("body", [(c.body, c.distance, c.angle) for c in self.corrections], "was moved by", self.model.length)
        return "\n".join(lines)

    __repr__ = __str__


def _listed(kind: str, items: Sequence[tuple[str, float, float]], verb: str, size: float) -> list[str]:
    """Return one line for each of the first few items that are more than rounding."""
    some = [(name, d, a) for name, d, a in items if d > GAP_ROUNDING * size or a > GAP_ROUNDING]
    lines = [f"{kind} {name!r} {verb} {d:.4g} m, {degrees(a):.4g} degrees" for name, d, a in some[:SHOWN]]
    return [*lines, *([f"and {len(some) - SHOWN} more"] if len(some) > SHOWN else [])]


def corrections(model: Model, start: State, end: State) -> tuple[Correction, ...]:
    """Return the displacement of each body, the largest first."""
    step = end.r - start.r
    angle = np.linalg.norm(logarithm(product(conjugate(start.p), end.p)), axis=1)
    moved = [
        Correction(name, (float(d[0]), float(d[1]), float(d[2])), float(np.linalg.norm(d)), float(a))
        for name, d, a in zip(model.body_names[1:], step[1:], angle[1:], strict=True)
    ]
    return tuple(sorted(moved, key=lambda c: -(c.distance + model.length * c.angle)))


def joint_gaps(model: Model, state: State) -> tuple[JointGap, ...]:
    """Return the gap of each joint, the largest first."""
    measured = constraint_gaps(model, evaluate(model, state), state.t)
    gaps = []
    for e in model.joints.values():
        gap, turns = measured.gap[e.rows], measured.is_angle[e.rows]
        gaps.append(JointGap(e.name, float(np.linalg.norm(gap[~turns])), float(np.linalg.norm(gap[turns]))))
    return tuple(sorted(gaps, key=lambda g: -(g.distance + g.angle)))


SHARE = 1e-3
"""A joint that is open by less than this part of the largest gap is not to blame."""

CLOSER = "Correct lengths and points of these joints, or what is held, so that the gap can close."
PAIR = "They prescribe different motions of the same bodies: keep one of them, or make them agree."


def open_faults(problem: Problem, pose: Pose) -> tuple[Fault, ...]:
    """Return one fault for each joint that is open at the closest pose, with the sum of the gaps."""
    model, state = problem.model, pose.state
    measured = constraint_gaps(model, pose.rows, state.t)
    metres = np.where(measured.is_angle, problem.size, 1.0) * np.abs(measured.gap)
    limit = SHARE * float(metres.max(initial=0.0))
    open_joints, pairs, total = [], set(), 0.0
    for e in model.joints.values():
        if metres[e.rows].max(initial=0.0) > max(limit, problem.tol):
            open_joints.append((e.name, _open(model, measured, e.rows)))
            pairs.add(frozenset((e.i, e.j)))
            total += float(np.linalg.norm(measured.gap[e.rows][~measured.is_angle[e.rows]]))
    remedy = PAIR if len(open_joints) > 1 and len(pairs) == 1 else CLOSER
    sums = f" (the {len(open_joints)} joints together: {total:.6g} m)" if len(open_joints) > 1 and total > 0.0 else ""
    faults = [Fault(f"joint {name!r}", f"{what}{sums}", remedy) for name, what in open_joints]
    for joint, Phi in zip(problem.held.joints, pose.Phi[model.nc :], strict=True):
        if abs(Phi) * (problem.size if joint.turns else 1.0) > limit:
            unit = "rad" if joint.turns else "m"
            what = f"it is held at {joint.value:.6g} {unit} and comes to {joint.value + Phi:.6g} {unit}"
            faults.append(Fault(f"joint {joint.entry.name!r}", what, CLOSER))
    return tuple(faults) or (Fault("the mechanism", f"a row stays at {pose.worst:.3g}, more than tol = {problem.tol:.3g}", CLOSER),)


def _open(model: Model, measured: Gaps, rows: Ints) -> str:
    """Return the gap of a joint's rows as text."""
    parts = []
    lengths = [k for k in rows.tolist() if model.labels[k].unit == "m2"]
    points = [k for k in rows.tolist() if model.labels[k].unit == "m"]
    angles = [k for k in rows.tolist() if measured.is_angle[k]]
    for k in lengths:
        f, gap = measured.f[k], measured.gap[k]
        parts.append(
            f"its distance is {f + gap:.6g} m and must be {f:.6g} m, {abs(gap):.6g} m too {'long' if gap > 0 else 'short'}"
        )
    gap = float(np.linalg.norm(measured.gap[points]))
    if gap > 0.0 and not lengths:
        parts.append(f"it stays {gap:.6g} m open at the closest pose")
    angle = degrees(float(np.linalg.norm(measured.gap[angles])))
    if angle > 0.0 and (not parts or angle > degrees(SHARE)):
        parts.append(f"it stays {angle:.6g} degrees off at the closest pose")
    return "; ".join(parts)


def flip_faults(wrong: tuple[str, ...], verb: str) -> tuple[Fault, ...]:
    """Return one fault for each joint in the opposite sense: it "begins" so, or "is assembled" so."""
    what = f"it {verb} the other way round: its axis is turned by 180 degrees against the modelled one, which its rows cannot see"
    remedy = "Start from a state nearer to the modelled one, hold less, or keep it on purpose: assemble(..., repair=False)."
    return tuple(Fault(f"joint {name!r}", what, remedy) for name in wrong)


def left_faults(problem: Problem, state: State, wrong: tuple[str, ...]) -> tuple[Fault, ...]:
    """Return one fault for each joint that stays in the opposite sense, and for each driver that is followed half a turn off."""
    measured, half = constraint_gaps(problem.model, evaluate(problem.model, state), state.t), half_turned(problem.model, state)
    faults = []
    for name in half:
        row = int(problem.model.joints[name].rows[0])
        f, gap = float(measured.f[row]), float(measured.gap[row])
        what = f"its driver gives {f:.6g} rad at t = {state.t:g} s, and the mechanism comes to {f + gap:.6g} rad"
        faults.append(Fault(f"joint {name!r}", what, CLOSER))
    return (*faults, *flip_faults(tuple(name for name in wrong if name not in half), "is assembled"))


def rate_faults(problem: Problem, state: State, tol: float) -> tuple[Fault, ...]:
    """Return faults if no velocities fit: drivers or fixed coordinates contradict each other.

    tol: largest error that is rounding, relative to the prescribed rates and to the velocities before and after their correction
    """
    model = problem.model
    rows = evaluate(model, state)
    start, u = (np.hstack([velocities.v, velocities.omega_bar]) for velocities in (problem.held.start, state))
    size = max(float(np.abs(x).max(initial=0.0)) for x in (rows.nu, start, u))
    left = np.einsum("rsc,rsc->r", np.concatenate([rows.Phi_r, rows.PiBar], axis=2), u[rows.bodies]) - rows.nu
    left[problem.asleep] = 0.0
    allowed = tol * size + ROUNDING * units_of_rows(model)  # a mechanism that crosses itself in 1e12 s is at rest
    if not (np.abs(left) > allowed).any():
        return ()
    remedy = "Let the drivers prescribe the same motion, or hold less."
    moving = [k for k, driver in enumerate(model.drivers_of_rows().tolist()) if not isinstance(model.drivers[driver], Constant)]
    contrary = [k for k in moving if abs(left[k]) > max(SHARE * float(np.abs(left).max()), allowed[k])]
    if contrary:
        at, ways = f"at t = {state.t:g} s", [(model.labels[k], rows.nu[k], rows.nu[k] + left[k]) for k in contrary]
        text = "no velocities fit: its driver prescribes {:.6g} {}/s {}, and the nearest velocities give {:.6g} {}/s"
        return tuple(
            Fault(f"joint {label.joint!r}", text.format(nu, label.unit, at, moves, label.unit), remedy) for label, nu, moves in ways
        )
    named = velocity_faults(model, state)
    if named:
        return tuple(Fault(fault.where, f"no velocities fit: {fault.what}", remedy) for fault in named)
    worst = int(np.abs(left).argmax())
    return (
        Fault(
            f"joint {model.labels[worst].joint!r}",
            f"no velocities fit: its velocity equation is off by {left[worst]:.3g} {model.labels[worst].unit}/s",
            remedy,
        ),
    )


SLID = 20.0
"""Times the gap of the start, relative to the size, that bodies move where redundant rows which do not fit drive them along the motion that
the mechanism should have: to a place where they happen to fit."""

BESIDE = 1.01
"""Times the distance of a row from the span of the others: the tolerance that drops this row, too."""

FOLD = 5.0
"""Times the square root of that gap that bodies move where a loop closes beside a dead centre, where its motion turns back."""


class Settled(NamedTuple):
    """A position solution, and the problem without the redundant rows that it leaves out, with what they are off by.

    contradictions: also those beyond the tolerance, of a solution that is not closed
    """

    problem: Problem
    solution: PositionSolution
    left_out: Ints = NONE
    contradictions: tuple[Contradiction, ...] = ()

    @property
    def limit(self) -> float:
        """Return the misfit up to which rows of the closed pose are redundant: their contradiction has been judged, if they are."""
        return LARGEST_TOLERANCE if len(self.left_out) else CONTRADICTION


def settled(problem: Problem, solution: PositionSolution, start: State) -> Settled:
    """Return the solution with its independent rows closed, if redundant rows are what keeps it open; otherwise as it is.

    start: where the solution came from; the nearest pose to it is the one that closes the independent rows from there
    """
    pose, model = solution.pose, problem.model
    exact = pose.worst <= problem.tol or pose.furthest <= ROUNDING_OF_POSES * problem.size
    strict = problem._replace(loose=0.0)  # what is loose is judged here
    as_it_is = Settled(strict, solution._replace(closed=exact))
    # how far from the start a pose is the nearest one still
    begun = pose_at(problem, start)
    near = [begun] if begun.furthest <= LARGEST_TOLERANCE * problem.size else []
    gap = begun.furthest / problem.size
    slid = bool(near) and _way(problem, start, pose.state) > SLID * gap + ROUNDING_OF_POSES
    far = max(SLID * gap, FOLD * gap**0.5) + ROUNDING_OF_POSES if near else np.inf
    if not model.nc or (pose.worst <= problem.tol and not slid) or not pose.furthest <= LARGEST_TOLERANCE * problem.size:
        return as_it_is
    allowed = model.redundancy.limit
    elsewhere: tuple[Contradiction, ...] = ()
    # the independent rows alone: do they close, and what do the others miss there
    for redundancy, limit in _redundant_rows(model, (*near, pose), every=bool(near)):
        refused: tuple[Contradiction, ...] = ()
        rows = np.array(redundancy.dropped, dtype=np.int64)
        rest = problem._replace(asleep=np.union1d(problem.asleep, rows), loose=0.0)
        for begin in (start, pose.state):  # a far start may lead the independent rows to another branch than all rows
            again = close_positions(rest, begin)
            if not again.closed:
                continue
            contradictions = contradictions_at(model, redundancy, again.pose.state)
            beside = _way(problem, start, again.pose.state) <= far
            if not (contradictions and contradictions[0].part > allowed):
                if beside and limit == CONTRADICTION:
                    return Settled(rest, again._replace(iterations=solution.iterations + again.iterations), rows, contradictions)
            elif beside:
                refused = refused or contradictions
            else:
                elsewhere = elsewhere or contradictions
        if refused:
            return Settled(strict, solution._replace(closed=False), NONE, refused)
    return Settled(strict, solution._replace(closed=False), NONE, elsewhere) if elsewhere else as_it_is


def _redundant_rows(model: Model, poses: Sequence[Pose], *, every: bool) -> Iterator[tuple[Redundancy, float]]:
    """Yield sets of rows that depend on the others along the motion, and the misfit up to which they were looked for, smaller ones first.

    A misfit beyond CONTRADICTION is for the cause only. The last sets, if `every` one is asked for, are of the rows nearest to the span of
    the others, one more each time: what axes are off by may be so much that nothing else tells which rows are redundant.
    """
    rule, misfit = model.redundancy.rule, model.redundancy.given
    sets: set[tuple[int, ...]] = set()
    for by, limit in ((misfit, CONTRADICTION), (None, LARGEST_TOLERANCE)):
        for at in poses:
            redundancy = find_redundancy(model, at.rows, rule, by, limit)
            if redundancy.dropped and not redundancy.only_here:
                sets.add(redundancy.dropped)
                yield redundancy, limit
    for at in poses if every else ():
        near = sorted(distance for _, distance in analyse_rank(model, at.rows, DEPENDENT).weak if distance <= LARGEST_TOLERANCE)
        for distance in near:
            examined = analyse_rank(model, at.rows, BESIDE * distance)
            redundancy = redundancy_of(model, at.rows, examined, rule, None, LARGEST_TOLERANCE)
            if redundancy.dropped not in sets and not redundancy.only_here:
                sets.add(redundancy.dropped)
                yield redundancy, LARGEST_TOLERANCE


def _way(problem: Problem, start: State, end: State) -> float:
    """Return the largest displacement of a body relative to the size, or its rotation [rad]."""
    turn = float(np.linalg.norm(logarithm(product(conjugate(start.p), end.p)), axis=1).max(initial=0.0))
    return max(turn, float(np.abs(end.r - start.r).max(initial=0.0)) / problem.size)


def redundant_rows_hold(problem: Problem, pose: Pose) -> bool:
    """Return whether the rows that are left out hold at another pose, as far as they may contradict each other along a motion."""
    if not len(problem.asleep):
        return True
    measured = constraint_gaps(problem.model, pose.rows, pose.state.t)
    gap = np.abs(measured.gap / np.where(measured.is_angle, 1.0, problem.size))[problem.asleep]
    return bool(gap.max(initial=0.0) <= GROWTH * problem.model.redundancy.limit)
