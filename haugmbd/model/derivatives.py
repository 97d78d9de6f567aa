r"""What a model asks of the declared jacobians of its user's forces, once a factorization of an implicit step.

    D[at ...] <- jacobian(t, l, l_dot), jacobian(t, r, p, v, omega_bar), ...       row by row, as `forces.jacobian` orders them

The door is that of the forces (`user.Asked`), with D in the place of F.  Where all jacobians are @njit functions, `compiled_jacobians`
makes the same call without Python.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numba
import numpy as np

from haugmbd.algebra.vec3 import Array
from haugmbd.forces.jacobian import Jacobian
from haugmbd.model.compiled_jacobians import compiled_jacobians
from haugmbd.model.questions import arguments_of
from haugmbd.model.tables import Pack, room
from haugmbd.model.user import NOBODY, Asked, CompiledAsked


class Deriving(NamedTuple):
    """A jacobian and where its arguments and its answer stand: body numbers, signal, place of the first number in D."""

    jacobian: Jacobian
    bodies: tuple[int, ...]
    signal: int
    at: int

    @property
    def size(self) -> int:
        """How many numbers it gives."""
        return self.jacobian.shape[0] * self.jacobian.shape[1]


@dataclass(frozen=True, eq=False)
class Derivatives:
    """Every jacobian of one model.  shapes: of (y, signals, D, nothing)."""

    derivings: tuple[Deriving, ...] = ()
    shapes: tuple[tuple[int, ...], ...] = ((0,), (0, 2), (0,), (0,))

    @property
    def size(self) -> int:
        """How many numbers all of them give."""
        return sum(deriving.size for deriving in self.derivings)

    @property
    def compiled(self) -> bool:
        """Whether all jacobians are @njit functions."""
        return all(numba.extending.is_jitted(d.jacobian.function) for d in self.derivings)

    def asked(self) -> Asked:
        """The door, for one run."""
        if not self.derivings:
            return NOBODY
        return CompiledAsked(self._entry) if self.compiled else Asked(self.call, self.shapes)

    @cached_property
    def _entry(self) -> Any:
        """The compiled door, made once a model."""
        return compiled_jacobians(self.derivings, self.shapes)

    def call(self, t: float, y: Array, signals: Array, D: Array, nothing: Array) -> None:
        """Ask every jacobian, and write the answers into D."""
        for deriving in self.derivings:
            jacobian = deriving.jacobian
            arguments = arguments_of(jacobian.question, deriving.bodies, deriving.signal, y, signals)
            D[deriving.at : deriving.at + deriving.size] = jacobian.ask(t, *arguments).ravel()

    def error_of(self, pack: Pack) -> BaseException | None:
        """What stopped the run of `pack`, if a jacobian did: its exception, or what a compiled one returned."""
        _, place, t = room(pack, "STATUS")[0, :3].tolist()
        if place != 1:
            return None
        error = pack.derive.take_error()
        if error is not None or not self.compiled:
            return error or KeyboardInterrupt()  # lost between compiled code and Python, see `user`
        y, signals = room(pack, "Y_STOPPED")[0].copy(), room(pack, "SIGNALS")
        try:
            self.call(t, y, signals, np.zeros(self.size), np.zeros(0))
        except Exception as error:  # noqa: BLE001  handed on, and raised where all errors of a run are
            return error
        return None
