r"""Newton restitution at several contacts at once, without friction: a convex problem in the normal impulses f.

    c+ = c + W f >= b       f >= 0       f . (c+ - b) = 0               W = C K^-1 C^T,  b = max(0, -e c-)
    W = G G^T,  x = G^T f:  least |x|  with  G x >= b - c               a least-distance problem, solved by `nnls`

c+ is unique.  f is unique where W has full rank; otherwise (a table on four legs) the f of least norm is taken.
Source: Moreau (1988) for the inequality form of Newton's law; Lawson and Hanson, Solving Least Squares Problems, ch. 23, for LDP.
"""

from __future__ import annotations

import numpy as np

from haugmbd.compiled.array_types import Array, Ints
from haugmbd.impacts.spectral_solve import SpectralSolution, nonnegative

HOLDS = 1e-9
"""Relative to the largest approach velocity: a contact that is nearer than this to its bound is active.  The impulses of active contacts
are then solved again, because nnls is less accurate."""
NEGATIVE = 1e-12
"""Relative to the largest impulse: the rounding of an impulse that should be zero."""
IMPOSSIBLE = 1e-13
"""Residual of nnls, between 0 and 1, below which no velocity meets all bounds; otherwise it is 1 / (1 + |x|^2), with x of order 1."""


def restitution(W: Array, h: Array, d: Array) -> Array | None:
    """Return normal impulses f (k,) with W f >= h, f >= 0, f . (W f - h) = 0; None if no velocity meets all bounds.

    h: b - c (k,) [m/s];  d: scale of the rows of W (k,), see `spectral_solve`
    """
    if not (h > 0.0).any():
        return np.zeros(len(h))
    if len(h) == 1:
        return np.array([h[0] / W[0, 0]])
    scale = 1.0 / np.sqrt(np.diag(W))
    size = float(np.max(scale * h))
    guess = _least_distance(scale[:, None] * W * scale, scale * h / size, d * scale**2)
    if guess is None:
        return None
    guess = guess * size * scale
    acting = np.nonzero(np.abs(scale * (W @ guess - h)) <= HOLDS * size)[0]
    f = _on(acting, W, h, d)
    if (f < -NEGATIVE * f.max()).any():
        f = _on(np.nonzero(guess > 0.0)[0], W, h, d)
    return np.maximum(f, 0.0)


def _least_distance(W: Array, h: Array, d: Array) -> Array | None:
    """Return f of the problem with W = G G^T; None if G x >= h cannot be met."""
    parts = SpectralSolution.of(W, d)
    G = parts.V * np.sqrt(parts.w) / parts.scale[:, None]
    A, b = np.vstack([G.T, h]), np.zeros(parts.rank + 1)
    b[-1] = 1.0
    y = nonnegative(A, b)
    gap = 1.0 - float(h @ y)
    if gap <= IMPOSSIBLE:
        return None
    f: Array = y / gap
    return f


def _on(k: Ints, W: Array, h: Array, d: Array) -> Array:
    """Return the f of least norm with W f = h on the contacts k, and 0 on the others."""
    f = np.zeros(len(h))
    f[k] = SpectralSolution.of(W[np.ix_(k, k)], d[k]).solve(h[k])
    return f
