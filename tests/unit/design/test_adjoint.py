import numpy as np
import pytest

import haugmbd as mbd
from joints import RJ
from tests.support.designs import differences, four_bar, pendulum

EXACT = 1e-9


def chain(n):
    """Return the function that builds a chain of n links with springs, of masses m0 ... and lengths L0 ..."""

    def build(**p):
        system, x = mbd.System("chain", gravity=(0, -9.81, 0)), 0.0
        before = system.ground
        for k in range(n):
            m, L = p.get(f"m{k}", 1.0), p.get(f"L{k}", 0.3)
            link = system.add(mbd.Body(f"b{k}", m, (0.01, 0.02, 0.02), r=(x + L / 2, 0, 0)))
            joint = system.add(RJ(f"j{k}", before, link, point=(x, 0, 0), axis=(0, 0, 1)))
            system.add(mbd.RSDA(f"s{k}", joint, k=1.0, c=0.01))
            before, x = link, x + L
        return system

    return build


def numbers(n):
    return {f"m{k}": 1.0 + 0.1 * k for k in range(n)} | {f"L{k}": 0.3 + 0.01 * k for k in range(n)}


def off(a, b):
    return np.abs(a - b).max() / np.abs(b).max()


def objective(z):
    return z[0] ** 2 + 0.3 * z[1]


OBJECTIVES = {
    "tree": (chain(5), numbers(5), ["body.b4.r[0]", "body.b4.v[1]"], {"t_end": 0.3, "h": 5e-3}),
    "long steps": (chain(5), numbers(5), ["joint.j2.angle", "joint.j4.rate"], {"t_end": 0.4, "h": 1e-2}),
    "loop": (
        four_bar,
        {"l2": 1.1, "m": 1.0, "d": 1.0},
        ["body.rocker.omega[2]", "point.coupler(0.1,0,0).v[1]"],
        {"t_end": 0.1, "h": 2e-3},
    ),
    "error control": (
        pendulum,
        {"m": 1.2, "L": 0.5, "k": 1.5},
        ["joint.pin.rate", "body.bob.r[0]"],
        {"t_end": 0.5, "rtol": 1e-10, "atol": 1e-11},
    ),
}


@pytest.mark.slow
@pytest.mark.parametrize(("build", "p", "outputs", "run"), OBJECTIVES.values(), ids=OBJECTIVES)
def test_the_adjoint_is_the_gradient_of_direct_differentiation(build, p, outputs, run):
    backward = mbd.gradient(build, p, objective, outputs=outputs, adjoint=True, **run)
    direct = mbd.gradient(build, p, objective, outputs=outputs, adjoint=False, **run)
    assert backward.value == pytest.approx(direct.value, rel=1e-13)
    assert off(backward.gradient, direct.gradient) < EXACT


@pytest.mark.slow
def test_the_adjoint_of_outputs_over_time_at_ends_and_within_steps_and_from_checkpoints():
    p, t = {"m": 1.2, "L": 0.5, "angle": -0.4, "rate": 2.0}, np.array([0.1, 0.2345, 0.5])

    def squares(z):
        return ((z[:, 0] - 0.2) ** 2).sum() + z[1, 1]

    run = {"outputs": ["body.bob.r[0]", "body.bob.v[1]"], "t": t, "h": 1e-3}
    backward = mbd.gradient(pendulum, p, squares, adjoint=True, **run)
    assert off(backward.gradient, mbd.gradient(pendulum, p, squares, adjoint=False, **run).gradient) < EXACT

    def f(**p):
        result = mbd.simulate(pendulum(**p), 0.5, h=1e-3, t_eval=t)
        return [squares(np.stack([result["bob"].r[:, 0], result["bob"].v[:, 1]], axis=1))]

    assert off(backward.gradient, differences(f, p)[0]) < 1e-8


def test_more_than_eight_parameters_take_the_adjoint_at_a_cost_that_does_not_grow_with_them():
    few, many = {f"m{k}": 1.0 for k in range(9)}, numbers(9)
    for p in (few, many):
        g = mbd.gradient(chain(9), p, "body.b1.v[1]", t_end=0.3, h=5e-3)
        d = mbd.gradient(chain(9), p, "body.b1.v[1]", adjoint=False, t_end=0.3, h=5e-3)
        assert off(g.gradient, d.gradient) < EXACT


REFUSED = {
    "reaction": (pendulum, "reaction.pin.force[0]", {"t_end": 0.1, "h": 1e-2}, "no function of the states"),
    "method": (pendulum, "body.bob.r[0]", {"t_end": 0.1, "integrator": mbd.HHT(h=1e-2)}, "Runge-Kutta"),
    "kinematics": (pendulum, "body.bob.r[0]", {"run": "kinematics", "t": [0.0, 0.1]}, "kinematics"),
}


@pytest.mark.parametrize(("build", "output", "run", "words"), REFUSED.values(), ids=REFUSED)
def test_a_motion_without_an_adjoint_is_refused_where_it_is_asked_for(build, output, run, words):
    with pytest.raises(mbd.UsageError, match=words):
        mbd.gradient(build, {"L": 0.5}, output, adjoint=True, **run)
