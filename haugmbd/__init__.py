"""haugmbd: define a mechanism in Python, simulate it fast, and see that it is right.

A primitive is one scalar equation between two bodies; a joint is a tuple of primitives; a model is the primitives in tables; a
kernel fills Phi_r and PiBar per row; a formulation is an algebra on those rows; an integrator moves the state; a result
remembers states; diagnostics recompute everything else from them.
Importing this package compiles nothing, prints nothing, and does not load matplotlib, pydantic, h5py or quaternion.
"""

from haugmbd.body import Body
from haugmbd.errors import Fault, HaugmbdError, ModelError, SimulationError, SingularKKT, UsageError
from haugmbd.marker import Frame

__version__ = "0.1.0"

__all__ = [
    "Body",
    "Fault",
    "Frame",
    "HaugmbdError",
    "ModelError",
    "SimulationError",
    "SingularKKT",
    "UsageError",
    "__version__",
]
