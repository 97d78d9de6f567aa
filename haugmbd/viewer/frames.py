r"""The drawn instants of a motion, and the poses there.

    r   cubic Hermite from r and v                              p   cubic Hermite from p and p', normalised
    p'  = p (0, omega_bar) / 2

Without a wish, the stored states are the frames, with instants between them where a body turns far from one to the next; of more states
than are fit to be drawn, as many instants at equal steps.  At an impact, where the time stands twice, both states are frames.
Source: Hairer, Norsett, Wanner, Solving Ordinary Differential Equations I, sec. II.6 (Hermite interpolation).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from haugmbd.compiled.array_types import Array
from haugmbd.errors import UsageError, warn_user
from haugmbd.math.euler_parameters import p_dot_from
from haugmbd.simulation.results.result import Result

Ints = npt.NDArray[np.int64]

POSES = 40_000
"""Without a wish for frames: bodies times frames, about 0.3 MB in the page."""

MOST_POSES = 4_000_000
"""Bodies times frames that a page may hold: about 30 MB."""

LEAST, MOST = 200, 4000
"""Frames of a long run without a wish: many bodies get no fewer, few bodies no more."""

TURN = 0.2
"""[rad] A body that turns farther between two states gets instants between them: a chord of it is 0.5 % from its arc."""

Seen = Result


class Frames(NamedTuple):
    """Drawn poses: t (nf,) [s], r (nf, nb + 1, 3) [m], p (nf, nb + 1, 4), the ground in row 0.

    finite: mask of the states without NaN, (nt,);  notes: remarks for the reader
    """

    t: Array
    r: Array
    p: Array
    finite: npt.NDArray[np.bool_]
    notes: tuple[str, ...]


def frames_of(result: Result, frames: int | None = None) -> Frames:
    """Return the instants to be drawn, and the poses there.

    frames: so many at equal steps of time, or by default what the file's head says.
    Raises UsageError for frames that are not a whole number >= 1, for too many, and for a result without a finite state; warns of states
    that are not finite, and are left out.
    """
    t, r, p, v, omega_bar = result.t, result.r, result.p, result.v, result.omega_bar
    nb = r.shape[1] - 1
    check_frames(frames, nb)
    finite = np.isfinite(t) & np.all([np.isfinite(x).all(axis=(1, 2)) for x in (r, p, v, omega_bar)], axis=0)
    if not finite.any():
        what = f"{len(t)} states, none of them finite" if len(t) else "no states"
        raise UsageError(f"there is nothing to draw: the result has {what}.")
    notes = list(_interruptions(result, finite))
    states = np.flatnonzero(finite)
    k, s = _places(t[states], p, states, nb, frames)
    kept = len(np.unique(k[s == 0.0]))
    if kept < len(states):
        notes.append(f"{len(states)} states, drawn at {len(k)} instants")
    at, after = states[k], states[np.minimum(k + 1, len(states) - 1)]
    start, end = ((t[n], r[n], unit(p[n]), v[n], omega_bar[n]) for n in (at, after))
    return Frames(*_interpolated(start, end, s), finite, tuple(notes))


def unit(p: Array) -> Array:
    """Return Euler parameters of length 1."""
    u: Array = p / np.linalg.norm(p, axis=-1, keepdims=True)
    return u


def check_frames(frames: int | None, nb: int) -> None:
    """Raise UsageError where `frames` is neither None nor a number of frames that a page of nb bodies can hold."""
    if frames is None:
        return
    if isinstance(frames, bool) or not isinstance(frames, int | np.integer) or frames < 1:
        raise UsageError(f"frames is {frames!r}: give a whole number of at least 1, or leave it out.")
    most = MOST_POSES // max(nb, 1)
    if frames > most:
        raise UsageError(f"frames is {frames}: a page of {nb} bodies holds at most {most} frames ({MOST_POSES} poses).")


def _interruptions(result: Result, finite: npt.NDArray[np.bool_]) -> tuple[str, ...]:
    """Return notes on a run that was stopped, or failed."""
    said = []
    if result.interrupted:
        said.append(f"the run was interrupted at t = {result.t[-1]:.6g} s")
    lost = int(np.sum(~finite))
    if lost:
        first = float(result.t[np.argmin(finite)])
        what = f"{lost} of {len(finite)} states are not finite, the first at t = {first:.6g} s, and are left out"
        warn_user(f"animation: {what}.")
        said.append(what)
    return tuple(said)


def _places(t: Array, p: Array, states: Ints, nb: int, frames: int | None) -> tuple[Ints, Array]:
    """Return the instants as states k and parts s in [0, 1) of the step from k to k + 1."""
    if len(t) == 1 or frames == 1:
        return np.zeros(1, dtype=np.int64), np.zeros(1)
    limit = int(np.clip(POSES // max(nb, 1), LEAST, MOST))
    twice = np.flatnonzero(np.diff(t) == 0.0)
    if frames is None and len(t) <= limit:
        parts = _parts(unit(p[states]), limit)
        k = np.repeat(np.arange(len(t) - 1), parts)
        s = (np.arange(len(k)) - np.repeat(np.cumsum(parts) - parts, parts)) / np.repeat(parts, parts)
        return np.append(k, len(t) - 1), np.append(s, 0.0)
    wanted = np.linspace(t[0], t[-1], limit if frames is None else int(frames))
    k = np.clip(np.searchsorted(t, wanted, side="right") - 1, 0, len(t) - 1)
    step = np.append(np.diff(t), 1.0)[k]
    s = np.where(k < len(t) - 1, (wanted - t[k]) / np.where(step > 0.0, step, 1.0), 0.0)
    both = np.unique(np.concatenate([twice, twice + 1]))[:limit]
    k, s = np.concatenate([k, both]), np.concatenate([s, np.zeros(len(both))])
    order = np.lexsort((s, k))
    k, s = k[order], s[order]
    new = np.append(True, (np.diff(k) != 0) | (np.diff(s) != 0.0))
    return k[new], s[new]


def _parts(p: Array, limit: int) -> Ints:
    """Return the number of parts of each step, (nt - 1,): in none of them a body turns by more than TURN."""
    turn = 2.0 * np.arccos(np.clip(np.abs(np.sum(p[1:] * p[:-1], axis=-1)), 0.0, 1.0))
    parts: Ints = np.maximum(1, np.ceil(turn.max(axis=1) / TURN)).astype(np.int64)
    return parts if parts.sum() <= limit else np.ones_like(parts)


Ends = tuple[Array, Array, Array, Array, Array]


def _interpolated(start: Ends, end: Ends, s: Array) -> tuple[Array, Array, Array]:
    """Return t, r and p at the parts s (nf,) of steps between the states (t, r, p, v, omega_bar); at s = 0 those of the first."""
    (t_0, r_0, p_0, v_0, omega_0), (t_1, r_1, p_1, v_1, omega_1) = start, end
    h = t_1 - t_0
    same = np.where(np.sum(p_1 * p_0, axis=-1, keepdims=True) < 0.0, -1.0, 1.0)  # p and -p are one rotation
    c, H = s[:, None, None], h[:, None, None]
    a_0, a_1 = (1.0 + 2.0 * c) * (1.0 - c) ** 2, c**2 * (3.0 - 2.0 * c)
    b_0, b_1 = H * c * (1.0 - c) ** 2, -H * c**2 * (1.0 - c)
    r = a_0 * r_0 + a_1 * r_1 + b_0 * v_0 + b_1 * v_1
    p = a_0 * p_0 + a_1 * same * p_1 + b_0 * p_dot_from(p_0, omega_0) + b_1 * p_dot_from(same * p_1, omega_1)
    exact = (s == 0.0)[:, None, None]
    return t_0 + s * h, np.where(exact, r_0, r), np.where(exact, p_0, unit(p))
