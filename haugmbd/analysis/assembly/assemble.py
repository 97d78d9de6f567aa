r"""assemble: the state nearest to a given one at which all joints are closed.

    positions     `position_solver`        from the given state, then from other states if it does not converge
    branch        `branch_repair`          joints that closed in the opposite sense are turned back
    velocities    `velocity_projection`

If the joints cannot be closed, AssemblyError names the joints that stay open at the closest pose, and carries this pose.
Source: Haug (2021), spatial kinematic analysis: assembly of a mechanism, consistent initial conditions.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from itertools import product

import numpy as np

from haugmbd.analysis.assembly.branch_repair import choices, turned_starts
from haugmbd.analysis.assembly.branch_signs import Sign, flipped, signs_of, turned_round
from haugmbd.analysis.assembly.constraint_system import Problem, Search, digits_of, displaced, pose_at, row_scale_to_metres
from haugmbd.analysis.assembly.continuation import continue_to_targets
from haugmbd.analysis.assembly.diagnosis import flip_faults, left_faults, open_faults, rate_faults, settled
from haugmbd.analysis.assembly.fixed_coordinates import FixedCoordinates, read_fixed_coordinates
from haugmbd.analysis.assembly.position_solver import PositionSolution, close_positions
from haugmbd.analysis.assembly.regularized_least_squares import body_metric
from haugmbd.analysis.assembly.result import Assembly, Flip, corrections, joint_gaps
from haugmbd.analysis.assembly.velocity_projection import nearest_velocities
from haugmbd.analysis.initial_model import beginning_at, compiled, examined, start_of, with_angles
from haugmbd.bodies.body import Body
from haugmbd.bodies.validation import numbers
from haugmbd.compiled.array_types import Array
from haugmbd.constraints.joint import Joint
from haugmbd.deprecated import check_keywords
from haugmbd.errors import AssemblyError, UsageError
from haugmbd.model.inspection.constraint_rows import evaluate
from haugmbd.model.inspection.identity import number_of
from haugmbd.model.model import Model
from haugmbd.model.state import State
from haugmbd.simulation.arguments import check_flags
from haugmbd.simulation.stepping.progress import Progress
from haugmbd.system.checks.contradictions import Contradiction, contradiction_faults
from haugmbd.system.system import System

TOL = 1e-12
"""Largest remaining |Phi|, in the units of the rows (m, m2, 1, rad). The last Newton step reaches rounding."""

RATE_TOL = 1e-9
"""Remainder of Phi_q u - nu, relative to the prescribed rates, above which rows contradict each other. It is above rounding."""

RESTARTS = 4
"""Number of other starts if the first does not close. A single local minimum does not prove that there is no solution."""

ATTEMPT = 60
"""Largest number of steps from a start at which joints are turned back: from one that is right it takes some ten."""

AGREE = 1e-2
"""Relative difference of the sums of squares below which two starts have found the same closest pose."""

SHAKEN = 0.5
"""Largest displacement of another start: this part of the size of the model, and as many radians."""

SEED = 20260501
"""Seed of the other starts, so that an assembly can be repeated."""


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

    Returns
    -------
    Assembly
        The assembled state, a model that starts there, and the corrections.

    Raises
    ------
    AssemblyError
        If joints stay open or turned round, or if the velocities contradict each other. Its `assembly` is the closest one.
    ModelError
        If the system has faults.
    UsageError
        If an argument is not valid.
    KeyboardInterrupt
        After Ctrl-C; the attribute `result` is the State with the smallest gaps so far, from which the search can go on.

    Notes
    -----
    Source: Haug (2021), spatial kinematic analysis: assembly of a mechanism.
    """
    check_flags(progress=progress)
    model = compiled(system, "assemble", tolerance)
    problem = pose_problem(model, start_of(model, state), hold, weights, tol)
    with Progress(progress, 0.0, digits_of(problem.size, tol), "digits") as bar:
        search = Search(bar, problem.size, tol)
        try:
            return _assembled(problem._replace(search=search), repair)
        except KeyboardInterrupt as stop:
            raise _interrupted(problem, search, stop) from None


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


def _assembled(problem: Problem, repair: bool) -> Assembly:
    """Return the assembly. Raise AssemblyError, see `assemble`."""
    model, start = problem.model, problem.held.start
    signs = signs_of(model)
    way = continue_to_targets(problem, start)
    closed = close_positions(problem, way.state)
    closed = closed._replace(iterations=way.iterations + closed.iterations)
    begun = turned_round(signs, start)
    found = settled(problem, closed, way.state)
    if not (found.solution.closed or found.contradictions):
        closed = turned_back(problem, signs, way.state, found.solution, begun) if begun and repair else found.solution
        closed = closed if closed.closed else close_from_elsewhere(problem, start, closed)
        found = settled(problem, closed, closed.pose.state)
    problem, closed = found.problem, found.solution
    if not closed.closed:
        beyond = contradiction_faults(found.contradictions, model.redundancy.limit)
        faults = beyond or (*open_faults(problem, closed.pose), *flip_faults(begun, "begins"))
        raise AssemblyError(faults, _assembly(problem, start, closed, ()))
    wrong = flipped(model, signs, closed.pose.state)
    if wrong and repair:
        closed = turned_back(problem, signs, way.state, closed, wrong)
    left = flipped(model, signs, closed.pose.state)
    flips = tuple(Flip(joint, joint not in left) for joint in dict.fromkeys([*begun, *wrong, *left]))
    assembly = _assembly(problem, start, closed, flips, found.contradictions)
    if left and repair:
        raise AssemblyError(left_faults(problem, closed.pose.state, left), assembly)
    if not model.redundancy.dropped or len(found.left_out):
        assembly = replace(assembly, model=examined(assembly.model, found.limit))
    faults = rate_faults(problem, assembly.state, RATE_TOL)
    if faults:
        raise AssemblyError(faults, assembly)
    return assembly


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


def close_from_elsewhere(problem: Problem, start: State, best: PositionSolution) -> PositionSolution:
    """Solve from states around the start. Return the closest pose, `best` included, if none closes."""
    random = np.random.default_rng(SEED)
    for _ in range(RESTARTS):
        shake = random.uniform(-SHAKEN, SHAKEN, (problem.model.nb, 6)) * np.repeat([problem.size, 1.0], 3)
        shake.ravel()[~problem.held.free] = 0.0
        other = close_positions(problem, displaced(start, shake))
        if other.closed:
            return other
        one, two = (float(pose.gap @ pose.gap) for pose in (other.pose, best.pose))
        best = other if one < two else best
        if abs(one - two) <= AGREE * two:
            break
    return best


def turned_back(
    problem: Problem, signs: tuple[Sign, ...], start: State, closed: PositionSolution, wrong: tuple[str, ...]
) -> PositionSolution:
    """Return the nearest closed pose with all joints in the modelled sense; `closed` itself if none is found."""
    model = problem.model
    held = ~problem.held.free.reshape(-1, 6)[:, 3:].any(axis=1)
    found = []
    for base, turning in product((start, closed.pose.state), choices(model, signs, wrong, (np.nonzero(held)[0] + 1).tolist())):
        for guess in turned_starts(model, wrong, turning, base):
            other = close_positions(problem, guess, ATTEMPT)
            if other.closed and not flipped(model, signs, other.pose.state):
                found.append(other)
        if found:
            break
    mass = model.mass[:, None]
    return min(found, key=lambda c: float(np.sum(mass * (c.pose.state.r - start.r) ** 2)), default=closed)


def _assembly(
    problem: Problem, start: State, closed: PositionSolution, flips: tuple[Flip, ...], off: tuple[Contradiction, ...] = ()
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
        contradictions=off,
    )
