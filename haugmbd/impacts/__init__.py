"""Impulses and impacts: velocities just after a blow, a contact or a closing joint; contacts that rest and share a load.

applied_impulse    impulses from outside
joint_closure      joints that close suddenly
impulse_arguments  reading the arguments of `impulse`
spectral_solve     semi-definite systems with dependent rows
impulse_result     the result of an impulse
impulse_equations  the augmented system, solved for impulses
plain_impulse      an impulse without contacts: one compiled call
restitution        Newton's law at several contacts
struck_chains      contacts that are struck through closed ones
auxiliary_rows     rows of contacts and closing joints in addition to those of the model
impulse            impulse: velocities just after an impulse
contact_modes      one model for every set of closed contacts
shared_forces      normal forces of contacts that share a load in many ways
impact             one impact of a motion, and one contact over time
"""

from haugmbd.impacts.applied_impulse import AngularImpulse, PointImpulse
from haugmbd.impacts.impact import ContactHistory, Impact
from haugmbd.impacts.impulse_result import Impulse, JointImpulse

__all__ = ["AngularImpulse", "ContactHistory", "Impact", "Impulse", "JointImpulse", "PointImpulse"]
