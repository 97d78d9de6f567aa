r"""Laws of impact: which impulses f contacts exchange when they strike.

    v = v_0 + G f       velocities of the points, normal first:  v^- before the impact,  v_0 with all but the contacts;  f in Coulomb's cone

    Newton        all points at once:   v_n >= -e v_n^-,   f_n >= 0,   orthogonal                                   (Moreau's form)
    Poisson       all points at once:   compression f_C by e = 0, then expansion  f_E,n >= e f_C,n,   v_n >= 0,   orthogonal
    sequential    one pair of bodies after the other, the fastest approach first, each by Newton's law, until none approaches

Friction obeys Coulomb's law on impulses, with the tangential velocity behind the impact (Poisson: behind each phase, with the whole normal
impulse of the phase; the part e f_C of it presses, too, where the point opens).  For one point, and for e = 0, Newton and Poisson agree
without friction.  The sequence is what bodies do that have small gaps between them, and whose waves are short beside the time between two
impacts: of touching equal balls the last one leaves with the speed of the first.  Bodies that approach equally fast strike at once.
Sources: Moreau (1988); Pfeiffer, Glocker (1996), ch. 8 (Poisson); Stronge (2018), Impact Mechanics, ch. 10; Brogliato (2016), ch. 6.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from haugmbd.compiled.array_types import Array, Ints
from haugmbd.contact.cone import AIM, LEAST, scales_of, solve_cone_problem, solve_impact
from haugmbd.deprecated import public_class
from haugmbd.errors import SimulationError, UsageError

STILL = 1e-12
"""Relative to the fastest approach: a slower one ends the sequence; what is left of it is taken away at once."""
TIES = 1e-9
"""Relative: approaches that differ by less are equally fast, and strike at once."""
MOST_IMPACTS = 20_000
"""Impacts of a sequence; with less restitution it is a geometric series, and short."""
ACCEPTED = 1e-10
"""Relative residual beyond which no expansion is returned."""
SHARES = 1e-8
"""Relative to the largest impulse, velocity or singular value: less is rounding, where it is asked whether impulses are unique."""
NEWTON_STEPS, SWEEPS = 30, 2000
"""Of the expansion: steps of Newton's method, then sweeps over the points before it is tried again."""

Solve = Callable[[Ints, Array], Array]
"""Returns impulses (k, 3) of some points, by their velocities without them (k, 3): v_n >= 0, f_n >= 0, orthogonal, and Coulomb's law."""


@dataclass(frozen=True)
class ImpactLaw:
    """A law of impact: NewtonImpact(), PoissonImpact() or SequentialImpact()."""


@public_class
@dataclass(frozen=True)
class NewtonImpact(ImpactLaw):
    """Newton's law of restitution, all points at once: gap_rate+ >= -e gap_rate-, in Moreau's form.

    Notes
    -----
    With friction, or with different restitutions at coupled contacts, it can create energy: an EnergyWarning says so.
    Source: Moreau 1988.
    """


@public_class
@dataclass(frozen=True)
class PoissonImpact(ImpactLaw):
    """Poisson's law of restitution, all points at once: the normal impulse of expansion is e times that of compression.

    Notes
    -----
    Compression ends where no point approaches. In the expansion each point gets e times its impulse of compression, and more where it
    would still approach. Friction obeys Coulomb's law in each phase. The law is refused where the normal impulses of the compression are
    not unique, and each would have another expansion.
    Source: Pfeiffer and Glocker 1996, ch. 8.
    """


@public_class
@dataclass(frozen=True)
class SequentialImpact(ImpactLaw):
    """One pair of bodies after the other, the fastest approach first, each by Newton's law, until no point approaches.

    Notes
    -----
    It is the limit of small gaps between the bodies: a row of equal balls that touch lets the last one go (Newton's cradle). Points of one
    pair of bodies, and pairs that approach equally fast, strike at once.
    Source: Stronge 2018, ch. 10.
    """


LAWS: dict[str, type[ImpactLaw]] = {one.__name__: one for one in (NewtonImpact, PoissonImpact, SequentialImpact)}
"""The laws by the names of their classes, as files hold them."""
GIVE_A_LAW = "Give mbd.NewtonImpact(), mbd.PoissonImpact() or mbd.SequentialImpact()"


def check_law(given: Any, where: str = "impact") -> None:
    """Raise UsageError for something else than a law of impact or None."""
    if given is not None and type(given) not in LAWS.values():
        raise UsageError(f"{where} = {given!r:.60} is no law of impact. {GIVE_A_LAW}, or leave it out.")


def law_of(laws: Iterable[tuple[str, ImpactLaw | None]], of_run: ImpactLaw | None, where: str = "") -> ImpactLaw | None:
    """Return the law of contacts (name, own law) that strike together; None for the default.  Raise UsageError for two laws."""
    names: dict[ImpactLaw, list[str]] = {}
    for name, law in laws:
        own = of_run if law is None else law
        if own is not None:
            names.setdefault(own, []).append(name)
    if len(names) > 1:
        told = " and ".join(f"{law!r} of {', '.join(map(repr, some[:6]))}" for law, some in names.items())
        raise UsageError(f"contacts that strike together have different laws{where}: {told}. Give them one.")
    return next(iter(names), None)


class StruckPoints(NamedTuple):
    """Points that strike together.

    G: (3 m, 3 m);  left, before: (m, 3) velocities without their impulses, and before the impact;  e, mu: (m,);  pairs: (m, 2) bodies
    what: the names of the contacts and the time, in messages
    """

    G: Array
    left: Array
    before: Array
    e: Array
    mu: Array
    pairs: Ints
    what: str

    @classmethod
    def without_friction(cls, W: Array, left: Array, before: Array, e: Array, pairs: Ints, what: str) -> StruckPoints:
        """Return points whose forces have no tangential part, by the response W (m, m) of their gap rates."""
        m = len(e)
        G, rates = np.zeros((3 * m, 3 * m)), np.zeros((2, m, 3))
        G[::3, ::3], rates[0, :, 0], rates[1, :, 0] = W, left, before
        return cls(G, rates[0], rates[1], e, np.zeros(m), pairs, what)

    def without_restitution(self, k: Ints, v: Array) -> Array:
        """Return the impulses (k, 3) of some points with the velocities v (k, 3) without them, by the cone problem."""
        rows = (3 * k[:, None] + np.arange(3)).ravel()
        return solve_cone_problem(self.G[np.ix_(rows, rows)], v.ravel(), self.mu[k], what=self.what).f


def impulses(law: ImpactLaw | None, q: StruckPoints, solve: Solve | None = None) -> Array:
    """Return the impulses (m, 3) of the points, normal first.  Raise SimulationError where there are none.

    solve: of points without restitution, by default by the cone problem
    """
    found: Solve = q.without_restitution if solve is None else solve
    if isinstance(law, SequentialImpact) or (law is None and is_row(q.e, q.before[:, 0], q.pairs)):
        return in_sequence(q, found)
    every = np.arange(len(q.e))
    if isinstance(law, PoissonImpact):
        compressed = found(every, q.left)
        return compressed + expansion(q, compressed, found)
    shift = np.where(q.before[:, 0] < 0.0, q.e * q.before[:, 0], 0.0)
    if solve is None:
        return solve_impact(q.G, q.left.ravel(), shift, q.mu, what=q.what).f
    bounce = q.left.copy()
    bounce[:, 0] += shift
    return found(every, bounce)


def is_row(e: Array, before: Array, pairs: Ints) -> bool:
    """Return whether points that all bounce are struck through others that touch, between moving bodies: a row of touching bodies.

    Newton's law for all at once is then not the limit of small gaps, and the default is the sequence.
    """
    rounding = TIES * float(np.abs(before).max(initial=0.0))
    approaching, closed = before < -rounding, np.abs(before) <= rounding
    if len(e) < 2 or not approaching.any() or not (e[approaching | closed] > 0.0).all():  # noqa: PLR2004  a row has two contacts
        return False
    struck = {frozenset(pair) for pair in pairs[approaching].tolist()}
    reached = {frozenset(pair) for pair in pairs[closed].tolist()} - struck
    return any(0 not in pair and any(pair & other - {0} for other in struck) for pair in reached)


def in_sequence(q: StruckPoints, solve: Solve) -> Array:
    """Return the sum of the impulses of a sequence of impacts.  Raise SimulationError if it does not end."""
    m = len(q.e)
    v, f = q.left.copy(), np.zeros((m, 3))
    fastest = float(-v[:, 0].min(initial=0.0))
    groups = np.unique(np.sort(q.pairs, axis=1), axis=0, return_inverse=True)[1].ravel()
    for _ in range(MOST_IMPACTS):
        worst = float(v[:, 0].min())
        if worst >= -STILL * fastest:
            break
        first = np.isin(groups, groups[v[:, 0] <= worst * (1.0 - TIES)])
        k = np.flatnonzero(first & (v[:, 0] <= STILL * fastest))
        bounce = v[k]
        bounce[:, 0] += np.where(bounce[:, 0] < 0.0, q.e[k] * bounce[:, 0], 0.0)
        more = solve(k, bounce)
        f[k] += more
        v += (q.G[:, (3 * k[:, None] + np.arange(3)).ravel()] @ more.ravel()).reshape(m, 3)
    else:
        raise SimulationError(
            f"the sequence of impacts of {q.what} does not end within {MOST_IMPACTS} of them. Give a smaller restitution, or "
            "impact=mbd.NewtonImpact() for all at once."
        )
    if v[:, 0].min(initial=0.0) < 0.0:
        f += solve(np.arange(m), v)
    return f


# --------------------------------------------------------------------------------------------------------------------- expansion
#   f_n = s + g,   s = e f_C:     g >= 0,   v_n >= 0,   g v_n = 0           |f_T| <= mu (s + g),   f_T = -mu (s + g) v_T / |v_T|


def expansion(q: StruckPoints, compressed: Array, solve: Solve) -> Array:
    """Return the impulses (m, 3) of the expansion behind the compression.  Raise SimulationError if they are not found."""
    stored = q.e * compressed[:, 0]
    if not stored.any():
        return np.zeros_like(compressed)
    _need_unique(q, compressed)
    if not q.mu.any():
        f = np.column_stack([stored, np.zeros((len(stored), 2))])
        v = q.left + (q.G @ (compressed + f).ravel()).reshape(-1, 3)
        return f + solve(np.arange(len(stored)), v)
    s = scales_of(q.G, q.mu)
    scale = np.repeat(s, 3)
    G = scale[:, None] * q.G * scale
    b = (s[:, None] * (q.left + (q.G @ compressed.ravel()).reshape(-1, 3))).ravel()
    problem = _Expansion(G, b, q.mu, stored / s)
    f, residual = problem.solve()
    if not residual <= ACCEPTED:
        raise SimulationError(
            f"the expansion of the impact of {q.what} by Poisson's law is not found: it is left with a relative residual of "
            f"{residual:.1e}, wanted {ACCEPTED:.0e}. Take impact=mbd.NewtonImpact() there."
        )
    return f * s[:, None]


def _need_unique(q: StruckPoints, compressed: Array) -> None:
    """Raise SimulationError if the compression has other normal impulses, whose expansion is another motion.

    Such as at the tip of a rod on a hinge: what presses on the hinge may come from the normal impulse, or from friction that sticks. Points
    of a face share their normal impulses in many ways, and the expansion of each is the same motion.
    """
    v = q.left + (q.G @ compressed.ravel()).reshape(-1, 3)
    size, fastest = float(np.abs(compressed).max()), float(np.abs(q.left).max(initial=0.0))
    columns, normal = [], []
    for k in np.flatnonzero(compressed[:, 0] > SHARES * size):
        unit, f, room = np.zeros((3 * len(v), 3)), compressed[k], q.mu[k] * compressed[k, 0]
        unit[3 * k : 3 * k + 3] = np.eye(3)
        slides = float(np.hypot(v[k, 1], v[k, 2])) > SHARES * fastest
        if q.mu[k] == 0.0 or slides:
            columns += [unit @ (1.0, *(f[1:] / f[0]))]
            normal += [q.e[k] * unit[:, 0]]
        elif float(np.hypot(f[1], f[2])) < room * (1.0 - SHARES):
            columns += list(unit.T)
            normal += [q.e[k] * unit[:, 0], *np.zeros((2, len(unit)))]
        else:
            columns += [unit @ (1.0, *(f[1:] / f[0]))]
            normal += [q.e[k] * unit[:, 0]]
    G_columns, G_normal = q.G @ np.array(columns).T, q.G @ np.array(normal).T
    _, s, V = np.linalg.svd(G_columns)
    kernel = V[int((s > SHARES * s[0]).sum()) :].T
    if np.abs(G_normal @ kernel).max(initial=0.0) > SHARES * s[0]:
        raise SimulationError(
            f"Poisson's law does not determine {q.what}: the normal impulses of its compression are not unique, because joints or other "
            "points share them with friction, and each has another expansion. Take impact=mbd.NewtonImpact() there, or mu = 0."
        )


class _Expansion(NamedTuple):
    """The expansion in scaled units: f = (s + g, f_T)."""

    G: Array
    b: Array
    mu: Array
    stored: Array

    def solve(self) -> tuple[Array, float]:
        """Return the impulses and their residual."""
        f = np.column_stack([self.stored, np.zeros((len(self.mu), 2))])
        f, residual = self._newton(f)
        if residual > ACCEPTED:
            f, residual = self._newton(self._swept(f))
        return f, residual

    def equations(self, f: Array) -> tuple[Array, Array]:
        """Return the laws (m, 3), which vanish, and their matrix (3 m, 3 m) for the modes at f."""
        one, F = np.eye(len(self.b)), np.zeros_like(f)
        J = np.zeros_like(one)
        v = (self.G @ f.ravel() + self.b).reshape(-1, 3)
        tau = f - v
        for k in range(len(f)):
            n, t = 3 * k, slice(3 * k + 1, 3 * k + 3)
            presses = tau[k, 0] > self.stored[k]
            F[k, 0], J[n] = (v[k, 0], self.G[n]) if presses else (f[k, 0] - self.stored[k], one[n])
            limit = self.mu[k] * (tau[k, 0] if presses else self.stored[k])
            length = float(np.hypot(tau[k, 1], tau[k, 2]))
            if length <= limit:
                F[k, 1:], J[t] = v[k, 1:], self.G[t]
                continue
            d = tau[k, 1:] / max(length, LEAST)
            across = limit / max(length, LEAST) * (np.eye(2) - np.outer(d, d))
            F[k, 1:] = f[k, 1:] - limit * d
            J[t] = one[t] - across @ (one[t] - self.G[t])
            if presses:
                J[t] -= self.mu[k] * np.outer(d, one[n] - self.G[n])
        return F, J

    def residual(self, f: Array) -> float:
        """Return what the laws are left with, relative to the largest impulse."""
        v = (self.G @ f.ravel() + self.b).reshape(-1, 3)
        normal = f[:, 0] - self.stored - np.maximum(f[:, 0] - self.stored - v[:, 0], 0.0)
        tau = f[:, 1:] - v[:, 1:]
        length = np.hypot(tau[:, 0], tau[:, 1])
        shrink = np.minimum(1.0, self.mu * np.maximum(f[:, 0], 0.0) / np.maximum(length, LEAST))
        off = max(float(np.abs(normal).max()), float(np.abs(f[:, 1:] - shrink[:, None] * tau).max()))
        return off / max(float(np.abs(f).max()), LEAST)

    def _newton(self, f: Array) -> tuple[Array, float]:
        """Return the best iterate of Newton's method from f, and its residual."""
        best, least = f, self.residual(f)
        for _ in range(NEWTON_STEPS):
            if least <= 10.0 * AIM or not np.isfinite(f).all():
                break
            F, J = self.equations(f)
            f = f - np.linalg.lstsq(J, F.ravel(), rcond=1e-12)[0].reshape(f.shape)
            left = self.residual(f)
            if left < least:
                best, least = f, left
        return best, least

    def _swept(self, f: Array) -> Array:
        """Return the impulses after sweeps of projected steps over the points."""
        f, size = (
            f.copy(),
            [1.0 / max(float(np.linalg.norm(self.G[3 * k : 3 * k + 3, 3 * k : 3 * k + 3], 2)), LEAST) for k in range(len(f))],
        )
        for _ in range(SWEEPS):
            for k in range(len(f)):
                v = self.G[3 * k : 3 * k + 3] @ f.ravel() + self.b[3 * k : 3 * k + 3]
                f[k] -= size[k] * v
                f[k, 0] = max(f[k, 0], self.stored[k])
                limit, length = self.mu[k] * f[k, 0], float(np.hypot(f[k, 1], f[k, 2]))
                if length > limit:
                    f[k, 1:] *= limit / length
        return f
