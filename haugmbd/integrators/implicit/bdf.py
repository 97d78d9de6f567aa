r"""BDF: backward differentiation of order one to five, on points of any spacing; fixed steps, or error control of step and order.

    r = past_r + c v            u = past_u + c u'                 past, c: see `multistep`
    p = (I - c Omega / 2)^-1 past_p  =  (I + c Omega / 2) past_p / |.|                p' = Omega(omega_bar) p / 2,  |p| = 1
    M u' + Phi_q^T lam = Q,      and the constraints

p is thus past_p turned by the Cayley transform of c omega_bar, in closed form; its length is the truncation error, and normalised.
With GGL the displacement c (u + M^-1 Phi_q^T mu) stands in place of c u.

Error control: the error of a step by divided differences, for the order in use and its neighbours; after k + 1 steps of order k and one
size the order that allows the longest step is taken; a step is not changed for less than a fifth.
The start: order one with a tiny step, then a higher order each time, and steps that grow as fast as is stable.
Source: Gear 1971; Grigorieff 1983 (growing steps); Brenan, Campbell, Petzold 1989 (constraints, choice of order);
Hairer, Wanner, Solving ODE II, ch. V and VII.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

from haugmbd.algebra.euler_kernels import cayley_by
from haugmbd.algebra.jit import inlined, kernel, routine
from haugmbd.algebra.routine import Routine
from haugmbd.algebra.vec3 import Array
from haugmbd.algebra.views import borrow
from haugmbd.errors import UsageError
from haugmbd.integrators.implicit.level import GGL, Level
from haugmbd.integrators.implicit.method import Implicit, ImplicitAdaptive, ImplicitFixed, Rule
from haugmbd.integrators.implicit.multistep import (
    PREDICTED,
    WEIGHTS,
    add_point,
    error_of,
    first_points,
    leading,
    predict_state,
    put_past_weights,
    turn_on,
)
from haugmbd.integrators.implicit.newton import QuasiNewton
from haugmbd.integrators.implicit.records import Control, Newton, Step
from haugmbd.integrators.implicit.stage import PLACE_SIGNATURE, put_shifted, stage_of
from haugmbd.integrators.implicit.stepping import (
    CLOSE_SIGNATURE,
    PREDICT_SIGNATURE,
)
from haugmbd.integrators.stepping import Problem
from haugmbd.model import accessors as ws
from haugmbd.model.status import OK
from haugmbd.model.tables import WIDTH, Pack, room

SAFETY, SHRINK, GROW, IDLE = 0.8, 0.25, 2.0, 1.2
FIRST_PART = (1.0, 2.0**-8, 2.0**-10, 2.0**-12, 2.0**-14)
"""Of a fixed step of order 1 ... 5: the first, of order one, whose error should be as small as that of a whole step of the order."""
STABLE = (2.0, 2.0, 1.4, 1.2, 1.1)
"""Growth from step to step at which BDF of order 1 ... 5 is stable: 2.41, 1.62, 1.28, 1.13 are the bounds from order two on."""


@routine
def predict(P: Pack, step: Step, newton: Newton, memory: Array, y: Array) -> int:
    """Weights, base pose, and the predicted u with the displacement and u' that belong to it."""
    stage = stage_of(P)
    n, order, t = ws.n_bodies(P), int(step.order), step.t + step.h
    bodies = borrow(y, 0, n, WIDTH)
    predict_state(t, memory, order)
    put_past_weights(t, memory, order)
    c = leading(t, memory, order)
    newton.c_q, newton.c_u = c * c, c
    for k in range(1, n):
        for a in range(7):
            stage.base[k, a] = 0.0
        for a in range(6):
            stage.u_dot[k, a] = 0.0
        for i in range(order):
            for a in range(7):
                stage.base[k, a] += memory[WEIGHTS, i] * memory[i, 1 + WIDTH * k + a]
            for a in range(6):
                stage.u_dot[k, a] += memory[WEIGHTS, i] * memory[i, 1 + WIDTH * k + 7 + a]
        for a in range(6):
            u = memory[PREDICTED, 1 + WIDTH * k + 7 + a]
            bodies[k, 7 + a] = u
            stage.u_dot[k, a] = (u - stage.u_dot[k, a]) / c
            stage.displacement[k, a] = c * u
    return OK


@routine
def place(P: Pack, newton: Newton, y: Array) -> int:
    """r = past_r + dr,  p = past_p o (1, dpi_bar / 2), normalised."""
    stage = stage_of(P)
    bodies = borrow(y, 0, ws.n_bodies(P), WIDTH)
    for k in range(1, ws.n_bodies(P)):
        put_shifted(stage, bodies, k)
        cayley_by(bodies[k, 3:7], stage.displacement[k, 3], stage.displacement[k, 4], stage.displacement[k, 5])
    return OK


@routine
def close(P: Pack, step: Step, control: Control, memory: Array, y: Array) -> float:
    """The error of the step relative to its tolerance; the next order and the next step; the new point."""
    t, order, n = step.t + step.h, int(step.order), ws.n_bodies(P)
    error = 0.0
    step.factor = 1.0
    if control.h_fixed > 0.0:
        step.factor = step.n_equal
        step.order = min(step.max_order, step.n_points + 1.0)
    else:
        rtol, atol = control.rtol, control.atol
        error = error_of(t, y, memory, order, n, rtol, atol)
        if error > 1.0:
            step.n_failed += 1.0
            step.n_equal = 0.0
            step.factor = min(0.9, max(SHRINK, longest(error, order)))
            if step.n_failed > 2.0:
                step.order, step.factor = max(1.0, step.order - 1.0), SHRINK
            return error
        step.n_failed = 0.0
        step.n_equal += 1.0
        if step.n_equal > order:
            choose(step, error, t, y, memory, n, rtol, atol)
    turn_on(P, t, y, memory, order)
    add_point(t, y, memory)
    step.n_points = min(7.0, step.n_points + 1.0)
    return error


@kernel
def longest(error: float, order: int) -> float:
    """How much longer a step of this order could be."""
    factor: float = SAFETY * max(error, 1e-12) ** (-1.0 / (order + 1.0))
    return factor


@inlined
def choose(step: Step, error: float, t: float, y: Array, memory: Array, n: int, rtol: float, atol: float) -> None:
    """The order, of three, that allows the longest step, and the step."""
    order = int(step.order)
    best, factor = order, longest(error, order)
    if order > 1:
        lower = longest(error_of(t, y, memory, order - 1, n, rtol, atol), order - 1)
        if lower > factor:
            best, factor = order - 1, lower
    if order < step.max_order and step.n_points >= order + 2:
        higher = longest(error_of(t, y, memory, order + 1, n, rtol, atol), order + 1)
        if higher > factor:
            best, factor = order + 1, higher
    factor = min(GROW, max(SHRINK, factor))
    if best != order or factor > IDLE or factor < 1.0:
        step.order, step.factor, step.n_equal = best, factor, 0.0


PREDICT, PLACE, CLOSE = Routine(predict, PREDICT_SIGNATURE), Routine(place, PLACE_SIGNATURE), Routine(close, CLOSE_SIGNATURE)


def read_order(order: int) -> None:
    """Refuse an order that BDF does not have."""
    if order not in (1, 2, 3, 4, 5):
        raise UsageError(f"BDF has orders 1 to 5, not {order!r}; from 7 on it is unstable, and 6 nearly so.")


class _Multistep(Implicit):
    """What both classes share: the routines and their memory."""

    order: int
    growth: ClassVar[float] = 0.0

    def rule(self, problem: Problem, pack: Pack, h: float) -> Rule:
        """BDF's routines, starting with order one."""
        own = {"order": 1.0, "n_points": 1.0, "n_equal": self.growth, "max_order": float(self.order)}
        return Rule(PREDICT, PLACE, CLOSE, own, first_points(problem, room(pack, "U_DOT"), h))


@dataclass(frozen=True, kw_only=True)
class BDF(_Multistep, ImplicitAdaptive):
    """Error control of step and order: for stiff systems, and where Newton-based accuracy must be high.

    order: the highest, 1 to 5;  level: form of the constraints;  tol: what Newton may leave;  rtol, atol, h_first, h_max
    """

    order: int = 5
    level: Level = field(default_factory=GGL)
    tol: float = 1e-10
    newton: QuasiNewton = field(default_factory=QuasiNewton)
    reference: ClassVar[str] = "Gear 1971; Brenan, Campbell and Petzold 1989; Hairer and Wanner, Solving ODE II"

    def check(self, span: float) -> None:
        super().check(span)
        read_order(self.order)

    @property
    def newton_tol(self) -> float:
        """A hundredth of what a step may be wrong by."""
        return min(self.tol * self.level.share, 1e-2 * (self.rtol + self.atol))


@dataclass(frozen=True)
class FixedBDF(_Multistep, ImplicitFixed):
    """Fixed step `h` [s], fixed order 1 to 5; its first step is 9, 19, 38, 79 parts from order two on, of growing length and order.

    level: form of the constraints;  tol: what Newton may leave
    """

    order: int = 2
    level: Level = field(default_factory=GGL)
    tol: float = 1e-10
    newton: QuasiNewton = field(default_factory=QuasiNewton)
    reference: ClassVar[str] = "Gear 1971; Brenan, Campbell and Petzold 1989; Hairer and Wanner, Solving ODE II"

    def check(self, span: float) -> None:
        super().check(span)
        read_order(self.order)

    @property
    def growth(self) -> float:  # type: ignore[override]
        """Of the parts of the first steps."""
        return STABLE[self.order - 1]

    def control(self, problem: Problem, t_end: float) -> Control:
        control = super().control(problem, t_end)
        control.h_next *= FIRST_PART[self.order - 1]
        return control
