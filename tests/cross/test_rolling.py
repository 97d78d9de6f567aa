"""Rolling without slip: velocity rows against closed forms, independent slip velocities, and every family of methods."""

from __future__ import annotations

import numpy as np
import pytest

import haugmbd as mbd
from haugmbd.formulations import FORMULATIONS
from haugmbd.math.euler_parameters import from_axis_angle, rotation_matrix
from joints import RJ, CoordinateFunction, KnifeEdge, Perpendicular, Planar, RollingDisc, RollingSphere, RotationDriver

G = 9.81
RADIUS, MASS = 0.2, 1.0
ACROSS, ABOUT = MASS * RADIUS**2 / 4.0, MASS * RADIUS**2 / 2.0
KEPT = 1e-10
"""Energy [J] and velocity of the contact point [m/s] that a run with projection keeps."""

CLOSED_FORM = 1e-9
"""Relative error of accelerations: far above the rounding of a small augmented matrix."""


def sphere(slope=0.3, *, plane_body=None):
    n = np.array([np.sin(slope), 0.0, np.cos(slope)])
    system = mbd.System("sphere", gravity=(0, 0, -G))
    J = 0.4 * 2.0 * 0.1**2
    ball = system.add(mbd.Body("ball", 2.0, (J, J, J), r=0.1 * n))
    system.add(RollingSphere("roll", ball, center=0.1 * n, radius=0.1, plane_normal=n, plane_body=plane_body))
    return system


def disc(lean, omega):
    """A thin disc whose contact point is at the origin, heading along x, leaning by `lean`, with the angular velocity omega (global)."""
    p = from_axis_angle(np.array([1.0, 0.0, 0.0]), lean)
    A = rotation_matrix(p)
    centre = A @ (0, 0, RADIUS)
    system = mbd.System("disc", gravity=(0, 0, -G))
    body = mbd.Body("disc", MASS, (ACROSS, ABOUT, ACROSS), r=centre, p=p, v=np.cross(omega, centre), omega_bar=A.T @ omega)
    system.add(RollingDisc("roll", system.add(body), center=centre, axis=A[:, 1], radius=RADIUS))
    return system


def slip_of(result, radius=RADIUS, axis=(0.0, 1.0, 0.0)):
    """The velocity of the lowest point of the disc, computed from the state alone, (nt, 3)."""
    A, omega = result["disc"].A, result["disc"].omega
    a = A @ np.array(axis)
    k = a[:, 2]
    down = -(np.array([0.0, 0.0, 1.0]) - k[:, None] * a)
    rho = radius * down / np.linalg.norm(down, axis=1, keepdims=True)
    return result["disc"].v + np.cross(omega, rho), result["disc"].r[:, 2] + rho[:, 2]


@pytest.mark.parametrize("kind", FORMULATIONS, ids=lambda kind: kind.__name__)
def test_a_sphere_rolls_down_a_slope_with_five_sevenths(kind):
    model = sphere().compile()
    if kind.__name__ == "ReducedChain":
        with pytest.raises(mbd.ModelError):
            mbd.accelerations(model, formulation=kind())
        return
    found = mbd.accelerations(model, formulation=kind())
    wanted = 5.0 / 7.0 * G * np.sin(0.3) * np.array([np.cos(0.3), 0.0, -np.sin(0.3)])
    np.testing.assert_allclose(found.v_dot[1], wanted, atol=1e-2 if kind.__name__ == "Penalty" else 1e-9)


def steady_circle(lean, turn):
    """The spin rate about the axis of a disc that rolls in a circle of its centre, turning about z at `turn`, leaning by `lean`.

    Euler's equations about the contact point, with omega = turn z + spin a:  quadratic in turn, linear in spin.
    """
    c, s = np.cos(lean), np.sin(lean)

    def unbalanced(spin):
        a, across = np.array([0.0, c, s]), np.array([0.0, -s, c])  # axis, and the direction from the contact to the centre
        omega = turn * np.array([0.0, 0.0, 1.0]) + spin * a
        centre = RADIUS * across
        L = ABOUT * (omega @ a) * a + ACROSS * (omega - (omega @ a) * a)
        v = np.cross(omega, centre)
        force = MASS * np.cross((0.0, 0.0, turn), v)  # the whole figure turns about z
        reaction = force + np.array([0.0, 0.0, MASS * G])
        return (np.cross((0.0, 0.0, turn), L) - np.cross(-centre, reaction))[0]

    one, zero = unbalanced(1.0), unbalanced(0.0)
    return -zero / (one - zero)


@pytest.mark.parametrize(("lean", "turn"), [(0.25, 3.0), (-0.4, 2.0), (0.9, 5.0)])
def test_a_disc_rolls_in_the_steady_circle_of_the_closed_form(lean, turn):
    spin = steady_circle(lean, turn)
    omega = np.array([0.0, spin * np.cos(lean), turn + spin * np.sin(lean)])
    result = mbd.simulate(disc(lean, omega), t_end=1.0, h=1e-3)
    height, A = result["disc"].r[:, 2], result["disc"].A
    np.testing.assert_allclose(height, RADIUS * np.cos(lean), atol=1e-9)
    heading = np.unwrap(np.arctan2(-A[:, 0, 1], A[:, 1, 1]))
    np.testing.assert_allclose(heading, turn * result.t, atol=1e-7)


METHODS = {
    "RK4": {"h": 1e-3},
    "DormandPrince": {"rtol": 1e-9, "atol": 1e-11},
    "HEM4": {"integrator": mbd.HEM4(), "h": 1e-3},
    "RadauIIA": {"integrator": mbd.RadauIIA(h=5e-3)},
    "BDF": {"integrator": mbd.BDF(rtol=1e-8)},
    "Index3": {"integrator": mbd.GeneralizedAlpha(h=1e-3)},
    "Index2": {"integrator": mbd.GeneralizedAlpha(h=1e-3, constraint_form=mbd.Index2())},
    "GGL": {"integrator": mbd.GeneralizedAlpha(h=1e-3, constraint_form=mbd.GGL())},
    "Baumgarte": {"stabilization": mbd.Baumgarte(alpha=10, beta=10), "h": 1e-3},
}
END = np.array([2.24001226, -0.81694163, 0.19574696])
"""Centre after 1 s: RK4, HEM4, RadauIIA and DormandPrince agree to 1e-8."""


@pytest.mark.slow
@pytest.mark.parametrize("method", METHODS)
def test_a_rolling_disc_keeps_its_contact_with_every_family_of_methods(method):
    system = disc(0.25, 4.0 * np.array([0.1, 3.0, 0.4]))
    result = mbd.simulate(system, t_end=1.0, **METHODS[method])
    np.testing.assert_allclose(result["disc"].r[-1], END, atol=1e-4 if method in ("Index3", "Index2", "GGL", "BDF") else 1e-7)
    slip, height = slip_of(result)
    second_order = method in ("Index2", "Baumgarte")
    assert abs(height).max() < (1e-6 if second_order else KEPT)
    assert abs(slip[:, :2]).max() < (1e-8 if method in ("Baumgarte", "Index3") else KEPT)
    velocity_rows = result.model.velocity_rows
    assert result.violation("position")[:, velocity_rows].any() == np.False_
    assert abs(result.violation("velocity")[:, velocity_rows]).max() < (1e-8 if method in ("Baumgarte", "Index3") else KEPT)
    if method in ("RK4", "HEM4"):
        assert abs(result.energy().drift).max() < KEPT


def test_rattle_says_why_it_cannot():
    system = disc(0.25, np.array([0.0, 3.0, 0.0]))
    with pytest.raises(mbd.UsageError, match="'roll' restrict velocities only"):
        mbd.simulate(system, t_end=0.1, h=1e-3, integrator=mbd.RATTLE())


def test_degrees_of_freedom_of_velocities_and_of_positions_are_counted_apart():
    found = mbd.mobility(disc(0.25, np.zeros(3)))
    assert found.degrees_of_freedom == 3
    assert found.position_degrees_of_freedom == 5
    assert "of positions" in str(found)


@pytest.mark.slow
def test_derivatives_are_those_of_differences():
    for system in (sphere(), disc(0.25, np.zeros(3)), sledge()):
        found = mbd.verify(system)
        assert found.ok, str(found)


@pytest.mark.parametrize("kind", ["ground", "table"])
def test_the_jacobian_of_a_velocity_row_gives_the_slip_of_the_state(kind):
    rng = np.random.default_rng(5)
    system = disc(0.3, np.zeros(3))
    carrier = system.ground
    if kind == "table":
        system.joints.clear()
        carrier = system.add(mbd.Body("table", 5.0, (1.0, 1.0, 1.5), r=(0.3, 0.1, -0.2)))
        body = system.bodies[1]
        system.add(RollingDisc("roll", body, center=body.r, axis=body.A[:, 1], radius=RADIUS, plane_body=carrier))
    model = system.compile()
    v, w = rng.normal(size=(2, model.nb + 1, 3)) * (np.arange(model.nb + 1) > 0)[None, :, None]
    state = model.state().replace(v=v, omega_bar=w)
    rows = mbd.evaluate(model, state)
    u = np.hstack([v, w])
    moved = np.einsum("rsc,rsc->r", np.concatenate([rows.Phi_r, rows.PiBar], axis=2), u[rows.bodies])
    contact = np.zeros(3)  # at the modelled pose

    def velocity(k):
        return v[k] + np.cross(rotation_matrix(state.p[k]) @ w[k], contact - state.r[k])

    slip = velocity(1) - (velocity(2) if kind == "table" else 0.0)
    i = model.joints["roll"].part.frame_i
    n, t1, t2 = (i.body.A @ x for x in (i.h, i.f, i.g))
    np.testing.assert_allclose(moved[model.joints["roll"].rows], [n @ slip, t1 @ slip, t2 @ slip], atol=1e-13)


def sledge(speed=1.0, turn=2.0):
    """Chaplygin's sledge with its centre of mass above the blade: it runs in a circle of the radius speed / turn."""
    system = mbd.System("sledge")
    body = system.add(mbd.Body("sledge", 1.0, (0.1, 0.12, 0.15), v=(speed, 0, 0), omega_bar=(0, 0, turn)))
    system.add(Planar("ice", system.ground, body, point=(0, 0, 0), normal=(0, 0, 1)))
    system.add(KnifeEdge("blade", body, point=(0, 0, 0), direction=(1, 0, 0)))
    return system


def test_a_sledge_above_its_blade_runs_in_a_circle():
    result = mbd.simulate(sledge(), t_end=3.0, h=1e-3)
    t = result.t
    np.testing.assert_allclose(
        result["sledge"].r[:, :2], np.stack([0.5 * np.sin(2 * t), 0.5 - 0.5 * np.cos(2 * t)], axis=1), atol=1e-10
    )
    np.testing.assert_allclose(result.reaction("blade", on="j").force @ (0, 0, 1), 0.0, atol=1e-12)
    assert np.linalg.norm(result.reaction("blade").force[0]) == pytest.approx(2.0, rel=CLOSED_FORM)  # m v omega


def test_an_impulse_makes_a_sphere_roll_at_once():
    model = sphere(0.0).compile()
    state = model.state()
    v = state.v.copy()
    v[1] = (1.0, 0.0, 0.0)
    found = mbd.impulse(model, state.replace(v=v))
    np.testing.assert_allclose(found.v[1], (5.0 / 7.0, 0.0, 0.0), atol=1e-12)
    np.testing.assert_allclose(found.omega_bar[1], (0.0, 5.0 / 7.0 / 0.1, 0.0), atol=1e-10)


def test_two_wheels_on_an_axle_run_with_dependent_rows():
    system = mbd.System("axle", gravity=(0, 0, -G))
    axle = system.add(mbd.Body("axle", 2.0, (0.2, 0.05, 0.2), r=(0, 0, RADIUS), v=(1.0, 0, 0)))
    for name, y in (("left", 0.3), ("right", -0.3)):
        wheel = mbd.Body(name, MASS, (ACROSS, ABOUT, ACROSS), r=(0, y, RADIUS), v=(1.0, 0, 0), omega_bar=(0, 1.0 / RADIUS, 0))
        system.add(wheel)
        system.add(RJ(f"{name} bearing", axle, wheel, point=(0, y, RADIUS), axis=(0, 1, 0)))
        system.add(RollingDisc(f"{name} tyre", wheel, center=(0, y, RADIUS), axis=(0, 1, 0), radius=RADIUS))
    model = system.compile()
    assert len(model.redundancy.dropped) == 1
    result = mbd.simulate(system, t_end=1.0, h=1e-3)
    np.testing.assert_allclose(result["axle"].r[-1], (1.0, 0.0, RADIUS), atol=1e-10)
    assert abs(result.violation("velocity")).max() < KEPT


def test_rolling_joints_are_saved_and_read_bit_by_bit(tmp_path):
    for k, system in enumerate((sphere(), disc(0.25, np.array([0.0, 1.0, 0.0])), sledge())):
        system.save(tmp_path / f"{k}.json")
        again = mbd.load_model(tmp_path / f"{k}.json")
        again.save(tmp_path / "again.json")
        assert (tmp_path / f"{k}.json").read_text() == (tmp_path / "again.json").read_text()
        one, two = (mbd.evaluate(each.compile()) for each in (system, again))
        for name in ("Phi", "gamma", "Phi_r", "PiBar"):
            np.testing.assert_array_equal(getattr(one, name), getattr(two, name))


FAULTS = {
    "radius = -1 m is not positive": lambda body: RollingSphere("r", body, center=(0, 0, 1), radius=-1.0),
    "lies flat": lambda body: RollingDisc("r", body, center=(0, 0, 1), axis=(0, 0, 1), radius=1.0),
    "axis is \\(0, 0, 0\\)": lambda body: RollingDisc("r", body, center=(0, 0, 1), axis=(0, 0, 0), radius=1.0),
    "direction is normal": lambda body: KnifeEdge("r", body, point=(0, 0, 1), direction=(0, 0, 1)),
    "joint 'r'.*0.5 m": lambda body: RollingSphere("r", body, center=(0, 0, 1.5), radius=1.0),
}


@pytest.mark.parametrize("text", FAULTS)
def test_bad_rolling_joints_are_faults(text):
    system = mbd.System("bad")
    body = system.add(mbd.Body("body", 1.0, (1.0, 1.0, 1.0), r=(0, 0, 1)))
    system.add(FAULTS[text](body))
    with pytest.raises(mbd.ModelError, match=text):
        system.compile()
    with pytest.raises(mbd.UsageError, match="plane_body"):
        RollingSphere("r", body, center=(0, 0, 1), radius=1.0, plane_body="table")


@pytest.mark.slow
@pytest.mark.parametrize(
    "order", [("plane", "one", "other", "lock"), ("lock", "other", "plane", "one"), ("one", "other", "lock", "plane")]
)
def test_velocity_rows_are_dropped_before_rows_of_positions(order):
    """Two parallel blades keep a sledge from turning; a joint that locks its direction says the same, for positions, too."""
    system = mbd.System("sledge")
    body = system.add(mbd.Body("sledge", 1.0, (0.1, 0.2, 0.3), v=(1.0, 0, 0)))
    parts = {
        "plane": lambda: Planar("plane", system.ground, body, point=(0, 0, 0), normal=(0, 0, 1)),
        "one": lambda: KnifeEdge("one", body, point=(0.3, 0.1, 0), direction=(1, 0, 0)),
        "other": lambda: KnifeEdge("other", body, point=(-0.4, 0, 0), direction=(1, 0, 0)),
        "lock": lambda: Perpendicular("lock", system.ground, body, axis_i=(1, 0, 0), axis_j=(0, 1, 0)),
    }
    for name in order:
        system.add(parts[name]())
    model = system.compile()
    (dropped,) = model.redundancy.dropped
    assert dropped in model.velocity_rows
    assert mbd.mobility(system).degrees_of_freedom == 1
    result = mbd.simulate(system, 1.0, h=1e-2)
    np.testing.assert_allclose(result["sledge"].r[-1], (1.0, 0.0, 0.0), atol=1e-12)


def car(right, steer=lambda t: 0.3 * t * t, *, width=0.8, length=1.0):
    """A car on blades whose front blades are steered, the right one by a function of the angle of the left one."""
    system = mbd.System("car", gravity=(0, 0, -G))
    frame = system.add(mbd.Body("frame", 10.0, (1.0, 1.0, 2.0), v=(1.0, 0, 0)))
    system.add(Planar("road", system.ground, frame, point=(0, 0, 0), normal=(0, 0, 1)))
    system.add(KnifeEdge("rear", frame, point=(0, 0, 0), direction=(1, 0, 0)))
    kingpins = []
    for name, y in (("left", width / 2.0), ("right", -width / 2.0)):
        blade = system.add(mbd.Body(name, 0.5, (0.01, 0.01, 0.01), r=(length, y, 0), v=(1.0, 0, 0)))
        kingpins.append(system.add(RJ(f"{name} kingpin", frame, blade, point=(length, y, 0), axis=(0, 0, 1))))
        system.add(KnifeEdge(f"{name} blade", blade, point=(length, y, 0), direction=(1, 0, 0)))
    system.add(CoordinateFunction("tie rod", *kingpins, right))
    system.add(RotationDriver("steering", kingpins[0], steer))
    return system


@pytest.mark.parametrize("given", [{"h": 1e-2}, {"rtol": 1e-8, "atol": 1e-10}, {"integrator": mbd.RadauIIA(h=2e-2)}])
def test_blades_that_are_dropped_straight_ahead_and_slip_in_a_curve_are_told(given):
    """Blades at the same angle allow no curve: the row of one is dropped straight ahead, where it says what the others say."""
    system = car(lambda q: q)
    assert len(system.compile().redundancy.dropped) == 1
    with pytest.raises(
        mbd.SimulationError, match="blade': at t = .* s a dropped row slips at .* m/s: .* contradict each other"
    ) as error:
        mbd.simulate(system, 1.0, **given)
    assert error.value.result.status is mbd.RunStatus.FAILED


def test_blades_that_are_steered_about_a_common_centre_run():
    """Ackermann's steering: cot of the right angle is that of the left one plus width / length; the frame turns about the centre."""
    width, length = 0.8, 1.0
    system = car(lambda q: np.arctan(np.tan(q) / (1.0 + width / length * np.tan(q))), width=width, length=length)
    result = mbd.simulate(system, 1.0, h=1e-2)
    left = result.joint("left kingpin").angle
    radius = length / np.tan(left[1:]) + width / 2.0  # of the path of the rear blade, left of which the centre is
    speed = np.linalg.norm(result["frame"].v[1:], axis=1)
    np.testing.assert_allclose(result["frame"].omega[1:, 2], speed / radius, atol=1e-9)
    assert abs(result.violation("velocity")).max() < KEPT
