r"""Following a driven mechanism: at every time the pose, velocities and accelerations that its rows determine, by continuation.

    predictor   r + v h + v' h^2/2,   p exp(omega_bar h + omega_bar' h^2/2),   u + u' h
    corrector   positions by Newton, velocities and accelerations from the same factor: `settle` of the projection, in compiled code
    step        halved until the corrector has little to do (CLOSE), so that the motion stays on its branch

At a singular position (a dead centre, a flat parallelogram) velocities have no equation.  The motion is followed past it where the
predictor meets the other side just as well; at a wanted time inside the gap the state is that of the quintic polynomial through both
sides.  Where no step succeeds the motion ends there.
Source: Haug sec. 4.5 (kinematic analysis); Allgower and Georg (1990) on predictor and corrector.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from haugmbd.algebra.euler import conjugate, exponential, logarithm, normalized, omega_bar_from, p_dot_from, product
from haugmbd.algebra.vec3 import Array
from haugmbd.analysis.assembly import with_angles
from haugmbd.integrators.projection import Projection
from haugmbd.model.model import Model
from haugmbd.model.state import State
from haugmbd.model.status import OK, USER_STOPPED
from haugmbd.model.tables import WIDTH, Pack, room

CLOSE = 0.02
"""Largest correction of a step [rad], or part of the model's size: what it corrects is h^3 / 6 of the third derivative."""

SAME_WAY = 0.2
"""Largest jump of velocities against the predicted ones, relative: at the far side of a fold they would turn round."""

SHORTEST = 1e-9
"""Part of the whole time below which no step is tried."""

HALF_GAPS = (1.6e-2, 4e-3, 1e-3, 2.5e-4)
"""Half widths of the gap around a singular position that are tried [rad], or parts of the size: what the fastest body moves in it.
Nearer, velocities lose digits (1e-13 / width); farther, the polynomial does (width^5 / 100)."""


class Point(NamedTuple):
    """t [s];  y (ny,) and y_dot (ny,) of a state that fits;  pivot: the smallest, relative to its scale: about sigma^2."""

    t: float
    y: Array
    y_dot: Array
    pivot: float


class Track(NamedTuple):
    """What is followed: the model, room to compute in, counters;  size: of the model [m];  shortest: step [s]."""

    model: Model
    pack: Pack
    options: Array
    size: float
    shortest: float


class Gap(NamedTuple):
    """A singular position, and the points on either side of it."""

    t: float
    before: Point
    after: Point


class Followed(NamedTuple):
    """Points at the wanted times that were reached;  steps made;  gaps that were passed;  where it stopped, None if it did not."""

    points: list[Point]
    steps: int
    gaps: list[Gap]
    stopped: Point | None


def follow(track: Track, start: Point, times: Array) -> Followed:
    """Follow the motion from `start` to each of the `times`, one after the other."""
    here, trail = start, [start]
    found = Followed([], 0, [], None)
    steps, step = 0, np.inf
    for t in times.tolist():
        gap = found.gaps[-1] if found.gaps else None
        if gap is not None and (t - gap.before.t) * (t - gap.after.t) <= 0.0:
            found.points.append(between(track, gap, t))
            continue
        while here.t != t:
            h = np.sign(t - here.t) * min(abs(t - here.t), step)
            new = advanced(track, here, t if abs(h) >= abs(t - here.t) else here.t + h)
            steps += 1
            if new is not None:
                here, step = new, 2.0 * abs(h)
                trail = [*trail[-TRAIL:], here]
                continue
            step = abs(h) / 2.0
            if step > track.shortest:
                continue
            over = leapt(track, trail, float(here.t + np.sign(h) * step))
            if over is None:
                return found._replace(steps=steps, stopped=here)
            found.gaps.append(over)
            here, step, trail = over.after, np.inf, [over.after]
            if (t - over.before.t) * (t - over.after.t) <= 0.0:
                break
        over = leapt(track, trail, t) if here.t == t and here.pivot < NEAR else None
        if over is not None:
            found.gaps.append(over)
            here, step, trail = over.after, np.inf, [over.after]
        found.points.append(here if here.t == t else between(track, found.gaps[-1], t))
    return found._replace(steps=steps)


NEAR = 1e-7
"""Pivot below which a wanted state is taken from the polynomial, if there is another side: sigma is 3e-4, and velocities lose digits."""

TRAIL = 60
"""Points that are remembered: halving a step to SHORTEST of the time makes 30."""


def settled(track: Track, t: float, y: Array) -> Point | None:
    """The point nearest to y at which the rows hold, with velocities and accelerations; None where there is none."""
    y, y_dot = y.copy(), np.zeros(y.size)
    code = Projection.settle(track.pack, track.options, t, y, y_dot)
    if code == USER_STOPPED:
        track.model.raise_user_error(track.pack)
    if code != OK or not (np.isfinite(y).all() and np.isfinite(y_dot).all()):
        return None
    n = track.model.nb + 1
    if y.size > WIDTH * n:
        y = with_angles(track.model, State.from_y(t, y, n)).y
    ratio = np.abs(room(track.pack, "D_INV")[n:]) * track.model.tables["SCALE"][n:]
    return Point(t, y, y_dot, 1.0 / max(1.0, float(ratio.max(initial=0.0))))


def advanced(track: Track, here: Point, t: float) -> Point | None:
    """The point at t, None where the corrector has too much to do."""
    guess = predicted(track, here, t)
    new = settled(track, t, guess)
    if new is None:
        return None
    n = WIDTH * (track.model.nb + 1)
    a, b, rate = guess[:n].reshape(-1, WIDTH), new.y[:n].reshape(-1, WIDTH), here.y_dot[:n].reshape(-1, WIDTH)
    turn = np.linalg.norm(logarithm(product(conjugate(a[:, 3:7]), b[:, 3:7])), axis=1)
    if max(float(turn.max()), float(np.abs(b[:, :3] - a[:, :3]).max()) / track.size) > CLOSE:
        return None
    jump = _speed(track, b[:, 7:] - a[:, 7:])
    usual = max(_speed(track, b[:, 7:]), _speed(track, a[:, 7:]), abs(t - here.t) * _speed(track, rate[:, 7:]))
    return new if jump <= SAME_WAY * usual else None


def _speed(track: Track, u: Array) -> float:
    """The fastest of (v, omega_bar) (nb + 1, 6) [rad/s], v over the size of the model."""
    return float(np.abs(u / np.repeat([track.size, 1.0], 3)).max(initial=0.0))


def predicted(track: Track, here: Point, t: float) -> Array:
    """The state at t by the second-order predictor, (ny,)."""
    n, h = WIDTH * (track.model.nb + 1), t - here.t
    y, rate = here.y[:n].reshape(-1, WIDTH), here.y_dot[:n].reshape(-1, WIDTH)
    r = y[:, :3] + h * y[:, 7:10] + 0.5 * h * h * rate[:, 7:10]
    p = normalized(product(y[:, 3:7], exponential(h * y[:, 10:] + 0.5 * h * h * rate[:, 10:])))
    u = y[:, 7:] + h * rate[:, 7:]
    return np.concatenate([np.hstack([r, p, u]).ravel(), here.y[n:] + h * here.y_dot[n:]])


def leapt(track: Track, trail: list[Point], t: float) -> Gap | None:
    """Pass the singular position at t; None where the other side is not where the motion leads."""
    way = np.sign(t - trail[0].t)
    for width in HALF_GAPS:
        speed = _speed(track, trail[-1].y[: WIDTH * (track.model.nb + 1)].reshape(-1, WIDTH)[:, 7:])
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


def between(track: Track, gap: Gap, t: float) -> Point:
    """The state at t in a gap, of the quintic polynomial through both sides: r, p, and their rates; accelerations of the polynomial."""
    from scipy.interpolate import BPoly  # noqa: PLC0415  imported only where a singular position is passed

    n = track.model.nb + 1
    ends = [_derivatives(point, n) for point in (gap.before, gap.after)]
    order = [0, 1] if gap.before.t < gap.after.t else [1, 0]
    times = [(gap.before.t, gap.after.t)[k] for k in order]
    curve = BPoly.from_derivatives(times, [ends[k] for k in order])
    x, x_dot, x_ddot = (curve(t, nu=k).reshape(n, 7) for k in range(3))
    p = normalized(x[:, 3:])
    omega_bar = omega_bar_from(p, x_dot[:, 3:])
    y = np.concatenate([np.hstack([x[:, :3], p, x_dot[:, :3], omega_bar]).ravel(), gap.before.y[WIDTH * n :]])
    state = with_angles(track.model, State.from_y(t, y, n))
    u_dot = np.hstack([x_ddot[:, :3], omega_bar_from(p, x_ddot[:, 3:])])
    rates = np.hstack([x_dot[:, :3], p_dot_from(p, omega_bar), u_dot])
    return Point(t, state.y, np.concatenate([rates.ravel(), gap.before.y_dot[WIDTH * n :]]), 0.0)


def _derivatives(point: Point, n: int) -> list[Array]:
    """(r, p), its rate and the rate of that, (7 n,) each:  p_ddot = (p_dot (0, w) + p (0, w_dot)) / 2  in quaternion products."""
    y, rate = (x[: WIDTH * n].reshape(n, WIDTH) for x in (point.y, point.y_dot))
    w, w_dot = (np.hstack([np.zeros((n, 1)), x[:, 10:]]) for x in (y, rate))
    p, p_dot = y[:, 3:7], rate[:, 3:7]
    p_ddot = 0.5 * (product(p_dot, w) + product(p, w_dot))
    return [np.hstack(parts).ravel() for parts in ((y[:, :3], p), (y[:, 7:10], p_dot), (rate[:, 7:10], p_ddot))]
