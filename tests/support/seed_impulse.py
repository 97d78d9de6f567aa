r"""Seed 000 (15)-(28) as printed, with inverses of matrices: numbers (NumPy) and symbols (SymPy) alike, joints of any freedoms.

Written once more, apart from the library, for a chain whose LAST link is struck.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

import haugmbd as mbd
from haugmbd.math.spatial import spatial_inertia
from haugmbd.serial_chain.chain_arrays import SLIDE


class Seed(NamedTuple):
    """Of every link: A_i^-1, Phi_i, l_i, dq_dot_i, dv_i; and J.  Columns are matrices."""

    A_inv: list[Any]
    J: Any
    Phi: list[Any]
    l: list[Any]
    dqd: list[Any]
    dv: list[Any]


def seed_impulse(I: Sequence[Any], S: Sequence[Any], v_imp: Any, n: Any, e: Any, one: Any, inverse: Callable[[Any], Any]) -> Seed:
    """I, S: inertias and motion subspaces at the world origin;  n: a column;  one: the unit matrix."""
    N = len(I)
    gives = [inverse(s.T @ i @ s) for s, i in zip(S, I, strict=True)]
    A_inv = [S[0] @ gives[0] @ S[0].T]  # (18)
    for i in range(1, N):
        Psi = (one - S[i] @ gives[i] @ S[i].T @ I[i]) @ A_inv[i - 1]  # (15)
        A_inv.append(inverse(one + Psi @ I[i]) @ (S[i] @ gives[i] @ S[i].T + Psi))  # (16)
    J = (1 + e) * v_imp / (n.T @ A_inv[-1] @ n)[0, 0]  # (22)
    Phi = [one - I[-1] @ A_inv[-1]]  # (26)
    for i in range(N - 2, -1, -1):
        Phi.insert(0, (one - I[i] @ A_inv[i]) @ Phi[0])  # (25)
    l = [P @ n * J for P in Phi]  # (24)
    dqd, dv, before = [], [], 0 * n  # (29)
    for i in range(N):
        outer = l[i + 1] if i + 1 < N else n * J
        dqd.append(-gives[i] @ S[i].T @ (outer + I[i] @ before))  # (27)
        before = before + S[i] @ dqd[i]  # (28)
        dv.append(before)
    return Seed(A_inv, J, Phi, l, dqd, dv)


class Origin(NamedTuple):
    """A chain at q, qd, at the world origin: I (n, 6, 6), S_i (6, nv_i), twists v (n, 6)."""

    I: Any
    S: list[Any]
    v: Any


def origin(chain: mbd.SerialChain, q: Any, qd: Any) -> Origin:
    """(6)-(9), one link at a time."""
    k = mbd.link_motion(chain, q, qd)
    inertias = [spatial_inertia(link.mass, A @ link.J_bar @ A.T, r) for link, A, r in zip(chain.links, k.A, k.r, strict=True)]
    S: list[Any] = [[] for _ in chain.links]
    for (kind, i), z in zip(chain.tables["FREEDOMS"], k.axes, strict=True):
        S[i].append([*z, 0, 0, 0] if kind == SLIDE else [*np.cross(k.P[i], z), *z])
    return Origin(np.array(inertias), [np.array(s).reshape(-1, 6).T for s in S], k.twist)


def dragging(place: Origin, k: int) -> Any:
    """The inertia of link k with what hangs on it: a Schur complement of the kinetic energy of the links k ... n."""
    columns = np.hstack(place.S[k + 1 :]) if len(place.S) > k + 1 else np.zeros((6, 0))
    owners = [i for i, S in enumerate(place.S) if i > k for _ in range(S.shape[1])]
    T = np.zeros((6 + len(owners), 6 + len(owners)))
    for i in range(k, len(place.S)):
        reach = np.hstack([np.eye(6), columns * (np.array(owners, dtype=int) <= i)])
        T += reach.T @ place.I[i] @ reach
    return T[:6, :6] - T[:6, 6:] @ np.linalg.solve(T[6:, 6:], T[6:, :6])
