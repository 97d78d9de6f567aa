"""One chain of many joints, in both orientations, with springs and a torque, and one driven slider-crank."""

from __future__ import annotations

import numpy as np
import pytest

import haugmbd as mbd
from haugmbd import TSDA, Torque
from haugmbd.gallery.spatial_linkages import slider_crank
from joints import CJ, RJ, SJ, TJ, UJ

K, C, L0 = 40.0, 1.5, 0.8
TORQUE = np.array([0.3, -0.2, 0.5])


def random_body(rng, name, r):
    principal = 0.1 + rng.random(3) * 0.02
    turn = mbd.Body("turn", mass=1.0, J_bar=(1, 1, 1), p=_unit(rng)).A
    return mbd.Body(name, mass=1.0 + rng.random(), J_bar=turn @ np.diag(principal) @ turn.T, r=r, p=_unit(rng))


def _unit(rng):
    p = rng.normal(size=4)
    return p / np.linalg.norm(p)


def make_chain():
    rng = np.random.default_rng(11)
    system = mbd.System("chain", gravity=(1.0, -2.0, -9.0))
    bodies = [system.ground]
    bodies += [system.add(random_body(rng, f"b{k}", np.array([k, 0.2 * k, 0]) + 0.1 * rng.normal(size=3))) for k in range(1, 6)]
    at = [0.5 * (a.r + b.r) for a, b in zip(bodies, bodies[1:], strict=False)]
    axis = rng.normal(size=(6, 3))
    g, b1, b2, b3, b4, b5 = bodies
    system.add(RJ("rj", b1, g, point=at[0], axis=axis[0]))
    system.add(SJ("sj", b1, b2, point=at[1]))
    across = np.cross(axis[2], axis[1])
    system.add(UJ("uj", b3, b2, point=at[2], axis_i=axis[2], axis_j=across))
    system.add(CJ("cj", b3, b4, point=at[3], axis=axis[3]))
    system.add(TJ("tj", b5, b4, point=at[4], axis=axis[4]))
    system.add(TSDA("spring", b4, b5, point_i=b4.r + 0.1, point_j=b5.r - 0.2, k=K, c=C, l0=L0))
    system.add(Torque("torque", b2, torque=TORQUE))
    return system


@pytest.fixture(scope="session")
def chain():
    """A run of the chain, 61 states."""
    return mbd.simulate(make_chain(), 0.3, h=1e-3, store_every=5)


@pytest.fixture(scope="session")
def driven():
    """A run of the driven slider-crank."""
    return mbd.simulate(slider_crank(driven=True), 1.0, h=1e-3)
