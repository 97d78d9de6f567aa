r"""Path following in compiled code: steps of a driven mechanism from time to time, as long as its rows are clearly independent.

    predictor   r + v h + v' h^2/2,   p exp(omega_bar h + omega_bar' h^2/2),   u + u' h
    corrector   positions by Newton, velocities and accelerations from the same factor: `post_step` of the projection
    step        halved until the correction is small (CLOSE), so that the motion stays on its branch, and velocities go on (SAME_WAY), or no
                singular position is near (REGULAR)

    V_e = prod |pivot|^(1/2)  over the rows of edge e           the volume that they span beyond the rows eliminated before
        = |t - t*| times a smooth function, beside a singular configuration t*

A volume that changes its sign, by the line through its last two values, one that falls to a part of its last value, or one that was less
than before and behind marks a step that may have crossed a singular configuration.  It is left to the caller, and so is a step that fails
where a volume is about to vanish.
Source: Allgower and Georg (1990), predictor-corrector methods and the detection of bifurcation points.
"""

from __future__ import annotations

from math import atan2, floor, isfinite, sqrt
from typing import Any, NamedTuple

from haugmbd.analysis.initial_model import CountedAngles
from haugmbd.compiled.array_types import Array
from haugmbd.compiled.jit import DirectCall, entry, kernel
from haugmbd.compiled.records import new_record, record_dtype
from haugmbd.compiled.status_codes import OK, SINGULAR, USER_STOPPED
from haugmbd.formulations.newton_euler import factorize
from haugmbd.integrators.step_context import Dynamics, Options
from haugmbd.integrators.watches.rank_watch import volume
from haugmbd.math.body_columns import EULER, OMEGA_BAR, VELOCITY
from haugmbd.math.euler_kernels import rotate_by
from haugmbd.math.vec3 import dot, load, to_global
from haugmbd.model.evaluate import prepare
from haugmbd.model.generalized_forces import clear, copy_line
from haugmbd.workspace import accessors as ws
from haugmbd.workspace.layout import WIDTH, Pack

CLOSE = 0.02
"""Largest correction of a step [rad], or part of the model's size."""
SAME_WAY = 0.2
"""Largest relative difference of velocities from the predicted ones. Beyond a fold the velocities would be reversed."""
REGULAR = 100.0
"""Times that the motion of a step [rad], or part of the size, goes into the square root of the smallest pivot, above which no singular
position lies within the step. Velocities may then differ by any part: where a driver leaves rest, or comes to it, they do.
"""
WITHIN = 0.3
"""Part of this root, above which the motion of a step may cross a singular position. Its velocities must then carry it across: one that
comes to rest before does not continue on the other side.
"""
MOST, FIRST = 0.15, 0.02
"""Motion of a step [rad], or part of the size: beside a singular configuration the volumes are about straight lines for so long; and of the
first step of all, which shows their slope."""
APART = 0.005
"""Motion between volumes by which their line is drawn: that of nearer ones is rounding."""
SIGN, FALL, DIP = 0.5, 0.25, 2.0
"""Parts of a volume: SIGN of its value, below which the line predicts another sign; FALL of the last value in one step; and the factor by
which it was less than before or behind."""
LONGEST = 1e9
"""[s] the step of a motion that rests."""

REACHED, FULL, SUSPICIOUS, NEAR, STUCK, STOPPED = range(6)
"""What ends the steps: all times are reached; no room for more points; the new point may lie behind a singular configuration; a step has
failed before one; the step is too short; a function of the user has stopped it."""
HERE, NEW, GUESS = range(3)
"""Rows of states: the last point, the next one, and its prediction."""
OLD, MID, LAST = range(3)
"""Rows of volumes: at the last two times by which a line is drawn, and of the new point."""


class PathRecord:
    """The state of path following; times in [s]."""

    t: float
    step: float  # largest next step
    pivot: float  # the smallest one, relative to its scale: about sigma^2
    first: float  # motion of the first step
    size: float  # of the model [m]
    shortest: float  # step
    watches: float  # 1 if rows can become dependent
    t_new: float
    pivot_new: float
    made: float  # motion of the last step
    gone: float  # motion since t_mid
    t_old: float
    t_mid: float
    values: float  # how many volumes there are
    zero: float  # where a volume is about to vanish
    patience: float  # the time to it below which a failed step ends the steps
    steps: float


PATH = record_dtype(PathRecord)


def new_path(**values: float) -> Any:
    """Return the record of a path."""
    return new_record(PATH, **values)


class PathArrays(NamedTuple):
    """The arrays of path following.

    y, y_dot: (3, ny) see HERE;  volumes: (3, ne) see OLD;  angles: those that follow the poses
    t (m,), ys, rates (m, ny): points in the order of the motion;  wanted: (m,) 1 for a point at a wanted time
    """

    y: Array
    y_dot: Array
    volumes: Array
    angles: CountedAngles
    t: Array
    ys: Array
    rates: Array
    wanted: Array


@kernel
def turn_and_way(a: Array, b: Array, n: int, size: float) -> float:
    """Return the largest turn [rad], or displacement over the size, of n bodies from the state a to b."""
    most = 0.0
    for k in range(1, n):
        s = WIDTH * k
        for i in range(3):
            most = max(most, abs(b[s + i] - a[s + i]) / size)
        p, q = a[s + EULER : s + VELOCITY], b[s + EULER : s + VELOCITY]
        w = p[0] * q[0] + p[1] * q[1] + p[2] * q[2] + p[3] * q[3]
        x = p[0] * q[1] - p[1] * q[0] - p[2] * q[3] + p[3] * q[2]
        y = p[0] * q[2] - p[2] * q[0] - p[3] * q[1] + p[1] * q[3]
        z = p[0] * q[3] - p[3] * q[0] - p[1] * q[2] + p[2] * q[1]
        most = max(most, 2.0 * atan2(sqrt(x * x + y * y + z * z), abs(w)))
    return most


@kernel
def fastest(u: Array, n: int, size: float) -> float:
    """Return the largest number of (v / size, omega_bar) of n bodies in a state, or of its accelerations in its rates."""
    most = 0.0
    for k in range(1, n):
        for i in range(3):
            most = max(most, abs(u[WIDTH * k + VELOCITY + i]) / size, abs(u[WIDTH * k + OMEGA_BAR + i]))
    return most


@kernel
def largest_difference(a: Array, b: Array, n: int, size: float) -> float:
    """Return the largest difference of (v / size, omega_bar) between two states."""
    most = 0.0
    for k in range(1, n):
        for i in range(3):
            v, w = WIDTH * k + VELOCITY + i, WIDTH * k + OMEGA_BAR + i
            most = max(most, abs(b[v] - a[v]) / size, abs(b[w] - a[w]))
    return most


@kernel
def predict(P: Pack, h: float, y: Array, y_dot: Array, out: Array) -> None:
    """Write the state after h by the second-order predictor."""
    n, turn = ws.n_bodies(P), ws.solution(P)[0, 0:3]
    copy_line(y, out)
    for k in range(1, n):
        s = WIDTH * k
        for i in range(3):
            out[s + i] += h * (y[s + VELOCITY + i] + 0.5 * h * y_dot[s + VELOCITY + i])
            turn[i] = h * (y[s + OMEGA_BAR + i] + 0.5 * h * y_dot[s + OMEGA_BAR + i])
        rotate_by(out[s + EULER : s + VELOCITY], turn)
        for i in range(VELOCITY, WIDTH):
            out[s + i] += h * y_dot[s + i]
    for i in range(WIDTH * n, y.size):
        out[i] += h * y_dot[i]
    for i in range(3):
        turn[i] = 0.0


@kernel
def follow_angles(P: Pack, counted: CountedAngles, y: Array) -> None:
    """Write the integrated angles of the pose y, each in the turn nearest to its value; the rotation matrices are those of y."""
    A, first, whole = ws.rotation_matrices(P), WIDTH * ws.n_bodies(P), 6.283185307179586
    for k in range(counted.columns.size):
        vectors, bodies = counted.vectors[k], counted.bodies[k]
        v = to_global(A, bodies[2], load(vectors, 2, 0))
        sine, cosine = (dot(to_global(A, bodies[1], load(vectors, 1, 0)), v), dot(to_global(A, bodies[0], load(vectors, 0, 0)), v))
        q, column = atan2(sine, cosine) - counted.offset[k], first + counted.columns[k]
        y[column] = q + whole * floor((y[column] - q) / whole + 0.5)


@kernel
def correct(dynamics: Dynamics, options: Options, a: PathArrays, t: float) -> tuple[int, float]:
    """Correct the new state, and write its rates; return the code, and the smallest pivot relative to its scale."""
    P, y, y_dot = dynamics.pack, a.y[NEW], a.y_dot[NEW]
    code = dynamics.post_step(P, options, t, y, y_dot)
    if code != OK:
        return code, 0.0
    for i in range(y.size):
        if not (isfinite(y[i]) and isfinite(y_dot[i])):
            return -1, 0.0
    follow_angles(P, a.angles, y)
    d_inv, scale, worst = ws.inverse_pivots(P), ws.pivot_scale(P), 1.0
    for k in range(ws.n_bodies(P), d_inv.shape[0]):
        for i in range(6):
            worst = max(worst, abs(d_inv[k, i]) * scale[k, i])
    return OK, 1.0 / worst


@kernel
def put_volumes(P: Pack, out: Array) -> None:
    """Write the volumes of the edges (ne,) by the current factor."""
    d_inv, span, n = ws.inverse_pivots(P), ws.row_spans(P), ws.n_bodies(P)
    for e in range(out.size):
        out[e] = sqrt(abs(span[e, 0])) if span[e, 0] != 0.0 else volume(d_inv[n + e])


@kernel
def continues(P: Pack, w: Any, a: PathArrays) -> bool:
    """Return whether the corrected new point continues the motion: the correction is small, and velocities go on."""
    n, size = ws.n_bodies(P), w.size
    here, new, guess = a.y[HERE], a.y[NEW], a.y[GUESS]
    w.made = turn_and_way(here, new, n, size)
    if turn_and_way(guess, new, n, size) > CLOSE:
        return False
    jump = largest_difference(guess, new, n, size)
    carried = max(fastest(new, n, size), fastest(guess, n, size))
    if jump <= SAME_WAY * carried:
        return True
    distance = sqrt(min(w.pivot, w.pivot_new))
    changed = max(carried, abs(w.t_new - w.t) * fastest(a.y_dot[HERE], n, size))
    if w.made <= WITHIN * distance and jump <= SAME_WAY * changed:
        return True
    return bool(REGULAR * w.made < distance)


@kernel
def may_have_crossed(w: Any, V: Array) -> bool:
    """Return whether one of the volumes may have vanished on the way to the new point, see above."""
    h, before = w.t_new - w.t_mid, w.t_mid - w.t_old
    for e in range(V.shape[1]):
        old, mid, new = V[OLD, e], V[MID, e], V[LAST, e]
        if new < FALL * mid:
            return True
        if w.values > 1.0:
            if mid + h * (mid - old) / before < SIGN * new:
                return True
            if mid <= old and mid <= new and max(old, new) > DIP * mid:
                return True
    return False


@kernel
def time_to_zero(w: Any, V: Array) -> float:
    """Return the time from here, along the motion, after which the first of the volumes vanishes by its line; LONGEST if none does."""
    least = LONGEST
    if w.values > 1.0:
        before = abs(w.t_mid - w.t_old)
        for e in range(V.shape[1]):
            fall = (V[OLD, e] - V[MID, e]) / before
            if fall > 0.0:
                least = min(least, V[MID, e] / fall)
    return float(least - abs(w.t - w.t_mid))


@kernel
def longest_step(P: Pack, w: Any, a: PathArrays) -> float:
    """Return the step in which the motion is MOST, or FIRST where the slopes of the volumes are not known."""
    if w.watches == 0.0:
        return LONGEST
    n, motion = ws.n_bodies(P), MOST if w.values > 1.0 else w.first
    speed, bend = fastest(a.y[HERE], n, w.size), fastest(a.y_dot[HERE], n, w.size)
    root = speed + sqrt(speed**2 + 2.0 * bend * motion)
    return max(w.shortest, min(2.0 * motion / root, LONGEST)) if root > 0.0 else LONGEST


@kernel
def take_point(w: Any, a: PathArrays, is_wanted: float, k: int) -> None:
    """Let the new point be the last one, and store it as point k."""
    copy_line(a.y[NEW], a.y[HERE])
    copy_line(a.y_dot[NEW], a.y_dot[HERE])
    w.step = 2.0 * abs(w.t_new - w.t)
    w.t, w.pivot = w.t_new, w.pivot_new
    w.gone += w.made
    if w.made > FIRST:
        w.patience = LONGEST
    if w.watches == 1.0 and w.gone > (APART if w.values > 1.0 else 0.25 * w.first):
        V = a.volumes
        for e in range(V.shape[1]):
            V[OLD, e], V[MID, e] = V[MID, e], V[LAST, e]
        w.t_old, w.t_mid, w.gone = w.t_mid, w.t, 0.0
        w.values = min(w.values + 1.0, 2.0)
    a.t[k], a.wanted[k] = w.t, is_wanted
    copy_line(a.y[HERE], a.ys[k])
    copy_line(a.y_dot[HERE], a.rates[k])


@entry
def steps_entry(dynamics: Dynamics, options: Options, w: Any, a: PathArrays, times: Array, takes: bool) -> tuple[int, int, int]:
    """Follow the motion to each of the times in turn; return what ends the steps, the number of points, and of times reached.

    takes: whether the new point, which was suspicious, is taken
    """
    P, k, reached = dynamics.pack, 0, 0
    if takes:
        is_wanted = 1.0 if w.t_new == times[0] else 0.0
        take_point(w, a, is_wanted, 0)
        k, reached = 1, int(is_wanted)
    while reached < times.size:
        if k == a.t.size:
            return FULL, k, reached
        left = times[reached] - w.t
        h = min(abs(left), w.step, longest_step(P, w, a))
        whole = h >= abs(left)
        if not whole and h > 0.5 * abs(left):
            h = 0.5 * abs(left)
        w.t_new = times[reached] if whole else w.t + (h if left > 0.0 else -h)
        predict(P, w.t_new - w.t, a.y[HERE], a.y_dot[HERE], a.y[GUESS])
        copy_line(a.y[GUESS], a.y[NEW])
        w.steps += 1.0
        code, w.pivot_new = correct(dynamics, options, a, w.t_new)
        if code == USER_STOPPED:
            return STOPPED, k, reached
        if code != OK or not continues(P, w, a):
            w.step = 0.5 * h
            if w.step <= w.shortest:
                return STUCK, k, reached
            ahead = time_to_zero(w, a.volumes) if w.watches == 1.0 else LONGEST
            if ahead <= 2.0 * h and ahead < w.patience:
                w.zero = w.t + (ahead if left > 0.0 else -ahead)
                w.patience = 0.25 * ahead
                return NEAR, k, reached
            continue
        if w.watches == 1.0:
            put_volumes(P, a.volumes[LAST])
            if may_have_crossed(w, a.volumes):
                return SUSPICIOUS, k, reached
        take_point(w, a, 1.0 if whole else 0.0, k)
        k += 1
        reached += 1 if whole else 0
    return REACHED, k, reached


@entry
def step_entry(dynamics: Dynamics, options: Options, w: Any, a: PathArrays, t: float) -> tuple[int, bool]:
    """Write the point at t, one step from the last one, as the new point; return the code, and whether it continues the motion."""
    P = dynamics.pack
    w.t_new = t
    predict(P, t - w.t, a.y[HERE], a.y_dot[HERE], a.y[GUESS])
    copy_line(a.y[GUESS], a.y[NEW])
    w.steps += 1.0
    code, w.pivot_new = correct(dynamics, options, a, t)
    return code, code == OK and continues(P, w, a)


@entry
def start_entry(dynamics: Dynamics, options: Options, w: Any, a: PathArrays, t: float) -> int:
    """Correct the new state without a prediction, and let it be the last point, with its volumes; return the code."""
    code, w.pivot_new = correct(dynamics, options, a, t)
    if code != OK:
        return code
    copy_line(a.y[NEW], a.y[HERE])
    copy_line(a.y_dot[NEW], a.y_dot[HERE])
    w.t, w.t_new, w.pivot = t, t, w.pivot_new
    w.step, w.gone, w.patience = LONGEST, 0.0, LONGEST
    if w.watches == 1.0:
        put_volumes(dynamics.pack, a.volumes[MID])
        w.t_mid, w.values = t, 1.0
    return code


@entry
def volumes_entry(P: Pack, t: Array, y: Array, out: Array) -> int:
    """Write the volumes of the edges at states y (n, ny) to out (n, ne), 0 where a pivot is zero; return the first code that is not OK."""
    for k in range(t.size):
        code = prepare(P, t[k], y[k])
        if code == OK:
            clear(ws.right_hand_side(P))
            code = factorize(P)
        if code != OK and code != SINGULAR:  # noqa: PLR1714  compiled code has no sets
            return code
        put_volumes(P, out[k])
        for e in range(out.shape[1]):
            if code == SINGULAR:
                out[k, e] = 0.0
    return OK


follow_steps, step_once, start_path = DirectCall(steps_entry), DirectCall(step_entry), DirectCall(start_entry)
volumes_at = DirectCall(volumes_entry)
