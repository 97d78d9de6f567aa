"""Force elements, one law per file.

base             ForceElement, the base class of force elements
user_function    force values given as numbers or functions of time or state
point_force      a force at a point
torque           a pure torque
tsda             translational spring-damper-actuator
linear_actuator  force between two points, positive along the length
rsda             rotational spring-damper-actuator
state_force      any law of several bodies
joint_coordinate a coordinate of a joint, as force elements measure it and act along it
drag             resistance of a fluid against a shape
buoyancy         weight of the fluid that a shape displaces
bushing          6 x 6 stiffness and damping between two points, with a rotation vector
characteristic   a function through a table, with slope and integral
joint_load       forces along coordinates of joints: base class and kernels
joint_spring     spring and damper along a coordinate, linear, by a table, one-sided
joint_limit      stops of a coordinate
joint_force      forces along several coordinates, as a function of all
motor            torque on a joint, with gear ratio, rotor and torque-speed curve
motor_rotor      the rotor of a motor: a body behind a gear
compliant        contact forces of shapes that touch
friction_laws    friction over sliding speed
joint_friction   friction in a joint, by what it carries
jacobian         the declared derivative of a user's function
jacobian_check   a declared derivative compared with differences
tangent          stiffness and damping blocks of a force
internal_state   the line of an internal state in the driver table
registry         all force elements, and the kernels that run through them
"""

from haugmbd.forces.base import EnergyLedger, ForceElement
from haugmbd.forces.buoyancy import Buoyancy
from haugmbd.forces.bushing import Bushing
from haugmbd.forces.compliant.contact_force import ContactForce
from haugmbd.forces.drag import Drag
from haugmbd.forces.friction_laws import BrownMcPhee, Coulomb, FrictionLaw, LuGre, Viscous
from haugmbd.forces.joint_force import JointForce
from haugmbd.forces.joint_friction import JointFriction
from haugmbd.forces.joint_limit import JointLimit
from haugmbd.forces.joint_spring import JointSpring
from haugmbd.forces.linear_actuator import LinearActuator
from haugmbd.forces.motor import Motor
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
