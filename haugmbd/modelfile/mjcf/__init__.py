"""MJCF, the models of MuJoCo, read through its own compiler (the package mujoco).

bounds         files and counts that a model may name
engine         a compiled model and its pose; what cannot be read
joints         the joints of a body, several in a row included, and links between them
couplings      equalities of joints as couplings, armatures as rotors
loads          springs, dampers and actuators of hinges and slides
passive        springs and dampers of balls, free joints and tendons; gravity that is compensated
mechanism      from a compiled model to a System
read           read_mjcf
equalities     loops and couplings as equalities, for write_mjcf
rates          rates of joints from the velocities of bodies, for write_mjcf
write          write_mjcf
"""

from haugmbd.modelfile.mjcf.read import read_mjcf
from haugmbd.modelfile.mjcf.write import write_mjcf

__all__ = ["read_mjcf", "write_mjcf"]
