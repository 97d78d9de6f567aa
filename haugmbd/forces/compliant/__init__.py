"""Compliant contact: a force that grows with the indentation of two shapes.

damping          the models HuntCrossley, LankaraniNikravesh, Flores: damping and the restitution that they reach
pairs            which shapes may touch, and what is constant of each pair
indentation      depth, its rate and point of contact over time, in NumPy
contact_points   the same at one instant, as kernels
contact_force    ContactForce, the force element
"""

from haugmbd.forces.compliant.contact_force import ContactForce
from haugmbd.forces.compliant.damping import DampingModel, Flores, HuntCrossley, LankaraniNikravesh

__all__ = ["ContactForce", "DampingModel", "Flores", "HuntCrossley", "LankaraniNikravesh"]
