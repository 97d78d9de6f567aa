"""Impulses, contacts with restitution, and motion with impacts.

gap                 gaps, gap rates and rows of contacts, at many states and of many contacts at once
contact             Contact: a point or sphere against a plane
applied_impulse     impulses from outside
joint_stop          a limit of a joint's coordinate as a contact
joint_closure       joints that close suddenly
impulse_arguments   reading the arguments of `impulse`
spectral_solve      semi-definite systems with dependent rows
impulse_result      the result of an impulse
impulse_equations   the augmented system, solved for impulses
plain_impulse       an impulse without contacts: one compiled call
restitution         Newton's law at several contacts
auxiliary_rows      rows of contacts and closing joints in addition to those of the model
impulse             impulse: velocities just after an impulse
motion              motion with impacts
"""

from haugmbd.contact.applied_impulse import AngularImpulse, PointImpulse
from haugmbd.contact.contact import Contact
from haugmbd.contact.impulse_result import Impulse, JointImpulse
from haugmbd.contact.motion.impact_result import ContactHistory, Impact, ImpactResult
from haugmbd.contact.motion.simulate_impacts import simulate_impacts

__all__ = [
    "AngularImpulse",
    "Contact",
    "ContactHistory",
    "Impact",
    "ImpactResult",
    "Impulse",
    "JointImpulse",
    "PointImpulse",
    "simulate_impacts",
]
