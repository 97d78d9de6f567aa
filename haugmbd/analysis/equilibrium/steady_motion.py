r"""Steady motions: all bodies rotate uniformly about one axis or move along a line, and rotors about their own axes.

    r     = o + R(t) (rho - o) + V t,   A = R(t) A_m S(t)   R = exp(Omega~ t) rotates everything about the axis (o, Omega)
    v     = V + Omega x (r - o) + v'                        S = exp(s~ t) rotates a rotor about an axis through its centre; V or Omega is 0
    omega = A^T Omega + omega' + s                          v', omega': relative velocities; body frames; all at R = S = I

    v_dot     = v'_dot + Omega x (Omega x (r - o)) + 2 Omega x v'
    omega_dot = omega'_dot - omega' x A^T Omega - s x (omega' + A^T Omega)

All terms but v'_dot and omega'_dot are the `bias`: the accelerations of the steady motion itself, and Coriolis accelerations.
Source: derivatives of the first two lines; a relative equilibrium of Routh (1884) if v' = omega' = 0.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from haugmbd.bodies.body import Body
from haugmbd.bodies.validation import numbers
from haugmbd.compiled.array_types import Array
from haugmbd.deprecated import public_class
from haugmbd.errors import UsageError
from haugmbd.math.body_columns import EULER, VELOCITY
from haugmbd.math.euler_parameters import cross, exponential, product, rotation_matrix
from haugmbd.model.inspection.identity import number_of
from haugmbd.model.model import Model


@public_class
@dataclass(frozen=True, eq=False)
class UniformRotation:
    """Steady motion in which all bodies rotate about one axis.

    Parameters
    ----------
    omega : array_like, (3,)
        Angular velocity, global [rad/s].
    point : array_like, (3,)
        A point of the axis, global [m].
    """

    omega: Any
    point: Any = field(default=(0.0, 0.0, 0.0))


@public_class
@dataclass(frozen=True, eq=False)
class UniformTranslation:
    """Steady motion in which all bodies move along a line, such as a vehicle that goes straight ahead; its wheels are `RotorSpin`.

    Parameters
    ----------
    velocity : array_like, (3,)
        Velocity, global [m/s].
    """

    velocity: Any


@public_class
@dataclass(frozen=True, eq=False)
class RotorSpin:
    """Steady motion of one body about an axis through its centre of mass.

    Parameters
    ----------
    body : Body or str
        The rotor, or its name. Its inertia, joints and forces must not depend on its rotation angle.
    omega_bar : array_like, (3,)
        Angular velocity, body frame [rad/s].
    """

    body: Body | str
    omega_bar: Any


class Steady(NamedTuple):
    """A steady motion as numbers: Omega, point, V (3,) global;  own: (nb + 1, 3) body frames [rad/s]."""

    Omega: Array
    point: Array
    own: Array
    V: Array

    @property
    def moves(self) -> bool:
        """Return whether anything moves."""
        return self.turns or bool(self.V.any())

    @property
    def turns(self) -> bool:
        """Return whether any body turns."""
        return bool(self.Omega.any() or self.own.any())


SteadyPart = UniformRotation | UniformTranslation | RotorSpin
SteadyLike = SteadyPart | Steady | Sequence[SteadyPart] | None


def read_steady(model: Model, motions: SteadyLike) -> Steady:
    """Return the steady motion. Raise UsageError for a wrong type, two moving frames, or a body that does not exist."""
    if isinstance(motions, Steady):
        return motions
    parts = (motions,) if isinstance(motions, SteadyPart) else () if motions is None else motions
    if not isinstance(parts, Sequence) or isinstance(parts, str) or not all(isinstance(part, SteadyPart) for part in parts):
        raise UsageError(
            f"steady = {motions!r} must be UniformRotation(omega=(0, 0, 10)), UniformTranslation(velocity=(5, 0, 0)), "
            "RotorSpin(body, omega_bar=(0, 0, 10)), or a list of them."
        )
    frames = [part for part in parts if not isinstance(part, RotorSpin)]
    if len(frames) > 1:
        names = [type(part).__name__ for part in frames]
        kinds = " and ".join(f"{names.count(name)} {name}" for name in dict.fromkeys(names))
        raise UsageError(
            f"steady has {kinds}: the mechanism can turn about one axis, or move along one line. A turn with a velocity across its axis "
            "is a turn about another axis: give its point. Use RotorSpin for rotors and wheels."
        )
    Omega, point, V = np.zeros(3), np.zeros(3), np.zeros(3)
    for frame in frames:
        if isinstance(frame, UniformTranslation):
            V = _three("UniformTranslation", "velocity", frame.velocity)
        else:
            Omega, point = _three("UniformRotation", "omega", frame.omega), _three("UniformRotation", "point", frame.point)
    spins = np.zeros((model.nb + 1, 3))
    for part in parts:
        if isinstance(part, RotorSpin):
            spins[_number(model, part.body)] += _three("RotorSpin", "omega_bar", part.omega_bar)
    return Steady(Omega, point, spins, V)


def _three(kind: str, name: str, vector: Any) -> Array:
    """Return three finite numbers."""
    array = numbers(vector)
    if array is None or array.shape != (3,) or not np.isfinite(array).all():
        raise UsageError(f"{kind}: {name} = {vector!r} must be three finite numbers.")
    return np.asarray(array, dtype=np.float64)


def _number(model: Model, body: Body | str) -> int:
    """Return the number of a moving body."""
    name = model.body_names[number_of(model, body, "RotorSpin")] if isinstance(body, Body) else body
    if name not in model.body_names[1:]:
        raise UsageError(f"RotorSpin: no moving body is called {name!r}; they are {', '.join(map(repr, model.body_names[1:]))}.")
    return model.body(name)


def velocities(steady: Steady, bodies: Array, u: Array) -> Array:
    """Return (v, omega_bar), (nb + 1, 6), of poses `bodies` (nb + 1, 13) with relative velocities u (nb + 1, 6); the ground is at rest."""
    rates = u.copy()
    if not steady.turns:
        rates[:, :3] += steady.V
        rates[0] = 0.0
        return rates
    turning = _turning(steady, bodies)
    rates[:, :3] += steady.V + cross(steady.Omega, bodies[:, :3] - steady.point)
    rates[:, 3:] += turning + steady.own
    rates[0] = 0.0
    return rates


def bias(steady: Steady, bodies: Array, u: Array) -> Array:
    """Return (v_dot, omega_bar_dot), (nb + 1, 6), for constant relative velocities u (nb + 1, 6)."""
    if not steady.turns:
        return np.zeros_like(u)
    turning = _turning(steady, bodies)
    out = cross(steady.Omega, cross(steady.Omega, bodies[:, :3] - steady.point) + 2.0 * u[:, :3])
    turn = -cross(u[:, 3:], turning) - cross(steady.own, u[:, 3:] + turning)
    return np.hstack([out, turn])


def _turning(steady: Steady, bodies: Array) -> Array:
    """Return A^T Omega, (nb + 1, 3)."""
    return np.asarray(np.einsum("kba,b->ka", rotation_matrix(bodies[:, EULER:VELOCITY]), steady.Omega))


def later(steady: Steady, bodies: Array, tau: float) -> Array:
    """Return the poses (nb + 1, 13) of the steady motion after `tau` [s]."""
    moved, q = bodies.copy(), exponential(tau * steady.Omega)
    moved[1:, :3] = steady.point + (bodies[1:, :3] - steady.point) @ rotation_matrix(q).T + tau * steady.V
    moved[1:, EULER:VELOCITY] = product(product(q, bodies[1:, EULER:VELOCITY]), exponential(tau * steady.own[1:]))
    return moved
