"""The serial chain in reduced coordinates: its links, and one recursion per file."""

from haugmbd.recursive.aba import aba
from haugmbd.recursive.articulated_impulse import ArticulatedImpulse, articulated_impulse
from haugmbd.recursive.chain import SerialChain
from haugmbd.recursive.chain_impulse import chain_impulse
from haugmbd.recursive.crba import crba
from haugmbd.recursive.link import Link
from haugmbd.recursive.link_motion import LinkMotion, jacobians, link_motion
from haugmbd.recursive.projected import Projected, projected_newton_euler
from haugmbd.recursive.random_chain import random_chain, random_motion
from haugmbd.recursive.rnea import joint_wrenches, rnea
from haugmbd.recursive.state import ChainState

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
    "random_chain",
    "random_motion",
    "rnea",
]
