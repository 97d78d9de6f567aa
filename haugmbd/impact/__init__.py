"""Impulses: applied ones, contacts with restitution, joints that close suddenly; one factor of the augmented matrix answers all."""

from haugmbd.impact.contact import Contact

__all__ = ["Contact"]
