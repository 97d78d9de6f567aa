"""Serial chains: joint coordinates against maximal coordinates.

maximal           the chain in maximal coordinates, also by LAPACK
balances          CrossCheck; relative differences; mass matrix, momentum, power
check             crosscheck
"""

from haugmbd.crosscheck.balances import CrossCheck, Difference
from haugmbd.crosscheck.check import crosscheck

__all__ = ["CrossCheck", "Difference", "crosscheck"]
