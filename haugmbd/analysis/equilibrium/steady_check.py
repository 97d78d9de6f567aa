r"""Check that a motion is steady: it is compared with itself at later times.

    Phi = 0,  Phi_q u = nu,  N^T (Q - M bias) = 0        at  R(tau) (q - o) + V tau,  S(tau),  t + tau,   for some tau

The check finds a wrong axis, a driver at another speed, gravity across the axis, and a rotor without rotational symmetry.
"""

from __future__ import annotations

import numpy as np

from haugmbd.analysis.assembly.constraint_system import row_lengths
from haugmbd.analysis.equilibrium.residual import (
    Residual,
    ResidualEvaluator,
    bodies_in,
    evaluate_residual,
    motions_of,
    put_angles,
)
from haugmbd.analysis.equilibrium.solver import TrialPose
from haugmbd.analysis.equilibrium.steady_motion import later, velocities
from haugmbd.analysis.equilibrium.tangent_space import tangent
from haugmbd.analysis.mobility.free_motions import largest, motion_text
from haugmbd.compiled.array_types import Array
from haugmbd.errors import UsageError
from haugmbd.math.body_columns import EULER, VELOCITY, WIDTH
from haugmbd.model.model import Model

STEADY_TOL = 1e-6
"""Residual of a steady motion at a later time, relative to the forces at work, the length, and the speed."""


LATER = (0.7, 1.9, 2.9)
"""[rad, or L] Rotations (or ways) after which a steady motion is checked; they are not symmetry angles of gears, blades or polygons."""


def refuse_friction(model: Model, what: str) -> None:
    """Raise UsageError if friction in a joint depends on what the joint carries."""
    names = [repr(entry.load.name) for entry in model.loads if entry.load.reads_reaction]
    if names:
        raise UsageError(
            f"{what} takes the forces of a state without its multipliers, and friction {', '.join(names)} depends on them. "
            "Give Viscous(c) for small motions, or simulate."
        )


def check_steady(evaluator: ResidualEvaluator, pose: TrialPose, scale: float, rate_scale: Array) -> None:
    """Raise UsageError unless the motion is steady: its velocities fulfil the rows, now and later, and forces and blocks stay in balance.

    scale: scale of the balance [J];  rate_scale: (ns,) of the states of blocks, see `block_matrices`
    """
    steady, model = evaluator.steady, evaluator.model
    turning = max(float(np.linalg.norm(steady.Omega)), float(np.linalg.norm(steady.own, axis=1).max()))
    speed = turning or float(np.linalg.norm(steady.V)) / evaluator.length
    for turn in (0.0, *LATER):
        y = pose.y.copy()
        bodies = bodies_in(model, y)
        bodies[:] = later(steady, bodies, turn / speed)
        put_angles(evaluator, y)
        bodies[:, VELOCITY:WIDTH] = velocities(steady, bodies, np.zeros((model.nb + 1, 6)))
        residual = evaluate_residual(evaluator, y, t=evaluator.t + turn / speed)
        when = (f"after {turn:g} rad of it" if turning else f"after {turn * evaluator.length:.3g} m of it") if turn else "at once"
        _check_rows(evaluator, bodies, residual, speed, when)
        _check_forces(evaluator, bodies, residual, scale, when)
        check_states(evaluator, residual, rate_scale, STEADY_TOL, when)


def check_states(evaluator: ResidualEvaluator, residual: Residual, rate_scale: Array, tolerance: float, when: str) -> None:
    """Raise UsageError, with the states of blocks that move, unless all of them rest."""
    moves = np.flatnonzero(np.abs(residual.rates) > tolerance * rate_scale).tolist()
    if moves:
        names = ", ".join(f"{evaluator.states.names[k]} at {residual.rates[k]:.4g} per second" for k in moves)
        raise UsageError(
            f"the state is not an equilibrium of the blocks: {when} there moves {names}. Linearize what "
            "mbd.equilibrium(system) finds; in a steady motion give the state of the blocks that belongs to it."
        )


def _check_rows(evaluator: ResidualEvaluator, bodies: Array, residual: Residual, speed: float, when: str) -> None:
    """Raise UsageError if a row or its rate is violated."""
    u = (bodies[1:, VELOCITY:WIDTH] / evaluator.scale.reshape(-1, 6)).ravel()
    length = row_lengths(residual.J)
    length[length == 0.0] = 1.0
    gaps = np.abs(np.stack([(residual.J @ u - residual.nu) / speed, residual.Phi]) / length).max(axis=0)
    if gaps.max(initial=0.0) <= STEADY_TOL:
        return
    row = evaluator.model.labels[evaluator.kept[int(np.argmax(gaps))]]
    raise UsageError(
        f"the steady motion does not fit joint {row.joint!r}: {row} is violated {when}. Let its driver move at the speed of "
        "UniformRotation, UniformTranslation or RotorSpin, give the axis that the joint turns about, and name every rotor and wheel."
    )


def _check_forces(evaluator: ResidualEvaluator, bodies: Array, residual: Residual, scale: float, when: str) -> None:
    """Raise UsageError if the forces along the free motions are out of balance."""
    left = tangent(residual).along(residual.force)
    if np.abs(left).max(initial=0.0) <= STEADY_TOL * scale:
        return
    push = motions_of(evaluator, left[:, None])[0]
    text = motion_text(
        push, bodies[:, EULER:VELOCITY], evaluator.model.body_names, evaluator.length, unit=largest(push, evaluator.length)
    )
    raise UsageError(
        f"the motion is not steady: {when} the forces are out of balance, and push: {text}. Gravity must be along the "
        "axis of UniformRotation, loads must move with it, and a rotor must be symmetric about its own axis."
    )
