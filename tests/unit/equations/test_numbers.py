"""The formulas of `mbd.equations` have the numbers of the kernels: every joint of the catalogue, every mechanism of the gallery."""

from __future__ import annotations

import numpy as np
import pytest

import haugmbd as mbd
import joints
from haugmbd import System
from haugmbd.equations.derivation import random_state as random_state_in_plane
from haugmbd.gallery import GALLERY, andrews, four_bar, pendulum, piston_engine, planetary_gear
from tests.support.coupling_samples import sample
from tests.support.samples import geometry, make_joint, pair, random_state
from tests.support.seeds import MORE
from tests.support.tex import defect

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
    """A random state near another one: turned freely, and moved little, as functions of the user may have a domain."""
    r, p = state.r + 1e-3 * rng.normal(size=state.r.shape), state.p + 0.1 * rng.normal(size=state.p.shape)
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
    assert not defect(eq.latex("acceleration"))
    for name in eq.joints:
        derivation = eq.derive(name)
        assert derivation.ok, str(derivation)
        assert not defect(derivation.latex())


@pytest.mark.slow
@pytest.mark.parametrize("cls", [*joints.COUPLINGS, *joints.ROLLING, *joints.GUIDES], ids=lambda cls: cls.__name__)
def test_every_coupling_rolling_joint_and_guide(cls):
    eq = mbd.equations(sample(cls))
    assert_same_numbers(eq, near(eq.model.state(), np.random.default_rng(SEED)))
    assert not defect(eq.latex("acceleration"))
    for name in eq.joints:
        derivation = eq.derive(name)
        assert derivation.ok, str(derivation)
        assert not defect(derivation.latex())


LOADS = {
    "torque in components": lambda i, j: mbd.Torque("turn 1", j, torque=[mbd.Expression("sin(t)"), 2.0, mbd.Expression("a*t")]),
    "function": lambda i, j: mbd.PointForce("push_2", j, point=(0, 0, 0), force=lambda t: (t, 0.0, 0.0)),
    "spring": lambda i, j: mbd.TSDA(
        "s & p", i, j, point_i=(0, 0, 1), point_j=(1, 0, 0), k=3.0, l0=0.5, c=1.0, actuator=mbd.Expression("cos(2*t)")
    ),
    "bushing": lambda i, j: mbd.Bushing("bush", i, j, point=(1, 0, 0), K=(1, 2, 3, 1, 1, 1)),
}


@pytest.mark.slow
@pytest.mark.parametrize("kind", LOADS)
def test_every_kind_of_load_is_a_formula_that_compiles_or_is_named(kind):
    system = mbd.System("100% of {x_y}", gravity=(0, 0, -9.81), parameters={"a": 2.0})
    body = system.add(mbd.Body("one_a & b", 1.0, (0.1, 0.2, 0.25), r=(1, 0, 0)))
    system.add(joints.RJ("h_1", system.ground, body, point=(0, 0, 0), axis=(0, 1, 0)))
    load = system.add(LOADS[kind](system.ground, body))
    eq = mbd.equations(system)
    assert not defect(eq.latex())
    shown = [*eq.forces.other, *(each.name for each, _ in eq.forces.written)]
    assert load.name in shown
    state = near(eq.model.state(), np.random.default_rng(SEED))
    numbers, rows = assert_same_numbers(eq, state)
    assert far(numbers.Q, needed_forces(eq, state, rows, numbers.M)) < 1e-10


@pytest.mark.slow
@pytest.mark.parametrize("build", GALLERY if MORE > 1 else GALLERY[::3], ids=lambda build: build.__name__)
def test_every_mechanism_of_the_gallery(build):
    eq = mbd.equations(build())
    state = near(eq.model.state(), np.random.default_rng(SEED))
    numbers, rows = assert_same_numbers(eq, state)
    assert not eq.forces.other
    assert far(numbers.Q, needed_forces(eq, state, rows, numbers.M)) < 1e-10  # the accelerations have the condition of the matrix


def test_a_joint_of_the_user_with_two_functions_and_names_that_clash():
    """Two drivers in one joint, a parameter with the name of a mass, and a body with the name of a joint keep their own numbers."""

    class Guide(mbd.Joint):
        def primitives(self):
            i, j = self.frame_i, self.frame_j
            functions = (lambda t: 0.1 * t * t, lambda t: 0.2 * np.sin(t), mbd.Expression("0.3 * m_pin * t**2 + 0.1 * t"))
            return tuple(mbd.CD(c, self.i, i.s_bar, self.j, j.s_bar, f) for c, f in zip(np.eye(3), functions, strict=True))

    system = System("clash", parameters={"m_pin": 0.7})
    body = system.add(mbd.Body("pin", 3.0, (0.1, 0.2, 0.25), r=(0.1, 0.2, 0.3)))
    system.add(Guide("pin", mbd.Frame.from_global(system.ground, (0, 0, 0)), mbd.Frame.from_global(body, (0, 0, 0))))
    eq = mbd.equations(system)
    numbers, _ = assert_same_numbers(eq, near(eq.model.state(), np.random.default_rng(SEED)))
    assert numbers.M[0, 0] == 3.0


@pytest.mark.slow
@pytest.mark.parametrize(
    ("build", "plane"), [(four_bar, "xz"), (andrews, "xy"), (piston_engine, "xz"), (planetary_gear, "xy"), (pendulum, "zy")]
)
def test_the_rows_and_accelerations_of_planar_mechanisms_are_those_of_the_spatial_model(build, plane):
    eq = mbd.equations(build(), planar=plane)
    state = random_state_in_plane(eq, np.random.default_rng(SEED))
    Phi, gamma, Phi_q = eq.lambdify("Phi", "gamma", "Phi_q")(state)
    rows, kept = mbd.evaluate(eq.model, state), list(eq.numbers_of_rows)
    assert far(Phi, rows.Phi[kept]) < AGREEMENT
    assert far(gamma, rows.gamma[kept]) < AGREEMENT
    assert far(Phi_q, rows.Phi_q.toarray()[kept] @ eq.to_plane(state).T) < AGREEMENT
    numbers, nc, answer = eq.lambdify()(), len(kept), mbd.accelerations(eq.model)
    K = np.block([[numbers.M, numbers.Phi_q.T], [numbers.Phi_q, np.zeros((nc, nc))]])
    u_dot = np.linalg.lstsq(K, np.concatenate([numbers.Q, numbers.gamma]), rcond=None)[0][: eq.n]
    theirs = np.hstack([answer.v_dot, answer.omega_bar_dot])[1:].ravel()
    assert far(eq.to_plane(eq.model.state()).T @ u_dot, theirs) < 1e-9  # the condition of a mechanism near a dead point
