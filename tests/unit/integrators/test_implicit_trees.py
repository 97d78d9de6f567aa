"""Methods that keep a factor, on open chains and trees: by the recursion as by the block LDL^T, with the same numbers of iterations."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

import numpy as np
import pytest

import haugmbd as mbd
from haugmbd.integrators.implicit.force_coupling import tables_with_coupling
from haugmbd.kkt.registry import BLOCK, TREE, TREES_ON_BLOCKS
from haugmbd.kkt.tree_solver import has_tree
from joints import RJ, SJ, TJ, UJ, Coupling, RotationDriver

SAME = 1e-9
"""[m, rad, m/s, rad/s] of the states: the error that Newton's iteration leaves, and 1e-13 where it ends by the same rounding."""

METHODS = {
    "generalized-alpha": mbd.GeneralizedAlpha(h=2e-3),
    "generalized-alpha, error control": mbd.GeneralizedAlpha(rtol=1e-6, atol=1e-6),
    "generalized-alpha on R^7": mbd.GeneralizedAlphaR7(h=2e-3),
    "full Newton": mbd.GeneralizedAlpha(h=2e-3, newton=mbd.FullNewton()),
    "index 2": mbd.GeneralizedAlpha(h=2e-3, constraint_form=mbd.Index2()),
    "HHT": mbd.HHT(h=2e-3),
    "Newmark": mbd.Newmark(h=2e-3, constraint_form=mbd.GGL()),
    "trapezoidal": mbd.Trapezoidal(h=2e-3),
    "BDF": mbd.BDF(rtol=1e-6, atol=1e-6),
    "BDF2": mbd.BDF(h=2e-3),
    "Radau": mbd.RadauIIA(h=5e-3),
    "Radau, error control": mbd.RadauIIA(rtol=1e-7, atol=1e-7),
    "RATTLE": mbd.RATTLE(h=2e-3),
    "HEM4": mbd.HEM4(h=5e-3),
}

ERROR_CONTROL = ("generalized-alpha, error control", "BDF", "Radau, error control")
"""Methods whose steps depend on the rounding of their error estimates: the states before the last one are those of other times."""

ONLY_EXPLICIT = ("RATTLE", "HEM4")
"""Methods that take no friction which depends on reactions."""

ONE_ITERATION = 3
"""Evaluations of one iteration of Newton: Radau's has three stages. Rounding, which differs between processors, decides on it."""


def branching(*, others: bool = False, driven: bool = False) -> tuple[mbd.System, list[mbd.Joint]]:
    """A tree of ten bodies on revolute joints; others: some on balls, universal and sliding joints."""
    rng, system = np.random.default_rng(5), mbd.System("tree", gravity=(0.3, -0.5, -9.81))
    bodies, tips, joints = [system.ground], [np.zeros(3)], []
    for k in range(1, 11):
        i, (e, axis, across) = k // 2, rng.normal(size=(3, 3))
        e /= np.linalg.norm(e)
        body = system.add(mbd.Body(f"b{k}", 1.0 + 0.1 * k, (0.1, 0.2, 0.25), r=tips[i] + 0.5 * e))
        ends = (bodies[i], body) if k % 3 else (body, bodies[i])
        if others and k % 5 == 0:
            joint = SJ(f"j{k}", *ends, point=tips[i])
        elif others and k % 5 == 1:
            joint = UJ(f"j{k}", *ends, point=tips[i], axis_i=axis, axis_j=np.cross(axis, across))
        elif others and k % 5 == 2:
            joint = TJ(f"j{k}", *ends, point=tips[i], axis=axis)
        else:
            joint = RJ(f"j{k}", *ends, point=tips[i], axis=axis)
        joints.append(system.add(joint))
        bodies.append(body)
        tips.append(tips[i] + e)
    if driven:
        system.add(RotationDriver("drive", joints[2], lambda t: 0.3 * t * t))
    return system, joints


def free() -> mbd.System:
    """No forces but gravity: no tangents."""
    return branching(others=True, driven=True)[0]


def sprung_joints() -> mbd.System:
    """Stiff springs and dampers across the joints, from both sides, and to the ground."""
    system, joints = branching()
    for k, joint in enumerate(joints[:8]):
        system.add(mbd.RSDA(f"s{k}", joint, k=300.0, c=3.0))
    i, j = system.bodies[3], system.bodies[7]
    system.add(mbd.TSDA("rod", j, i, point_i=j.r + (0.1, 0, 0), point_j=i.r + (0, 0.3, 0), k=500.0, c=1.0, l0=0.5))
    system.add(mbd.TSDA("rope", system.ground, j, point_i=(0, 0, 2.0), point_j=j.r, k=800.0, l0=1.0))
    return system


def pushed_bodies() -> mbd.System:
    """Forces on single bodies of a tree with other joints: springs to the ground, and one that is differenced, which is not symmetric."""
    system, _ = branching(others=True, driven=True)
    for k, body in enumerate(system.bodies[1:]):
        system.add(mbd.TSDA(f"s{k}", system.ground, body, point_i=body.r + (0, 0, 1.0), point_j=body.r, k=100.0, c=1.0, l0=0.8))
    system.add(mbd.PointForce("wind", system.bodies[8], force=lambda t, r, p, v, w: (-5.0 * v[1], 3.0 * v[0] - 20.0 * r[2], 1.0)))
    return system


def rubbing_and_controlled() -> mbd.System:
    """Friction that depends on the reaction of its joint, a controller with states of its own, and a floor."""
    system, joints = branching()
    system.add(mbd.JointFriction("friction", joints[1], mbd.BrownMcPhee(0.3, 0.2, 0.1), radius=0.05, stick=False))
    pid = system.add(mbd.PID("pid", "j1.angle", lambda t: 0.3 * np.sin(2.0 * t), kp=30.0, ki=12.0, kd=6.0, tau=0.02))
    system.add(mbd.RSDA("motor", joints[0], actuator=pid["out"]))
    low = min(system.bodies[1:], key=lambda body: float(body.r[2]))
    shapes = {"shape_i": mbd.Sphere(0.2), "shape_j": mbd.Plane(point=(0, 0, low.r[2] - 0.19))}
    system.add(mbd.ContactForce("floor", low, system.ground, K=1e5, restitution=0.5, **shapes))
    return system


def geared() -> mbd.System:
    """Joints on one carrier that turn together: constraint embedding, without forces."""
    system, joints = branching()
    system.add(Coupling("first pair", {joints[1]: 1.0, joints[2]: -0.6}))
    system.add(Coupling("second pair", {joints[3]: 1.0, joints[4]: 0.7}))
    return system


def on_a_loop() -> mbd.System:
    """A chain of revolute joints that hangs on a four-bar, without forces."""
    system = mbd.System("on a loop", gravity=(0.3, -0.5, -9.81))
    places = ((0, 0.5, 0), (1, 1.1, 0), (2, 0.6, 0))
    bars = [system.add(mbd.Body(f"bar {k}", 1.0, (0.1, 0.2, 0.25), r=r)) for k, r in enumerate(places)]
    system.add(RJ("a", system.ground, bars[0], point=(0, 0, 0), axis=(0, 0, 1)))
    system.add(UJ("b", bars[0], bars[1], point=(0, 1, 0), axis_i=(0, 0, 1), axis_j=(1, 0, 0)))
    system.add(SJ("c", bars[1], bars[2], point=(2, 1.2, 0)))
    system.add(RJ("d", bars[2], system.ground, point=(2, 0, 0), axis=(0, 0, 1)))
    before = bars[1]
    for k in range(5):
        body = system.add(mbd.Body(f"b{k}", 1.0, (0.1, 0.2, 0.25), r=(1.0 + k, 2.0, 0.1)))
        system.add(RJ(f"j{k}", before, body, point=(0.5 + k, 1.8, 0.0), axis=(0.2 * k, 1.0, 0.3)))
        before = body
    return system


MECHANISMS = {
    "free": free,
    "sprung joints": sprung_joints,
    "pushed bodies": pushed_bodies,
    "friction and PID": rubbing_and_controlled,
}


ALL_REVOLUTE = (sprung_joints, rubbing_and_controlled)
"""The recursion serves the curvature of the constraints, which couples all that are joined, on revolute joints alone."""


def taken(model: mbd.Model, method: mbd.Integrator) -> bool:
    """Whether implicit steps of the model are solved by the recursion."""
    curved = getattr(method, "newton", mbd.ModifiedNewton()).curved
    return has_tree(tables_with_coupling(model, curved))


def lowered_from(start: mbd.State) -> Callable[[float, mbd.State], float]:
    """The event that a body has sunk by 5 mm, within the first steps."""
    return lambda t, state: state.r[4, 2] - start.r[4, 2] + 0.005


@pytest.mark.slow
@pytest.mark.parametrize(("make", "solver"), [(geared, TREE), (on_a_loop, TREES_ON_BLOCKS)])
@pytest.mark.parametrize("name", ["generalized-alpha", "trapezoidal", "BDF2", "Radau", "RATTLE", "HEM4"])
def test_coupled_joints_and_trees_on_loops_without_forces(make: Callable[[], mbd.System], solver: str, name: str):
    """With forces they are left to the blocks."""
    models = [compiled(make, one) for one in (solver, BLOCK)]
    assert [taken(model, METHODS[name]) for model in models] == [True, False]
    ends = [mbd.simulate(model, 0.06, integrator=METHODS[name]).y[-1] for model in models]
    np.testing.assert_allclose(*ends, rtol=0.0, atol=SAME)


@cache
@cache
def compiled(make: Callable[[], mbd.System], solver: str) -> mbd.Model:
    """The model of a mechanism with this solver, which all its runs share."""
    return make().compile(solver=solver)


@pytest.mark.slow
@pytest.mark.parametrize("make", MECHANISMS.values(), ids=MECHANISMS)
@pytest.mark.parametrize("name", METHODS)
def test_runs_by_the_recursion_are_those_by_blocks(make: Callable[[], mbd.System], name: str):
    if make is rubbing_and_controlled and name in ONLY_EXPLICIT:
        pytest.skip("friction depends on what its joint carries")
    method, runs = METHODS[name], {}
    for solver in (TREE, BLOCK):
        model = compiled(make, solver)
        assert taken(model, method) == (solver == TREE and (name != "full Newton" or make in ALL_REVOLUTE))
        runs[solver] = mbd.simulate(model, 0.02, integrator=method, events=[mbd.Event("lower", lowered_from(model.state()))])
    tree, blocks = runs[TREE], runs[BLOCK]
    assert tree.y.shape == blocks.y.shape
    compared = slice(-1, None) if name in ERROR_CONTROL else slice(None)
    np.testing.assert_allclose(tree.y[compared], blocks.y[compared], rtol=0.0, atol=SAME)
    if method.own_multipliers and name not in ERROR_CONTROL:
        np.testing.assert_allclose(tree.lam_of_method, blocks.lam_of_method, rtol=0.0, atol=1e-5 * np.abs(blocks.lam).max())
    for counter in ("steps", "rejected", "evaluations", "factorizations", "projections"):
        a, b = getattr(tree.counters, counter), getattr(blocks.counters, counter)
        assert abs(a - b) <= 0.02 * b + ONE_ITERATION, counter  # more or less, where its error is at the tolerance
    assert [event.t for event in tree.events] == pytest.approx([event.t for event in blocks.events], abs=SAME)
