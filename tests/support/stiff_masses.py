"""Random trees and loops whose bodies' masses spread over many orders, and their accelerations by an elimination with 60 digits.

    [ M  Phi_q^T; Phi_q  0 ] x = b        scaled from both sides to entries of at most 1, rows and columns exchanged for the largest pivots

Only the entries are those of the package; neither order, nor scale, nor arithmetic is.
"""

from __future__ import annotations

import mpmath
import numpy as np

import haugmbd as mbd
from haugmbd.crosscheck import dense_system
from joints import CJ, RJ, SJ, TJ, UJ, Distance

DIGITS = 60
"""Digits of the reference: masses spread over 12 orders, moments over 18, pivots over their squares."""

G = (0.3, -9.81, 1.1)


def stiff_system(seed: int, orders: float, *, most: int = 6, loops: bool = True) -> mbd.System:
    """Up to `most` bodies in one tree or several, planar or spatial, with up to two joints or rods that close loops."""
    rng = np.random.default_rng(seed)
    n, planar = int(rng.integers(2, most + 1)), rng.random() < 0.3
    plane = np.array([1.0, 1.0, 0.0 if planar else 1.0])
    system, bodies = mbd.System(f"stiff {seed}", gravity=G), []
    for k in range(n):
        mass, size = 10.0 ** rng.uniform(-orders, 0.0), 10.0 ** rng.uniform(-1.5, 0.0)
        a = mass * size**2 * rng.uniform(0.3, 1.0, 3)
        p = (1.0, 0.0, 0.0, 0.0) if planar else unit(rng.normal(size=4))
        body = mbd.Body(f"body {k}", mass, (a[0] + a[1], a[1] + a[2], a[0] + a[2]), r=plane * rng.uniform(-1.0, 1.0, 3), p=p)
        bodies.append(system.add(body))
    for k, body in enumerate(bodies):
        other = system.ground if k == 0 or rng.random() < 0.15 else bodies[int(rng.integers(max(0, k - 3), k))]
        point = plane * rng.uniform(-1.0, 1.0, 3)
        system.add(
            RJ(f"joint {k}", other, body, point=point, axis=(0, 0, 1)) if planar else _joint(rng, f"joint {k}", other, body, point)
        )
    for k in range(int(rng.integers(0, 3)) if loops else 0):
        i, j = (bodies[m] if m < n else system.ground for m in rng.choice(n + 1, 2, replace=False))
        point, end = plane * rng.uniform(-1.0, 1.0, 3), rng.uniform(-1.0, 1.0, 3)
        if planar:
            system.add(RJ(f"loop {k}", i, j, point=point, axis=(0, 0, 1)))
        elif rng.random() < 0.3:
            system.add(SJ(f"loop {k}", i, j, point=point))
        else:
            system.add(Distance(f"loop {k}", i, j, point_i=point, point_j=end))
    return system


def _joint(rng, name, i, j, point):
    """A joint of a random kind."""
    kind, axis = rng.choice(5), rng.normal(size=3)
    if kind == 0:
        return SJ(name, i, j, point=point)
    if kind == 1:
        return UJ(name, i, j, point=point, axis_i=axis, axis_j=np.cross(axis, rng.normal(size=3)))
    return (RJ, CJ, TJ)[kind - 2](name, i, j, point=point, axis=axis)


def unit(x: np.ndarray) -> np.ndarray:
    return x / np.linalg.norm(x)


def exact_accelerations(model: mbd.Model, state: mbd.State | None = None) -> np.ndarray:
    """Accelerations of the bodies (nb, 6) of the kept rows, by the elimination with many digits."""
    system, n = dense_system(model, state), 6 * model.nb
    gone = n + np.array(sorted({*model.redundancy.dropped, *model.redundancy.flat}), dtype=np.int64)
    kept = np.delete(np.arange(len(system.b)), gone)
    return solve_exactly(system.K[np.ix_(kept, kept)], system.b[kept])[:n].reshape(-1, 6)


def solve_exactly(K: np.ndarray, b: np.ndarray) -> np.ndarray:
    """K^-1 b, by sparse Gaussian elimination with partial pivoting."""
    with mpmath.workdps(DIGITS):
        n = len(b)
        rows = [{int(j): mpmath.mpf(float(K[i, j])) for j in np.nonzero(K[i])[0]} for i in range(n)]
        s = [1 / mpmath.sqrt(max(abs(v) for v in row.values())) for row in rows]
        rows = [{j: v * s[i] * s[j] for j, v in row.items()} for i, row in enumerate(rows)]
        right = [mpmath.mpf(float(v)) * s[i] for i, v in enumerate(b)]
        left, order = set(range(n)), []
        for c in range(n):
            at = [i for i in left if c in rows[i]]
            largest = max(abs(rows[i][c]) for i in at)
            pivot = min((i for i in at if 10 * abs(rows[i][c]) >= largest), key=lambda i: (len(rows[i]), i))
            left.discard(pivot)
            order.append(pivot)
            for i in at:
                if i != pivot:
                    part = rows[i].pop(c) / rows[pivot][c]
                    for j, v in rows[pivot].items():
                        if j != c:
                            rows[i][j] = rows[i].get(j, 0) - part * v
                    right[i] -= part * right[pivot]
        x = [mpmath.mpf(0)] * n
        for c in range(n - 1, -1, -1):
            row = rows[order[c]]
            x[c] = (right[order[c]] - sum(v * x[j] for j, v in row.items() if j > c)) / row[c]
        return np.array([float(v * s[i]) for i, v in enumerate(x)])


def error_on_own_scale(found: mbd.Accelerations, exact: np.ndarray) -> float:
    """The largest error of a body, relative to its own acceleration, or to gravity where joints hold it."""
    u_dot = np.hstack([found.v_dot, found.omega_bar_dot])[1:]
    size = np.maximum(np.abs(exact).max(axis=1), np.linalg.norm(G))
    return float((np.abs(u_dot - exact).max(axis=1) / size).max())
