"""Solver for a balance of forces: Newton's method on the tangent space, and damped motion where Newton's method fails.

    g = N^T (Q - M bias)        K = stiffness along N          step x = N K^-1 g,   q <- q (+) x,  back to Phi = 0
    downhill     K^-1 with |eigenvalues|: the step reduces the potential along directions of negative stiffness, too
    line search  a step is accepted if the force along it is still positive, or is negative with less than half of its first size
    relaxation   w' = g; the bodies are stopped every time that the forces work against w (kinetic damping)

With states of blocks, which rest, too.

    g = N^T (Q - M bias) = 0          K x - E z = g
    f(q, z) = 0                      -F x - H z = f            both at once: an integrator has no balance of its own

A step is shortened until the correction of the same matrix has become smaller (natural monotonicity test), which does not depend on the
units of z.
Source: Nocedal and Wright (2006), ch. 3 and 18 (Newton for constrained problems with lam from least squares); Dauphin (2014) for
|eigenvalues|; Cundall (1976) for the kinetic damping; Deuflhard (2011), Newton Methods for Nonlinear Problems, sec. 3.3 (natural
monotonicity test).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from haugmbd.analysis.equilibrium.block_matrices import sketched_block_matrices
from haugmbd.analysis.equilibrium.residual import (
    Residual,
    ResidualEvaluator,
    bodies_in,
    evaluate_residual,
    moved_along_joints,
    state_of,
    unit_rows_of,
)
from haugmbd.analysis.equilibrium.smooth_derivative import MotionDerivative, NotSmooth
from haugmbd.analysis.equilibrium.tangent_matrices import STIFF, smooth_stiffness_blocks, stiffness, stiffness_blocks
from haugmbd.analysis.equilibrium.tangent_space import (
    ERRORS,
    NOISE,
    ROUNDED,
    SKETCH_H,
    Tangent,
    at_work,
    check_dropped,
    closed,
    rounding_of,
    scale_of,
    sketched,
    tangent,
    tangent_of_tree,
)
from haugmbd.analysis.equilibrium.tree_equations import Blocks, Tree, factor_of
from haugmbd.analysis.regular_pose import kept_at
from haugmbd.compiled.array_types import Array
from haugmbd.errors import SimulationError
from haugmbd.simulation.stepping.progress import Progress

STEP_TOL = 1e-9
"""Size of a Newton step (L, rad) that is the last: the next one would be of the order of its square."""

BALANCE_TOL = 1e-14
"""|g| relative to forces at work and stiffness that is rounding."""

DIGITS = -float(np.log10(BALANCE_TOL))
"""Those of a balance."""

STALLED_TOL = 1e-10
"""|g|, measured in the same way, that is accepted if steps do not decrease: with soft and stiff directions, or forces that jump."""

LEFT_TOL = 1e-8
"""|g|, measured in the same way, above which a pose without a further step is no balance: forces along motions without stiffness are left,
as those that follow a body may leave."""

LARGEST_TURN = 0.5
"""[rad] Largest rotation of a body in one step."""

MAX_NEWTON = 100
MAX_HALVINGS = 30
PUSHED_BACK = 0.5
"""Largest negative force at the end of a step, relative to the force at its start."""

FARTHEST = 30.0
"""Distance of a body (L, or the size of the model, or rad) after which a motion without stiffness is reported as not held."""

RELAXATION_STEPS = 400
RELAXED = 1e-2
"""Part of the first |g| at which relaxation ends and Newton's method continues."""

SOFT = 1e-6
"""Singular value of K, and force, relative to the forces at work and the stiffness, below which there is none: K of a step has errors."""

WEAK = 1e-2
"""Distance of a kept row from the span of the others below which others are looked for, if rows are dropped. It is far above the
tolerance of a rank, so that they are replaced in time, and the dropped ones hold until then."""

ROUNDING = float(np.finfo(np.float64).eps)
"""That of a force, relative to it."""

RANDOM_MOTIONS = 2
"""Motions that measure a matrix of a tree: none of them is across all that is not zero."""

ROUNDS = 3
"""Number of rounds of Newton's method and relaxation."""


@dataclass
class TrialPose:
    """A trial pose: the evaluator with the rows that are kept there, y, the residual, the tangent space, and the forces at work [J].

    push: (6 nb,) the part of the forces along the tangent space, N g
    """

    evaluator: ResidualEvaluator
    y: Array
    residual: Residual
    at: Tangent
    push: Array
    work: float

    @property
    def left(self) -> float:
        """The largest force along the motions [J] in the basis N; where steps do without it, the root of the sum of their squares."""
        return float(np.linalg.norm(self.push) if self.at.factor is not None else np.abs(self.g).max(initial=0.0))

    @cached_property
    def g(self) -> Array:
        """The forces in the basis N of the tangent space, (nd,)."""
        return np.asarray(self.at.N.T @ self.residual.force)


@dataclass(frozen=True)
class Balance:
    """A balance: the pose, and the numbers of Newton and relaxation steps.

    scale, rounding: of the balance, and the part of K that may be rounding [J];  A: its blocks in a tree, where K is wanted later only
    """

    place: TrialPose
    make_K: Callable[[], Array]
    scale: float
    rounding: float
    newton: int
    relaxed: int
    A: Blocks | None = None

    @cached_property
    def K(self) -> Array:
        """K (nd, nd) in the basis N."""
        return self.make_K()


class Search:
    """A search for a balance: the last pose and the numbers of steps, shown on a bar by the digits of the balance.

    place: None before the first pose;  newton, relaxed: steps so far
    """

    def __init__(self, bar: Progress) -> None:
        self.place: TrialPose | None = None
        self.newton = self.relaxed = 0
        self._bar, self._most = bar, 0.0

    def at(self, place: TrialPose, scale: float, *, newton: int = 0, relaxed: int = 0) -> None:
        """Store a pose that was reached by so many more steps.  scale: of the balance there [J]"""
        self.place, self.newton, self.relaxed = place, self.newton + newton, self.relaxed + relaxed
        left = float(np.abs(place.push).max(initial=0.0)) / (scale or 1.0)
        self._most = min(DIGITS, max(self._most, -float(np.log10(max(left, BALANCE_TOL)))))
        self._bar.reach(self._most)
        self._bar.note(f"{self.newton} Newton steps, {self.relaxed} of relaxation, {left:.0e} of the forces left")


class NoStiffness(SimulationError):
    """Error for a balance where forces are not smooth; `result` is the TrialPose."""


class NotHeld(SimulationError):
    """Error for a motion that no force stops, or a search without end; `result` is (place, x (6 nb,) the motion, whether it moves on)."""


def trial_pose_at(evaluator: ResidualEvaluator, y: Array, *, patient: bool = True) -> TrialPose:
    """Return the trial pose after y is projected on the constraints. Raise SimulationError if it cannot be;  patient: see `closed`"""
    pose = _pose_with_rows(evaluator, y, patient=patient)
    if pose.at.weakest < WEAK and len(evaluator.kept) < evaluator.model.nc:
        kept = kept_at(evaluator.model, state_of(evaluator, pose.y), evaluator.kept)
        if not np.array_equal(kept, evaluator.kept):
            return _pose_with_rows(evaluator._replace(kept=kept), pose.y, patient=patient)
    return pose


def _pose_with_rows(evaluator: ResidualEvaluator, y: Array, *, patient: bool) -> TrialPose:
    """Return the trial pose with the kept rows of an evaluator."""
    y = closed(evaluator, y, patient=patient)
    if len(evaluator.kept) < evaluator.model.nc:
        check_dropped(evaluator, y)
    residual = evaluate_residual(evaluator, y)
    tree = evaluator.tree
    at = (None if tree is None else tangent_of_tree(tree, residual)) or tangent(residual)
    return TrialPose(evaluator, y, residual, at, at.along(residual.force), at_work(evaluator, residual, at))


def find_balance(evaluator: ResidualEvaluator, y: Array, search: Search, *, downhill: bool) -> Balance:
    """Return the balance that is found from y. Raise NotHeld if a motion meets no resistance, or the search does not converge."""
    pose, newton, relaxed = trial_pose_at(evaluator, y), 0, 0
    for _ in range(ROUNDS):
        pose, K, steps, done = _newton(pose, search, downhill)
        newton += steps
        if done:
            return stiffness_in_balance(pose, newton, relaxed)
        pose, steps = _relax(pose, search, K.K)
        relaxed += steps
    raise NotHeld("no balance", (pose, pose.push, False))


def stiffness_in_balance(pose: TrialPose, newton: int, relaxed: int) -> Balance:
    """Return the balance at a pose, with its stiffness. Raise NoStiffness if forces are not smooth there."""
    smooth, tree = MotionDerivative(pose.work), tree_at(pose)
    if tree is not None:
        balance = _balance_of_tree(pose, tree, newton, relaxed)
        if balance is not None:
            return balance
    try:
        K = stiffness(pose.evaluator, pose.y, pose.at, smooth)
    except NotSmooth as error:
        raise NoStiffness(error.why, pose) from None
    scale, left = scale_of(pose.work, K), float(np.abs(pose.g).max(initial=0.0))
    return Balance(pose, lambda: K, scale, rounding_of(scale, left, smooth.error, pose.at.weakest), newton, relaxed)


def _balance_of_tree(pose: TrialPose, tree: Tree, newton: int, relaxed: int) -> Balance | None:
    """Return the same of a tree; None if forces are not smooth in a motion that the rows forbid, or stiff there only."""
    smooth = MotionDerivative(pose.work)
    try:
        A = smooth_stiffness_blocks(pose.evaluator, tree, pose.y, pose.at.lam, smooth)
    except NotSmooth:
        return None
    size = size_along(pose, tree, A)
    if A.largest > STIFF * size:
        return None
    scale = max(pose.work, size)
    # no basis has been near singular
    rounding = rounding_of(scale, pose.left, smooth.error, weakest=1.0)
    return Balance(pose, lambda: A.along(tree, pose.at.N), scale, rounding, newton, relaxed, A)


def _newton(pose: TrialPose, search: Search, downhill: bool) -> tuple[TrialPose, StepStiffness, int, bool]:
    """Take Newton steps until the last is small (True), or none can be made (False)."""
    model, length = pose.evaluator.model, pose.evaluator.length
    farthest = FARTHEST * max(1.0, float(np.ptp(bodies_in(model, pose.y)[:, :3], axis=0).max()) / length)
    direction = _rolling_direction if len(model.velocity_rows) else _direction
    radius, distance, last, K = 1.0, 0.0, np.inf, _stiffness_of_step(pose)
    for n in range(MAX_NEWTON):
        left, scale = pose.left, K.scale
        search.at(pose, scale, newton=min(n, 1))
        # the balance is reached, or rounding keeps it from getting better
        if left <= BALANCE_TOL * scale:
            return pose, K, n, True
        x = K.step(direction, downhill)
        size = _size(x)
        if left <= STALLED_TOL * scale and size > 0.5 * last:
            return pose, K, n, True
        last = size
        if size <= STEP_TOL:
            pose = displaced(pose, x)
            return pose, K, n + 1, pose.left <= LEFT_TOL * scale
        # a step within the radius in which the model has been right, and no large turn
        limit = min(1.0, radius / size, LARGEST_TURN / max(LARGEST_TURN, _size(x.reshape(-1, 6)[:, 3:])))
        if distance > farthest:
            _need_resistance(pose, K.K, x, distance)
        after = _line_search(pose, limit * x, downhill)
        if after is None:
            return pose, K, n, False
        pose, made = after
        distance += made
        # a step that went as far as it could: the next one may go farther
        radius = 2.0 * radius if made >= 0.99 * radius else radius
        K = _stiffness_of_step(pose)
    return pose, K, MAX_NEWTON, False


def displaced(pose: TrialPose, x: Array, *, patient: bool = True) -> TrialPose:
    """Return the trial pose after a motion x (6 nb,). Raise SimulationError if it cannot be closed;  patient: see `closed`"""
    return trial_pose_at(pose.evaluator, moved_along_joints(pose.evaluator, pose.y, x), patient=patient)


class StepStiffness:
    """The stiffness at a pose for a step of the iteration, K (nd, nd) in the basis N."""

    def __init__(self, pose: TrialPose) -> None:
        self.pose = pose

    @cached_property
    def K(self) -> Array:
        """K by one difference each."""
        return stiffness(self.pose.evaluator, self.pose.y, self.pose.at, sketched)

    @cached_property
    def scale(self) -> float:
        """The scale of the balance [J]."""
        return scale_of(self.pose.work, self.K)

    def step(self, direction: Callable[[Array, Array, float, bool], Array], downhill: bool) -> Array:
        """Return the step x (6 nb,)."""
        return np.asarray(self.pose.at.N @ direction(self.K, self.pose.g, self.scale, downhill))


class TreeStiffness(StepStiffness):
    """The same of a tree, by its blocks A = -df/dx: without a basis while K is positive definite."""

    def __init__(self, pose: TrialPose, tree: Tree, A: Blocks) -> None:
        super().__init__(pose)
        self.tree, self.A = tree, A

    @cached_property
    def scale(self) -> float:
        """The scale of the balance [J]."""
        return max(self.pose.work, size_along(self.pose, self.tree, self.A))

    def step(self, direction: Callable[[Array, Array, float, bool], Array], downhill: bool) -> Array:
        """Return the step x (6 nb,), N K^-1 g where K is positive definite beyond rounding."""
        rounding = max(ROUNDED * self.scale, ERRORS * ROUNDING / SKETCH_H * self.pose.work)
        if not is_positive(self.pose, self.tree, self.A, rounding):
            return super().step(direction, downhill)
        J, _ = unit_rows_of(self.pose.residual.by_bodies)
        return factor_of(self.tree, J, self.A).solve(self.pose.residual.force, np.zeros(len(J)))[0]


def size_along(pose: TrialPose, tree: Tree, A: Blocks) -> float:
    """Return the size of N^T A N: the root of the mean square of its singular values, by what random motions meet."""
    dof, largest, seeds = max(1, len(pose.push) - len(pose.residual.Phi)), 0.0, np.random.default_rng(0)
    for _ in range(RANDOM_MOTIONS):
        met = pose.at.along(A.times(tree, pose.at.along(seeds.normal(size=len(pose.push)))))
        largest = max(largest, float(np.linalg.norm(met)) / dof**0.5)
    return largest


def is_positive(pose: TrialPose, tree: Tree, A: Blocks, least: float) -> bool:
    """Return whether all eigenvalues of the symmetric part of N^T A N are larger than `least`."""
    J, _ = unit_rows_of(pose.residual.by_bodies)
    return factor_of(tree, J, A.symmetric.plus(-least)).least > 0.0


def tree_at(pose: TrialPose) -> Tree | None:
    """Return the tree of a pose whose tangent space is that of a large tree, at rest; None for others."""
    evaluator = pose.evaluator
    return None if pose.at.factor is None or evaluator.steady.moves else evaluator.tree


def _stiffness_of_step(pose: TrialPose) -> StepStiffness:
    """Return K for a step of the iteration."""
    tree = tree_at(pose)
    if tree is None:
        return StepStiffness(pose)
    return TreeStiffness(pose, tree, stiffness_blocks(pose.evaluator, tree, pose.y, pose.at.lam))


def _size(x: Array) -> float:
    """Return the largest displacement or rotation."""
    return float(np.abs(x).max(initial=0.0))


def acted_on(K: Array, g: Array, scale: float) -> Array:
    """Return an orthonormal basis (nd, nw) of the directions in which forces g act, or change by K, where wheels or blades roll.

    K is then not symmetric: a direction in which no force ever acts, as the heading of a wheel, changes other forces. It is left out, so
    that it is not turned.
    """
    U, s, _ = np.linalg.svd(K, full_matrices=True)
    stiffness = np.zeros(len(K))
    stiffness[: len(s)] = s
    return U[:, np.maximum(stiffness, np.abs(U.T @ g)) > SOFT * scale]


def _rolling_direction(K: Array, g: Array, scale: float, downhill: bool) -> Array:
    """Return the direction of `_direction` where wheels or blades roll, within the directions in which forces act."""
    W = acted_on(K, g, scale)
    return np.asarray(W @ _direction(W.T @ K @ W, W.T @ g, scale, downhill))


def _direction(K: Array, g: Array, scale: float, downhill: bool) -> Array:
    """Return K^-1 g, downhill with |eigenvalues|; zero along directions with neither stiffness nor force."""
    acting = K.any(axis=0) | K.any(axis=1) | (np.abs(g) > NOISE * scale)
    if acting.all():
        return _direction_of_all(K, g, scale, downhill)
    x = np.zeros(len(g))  # balls on rods turn about themselves, three times for each that moves
    x[acting] = _direction_of_all(K[np.ix_(acting, acting)], g[acting], scale, downhill)
    return x


def _direction_of_all(K: Array, g: Array, scale: float, downhill: bool) -> Array:
    """Return the same, where every coordinate has a force, or is coupled with some."""
    symmetric = 0.5 * (K + K.T)
    w, V = np.linalg.eigh(symmetric)
    soft = np.abs(w) <= NOISE * scale
    part = V.T @ g
    idle = soft & (np.abs(part) <= NOISE * scale)
    if not downhill or (w[~idle] > 0.0).all():
        if (w > NOISE * scale).all():  # K is regular, symmetric or not
            return np.asarray(np.linalg.solve(K, g))
        x: Array = np.linalg.lstsq(K, g, rcond=NOISE)[0].astype(np.float64)
        x -= V[:, idle] @ (V[:, idle].T @ x)
        if not soft[~idle].any() and (not downhill or x @ g > 0.0):
            return x
    floor = max(1e-3 * float(np.linalg.norm(g)), NOISE * scale)
    return np.asarray(V @ np.where(idle, 0.0, part / np.maximum(np.abs(w), floor)))


def _line_search(pose: TrialPose, x: Array, downhill: bool) -> tuple[TrialPose, float] | None:
    """Return the pose after a part of x, and this part; None if no part is accepted."""
    push = float(pose.residual.force @ x)
    for _ in range(MAX_HALVINGS):
        try:
            after = displaced(pose, x, patient=False)
        except SimulationError:
            after = None
        if after is not None and np.isfinite(after.push).all():
            later = float(after.push @ x)
            better = np.linalg.norm(after.push) < np.linalg.norm(pose.push)
            if better or (downhill and later >= -PUSHED_BACK * push) or _size(x) < STEP_TOL:
                return after, _size(x)
        x, push = 0.5 * x, 0.5 * push
    return None


def _need_resistance(pose: TrialPose, K: Array, x: Array, distance: float) -> None:
    """Raise NotHeld if no force along x could stop the motion within the distance already moved."""
    along = pose.at.N.T @ x
    along /= np.linalg.norm(along)
    change, least = K @ along * distance, 1e-3 * abs(float(along @ pose.g))
    if float(np.linalg.norm(change)) <= least or float(along @ change) < -least:  # no force changes, or those that push grow
        raise NotHeld("nothing resists", (pose, x, True))


def _relax(pose: TrialPose, search: Search, K: Array) -> tuple[TrialPose, int]:
    """Return the pose after damped motion with unit masses, until |g| has fallen to RELAXED of its first size."""
    h = 0.5 / np.sqrt(max(float(np.abs(np.linalg.eigvalsh(0.5 * (K + K.T))).max(initial=0.0)), 1e-3 * pose.work, 1e-300))
    first, w = float(np.linalg.norm(pose.push)), np.zeros(len(pose.push))
    for n in range(RELAXATION_STEPS):
        search.at(pose, scale_of(pose.work, K), relaxed=min(n, 1))
        if np.linalg.norm(pose.push) <= RELAXED * first:
            return pose, n
        w = pose.at.along(w)
        w = (w if pose.push @ w > 0.0 else 0.0) + h * pose.push
        x = h * w
        x *= min(1.0, 0.1 / (_size(x) or 1.0))
        pose = displaced(pose, x)
    return pose, RELAXATION_STEPS


BLOCK_BALANCE_TOL = 1e-10
"""|g| that is left in a balance, relative to the forces at work, the stiffness and the forces of blocks."""

REST_TOL = 1e-8
"""Rate of a state, relative to that of a motion of one unit, that is left in a balance."""


def find_balance_of_states(evaluator: ResidualEvaluator, y: Array, search: Search) -> Balance:
    """Return the next balance from y, stable or not.

    Where there is no step, the bodies search for a balance with the states held, and Newton's method continues from there.
    Raise NotHeld if the bodies find none, and SimulationError if a state keeps moving.
    """
    pose, relaxed, rounds = trial_pose_at(evaluator, y), 0, 0
    for n in range(MAX_NEWTON):
        step = _Correction(pose.evaluator, pose)
        search.at(pose, step.scale, newton=min(n, 1))
        after, last = _after(pose, step)
        before, left = _left(pose), np.inf if after is None else _left(after)
        if last and after is not None and left <= BLOCK_BALANCE_TOL * step.scale:
            _check_rest(evaluator, after, step)
            return stiffness_in_balance(after, n + 1, relaxed)
        if after is not None and (not last or left <= 0.5 * before):
            pose = after
        elif rounds < ROUNDS and before > BLOCK_BALANCE_TOL * step.scale:
            held = find_balance(pose.evaluator, pose.y, search, downhill=True)
            pose, relaxed, rounds = held.place, relaxed + held.relaxed, rounds + 1
        else:
            break
    if _left(pose) <= BLOCK_BALANCE_TOL * step.scale:
        _check_rest(evaluator, pose, step)
    raise NotHeld("no balance", (pose, pose.push, False))


def _left(pose: TrialPose) -> float:
    """Return the largest force along the motions [J]."""
    return float(np.abs(pose.g).max(initial=0.0))


def _check_rest(evaluator: ResidualEvaluator, pose: TrialPose, step: _Correction) -> None:
    """Raise SimulationError, which names the state, if one moves."""
    part = np.abs(pose.residual.rates) / step.blocks.rate_scale
    if part.max() <= REST_TOL:
        return
    name, rate = evaluator.states.names[int(np.argmax(part))], pose.residual.rates[int(np.argmax(part))]
    raise SimulationError(
        f"no equilibrium is found from the given state: {name} keeps moving, at {rate:.4g} per second, where the forces are in balance. "
        "Is it an integrator whose error nothing brings to zero, or a controller at its limit? Give it a way to rest, or another start."
    )


class _Correction:
    """The matrix of one step, with rows and columns scaled."""

    def __init__(self, evaluator: ResidualEvaluator, pose: TrialPose) -> None:
        K = stiffness(evaluator, pose.y, pose.at, sketched)
        self.blocks = sketched_block_matrices(evaluator, pose.y, pose.at.N)
        E, F, _, H = self.blocks
        self.scale = max(scale_of(pose.work, K), float(np.abs(E * pose.y[evaluator.states.columns]).max(initial=0.0)))
        if len(evaluator.model.velocity_rows):
            W = acted_on(np.hstack([K, E * evaluator.states.typical]), pose.g, self.scale)
            K, E, F = W.T @ K @ W, W.T @ E, F @ W
        else:
            W = np.eye(len(K))
        A = np.block([[np.where(np.abs(K) > NOISE * self.scale, K, 0.0), -E], [-F, -H]])
        self.nd, self.N = len(K), pose.at.N @ W
        self._columns = 1.0 / _nonzero(np.abs(A).max(axis=0, initial=0.0))
        A = A * self._columns
        self._rows = 1.0 / _nonzero(np.abs(A).max(axis=1, initial=0.0))
        self._A = A * self._rows[:, None]

    def scaled(self, place: TrialPose) -> Array:
        """Return the correction (nd + ns,) for what is left over at a pose, in units of the columns."""
        left = np.concatenate([self.N.T @ place.residual.force, place.residual.rates]) * self._rows
        return np.asarray(np.linalg.lstsq(self._A, left, rcond=NOISE)[0], dtype=np.float64)

    def of(self, place: TrialPose) -> tuple[Array, Array]:
        """Return x (6 nb,) and z (ns,)."""
        s = self.scaled(place) * self._columns
        return self.N @ s[: self.nd], s[self.nd :]


def _nonzero(x: Array) -> Array:
    """Return the numbers, 1 in place of 0."""
    return np.where(x > 0.0, x, 1.0)


def _after(pose: TrialPose, step: _Correction) -> tuple[TrialPose | None, bool]:
    """Return the pose after the part of a step that makes its correction smaller, None if there is none; whether it is the last."""
    evaluator = pose.evaluator
    (x, z), columns = step.of(pose), evaluator.states.columns
    largest = float(np.abs(x).max(initial=0.0))
    idle = np.abs(step.blocks.E * z).max(axis=0, initial=0.0) <= STEP_TOL * step.scale
    rests = np.abs(pose.residual.rates) <= REST_TOL * step.blocks.rate_scale
    small = (idle & rests) | (np.abs(z) <= STEP_TOL * np.abs(pose.y[columns]))
    last = largest <= STEP_TOL and bool(small.all())
    part, first = min(1.0, LARGEST_TURN / (largest or 1.0)), float(np.linalg.norm(step.scaled(pose)))
    for _ in range(MAX_HALVINGS):
        y = pose.y.copy()
        y[columns] += part * z
        try:
            after = trial_pose_at(evaluator, moved_along_joints(evaluator, y, part * x))
        except SimulationError:
            after = None
        if after is not None and (last or float(np.linalg.norm(step.scaled(after))) < first):
            return after, last
        part *= 0.5
    return None, last
