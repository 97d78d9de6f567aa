"""Impulses, contacts with restitution, and motion with impacts.

gap         gaps, gap rates and rows of contacts, at many states and of many contacts at once
contact     Contact: a point or sphere against a plane
impulses    impulses: velocities just after a blow, a contact or a closing joint
joint_stop  a limit of a joint's coordinate as a contact
motion      motion with impacts
"""

from haugmbd.contact.contact import Contact
from haugmbd.contact.impulses.applied_impulse import AngularImpulse, PointImpulse
from haugmbd.contact.impulses.impulse_result import Impulse, JointImpulse
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
