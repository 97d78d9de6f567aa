r"""The assembly modes of a mechanism, such as elbow up and elbow down, found by assembly from random joint positions.

    start    every joint of a spanning tree at a random angle or displacement: bodies move rigidly with all bodies beyond the joint
    held     as many joint coordinates as there are degrees of freedom: without them the poses would be a continuum
    kept     closed poses with all joints in the modelled sense, that differ by more than DIFFERENT

    distance = sqrt( sum m |dr|^2 / sum m ) [m]        of centres of mass
Source: derived here. Independent coordinates: Haug (2021), spatial kinematic analysis; each is the next joint coordinate that the rows
leave free.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from math import degrees
from numbers import Integral

import numpy as np

from haugmbd.analysis.assembly.assemble import pose_problem
from haugmbd.analysis.assembly.branches import Sign, flipped, signs_of
from haugmbd.analysis.assembly.constraint_system import Problem, gradient, jacobian, pose_at, unit_rows
from haugmbd.analysis.assembly.far_starts import close_from_afar, random_starts
from haugmbd.analysis.assembly.fixed_coordinates import FixedCoordinates, coordinate_of, held_joint
from haugmbd.analysis.assembly.position_solver import PositionSolution, close_positions, nearest_velocities
from haugmbd.analysis.assembly.regularized_least_squares import dense
from haugmbd.analysis.assembly.result import redundant_rows_hold, settled
from haugmbd.analysis.initial_model import beginning_at, compiled, examined, start_of, with_angles
from haugmbd.bodies.body import Body
from haugmbd.choices import check_flags
from haugmbd.compiled.array_types import Array
from haugmbd.constraints.joint import Joint
from haugmbd.deprecated import check_keywords, public_class
from haugmbd.errors import AssemblyError, Fault, UsageError
from haugmbd.math.euler_parameters import conjugate, logarithm, product
from haugmbd.model.model import Model
from haugmbd.model.state import State
from haugmbd.simulation.stepping.progress import Progress
from haugmbd.system.checks.contradictions import contradiction_faults
from haugmbd.system.system import System
from haugmbd.tolerances import LARGEST_TOLERANCE

DIFFERENT = 1e-6
"""Distance, relative to the size of the model (and in radians), below which two poses are the same."""

RANK_TOL = 1e-8
"""Singular value, of rows of length 1, below which a direction is free."""


@public_class
@dataclass(frozen=True, eq=False)
class AssemblyMode:
    """One assembly mode of a mechanism.

    Attributes
    ----------
    model : Model
        Model whose modelled state is `state`.
    state : State
        Positions and velocities that fulfil the constraints.
    distance : float
        Distance from the first mode, root mean square over the mass [m].
    turn : float
        Largest rotation of a body relative to the first mode [rad].
    found : int
        Number of starts that led to this mode.
    held : tuple of str
        Names of the joints that were held.
    """

    model: Model
    state: State
    distance: float
    turn: float
    found: int
    held: tuple[str, ...]

    def __str__(self) -> str:
        """Return the distance from the first mode as text."""
        held = f", with {', '.join(map(repr, self.held))} held" if self.held else ""
        return (
            f"branch of {self.model.name!r}: {self.distance:.4g} m and {degrees(self.turn):.4g} degrees from the first one, "
            f"found {self.found} times{held}"
        )

    __repr__ = __str__


@check_keywords
def assembly_modes(
    system: System | Model,
    state: State | None = None,
    *,
    hold: Iterable[FixedCoordinates | Body | Joint] | FixedCoordinates | Body | Joint = (),
    starts: int = 40,
    seed: int = 0,
    tolerance: float | None = None,
    progress: bool = False,
) -> tuple[AssemblyMode, ...]:
    """Return the assembly modes that are found from random starts.

    Parameters
    ----------
    system : System or Model
        The mechanism.
    state : State, optional
        State next to the first mode; by default the modelled one.
    hold : Body, Joint, FixedCoordinates, or iterable of these
        Coordinates that are the same in all modes. Remaining degrees of freedom are held at the first joints that can be held.
    starts : int
        Number of random starts.
    seed : int
        Seed of the random starts.
    tolerance : float, optional
        How far redundant rows may contradict each other [rad, or part of the size of the mechanism]; by default that of the System, see
        there. For a System only: a Model has its own.
    progress : bool
        If True, show a progress bar.

    Returns
    -------
    tuple of AssemblyMode
        The mode nearest to `state` first, then by distance from it.

    Raises
    ------
    AssemblyError
        If the first mode cannot be assembled.
    UsageError
        If an argument is not valid.
    KeyboardInterrupt
        After Ctrl-C; the attribute `result` is the tuple of the modes so far.

    Notes
    -----
    The search is random: a mode can be missed.
    """
    for name, value, least in (("starts", starts, 1), ("seed", seed, 0)):
        if not (isinstance(value, Integral) and value >= least):
            raise UsageError(f"{name} = {value!r} must be a whole number, {least} or more.")
    check_flags(progress=progress)
    model = compiled(system, "assembly_modes", tolerance)
    problem = pose_problem(model, start_of(model, state), hold)
    found_first = settled(problem, close_positions(problem, problem.held.start), problem.held.start)
    problem, first = found_first.problem._replace(loose=0.0), found_first.solution
    if not first.closed:
        first = close_from_afar(problem, signs_of(model), problem.held.start, first).solution
    if not first.closed:
        what = f"the first one cannot be assembled: |Phi| stays at {first.pose.worst:.3g}"
        named = Fault("assembly_modes", what, "assemble(system) names the joints that stay open.")
        raise AssemblyError(contradiction_faults(found_first.contradictions, model.redundancy.limit) or [named], None)
    problem = with_free_joints_held(problem, first.pose.state)
    states, counts, signs = [first.pose.state], [0], signs_of(model)
    with Progress(progress, 0, starts, "starts") as bar:
        try:
            for start in random_starts(model, first.pose.state, starts, seed):
                _count(problem, signs, states, counts, close_positions(problem, start))
                bar.done()
        except KeyboardInterrupt as stop:
            told = KeyboardInterrupt(
                f"assembly_modes was interrupted by Ctrl-C after {sum(counts)} starts that closed. The attribute `result` of this error "
                f"has the {len(states)} modes so far.",
                *stop.args,
            )
            told.result = _modes(problem, states, counts)  # type: ignore[attr-defined]
            raise told from None
    return _modes(problem, states, counts)


def _count(problem: Problem, signs: tuple[Sign, ...], states: list[State], counts: list[int], closed: PositionSolution) -> None:
    """Add a closed pose to the modes, or count it with the one that it is."""
    if not closed.closed or flipped(problem.model, signs, closed.pose.state) or not redundant_rows_hold(problem, closed.pose):
        return
    near = [k for k, other in enumerate(states) if same(problem, other, closed.pose.state)]
    if near:
        counts[near[0]] += 1
    else:
        states.append(closed.pose.state)
        counts.append(1)


def _modes(problem: Problem, states: list[State], counts: list[int]) -> tuple[AssemblyMode, ...]:
    """Return the modes of the poses, the nearest to the first one first."""
    made = [_mode(problem, states[0], state, count) for state, count in zip(states, counts, strict=True)]
    return tuple(sorted(made, key=lambda branch: branch.distance))


def _mode(problem: Problem, first: State, state: State, count: int) -> AssemblyMode:
    """Return the mode of a pose, with velocities."""
    model = problem.model
    state = with_angles(model, nearest_velocities(problem, state).state)
    held = tuple(joint.entry.name for joint in problem.held.joints)
    moved = beginning_at(model, state)
    return AssemblyMode(
        examined(moved, LARGEST_TOLERANCE) if len(problem.asleep) else moved, state, *apart(model, first, state), count, held
    )


def apart(model: Model, state: State, other: State) -> tuple[float, float]:
    """Return the distance of two poses [m], and the largest rotation between them [rad]."""
    step = np.sum((other.r - state.r) ** 2, axis=1)
    turn = np.linalg.norm(logarithm(product(conjugate(state.p), other.p)), axis=1)
    return float(np.sqrt(model.mass @ step / model.mass.sum())), float(turn.max(initial=0.0))


def same(problem: Problem, state: State, other: State) -> bool:
    """Return whether two poses are the same."""
    distance, turn = apart(problem.model, state, other)
    return distance <= DIFFERENT * problem.size and turn <= DIFFERENT


def with_free_joints_held(problem: Problem, state: State) -> Problem:
    """Return the assembly problem with further joints held fixed, until no free motion is left.

    Each joint that a free motion moves is held in turn; then coordinates of bodies.
    """
    for e in problem.model.joints.values():
        N = free_motions(problem, state)
        if N.shape[1] == 0:
            return problem
        if coordinate_of(e) is None:
            continue
        joints = (*problem.held.joints, held_joint(e, state))
        longer = problem._replace(held=problem.held._replace(joints=joints))
        J, _ = unit_rows(jacobian(longer, problem.metric, gradient(longer, state, pose_at(longer, state).rows)))
        if np.linalg.norm(J[[-1]] @ N) > np.sqrt(RANK_TOL):
            problem = longer
    return _with_bodies_held(problem, state)


def _with_bodies_held(problem: Problem, state: State) -> Problem:
    """Hold coordinates of bodies that can still move, those with the largest motion first."""
    while (N := free_motions(problem, state)).shape[1]:
        columns = np.nonzero(problem.held.free)[0]
        free = problem.held.free.copy()
        free[columns[np.argmax(np.linalg.norm(N, axis=1))]] = False
        problem = problem._replace(held=problem.held._replace(free=free))
    return problem


def free_motions(problem: Problem, state: State) -> Array:
    """Return an orthonormal basis (nf, k) of the motions z = W^(1/2) d that no row and no fixed coordinate prevents."""
    J, _ = unit_rows(jacobian(problem, problem.metric, gradient(problem, state, pose_at(problem, state).rows)))
    _, size, V = np.linalg.svd(dense(J))
    rank = int(np.count_nonzero(size > RANK_TOL * max(1.0, float(size.max(initial=0.0)))))
    return np.asarray(V[rank:].T, dtype=np.float64)
