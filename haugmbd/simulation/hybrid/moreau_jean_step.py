r"""A step of Moreau-Jean: free motion, points that touch, one cone problem by islands, projection.

    middle      q_m = q_k o exp(h/2 u_k)
    free        u_f = u_k + h u'(t + h/2, q_m, u_m),  on Phi_q u = nu at q_m       u_m = u_k + (u_k - u_(k-1)) / 2, u_k behind an impact
    contacts    points with gap(q_m) <= 0, and those that pressed at the end of the last step
    impulses    f by the cone problem of b = C u_f + (e v_n^-, 0, 0);   u_(k+1) = u_f + K^-1 C^T f                       `contact.islands`
    end         q_(k+1) = q_m o exp(h/2 u_(k+1));  bilateral rows, and gaps of points that press, overlap or have just met, are projected

A point that pressed is held: its gap is projected to 0 from both sides, and it stays active in the next step, in which the cone problem
lets it go when it opens.  If activity were "gap(q_m) <= 0" alone, rounding would make it flicker: bodies at rest creep, stacks sink.
Python sees arrays of all points only, never a point or a pair.
Sources: Moreau (1988); Jean (1999); Acary, Brogliato (2008), ch. 10.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from haugmbd.compiled.array_types import Array, Ints
from haugmbd.compiled.jit import DirectCall, entry, kernel
from haugmbd.contact.cone import solve_impact
from haugmbd.contact.islands import ENOUGH, islands_entry
from haugmbd.contact.islands import OPEN as OPENS
from haugmbd.contact.islands import SLIP as SLIPS
from haugmbd.contact.islands import STICK as STICKS
from haugmbd.contact.points import Touching
from haugmbd.errors import SimulationError
from haugmbd.formulations.newton_euler import right_hand_side
from haugmbd.impacts.contact_history import OPEN, StepLaws
from haugmbd.impacts.contact_problem import SLIP, STICK, ContactProblem
from haugmbd.integrators.explicit.lie import turn
from haugmbd.math.body_columns import EULER, VELOCITY, WIDTH
from haugmbd.workspace.layout import Pack

TOUCH = 1e-9
"""Relative to the size: a smaller gap in the middle of a step touches."""
HELD = 1e-8
"""Relative to the size: a point that pressed and has a smaller gap is held in the next step."""
PRESSES = 1e-12
"""Relative to the largest impulse: a smaller one is rounding."""
APPROACH = 1e-9
"""Relative to the size, per second: a slower approach has no restitution, and a slower slip is none."""
ROUNDS = 5
"""Of the projection of positions: two are usual."""
ROW_ROUNDS = 30
"""Of the projection of bilateral rows alone, where those with gaps did not close them."""
UNCLOSED = 1e-12
"""Relative to the size: rows that are open by more after these rounds end the run."""
SLOWLY = 0.3
"""A round of the projection that leaves more than this part is the last one."""
PROJECTED = 1e-14
"""Relative to the size: what the projection may leave."""
PART_ROUNDS = 30
"""Of the projection in which points that press may open."""
PARTED = 1e-11
"""Relative to the size: points that overlap by more behind the projection are moved apart, whether or not those that press can be held."""
UNPARTED = 1e-10
"""Relative to the size: a larger overlap at the end of a step is told."""


class StepEnd(NamedTuple):
    """The end of a step.

    y: (ny,);  keys: (k, 2) points that touch, contact and feature;  f: impulses (k, 3);  friction: (k, 3) global;  state: (k,)
    wrench: (nb + 1, 6) forces on the bodies [N];  contacts: state of each contact (nc,);  held: (h, 2) points that press
    mode, way: (k,), (k, 2) for the next step;  laws: what the ruler needs
    """

    t: float
    y: Array
    keys: Ints
    f: Array
    friction: Array
    state: Ints
    wrench: Array
    contacts: Ints
    held: Ints
    mode: Ints
    way: Array
    laws: StepLaws


@kernel
def drift(y: Array, n: int, u: Array, h: float) -> None:
    """Set q <- q o exp(h u) for the n bodies of a flat state, in place."""
    for k in range(1, n):
        at = WIDTH * k
        for a in range(3):
            y[at + a] += h * u[k, a]
        turn(y, at + EULER, h * u[k, 3], h * u[k, 4], h * u[k, 5])
        q = 0.0
        for a in range(4):
            q += y[at + EULER + a] * y[at + EULER + a]
        s = 1.0 / np.sqrt(q)
        for a in range(4):
            y[at + EULER + a] *= s


@entry
def free_motion(
    P: Pack, t: float, y: Array, h: float, change: Array, middle: Array, y_dot: Array, u: Array, u_m: Array, u_f: Array
) -> int:
    """Write the middle of a step of h [s] that begins at y, rates there, and the velocities u, u_m, u_f (n, 6).

    change: (n, 6) by the step before: half of the change of velocities per second
    """
    n = u.shape[0]
    for a in range(y.size):
        middle[a] = y[a]
    for k in range(n):
        for a in range(6):
            u[k, a] = y[WIDTH * k + VELOCITY + a]
    # q_m = q_k o exp(h/2 u_k),   u_m = u_k + (u_k - u_(k-1)) / 2
    drift(middle, n, u, 0.5 * h)
    for k in range(n):
        for a in range(6):
            u_m[k, a] = u[k, a] + h * change[k, a] if k > 0 else u[k, a]
            middle[WIDTH * k + VELOCITY + a] = u_m[k, a]
    # u_f = u_k + h u'(t + h/2, q_m, u_m)
    code = right_hand_side(P, t, middle, y_dot)
    for k in range(n):
        for a in range(6):
            u_f[k, a] = u[k, a] + h * y_dot[WIDTH * k + VELOCITY + a]
    return code


@entry
def drift_entry(y: Array, n: int, u: Array, h: float) -> int:
    """Compile `drift`."""
    drift(y, n, u, h)
    return 0


@entry
def shifts_entry(pairs: Ints, C: Array, contacts: Ints, restitution: Array, u: Array, slow: float, e: Array, shift: Array) -> int:
    """Write e (k,) of the points that approach, and the shifts e v_n^- (k,);  return whether any bounces."""
    bounces = 0
    for k in range(pairs.shape[0]):
        v = 0.0
        for side in range(2):
            body = pairs[k, side]
            if body > 0:
                for a in range(6):
                    v += C[k, 0, 6 * side + a] * u[body, a]
        e[k] = restitution[contacts[k]] if v < -slow else 0.0
        shift[k] = e[k] * v
        if e[k] > 0.0:
            bounces = 1
    return bounces


@entry
def guess_modes(old: Ints, old_mode: Ints, old_way: Array, keys: Ints, mu: Array, mode: Ints, way: Array) -> int:
    """Write the modes of the last step to the points of this one, both sorted by contact; a new point sticks.

    Return whether the points are the same, in the same order.
    """
    first, same = 0, 1 if old.shape[0] == keys.shape[0] else 0
    for k in range(keys.shape[0]):
        while first < old.shape[0] and old[first, 0] < keys[k, 0]:
            first += 1
        mode[k], way[k, 0], way[k, 1] = (STICKS if mu[k] > 0.0 else SLIPS), 0.0, 0.0
        other = first
        while other < old.shape[0] and old[other, 0] == keys[k, 0]:
            if old[other, 1] == keys[k, 1]:
                mode[k], way[k, 0], way[k, 1] = old_mode[other], old_way[other, 0], old_way[other, 1]
            other += 1
        if mode[k] == SLIPS and mu[k] > 0.0 and way[k, 0] == 0.0 and way[k, 1] == 0.0:
            mode[k] = STICKS
        if same == 1 and (old[k, 0] != keys[k, 0] or old[k, 1] != keys[k, 1]):
            same = 0
    return same


@entry
def results_entry(
    pairs: Ints,
    contacts: Ints,
    C: Array,
    D: Array,
    mu: Array,
    f: Array,
    v: Array,
    slow: float,
    h: float,
    before: Ints,
    friction: Array,
    state: Ints,
    wrench: Array,
    of_contact: Ints,
) -> int:
    """Write friction (k, 3), global, states (k,) of points, wrenches C^T f / h (n, 6) of bodies, and states (nc,) of contacts.

    before: states of the contacts before;  return whether one has changed
    """
    for c in range(of_contact.size):
        of_contact[c] = OPEN
    for body in range(wrench.shape[0]):
        for a in range(6):
            wrench[body, a] = 0.0
    size = 0.0
    for k in range(f.shape[0]):
        for a in range(3):
            size = max(size, abs(f[k, a]))
    for k in range(f.shape[0]):
        for a in range(3):
            friction[k, a] = f[k, 1] * D[k, 1, a] + f[k, 2] * D[k, 2, a]
        state[k] = OPEN
        if f[k, 0] > PRESSES * size:
            rests = v[k, 1] * v[k, 1] + v[k, 2] * v[k, 2] <= slow * slow
            state[k] = STICK if mu[k] > 0.0 and rests else SLIP
            of_contact[contacts[k]] = max(of_contact[contacts[k]], state[k])
        for side in range(2):
            body = pairs[k, side]
            if body > 0:
                for a in range(6):
                    c = 6 * side + a
                    wrench[body, a] += (C[k, 0, c] * f[k, 0] + C[k, 1, c] * f[k, 1] + C[k, 2, c] * f[k, 2]) / h
    changed = 0
    for c in range(of_contact.size):
        if of_contact[c] != before[c]:
            changed = 1
    return changed


@entry
def change_entry(u: Array, u_1: Array, h: float, change: Array) -> int:
    """Write half of the change of velocities in a step, per second."""
    for k in range(u.shape[0]):
        for a in range(6):
            change[k, a] = 0.5 * (u_1[k, a] - u[k, a]) / h
    return 0


@entry
def open_gaps(state: Ints, gaps: Array, allowed: float, fix: Ints) -> float:
    """Write 1 to `fix` (k,) for points that press or overlap by more than `allowed`; return the largest gap, of either sign, of these."""
    worst = 0.0
    for k in range(state.size):
        fix[k] = 1 if state[k] != OPEN or gaps[k] < -allowed else 0
        if fix[k] == 1:
            worst = max(worst, abs(gaps[k]))
    return worst


@entry
def held_entry(keys: Ints, state: Ints, gaps: Array, allowed: float, held: Ints) -> int:
    """Write the points that press with a gap of at most `allowed` to held (k, 2); return their number."""
    n = 0
    for k in range(state.size):
        if state[k] != OPEN and abs(gaps[k]) <= allowed:
            held[n, 0], held[n, 1] = keys[k, 0], keys[k, 1]
            n += 1
    return n


get_free_motion, get_drift, get_shifts = DirectCall(free_motion), DirectCall(drift_entry), DirectCall(shifts_entry)
get_modes, get_results, get_islands = DirectCall(guess_modes), DirectCall(results_entry), DirectCall(islands_entry)
get_change, get_open_gaps, get_held = DirectCall(change_entry), DirectCall(open_gaps), DirectCall(held_entry)


class Rows(NamedTuple):
    """Bilateral rows that are kept: J (r, 6 sides), bodies (r, sides)."""

    J: Array
    bodies: Ints


class MoreauJeanStepper:
    """Steps of one model with contacts, from the state (t, y)."""

    def __init__(self, problem: ContactProblem, t: float, y: Array) -> None:
        self.problem, self.t, self.y = problem, t, y.copy()
        p, n = problem, problem.n
        self.size = max(p.length, float(np.abs(y[: WIDTH * n].reshape(-1, WIDTH)[:, :3]).max(initial=0.0)))
        tables = p.model.tables
        self._inertia, self._shifted = (np.array(tables[name], dtype=np.float64) for name in ("INERTIA", "SHIFTED"))
        self._kept_rows = p.response.kept_rows()
        self._kept = self._kept_rows > 0.0
        self._n_kept = int(self._kept.sum())
        self._no_rows = Rows(np.zeros((0, 12)), np.zeros((0, 2), dtype=np.int64))
        self._left, self._rest = np.zeros(n), np.zeros((n, 6))
        keys, gaps = p.points.near(y, HELD * self.size)
        self.held: Ints = keys[np.abs(gaps) <= HELD * self.size]
        self.last = (np.zeros((0, 2), dtype=np.int64), np.zeros(0, dtype=np.int64), np.zeros((0, 2)))
        self.contacts: Ints = np.zeros(len(p.contacts), dtype=np.int64)
        self.change = self._rest
        self.deepest: tuple[float, float, str] = (0.0, t, "")
        """Of the steps so far: the least gap that the projection has left, when, and at which point."""

    def step(self, h: float) -> StepEnd:
        """Return the end of a step of h [s] from the state, which stays."""
        p, n, t_m, slow = self.problem, self.problem.n, self.t + 0.5 * h, APPROACH * self.size
        middle, y_dot = np.empty_like(self.y), np.zeros_like(self.y)
        u, u_m, u_f = np.empty((n, 6)), np.empty((n, 6)), np.empty((n, 6))
        p.response.note(get_free_motion(p.response.pack, t_m, self.y, h, self.change, middle, y_dot, u, u_m, u_f), t_m)
        rows = self._no_rows
        if p.model.nc:
            nu = p.response.row_values()[1]
            u_f += p.response.solve(None, (nu - p.response.row_rates(u_f)) * self._kept_rows, t_m)[:n]
            u_f[0], rows = u[0], self._rows()
        points = p.points.touching(middle, TOUCH * self.size, self.held)
        k, keys = len(points.keys), points.keys
        f, v, u_1, e, shift = np.zeros((k, 3)), np.zeros((k, 3)), u_f, np.zeros(k), np.zeros(k)
        mode, way = np.empty(k, dtype=np.int64), np.empty((k, 2))
        contacts, mu = np.ascontiguousarray(keys[:, 0]), p.mu[keys[:, 0]]
        if k:
            get_shifts(points.pairs, points.C, contacts, p.e, u, slow, e, shift)
            if get_modes(*self.last, keys, mu, mode, way):
                keys = self.last[0]
            u_1 = self._impulses(points, mu, shift, mode, way, rows, u_f, f, v, t_m)
        friction, state, wrench, of_contact = (
            np.empty((k, 3)),
            np.empty(k, dtype=np.int64),
            np.empty((n, 6)),
            np.empty_like(self.contacts),
        )
        own = points.pairs, contacts, points.C, points.D, mu, f, v, slow, h, self.contacts
        if not get_results(*own, friction, state, wrench, of_contact):
            of_contact = self.contacts
        end = middle
        if len(end) > WIDTH * n:
            end[WIDTH * n :] = self.y[WIDTH * n :] + h * y_dot[WIDTH * n :]
        p.velocities(end)[1:] = u_1[1:]
        laws = StepLaws(t_m, end.copy(), u, u_m, h, e)
        get_drift(end, n, u_1, 0.5 * h)
        gaps, held = self._project(self.t + h, end, keys, state, h), np.empty((k, 2), dtype=np.int64)
        n_held = get_held(keys, state, gaps, HELD * self.size, held)
        held = keys if n_held == k else held[:n_held]
        return StepEnd(self.t + h, end, keys, f, friction, state, wrench, of_contact, held, mode, way, laws)

    def accept(self, end: StepEnd) -> None:
        """Go on from the end of a step."""
        # the points of a step are those held, and new ones
        if len(end.keys) > len(self.held) or end.laws.e.any():
            self.change = self._rest
        else:
            self.change = np.empty_like(self._rest)
            get_change(end.laws.u, np.ascontiguousarray(self.problem.velocities(end.y)), end.t - self.t, self.change)
        self.t, self.y, self.held, self.contacts = end.t, end.y, end.held, end.contacts
        self.last = end.keys, end.mode, end.way

    def _rows(self) -> Rows:
        """Return the bilateral rows evaluated last, without those that depend on others."""
        rows = self.problem.response.row_set()
        J = np.ascontiguousarray(rows.C[self._kept].reshape(self._n_kept, 6 * rows.C.shape[1]))
        return Rows(J, np.ascontiguousarray(rows.bodies[self._kept], dtype=np.int64))

    def _impulses(
        self,
        points: Touching,
        mu: Array,
        shift: Array,
        mode: Ints,
        way: Array,
        rows: Rows,
        u_f: Array,
        f: Array,
        v: Array,
        t: float,
    ) -> Array:
        """Write impulses and velocities of the points, and the modes; return the velocities of the bodies behind them."""
        u, of_point = np.empty_like(u_f), np.empty(len(mu), dtype=np.int64)
        goal = np.einsum("rsa,rsa->r", rows.J.reshape(*rows.bodies.shape, 6), u_f[rows.bodies]) if len(rows.J) else np.zeros(0)
        own = self._inertia, self._shifted, points.pairs, points.C, mu, shift, mode, way, rows.J, rows.bodies, goal
        count = get_islands(*own, False, u_f, u, f, v, of_point, self._left)
        if self._left[:count].max() <= ENOUGH:
            return u
        for island in np.flatnonzero(~(self._left[:count] <= ENOUGH)):
            self._solve_densely(np.flatnonzero(of_point == island), points, mu, shift, mode, way, u_f, u, f, v, t)
        return u

    def _solve_densely(
        self,
        some: Ints,
        points: Touching,
        mu: Array,
        shift: Array,
        mode: Ints,
        way: Array,
        u_f: Array,
        u: Array,
        f: Array,
        v: Array,
        t: float,
    ) -> None:
        """Write the solution of an island by the methods of `contact.cone`, which need its whole response G."""
        p = self.problem
        C, pairs = points.C[some].reshape(-1, 2, 6), points.pairs[some]
        answer = p.response.columns(np.repeat(pairs, 3, axis=0), np.ascontiguousarray(C.reshape(-1, 12)), t)
        wide = np.repeat(pairs, 3, axis=0)
        b = np.einsum("rsa,rsa->r", C, u_f[wide] * (wide > 0)[:, :, None])
        names = ", ".join(dict.fromkeys(p.names[c] for c in points.keys[some, 0].tolist()))
        solved = solve_impact(answer.G, b, shift[some], mu[some], what=f"{names:.200} at t = {t:.9g} s")
        f[some], v[some] = solved.f, solved.v
        change = (solved.f.ravel() @ answer.X).reshape(-1, 6)[: p.n]
        moved = np.asarray(change.any(axis=1)).copy()
        moved[pairs[pairs > 0]] = True
        u[moved] = u_f[moved] + change[moved]
        force, slip = f[some], np.hypot(v[some, 1], v[some, 2])
        mode[some] = np.where(force[:, 0] <= 0.0, OPENS, np.where(slip > APPROACH * self.size, SLIPS, STICKS))
        length = np.hypot(force[:, 1], force[:, 2])
        way[some] = force[:, 1:] / np.where(length > 0.0, length, 1.0)[:, None]

    def _project(self, t: float, y: Array, keys: Ints, state: Ints, h: float) -> Array:
        """Bring bilateral rows, and gaps of points that press or overlap, to zero; then velocities to their rows.  Return the gaps."""
        p = self.problem
        gaps = self._closed(t, y, keys, state) if len(keys) or p.model.nc else np.zeros(0)
        moves = self._reach(y, h) > TOUCH * self.size
        for _ in range(ROUNDS if moves else 0):
            # points that have met in the second half of the step, and press from the next one on
            met, _ = p.points.near(y, -PROJECTED * self.size)
            new = ~(met[:, None] == keys).all(axis=2).any(axis=1) if len(keys) else np.ones(len(met), dtype=np.bool_)
            if not new.any():
                break
            keys, state = np.concatenate([keys, met[new]]), np.concatenate([state, np.full(int(new.sum()), SLIP)])
            gaps = self._closed(t, y, keys, state)
        self._tell_overlap(t, keys, gaps)
        if p.model.nc:
            u, nu = p.velocities(y), p.response.row_values()[1]
            u[1:] += p.response.solve(None, (nu - p.response.row_rates(u)) * self._kept_rows, t)[1 : p.n]
        return gaps

    def _tell_overlap(self, t: float, keys: Ints, gaps: Array) -> None:
        """Keep the deepest overlap that the projection has left so far: points that have just met are among the last ones."""
        if gaps.min(initial=0.0) < -UNPARTED * self.size and gaps.min() < self.deepest[0]:
            c, feature = keys[int(np.argmin(gaps))].tolist()
            self.deepest = float(gaps.min()), t, self.problem.label((c, feature))

    def _reach(self, y: Array, h: float) -> float:
        """Return a bound of the way of points of the bodies in half a step [m]."""
        return 0.5 * h * (1.0 + self.size) * float(np.abs(self.problem.velocities(y)).max())

    def _closed(self, t: float, y: Array, keys: Ints, state: Ints) -> Array:
        """Bring bilateral rows, and gaps of points that press or overlap, to zero; return the gaps."""
        before = y.copy()
        gaps, left = self._close(t, y, keys, state, PROJECTED * self.size)
        if gaps.min(initial=0.0) < -PARTED * self.size:
            # not all points that press can be held where another one is moved apart: they may open
            apart = self._part(t, before, keys)
            if apart.min() > gaps.min():
                y[:], gaps = before, apart
                left = np.inf if self.problem.model.nc else 0.0
        if left > PROJECTED * self.size:
            # gaps that cannot be closed together with rows are left to the next step, and rows are not
            gaps, left = self._close(t, y, keys, state, np.inf)
            self._need_closed(t, y, left)
        return gaps

    def _part(self, t: float, y: Array, keys: Ints) -> Array:
        """Move points apart until no gap is negative, by least dq with   gap + J dq >= 0,   Phi + Phi_q dq = 0; return the gaps."""
        p = self.problem
        gaps, Phi = p.points.gaps(keys, y), np.zeros(0)
        for _ in range(PART_ROUNDS):
            if gaps.min() >= -PROJECTED * self.size:
                break
            if p.model.nc:
                p.response.factor(t, y)
                Phi = p.response.row_values()[0] * self._kept_rows
            get_drift(y, p.n, self._least_change(y, keys, Phi, holds=False), 1.0)
            gaps = p.points.gaps(keys, y)
        return gaps

    def _need_closed(self, t: float, y: Array, left: float) -> None:
        """Raise SimulationError where the rows of joints could not be brought to zero."""
        if left <= UNCLOSED * self.size:
            return
        p = self.problem
        worst = int(np.argmax(np.abs(p.response.row_values()[0] * self._kept_rows)))
        raise SimulationError(
            f"{p.model.labels[worst]} is open by {left:.2e} at t = {t:.9g} s, wanted {PROJECTED * self.size:.0e}, and its step could not "
            "close it: a body turns too far in one step, or the loop is at a dead point. Give a smaller h."
        )

    def _close(self, t: float, y: Array, keys: Ints, state: Ints, overlap: float) -> tuple[Array, float]:
        """Bring bilateral rows to zero, and gaps of points that press or overlap by more; return the gaps, and the largest Phi.

        overlap: [m];  infinite: no gaps
        """
        p, most = self.problem, PROJECTED * self.size
        gaps, fix, Phi = p.points.gaps(keys, y), np.zeros(len(keys), dtype=np.int64), np.zeros(0)
        before, count = np.inf, 0
        for _ in range(ROUNDS if overlap < np.inf else ROW_ROUNDS):
            left = get_open_gaps(state, gaps, overlap, fix) if overlap < np.inf else 0.0
            if p.model.nc:
                p.response.factor(t, y)
                Phi = p.response.row_values()[0] * self._kept_rows
                left = max(left, float(np.abs(Phi).max()))
            if left <= most:
                break
            if fix.sum() > count:
                # what has overlapped stays at 0 while others are moved apart
                state, before, count = np.maximum(state, fix), np.inf, int(fix.sum())
            if left >= SLOWLY * before and (overlap < np.inf or left <= UNCLOSED * self.size):
                break
            before = left
            get_drift(y, p.n, self._least_change(y, keys[fix == 1], Phi), 1.0)
            gaps = p.points.gaps(keys, y)
        return gaps, float(np.abs(Phi).max(initial=0.0))

    def _least_change(self, y: Array, keys: Ints, Phi: Array, holds: bool = True) -> Array:
        """Return the least mass-weighted displacement (n, 6) that takes Phi and the gaps of the points to zero, in first order.

        holds: otherwise gaps may become positive, by the problem of impulses without friction
        """
        p, k = self.problem, len(keys)
        kin = p.points.at(keys, y)
        rows = self._rows() if p.model.nc else self._no_rows
        dq, zero = np.empty((p.n, 6)), self._rest
        C, pairs = np.ascontiguousarray(kin.C.reshape(k, 3, 12)), p.pairs[keys[:, 0]]
        goal = -Phi[self._kept] if p.model.nc else np.zeros(0)
        mode = np.zeros(k, dtype=np.int64) if holds else np.full(k, SLIPS, dtype=np.int64)
        own = self._inertia, self._shifted, pairs, C, np.zeros(k), kin.gap.copy(), mode, np.zeros((k, 2))
        work = np.zeros((k, 3)), np.zeros((k, 3)), np.empty(k, dtype=np.int64), self._left
        get_islands(*own, rows.J, rows.bodies, goal, holds, zero, dq, *work)
        return dq
