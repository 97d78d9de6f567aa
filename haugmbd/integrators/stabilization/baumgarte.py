r"""Baumgarte: feedback of the violation damps the drift of the constraints.

    Phi_q u_dot = gamma - 2 alpha (Phi_q u - nu) - beta^2 Phi               Phi_ddot + 2 alpha Phi_dot + beta^2 Phi = 0

In continuous time  Phi(t) = (c_1 + c_2 t) exp(-alpha t)  for alpha = beta.  This is critical damping, the fastest return without
oscillation.  A smaller alpha oscillates with sqrt(beta^2 - alpha^2), a larger one decays with alpha - sqrt(alpha^2 - beta^2).  The error
of the steps causes the drift, so that larger gains are not better; they also limit the step of explicit methods (alpha h < 2.78 for RK4).
Dimensionless gains alpha h, beta h fit all steps, but gains that grow like 1 / h turn the O(h^2) violation of the stages into
accelerations of O(1), and O(h) in their sum: the drift then falls with h^2 only, the error of velocities of methods of any higher order
with h, and multipliers of the stages do not converge.  With fixed gains all of them have the order of the method.
Source: Baumgarte, Stabilization of constraints and integrals of motion, CMAME 1 (1972) 1-16.
"""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Real
from typing import ClassVar

import numpy as np

from haugmbd.compiled.array_types import Array
from haugmbd.compiled.function_pointers import Routine
from haugmbd.compiled.jit import entry, inlined, kernel
from haugmbd.compiled.status_codes import OK
from haugmbd.constraints.base import row_speed
from haugmbd.deprecated import public_class
from haugmbd.errors import UsageError
from haugmbd.formulations.newton_euler import factorize, finish_accelerations, put_rates, put_right_hand_side
from haugmbd.integrators.stabilization.base import Stabilization, fitting_all_rows
from haugmbd.integrators.stabilization.corrections import stop_sticking_joints
from haugmbd.integrators.step_context import SIGNATURE, Options, make_options, normalize_euler
from haugmbd.model.evaluate import prepare
from haugmbd.model.model import Model
from haugmbd.workspace import accessors as ws
from haugmbd.workspace.body_kinematics import update_kinematics
from haugmbd.workspace.layout import Pack


@kernel
def add_feedback(P: Pack, bodies: Array, alpha: float, beta: float) -> None:
    """Subtract 2 alpha (Phi_q u - nu) + beta^2 Phi from gamma in the current rows."""
    level, J = ws.row_values(P), ws.jacobian(P)
    edges = ws.edges(P)
    for e in range(edges.shape[0]):
        for a in range(6):
            slot = 6 * e + a
            Phi_dot = row_speed(edges, J, bodies, e, a) - level[slot, 1]
            level[slot, 2] -= 2.0 * alpha * Phi_dot + beta * beta * level[slot, 0]


@inlined
def stabilized_rates(P: Pack, options: Options, t: float, y: Array, y_dot: Array) -> int:
    """Write y_dot with the feedback."""
    options.n_rates += 1
    options.n_factorizations += 1
    code = prepare(P, t, y)
    if code != OK:
        return code
    add_feedback(P, update_kinematics(P, t, y).bodies, options.alpha, options.beta)
    put_right_hand_side(P)
    code = factorize(P)
    if code != OK:
        return code
    code = finish_accelerations(P)
    if code == OK:
        put_rates(P, t, y, y_dot)
    return code


@entry
def rates(P: Pack, options: Options, t: float, y: Array, y_dot: Array) -> int:
    """Write y_dot = f(t, y) with the feedback."""
    return stabilized_rates(P, options, t, y, y_dot)


@entry
def post_step(P: Pack, options: Options, t: float, y: Array, y_dot: Array) -> int:
    """Normalize the Euler parameters; write y_dot = f(t, y) with the feedback."""
    normalize_euler(P, options, y)
    code = stop_sticking_joints(P, t, y)
    return stabilized_rates(P, options, t, y, y_dot) if code == OK else code


RATES, POST_STEP = Routine(rates, SIGNATURE), Routine(post_step, SIGNATURE)


@public_class
@dataclass(frozen=True)
class Baumgarte(Stabilization):
    """Baumgarte stabilization: the violation of the constraints is fed back to the accelerations.

    Parameters
    ----------
    alpha : float
        Gain on the velocity level [1/s].
    beta : float
        Gain on the position level [1/s]; alpha = beta is critical damping.

    Notes
    -----
    Phi_ddot + 2 alpha Phi_dot + beta^2 Phi = 0.  `Baumgarte.critical(time)` and `Baumgarte.scaled(alpha_h, beta_h)` choose the gains.
    Source: Baumgarte 1972, CMAME 1, 1-16.
    """

    alpha: float
    beta: float
    rates: ClassVar[Routine] = RATES
    post_step: ClassVar[Routine] = POST_STEP
    reference: ClassVar[str] = "Baumgarte 1972, CMAME 1, 1-16"
    feeds_back: ClassVar[bool] = True

    @classmethod
    def examples(cls) -> dict[str, Stabilization]:
        return {"Baumgarte": Baumgarte(5.0, 5.0)}

    @staticmethod
    def critical(time: float) -> Baumgarte:
        """Return critical damping, alpha = beta = 1 / time.

        Parameters
        ----------
        time : float
            Time constant [s].  A violation falls like (1 + t / time) exp(-t / time).

        Returns
        -------
        Baumgarte
            The stabilization.

        Raises
        ------
        UsageError
            If the time is not finite and positive.
        """
        if isinstance(time, bool) or not (isinstance(time, Real) and 0.0 < time < np.inf):
            raise UsageError(f"Baumgarte.critical(time = {time!r}): the time must be finite and positive [s], such as 0.05.")
        return Baumgarte(1.0 / time, 1.0 / time)

    @staticmethod
    def scaled(alpha_h: float, beta_h: float) -> ScaledBaumgarte:
        """Return a stabilization with dimensionless gains: alpha = alpha_h / h and beta = beta_h / h with the fixed step h of the run.

        Such gains limit the order: RK3 and RK4 have order one in velocities, and one or two in positions. Fixed gains keep it.
        """
        return ScaledBaumgarte(alpha_h, beta_h)

    def options(self) -> Options:
        """Return alpha and beta."""
        return make_options(alpha=self.alpha, beta=self.beta)

    def fitted(self, model: Model, pack: Pack) -> Pack:
        return fitting_all_rows(model, pack)


@dataclass(frozen=True, repr=False)
class ScaledBaumgarte(Baumgarte):
    """Dimensionless gains, `Baumgarte.scaled(alpha_h, beta_h)`: `alpha` and `beta` are multiplied by the step of the run."""

    needs_step: ClassVar[bool] = True

    @classmethod
    def examples(cls) -> dict[str, Stabilization]:
        return {"Baumgarte.scaled": cls(0.1, 0.1)}

    def __repr__(self) -> str:
        """Return the call that makes it."""
        return f"Baumgarte.scaled(alpha_h={self.alpha!r}, beta_h={self.beta!r})"

    def with_step(self, h: float | None) -> Stabilization:
        if h is None:
            raise UsageError(
                f"{self!r} takes its gains from the step, and error control has none: use RK4(h), or Baumgarte(alpha, beta)."
            )
        return Baumgarte(self.alpha / h, self.beta / h)
