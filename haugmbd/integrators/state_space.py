"""What an integrator moves, as those see it who do not care how: flat states become states, and codes become sentences."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple, Protocol

import numpy as np

from haugmbd.compiled.array_types import Array, Ints
from haugmbd.errors import UsageError
from haugmbd.formulations.error_messages import explain
from haugmbd.integrators.dense_output import interpolate
from haugmbd.model.constraint_rows import evaluate
from haugmbd.model.driver_breaks import first_break
from haugmbd.model.model import Model
from haugmbd.model.state import State
from haugmbd.system.constraint_residuals import branch_faults, dropped_faults, size_of
from haugmbd.workspace.layout import WIDTH, Pack, workspace_array


class SingularCrossing(NamedTuple):
    """A singular configuration in a run: its time [s], the joints whose rows depended on others, and the pivot there.

    pivot: square of the smallest singular value of the rows, relative to what it is beside the place; 0 but for rounding
    """

    t: float
    joints: tuple[str, ...]
    pivot: float


class Places(NamedTuple):
    """Where coordinates and their rates stand in y.

    slides: (m, 2) x and v with x' = v;  spins: (k, 2) the first of p and of omega_bar, with p' = G^T omega_bar / 2
    """

    slides: Ints
    spins: Ints


class StateSpace(Protocol):
    """A mechanism in some coordinates."""

    def places(self) -> Places:
        """Where coordinates and their rates stand in the flat state."""

    def spinning(self) -> tuple[str, ...]:
        """What turns by each of the `spins` of its places: names of bodies, or of links with a ball joint."""

    def worst_gap(self, pack: Pack) -> tuple[float, str]:
        """The largest gap of the rows evaluated last, relative to the size of the model or in rad, and its joint."""

    def state(self, t: float, y: Array) -> Any:
        """The state of a flat vector, with its time as `t`."""

    def between(self, t_new: Array, t: Array, y: Array, y_dot: Array) -> Array:
        """Dense output: flat states at `t_new` from states and rates at the steps."""

    def wrong_branch(self, t: float, y: Array) -> str:
        """What is wrong with a state that no equation can see; "" if nothing is."""

    def broken(self, t: Array) -> tuple[float, str] | None:
        """The first time, of those that the increasing times t (nt,) enclose, at which what is prescribed jumps, and what does."""

    def error(self, pack: Pack, code: int, t: float) -> BaseException:
        """The error of a code that stopped a run: the user's own where a callable raised."""


@dataclass(frozen=True, eq=False)
class MaximalStateSpace:
    """A compiled model: bodies in (r, p)."""

    model: Model

    def places(self) -> Places:
        bodies = WIDTH * np.arange(1, self.model.nb + 1)
        slides = (bodies[:, None] + np.arange(3)).ravel()
        return Places(np.stack([slides, slides + 7], axis=1), np.stack([bodies + 3, bodies + 10], axis=1))

    def spinning(self) -> tuple[str, ...]:
        return self.model.body_names[1:]

    def worst_gap(self, pack: Pack) -> tuple[float, str]:
        model = self.model
        if model.nc == 0:
            return 0.0, ""
        J = workspace_array(pack, "J").reshape(-1, 2, 6)[model.slot_of_row]
        force, moment = (np.linalg.norm(J[..., part], axis=2).max(axis=1) for part in (slice(0, 3), slice(3, 6)))
        length = np.where(force > 0.0, force * self._size, np.where(moment > 0.0, moment, 1.0))
        gap = np.abs(workspace_array(pack, "LEVEL")[model.slot_of_row, 0]) / length
        k = int(gap.argmax())
        return float(gap[k]), model.labels[k].joint

    @cached_property
    def _size(self) -> float:
        return size_of(self.model, evaluate(self.model))

    def state(self, t: float, y: Array) -> State:
        return State.from_y(t, y, self.model.nb + 1)

    def between(self, t_new: Array, t: Array, y: Array, y_dot: Array) -> Array:
        return interpolate(t_new, t, y, y_dot, self.model.nb + 1)

    def wrong_branch(self, t: float, y: Array) -> str:
        """A rotation driver that is followed half a turn off, or a row that was dropped and no longer holds."""
        state = self.state(t, y)
        return "; ".join(map(str, branch_faults(self.model, state) or dropped_faults(self.model, state)))

    def broken(self, t: Array) -> tuple[float, str] | None:
        """A driver of a joint whose f or f' jumps."""
        found = first_break(self.model, t, strict=True)
        return None if found is None else (found.t, str(found.fault))

    def error(self, pack: Pack, code: int, t: float) -> BaseException:
        try:
            self.model.raise_user_error(pack)
        except BaseException as raised:  # noqa: BLE001  Ctrl-C in a callable, too; the caller raises it
            return raised
        return explain(self.model, pack, code, t)


def model_of(subject: StateSpace, method: str) -> Model:
    """The model of a subject with constraints; UsageError for a chain, which has none."""
    if not isinstance(subject, MaximalStateSpace):
        raise UsageError(
            f"{method} solves with constraints, and a SerialChain has none: use RK4 or DormandPrince, or chain.to_system()."
        )
    return subject.model
