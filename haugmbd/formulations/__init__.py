"""Formulations of the equations of motion: one file each.

base             the base class of formulations
dense            formulations in Python with dense matrices, one file each
newton_euler     augmented system, block LDL^T
kept_rows        multipliers of the kept rows
error_messages   from a status code to an error message
accelerations    accelerations and multipliers at a state
determined_motion  accelerations and multipliers of a motion that drivers determine, in a metric of the geometry
evaluator        the same in loops of one's own, without copies
"""

from haugmbd.formulations.accelerations import Accelerations
from haugmbd.formulations.base import Formulation
from haugmbd.formulations.dense.augmented_lagrangian import AugmentedLagrangian
from haugmbd.formulations.dense.coordinate_partitioning import CoordinatePartitioning
from haugmbd.formulations.dense.euler_parameters import EulerParameters
from haugmbd.formulations.dense.null_space import QR, SVD, NullSpace
from haugmbd.formulations.dense.penalty import Penalty
from haugmbd.formulations.dense.range_space import RangeSpace
from haugmbd.formulations.dense.reduced_chain import ReducedChain
from haugmbd.formulations.dense.udwadia_kalaba import UdwadiaKalaba
from haugmbd.formulations.dense.udwadia_phohomsiri import UdwadiaPhohomsiri
from haugmbd.formulations.newton_euler import NewtonEuler

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
