r"""equilibrium: a pose at which all forces are in balance, its stability, and its reactions.

    Q - M bias - Phi_q^T lam = 0,   Phi(q, t) = 0         at rest (bias = 0), or in a steady motion, with its accelerations as bias
    z' = 0                                                the states of blocks rest, too
    K x = kappa x                                         stiffness along the tangent space of the constraints
    kappa > 0 stable,  kappa < 0 unstable,  kappa = 0 indifferent                                      along x

Rigid contacts that touch at the start are rows where they stick or have no friction, see `held_contacts`; their forces have to be in the
cones of friction. Drivers are fixed at their values at time t (a quasi-static pose), unless they drive the steady motion.
In a steady motion, kappa > 0 is stability in the rotating frame. Gyroscopic forces can stabilize a motion with kappa < 0: see
`linearize`. Stability is that of all small motions, from their eigenvalues, with states of blocks, where a steady motion rolls (velocity
rows), where K is not symmetric (forces that follow a body, rolling), and where forces drive motions (negative damping): K is then that with
the states held.
"""

from __future__ import annotations

from functools import cached_property

import numpy as np

from haugmbd.analysis.assembly.regularized_least_squares import dense
from haugmbd.analysis.equilibrium.held_contacts import HeldContacts, check_held, held_contacts
from haugmbd.analysis.equilibrium.residual import (
    ResidualEvaluator,
    evaluate_residual,
    inertia_times,
    make_residual_evaluator,
    motions_of,
    read_model,
    state_of,
)
from haugmbd.analysis.equilibrium.result import Equilibrium, Stability, kinds_of
from haugmbd.analysis.equilibrium.small_motions.block_modes import MotionMatrices, block_modes, motion_matrices
from haugmbd.analysis.equilibrium.small_motions.stages import Stages
from haugmbd.analysis.equilibrium.smooth_derivative import MotionDerivative, NotSmooth
from haugmbd.analysis.equilibrium.solver import (
    DIGITS,
    Balance,
    NoStiffness,
    NotHeld,
    Search,
    TrialPose,
    find_balance,
    find_balance_of_states,
    is_positive,
    size_along,
    tree_at,
)
from haugmbd.analysis.equilibrium.steady_check import check_steady, refuse_friction
from haugmbd.analysis.equilibrium.steady_motion import SteadyLike, read_steady
from haugmbd.analysis.equilibrium.tangent_matrices import damping, smooth_damping_blocks
from haugmbd.analysis.equilibrium.tangent_space import ERRORS, NOISE, RANK_TOL, inertia, rate_of_motions, scale_of
from haugmbd.analysis.equilibrium.tree_equations import Blocks
from haugmbd.analysis.mobility.free_motions import largest, motion_text, turns_first
from haugmbd.analysis.regular_pose import check_regular
from haugmbd.choices import check_flags
from haugmbd.compiled.array_types import Array
from haugmbd.deprecated import check_keywords
from haugmbd.diagnostics.contact_warnings import pulls_of
from haugmbd.errors import ModelError, SimulationError
from haugmbd.math.blas_threads import one_blas_thread
from haugmbd.model.dependent_rows import MinimumNorm
from haugmbd.model.inspection.run_memory import stop_faults, touched_stops
from haugmbd.model.model import Model
from haugmbd.model.state import State
from haugmbd.simulation.stepping.progress import Progress
from haugmbd.system.checks.constraint_residuals import position_faults
from haugmbd.system.system import System


@check_keywords
@one_blas_thread()
def equilibrium(
    system: System | Model,
    state: State | None = None,
    *,
    steady: SteadyLike = None,
    downhill: bool = True,
    tolerance: float | None = None,
    progress: bool = False,
) -> Equilibrium:
    """Return the equilibrium that is found from a state.

    Parameters
    ----------
    system : System or Model
        The mechanism.
    state : State, optional
        Start; by default the modelled state. Its velocities are ignored, and drivers are fixed at its time.
    steady : UniformRotation, UniformTranslation, RotorSpin or sequence of these, optional
        Steady motion: the pose is in balance with its centrifugal forces. By default the mechanism is at rest.
    downhill : bool
        If True, minimize the potential, towards a stable equilibrium. If False, find the next equilibrium, stable or not. A start that is
        in balance is returned in both cases, and may be unstable. With states of blocks there is no potential: the next one is found.
    tolerance : float, optional
        How far redundant rows may contradict each other [rad, or part of the size of the mechanism]; by default that of the System, see
        there. For a System only: a Model has its own.
    progress : bool
        If True, show a progress bar: the digits to which the forces are in balance.

    Returns
    -------
    Equilibrium
        Pose, multipliers, stiffness and stability.

    Raises
    ------
    SingularKKTError
        If the pose in balance is singular, as bars in line or a lattice that has collapsed: the tangent space of the constraints is not
        defined there, and there is no stability. The message names the rows; the attribute `result` is the State there.
    SimulationError
        If no equilibrium is found; the message names the body that moves on, and the attribute `result` is the last State. If forces
        are not smooth where they are in balance, so that there is no stiffness, or are in balance beyond a rigid JointLimit,
        with a pull of a joint that can only push, or only if a rigid contact held more than it can; `result` is the State there.
    ModelError
        If the system or the state has faults.
    UsageError
        If an argument is not valid, or the steady motion is not possible.
    KeyboardInterrupt
        After Ctrl-C; the attribute `result` is the last State, from which the search can go on.
    """
    check_flags(downhill=downhill, progress=progress)
    model, start = read_model(system, state, "equilibrium", tolerance)
    motion = read_steady(model, steady)
    held = held_contacts(model, start, "equilibrium", steady=motion.moves)
    model = model if held is None else held.model
    evaluator = make_residual_evaluator(model, motion, start)
    if evaluator.steady.moves:
        refuse_friction(model, "the balance of a steady motion")
    with Progress(progress, 0.0, DIGITS, "digits") as bar:
        search = Search(bar)
        try:
            balance = _searched(evaluator, start, downhill, search)
            result = _judged(balance, held)
        except KeyboardInterrupt as stop:
            raise _interrupted(evaluator, search, start, stop) from None
        bar.reach(DIGITS)
    return result


def _searched(evaluator: ResidualEvaluator, start: State, downhill: bool, search: Search) -> Balance:
    """Return the balance that is found from a state. Raise SimulationError if there is none, or none with a stiffness."""
    try:
        if len(evaluator.states.columns):
            balance = find_balance_of_states(evaluator, start.y, search)
        else:
            balance = find_balance(evaluator, start.y, search, downhill=downhill)
        _check_regular(balance.place, "the pose in the attribute `result`, where the forces are in balance,")
    except NotHeld as error:
        _check_regular(error.result[0], "no equilibrium is found, and the last pose, in the attribute `result`,")
        raise _not_held(evaluator, *error.result) from None
    except NoStiffness as error:
        raise SimulationError(
            f"the forces are in balance at the pose in the attribute `result`, but {error.message}: it has no stiffness, and its "
            "stability cannot be judged by one. Move what touches there, or make the characteristic smooth.",
            state_of(evaluator, error.result.y),
        ) from None
    return balance


def _judged(balance: Balance, held: HeldContacts | None) -> Equilibrium:
    """Return the equilibrium of a balance, with its stability. Raise an error if a pose in balance is none."""
    pose, evaluator = balance.place, balance.place.evaluator
    model = evaluator.model
    at_rest = state_of(evaluator, pose.y)
    _refuse_edges(model, at_rest)
    lam = multipliers(evaluator, pose)
    lam = lam if held is None else check_held(held, pose, lam)
    _refuse_pulls(model, at_rest, lam)
    matrices = _matrices_for_stability(evaluator, balance)
    scale = balance.scale if matrices is None else matrices.scale
    if evaluator.steady.moves:
        check_steady(evaluator, pose, scale, np.zeros(0) if matrices is None else matrices.rate_scale)
    modes = Modes(balance)
    return Equilibrium(
        model,
        at_rest,
        lam,
        modes,
        _kinds(balance, modes),
        pose.left / (scale or 1.0),
        balance.newton,
        balance.relaxed,
        evaluator.steady,
        evaluator.length,
        None if matrices is None else block_modes(matrices).eigenvalues,
    )


def _refuse_edges(model: Model, at_rest: State) -> None:
    """Raise an error if dropped rows do not hold at this pose, or if it is beyond a rigid stop or at its edge."""
    faults = position_faults(model, at_rest, moved=True)
    if faults:
        raise ModelError(faults)
    beyond = stop_faults(model, np.array([at_rest.t]), at_rest.y[None])
    if beyond:
        raise SimulationError(
            "the forces are in balance at the pose in the attribute `result`, and a rigid stop that comes before it is no force: "
            f"{'; '.join(map(str, beyond))}",
            at_rest,
        )
    touched = touched_stops(model, at_rest.y)
    if touched:
        raise SimulationError(
            f"the forces are in balance at the pose in the attribute `result`, but it is at the edge of a rigid stop, "
            f"{', '.join(touched)}: it can move to one side only, and has no stiffness. Move the limit, or make it compliant (k=, c=).",
            at_rest,
        )


def _kinds(balance: Balance, modes: Modes) -> tuple[Stability, ...]:
    """Return the stability of each degree of freedom: of a tree whose stiffness has a factor all are stable, without its eigenvalues."""
    pose = balance.place
    if balance.A is not None:
        tree = tree_at(pose)
        if tree is not None and is_positive(pose, tree, balance.A, balance.rounding):
            return (Stability.STABLE,) * (len(pose.push) - len(pose.residual.Phi))
    return kinds_of(modes.kappa, balance.rounding)


class Modes:
    """The eigenvectors of the stiffness of a balance, and its eigenvalues: computed when they are asked for, which large trees need not."""

    def __init__(self, balance: Balance) -> None:
        self._balance: Balance | None = balance

    @cached_property
    def _eigen(self) -> tuple[Array, Array, Array]:
        """Eigenvalues (nd,), motions (nd, nb + 1, 6), and their largest component (nd,)."""
        if self._balance is None:
            raise RuntimeError("the balance was let go before its modes were computed")
        pose, K = self._balance.place, self._balance.K
        kappa, V = np.linalg.eigh(0.5 * (K + K.T))
        motions = motions_of(pose.evaluator, pose.at.N @ V)
        self._balance = None
        return kappa, motions, np.array([largest(motion, pose.evaluator.length) for motion in motions])

    @property
    def kappa(self) -> Array:
        """Eigenvalues (nd,) [J]."""
        return self._eigen[0]

    @cached_property
    def motions(self) -> Array:
        """The motions, (nd, nb + 1, 6), the largest component of each 1."""
        return np.asarray(self._eigen[1] / self._eigen[2][:, None, None])

    @cached_property
    def stiffness(self) -> Array:
        """Stiffness (nd,) of the motions."""
        return np.asarray(self.kappa / self._eigen[2] ** 2)

    def __getstate__(self) -> dict[str, object]:
        """Return the values, for a copy in another process."""
        return {"_balance": None, "_eigen": self._eigen}


def _check_regular(pose: TrialPose, what: str) -> None:
    """Raise SingularKKTError if a pose is singular."""
    check_regular(pose.evaluator.model, state_of(pose.evaluator, pose.y), pose.evaluator.kept, what)


def _interrupted(evaluator: ResidualEvaluator, search: Search, start: State, stop: KeyboardInterrupt) -> KeyboardInterrupt:
    """Return Ctrl-C with what the search has found."""
    steps = f"{search.newton} Newton steps" + (f" and {search.relaxed} of relaxation" if search.relaxed else "")
    told = KeyboardInterrupt(
        f"equilibrium was interrupted by Ctrl-C after {steps}. The attribute `result` of this error is the State so far, which is no "
        "equilibrium: equilibrium(system, error.result) goes on from there.",
        *stop.args,
    )
    told.result = start if search.place is None else state_of(evaluator, search.place.y)  # type: ignore[attr-defined]
    return told


def _matrices_for_stability(evaluator: ResidualEvaluator, balance: Balance) -> MotionMatrices | None:
    """Return the matrices of all small motions where K alone does not decide about stability; None where it does.

    Raise SimulationError if forces are not smooth over velocities where these matrices are needed.
    """
    pose = balance.place
    if len(evaluator.states.columns):
        return motion_matrices(evaluator, pose, Stages(Progress(False, 0.0, 1.0)))
    skew = _is_skew(balance)
    rolls = evaluator.steady.moves and len(evaluator.model.velocity_rows) > 0
    if not skew and not rolls and not _is_driven(evaluator, balance):
        return None
    try:
        return motion_matrices(evaluator, pose, Stages(Progress(False, 0.0, 1.0)))
    except NotSmooth as error:  # of forces over velocities, such as friction
        why = "its wheels roll" if rolls else "its stiffness is not symmetric, as forces follow a body"
        raise SimulationError(
            f"the forces are in balance at the pose in the attribute `result`, but {why}, and {error.why}: its stability follows "
            "neither from stiffness nor from small motions. Make the force smooth over velocities, leave the friction out, or simulate.",
            state_of(evaluator, pose.y),
        ) from None


def _is_driven(evaluator: ResidualEvaluator, balance: Balance) -> bool:
    """Return whether forces feed some small motion with energy at rest, as negative damping does: x' . C x' < 0.

    Where forces are not smooth over velocities, as with dry friction, there is no C, and it is not.
    """
    driven = _is_tree_driven(balance)
    if driven is not None:
        return driven
    pose, smooth = balance.place, MotionDerivative(balance.place.work)
    M, scale = inertia(evaluator, pose.at.N), scale_of(pose.work, balance.K)
    rate = rate_of_motions(M, scale)
    try:
        C = rate * damping(evaluator, pose.y, pose.at, rate, smooth)
    except NotSmooth:
        return False
    noise = max(ERRORS * smooth.error, NOISE * scale)
    if float(np.abs(C).max(initial=0.0)) <= noise:
        return False
    return float(np.linalg.eigvalsh(0.5 * (C + C.T))[0]) < -noise


def _is_skew(balance: Balance) -> bool:
    """Return whether K is not symmetric."""
    tree = tree_at(balance.place)
    if tree is not None and balance.A is not None:
        dof = len(balance.place.push) - len(balance.place.residual.Phi)
        if (
            size_along(balance.place, tree, balance.A.skew) * dof**0.5 <= NOISE * balance.scale
        ):  # no entry is larger than all together
            return False
    return float(np.abs(balance.K - balance.K.T).max(initial=0.0)) > NOISE * scale_of(balance.place.work, balance.K)


def _is_tree_driven(balance: Balance) -> bool | None:
    """Return False if no small motion of a tree is fed with energy, by its blocks; None if they do not tell."""
    pose, tree = balance.place, tree_at(balance.place)
    if tree is None or balance.A is None:
        return None
    smooth, none = MotionDerivative(pose.work), np.zeros((len(tree.parent), 6, 6))
    twists = np.zeros((6, len(tree.parent) + 1, 6))
    twists[:, 1:] = np.eye(6)[:, None] * pose.evaluator.scale.reshape(-1, 6)
    momenta = np.array([inertia_times(pose.evaluator.model, twist) for twist in twists])[:, 1:] * pose.evaluator.scale.reshape(
        -1, 6
    )
    M = Blocks(momenta.transpose(1, 2, 0).copy(), none, none)
    rate = rate_of_motions(np.array([size_along(pose, tree, M)]), balance.scale)
    try:
        C = smooth_damping_blocks(pose.evaluator, tree, pose.y, rate, smooth)
    except NotSmooth:
        return None
    noise = max(ERRORS * smooth.error, NOISE * balance.scale)
    return False if C.largest <= noise or is_positive(pose, tree, C, -noise) else None


def multipliers(evaluator: ResidualEvaluator, pose: TrialPose) -> Array:
    """Return lam (nc,), shared between dependent rows by the rule of the model: none on dropped rows, or the least sum of squares."""
    model = evaluator.model
    lam = np.zeros(model.nc)
    lam[evaluator.kept] = pose.at.lam
    if len(evaluator.kept) < model.nc and isinstance(model.redundancy.rule, MinimumNorm):
        J = dense(evaluate_residual(evaluator._replace(kept=np.arange(model.nc)), pose.y).J)
        lam[:] = np.linalg.lstsq(J.T, J.T @ lam, rcond=RANK_TOL)[0]
    return lam


def _refuse_pulls(model: Model, state: State, lam: Array) -> None:
    """Raise SimulationError if a joint that can only push would have to pull."""
    pulls = [
        f"joint {name!r} pulls with {pull:.6g} {'N m' if model.labels[model.joints[name].rows[0]].unit == 'rad' else 'N'}"
        for name, pull in pulls_of(model, lam).items()
    ]
    if pulls:
        raise SimulationError(
            f"the forces are in balance at the pose in the attribute `result`, but {', '.join(pulls)}, and can only push: it would lift "
            "off. Press it on, as with a spring, or guide it in both directions: unilateral=False.",
            state,
        )


def _not_held(evaluator: ResidualEvaluator, pose: TrialPose, x: Array, goes_on: bool) -> SimulationError:
    """Return the error that names the body that moves on, and the force that remains."""
    model, state = evaluator.model, state_of(evaluator, pose.y)
    motion = motions_of(evaluator, x[:, None])[0]
    text = motion_text(motion, state.p, model.body_names, evaluator.length, unit=largest(motion, evaluator.length))
    distance = float(np.linalg.norm(state.r - model.state().r, axis=1).max())
    body = model.body_names[int(np.argmax(np.abs(x).reshape(-1, 6).max(axis=1))) + 1]
    push = float(pose.residual.force @ x) / largest(motion, evaluator.length)
    unit = "N m" if turns_first(motion, evaluator.length) else "N"
    why = f"nothing holds {body!r}" if goes_on else f"the forces on {body!r} do not come to a balance"
    remedy = (
        "Add what should hold it (a joint, a spring)"
        if goes_on
        else "Do its forces jump there, or drive it in a circle? Make them continuous"
    )
    rubs = [entry.load.where for entry in model.loads if entry.load.is_friction]
    if rubs:
        remedy = f"Dry friction ({', '.join(rubs)}), which may hold it where it is, is not counted. {remedy}"
    return SimulationError(
        f"no equilibrium is found from the given state: {why}. The forces still push with {push:.4g} {unit}: {text} "
        f"(a body has moved by {distance:.3g} m). {remedy}, or start from another pose.",
        state,
    )
