"""Mechanisms that fit, by name, and what shakes them; a four-bar of given lengths, fitting or not."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

import haugmbd as mbd
from haugmbd.gallery import chain, double_pendulum, four_bar, heavy_top, pendulum, slider_crank
from haugmbd.math.euler_parameters import exponential, product
from joints import CJ, RJ, SJ, TJ, UJ, Distance, Fixed, Planar, PointInPlane, RevoluteSpherical, RotationDriver, TranslationDriver
from tests.support.redundant_loops import bennett, bricard, ladder, loop, planar_points

J_BAR = (0.1, 0.2, 0.25)


def zoo() -> mbd.System:
    """One body after the other on every kind of joint, the last one closed by a distance, a drive on the way."""
    system = mbd.System("zoo", gravity=(0, 0, -9.81))
    bodies = [system.ground, *(system.add(mbd.Body(f"body {k}", 1.0 + k, J_BAR, r=(k, 0.3 * k, -0.1 * k))) for k in range(1, 8))]
    joints = (UJ, CJ, RJ, TJ, Fixed, Planar, SJ)
    tilt = dict(axis=(1, 2, 3), normal=(0, 1, 1), axis_i=(1, 0, 0), axis_j=(0, 1, 0))
    for k, kind in enumerate(joints):
        asked = {"UJ": ("axis_i", "axis_j"), "Planar": ("normal",), "SJ": (), "Fixed": ()}.get(kind.__name__, ("axis",))
        point = (k + 0.5, 0.3 * k, 0.1)
        system.add(kind(f"{kind.__name__} {k}", bodies[k], bodies[k + 1], point=point, **{name: tilt[name] for name in asked}))
    system.add(Distance("rod", system.ground, bodies[7], point_i=(0, 5, 0), point_j=(7, 2, 0)))
    system.add(RotationDriver("drive", system["RJ 2"], lambda t: 0.3 * np.sin(t)))
    return system


def platform() -> mbd.System:
    """A plate on a driven slide, a point in a plane and a revolute-spherical arm."""
    system = mbd.System("platform")
    slide, plate = system.add(mbd.Body("slide", 2.0, J_BAR)), system.add(mbd.Body("plate", 1.0, J_BAR, r=(1, 0, 1)))
    guide = system.add(TJ("guide", system.ground, slide, point=(0, 0, 0), axis=(1, 0, 0)))
    system.add(TranslationDriver("push", guide, lambda t: 0.2 * t))
    system.add(SJ("ball", slide, plate, point=(0.5, 0, 0.5)))
    system.add(PointInPlane("rail", system.ground, plate, point=(1, 1, 1), normal=(0.3, 0.2, 1)))
    system.add(RevoluteSpherical("arm", system.ground, plate, point_i=(2, -1, 1), point_j=(1, -1, 1), axis=(0, 1, 0)))
    return system


def planar_loop() -> mbd.System:
    """Four parallel revolutes: 20 rows, rank 17."""
    return loop(planar_points(), [np.array([0.0, 0.0, 1.0])] * 4)


MECHANISMS: dict[str, Callable[[], mbd.System]] = {
    "pendulum": pendulum,
    "driven pendulum": lambda: pendulum(driven=True),
    "double pendulum": double_pendulum,
    "heavy top": heavy_top,
    "four-bar": four_bar,
    "slider-crank": slider_crank,
    "driven slider-crank": lambda: slider_crank(driven=True),
    "chain": lambda: chain(6),
    "zoo": zoo,
    "platform": platform,
    "planar loop": planar_loop,
    "bennett": bennett,
    "bricard": bricard,
    "ladder": lambda: ladder(4),
}


def shaken(state: mbd.State, part: float, rng: np.random.Generator) -> mbd.State:
    """Centres of mass off by up to `part` of the mechanism's size along each axis, bodies turned by up to `part` of a half turn."""
    n = len(state.r) - 1
    size = max(1.0, float(np.linalg.norm(np.ptp(state.r, axis=0))))
    r, p = state.r.copy(), state.p.copy()
    r[1:] += part * size * rng.uniform(-1, 1, (n, 3))
    axis = rng.normal(size=(n, 3))
    axis /= np.linalg.norm(axis, axis=1, keepdims=True)
    p[1:] = product(p[1:], exponential(part * np.pi * rng.uniform(-1, 1, (n, 1)) * axis))
    return state.replace(r=r, p=p)


def bar_loop(lengths: tuple[float, float, float], ground: tuple[float, float]) -> mbd.System:
    """Three bars along x, one after the other, from the origin to a pin of the ground at (x, y): closed as modelled or not."""
    system = mbd.System("bars", gravity=(0, -9.81, 0))
    x, before, end = 0.0, system.ground, (0.0, 0.0, 0.0)
    for name, joint, length in zip(("crank", "coupler", "rocker"), "ABC", lengths, strict=True):
        bar = system.add(mbd.Body(name, length, (0.01, 0.1, 0.1), r=(x + length / 2, 0, 0)))
        system.add(RJ.from_vectors(joint, before, end, (1, 0, 0), (0, 1, 0), bar, (-length / 2, 0, 0), (0, 0, 1)))
        x, before, end = x + length, bar, (length / 2, 0, 0)
    system.add(RJ.from_vectors("D", before, end, (1, 0, 0), (0, 1, 0), system.ground, (*ground, 0), (0, 0, 1)))
    return system
