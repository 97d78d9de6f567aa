"""What an integrator moves, as those see it who do not care how: flat states become states, and codes become sentences."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

from haugmbd.algebra.vec3 import Array
from haugmbd.formulations.trouble import explain
from haugmbd.integrators.dense import interpolate
from haugmbd.model.consistency import branch_faults
from haugmbd.model.model import Model
from haugmbd.model.state import State
from haugmbd.model.tables import Pack


class Subject(Protocol):
    """A mechanism in some coordinates."""

    def state(self, t: float, y: Array) -> Any:
        """The state of a flat vector, with its time as `t`."""

    def between(self, t_new: Array, t: Array, y: Array, y_dot: Array) -> Array:
        """Dense output: flat states at `t_new` from states and rates at the steps."""

    def wrong_branch(self, t: float, y: Array) -> str:
        """What is wrong with a state that no equation can see; "" if nothing is."""

    def error(self, pack: Pack, code: int, t: float) -> BaseException:
        """The error of a code that stopped a run: the user's own where a callable raised."""


@dataclass(frozen=True, eq=False)
class Maximal:
    """A compiled model: bodies in (r, p)."""

    model: Model

    def state(self, t: float, y: Array) -> State:
        return State.from_y(t, y, self.model.nb + 1)

    def between(self, t_new: Array, t: Array, y: Array, y_dot: Array) -> Array:
        return interpolate(t_new, t, y, y_dot, self.model.nb + 1)

    def wrong_branch(self, t: float, y: Array) -> str:
        """A rotation driver that is followed half a turn off."""
        return "; ".join(map(str, branch_faults(self.model, self.state(t, y))))

    def error(self, pack: Pack, code: int, t: float) -> BaseException:
        try:
            self.model.raise_user_error(pack)
        except BaseException as raised:  # noqa: BLE001  Ctrl-C in a callable, too; the caller raises it
            return raised
        return explain(self.model, pack, code, t)
