r"""UdwadiaPhohomsiri: the fundamental equation for a singular mass matrix, on the r-p form, whose mass matrix is singular.

    q_ddot = [ (1 - A^+ A) M_p ]^+ [ (1 - A^+ A) b_p   ]        A = (Phi_p; P),   P = p^T the normalization rows
             [ A               ]   [ (b_c, gamma_p)    ]

    A^T (lam, lam_p) = b_p - M_p q_ddot          afterwards, of least norm

M_p = diag(m 1, 4 G^T J_bar G) has the null vector p of each body.  The motion is unique where [M_p; A] has full column rank.
Dependent rows, and bodies without inertia about an axis that the joints hold, are therefore accepted.
Source: Udwadia, Phohomsiri, Explicit equations of motion for constrained mechanical systems with singular mass matrices,
Proc. R. Soc. A 462 (2006) 2097-2117.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from haugmbd.deprecated import public_class
from haugmbd.formulations.base import KKTSolution, KKTSystem, Multipliers
from haugmbd.formulations.dense_matrices import SINGULAR_TOL, blockwise, singular, split
from haugmbd.formulations.euler_parameters import euler_form
from haugmbd.formulations.python_formulation import PythonFormulation


@public_class
@dataclass(frozen=True)
class UdwadiaPhohomsiri(PythonFormulation):
    """The fundamental equation for a singular mass matrix, in (r, p) with lam_p.  The work is O(n^3), two decompositions.

    Notes
    -----
    The formulation accepts dependent rows, and bodies without inertia about axes that the joints hold.
    Source: Udwadia and Phohomsiri 2006, Proc. R. Soc. A 462, 2097-2117.
    """

    reference: ClassVar[str] = "Udwadia and Phohomsiri 2006, Proc. R. Soc. A 462, 2097-2117"
    any_unit: ClassVar[bool] = True
    refines: ClassVar[bool] = True
    ms: ClassVar[float] = 38.0
    multipliers: ClassVar[Multipliers] = Multipliers.LEAST
    all_rows: ClassVar[bool] = True

    def solve(self, kkt: KKTSystem) -> KKTSolution:
        f, k, nb = euler_form(kkt), len(kkt.b_c), len(kkt.M)
        A, b = np.vstack([f.Phi_p, f.P]), np.concatenate([kkt.b_c, f.gamma_p])
        s = split(kkt, A, kkt.rank + nb)
        free = s.Z @ s.Z.T / np.mean(kkt.M[:, 0, 0])  # 1 - A^+ A, per kg: rows of A are of size 1
        whole = np.vstack([free @ f.M_p, A])
        q_ddot, _, _, sizes = np.linalg.lstsq(whole, np.concatenate([free @ f.b_p, b]), rcond=None)
        if not sizes[-1] > SINGULAR_TOL * sizes[0]:
            raise singular(kkt, "[M_p; A] has no full column rank")
        lam = s.U @ ((s.V.T @ (f.b_p - f.M_p @ q_ddot)) / s.s)
        return KKTSolution(blockwise(f.S, np.asarray(q_ddot)), lam[:k], lam_p=lam[k:])
