"""Which algebra is solved for the accelerations: one formulation per file; open two side by side."""

from haugmbd.formulations.augmented_lagrangian import AugmentedLagrangian
from haugmbd.formulations.base import Formulation
from haugmbd.formulations.coordinate_partitioning import CoordinatePartitioning
from haugmbd.formulations.euler_parameters import EulerParameters
from haugmbd.formulations.face import Accelerations, accelerations
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
    "accelerations",
]
