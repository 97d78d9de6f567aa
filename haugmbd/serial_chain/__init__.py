"""Serial chains in joint coordinates.

chain_arrays     the record of arrays that the recursions compute on
kinematics       forward kinematics
link             Link: a body and the joint that carries it, and its faults
base             BaseChain: links in a row as flat arrays, and reading of their coordinates; ChainState
recursions       rnea, crba, aba, equations by projection, and their parts
impulses         the response to impulses
constrained_inertia   inverse inertia of links as 6 x 6 matrices
from_system      the chain of a System
to_system        a chain as a System
coordinates      between joint coordinates and states of bodies
chain            SerialChain; random chains
"""

from haugmbd.serial_chain.base import ChainState
from haugmbd.serial_chain.chain import SerialChain, random_motion
from haugmbd.serial_chain.impulses import ArticulatedImpulse, articulated_impulse, chain_impulse
from haugmbd.serial_chain.link import Link
from haugmbd.serial_chain.recursions.aba import aba
from haugmbd.serial_chain.recursions.crba import crba
from haugmbd.serial_chain.recursions.link_motion import LinkMotion, Projected, jacobians, link_motion, projected_newton_euler
from haugmbd.serial_chain.recursions.rnea import joint_wrenches, rnea

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
