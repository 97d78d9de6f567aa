"""What a run has recorded, and parts of a result: counters and names."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any, NamedTuple

from haugmbd.compiled.array_types import Array
from haugmbd.deprecated import public_class
from haugmbd.diagnostics.contact_impacts import ContactImpact
from haugmbd.diagnostics.run_warnings import Outcome, RunStatus
from haugmbd.integrators.events import EventRecord
from haugmbd.integrators.state_space import SingularCrossing
from haugmbd.integrators.step_context import Options
from haugmbd.integrators.watches.stiffness_watch import StiffnessWatch
from haugmbd.model.model import Model
from haugmbd.simulation.sensor import SensorHistory


@public_class
@dataclass(frozen=True)
class Counters:
    """Numbers of steps, evaluations and factorizations of a run.

    Attributes
    ----------
    steps, rejected : int
        Accepted and rejected steps of the integrator.
    evaluations, factorizations : int
        Evaluations of the right-hand side, and factorizations.
    projections : int
        Steps that were projected on the constraints.
    max_euler_drift, euler_sum : float
        Deviation of |p| from 1 before normalization: the largest in a step, and the sum over all steps.
    cpu : float
        CPU time [s].
    solves, iterations, repartitions : int
        Of a formulation in Python: solutions, iterations, and choices of independent coordinates.

    Notes
    -----
    The work to locate events, and steps beyond a terminal event, count in all but `steps`.
    """

    steps: int = 0
    rejected: int = 0
    evaluations: int = 0
    factorizations: int = 0
    projections: int = 0
    max_euler_drift: float = 0.0
    euler_sum: float = 0.0
    cpu: float = 0.0
    solves: int = 0
    iterations: int = 0
    repartitions: int = 0


class Recorded(NamedTuple):
    """The data of a run: t (nt,), y (nt, ny), counters, outcome, events, and the singular configurations that were crossed.

    lam: (nt, nc) multipliers of the method itself, NaN at the start; None without them, before the first step, or at given times
    u_dot: (nt, 6 (nb + 1)) the accelerations that belong to them, if they are kept
    turns: (nt, m) joint angles that were counted from step to step, None if every step is stored;  sensors: values of the sensors
    energy_restored: by an energy projection [J]
    stiffness: what an explicit method of fixed step noted of its steps
    contact_impacts: of compliant contacts, None if every step is stored
    """

    t: Array
    y: Array
    lam: Array | None
    u_dot: Array | None
    turns: Array | None
    sensors: Mapping[str, SensorHistory]
    counters: Counters
    outcome: Outcome
    events: tuple[EventRecord, ...]
    singular_crossings: tuple[SingularCrossing, ...]
    energy_restored: float
    contact_impacts: tuple[ContactImpact, ...] | None
    stiffness: StiffnessWatch | None = None

    @property
    def interrupted(self) -> bool:
        """Return whether Ctrl-C, or the end of its budget, stopped the run."""
        return self.outcome.status in (RunStatus.INTERRUPTED, RunStatus.BUDGET_EXHAUSTED)


@dataclass(frozen=True)
class Names:
    """Names of a model, its bodies (ground first), joints and rows."""

    model: str
    bodies: tuple[str, ...]
    joints: tuple[str, ...]
    rows: tuple[str, ...]

    @classmethod
    def of(cls, model: Model) -> Names:
        """Return the names in a model."""
        return cls(model.name, model.body_names, tuple(model.joints), tuple(map(str, model.labels)))


def counters_of_steps(accepted: int, rejected: int, options: Options, cpu: float) -> Counters:
    """Return the work of steps, of which the compiled code has counted its part in the options;  cpu: time [s]"""
    return Counters(
        steps=accepted,
        rejected=rejected,
        evaluations=int(options.n_rates),
        factorizations=int(options.n_factorizations),
        projections=int(options.n_projections),
        max_euler_drift=float(options.max_euler_drift),
        euler_sum=float(options.sum_euler_drift),
        cpu=cpu,
    )


def total(counters: Sequence[Counters]) -> Counters:
    """Return the work of several runs: sums, and the largest `max_euler_drift`."""
    sums: dict[str, Any] = {f.name: sum(getattr(c, f.name) for c in counters) for f in fields(Counters)}
    sums["max_euler_drift"] = max((c.max_euler_drift for c in counters), default=0.0)
    return Counters(**sums)
