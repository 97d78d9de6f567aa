"""Two joints between the same bodies that turn through all directions: of three rows of a point none is the right one to keep at every pose."""

from __future__ import annotations

import numpy as np
import pytest

import haugmbd as mbd
from joints import CJ, RJ, SJ, TJ, UJ, ConstantVelocity

AXIS = np.array([0.3, 0.5, 0.8]) / np.linalg.norm([0.3, 0.5, 0.8])
ACROSS = np.cross(AXIS, (1, 0, 0)) / np.linalg.norm(np.cross(AXIS, (1, 0, 0)))
P, Q = (0.5, 0.1, 0.2), (0.4, 0.3, -0.1)
MAKE = {
    "TJ": lambda i, j: TJ("slide", i, j, point=P, axis=AXIS),
    "CJ": lambda i, j: CJ("sleeve", i, j, point=P, axis=AXIS),
    "RJ": lambda i, j: RJ("pin", i, j, point=P, axis=AXIS),
    "SJ": lambda i, j: SJ("ball", i, j, point=Q),
    "UJ": lambda i, j: UJ("cross", i, j, point=Q, axis_i=AXIS, axis_j=ACROSS),
    "CV": lambda i, j: ConstantVelocity("shaft", i, j, point=Q, axis_i=AXIS, axis_j=ACROSS),
}
PAIRS = [("TJ", "UJ"), ("TJ", "SJ"), ("CJ", "SJ"), ("RJ", "UJ"), ("SJ", "TJ"), ("TJ", "CV")]


def pair_of_bodies(first, second):
    """Two bodies that turn freely in space, held together by two joints."""
    system = mbd.System("pair")
    a = system.add(mbd.Body("a", 1.0, (0.1, 0.2, 0.25), omega_bar=(1.0, 2.0, 3.0)))
    b = system.add(mbd.Body("b", 2.0, (0.3, 0.2, 0.35), r=(1, 0, 0)))
    system.add(MAKE[first](a, b))
    system.add(MAKE[second](a, b))
    return system


@pytest.mark.slow
@pytest.mark.parametrize(("first", "second"), PAIRS)
def test_a_pair_turns_as_the_rigid_body_that_it_is(first, second):
    system = pair_of_bodies(first, second)
    result = mbd.simulate(system, 3.0, rtol=1e-9, atol=1e-11, project_velocity=True)
    a, b = (np.array([part.r, part.v, part.omega]) for part in (result["a"], result["b"]))
    L = [
        result[k].A @ (np.array(J)[:, None] * result[k].omega_bar[..., None])
        for k, J in (("a", (0.1, 0.2, 0.25)), ("b", (0.3, 0.2, 0.35)))
    ]
    whole = L[0][..., 0] + L[1][..., 0] + np.cross(a[0], a[1]) + 2.0 * np.cross(b[0], b[1])
    assert np.abs(whole - whole[0]).max() < 1e-7 * np.abs(whole[0]).max()
    assert np.abs(result.energy().drift).max() < 1e-7 * result.energy().kinetic[0]
    if "CJ" not in (first, second):
        assert np.abs(a[2] - b[2]).max() < 1e-7
        assert np.abs(np.linalg.norm(a[0] - b[0], axis=-1) - 1.0).max() < 1e-9
    assert result.warnings == ()
