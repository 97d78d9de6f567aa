"""Force elements, one law per file.

base             ForceElement, the base class of force elements
user_function    force values given as numbers or functions of time or state
point_force      a force at a point
torque           a pure torque
tsda             translational spring-damper-actuator
linear_actuator  force between two points, positive along the length
rsda             rotational spring-damper-actuator
state_force      any law of several bodies
joint_loads      forces and torques along coordinates of joints
fluid            forces of a fluid on a shape
bushing          6 x 6 stiffness and damping between two points, with a rotation vector
compliant        contact forces of shapes that touch
friction_laws    laws of friction
joint_friction   friction in a joint
derivatives      derivatives of forces
written_line     a line of the driver table that nothing prescribes
registry         all force elements, and the kernels that run through them
"""

from haugmbd.forces.base import EnergyLedger, ForceElement
from haugmbd.forces.bushing import Bushing
from haugmbd.forces.compliant.contact_force import ContactForce
from haugmbd.forces.fluid.buoyancy import Buoyancy
from haugmbd.forces.fluid.drag import Drag
from haugmbd.forces.friction_laws import BrownMcPhee, Coulomb, FrictionLaw, LuGre, Viscous
from haugmbd.forces.joint_friction import JointFriction
from haugmbd.forces.joint_loads.joint_force import JointForce
from haugmbd.forces.joint_loads.joint_limit import JointLimit
from haugmbd.forces.joint_loads.joint_spring import JointSpring
from haugmbd.forces.joint_loads.motor import Motor
from haugmbd.forces.linear_actuator import LinearActuator
from haugmbd.forces.point_force import PointForce
from haugmbd.forces.registry import KINDS
from haugmbd.forces.rsda import RSDA
from haugmbd.forces.state_force import StateForce
from haugmbd.forces.torque import Torque
from haugmbd.forces.tsda import TSDA

__all__ = [
    "KINDS",
    "RSDA",
    "TSDA",
    "Buoyancy",
    "Bushing",
    "ContactForce",
    "Drag",
    "BrownMcPhee",
    "Coulomb",
    "EnergyLedger",
    "ForceElement",
    "FrictionLaw",
    "JointForce",
    "JointFriction",
    "JointLimit",
    "JointSpring",
    "LinearActuator",
    "LuGre",
    "Motor",
    "PointForce",
    "StateForce",
    "Torque",
    "Viscous",
]
