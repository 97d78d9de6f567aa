r"""EulerParameters: the augmented system in (r, p), Haug's r-p form, with a normalization row for each body.

    [ M_p     Phi_p^T  P^T ] [ q_ddot ]   [ b_p   ]       q = (r, p) by bodies,   M_p = diag(m 1, 4 G^T J_bar G)
    [ Phi_p   0        0   ] [ lam    ] = [ b_c   ]       Phi_p = (Phi_r, 2 PiBar G)
    [ P       0        0   ] [ lam_p  ]   [ gamma_p ]     P = p^T,  from (p^T p - 1) / 2 = 0,   gamma_p = -p_dot^T p_dot

    b_p = ( F,  2 G^T n_bar + 8 Gdot^T J_bar Gdot p )     n_bar = b_omega + omega_bar x J_bar omega_bar
    u   = S q_ddot,   S = diag(1, 2 G)                    omega_bar_dot = 2 G p_ddot, because Gdot p_dot = 0: the same gamma

The rows p^T are orthogonal to Phi_p because G p = 0.  The multipliers lam therefore equal those of NewtonEuler, and
lam_p = 2 omega_bar^T J_bar omega_bar.  The rows follow from those in (v, omega_bar): Phi_p = Phi_q S.
A displacement has no quadratic terms: b_p = S^T b_u, gamma_p = 0.
Source: Haug 2021, sec. 11.4.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np

from haugmbd.compiled.array_types import Array
from haugmbd.deprecated import public_class
from haugmbd.formulations.base import KKTSolution, KKTSystem, SolveFor
from haugmbd.formulations.dense_matrices import blockwise, solve_symmetric
from haugmbd.formulations.python_formulation import PythonFormulation
from haugmbd.math.euler_parameters import G, cross, normalized, p_dot_from


class EulerForm(NamedTuple):
    """The r-p form.

    S: (nb, 6, 7);  M_p: (7 nb, 7 nb), of rank 6 nb;  Phi_p: (k, 7 nb);  P: (nb, 7 nb);  b_p: (7 nb,);  gamma_p: (nb,)
    """

    S: Array
    M_p: Array
    Phi_p: Array
    P: Array
    b_p: Array
    gamma_p: Array


def euler_form(kkt: KKTSystem) -> EulerForm:
    """Return the system in (r, p)."""
    nb, p = len(kkt.M), normalized(kkt.state.p[1:])
    S, M_p, P = np.zeros((nb, 6, 7)), np.zeros((nb, 7, nb, 7)), np.zeros((nb, nb, 7))
    S[:, :3, :3], S[:, 3:, 3:] = np.eye(3), 2.0 * G(p)
    bodies = np.arange(nb)
    M_p[bodies, :, bodies] = np.swapaxes(S, 1, 2) @ kkt.M @ S
    P[bodies, bodies, 3:] = p
    Phi_p = np.einsum("rka,kab->rkb", kkt.Phi_q.reshape(-1, nb, 6), S).reshape(-1, 7 * nb)
    b_p = blockwise(np.swapaxes(S, 1, 2), kkt.b_u)
    gamma_p = np.zeros(nb)
    if kkt.solve_for is SolveFor.ACCELERATIONS:
        p_dot = p_dot_from(p, kkt.state.omega_bar[1:])
        b_p.reshape(nb, 7)[:, 3:] = turning_forces(kkt, p, p_dot)
        gamma_p = -np.sum(p_dot**2, axis=1)
    return EulerForm(S, M_p.reshape(7 * nb, 7 * nb), Phi_p, P.reshape(nb, 7 * nb), b_p, gamma_p)


def turning_forces(kkt: KKTSystem, p: Array, p_dot: Array) -> Array:
    """Return 2 G^T n_bar + 8 Gdot^T J_bar Gdot p, (nb, 4)."""
    J_bar, w, Gdot = kkt.M[:, 3:, 3:], kkt.state.omega_bar[1:], G(p_dot)
    n_bar = kkt.b_u.reshape(-1, 6)[:, 3:] + cross(w, np.einsum("kab,kb->ka", J_bar, w))
    quadratic = np.einsum("kca,kcd,kde,ke->ka", Gdot, J_bar, Gdot, p)
    return np.asarray(2.0 * np.einsum("kca,kc->ka", G(p), n_bar) + 8.0 * quadratic)


@public_class
@dataclass(frozen=True)
class EulerParameters(PythonFormulation):
    """Haug's r-p form: seven coordinates per body and a multiplier lam_p of |p| = 1.  The work is O(n^3), by dense LU.

    Notes
    -----
    The formulation needs independent rows.  `accelerations(...).lam_p` contains the multipliers of the normalization rows.
    Source: Haug 2021, sec. 11.4.
    """

    reference: ClassVar[str] = "Haug 2021, sec. 11.4 (the r-p form with Euler parameter normalization)"
    any_unit: ClassVar[bool] = True
    ms: ClassVar[float] = 15.0

    def solve(self, kkt: KKTSystem) -> KKTSolution:
        f = euler_form(kkt)
        A = np.vstack([f.Phi_p, f.P])
        n, k = len(f.b_p), len(kkt.b_c)
        K = np.block([[f.M_p, A.T], [A, np.zeros((len(A), len(A)))]])
        x = solve_symmetric(kkt, K, np.concatenate([f.b_p, kkt.b_c, f.gamma_p]), "the matrix of the r-p form")
        return KKTSolution(blockwise(f.S, x[:n]), x[n : n + k], lam_p=x[n + k :])
