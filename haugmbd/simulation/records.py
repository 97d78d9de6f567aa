"""Parts of a result: counters, names, and the history of one body."""

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
class BodyHistory:
    """The history of one body.

    Attributes
    ----------
    name : str
        Name of the body.
    t : ndarray, (nt,)
        Times [s].
    r, v : ndarray, (nt, 3)
        Centre of mass [m] and its velocity [m/s], global.
    p : ndarray, (nt, 4)
        Euler parameters, scalar first.
    omega_bar : ndarray, (nt, 3)
        Angular velocity, body frame [rad/s].
    """

    name: str
    t: Array
    r: Array
    p: Array
    v: Array
    omega_bar: Array

    @property
    def quaternion(self) -> Any:
        """Return the orientation as numpy quaternions, (nt,)."""
        import quaternion  # noqa: PLC0415  slow to import

        return quaternion.as_quat_array(self.p)


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
