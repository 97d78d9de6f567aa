r"""NullSpace: the motions that the rows allow, as columns of Z, and the equations of motion projected on them.

    Phi_q Z = 0,  Phi_q u_0 = b_c                u = u_0 + Z z
    Z^T M Z z = Z^T (b_u - M u_0)                the multipliers do no work: Z^T Phi_q^T lam = 0
    Phi_q^T lam = b_u - M u                      afterwards, with least norm where rows depend on others

    SVD   Phi_q = U diag(s) V^T:  Z = the other columns of V,   u_0 = V diag(1/s) U^T b_c
    QR    Phi_q^T Pi = Q R:       Z = the last columns of Q,    u_0 = Q_1 (R_1^T)^-1 (Pi^T b_c)

The rank is that of the compiled model: no threshold decides it at every state.
Source: Singh, Likins (1985) (SVD); Kim, Vanderploeg (1986) (QR); Garcia de Jalon, Bayo (1994) ch. 5.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np

from haugmbd.algebra.vec3 import Array
from haugmbd.formulations.base import Answer, Multipliers, Saddle
from haugmbd.formulations.dense import SINGULAR_TOL, pivoted_qr, singular, solve_definite, split, times_mass
from haugmbd.formulations.taught import Taught


class Basis(NamedTuple):
    """Z: (6 nb, dof);  u_0: (6 nb,);  Y: (6 nb, k) with lam = Y^T (b_u - M u)."""

    Z: Array
    u_0: Array
    Y: Array


@dataclass(frozen=True)
class SVD:
    """By singular values: orthonormal, and the most expensive."""

    def basis(self, q: Saddle) -> Basis:
        """Z, u_0 and Y."""
        s = split(q, q.Phi_q, q.rank)
        Y = (s.V / s.s) @ s.U.T
        return Basis(s.Z, Y @ q.b_c, Y)


@dataclass(frozen=True)
class QR:
    """By Householder reflections with column pivoting: orthonormal, several times cheaper."""

    def basis(self, q: Saddle) -> Basis:
        """Z, u_0 and Y."""
        Q, R, order = pivoted_qr(q.Phi_q.T)
        r = q.rank
        if r > min(R.shape) or (r and not abs(R[r - 1, r - 1]) > SINGULAR_TOL * abs(R[0, 0])):
            raise singular(q, f"pivot {r} of the rows is below {SINGULAR_TOL:.0e} of the largest")
        Y = np.zeros((len(Q), len(order)))
        Y[:, order] = Q[:, :r] @ np.linalg.pinv(R[:r]).T
        return Basis(Q[:, r:], Y @ q.b_c, Y)


@dataclass(frozen=True)
class NullSpace(Taught):
    """Equations of motion on a basis of the null space of Phi_q, `SVD()` or `QR()`: O(n^3); takes rows that depend on others."""

    by: SVD | QR = QR()  # noqa: RUF009  frozen

    reference: ClassVar[str] = "Singh and Likins 1985 (SVD); Kim and Vanderploeg 1986 (QR); Garcia de Jalon and Bayo 1994, ch. 5"
    multipliers: ClassVar[Multipliers] = Multipliers.LEAST
    all_rows: ClassVar[bool] = True

    def wrong(self) -> list[str]:
        return [] if isinstance(self.by, SVD | QR) else [f"by = {self.by!r} must be SVD() or QR()"]

    def solve(self, question: Saddle) -> Answer:
        q = question
        Z, u_0, Y = self.by.basis(q)
        z = solve_definite(q, Z.T @ times_mass(q, Z), Z.T @ (q.b_u - times_mass(q, u_0)), "Z^T M Z")
        u = u_0 + Z @ z
        return Answer(u, Y.T @ (q.b_u - times_mass(q, u)))
