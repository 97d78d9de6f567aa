"""Friction of couplings: threads that lock at tan beta = mu exactly, meshes whose losses give efficiencies, driven and driven back."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import haugmbd as mbd
from joints import CJ, RJ, TJ, Belt, Cam, CoordinateFunction, Coupling, Gear, RackPinion, Screw

G, M, J, R = 9.81, 2.0, 1e-3, 0.01


def nut(mu, *, pitch=0.01, on="joint", torque=0.0, law=None, **more):
    """A nut of weight M G on a fixed vertical screw."""
    system = mbd.System("screw", gravity=(0, 0, -G))
    body = system.add(mbd.Body("nut", M, (J, J, J)))
    slide = system.add(CJ("slide", system.ground, body, point=(0, 0, 0), axis=(0, 0, 1)))
    thread = system.add(Screw("thread", slide, pitch=pitch))
    system.add(mbd.JointFriction("rub", slide if on == "joint" else thread, law or mbd.Coulomb(mu), radius=R, **more))
    if torque:
        system.add(mbd.Torque("hand", body, torque=(0, 0, torque)))
    return system


def acceleration(mu, pitch, torque, sign):
    """theta'' by N normal to the thread and f = mu |N| against the slip, which has the sign `sign` along +theta."""
    k = pitch / (2 * np.pi)
    beta = np.arctan(k / R)
    c, s = np.cos(beta), np.sin(beta)
    for side in (1.0, -1.0):  # of N: the flank that carries
        f = -sign * mu * side
        A = np.array([[M * k, -(c + f * s)], [J, -(-R * s + R * f * c)]])
        theta_ddot, N = np.linalg.solve(A, [-M * G, torque])
        if N * side >= 0.0:
            return theta_ddot
    raise AssertionError


@pytest.mark.parametrize("on", ["joint", "screw"])
@pytest.mark.parametrize("pitch", [0.01, -0.01])
def test_a_nut_runs_down_with_the_friction_of_its_thread(pitch, on):
    result = mbd.simulate(nut(0.1, pitch=pitch, on=on), 0.1, h=1e-3)
    wanted = acceleration(0.1, pitch, 0.0, -np.sign(pitch))
    assert abs(2 * result.joint("slide").angle[-1] / 0.1**2 - wanted) < 1e-9 * abs(wanted)
    assert np.abs(result.energy().drift).max() < 1e-9


@pytest.mark.parametrize("side", [-1.0, 1.0])
def test_a_thread_locks_itself_exactly_at_the_friction_angle(side):
    tangent = 0.01 / (2 * np.pi * R)
    result = mbd.simulate(nut(tangent * (1.0 + side * 1e-6)), 0.1, h=1e-3)
    assert (abs(result.joint("slide").displacement[-1]) < 1e-15) == (side > 0.0)
    load = result.load("rub")
    assert abs(load.normal_force[0] - M * G * np.cos(np.arctan(tangent))) < 1e-4


def test_a_hand_lifts_a_load_against_its_thread():
    k = 0.01 / (2 * np.pi)
    hold = M * G * R * np.tan(np.arctan(k / R) + np.arctan(0.2))  # the raising torque of the textbook, W r tan(beta + rho)
    assert abs(mbd.simulate(nut(0.2, torque=0.999 * hold), 0.05, h=1e-3).joint("slide").angle[-1]) < 1e-12
    result = mbd.simulate(nut(0.2, torque=1.5 * hold), 0.05, h=1e-3)
    wanted = acceleration(0.2, 0.01, 1.5 * hold, 1.0)
    assert abs(2 * result.joint("slide").angle[-1] / 0.05**2 - wanted) < 1e-8 * wanted


@pytest.mark.slow
@pytest.mark.parametrize("method", ["BDF", "Radau", "adaptive"])
def test_implicit_methods_have_the_same_thread(method):
    how = {
        "BDF": {"integrator": mbd.BDF(rtol=1e-8, atol=1e-10)},
        "Radau": {"integrator": mbd.RadauIIA(rtol=1e-8, atol=1e-10)},
        "adaptive": {"rtol": 1e-9, "atol": 1e-11},
    }[method]
    smooth = mbd.BrownMcPhee(0.1, 0.1, 1e-4) if method in ("BDF", "Radau") else None
    result = mbd.simulate(nut(0.1, law=smooth), 0.1, **how)
    wanted = acceleration(0.1, 0.01, 0.0, -1.0)
    assert abs(2 * result.joint("slide").angle[-1] / 0.1**2 - wanted) < (2e-2 if smooth else 1e-5) * abs(wanted)


def wheels(mu, drive, load, *, ratio=-0.5, kind="Gear"):
    """Two wheels on the ground, with torques on both."""
    system = mbd.System("pair")
    a, b = (system.add(mbd.Body(name, 1.0, (J, J, J), r=(x, 0, 0))) for name, x in (("a", 0.0), ("b", 1.0)))
    pins = [system.add(RJ(f"pin {w.name}", system.ground, w, point=w.r, axis=(0, 0, 1))) for w in (a, b)]
    made = {
        "Gear": lambda: Gear("mesh", *pins, ratio=ratio),
        "Belt": lambda: Belt("mesh", *pins, radii=(0.1 * abs(ratio), 0.1), crossed=ratio < 0.0),
        "Coupling": lambda: Coupling("mesh", {pins[0]: -ratio, pins[1]: 1.0}),
    }
    mesh = system.add(made[kind]())
    system.add(mbd.JointFriction("loss", mesh, mbd.Coulomb(mu), radius=0.1))
    system.add(mbd.Torque("drive", a, torque=(0, 0, drive)))
    system.add(mbd.Torque("load", b, torque=(0, 0, load)))
    return system


@pytest.mark.parametrize("kind", ["Gear", "Belt", "Coupling"])
def test_a_mesh_that_is_driven_has_its_efficiency(kind):
    """J a = T - t - mu |t|,  J b = L + t / ratio ...:  t the torque that wheel a gives to the mesh, a its acceleration."""
    mu, ratio, T, L = 0.1, -0.5, 1.0, 0.4  # b turns backwards, against L
    result = mbd.simulate(wheels(mu, T, L, kind=kind), 0.01, h=1e-3)
    a = result.joint("pin a").acceleration[-1]
    t = (T - J * a) / (1.0 + mu)
    assert a > 0.0
    assert abs(J * ratio * a - (L + t / ratio)) < 1e-9
    assert np.abs(result.energy().drift).max() < 1e-9
    assert abs(result.load("loss").normal_force[-1] - t / 0.1) < 1e-8


@pytest.mark.parametrize("mu", [0.2, 0.999, 1.001])
def test_a_mesh_that_is_driven_back_locks_from_a_loss_of_one_on(mu):
    result = mbd.simulate(wheels(mu, 0.0, 1.0), 0.01, h=1e-3)
    a = result.joint("pin a").acceleration[-1]
    if mu > 1.0:
        assert abs(a) < 1e-12
        return
    ratio = -0.5
    t = -(1.0 - J * ratio * a) * ratio  # what wheel b gives through the mesh, at wheel a
    assert a < 0.0
    assert abs(J * a - (-1.0 if a < 0 else 1.0) * t * (1.0 - mu)) < 1e-9


@pytest.mark.slow
def test_racks_and_belts_and_saved_files_keep_their_loss(tmp_path):
    system = wheels(0.1, 1.0, 0.4)
    one = mbd.simulate(system, 0.1, h=1e-2)
    system.save(tmp_path / "pair.json")
    assert np.array_equal(mbd.simulate(mbd.load_model(tmp_path / "pair.json"), 0.1, h=1e-2)["b"].p, one["b"].p)
    screw = nut(0.1)
    screw.save(tmp_path / "screw.json")
    again = mbd.load_model(tmp_path / "screw.json")
    down = mbd.simulate(screw, 0.1, h=1e-3)
    assert np.array_equal(mbd.simulate(again, 0.1, h=1e-3)["nut"].r, down["nut"].r)
    whole = mbd.System("two", gravity=(0, 0, -G))
    whole.add(screw, prefix="left/")
    with pytest.warns(UserWarning, match="hand"):
        whole.add(screw, prefix="right/", mirror="xz")
    both = mbd.simulate(whole, 0.1, h=1e-3)
    assert np.abs(both["left/nut"].r - down["nut"].r).max() < 1e-12
    assert np.abs(both["right/nut"].r - down["nut"].r).max() < 1e-12
    rack = mbd.System("rack")
    pinion, bar = rack.add(mbd.Body("pinion", 1.0, (J, J, J))), rack.add(mbd.Body("bar", 1.0, (1, 1, 1), r=(0, 0.1, 0)))
    pin = rack.add(RJ("pin", rack.ground, pinion, point=(0, 0, 0), axis=(0, 0, 1)))
    rail = rack.add(TJ("rail", rack.ground, bar, point=(0, 0.1, 0), axis=(1, 0, 0)))
    mesh = rack.add(RackPinion("mesh", pin, rail, radius=0.1))
    rack.add(mbd.JointFriction("loss", mesh, mbd.Coulomb(0.1), radius=0.1))
    rack.add(mbd.Torque("drive", pinion, torque=(0, 0, 1.0)))
    x = mbd.simulate(rack, 0.01, h=1e-3).joint("rail").acceleration[-1]
    assert abs(abs(x) - 10.0 / (1.1 + J / 0.01)) < 1e-9


def cam(mu, kind):
    """A cam with rise 0.02 sin q under a torque of 1 N m, that lifts a follower of 2 kg against 20 N."""
    system = mbd.System("cam")
    disc, follower = system.add(mbd.Body("disc", 1.0, (J, J, J))), system.add(mbd.Body("follower", M, (1, 1, 1), r=(0, 0.1, 0)))
    pin = system.add(RJ("pin", system.ground, disc, point=(0, 0, 0), axis=(0, 0, 1)))
    rail = system.add(TJ("rail", system.ground, follower, point=follower.r, axis=(0, 1, 0)))
    mesh = system.add(kind("mesh", pin, rail, lambda q: 0.02 * np.sin(q)))
    system.add(mbd.JointFriction("loss", mesh, mbd.Coulomb(mu), radius=0.05))
    system.add(mbd.Torque("drive", disc, torque=(0, 0, 1.0)))
    system.add(mbd.PointForce("weight", follower, point=follower.r, force=(0, -20.0, 0)))
    return system


@pytest.mark.slow
@pytest.mark.parametrize("kind", [Cam, CoordinateFunction])
def test_a_cam_that_drives_its_follower_loses_in_proportion_to_its_torque(kind):
    """J q'' = T - (1 + mu) t,  t = f' (m (f' q'' + f'' q'^2) - F) > 0, integrated by SciPy."""
    mu = 0.1

    def motion(t, y):
        q, w = y
        slope, bend = 0.02 * np.cos(q), -0.02 * np.sin(q)
        return w, (1.0 - (1.0 + mu) * slope * (M * bend * w * w + 20.0)) / (J + (1.0 + mu) * M * slope**2)

    own = solve_ivp(motion, (0.0, 0.02), [0.0, 0.0], rtol=1e-12, atol=1e-14)
    result = mbd.simulate(cam(mu, kind), 0.02, h=2e-4)
    assert abs(result.joint("pin").angle[-1] - own.y[0, -1]) < 1e-12
    assert np.abs(result.energy().drift).max() < 1e-12


@pytest.mark.parametrize("kind", [Cam, CoordinateFunction])
@pytest.mark.parametrize("on", ["slide", "groove"])
def test_a_cam_of_one_cylindrical_joint_is_no_screw(kind, on):
    """It was a thread of the lead of -1 m: its slope changes, so that its friction angle does; refused without a preload."""
    system = mbd.System("cylinder cam", gravity=(0, 0, -G))
    body = system.add(mbd.Body("body", M, (J, J, J)))
    slide = system.add(CJ("slide", system.ground, body, point=(0, 0, 0), axis=(0, 0, 1)))
    system.add(kind("groove", slide.coordinate("angle"), slide.coordinate("displacement"), lambda q: 0.002 * np.sin(q)))
    system.add(mbd.JointFriction("rub", system[on], mbd.Coulomb(0.1), radius=R))
    with pytest.raises(mbd.ModelError, match="'rub'"):
        system.compile()


@pytest.mark.slow
def test_a_belt_grips_and_slips_at_its_capacity():
    """It goes round a rim without mass that rubs on pulley b. v: slip of the belt;  v' = 5 g t - d while it slips, 0 while F < capacity."""
    r_a, r_b, J_a, J_b, F, v = 0.1, 0.2, 0.02, 0.05, 12.0, 5.0
    system = mbd.System("belt")
    a = system.add(mbd.Body("a", 1.0, (J_a, J_a, J_a), omega_bar=(0, 0, v / r_a)))
    b = system.add(mbd.Body("b", 1.0, (J_b, J_b, J_b), r=(1, 0, 0)))
    rim = system.add(mbd.Body("rim", 0.0, (0, 0, 0), r=b.r, omega_bar=(0, 0, v / r_b)))
    of_a, of_b = (system.add(RJ(f"pin {w.name}", system.ground, w, point=w.r, axis=(0, 0, 1))) for w in (a, b))
    slip = system.add(RJ("slip", b, rim, point=b.r, axis=(0, 0, 1)))
    system.add(Coupling("belt", {of_a: -r_a, of_b: r_b, slip: r_b}))
    system.add(mbd.JointFriction("grip", slip, mbd.Coulomb(1.0), radius=r_b, preload=F))
    system.add(mbd.Motor("load", of_b, torque=lambda t: -5.0 * t))
    result = mbd.simulate(system, 1.0, rtol=1e-10, atol=1e-12)
    d, g = F * (r_a**2 / J_a + r_b**2 / J_b), 5.0 * r_b / J_b
    grips = (d - np.sqrt(d * d - 2.0 * g * v)) / g
    slips = d / g
    assert [one.t for one in result.events] == pytest.approx([grips, slips], abs=1e-8)
    rate = r_b * result.joint("slip").rate
    assert rate[-1] == pytest.approx(g * (1.0 - slips) ** 2 / 2.0, abs=1e-8)
    stuck = (result.t > grips + 1e-6) & (result.t < slips)
    assert np.abs(rate[stuck]).max() < 1e-8
    assert np.abs(result.energy().drift).max() < 1e-7


def test_what_a_loss_cannot_be_is_refused_by_name():
    thread = nut(0.1)
    thread.remove(thread["rub"])
    thread.add(mbd.JointFriction("rub", thread["thread"], mbd.Coulomb(0.1)))
    with pytest.raises(
        mbd.ModelError, match=r"JointFriction 'rub': it has no radius, and a threaded joint has no friction without"
    ):
        thread.compile()
    pair = wheels(0.1, 1.0, 0.4)
    pair.remove(pair["loss"])
    pair.add(mbd.JointFriction("loss", pair["mesh"], mbd.Viscous(0.1)))
    with pytest.raises(mbd.ModelError, match=r"does not depend on what 'mesh' carries"):
        pair.compile()
