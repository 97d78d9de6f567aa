"""The cross-check: a serial chain in reduced coordinates against its twin in maximal ones."""

from haugmbd.crosscheck.check import crosscheck
from haugmbd.crosscheck.report import CrossCheck, Difference

__all__ = ["CrossCheck", "Difference", "crosscheck"]
