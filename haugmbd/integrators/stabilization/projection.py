r"""Projection: at the end of steps, the least mass-weighted change brings positions and velocities back to the constraints.

    positions    min dq^T M dq / 2   with  Phi + Phi_q dq = 0            [M Phi_q^T; Phi_q 0] (dq, mu) = (0, -Phi), repeated
                 r <- r + dr,   p <- p exp(dpi_bar)
    velocities   min du^T M du / 2   with  Phi_q (u + du) = nu           [M Phi_q^T; Phi_q 0] (du, mu) = (0, nu - Phi_q u)

CoordinatePartitioning is the exception: it changes its dependent coordinates only.
The matrix is that of the accelerations, and the last factor is used again in the first stage of the next step.
Source: Eich (1993), Lubich (1991) on coordinate projection.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

from haugmbd.compiled.array_types import Array
from haugmbd.compiled.function_pointers import Routine
from haugmbd.compiled.jit import entry, kernel
from haugmbd.compiled.selection import select, somewhere
from haugmbd.compiled.status_codes import OFF_MANIFOLD, OK, report
from haugmbd.constraints.base import row_speed
from haugmbd.deprecated import public_class
from haugmbd.errors import UsageError
from haugmbd.formulations.newton_euler import factorize, finish, rates_at_hand, right_hand_side, solve_system
from haugmbd.friction.routine import REST, STAY
from haugmbd.integrators.default_number import DefaultNumber
from haugmbd.integrators.stabilization.base import Stabilization
from haugmbd.integrators.stabilization.corrections import (
    add_displacement,
    add_velocity,
    has_sticking_joints,
    scale_solution,
    stop_sticking_joints,
)
from haugmbd.integrators.stabilization.none import RATES
from haugmbd.integrators.step_context import SIGNATURE, Options, make_options, normalize_euler
from haugmbd.math.larger import larger, worst_of
from haugmbd.model.evaluate import prepare
from haugmbd.model.generalized_forces import clear
from haugmbd.workspace import accessors as ws
from haugmbd.workspace import layout as at
from haugmbd.workspace.body_kinematics import update_kinematics
from haugmbd.workspace.layout import Pack

MAX_ITERATIONS = 12
"""Maximum number of Newton iterations; from the error of a usual step three suffice."""
STALLED = 0.3
"""A correction that leaves more than this part of the error has reached rounding."""
ROUNDING = 1e-9
"""A stalled error below this is accepted; above it the step has lost the constraints."""

TOL = DefaultNumber(1e-13)
"""Default tolerance: what a projection may leave."""
POSITIONS_ONLY, VELOCITIES_ONLY, BOTH = 1.0, 2.0, 3.0
"""The projected levels."""


@kernel
def put_position_residual(P: Pack, weight: Array) -> float:
    """Write b = (0, -Phi); return the largest |Phi| of the kept rows.

    weight: `row_weights` to measure lengths by that of the model, `kept_rows` for metres
    """
    ws.solve_for(P)[0, 0] = at.POSITIONS
    b, level = ws.right_hand_side(P), ws.row_values(P)
    clear(b)
    n = ws.n_bodies(P)
    worst = 0.0
    for e in range(weight.shape[0]):
        of_edge = 0.0  # a number of its own, so that edges do not wait for each other
        for a in range(6):
            Phi = level[6 * e + a, 0]
            b[n + e, a] = -Phi
            of_edge = larger(of_edge, abs(Phi) * weight[e, a])
        worst = larger(worst, of_edge)
    return worst


@kernel
def farthest_row(P: Pack, weight: Array) -> int:
    """Return the slot of the row with the largest |Phi|, weighted, or of the first that is not a number."""
    level, worst, slot = ws.row_values(P), 0.0, 0
    for e in range(weight.shape[0]):
        for a in range(6):
            Phi = abs(level[6 * e + a, 0]) * weight[e, a]
            worst, slot = worst_of(worst, slot, Phi, 6 * e + a)
    return slot


@kernel
def put_velocity_residual(P: Pack, bodies: Array, weight: Array) -> float:
    """Write b = (0, nu - Phi_q u); return the largest entry of the kept rows, weighted as for positions."""
    ws.solve_for(P)[0, 0] = at.VELOCITIES
    b, level = ws.right_hand_side(P), ws.row_values(P)
    J, edges = ws.jacobian(P), ws.edges(P)
    clear(b)
    n = ws.n_bodies(P)
    worst = 0.0
    for e in range(weight.shape[0]):
        of_edge = 0.0
        for a in range(6):
            gap = level[6 * e + a, 1] - row_speed(edges, J, bodies, e, a)
            b[n + e, a] = gap
            of_edge = larger(of_edge, abs(gap) * weight[e, a])
        worst = larger(worst, of_edge)
    return worst


@kernel
def rests(P: Pack, options: Options, t: float, y: Array) -> bool:
    """Return whether the state is not projected: between projections, or because the violation is small enough."""
    options.n_since_projection += 1.0
    if options.n_since_projection < options.every:
        return True
    options.n_since_projection = 0.0
    if options.threshold == 0.0 or prepare(P, t, y) != OK:  # a failure here occurs again in the projection, and is reported there
        return False
    worst = 0.0
    if options.levels != VELOCITIES_ONLY:
        worst = put_position_residual(P, ws.kept_rows(P))
    if options.levels != POSITIONS_ONLY:
        worst = max(worst, put_velocity_residual(P, update_kinematics(P, t, y).bodies, ws.kept_rows(P)))
    return bool(worst <= options.threshold)


@kernel
def project(P: Pack, options: Options, t: float, y: Array) -> int:
    """Project y on Phi = 0 and Phi_q u = nu, or on one of them; rows, forces and factor remain those of y."""
    tolerance, in_metres = options.tolerance, options.in_metres == 1.0
    bodies = update_kinematics(P, t, y).bodies
    code = OK
    error = before = left = 1e300
    sticks = has_sticking_joints(P)
    part, corrected = 1.0, 0.0  # of a correction that is made, 0 where the iteration has ended;  1 where there was one
    for _ in range(MAX_ITERATIONS):
        code = prepare(P, t, y)
        if code != OK:
            return code
        error = put_position_residual(P, ws.row_weights(P))
        if options.levels == VELOCITIES_ONLY:
            error = 0.0
        left = put_position_residual(P, ws.kept_rows(P)) if in_metres else error
        code = factorize(P)
        options.n_factorizations += part
        if code != OK:
            return code
        stalled = error > STALLED * before
        ends = (error == 0.0) | (left <= tolerance) | (stalled & ((error <= ROUNDING) | (before <= ROUNDING)))
        part = select(ends, 0.0, part)
        if not somewhere(part > 0.0):
            break
        before = select(part > 0.0, error, before)
        corrected = select(part > 0.0, 1.0, corrected)
        code = P.friction(STAY, t, P, y) if sticks else finish(P)
        if code != OK:
            return code
        if somewhere(part < 1.0):
            scale_solution(P, part)
        add_displacement(P, bodies)
    if not ((error <= ROUNDING) | (left <= tolerance)):
        slot = farthest_row(P, ws.row_weights(P))
        return report(ws.status(P), OFF_MANIFOLD, slot, abs(ws.row_values(P)[slot, 0]))
    weight = ws.kept_rows(P) if in_metres else ws.row_weights(P)
    part = 0.0
    if options.levels != POSITIONS_ONLY:
        part = select(put_velocity_residual(P, bodies, weight) > tolerance, 1.0, 0.0)
    moves = somewhere(part > 0.0)
    corrected = max(corrected, part)
    if sticks and not moves:
        clear(ws.right_hand_side(P))
    if moves or sticks:
        code = P.friction(REST, t, P, y) if sticks else solve_system(P)
        if moves and somewhere(part < 1.0):
            scale_solution(P, part)
        add_velocity(P, bodies)
        if code == OK:
            code = P.prepare_stage(P, t, y)  # the rows in J are those of the pose, which has not changed
    options.n_projections += corrected
    return code


@entry
def post_step(P: Pack, options: Options, t: float, y: Array, y_dot: Array) -> int:
    """Project the state, and write y_dot = f(t, y) with the same factor."""
    normalize_euler(P, options, y)
    options.n_rates += 1
    if rests(P, options, t, y):
        options.n_factorizations += 1
        code = stop_sticking_joints(P, t, y)
        return right_hand_side(P, t, y, y_dot) if code == OK else code
    code = project(P, options, t, y)
    if code != OK:
        return code
    return rates_at_hand(P, t, y, y_dot)


POST_STEP = Routine(post_step, SIGNATURE)


@public_class
@dataclass(frozen=True)
class Projection(Stabilization):
    """Mass-weighted projection of positions and velocities on the constraints, at the end of steps.

    Parameters
    ----------
    tol : float
        Largest |Phi| and |Phi_q u - nu| that is not corrected, in the units of the rows (m, m2, 1, rad); rounding stops it earlier.
        The default, 1e-13, is measured by the characteristic length of the model.
    every : int
        Project after every n-th step.
    threshold : float
        Project only where |Phi| or |Phi_q u - nu| exceeds this, in the same units; 0 projects always.
    positions, velocities : bool
        The levels that are projected.

    Notes
    -----
    The initial state, located events, and states at requested times are projected whatever `every` is.
    Sources: Eich 1993, SIAM J. Numer. Anal. 30, 1467-1482; Lubich 1991.
    """

    tol: float = TOL
    every: int = field(default=1, kw_only=True)
    threshold: float = field(default=0.0, kw_only=True)
    positions: bool = field(default=True, kw_only=True)
    velocities: bool = field(default=True, kw_only=True)
    rates: ClassVar[Routine] = RATES
    post_step: ClassVar[Routine] = POST_STEP
    reference: ClassVar[str] = "Eich 1993, SIAM J. Numer. Anal. 30, 1467-1482; Lubich 1991 (coordinate projection)"
    corrects: ClassVar[bool] = True

    def options(self) -> Options:
        """Return the options of the compiled projection: tolerance and its unit, interval, threshold and levels."""
        levels = BOTH if self.positions and self.velocities else POSITIONS_ONLY if self.positions else VELOCITIES_ONLY
        in_metres = not isinstance(self.tol, DefaultNumber)
        return make_options(tolerance=self.tol, in_metres=in_metres, every=self.every, threshold=self.threshold, levels=levels)

    def check(self) -> None:
        super().check()
        if self.every < 1 or self.every != int(self.every):
            raise UsageError(f"stabilization = {self!r}: every = {self.every} must be a whole number of steps, 1 or more.")
        if not (self.positions or self.velocities):
            raise UsageError(
                f"stabilization = {self!r} projects nothing: give stabilization=None, or leave positions or velocities True."
            )
