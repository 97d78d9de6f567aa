"""Rigid contacts with dry friction, as parts of a system.

contact     Contact: two shapes that may touch, or a point or sphere against a plane
contacts    Contacts: all pairs of bodies with shapes
points      the points at which two shapes touch, and their rows
impact_laws  laws of impact: Newton, Poisson, sequential
cone        forces with dry friction at one instant: the cone problem
uniqueness  which of these forces are unique
gap         gaps, gap rates and rows of contacts, at many states and of many contacts at once
joint_stop  a limit of a joint's coordinate as a contact
two_body_limits  ropes that become taut, and cones about a direction, as contacts
"""

from haugmbd.contact.contact import Compliant, Contact
from haugmbd.contact.contacts import Contacts

__all__ = ["Compliant", "Contact", "Contacts"]
