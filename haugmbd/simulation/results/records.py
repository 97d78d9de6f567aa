"""Parts of a result: counters and names."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Any

from haugmbd.deprecated import public_class
from haugmbd.model.model import Model


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


def total(counters: Sequence[Counters]) -> Counters:
    """Return the work of several runs: sums, and the largest `max_euler_drift`."""
    sums: dict[str, Any] = {f.name: sum(getattr(c, f.name) for c in counters) for f in fields(Counters)}
    sums["max_euler_drift"] = max((c.max_euler_drift for c in counters), default=0.0)
    return Counters(**sums)
