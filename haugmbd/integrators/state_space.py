"""The state space that an integrator advances: flat states become states of bodies, and codes become error messages."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

import numpy as np

from haugmbd.compiled.array_types import Array, Ints
from haugmbd.errors import SimulationError, UsageError
from haugmbd.formulations.error_messages import explain
from haugmbd.integrators.dense_output import interpolate
from haugmbd.model.immutable import once_per_model
from haugmbd.model.inspection.driver_breaks import driven_joints, first_break
from haugmbd.model.inspection.length import units_of_state
from haugmbd.model.inspection.row_gaps import worst_gap
from haugmbd.model.model import Model
from haugmbd.model.state import State
from haugmbd.system.checks.constraint_residuals import all_rows_hold, branch_faults, has_branches
from haugmbd.system.checks.contradictions import dropped_faults, dropped_slips
from haugmbd.system.checks.function_ranges import profile_faults
from haugmbd.system.checks.known_turns import lost_turn, without_drift
from haugmbd.workspace.layout import WIDTH, Pack


class SingularCrossing(NamedTuple):
    """A singular configuration that a run has crossed: its time [s], the joints whose rows were dependent, and the pivot there.

    pivot: square of the smallest singular value of the rows, relative to its value beside the configuration; 0 within rounding
    """

    t: float
    joints: tuple[str, ...]
    pivot: float


class NearSingular(NamedTuple):
    """A configuration that a run has passed, and that is singular up to a small gap: its time [s], the joints, and the gap.

    gap: by how much rows that depend on one another there contradict each other, relative to the size of the model; NaN where the steps
    are too long to tell
    ends: whether the run ends there
    """

    t: float
    joints: tuple[str, ...]
    gap: float
    ends: bool = False


class Places(NamedTuple):
    """Columns of coordinates and their rates in y.

    slides: (m, 2) x and v with x' = v;  spins: (k, 2) the first of p and of omega_bar, with p' = G^T omega_bar / 2
    """

    slides: Ints
    spins: Ints


class Spinning(NamedTuple):
    """The names of k bodies, and the columns (k, 3) in y of the components of omega_bar."""

    names: tuple[str, ...]
    columns: Ints


class StateSpace(Protocol):
    """A mechanism in some coordinates."""

    def may_be_stiff(self) -> bool:
        """Return whether a force may depend on velocities: a load that does not conserve energy, a block, or tau of a chain."""

    def places(self) -> Places:
        """Return the columns of coordinates and their rates in the flat state."""

    def spinning(self) -> Spinning:
        """Return the bodies, or the links with a ball joint, that rotate by each of the `spins`."""

    def worst_gap(self, pack: Pack) -> tuple[float, str]:
        """Return the largest gap of the rows evaluated last, relative to the size of the model or in rad, and its joint."""

    def units(self) -> Array:
        """Return the units of the flat state, (ny,): a length of the mechanism for lengths and their rates, 1 for all else."""

    def state(self, t: float, y: Array) -> Any:
        """Return the state of a flat vector at time `t`."""

    def between(self, t_new: Array, t: Array, y: Array, y_dot: Array) -> Array:
        """Return flat states at `t_new` by dense output, from states and rates at the steps."""

    def lost_turn(self, t: Array, y: Array) -> tuple[int, str] | None:
        """Return the first of the states y (nt, ny) at t (nt,) at which the turn of an angle is not known any more, and which one."""

    def without_drift(self, y: Array) -> tuple[int, Array] | None:
        """Return the first of the states y (nt, ny) whose integrated angles have drifted from the orientations, and the state without."""

    def left_range(self, y: Array) -> str:
        """Return which table of a function, or which curve, the states y (nt, ny) leave; "" if there is none."""

    def wrong_branch(self, t: Array, y: Array) -> str:
        """Return a fault, which no equation shows, of the states y (nt, ny) at the times t, or of the last of them; "" if there is none."""

    def broken(self, t: Array) -> tuple[float, str] | None:
        """Return the first time within the times t (nt,), in ascending order, at which a prescribed motion jumps, and what jumps."""

    def error(self, pack: Pack, code: int, t: float) -> BaseException:
        """Return the error of a code that stopped a run: the user's own error if a callable raised one."""


@once_per_model
def may_be_stiff(model: Model) -> bool:
    """Return whether a load does not conserve energy, or there is a block."""
    return model.network is not None or any(not entry.load.conservative for entry in model.loads)


@once_per_model
def spinning_bodies(model: Model) -> Spinning:
    """Return the bodies, and where their angular velocities are."""
    first = WIDTH * np.arange(1, model.nb + 1)[:, None] + 10
    return Spinning(model.body_names[1:], first + np.arange(3))


@dataclass(frozen=True, eq=False)
class MaximalStateSpace:
    """A compiled model: bodies in (r, p)."""

    model: Model

    def may_be_stiff(self) -> bool:
        return may_be_stiff(self.model)

    def places(self) -> Places:
        bodies = WIDTH * np.arange(1, self.model.nb + 1)
        slides = (bodies[:, None] + np.arange(3)).ravel()
        return Places(np.stack([slides, slides + 7], axis=1), np.stack([bodies + 3, bodies + 10], axis=1))

    def spinning(self) -> Spinning:
        return spinning_bodies(self.model)

    def worst_gap(self, pack: Pack) -> tuple[float, str]:
        return worst_gap(self.model, pack)

    def units(self) -> Array:
        return units_of_state(self.model)

    @property
    def has_delays(self) -> bool:
        """Return whether the model has blocks that delay a signal."""
        network = self.model.force_callbacks.network
        return network is not None and bool(network.delays)

    def state(self, t: float, y: Array) -> State:
        flat = y.copy()  # at once, and not part by part
        return State.from_y(t, flat, self.model.nb + 1, flat=flat)

    def between(self, t_new: Array, t: Array, y: Array, y_dot: Array) -> Array:
        return interpolate(t_new, t, y, y_dot, self.model.nb + 1)

    def lost_turn(self, t: Array, y: Array) -> tuple[int, str] | None:
        return lost_turn(self.model, t, y)

    def without_drift(self, y: Array) -> tuple[int, Array] | None:
        return without_drift(self.model, y)

    def left_range(self, y: Array) -> str:
        return "; ".join(map(str, profile_faults(self.model, y)))

    def wrong_branch(self, t: Array, y: Array) -> str:
        """Return a table that is left; a rotation driver that is followed half a turn off; or a dropped row that does not hold any more."""
        found = profile_faults(self.model, y)
        model = self.model
        if not found and has_branches(model) and (len(dropped_slips(model)) or not all_rows_hold(model, float(t[-1]), y[-1])):
            state = self.state(float(t[-1]), y[-1])
            found = branch_faults(self.model, state) or dropped_faults(self.model, state)
        return "; ".join(map(str, found))

    def broken(self, t: Array) -> tuple[float, str] | None:
        """Return a driver of a joint whose f or f' jumps."""
        found = first_break(self.model, np.unique(t), strict=True) if driven_joints(self.model) else None
        return None if found is None else (found.t, str(found.fault))

    def error(self, pack: Pack, code: int, t: float) -> BaseException:
        try:
            self.model.raise_user_error(pack)
        except BaseException as raised:  # noqa: BLE001  Ctrl-C in a callable, too; the caller raises it
            return with_time(raised, t)
        return explain(self.model, pack, code, t)


def model_of(state_space: StateSpace, method: str) -> Model:
    """Return the model of a state space with constraints.  Raise UsageError for a chain, which has none."""
    if not isinstance(state_space, MaximalStateSpace):
        raise UsageError(
            f"{method} solves with constraints, and a SerialChain has none: use RK4 or DormandPrince, or chain.to_system()."
        )
    return state_space.model


def with_time(error: BaseException, t: float) -> BaseException:
    """Return the error with the time t [s] in its text, if the text has none (that of a formulation which does not know the time)."""
    if type(error) is not SimulationError or "t = " in str(error):
        return error
    timed = SimulationError(f"{error} (at t = {t:.9g} s)")
    timed.__cause__ = error
    return timed
