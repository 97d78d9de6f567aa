r"""The cone problem: forces, or impulses, of all contacts with dry friction at one instant.

    v = G f + b                 G = C K^-1 C^T  the response of the mechanism,   b: what the contacts would do without f
    f in K,    w = v + mu |v_T| n in K*,    f . w = 0                                                     (de Saxce)
    K  = {|f_T| <= mu f_n},     K* = {w_n >= mu |w_T|}

By contacts, three rows each, normal first:  open (f = 0, v_n >= 0),  stick (v = 0),  slip (v_n = 0, f_T = -mu f_n v_T / |v_T|): Signorini's
and Coulomb's laws in one line.  All three lines say the same as the zeros of the natural map, by which every answer is judged:

    F(f) = f - P(f - w)         P: projection on K

Lengths and units drop out by one number a contact, s = d^-1/2 with d the mean of its diagonal of G:  f = s f~,  v~ = s v,  G~ = s G s.
The cones do not change, and the residual |F| / max |f~| is the same in millimetres, and for masses that differ by millions.

    newton         Alart-Curnier's equations; modes change with every iterate; the shortest step where G is singular
    softened       the same with G + eps 1, eps -> 0, where forces are not unique and few fulfil the laws
    proximal       alternating directions (ADMM) with one factorization of G + rho 1, for the modes where Newton circles
    gauss_seidel   contact by contact, each solved exactly, where the proximal method circles, too

A contact whose sliding is prescribed, f = f_n (n - mu d), is one without friction whose column of G is turned: G is then not symmetric.
Sources: De Saxce, Feng (1998); Alart, Curnier (1991); Acary, Brogliato, Numerical Methods for Nonsmooth Dynamical Systems (2008), ch. 13;
Acary, Bremond, Huber, On solving contact problems with Coulomb friction (2018).
"""

from __future__ import annotations

from math import cos, hypot, pi, sin
from typing import Any, NamedTuple

import numpy as np

from haugmbd.compiled.array_types import Array
from haugmbd.compiled.jit import entry, kernel
from haugmbd.errors import SimulationError

AIM = 1e-13
"""Relative residual that Newton's iteration is asked for: rounding of a few operations."""
ACCEPTED = 1e-10
"""Relative residual beyond which no answer is returned."""
MOVES = 1e-6
"""Relative to the largest velocity: what may be left of it, too.  Forces that grow without end have a small relative residual."""
FARTHEST = 1e5
"""Relative to the forces that stop a contact alone: residuals are not measured by larger ones. Where a mechanism of one freedom wedges
itself, iterates grow without end; a heavy body on one a million times lighter has 1e6."""
ENDLESS = 1e12
"""The same: such forces are no answer."""
ROUNDING = 2e-15
"""Relative to the largest velocity: what rounding leaves of the natural map. Where a fast point is hardly touched, its force is a part in
10^8 of that, and no answer has a smaller residual relative to the force."""
NEWTON_STEPS = 12
"""Before another method looks for the modes; four to eight are usual."""
SOFTENINGS = (1e-1, 1e-2, 1e-4, 1e-6, 1e-8, 1e-10, 1e-12)
"""Of each contact by itself, relative to its mobility: G + softening 1 has one solution, which Newton's iteration follows to G. Where
forces are not unique, and hardly any fulfil the laws (a face that sticks near its limit), this is the way to one."""
EVEN_SOFTENINGS = (1e1, 1.0, 1e-1, 1e-2, 1e-4, 1e-6)
"""The same, of points that shall share a load evenly: with the first one every problem has one solution, whose branch is followed; the last
one is far above rounding."""
GOALS = (1e-2, 1e-3, 1e-4, 1e-6, 1e-8, 1e-10)
"""Residuals of the proximal method at which Newton's iteration is tried from its answer."""
CONVEX_GOALS = (1e-3, 1e-6, 1e-10)
"""The same, of the convex problem, whose answers are those of the laws only where nothing slides."""
PROXIMAL_STEPS, MOST_PROXIMAL = 4000, 12_000
"""For one of the goals, and for all of them."""
SWEEPS, MOST_SWEEPS = 5000, 30_000
"""Of Gauss-Seidel in two attempts, the second one with half steps."""
RANK = 1e-11
"""Relative: singular values below it are those of dependent rows."""
LEAST = 1e-300
"""Instead of 0 in a denominator."""


class Steps(NamedTuple):
    """The steps that each method took."""

    newton: int = 0
    proximal: int = 0
    sweeps: int = 0


class ConeSolution(NamedTuple):
    """Forces f (m, 3), normal first; velocities or accelerations v (m, 3) with them; the relative residual; the work."""

    f: Array
    v: Array
    residual: float
    steps: Steps


def projected_on_cones(x: Array, mu: Array) -> Array:
    """Return the projections of the rows (n, t_1, t_2) of x (m, 3) on the cones |t| <= mu n."""
    n, t = x[:, 0], np.hypot(x[:, 1], x[:, 2])
    along = np.maximum((n + mu * t) / (1.0 + mu * mu), 0.0)
    inside = (t <= mu * n) & (n >= 0.0)  # without friction 0 <= 0 n holds below the apex, too
    normal = np.where(inside, n, along)
    shrink = np.where(inside, 1.0, mu * along / np.where(t > 0.0, t, 1.0))
    return np.column_stack([normal, x[:, 1] * shrink, x[:, 2] * shrink])


def natural_map(f: Array, v: Array, mu: Array) -> Array:
    """Return f - P(f - (v + mu |v_T| n)), (m, 3), which is zero exactly where the laws hold."""
    w = v.copy()
    w[:, 0] += mu * np.hypot(v[:, 1], v[:, 2])
    return f - projected_on_cones(f - w, mu)


def scales_of(G: Array, mu: Array) -> Array:
    """Return s (m,): one over the root of the mean diagonal of G of each contact; of the normal alone, where there is no friction."""
    diagonal = np.diag(G).reshape(-1, 3)
    d = np.where(mu > 0.0, diagonal.mean(axis=1), diagonal[:, 0])
    return np.asarray(1.0 / np.sqrt(np.where(d > 0.0, d, 1.0)))


def relative_residual(G: Array, b: Array, mu: Array, f: Array) -> float:
    """Return the largest entry of the natural map, in scaled units, relative to the largest force; relative to b where all are open."""
    s = scales_of(G, mu)[:, None]
    v = (G @ f.ravel() + b).reshape(-1, 3)
    size = max(float(np.abs(f / s).max(initial=0.0)), 1e-6 * float(np.abs(s * b.reshape(-1, 3)).max(initial=0.0)), LEAST)
    return float(np.abs(natural_map(f / s, s * v, mu)).max(initial=0.0)) / size


def solve_cone_problem(
    G: Array, b: Array, mu: Array, start: Array | None = None, *, what: str = "contacts", even: bool = False
) -> ConeSolution:
    """Return the forces of all contacts.

    G: (3 m, 3 m);  b: (3 m,);  mu: (m,);  start: (m, 3) forces to begin with;  what: names of the contacts in messages
    even: whether points that may share a load in many ways shall share it evenly, as the shortest forces do, if they can

    Raises SimulationError if the relative residual stays above ACCEPTED: no last iterate is returned.
    """
    m = len(mu)
    if m == 0:
        return ConeSolution(np.zeros((0, 3)), np.zeros((0, 3)), 0.0, Steps())
    scale = np.repeat(scales_of(G, mu), 3)
    problem = _Scaled(scale[:, None] * G * scale, scale * b, mu)
    first = np.zeros((m, 3)) if start is None else start / scale.reshape(m, 3)
    with np.errstate(over="ignore", invalid="ignore"):  # iterates that grow without end are left by their residual
        f, steps = _solve_evenly(problem, first) if even else (first, Steps())
        if not even or not problem.is_solved(f, 0.1 * ACCEPTED):
            f, steps = _solve_scaled(problem, first)
    residual = problem.residual(f)
    left = problem.left(f)
    if not ((residual <= ACCEPTED or problem.is_rounding(f)) and left <= MOVES * float(np.abs(problem.b).max())):
        raise SimulationError(
            f"the forces of {what} are not found: the laws of contact and friction are left with a relative residual of {residual:.1e}, "
            f"wanted {ACCEPTED:.0e}, after {steps.newton} Newton, {steps.proximal} proximal and {steps.sweeps} Gauss-Seidel steps. "
            "Bodies that are crushed between others have no answer; look for a contact that drivers or joints press together."
        )
    found = f * scale.reshape(m, 3)
    return ConeSolution(found, (G @ found.ravel() + b).reshape(m, 3), residual, steps)


def solve_impact(G: Array, left: Array, shift: Array, mu: Array, *, what: str) -> ConeSolution:
    """Return the impulses of contacts by Newton's law:  v_n + shift >= 0.   left: (3 m,) velocities without them;  shift: (m,) e v_n^-

    Raises SimulationError if they are not found, and says so where the law has no answer: in a mechanism that friction wedges, v_T cannot
    go where the bounce wants it.
    """
    b = left.copy()
    b[::3] += shift
    try:
        return solve_cone_problem(G, b, mu, what=what)
    except SimulationError:
        if not shift.any():
            raise
        try:
            solve_cone_problem(G, left, mu)
        except SimulationError:
            pass
        else:
            raise SimulationError(
                f"the impulses of {what} have no answer: Newton's law of restitution asks for a velocity that Coulomb's friction does not "
                "allow, as a mechanism wedges itself. Give restitution=0.0 there, impact=mbd.PoissonImpact(), or a smaller mu."
            ) from None
        raise


def soft_fits(p: _Scaled, f: Array) -> bool:
    """Return whether an iterate is a start at all: finite, and not far beyond the forces that stop the contacts."""
    return bool(np.isfinite(f).all()) and float(np.abs(f).max()) <= 1e6 * max(float(np.abs(p.b).max()), LEAST)


class _Scaled(NamedTuple):
    """A cone problem in scaled units."""

    G: Array
    b: Array
    mu: Array

    def velocities(self, f: Array) -> Array:
        return np.asarray((self.G @ f.ravel() + self.b).reshape(-1, 3))

    def left(self, f: Array) -> float:
        """Return the largest entry of the natural map."""
        return float(np.abs(natural_map(f, self.velocities(f), self.mu)).max())

    def residual(self, f: Array) -> float:
        """Return the largest entry of the natural map relative to the largest force, at most FARTHEST of those that stop a contact."""
        b, size = float(np.abs(self.b).max()), float(np.abs(f).max())
        if size > ENDLESS * b:
            return 1.0  # beside them velocities are rounding
        return self.left(f) / max(min(size, FARTHEST * b), 1e-6 * b, LEAST)

    def is_rounding(self, f: Array) -> bool:
        """Return whether only rounding of velocities is left."""
        return float(np.abs(f).max()) <= ENDLESS * float(np.abs(self.b).max()) and self.left(f) <= ROUNDING * float(
            np.abs(self.b).max()
        )

    def is_solved(self, f: Array, aim: float = 10.0 * AIM) -> bool:
        """Return whether no method can do better, or a residual is reached."""
        return self.residual(f) <= aim or self.is_rounding(f)


def _solve_evenly(p: _Scaled, start: Array) -> tuple[Array, Steps]:
    """Return the answer that the softened problem, whose forces are unique, leads to, and the steps."""
    f, newton = start, 0
    for softening in EVEN_SOFTENINGS:
        f, more = _newton(p._replace(G=p.G + softening * np.eye(len(p.b))), f, NEWTON_STEPS)
        newton += more
    f, more = _newton(p, f, NEWTON_STEPS)
    return f, Steps(newton + more)


def _solve_scaled(p: _Scaled, start: Array) -> tuple[Array, Steps]:
    """Return the best answer of the methods in their order, and their steps."""
    f, newton = _newton(p, start, 8)
    best, proximal, sweeps = f, 0, 0
    if p.is_solved(f):
        return f, Steps(newton)

    def better(*candidates: Array) -> Array:
        return min((best, *candidates), key=p.residual)

    for softening in SOFTENINGS:
        soft = p._replace(G=p.G + softening * np.eye(len(p.b)))
        soft_f, more = _newton(soft, f if soft_fits(p, f) else start, NEWTON_STEPS)
        newton, f = newton + more, soft_f
        best = better(f)
        if p.is_solved(best):
            return best, Steps(newton)
    if p.is_solved(best, 0.1 * ACCEPTED):
        return best, Steps(newton)
    # where a mechanism wedges itself, forces that stop everything lie far from the shortest ones: the convex problem finds them
    method = _Proximal(p, start, turns=False)
    for goal in CONVEX_GOALS:
        y = method.run(goal, PROXIMAL_STEPS // 4)
        f, more = _newton(p, y, NEWTON_STEPS)
        newton, best = newton + more, better(y, f)
        if p.is_solved(best):
            return best, Steps(newton, method.steps)
    method = _Proximal(p, start)
    for goal in GOALS:
        y = method.run(goal, PROXIMAL_STEPS)
        f, more = _newton(p, y, NEWTON_STEPS)
        newton, proximal, best = newton + more, method.steps, better(y, f)
        if p.is_solved(best):
            return best, Steps(newton, proximal)
        if method.steps >= MOST_PROXIMAL:
            break
    if p.is_solved(best, 0.1 * ACCEPTED):
        return best, Steps(newton, proximal)
    g = start
    for most, relaxation, aim in ((SWEEPS, 1.0, 1e-8), (MOST_SWEEPS, 0.5, AIM)):
        g, done = _gauss_seidel(p, g, aim, most, relaxation)
        f, more = _newton(p, g, NEWTON_STEPS)
        newton, sweeps, best = newton + more, sweeps + done, better(g, f)
        if p.is_solved(best):
            break
    return best, Steps(newton, proximal, sweeps)


# ------------------------------------------------------------------------------------------------------------------------ Newton
#   tau = f - v:   open  tau_n <= 0         f = 0
#                  stick |tau_T| <= mu tau_n   v = 0
#                  slip                     v_n = 0,   f_T = mu tau_n tau_T / |tau_T|


def _newton(p: _Scaled, f: Array, most: int) -> tuple[Array, int]:
    """Return the best iterate of Newton's method from f, and the number of steps."""
    best, best_size = f, np.inf
    for step in range(most):
        F, J = _equations(p, f)
        b = float(np.abs(p.b).max())
        size = float(np.abs(F).max()) / max(min(float(np.abs(f).max()), FARTHEST * b), 1e-6 * b, LEAST)
        if not np.isfinite(size):
            break
        if size < best_size:
            best, best_size = f, size
        if size <= AIM or (size <= 100.0 * AIM and step > 0 and size >= 0.1 * best_size and step == most - 1):
            return best, step
        f = f - _shortest(J, F.ravel()).reshape(f.shape)
    return best, most


def _equations(p: _Scaled, f: Array) -> tuple[Array, Array]:
    """Return Alart-Curnier's equations (m, 3) and their matrix (3 m, 3 m) for the modes at f."""
    m, one = len(p.mu), np.eye(3 * len(p.mu))
    v = p.velocities(f)
    tau = f - v
    length, limit = np.hypot(tau[:, 1], tau[:, 2]), p.mu * np.maximum(tau[:, 0], 0.0)
    F, J = f.copy(), one.copy()
    for k in np.flatnonzero(tau[:, 0] > 0.0):
        n, t = 3 * k, slice(3 * k + 1, 3 * k + 3)
        F[k, 0], J[n] = v[k, 0], p.G[n]
        if p.mu[k] == 0.0:
            continue
        if length[k] <= limit[k]:
            F[k, 1:], J[t] = v[k, 1:], p.G[t]
        else:
            d = tau[k, 1:] / length[k]
            across = limit[k] / length[k] * (np.eye(2) - np.outer(d, d))
            F[k, 1:] = f[k, 1:] - limit[k] * d
            J[t] = one[t] - across @ (one[t] - p.G[t]) - p.mu[k] * np.outer(d, one[n] - p.G[n])
    return F.reshape(m, 3), J


def _shortest(J: Array, y: Array) -> Array:
    """Return x with J x = y, the shortest one where J is singular."""
    try:
        x = np.asarray(np.linalg.solve(J, y), dtype=np.float64)
        size = float(np.abs(y).max())
        if np.abs(J @ x - y).max() <= 1e-6 * size and np.abs(x).max() < 1e8 * (LEAST + size):
            return x
    except np.linalg.LinAlgError:
        pass
    try:
        return np.asarray(np.linalg.lstsq(J, y, rcond=RANK)[0], dtype=np.float64)
    except np.linalg.LinAlgError:
        return np.full(len(y), np.nan)


# ---------------------------------------------------------------------------------------------------------------------- proximal
class _Proximal:
    """Alternating directions: x minimizes the quadratic, y is its projection on the cones, z the dual velocity.  It can be continued.

    x <- (G + (rho + eta) 1)^-1 (rho y + eta x + z - b - mu |z_T| n)      y <- P(x - z / rho)      z <- z - rho (x - y)

    turns: whether with the term mu |v_T| n of the laws; without it the problem is convex, least of f . G f / 2 + b . f in K, and has the
    answers of the laws in which nothing slides
    """

    ETA = 1e-9

    def __init__(self, p: _Scaled, start: Array, turns: bool = True) -> None:
        self.p, self.steps, self.turns = p, 0, turns
        values = np.abs(np.linalg.eigvals(p.G).real)
        large, small = float(values.max()), float(values.min())
        self.x, self.y, self.z = start.ravel().copy(), start.ravel().copy(), np.zeros(len(p.b))
        self._factorize(float(np.sqrt(large * max(small, 1e-3 * large))) or 1.0)

    def _factorize(self, rho: float) -> None:
        self.rho = rho
        self._inverse = np.linalg.inv(self.p.G + (rho + self.ETA) * np.eye(len(self.p.b)))

    def run(self, goal: float, most: int) -> Array:
        """Return f (m, 3) when its residual is `goal`, or after `most` steps."""
        p, m = self.p, len(self.p.mu)
        for step in range(1, most + 1):
            shift = np.zeros((m, 3))
            if self.turns:
                shift[:, 0] = p.mu * np.hypot(*self.z.reshape(m, 3)[:, 1:].T)
            x = self._inverse @ (self.rho * self.y + self.ETA * self.x + self.z - p.b - shift.ravel())
            y = projected_on_cones((x - self.z / self.rho).reshape(m, 3), p.mu).ravel()
            primal, dual = float(np.abs(x - y).max()), self.rho * float(np.abs(y - self.y).max())
            self.z, self.x, self.y = self.z - self.rho * (x - y), x, y
            self.steps += 1
            if step % 10 == 0:
                if p.residual(y.reshape(m, 3)) <= goal:
                    break
                relative = dual / (LEAST + float(np.abs(self.z).max()))
                ratio = primal / (LEAST + float(np.abs(y).max())) / max(relative, 1e-30)
                if not 0.1 <= ratio <= 10.0:
                    self._factorize(self.rho * float(np.clip(np.sqrt(ratio), 0.1, 10.0)))
        return np.asarray(self.y.reshape(m, 3))


# ------------------------------------------------------------------------------------------------------------------ Gauss-Seidel
ANGLES, HALVINGS = 64, 60
"""Directions of sliding that are tried, and halvings of the interval that holds one that fits."""


def _gauss_seidel(p: _Scaled, start: Array, aim: float, most: int, relaxation: float) -> tuple[Array, int]:
    """Return f (m, 3) when its residual is `aim`, or after `most` sweeps, and their number."""
    f, done = start.copy(), 0
    G = np.ascontiguousarray(p.G)
    while done < most:
        n = 5 if done >= 10 else 1
        sweep_contacts(G, np.ascontiguousarray(p.b), p.mu, f, n, relaxation)
        done += n
        if p.residual(f) <= aim:
            break
    return f, done


@kernel
def slide_along(g: Array, b0: float, b1: float, b2: float, first: int, mu: float, a: float) -> tuple[float, float, float]:
    """Return (f_n, speed along, speed across) of one contact that slides in the direction of the angle a;  g: G, first: its row."""
    c, s = cos(a), sin(a)
    d = g[first, first] - mu * (g[first, first + 1] * c + g[first, first + 2] * s)
    if d <= 1e-14:
        return -1.0, 0.0, 0.0
    f_n = -b0 / d
    v_1 = b1 + f_n * (g[first + 1, first] - mu * (g[first + 1, first + 1] * c + g[first + 1, first + 2] * s))
    v_2 = b2 + f_n * (g[first + 2, first] - mu * (g[first + 2, first + 1] * c + g[first + 2, first + 2] * s))
    return f_n, c * v_1 + s * v_2, c * v_2 - s * v_1


@kernel
def stick_alone(g: Array, b0: float, b1: float, b2: float, o: int) -> tuple[float, float, float]:
    """Return -G_kk^-1 b of one contact by Cramer's rule; a pull where G_kk is singular."""
    c0 = g[o + 1, o + 1] * g[o + 2, o + 2] - g[o + 1, o + 2] * g[o + 2, o + 1]
    c1 = g[o + 1, o + 2] * g[o + 2, o] - g[o + 1, o] * g[o + 2, o + 2]
    c2 = g[o + 1, o] * g[o + 2, o + 1] - g[o + 1, o + 1] * g[o + 2, o]
    d = g[o, o] * c0 + g[o, o + 1] * c1 + g[o, o + 2] * c2
    if d == 0.0:
        return -1.0, 0.0, 0.0
    x0 = b0 * c0 + b1 * (g[o, o + 2] * g[o + 2, o + 1] - g[o, o + 1] * g[o + 2, o + 2])
    x0 += b2 * (g[o, o + 1] * g[o + 1, o + 2] - g[o, o + 2] * g[o + 1, o + 1])
    x1 = b0 * c1 + b1 * (g[o, o] * g[o + 2, o + 2] - g[o, o + 2] * g[o + 2, o])
    x1 += b2 * (g[o, o + 2] * g[o + 1, o] - g[o, o] * g[o + 1, o + 2])
    x2 = b0 * c2 + b1 * (g[o, o + 1] * g[o + 2, o] - g[o, o] * g[o + 2, o + 1])
    x2 += b2 * (g[o, o] * g[o + 1, o + 1] - g[o, o + 1] * g[o + 1, o])
    return -x0 / d, -x1 / d, -x2 / d


@kernel
def one_contact(g: Array, b0: float, b1: float, b2: float, o: int, mu: float, f: Array, k: int) -> tuple[float, float, float]:
    """Return the exact force of one contact; that of before where it slides and no direction fits."""
    if b0 >= 0.0:
        return 0.0, 0.0, 0.0
    if mu == 0.0:
        return (-b0 / g[o, o] if g[o, o] > 0.0 else f[k, 0]), 0.0, 0.0
    x0, x1, x2 = stick_alone(g, b0, b1, b2, o)
    if x0 >= 0.0 and hypot(x1, x2) <= mu * x0:
        return x0, x1, x2
    before, a_before, known = 0.0, 0.0, False
    for n in range(ANGLES + 1):
        a = -pi + n * 2.0 * pi / ANGLES
        f_n, along, across = slide_along(g, b0, b1, b2, o, mu, a)
        if f_n < 0.0:
            known = False
            continue
        if known and before * across <= 0.0:
            low, high, at_low, middle = a_before, a, before, a
            for _ in range(HALVINGS):
                middle = 0.5 * (low + high)
                f_n, along, across_here = slide_along(g, b0, b1, b2, o, mu, middle)
                if at_low * across_here <= 0.0:
                    high = middle
                else:
                    low, at_low = middle, across_here
            if along >= 0.0 and f_n >= 0.0:
                return f_n, -mu * f_n * cos(middle), -mu * f_n * sin(middle)
        before, a_before, known = across, a, True
    return f[k, 0], f[k, 1], f[k, 2]


@entry
def sweep_contacts(G: Array, b: Array, mu: Array, f: Array, n: int, relaxation: float) -> int:
    """Solve contact by contact, n times, in place; G (3 m, 3 m), b (3 m,), f (m, 3)."""
    for _ in range(n):
        for k in range(mu.size):
            o = 3 * k
            b0, b1, b2 = b[o], b[o + 1], b[o + 2]
            for c in range(mu.size):
                if c != k:
                    for a in range(3):
                        b0 += G[o, 3 * c + a] * f[c, a]
                        b1 += G[o + 1, 3 * c + a] * f[c, a]
                        b2 += G[o + 2, 3 * c + a] * f[c, a]
            x0, x1, x2 = one_contact(G, b0, b1, b2, o, mu[k], f, k)
            f[k, 0] += relaxation * (x0 - f[k, 0])
            f[k, 1] += relaxation * (x1 - f[k, 1])
            f[k, 2] += relaxation * (x2 - f[k, 2])
    return 0


def response_is_unique(G: Array) -> bool:
    """Return whether all principal minors of a small G (k, k) are positive: a problem with it has one solution (a P-matrix)."""
    k: Any = len(G)
    for mask in range(1, 1 << k):
        rows = [a for a in range(k) if mask >> a & 1]
        part = G[np.ix_(rows, rows)]
        size = float(np.prod(np.abs(np.diag(G))[rows]))
        if not np.linalg.det(part) > 1e-12 * size:
            return False
    return True
