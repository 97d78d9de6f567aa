"""Path following of a driven mechanism: pose, velocities and accelerations at every time, by a predictor-corrector method.

    steps       in compiled code, in a metric of the geometry, see `path_steps` and `determined_motion`
    suspicious  a step whose volumes may have vanished: they are sampled on the interpolant between its ends, and it is taken if they do not
    crossing    points on both sides of the singular configuration, and tests that the incoming velocity selects the continuation

At a singular position (a dead centre, a flat parallelogram) velocities have no equation.  The motion is followed past it where the
predictor meets the other side just as well, the rows do not contradict each other at the singular position itself, and the smallest
singular value vanishes like |t - t*|, see `branch_selection`.  At a wanted time inside the gap the state is that of the quintic polynomial
through both sides.  Where the rows contradict each other there, two branches pass at a small distance: shorter steps then follow the one
that the motion is on.  Where no step succeeds the motion ends there.

The state in a gap around a singular configuration, by the quintic polynomial through r, p and their rates on both sides.

x(t_k), x_dot(t_k), x_ddot(t_k),  k = before, after         x = (r, p),   p_ddot = (p_dot (0, w) + p (0, w_dot)) / 2
error of x about width^6, of velocities width^5
Source: Haug (2021), spatial kinematic analysis; Allgower and Georg (1990), predictor-corrector methods.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from math import exp
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from haugmbd.analysis.initial_model import counted_angles, with_angles
from haugmbd.analysis.kinematics import path_steps as at
from haugmbd.analysis.kinematics.path_steps import HERE, NEW, PathArrays
from haugmbd.analysis.mobility.free_motions import freedom_at
from haugmbd.compiled.array_types import Array
from haugmbd.compiled.status_codes import OK, USER_STOPPED
from haugmbd.diagnostics.turns import TurnCounter
from haugmbd.formulations.determined_motion import geometric_pack, without_forces
from haugmbd.integrators.singularities.branch_selection import BranchSelection, Selection
from haugmbd.integrators.singularities.run_motion import Way
from haugmbd.integrators.singularities.singularity_search import FINE, GRID, determinants, least_determinant, may_be_singular
from haugmbd.integrators.stabilization.projection import Projection
from haugmbd.integrators.step_context import Dynamics, Options, Steps, new_dynamics
from haugmbd.math.body_columns import EULER, OMEGA_BAR, VELOCITY
from haugmbd.math.euler_parameters import normalized, omega_bar_from, p_dot_from, product
from haugmbd.model.model import Model
from haugmbd.model.state import State
from haugmbd.simulation.stepping.progress import Progress
from haugmbd.workspace.layout import WIDTH


class PathPoint(NamedTuple):
    """A state that fulfils the constraints: t [s], y and y_dot (ny,);  pivot: the smallest, relative to its scale: about sigma^2."""

    t: float
    y: Array
    y_dot: Array
    pivot: float


class Gap(NamedTuple):
    """A singular configuration, as the tests of its crossing have found it, and the points on both sides."""

    selected: Selection
    before: PathPoint
    after: PathPoint


def between(model: Model, gap: Gap, t: float) -> PathPoint:
    """Return the state at t in a gap, by the quintic polynomial through both sides: r, p, their rates and accelerations."""
    from scipy.interpolate import BPoly  # noqa: PLC0415  imported only where a singular position is passed

    n = model.nb + 1
    ends = [_derivatives(point, n) for point in (gap.before, gap.after)]
    order = [0, 1] if gap.before.t < gap.after.t else [1, 0]
    times = [(gap.before.t, gap.after.t)[k] for k in order]
    curve = BPoly.from_derivatives(times, [ends[k] for k in order])
    x, x_dot, x_ddot = (curve(t, nu=k).reshape(n, 7) for k in range(3))
    p = normalized(x[:, 3:])
    omega_bar = omega_bar_from(p, x_dot[:, 3:])
    y = np.concatenate([np.hstack([x[:, :3], p, x_dot[:, :3], omega_bar]).ravel(), gap.before.y[WIDTH * n :]])
    state = with_angles(model, State.from_y(t, y, n))
    u_dot = np.hstack([x_ddot[:, :3], omega_bar_from(p, x_ddot[:, 3:])])
    rates = np.hstack([x_dot[:, :3], p_dot_from(p, omega_bar), u_dot])
    return PathPoint(t, state.y, np.concatenate([rates.ravel(), gap.before.y_dot[WIDTH * n :]]), 0.0)


def _derivatives(point: PathPoint, n: int) -> list[Array]:
    """Return (r, p) and its first and second rate, (7 n,) each:  p_ddot = (p_dot (0, w) + p (0, w_dot)) / 2  in quaternion products."""
    y, rate = (x[: WIDTH * n].reshape(n, WIDTH) for x in (point.y, point.y_dot))
    w, w_dot = (np.hstack([np.zeros((n, 1)), x[:, OMEGA_BAR:]]) for x in (y, rate))
    p, p_dot = y[:, EULER:VELOCITY], rate[:, EULER:VELOCITY]
    p_ddot = 0.5 * (product(p_dot, w) + product(p, w_dot))
    return [
        np.hstack(parts).ravel()
        for parts in ((y[:, :3], p), (y[:, VELOCITY:OMEGA_BAR], p_dot), (rate[:, VELOCITY:OMEGA_BAR], p_ddot))
    ]


Flags: TypeAlias = npt.NDArray[np.bool_]

SHORTEST = 1e-9
"""Part of the whole time below which no step is tried."""

HALF_GAPS = (1.6e-2, 4e-3, 1e-3, 2.5e-4)
"""Half widths of the gap around a singular configuration that are tried [rad], or parts of the size: motion of the fastest body. In a
smaller gap velocities lose digits; in a larger one the polynomial is less accurate.
"""

AT_ONCE = 256
"""Points of a call of compiled code, after which Ctrl-C is answered."""

SHALLOW, DEEP, PLUNGE = 0.3, 0.02, 1e-3
"""Parts of the volume of all rows at the ends of a suspicious interval. A least value above SHALLOW is no singular configuration, nor has a
step that is short for it leapt over one; below DEEP there may be one, which is tried to be crossed; and where the volume falls by PLUNGE
within a step, the end of this step may be one."""

TRIES = 8
"""How often a crossing is tried within the widest gap: where it is refused so often the motion is followed, or ends."""

LOCATED = 1e-4
"""Pivot of a singular configuration, the square of the smallest singular value relative to that beside it, above which that does not
vanish there: where several vanish, one of them like a square, the tests see rounding."""

LONE = 0.03
"""Motion of a step [rad], or part of the size, that holds one singular configuration, as a rule: longer ones are halved."""
BESIDE = 0.01
"""Part of a gap that is the motion of the first step behind it: another singular configuration may be as near as that."""

SAMPLES, EVEN = 8, 0.5
"""Samples of the volumes in a gap or step, and the least part of its largest value of one that vanishes once in a gap, or nowhere."""
FINEST = 5e-4
"""Half width of a gap [rad], or part of the size, up to which several singular configurations in it count as one."""

AT_ITS_START = 1e-3
"""Part of a gap: nearer to its start the motion need not be led to it."""

AT_END = 1e-6
"""Part of a suspicious interval within which a least value is that of its end."""


class Motion(NamedTuple):
    """The motion between two points."""

    t0: float
    t1: float
    way: Way

    def states(self, t: Array) -> Array:
        """Return the states (k, ny) at the times t (k,)."""
        return self.way.states(t)


class Track(NamedTuple):
    """The data of path following: model, compiled dynamics in the metric of the geometry, counters, record, arrays, and tests."""

    model: Model
    dynamics: Dynamics
    options: Options
    record: Any
    arrays: PathArrays
    selection: BranchSelection

    @property
    def shortest(self) -> float:
        """Return the step [s] below which none is tried."""
        return float(self.record.shortest)


@dataclass
class Followed:
    """The motion from a start: all its points in their order, and which of them are at wanted times.

    gaps: that were crossed;  parts: the number of parts of the arrays before the last of them
    refused: times [s] at which a crossing was tried
    stopped: the last point, if the motion ends there;  interrupted: whether Ctrl-C ended it
    """

    t: list[Array] = field(default_factory=list)
    y: list[Array] = field(default_factory=list)
    y_dot: list[Array] = field(default_factory=list)
    wanted: list[Flags] = field(default_factory=list)
    gaps: list[Gap] = field(default_factory=list)
    refused: list[float] = field(default_factory=list)
    parts: int = 0
    stopped: PathPoint | None = None
    interrupted: bool = False

    def add(self, t: Array, y: Array, y_dot: Array, wanted: Array) -> None:
        """Add points (k,); the arrays are kept."""
        if len(t):
            self.t.append(t)
            self.y.append(y)
            self.y_dot.append(y_dot)
            self.wanted.append(wanted > 0.0)

    def add_points(self, points: Iterable[PathPoint], wanted: float = 0.0) -> None:
        """Add some points, all wanted or not."""
        for point in points:
            self.add(np.array([point.t]), point.y[None], point.y_dot[None], np.array([wanted]))

    def points(self) -> Steps:
        """Return all points: t (k,), y and y_dot (k, ny)."""
        if len(self.t) > 1:
            self.t, self.y, self.y_dot = ([np.concatenate(x)] for x in (self.t, self.y, self.y_dot))
            self.wanted = [np.concatenate(self.wanted)]
        return Steps(self.t[0], self.y[0], self.y_dot[0])

    def at_wanted(self) -> Steps:
        """Return the points at the wanted times that were reached, in the order of the motion."""
        t, y, y_dot = self.points()
        wanted = self.wanted[0]
        return Steps(t[wanted], y[wanted], y_dot[wanted])

    def since(self, t: float, way: float) -> Steps:
        """Return the last points behind all gaps, from the last that is not after t along the motion: way = 1 forwards, -1 backwards."""
        times: list[Array] = []
        for k in range(len(self.t) - 1, self.parts - 1, -1):
            times.insert(0, self.t[k])
            if (t - self.t[k][0]) * way >= 0.0:
                break
        first = len(self.t) - len(times)
        whole = np.concatenate(times)
        from_ = max(0, int(np.searchsorted(way * whole, way * t, side="right")) - 1)
        return Steps(whole[from_:], np.concatenate(self.y[first:])[from_:], np.concatenate(self.y_dot[first:])[from_:])


def new_track(model: Model, state: State, span: float) -> Track:
    """Return the data of path following from a state, over a time of `span` [s]."""
    pack = without_forces(model, geometric_pack(model, state))
    ny, ne = len(model.y0), len(model.tables["EDGES"])
    buffers = np.empty(AT_ONCE), np.empty((AT_ONCE, ny)), np.empty((AT_ONCE, ny)), np.empty(AT_ONCE)
    arrays = PathArrays(np.zeros((3, ny)), np.zeros((3, ny)), np.ones((3, ne)), counted_angles(model), *buffers)
    record = at.new_path(first=at.FIRST, size=model.length, shortest=SHORTEST * span, watches=float(may_be_singular(model)))
    dynamics = new_dynamics(Projection.rates, Projection.post_step, pack)
    return Track(model, dynamics, Projection().options(), record, arrays, BranchSelection(model, pack, model.length))


def begin(track: Track, state: State) -> PathPoint | None:
    """Begin the path at a state, corrected; return its first point, None if there is none."""
    track.arrays.y[NEW] = state.y
    return _started(track, state.t)


def begin_at(track: Track, point: PathPoint) -> None:
    """Begin the path again at a point of the motion."""
    track.arrays.y[NEW] = point.y
    if _started(track, point.t) is None:
        track.arrays.y[HERE], track.arrays.y_dot[HERE] = point.y, point.y_dot
        track.record.t, track.record.pivot, track.record.values = point.t, point.pivot, 0.0
        track.record.step = np.inf


def _started(track: Track, t: float) -> PathPoint | None:
    code = at.start_path(track.dynamics, track.options, track.record, track.arrays, t)
    if code == USER_STOPPED:
        track.model.raise_user_error(track.dynamics.pack)
    return _point(track, HERE) if code == OK else None


def _point(track: Track, row: int) -> PathPoint:
    """Return the last point, or the new one."""
    w, a = track.record, track.arrays
    t, pivot = (w.t, w.pivot) if row == HERE else (w.t_new, w.pivot_new)
    return PathPoint(float(t), a.y[row].copy(), a.y_dot[row].copy(), float(pivot))


def follow(track: Track, start: PathPoint, times: Array, bar: Progress) -> Followed:
    """Follow the motion from `start` to each of the `times` in turn; after Ctrl-C the points so far are returned."""
    motion = Followed()
    at_start = len(times) > 0 and times[0] == start.t
    motion.add_points([start], float(at_start))
    if at_start:
        bar.done()
    try:
        _follow(track, start, times[int(at_start) :], motion, bar)
    except KeyboardInterrupt:
        motion.interrupted = True
    return motion


def _follow(track: Track, start: PathPoint, times: Array, motion: Followed, bar: Progress) -> None:
    """Follow the motion, and add its points to those found."""
    begin_at(track, start)
    takes, led, w = False, None, track.record
    times = np.ascontiguousarray(times, dtype=np.float64)
    while len(times):
        direction = float(np.sign(times[0] - w.t)) or 1.0
        ends, reached = followed_steps(track, times, takes, motion) if led is None else (led, 0)
        takes, led = False, None
        for _ in range(reached):
            bar.done()
        times = times[reached:]
        if ends == at.STOPPED:
            track.model.raise_user_error(track.dynamics.pack)
        # the new point may lie behind a singular configuration: a shorter step decides, or there is a gap around it
        if ends == at.SUSPICIOUS:
            zero = _examined(track, motion, direction)
            if zero is not None and w.made > LONE and (zero.t - w.t) * direction > 0.0:
                w.step = 0.5 * abs(w.t_new - w.t)
                continue
            over = None if zero is None else gap_around(track, motion, zero.t, direction)
            takes = over is None and (zero is None or zero.at_end)
            if zero is not None and over is None:
                w.step = 0.5 * abs(w.t_new - w.t)
                if w.step <= w.shortest or (zero.t - w.t) * direction <= 0.0:
                    motion.stopped = _point(track, HERE)
                    return
        # a step has failed before a singular configuration: there is a gap around it
        elif ends == at.NEAR:
            over = gap_around(track, motion, float(w.zero), direction)
        elif ends == at.STUCK:
            over = gap_around(track, motion, float(w.t + direction * w.step), direction)
            if over is None:
                motion.stopped = _point(track, HERE)
                return
        else:
            continue
        # up to a gap that begins later the motion is followed with all tests
        if over is not None and (over.before.t - w.t) * direction > AT_ITS_START * abs(over.after.t - over.before.t):
            led = _led_to(track, over.before.t, motion)
        if over is not None and led is None:
            times = _passed(track, over, times, motion, bar)


def _passed(track: Track, over: Gap, times: Array, motion: Followed, bar: Progress) -> Array:
    """Add the points of a gap, and begin again behind it; return the times that are left."""
    w = track.record
    motion.gaps.append(over)
    inside = times[(times - over.before.t) * (times - over.after.t) <= 0.0]
    motion.add_points([over.before])
    for t in inside.tolist():
        motion.add_points([between(track.model, over, t)], 1.0)
        bar.done()
    motion.parts = len(motion.t)
    motion.add_points([over.after])
    begin_at(track, over.after)
    w.first = BESIDE * abs(over.after.t - over.before.t) * at.fastest(over.after.y, track.model.nb + 1, track.model.length)
    return times[len(inside) :]


def _led_to(track: Track, t: float, motion: Followed) -> int | None:
    """Follow the motion to the gap that begins at t, with all tests; return what ends it before, None if nothing does."""
    ends, reached = followed_steps(track, np.array([t]), False, motion)
    if reached:
        motion.wanted[-1][-1] = False
    return None if reached else ends


def followed_steps(track: Track, times: Array, takes: bool, motion: Followed) -> tuple[int, int]:
    """Follow the motion in compiled code, and add its points; return what ends it, and the number of times reached."""
    a = track.arrays
    ends, k, reached = at.follow_steps(track.dynamics, track.options, track.record, a, times, takes)
    motion.add(*(x[:k].copy() for x in (a.t, a.ys, a.rates, a.wanted)))
    return ends, reached


class Zero(NamedTuple):
    """A possible singular configuration: its time [s], and whether it is at the end of the last step."""

    t: float
    at_end: bool


def _examined(track: Track, motion: Followed, direction: float) -> Zero | None:
    """Return the first place where a volume may vanish on the way to the new point; None if there is clearly none."""
    zero = _least_volume(track, motion, direction)
    here, new = _point(track, HERE), _point(track, NEW)
    zeros = np.array([t for t in _sign_changes(track, _between(track, here, new)) if (t - here.t) * (t - new.t) < 0.0])
    if not len(zeros):
        return zero
    first = float(zeros[np.abs(zeros - here.t).argmin()])
    return Zero(first, False) if zero is None or zero.at_end or (zero.t - first) * direction > 0.0 else zero


def _between(track: Track, before: PathPoint, after: PathPoint) -> Motion:
    """Return the motion between two points, forwards in time."""
    ends = (before, after) if before.t < after.t else (after, before)
    steps = Steps(*(np.array([point[k] for point in ends]) for k in range(3)))
    return Motion(float(steps.t[0]), float(steps.t[1]), Way(steps.t, np.zeros(2), steps, track.model.nb + 1))


def _least_volume(track: Track, motion: Followed, direction: float) -> Zero | None:
    """Return where the volume of all rows is least on the way to the new point; None if it is clearly not zero."""
    w, new = track.record, _point(track, NEW)
    trail = motion.since(float(w.t_old if w.values > 1.0 else w.t_mid), direction)
    t, y, y_dot = np.append(trail.t, new.t), np.vstack([trail.y, new.y[None]]), np.vstack([trail.y_dot, new.y_dot[None]])
    order = slice(None, None, int(direction))
    steps = Steps(*(np.ascontiguousarray(x[order]) for x in (t, y, y_dot)))
    a, b = float(steps.t[0]), float(steps.t[-1])
    pack, g, volumes = track.dynamics.pack, np.empty(2), np.empty(GRID)
    code, least_at, least = least_determinant(pack, steps, a, b, FINE, np.empty(y.shape[1]), volumes)
    pack.callback.keep_interruption(code)
    if not np.isfinite(least):
        return None
    determinants(pack, np.array([a, b]), np.ascontiguousarray(steps.y[[0, -1]]), g)
    if direction < 0.0:
        g = g[::-1]
    if abs(least_at - new.t) <= AT_END * (b - a):
        return Zero(new.t, True) if exp(0.5 * (g[1] - g[0])) < PLUNGE else None
    depth = exp(0.5 * (least - float(g.min())))
    if depth > SHALLOW or abs(least_at - t[0]) <= AT_END * (b - a):
        return None
    if (least_at - w.t) * direction <= 0.0 and depth > DEEP:
        return None
    return Zero(least_at, False)


def counted_turns(model: Model, motion: Followed) -> Array:
    """Return the angles of all joints that turn (n, m) at the given times, counted from point to point of the motion.

    From the modelled pose, in the order of `turns.turning_joints`; NaN behind a step that is too long to be counted.
    """
    t, y, y_dot = motion.points()
    wanted = motion.wanted[0]
    order = np.argsort(np.abs(t - t[0]), kind="stable")
    t, y, y_dot, wanted = t[order], y[order], y_dot[order], wanted[order]
    first = np.append(True, np.diff(t) != 0.0)
    angles, _ = TurnCounter(model).count(t[first], y[first], y_dot[first])
    counted: Array = angles[(np.cumsum(first) - 1)[wanted]]
    return counted


def advanced(track: Track, here: PathPoint, t: float) -> PathPoint | None:
    """Return the point at t; None if the correction is too large, or velocities do not go on."""
    w, a = track.record, track.arrays
    kept = w.t, w.pivot, a.y[HERE].copy(), a.y_dot[HERE].copy()
    try:
        w.t, w.pivot, a.y[HERE], a.y_dot[HERE] = here.t, here.pivot, here.y, here.y_dot
        code, continues = at.step_once(track.dynamics, track.options, w, a, t)
        if code == USER_STOPPED:
            track.model.raise_user_error(track.dynamics.pack)
        return _point(track, NEW) if continues else None
    finally:
        w.t, w.pivot, a.y[HERE], a.y_dot[HERE] = kept


def gap_around(track: Track, motion: Followed, t: float, direction: float) -> Gap | None:
    """Return the gap around the singular configuration at t; None if the motion does not continue on the other side."""
    w, a = track.record, track.arrays
    kept = w.t_new, w.pivot_new, a.y[NEW].copy(), a.y_dot[NEW].copy()
    speed = at.fastest(motion.y[-1][-1], track.model.nb + 1, track.model.length)
    if not speed > 0.0 or sum(abs(t - other) * speed < HALF_GAPS[0] for other in motion.refused) >= TRIES:
        return None
    try:
        for width in HALF_GAPS:
            gap = _gap_of(track, motion, t, direction * width / speed)
            if gap is not None:
                return gap
        motion.refused.append(t)
        return None
    finally:
        w.t_new, w.pivot_new, a.y[NEW], a.y_dot[NEW] = kept


def _gap_of(track: Track, followed: Followed, t: float, half: float) -> Gap | None:
    """Return the gap from t - half [s] to t + half; None if the motion does not continue, or nothing selects its continuation."""
    direction = float(np.sign(half))
    start = followed.since(t - half, direction)
    if (t - half - start.t[0]) * direction < 0.0:
        return None
    behind = PathPoint(float(start.t[0]), start.y[0], start.y_dot[0], 1.0)
    before = advanced(track, behind, t - half) if behind.t != t - half else behind
    after = advanced(track, before, t + half) if before is not None else None
    if before is None or after is None:
        return None
    motion = _between(track, before, after)
    selected = track.selection.test(motion, abs(half), t, 0.0)
    if selected is None or not selected.pivot < LOCATED:
        return None
    if abs(half) * at.fastest(before.y, track.model.nb + 1, track.model.length) > FINEST and _holds_several(
        track, motion, selected.t
    ):
        return None
    if selected.regular and not _keeps_rank(track.model, motion, selected.t, behind.t):
        return None
    return Gap(selected, before, after)


def _holds_several(track: Track, motion: Motion, t_singular: float) -> bool:
    """Return whether a volume is neither about constant in a gap, nor about |t - t*| times a constant: it then vanishes elsewhere, too."""
    part = (motion.t1 - motion.t0) / (SAMPLES - 1)
    t: Array = np.asarray(motion.t0 + part * np.arange(SAMPLES), dtype=np.float64)  # none in the middle, where a gap is singular
    V = _volumes(track, motion, t)
    if V is None:
        return False
    parts = [x.min(axis=0) / x.max(axis=0) for x in (V, V / np.abs(t - t_singular)[:, None])]
    return bool((np.maximum(*parts) < EVEN).any())


def _sign_changes(track: Track, motion: Motion) -> Array:
    """Return the times (k,) at which volumes change their sign: those that are straighter with a change of sign, where it is.

    Beside a singular configuration a volume is |t - t*| times a constant.  A least value that is not small is none.
    """
    part = (motion.t1 - motion.t0) / (SAMPLES - 1)  # none in the middle, where a gap is singular
    t: Array = np.asarray(motion.t0 + part * np.arange(SAMPLES), dtype=np.float64)
    V = _volumes(track, motion, t)
    if V is None:
        return t[:0]
    signs = np.where(np.arange(SAMPLES) < np.arange(1, SAMPLES + 1)[:, None], 1.0, -1.0)  # the last line changes none
    where = np.sum(np.diff(signs[:, :, None] * V, n=2, axis=1) ** 2, axis=1).argmin(axis=0)
    edges = np.flatnonzero(where < SAMPLES - 1)
    if not len(edges):
        return t[:0]
    a, b = V[where[edges], edges], V[where[edges] + 1, edges]
    zeros: Array = t[where[edges]] + part * a / (a + b)
    least = _volumes(track, motion, zeros)
    if least is None:
        return t[:0]
    depth = least[np.arange(len(edges)), edges] / V[:, edges].max(axis=0)
    zeros = zeros[depth < DEEP]
    return zeros


def _volumes(track: Track, motion: Motion, t: Array) -> Array | None:
    """Return the volumes of the edges (k, ne) at times (k,) of a motion; None if they cannot be evaluated."""
    V = np.empty((len(t), track.arrays.volumes.shape[1]))
    code = at.volumes_at(track.dynamics.pack, t, np.ascontiguousarray(motion.states(t)), V)
    track.dynamics.pack.callback.keep_interruption(code)
    return V if code == OK else None


def _keeps_rank(model: Model, motion: Motion, t: float, t_before: float) -> bool:
    """Return whether all rows together, those that are left out counted, are as far from dependent at t as beside it."""
    end = motion.t0 if abs(motion.t0 - t_before) < abs(motion.t1 - t_before) else motion.t1
    times = np.array([end, t])
    states = [State.from_y(a, y, model.nb + 1) for a, y in zip(times.tolist(), motion.states(times), strict=True)]
    least = [freedom_at(model, state).sigma[6 * model.nb - 1] for state in states]
    return bool(least[1] > SHALLOW * least[0])
