"""What a result is made of beside its states: counters, names, and one body over time."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from haugmbd.compiled.array_types import Array
from haugmbd.deprecated import public_class
from haugmbd.model.model import Model

if TYPE_CHECKING:
    pass


@public_class
@dataclass(frozen=True)
class Counters:
    """steps, rejected: of the integrator;  evaluations, factorizations: of the right-hand side;  corrected: steps projected

    Work that events cause (steps to locate them, steps beyond a terminal one) counts in all but `steps`.
    max_euler_drift, euler_sum: how far |p| left 1 in a step before it was normalised, the largest and the sum over all steps
    cpu: [s]
    questions, iterations, choices: of a formulation in Python: answers that it gave, iterations in them, choices of coordinates
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
class BodyHistory:
    """One body over time: t (nt,), r, v (nt, 3) global, p (nt, 4), omega_bar (nt, 3) body frame."""

    name: str
    t: Array
    r: Array
    p: Array
    v: Array
    omega_bar: Array

    @property
    def quaternion(self) -> Any:
        """The orientation as numpy quaternions, (nt,)."""
        import quaternion  # noqa: PLC0415  costs 0.4 s, only where it is asked for

        return quaternion.as_quat_array(self.p)


@dataclass(frozen=True)
class Names:
    """What a result is called by, with or without its model: the model, the bodies (ground first), joints and rows."""

    model: str
    bodies: tuple[str, ...]
    joints: tuple[str, ...]
    rows: tuple[str, ...]

    @classmethod
    def of(cls, model: Model) -> Names:
        """The names in a model."""
        return cls(model.name, model.body_names, tuple(model.joints), tuple(map(str, model.labels)))
