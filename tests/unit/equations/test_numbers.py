"""The formulas of `mbd.equations` have the numbers of the kernels: every joint of the catalogue, every mechanism of the gallery."""

from __future__ import annotations

import numpy as np
import pytest

import haugmbd as mbd
import joints
from haugmbd.gallery import GALLERY
from haugmbd.system.system import System
from tests.support.coupling_samples import sample
from tests.support.samples import geometry, make_joint, pair, random_state

pytest.importorskip("sympy")

SEED = 20261129
AGREEMENT = 1e-12
"""Relative to the size of an array, or to 1: some dozen roundings of products of numbers of size 1 to 10."""


def far(a, b):
    """The largest difference, relative to the size."""
    return float(np.abs(a - b).max(initial=0.0)) / max(1.0, float(np.abs(b).max(initial=0.0)))


def assert_same_numbers(eq, state):
    numbers, rows = eq.lambdify()(state), mbd.evaluate(eq.model, state)
    for name in ("Phi", "nu", "gamma"):
        assert far(getattr(numbers, name), getattr(rows, name)) < AGREEMENT, name
    assert far(numbers.Phi_q, rows.Phi_q.toarray()) < AGREEMENT
    return numbers, rows


def near(state, rng):
    """A random state near another one."""
    r, p = state.r + 0.1 * rng.normal(size=state.r.shape), state.p + 0.1 * rng.normal(size=state.p.shape)
    p /= np.linalg.norm(p, axis=1)[:, None]
    v, omega_bar = rng.normal(size=r.shape), rng.normal(size=r.shape)
    r[0], p[0], v[0], omega_bar[0] = 0.0, (1.0, 0.0, 0.0, 0.0), 0.0, 0.0
    return state.replace(t=0.3, r=r, p=p, v=v, omega_bar=omega_bar)


def needed_forces(eq, state, rows, M):
    """M u_dot + Phi_q^T lam of the library's accelerations."""
    answer = mbd.accelerations(eq.model, state)
    return M @ np.hstack([answer.v_dot, answer.omega_bar_dot])[1:].ravel() + rows.Phi_q.T @ answer.lam


def joint_alone(cls, side):
    """A system with two bodies, or one and the ground, and a joint of the class; a driver with the joint that it drives."""
    rng = np.random.default_rng(SEED)
    system = System("sample", gravity=(0.3, -1.0, -9.81))
    i, j = pair(system, "sample", side, rng)
    made = make_joint(cls, "sample", i, j, geometry(rng))
    for part in reversed(made):
        if part is not None:
            system.add(part)
    return system


@pytest.mark.slow
@pytest.mark.parametrize("cls", joints.CATALOGUE, ids=lambda cls: cls.__name__)
def test_every_joint_of_the_catalogue(cls):
    system = joint_alone(cls, "both")
    eq = mbd.equations(system)
    assert_same_numbers(eq, random_state(eq.model, np.random.default_rng(SEED), t=0.3))


@pytest.mark.slow
@pytest.mark.parametrize("cls", [*joints.COUPLINGS, *joints.ROLLING, *joints.GUIDES], ids=lambda cls: cls.__name__)
def test_every_coupling_rolling_joint_and_guide(cls):
    eq = mbd.equations(sample(cls))
    assert_same_numbers(eq, near(eq.model.state(), np.random.default_rng(SEED)))


@pytest.mark.slow
@pytest.mark.parametrize("build", GALLERY, ids=lambda build: build.__name__)
def test_every_mechanism_of_the_gallery(build):
    eq = mbd.equations(build())
    state = near(eq.model.state(), np.random.default_rng(SEED))
    numbers, rows = assert_same_numbers(eq, state)
    assert not eq.forces.other
    assert far(numbers.Q, needed_forces(eq, state, rows, numbers.M)) < 1e-10  # the accelerations have the condition of the matrix
