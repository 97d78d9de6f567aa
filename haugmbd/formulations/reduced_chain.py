r"""ReducedChain: joint coordinates instead of multipliers, by the articulated-body algorithm, where the system is a serial chain.

    u = u_0 + J q_ddot                      J: Jacobian of the chain, Phi_q J = 0
    J^T M J q_ddot = J^T (b_u - M u_0)      aba of the chain at rest, without gravity, under the wrenches b_u - M u_0

    u_0 = (v_dot, omega_bar_dot) at q_ddot = 0 for accelerations, which fulfils Phi_q u_0 = gamma;  0 for displacements
    J_k u_0k <- J_k u_0k + (b_c - Phi_q u_0)_k,        link by link from the base: the residual of a state off the constraints
    J_k^T lam_k = (b_u - M u)_k - J'_(k+1)^T lam_(k+1)      link by link from the tip: joint wrenches on the rows of the joint

J_k, J'_k: the rows of joint k on its link and on the link before.  The joint coordinates q and q_dot follow from the body states.
The work is O(n).
Source: Featherstone 2008, ch. 7.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from haugmbd.compiled.array_types import Array, Ints
from haugmbd.deprecated import public_class
from haugmbd.errors import SimulationError
from haugmbd.formulations.base import KKTSolution, KKTSystem, SolveFor, Solver
from haugmbd.formulations.dense_matrices import times_mass
from haugmbd.formulations.error_messages import TOO_LARGE
from haugmbd.formulations.python_formulation import PythonFormulation
from haugmbd.model.model import Model
from haugmbd.serial_chain.chain import SerialChain
from haugmbd.serial_chain.coordinates import nearest_coordinates
from haugmbd.serial_chain.recursions.aba import aba
from haugmbd.serial_chain.recursions.link_motion import LinkMotion, link_motion


@public_class
@dataclass(frozen=True)
class ReducedChain(PythonFormulation):
    """The articulated-body algorithm for systems that are serial chains.  The work is O(n).

    Notes
    -----
    The chain is `SerialChain.from_system(model)`; a run raises ModelError if the system is not a serial chain.
    Sources: Featherstone 2008, ch. 7; Mirtich 1996, ch. 4.
    """

    reference: ClassVar[str] = "Featherstone 2008, ch. 7 (articulated-body algorithm); Mirtich 1996, ch. 4"
    ms: ClassVar[float] = 7.2
    chains_only: ClassVar[bool] = True
    exponent: ClassVar[int] = 1
    most_bodies: ClassVar[float] = 200

    def begin(self, model: Model) -> Solver:
        return Links(self, model)

    def solve(self, kkt: KKTSystem) -> KKTSolution:
        return Links(self, kkt.model).solve(kkt)


class Links(Solver):
    """The chain of one run.

    bodies: (n,) rows of the links in arrays without the ground;  joints: the rows of each link's joint
    """

    def __init__(self, formulation: ReducedChain, model: Model) -> None:
        super().__init__(formulation)
        chain = SerialChain.from_system(model, without_loads=True)
        self.chain = SerialChain(chain.links, base=chain.base, name=chain.name, order=chain.order)  # without gravity
        self.bodies = np.array(chain.order, dtype=np.int64) - 1
        self.pairs = np.sort(model.bodies_of_rows(), axis=1)

    def solve(self, kkt: KKTSystem) -> KKTSolution:
        chain = self.chain
        at, rates = nearest_coordinates(chain, kkt.state)
        still = np.zeros(chain.nv)
        moving = kkt.solve_for is SolveFor.ACCELERATIONS
        start = link_motion(chain, at, rates if moving else still, still)
        u = self._by_bodies(start) if moving else np.zeros(len(kkt.b_u))
        joints = self._joints(kkt)
        self._close(kkt, u, joints)
        wrench = (kkt.b_u - times_mass(kkt, u)).reshape(-1, 6)[self.bodies]
        wrench[:, 3:] = np.einsum("nab,nb->na", start.A, wrench[:, 3:])
        if not np.isfinite(wrench).all():
            raise SimulationError(f"the motion grows without bound at t = {kkt.state.t:.6g} s: forces overflow. {TOO_LARGE}")
        u += self._by_bodies(link_motion(chain, at, still, aba(chain, at, still, wrenches=wrench)))
        return KKTSolution(u, self._multipliers(kkt, u, joints))

    def _by_bodies(self, motion: LinkMotion) -> Array:
        """Return (v_dot, omega_bar_dot) by bodies, (6 nb,)."""
        u = np.zeros((self.chain.n, 6))
        u[self.bodies, :3], u[self.bodies, 3:] = motion.v_dot, np.einsum("nab,na->nb", motion.A, motion.omega_dot)
        return u.ravel()

    def _joints(self, kkt: KKTSystem) -> list[Ints]:
        """Return, for each link, the places in Phi_q of the rows between it and the link before."""
        pairs, joints, before = self.pairs[kkt.rows], [], 0
        for body in (self.bodies + 1).tolist():
            joints.append(np.nonzero((pairs == sorted((before, body))).all(axis=1))[0])
            before = body
        return joints

    def _close(self, kkt: KKTSystem, u: Array, joints: list[Ints]) -> None:
        """Change u, from the base to the tip, until Phi_q u = b_c."""
        before: Array = np.zeros((len(kkt.b_c), 0))
        u_before = np.zeros(0)
        for body, rows in zip(self.bodies, joints, strict=True):
            columns = slice(6 * body, 6 * body + 6)
            J = kkt.Phi_q[rows, columns]
            left = kkt.b_c[rows] - J @ u[columns] - before[rows] @ u_before
            if len(rows):
                u[columns] += np.linalg.lstsq(J, left, rcond=None)[0]
            before, u_before = kkt.Phi_q[:, columns], u[columns]

    def _multipliers(self, kkt: KKTSystem, u: Array, joints: list[Ints]) -> Array:
        """Return lam, computed from the tip to the base."""
        left, lam = kkt.b_u - times_mass(kkt, u), np.zeros(len(kkt.b_c))
        above: Ints = np.zeros(0, dtype=np.int64)
        for body, rows in zip(self.bodies[::-1], joints[::-1], strict=True):
            columns = slice(6 * body, 6 * body + 6)
            wrench = left[columns] - kkt.Phi_q[above, columns].T @ lam[above]
            if len(rows):
                lam[rows] = np.linalg.lstsq(kkt.Phi_q[rows, columns].T, wrench, rcond=None)[0]
            above = rows
        return lam
