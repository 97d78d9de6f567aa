"""Serial chains: joint coordinates against maximal coordinates.

maximal           the chain in maximal coordinates
balances          relative differences; mass matrix, momentum, power
report            CrossCheck
check             crosscheck
dense_reference   the augmented system by LAPACK
"""

from haugmbd.crosscheck.check import crosscheck
from haugmbd.crosscheck.report import CrossCheck, Difference

__all__ = ["CrossCheck", "Difference", "crosscheck"]
