"""Force elements, one law per file.

base             ForceElement, the base class of force elements
user_function    force values given as numbers or functions of time or state
point_force      a force at a point
torque           a pure torque
tsda             translational spring-damper-actuator
rsda             rotational spring-damper-actuator
state_force      any law of several bodies
jacobian         the declared derivative of a user's function
jacobian_check   a declared derivative compared with differences
tangent          stiffness and damping blocks of a force
registry         all force elements, and the kernels that run through them
"""

from haugmbd.forces.base import EnergyLedger, ForceElement
from haugmbd.forces.point_force import PointForce
from haugmbd.forces.registry import KINDS
from haugmbd.forces.rsda import RSDA
from haugmbd.forces.state_force import StateForce
from haugmbd.forces.torque import Torque
from haugmbd.forces.tsda import TSDA

__all__ = ["KINDS", "RSDA", "TSDA", "EnergyLedger", "ForceElement", "PointForce", "StateForce", "Torque"]
