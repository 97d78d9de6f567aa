r"""inverse_dynamics: the forces and torques that drivers have to give for a prescribed motion.

    Phi_q u_dot = gamma         rank Phi_q = 6 nb: the drivers determine the motion
    M u_dot + Phi_q^T lam = Q   lam, and with it the force of a driver along its own coordinate f:

    tau = -lam dPhi/dg = -lam F'(f)       F' = 1 (angle, displacement, dot product),  2 f (distance, whose row is squared)
    power tau f'

Where rows depend on one another lam is not unique; tau is, if no dependency has a part in the driver's row.
Source: Haug sec. 11.4 (inverse dynamics); ME751 (Univ. of Wisconsin-Madison), assignment A7.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from haugmbd.analysis.kinematics.kinematics import determined_or_raise, driven_model, followed, read_times
from haugmbd.analysis.mobility.reaction_uniqueness import COMPONENTS, joint_reactions
from haugmbd.compiled.array_types import Array
from haugmbd.constraints.joint import Joint
from haugmbd.deprecated import check_keywords, public_class
from haugmbd.diagnostics.joint_wrench import Axes, Side
from haugmbd.diagnostics.reactions import Reaction
from haugmbd.drivers import Constant
from haugmbd.errors import Fault, ModelError, UsageError
from haugmbd.model.constraint_rows import evaluate
from haugmbd.model.dependent_rows import Rule, check_rule
from haugmbd.model.identity import entry_of
from haugmbd.model.labels import joint_named
from haugmbd.model.model import Model
from haugmbd.model.state import State
from haugmbd.redundancy.rank import analyse_rank, report_of
from haugmbd.simulation.result import Result
from haugmbd.system.constraint_residuals import position_faults, state_faults, velocity_faults
from haugmbd.system.system import System

SAMPLES = 5
"""States of a motion at which the dependencies are looked at: which rows take part in them is the same all along, but for a few poses."""


@public_class
@dataclass(frozen=True, eq=False)
class InverseDynamics:
    """Forces of drivers along a motion.

    result: the motion, with reactions of all joints
    force: by driver, (nt,): torque about h [N m], force [N], on body j, ALONG its coordinate f: power = force f'.  An element that does
        the same has the other sign: RSDA(actuator=-tau), TSDA(actuator=-F), whose actuators act against theta and the length
    power: by driver, (nt,) [W];  shared: by joint, the components of its reaction that are not unique (joint frame)
    """

    result: Result
    force: dict[str, Array]
    power: dict[str, Array]
    shared: dict[str, tuple[str, ...]]

    @property
    def t(self) -> Array:
        """The times [s], (nt,)."""
        return self.result.t

    def __getitem__(self, driver: str | Joint) -> Array:
        name = entry_of(self.result.model, driver, "drivers").name if isinstance(driver, Joint) else driver
        if name not in self.force:
            raise UsageError(f"no driver is called {name!r}; the drivers are {', '.join(map(repr, self.force)) or 'none'}.")
        return self.force[name]

    def reaction(self, joint: str, *, on: Side = "j", frame: Axes = "ground") -> Reaction:
        """The reaction of a joint along the motion, see `Result.reaction`; UsageError where parts of it are not unique."""
        if joint in self.shared:
            raise UsageError(
                f"the reaction of joint {joint!r} is not unique: {', '.join(self.shared[joint])}. Other joints share it in any "
                "proportion. Use SJ or CJ for one RJ of a loop, or ask result.reaction, which gives one answer of many."
            )
        return self.result.reaction(joint, on=on, frame=frame)

    def __str__(self) -> str:
        """The largest force and power of each driver, and what is not unique."""
        head = f"inverse dynamics of {self.result.names.model!r}, {len(self.t)} states"
        lines = [
            f"driver {name!r}: {tau.min():.6g} .. {tau.max():.6g}, power {self.power[name].min():.6g} .. {self.power[name].max():.6g} W"
            for name, tau in self.force.items()
        ]
        lines += [f"joint {name!r}: not unique: {', '.join(parts)}" for name, parts in self.shared.items()]
        return "\n".join([head, *lines])

    __repr__ = __str__


@check_keywords
def inverse_dynamics(
    system: System | Model,
    motion: Result | State | Sequence[State] | npt.ArrayLike,
    *,
    drivers: Iterable[Joint | str] | None = None,
    redundancy: Rule | None = None,
) -> InverseDynamics:
    """The forces and torques of the drivers for the motion that they prescribe.

    system: as many drivers as degrees of freedom; joints may be redundant
    motion: times (nt,) [s], at which it is followed as by `kinematics`; or a Result, a State, several of them, that fit the drivers
    drivers: whose forces are asked for, by default of all joints that follow a function of time
    redundancy: DropDependentRows() or MinimumNorm(): which answer is given where it is not unique; by default such a question is refused
    Raises ModelError (forces that are not unique, a motion that does not fit), UsageError (too few drivers), SimulationError.
    """
    if redundancy is not None:
        check_rule(redundancy)
    result = _motion(system, motion, redundancy)
    model = result.model
    rows = {name: _driven_rows(model, name) for name in _names(model, drivers)}
    states = [result.state(int(k)) for k in np.unique(np.linspace(0, len(result) - 1, SAMPLES).round())]
    ties, shared = _shared(model, states) if model.redundancy.dropped and redundancy is None else ([], {})
    _refuse_shared(model, rows, ties)
    force, power = {}, {}
    for name, (row, driver) in rows.items():
        f = model.drivers[driver].values(result.t)
        lever = 2.0 * f[:, 0] if model.labels[row].unit == "m2" else np.ones(len(result))
        force[name] = -result.lam[:, row] * lever
        power[name] = force[name] * f[:, 1]
    return InverseDynamics(result, force, power, shared)


def _motion(system: System | Model, motion: Any, redundancy: Rule | None) -> Result:
    """The motion as a Result of a model that has its redundancy examined."""
    if not isinstance(motion, Result | State) and not _are_states(motion):
        found = followed(system, read_times(motion), None, "inverse_dynamics")
        model, t, y = found.model, found.t, found.y
    else:
        states = _states(motion)
        model = driven_model(system, states[0])
        for state in states:
            faults = state_faults(model, state)
            if faults:
                raise ModelError(faults)
        determined_or_raise(model, states[0], "inverse_dynamics")
        t, y = np.array([state.t for state in states]), np.array([state.y for state in states])
    result = Result(
        model if redundancy is None else model.with_redundancy(redundancy), t, y, settings={"analysis": "inverse dynamics"}
    )
    _check_fit(result)
    return result


def _states(motion: Result | State | Sequence[State]) -> list[State]:
    """The states of a motion; UsageError where there is none."""
    if isinstance(motion, State):
        return [motion]
    states = [motion.state(k) for k in range(len(motion))] if isinstance(motion, Result) else list(motion)
    if not states:
        raise UsageError("the motion has no state.")
    return states


def _are_states(motion: Any) -> bool:
    return isinstance(motion, list | tuple) and len(motion) > 0 and all(isinstance(state, State) for state in motion)


def _check_fit(result: Result) -> None:
    """ModelError where a state of the motion does not fit the rows: no force of the drivers makes such a motion."""
    for k in (int(np.abs(result.violation(level)).max(axis=1, initial=0.0).argmax()) for level in ("position", "velocity")):
        state = result.state(k)
        faults = (*position_faults(result.model, state), *velocity_faults(result.model, state))
        if faults:
            remedy = "Give a motion that the joints and drivers allow, such as that of kinematics(system, t)."
            raise ModelError([Fault(f.where, f"the motion does not fit at t = {state.t:.6g} s: {f.what}", remedy) for f in faults])


def _names(model: Model, drivers: Iterable[Joint | str] | None) -> list[str]:
    """The joints whose forces are asked for."""
    if drivers is not None:
        given = (drivers,) if isinstance(drivers, str | Joint) else drivers
        return [entry_of(model, d, "drivers").name if isinstance(d, Joint) else str(d) for d in given]
    moving = {k for k, driver in enumerate(model.drivers) if not isinstance(driver, Constant)}
    return list(dict.fromkeys(model.labels[row].joint for row, k in enumerate(model.drivers_of_rows().tolist()) if k in moving))


def _driven_rows(model: Model, name: str) -> tuple[int, int]:
    """The row of a driver, and the number of its function."""
    of_row = model.drivers_of_rows()
    rows = joint_named(model.joints, name).rows.tolist()
    moving = [row for row in rows if not isinstance(model.drivers[of_row[row]], Constant)] or rows
    if len(moving) != 1:
        raise UsageError(f"joint {name!r} has {len(moving)} rows that could be meant: ask for its reaction instead.")
    return moving[0], int(of_row[moving[0]])


def _shared(model: Model, states: Sequence[State]) -> tuple[list[frozenset[int]], dict[str, tuple[str, ...]]]:
    """The rows of each dependency, and by joint the components of its reaction that are not unique at one of the states."""
    ties, parts = [], dict[str, set[int]]()
    for state in states:
        rows = evaluate(model, state)
        examined = analyse_rank(model, rows)
        dependencies = report_of(model, examined).dependencies
        ties += [frozenset((d.row, *(row for row, _ in d.terms))) for d in dependencies]
        for one in joint_reactions(model, rows, examined, dependencies):
            parts.setdefault(one.joint, set()).update(k for k, unique in enumerate(one.unique) if not unique)
    return ties, {joint: tuple(COMPONENTS[k] for k in sorted(found)) for joint, found in parts.items() if found}


def _refuse_shared(model: Model, rows: dict[str, tuple[int, int]], tied: list[frozenset[int]]) -> None:
    """ModelError with one fault for each driver whose force is not determined."""
    faults = []
    for name, (row, _) in rows.items():
        others = sorted(frozenset().union(*(tie for tie in tied if row in tie)) - {row})
        if not others:
            continue
        with_whom = ", ".join(map(repr, dict.fromkeys(model.labels[other].joint for other in others)))
        what = f"its force is not determined: it shares the load with {with_whom} in any proportion"
        remedy = "Take one of them away, ask for others (drivers=...), or say which answer: redundancy=MinimumNorm()."
        faults.append(Fault(f"driver {name!r}", what, remedy))
    if faults:
        raise ModelError(faults)
