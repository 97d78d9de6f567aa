"""Impulses: applied ones, contacts with restitution, joints that close suddenly; one factor of the augmented matrix answers all."""

from haugmbd.impact.applied import AngularImpulse, PointImpulse
from haugmbd.impact.contact import Contact
from haugmbd.impact.face import impulse
from haugmbd.impact.result import Impulse, JointImpulse

__all__ = ["AngularImpulse", "Contact", "Impulse", "JointImpulse", "PointImpulse", "impulse"]
