"""assemble: the state nearest to a given one at which all joints are closed.

    positions     `position_solver`        from a state that is nearly closed
                  `far_starts`             from any other one, and from other states if that does not close
    branch        `branches`          joints that closed in the opposite sense are turned back
    velocities    `position_solver`

If the joints cannot be closed, AssemblyError names the joints that stay open at the closest pose, and carries this pose.

Distant values of drivers and held joints are reached in small steps, so that the mechanism stays in its assembly mode.

    value_k = value_0 + k / n (value - value_0),  k = 1 .. n          closed at each; the shorter way round

The rows of such drivers are inactive meanwhile: beyond a quarter turn sin(theta - f) = 0 converges to the wrong solution.
Source: Haug (2021), spatial kinematic analysis: assembly of a mechanism, consistent initial conditions.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from itertools import product
from math import ceil, pi
from typing import NamedTuple

import numpy as np

from haugmbd.analysis.assembly.apart import moved_apart
from haugmbd.analysis.assembly.branches import Sign, choices, flipped, opposed, signs_of, turned_round, turned_starts
from haugmbd.analysis.assembly.constraint_system import Problem, Search, digits_of, pose_at, row_scale_to_metres
from haugmbd.analysis.assembly.far_starts import ATTEMPT, brought_near, close_from_afar, is_near
from haugmbd.analysis.assembly.fixed_coordinates import FixedCoordinates, HeldJoint, held_row, read_fixed_coordinates
from haugmbd.analysis.assembly.position_solver import (
    ITERATIONS,
    PositionSolution,
    close_positions,
    nearest_velocities,
    newton_table,
)
from haugmbd.analysis.assembly.regularized_least_squares import body_metric
from haugmbd.analysis.assembly.result import (
    Assembly,
    Flip,
    Settled,
    corrections,
    flip_faults,
    joint_gaps,
    left_faults,
    open_faults,
    rate_faults,
    settled,
)
from haugmbd.analysis.initial_model import beginning_at, compiled, examined, start_of, with_angles
from haugmbd.bodies.body import Body
from haugmbd.bodies.validation import numbers
from haugmbd.choices import check_flags
from haugmbd.compiled.array_types import Array
from haugmbd.constraints.joint import Joint
from haugmbd.deprecated import check_keywords
from haugmbd.drivers import Constant
from haugmbd.errors import AssemblyError, UsageError
from haugmbd.model.inspection.constraint_rows import evaluate
from haugmbd.model.inspection.identity import number_of
from haugmbd.model.labels import JointEntry
from haugmbd.model.model import Model
from haugmbd.model.state import State
from haugmbd.simulation.stepping.progress import Progress
from haugmbd.system.checks.constraint_residuals import constraint_gaps, position_faults
from haugmbd.system.checks.contradictions import Contradiction, contradiction_faults
from haugmbd.system.system import System
from haugmbd.tolerances import DEPENDENT, LARGEST_TOLERANCE

FAR_TURN, FAR_SLIDE = 0.5, 0.25
"""[rad], and part of the size of the model: a joint that is farther from its target moves there in steps of this size."""

SAME = 1e-9
"""A driver is followed if its row measures the angle or displacement of its joint's frames, up to rounding."""


class Continuation(NamedTuple):
    """The state after the continuation, and its iterations."""

    state: State
    iterations: int


class _Goal(NamedTuple):
    """A joint with a target: its row at the start, the distance, the inactive row (-1 for none), and its number among the held joints."""

    joint: HeldJoint
    way: float
    row: int
    place: int


def continue_to_targets(problem: Problem, start: State) -> Continuation:
    """Return a state near the targets; `start` itself if no target is far, or if a step does not close."""
    goals = [*_held_goals(problem, start), *_driver_goals(problem, start)]
    steps = max((ceil(abs(g.way) / (FAR_TURN if g.joint.turns else FAR_SLIDE * problem.size)) for g in goals), default=1)
    if steps == 1:
        return Continuation(start, 0)
    state, iterations = start, 0
    asleep = np.array([goal.row for goal in goals if goal.row >= 0], dtype=np.int64)
    for k in range(1, steps + 1):
        joints = list(problem.held.joints)
        for goal in goals:
            at = goal.joint._replace(value=goal.joint.value + k / steps * goal.way)
            if goal.place < 0:
                joints.append(at)
            else:
                joints[goal.place] = at
        held = problem.held._replace(joints=tuple(joints))
        closed = close_positions(problem._replace(held=held, asleep=asleep, search=None), state)
        if not closed.closed:
            return Continuation(start, 0)
        state, iterations = closed.pose.state, iterations + closed.iterations
    return Continuation(state, iterations)


def _held_goals(problem: Problem, start: State) -> list[_Goal]:
    """Return the held joints that are far from their values."""
    goals = []
    for column, joint in enumerate(problem.held.joints):
        distance = -held_row(joint, start).Phi
        if distance != 0.0:
            goals.append(_Goal(joint._replace(value=joint.value - distance), distance, -1, column))
    return goals


def _driver_goals(problem: Problem, start: State) -> list[_Goal]:
    """Return the drivers of an angle or a displacement that are far from their values."""
    model = problem.model
    measured = constraint_gaps(model, evaluate(model, start), start.t)
    of_row, goals = model.drivers_of_rows(), []
    for e in model.joints.values():
        row = int(e.rows[0]) if len(e.rows) == 1 else -1
        if row < 0 or (model.labels[row].unit != "rad" and isinstance(model.drivers[of_row[row]], Constant)):
            continue
        joint = _measuring(e, start, model.labels[row].unit, float(measured.f[row] + measured.gap[row]))
        if joint is not None:
            goals.append(_Goal(joint, -float(measured.gap[row]), row, -1))
    return goals


def _measuring(e: JointEntry, start: State, unit: str, value: float) -> HeldJoint | None:
    """Return the joint as it is held at `value`; None if its frames measure another quantity."""
    if unit not in ("rad", "m"):
        return None
    joint = HeldJoint(e, unit == "rad", value, 0.0)
    off = held_row(joint, start).Phi
    off = (off + pi) % (2.0 * pi) - pi if joint.turns else off
    return joint if abs(off) <= SAME * max(1.0, abs(value)) else None


TOL = 1e-12
"""Largest remaining |Phi|, in the units of the rows (m, m2, 1, rad). The last Newton step reaches rounding."""

RATE_TOL = 1e-9
"""Remainder of Phi_q u - nu, relative to the prescribed rates, above which rows contradict each other. It is above rounding."""


@check_keywords
def assemble(
    system: System | Model,
    state: State | None = None,
    *,
    hold: Iterable[FixedCoordinates | Body | Joint] | FixedCoordinates | Body | Joint = (),
    weights: Mapping[Body, float] | None = None,
    tol: float = TOL,
    tolerance: float | None = None,
    repair: bool = True,
    progress: bool = False,
    record: bool = False,
    apart: bool = False,
) -> Assembly:
    """Assemble a mechanism: close all joints with the least motion of its bodies, then find the velocities.

    Parameters
    ----------
    system : System or Model
        The mechanism. Its modelled pose need not fulfil the constraints.
    state : State, optional
        Start; by default the modelled state. Drivers are evaluated at its time.
    hold : Body, Joint, FixedCoordinates, or iterable of these
        Coordinates that stay fixed.
    weights : dict of Body to float, optional
        Factors of the inertia of bodies in the metric: a body with a large factor moves less.
    tol : float
        Largest remaining |Phi| of the independent rows, in the units of the rows (m, m2, 1, rad).
    tolerance : float, optional
        How far redundant rows may contradict each other [rad, or part of the size of the mechanism]; by default that of the System, see
        there. For a System only: a Model has its own.
    repair : bool
        If True, turn joints back that closed in the opposite sense. If False, list them in `flipped`.
    progress : bool
        If True, show a progress bar: the digits to which the joints are closed.
    record : bool
        If True, `newton` of the assembly is the table of the position analysis: iterate, |Phi|, |dq|, condition, step.
    apart : bool
        If True, bodies that overlap at rigid contacts are moved apart, with the least motion, until they touch. It takes no `hold` and no
        `weights`.

    Returns
    -------
    Assembly
        The assembled state, a model that starts there, and the corrections.

    Raises
    ------
    AssemblyError
        If joints stay open or turned round, or if the velocities contradict each other. Its `assembly` is the closest one.
    ModelError
        If the system has faults, or bodies that are to be moved apart still overlap.
    UsageError
        If an argument is not valid.
    KeyboardInterrupt
        After Ctrl-C; the attribute `result` is the State with the smallest gaps so far, from which the search can go on.

    Notes
    -----
    Source: Haug (2021), spatial kinematic analysis: assembly of a mechanism.
    """
    check_flags(progress=progress, record=record, apart=apart, repair=repair)
    model = compiled(system, "assemble", tolerance)
    if apart:
        if hold or weights is not None:
            raise UsageError(
                "assemble(apart=True) takes no hold= and no weights=: hold bodies by joints, or move them apart first."
            )
        closed = assemble(system, state, tol=tol, tolerance=tolerance, repair=repair, progress=progress).state
        state = moved_apart(model, closed)
    problem = pose_problem(model, start_of(model, state), hold, weights, tol)
    with Progress(progress, 0.0, digits_of(problem.size, tol), "digits") as bar:
        search = Search(bar, problem.size, tol)
        search.poses = [] if record else None
        try:
            assembly = _assembled(problem._replace(search=search), repair)
        except KeyboardInterrupt as stop:
            raise _interrupted(problem, search, stop) from None
    if search.poses is None:
        return assembly
    return replace(assembly, newton=newton_table([*search.poses, (pose_at(problem, assembly.state), False)], problem.size))


def _interrupted(problem: Problem, search: Search, stop: KeyboardInterrupt) -> KeyboardInterrupt:
    """Return Ctrl-C with the closest pose of the search."""
    pose = pose_at(problem, problem.held.start) if search.closest is None else search.closest
    starts = "1 start" if search.starts == 1 else f"{search.starts} starts"
    told = KeyboardInterrupt(
        f"assemble was interrupted by Ctrl-C after {search.steps} steps from {starts}; joints are open by "
        f"{pose.furthest:.3g} m. The attribute `result` of this error is the State with these gaps: assemble(system, error.result) "
        "goes on from there.",
        *stop.args,
    )
    told.result = pose.state  # type: ignore[attr-defined]
    return told


def contradictions_when_closed(model: Model) -> tuple[Contradiction, ...]:
    """Return the redundant rows for which `assemble` refuses a model that is nearly closed as modelled; () if it closes, or is not near."""
    start = model.state()
    problem = pose_problem(model, start)
    if not pose_at(problem, start).furthest <= LARGEST_TOLERANCE * problem.size:
        return ()
    solution = settled(problem, close_positions(problem, start, ITERATIONS), start)
    return () if solution.solution.closed else solution.contradictions


def _assembled(problem: Problem, repair: bool) -> Assembly:
    """Return the assembly. Raise AssemblyError, see `assemble`."""
    model, start = problem.model, problem.held.start
    signs = signs_of(model)
    # distant values of drivers and held joints, in small steps; then the positions
    at_targets = continue_to_targets(problem, start)
    turned_at_start = turned_round(signs, start)
    turned_there = turned_at_start if at_targets.state is start else turned_round(signs, at_targets.state)
    solution, wrong, tries = _closed_from(problem, signs, at_targets.state, turned_there, repair)
    problem, closed = solution.problem, solution.solution
    closed = closed._replace(iterations=at_targets.iterations + closed.iterations)
    # if joints stay open: once more, with those turned back that began in the opposite sense
    if not closed.closed and not solution.contradictions and turned_at_start and repair:
        closed = turned_back(problem._replace(loose=0.0), signs, at_targets.state, closed, turned_at_start)
        wrong = flipped(model, signs, closed.pose.state)
    if not closed.closed:
        beyond = contradiction_faults(solution.contradictions, model.redundancy.limit)
        faults = beyond or (*open_faults(problem, closed.pose), *flip_faults(turned_at_start, "begins"))
        raise AssemblyError(faults, _assembly(problem, start, closed, tries=tries))
    # joints that closed in the opposite sense are turned back
    left = wrong
    if wrong and repair:
        closed = turned_back(problem, signs, at_targets.state, closed, wrong)
        left = flipped(model, signs, closed.pose.state)
    flips = tuple(Flip(joint, joint not in left) for joint in dict.fromkeys([*turned_at_start, *wrong, *left]))
    flips += tuple(Flip(joint, False) for joint in opposed(signs) if joint not in (flip.joint for flip in flips))
    assembly = _assembly(problem, start, closed, flips, tries, solution.contradictions)
    if left and repair:
        raise AssemblyError(left_faults(problem, closed.pose.state, left), assembly)
    # the rank of the rows at this pose, and velocities that fit
    if not model.redundancy.dropped or len(solution.left_out) or position_faults(model):
        assembly = replace(assembly, model=examined(assembly.model, solution.limit))
    faults = rate_faults(problem, assembly.state, RATE_TOL)
    if faults:
        raise AssemblyError(faults, assembly)
    return assembly


def _closed_from(
    problem: Problem, signs: tuple[Sign, ...], state: State, turned: tuple[str, ...], repair: bool
) -> tuple[Settled, tuple[str, ...], int]:
    """Return the positions nearest to a state, the joints that closed in the opposite sense, and the number of starts.

    turned: the joints that are in the opposite sense in the state
    """
    model = problem.model
    near = is_near(problem, pose_at(problem, state), turned)
    closed, tries = close_positions(problem, state, ITERATIONS if near or not repair else ATTEMPT), 1
    solution = settled(problem, closed, state)
    wrong = flipped(model, signs, solution.solution.pose.state) if solution.solution.closed else ()
    # a far start may lead beside a dead centre, where rows depend on each other at this pose only: no contradiction if all close elsewhere
    beside = pose_at(problem, problem.held.start).furthest <= LARGEST_TOLERANCE * problem.size
    doubted = not beside and any(misfit.part > DEPENDENT for misfit in solution.contradictions)  # more than missing digits
    if solution.solution.closed and not doubted and (not repair or (near and not wrong)):
        if near and not len(solution.left_out):
            solution = solution._replace(solution=brought_near(solution.problem, solution.solution))
    elif doubted or not solution.contradictions:
        first = solution.solution._replace(closed=solution.solution.closed and not doubted)
        closed, tries = close_from_afar(problem._replace(loose=0.0), signs if repair else (), state, first)
        from_afar = settled(problem, closed, closed.pose.state)
        if not doubted or (from_afar.solution.closed and not from_afar.contradictions):
            solution = from_afar
            wrong = flipped(model, signs, solution.solution.pose.state)
    return solution, wrong, tries


def pose_problem(
    model: Model,
    start: State,
    hold: Iterable[FixedCoordinates | Body | Joint] | FixedCoordinates | Body | Joint = (),
    weights: Mapping[Body, float] | None = None,
    tol: float = TOL,
) -> Problem:
    """Return the assembly problem. Raise UsageError for coordinates that cannot be held, and for weights that are not valid."""
    if not _positive(tol):
        raise UsageError(f"tol = {tol!r} must be a positive number; {TOL:g} is the default.")
    rows = evaluate(model, start)
    size = model.length
    metric = body_metric(model, _factors(model, weights), size)
    return Problem(
        model,
        read_fixed_coordinates(model, start, hold),
        metric,
        row_scale_to_metres(model, rows, start.t, size),
        size,
        tol,
        loose=model.redundancy.limit,
    )


def _factors(model: Model, weights: Mapping[Body, float] | None) -> Array:
    """Return the factor of each body, (nb,)."""
    factors = np.ones(model.nb)
    if weights is not None and not isinstance(weights, Mapping):
        raise UsageError(f"weights = {weights!r} must be a dictionary of factors by body, such as weights={{body: 10.0}}.")
    for body, factor in (weights or {}).items():
        name = model.body_names[number_of(model, body, "weights")] if isinstance(body, Body) else str(body)
        if name not in model.body_names[1:]:
            raise UsageError(f"weights: no moving body is called {name!r}; there are {', '.join(map(repr, model.body_names[1:]))}.")
        if not _positive(factor):
            raise UsageError(
                f"weights: {factor!r} of {name!r} must be a positive number; use hold=[body] for one that must not move."
            )
        factors[model.body(name) - 1] = factor
    return factors


def _positive(value: object) -> bool:
    """Return whether `value` is one finite positive number."""
    number = numbers(value)
    return number is not None and number.shape == () and bool(np.isfinite(number) and number > 0.0)


def turned_back(
    problem: Problem, signs: tuple[Sign, ...], start: State, closed: PositionSolution, wrong: tuple[str, ...]
) -> PositionSolution:
    """Return the nearest closed pose with all joints in the modelled sense; `closed` itself if none is found."""
    model = problem.model
    held = ~problem.held.free.reshape(-1, 6)[:, 3:].any(axis=1)
    poses = []
    for base, turning in product((start, closed.pose.state), choices(model, signs, wrong, (np.nonzero(held)[0] + 1).tolist())):
        for guess in turned_starts(model, wrong, turning, base):
            other = close_positions(problem, guess, ATTEMPT)
            if other.closed and not flipped(model, signs, other.pose.state):
                poses.append(other)
        if poses:
            break
    mass = model.mass[:, None]
    return min(poses, key=lambda c: float(np.sum(mass * (c.pose.state.r - start.r) ** 2)), default=closed)


def _assembly(
    problem: Problem,
    start: State,
    closed: PositionSolution,
    flips: tuple[Flip, ...] = (),
    tries: int = 1,
    off: tuple[Contradiction, ...] = (),
) -> Assembly:
    """Return the assembly, with its velocities and integrated angles, and a model that starts there."""
    speeds = nearest_velocities(problem, closed.pose.state)
    state = with_angles(problem.model, speeds.state)
    return Assembly(
        model=beginning_at(problem.model, state),
        state=state,
        iterations=closed.iterations,
        before=pose_at(problem, start).worst,
        after=closed.pose.worst,
        rate_before=speeds.before,
        rate_after=speeds.after,
        corrections=corrections(problem.model, start, state),
        gaps=joint_gaps(problem.model, start),
        flips=flips,
        held=problem.held.names,
        tolerance=problem.tol,
        starts=tries,
        contradictions=off,
    )
