r"""The search for singular configurations: the determinant of the augmented matrix along the motion.

    g = log |det K|,  K = [ M  Phi_q^T; Phi_q  0 ]            det K = +- det M det(Phi_q M^-1 Phi_q^T),  the product of all pivots
    d singular values that vanish like |t - t*|:   g = 2 d log|t - t*| + smooth

The product does not depend on the order of elimination, nor on small pivots elsewhere (massless axes, light bodies next to heavy ones).
Of an edge that leaves rows out it contains the squared volume of all of them, which does not depend on the selection: see
`kkt.rank_deficient`.
It is sampled at equal parts of the motion (rotation of the fastest body, or displacement relative to the size), on the dense output
and, ahead of the last state, on the parabola.  A local minimum is enclosed; it is a singular configuration if g decreases without bound
as the enclosure shrinks.
"""

from __future__ import annotations

from copy import copy
from math import log
from typing import Any, NamedTuple

import numpy as np

from haugmbd.compiled.array_types import Array
from haugmbd.compiled.ffi import Callback
from haugmbd.compiled.jit import DirectCall, entry, kernel
from haugmbd.compiled.status_codes import OK, SINGULAR
from haugmbd.formulations.newton_euler import factorize
from haugmbd.graph import bridges_of
from haugmbd.integrators.singularities.run_motion import Way, parabola, put_state_at, speeds_of
from haugmbd.integrators.step_context import Steps
from haugmbd.integrators.watches.rank_watch import RankWatch, begin_watch
from haugmbd.kkt.registry import with_blocks
from haugmbd.kkt.tree_solver import has_tree
from haugmbd.model.evaluate import prepare
from haugmbd.model.generalized_forces import clear
from haugmbd.model.immutable import once_per_model
from haugmbd.model.labels import joint_of_rows
from haugmbd.model.model import Model
from haugmbd.workspace import accessors as ws
from haugmbd.workspace.layout import CALLS_USER, Pack, empty_matrix, flags_in, with_callback

SPACING = 0.05
"""[rad, or parts of the size] Motion between samples."""
AHEAD = 0.6
"""Motion that is searched ahead of the last state: more than a batch of steps, so that a singular configuration is found before the steps
are inaccurate."""
MOST_MOTION = 1000.0
"""A batch of steps that goes farther than this grows without bound, which is reported where its state is used."""
DENSE = 4
"""States of the run per sample from which on samples are states of the run."""
NARROW = 2.0
"""Least factor by which the smallest singular value decreases within SPACING of a singular configuration."""
NO_PIVOT = -1e4
"""g where a pivot is zero."""
GRID, HALVINGS, FINE = 9, 7, 26
"""Samples in an enclosure, and how often it is halved then: to detect a singular configuration, and to locate it."""


@kernel
def log_determinant(P: Pack, t: float, y: Array) -> tuple[int, float]:
    """Return the code, and g at the state y: NO_PIVOT where rows depend on others, NaN where it cannot be evaluated."""
    code = prepare(P, t, y)
    if code != OK:
        return code, np.nan
    clear(ws.right_hand_side(P))
    code = factorize(P)
    if code != OK:
        return (OK, NO_PIVOT) if code == SINGULAR else (code, np.nan)
    D_inv, span, first_edge = ws.inverse_pivots(P), ws.row_spans(P), ws.n_bodies(P)
    g = 0.0
    for n in range(D_inv.shape[0]):
        leaves_out = n >= first_edge and span[n - first_edge, 0] != 0.0
        if leaves_out:
            g += np.log(abs(span[n - first_edge, 0]))
        for a in range(6):
            if D_inv[n, a] != 0.0 and not leaves_out:
                g -= np.log(abs(D_inv[n, a]))
    return OK, g


@entry
def determinants_entry(P: Pack, t: Array, y: Array, g: Array) -> int:
    """Write g (k,) at the states y (k, ny); return the first code that is not OK, with NaN from there on."""
    code = OK
    for k in range(t.size):
        g[k] = np.nan
        if code == OK:
            code, g[k] = log_determinant(P, t[k], y[k])
    return code


@entry
def enclosed_entry(P: Pack, steps: Steps, a: float, b: float, halvings: int, y: Array, g: Array) -> tuple[int, float, float]:
    """Return the code, the time between a and b at which g is least, and g there; NaN where g is smooth, or cannot be evaluated.

    y: (ny,) work array;  g: (k,) for k equal parts, to begin with
    """
    n, last = ws.n_bodies(P), g.size - 1
    best, worst, k = np.inf, -np.inf, 0
    for i in range(g.size):
        t = b if i == last else a + i * (b - a) / last
        put_state_at(t, steps, n, y)
        code, g[i] = log_determinant(P, t, y)
        if not np.isfinite(g[i]):
            return code, np.nan, np.nan
        if g[i] < best:
            best, k = g[i], i
        worst = max(worst, g[i])
    if best > NO_PIVOT and worst - best < np.log(NARROW):
        return (
            OK,
            np.nan,
            np.nan,
        )  # smooth: beside a singular configuration the nearest sample is several times as near to it as the farthest
    part = (b - a) / last
    t_least = b if k == last else a + k * part
    left, right = max(a, t_least - part), min(b, t_least + part)
    for _ in range(halvings):
        if best <= NO_PIVOT:
            break
        before, behind = 0.5 * (left + t_least), 0.5 * (t_least + right)
        put_state_at(before, steps, n, y)
        code, g[0] = log_determinant(P, before, y)
        if code == OK:
            put_state_at(behind, steps, n, y)
            code, g[1] = log_determinant(P, behind, y)
        if code != OK or not np.isfinite(g[0] + g[1]):
            return code, np.nan, np.nan
        if min(g[0], g[1]) >= best:
            left, right = before, behind
        elif g[0] <= g[1]:
            t_least, right, best = before, t_least, g[0]
        else:
            left, t_least, best = t_least, behind, g[1]
    return OK, t_least, best


determinants, least_determinant, begin_volumes = DirectCall(determinants_entry), DirectCall(enclosed_entry), DirectCall(begin_watch)


class SingularCandidate(NamedTuple):
    """A possible singular configuration.

    t: time [s];  distance: motion ahead of the last state, negative behind it;  depth: decrease of g so far
    """

    t: float
    distance: float
    depth: float


@once_per_model
def may_be_singular(model: Model) -> bool:
    """Return whether the constraint graph has a loop, or two joints between the same bodies; otherwise no rows can become dependent."""
    if not has_tree(model.tables):
        edges = list(map(tuple, model.tables["EDGES"].tolist()))
        if len(bridges_of(model.nb + 1, edges)) < len(edges):
            return True
    joint, edge = joint_of_rows(model.labels), model.slot_of_row // 6
    last = np.zeros(len(model.tables["EDGES"]), dtype=np.int64)
    last[edge] = joint
    return bool((last[edge] != joint).any())


class SingularSearch:
    """The search along a run of one model, with a workspace of its own.  It evaluates rows and drivers, not forces.

    Drivers in Python are evaluated by the callback of the run, and only at times that the run has reached.
    behind: the time of the last state that was searched, and g at SPACING before it
    """

    def __init__(self, model: Model, callback: Callback) -> None:
        self.model, self.n, self.ahead = model, model.nb + 1, AHEAD
        self.pack, self.size = with_blocks(model.pack()), model.length
        self.behind = (np.nan, np.inf)
        if model.force_callbacks.driver_calls:
            self.pack, self.ahead = with_callback(self.pack, callback), 0.0
        else:
            ints = self.pack.ints.copy()
            empty_matrix(ints, "FORCE_INTS")
            flags_in(ints)[CALLS_USER] = 0
            self.pack = self.pack._replace(ints=ints)

    def again(self) -> SingularSearch:
        """Return a new search in the same workspace."""
        other = copy(self)
        other.behind = (np.nan, np.inf)
        return other

    def begin(self, watch: RankWatch, start: Any, h: float) -> bool:
        """Begin to watch the rows of a motion from its start (t, y, y_dot), before a step of h; return whether they could be evaluated."""
        t, y, y_dot = start
        if not self.ahead:
            return False
        code = begin_volumes(watch, t, h, y, y_dot)
        self.pack.callback.keep_interruption(code)
        return bool(code == OK)

    def speeds(self, y: Array) -> Array:
        """Return the motion per second (k,) of states y (k, ny)."""
        return speeds_of(y, self.n, self.size)

    def mean_speed(self, t0: float, y: Array, y_dot: Array, t1: float) -> float:
        """Return the mean of the motion per second from the state (ny,) at t0 to t1, as far as the parabola goes."""
        return float(self.speeds(np.stack([y, parabola(y, y_dot, t1 - t0, self.n)])).mean())

    @np.errstate(over="ignore", invalid="ignore")
    def way(self, t: Array, y: Array, y_dot: Array, t_end: float) -> Way:
        """Return the motion of a run through states (k, ny), and ahead of the last of them.

        A motion that grows without bound is reported where its states are used, not by NumPy.
        """
        t, y, y_dot = (np.ascontiguousarray(x, dtype=np.float64) for x in (t, y, y_dot))
        speed, steps = self.speeds(y), Steps(t, y, y_dot)
        s = np.zeros(len(t))
        (0.5 * (speed[1:] + speed[:-1]) * (t[1:] - t[:-1])).cumsum(out=s[1:])
        last = float(t[-1])
        # in the columns of velocities there are accelerations
        ahead = time_to(self.ahead, float(speed[-1]), float(self.speeds(y_dot[-1:])[0])) if self.ahead else 0.0
        t_ahead = min(t_end, last + ahead)
        if not t_ahead > last:
            return Way(t, s, steps, self.n)
        return Way(np.append(t, t_ahead), np.append(s, s[-1] + AHEAD * (t_ahead - last) / ahead), steps, self.n)

    def places(self, way: Way, last: float, spacing: float = SPACING) -> list[SingularCandidate]:
        """Return the places at which g tends to minus infinity, in the order of time, from samples that are at most `spacing` apart.

        The first state does not count as a minimum if the motion before it, back to its `behind`, was searched and g was smaller there.
        """
        total = float(way.s[-1])
        if not 0.0 < total < MOST_MOTION:
            return []
        s, t, y = self.samples(way, spacing)
        g = self.values(t, y)
        count = len(t)
        s_last = float(np.interp(last, way.t, way.s))
        behind = self.behind[1] if self.behind[0] == way.t[0] else np.inf
        self.behind = (last, float(np.interp(s_last - spacing, s, g)) if s_last > spacing else np.inf)
        found, least = [], g.tolist()
        for k in range(count):
            left, right = max(0, k - 1), min(count - 1, k + 1)
            if (
                least[k] <= (least[left] if k else behind)
                and least[k] <= least[right]
                and not (k == count - 1 and t[k] > last)
                and np.isfinite(g[left : right + 1]).all()
            ):
                place = self.enclosed(way, float(t[left]), float(t[right]), min(least[left], least[right]))
                if place is not None:
                    found.append(SingularCandidate(place[0], float(np.interp(place[0], way.t, way.s)) - s_last, place[1]))
        return found

    def samples(self, way: Way, spacing: float) -> tuple[Array, Array, Array]:
        """Return motions (k,), times (k,) and states (k, ny) at about equal parts of the motion.

        Where steps are short these are states of the run: nothing is interpolated.
        """
        total = float(way.s[-1])
        s = np.linspace(0.0, total, max(4, int(np.ceil(total / spacing)) + 1))
        y = way.steps.y
        n = len(y)
        if n < DENSE * len(s):
            t = np.interp(s, way.s, way.t)
            return s, t, way.states(t)
        k = np.unique(np.append(way.s[:n].searchsorted(s[s < way.s[n - 1]]), n - 1))
        s = np.concatenate([way.s[k], s[s > way.s[n - 1]]])
        t = np.concatenate([way.t[k], np.interp(s[len(k) :], way.s, way.t)])
        ahead = way.states(t[len(k) :]) if len(t) > len(k) else y[:0]
        return s, t, np.concatenate([y[k], ahead])

    def enclosed(self, way: Way, a: float, b: float, edge: float, halvings: int = HALVINGS) -> tuple[float, float] | None:
        """Return the time between a and b at which g is least, and its depth below the `edge`; None if that is an end, or not deep."""
        y, g = np.empty(way.steps.y.shape[1]), np.empty(GRID)
        code, t_least, least = least_determinant(self.pack, way.steps, a, b, halvings, y, g)
        self.pack.callback.keep_interruption(code)
        depth = edge - least
        return (t_least, depth) if a < t_least < b and depth > 2.0 * log(NARROW) else None

    def values(self, t: Array, y: Array) -> Array:
        """Return g (k,) at the states y (k, ny); NaN where they cannot be evaluated."""
        g = np.empty(len(t))
        times, states = (np.ascontiguousarray(x, dtype=np.float64) for x in (t, y))
        self.pack.callback.keep_interruption(determinants(self.pack, times, states, g))
        return g


def time_to(s: float, speed: float, bend: float) -> float:
    """Return the time [s] in which a motion with speed and acceleration moves by s:  speed t + bend t^2 / 2 = s."""
    root = np.sqrt(speed**2 + 2.0 * bend * s)
    return float(2.0 * s / (speed + root)) if speed + root > 0.0 else np.inf
