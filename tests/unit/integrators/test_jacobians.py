"""Declared jacobians of the user's forces: against differences of the generalized forces, against the spring that says the same."""

from __future__ import annotations

from functools import cache

import numba
import numpy as np
import pytest

import haugmbd as mbd
from haugmbd import ModelError, SimulationError
from haugmbd.compiled.records import new_record
from haugmbd.integrators.implicit.base import implicit_pack
from haugmbd.integrators.implicit.force_jacobians import put_tangents
from haugmbd.integrators.implicit.records import NEWTON
from haugmbd.integrators.stabilization.none import Unstabilized
from haugmbd.integrators.state_space import MaximalStateSpace
from haugmbd.integrators.step_context import Problem
from haugmbd.math import euler_parameters
from haugmbd.model.evaluate import rows_entry
from haugmbd.workspace.layout import place_in, workspace_array
from joints import RJ
from tests.support.sliders import (
    SLIDER_ENDS,
    C,
    K,
    slider,
    spring_law,
    spring_law_by,
    spring_of_body,
    spring_of_body_by,
    spring_of_state,
    spring_of_state_by,
)

WAYS = {"Python": lambda f: f, "njit": cache(numba.njit)}
KEPT = {"Python": lambda f: f, "njit": cache(numba.njit(cache=True))}
"""The same, kept on disk: only for functions that read nothing of other files, for Numba looks at their own file alone."""


def push(t, r, p, v, w):
    """A force of everything, [N]."""
    return np.array([-30.0 * r[0] ** 2 + p[1] * v[1], -20.0 * r[1] * v[0] + w[2], -10.0 * p[0] * p[3] - w[0] * w[1] + r[2] * t])


def push_by_p(t, r, p, v, w):
    """Its derivatives by r, p, v, omega_bar."""
    dr, dp, dv, dw = np.zeros((3, 3)), np.zeros((3, 4)), np.zeros((3, 3)), np.zeros((3, 3))
    dr[0, 0], dr[1, 1], dr[2, 2] = -60.0 * r[0], -20.0 * v[0], t
    dp[0, 1], dp[2, 0], dp[2, 3] = v[1], -10.0 * p[3], -10.0 * p[0]
    dv[0, 1], dv[1, 0] = p[1], -20.0 * r[1]
    dw[1, 2], dw[2, 0], dw[2, 1] = 1.0, -w[1], -w[0]
    return dr, dp, dv, dw


def push_by_turn(t, r, p, v, w):
    """The same, with the derivative by a small turn."""
    dr, dp, dv, dw = push_by_p(t, r, p, v, w)
    return dr, 0.5 * dp @ euler_parameters.G(p).T, dv, dw


def mutual(t, r, p, v, w):
    """Rows of forces that two bodies exert on each other, unsymmetric."""
    Q = np.zeros((2, 6))
    for a in range(3):
        Q[0, a] = -40.0 * (r[0, a] - r[1, a]) ** 2 - 3.0 * v[1, a]
        Q[1, a] = 25.0 * (r[0, a] - r[1, a]) + p[0, a] * w[1, a]
        Q[0, 3 + a] = -2.0 * w[0, a] + p[1, 0] * r[1, a]
        Q[1, 3 + a] = -5.0 * v[0, a] * v[1, a]
    return Q


def mutual_by_p(t, r, p, v, w):
    dr, dp, dv, dw = np.zeros((2, 6, 2, 3)), np.zeros((2, 6, 2, 4)), np.zeros((2, 6, 2, 3)), np.zeros((2, 6, 2, 3))
    for a in range(3):
        dr[0, a, 0, a], dr[0, a, 1, a] = -80.0 * (r[0, a] - r[1, a]), 80.0 * (r[0, a] - r[1, a])
        dr[1, a, 0, a], dr[1, a, 1, a], dr[0, 3 + a, 1, a] = 25.0, -25.0, p[1, 0]
        dp[1, a, 0, a], dp[0, 3 + a, 1, 0] = w[1, a], r[1, a]
        dv[0, a, 1, a], dv[1, 3 + a, 0, a], dv[1, 3 + a, 1, a] = -3.0, -5.0 * v[1, a], -5.0 * v[0, a]
        dw[1, a, 1, a], dw[0, 3 + a, 0, a] = p[0, a], -2.0
    return dr, dp, dv, dw


def pull(t, x, x_dot):
    return 90.0 * x**2 + 4.0 * x * x_dot + t


def pull_by(t, x, x_dot):
    return 180.0 * x + 4.0 * x_dot, 4.0 * x


def pair(load) -> mbd.System:
    """Two bodies, hinged, turned and moving, with one load."""
    system = mbd.System("pair", gravity=(0, 0, 0))
    p = np.array([4.0, 1.0, -2.0, 2.0]) / 5.0
    a = system.add(mbd.Body("a", 2.0, (0.4, 0.5, 0.6), r=(0.2, -0.1, 0.3), p=p, v=(0.3, 0.2, -0.4), omega_bar=(0.5, -0.3, 0.2)))
    b = system.add(mbd.Body("b", 3.0, (0.7, 0.8, 0.9), r=(0.9, 0.5, -0.2), v=(-0.2, 0.1, 0.5), omega_bar=(0.4, 0.6, -0.1)))
    hinge = system.add(RJ("hinge", a, b, point=(0.4, 0.1, 0.3), axis=(1.0, 2.0, 2.0)))
    system.add(load(system, a, b, hinge))
    return system


ENDS = {"point_i": (0.0, 0.3, 0.1), "point_j": (1.0, 1.0, 0.0)}
LOADS = {
    "PointForce": lambda s, a, b, h, w: mbd.PointForce("load", a, point=(1, 0, 0), force=w(push), jacobian=w(push_by_p)),
    "in the body": lambda s, a, b, h, w: mbd.PointForce(
        "load", a, point=(1, 0, 0), force=w(push), jacobian=w(push_by_p), frame="body"
    ),
    "Torque": lambda s, a, b, h, w: mbd.Torque("load", a, torque=w(push), jacobian=w(push_by_p)),
    "Torque in the body": lambda s, a, b, h, w: mbd.Torque("load", a, torque=w(push), jacobian=w(push_by_p), frame="body"),
    "StateForce": lambda s, a, b, h, w: mbd.StateForce("load", [b, a], force=w(mutual), jacobian=w(mutual_by_p)),
    "StateForce, ground": lambda s, a, b, h, w: mbd.StateForce("load", [s.ground, b], force=w(mutual), jacobian=w(mutual_by_p)),
}


def tangent(model: mbd.Model, c_q: float, c_u: float) -> np.ndarray:
    """c_q K + c_u C of the loads at the modelled state, (6 nb, 6 nb), as an implicit step has it."""
    rule, y = Unstabilized(), model.y0.copy()
    problem = Problem(MaximalStateSpace(model), model.pack(), rule.rates, rule.post_step, rule.options(), 0.0, y)
    pack = implicit_pack(problem, "this test", mbd.ModifiedNewton())
    assert rows_entry(pack, 0.0, y) == 0
    assert put_tangents(pack, new_record(NEWTON, c_q=c_q, c_u=c_u), 0.0, y) == 0
    found, n = np.zeros((6 * model.nb + 6, 6 * model.nb + 6)), model.nb + 1
    for k in range(n):
        found[6 * k : 6 * k + 6, 6 * k : 6 * k + 6] = workspace_array(pack, "TANGENT")[k].reshape(6, 6)
    start, rows, columns = place_in(pack.ints, "COUPLED_PAIRS")
    for (i, j, *_), block in zip(
        pack.ints[start:][: rows * columns].reshape(-1, 4), workspace_array(pack, "COUPLED_TANGENTS"), strict=True
    ):
        found[6 * i : 6 * i + 6, 6 * j : 6 * j + 6] = block.reshape(6, 6)
        found[6 * j : 6 * j + 6, 6 * i : 6 * i + 6] = block.reshape(6, 6).T
    return found[6:, 6:]


def differenced(model: mbd.Model, c_q: float, c_u: float) -> np.ndarray:
    """The symmetric part of -dQ / dx, x: displacement and turn c_q, velocity c_u, by central differences of Q without gyroscopic terms."""
    n, columns, h = model.nb + 1, [], 1e-5

    def force(k: int, a: int, eps: float) -> np.ndarray:
        y = model.y0.copy()
        row = y[13 * k : 13 * k + 13]
        if a < 3:
            row[a] += c_q * eps
        else:
            row[3:7] = euler_parameters.product(row[3:7], euler_parameters.exponential(c_q * eps * np.eye(3)[a - 3]))
        row[7 + a] += c_u * eps
        pack = model.pack()
        assert rows_entry(pack, 0.0, y) == 0
        Q, w = workspace_array(pack, "Q").copy(), y[: 13 * n].reshape(n, 13)[:, 10:]
        Q[:, 3:] += np.cross(w, np.einsum("kab,kb->ka", model.J_bar, w))
        return Q[1:].ravel()

    for k in range(1, n):
        columns += [-(force(k, a, h) - force(k, a, -h)) / (2.0 * h) for a in range(6)]
    exact = np.array(columns).T
    return 0.5 * (exact + exact.T)


@pytest.mark.slow
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("kind", LOADS)
def test_the_tangent_is_the_symmetric_part_of_the_derivative_of_the_force(kind, way):
    model = pair(lambda s, a, b, h: LOADS[kind](s, a, b, h, KEPT[way])).compile()
    assert model.jacobian_callbacks.compiled == (way == "njit" and not numba.config.DISABLE_JIT)
    for c_q, c_u in ((1.0, 1e-12), (1e-12, 1.0), (0.3, 0.7)):
        exact = differenced(model, c_q, c_u)
        assert abs(exact).max() > 0.1
        np.testing.assert_allclose(tangent(model, c_q, c_u), exact, rtol=0, atol=1e-8 * abs(exact).max())


@pytest.mark.slow
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("kind", ["TSDA", "RSDA"])
def test_derivatives_of_an_actuator_count_as_stiffness_and_damping(kind, way):
    """Against the same element with k and c, under the same force at this state."""
    wrap = KEPT[way]

    def load(s, a, b, hinge, **law):
        return mbd.TSDA("load", a, b, **ENDS, **law) if kind == "TSDA" else mbd.RSDA("load", hinge, **law)

    def lengths(t, x, x_dot):
        seen[:] = x, x_dot
        return 5.0

    seen = [0.0, 0.0]
    pair(lambda *parts: load(*parts, actuator=lengths)).compile()
    x, x_dot = seen
    (k, c), f = pull_by(0.0, x, x_dot), pull(0.0, x, x_dot)
    rest = {"l0": 0.0, "actuator": f - k * x - c * x_dot} if kind == "TSDA" else {"actuator": f - k * x - c * x_dot}
    built_in = pair(lambda *parts: load(*parts, k=k, c=c, **rest)).compile()
    declared = pair(lambda *parts: load(*parts, actuator=wrap(pull), jacobian=wrap(pull_by))).compile()
    expected = tangent(built_in, 0.3, 0.7)
    np.testing.assert_allclose(tangent(declared, 0.3, 0.7), expected, rtol=0, atol=1e-13 * abs(expected).max())


def test_a_derivative_by_a_turn_is_as_good_as_one_by_euler_parameters():
    by_p, by_turn = (
        pair(lambda s, a, b, h, j=j: mbd.PointForce("load", a, point=(1, 0, 0), force=push, jacobian=j)).compile()
        for j in (push_by_p, push_by_turn)
    )
    expected = tangent(by_p, 0.3, 0.7)
    np.testing.assert_allclose(tangent(by_turn, 0.3, 0.7), expected, rtol=0, atol=1e-14 * abs(expected).max())


# Functions by name: methods that take the same spring share its machine code.
SPRINGS = {
    "actuator": lambda i, j, w: mbd.TSDA("s", i, j, actuator=w(spring_law), jacobian=w(spring_law_by), **SLIDER_ENDS),
    "PointForce": lambda i, j, w: mbd.PointForce("s", j, force=w(spring_of_body), jacobian=w(spring_of_body_by)),
    "StateForce": lambda i, j, w: mbd.StateForce("s", [i, j], force=w(spring_of_state), jacobian=w(spring_of_state_by)),
}


@pytest.mark.slow
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("kind", SPRINGS)
@pytest.mark.parametrize(
    "method", [mbd.GeneralizedAlpha(1e-3, rho=0.2), mbd.BDF(rtol=1e-6, atol=1e-9)], ids=lambda m: type(m).__name__
)
def test_a_declared_stiff_spring_is_as_cheap_as_the_built_in_one(kind, way, method):
    """omega = 63 / ms: the same iterations and factorizations as TSDA(k, c), and no evaluation more."""
    built_in = mbd.simulate(slider(lambda i, j: mbd.TSDA("s", i, j, k=K, c=C, l0=1.0, **SLIDER_ENDS)), 0.05, integrator=method)
    declared = mbd.simulate(slider(lambda i, j: SPRINGS[kind](i, j, KEPT[way])), 0.05, integrator=method)
    for count in ("steps", "projections", "factorizations", "evaluations"):
        assert getattr(declared.counters, count) == getattr(built_in.counters, count)
    assert declared["box"].r[-1, 0] == pytest.approx(built_in["box"].r[-1, 0], abs=1e-12)


@pytest.mark.slow
def test_explicit_steps_of_the_stiff_spring_are_a_hundred_times_smaller():
    system = slider(lambda i, j: SPRINGS["actuator"](i, j, lambda f: f))
    implicit = mbd.simulate(system, 0.02, integrator=mbd.GeneralizedAlpha(5e-3, rho=0.2)).counters
    explicit = mbd.simulate(system, 0.02, rtol=1e-4, atol=1e-6).counters
    assert explicit.steps > 100 * implicit.steps
    assert implicit.projections <= 3 * implicit.steps


def test_a_declared_load_is_not_differenced():
    """The force is asked once an evaluation, and the jacobian once a factorization."""
    asked = {"force": 0, "jacobian": 0}

    def force(t, r, p, v, w):
        asked["force"] += 1
        return -K * (r[0] - 1.0) - C * v[0], 0.0, 0.0

    def jacobian(t, r, p, v, w):
        asked["jacobian"] += 1
        return np.diag([-K, 0, 0]), 0, np.diag([-C, 0, 0]), 0

    model = slider(lambda i, j: mbd.PointForce("s", j, force=force, jacobian=jacobian)).compile()
    asked.update(force=0, jacobian=0)
    counters = mbd.simulate(model, 0.05, integrator=mbd.GeneralizedAlpha(1e-3, rho=0.2), store_every=50).counters
    assert 0 < asked["jacobian"] <= counters.factorizations
    assert asked["force"] <= counters.evaluations + 10


def faults_of(load) -> str:
    with pytest.raises(ModelError) as caught:
        pair(load).compile()
    assert len(caught.value.faults) == 1
    return str(caught.value)


def wrong(part, place, factor=1.01):
    """push_by_p with one entry wrong."""

    def jacobian(t, r, p, v, w):
        parts = push_by_p(t, r, p, v, w)
        parts[part][place] *= factor
        return parts

    return jacobian


@pytest.mark.parametrize(
    ("part", "place", "words"),
    [(0, (1, 1), "d force[1] / d r[1]"), (2, (0, 1), "d force[0] / d v[1]"), (3, (2, 1), "d force[2] / d omega_bar[1]")],
)
def test_a_wrong_entry_is_named_with_both_numbers(part, place, words):
    text = faults_of(lambda s, a, b, h: mbd.PointForce("load", a, force=push, jacobian=wrong(part, place)))
    assert "PointForce 'load': the jacobian entry " + words in text
    assert "and differences of force give" in text
    assert "Correct jacobian or force; or leave jacobian out" in text


def test_a_wrong_derivative_by_the_rotation_is_named_as_a_turn():
    text = faults_of(lambda s, a, b, h: mbd.PointForce("load", a, force=push, jacobian=wrong(1, (2, 3))))
    assert "d force[2] / d pi_bar[" in text
    assert "a turn about the body's own" in text


def test_a_wrong_entry_that_vanishes_at_the_modelled_state_is_found_nearby():
    """v = 0 there: the damping of a quadratic damper cannot be seen."""
    system = mbd.System("still")
    body = system.add(mbd.Body("a", 1.0, (1, 1, 1)))
    system.add(
        mbd.PointForce(
            "drag", body, force=lambda t, r, p, v, w: -np.abs(v) * v, jacobian=lambda t, r, p, v, w: (0, 0, -np.diag(np.abs(v)), 0)
        )
    )
    (fault,) = system.faults()
    assert "a state near the modelled one" in fault.what


@pytest.mark.parametrize(
    ("jacobian", "words"),
    [
        (7, "jacobian is 7 (int), must be a function. Give jacobian(t, r, p, v, omega_bar)"),
        (lambda t, r: 0, "jacobian is a function of 2 arguments. Give jacobian(t, r, p, v, omega_bar)"),
        (lambda t, r, p, v, w: np.zeros((3, 12)), "returns an array of shape (3, 12) at t = 0 s. Let jacobian return a tuple"),
        (lambda t, r, p, v, w: (0, 0, np.zeros((3, 2)), 0), "(0 (int), 0 (int), an array of shape (3, 2), 0 (int))"),
        (lambda t, r, p, v, w: (np.full((3, 3), np.nan), 0, 0, 0), "Let jacobian return"),
        (lambda t, r, p, v, w: {}["key"], "raises KeyError at t = 0 s"),
    ],
)
def test_what_is_no_jacobian_is_a_fault(jacobian, words):
    assert words in faults_of(lambda s, a, b, h: mbd.PointForce("load", a, force=push, jacobian=jacobian))


@pytest.mark.parametrize("force", [(1.0, 2.0, 3.0), lambda t: (0.0, 0.0, np.sin(t)), lambda t: (0.0, 0.0, 1.0 if t < 5 else 2.0)])
def test_a_jacobian_of_a_force_that_does_not_depend_on_the_state_is_a_fault(force):
    text = faults_of(lambda s, a, b, h: mbd.PointForce("load", a, force=force, jacobian=push_by_p))
    assert "a jacobian is given, but force does not depend on the state" in text


def test_a_kink_at_the_modelled_state_is_allowed():
    """A contact that just touches: one side has the stiffness, the other has none."""
    for k in (0.0, -1e6):
        system = mbd.System("touching")
        body = system.add(mbd.Body("a", 1.0, (1, 1, 1)))
        system.add(
            mbd.PointForce(
                "contact",
                body,
                force=lambda t, r, p, v, w: (0.0, 0.0, 1e6 * max(0.0, -r[2])),
                jacobian=lambda t, r, p, v, w, k=k: (np.diag([0.0, 0.0, -1e6 if r[2] < 0 else k if r[2] == 0 else 0.0]), 0, 0, 0),
            )
        )
        assert system.faults() == ()


@pytest.mark.parametrize("answer", ["raise", "nan", "shape"])
def test_what_goes_wrong_at_run_time_is_the_jacobians_own(answer):
    def jacobian(t, x, x_dot):
        if t < 0.02:
            return K, C
        if answer == "raise":
            raise ZeroDivisionError("out of range")
        return (np.nan, C) if answer == "nan" else (K, C, 0.0)

    system = slider(
        lambda i, j: mbd.TSDA("s", i, j, actuator=lambda t, x, x_dot: K * (x - 1.0) + C * x_dot, jacobian=jacobian, **SLIDER_ENDS)
    )
    error, words = (
        (ZeroDivisionError, "out of range") if answer == "raise" else (SimulationError, r"TSDA 's': jacobian\(t, l, l_dot\)")
    )
    with pytest.raises(error, match=words) as caught:
        mbd.simulate(system, 0.1, integrator=mbd.GeneralizedAlpha(1e-3))
    assert caught.value.result.t[-1] == pytest.approx(0.02, abs=2e-3)


@pytest.mark.slow
@pytest.mark.skipif(numba.config.DISABLE_JIT, reason="without the compiler all functions are Python")
def test_a_compiled_jacobian_that_gives_no_number_names_itself():
    jacobian = numba.njit(lambda t, x, x_dot: (K if t < 0.02 else np.nan, C))
    system = slider(lambda i, j: mbd.TSDA("s", i, j, actuator=WAYS["njit"](spring_law), jacobian=jacobian, **SLIDER_ENDS))
    with pytest.raises(SimulationError, match=r"TSDA 's': jacobian\(t, l, l_dot\) returns \(nan, 400000.0\) at t = 0.02"):
        mbd.simulate(system, 0.1, integrator=mbd.GeneralizedAlpha(1e-3))
