r"""Many linear functions over one small set of circular cones: the least values of c . x over { x in R^d : h_k - G_k x in Q,  k = 1 .. m }.

    Q = { (a, b) in R x R^2 : |b| <= a }

    primal  min c . x,  s = h - G x in Q^m            dual  max - h . z,  G^T z + c = 0,  z in Q^m            s . z = 0

A primal-dual interior-point method (Nesterov and Todd's scaling W z = W^-1 s = lambda, Mehrotra's predictor and corrector) for all costs at
once: each step solves G^T W^-2 G dx = ... in d unknowns for each cost. Eight to fifteen steps are usual. The set has an inner point, and is
bounded.
Sources: Nesterov and Todd (1997); Andersen, Dahl, Vandenberghe, in Optimization for Machine Learning (2012), ch. 3.
"""

from __future__ import annotations

import numpy as np

from haugmbd.compiled.array_types import Array

GAP = 1e-11
"""Relative: gap s . z of the values, and residuals, at which the method ends."""
ACCEPTED = 1e-8
"""Relative: gap and residuals beyond which a value is not returned."""
STEPS, PATIENCE = 60, 3
"""At most; and steps without half of the gap, at which rounding ends the method."""
NEAR = 0.99
"""Part of the way to the boundary that a step takes."""
J = np.array([1.0, -1.0, -1.0])
UNIT = np.array([1.0, 0.0, 0.0])


def least_values(costs: Array, G: Array, h: Array) -> Array:
    """Return the least value of each cost . x, (q,); nan where it is not found.

    costs: (q, d);  G: (m, 3, d);  h: (m, 3)
    """
    size = np.maximum(np.abs(costs).max(axis=1), 1e-300)
    with np.errstate(all="ignore"):  # a program without a least value grows without end, and is left by its residual
        value, off = _least(costs / size[:, None], G, h)
    return np.asarray(np.where(off <= ACCEPTED, value, np.nan) * size)


def _least(costs: Array, G: Array, h: Array) -> tuple[Array, Array]:
    """Return the best values, and their gaps and residuals, (q,) each."""
    q, m = len(costs), len(h)
    value, best, since = np.full(q, np.nan), np.full(q, np.inf), np.zeros(q, dtype=np.int64)
    going, c = np.arange(q), costs
    x, s, z = np.zeros(c.shape), np.tile(UNIT, (q, m, 1)), np.tile(UNIT, (q, m, 1))
    for _ in range(STEPS):
        r_x, r_z, gap = np.einsum("kad,qka->qd", G, z) + c, np.einsum("kad,qd->qka", G, x) + s - h, np.einsum("qka,qka->q", s, z)
        primal, dual = np.einsum("qd,qd->q", c, x), -np.einsum("ka,qka->q", h, z)
        off = np.maximum(np.abs(primal - dual), gap) / (1.0 + np.abs(primal))
        off = np.maximum(off, np.maximum(np.abs(r_x).max(axis=1), np.abs(r_z).max(axis=(1, 2))))
        since[going] = np.where(off < 0.5 * best[going], 0, since[going] + 1)
        better = off < best[going]
        value[going[better]], best[going[better]] = primal[better], off[better]
        on = (off > GAP) & (since[going] < PATIENCE) & np.isfinite(off)
        if not on.any():
            break
        going, c, x, s, z, r_x, r_z, gap = going[on], c[on], x[on], s[on], z[on], r_x[on], r_z[on], gap[on]
        dx, ds, dz = _direction(G, s, z, r_x, r_z, gap / m)
        x, s, z = x + dx, s + ds, z + dz
    return value, best


def _direction(G: Array, s: Array, z: Array, r_x: Array, r_z: Array, mean: Array) -> tuple[Array, Array, Array]:
    """Return the steps of x, s and z: predictor, centring and corrector, and the part of the way to the boundary."""
    W, W_inverse, lam = _scaling(s, z)
    GW = np.einsum("qkab,kbd->qkad", W_inverse, G)
    H = np.einsum("qkad,qkae->qde", GW, GW)
    H += 1e-15 * np.einsum("qdd->q", H)[:, None, None] * np.eye(H.shape[1])
    left = np.einsum("qkab,qkb->qka", W_inverse, r_z)

    def solved(d: Array) -> tuple[Array, Array, Array]:
        """Return dx, and W^-1 ds, W dz, for lambda o (W^-1 ds + W dz) = d."""
        u = _divided(lam, d)
        dx = np.linalg.solve(H, (-r_x - np.einsum("qkad,qka->qd", GW, left + u))[:, :, None])[:, :, 0]
        dz = np.einsum("qkad,qd->qka", GW, dx) + left + u
        return dx, u - dz, dz

    squared = _product(lam, lam)
    _, ds, dz = solved(-squared)
    a = np.minimum(1.0, np.minimum(_longest(lam, ds), _longest(lam, dz)).min(axis=1))[:, None, None]
    after = np.einsum("qka,qka->q", lam + a * ds, lam + a * dz) / lam.shape[1]
    centre = np.clip(after / np.maximum(mean, 1e-300), 0.0, 1.0) ** 3 * mean
    dx, ds, dz = solved(centre[:, None, None] * UNIT - squared - _product(ds, dz))
    a = np.minimum(1.0, NEAR * np.minimum(_longest(lam, ds), _longest(lam, dz)).min(axis=1))[:, None, None]
    return a[:, 0] * dx, a * np.einsum("qkab,qkb->qka", W, ds), a * np.einsum("qkab,qkb->qka", W_inverse, dz)


def _scaling(s: Array, z: Array) -> tuple[Array, Array, Array]:
    """Return W and W^-1 (q, m, 3, 3), and lambda = W z (q, m, 3)."""
    det_s, det_z = _det(s), _det(z)
    s_1, z_1 = s / np.sqrt(det_s)[..., None], z / np.sqrt(det_z)[..., None]
    gamma = np.sqrt(0.5 * (1.0 + np.einsum("...a,...a->...", s_1, z_1)))
    w = (s_1 + J * z_1) / (2.0 * gamma)[..., None]
    eta = (det_s / det_z) ** 0.25
    W = np.empty((*w.shape, 3))
    W[..., 0, :], W[..., :, 0] = w, w
    inner = w[..., 1:, None] * w[..., None, 1:] / (1.0 + w[..., 0])[..., None, None]
    W[..., 1:, 1:] = np.eye(2) + inner
    W_inverse = W * (J[:, None] * J) / eta[..., None, None]
    W *= eta[..., None, None]
    return W, W_inverse, np.einsum("...ab,...b->...a", W, z)


def _det(x: Array) -> Array:
    """Return x_0^2 - |x_1|^2 > 0 without cancellation."""
    b = np.hypot(x[..., 1], x[..., 2])
    return np.asarray(np.maximum((x[..., 0] - b) * (x[..., 0] + b), 1e-300))


def _product(x: Array, y: Array) -> Array:
    """Return the Jordan product (x . y, x_0 y_1 + y_0 x_1)."""
    out = x[..., :1] * y + y[..., :1] * x
    out[..., 0] = np.einsum("...a,...a->...", x, y)
    return out


def _divided(x: Array, d: Array) -> Array:
    """Return u with x o u = d."""
    inner = np.einsum("...a,...a->...", x[..., 1:], d[..., 1:])
    u_0 = (x[..., 0] * d[..., 0] - inner) / _det(x)
    out = (d - u_0[..., None] * x) / x[..., :1]
    out[..., 0] = u_0
    return np.asarray(out)


def _longest(x: Array, d: Array) -> Array:
    """Return the largest a <= 1e3 with x + a d in Q, for x inside of it, (q, m)."""
    A, B, C = d[..., 0] ** 2 - d[..., 1] ** 2 - d[..., 2] ** 2, np.einsum("...a,...a->...", J * x, d), _det(x)
    root = np.sqrt(np.maximum(B * B - A * C, 0.0))
    # the smallest positive zero of A a^2 + 2 B a + C
    first = np.where(B <= 0.0, C / np.maximum(root - B, 1e-300), np.where(A < 0.0, (root + B) / np.maximum(-A, 1e-300), np.inf))
    first = np.where((B * B < A * C) & (A > 0.0), np.inf, first)
    apex = np.where(d[..., 0] < 0.0, -x[..., 0] / np.minimum(d[..., 0], -1e-300), np.inf)
    return np.asarray(np.minimum(np.minimum(first, apex), 1e3))
