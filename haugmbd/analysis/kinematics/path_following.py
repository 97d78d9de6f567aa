r"""Path following of a driven mechanism: pose, velocities and accelerations at every time, by a predictor-corrector method.

    predictor   r + v h + v' h^2/2,   p exp(omega_bar h + omega_bar' h^2/2),   u + u' h
    corrector   positions by Newton, velocities and accelerations from the same factor: `post_step` of the projection, in compiled code
    step        halved until the correction is small (CLOSE), so that the motion stays on its branch, and velocities go on (SAME_WAY), or no
                singular position is near (REGULAR)

At a singular position (a dead centre, a flat parallelogram) velocities have no equation.  The motion is followed past it where the
predictor meets the other side just as well; at a wanted time inside the gap the state is that of the quintic polynomial through both
sides.  Where no step succeeds the motion ends there.
Source: Haug (2021), spatial kinematic analysis; Allgower and Georg (1990), predictor-corrector methods.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from haugmbd.analysis.initial_model import with_angles
from haugmbd.analysis.kinematics.singularity_interpolation import Gap, PathPoint, between
from haugmbd.compiled.array_types import Array
from haugmbd.compiled.status_codes import OK, USER_STOPPED
from haugmbd.diagnostics.joint_motions.turns import TurnCounter
from haugmbd.integrators.stabilization.projection import Projection
from haugmbd.integrators.step_context import Options
from haugmbd.math.body_columns import EULER, OMEGA_BAR, VELOCITY
from haugmbd.math.euler_parameters import conjugate, exponential, logarithm, normalized, product
from haugmbd.model.model import Model
from haugmbd.model.state import State
from haugmbd.simulation.stepping.progress import Progress
from haugmbd.workspace.layout import WIDTH, Pack, workspace_array

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

SHORTEST = 1e-9
"""Part of the whole time below which no step is tried."""

HALF_GAPS = (1.6e-2, 4e-3, 1e-3, 2.5e-4)
"""Half widths of the gap around a singular configuration that are tried [rad], or parts of the size: motion of the fastest body. In a
smaller gap velocities lose digits; in a larger one the polynomial is less accurate.
"""


class Track(NamedTuple):
    """The data of path following: model, workspace, counters;  size: of the model [m];  shortest: step [s]."""

    model: Model
    pack: Pack
    options: Options
    size: float
    shortest: float


class Followed(NamedTuple):
    """Points at the given times that were reached;  steps made;  gaps that were crossed;  last point if the motion stopped, else None.

    way: all points of the motion, the start first;  interrupted: whether Ctrl-C ended it
    """

    points: list[PathPoint]
    steps: int
    gaps: list[Gap]
    stopped: PathPoint | None
    way: list[PathPoint]
    interrupted: bool = False


def follow(track: Track, start: PathPoint, times: Array, bar: Progress) -> Followed:
    """Follow the motion from `start` to each of the `times` in turn; after Ctrl-C the points so far are returned."""
    found = Followed([], 0, [], None, [start])
    try:
        return _follow(track, start, times, found, bar)
    except KeyboardInterrupt:
        return found._replace(steps=len(found.way) - 1, interrupted=True)


def _follow(track: Track, start: PathPoint, times: Array, found: Followed, bar: Progress) -> Followed:
    """Follow the motion, and add its points to those found."""
    here, trail = start, [start]
    steps, step = 0, np.inf
    for t in times.tolist():
        gap = found.gaps[-1] if found.gaps else None
        if gap is not None and (t - gap.before.t) * (t - gap.after.t) <= 0.0:
            _add(found, between(track.model, gap, t), bar)
            continue
        while here.t != t:
            h = np.sign(t - here.t) * min(abs(t - here.t), step)
            new = advanced(track, here, t if abs(h) >= abs(t - here.t) else here.t + h)
            steps += 1
            if new is not None:
                here, step = new, 2.0 * abs(h)
                trail = [*trail[-TRAIL:], here]
                found.way.append(here)
                continue
            step = abs(h) / 2.0
            if step > track.shortest:
                continue
            over = gap_around(track, trail, float(here.t + np.sign(h) * step))
            if over is None:
                return found._replace(steps=steps, stopped=here)
            found.gaps.append(over)
            found.way.extend((over.before, over.after))
            here, step, trail = over.after, np.inf, [over.after]
            if (t - over.before.t) * (t - over.after.t) <= 0.0:
                break
        over = gap_around(track, trail, t) if here.t == t and here.pivot < NEAR else None
        if over is not None:
            found.gaps.append(over)
            found.way.extend((over.before, over.after))
            here, step, trail = over.after, np.inf, [over.after]
        _add(found, here if here.t == t else between(track.model, found.gaps[-1], t), bar)
    return found._replace(steps=steps)


def _add(found: Followed, point: PathPoint, bar: Progress) -> None:
    """Add the point of a wanted time; to the whole way first, which Ctrl-C may leave longer, but not shorter."""
    found.way.append(point)
    found.points.append(point)
    bar.done()


def counted_turns(model: Model, found: Followed) -> Array:
    """Return the angles of all joints that turn (n, m) at the given times, counted from point to point of the motion.

    From the modelled pose, in the order of `turns.turning_joints`; NaN behind a step that is too long to be counted.
    """
    start = found.way[0].t
    way = sorted({point.t: point for point in found.way}.values(), key=lambda point: abs(point.t - start))
    t, y, y_dot = (np.array([point[k] for point in way]) for k in range(3))
    angles, _ = TurnCounter(model).count(t, y, y_dot)
    row = {point.t: k for k, point in enumerate(way)}
    return angles[[row[point.t] for point in found.points]]


NEAR = 1e-7
"""Pivot below which a state is computed from the polynomial, if there is another side, because velocities lose digits."""

TRAIL = 60
"""Number of stored points, more than the halvings of a step down to SHORTEST."""


def projected_point(track: Track, t: float, y: Array) -> PathPoint | None:
    """Return the point nearest to y at which the rows hold, with velocities and accelerations; None if there is none."""
    y, y_dot = y.copy(), np.zeros(y.size)
    code = Projection.post_step(track.pack, track.options, t, y, y_dot)
    if code == USER_STOPPED:
        track.model.raise_user_error(track.pack)
    if code != OK or not (np.isfinite(y).all() and np.isfinite(y_dot).all()):
        return None
    n = track.model.nb + 1
    if y.size > WIDTH * n:
        y = with_angles(track.model, State.from_y(t, y, n)).y
    ratio = np.abs(workspace_array(track.pack, "D_INV")[n:]) * track.model.tables["SCALE"][n:]
    return PathPoint(t, y, y_dot, 1.0 / max(1.0, float(ratio.max(initial=0.0))))


def advanced(track: Track, here: PathPoint, t: float) -> PathPoint | None:
    """Return the point at t; None if the correction is too large."""
    guess = predicted(track, here, t)
    new = projected_point(track, t, guess)
    if new is None:
        return None
    n = WIDTH * (track.model.nb + 1)
    a, b, rate = guess[:n].reshape(-1, WIDTH), new.y[:n].reshape(-1, WIDTH), here.y_dot[:n].reshape(-1, WIDTH)
    if _way(track, a, b) > CLOSE:
        return None
    jump = _speed(track, b[:, VELOCITY:] - a[:, VELOCITY:])
    carried = max(_speed(track, b[:, VELOCITY:]), _speed(track, a[:, VELOCITY:]))
    if jump <= SAME_WAY * carried:
        return new
    made, distance = _way(track, here.y[:n].reshape(-1, WIDTH), b), np.sqrt(min(here.pivot, new.pivot))
    changed = max(carried, abs(t - here.t) * _speed(track, rate[:, VELOCITY:]))
    if made <= WITHIN * distance and jump <= SAME_WAY * changed:
        return new
    return new if REGULAR * made < distance else None


def _way(track: Track, a: Array, b: Array) -> float:
    """Return the largest turn [rad], or displacement over the size of the model, from bodies a to b (nb + 1, 13)."""
    turn = np.linalg.norm(logarithm(product(conjugate(a[:, EULER:VELOCITY]), b[:, EULER:VELOCITY])), axis=1)
    return max(float(turn.max()), float(np.abs(b[:, :3] - a[:, :3]).max()) / track.size)


def _speed(track: Track, u: Array) -> float:
    """Return the largest of (v, omega_bar) (nb + 1, 6) [rad/s], v over the size of the model."""
    return float(np.abs(u / np.repeat([track.size, 1.0], 3)).max(initial=0.0))


def predicted(track: Track, here: PathPoint, t: float) -> Array:
    """Return the state at t by the second-order predictor, (ny,)."""
    n, h = WIDTH * (track.model.nb + 1), t - here.t
    y, rate = here.y[:n].reshape(-1, WIDTH), here.y_dot[:n].reshape(-1, WIDTH)
    r = y[:, :3] + h * y[:, VELOCITY:OMEGA_BAR] + 0.5 * h * h * rate[:, VELOCITY:OMEGA_BAR]
    p = normalized(product(y[:, EULER:VELOCITY], exponential(h * y[:, OMEGA_BAR:] + 0.5 * h * h * rate[:, OMEGA_BAR:])))
    u = y[:, VELOCITY:] + h * rate[:, VELOCITY:]
    return np.concatenate([np.hstack([r, p, u]).ravel(), here.y[n:] + h * here.y_dot[n:]])


def gap_around(track: Track, trail: list[PathPoint], t: float) -> Gap | None:
    """Return the gap around the singular configuration at t; None if the motion does not continue on the other side."""
    way = np.sign(t - trail[0].t)
    for width in HALF_GAPS:
        speed = _speed(track, trail[-1].y[: WIDTH * (track.model.nb + 1)].reshape(-1, WIDTH)[:, VELOCITY:])
        half = way * width / speed if speed > 0.0 else 0.0
        behind = [point for point in trail if (t - half - point.t) * way >= 0.0]
        if half == 0.0 or not behind:
            continue
        before = advanced(track, behind[-1], t - half) if behind[-1].t != t - half else behind[-1]
        after = advanced(track, before, t + half) if before is not None else None
        if before is not None and after is not None:
            a, b = np.sqrt(before.pivot), np.sqrt(after.pivot)  # sigma goes through zero about linearly
            return Gap(float((before.t * b + after.t * a) / (a + b)), before, after)
    return None
