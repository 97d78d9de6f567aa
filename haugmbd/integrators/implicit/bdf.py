r"""BDF: backward differentiation of order one to five, on points of any spacing; fixed steps, or error control of step and order.

    t_0 = t_(n+1) is new, t_1 > t_2 > ... are known
    x'_0 = sum_i w_i x_i                 w_0 = sum_(i=1..k) 1 / (t_0 - t_i),      w_i = l_i'(t_0)   (Lagrange, i = 0 ... k)
    x_0  = past + c x'_0                 c = 1 / w_0,   past = - c sum_(i>=1) w_i x_i
    predicted x_0 = sum_(i=1..k+1) L_i(t_0) x_i                                                       degree k
    error of order j     e_j = c_j (t_0 - t_1) ... (t_0 - t_j) x[t_0, ..., t_(j+1)]                   x[...]: divided difference

    r = past_r + c v            u = past_u + c u'
    p = (I - c Omega / 2)^-1 past_p  =  (I + c Omega / 2) past_p / |.|                p' = Omega(omega_bar) p / 2,  |p| = 1
    M u' + Phi_q^T lam = Q,      and the constraints

p is past_p rotated by the Cayley transform of c omega_bar, in closed form.  Its length differs from one by the truncation error, and is
normalized.  With GGL the displacement c (u + M^-1 Phi_q^T mu) replaces c u.

Error control: divided differences give the error of a step for the current order and its neighbours.  After k + 1 equal steps of order k
the order that allows the longest step is selected.  A step is not changed by less than a fifth.
The start has order one and a very small step.  Each further step raises the order, and steps grow as fast as is stable.
Source: Gear 1971; Brayton, Gustavson, Hachtel 1972 (variable coefficients); Grigorieff 1983 (growing steps); Brenan, Campbell, Petzold 1989
(constraints, choice of order); Hairer, Norsett, Wanner, Solving ODE I, sec. III.5; Hairer, Wanner, Solving ODE II, ch. V and VII.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from math import sqrt
from typing import ClassVar, NamedTuple

import numpy as np

from haugmbd.choices import is_one_of
from haugmbd.compiled.array_types import Array
from haugmbd.compiled.array_views import borrow, borrow_line
from haugmbd.compiled.function_pointers import Routine
from haugmbd.compiled.jit import inlined, kernel, routine
from haugmbd.compiled.status_codes import OK
from haugmbd.deprecated import public_class
from haugmbd.errors import UsageError
from haugmbd.integrators.implicit.base import NEWTON_TOL, ImplicitFixedOrAdaptive, Rule
from haugmbd.integrators.implicit.constraint_form import GGL, ConstraintForm
from haugmbd.integrators.implicit.newton import PLACE_SIGNATURE, ModifiedNewton, put_shifted, stage_of
from haugmbd.integrators.implicit.records import Control, Newton, Step
from haugmbd.integrators.implicit.step_control import CLOSE_SIGNATURE, PREDICT_SIGNATURE
from haugmbd.integrators.step_context import Problem
from haugmbd.math import euler_parameters
from haugmbd.math.body_columns import EULER, OMEGA_BAR, VELOCITY
from haugmbd.math.euler_kernels import cayley_by
from haugmbd.model.generalized_forces import put_angle_rates_of_loads
from haugmbd.workspace import accessors as ws
from haugmbd.workspace.internal_states import PAST, STEP
from haugmbd.workspace.layout import WIDTH, Pack, workspace_array

KNOWN = 7
"""Number of points that are kept: the error of order five and the change to order five need six each."""
SAFETY, SHRINK, GROW, IDLE = 0.8, 0.25, 2.0, 1.2
FIRST_PART = (1.0, 2.0**-8, 2.0**-10, 2.0**-12, 2.0**-14)
"""For orders 1 to 5: the first part of a fixed step, relative to it.  Its error of order one is about that of a whole step of the order."""
STABLE = (2.0, 2.0, 1.4, 1.2, 1.1)
"""For orders 1 to 5: a stable growth of steps, below the theoretical bounds."""


class History(NamedTuple):
    """The known points, the newest first.  t: (KNOWN,);  x: (KNOWN, ny);  predicted: (ny,);  weights: (KNOWN,), of past or of an error."""

    t: Array
    x: Array
    predicted: Array
    weights: Array


@inlined
def history_of(memory: Array, ny: int) -> History:
    """Return the views of BDF's memory."""
    after = KNOWN + KNOWN * ny
    return History(
        borrow_line(memory, 0, KNOWN),
        borrow(memory, KNOWN, KNOWN, ny),
        borrow_line(memory, after, ny),
        borrow_line(memory, after + ny, KNOWN),
    )


@kernel
def leading(t: float, past: History, order: int) -> float:
    """Return c = 1 / w_0."""
    total = 0.0
    for i in range(order):
        total += 1.0 / (t - past.t[i])
    return 1.0 / total


@inlined
def put_past_weights(t: float, past: History, order: int) -> float:
    """Write -c w_i of the known points to the weights; return c."""
    c = leading(t, past, order)
    for i in range(order):
        product = 1.0
        for m in range(order):
            if m != i:
                product *= (t - past.t[m]) / (past.t[i] - past.t[m])
        past.weights[i] = c * product / (t - past.t[i])
    return c


@inlined
def extrapolate(t: float, past: History, order: int) -> None:
    """Write the polynomial of degree `order` through the known points, at t, to the prediction."""
    for a in range(past.predicted.size):
        past.predicted[a] = 0.0
    for i in range(order + 1):
        L = 1.0
        for m in range(order + 1):
            if m != i:
                L *= (t - past.t[m]) / (past.t[i] - past.t[m])
        for a in range(past.predicted.size):
            past.predicted[a] += L * past.x[i, a]


@inlined
def mean_size(y: Array, first: int, n: int) -> float:
    """Return the root mean square of the lengths of the vectors whose first component is `first`, over the bodies."""
    square = 0.0
    for k in range(1, n):
        a = WIDTH * k + first
        square += y[a] ** 2 + y[a + 1] ** 2 + y[a + 2] ** 2
    return sqrt(square / (n - 1)) if n > 1 else 0.0


@kernel
def error_of(t: float, y: Array, past: History, order: int, n: int, n_states: int, control: Control) -> float:
    """Return |e_j| relative to the tolerance, root mean square over the numbers of the n bodies and the internal states.

    Scales are lengths of vectors, averaged over all bodies.  Joints transfer the error of one body to its neighbours, so that the
    difference of a slowly moving body, or of a component that passes zero, contains their errors.  With a tolerance of its own such a
    component would cause rejected steps that no smaller step improves.
    """
    factor = leading(t, past, order)
    for i in range(order):
        factor *= t - past.t[i]
    own = 1.0
    for i in range(order + 1):
        product = past.t[i] - t
        own *= t - past.t[i]
        for m in range(order + 1):
            if m != i:
                product *= past.t[i] - past.t[m]
        past.weights[i] = factor / product
    own = factor / own
    r, v, omega = mean_size(y, 0, n), mean_size(y, 7, n), mean_size(y, 10, n)
    total = 0.0
    for a in range(WIDTH, WIDTH * n):
        e = own * y[a]
        for i in range(order + 1):
            e += past.weights[i] * past.x[i, a]
        column = a % WIDTH
        size = r if column < 3 else 1.0 if column < 7 else v if column < 10 else omega
        atol = control.atol_length if column < 3 or 7 <= column < 10 else control.atol
        e /= atol + control.rtol * size
        total += e * e
    for a in range(y.size - n_states, y.size):
        e = own * y[a]
        for i in range(order + 1):
            e += past.weights[i] * past.x[i, a]
        e /= control.atol + control.rtol * abs(y[a])
        total += e * e
    count = WIDTH * (n - 1) + n_states
    return sqrt(total / count) if count > 0 else 0.0


@inlined
def add_point(t: float, y: Array, past: History) -> None:
    """Make (t, y) the newest point; the oldest one is dropped."""
    for i in range(KNOWN - 1, 0, -1):
        past.t[i] = past.t[i - 1]
        for a in range(y.size):
            past.x[i, a] = past.x[i - 1, a]
    past.t[0] = t
    for a in range(y.size):
        past.x[0, a] = y[a]


@kernel
def integrate_angles(P: Pack, t: float, y: Array, past: History, order: int) -> None:
    """Advance the integrated angles by the same formula: past + c theta', of the order of the step; write rates."""
    rate = ws.angle_rates(P)
    first = y.size - rate.size
    if rate.size > 0:
        put_angle_rates_of_loads(P, t, y, rate)
        c = put_past_weights(t, past, order)
        for k in range(rate.size - ws.n_states(P)):
            y[first + k] = c * rate[k]
            for i in range(order):
                y[first + k] += past.weights[i] * past.x[i, first + k]


@routine
def predict(P: Pack, step: Step, newton: Newton, memory: Array, y: Array) -> int:
    """Write the base pose past_q, and the predicted u with the displacement and u' that belong to it."""
    past, stage = history_of(memory, y.size), stage_of(P)
    n, order, t = ws.n_bodies(P), int(step.order), step.t + step.h
    bodies = borrow(y, 0, n, WIDTH)
    extrapolate(t, past, order)
    c = put_past_weights(t, past, order)
    newton.c_q, newton.c_u = c * c, c
    for k in range(1, n):
        q, u = WIDTH * k, WIDTH * k + VELOCITY
        for a in range(7):
            stage.base[k, a] = 0.0
            for i in range(order):
                stage.base[k, a] += past.weights[i] * past.x[i, q + a]
        for a in range(6):
            past_u = 0.0
            for i in range(order):
                past_u += past.weights[i] * past.x[i, u + a]
            bodies[k, VELOCITY + a] = past.predicted[u + a]
            stage.u_dot[k, a] = (past.predicted[u + a] - past_u) / c
            stage.displacement[k, a] = c * past.predicted[u + a]
    put_state_formula(P, past, order, c)
    return OK


@kernel
def put_state_formula(P: Pack, past: History, order: int, c: float) -> None:
    """Let the internal states be solved for by the formula of the step: x = past + c x'."""
    n, F, place = ws.n_states(P), ws.driver_values(P), ws.first_state(P)
    for k in range(n):
        column = past.predicted.size - n + k
        F[place + k, STEP] = c
        F[place + k, PAST] = 0.0
        for i in range(order):
            F[place + k, PAST] += past.weights[i] * past.x[i, column]


@routine
def place(P: Pack, newton: Newton, y: Array) -> int:
    """Write r = past_r + dr,  p = past_p o (1, dpi_bar / 2), normalised."""
    stage = stage_of(P)
    bodies = borrow(y, 0, ws.n_bodies(P), WIDTH)
    for k in range(1, ws.n_bodies(P)):
        put_shifted(stage, bodies, k)
        cayley_by(bodies[k, EULER:VELOCITY], stage.displacement[k, 3], stage.displacement[k, 4], stage.displacement[k, 5])
    return OK


@routine
def close(P: Pack, step: Step, control: Control, memory: Array, y: Array) -> float:
    """Return the error of the step relative to its tolerance; choose the next order and step; store the new point."""
    past = history_of(memory, y.size)
    t, order, n = step.t + step.h, int(step.order), ws.n_bodies(P)
    error = 0.0
    step.factor = 1.0
    if control.h_fixed > 0.0:
        step.factor = step.n_equal
        step.order = min(step.max_order, step.n_points + 1.0)
    else:
        error = error_of(t, y, past, order, n, ws.n_states(P), control)
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
            choose_order(step, control, error, t, y, past, n, ws.n_states(P))
    integrate_angles(P, t, y, past, order)
    add_point(t, y, past)
    step.n_points = min(7.0, step.n_points + 1.0)
    return error


@kernel
def longest(error: float, order: int) -> float:
    """Return the factor by which a step of this order could be longer."""
    factor: float = SAFETY * max(error, 1e-12) ** (-1.0 / (order + 1.0))
    return factor


@inlined
def choose_order(step: Step, control: Control, error: float, t: float, y: Array, past: History, n: int, n_states: int) -> None:
    """Choose the order, of three, that allows the longest step, and the step."""
    order = int(step.order)
    best, factor = order, longest(error, order)
    if order > 1:
        lower = longest(error_of(t, y, past, order - 1, n, n_states, control), order - 1)
        if lower > factor:
            best, factor = order - 1, lower
    if order < step.max_order and step.n_points >= order + 2:
        higher = longest(error_of(t, y, past, order + 1, n, n_states, control), order + 1)
        if higher > factor:
            best, factor = order + 1, higher
    factor = min(GROW, max(SHRINK, factor))
    if best != order or factor > IDLE or factor < 1.0:
        step.order, step.factor, step.n_equal = best, factor, 0.0


PREDICT, PLACE, CLOSE = Routine(predict, PREDICT_SIGNATURE), Routine(place, PLACE_SIGNATURE), Routine(close, CLOSE_SIGNATURE)


def first_points(problem: Problem, u_dot: Array, h: float) -> Array:
    """Return BDF's memory with the state at the start, and one before it on its tangent, for the first prediction; u_dot (nb + 1, 6)."""
    n, ny = len(u_dot), problem.y.size
    t, x = np.zeros(KNOWN), np.zeros((KNOWN, ny))
    t[:2], x[:2] = (problem.t, problem.t - h), problem.y
    bodies = x[1, : WIDTH * n].reshape(n, WIDTH)[1:]
    p_dot = euler_parameters.p_dot_from(bodies[:, EULER:VELOCITY], bodies[:, OMEGA_BAR:WIDTH])
    bodies -= h * np.hstack([bodies[:, VELOCITY:OMEGA_BAR], p_dot, u_dot[1:]])
    return np.concatenate([t, x.ravel(), np.zeros(ny), np.zeros(KNOWN)])[None]


@public_class
@dataclass(frozen=True)
class BDF(ImplicitFixedOrAdaptive):
    """Backward differentiation formulas of order one to five, for stiff systems.

    Parameters
    ----------
    order : int, optional
        With error control the highest order, 1 to 5 (default 5); with a fixed step the order (default 2).
    h : float, optional
        Fixed step [s].  From order two on the first step is divided into parts of growing length and order.
    rtol, atol : float
        Relative and absolute tolerances of the error control, which is the default.
    h_first : float, optional
        First step of the error control [s]; by default chosen.
    h_max : float
        Largest step of the error control [s].
    constraint_form : ConstraintForm
        Form of the constraints that is solved; by default `GGL()`.
    tol : float
        Error that Newton's iteration may leave in a step [m, rad]; with error control at most a hundredth of the allowed error.
    newton : ModifiedNewton or FullNewton
        The matrix of Newton's iteration.

    Notes
    -----
    Sources: Gear 1971; Brenan, Campbell and Petzold 1989; Hairer and Wanner, Solving ODE II, ch. V and VII.
    """

    adaptive_by_default: ClassVar[bool] = True
    reference: ClassVar[str] = "Gear 1971; Brenan, Campbell and Petzold 1989; Hairer and Wanner, Solving ODE II"

    order: int | None = None
    constraint_form: ConstraintForm = field(default_factory=GGL)
    tol: float = NEWTON_TOL
    newton: ModifiedNewton = field(default_factory=ModifiedNewton)

    def check(self, span: float) -> None:
        super().check(span)
        if not is_one_of(self.order, (None, 1, 2, 3, 4, 5)):
            raise UsageError(f"BDF has orders 1 to 5, not {self.order!r}; from 7 on it is unstable, and 6 nearly so.")

    @property
    def max_order(self) -> int:
        """The highest order, or that of a fixed step."""
        return self.order or (5 if self.adaptive else 2)

    def rule(self, problem: Problem, pack: Pack, h: float) -> Rule:
        """Return BDF's routines, starting with order one."""
        growth = 0.0 if self.adaptive else STABLE[self.max_order - 1]
        own = {"order": 1.0, "n_points": 1.0, "n_equal": growth, "max_order": float(self.max_order)}
        return Rule(PREDICT, PLACE, CLOSE, own, first_points(problem, workspace_array(pack, "U_DOT"), h))

    def control(self, problem: Problem, t_end: float) -> Control:
        control = super().control(problem, t_end)
        if not self.adaptive:
            control.h_next *= FIRST_PART[self.max_order - 1]
        return control
