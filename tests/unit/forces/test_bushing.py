"""Bushings: the force is the gradient of its energy at large angles, the rotation vector is SciPy's, half a turn stops a run by name."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import haugmbd as mbd
from haugmbd.diagnostics.work import load_ledger
from haugmbd.math import euler_parameters
from haugmbd.workspace.layout import WIDTH
from joints import RJ

STEP = 1e-5  # central differences: truncation 1e-10, rounding 1e-11
DIFFERENCE_TOL = 1e-6  # of forces of size 100
ROUNDING = 1e-11

AXES = Rotation.from_rotvec((0.3, -0.5, 0.2)).as_matrix()


def matrix(seed, size):
    root = np.random.default_rng(seed).normal(size=(6, 6))
    return size * root @ root.T


def mounted(**options):
    """Two free bodies with a bushing between them."""
    system = mbd.System("rig")
    a = system.add(mbd.Body("a", 2.0, (0.4, 0.5, 0.6), r=(0.2, -0.1, 0.3), p=np.array([4.0, 1.0, -2.0, 2.0]) / 5.0))
    b = system.add(mbd.Body("b", 3.0, (0.7, 0.8, 0.9), r=(0.9, 0.5, -0.2), p=np.array([1.0, 1.0, 1.0, -1.0]) / 2.0))
    system.add(mbd.Bushing("mount", a, b, **{"point": (0.4, 0.1, 0.3), "K": matrix(1, 10.0), "axes": AXES} | options))
    return system


def turned_by(model, rng, angle):
    """Return a state with body b turned by an angle about any axis, both bodies moved and turned together, and any velocities."""
    y = model.y0.copy()
    rows = y[: WIDTH * 3].reshape(3, WIDTH)
    axis = rng.normal(size=3)
    rows[1:, :3] += 0.2 * rng.normal(size=(2, 3))
    rows[2, 3:7] = euler_parameters.product(rows[2, 3:7], euler_parameters.exponential(angle * axis / np.linalg.norm(axis)))
    whole = euler_parameters.exponential(rng.normal(size=3))
    rows[1:, 3:7] = euler_parameters.product(np.broadcast_to(whole, (2, 4)), rows[1:, 3:7])
    rows[1:, :3] = rows[1:, :3] @ euler_parameters.rotation_matrix(whole).T
    rows[1:, 7:] = rng.normal(size=(2, 6))
    return y


def moved(y, k, direction, step):
    y = y.copy()
    row = y[WIDTH * k :][:WIDTH]
    if direction < 3:
        row[direction] += step
    else:
        row[3:7] = euler_parameters.product(row[3:7], euler_parameters.exponential(step * np.eye(3)[direction - 3]))
    return y


def potential(model, y):
    return load_ledger(model, [0.0], [y])["mount"].potential[0]


@pytest.mark.slow
@pytest.mark.parametrize("angle", [0.0, 1e-6, 0.009, 0.011, 1.2, 3.0])
def test_the_force_is_minus_the_gradient_of_the_energy(angle, rng, forces):
    """A full K and a preload; angles on both sides of the series, and near half a turn."""
    model = mounted(preload=(1.0, -2.0, 0.5, 0.3, 0.2, -0.4)).compile()
    for _ in range(3):
        y = turned_by(model, rng, angle)
        Q = forces(model, 0.0, y)
        for k in (1, 2):
            gradient = [
                (potential(model, moved(y, k, d, STEP)) - potential(model, moved(y, k, d, -STEP))) / (2 * STEP) for d in range(6)
            ]
            np.testing.assert_allclose(Q[k], -np.array(gradient), rtol=0.0, atol=DIFFERENCE_TOL * max(1.0, np.abs(Q).max() / 100.0))


@pytest.mark.parametrize("angle", [1e-9, 0.5, 2.9])
def test_deformation_is_that_of_scipy_and_the_rate_that_of_differences(angle, rng):
    model = mounted().compile()
    load = model.loads[0].load
    y = turned_by(model, rng, angle)
    rows = y[: WIDTH * 3].reshape(3, 1, WIDTH)

    def deformation(states):
        R_i, R_j = (Rotation.from_quat(s[0, [4, 5, 6, 3]]).as_matrix() for s in states[1:])
        frames = load.frame_i, load.frame_j
        x_i, x_j = (s[0, :3] + R @ frame.s_bar for s, R, frame in zip(states[1:], (R_i, R_j), frames, strict=True))
        C_i, C_j = R_i @ frames[0].A_bar, R_j @ frames[1].A_bar
        return np.concatenate([C_i.T @ (x_j - x_i), Rotation.from_matrix(C_i.T @ C_j).as_rotvec()])

    x, x_dot = load.arguments(rows[1:], np.zeros(1))
    np.testing.assert_allclose(x[0], deformation(rows), rtol=0.0, atol=ROUNDING)
    assert np.linalg.norm(x[0, 3:]) == pytest.approx(angle, rel=1e-6)

    def after(s):
        later = rows.copy()
        later[..., :3] += s * rows[..., 7:10]
        later[..., 3:7] = euler_parameters.product(rows[..., 3:7], euler_parameters.exponential(s * rows[..., 10:13]))
        return deformation(later)

    np.testing.assert_allclose(x_dot[0], (after(STEP) - after(-STEP)) / (2.0 * STEP), rtol=0.0, atol=1e-7)


def test_power_is_Q_u_with_damping_and_action_is_reaction(rng, forces):
    model = mounted(C=matrix(2, 0.5), preload=(1, 2, 3, 0.1, 0.2, 0.3)).compile()
    for _ in range(10):
        y = turned_by(model, rng, rng.uniform(0.0, 2.5))
        Q, rows = forces(model, 0.0, y), y[: WIDTH * 3].reshape(3, WIDTH)
        book = load_ledger(model, [0.0], [y])["mount"]
        load = model.loads[0].load
        found = load.quantities(np.zeros(1), rows[1:, None], np.zeros(1))
        assert np.sum(Q * rows[:, 7:]) == pytest.approx(found.power[0], abs=ROUNDING * 100)
        assert book.dissipated[0] > 0.0
        np.testing.assert_allclose(Q[1, :3], -Q[2, :3], rtol=0.0, atol=ROUNDING)
        np.testing.assert_allclose(found.values["force"][0], Q[2, :3], rtol=0.0, atol=ROUNDING * 100)
        A = euler_parameters.rotation_matrix(rows[:, 3:7])
        moment = sum(np.cross(rows[k, :3], Q[k, :3]) + A[k] @ Q[k, 3:] for k in (1, 2))
        np.testing.assert_allclose(moment, 0.0, atol=ROUNDING * 100)


def test_energy_is_kept_in_a_tumbling_motion_of_large_angles():
    system = mounted(K=np.diag([300.0, 300.0, 500.0, 4.0, 4.0, 4.0]) + 0.3, axes=None)
    state = system.compile().state()
    omega = state.omega_bar.copy()
    omega[2] = (7.0, -4.0, 5.0)
    result = mbd.simulate(system, 1.5, rtol=1e-11, atol=1e-12, state=state.replace(omega_bar=omega))
    load, n = result.model.loads[0].load, len(result)
    angle = np.linalg.norm(load._rotation_vector(np.swapaxes(result.y.reshape(n, 3, WIDTH), 0, 1)[1:]), axis=1)
    assert angle.max() > 1.2
    assert abs(result.energy().drift).max() < 1e-7


@pytest.mark.slow
def test_a_mass_on_a_bushing_sinks_and_swings_as_its_stiffness_says():
    """At rest m g / k; frequencies sqrt(k / m), sqrt(k_theta / J) of a bushing at the centre of mass."""
    system = mbd.System("mount", gravity=(0, 0, -9.81))
    engine = system.add(mbd.Body("engine", 2.0, (0.1, 0.2, 0.3)))
    system.add(mbd.Bushing("mount", system.ground, engine, point=(0, 0, 0), K=(100.0, 200.0, 400.0, 1.0, 3.0, 5.0)))
    found = mbd.equilibrium(system)
    assert found.state.r[1, 2] == pytest.approx(-2.0 * 9.81 / 400.0, rel=1e-9)
    wanted = sorted(np.sqrt([50.0, 100.0, 200.0, 10.0, 15.0, 5.0 / 0.3]))
    np.testing.assert_allclose(sorted(mode.omega for mode in mbd.linearize(found).modes), wanted, rtol=1e-6)


@pytest.mark.parametrize(
    "method", [mbd.RK4(1e-2), mbd.DormandPrince(), mbd.GeneralizedAlpha(1e-2, rho=0.9)], ids=lambda m: type(m).__name__
)
def test_half_a_turn_stops_the_run_by_name(method):
    """A torque of 8 N m winds a bushing of 2 N m/rad to 4 rad: beyond half a turn."""
    system = mbd.System("wound")
    arm = system.add(mbd.Body("arm", 1.0, (0.1, 0.1, 0.2)))
    system.add(RJ("pin", system.ground, arm, point=(0, 0, 0), axis=(0, 0, 1)))
    system.add(mbd.Bushing("mount", system.ground, arm, point=(0, 0, 0), K=(1.0, 1.0, 1.0, 1.0, 1.0, 2.0)))
    system.add(mbd.Torque("wind", arm, torque=(0.0, 0.0, 8.0)))
    with pytest.raises(mbd.SimulationError, match=r"Bushing 'mount': body 'arm' has turned by 17[89].* half a turn") as caught:
        mbd.simulate(system, 5.0, integrator=method)
    assert 0.1 < caught.value.result.t[-1] < 2.0


@pytest.mark.slow
def test_beyond_half_a_turn_there_are_no_accelerations_and_no_equilibrium():
    """A torque of 6 N m on 1 N m/rad has no rest before half a turn; the search says which bushing stopped it."""
    system = mbd.System("wound")
    arm = system.add(mbd.Body("arm", 1.0, (1.0, 1.0, 1.0)))
    pin = system.add(RJ("pin", system.ground, arm, point=(0, 0, 0), axis=(0, 0, 1)))
    system.add(mbd.Bushing("mount", system.ground, arm, point=(0, 0, 0), K=(1.0,) * 6))
    system.add(mbd.JointForce("wind", pin, 6.0))
    with pytest.raises(mbd.SimulationError, match="Bushing 'mount': body 'arm' has turned by 17"):
        mbd.equilibrium(system)
    state = system.compile().state()
    p = state.p.copy()
    p[1] = euler_parameters.exponential(np.array([0.0, 0.0, np.pi]))
    for formulation in (mbd.NewtonEuler(), mbd.NullSpace()):
        with pytest.raises(mbd.SimulationError, match="Bushing 'mount': body 'arm' has turned by 180.0 degrees"):
            mbd.accelerations(system, state.replace(p=p), formulation=formulation)


def test_a_stiff_bushing_has_its_tangent_in_implicit_methods():
    """omega h = 7 and more: without the tangent no iteration would converge."""
    system = mounted(K=matrix(1, 1e7) + 1e8 * np.eye(6), C=matrix(2, 1e2))
    system.gravity = (0.0, 0.0, -9.81)
    system.add(RJ("pin", system.ground, system.bodies[1], point=(0, 0, 0), axis=(0, 1, 0)))
    result = mbd.simulate(system, 0.05, integrator=mbd.GeneralizedAlpha(1e-3, rho=0.5))
    assert result.counters.projections < 5 * result.counters.steps
    assert result.counters.rejected == 0


def test_a_model_file_holds_a_bushing_bit_by_bit(tmp_path):
    system = mounted(C=matrix(2, 0.5), preload=(1, 2, 3, 0.1, 0.2, 0.3))
    path = system.save(tmp_path / "model.json")
    again = mbd.load_model(path)
    assert again.save(tmp_path / "again.json").read_bytes() == path.read_bytes()
    results = [mbd.simulate(one, 0.05, h=1e-2) for one in (system, again)]
    np.testing.assert_array_equal(results[0].y, results[1].y)


SIX = (1.0, 1.0, 1.0, 1.0, 1.0, 1.0)
SKEW = np.eye(6) + np.triu(np.full((6, 6), 0.1), 4)
WRONG = {
    "shape": ({"K": (1.0, 2.0)}, r"K has shape \(2,\), expected \(6, 6\) or \(6,\)"),
    "skew": ({"K": SKEW}, r"K is not symmetric: K\[0, 4\] = 0.1, K\[4, 0\] = 0"),
    "negative": ({"K": (1.0, 1.0, -2.0, 1.0, 1.0, 1.0)}, "K has the negative eigenvalue -2"),
    "damping": ({"K": SIX, "C": (-1.0, 0, 0, 0, 0, 0)}, "C has the negative eigenvalue -1"),
    "nothing": ({"K": (0.0,) * 6}, "K, C and preload are zero"),
    "axes": ({"K": SIX, "axes": 2.0 * np.eye(3)}, "not orthonormal"),
    "preload": ({"K": SIX, "preload": (np.nan,) * 6}, "preload = .* is not finite"),
}


@pytest.mark.parametrize("case", WRONG)
def test_bad_input_names_the_bushing(case):
    options, words = WRONG[case]
    with pytest.raises(mbd.ModelError, match=words) as caught:
        mounted(**options).compile()
    assert all("Bushing 'mount'" in fault.where for fault in caught.value.faults)


def test_what_is_no_body_is_refused_and_a_body_has_no_bushing_to_itself():
    system = mounted()
    with pytest.raises(mbd.UsageError, match="Bushing 'm' needs two bodies, got 'a'"):
        mbd.Bushing("m", "a", system.ground, point=(0, 0, 0), K=SIX)
    system.add(mbd.Bushing("own", system.bodies[1], system.bodies[1], point=(0, 0, 0), K=SIX))
    with pytest.raises(mbd.ModelError, match="Bushing 'own': both sides are on body 'a'"):
        system.compile()
