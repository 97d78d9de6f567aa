"""The names of this package: each is imported when it is first used, see `haugmbd.names_on_demand`, which reads this file."""

from haugmbd.formulations.accelerations import Accelerations as Accelerations
from haugmbd.formulations.augmented_lagrangian import AugmentedLagrangian as AugmentedLagrangian
from haugmbd.formulations.base import Formulation as Formulation
from haugmbd.formulations.coordinate_partitioning import CoordinatePartitioning as CoordinatePartitioning
from haugmbd.formulations.euler_parameters import EulerParameters as EulerParameters
from haugmbd.formulations.newton_euler import NewtonEuler as NewtonEuler
from haugmbd.formulations.null_space import QR as QR
from haugmbd.formulations.null_space import SVD as SVD
from haugmbd.formulations.null_space import NullSpace as NullSpace
from haugmbd.formulations.penalty import Penalty as Penalty
from haugmbd.formulations.range_space import RangeSpace as RangeSpace
from haugmbd.formulations.reduced_chain import ReducedChain as ReducedChain
from haugmbd.formulations.udwadia_kalaba import UdwadiaKalaba as UdwadiaKalaba
from haugmbd.formulations.udwadia_phohomsiri import UdwadiaPhohomsiri as UdwadiaPhohomsiri

FORMULATIONS: tuple[type[Formulation], ...]
