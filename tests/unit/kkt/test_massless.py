"""Bodies without inertia about some axes: slender rods and point masses, against closed forms and the dense solver.

Where the joints determine the motion, the augmented matrix is regular although J_bar is singular; the block factorization shifts the
massless directions and refines.  1e-10: agreement asked for; what is reached is about 1e-14.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import haugmbd as mbd
from haugmbd.bodies.inertia import rod
from haugmbd.crosscheck import dense_system, solve_dense
from joints import CJ, RJ, SJ, UJ, Distance

AGREE = 1e-10
G = 9.81


def rod_inertia(mass: float, length: float, along: np.ndarray) -> np.ndarray:
    """A slender rod: nothing about its own axis."""
    return mass * length**2 / 12.0 * (np.eye(3) - np.outer(along, along))


def down(theta: float) -> np.ndarray:
    """The direction theta from -z, about +x."""
    return np.array([0.0, np.sin(theta), -np.cos(theta)])


def across(theta: float) -> np.ndarray:
    return np.array([0.0, np.cos(theta), np.sin(theta)])


def double_pendulum_closed_form(m, length, c, J, theta, w):
    """Angular accelerations of a planar double pendulum from its two Lagrange equations.

    m, length, J: of both bars;  c: distance of the centre of mass from the upper pin.
    """
    difference = theta[0] - theta[1]
    coupling = m[1] * length[0] * c[1]
    M = np.array(
        [
            [J[0] + m[0] * c[0] ** 2 + m[1] * length[0] ** 2, coupling * np.cos(difference)],
            [coupling * np.cos(difference), J[1] + m[1] * c[1] ** 2],
        ]
    )
    Q = np.array(
        [
            -coupling * np.sin(difference) * w[1] ** 2 - (m[0] * c[0] + m[1] * length[0]) * G * np.sin(theta[0]),
            coupling * np.sin(difference) * w[0] ** 2 - m[1] * c[1] * G * np.sin(theta[1]),
        ]
    )
    return np.linalg.solve(M, Q)


def double_pendulum(kind: str, theta, w) -> tuple[mbd.Model, np.ndarray]:
    """Two slender rods, or two point masses on massless bars, in the plane x = 0; and the angular accelerations."""
    m, length = np.array([1.3, 0.7]), np.array([1.1, 0.8])
    c = length / 2.0 if kind == "rods" else length
    J = m * length**2 / 12.0 if kind == "rods" else np.zeros(2)
    system = mbd.System(kind, gravity=(0, 0, -G))
    previous, pin, v_pin = system.ground, np.zeros(3), np.zeros(3)
    for k in range(2):
        e, n = down(theta[k]), across(theta[k])
        J_bar = rod_inertia(m[k], length[k], e) if kind == "rods" else np.zeros((3, 3))
        body = mbd.Body(f"bar {k}", m[k], J_bar, r=pin + c[k] * e, v=v_pin + c[k] * w[k] * n, omega_bar=(w[k], 0, 0))
        system.add(body)
        system.add(RJ(f"pin {k}", previous, body, point=pin, axis=(1, 0, 0)))
        previous, pin, v_pin = body, pin + length[k] * e, v_pin + length[k] * w[k] * n
    return system.compile(), double_pendulum_closed_form(m, length, c, J, theta, w)


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["rods", "point masses"])
def test_double_pendulum_against_its_lagrange_equations(kind):
    rng = np.random.default_rng(4)
    for _ in range(20):
        theta, w = rng.uniform(-3.0, 3.0, size=2), rng.normal(scale=3.0, size=2)
        model, expected = double_pendulum(kind, theta, w)
        found, dense = mbd.accelerations(model), solve_dense(model)
        scale = np.abs(expected).max()
        np.testing.assert_allclose(found.omega_bar_dot[1:, 0], expected, rtol=0.0, atol=AGREE * scale)
        np.testing.assert_allclose(found.omega_bar_dot[1:, 1:], 0.0, atol=AGREE * scale)
        np.testing.assert_allclose(found.lam, dense.lam, rtol=0.0, atol=AGREE * np.abs(dense.lam).max())


def test_point_mass_on_a_revolute_joint_is_a_pendulum():
    for theta, w in ((0.3, 0.0), (1.4, -2.0), (2.9, 5.0)):
        system = mbd.System("point mass", gravity=(0, 0, -G))
        options = {"r": 0.7 * down(theta), "v": 0.7 * w * across(theta), "omega_bar": (w, 0, 0)}
        mass = system.add(mbd.Body("mass", 2.0, (0, 0, 0), **options))
        system.add(RJ("pin", system.ground, mass, point=(0, 0, 0), axis=(1, 0, 0)))
        model = system.compile()
        found, rows = mbd.accelerations(model), mbd.evaluate(model)
        np.testing.assert_allclose(found.omega_bar_dot[1], [-G / 0.7 * np.sin(theta), 0, 0], atol=AGREE * G)
        tension = 2.0 * (G * np.cos(theta) + 0.7 * w**2)
        np.testing.assert_allclose(-found.lam @ rows.Phi_r[:, 1], -tension * down(theta), atol=AGREE * tension)


def test_point_mass_against_a_distance_row():
    """The same mass, held by a distance row at its centre and turned by nothing (regular J_bar): the same acceleration."""
    theta, w, mass = 0.8, 1.7, 2.0
    accelerations = []
    for J_bar, revolute in (((0, 0, 0), True), ((1, 1, 1), False)):
        system = mbd.System("two ways", gravity=(0, 0, -G))
        options = {"r": 0.7 * down(theta), "v": 0.7 * w * across(theta), "omega_bar": (w if revolute else 0, 0, 0)}
        body = system.add(mbd.Body("mass", mass, J_bar, **options))
        if revolute:
            system.add(RJ("pin", system.ground, body, point=(0, 0, 0), axis=(1, 0, 0)))
        else:
            system.add(Distance("string", system.ground, body, point_i=(0, 0, 0), point_j=0.7 * down(theta)))
        accelerations.append(mbd.accelerations(system.compile()).v_dot[1])
    np.testing.assert_allclose(accelerations[0], accelerations[1], rtol=0.0, atol=AGREE * G)


def chain_of_rods(n: int, seed: int) -> mbd.System:
    """Slender rods end to end, revolute axes never along a rod, every third joint universal."""
    rng = np.random.default_rng(seed)
    system = mbd.System("rods", gravity=(0.2, 0.1, -G))
    previous, pin = system.ground, np.zeros(3)
    before = np.array([0.0, 0.0, -1.0])
    for k in range(n):
        e = rng.normal(size=3)
        e /= np.linalg.norm(e)
        body = system.add(mbd.Body(f"rod {k}", 1.0 + rng.random(), rod_inertia(1.0, 1.0, e), r=pin + e / 2.0))
        axis = np.cross(e, rng.normal(size=3))
        if k % 3 == 2:
            system.add(UJ(f"joint {k}", previous, body, point=pin, axis_i=np.cross(axis, e + before), axis_j=axis))
        else:
            system.add(RJ(f"joint {k}", previous, body, point=pin, axis=axis))
        previous, pin, before = body, pin + e, e
    return system


@pytest.mark.slow
@pytest.mark.parametrize("n", [2, 10, 50, 120])
@pytest.mark.parametrize("on_manifold", [True, False], ids=["on", "off"])
def test_chains_of_slender_rods_agree_with_lapack(state_of, n, on_manifold):
    model = chain_of_rods(n, n).compile()
    state = state_of(model, n, on_manifold=on_manifold)
    found, dense = mbd.accelerations(model, state), solve_dense(model, state)
    u_dot, reference = (np.hstack([a.v_dot, a.omega_bar_dot]) for a in (found, dense))
    assert np.abs(u_dot - reference).max() < AGREE * np.abs(reference).max()
    assert np.abs(found.lam - dense.lam).max() < AGREE * np.abs(dense.lam).max()
    K, b = dense_system(model, state)
    x = np.concatenate([u_dot[1:].ravel(), found.lam])
    assert np.abs(K @ x - b).max() < 1e-12 * (np.abs(K).sum(axis=1).max() * np.abs(x).max() + np.abs(b).max())


def free_spin() -> mbd.System:
    """A slender rod between two spherical joints: nothing says how it turns about itself."""
    from joints import SJ

    system = mbd.System("free spin", gravity=(0, 0, -G))
    crank = system.add(mbd.Body("crank", 1.0, (0.1, 0.1, 0.1), r=(0, 0, 0)))
    rod = system.add(mbd.Body("connecting rod", 1.0, rod_inertia(1.0, 1.0, np.array([1.0, 0, 0])), r=(0.5, 0, 0)))
    system.add(RJ("pin", system.ground, crank, point=(0, 0, 0), axis=(0, 1, 0)))
    system.add(SJ("ball", crank, rod, point=(0, 0, 0)))
    return system


def test_a_free_massless_axis_is_named():
    """From `accelerations` or already from `validate`: an error that names the body."""
    with pytest.raises((mbd.SingularKKTError, mbd.ModelError), match="connecting rod"):
        mbd.accelerations(free_spin().compile())


def test_a_free_point_mass_body_is_named():
    system = mbd.System("free point", gravity=(0, 0, -G))
    system.add(mbd.Body("bead", 1.0, (0, 0, 0)))
    with pytest.raises((mbd.SingularKKTError, mbd.ModelError), match="bead"):
        mbd.accelerations(system.compile())


def test_dense_says_that_a_matrix_is_singular():
    """The reference solver itself refuses an exactly singular matrix."""
    system = mbd.System("twice", gravity=(0, 0, -G))
    body = system.add(mbd.Body("mass", 1.0, (1, 1, 1), r=(1, 0, 0)))
    system.add(Distance("once", system.ground, body, point_i=(0, 0, 0), point_j=(1, 0, 0)))
    model = system.compile()
    state = model.state()
    with pytest.raises(mbd.SingularKKTError, match="singular"):
        solve_dense(model, state.replace(r=np.zeros_like(state.r)))
    assert np.isfinite(solve_dense(model).lam).all()


@pytest.mark.slow
@pytest.mark.parametrize("angle", [0.3, 0.03, 0.01, 0.003, 0.001])
@pytest.mark.parametrize("n", [1, 3])
def test_an_axis_close_to_the_rod_is_determined(angle, n):
    """Rods that turn about an axis almost along themselves: J sin(angle)^2 is all there is, and it is enough."""
    system = mbd.System("shafts", gravity=(0, 0, -G))
    previous = system.ground
    for k in range(n):
        shaft = system.add(mbd.Body(f"rod {k}", 1.0, rod_inertia(1.0, 1.0, np.array([1.0, 0, 0])), r=(k + 0.5, 0, 0)))
        system.add(RJ(f"joint {k}", previous, shaft, point=(k, 0, 0), axis=(np.cos(angle), np.sin(angle), 0)))
        previous = shaft
    model = system.compile()
    found, dense = mbd.accelerations(model), solve_dense(model)
    if n == 1:  # (m L^2 / 3) sin(angle)^2 alpha = m g (L / 2) sin(angle), L = 1
        spin = 1.5 * G / np.sin(angle)
        np.testing.assert_allclose(found.omega_bar_dot[1], [spin * np.cos(angle), spin * np.sin(angle), 0], rtol=AGREE, atol=1e-9)
    assert np.abs(found.omega_bar_dot - dense.omega_bar_dot).max() < AGREE * np.abs(dense.omega_bar_dot).max()
    assert np.abs(found.lam - dense.lam).max() < AGREE * np.abs(dense.lam).max()


def four_bar_of_rods(g: float, *, points: bool = False) -> mbd.System:
    """Slender rods, or point masses at their centres, in equilibrium."""
    A, B, C, D = np.array([(0, 0, 0), (0, 0, 1), (3, 0, 2), (3, 0, 0)], dtype=float)
    system = mbd.System("four-bar in equilibrium", gravity=(0, 0, -g))
    links = []
    for name, start, end in (("crank", A, B), ("coupler", B, C), ("rocker", C, D)):
        length = float(np.linalg.norm(end - start))
        mass, J_bar = rod(length, mass=length, axis=end - start)
        links.append(system.add(mbd.Body(name, mass, (0, 0, 0) if points else J_bar, r=(start + end) / 2)))
    crank, coupler, rocker = links
    system.add(RJ("A", system.ground, crank, point=A, axis=(0, 1, 0)))
    system.add(RJ("B", crank, coupler, point=B, axis=(0, 1, 0)))
    system.add(SJ("C", coupler, rocker, point=C))
    system.add(CJ("D", system.ground, rocker, point=D, axis=(0, 1, 0)))
    return system


def test_rods_at_rest_in_equilibrium_are_no_free_axes() -> None:
    """Where all accelerations are zero the solution is only rounding, and a correction relative to it says nothing."""
    model = four_bar_of_rods(9.81).compile()
    found = mbd.accelerations(model)
    np.testing.assert_allclose(found.v_dot, 0.0, atol=1e-12 * 9.81)
    assert np.abs(found.lam).max() > 1.0  # the links have weight, and the joints carry it


@pytest.mark.slow
@pytest.mark.parametrize("points", [False, True], ids=["rods", "point masses"])
@pytest.mark.parametrize("axis", np.eye(3), ids=["x", "y", "z"])
@pytest.mark.parametrize("body", ["crank", "coupler", "rocker"])
def test_torques_that_joints_hold_alone_are_no_free_axes(points: bool, axis: np.ndarray, body: str) -> None:
    """Without weight: across the axes of the joints nothing moves, and the solution is only rounding, as that of the dense solver."""
    system = four_bar_of_rods(0.0, points=points)
    system.add(mbd.Torque("load", next(one for one in system.bodies if one.name == body), torque=axis))
    model = system.compile()
    found, dense = mbd.accelerations(model), solve_dense(model)
    np.testing.assert_allclose(found.omega_bar_dot, dense.omega_bar_dot, rtol=0.0, atol=AGREE)
    np.testing.assert_allclose(found.lam, dense.lam, rtol=0.0, atol=AGREE)
    assert np.abs(found.lam).max() > 0.1


@pytest.mark.slow
@pytest.mark.parametrize("law", [mbd.BrownMcPhee(0.12, 0.1, 0.01), mbd.Coulomb(0.12, 0.1)], ids=["smooth", "exact"])
@pytest.mark.parametrize("speed", [0.0, 1.0])
def test_friction_of_a_spherical_joint_between_rods(law: Any, speed: float) -> None:
    """At rest it is solved for about three axes; two of its torques are held by the other joints, and move nothing."""
    system = four_bar_of_rods(9.81)
    joint = next(joint for joint in system.joints if joint.name == "C")
    system.add(mbd.JointFriction("rub", joint, law, radius=0.01))
    model = system.compile()
    turned = mbd.impulse(model, applied=[mbd.AngularImpulse("turn", system.bodies[1], impulse=(0, speed, 0))]).state
    found, dense = mbd.accelerations(model, turned), mbd.accelerations(system.compile(solver="dense"), turned)
    np.testing.assert_allclose(found.omega_bar_dot, dense.omega_bar_dot, rtol=0.0, atol=AGREE)
    np.testing.assert_allclose(found.lam, dense.lam, rtol=0.0, atol=AGREE * np.abs(dense.lam).max())


def test_an_inertia_that_is_lost_in_rounding_is_answered_or_named_with_zero_and_a_larger_one_that_are_not() -> None:
    """Such numbers are given to keep a matrix regular. A small model is solved with exchanges of rows; of a large one the body is named."""
    A, B, C, D = np.array([(0, 0, 0), (0, 0, 1), (3, 0, 2), (4, 0, 0)], dtype=float)

    def four_bar(J: float, pendulums: int = 0) -> mbd.Model:
        system = mbd.System("four-bar", gravity=(0, 0, -G))
        inertias = {"crank": 0.1, "coupler": J, "rocker": 0.1}
        ends = ((A, B), (B, C), (C, D))
        crank, coupler, rocker = (
            system.add(mbd.Body(name, 1.0, 3 * (inertias[name],), r=np.mean(two, axis=0)))
            for name, two in zip(inertias, ends, strict=True)
        )
        for name, i, j, point in (("A", system.ground, crank, A), ("B", crank, coupler, B)):
            system.add(RJ(name, i, j, point=point, axis=(0, 1, 0)))
        system.add(SJ("C", coupler, rocker, point=C))
        system.add(CJ("D", system.ground, rocker, point=D, axis=(0, 1, 0)))
        for k in range(pendulums):
            bob = system.add(mbd.Body(f"bob {k}", 1.0, 3 * (0.1,), r=(k, 5, -1)))
            system.add(RJ(f"pivot {k}", system.ground, bob, point=(k, 5, 0), axis=(0, 1, 0)))
        return system.compile()

    told = r"Body 'coupler' has a moment of inertia of 1e-17 kg m2, 4\.0e-18 of .*2\.5 kg m2: .* Give zero, .*more than 3e-13 kg m2"
    with pytest.raises(mbd.SingularKKTError, match=told):
        mbd.accelerations(four_bar(1e-17, pendulums=40))
    zero = mbd.accelerations(four_bar(0.0))
    for J in (1e-20, 1e-17, 1e-15, 3e-13, 3e-10):
        np.testing.assert_allclose(mbd.accelerations(four_bar(J)).v_dot, zero.v_dot, rtol=0.0, atol=1e-9)
    assert np.abs(zero.v_dot).max() > 1.0


def test_a_singular_pose_is_not_blamed_on_a_small_moment_of_inertia() -> None:
    """Rods of 1e-12 m a^2 about their own axes, along which their joints lie: nothing of it is lost, and zero would not help."""

    def parallelogram(angle: float) -> mbd.Model:
        system, tip = mbd.System("parallelogram", gravity=(0, -G, 0)), np.array([np.cos(angle), np.sin(angle), 0.0])
        p, J = (np.cos(angle / 2), 0, 0, np.sin(angle / 2)), (1e-12, 0.1, 0.1)
        crank = system.add(mbd.Body("crank", 1.0, J, r=tip / 2, p=p))
        coupler = system.add(mbd.Body("coupler", 1.0, J, r=tip + (1, 0, 0)))
        rocker = system.add(mbd.Body("rocker", 1.0, J, r=tip / 2 + (2, 0, 0), p=p))
        system.add(RJ("A", system.ground, crank, point=(0, 0, 0), axis=(0, 0, 1)))
        system.add(RJ("B", crank, coupler, point=tip, axis=(0, 0, 1)))
        system.add(SJ("C", coupler, rocker, point=tip + (2, 0, 0)))
        system.add(CJ("D", system.ground, rocker, point=(2, 0, 0), axis=(0, 0, 1)))
        return system.compile(check_pose=False)

    model = parallelogram(0.7)
    assert np.isfinite(mbd.accelerations(model).v_dot).all()
    with pytest.raises(mbd.SingularKKTError, match=r"depend on those of 'A', 'B', 'C' there .* A singular position"):
        mbd.accelerations(model, parallelogram(0.0).state())
