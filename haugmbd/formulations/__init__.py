"""Formulations of the equations of motion: one file each.

base                     the base class of formulations
newton_euler             augmented system, by the solver of the model

euler_parameters         augmented system in (r, p)
range_space              Schur complement of the multipliers
null_space               basis of the null space of the rows
coordinate_partitioning  independent and dependent coordinates
udwadia_kalaba           least correction of the free motion
udwadia_phohomsiri       the fundamental equation for a singular mass matrix
augmented_lagrangian     penalty with iterated multipliers
penalty                  stiff elements for rows
reduced_chain            joint coordinates, where the system is a chain
python_formulation       formulations in Python, such as these, called from compiled integrators
dense_matrices           their dense matrices and factorizations

accelerations            accelerations and multipliers at a state
evaluator                the same in loops of one's own, without copies
determined_motion        the same of a motion that drivers determine, in a metric of the geometry
error_messages           from a status code to an error message
"""

from typing import Any

from haugmbd.names_on_demand import on_demand

ORDER = (
    "NewtonEuler",
    "EulerParameters",
    "RangeSpace",
    "NullSpace",
    "CoordinatePartitioning",
    "UdwadiaKalaba",
    "UdwadiaPhohomsiri",
    "AugmentedLagrangian",
    "Penalty",
    "ReducedChain",
)
"""All of them, as FORMULATIONS has them; the tests and the table in docs/formulations.md are made from this."""

_imported, __all__ = on_demand(__name__)
__all__ += ["FORMULATIONS"]


def __getattr__(name: str) -> Any:
    """Import a name; FORMULATIONS are the classes of all of them."""
    if name == "FORMULATIONS":
        return tuple(map(_imported, ORDER))
    return _imported(name)
