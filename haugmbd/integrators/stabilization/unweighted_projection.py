r"""Unweighted projection: the least change of coordinates back to the constraints, independent of the masses.

    positions    min sum |dr|^2 + L^2 |dpi_bar|^2   with  Phi + Phi_q dq = 0              [W Phi_q^T; Phi_q 0] (dq, mu) = (0, -Phi)
    velocities   the same for du with Phi_q (u + du) = nu                                 W = diag(1, L^2) for each body

L is the weight of a rotation: by default, for each body, its radius of gyration sqrt(tr J_bar / (2 m)).
The compiled code is that of `projection`, on a second set of tables with W in place of M.  A step needs one factorization more than the
mass-weighted projection, because the factor of W is not that of the accelerations.
Source: Eich (1993); Hairer, Wanner, Solving ODE II, sec. VII.2 (coordinate projection).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np

from haugmbd.compiled.array_types import Array
from haugmbd.compiled.array_views import borrow_line
from haugmbd.compiled.function_pointers import Routine
from haugmbd.compiled.jit import entry, inlined
from haugmbd.compiled.native_tuples import with_ints
from haugmbd.compiled.status_codes import OK
from haugmbd.deprecated import public_class
from haugmbd.errors import UsageError
from haugmbd.formulations.newton_euler import right_hand_side
from haugmbd.integrators.stabilization.corrections import stop_sticking_joints
from haugmbd.integrators.stabilization.projection import Projection, project, rests
from haugmbd.integrators.step_context import SIGNATURE, Options, normalize_euler
from haugmbd.model.inspection.constraint_rows import evaluate
from haugmbd.model.inspection.length import radii_of_gyration
from haugmbd.model.model import Model
from haugmbd.workspace.layout import REFINES, Pack, flags_in, move_matrix


@inlined
def with_other_inertia(P: Pack) -> Pack:
    """Return the same pack with the second half of its integers, which point to W."""
    half = P.ints.size // 2
    return with_ints(P, borrow_line(P.ints, half, half))  # type: ignore[no-any-return]


@entry
def post_step(P: Pack, options: Options, t: float, y: Array, y_dot: Array) -> int:
    """Project with W; write y_dot = f(t, y) with a factor of its own."""
    normalize_euler(P, options, y)
    options.n_rates += 1
    if rests(P, options, t, y):
        code = stop_sticking_joints(P, t, y)
    else:
        code = project(with_other_inertia(P), options, t, y)
    if code != OK:
        return code
    options.n_factorizations += 1
    return right_hand_side(P, t, y, y_dot)


POST_STEP = Routine(post_step, SIGNATURE)


@public_class
@dataclass(frozen=True)
class UnweightedProjection(Projection):
    """Unweighted projection at the end of steps: the least change of coordinates, independent of the masses.

    Parameters
    ----------
    tol : float
        Largest |Phi| and |Phi_q u - nu| that is not corrected, in the units of the rows (m, m2, 1, rad).
    every : int
        Project after every n-th step.
    threshold : float
        Project only where |Phi| or |Phi_q u - nu| exceeds this; 0 projects always.
    positions, velocities : bool
        The levels that are projected.
    size : float, optional
        Length [m] that weighs a rotation of 1 rad.  By default the radius of gyration of each body.

    Notes
    -----
    Sources: Eich 1993, SIAM J. Numer. Anal. 30, 1467-1482; Hairer and Wanner, Solving ODE II, sec. VII.2.
    """

    size: float | None = field(default=None, kw_only=True)
    post_step: ClassVar[Routine] = POST_STEP
    reference: ClassVar[str] = "Eich 1993, SIAM J. Numer. Anal. 30, 1467-1482; Hairer and Wanner, Solving ODE II, sec. VII.2"
    needs_block_factor: ClassVar[bool] = True

    def check(self) -> None:
        super().check()
        if self.size is not None and not (np.isfinite(self.size) and self.size > 0.0):
            raise UsageError(f"stabilization = {self!r}: size = {self.size} m must be finite and positive.")

    def fitted(self, model: Model, pack: Pack) -> Pack:
        """Return `pack` with a second set of tables for projections, which has the weights W in place of the inertia."""
        sizes = np.full(model.nb + 1, self.size) if self.size is not None else turning_sizes(model)
        W, scale = np.zeros((model.nb + 1, 10)), model.tables["SCALE"].copy()
        W[:, 0] = 1.0
        W[:, [1, 5, 9]] = sizes[:, None] ** 2
        scale[: model.nb + 1, :3], scale[: model.nb + 1, 3:] = 1.0, sizes[:, None] ** 2
        rows = evaluate(model)
        moved = (rows.bodies > 0)[..., None]
        by_row = np.sum(moved * rows.Phi_r**2, axis=(1, 2)) + np.sum(
            moved * (rows.PiBar / sizes[rows.bodies][..., None]) ** 2, axis=(1, 2)
        )
        scale.reshape(-1)[6 * (model.nb + 1) + model.slot_of_row] = by_row
        ints, start = pack.ints.copy(), pack.reals.size
        move_matrix(ints, "SHIFTED", start)
        move_matrix(ints, "SCALE", start + W.size)
        flags_in(ints)[REFINES] = 0  # W has no massless direction
        return pack._replace(ints=np.concatenate([pack.ints, ints]), reals=np.concatenate([pack.reals, W.ravel(), scale.ravel()]))


def turning_sizes(model: Model) -> Array:
    """Return the radius of gyration of each body (nb + 1,) [m]; for points and the ground the largest of the others, or the length."""
    found = radii_of_gyration(model)
    found[found == 0.0] = float(found.max(initial=0.0)) or model.length
    return found
