"""Mechanisms that every formulation is put to: the gallery, one of all joints, redundant loops, slender rods and point masses, chains."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

import haugmbd as mbd
import joints
from haugmbd.gallery import GALLERY
from tests.support.redundant_loops import bennett, bricard, ladder, loop, planar_points
from tests.support.samples import SEED, geometry, make_joint, random_body


def all_joints() -> mbd.System:
    """A tree of one joint of each class, in the order of the catalogue, with a spring, a damper and a torque."""
    rng = np.random.default_rng(SEED)
    system = mbd.System("all joints", gravity=(0.3, -1.0, -9.81))
    bodies = [system.ground]
    for cls in joints.CATALOGUE:
        bodies.append(system.add(random_body(f"of {cls.__name__}", rng)))
        joint, carrier = make_joint(cls, cls.__name__, bodies[-2], bodies[-1], geometry(rng))
        for part in (carrier, joint):
            if part is not None:
                system.add(part)
    system.add(mbd.TSDA("spring", bodies[1], bodies[5], point_i=bodies[1].r, point_j=bodies[5].r, k=40.0, c=2.0, l0=0.5))
    system.add(mbd.Torque("torque", bodies[3], torque=(1.0, -2.0, 0.5)))
    return system


def serial() -> mbd.System:
    """A chain of the joints that a chain may have, with bodies that are not numbered from the base to the tip."""
    rng = np.random.default_rng(SEED)
    system = mbd.System("serial", gravity=(0.3, -1.0, -9.81))
    kinds = (joints.RJ, joints.TJ, joints.SJ, joints.CJ, joints.UJ, joints.Fixed, joints.RJ)
    bodies = [random_body(f"link {k}", rng) for k in range(len(kinds))]
    for k in (3, 0, 6, 1, 5, 2, 4):
        system.add(bodies[k])
    for k, cls in enumerate(kinds):
        before, after = (system.ground if k == 0 else bodies[k - 1]), bodies[k]
        i, j = (before, after) if k % 2 else (after, before)
        system.add(make_joint(cls, f"joint {k}", i, j, geometry(rng))[0])
    system.add(mbd.Torque("torque", bodies[4], torque=(1.0, -2.0, 0.5)))
    return system


def four_revolutes() -> mbd.System:
    """A planar four-bar of four parallel hinges: three rows depend on the others."""
    return loop(planar_points(), [np.array((0.0, 0.0, 1.0))] * 4)


def stout_four_bar(size: float = 1.0) -> mbd.System:
    """The same with one joint of 3 and one of 4 rows, bodies with inertia about all axes; the crank is `size` [m] long."""
    points, axis, J_bar = size * np.array(planar_points()), (0.0, 0.0, 1.0), size**2 * np.array((0.1, 0.2, 0.25))
    system = mbd.System("four-bar", gravity=(0, -9.81, 0))
    bars = [system.add(mbd.Body(f"bar {k}", 1.0, J_bar, r=(points[k] + points[k + 1]) / 2)) for k in range(3)]
    system.add(joints.RJ("A", system.ground, bars[0], point=points[0], axis=axis))
    system.add(joints.RJ("B", bars[0], bars[1], point=points[1], axis=axis))
    system.add(joints.SJ("C", bars[1], bars[2], point=points[2]))
    system.add(joints.CJ("D", bars[2], system.ground, point=points[3], axis=axis))
    return system


def point_masses() -> mbd.System:
    """A point mass and a slender rod that joints determine."""
    system = mbd.System("point masses", gravity=(0, 0, -9.81))
    rod = system.add(mbd.Body("rod", 1.3, (0.0, 0.1, 0.1), r=(0.5, 0, 0)))
    mass = system.add(mbd.Body("mass", 0.7, (0, 0, 0), r=(1.0, 0, -0.5)))
    system.add(joints.RJ("pin", system.ground, rod, point=(0, 0, 0), axis=(0, 1, 0)))
    system.add(joints.RJ("elbow", rod, mass, point=(1, 0, 0), axis=(0, 1, 0)))
    return system


def no_joints() -> mbd.System:
    """Two free bodies."""
    rng = np.random.default_rng(SEED)
    system = mbd.System("free", gravity=(0, 0, -9.81))
    for name in ("a", "b"):
        system.add(random_body(name, rng))
    return system


FIRST = GALLERY[:8]
"""The mechanisms of the gallery with independent rows that every method is put to."""

MAKERS: tuple[Callable[[], mbd.System], ...] = (
    *FIRST, all_joints, serial, stout_four_bar, point_masses, no_joints, four_revolutes, bennett, bricard, lambda: ladder(3),
)  # fmt: skip
REDUNDANT = ("four_revolutes", "bennett", "bricard", "ladder")


def name_of(make: Callable[[], mbd.System]) -> str:
    """What a maker is called in the tests."""
    return make.__name__ if make.__name__ != "<lambda>" else "ladder"


def moving(model: mbd.Model, seed: int = SEED) -> mbd.State:
    """The modelled pose with random velocities that fulfil all rows."""
    rows, rng = mbd.evaluate(model), np.random.default_rng(seed)
    Phi_q = rows.Phi_q.toarray()
    u = rng.normal(size=6 * model.nb)
    u += np.linalg.lstsq(Phi_q, rows.nu - Phi_q @ u, rcond=1e-10)[0]
    v, omega_bar = np.zeros((model.nb + 1, 3)), np.zeros((model.nb + 1, 3))
    v[1:], omega_bar[1:] = u.reshape(-1, 6)[:, :3], u.reshape(-1, 6)[:, 3:]
    return model.state().replace(v=v, omega_bar=omega_bar)
