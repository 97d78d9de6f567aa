"""Bodies much lighter than those beside them: rotors of motors, light links, thin rods; refined by all solvers.

Forces that pass through a light body leave their rounding, over its inertia, in its acceleration, unless the solution is refined.
"""

from __future__ import annotations

import numpy as np
import pytest

import haugmbd as mbd
from joints import RJ, TJ, Distance
from tests.support.stiff_masses import error_on_own_scale, exact_accelerations, unit

AGREE = 1e-13
"""Accelerations relative to the largest one: rounding.  Without refinement it is 1e-9 to 1e-5."""

AXES = ((0, 1, 0), (0, 0.3, 1), (0.2, 1, 0))


def arm(*, rod: bool, rotor_inertia: float = 1e-3, light: tuple[float, float] = (1.0, 1.0)) -> mbd.System:
    """Three links on motors, with or without a rod that closes a loop.  light: mass and inertia of the second link."""
    system = mbd.System("arm", gravity=(0, 0, -9.81))
    body, joints = system.ground, []
    for k, axis in enumerate(AXES):
        mass, inertia = light if k == 1 else (1.0 + k, 1.0)
        link = mbd.Body(f"link {k}", mass, inertia * np.array([0.1, 0.2, 0.3]), r=(k + 0.5, 0.1, 0))
        joints.append(system.add(RJ(f"pin {k}", body, system.add(link), point=(k, 0, 0), axis=axis)))
        body = link
    if rod:
        system.add(Distance("rod", system.ground, body, point_i=(3, 1, 1), point_j=(3, 0, 0)))
    for k, joint in enumerate(joints if rotor_inertia else ()):
        system.add(mbd.Motor(f"motor {k}", joint, torque=0.5, ratio=20, rotor_inertia=rotor_inertia))
    return system


def moved(model: mbd.Model) -> mbd.State:
    """The state after a short fall: poses and speeds without symmetry."""
    result = mbd.simulate(model, 0.2, h=1e-2)
    return result.at(0.2)


def flat(found: mbd.Accelerations) -> np.ndarray:
    return np.hstack([found.v_dot, found.omega_bar_dot])[1:].ravel()


@pytest.mark.slow
@pytest.mark.parametrize("solver", ["dense", "block LDL^T", "multifrontal"])
@pytest.mark.parametrize("rod", [False, True])
def test_accelerations_of_rotors_keep_the_rows(rod, solver):
    """The rows of the bearings and gears determine how a rotor accelerates; and all solvers agree."""
    system = arm(rod=rod)
    state = moved(system.compile())
    model = system.compile(solver=solver)
    rows, u_dot = mbd.evaluate(model, state), flat(mbd.accelerations(model, state))
    wanted = flat(mbd.accelerations(system.compile(), state))
    largest = np.abs(u_dot).max()
    assert np.abs(rows.Phi_q @ u_dot - rows.gamma).max() < AGREE * largest
    assert np.abs(u_dot - wanted).max() < AGREE * largest


@pytest.mark.parametrize("rod", [False, True])
def test_rotors_do_not_shorten_the_steps_of_tight_tolerances(rod):
    """Noise in accelerations costs an error control thousands of steps; smooth accelerations need about twenty."""
    result = mbd.simulate(arm(rod=rod), 0.3, integrator=mbd.DOP853(rtol=1e-10, atol=1e-10))
    assert result.counters.steps < 40
    assert np.max(result.violation("acceleration")) < 1e-11  # of accelerations of size 100


@pytest.mark.parametrize("light", [(1e-9, 1e-9), (1.0, 1e-9)], ids=["mass", "inertia"])
def test_light_links_agree_with_the_recursion(light):
    """On an open chain the recursion, which needs no refinement, is the other way to the same accelerations."""
    system = arm(rod=False, rotor_inertia=0.0, light=light)
    state = moved(system.compile(solver="tree"))
    wanted = flat(mbd.accelerations(system.compile(solver="tree"), state))
    for solver in ("dense", "block LDL^T", "multifrontal"):
        found = flat(mbd.accelerations(system.compile(solver=solver), state))
        assert np.abs(found - wanted).max() < AGREE * np.abs(wanted).max(), solver


def test_impulses_on_light_links_keep_the_rows():
    """Speeds after a blow satisfy the rows of rotors, too."""
    model = arm(rod=True).compile()
    state = moved(model)
    link = model.bodies[3]
    after = mbd.impulse(model, state, applied=mbd.PointImpulse("blow", link, impulse=(1.0, 2.0, 3.0)))
    u = np.hstack([after.v, after.omega_bar])[1:].ravel()
    rows = mbd.evaluate(model, state)
    assert np.abs(rows.Phi_q @ u - rows.nu).max() < AGREE * np.abs(u).max()


def test_trees_on_blocks_are_refused_with_light_bodies():
    """Their blocks have no refinement."""
    system = arm(rod=True, rotor_inertia=0.0, light=(1e-9, 1e-9))
    with pytest.raises(mbd.UsageError, match="light bodies"):
        system.compile(solver="trees on blocks")


def on_light_links(seed: int, mass: float, off: float) -> mbd.System:
    """Two free bodies joined by two slides and a hinge over two light links, whose centres lie on their joints but for `off`."""
    rng = np.random.default_rng(seed)
    system, point = mbd.System("light links", gravity=(0.3, -9.81, 1.1)), rng.normal(size=3)
    bodies = [mbd.Body(name, 1.0, (0.1, 0.2, 0.15), r=rng.normal(size=3)) for name in ("base", "hand")]
    links = [
        mbd.Body(f"link {k}", mass, np.full(3, 1e-4 * mass), r=point + off * rng.normal(size=3), p=unit(rng.normal(size=4)))
        for k in range(2)
    ]
    chain = [system.add(body) for body in (bodies[0], *links, bodies[1])]
    for k, (kind, i, j) in enumerate(zip((TJ, TJ, RJ), chain[:-1], chain[1:], strict=True)):
        system.add(kind(f"joint {k}", i, j, point=point, axis=rng.normal(size=3)))
    return system


@pytest.mark.slow
@pytest.mark.parametrize("solver", ["dense", "block LDL^T", "multifrontal", "tree"])
@pytest.mark.parametrize("off", [0.0, 1e-16, 1e-9, 1e-5])
def test_light_links_at_their_joints_are_regular(off, solver):
    """A centre that lies on its joint but for rounding gives no arm to compare rotations with."""
    for seed, mass in ((1, 1e-8), (2, 1e-8), (3, 1e-12)):
        model = on_light_links(seed, mass, off).compile(solver=solver)
        assert error_on_own_scale(mbd.accelerations(model), exact_accelerations(model)) < 1e-9


@pytest.mark.parametrize("masses", [(1e-8, 1e5), (1e-9, 1.0, 1e-5, 1e4)])
def test_light_bodies_that_carry_heavy_ones_in_a_tree(masses):
    """A free base takes next to nothing of what it carries about the axis of its joint; the recursion lost nine digits of it."""
    rng = np.random.default_rng(5)
    system, body = mbd.System("carried", gravity=(0.3, -9.81, 1.1)), None
    for k, mass in enumerate(masses):
        link = system.add(
            mbd.Body(f"link {k}", mass, mass * np.array((0.1, 0.2, 0.15)), r=rng.normal(size=3), p=unit(rng.normal(size=4)))
        )
        if body is not None:
            system.add(RJ(f"pin {k}", body, link, point=rng.normal(size=3), axis=rng.normal(size=3)))
        body = link
    for solver in ("tree", None):
        model = system.compile(solver=solver)
        assert error_on_own_scale(mbd.accelerations(model), exact_accelerations(model)) < 1e-9
