r"""Energy projection: positions and velocities are projected on the constraints and on the initial energy.

    T + V = E_0     T = sum m v.v / 2 + omega_bar . J_bar omega_bar / 2      V = -sum m g.r + springs

    du = sigma u       dq = -sigma tau^2 w          sigma = (E_0 - E) / (2 T + tau^2 w^T M w)          repeated, with the constraints
    [M Phi_q^T; Phi_q 0] (w, mu) = (F, 0)           F = -dV/dq: the forces;  w: their direction along the constraints

This is the least mass-weighted change of (u, q / tau) along the constraints.  Velocities alone could not restore the energy where the
motion comes to rest, and positions alone not where no force acts.  The weight is tau^2 = max 2T / max w^T M w, both over the run so far.
Models with moving constraints or nonconservative forces are refused, because their energy is not constant.  Their work would have to be
integrated with the motion, and the correction would contain the error of that integral.
A constant energy says nothing about the accuracy of the motion; the sum of what the projection has restored does, see `run_warnings`.
Source: Eich (1993); Hairer, Lubich, Wanner, Geometric Numerical Integration, sec. IV.4 (projection on invariants); Yen, Petzold (1998).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

from haugmbd.compiled.array_types import Array
from haugmbd.compiled.function_pointers import Routine
from haugmbd.compiled.jit import entry, inlined, kernel
from haugmbd.compiled.status_codes import ENERGY_LOST, OK, report
from haugmbd.deprecated import public_class
from haugmbd.drivers.driver import Constant
from haugmbd.errors import UsageError
from haugmbd.forces.registry import potential_of_loads
from haugmbd.formulations.newton_euler import rates_at_hand, right_hand_side, solve_system
from haugmbd.integrators.stabilization.corrections import add_displacement
from haugmbd.integrators.stabilization.projection import ROUNDING, Projection, project, rests
from haugmbd.integrators.step_context import SIGNATURE, Options, normalize_euler
from haugmbd.math.body_columns import OMEGA_BAR, VELOCITY
from haugmbd.model.generalized_forces import clear
from haugmbd.model.model import Model
from haugmbd.workspace import accessors as ws
from haugmbd.workspace import layout as at
from haugmbd.workspace.body_kinematics import update_kinematics
from haugmbd.workspace.layout import Pack

INSTEAD = (
    ", in an amount that depends on the motion: use Projection(); `result.energy().drift`, where work is integrated, shows how well energy "
    "is kept."
)
"""The remedy where the energy is not constant."""
MOST = 6
"""Maximum number of corrections of a step; each correction squares the relative error."""


@kernel
def kinetic_of(P: Pack, bodies: Array) -> float:
    """Return 2 T."""
    inertia = ws.inertia(P)
    total = 0.0
    for k in range(1, inertia.shape[0]):
        for a in range(3):
            total += inertia[k, 0] * bodies[k, VELOCITY + a] ** 2
            for c in range(3):
                total += bodies[k, OMEGA_BAR + a] * inertia[k, 1 + 3 * a + c] * bodies[k, OMEGA_BAR + c]
    return total


@kernel
def potential_of(P: Pack, t: float, y: Array) -> float:
    """Return V."""
    inertia, gravity = ws.inertia(P), ws.gravity(P)
    m = update_kinematics(P, t, y)
    total = 0.0
    for k in range(1, inertia.shape[0]):
        for a in range(3):
            total -= inertia[k, 0] * gravity[a] * m.bodies[k, a]
    if ws.n_forces(P) > 0:
        ints, reals = ws.force_ints(P), ws.force_reals(P)
        total += potential_of_loads(ints, reals, ws.force_kind_starts(P), m)
    return total


@kernel
def put_forces(P: Pack, bodies: Array) -> None:
    """Write the right-hand side b = (F, 0): generalized forces without gyroscopic moments, which do no work."""
    ws.solve_for(P)[0, 0] = at.VELOCITIES
    b, Q, inertia = ws.right_hand_side(P), ws.generalized_forces(P), ws.inertia(P)
    clear(b)
    for k in range(1, inertia.shape[0]):
        w1, w2, w3 = bodies[k, 10], bodies[k, 11], bodies[k, 12]
        h1 = inertia[k, 1] * w1 + inertia[k, 2] * w2 + inertia[k, 3] * w3
        h2 = inertia[k, 4] * w1 + inertia[k, 5] * w2 + inertia[k, 6] * w3
        h3 = inertia[k, 7] * w1 + inertia[k, 8] * w2 + inertia[k, 9] * w3
        for a in range(6):
            b[k, a] = Q[k, a]
        b[k, 3] += w2 * h3 - w3 * h2
        b[k, 4] += w3 * h1 - w1 * h3
        b[k, 5] += w1 * h2 - w2 * h1


@kernel
def work_of_forces(P: Pack, n: int) -> float:
    """Return F^T w = w^T M w for the current w."""
    b, x = ws.right_hand_side(P), ws.solution(P)
    total = 0.0
    for k in range(1, n):
        for a in range(6):
            total += b[k, a] * x[k, a]
    return total


@kernel
def scale_changes(P: Pack, bodies: Array, sigma: float, tau_squared: float) -> None:
    """Set u <- u + sigma u, and the displacement to -sigma tau^2 w."""
    x = ws.solution(P)
    for k in range(1, bodies.shape[0]):
        for a in range(6):
            bodies[k, VELOCITY + a] *= 1.0 + sigma
            x[k, a] *= -sigma * tau_squared


@inlined
def restore(P: Pack, options: Options, t: float, y: Array) -> int:
    """Project y on the constraints and on its energy; rows, forces and factor remain those of y.

    The error after the last correction is rounding, below ROUNDING of the largest energy; otherwise the code is ENERGY_LOST.
    """
    bodies = update_kinematics(P, t, y).bodies
    code, counted, gap = OK, options.n_projections, 0.0
    for correction in range(MOST):
        code = project(P, options, t, y)
        if code != OK:
            return code
        twice_T, V = kinetic_of(P, bodies), potential_of(P, t, y)
        energy = 0.5 * twice_T + V
        if options.energy != options.energy:  # NaN: this is the start
            options.energy = energy
        options.max_energy = max(options.max_energy, abs(0.5 * twice_T), abs(V))
        gap = options.energy - energy
        if correction == 0:
            options.energy_restored += gap
            options.max_energy_restored = max(options.max_energy_restored, abs(options.energy_restored))
        if abs(gap) <= options.energy_tolerance * options.max_energy or correction == MOST - 1:
            break
        put_forces(P, bodies)
        code = solve_system(P)
        if code != OK:
            return code
        steep = work_of_forces(P, bodies.shape[0])
        options.max_twice_kinetic, options.max_gradient = max(options.max_twice_kinetic, twice_T), max(options.max_gradient, steep)
        tau_squared = options.max_twice_kinetic / options.max_gradient if options.max_gradient > 0.0 else 0.0
        weight = twice_T + tau_squared * steep
        if not weight > 0.0:
            break
        scale_changes(P, bodies, gap / weight, tau_squared)
        add_displacement(P, bodies)
        options.n_projections = counted + 1.0
    options.n_projections = min(options.n_projections, counted + 1.0)
    if not abs(gap) <= max(ROUNDING, options.energy_tolerance) * options.max_energy:
        return report(ws.status(P), ENERGY_LOST, 0, abs(gap) / options.max_energy)
    return code


@entry
def post_step(P: Pack, options: Options, t: float, y: Array, y_dot: Array) -> int:
    """Project on constraints and energy; write y_dot = f(t, y) with the same factor."""
    normalize_euler(P, options, y)
    options.n_rates += 1
    if rests(P, options, t, y):
        options.n_factorizations += 1
        return right_hand_side(P, t, y, y_dot)
    code = restore(P, options, t, y)
    if code != OK:
        return code
    return rates_at_hand(P, t, y, y_dot)


POST_STEP = Routine(post_step, SIGNATURE)


@public_class
@dataclass(frozen=True)
class EnergyProjection(Projection):
    """Projection on the constraints and on the initial energy, at the end of steps; for conservative systems.

    Parameters
    ----------
    tol : float
        Largest |Phi| and |Phi_q u - nu| that is not corrected, in the units of the rows.
    energy_tol : float
        Energy error that is not corrected, relative to the largest |T| and |V| so far.
    every : int
        Project after every n-th step.
    threshold : float
        Project only where |Phi| or |Phi_q u - nu| exceeds this; 0 projects always.
    positions, velocities : bool
        Both must stay True.

    Raises
    ------
    UsageError
        At the start of a run, for invalid parameters, or for a model whose energy is not constant.

    Notes
    -----
    Sources: Eich 1993, SIAM J. Numer. Anal. 30, 1467-1482; Hairer, Lubich and Wanner, Geometric Numerical Integration, sec. IV.4.
    """

    energy_tol: float = field(default=1e-14, kw_only=True)
    post_step: ClassVar[Routine] = POST_STEP
    reference: ClassVar[str] = (
        "Eich 1993, SIAM J. Numer. Anal. 30, 1467-1482; Yen and Petzold 1998; Hairer, Lubich and Wanner, sec. IV.4"
    )
    needs_block_factor: ClassVar[bool] = True

    def options(self) -> Options:
        """Return the options of the projection, and the tolerance of the energy."""
        options = super().options()
        options.energy_tolerance = self.energy_tol
        return options

    def check(self) -> None:
        super().check()
        if not (self.positions and self.velocities):
            raise UsageError(f"stabilization = {self!r}: energy is a matter of positions and velocities, leave both True.")

    def fitted(self, model: Model, pack: Pack) -> Pack:
        """Return the pack unchanged.  Raise UsageError for a model whose energy is not constant."""
        working = [entry.load.name for entry in model.loads if not entry.load.conservative]
        drivers = model.drivers_of_rows()
        moving = {label.joint for label, k in zip(model.labels, drivers, strict=True) if not isinstance(model.drivers[k], Constant)}
        if working:
            raise UsageError(f"EnergyProjection keeps T + V, and {', '.join(map(repr, working))} takes or gives energy{INSTEAD}")
        if moving:
            raise UsageError(
                f"EnergyProjection keeps T + V, and {', '.join(map(repr, sorted(moving)))} is driven, and does work{INSTEAD}"
            )
        return pack
