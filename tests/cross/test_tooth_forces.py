"""Tooth forces and bearing loads of gears and racks: closed forms, and Newton's and Euler's equations of every body."""

from __future__ import annotations

import numpy as np
import pytest

import haugmbd as mbd
from joints import CJ, RJ, TJ, Coupling, Gear, RackPinion

PRESSURE, HELIX, TORQUE = np.radians(20.0), np.radians(15.0), 0.7
BALANCED = 1e-10
"""Unbalanced force [N] and moment [N m] on a body: rounding of products of numbers of size 1 to 10."""
CLOSED_FORM = 1e-9


def wheels(radii, place, *, axis_b=(0, 0, 1), turned=False, gear=None, swing=True):
    """Two wheels on an arm that swings, with a torque on the first one; the gear has the name "mesh"."""
    system = mbd.System("wheels", gravity=(0.4, -9.81, 0.7))
    arm = system.add(mbd.Body("arm", 2.0, (0.3, 0.4, 0.5), r=(0.1, 0.2, 0.05)))
    a = system.add(mbd.Body("a", 1.0, (0.03, 0.03, 0.02), r=(0, 0, 0)))
    b = system.add(mbd.Body("b", 1.5, (0.06, 0.06, 0.05), r=place))
    if swing:
        system.add(RJ("pin", system.ground, arm, point=(0, 0.5, 0), axis=(0.2, 0.1, 1)))
    else:
        system.add(RJ("pin", system.ground, arm, point=(0, 0.5, 0), axis=(0, 0, 1)))
    first = system.add(RJ("first", arm, a, point=(0, 0, 0), axis=(0, 0, 1)))
    bodies = (b, arm) if turned else (arm, b)
    second = system.add(RJ("second", *bodies, point=place, axis=axis_b))
    system.add(Gear("mesh", first, second, pitch_radius=radii, **gear))
    system.add(mbd.Torque("drive", a, torque=(0, 0, TORQUE), frame="body"))
    return system


CASES = {
    "external": dict(radii=(0.1, 0.25), place=(0.21, 0.28, 0.0), gear=dict(teeth=(20, 50))),
    "helical": dict(radii=(0.1, 0.25), place=(0.21, 0.28, 0.1), gear=dict(teeth=(20, 50), pressure_angle=0.3, helix_angle=HELIX)),
    "antiparallel": dict(radii=(0.1, 0.25), place=(0.35, 0, 0), axis_b=(0, 0, -1), gear=dict(teeth=(20, 50), helix_angle=-0.2)),
    "wheel is body i": dict(radii=(0.1, 0.25), place=(0.35, 0, 0), turned=True, gear=dict(teeth=(20, 50))),
    "ring": dict(radii=(0.1, 0.25), place=(0.15, 0, 0), gear=dict(teeth=(20, 50), internal=True, helix_angle=0.1)),
    "ring drives": dict(radii=(0.25, 0.1), place=(0.15, 0, 0), gear=dict(teeth=(50, 20), internal=True)),
    "bevel": dict(
        radii=(0.1, 0.2),
        place=(0.3, 0, 0.2),
        axis_b=(1, 0, 0),
        gear=dict(teeth=(20, 40), contact_point=(0.1, 0, 0.0), helix_angle=0.1),
    ),
}


def rack(**angles):
    system = mbd.System("rack", gravity=(0.4, -9.81, 0.7))
    arm = system.add(mbd.Body("arm", 2.0, (0.3, 0.4, 0.5), r=(0.1, 0.2, 0.05)))
    pinion = system.add(mbd.Body("a", 1.0, (0.03, 0.03, 0.02)))
    bar = system.add(mbd.Body("b", 1.5, (0.06, 0.06, 0.05), r=(0.3, 0.1, 0.02)))
    system.add(RJ("pin", system.ground, arm, point=(0, 0.5, 0), axis=(0.2, 0.1, 1)))
    first = system.add(RJ("first", arm, pinion, point=(0, 0, 0), axis=(0, 0, 1)))
    guide = system.add(TJ("second", arm, bar, point=(0.3, 0.1, 0), axis=(1, 0, 0)))
    system.add(RackPinion("mesh", first, guide, radius=-0.1, **angles))
    system.add(mbd.Torque("drive", pinion, torque=(0, 0, TORQUE), frame="body"))
    return system


def unbalanced(result):
    """The sum of all forces and moments about the centre of mass minus the change of momentum, of the wheels and the arm, at all states."""
    loads = {"arm": ("pin", "first", "second", "mesh"), "a": ("first", "mesh"), "b": ("second", "mesh")}
    worst = 0.0
    for name, joints in loads.items():
        body = result[name]
        k = result.model.body(name)
        force = result.model.mass[k] * (result.model.gravity - body.a)
        J = body.A @ result.model.J_bar[k] @ np.swapaxes(body.A, 1, 2)
        spin = np.einsum("tij,tj->ti", J, body.omega)
        moment = -np.einsum("tij,tj->ti", J, body.omega_dot) - np.cross(body.omega, spin)
        if name == "a":
            moment += TORQUE * body.A[:, :, 2]
        for joint in joints:
            r = result.reaction(joint, on=name)
            force, moment = force + r.force, moment + r.torque + np.cross(r.point - body.r, r.force)
        worst = max(worst, np.abs(force).max(), np.abs(moment).max())
    return worst


@pytest.mark.slow
@pytest.mark.parametrize("case", [*CASES, "rack"])
def test_every_body_obeys_newton_and_euler_with_tooth_forces(case):
    system = rack(pressure_angle=0.35, helix_angle=0.2) if case == "rack" else wheels(**CASES[case])
    result = mbd.simulate(system, 0.3, h=2e-3, store_every=30)
    assert unbalanced(result) < BALANCED
    mesh = {body: result.reaction("mesh", on=body) for body in ("arm", "a", "b")}
    assert np.abs(mesh["arm"].force).max() == np.abs(mesh["arm"].torque).max() == 0.0
    np.testing.assert_allclose(mesh["a"].force, -mesh["b"].force, atol=BALANCED)
    assert np.abs(mesh["a"].force).max() > 0.1
    # joints carry no moment about their own axes
    for joint, axis in (("first", result["arm"].A[:, :, 2]),):
        torque = result.reaction(joint, on="a").torque
        np.testing.assert_allclose(np.einsum("ti,ti->t", torque, axis), 0.0, atol=BALANCED)


@pytest.mark.parametrize("case", ["external", "helical", "ring"])
def test_the_components_of_the_tooth_force_are_those_of_the_textbook(case):
    given = CASES[case]
    result = mbd.simulate(wheels(**given), 0.2, h=2e-3, store_every=20)
    r_a, r_b = given["radii"]
    pressure, helix = given["gear"].get("pressure_angle", PRESSURE), given["gear"].get("helix_angle", 0.0)
    force = result.reaction("mesh", on="a").force
    A = result["arm"].A
    centres = A @ (np.array(given["place"]) * (1, 1, 0))
    rho = centres / np.linalg.norm(centres, axis=1, keepdims=True) * (-1.0 if case == "ring" else 1.0)
    h = A[:, :, 2]
    tangential = np.einsum("ti,ti->t", force, np.cross(h, rho))
    couple = result.reaction("mesh", on="a").torque @ np.eye(3)
    np.testing.assert_allclose(np.einsum("ti,ti->t", couple, h), r_a * tangential, rtol=CLOSED_FORM)
    radial, axial = np.einsum("ti,ti->t", force, rho), np.einsum("ti,ti->t", force, h)
    np.testing.assert_allclose(radial, -np.abs(tangential) * np.tan(pressure) / np.cos(helix), rtol=CLOSED_FORM)
    np.testing.assert_allclose(axial, -tangential * np.tan(helix), atol=CLOSED_FORM)
    assert tangential.max() < 0.0  # the driven wheel b holds wheel a back
    assert r_b > r_a


def test_the_bearing_of_a_wheel_that_is_held_carries_the_tooth_force():
    """A spur pair at rest: the second wheel is held by a torque; its bearing takes the tooth force, F_t / cos(pressure angle)."""
    system = mbd.System("held")
    a, b = (system.add(mbd.Body(n, 1.0, (0.1, 0.1, 0.1), r=(x, 0, 0))) for n, x in (("a", 0.0), ("b", 0.3)))
    first, second = (system.add(RJ(n, system.ground, w, point=w.r, axis=(0, 0, 1))) for n, w in (("first", a), ("second", b)))
    system.add(Gear("mesh", first, second, teeth=(20, 40), pitch_radius=(0.1, 0.2), pressure_angle=PRESSURE))
    system.add(mbd.Torque("drive", a, torque=(0, 0, TORQUE)))
    system.add(mbd.Torque("brake", b, torque=(0, 0, 2.0 * TORQUE)))  # wheel b is pushed backwards by wheel a
    model = system.compile()
    load = mbd.reaction(model, None, "second", on="j")
    assert np.linalg.norm(load.force) == pytest.approx(TORQUE / 0.1 / np.cos(PRESSURE), rel=CLOSED_FORM)
    assert load.force[1] == pytest.approx(-TORQUE / 0.1, rel=CLOSED_FORM)  # wheel a pushes wheel b along +y
    tooth = mbd.reaction(model, None, "mesh", on="b").force
    np.testing.assert_allclose(tooth, -load.force, atol=BALANCED)


FAULTS = {
    "has the ratio 0.5, and the wheels 0.4": dict(radii=(0.1, 0.2), place=(0.3, 0, 0), gear=dict(teeth=(20, 50))),
    "add up to 0.35 m, and the axes are 0.3 m apart": dict(radii=(0.1, 0.25), place=(0.3, 0, 0), gear=dict(teeth=(20, 50))),
    "differ by 0.15 m": dict(radii=(0.1, 0.25), place=(0.3, 0, 0), gear=dict(teeth=(20, 50), internal=True)),
    "must be positive": dict(radii=(0.1, -0.25), place=(0.35, 0, 0), gear=dict(teeth=(20, 50))),
    "pressure_angle = 20 rad is not between 0 and 1.571": dict(
        radii=(0.1, 0.25), place=(0.35, 0, 0), gear=dict(teeth=(20, 50), pressure_angle=20)
    ),
    "pitch radii do not give the contact point": dict(
        radii=(0.1, 0.2), place=(0.3, 0, 0.2), axis_b=(1, 0, 0), gear=dict(ratio=-0.5)
    ),
    "m from the axes, and pitch_radius is": dict(
        radii=(0.1, 0.25), place=(0.35, 0, 0), gear=dict(teeth=(20, 50), contact_point=(0.12, 0, 0))
    ),
    "given without pitch_radius": dict(radii=None, place=(0.35, 0, 0), gear=dict(teeth=(20, 50), pressure_angle=0.3)),
}


@pytest.mark.parametrize("text", FAULTS)
def test_a_geometry_that_does_not_fit_is_a_fault_with_numbers(text):
    with pytest.raises(mbd.ModelError, match=text):
        wheels(**FAULTS[text]).compile()


def test_a_bearing_that_lets_the_wheel_slide_cannot_carry_tooth_forces():
    system = mbd.System("sliding")
    a, b = (system.add(mbd.Body(n, 1.0, (0.1, 0.1, 0.1), r=(x, 0, 0))) for n, x in (("a", 0.0), ("b", 0.3)))
    first = system.add(RJ("first", system.ground, a, point=(0, 0, 0), axis=(0, 0, 1)))
    second = system.add(CJ("second", system.ground, b, point=(0.3, 0, 0), axis=(0, 0, 1))).coordinate("angle")
    system.add(Gear("mesh", first, second, ratio=-0.5, pitch_radius=(0.1, 0.2)))
    with pytest.raises(mbd.ModelError, match=r"joint 'second' \(CJ\) is not a bearing for tooth forces"):
        system.compile()


def test_tooth_geometry_goes_to_files(tmp_path):
    for system in (wheels(**CASES["helical"]), rack(pressure_angle=0.3)):
        again = mbd.load_model(system.save(tmp_path / "gears.json"))
        one, two = (mbd.reaction(s.compile(), None, "second") for s in (system, again))
        np.testing.assert_array_equal(one.force, two.force)


BEARING = dict(radius=0.05)
FRICTION_IN_BEARINGS = {
    "wheel": (lambda: wheels(gear=dict(teeth=(20, 50)), radii=(0.1, 0.25), place=(0.35, 0, 0)), "second", BEARING),
    "pinion": (lambda: wheels(gear=dict(teeth=(20, 50)), radii=(0.1, 0.25), place=(0.35, 0, 0)), "first", BEARING),
    "guide of a rack": (lambda: rack(pressure_angle=PRESSURE), "second", {}),
}


@pytest.mark.parametrize("case", FRICTION_IN_BEARINGS)
def test_friction_that_does_not_know_the_tooth_force_of_its_bearing_is_refused(case):
    make, name, size = FRICTION_IN_BEARINGS[case]
    for law in (mbd.Coulomb(0.2), mbd.Coulomb(0.2, velocity=1e-3), mbd.BrownMcPhee(0.3, 0.2, 0.01), mbd.LuGre(0.3, 0.2, 0.01, 5.0)):
        system = make()
        joint = next(joint for joint in system.joints if joint.name == name)
        system.add(mbd.JointFriction("rub", joint, law, **size))
        with pytest.raises(
            mbd.ModelError, match=rf"JointFriction 'rub': joint '{name}' carries the tooth force of 'mesh'.*Leave out"
        ):
            system.compile()


def test_friction_beside_tooth_forces_runs():
    """Viscous friction needs no reaction, a joint that is not a bearing of the gear has none of its forces; preload stands for others."""
    system = wheels(**CASES["external"])
    first, pin = (next(joint for joint in system.joints if joint.name == name) for name in ("first", "pin"))
    system.add(mbd.JointFriction("oil", first, mbd.Viscous(0.1)))
    system.add(mbd.JointFriction("rub", pin, mbd.Coulomb(0.2, velocity=1e-2), **BEARING))
    system.compile()
    system = rack()
    guide = next(joint for joint in system.joints if joint.name == "second")
    system.add(mbd.JointFriction("rub", guide, mbd.Coulomb(0.2), preload=10.0))
    system.compile()


def planets(count, helix=0.0):
    """A sun and a ring on a carrier, with planets between them that share the torque of the sun; the ring is held."""
    z_sun, z_planet, z_ring = 20, 16, 52
    r_sun, r_planet, r_ring = (0.002 * z for z in (z_sun, z_planet, z_ring))
    system = mbd.System("planets")
    carrier = system.add(mbd.Body("carrier", 2.0, (0.01, 0.01, 0.02)))
    sun = system.add(mbd.Body("sun", 1.0, (1e-3, 1e-3, 2e-3)))
    ring = system.add(mbd.Body("ring", 3.0, (0.02, 0.02, 0.04)))
    axes = {"point": (0, 0, 0), "axis": (0, 0, 1)}
    of_carrier = system.add(RJ("carrier axis", system.ground, carrier, **axes))
    of_sun = system.add(RJ("sun axis", carrier, sun, **axes))
    of_ring = system.add(RJ("ring axis", carrier, ring, **axes))
    for k in range(count):
        angle = 2.0 * np.pi * k / count
        place = (r_sun + r_planet) * np.array([np.cos(angle), np.sin(angle), 0.0])
        planet = system.add(mbd.Body(f"planet {k}", 0.4, (2e-4, 2e-4, 3e-4), r=place))
        pin = system.add(RJ(f"pin {k}", carrier, planet, point=place, axis=(0, 0, 1)))
        system.add(Gear(f"sun mesh {k}", of_sun, pin, teeth=(z_sun, z_planet), pitch_radius=(r_sun, r_planet), helix_angle=helix))
        mesh = {"teeth": (z_planet, z_ring), "internal": True, "pitch_radius": (r_planet, r_ring), "helix_angle": -helix}
        system.add(Gear(f"ring mesh {k}", pin, of_ring, **mesh))
    system.add(Coupling("brake", {of_carrier: 1.0, of_ring: 1.0}))
    system.add(mbd.Torque("drive", sun, torque=(0, 0, 10.0)))
    return system


@pytest.mark.slow
@pytest.mark.parametrize("helix", [0.0, HELIX])
def test_components_of_tooth_forces_that_are_called_unique_are_the_same_however_planets_share_the_load(helix):
    system = planets(3, helix)
    runs = [
        mbd.simulate(system, 0.01, h=1e-3, redundancy=redundancy) for redundancy in (mbd.DropDependentRows(), mbd.MinimumNorm())
    ]
    asked = [("sun axis", "sun"), ("pin 1", "carrier"), ("carrier axis", "carrier"), ("brake", "ring")]
    asked += [(f"{wheel} mesh {k}", on) for wheel in ("sun", "ring") for k in range(3) for on in (wheel, f"planet {k}", "carrier")]
    differ = set()
    for joint, on in asked:
        for frame in ("ground", "body", "joint"):
            one, other = (run.reaction(joint, on=on, frame=frame) for run in runs)
            gap = np.abs(np.hstack([one.force - other.force, one.torque - other.torque])).max(axis=0)
            assert (gap[list(one.unique)] < BALANCED * 100.0).all(), (joint, on, frame, gap, one.unique)  # forces of 100 N
            differ |= {joint} if gap.max() > 1.0 else set()
    assert {"sun mesh 0", "sun mesh 1", "sun mesh 2", "sun axis", "pin 1"} <= differ
    spur = runs[0].reaction("sun mesh 0", on="sun")
    assert spur.unique == (False, False, helix == 0.0, helix == 0.0, helix == 0.0, False)  # in the plane, and about the axis
    assert runs[0].reaction("brake", on="ring").unique == (True,) * 6
    assert mbd.simulate(planets(1, helix), 0.01, h=1e-3).reaction("sun mesh 0", on="sun").unique == (True,) * 6


def test_mobility_does_not_call_bearings_unique_whose_tooth_forces_are_shared():
    found = mbd.mobility(planets(3))
    assert found.reaction("sun axis").marks == ("not", "not", "not", "not", "not", "-")
    assert found.reaction("carrier axis").marks == ("unique", "unique", "unique", "unique", "unique", "-")
    assert mbd.mobility(planets(1)).reaction("sun axis").all_unique
