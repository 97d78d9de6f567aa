r"""AugmentedLagrangian: penalties, and multipliers that an iteration corrects until the constraints hold.

    ( M + Phi_q^T alpha Phi_q ) du = b_u - M u - Phi_q^T lam + Phi_q^T alpha ( b_c - Phi_q u )          from u = 0, lam = 0
    u <- u + du,        lam <- lam + alpha ( Phi_q u - b_c )                                            until du is small

    b_c <- b_c - 2 mu omega Phi_dot - omega^2 Phi            for accelerations: Bayo's built-in stabilization

The limit is exact for any alpha.  An iteration reduces the error by 1 / (1 + alpha sigma^2), where sigma^2 is the smallest nonzero
eigenvalue of Phi_q M^-1 Phi_q^T.  The matrix is positive definite for any rows, also at singular configurations.  The multipliers stay
in the range of Phi_q, so they have least norm.
Where rows depend on others, Phi_q and b_c are projected to the rank of the compiled model.  Off the constraints the remaining singular
values are small but not zero, and contradictory right-hand sides would otherwise move u by alpha times the contradiction.
Source: Bayo, Garcia de Jalon, Serna, A modified Lagrangian formulation ..., CMAME 71 (1988) 183-195.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from haugmbd.compiled.array_types import Array
from haugmbd.deprecated import public_class
from haugmbd.errors import SimulationError
from haugmbd.formulations.base import KKTSolution, KKTSystem, Multipliers, negative, not_positive
from haugmbd.formulations.dense_matrices import definite, mass_matrix, times_mass
from haugmbd.formulations.penalty import penalty_of, with_feedback
from haugmbd.formulations.python_formulation import PythonFormulation


@public_class
@dataclass(frozen=True)
class AugmentedLagrangian(PythonFormulation):
    """Penalties with iterated multipliers (Bayo).  The work is O(n^3) once and O(n^2) per iteration.

    Parameters
    ----------
    alpha : float
        Penalty, in units of the mean mass of the bodies.
    mu : float
        Damping ratio of the built-in stabilization.
    omega : float
        Frequency of the built-in stabilization [1/s].  Give 0 if the integrator has a stabilization of its own.
    tol : float
        The iteration ends when the change of u is below tol, relative to u or to what u would be without constraints.
    most_iterations : int
        Maximum number of iterations.  Beyond it the solution raises SimulationError.

    Notes
    -----
    The formulation accepts dependent rows and returns multipliers of least norm.  `result.counters` contains the number of iterations.
    Source: Bayo, Garcia de Jalon and Serna 1988, CMAME 71, 183-195.
    """

    alpha: float = 1e6
    mu: float = 1.0
    omega: float = 0.0
    tol: float = 1e-13
    most_iterations: int = 50

    reference: ClassVar[str] = "Bayo, Garcia de Jalon and Serna 1988, CMAME 71, 183-195"
    any_unit: ClassVar[bool] = True
    ms: ClassVar[float] = 2.4
    multipliers: ClassVar[Multipliers] = Multipliers.LEAST
    all_rows: ClassVar[bool] = True

    def wrong(self) -> list[str]:
        count = isinstance(self.most_iterations, int) and self.most_iterations >= 1
        faults = [] if count else [f"most_iterations = {self.most_iterations!r} must be a whole number, 1 or more"]
        return not_positive(alpha=self.alpha, tol=self.tol) + negative(mu=self.mu, omega=self.omega) + faults

    def solve(self, kkt: KKTSystem) -> KKTSolution:
        kkt, b_c = of_known_rank(kkt, with_feedback(kkt, self.mu, self.omega))
        alpha = penalty_of(kkt, self.alpha)
        K = definite(kkt, mass_matrix(kkt) + alpha * kkt.Phi_q.T @ kkt.Phi_q, "M + Phi_q^T alpha Phi_q")
        u, lam = np.zeros_like(kkt.b_u), np.zeros_like(b_c)
        rest = self.tol * free_size(kkt)
        for iteration in range(1, self.most_iterations + 1):
            left = b_c - kkt.Phi_q @ u
            du = K.solve(kkt.b_u - times_mass(kkt, u) - kkt.Phi_q.T @ (lam - alpha * left))
            u, lam = u + du, lam + alpha * (kkt.Phi_q @ du - left)
            if np.abs(du).max(initial=0.0) <= max(self.tol * np.abs(u).max(initial=0.0), rest):
                return KKTSolution(u, lam, iterations=iteration)
        raise SimulationError(
            f"AugmentedLagrangian at t = {kkt.state.t:.6g} s: {self.most_iterations} iterations with alpha = {self.alpha:g} leave a change "
            f"of {np.abs(du).max():.1e} beside {np.abs(u).max():.1e}: raise alpha or most_iterations."
        )


def free_size(kkt: KKTSystem) -> float:
    """Return the largest entry of M^-1 b_u.  It measures rounding where the solution u itself is zero."""
    inertia = np.diagonal(kkt.M, axis1=1, axis2=2).ravel()
    moves = inertia > 0.0
    return float(np.abs(kkt.b_u[moves] / inertia[moves]).max(initial=0.0))


def of_known_rank(kkt: KKTSystem, b_c: Array) -> tuple[KKTSystem, Array]:
    """Return the system and b_c projected to the rank of the compiled model; unchanged if no row depends on others."""
    if kkt.rank == len(b_c):
        return kkt, b_c
    U, s, Vt = np.linalg.svd(kkt.Phi_q, full_matrices=False)
    U = U[:, : kkt.rank]
    return replace(kkt, Phi_q=(U * s[: kkt.rank]) @ Vt[: kkt.rank]), U @ (U.T @ b_c)
