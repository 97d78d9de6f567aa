r"""A state: time, poses, velocities, as a value.

y = ( r, p, v, omega_bar of body 0 (ground), 1, ..., nb;  integrated joint angles, touch speeds of contact forces;
      internal states of force elements and blocks )
"""

from __future__ import annotations

from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from haugmbd.bodies.validation import need_unmasked, numbers
from haugmbd.compiled.array_types import Array
from haugmbd.deprecated import public_class
from haugmbd.errors import UsageError
from haugmbd.math.body_columns import EULER, OMEGA_BAR, VELOCITY
from haugmbd.model.immutable import immutable
from haugmbd.workspace.layout import WIDTH

COLUMNS = {
    "r": slice(0, EULER),
    "p": slice(EULER, VELOCITY),
    "v": slice(VELOCITY, OMEGA_BAR),
    "omega_bar": slice(OMEGA_BAR, WIDTH),
}
"""Columns of the arrays of a state in the rows of the bodies."""


@public_class
@immutable("Make another one: state.replace(v=..., t=...).")
@dataclass(frozen=True, eq=False)
class State:
    """One instant of a mechanism.

    Parameters
    ----------
    t : float
        Time [s].
    r : array_like, (nb + 1, 3)
        Centres of mass, global frame [m].
    p : array_like, (nb + 1, 4)
        Euler parameters, scalar first.
    v : array_like, (nb + 1, 3)
        Velocities of the centres of mass, global frame [m/s].
    omega_bar : array_like, (nb + 1, 3)
        Angular velocities, body frames [rad/s].
    angles : array_like, (na,), optional
        Integrated joint angles [rad] and touch speeds of contact forces [m/s], in the order of the loads; then the internal states of
        force elements and blocks.
    structure : Structure, optional
        Which switchable parts are on at this instant, see `Switch`; by default those with which the model begins.

    Raises
    ------
    UsageError
        If an array has masked values.

    Notes
    -----
    A state is frozen, and its arrays are read-only copies. Row 0 is the ground.
    """

    t: float
    r: Array
    p: Array
    v: Array
    omega_bar: Array
    angles: Array = field(default_factory=lambda: np.zeros(0))
    structure: Any = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "t", float(_read("t", self.t, 0)))
        for name in ("r", "p", "v", "omega_bar", "angles"):
            need_unmasked(name, getattr(self, name))
            array = _read(name, getattr(self, name))
            array.flags.writeable = False
            object.__setattr__(self, name, array)

    def replace(self, **changes: Any) -> State:
        """Return a copy with some arrays changed: state.replace(v=..., t=...)."""
        return replace(self, **changes)

    @property
    def y(self) -> Array:
        """Return the state as one flat vector, a new array (13 (nb + 1) + na,)."""
        return self.flat.copy()

    @cached_property
    def flat(self) -> Array:
        """The state as one flat vector, for kernels, which have one array type: writable, and never written to."""
        return np.concatenate([np.hstack([self.r, self.p, self.v, self.omega_bar]).ravel(), self.angles])

    def __getstate__(self) -> dict[str, Any]:
        """Return what is saved: the numbers."""
        return {each.name: getattr(self, each.name) for each in fields(self)}

    @classmethod
    def from_y(cls, t: float, y: Array, n_bodies: int, flat: Array | None = None) -> State:
        """Return the state of a flat vector with `n_bodies` bodies, the ground included.

        flat: the same numbers, never written to: the arrays of the state are then parts of them, not copies
        """
        if flat is None:
            rows = y[: WIDTH * n_bodies].reshape(n_bodies, WIDTH)
            parts = *(rows[:, columns] for columns in COLUMNS.values()), y[WIDTH * n_bodies :]
            return cls.of_numbers(float(t), *(part.copy() for part in parts))
        state = cls.__new__(cls)
        known = vars(state)
        known["t"], known["flat"], known["_n_bodies"] = float(t), flat, n_bodies
        return state

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> Array:
            """Return an array of a state that is made of its flat vector, when it is first asked for: most events ask for few."""
            n_bodies = vars(self).get("_n_bodies")
            if n_bodies is None or not (name in COLUMNS or name == "angles"):
                raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
            end = WIDTH * n_bodies
            part = self.flat[end:] if name == "angles" else self.flat[:end].reshape(n_bodies, WIDTH)[:, COLUMNS[name]]
            part.flags.writeable = False
            vars(self)[name] = part
            return part

    @classmethod
    def of_numbers(cls, t: float, r: Array, p: Array, v: Array, omega_bar: Array, angles: Array) -> State:
        """Return the state that takes over these arrays of floats, which nobody else writes to; they are not checked."""
        for array in (r, p, v, omega_bar, angles):
            array.flags.writeable = False
        state = cls.__new__(cls)
        vars(state).update(t=t, r=r, p=p, v=v, omega_bar=omega_bar, angles=angles)
        return state


def _read(name: str, value: Any, ndim: int | None = None) -> Array:
    """Return a value as a float array; UsageError where it is not made of numbers."""
    array = numbers(value)
    if array is None or (ndim is not None and array.ndim != ndim):
        needed = "a number" if ndim == 0 else "an array of numbers"
        raise UsageError(f"{name} of a state is {value!r:.60}, and must be {needed}.")
    return array
