"""One force law per file: forces and torques, springs, dampers and actuators, and forces of the state."""

from haugmbd.forces.base import Ledger, Load
from haugmbd.forces.catalogue import KINDS
from haugmbd.forces.point_force import PointForce
from haugmbd.forces.rsda import RSDA
from haugmbd.forces.state_force import StateForce
from haugmbd.forces.torque import Torque
from haugmbd.forces.tsda import TSDA

__all__ = ["KINDS", "RSDA", "TSDA", "Ledger", "Load", "PointForce", "StateForce", "Torque"]
