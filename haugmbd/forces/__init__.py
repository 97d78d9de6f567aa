"""Force elements, one law per file.  A new one is a file and an entry here.

base             ForceElement, the base class of force elements
user_function    force values given as numbers or functions of time or state
point_force      a force at a point
torque           a pure torque
tsda             translational spring-damper-actuator
linear_actuator  force between two points, positive along the length
rsda             rotational spring-damper-actuator
state_force      any law of several bodies
joint_loads      forces and torques along coordinates of joints
mass_in_time     mass and inertia of a body as functions of time, with their thrust
drag, buoyancy   forces of a fluid on a shape
bushing          6 x 6 stiffness and damping between two points, with a rotation vector
compliant        contact forces of shapes that touch
friction_laws    laws of friction
joint_friction   friction in a joint
jacobian         declared derivatives, compared with differences
tangent          stiffness and damping in implicit steps
stops            the sides of a stop, and the line of the driver table that a run writes
registry         the kernels that run through all force elements
"""

from types import ModuleType

from haugmbd.forces import buoyancy, bushing, drag, joint_friction, mass_in_time, point_force, rsda, state_force, torque, tsda
from haugmbd.forces.base import KNOWN, EnergyLedger, ForceElement
from haugmbd.forces.buoyancy import Buoyancy
from haugmbd.forces.bushing import Bushing
from haugmbd.forces.compliant import contact_force
from haugmbd.forces.compliant.contact_force import ContactForce
from haugmbd.forces.drag import Drag
from haugmbd.forces.friction_laws import BrownMcPhee, Coulomb, FrictionLaw, LuGre, Viscous
from haugmbd.forces.joint_friction import JointFriction
from haugmbd.forces.joint_loads import joint_load
from haugmbd.forces.joint_loads.joint_force import JointForce
from haugmbd.forces.joint_loads.joint_limit import JointLimit
from haugmbd.forces.joint_loads.joint_spring import JointSpring
from haugmbd.forces.joint_loads.motor import Motor
from haugmbd.forces.linear_actuator import LinearActuator
from haugmbd.forces.point_force import PointForce
from haugmbd.forces.rsda import RSDA
from haugmbd.forces.state_force import StateForce
from haugmbd.forces.torque import Torque
from haugmbd.forces.tsda import TSDA

MODULES: tuple[tuple[type[ForceElement], ModuleType], ...] = (
    (TSDA, tsda),
    (RSDA, rsda),
    (PointForce, point_force),
    (Torque, torque),
    (StateForce, state_force),
    (joint_load.JointLoad, joint_load),
    (Bushing, bushing),
    (ContactForce, contact_force),
    (Drag, drag),
    (Buoyancy, buoyancy),
    (mass_in_time.MassInTime, mass_in_time),
    (JointFriction, joint_friction),
)
"""Every class with kernels, and the module that has them, in the order of the force tables; see `registry`."""
SHARED: tuple[type[ForceElement], ...] = (LinearActuator, JointSpring, JointLimit, JointForce, Motor)
"""Classes that use the kernels of one that they inherit from."""
KINDS: tuple[type[ForceElement], ...] = (
    *(k for k, _ in MODULES if k not in (joint_load.JointLoad, mass_in_time.MassInTime)),
    *SHARED,
)
"""Every force element of the library that a user makes; a body brings its MassInTime along."""
KNOWN[:] = [kind for kind, _ in MODULES]

__all__ = [
    "KINDS",
    "MODULES",
    "RSDA",
    "SHARED",
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
