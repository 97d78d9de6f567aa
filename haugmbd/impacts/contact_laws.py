r"""The ruler of contacts: by how much the stored states of a run, of any method, violate the laws of contact and friction.

    overlap        max(0, -gap) / size
    Signorini      f_n >= 0,  gap >= 0,  f_n gap = 0, and where the gap stays closed the same of f_n and the normal acceleration;
                   no force beside the features that touch
    Coulomb        |f_T| <= mu f_n,  f_T = -mu f_n v_T / |v_T| where the point slides, and against its acceleration where it begins to
    Newton-Euler   M u' + Phi_q^T lam - Q - C^T f

Forces relative to the largest force at any stored state, gaps to the size of the model, accelerations to the largest one.  Of a
time-stepping run the laws are those of its steps: impulses, and velocities behind them, at the middle of the step before each stored state.
Nothing of the solver is used: rows, velocities and accelerations are computed again.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from itertools import groupby
from typing import Any

import numpy as np

from haugmbd.compiled.array_types import Array
from haugmbd.contact.cone import natural_map, scales_of
from haugmbd.deprecated import public_class
from haugmbd.impacts.contact_history import ContactRecord, SteppedContacts
from haugmbd.impacts.contact_problem import ContactProblem, Key
from haugmbd.workspace.layout import workspace_array

TOUCHES = 1e-8
"""Relative to the size: a smaller gap is closed."""
MOVES = 1e-8
"""Relative to the size, per second: a faster point slides, separates, or is about to strike."""
SLOW = 1e-5
"""The same: a slower point comes to rest, or begins to slide, in a step that keeps its direction. Its friction has the full size, and the
direction of a velocity beside its own: how far beside, in sizes a second, it is judged by if that is more than ALONG allows."""
LAST = 1e-6
"""The same: of a slower point, which rests a microsecond later, friction has the full size, and takes energy."""
KNOWN = 1e-12
"""The same: of a slower point the direction of the velocity is rounding."""
BESIDE = 1e-3
"""Relative to the size: a point that presses is among those of its shapes that are nearer than this."""
INSTANT = 1e-6
"""[s] Where edges pass each other, points change from corner to corner for a shorter time: whether they are beside is not judged. A point
at rest above a face, whose acceleration takes longer to close its gap, is open as yet."""
ALONG = 0.5
"""Cosine: in such a step friction is nearer than 60 degrees to the direction against the velocity."""
BEGINS = 1e-5
"""Relative to the largest acceleration: of a point that begins to slide, and accelerates less, the direction is not known yet."""


@public_class
@dataclass(frozen=True, eq=False)
class ContactCheck:
    """By how much contacts violate their laws at every stored state.

    Attributes
    ----------
    t : array, shape (nt,)
        Times [s].
    overlap : array, shape (nt,)
        Largest overlap, relative to the size of the model.
    signorini, coulomb, newton_euler : array, shape (nt,)
        Residuals of the laws, relative to the largest force, size and acceleration of the run.
    worst : float
        The largest of them all.
    """

    t: Array
    overlap: Array
    signorini: Array
    coulomb: Array
    newton_euler: Array

    @property
    def worst(self) -> float:
        """The largest residual."""
        return max(float(x.max(initial=0.0)) for x in (self.overlap, self.signorini, self.coulomb, self.newton_euler))

    def by_law(self) -> dict[str, Array]:
        """Return the residuals by the names of the laws, (nt,) each."""
        return {
            "overlap": self.overlap,
            "Signorini": self.signorini,
            "Coulomb": self.coulomb,
            "Newton-Euler": self.newton_euler,
        }

    def __repr__(self) -> str:
        each = ", ".join(f"{name} {float(x.max(initial=0.0)):.1e}" for name, x in self.by_law().items())
        return f"ContactCheck({len(self.t)} states: {each})"


def check_pieces(p: ContactProblem, pieces: Sequence[tuple[Any, Array, Array, ContactRecord]]) -> ContactCheck:
    """Return the check of the pieces (contacts, t, y, record) of a run with rigid contacts."""
    force = max((float(np.abs(record.normal).max(initial=0.0)) for *_, record in pieces), default=0.0)
    weight = float(p.model.mass[1:].max(initial=0.0)) * float(np.linalg.norm(p.model.gravity))
    inertia = max((float(np.abs(p.model.mass[:, None] * r.x[:, : p.n, :3]).max(initial=0.0)) for *_, r in pieces), default=0.0)
    size_f = max(force, weight, inertia, 1e-300)
    rows: list[tuple[float, float, float, float]] = []
    for piece, t, y, record in pieces:
        last = piece is pieces[-1][0]
        for n in range(len(t)):
            state = np.ascontiguousarray(y[n])
            if isinstance(piece, SteppedContacts):
                rows.append(_of_step(p, piece, n, state))
            else:
                ends, short = n == len(t) - 1 and not last, bool(t[-1] - t[0] <= INSTANT)
                rows.append(_of_state(p, float(t[n]), state, record, n, size_f, ends, short))
    found = np.array(rows).reshape(-1, 4)
    times = np.concatenate([np.zeros(0), *(t for _, t, _, _ in pieces)])
    return ContactCheck(times, *(found[:, a].copy() for a in range(4)))


def check_structures(segments: Sequence[Any]) -> ContactCheck:
    """Return the check of the segments of a run whose structure changes, each by the contacts that are on there."""
    found: list[ContactCheck] = []
    for of, some in groupby(segments, lambda one: one._contact_segment and one._contact_segment.problem):
        pieces = list(some)
        if of is not None:
            found.append(check_pieces(of, [(one._contact_segment, one.t, one.y, one._contact_record) for one in pieces]))
            continue
        for one in pieces:
            zero = np.zeros(len(one.t))
            found.append(check_plain(one._mechanism, one) if one._mechanism is not None else ContactCheck(one.t, *4 * (zero,)))
    return ContactCheck(*(np.concatenate([getattr(one, each.name) for one in found]) for each in fields(ContactCheck)))


def _overlap(p: ContactProblem, y: Array) -> float:
    """Return the largest overlap, relative to the size."""
    _, gaps = p.near(y, 0.0)
    return max(0.0, -float(gaps.min(initial=0.0))) / p.length


def _beside_shapes(p: ContactProblem, y: Array, keys: Sequence[Key], N: Sequence[float]) -> float:
    """Return the largest normal force of a point whose features touch no more, such as a corner that has left a face.

    Of planes, which have no edges, features do not end.
    """
    bounded = [k for k, (c, _) in enumerate(keys) if N[k] > 0.0 and not p.has_plane[c]]
    if not bounded:
        return 0.0
    there = set(map(tuple, p.near(y, BESIDE * p.length)[0]))
    return max((float(N[k]) for k in bounded if tuple(keys[k]) not in there), default=0.0)


def _of_state(
    p: ContactProblem, t: float, y: Array, record: ContactRecord, n: int, size_f: float, ends: bool, short: bool
) -> tuple[float, float, float, float]:
    """Return overlap and residuals of a state, by forces and accelerations.

    ends: of the last one of its modes, before a switch;  short: of modes that last for an instant only
    """
    keys = list(dict.fromkeys([*record.keys, *p.near(y, TOUCHES * p.length)[0]]))
    forces = {key: (record.normal[n, k], record.friction[n, k]) for k, key in enumerate(record.keys)}
    u_dot = record.x[n][: p.n]
    size_a = max(float(np.abs(u_dot).max(initial=0.0)), float(np.linalg.norm(p.model.gravity)), 1e-300)
    if not p.model.gravity.any():  # a body that is clamped at rest has no acceleration to compare with
        size_a = max(size_a, size_f / max(float(p.model.mass.max()), 1e-300))
    balance = _balance(p, t, y, record, n, keys, forces) / size_f
    if not keys:
        return _overlap(p, y), 0.0, 0.0, balance
    kin = p.at(y, keys)
    a = p.rows_of(kin, keys, u_dot) - kin.gamma
    signorini = 0.0 if ends or short else _beside_shapes(p, y, list(forces), [N for N, _ in forces.values()]) / size_f
    coulomb = 0.0
    for k, key in enumerate(keys):
        N, T = forces.get(key, (0.0, np.zeros(3)))
        f_T, mu = kin.D[k, 1:] @ T, p.mu[key[0]]
        closed = abs(kin.gap[k]) <= TOUCHES * p.length and abs(kin.v[k, 0]) <= MOVES * p.length
        signorini = max(signorini, -N / size_f, N / size_f * abs(kin.gap[k]) / p.length)
        if closed and not ends:
            closes = 0.5 * abs(float(a[k, 0])) * INSTANT**2 >= kin.gap[k]  # otherwise it is open as yet, and free to close
            signorini = max(signorini, -a[k, 0] / size_a if closes else 0.0, N / size_f * abs(a[k, 0]) / size_a)
        coulomb = max(coulomb, (float(np.hypot(*f_T)) - mu * N) / size_f)
        speed, rate = float(np.hypot(*kin.v[k, 1:])), float(np.hypot(*a[k, 1:]))
        if MOVES * p.length < speed <= SLOW * p.length:
            coulomb = max(coulomb, abs(float(np.hypot(*f_T)) - mu * N) / size_f)
            coulomb = max(coulomb, _beside(f_T, mu * N, kin.v[k, 1:], size_f, p.length))
        elif speed > SLOW * p.length:
            coulomb = max(coulomb, float(np.abs(f_T + mu * N * kin.v[k, 1:] / speed).max()) / size_f)
        elif rate > BEGINS * size_a and closed and not ends:
            off = float(np.abs(f_T + mu * N * a[k, 1:] / rate).max()) / size_f
            if speed > KNOWN * p.length:  # it comes to rest
                off = min(off, float(np.abs(f_T + mu * N * kin.v[k, 1:] / speed).max()) / size_f)
            coulomb = max(coulomb, off)
    return _overlap(p, y), signorini, coulomb, balance


def _beside(f_T: Array, limit: float, v: Array, size_f: float, length: float) -> float:
    """Return by how much friction f_T (2,) of size `limit` of a slow point misses the direction of -v; 0 as long as it is along it.

    As a force, or as the velocity that is missing for its direction, whichever is less.
    """
    speed, size = float(np.hypot(*v)), max(float(np.hypot(*f_T)), 1e-300)
    if -float(f_T @ v) >= (0.0 if speed <= LAST * length else ALONG) * size * speed:
        return 0.0
    d = -f_T / size
    as_force = float(np.abs(f_T + limit * v / speed).max()) / size_f
    return min(as_force, float(np.hypot(*(v - max(float(v @ d), 0.0) * d))) / length)


def _balance(
    p: ContactProblem, t: float, y: Array, record: ContactRecord, n: int, keys: list[Key], forces: dict[Key, tuple[float, Array]]
) -> float:
    """Return the largest entry of M u' + Phi_q^T lam - Q - C^T f [N], moments divided by the size."""
    p.response.rates(t, y, np.zeros_like(y))
    Q = workspace_array(p.response.pack, "Q")[: p.n]
    rows, x = p.response.row_set(), record.x[n]
    lam = p.model.lam_of(x)
    left = np.hstack([p.model.mass[:, None] * x[: p.n, :3], np.einsum("kab,kb->ka", p.model.J_bar, x[: p.n, 3:])]) - Q
    if len(lam):
        left = left + rows.transposed(lam, p.n)
    if keys:
        kin = p.at(y, keys)
        f = np.array(
            [[forces[key][0], *(kin.D[k, 1:] @ forces[key][1])] if key in forces else (0.0,) * 3 for k, key in enumerate(keys)]
        )
        left = left - p.wrench_of(kin, keys, f)
    left[:, 3:] /= p.length
    return float(np.abs(left[1:]).max(initial=0.0))


def _of_step(p: ContactProblem, piece: SteppedContacts, n: int, y: Array) -> tuple[float, float, float, float]:
    """Return overlap and residuals of the step before a state, by impulses and velocities."""
    law, (keys, f) = piece.laws[n], piece.steps[n]
    if law.h == 0.0 or len(keys) == 0:
        return _overlap(p, y), 0.0, 0.0, 0.0
    t = float("nan")
    kin, mu = p.at(law.y, keys), p.friction_of(keys)
    p.response.factor(law.t, law.y)
    answer = p.columns(kin, keys, t)
    v, before = p.rows_of(kin, keys, p.velocities(law.y)), p.rows_of(kin, keys, law.u)
    v[:, 0] += law.e * before[:, 0]
    s = scales_of(answer.G, mu)[:, None]
    size = max(float(np.abs(f / s).max()), 1e-300)
    off = np.abs(natural_map(f / s, s * v, mu)).max(axis=0) / size
    middle = law.y.copy()
    p.velocities(middle)[:] = law.u_m
    y_dot = np.zeros_like(middle)
    p.response.rates(law.t, middle, y_dot)
    u = law.u + law.h * p.velocities(y_dot)
    if p.model.nc:
        nu = p.response.row_values()[1]
        u = u + p.response.solve(None, (nu - p.response.row_rates(u)) * p.response.kept_rows(), law.t)[: p.n]
    u = u + p.response.solve(p.wrench_of(kin, keys, f), None, law.t)[: p.n]
    speed = max(float(np.abs(u).max()), law.h * float(np.abs(p.velocities(y_dot)).max()), 1e-300)
    balance = float(np.abs(u[1:] - p.velocities(law.y)[1:]).max()) / speed
    beside = _beside_shapes(p, law.y, [tuple(key) for key in keys.tolist()], f[:, 0].tolist()) / max(float(f[:, 0].max()), 1e-300)
    return _overlap(p, y), max(float(off[0]), beside), float(off[1:].max()), balance


def check_plain(mechanism: Any, result: Any) -> ContactCheck:
    """Return the check of a run whose contacts without friction were rows of its models."""
    t, names = result.t, list(mechanism.names)
    histories = [result.contact(name) for name in names]
    force = max((float(np.abs(one.force).max(initial=0.0)) for one in histories), default=0.0) or 1.0
    sizes = np.maximum(mechanism.sizes, 1e-300)
    overlap, signorini = np.zeros(len(t)), np.zeros(len(t))
    for one, size in zip(histories, sizes, strict=True):
        overlap = np.maximum(overlap, np.maximum(-one.gap, 0.0) / size)
        signorini = np.maximum(signorini, np.maximum(-one.force, np.abs(one.force * one.gap) / size) / force)
    zero = np.zeros(len(t))
    return ContactCheck(t, overlap, signorini, zero, zero.copy())


def check_compliant(model: Any, result: Any) -> ContactCheck:
    """Return the check of compliant contacts: how far the bodies overlap, and how far friction is from Coulomb's law."""
    t, length = result.t, float(model.length)
    overlap, coulomb = np.zeros(len(t)), np.zeros(len(t))
    forces = [load for load in model.force_elements if load.is_contact]
    values = [result.contact(load.name) for load in forces]
    largest = max((float(np.abs(one.normal_force).max(initial=0.0)) for one in values), default=0.0) or 1.0
    for load, one in zip(forces, values, strict=True):
        depth, N, T, slip = (
            np.asarray(x).reshape(len(t), -1) for x in (one.indentation, one.normal_force, one.friction_force, one.slip)
        )
        overlap = np.maximum(overlap, np.maximum(depth, 0.0).max(axis=1, initial=0.0) / length)
        off = np.where(slip > 1e-12 * length, np.abs(load.mu * N - T), np.maximum(T - load.mu * N, 0.0)) / largest
        coulomb = np.maximum(coulomb, off.max(axis=1, initial=0.0))
    zero = np.zeros(len(t))
    return ContactCheck(t, overlap, zero, coulomb, zero.copy())
