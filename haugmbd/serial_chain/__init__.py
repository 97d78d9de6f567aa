"""Serial chains in joint coordinates.

chain_arrays     the record of arrays that the recursions compute on
kinematics       forward kinematics
link             Link: a body and the joint that carries it
validation       faults of links
layout           links and freedoms as flat arrays
base             BaseChain: links in a row, and reading of their coordinates
link_joints      the joints of links as rows between two bodies
error_messages   errors of the recursions
recursions       rnea, crba, aba and their parts
impulse          the response to impulses
conversion       to and from a System
chain            SerialChain
state            ChainState
random_chain     random chains for tests and cross-checks
"""

from haugmbd.serial_chain.chain import SerialChain
from haugmbd.serial_chain.impulse.articulated_impulse import ArticulatedImpulse, articulated_impulse
from haugmbd.serial_chain.impulse.chain_impulse import chain_impulse
from haugmbd.serial_chain.link import Link
from haugmbd.serial_chain.random_chain import random_motion
from haugmbd.serial_chain.recursions.aba import aba
from haugmbd.serial_chain.recursions.crba import crba
from haugmbd.serial_chain.recursions.link_motion import LinkMotion, jacobians, link_motion
from haugmbd.serial_chain.recursions.projected_newton_euler import Projected, projected_newton_euler
from haugmbd.serial_chain.recursions.rnea import joint_wrenches, rnea
from haugmbd.serial_chain.state import ChainState

__all__ = [
    "ArticulatedImpulse",
    "ChainState",
    "Link",
    "LinkMotion",
    "Projected",
    "SerialChain",
    "aba",
    "articulated_impulse",
    "chain_impulse",
    "crba",
    "jacobians",
    "joint_wrenches",
    "link_motion",
    "projected_newton_euler",
    "random_motion",
    "rnea",
]
