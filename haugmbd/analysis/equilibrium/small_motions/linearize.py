r"""linearize: small motions about an equilibrium or a steady motion, along the tangent space of the constraints.

    M x'' + C x' + K x = 0            u = B x',  Phi_q B = 0           x: as many coordinates as degrees of freedom
    M = B^T M B      C = -B^T d(Q - M bias)/du B      K = -B^T d(Q - M bias - Phi_q^T lam)/dq B
    (x, x')' = A (x, x')              eigenvalues s:  omega = |s|,  zeta = -Re s / |s|,  x(t) = Re( x e^(s t) )
    with blocks: M x'' + C x' + K x = E z,   z' = Z (x, x', z):  see `block_modes`

x are displacements and rotations of bodies, chosen so that all others follow from them with small factors. In a steady motion
(`UniformRotation`, `UniformTranslation`, `RotorSpin`) they are relative to the moving frame; C then has Coriolis and gyroscopic terms, K
centrifugal ones. Rows of velocities only, of rolling wheels, leave fewer speeds than coordinates: see `velocity_rows`.
Source: Haug (2021), equations of motion; Neto and Ambrosio (2003), Lehner and Eberhard (2006), linearized equations on the null space.
"""

from __future__ import annotations

from numbers import Integral
from typing import Any, overload

import numpy as np
import numpy.typing as npt

from haugmbd.analysis.equilibrium.held_contacts import HeldContacts, check_held, held_contacts, need_no_contact
from haugmbd.analysis.equilibrium.residual import (
    ResidualEvaluator,
    bodies_in,
    make_residual_evaluator,
    motions_of,
    read_model,
    state_of,
)
from haugmbd.analysis.equilibrium.result import Equilibrium
from haugmbd.analysis.equilibrium.small_motions.block_modes import block_modes, check_inertia, motion_matrices
from haugmbd.analysis.equilibrium.small_motions.eigenmodes import Modes, find_modes, slowest
from haugmbd.analysis.equilibrium.small_motions.input_output import state_space
from haugmbd.analysis.equilibrium.small_motions.linearization import Linearization, Mode, in_coordinates
from haugmbd.analysis.equilibrium.small_motions.stages import DAMPING, EIGENVALUES, STAGES, STIFFNESS, WORDS, Stages
from haugmbd.analysis.equilibrium.small_motions.state_space import StateSpace, StateSpaceMotion
from haugmbd.analysis.equilibrium.smooth_derivative import MotionDerivative
from haugmbd.analysis.equilibrium.solver import TrialPose, trial_pose_at
from haugmbd.analysis.equilibrium.steady_check import check_states, check_steady, refuse_friction
from haugmbd.analysis.equilibrium.steady_motion import SteadyLike, read_steady
from haugmbd.analysis.equilibrium.tangent_matrices import damping, number_of_derivatives, stiffness
from haugmbd.analysis.equilibrium.tangent_space import (
    NOISE,
    independent_coordinates,
    inertia,
    rate_of_motions,
    rounding_of,
    scale_of,
)
from haugmbd.analysis.mobility.free_motions import SHOWN_PART, Complex, largest, leading, motion_text
from haugmbd.analysis.regular_pose import check_regular
from haugmbd.choices import check_flags
from haugmbd.compiled.array_types import Array
from haugmbd.deprecated import check_keywords
from haugmbd.errors import ModelError, SimulationError, UsageError
from haugmbd.math.blas_threads import one_blas_thread
from haugmbd.math.body_columns import EULER, VELOCITY, WIDTH
from haugmbd.math.euler_parameters import rotation_matrix
from haugmbd.model.inspection.given import no_tolerance
from haugmbd.model.inspection.run_memory import (
    need_constant_masses,
    need_drivers_of_time,
    need_no_freewheels,
    stop_faults,
    touched_stops,
)
from haugmbd.model.model import Model
from haugmbd.model.state import State
from haugmbd.simulation.results.result import Result
from haugmbd.simulation.stepping.progress import Progress
from haugmbd.system.checks.constraint_residuals import position_faults, velocity_faults
from haugmbd.system.system import System

EQUILIBRIUM_TOL = 1e-8
"""Remaining force along the motions, relative to the forces at work, above which a state is not an equilibrium. K has an error of about
this size.
"""


REST_TOL = 1e-9
"""Speed that counts as zero, relative to 1 rad/s (L/s), or to the steady motion."""


NO_DAMPING = 1e-12
"""C [J s] times the rate of the motions [1/s] that counts as zero, relative to the forces at work [J]: rounding of differences."""


SHOWN = 4
"""Number of bodies whose remaining forces are named."""


@overload
def linearize(
    system: System | Model | Equilibrium,
    state: State | None = None,
    *,
    steady: SteadyLike = None,
    modes: int | None = None,
    tolerance: float | None = None,
    progress: bool = False,
) -> Linearization: ...


@overload
def linearize(
    system: Result,
    state: None = None,
    *,
    inputs: Any = None,
    outputs: Any = None,
    coordinates: Any = None,
    t: npt.ArrayLike | None = None,
    progress: bool = False,
) -> StateSpaceMotion: ...


@overload
def linearize(
    system: System | Model | Equilibrium,
    state: State | None = None,
    *,
    inputs: Any = None,
    outputs: Any = None,
    coordinates: Any = None,
    moving: bool = False,
    steady: SteadyLike = None,
    modes: int | None = None,
    tolerance: float | None = None,
    progress: bool = False,
) -> StateSpace: ...


@check_keywords
@one_blas_thread()
def linearize(
    system: System | Model | Equilibrium | Result,
    state: State | None = None,
    *,
    inputs: Any = None,
    outputs: Any = None,
    coordinates: Any = None,
    moving: bool = False,
    t: npt.ArrayLike | None = None,
    steady: SteadyLike = None,
    modes: int | None = None,
    tolerance: float | None = None,
    progress: bool = False,
) -> Linearization | StateSpace | StateSpaceMotion:
    """Linearize the equations of motion about an equilibrium, about a steady motion, or about the states of a motion.

    Parameters
    ----------
    system : System, Model, Equilibrium or Result
        The mechanism; an equilibrium that `equilibrium` returned; or a motion, as of `simulate` or `kinematics`, about whose states it is
        linearized: the result is a StateSpaceMotion.
    state : State, optional
        State of the linearization; by default the modelled one. Forces that depend on time are evaluated at its time.
    inputs : sequence of str or parts, optional
        Names of inputs, or loads and drivers themselves: "motor" or "motor.torque", "push.force[0]" (the whole vector without a number),
        "drive" (the motion of a driver), "drive.rate" and "drive.acceleration", "drive.torque" (the driver is released, in a motion),
        "pid.setpoint", "command.u" (an output of a Block). What prescribes the value stays, and the input is added to it.
    outputs : sequence of str, optional
        Names of quantities: "joint.pin.angle", "body.bob.r[0]", "reaction.pin.force[2]", "load.strut.force", "point.bob(0, 0, 1).v[0]",
        "energy.kinetic", ..., or the short names of signals, such as "pin.angle". By default the states.
    coordinates : sequence of str, optional
        Coordinates of joints or bodies, such as "pin.angle", as many as degrees of freedom; with their rates they are the states. By
        default displacements and rotations of bodies that are chosen from the pose.
    moving : bool
        Whether the state is one of a motion, and no equilibrium: the system is that of deviations at this instant.
    t : array_like, (nt,), optional
        Of a Result: times of its states [s]; by default all.
    steady : UniformRotation, UniformTranslation, RotorSpin or sequence of these, optional
        Steady motion. The state is then at rest, or moves with it. For a vehicle that rolls give its velocity, and the spin of each wheel.
    modes : int, optional
        Number of modes that are kept: those of the smallest |eigenvalues|; modes that grow are always kept. By default all.
    tolerance : float, optional
        How far redundant rows may contradict each other [rad, or part of the size of the mechanism]; by default that of the System, see
        there. For a System only: a Model has its own.
    progress : bool
        If True, show a progress bar: the stages of the work.

    Returns
    -------
    Linearization, StateSpace or StateSpaceMotion
        Mass, damping and stiffness matrices, state matrix and modes. With inputs, outputs or coordinates, or moving: a StateSpace, A, B, C
        and D; about the states of a Result a StateSpaceMotion.

    Raises
    ------
    UsageError
        If a name is no input or no output; if an output is not smooth, or has no constant matrix in a steady motion. If the state is not
        an equilibrium or a steady motion; the message gives the remaining forces. If forces are not smooth there.
    SingularKKTError
        If the pose is singular, so that the tangent space of the constraints is not defined; the message names the rows.
    ModelError
        If the system or the state has faults.
    KeyboardInterrupt
        After Ctrl-C; the message names the stage, and the attribute `result` is the State of the linearization.

    Notes
    -----
    Source: Neto and Ambrosio (2003), Lehner and Eberhard (2006), linearized equations on the null space of the constraints.
    """
    check_flags(progress=progress, moving=moving)
    named = inputs is not None or outputs is not None or coordinates is not None
    if isinstance(system, Result):
        if state is not None or steady is not None or modes is not None or tolerance is not None:
            raise UsageError(
                "linearize got a Result, which has its own states and model. Leave out state, steady, modes and tolerance."
            )
        return _along_motion(system, t, inputs, outputs, coordinates, progress)
    if t is not None:
        raise UsageError("t belongs to a Result: linearize(result, t=...); of a System give the state.")
    if moving:
        if steady is not None or isinstance(system, Equilibrium):
            raise UsageError("moving=True is for a state of a motion: leave out steady, and give a System or Model with a state.")
        model, start = read_model(system, state, "linearize", tolerance)
        return _about_motion(model, start, inputs, outputs, coordinates)
    if named:
        motions = linearize(system, state, steady=steady, modes=modes, tolerance=tolerance, progress=progress)
        assert isinstance(motions, Linearization)
        return state_space(motions.model, motions.state, motions, inputs, outputs, coordinates)
    if modes is not None and (isinstance(modes, bool) or not isinstance(modes, Integral) or modes < 1):
        raise UsageError(f"modes = {modes!r} must be a whole number of 1 or more, or left out for all modes.")
    if isinstance(system, Equilibrium):
        no_tolerance(tolerance)
        if state is not None or steady is not None:
            raise UsageError("linearize got an Equilibrium, which has its own state and steady motion. Leave out state and steady.")
        return linearize(system.model, system.state, steady=system.steady, modes=modes, progress=progress)
    model, start = read_model(system, state, "linearize", tolerance)
    return _about_balance(model, start, steady, None if modes is None else int(modes), progress)


def _about_balance(model: Model, start: State, steady: SteadyLike, count: int | None, progress: bool) -> Linearization:
    """Return the linearization about an equilibrium or a steady motion, with the slowest `count` modes."""
    refuse_friction(model, "linearize")
    need_drivers_of_time(model, "linearize")
    need_constant_masses(model, "linearize")
    need_no_freewheels(model, "linearize")
    faults = position_faults(model, start)
    if faults:
        raise ModelError(faults)
    motion = read_steady(model, steady)
    held = held_contacts(model, start, "linearize", steady=motion.moves)
    evaluator = make_residual_evaluator(model if held is None else held.model, motion, start)
    with Progress(progress, 0.0, len(STAGES), "stages") as bar:
        stages = Stages(bar)
        try:
            linearization = _about(evaluator, start, stages, count, held)
        except KeyboardInterrupt as stop:
            told = KeyboardInterrupt(
                f"linearize was interrupted by Ctrl-C, at {stages.name}. The attribute `result` of this error is the State of the "
                "linearization.",
                *stop.args,
            )
            told.result = start  # type: ignore[attr-defined]
            raise told from None
        bar.reach(len(STAGES))
    return linearization


def _about_motion(model: Model, state: State, inputs: Any, outputs: Any, coordinates: Any) -> StateSpace:
    """Return the linear system about a state of a motion."""
    refuse_friction(model, "linearize")
    need_drivers_of_time(model, "linearize")
    need_constant_masses(model, "linearize")
    need_no_freewheels(model, "linearize")
    need_no_contact(model, state, "linearize about a motion")
    faults = (*position_faults(model, state, moved=True), *velocity_faults(model, state))
    if faults:
        raise ModelError(faults)
    return state_space(model, state, None, inputs, outputs, coordinates)


def _along_motion(
    result: Result, t: npt.ArrayLike | None, inputs: Any, outputs: Any, coordinates: Any, progress: bool
) -> StateSpaceMotion:
    """Return the linear systems about the states of a motion."""
    if len(result._pieces()) > 1:
        raise UsageError("the motion has pieces between impacts: give one of them, result.segments[0].")
    if t is not None:
        times = np.atleast_1d(np.asarray(t, dtype=np.float64))
        result = result.resample(times)
    if not len(result.t):
        raise UsageError("the motion has no state.")
    systems = list[StateSpace]()
    with Progress(progress, 0, len(result.t), "states") as bar:
        for k in range(len(result.t)):
            system = _about_motion(result.model, result.state(k), inputs, outputs, coordinates)
            if systems and system.states != systems[0].states:
                raise UsageError(
                    f"the coordinates that are chosen by the pose change at t = {result.t[k]:g} s: give coordinates=, such as "
                    "names of joints, 'pin.angle'."
                )
            systems.append(system)
            bar.done()
    return StateSpaceMotion(result.t, tuple(systems))


def _about(
    evaluator: ResidualEvaluator, start: State, stages: Stages, count: int | None, held: HeldContacts | None
) -> Linearization:
    """Return the linearization about a state, with the slowest `count` modes."""
    # a state at rest and in balance, away from stops
    pose = trial_pose_at(evaluator, start.y)
    model, evaluator = evaluator.model, pose.evaluator
    _check_stops(pose)
    check_regular(model, state_of(evaluator, pose.y), evaluator.kept, f"the pose of the state at t = {start.t:g} s")
    _check_rest(evaluator, start, pose)
    if held is not None:
        _check_balance(evaluator, pose, scale_of(pose.work, np.zeros((0, 0))))
        _check_contacts(held, pose)
    if len(evaluator.states.columns) or len(model.velocity_rows):
        return _first_order(pose, stages, count)
    # K, by whose size the balance is judged
    smooth = MotionDerivative(pose.work, stages.begin(STIFFNESS, number_of_derivatives(evaluator, pose.at.N)))
    K = stiffness(evaluator, pose.y, pose.at, smooth)
    scale = scale_of(pose.work, K)
    _check_balance(evaluator, pose, scale)
    if evaluator.steady.moves:
        check_steady(evaluator, pose, scale, np.zeros(0))
    return _linearized(pose, K, smooth.error, stages, count)


def _linearized(pose: TrialPose, K: Array, error: float, stages: Stages, count: int | None) -> Linearization:
    """Return the linearization at a pose in balance, with the slowest `count` modes;  error: of the derivatives [J]"""
    evaluator, N, scale = pose.evaluator, pose.at.N, scale_of(pose.work, K)
    # M, C along the tangent space N; K is there
    M = inertia(evaluator, N)
    check_inertia(pose, N, M)
    rate = rate_of_motions(M, scale)
    smooth = MotionDerivative(pose.work, stages.begin(DAMPING, number_of_derivatives(evaluator, N)))
    C = damping(evaluator, pose.y, pose.at, rate, smooth)
    # a system without damping whose K is symmetric has a symmetric eigenvalue problem
    quiet = rate * float(np.abs(C).max(initial=0.0)) <= NO_DAMPING * scale
    potential = float(np.abs(K - K.T).max(initial=0.0)) <= NOISE * scale
    rounding = rounding_of(scale, float(np.abs(pose.g).max(initial=0.0)), error, pose.at.weakest)
    stages.begin(EIGENVALUES)
    eigen = slowest(find_modes(M, C, K, scale, rounding, conservative=quiet and potential), count)
    # the matrices in independent coordinates of bodies:  T^T M T, ...
    T, names, chosen = independent_coordinates(evaluator, N)
    state = state_of(evaluator, pose.y)
    modes = _modes(evaluator, state, eigen, N, stages)
    M, C, K = (T.T @ X @ T for X in (M, np.zeros_like(C) if quiet else C, K))
    return Linearization(
        evaluator.model,
        state,
        evaluator.steady,
        M,
        C,
        K,
        names,
        motions_of(evaluator, N @ T),
        modes,
        _chosen=tuple(chosen.tolist()),
    )


def _first_order(pose: TrialPose, stages: Stages, count: int | None) -> Linearization:
    """Return the linearization of a mechanism with velocity rows, or with states of blocks, at a pose in balance."""
    evaluator = pose.evaluator
    matrices = motion_matrices(evaluator, pose, stages)
    _check_balance(evaluator, pose, matrices.scale)
    check_states(evaluator, pose.residual, matrices.rate_scale, EQUILIBRIUM_TOL, f"at t = {evaluator.t:g} s")
    if evaluator.steady.moves:
        check_steady(evaluator, pose, matrices.scale, matrices.rate_scale)
    stages.begin(EIGENVALUES)
    T, names, chosen = independent_coordinates(evaluator, matrices.basis)
    state = state_of(evaluator, pose.y)
    modes = _modes(evaluator, state, slowest(block_modes(matrices), count), matrices.basis, stages)
    linearization = Linearization(
        evaluator.model,
        state,
        evaluator.steady,
        matrices.M,
        matrices.C,
        matrices.K,
        names,
        motions_of(evaluator, matrices.basis @ T),
        modes,
        matrices.N,
        matrices.G,
        evaluator.states.names,
        matrices.E,
        matrices.Z,
        tuple(chosen.tolist()),
    )
    return in_coordinates(linearization, T, rolls=len(evaluator.model.velocity_rows) > 0)


def _modes(evaluator: ResidualEvaluator, state: State, found: Modes, N: Array, stages: Stages) -> tuple[Mode, ...]:
    """Return the modes, described; their shapes are in the basis N."""
    shapes = motions_of(evaluator, N @ found.shapes.real) + 1j * motions_of(evaluator, N @ found.shapes.imag)
    of_blocks = np.zeros((len(shapes), 0), dtype=complex) if found.states is None else found.states.T
    tell, modes = stages.begin(WORDS, len(shapes)), list[Mode]()
    for k, (s, shape, z) in enumerate(zip(found.eigenvalues, shapes, of_blocks, strict=True), start=1):
        modes.append(_mode(evaluator, state, k, complex(s), shape, z))
        tell()
    return tuple(modes)


def _mode(evaluator: ResidualEvaluator, state: State, number: int, eigenvalue: complex, shape: Complex, z: Complex) -> Mode:
    """Return a mode with its shape scaled, and its description;  z: (ns,) the states of blocks."""
    if not shape.any() and z.any():
        most = int(np.argmax(np.abs(z)))
        text = f"{evaluator.states.names[most]} moves, and no body"
        return Mode(number, eigenvalue, shape, text, z / z[most])
    first = leading(shape, state.p, evaluator.length)
    shape, z = shape * (abs(first) / first), z * (abs(first) / first)
    size = largest(shape.real, evaluator.length) or 1.0
    shape, z = shape / size, z / size
    names, p = evaluator.model.body_names, state.p
    text = motion_text(shape.real, p, names, evaluator.length, unit=1.0)
    if largest(shape.imag, evaluator.length) > SHOWN_PART * largest(shape.real, evaluator.length):
        text += f"; a quarter of a period later {motion_text(-shape.imag, p, names, evaluator.length, unit=1.0)}"
    return Mode(number, eigenvalue, shape, text, z)


def _check_stops(pose: TrialPose) -> None:
    """Raise UsageError if the pose is at the edge of a rigid stop, or beyond."""
    model, y = pose.evaluator.model, pose.y
    faults = stop_faults(model, np.array([pose.evaluator.t]), y[None])
    names = list(dict.fromkeys([*(fault.where for fault in faults), *touched_stops(model, y)]))
    if names:
        raise UsageError(
            f"the state at t = {pose.evaluator.t:g} s is at a rigid stop, {', '.join(names)}, or beyond: it can move to one side only, "
            "and there are no small motions. Move the limit, make it compliant (k=, c=), or simulate."
        )


def _check_contacts(held: HeldContacts, pose: TrialPose) -> None:
    """Raise UsageError if rigid contacts do not hold with the forces at a pose in balance."""
    try:
        check_held(held, pose, np.zeros(held.model.nc))
    except SimulationError as error:
        raise UsageError(str(error).replace("the pose in the attribute `result`", f"t = {pose.evaluator.t:g} s")) from None


def _check_rest(evaluator: ResidualEvaluator, start: State, pose: TrialPose) -> None:
    """Raise UsageError if the state does not move with the steady motion, or a driver moves."""
    model, wanted = evaluator.model, bodies_in(evaluator.model, state_of(evaluator, pose.y).y)[:, VELOCITY:WIDTH]
    u = np.hstack([start.v, start.omega_bar])
    allowed = REST_TOL * (1.0 + float(np.abs(wanted).max()))
    if u.any() and np.abs(u - wanted).max() > allowed:
        text = motion_text(u - wanted, start.p, model.body_names, evaluator.length, unit=1.0)
        motion = "otherwise than in the steady motion" if evaluator.steady.moves else "and is not an equilibrium"
        raise UsageError(
            f"the state moves {motion} [m/s, rad/s]: {text}. Give the state at rest: state.replace(v=0 * state.v, "
            "omega_bar=0 * state.omega_bar), or the motion itself: steady=UniformRotation(...), UniformTranslation(...), RotorSpin(...)."
        )
    if not evaluator.steady.moves:
        _check_drivers(evaluator)


def _check_drivers(evaluator: ResidualEvaluator) -> None:
    """Raise UsageError if a driver moves or accelerates."""
    model = evaluator.model
    for row, driver in zip(model.labels, model.drivers_of_rows(), strict=True):
        _, f_dot, f_ddot = model.drivers[driver].values(evaluator.t)
        if max(abs(f_dot), abs(f_ddot)) > REST_TOL:
            raise UsageError(
                f"the driver of joint {row.joint!r} moves at t = {evaluator.t:g} s (f' = {f_dot:.6g}, f'' = {f_ddot:.6g}). Linearize where "
                "it rests, or give the motion that it drives: steady=UniformRotation(...), UniformTranslation(...), RotorSpin(...)."
            )


def _check_balance(evaluator: ResidualEvaluator, pose: TrialPose, scale: float) -> None:
    """Raise UsageError with the remaining forces by body, unless the forces are in balance."""
    left = float(np.abs(pose.g).max(initial=0.0))
    if left <= EQUILIBRIUM_TOL * scale:
        return
    model = evaluator.model
    wrench = ((pose.residual.force - pose.residual.J.T @ pose.at.lam) / evaluator.scale).reshape(-1, 6)
    A = rotation_matrix(bodies_in(model, pose.y)[1:, EULER:VELOCITY])
    torque = np.einsum("kab,kb->ka", A, wrench[:, 3:])
    size = np.maximum(evaluator.length * np.linalg.norm(wrench[:, :3], axis=1), np.linalg.norm(torque, axis=1))
    order = [k for k in np.argsort(-size, kind="stable") if size[k] > SHOWN_PART * size.max()][:SHOWN]
    small = 1e-9 * scale
    texts = [
        f"{model.body_names[k + 1]!r} force {_three(wrench[k, :3], small / evaluator.length)} N, torque {_three(torque[k], small)} N m"
        for k in order
    ]
    raise UsageError(
        f"the state at t = {evaluator.t:g} s is not an equilibrium: {left / scale:.3g} of the forces at work is left over "
        f"(allowed {EQUILIBRIUM_TOL:.0e}): {'; '.join(texts)}. Linearize what mbd.equilibrium(system) finds."
    )


def _three(x: Array, small: float) -> str:
    """Return three numbers as text, those below `small` as zero."""
    return "(" + ", ".join(f"{0.0 if abs(v) <= small else float(v):.4g}" for v in x) + ")"
