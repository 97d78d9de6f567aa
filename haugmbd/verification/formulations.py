"""Formulations: their accelerations and multipliers in small mechanisms against dense algebra, and other right-hand sides.

[ M      Phi_q^T ] [ u   ]   [ b_u ]
[ Phi_q  0       ] [ lam ] = [ b_c ]           solved by LAPACK for the comparison
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, ClassVar

import numpy as np

from haugmbd.bodies.body import Body
from haugmbd.bodies.frame import Frame
from haugmbd.compiled.array_types import Array
from haugmbd.constraints.base import Primitive
from haugmbd.constraints.composites import coincident, perpendicular_1
from haugmbd.constraints.equations.d import D
from haugmbd.constraints.freedoms import H_I, Freedom, Side, ball, turn
from haugmbd.constraints.joint import Joint
from haugmbd.forces.tsda import TSDA
from haugmbd.formulations.accelerations import accelerations
from haugmbd.formulations.base import Formulation, KKTSystem, Multipliers, SolveFor
from haugmbd.formulations.newton_euler import NewtonEuler
from haugmbd.formulations.python_formulation import PythonFormulation, kkt_system_of
from haugmbd.model.model import Model
from haugmbd.model.state import State
from haugmbd.simulation.stepping.progress import Progress
from haugmbd.system.system import System
from haugmbd.verification.comparisons import Check, Random

EXACT_TOL = 1e-8
"""Largest relative error of an exact formulation: two digits above the rounding of dense algebra that squares a condition of 1e4."""
APPROXIMATE_TOL = 1e-2
"""The same for a formulation that says that its multipliers are approximate."""

AGAINST = {
    "accelerations": "u of the dense system, by LAPACK",
    "multipliers": "lam of the dense system, by LAPACK",
    "constraints": "Phi_q u = gamma",
    "equations of motion": "M u + Phi_q^T lam = Q",
    "right-hand sides": "positions and velocities: K x = b for random b",
}


def mechanisms_for(formulation: Formulation) -> tuple[System, ...]:
    """Return the mechanisms in which a formulation is verified."""
    return (pendulum(), chain()) if formulation.chains_only else (pendulum(), chain(), loop())


def check_formulation(formulation: Formulation, states: int, rng: Random, bar: Progress) -> tuple[Check, ...]:
    """Return the checks of a formulation."""
    formulation.check()
    allowed = APPROXIMATE_TOL if formulation.multipliers is Multipliers.APPROXIMATE else EXACT_TOL
    worst: dict[str, tuple[float, str]] = {name: (0.0, "") for name in AGAINST}
    models = [system.compile() for system in mechanisms_for(formulation)]
    for model in models:
        for _ in range(states):
            for name, error in _errors(formulation, model, allowed_motion(model, rng), rng).items():
                if np.isnan(error) or error > worst[name][0]:
                    worst[name] = error, f"in the mechanism {model.name!r}"
            bar.done()
    return tuple(Check(name, error, allowed, AGAINST[name], where) for name, (error, where) in worst.items())


def _errors(formulation: Formulation, model: Model, state: State, rng: Random) -> dict[str, float]:
    """Return the relative error of each block at one state."""
    q = kkt_system_of(NewtonEuler(), model, state)
    solution = accelerations(model, state, formulation=formulation)
    u, lam = np.hstack([solution.v_dot, solution.omega_bar_dot])[1:].ravel(), solution.lam[q.rows]
    errors = _compare(q, u, lam)
    if isinstance(formulation, PythonFormulation):
        errors["right-hand sides"] = max(
            _other(formulation, model, state, rng, kind) for kind in (SolveFor.POSITIONS, SolveFor.VELOCITIES)
        )
    return errors


def _other(formulation: Formulation, model: Model, state: State, rng: Random, kind: SolveFor) -> float:
    """Return how far the rows are from another right-hand side: that of a projection."""
    q = kkt_system_of(formulation, model, state)
    q = replace(q, solve_for=kind, b_u=np.zeros(len(q.b_u)), b_c=q.Phi_q @ rng.normal(size=q.Phi_q.shape[1]))
    u = formulation.solve(q).u
    return float(np.abs(q.Phi_q @ u - q.b_c).max() / (np.abs(q.Phi_q).max() * np.abs(u).max() + np.abs(q.b_c).max()))


def _compare(q: KKTSystem, u: Array, lam: Array) -> dict[str, float]:
    """Return the errors of a solution against the dense one, and what it leaves of the equations."""
    n, k = len(q.b_u), len(q.b_c)
    K = np.zeros((n + k, n + k))
    for body, block in enumerate(q.M):
        K[6 * body : 6 * body + 6, 6 * body : 6 * body + 6] = block
    K[n:, :n], K[:n, n:] = q.Phi_q, q.Phi_q.T
    x = np.linalg.solve(K, np.concatenate([q.b_u, q.b_c]))
    force = np.abs(K[:n, :n] @ x[:n]).max() + np.abs(q.b_u).max() + np.abs(q.Phi_q.T @ x[n:]).max()
    return {
        "accelerations": float(np.abs(u - x[:n]).max() / np.abs(x[:n]).max()),
        "multipliers": float(np.abs(lam - x[n:]).max() / np.abs(x[n:]).max()),
        "constraints": float(np.abs(q.Phi_q @ u - q.b_c).max() / (np.abs(q.Phi_q).max() * np.abs(x[:n]).max())),
        "equations of motion": float(np.abs(K[:n, :n] @ u + q.Phi_q.T @ lam - q.b_u).max() / force),
    }


def allowed_motion(model: Model, rng: Random) -> State:
    """Return the modelled pose with random velocities that the rows allow."""
    start = model.state()
    q = kkt_system_of(NewtonEuler(), model, start)
    _, s, Vt = np.linalg.svd(q.Phi_q)
    Z = Vt[int((s > 1e-9 * s[0]).sum()) :].T
    u = (Z @ rng.normal(size=Z.shape[1])).reshape(-1, 6)
    u = np.vstack([np.zeros(6), 2.0 * u])
    return start.replace(v=u[:, :3], omega_bar=u[:, 3:])


# Small mechanisms in which formulations are verified: a pendulum, a chain with a spring, and a closed loop with independent rows.

GRAVITY = (0.3, -1.0, -9.81)


class Ball(Joint):
    """A common point of two bodies."""

    freedoms: ClassVar[tuple[Freedom, ...] | None] = ball(Side.J)

    def __init__(self, name: str, i: Body, j: Body, point: Any, axis: Any = (0.0, 0.0, 1.0)) -> None:
        super().__init__(name, Frame.from_global(i, point, axis), Frame.from_global(j, point, axis))

    def primitives(self) -> tuple[Primitive, ...]:
        return coincident(self.i, self.frame_i.s_bar, self.j, self.frame_j.s_bar)


class Hinge(Ball):
    """A common point and a common axis."""

    freedoms = (turn(H_I),)

    def primitives(self) -> tuple[Primitive, ...]:
        i, j = self.frame_i, self.frame_j
        return (*super().primitives(), *perpendicular_1(self.i, i.f, i.g, self.j, j.h))


def pendulum() -> System:
    """Return a spatial pendulum on a hinge whose axis is not a principal one."""
    system = System("pendulum", gravity=GRAVITY)
    system.add(Hinge("pin", system.ground, _body(system, "bob", (1.0, 0.2, -0.3)), (0.0, 0.0, 0.0), (0.2, 1.0, 0.1)))
    return system


def chain() -> System:
    """Return a chain of a hinge and two ball joints, with a damped spring."""
    system = System("chain", gravity=GRAVITY)
    a, b, c = (_body(system, name, (x, 0.1, 0.0)) for name, x in (("a", 0.5), ("b", 1.5), ("c", 2.5)))
    system.add(Hinge("pin", system.ground, a, (0.0, 0.0, 0.0), (0.0, 1.0, 0.3)))
    system.add(Ball("elbow", a, b, (1.0, 0.0, 0.0)))
    system.add(Ball("wrist", b, c, (2.0, 0.0, 0.2)))
    system.add(TSDA("spring", system.ground, c, point_i=(1.0, 2.0, 0.0), point_j=(2.5, 0.1, 0.0), k=30.0, c=2.0, l0=1.0))
    return system


def loop() -> System:
    """Return a closed loop: a crank on a hinge, a rod with a constant length, a rocker on a hinge."""
    system = System("loop", gravity=GRAVITY)
    crank, rocker = _body(system, "crank", (0.0, 0.0, 0.5)), _body(system, "rocker", (3.0, 0.0, 1.0))
    system.add(Hinge("A", system.ground, crank, (0.0, 0.0, 0.0), (0.0, 1.0, 0.0)))
    system.add(Hinge("D", system.ground, rocker, (3.0, 0.0, 0.0), (0.1, 1.0, 0.0)))
    ends = np.array([(0.0, 0.1, 1.0), (3.0, -0.2, 2.0)])
    s_bar = [body.A.T @ (end - body.r) for body, end in zip((crank, rocker), ends, strict=True)]
    system.add(D(crank, s_bar[0], rocker, s_bar[1], float(np.linalg.norm(ends[1] - ends[0]))))
    return system


def _body(system: System, name: str, r: Any) -> Body:
    return system.add(Body(name, 1.3, (0.11, 0.17, 0.23), r=r, p=(0.8, 0.0, 0.6, 0.0)))
