"""Rigid contacts, as parts of a system.

contact     Contact: two shapes that may touch
contacts    Contacts: all pairs of bodies with shapes
gap         gaps, gap rates and rows of contacts, at many states and of many contacts at once
joint_stop  a limit of a joint's coordinate as a contact
"""

from haugmbd.contact.contact import Contact

__all__ = ["Contact"]
