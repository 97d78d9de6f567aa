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

from haugmbd.formulations.accelerations import Accelerations
from haugmbd.formulations.augmented_lagrangian import AugmentedLagrangian
from haugmbd.formulations.base import Formulation
from haugmbd.formulations.coordinate_partitioning import CoordinatePartitioning
from haugmbd.formulations.euler_parameters import EulerParameters
from haugmbd.formulations.newton_euler import NewtonEuler
from haugmbd.formulations.null_space import QR, SVD, NullSpace
from haugmbd.formulations.penalty import Penalty
from haugmbd.formulations.range_space import RangeSpace
from haugmbd.formulations.reduced_chain import ReducedChain
from haugmbd.formulations.udwadia_kalaba import UdwadiaKalaba
from haugmbd.formulations.udwadia_phohomsiri import UdwadiaPhohomsiri

FORMULATIONS: tuple[type[Formulation], ...] = (
    NewtonEuler,
    EulerParameters,
    RangeSpace,
    NullSpace,
    CoordinatePartitioning,
    UdwadiaKalaba,
    UdwadiaPhohomsiri,
    AugmentedLagrangian,
    Penalty,
    ReducedChain,
)
"""All of them; the tests and the table in docs/formulations.md are made from this."""

__all__ = [
    "FORMULATIONS",
    "QR",
    "SVD",
    "Accelerations",
    "AugmentedLagrangian",
    "CoordinatePartitioning",
    "EulerParameters",
    "Formulation",
    "NewtonEuler",
    "NullSpace",
    "Penalty",
    "RangeSpace",
    "ReducedChain",
    "UdwadiaKalaba",
    "UdwadiaPhohomsiri",
]
