"""The names of the engine that the viewer is built on: all of them public, as `haugmbd.Result`, but for four functions of rotations.

They are imported one by one, and here only: the package itself stands above the viewer.
"""

from haugmbd.algebra.euler import from_rotation_matrix, p_dot_from, rotation_matrix
from haugmbd.algebra.vec3 import Array
from haugmbd.analysis import mobility
from haugmbd.errors import HaugmbdError, UsageError
from haugmbd.forces import RSDA, TSDA, Load, PointForce, Torque
from haugmbd.hybrid import ImpactResult
from haugmbd.impact import Contact
from haugmbd.model.model import Model
from haugmbd.model.system import System
from haugmbd.reduced_result import ReducedResult
from haugmbd.result import Result

__all__ = [
    "RSDA",
    "TSDA",
    "Array",
    "Contact",
    "HaugmbdError",
    "ImpactResult",
    "Load",
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
