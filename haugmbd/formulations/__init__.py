"""Which algebra is solved for the accelerations: one formulation per file."""

from haugmbd.formulations.face import Accelerations, accelerations
from haugmbd.formulations.newton_euler import NewtonEuler

__all__ = ["Accelerations", "NewtonEuler", "accelerations"]
