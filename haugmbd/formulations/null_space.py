r"""NullSpace: a basis Z of the null space of Phi_q, and the equations of motion projected on it.

    Phi_q Z = 0,  Phi_q u_0 = b_c                u = u_0 + Z z
    Z^T M Z z = Z^T (b_u - M u_0)                the multipliers do no work: Z^T Phi_q^T lam = 0
    Phi_q^T lam = b_u - M u                      afterwards, with least norm where rows depend on others

    Phi_q = U T V^T                              U, V orthonormal columns, as many as the rank;  Z = orthogonal complement of V
    u_0 = V T^-1 U^T b_c                         lam = U T^-T V^T (b_u - M u)

    SVD   T = diag(s)
    QR    Phi_q^T Pi = (V Z) (R; 0)  with column pivoting,  then  R^T = (Pi^T U) T,  T triangular

The rank is that of the compiled model.  It is not determined by a threshold at every state.
Source: Singh, Likins (1985) (SVD); Kim, Vanderploeg (1986) (QR); Garcia de Jalon, Bayo (1994) ch. 5.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np

from haugmbd.compiled.array_types import Array
from haugmbd.deprecated import public_class
from haugmbd.formulations.base import KKTSolution, KKTSystem, Multipliers
from haugmbd.formulations.dense_matrices import (
    SINGULAR_TOL,
    pivoted_qr,
    reduced_qr,
    singular,
    solve_definite,
    split,
    times_mass,
    triangular,
)
from haugmbd.formulations.python_formulation import PythonFormulation


class Basis(NamedTuple):
    """The factors Phi_q = U T V^T, T (rank, rank) upper triangular, and Z (6 nb, dof)."""

    U: Array
    T: Array
    V: Array
    Z: Array

    def least_motion(self, b_c: Array) -> Array:
        """Return u_0 = V T^-1 U^T b_c, (6 nb,)."""
        return self.V @ triangular(self.T, self.U.T @ b_c)

    def least_multipliers(self, w: Array) -> Array:
        """Return lam = U T^-T V^T w, (k,)."""
        return self.U @ triangular(self.T, self.V.T @ w, transposed=True)


@public_class
@dataclass(frozen=True)
class SVD:
    """A null-space basis by the singular value decomposition, for `NullSpace(by=SVD())`.

    Notes
    -----
    Source: Singh and Likins 1985.
    """

    def basis(self, kkt: KKTSystem) -> Basis:
        """Return the factors of Phi_q."""
        s = split(kkt, kkt.Phi_q, kkt.rank)
        return Basis(s.U, np.diag(s.s), s.V, s.Z)


@public_class
@dataclass(frozen=True)
class QR:
    """A null-space basis by Householder QR with column pivoting, for `NullSpace(by=QR())`.

    Notes
    -----
    Source: Kim and Vanderploeg 1986.
    """

    def basis(self, kkt: KKTSystem) -> Basis:
        """Return the factors of Phi_q."""
        Q, R, order = pivoted_qr(kkt.Phi_q.T)
        r = kkt.rank
        if r > min(R.shape) or (r and not abs(R[r - 1, r - 1]) > SINGULAR_TOL * abs(R[0, 0])):
            raise singular(kkt, f"pivot {r} of the rows is below {SINGULAR_TOL:.0e} of the largest")
        U_turned, T = reduced_qr(R[:r].T)
        U = np.zeros_like(U_turned)
        U[order] = U_turned
        return Basis(U, T, Q[:, :r], Q[:, r:])


@public_class
@dataclass(frozen=True)
class NullSpace(PythonFormulation):
    """Equations of motion projected on a basis of the null space of Phi_q.  The work is O(n^3).

    Parameters
    ----------
    by : QR or SVD
        The factorization that gives the basis; by default `QR()`.

    Notes
    -----
    The formulation accepts dependent rows and returns multipliers of least norm.
    Sources: Singh and Likins 1985 (SVD); Kim and Vanderploeg 1986 (QR); Garcia de Jalon and Bayo 1994, ch. 5.
    """

    by: SVD | QR = QR()  # noqa: RUF009  frozen

    reference: ClassVar[str] = "Singh and Likins 1985 (SVD); Kim and Vanderploeg 1986 (QR); Garcia de Jalon and Bayo 1994, ch. 5"
    any_unit: ClassVar[bool] = True
    refines: ClassVar[bool] = True
    ms: ClassVar[float] = 6.0
    multipliers: ClassVar[Multipliers] = Multipliers.LEAST
    all_rows: ClassVar[bool] = True

    def wrong(self) -> list[str]:
        return [] if isinstance(self.by, SVD | QR) else [f"by = {self.by!r} must be SVD() or QR()"]

    def solve(self, kkt: KKTSystem) -> KKTSolution:
        basis = self.by.basis(kkt)
        Z, u_0 = basis.Z, basis.least_motion(kkt.b_c)
        z = solve_definite(kkt, Z.T @ times_mass(kkt, Z), Z.T @ (kkt.b_u - times_mass(kkt, u_0)), "Z^T M Z")
        u = u_0 + Z @ z
        return KKTSolution(u, basis.least_multipliers(kkt.b_u - times_mass(kkt, u)))
