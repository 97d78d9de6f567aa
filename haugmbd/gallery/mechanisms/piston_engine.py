r"""A piston engine: crank, connecting rod and piston, and gas that is compressed without heat.

p V^gamma = p_0 V_0^gamma,      F = -(p - p_a) A        on the piston, along the cylinder
"""

from __future__ import annotations

from math import pi

from haugmbd.bodies.body import Body
from haugmbd.bodies.inertia import cylinder
from haugmbd.bodies.validation import FloatArray
from haugmbd.forces import PointForce
from haugmbd.gallery.building import AXIS, at
from haugmbd.joints import RJ, TJ, PointOnLine
from haugmbd.system.system import System

CRANK, ROD, BORE, CLEARANCE = 0.04, 0.14, 0.08, 0.012
"""Radius of the crank, length of the rod, bore, and height of the gas at the upper dead centre [m]."""
ATMOSPHERE, GAMMA = 101325.0, 1.4
"""Pressure of the atmosphere, and of the gas at the lower dead centre [Pa]; ratio of the heats of air."""
AREA = pi * BORE**2 / 4.0
SPEED = 250.0
"""Speed of the crank at first [rad/s]."""


def piston_engine() -> System:
    """Return a piston engine at half stroke with a gas spring; the crank turns with 250 rad/s at first.

    Returns
    -------
    System
        Bodies: "crank", "rod", "piston".  Joints: "main bearing" (RJ), "crank pin" (RJ), "wrist pin" (PointOnLine), "cylinder" (TJ).
        Forces: "gas" (PointForce).  Degrees of freedom: 1.
    """
    height = (ROD**2 - CRANK**2) ** 0.5
    pin, wrist = at(CRANK, 0.0), at(0.0, height)
    system = System("piston engine", gravity=(0.0, 0.0, -9.81))
    crank = system.add(Body("crank", *cylinder(0.08, 0.03, mass=4.0, axis=AXIS), omega_bar=(0.0, SPEED, 0.0)))
    v_pin = at(0.0, -SPEED * CRANK)
    rod = system.add(Body("rod", *cylinder(0.01, ROD, mass=0.5, axis=wrist - pin), r=(pin + wrist) / 2.0, v=v_pin))
    piston = system.add(Body("piston", *cylinder(BORE / 2.0, 0.05, mass=0.6), r=wrist, v=v_pin))
    system.add(RJ("main bearing", system.ground, crank, point=(0, 0, 0), axis=AXIS))
    system.add(RJ("crank pin", crank, rod, point=pin, axis=AXIS))
    system.add(PointOnLine("wrist pin", rod, piston, point=wrist, axis=AXIS))
    system.add(TJ("cylinder", system.ground, piston, point=wrist, axis=(0, 0, 1)))
    system.add(PointForce("gas", piston, force=gas_force))
    return system


def gas_pressure(z: float) -> float:
    """Return the pressure of the gas [Pa] with the wrist pin at the height z [m]."""
    top = CRANK + ROD + CLEARANCE
    pressure: float = ATMOSPHERE * ((2.0 * CRANK + CLEARANCE) / (top - z)) ** GAMMA
    return pressure


def gas_force(t: float, r: FloatArray, p: FloatArray, v: FloatArray, omega_bar: FloatArray) -> FloatArray:
    """Return the force of the gas on the piston [N], (3,)."""
    return at(0.0, -(gas_pressure(r[2]) - ATMOSPHERE) * AREA)
