"""The names of the engine that the viewer is built on: all of them public, as `haugmbd.Result`, but for four functions of rotations.

They are imported one by one, and here only: the package itself stands above the viewer.
"""

from haugmbd.analysis.mobility.mobility import mobility
from haugmbd.compiled.array_types import Array
from haugmbd.contact import Contact, ImpactResult
from haugmbd.errors import HaugmbdError, UsageError
from haugmbd.forces import RSDA, TSDA, ForceElement, PointForce, Torque
from haugmbd.math.euler_parameters import from_rotation_matrix, p_dot_from, rotation_matrix
from haugmbd.model.model import Model
from haugmbd.simulation.chain_result import ReducedResult
from haugmbd.simulation.result import Result
from haugmbd.system.system import System

__all__ = [
    "RSDA",
    "TSDA",
    "Array",
    "Contact",
    "HaugmbdError",
    "ImpactResult",
    "ForceElement",
    "Model",
    "PointForce",
    "ReducedResult",
    "Result",
    "System",
    "Torque",
    "UsageError",
    "from_rotation_matrix",
    "mobility",
    "p_dot_from",
    "rotation_matrix",
]
