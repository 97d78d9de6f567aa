r"""Touching contacts that stay closed: the contact problem of accelerations.

    a = a0 + W N >= 0        N >= 0        N . a = 0            for contacts at rest: gap = 0 and gap_rate = 0
    a0: accelerations of the gaps without them (C u_dot - gamma)                W = C K^-1 C^T

A contact with N > 0 stays closed; one with a > 0 opens.  Where rows depend on one another (a table on four legs) as many are closed as
are independent; the others touch without a row.  The problem has the form of that of impulses (`contact.restitution`).

Friction in joints changes with the normal forces, which W does not know. Where there is some, the answer is a first guess, compared with
the accelerations of the model that has these contacts closed: one that pulls opens, one that would overlap closes.

A bounce is at rest if it would rise less than REST_HEIGHT:      gap_rate^2 / (2 |a|) <= REST_HEIGHT size
Source: Moreau (1988); Baraff (1994) for resting contacts without friction.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from haugmbd.compiled.array_types import Array, Ints
from haugmbd.formulations.accelerations import accelerations
from haugmbd.impacts.auxiliary_rows import AuxiliaryRows
from haugmbd.impacts.contact_modes import ContactModes
from haugmbd.impacts.impulse_equations import FactoredSystem, RowSet
from haugmbd.impacts.restitution import restitution
from haugmbd.impacts.single_impact import SingleImpact
from haugmbd.impacts.spectral_solve import RANK_TOL, SpectralSolution, nonnegative
from haugmbd.integrators.initial_state import projected
from haugmbd.model.state import State

REST_HEIGHT = 1e-12
"""Relative to the size: a bounce that rises less is at rest.  It is far enough above the rounding of gaps that the times of the last
bounces are still accurate."""
STILL = 1e-12
"""Relative to the velocities that a gap rate combines: a smaller rate is zero, as for impulses."""
PULL_TOL = 1e-11
"""Relative to the force that holds a contact: a normal force below minus this pulls.  It is above the rounding of multipliers."""
SMALLEST = 1e-12
"""[m/s2], relative to the size: smaller accelerations are rounding where nothing accelerates."""

Flags = npt.NDArray[np.bool_]


class RestingContacts(NamedTuple):
    """Contacts by name.

    closed: the pull that the rounding of a normal force may reach before the contact opens [N];  still: all that do not move, closed or not
    held: those that do not open: closed, or held by others that are closed
    """

    closed: dict[str, float]
    still: frozenset[str]
    held: frozenset[str] = frozenset()


NO_CONTACTS = RestingContacts({}, frozenset())
"""No contact is at rest."""


class _Problem(NamedTuple):
    """Accelerations a0 (k,), W (k, k), its scale d (k,), gap rates (k,) and their rounding (k,), of some contacts."""

    a0: Array
    W: Array
    d: Array
    rate: Array
    noise: Array

    def of(self, k: Ints) -> _Problem:
        """Return the problem of the contacts k alone."""
        return _Problem(self.a0[k], self.W[np.ix_(k, k)], self.d[k], self.rate[k], self.noise[k])


def resting_contacts(mechanism: ContactModes, state: State, touching: list[str], leaving: frozenset[str]) -> RestingContacts:
    """Return which of the `touching` contacts stay closed at `state`; `leaving` are those that would pull, and are not closed."""
    names = [name for name in touching if name not in leaving]
    if not names:
        return RestingContacts({}, leaving)
    every = [*names, *sorted(leaving.intersection(touching))]
    everything, n = _problem(mechanism, state, every), len(names)
    problem = everything.of(np.arange(n))
    sizes = mechanism.sizes[_numbers(mechanism, names)]
    still = np.nonzero(_still(problem, REST_HEIGHT * sizes))[0]
    held, force = _held(problem, still)
    slack = PULL_TOL * force + SMALLEST * sizes / np.maximum(np.diag(problem.W), RANK_TOL * problem.d)
    closed = _independent(problem, held, slack)
    if mechanism.has_friction:
        closed = _with_friction(mechanism, state, names, problem, closed, still, slack)
    # a row that depends on those of closed contacts has no acceleration, whichever of them carry the load
    others = [
        k for k in (*held.tolist(), *range(n, len(every))) if k not in closed and _rank(everything, [*closed, k]) == len(closed)
    ]
    return RestingContacts(
        {names[k]: float(slack[k]) for k in closed},
        leaving.union(names[k] for k in still),
        frozenset(every[k] for k in (*closed, *others)),
    )


def flies(one: SingleImpact, size: float) -> bool:
    """Return whether the only contact that touches has approached, and rises behind its impact: it is not at rest, nor comes to rest."""
    before, least = one.before, float(np.sqrt(2.0 * SMALLEST * REST_HEIGHT)) * size
    if not (before < -(STILL * one.rounded_before + least) and one.rate > STILL * one.rounded + least):
        return False
    return not (one.acceleration < 0.0 and one.rate**2 <= -2.0 * one.acceleration * REST_HEIGHT * size)


def approach(mechanism: ContactModes, state: State, touching: list[str]) -> bool:
    """Return whether one of the `touching` contacts is about to overlap at `state`."""
    if not touching:
        return False
    rate, noise = _rates(state, _rows(mechanism, state, touching)[0], mechanism.sizes[_numbers(mechanism, touching)])
    return bool((rate < -noise).any())


def _problem(mechanism: ContactModes, state: State, names: list[str]) -> _Problem:
    """Return the contact problem of the named contacts, with all others open."""
    rows, gamma = _rows(mechanism, state, names)
    beside = AuxiliaryRows.of(FactoredSystem(mechanism.free, state), rows)
    solution = accelerations(mechanism.free, state)
    a0 = rows.of(np.hstack([solution.v_dot, solution.omega_bar_dot])) - gamma
    return _Problem(a0, beside.W, beside.d, *_rates(state, rows, mechanism.sizes[_numbers(mechanism, names)]))


def _numbers(mechanism: ContactModes, names: list[str]) -> list[int]:
    """Return the numbers of the named contacts."""
    return [mechanism.names.index(name) for name in names]


def _rows(mechanism: ContactModes, state: State, names: list[str]) -> tuple[RowSet, Array]:
    """Return the rows of the named contacts, and their gamma (k,)."""
    everything = mechanism.rows(state)
    k = _numbers(mechanism, names)
    C = np.concatenate([everything.Phi_r[k], everything.PiBar[k]], axis=2)
    return RowSet(np.asarray(everything.bodies[k]), C, np.zeros(len(k))), everything.gamma[k]


def _rates(state: State, rows: RowSet, sizes: Array) -> tuple[Array, Array]:
    """Return the gap rates of the rows [m/s or rad/s], (k,), and their rounding, (k,)."""
    u = np.hstack([state.v, state.omega_bar])
    least = np.sqrt(2.0 * SMALLEST * REST_HEIGHT) * sizes
    return rows.of(u), STILL * np.abs(rows.C).sum(axis=(1, 2)) * np.abs(u).max() + least


def _still(p: _Problem, height: Array) -> Flags:
    """Return the contacts that do not move, and those whose bounce stays below `height` (k,) [m or rad] under the forces of the others."""
    still = np.abs(p.rate) <= p.noise
    while True:
        a = p.a0 + p.W @ _normal_forces(p, np.nonzero(still)[0])
        more = ~still & (a < 0.0) & (p.rate**2 <= -2.0 * a * height)
        if not more.any():
            return still
        still |= more


def _normal_forces(p: _Problem, k: Ints) -> Array:
    """Return the normal forces (all,) of the contacts k at rest; zero for the others and for contacts that cannot move."""
    N = np.zeros(len(p.a0))
    k = k[np.diag(p.W)[k] > RANK_TOL * p.d[k]]
    some = restitution(p.W[np.ix_(k, k)], -p.a0[k], p.d[k])
    if some is not None:  # None: a body is crushed by others; its contacts meet again, and `impulse` raises the error
        N[k] = some
    return N


def _held(p: _Problem, still: Ints) -> tuple[Ints, float]:
    """Return those of the contacts at rest that do not open, and a typical force of theirs [N]."""
    N = _normal_forces(p, still)
    a = p.a0 + p.W @ N
    W = np.maximum(np.diag(p.W), RANK_TOL * p.d)
    force = max(float(N.max(initial=0.0)), float((np.abs(p.a0) / W)[still].max(initial=0.0)))
    return still[a[still] <= 0.5 * PULL_TOL * force * W[still] + p.d[still] * SMALLEST], force


def _independent(p: _Problem, held: Ints, slack: Array) -> list[int]:
    """Return as many of the held contacts as have independent rows and, by themselves, no normal force that pulls."""
    k = held[np.diag(p.W)[held] > RANK_TOL * p.d[held]]
    if not len(k):
        return []
    parts = SpectralSolution.of(p.W[np.ix_(k, k)], p.d[k])
    G = parts.V * np.sqrt(parts.w) / parts.scale[:, None]
    N = nonnegative(
        G.T, np.linalg.lstsq(G, -p.a0[k], rcond=None)[0]
    )  # a basic solution: the positive forces belong to independent rows
    chosen = [int(one) for one in k[N > 0.0]]
    for one in k[np.argsort(-N, kind="stable")].tolist():
        more = [*chosen, one]
        if one in chosen or _rank(p, more) < len(more):
            continue
        if (np.linalg.solve(p.W[np.ix_(more, more)], -p.a0[more]) >= -0.5 * slack[more]).all():
            chosen = more
    return sorted(chosen)


def _rank(p: _Problem, k: list[int]) -> int:
    """Return the number of independent rows of the contacts k."""
    return SpectralSolution.of(p.W[np.ix_(k, k)], p.d[k]).rank


def _with_friction(
    mechanism: ContactModes, state: State, names: list[str], p: _Problem, closed: list[int], still: Ints, slack: Array
) -> list[int]:
    """Return which contacts are closed where friction acts, from a first guess: those that pull open, those that would overlap close.

    A contact that has opened does not close again here, so that this ends.
    """
    rows, gamma = _rows(mechanism, state, names)
    opened: set[int] = set()
    while True:
        model = mechanism.model([names[k] for k in closed], state)
        solution = accelerations(model, projected(model, model.pack(), state) if closed else state)
        N = {k: -float(solution.lam[model.joints[names[k]].rows[0]]) for k in closed}
        pulling = min(closed, key=lambda k: N[k] + slack[k], default=None)
        if pulling is not None and N[pulling] < -slack[pulling]:
            closed = [k for k in closed if k != pulling]
            opened.add(pulling)
            continue
        a = rows.of(np.hstack([solution.v_dot, solution.omega_bar_dot])) - gamma
        more = [k for k in still.tolist() if k not in closed and k not in opened and a[k] < -slack[k] * p.W[k, k]]
        more = [k for k in more if _rank(p, [*closed, k]) > len(closed)]
        if not more:
            return closed
        closed = sorted([*closed, min(more, key=lambda k: float(a[k]))])
