r"""Formulations: their accelerations and multipliers in small mechanisms against dense algebra, and other right-hand sides.

[ M      Phi_q^T ] [ u   ]   [ b_u ]
[ Phi_q  0       ] [ lam ] = [ b_c ]           solved by LAPACK for the comparison
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from haugmbd.compiled.array_types import Array
from haugmbd.formulations.accelerations import accelerations
from haugmbd.formulations.base import Formulation, KKTSystem, Multipliers, SolveFor
from haugmbd.formulations.newton_euler import NewtonEuler
from haugmbd.formulations.python_formulation import PythonFormulation, kkt_system_of
from haugmbd.model.model import Model
from haugmbd.model.state import State
from haugmbd.simulation.stepping.progress import Progress
from haugmbd.system.system import System
from haugmbd.verification.mechanisms import chain, loop, pendulum
from haugmbd.verification.report import Check
from haugmbd.verification.states import Random

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
    found = accelerations(model, state, formulation=formulation)
    u, lam = np.hstack([found.v_dot, found.omega_bar_dot])[1:].ravel(), found.lam[q.rows]
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
