"""Serial chains: joint coordinates against maximal coordinates.

scale             relative differences
maximal           the chain in maximal coordinates
balances          mass matrix, momentum, power
report            CrossCheck
check             crosscheck
dense_reference   the augmented system by LAPACK
"""

from haugmbd.crosscheck.check import crosscheck
from haugmbd.crosscheck.report import CrossCheck, Difference

__all__ = ["CrossCheck", "Difference", "crosscheck"]
