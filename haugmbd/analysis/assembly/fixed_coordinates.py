r"""Coordinates that stay fixed in an assembly: bodies, coordinates of bodies, the angle or displacement of a joint.

    FixedCoordinates(body)                   r and p of the body, v and omega_bar as well
    FixedCoordinates(body, "x", "rotation")  coordinates of its centre of mass, global; its whole rotation
    FixedCoordinates(joint, value=0.3)       the joint's angle [rad] or displacement [m], here set to a value;  rate= its rate

Fixed coordinates of bodies are left out of the unknowns. A held joint adds one row:

    angle         atan2(g_i . f_j, f_i . f_j) - value        PiBar_i = -h_i,   PiBar_j = A_j^T A_i h_i               (h_j along h_i)
    displacement  h_i . d_ij - value                         Phi_r_j = h = -Phi_r_i,   PiBar_i = h_i x A_i^T (d_ij + s_i),
                                                             PiBar_j = s_bar_j x A_j^T h
Source: Haug (2021), driving constraints, and independent generalized coordinates.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from math import pi
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from haugmbd.bodies.body import Body
from haugmbd.bodies.validation import numbers
from haugmbd.compiled.array_types import Array
from haugmbd.constraints.freedoms import slides_along_h_only, turns_about_h_only
from haugmbd.constraints.joint import Joint
from haugmbd.deprecated import public_class
from haugmbd.errors import UsageError
from haugmbd.math.euler_parameters import cross, rotation_matrix
from haugmbd.model.inspection.identity import entry_of, number_of
from haugmbd.model.labels import JointEntry
from haugmbd.model.model import Model
from haugmbd.model.state import State

AXES = {"x": (0,), "y": (1,), "z": (2,), "rotation": (3, 4, 5)}
"""Coordinates of a body by name, as columns of (dr, dpi_bar)."""


@public_class
@dataclass(frozen=True, eq=False)
class FixedCoordinates:
    """Coordinates of one body or joint that stay fixed in an assembly.

    Parameters
    ----------
    target : Body or Joint
        The body, or a joint with one rotation (RJ, CJ, ...) or one displacement (TJ, PointOnLine).
    *coordinates : str
        Coordinates of a body: "x", "y", "z", "rotation"; by default all of them. None for a joint.
    value : float, optional
        Value of a single coordinate [m or rad]; by default its value at the start.
    rate : float, optional
        Rate of a single coordinate [m/s or rad/s]; by default its rate at the start.
    """

    target: Body | Joint
    coordinates: tuple[str, ...]
    value: float | None
    rate: float | None

    def __init__(self, target: Body | Joint, *coordinates: str, value: float | None = None, rate: float | None = None) -> None:
        for name, argument in (("target", target), ("coordinates", coordinates), ("value", value), ("rate", rate)):
            object.__setattr__(self, name, argument)

    def __str__(self) -> str:
        names = ", ".join(map(str, self.coordinates))
        return f"{names} of {self.target.name!r}" if names else repr(self.target.name)


class HeldJoint(NamedTuple):
    """A row that holds a joint: its entry, whether it is an angle, its value [rad or m] and rate."""

    entry: JointEntry
    turns: bool
    value: float
    rate: float


class Held(NamedTuple):
    """Fixed coordinates: columns (6 nb,) that may move; rows of joints; the start with the given values; names."""

    free: npt.NDArray[np.bool_]
    joints: tuple[HeldJoint, ...]
    start: State
    names: tuple[str, ...]


class HeldRow(NamedTuple):
    """Phi, and Phi_r, PiBar (2, 3) of bodies i and j, of a held joint."""

    Phi: float
    Phi_r: Array
    PiBar: Array


def read_fixed_coordinates(
    model: Model, start: State, hold: Iterable[FixedCoordinates | Body | Joint] | FixedCoordinates | Body | Joint
) -> Held:
    """Return the fixed coordinates. Raise UsageError for targets and coordinates that do not exist, or cannot be held."""
    several = isinstance(hold, Iterable) and not isinstance(hold, FixedCoordinates | Body | Joint | str | np.ndarray)
    held: Any = hold if several else (hold,)
    free = np.ones((model.nb + 1, 6), dtype=bool)
    r, v = start.r.copy(), start.v.copy()
    joints, names = [], []
    for fixed in (h if isinstance(h, FixedCoordinates) else FixedCoordinates(h) for h in held):
        if not isinstance(fixed.target, Body | Joint):
            raise UsageError(
                f"hold: {fixed.target!r} is neither a body nor a joint. Give the object that system.add(...) returned."
            )
        _check_numbers(fixed)
        names.append(str(fixed))
        if isinstance(fixed.target, Joint):
            joints.append(_held_joint(model, start, fixed))
            continue
        body, columns = _columns(model, fixed)
        free[body, columns] = False
        for number, x in ((fixed.value, r), (fixed.rate, v)):
            if number is not None:
                x[body, columns[0]] = float(number)
    return Held(free[1:].ravel(), tuple(joints), start.replace(r=r, v=v), tuple(names))


def _check_numbers(hold: FixedCoordinates) -> None:
    """Raise UsageError if a value or a rate is not a finite number."""
    for name, value in (("value", hold.value), ("rate", hold.rate)):
        number = 0.0 if value is None else numbers(value)
        if number is None or np.shape(number) != () or not np.isfinite(number):
            raise UsageError(f"hold: {name} = {value!r} of {hold.target.name!r} must be one finite number.")


def _columns(model: Model, hold: FixedCoordinates) -> tuple[int, list[int]]:
    """Return the body's number and its columns."""
    assert isinstance(hold.target, Body)
    number = number_of(model, hold.target, "hold")
    if number == 0 and (hold.value is not None or hold.rate is not None):
        raise UsageError(f"hold: {hold.target.name!r} is the ground, which is always fixed: leave it out.")
    names = hold.coordinates or tuple(AXES)
    wrong = [name for name in names if name not in AXES]
    if wrong:
        raise UsageError(f"hold: {wrong[0]!r} is not a coordinate of a body; give some of {', '.join(map(repr, AXES))}.")
    columns = [column for name in names for column in AXES[name]]
    if (hold.value is not None or hold.rate is not None) and (len(columns) != 1):
        example = "such as FixedCoordinates(body, 'x', value=0.1)"
        raise UsageError(f"hold: a value or rate needs one coordinate of {hold.target.name!r}, {example}.")
    return number, columns


def _held_joint(model: Model, start: State, hold: FixedCoordinates) -> HeldJoint:
    """Return the row of a held joint, at its value at the start if none is given."""
    assert isinstance(hold.target, Joint)
    e = entry_of(model, hold.target, "hold")
    if hold.coordinates:
        raise UsageError(
            f"hold: joint {e.name!r} has one coordinate that can be held: FixedCoordinates(joint, value=..., rate=...)."
        )
    if coordinate_of(e) is None:
        raise UsageError(
            f"hold: joint {e.name!r} ({e.kind}) has no single angle or displacement. Hold a body's coordinates instead."
        )
    return held_joint(e, start, hold.value, hold.rate)


def coordinate_of(e: JointEntry) -> bool | None:
    """Return True if the joint has an angle, False if it has a displacement only, None if it has neither alone."""
    if turns_about_h_only(e.freedoms):
        return True
    return False if slides_along_h_only(e.freedoms) else None


def held_joint(e: JointEntry, start: State, value: float | None = None, rate: float | None = None) -> HeldJoint:
    """Return the row of a joint, at its value in `start` or at a given value."""
    turns = bool(coordinate_of(e))
    row = held_row(HeldJoint(e, turns, 0.0, 0.0), start)
    u = np.hstack([start.v, start.omega_bar])
    J = np.hstack([row.Phi_r, row.PiBar])
    moving = float(J[0] @ u[e.i] + J[1] @ u[e.j])
    return HeldJoint(e, turns, row.Phi if value is None else float(value), moving if rate is None else float(rate))


def held_row(held: HeldJoint, state: State) -> HeldRow:
    """Return Phi and its gradient."""
    e = held.entry
    A_i, A_j = rotation_matrix(state.p[e.i]), rotation_matrix(state.p[e.j])
    h_bar = e.A_bar_i[:, 2]
    h, wanted = A_i @ h_bar, held.value - e.part.q0
    if held.turns:
        f_j = A_j @ e.A_bar_j[:, 0]
        angle = np.arctan2(f_j @ A_i @ e.A_bar_i[:, 1], f_j @ A_i @ e.A_bar_i[:, 0]) - wanted
        return HeldRow(float((angle + pi) % (2.0 * pi) - pi), np.zeros((2, 3)), np.array([-h_bar, A_j.T @ h]))
    s_i, s_j = A_i @ e.s_bar_i, A_j @ e.s_bar_j
    d = state.r[e.j] + s_j - state.r[e.i] - s_i
    PiBar = np.array([cross(h_bar, A_i.T @ (d + s_i)), cross(e.s_bar_j, A_j.T @ h)])
    return HeldRow(float(h @ d) - wanted, np.array([-h, h]), PiBar)
