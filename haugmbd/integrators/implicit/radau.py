r"""Radau IIA of order five: three stages at once, for stiff systems to high accuracy.

    u_i = u_n + h sum_j a_ij u'_j         M u'_i + Phi_q^T lam_i = Q_i,  and the constraints,  i = 1, 2, 3         c = (4 -+ sqrt 6) / 10, 1
    the third stage is the end of the step: nothing is extrapolated, and stiff components are damped in one step

`radau_stages` describes rotations on SO(3) and the iteration.  The order is five for positions and velocities with constraints of index
two or GGL.  lam and u' at the end follow from the equations of motion there, and have order five, too.  The first iterate of the u'_i is
the polynomial through those of the step before.  Error control uses Hairer and Wanner's error of order three, filtered for stiff
components.
Source: Hairer, Wanner, Solving ODE II, sec. IV.8 and VII.4; Hairer, Lubich, Roche 1989 (constraints).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from math import sqrt
from typing import ClassVar

import numpy as np

from haugmbd.compiled.array_types import Array
from haugmbd.compiled.array_views import borrow
from haugmbd.compiled.function_pointers import Routine
from haugmbd.compiled.jit import kernel, routine
from haugmbd.compiled.status_codes import OK
from haugmbd.deprecated import public_class
from haugmbd.errors import UsageError
from haugmbd.integrators.default_number import DefaultNumber
from haugmbd.integrators.implicit.base import NEWTON_TOL, PART, Implicit, ImplicitFixedOrAdaptive, Rule
from haugmbd.integrators.implicit.constraint_form import GGL, ConstraintForm
from haugmbd.integrators.implicit.generalized_alpha import PLACE
from haugmbd.integrators.implicit.newton import ModifiedNewton, stage_of
from haugmbd.integrators.implicit.radau_stages import SOLVE_STAGES
from haugmbd.integrators.implicit.radau_tableau import ROWS, A, C, RadauMemory, radau_memory
from haugmbd.integrators.implicit.records import Control, Newton, Step
from haugmbd.integrators.implicit.step_control import CLOSE_SIGNATURE, PREDICT_SIGNATURE
from haugmbd.integrators.step_context import Problem
from haugmbd.math.body_columns import VELOCITY
from haugmbd.model.generalized_forces import put_angle_rates_of_loads
from haugmbd.workspace import accessors as ws
from haugmbd.workspace.layout import WIDTH, Pack, workspace_array

SAFETY, SHRINK, GROW, IDLE = 0.9, 0.2, 5.0, 1.2
HARD = 12
"""Number of sweeps above which a step does not grow, because a longer one may not converge."""


@routine
def predict(P: Pack, step: Step, newton: Newton, memory: Array, y: Array) -> int:
    """Write u'_i by the polynomial of the step before, or as at its end; displacements for a constant velocity; lam as at its end."""
    m = radau_memory(memory)
    stage, lam = stage_of(P), ws.multipliers(P)
    h, before = step.h, step.h_before
    m.h[0], m.wants_error[0] = h, step.estimates_error
    for a in range(y.size):
        m.y[a] = y[a]
    for i in range(3):
        x = 1.0 + C[i] * h / before if before > 0.0 else 1.0
        w0 = (x - C[1]) * (x - C[2]) / ((C[0] - C[1]) * (C[0] - C[2]))
        w1 = (x - C[0]) * (x - C[2]) / ((C[1] - C[0]) * (C[1] - C[2]))
        for k in range(1, ws.n_bodies(P)):
            for a in range(6):
                s = 6 * k + a
                if before > 0.0:
                    b0, b1, b2 = m.u_dot_before[0, s], m.u_dot_before[1, s], m.u_dot_before[2, s]
                    m.u_dot[i, s] = b2 + w0 * (b0 - b2) + w1 * (b1 - b2)
                else:
                    m.u_dot[i, s] = stage.u_dot[k, a]
                m.u_dot_start[s] = stage.u_dot[k, a]
                m.x[i, s] = h * C[i] * y[WIDTH * k + VELOCITY + a]
                m.delta[i, s] = 0.0
        for s in range(lam.size):
            m.lam[i, s] = lam[s]
    return OK


@routine
def close(P: Pack, step: Step, control: Control, memory: Array, y: Array) -> float:
    """Return the error of the step relative to its tolerance; store the u'_i for the next prediction."""
    m = radau_memory(memory)
    n = ws.n_bodies(P)
    bodies = borrow(y, 0, n, WIDTH)
    total = 0.0
    turn(P, step.t + step.h, m, y)
    step.factor = GROW
    if control.h_fixed == 0.0:
        for k in range(1, n):
            for a in range(6):
                size = abs(bodies[k, a]) if a < 3 else 1.0
                atol = control.atol_length if a < 3 else control.atol
                e_q = m.error_x[6 * k + a] / (atol + control.rtol * size)
                e_u = m.error_u[6 * k + a] / (atol + control.rtol * abs(bodies[k, VELOCITY + a]))
                total += e_q * e_q + e_u * e_u
        for a in range(y.size - ws.n_states(P), y.size):
            e_x = m.error_x[a] / (control.atol + control.rtol * abs(y[a]))
            total += e_x * e_x
        count = 12.0 * (n - 1) + ws.n_states(P)
        total = sqrt(total / count) if count > 0.0 else 0.0
        step.factor = min(GROW, max(SHRINK, SAFETY * total**-0.25 if total > 0.0 else GROW))
        hard = m.sweeps[0] > HARD and ws.friction_ints(P).shape[0] == 0  # whose sweeps no shorter step would save
        if 1.0 <= step.factor and (step.factor < IDLE or hard):
            step.factor = 1.0
    if total <= 1.0:
        for i in range(3):
            for a in range(6 * n):
                m.u_dot_before[i, a] = m.u_dot[i, a]
    return total


@kernel
def turn(P: Pack, t: float, m: RadauMemory, y: Array) -> None:
    """Advance the integrated angles by the weights of the method; write their rates at the end."""
    rate = ws.angle_rates(P)
    first = y.size - rate.size
    if rate.size > 0:
        put_angle_rates_of_loads(P, t, y, rate)
        for k in range(rate.size):
            y[first + k] = m.y[first + k]
            for i in range(3):
                y[first + k] += m.h[0] * A[2, i] * m.angle_rates[i, k]


PREDICT, CLOSE = Routine(predict, PREDICT_SIGNATURE), Routine(close, CLOSE_SIGNATURE)


@public_class
@dataclass(frozen=True)
class RadauIIA(ImplicitFixedOrAdaptive):
    """Radau IIA of order five, for stiff systems to high accuracy and as a reference for other methods.

    Parameters
    ----------
    h : float, optional
        Fixed step [s].
    rtol, atol : float
        Relative and absolute tolerances of the error control, which is the default.
    h_first : float, optional
        First step of the error control [s]; by default chosen.
    h_max : float
        Largest step of the error control [s].
    constraint_form : GGL or Index2
        Form of the constraints that is solved; by default `GGL()`.
    tol : float
        Error that Newton's iteration may leave in a step [m, rad].  With error control at most a hundredth of the allowed error; by default
        as much as that, but no less than with a fixed step.
    newton : ModifiedNewton or FullNewton
        The matrix of Newton's iteration.

    Notes
    -----
    Constraints hold within rounding.  The multipliers at the end of a step follow from the equations of motion there, not from the stage.
    Sources: Hairer and Wanner, Solving ODE II, sec. IV.8 and VII.4; van der Houwen and de Swart 1997 (iteration).
    """

    adaptive_by_default: ClassVar[bool] = True
    own_multipliers: ClassVar[bool] = False
    reference: ClassVar[str] = "Hairer and Wanner, Solving ODE II, sec. IV.8; van der Houwen and de Swart 1997 (iteration)"

    constraint_form: ConstraintForm = field(default_factory=GGL)
    tol: float = NEWTON_TOL
    newton: ModifiedNewton = field(default_factory=ModifiedNewton)

    def check(self, span: float) -> None:
        super().check(span)
        if "velocity" not in self.constraint_form.keeps:
            raise UsageError(
                f"RadauIIA iterates on velocities, which constraint_form={self.constraint_form!r} does not keep: take GGL() or Index2()."
            )

    def newton_tol_of(self, length: float) -> float:
        """Return the error that Newton's iteration may leave: `tol` with a fixed step, else a hundredth of the allowed error."""
        tol = Implicit.newton_tol_of(self, length)
        if not self.adaptive:
            return tol
        at_most = PART * self.step_error(length)
        return max(tol, at_most) if isinstance(self.tol, DefaultNumber) else min(tol, at_most)

    def rule(self, problem: Problem, pack: Pack, h: float) -> Rule:
        """Return the routines of Radau IIA; the error of a step is estimated only under error control."""
        memory = np.zeros((ROWS, max(problem.y.size, workspace_array(pack, "LAMBDA").size)))
        return Rule(PREDICT, PLACE, CLOSE, {"estimates_error": float(self.adaptive)}, memory, SOLVE_STAGES)
