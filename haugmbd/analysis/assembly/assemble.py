r"""assemble: from a mechanism whose parts do not fit to the nearest state at which they do.

    positions     `position_solver`    from the given state, and again from others where that does not close
    branch        `signs`      joints that came out the other way round are turned back, see `branch_repair`
    velocities    `velocity_projection`

What cannot be closed is an error that names the joints that stay open at the closest pose, with that pose attached.
Source: Haug sec. 4.4 and 7 (assembly, consistent initial conditions).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from itertools import product

import numpy as np

from haugmbd.analysis.assembly.branch_repair import choices, turned_starts
from haugmbd.analysis.assembly.branch_signs import Sign, flipped, signs_of, turned_round
from haugmbd.analysis.assembly.constraint_system import Problem, displaced, pose_at, row_scale_to_metres
from haugmbd.analysis.assembly.continuation import continue_to_targets
from haugmbd.analysis.assembly.diagnosis import flip_faults, left_faults, open_faults, rate_faults
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
from haugmbd.model.constraint_rows import evaluate
from haugmbd.model.identity import number_of
from haugmbd.model.model import Model
from haugmbd.model.state import State
from haugmbd.system.constraint_residuals import size_of
from haugmbd.system.system import System

TOL = 1e-12
"""Largest |Phi| that is left, in the rows' own units (m, m2, 1, rad): Newton's last step reaches rounding, 1e-15 of the numbers."""

RATE_TOL = 1e-9
"""Rest of Phi_q u - nu, relative to the rates that are asked for, above which rows contradict each other; rounding leaves 1e-12."""

RESTARTS = 4
"""Other starts where the first does not close: a pose from which each step makes some joint worse is no proof."""

AGREE = 1e-2
"""Two starts whose closest poses are as far open, relative to the sum of squares, have found the closest there is."""

SHAKEN = 0.5
"""How far such a start is moved: this part of the size of the model, and as many radians."""

SEED = 20260501
"""Of the other starts: an assembly can be repeated."""


@check_keywords
def assemble(
    system: System | Model,
    state: State | None = None,
    *,
    hold: Iterable[FixedCoordinates | Body | Joint] | FixedCoordinates | Body | Joint = (),
    weights: Mapping[Body, float] | None = None,
    tol: float = TOL,
    repair: bool = True,
) -> Assembly:
    """Assemble a mechanism: move its bodies as little as possible, so that all joints are closed; then its velocities.

    system: its modelled pose need not fit;  state: where to start, by default the modelled state; its time is that of the drivers
    hold: bodies, joints, or Hold(...): what stays;  weights: factors of a body's inertia, which says how reluctantly it moves
    tol: largest |Phi| that is left, in the rows' own units;  repair: turn joints back that came out the other way round; False leaves
        them, and lists them in `flipped`
    Raises AssemblyError (joints that stay open, or round; its `.assembly` is the closest), ModelError, UsageError.
    """
    model = compiled(system)
    problem = pose_problem(model, start_of(model, state), hold, weights, tol)
    start = problem.held.start
    signs = signs_of(model)
    way = continue_to_targets(problem, start)
    closed = close_positions(problem, way.state)
    closed = closed._replace(iterations=way.iterations + closed.iterations)
    begun = turned_round(signs, start)
    if begun and repair and not closed.closed:
        closed = turned_back(problem, signs, way.state, closed, begun)
    closed = closed if closed.closed else close_from_elsewhere(problem, start, closed)
    if not closed.closed:
        faults = (*open_faults(problem, closed.pose), *flip_faults(begun, "begins"))
        raise AssemblyError(faults, _found(problem, start, closed, ()))
    wrong = flipped(model, signs, closed.pose.state)
    if wrong and repair:
        closed = turned_back(problem, signs, way.state, closed, wrong)
    left = flipped(model, signs, closed.pose.state)
    flips = tuple(Flip(joint, joint not in left) for joint in dict.fromkeys([*begun, *wrong, *left]))
    assembly = _found(problem, start, closed, flips)
    if left and repair:
        raise AssemblyError(left_faults(problem, closed.pose.state, left), assembly)
    if not model.redundancy.dropped:
        assembly = replace(assembly, model=examined(assembly.model))
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
    """What is to be closed; UsageError for what cannot be held or weighed."""
    if not _positive(tol):
        raise UsageError(f"tol = {tol!r} must be a positive number; {TOL:g} is the default.")
    rows = evaluate(model, start)
    size = size_of(model, rows)
    metric = body_metric(model, _factors(model, weights), size)
    return Problem(
        model, read_fixed_coordinates(model, start, hold), metric, row_scale_to_metres(model, rows, start.t, size), size, tol
    )


def _factors(model: Model, weights: Mapping[Body, float] | None) -> Array:
    """The factor of each body, (nb,)."""
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
    """Whether it is one finite number above zero."""
    number = numbers(value)
    return number is not None and number.shape == () and bool(np.isfinite(number) and number > 0.0)


def close_from_elsewhere(problem: Problem, start: State, best: PositionSolution) -> PositionSolution:
    """Close from states around the start; the closest pose of all, `best` included, if none closes."""
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
    """The nearest closed pose with all joints the right way round; `closed` itself if none is found."""
    model = problem.model
    held = ~problem.held.free.reshape(-1, 6)[:, 3:].any(axis=1)
    found = []
    for base, turning in product((start, closed.pose.state), choices(model, signs, wrong, (np.nonzero(held)[0] + 1).tolist())):
        for guess in turned_starts(model, wrong, turning, base):
            other = close_positions(problem, guess)
            if other.closed and not flipped(model, signs, other.pose.state):
                found.append(other)
        if found:
            break
    mass = model.mass[:, None]
    return min(found, key=lambda c: float(np.sum(mass * (c.pose.state.r - start.r) ** 2)), default=closed)


def _found(problem: Problem, start: State, closed: PositionSolution, flips: tuple[Flip, ...]) -> Assembly:
    """The assembly, with velocities and integrated angles that fit, and a model that begins there."""
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
    )
