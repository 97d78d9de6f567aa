"""Mechanisms whose equilibria and small motions are known in closed form, or by an equation that does not know of haugmbd."""

from __future__ import annotations

from math import cos, pi, sin

import numpy as np
from scipy.optimize import brentq

import haugmbd as mbd
from haugmbd import inertia
from joints import RJ, SJ, TJ, RotationDriver

g = 9.81


def pendulum(angle=0.0, mass=3.0, length=1.2, J=0.7, **load):
    """A compound pendulum about y, `angle` from hanging; its pin at the origin, its centre of mass `length` away."""
    system = mbd.System("pendulum", gravity=(0, 0, -g))
    p = (cos(angle / 2), 0.0, -sin(angle / 2), 0.0)
    r = (length * sin(angle), 0.0, -length * cos(angle))
    bar = system.add(mbd.Body("bar", mass, (J, J, 0.1), r=r, p=p))
    pin = system.add(RJ("pin", system.ground, bar, point=(0, 0, 0), axis=(0, 1, 0)))
    if load:
        system.add(mbd.RSDA("spring", pin, **load))
    return system


def chain_of_masses(masses, k, c, l0=0.3, gravity=0.0):
    """Sliders on one line along x, joined by springs and dampers, the first to the ground; springs are relaxed as modelled."""
    system = mbd.System("chain of masses", gravity=(gravity, 0, 0))
    before = system.ground
    for n, mass in enumerate(masses):
        x = l0 * (n + 1)
        body = system.add(mbd.Body(f"m{n + 1}", mass, (1, 1, 1), r=(x, 0, 0)))
        system.add(TJ(f"slide {n + 1}", system.ground, body, point=(0, 0, 0), axis=(1, 0, 0)))
        ends = dict(point_i=(x - l0, 0, 0), point_j=(x, 0, 0))
        system.add(mbd.TSDA(f"spring {n + 1}", before, body, k=k[n], c=c[n], l0=l0, **ends))
        before = body
    return system


def rotor(spin=0.0, k=5.0, c=0.0, J=(0.2, 0.2, 0.3)):
    """A disk on a ball joint at its centre, held upright by four springs at the end of its axle of 1 m: (system, disk, stiffness [N m])."""
    system = mbd.System("rotor")
    disk = system.add(mbd.Body("disk", 2.0, J, omega_bar=(0, 0, spin)))
    system.add(SJ("ball", system.ground, disk, point=(0, 0, 0)))
    for name, x, y in (("E", 1, 0), ("W", -1, 0), ("N", 0, 1), ("S", 0, -1)):
        system.add(mbd.TSDA(name, system.ground, disk, point_i=(x, y, 1), point_j=(0, 0, 1), k=k, c=c, l0=0.5))
    return system, disk, 2 * k + 2 * k * 0.5  # two springs along, two across with the tension k (1 - 0.5) over 1 m


RHO, K_GOVERNOR, TIP = 3000.0, 8e5, 5.0


def governor(driven=True, omega=2.0 * pi, alpha=pi / 6, s=0.5):
    """IFToMM's stiff flyball governor (A05 of the benchmark library): rods `alpha` below the horizontal, the slider at height s."""
    system = mbd.System("governor", gravity=(0, 0, -g))
    shaft = system.add(mbd.Body("shaft", *inertia.box((0.01, 0.01, 1.0), density=RHO), r=(0, 0, 0.5)))
    slider = system.add(mbd.Body("slider", *inertia.box((0.1, 0.1, 0.1), density=RHO), r=(0, 0, s)))
    axle = system.add(RJ("axle", system.ground, shaft, point=(0, 0, 0), axis=(0, 0, 1)))
    if driven:
        system.add(RotationDriver("motor", axle, lambda t: omega * t))
    system.add(TJ("guide", shaft, slider, point=(0, 0, s), axis=(0, 0, 1)))
    arm = inertia.combine([inertia.box((1.0, 0.01, 0.01), density=RHO), inertia.point_mass(TIP).placed((0.5, 0, 0))])
    for name, side in (("left", -1.0), ("right", 1.0)):
        turn = alpha if side > 0 else pi - alpha  # about y, from x: x turns to (cos, 0, -sin)
        along = np.array([cos(turn), 0.0, -sin(turn)])
        pivot = np.array([0.05 * side, 0.0, 1.0])
        centre = pivot + (0.5 + arm.center[0]) * along
        rod = system.add(mbd.Body(name, *arm, r=centre, p=(cos(turn / 2), 0, sin(turn / 2), 0)))
        system.add(RJ(f"{name} pin", shaft, rod, point=pivot, axis=(0, 1, 0)))
        ends = dict(point_i=pivot + 0.5 * along, point_j=(0.05 * side, 0, s))
        system.add(mbd.TSDA(f"{name} spring", rod, slider, k=K_GOVERNOR, c=4e4, l0=0.5, **ends))
    return system


def governor_balance(omega):
    """(alpha, s) of the governor at constant speed, by two nested scalar equations:

    slider   m_s g = 2 k (l - l0) (h - s) / l,    l^2 = (cos(alpha) / 2)^2 + (h - s)^2,  h = 1 - sin(alpha) / 2
    rods     d/dalpha [ V - omega^2 I_zz / 2 ] = 0    of both rods with their tips, with the springs
    """
    m_rod, m_slider = RHO * 1e-4, RHO * 1e-3
    J_axial, J_across = m_rod * 2e-4 / 12, m_rod * (1 + 1e-4) / 12

    def slider(alpha):
        """s on the lower side of the rods' midpoints, where the stretched springs carry the slider."""
        h, x = 1 - 0.5 * sin(alpha), 0.5 * cos(alpha)

        def left(s):
            length = np.hypot(x, h - s)
            return 2 * K_GOVERNOR * (length - 0.5) * (h - s) / length - m_slider * g

        return brentq(left, h - 0.9, h - 1e-9 if x > 0.5 else h - np.sqrt(0.25 - x * x) + 1e-12, xtol=1e-15, rtol=1e-15)

    def rods(alpha):
        s = slider(alpha)
        h, x = 1 - 0.5 * sin(alpha), 0.5 * cos(alpha)
        length = np.hypot(x, h - s)
        # l dl/dalpha = x x' + (h - s) h'
        spring = K_GOVERNOR * (length - 0.5) * (x * -0.5 * sin(alpha) + (h - s) * -0.5 * cos(alpha)) / length
        weight = -(0.5 * m_rod + TIP) * g * cos(alpha)
        I_rate = 2 * m_rod * (0.05 + x) * -0.5 * sin(alpha) + 2 * TIP * (0.05 + cos(alpha)) * -sin(alpha)
        I_rate += 2 * (J_axial - J_across) * sin(alpha) * cos(alpha)
        return spring + weight - 0.5 * omega**2 * I_rate

    alpha = brentq(rods, 0.05, 1.5, xtol=1e-15, rtol=1e-15)
    return alpha, slider(alpha)
