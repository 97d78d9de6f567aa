"""The same mechanism in another engine: it is exported at random states, and accelerations are compared by name.

base               what a mechanism is in joint coordinates of another engine
mujoco_engine      MuJoCo, through write_mjcf
pinocchio_engine   Pinocchio, through write_urdf
exudyn_engine      Exudyn
report             EngineCheck
check              crosscheck_engine
"""

from haugmbd.modelfile.engines.check import crosscheck_engine
from haugmbd.modelfile.engines.report import EngineCheck

__all__ = ["EngineCheck", "crosscheck_engine"]
