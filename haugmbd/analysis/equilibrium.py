r"""equilibrium: a pose at which all forces are in balance, whether it is stable, and what the joints carry there.

    Q - M bias - Phi_q^T lam = 0,   Phi(q, t) = 0         at rest (bias = 0), or in a steady motion, with its accelerations as bias
    K x = kappa x                                         stiffness along the tangent space of the constraints
    kappa > 0 stable,  kappa < 0 unstable,  kappa = 0 indifferent                                      along x

Drivers stand still at their values at time t (a quasi-static pose), unless the steady motion is what they drive.
kappa > 0 in a steady motion is stability in the frame that turns; gyroscopic forces may hold what kappa < 0 lets go: see `linearize`.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

import numpy as np

from haugmbd.algebra.vec3 import Array
from haugmbd.analysis.search import NotHeld, Place, find_balance
from haugmbd.analysis.steady import Steady, SteadyLike, later, read_steady, velocities
from haugmbd.analysis.stiffness import NOISE, scale_of
from haugmbd.analysis.tangent import RANK_TOL, Bench, bodies_in, follow_angles, look, make_bench, tangent
from haugmbd.analysis.twist_text import largest, turns_first, words
from haugmbd.errors import ModelError, SimulationError, UsageError
from haugmbd.model.consistency import state_faults
from haugmbd.model.joint_wrench import Axes, JointWrench, Side, at_joint_point, body_of_side, check_question
from haugmbd.model.model import Model
from haugmbd.model.redundancy import MinimumNorm
from haugmbd.model.rows import evaluate
from haugmbd.model.state import State
from haugmbd.model.system import System

INDIFFERENT_TOL = 10.0 * NOISE
"""Stiffness, relative to the forces at work and to the largest stiffness, that is none."""

STEADY_TOL = 1e-6
"""Misfit of a steady motion some time later, relative to the forces at work, the length, and the speed: a rotor typed with six digits."""

LATER = (0.7, 1.9, 2.9)
"""[rad] Turns after which a steady motion must look the same: no parts of a turn by which gears, blades or polygons repeat."""


class Stability(Enum):
    """What a small push does: the pose comes back, stays where it is pushed to, or departs."""

    STABLE = "stable"
    INDIFFERENT = "indifferent"
    UNSTABLE = "unstable"


@dataclass(frozen=True, eq=False)
class Equilibrium:
    """A pose in balance.

    model;  state: with the velocities of the steady motion;  lam: (nc,) multipliers, shared by redundant rows as the model says
    motions: (nd, nb + 1, 6) displacement, global [m], and turn, body frames [rad]: the largest turn is 1, or the largest displacement
    stiffness: (nd,) against each of them [N m/rad, or N/m where nothing turns];  kinds: (nd,) what a push along each of them does
    residual: force left along the motions, over the forces at work and the stiffness;  newton, relaxed: steps made
    steady: the steady motion, as it was read;  length: [m] what displacements are measured with
    """

    model: Model
    state: State
    lam: Array
    motions: Array
    stiffness: Array
    kinds: tuple[Stability, ...]
    residual: float
    newton: int
    relaxed: int
    steady: Steady
    length: float

    @property
    def dof(self) -> int:
        """Degrees of freedom."""
        return len(self.stiffness)

    @property
    def stability(self) -> Stability:
        """UNSTABLE if any motion is, else INDIFFERENT if any is, else STABLE."""
        kinds = self.kinds
        return next((kind for kind in (Stability.UNSTABLE, Stability.INDIFFERENT) if kind in kinds), Stability.STABLE)

    @property
    def stable(self) -> bool:
        """Whether every small push is resisted."""
        return self.stability is Stability.STABLE

    def motion(self, k: int) -> str:
        """The k-th motion in words."""
        return words(self.motions[k], self.state.p, self.model.body_names, self.length)

    def reaction(self, joint: str, *, on: Side = "j", frame: Axes = "ground") -> JointWrench:
        """Force [N] and torque [N m], (3,) each, that `joint` exerts on its body j (or i) at the joint's point, and the point [m].

        frame: in which they are written: "ground", "body" or "joint";  UsageError for what does not exist
        """
        check_question(self.model.joints, self.model.body_names, joint, on, frame)
        e = self.model.joints[joint]
        body, rows = body_of_side(e, on), jacobian_by_bodies(self.model, self.state)
        wrench = -np.einsum("r,rc->c", self.lam[e.rows], rows[e.rows, body])
        found = at_joint_point(e, on, frame, self.state.r[[body]], self.state.p[[body]], wrench[None])
        return JointWrench(*(x[0] for x in found))

    def __str__(self) -> str:
        """Stability, and each motion that is not resisted."""
        head = f"{self.model.name!r}: {'steady motion' if self.steady.moves else 'equilibrium'} at t = {self.state.t:g} s"
        steps = f"{self.newton} Newton steps" + (f", {self.relaxed} of relaxation" if self.relaxed else "")
        lines = [f"{head}, {self.stability.value} ({self.dof} degrees of freedom, {steps}, residual {self.residual:.1e})"]
        for k, kind in enumerate(self.kinds):
            if kind is Stability.UNSTABLE:
                unit = "N m/rad" if turns_first(self.motions[k], self.length) else "N/m"
                lines.append(f"  unstable, stiffness {self.stiffness[k]:.4g} {unit}: {self.motion(k)}")
            if kind is Stability.INDIFFERENT:
                lines.append(f"  indifferent: {self.motion(k)}")
        return "\n".join(lines)


def jacobian_by_bodies(model: Model, state: State) -> Array:
    """Phi_q by bodies, (nc, nb + 1, 6)."""
    rows = evaluate(model, state)
    J = np.zeros((model.nc, model.nb + 1, 6))
    for side in (0, 1):
        J[np.arange(model.nc), rows.bodies[:, side]] += np.concatenate([rows.Phi_r, rows.PiBar], axis=2)[:, side]
    return J


def equilibrium(
    system: System | Model, state: State | None = None, *, steady: SteadyLike = None, downhill: bool = True
) -> Equilibrium:
    """Return the equilibrium that is found from `state` (by default the modelled one; its velocities do not count).

    steady: a `Spin` of everything and `RotorSpin` of rotors: the pose of a steady motion, with its centrifugal forces, not of rest
    downhill: go where the forces push, to a stable equilibrium; False: to the next balance, stable or not.  Where the given state is
        in balance, it is the answer, and may be unstable
    Drivers stand still at state.t.  Raises SimulationError, whose `.result` is the last State, where there is none: it says which
    body goes on moving;  ModelError, UsageError for faults of the model, the state, or a steady motion that does not fit it.
    """
    model, start = door(system, state)
    bench = make_bench(model, read_steady(model, steady), start.t)
    try:
        found = find_balance(bench, start.y, downhill=downhill)
    except NotHeld as error:
        raise _not_held(bench, *error.result) from None
    kappa, V = np.linalg.eigh(0.5 * (found.K + found.K.T))
    place = found.place
    at_rest = state_of(bench, place.y)
    if bench.steady.moves:
        check_steady(bench, place, scale_of(place.work, found.K))
    motions = motions_of(bench, place.at.N @ V)
    unit = np.array([largest(motion, bench.length) for motion in motions])
    left = float(np.abs(place.g).max(initial=0.0)) / (scale_of(place.work, found.K) or 1.0)
    return Equilibrium(
        model,
        at_rest,
        multipliers(model, place),
        motions / unit[:, None, None],
        kappa / unit**2,
        kinds_of(kappa, scale_of(place.work, found.K)),
        left,
        found.newton,
        found.relaxed,
        bench.steady,
        bench.length,
    )


def multipliers(model: Model, place: Place) -> Array:
    """lam (nc,) as the model shares loads between dependent rows: none on dropped rows, or the least sum of squares."""
    J, force = place.sight.J, place.sight.force
    dropped = list(model.redundancy.dropped)
    if not dropped:
        return place.at.lam
    kept = np.ones(model.nc, dtype=bool)
    kept[dropped] = isinstance(model.redundancy.rule, MinimumNorm)
    lam = np.zeros(model.nc)
    lam[kept] = np.linalg.lstsq(J[kept].T, force, rcond=RANK_TOL)[0]
    return lam


def kinds_of(kappa: Array, scale: float) -> tuple[Stability, ...]:
    """Stable, indifferent or unstable, for each stiffness [J] in an orthonormal basis."""
    small = INDIFFERENT_TOL * scale
    return tuple(Stability.INDIFFERENT if abs(k) <= small else Stability.STABLE if k > 0.0 else Stability.UNSTABLE for k in kappa)


def door(system: System | Model, state: State | None) -> tuple[Model, State]:
    """The model, and the state to begin with; UsageError and ModelError for what is none."""
    if not isinstance(system, System | Model):
        raise UsageError(f"got {system!r}, and needs a System or a compiled Model.")
    if state is not None and not isinstance(state, State):
        raise UsageError(f"state = {state!r} must be a State: start from model.state() and change it with state.replace(...).")
    model = system if isinstance(system, Model) else system.compile()
    start = model.state() if state is None else state
    faults = state_faults(model, start)
    if faults:
        raise ModelError(faults)
    return model, start


def state_of(bench: Bench, y: Array) -> State:
    """The state of the poses of y in the steady motion."""
    y = y.copy()
    bodies = bodies_in(bench.model, y)
    bodies[:, 7:13] = velocities(bench.steady, bodies, np.zeros((bench.model.nb + 1, 6)))
    return State.from_y(bench.t, y, bench.model.nb + 1)


def motions_of(bench: Bench, X: Array) -> Array:
    """The columns of X (6 nb, n) as motions (n, nb + 1, 6): displacements in m, turns in rad."""
    motions = np.zeros((X.shape[1], bench.model.nb + 1, 6))
    motions[:, 1:] = (X * bench.scale[:, None]).T.reshape(X.shape[1], bench.model.nb, 6)
    return motions


def check_steady(bench: Bench, place: Place, scale: float) -> None:
    """Raise UsageError unless the steady motion goes on: its velocities fit the rows, now and later, and the forces stay in balance."""
    steady, model = bench.steady, bench.model
    speed = max(float(np.linalg.norm(steady.Omega)), float(np.linalg.norm(steady.own, axis=1).max()))
    for turn in (0.0, *LATER):
        y, tau = place.y.copy(), turn / speed
        bodies = bodies_in(model, y)
        bodies[:] = later(steady, bodies, tau)
        follow_angles(model, y)
        bodies[:, 7:13] = velocities(steady, bodies, np.zeros((model.nb + 1, 6)))
        sight = look(bench, y, t=bench.t + tau)
        u = (bodies[1:, 7:13] / bench.scale.reshape(-1, 6)).ravel()
        length = np.linalg.norm(sight.J, axis=1)
        length[length == 0.0] = 1.0
        gaps = np.abs(np.stack([(sight.J @ u - sight.nu) / speed, sight.Phi]) / length)
        when = f"after {turn:g} rad of it" if turn else "at once"
        if gaps.max(initial=0.0) > STEADY_TOL:
            row = model.labels[int(np.argmax(gaps.max(axis=0)))]
            raise UsageError(
                f"the steady motion does not fit joint {row.joint!r}: {row} is violated {when}. Let its driver move at the speed of "
                "Spin or RotorSpin, give the axis that the joint turns about, and name every rotor."
            )
        at = tangent(sight)
        left = at.N @ (at.N.T @ sight.force)
        if np.abs(left).max(initial=0.0) > STEADY_TOL * scale:
            push = motions_of(bench, left[:, None])[0]
            text = words(push, bodies[:, 3:7], model.body_names, bench.length, unit=largest(push, bench.length))
            raise UsageError(
                f"the motion is not steady: {when} the forces are out of balance, and push: {text}. Gravity must be along the axis of "
                "Spin, loads must turn with it, and a rotor must be round about its own axis."
            )


def _not_held(bench: Bench, place: Place, x: Array) -> SimulationError:
    """Which bodies go on moving, and how hard they are pushed."""
    model, state = bench.model, state_of(bench, place.y)
    motion = motions_of(bench, x[:, None])[0]
    text = words(motion, state.p, model.body_names, bench.length, unit=largest(motion, bench.length))
    way = float(np.linalg.norm(state.r - model.state().r, axis=1).max())
    body = model.body_names[int(np.argmax(np.abs(x).reshape(-1, 6).max(axis=1))) + 1]
    push = float(place.sight.force @ x) / largest(motion, bench.length)
    unit = "N m" if turns_first(motion, bench.length) else "N"
    return SimulationError(
        f"no equilibrium is found from the given state: nothing holds {body!r}. The forces still push with {push:.4g} {unit}: "
        f"{text} (a body has moved by {way:.3g} m). Add what should hold it (a joint, a spring), or start from another pose.",
        state,
    )
